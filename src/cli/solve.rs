//! `lightbay solve`: one run without the workbench. The best plan is written for every reason that ends the run.

use super::complete;
use super::console::Console;
use super::documents::SolveDocument;
use super::exit::{self, Exit, Signal};
use super::failure::Failure;
use super::limits::{Limits, Progress};
use super::printer::Printer;
use super::show;
use super::signals;
use super::source::Source;
use super::target::file_for_json;
use crate::helper::{self, ProcessGroup};
use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::checked::SharedPlan;
use lightbay_core::clock::SystemClock;
use lightbay_core::context::Stop;
use lightbay_core::event::{Done, EndStatus, RunId};
use lightbay_core::param::Setting;
use lightbay_core::problem::printable;
use lightbay_core::run::Runs;
use lightbay_engines::{AnyPlan, figure_label, figure_text};
use plan_output::PlanOutput;
pub(super) use plan_output::rescued;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::{Wire, WireMessage};

mod foreign;
mod plan_output;
mod progress;
mod request;
mod saver;
mod wire;

const EXAMPLES: &str = "\
Examples:
  lightbay solve preset:megatron_177b -o plan.json
  lightbay solve job.json --method delta-fast --set bandwidth_gbps=800 --time-limit 5m -o plan.json
  lightbay solve job.json --hot-start plan.json --gap 1% --progress json -o better.json
  lightbay new tiny8 | lightbay solve - | lightbay check -
  lightbay solve model.mps -o model.sol

Ctrl-C, termination and hang-up stop the run and write the best plan; a second signal ends the program at once.
With -o, lightbay also writes the best plan so far, at most once a second.";

/// Maximum time for a run to stop after a termination or hang-up. Runs react within milliseconds except in a few long
/// steps, such as the start of a large model. Half a second leaves time to write the plan within the second in which
/// the program must exit.
const GRACE: Duration = Duration::from_millis(500);

/// Arguments of `solve`.
#[derive(Args, Debug)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
pub struct Arguments {
    /// Scenario: a file, `-` (standard input), preset:NAME or session:NAME; if the file is a plan, its scenario is used. A model of
    /// another program (MPS, LP) is solved by HiGHS; `-o` then writes the values of its columns
    #[arg(value_name = "SCENARIO", value_parser = Source::parser(), add = ArgValueCompleter::new(complete::source))]
    scenario: Source,

    /// Method; `lightbay methods` lists all [default: `auto`; `tons-fast` for a TPU pod,
    /// `delta-phases` if circuits change, `reallocate` for several jobs]
    #[arg(long, value_name = "METHOD", add = ArgValueCompleter::new(complete::method))]
    method: Option<String>,

    /// Change a parameter of the scenario or of the method; NAME[3]=VALUE changes one entry of a list
    #[arg(long, value_name = "NAME=VALUE", add = ArgValueCompleter::new(complete::setting))]
    set: Vec<Setting>,

    /// Limits of the runs.
    #[command(flatten)]
    pub(super) limits: Limits,

    /// Plan to start from, of this or a similar scenario
    #[arg(long, value_name = "PLAN", value_parser = Source::parser(), add = ArgValueCompleter::new(complete::source))]
    hot_start: Option<Source>,

    /// Progress on standard error while solving [default: plain on a terminal, else none]
    #[arg(long, value_name = "FORM", value_enum)]
    progress: Option<Progress>,

    /// File to write, compressed if its name ends with .gz [default: standard output; if that is a terminal, lightbay
    /// prints a summary in place of the plan]
    #[arg(short, long, value_name = "PLAN", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    /// Print one JSON object about the run and the written plan (`lightbay schema solve`) in place of a summary
    #[arg(long, requires = "output")]
    json: bool,
}

