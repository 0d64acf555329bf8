//! The lightbay program: passes on the arguments and returns the exit code.
// Not `forbid`: `start` has the one exception.
#![deny(unsafe_code)]

mod start;

use lightbay::cli::{self, console::Console, exit::Exit};
use lightbay::helper;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::signals::full_files_are_errors();
    if let Some(code) = helper::serve_if_asked(std::env::args_os()) {
        return code;
    }
    cli::complete::answer_if_asked();
    let Ok(mut console) = Console::open(start::stdout_was_closed()) else {
        return Exit::Failure.into();
    };
    report_panics(&console);
    let exit = cli::run(std::env::args_os(), &mut console);
    drop(console);
    // Everything is written. A run that did not stop is still active, perhaps inside a library whose destructors would
    // wait for it.
    signal_hook::low_level::exit(i32::from(exit.code()))
}

/// Reports panics and unexpected errors on standard error as it was at start, panics of a run in the log. A panic on the
/// thread of a run does not end the program: the run reports it and keeps its best plan.
fn report_panics(console: &Console) {
    let hooks = color_eyre::config::HookBuilder::blank()
        .display_env_section(false)
        .panic_section("this is a defect of lightbay; please report it with the lines above")
        .into_hooks();
    let (panic_hook, eyre_hook) = hooks;
    // The error is ignored, because it means that a hook exists already.
    let _ = eyre_hook.install();
    let err = console.err_handle().ok();
    std::panic::set_hook(Box::new(move |info| {
        let report = panic_hook.panic_report(info).to_string();
        let run = std::thread::current().name().is_some_and(|name| name.starts_with("lb-"));
        match err.as_ref().filter(|_| !run) {
            Some(mut err) => drop(writeln!(err, "{report}")),
            // Descriptor 2, which `Console::divert` redirects to the log.
            None => drop(writeln!(std::io::stderr(), "{report}")),
        }
    }));
}
