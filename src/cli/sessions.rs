//! `lightbay sessions`: saved work, listed, shown and removed.

use super::complete;
use super::console::Console;
use super::documents::{
    SessionBest, SessionChangeDocument, SessionDocument, SessionEntry, SessionPlan, SessionsDocument,
};
use super::exit::Exit;
use super::failure::Failure;
use super::quantity;
use super::source::saved;
use super::table::TextTable;
use super::target::Target;
use crate::runtime::saved_plans::check_value;
use clap::{Args, Subcommand, ValueHint};
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::clock::{Clock as _, SystemClock};
use lightbay_core::json::to_pretty;
use lightbay_core::plan::{Header, Objective};
use lightbay_core::problem::{Problems, counted, printable};
use lightbay_core::quantity::file_size;
use lightbay_core::read::read_json;
use lightbay_core::standing::{KnownBound, Standing};
use lightbay_engines::{figure_label, figure_text, saved_standing};
use lightbay_sessions::resume::{self, RecentEntry, RecentPlan};
use lightbay_sessions::{PackedSession, Places, PlanEntry, SessionSummary, Store};
use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

/// Arguments of `sessions`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  lightbay sessions\n  lightbay sessions show megatron_177b\n  lightbay show session:megatron_177b/3\n  lightbay sessions note megatron_177b ports of the new hall\n  lightbay sessions pack megatron_177b -o hall.json.gz"
)]
pub struct Arguments {
    /// Subcommand [default: list]
    #[command(subcommand)]
    command: Option<Command>,

    /// Print one JSON object (`lightbay schema sessions`; of `show`: `session`; of changes: `session-change`)
    #[arg(long, global = true)]
    json: bool,
}

/// Subcommands of `sessions`.
#[derive(Debug, Subcommand)]
enum Command {
    /// List the sessions
    List,
    /// Show the plans of a session
    Show {
        /// Name, as `list` shows it
        #[arg(add = ArgValueCompleter::new(complete::session))]
        name: String,
    },
    /// Give a session another name
    Rename {
        /// Name, as `list` shows it
        #[arg(add = ArgValueCompleter::new(complete::session))]
        name: String,
        /// New name
        new: String,
    },
    /// Store a note on a session; without words, remove the note
    Note {
        /// Name, as `list` shows it
        #[arg(add = ArgValueCompleter::new(complete::session))]
        name: String,
        /// Words of the note
        words: Vec<String>,
    },
    /// Write a session with scenario, plans and run log into one file
    Pack {
        /// Name, as `list` shows it
        #[arg(add = ArgValueCompleter::new(complete::session))]
        name: String,
        /// File to write, compressed if its name ends with .gz [default: standard output]
        #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
    },
    /// Make a session from a file that `pack` wrote
    Unpack {
        /// File, plain or compressed
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Name of the new session [default: the name in the file]
        #[arg(long)]
        name: Option<String>,
    },
    /// Remove sessions with all their plans
    Rm {
        /// Names, as `list` shows them
        #[arg(required = true, add = ArgValueCompleter::new(complete::session))]
        names: Vec<String>,
        /// Do not ask on a terminal
        #[arg(short, long)]
        yes: bool,
    },
}

