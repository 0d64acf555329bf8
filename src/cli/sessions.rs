//! `lightbay sessions`: saved work, listed, shown and removed.

use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use super::quantity;
use super::table::TextTable;
use clap::{Args, Subcommand};
use lightbay_core::clock::{Clock as _, SystemClock};
use lightbay_core::problem::printable;
use lightbay_core::quantity::file_size;
use lightbay_engines::figure_text;
use lightbay_sessions::{SessionSummary, Store, resume};
use std::io::Write as _;

/// Arguments of `sessions`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Subcommand [default: list]
    #[command(subcommand)]
    command: Option<Command>,
}

/// Subcommands of `sessions`.
#[derive(Debug, Subcommand)]
enum Command {
    /// List the sessions
    List,
    /// Show the plans of a session
    Show {
        /// Name, as `list` shows it
        name: String,
    },
    /// Remove sessions with all their plans
    Rm {
        /// Names, as `list` shows them
        #[arg(required = true)]
        names: Vec<String>,
    },
}

/// Executes the subcommand.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let places = console.places()?;
    let store = Store::at(places.sessions());
    match &arguments.command {
        None | Some(Command::List) => list(&store, console)?,
        Some(Command::Show { name }) => show(&store, bare(name), console)?,
        Some(Command::Rm { names }) => {
            for name in names {
                store.remove(bare(name))?;
                // The list of recent sessions must not offer a removed session.
                resume::forget(&places.recent(), bare(name))?;
                console.say(&format!("removed session '{}'", printable(bare(name))));
            }
        }
    }
    Ok(Exit::Done)
}

/// Removes the prefix of `session:NAME`, because sessions are opened in this form and the command accepts it too.
fn bare(name: &str) -> &str {
    name.strip_prefix("session:").unwrap_or(name)
}

fn list(store: &Store, console: &mut Console) -> Result<(), Failure> {
    let sessions = store.list()?;
    if sessions.is_empty() {
        console.say(&format!("no sessions in {}", printable(&store.folder().to_string_lossy())));
        return Ok(());
    }
    let mut table = TextTable::new(&["session", "kind", "scenario", ">plans", ">size", "saved", ""]);
    for session in &sessions {
        table.row([
            printable(&session.name),
            printable(&session.file.kind),
            printable(&session.file.scenario),
            session.plans.to_string(),
            file_size(session.bytes),
            printable(&session.file.updated_at),
            remark(session),
        ]);
    }
    write!(console.out(), "{table}")?;
    Ok(())
}

fn remark(session: &SessionSummary) -> String {
    match (&session.problem, &session.open_in) {
        (Some(problem), _) => printable(problem),
        (None, Some(holder)) => format!("open in {}", printable(holder)),
        (None, None) => String::new(),
    }
}

fn show(store: &Store, name: &str, console: &mut Console) -> Result<(), Failure> {
    let session = store.open(name, &SystemClock::start().date())?;
    for remark in session.remarks() {
        console.warn(&printable(remark));
    }
    let plans = session.plans()?;
    let out = console.out();
    writeln!(out, "{}", printable(&session.folder().to_string_lossy()))?;
    let mut table = TextTable::new(&["plan", "method", "status", ">objective", ">gap", ">size", "file"]);
    for entry in &plans {
        let file = entry.path.file_name().map_or_else(String::new, |name| printable(&name.to_string_lossy()));
        let row = match &entry.header {
            Ok(header) => {
                let objective = &header.objective;
                [
                    entry.plan.to_string(),
                    printable(&header.method),
                    header.status.word().to_owned(),
                    figure_text(&header.kind, &objective.name, objective.value),
                    objective.gap.map_or_else(|| "-".to_owned(), quantity::percent),
                    file_size(entry.bytes),
                    file,
                ]
            }
            Err(problem) => {
                let none = || "-".to_owned();
                [
                    entry.plan.to_string(),
                    none(),
                    problem.to_string(),
                    none(),
                    none(),
                    file_size(entry.bytes),
                    file,
                ]
            }
        };
        table.row(row);
    }
    write!(out, "{table}")?;
    Ok(())
}