/// Executes the command: solves the scenario, and writes the plan.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    if let Some(content) = foreign::model_in(&arguments.scenario)? {
        return foreign::run(&content, arguments, console);
    }
    file_for_json(arguments.json, arguments.output.as_deref())?;
    let request = request::prepare(arguments, console)?;
    let progress = Progress::or_usual(arguments.progress, console);
    let printer = progress::start(progress, request.kind, request.defaults, console)?;
    let wire = Arc::new(Wire::new(printer.as_ref().map(Printer::inbox)));
    let (clock, launcher) = (Arc::new(SystemClock::start()), helper::launcher(ProcessGroup::Shared));
    let runs = Runs::new(request.threads, RunId(1), wire.clone(), clock, launcher).map_err(|error| {
        Failure::Mendable(format!("no threads could be started: {error}; try --threads 1"))
    })?;
    let plan_output = Arc::new(PlanOutput::new(console));
    let (from_signals, writing) = (Arc::clone(&wire), Arc::clone(&plan_output));
    signals::watch(move |signal| {
        writing.signal(signal);
        from_signals.signal(signal);
    })
    .map_err(|error| Failure::Mendable(format!("signals cannot be watched: {error}")))?;

    // Thousands of lines of JSON are not readable.
    let summary = arguments.output.is_none() && console.out_is_terminal();
    let mut saver = saver::Saver::new(request.target, summary);
    runs.submit(request.job);
    let (ended, signal) = coordinate(&wire, &runs, &mut saver, console);
    if let Some(printer) = printer {
        printer.finish();
    }
    conclude(ended, signal, saver, &plan_output, arguments, console)
}

/// Outcome of the wait for the run.
enum SolveEnd {
    /// The run reported its end.
    Run(Done),
    /// The program left before the run reported its end: a second signal came, or the run did not stop in time.
    Left,
}

/// Receives plans and signals until the run ends, a second signal requests an immediate exit, or the run does not stop
/// in time.
fn coordinate(
    wire: &Wire,
    runs: &Runs,
    saver: &mut saver::Saver,
    console: &mut Console,
) -> (SolveEnd, Option<Signal>) {
    let mut signal = None;
    let mut give_up: Option<Instant> = None;
    loop {
        match wire.take(saver.due().into_iter().chain(give_up).min()) {
            // The best known plan is written; the run may be in a step that cannot be interrupted.
            None if give_up.is_some_and(|at| at <= Instant::now()) => return (SolveEnd::Left, signal),
            None => saver.save_if_due(console),
            Some(WireMessage::Plan(plan)) => {
                saver.offer(plan);
                saver.save_if_due(console);
            }
            Some(WireMessage::Done(done)) => return (SolveEnd::Run(*done), signal),
            Some(WireMessage::Rejected(why)) => {
                console.warn(&format!("the run does not start from the plan of --hot-start: {why}"));
            }
            Some(WireMessage::Signal(_)) if signal.is_some() => return (SolveEnd::Left, signal),
            Some(WireMessage::Signal(first)) => {
                signal = Some(first);
                runs.stop_all(Stop::Signal);
                // The user at the keyboard decides how long to wait.
                give_up = (first != Signal::Interrupt).then(|| Instant::now() + GRACE);
                if first == Signal::Interrupt && console.err_is_terminal() {
                    console.say("stopping; press Ctrl-C again to leave at once");
                }
            }
        }
    }
}

/// Writes the best plan, reports the end of the run, and chooses the exit code.
fn conclude(
    ended: SolveEnd,
    signal: Option<Signal>,
    saver: saver::Saver,
    plan_output: &Arc<PlanOutput>,
    arguments: &Arguments,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let (done, plan) = match ended {
        SolveEnd::Run(mut done) => {
            let plan = done.plan.take();
            (Some(done), plan)
        }
        SolveEnd::Left => (None, None),
    };
    if let Some(done) = &done {
        report_failure(done, signal.is_some(), console);
    }
    let written = saver.finish(plan, plan_output, console)?;
    let status = done.as_ref().map(|done| done.status);
    let exit = exit_of(status, written.is_some(), signal);
    let plan = written.as_ref().and_then(AnyPlan::of);
    if let Some(path) = arguments.output.as_ref().filter(|path| path.as_os_str() != "-") {
        let file = printable(&path.to_string_lossy());
        if arguments.json {
            console.write_document(&SolveDocument {
                file: written.is_some().then_some(file),
                status: status.map(|status| status.word().to_owned()),
                exit_code: exit.code(),
                bounds: plan.as_ref().map_or_else(Vec::new, |plan| plan.standing().bounds().to_vec()),
                plan: plan.as_ref().map(AnyPlan::header),
            })?;
        } else if let Some(plan) = plan.as_ref().filter(|_| !console.out_is_terminal()) {
            let header = plan.header();
            let value = figure_text(&header.kind, &header.objective.name, header.objective.value);
            let standing = plan.standing();
            console.say(&format!(
                "{file}: {} {value}, {}; {}",
                figure_label(&header.kind, &header.objective.name),
                standing.status(),
                standing.words(false)
            ));
        } else if let Some(plan) = plan.as_ref().filter(|_| !console.is_quiet()) {
            write!(console.out(), "{}", show::summary(plan)?)?;
            let next = "shows all sections; `lightbay check` verifies the plan; `lightbay export` writes other formats";
            writeln!(console.out(), "written to {file}; `lightbay show {file}` {next}")?;
        }
    }
    if let Some(caveat) = plan.as_ref().and_then(AnyPlan::caveat) {
        console.warn(&caveat);
    }
    if let (Exit::Signal(signal), None) = (exit, written) {
        console.say(&format!("ended by {} before a plan was found; nothing was written", signal.word()));
    }
    Ok(exit)
}

