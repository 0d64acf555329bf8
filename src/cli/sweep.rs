//! `lightbay sweep`: solves many combinations of scenario and method, and writes a table with one row for each. A kill
//! at any time leaves complete rows, and `--resume` continues after them.

use super::complete;
use super::console::Console;
use super::documents::{ObjectiveEntry, SweepAxis, SweepDocument};
use super::exit::{self, Exit, Signal};
use super::failure::Failure;
use super::inbox::Inbox;
use super::limits::{Limits, Progress};
use super::printer::Printer;
use super::signals;
use super::solve;
use super::source::Source;
use crate::helper::{self, ProcessGroup};
use clap::{Args, Subcommand, ValueHint};
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::checked::SharedPlan;
use lightbay_core::clock::SystemClock;
use lightbay_core::context::Stop;
use lightbay_core::event::EndStatus;
use lightbay_core::param::Setting;
use lightbay_core::problem::{counted, printable};
use lightbay_engines::sweep::{Axis, Shard, Sweep, SweepRow, Walked, Walker};
use request::PreparedSweep;
use script::BatchSystem;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

mod merge;
mod parts;
mod plans;
mod progress;
mod request;
mod script;
mod table;

const EXAMPLES: &str = "\
Examples:
  lightbay sweep preset:tiny8 --over mfu=30%..60%..10% --method delta-joint -o table.csv --resume
  lightbay sweep job.json --over bandwidth_gbps=200,400 --method iter-halve,delta-joint -o table.csv
  lightbay sweep a.json b.json --over seq=2048..8192..2048 --over ports_per_pod=[8,8],[16,8]
  lightbay sweep hall.json --over instance_seed=1..5 --time-limit 10s --shard 1/2 -o first.csv
  lightbay sweep job.json --over seq=2048..65536..2048 --script slurm -o table.csv > sweep.sbatch
  lightbay sweep status table.*.csv
  lightbay sweep merge table.*.csv -o table.csv

Separate values by commas, put lists in brackets, and write ranges as first..last or first..last..step. Several --over \
options give every combination of their values. A cell is a row of the table: a scenario, a combination of values and a \
method. If the method accepts a hot start, a cell starts from the plan of the cell with the previous value of the last --over \
parameter and the same other values (parameters marked `cold` are skipped); --cold turns this off. The column started_from \
gives the number of the cell whose plan was the hot start; hot_start says whether the method accepted, repaired or rejected \
the plan. A chain of cells that start from one another's \
plans is never split between shards.

lightbay writes every row as soon as its cell is solved. After Ctrl-C, termination or hang-up the table has whole rows only, \
and lightbay saves the best plan of the interrupted cell and names the file; the same command with --resume solves the rest. Until a table with -o is complete, the folder TABLE.resume next to it holds \
the plans that the next cells start from. A cell without a plan gets a row with the reason. The exit \
code is the smallest exit code of a cell above 0, or else 0.";

