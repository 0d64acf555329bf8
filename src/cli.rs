//! The command line: one grammar for all kinds, one file per subcommand.
//!
//! Results go to standard output and messages to standard error, both through [`console::Console`]; exit codes are in
//! [`exit`], failures in [`failure`].

pub mod complete;
pub mod config;
pub mod console;
pub mod exit;
pub mod failure;
pub mod grammar;
pub mod look;
pub mod source;
pub mod table;
pub mod target;
pub mod value;
pub mod version;
pub mod workbench;

mod check;
mod compare;
mod completions;
mod documents;
mod explain;
mod export;
mod import;
mod inbox;
mod info;
mod keys;
mod limits;
mod man;
mod methods;
mod new;
mod presets;
mod printer;
mod schema;
mod sessions;
mod show;
pub mod signals;
mod solve;
mod sweep;

pub use lightbay_core::quantity;

use clap::CommandFactory as _;
use console::Console;
use exit::Exit;
use failure::Failure;
use grammar::{Command, Grammar};
use lightbay_core::problem::printable;
use source::Source;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;

/// Executes the command that the arguments name, reports a failure, and returns the outcome.
pub fn run(arguments: impl IntoIterator<Item = OsString>, console: &mut Console) -> Exit {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let exit = match Grammar::of(&arguments) {
        Err(error) if error.use_stderr() => slip(&arguments).map_or_else(|| answer(&error, console), Err),
        Err(error) => answer(&error, console),
        Ok(grammar) => execute(grammar, console),
    };
    let ended = exit.and_then(|exit| console.flush().map(|()| exit).map_err(Failure::from));
    ended.unwrap_or_else(|failure| failure.report(console))
}

/// Returns a failure with a suggestion if the first argument looks like a misspelt command. Otherwise clap would treat
/// the argument as a file and report the next one as the mistake.
fn slip(arguments: &[OsString]) -> Option<Failure> {
    let word = arguments.get(1)?.to_str()?;
    if word == "help" {
        let word = arguments.get(2)?.to_str()?;
        let meant = grammar::meant_command(word)?;
        let remedy = format!("did you mean `lightbay help {meant}`?");
        return Some(Failure::input("", format!("there is no command '{word}'"), remedy));
    }
    if Path::new(word).exists() {
        return None;
    }
    let meant = grammar::meant_command(word)?;
    let words = arguments[2..].iter().map(|argument| argument.to_string_lossy().into_owned());
    let command: Vec<String> = std::iter::once(meant).chain(words).collect();
    Some(Failure::input(
        "",
        format!("there is no command and no file '{word}'"),
        format!("did you mean `lightbay {}`?", command.join(" ")),
    ))
}

/// Writes a message of the argument parser clap: help and version are results, and every other message is a usage
/// error.
fn answer(error: &clap::Error, console: &mut Console) -> Result<Exit, Failure> {
    let text = error.render();
    if error.use_stderr() {
        let text = if console.err_shows_colour() { text.ansi().to_string() } else { text.to_string() };
        console.say_raw(&text);
        Ok(Exit::Input)
    } else {
        let text = if console.out_shows_colour() { text.ansi().to_string() } else { text.to_string() };
        console.out().write_all(text.as_bytes())?;
        Ok(Exit::Done)
    }
}

fn execute(grammar: Grammar, console: &mut Console) -> Result<Exit, Failure> {
    console.set_places(grammar.places.overrides());
    console.set_quiet(grammar.output.quiet);
    if let Some(path) = grammar.places.config.as_ref().filter(|path| !path.exists())
        && !matches!(grammar.command, Some(Command::Config(_)))
    {
        let message = format!("the file '{}' does not exist", printable(&path.to_string_lossy()));
        return Err(Failure::input(
            "--config",
            message,
            "leave it out, or write it with `lightbay config default`",
        ));
    }
    let Some(command) = grammar.command else {
        if let Some(Source::File(path)) = &grammar.opening.subject
            && let Some(failure) = slip(&[OsString::new(), path.clone().into_os_string()])
        {
            return Err(failure);
        }
        return workbench::run(grammar.opening, console);
    };
    match &command {
        Command::Solve(_) | Command::Sweep(_) => console.divert(true),
        _ => console.divert(false),
    }
    match command {
        Command::Presets(arguments) => presets::run(&arguments, console),
        Command::Schema(arguments) => schema::run(&arguments, console),
        Command::New(arguments) => new::run(&arguments, console),
        Command::Methods(arguments) => methods::run(&arguments, console),
        Command::Solve(arguments) => solve::run(&arguments, console),
        Command::Sweep(arguments) => sweep::run(&arguments, console),
        Command::Check(arguments) => check::run(&arguments, console),
        Command::Show(arguments) => show::run(&arguments, console),
        Command::Explain(arguments) => explain::run(&arguments, console),
        Command::Compare(arguments) => compare::run(&arguments, console),
        Command::Export(arguments) => export::run(&arguments, console),
        Command::Import(arguments) => import::run(&arguments, console),
        Command::Sessions(arguments) => sessions::run(&arguments, console),
        Command::Config(arguments) => config::run(&arguments, console),
        Command::Keys(arguments) => keys::run(&arguments, console),
        Command::Info(arguments) => info::run(&arguments, console),
        Command::Completions(arguments) => completions::run(&arguments, console),
        Command::Man(arguments) => {
            man::run(&arguments, grammar::with_exit_codes(Grammar::command()), console)
        }
    }
}