/// Derives the exit code from the status of the run (`None` if the program left before the run reported a status), the
/// existence of a plan, and the signal that stopped the run.
pub(super) fn exit_of(status: Option<EndStatus>, has_plan: bool, signal: Option<Signal>) -> Exit {
    // A run that finished before the signal could stop it was not ended by the signal.
    let early = matches!(status, None | Some(EndStatus::Stopped | EndStatus::NoPlan));
    if let Some(signal) = signal.filter(|_| early) {
        return Exit::Signal(signal);
    }
    match status {
        None | Some(EndStatus::Failed | EndStatus::Panicked) => Exit::Failure,
        Some(EndStatus::Invalid) => Exit::Input,
        Some(EndStatus::Infeasible | EndStatus::Unbounded) => Exit::Infeasible,
        Some(EndStatus::NoPlan) => Exit::NoPlan,
        Some(_) if has_plan => Exit::Done,
        Some(_) => Exit::NoPlan,
    }
}

/// Reports an error on standard error, in every form of progress.
fn report_failure(done: &Done, interrupted: bool, console: &mut Console) {
    let message = printable(&done.message);
    match done.status {
        EndStatus::Invalid => {
            for line in done.message.lines() {
                console.error(&printable(line));
            }
        }
        EndStatus::Failed | EndStatus::Panicked => {
            console.error(&message);
            for violation in &done.violations {
                console.error(&violation.to_string());
            }
        }
        EndStatus::Infeasible => console.error(&format!("infeasible: {message}")),
        EndStatus::Unbounded => console.error(&format!("unbounded: {message}")),
        EndStatus::NoPlan if !interrupted => {
            let why = if message.is_empty() { "no plan was found" } else { &message };
            console.error(&format!("no plan: {why}; raise the limits or use another method"));
        }
        _ => {}
    }
}

/// Returns the plan as the content of its file.
fn content(plan: &SharedPlan) -> Result<Vec<u8>, Failure> {
    Ok(plan.to_json()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_have_the_documented_codes() {
        let term = Some(Signal::Terminate);
        for (status, has_plan, signal, code) in [
            (Some(EndStatus::Optimal), true, None, 0),
            (Some(EndStatus::Stopped), true, None, 0),
            (Some(EndStatus::NumericalTrouble), true, None, 0),
            (Some(EndStatus::Failed), true, None, 1),
            (Some(EndStatus::Panicked), true, None, 1),
            (Some(EndStatus::Invalid), false, None, 2),
            (Some(EndStatus::NoPlan), false, None, 3),
            (Some(EndStatus::Infeasible), false, None, 4),
            (Some(EndStatus::Unbounded), false, None, 4),
            (Some(EndStatus::Stopped), true, term, 143),
            (Some(EndStatus::NoPlan), false, Some(Signal::Interrupt), 130),
            (None, true, Some(Signal::HangUp), 129),
            // The signal came when the run was over already.
            (Some(EndStatus::Optimal), true, term, 0),
            (Some(EndStatus::Failed), false, term, 1),
            (Some(EndStatus::Infeasible), false, term, 4),
        ] {
            assert_eq!(exit_of(status, has_plan, signal).code(), code, "{status:?} {has_plan} {signal:?}");
        }
    }
}