/// Arguments of `sweep`.
#[derive(Args, Debug)]
#[command(
    after_long_help = format!("{EXAMPLES}\n\n{}", exit::HELP),
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Arguments {
    /// Work on tables that sweeps wrote.
    #[command(subcommand)]
    on_tables: Option<OnTables>,

    /// Scenarios of one kind: files, `-` (standard input), preset:NAME or session:NAME; if a file is a plan, its scenario is used
    #[arg(value_name = "SCENARIO", required = true, num_args = 1.., value_parser = Source::parser(), add = ArgValueCompleter::new(complete::source))]
    scenarios: Vec<Source>,

    /// Values of a parameter of the scenario or of all methods: seq=2048,4096 or seq=2048..8192..2048
    #[arg(long, value_name = "NAME=VALUES", add = ArgValueCompleter::new(complete::setting))]
    over: Vec<Setting>,

    /// Methods, separated by commas; `lightbay methods` lists all [default: the method that
    /// `solve` would choose for the first scenario]
    #[arg(long, value_name = "METHOD", value_delimiter = ',', add = ArgValueCompleter::new(complete::method))]
    method: Vec<String>,

    /// Change a parameter of every scenario, or of the methods that have it
    #[arg(long, value_name = "NAME=VALUE", add = ArgValueCompleter::new(complete::setting))]
    set: Vec<Setting>,

    /// Limits of the runs.
    #[command(flatten)]
    pub(super) limits: Limits,

    /// Solve every cell (a scenario, a combination of values and a method) from scratch
    #[arg(long)]
    cold: bool,

    /// Solve one part of the table, such as 1/4: the first of four parts. `auto/4` uses the index that Slurm (from 1),
    /// Nomad or Kubernetes (from 0) gives to a job of an array
    #[arg(long, value_name = "PART", default_value = "1/1", hide_default_value = true)]
    shard: String,

    /// Table to write: TABLE.csv, or TABLE.jsonl with one JSON object per line [default: CSV on standard output]
    #[arg(short, long, value_name = "TABLE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Folder for the plans of all cells: cell-1.json and so on
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    plans: Option<PathBuf>,

    /// Keep the rows already in the table and solve the rest
    #[arg(long, requires = "output")]
    resume: bool,

    /// With --resume, also solve again the cells whose row has no plan or reports a failure
    #[arg(long, requires = "resume")]
    retry_failed: bool,

    /// Print a script that solves the sweep in parts, instead of solving it
    #[arg(long, value_name = "SYSTEM", value_enum, requires = "output", conflicts_with_all = ["shard", "resume", "force", "progress", "json"])]
    script: Option<BatchSystem>,

    /// Number of parts of the script that --script prints [default: one for each chain of cells, at most 64]
    #[arg(long, value_name = "N", requires = "script", value_parser = clap::value_parser!(u16).range(1..))]
    parts: Option<u16>,

    /// Overwrite an existing table and existing plans
    #[arg(long, conflicts_with = "resume")]
    force: bool,

    /// Print one JSON object: {"schema", "kind", "sweep", "objective", "scenarios", "axes", "methods", "cells",
    /// "shard", "found", "ended", "rows"}
    #[arg(long)]
    json: bool,

    /// Progress on standard error: a line per cell; as JSON, the events of all runs (field `run` is the number of
    /// the cell) and the finished rows (lightbay.sweep-row/1) [default: plain on a terminal if a table is written, else
    /// none]
    #[arg(long, value_name = "FORM", value_enum)]
    progress: Option<Progress>,
}

/// Work on tables that sweeps wrote.
#[derive(Debug, Subcommand)]
enum OnTables {
    /// Show how many cells of a sweep are done, failed and missing
    Status {
        /// Tables of the parts of one sweep
        #[arg(required = true, value_hint = ValueHint::FilePath)]
        tables: Vec<PathBuf>,
        /// Print one JSON object (`lightbay schema sweep-status`)
        #[arg(long)]
        json: bool,
    },
    /// Write one table with the rows of all parts, in the order of the cells
    Merge {
        /// Tables of the parts of one sweep
        #[arg(required = true, value_hint = ValueHint::FilePath)]
        tables: Vec<PathBuf>,
        /// Table to write [default: standard output]
        #[arg(short, long, value_name = "TABLE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
        /// Overwrite an existing table
        #[arg(long)]
        force: bool,
    },
}

