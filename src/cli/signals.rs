//! Signals after which a run stops and saves its plan.

use crate::cli::exit::Signal;
use signal_hook::iterator::Signals;
use std::io;
use std::sync::Arc;

/// Calls `heard` for every hang-up, interrupt and termination, on a separate thread.
///
/// A hang-up that was ignored at the start of the program stays ignored, as `nohup` requires.
///
/// # Errors
/// If the system refuses to register the signals.
pub fn watch(heard: impl Fn(Signal) + Send + 'static) -> io::Result<()> {
    let numbers: Vec<i32> = Signal::ALL
        .into_iter()
        .filter(|signal| *signal != Signal::HangUp || !hang_up_is_ignored())
        .map(|signal| i32::from(signal.number()))
        .collect();
    let mut signals = Signals::new(numbers)?;
    std::thread::Builder::new().name("lb-signals".to_owned()).spawn(move || {
        for number in &mut signals {
            if let Some(signal) = Signal::of(number) {
                heard(signal);
            }
        }
    })?;
    Ok(())
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail with an error, instead of killing the process.
pub fn full_files_are_errors() {
    // The flag is never read: only the handler matters. If the system refuses, nothing changes.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Returns `true` if hang-ups are ignored, as under `nohup`. Without `/proc`, returns `false`: a hang-up then ends the
/// run, and the best plan is written.
fn hang_up_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    mask & (1 << (Signal::HangUp.number() - 1)) != 0
}