/// Executes the subcommand.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let places = console.places()?;
    let store = Store::at(places.sessions());
    let date = || SystemClock::start().date();
    match &arguments.command {
        None | Some(Command::List) if arguments.json => console.write_document(&listed(&store)?)?,
        None | Some(Command::List) => list(&store, console)?,
        Some(Command::Show { name }) => show(&store, bare(name), arguments.json, console)?,
        Some(Command::Pack { .. }) if arguments.json => {
            let remedy = "leave it out: `pack` writes JSON";
            return Err(Failure::input("--json", "has no effect on `pack`", remedy));
        }
        Some(Command::Rename { name, new }) => {
            let given = store.rename(bare(name), bare(new))?;
            let known =
                resume::recent(&places.recent()).into_iter().find(|entry| entry.session == bare(name));
            resume::forget(&places.recent(), bare(name))?;
            if let Some(entry) = known {
                resume::remember(&places.recent(), RecentEntry { session: given.clone(), ..entry })?;
            }
            console.say(&format!("session '{}' is now '{}'", printable(bare(name)), printable(&given)));
            changed("renamed", vec![given], arguments, console)?;
        }
        Some(Command::Note { name, words }) => {
            store.annotate(bare(name), &words.join(" "), &date())?;
            changed("noted", vec![bare(name).to_owned()], arguments, console)?;
        }
        Some(Command::Pack { name, output, force }) => {
            let mut target = Target::prepare(output.as_deref(), *force, console)?;
            target.write(&to_pretty(&store.pack(bare(name))?)?, console)?;
        }
        Some(Command::Unpack { file, name }) => {
            let packed = read_packed(file)?;
            let given = store.unpack(&packed, name.as_deref().map(bare), &date())?;
            for (number, plan) in &packed.plans {
                if let Err(problem) = check_value(plan) {
                    console.say(&format!("warning: plan {number} fails its check: {}", printable(&problem)));
                }
            }
            console.say(&format!(
                "made session '{}' with {}",
                printable(&given),
                counted(packed.plans.len() as u64, "plan", "plans")
            ));
            list_as_recent(&store, &given, &places)?;
            changed("made", vec![given], arguments, console)?;
        }
        Some(Command::Rm { names, yes }) => {
            // All names are checked before the first session is removed.
            let mut plans = 0;
            for name in names {
                plans += store.count_plans(bare(name))? as u64;
            }
            let asks = !yes && console.err_is_terminal() && io::stdin().is_terminal();
            if asks && !agreed(names.len() as u64, plans, console)? {
                console.say("nothing was removed");
                changed("removed", Vec::new(), arguments, console)?;
                return Ok(Exit::Done);
            }
            for name in names {
                store.remove(bare(name))?;
                // The list of recent sessions must not offer a removed session.
                resume::forget(&places.recent(), bare(name))?;
                console.say(&format!("removed session '{}'", printable(bare(name))));
            }
            let names = names.iter().map(|name| bare(name).to_owned()).collect();
            changed("removed", names, arguments, console)?;
        }
    }
    Ok(Exit::Done)
}

/// Prints what was done to which sessions, if the user wants JSON.
fn changed(
    done: &'static str,
    sessions: Vec<String>,
    arguments: &Arguments,
    console: &mut Console,
) -> Result<(), Failure> {
    if arguments.json {
        console.write_document(&SessionChangeDocument { done, sessions })?;
    }
    Ok(())
}

/// Adds a session to the list of recent sessions, from which the start screen takes its best plan.
fn list_as_recent(store: &Store, name: &str, places: &Places) -> Result<(), Failure> {
    let Some(session) = store.list()?.into_iter().find(|session| session.name == name) else { return Ok(()) };
    let best = saved::best_of(store, name);
    let plan = best.and_then(|entry| Some(RecentPlan::of(entry.plan, entry.header.as_ref().ok()?)));
    resume::remember(
        &places.recent(),
        RecentEntry {
            session: session.name,
            kind: session.file.kind,
            scenario: session.file.scenario,
            at: session.file.updated_at,
            plan,
        },
    )?;
    Ok(())
}

/// Removes the prefix of `session:NAME`, because the other commands name a session in this form, and this command
/// accepts it too.
fn bare(name: &str) -> &str {
    name.strip_prefix("session:").unwrap_or(name)
}