/// Prints the script of a batch system.
fn print_script(batch: BatchSystem, arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let table = arguments.output.clone().unwrap_or_default();
    table::form_of(&table, &printable(&table.to_string_lossy()))?;
    if arguments.scenarios.contains(&Source::Stdin) {
        return Err(Failure::input("-", "cannot be read by a batch job", "name a file"));
    }
    let sweep = request::sweep(arguments, console)?;
    let parts = arguments.parts.map_or_else(|| sweep.lines().min(64), usize::from);
    let sweep = parts::divisible(sweep, Shard { part: 1, of: parts }, console)?;
    let text = script::script(batch, arguments, parts, &table);
    console.say(&format!(
        "the script solves {} in {}",
        counted(sweep.len() as u64, "cell", "cells"),
        counted(parts as u64, "part", "parts")
    ));
    console.out().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

/// Message to the coordinator.
enum ProgressMessage {
    /// A cell is done.
    Row(Box<SweepRow>, Option<SharedPlan>),
    /// All cells are done.
    Ended(Walked),
    /// A signal arrived.
    Signal(Signal),
}

/// Executes the command: solves the cells of the sweep, and writes a row for each.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    match &arguments.on_tables {
        Some(OnTables::Status { tables, json }) => return merge::status(tables, *json, console),
        Some(OnTables::Merge { tables, output, force }) => {
            return merge::merge(tables, output.as_deref(), *force, console);
        }
        None => {}
    }
    if let Some(batch) = arguments.script {
        return print_script(batch, arguments, console);
    }
    let PreparedSweep { sweep, shard, todo, starts, mut table, mut plans, found, threads } =
        request::prepare(arguments, console)?;
    let form = match arguments.progress {
        None if arguments.output.is_none() && !arguments.json => Progress::None,
        asked => Progress::or_usual(asked, console),
    };
    let printer = progress::start(form, Arc::clone(&sweep), todo.len() + found.len(), found.len(), console)?;
    let said = printer.as_ref().map(Printer::inbox);
    let (clock, launcher) = (Arc::new(SystemClock::start()), helper::launcher(ProcessGroup::Shared));
    let sink = said.clone().filter(|_| form == Progress::Json).map(progress::sink);
    let walker = Arc::new(Walker::new(threads, sink, clock, launcher).map_err(|error| {
        Failure::Mendable(format!("no threads could be started: {error}; try --threads 1"))
    })?);
    let inbox = Arc::new(Inbox::new());
    let from_signals = Arc::clone(&inbox);
    signals::watch(move |signal| from_signals.put(ProgressMessage::Signal(signal)))
        .map_err(|error| Failure::Mendable(format!("signals cannot be watched: {error}")))?;

    table.begin(&sweep, console)?;
    plans.clear_litter();
    let (own, walking, asked, numbers) =
        (Arc::clone(&inbox), Arc::clone(&walker), Arc::clone(&sweep), todo.clone());
    let walk = move || {
        let walked = walking.walk(&asked, &numbers, starts, |row, plan| {
            own.put(ProgressMessage::Row(Box::new(row), plan));
            ControlFlow::Continue(())
        });
        own.put(ProgressMessage::Ended(walked));
    };
    std::thread::Builder::new()
        .name("lb-sweep".to_owned())
        .spawn(walk)
        .map_err(|error| Failure::Mendable(format!("no thread could be started: {error}")))?;

    let mut rows: Vec<SweepRow> = Vec::new();
    let mut signal = None;
    let walked = loop {
        match inbox.take(None) {
            None => {}
            Some(ProgressMessage::Ended(walked)) => break Some(walked),
            Some(ProgressMessage::Row(row, plan)) => {
                let kept = plans
                    .keep(&sweep, &row, plan.as_ref())
                    .and_then(|()| table.add(&sweep, &row, console))
                    .map(|()| plans.tidy());
                if let Err(failure) = kept {
                    walker.stop(Stop::Requested);
                    // A closed standard output is a failure here, because cells remain without a row.
                    return Err(match failure {
                        Failure::ReaderLeft => Failure::Mendable(format!(
                            "the reader closed standard output after {} of {} rows; name a table with -o to keep them",
                            rows.len(),
                            todo.len()
                        )),
                        other => other,
                    });
                }
                if let Some(said) = &said {
                    said.put(progress::ProgressMessage::Row(row.clone()));
                }
                rows.push(*row);
            }
            Some(ProgressMessage::Signal(_)) if signal.is_some() => break None,
            Some(ProgressMessage::Signal(first)) => {
                signal = Some(first);
                walker.stop(Stop::Signal);
                if first == Signal::Interrupt && console.err_is_terminal() {
                    console.say("stopping; press Ctrl-C again to leave at once");
                }
            }
        }
    };
    if let (Some(said), Some(printer)) = (said, printer) {
        said.put(progress::ProgressMessage::End);
        printer.finish();
    }
    let through = walked == Some(Walked::Through);
    if through {
        plans.finish();
    }
    if arguments.json {
        console.write_document(&document(&sweep, shard, found.len(), through, &rows))?;
    }
    let all = found.len() + todo.len();
    if let Some(signal) = signal.filter(|_| !through) {
        let how =
            if arguments.output.is_some() { "; run the same command with --resume to continue" } else { "" };
        let there = found.len() + rows.len();
        let saved = walker.interrupted().and_then(|(cell, plan)| {
            let state = console.places().ok().map(|places| places.state().to_owned());
            Some((cell, plans.rescue(cell, &plan, state.as_deref())?))
        });
        let saved = saved.map_or_else(String::new, |(cell, path)| {
            format!("; the best plan of cell {cell} so far is in {path}")
        });
        console.say(&format!("ended by {} after {there} of {all} cells{saved}{how}", signal.word()));
        return Ok(Exit::Signal(signal));
    }
    let ends = found.iter().map(|row| (row.status, row.has_plan));
    let ends = ends.chain(rows.iter().map(|row| (row.status, row.value.is_some())));
    let (exit, failed) = exit_of(ends);
    if failed > 0 {
        console.warn(&format!("{failed} of {all} cells failed; their rows say why"));
    }
    Ok(exit)
}

/// Returns the exit code for all rows together, and the number of rows whose own code is not 0. A failure takes
/// precedence, then an invalid cell, then a cell without a plan, then an infeasible cell.
fn exit_of(ends: impl Iterator<Item = (EndStatus, bool)>) -> (Exit, usize) {
    let codes = ends.map(|(status, has_plan)| solve::exit_of(Some(status), has_plan, None));
    let failed: Vec<Exit> = codes.filter(|exit| *exit != Exit::Done).collect();
    let worst = failed.iter().copied().min_by_key(|exit| exit.code()).unwrap_or(Exit::Done);
    (worst, failed.len())
}

fn document(sweep: &Sweep, shard: Shard, found: usize, through: bool, rows: &[SweepRow]) -> SweepDocument {
    let axis = |axis: &Axis| SweepAxis {
        name: axis.label(),
        unit: axis.info.unit.to_string(),
        values: axis.values.clone(),
    };
    SweepDocument {
        kind: sweep.kind().name,
        sweep: sweep.id(),
        objective: ObjectiveEntry { name: sweep.objective().name, sense: sweep.objective().sense },
        scenarios: sweep.scenario_names().map(str::to_owned).collect(),
        axes: sweep.axes().iter().map(axis).collect(),
        methods: sweep.method_names().map(str::to_owned).collect(),
        cells: sweep.len(),
        shard: shard.to_string(),
        found,
        ended: if through { "through" } else { "stopped" },
        rows: rows.iter().map(|row| row.to_value(sweep)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_cell_decides_the_exit_code() {
        use EndStatus::{Failed, Infeasible, Invalid, NoPlan, Optimal, Stopped};
        for (ends, code, failed) in [
            (&[][..], 0, 0),
            (&[(Optimal, true), (Stopped, true)], 0, 0),
            (&[(Optimal, true), (Infeasible, false)], 4, 1),
            (&[(Infeasible, false), (NoPlan, false), (Optimal, true)], 3, 2),
            (&[(NoPlan, false), (Invalid, false)], 2, 2),
            (&[(Invalid, false), (Failed, true)], 1, 2),
        ] {
            let (exit, count) = exit_of(ends.iter().copied());
            assert_eq!((exit.code(), count), (code, failed), "{ends:?}");
        }
    }
}