/// Asks on the terminal whether sessions are to be removed.
fn agreed(sessions: u64, plans: u64, console: &mut Console) -> Result<bool, Failure> {
    console.say_raw(&format!(
        "remove {} with {}? [y/N] ",
        counted(sessions, "session", "sessions"),
        counted(plans, "plan", "plans")
    ));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Reads a packed session.
fn read_packed(path: &Path) -> Result<PackedSession, Failure> {
    let name = printable(&path.to_string_lossy());
    let refuse = |message: String| {
        Failure::input(name.clone(), message, "give a file that `lightbay sessions pack` wrote")
    };
    let file = File::open(path).map_err(|error| refuse(format!("cannot be opened: {error}")))?;
    let value = read_json(file).map_err(|problem| Failure::from(Problems::from(problem).named(&name)))?;
    serde_json::from_value(value).map_err(|error| refuse(format!("is not a packed session: {error}")))
}

/// Returns the best plan of a session, with the bound and the gap of its standing, and the words for the gap.
fn best_plan(store: &Store, session: &SessionSummary) -> Option<(SessionBest, String)> {
    let entry = saved::best_of(store, &session.name)?;
    let header = entry.header.ok()?;
    let findings = session.file.findings.get(&entry.plan.0.to_string());
    let standing = saved_standing(&header, findings);
    let known = standing.as_ref().and_then(Standing::leading);
    let best = SessionBest {
        number: entry.plan.0,
        method: header.method.clone(),
        status: header.status,
        objective: proven(&header, known),
    };
    Some((best, gap_words(known)))
}

/// Returns the objective of a plan with the most important known bound.
fn proven(header: &Header, known: Option<&KnownBound>) -> Objective {
    Objective {
        bound: known.map(|known| known.value),
        gap: known.map(|known| known.gap),
        ..header.objective.clone()
    }
}

/// Returns the gap of a plan in words: `28.6 %`, or `0.00 % claimed` if no bound is verified.
fn gap_words(known: Option<&KnownBound>) -> String {
    let Some(known) = known else { return "-".to_owned() };
    let word =
        if known.is_verified() && known.is_on_all { String::new() } else { format!(" {}", known.word()) };
    format!("{}{word}", quantity::gap(known.gap))
}

fn listed(store: &Store) -> Result<SessionsDocument, Failure> {
    let entry = |session: SessionSummary| SessionEntry {
        best: best_plan(store, &session).map(|(best, _)| best),
        name: session.name,
        kind: session.file.kind,
        scenario: session.file.scenario,
        note: session.file.note,
        plans: session.plans,
        size_bytes: session.bytes,
        updated_at: session.file.updated_at,
        open_in: session.open_in,
        problem: session.problem,
    };
    let sessions = store.list()?.into_iter().map(entry).collect();
    Ok(SessionsDocument { folder: store.folder().to_string_lossy().into_owned(), sessions })
}

fn list(store: &Store, console: &mut Console) -> Result<(), Failure> {
    let sessions = store.list()?;
    if sessions.is_empty() {
        console.say(&format!("no sessions in {}", printable(&store.folder().to_string_lossy())));
        return Ok(());
    }
    let mut table = TextTable::new(&[
        "session", "kind", "scenario", ">plans", ">best", ">gap", "status", ">size", "saved", "",
    ]);
    let none = || "-".to_owned();
    for session in &sessions {
        let (plan, gap) = best_plan(store, session).unzip();
        table.row([
            printable(&session.name),
            printable(&session.file.kind),
            printable(&session.file.scenario),
            session.plans.to_string(),
            plan.as_ref().map_or_else(none, |plan| {
                let name = &plan.objective.name;
                format!(
                    "{} {}",
                    figure_label(&session.file.kind, name),
                    figure_text(&session.file.kind, name, plan.objective.value)
                )
            }),
            gap.unwrap_or_else(none),
            plan.map_or_else(none, |plan| plan.status.word().replace('_', " ")),
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
        (None, None) => session.file.note.as_deref().map(printable).unwrap_or_default(),
    }
}

fn show(store: &Store, name: &str, json: bool, console: &mut Console) -> Result<(), Failure> {
    let session = store.open(name, &SystemClock::start().date())?;
    let plans = session.plans()?;
    if json {
        let plan = |entry: PlanEntry| SessionPlan {
            number: entry.plan.0,
            file: entry.path.to_string_lossy().into_owned(),
            size_bytes: entry.bytes,
            problem: entry.header.as_ref().err().map(ToString::to_string),
            plan: entry.header.ok(),
        };
        return console.write_document(&SessionDocument {
            name: name.to_owned(),
            folder: session.folder().to_string_lossy().into_owned(),
            note: session.file().note.clone(),
            remarks: session.remarks().to_vec(),
            plans: plans.into_iter().map(plan).collect(),
        });
    }
    for remark in session.remarks() {
        console.warn(&printable(remark));
    }
    let out = console.out();
    writeln!(out, "{}", printable(&session.folder().to_string_lossy()))?;
    let mut table = TextTable::new(&["plan", "method", "status", ">objective", ">gap", ">size", "file"]);
    for entry in &plans {
        let file = entry.path.file_name().map_or_else(String::new, |name| printable(&name.to_string_lossy()));
        let row = match &entry.header {
            Ok(header) => {
                let objective = &header.objective;
                let findings = session.file().findings.get(&entry.plan.0.to_string());
                let standing = saved_standing(header, findings);
                [
                    entry.plan.to_string(),
                    printable(&header.method),
                    header.status.word().to_owned(),
                    figure_text(&header.kind, &objective.name, objective.value),
                    gap_words(standing.as_ref().and_then(Standing::leading)),
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
