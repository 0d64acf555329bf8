//! Parts that the MILP and LP methods share: knobs, the solver of a run, and the feasibility problems of all tasks of a
//! scenario.

use super::session::EpochSession;
use crate::Collective;
use crate::model::group::Folding;
use crate::model::schedule::EpochSchedule;
use crate::model::task::CollectiveTask;
use crate::plan::{Discipline, covers};
use crate::programs::question_series;
use crate::programs::questions::{AskedQuestion, QuestionLimits, QuestionOutcome, fewest_epochs};
use crate::programs::solver::{BuiltProgram, ProgramSolver};
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, ModelSize, SeriesPoint, Severity};
use lightbay_core::method::MethodError;
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_highs::conflict::{Conflict, Party, sentence};
use lightbay_highs::model::Model;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Solution, Start};
use lightbay_highs::solve::{self, Reader, SolveRequest};
use rand::Rng;
use std::sync::Arc;

/// Number of the random stream that seeds the solver.
const STREAM: u64 = 17;
/// Maximum number of columns, before symmetry reduction, of a model that a run builds.
pub(super) const MOST_COLUMNS: u64 = 20_000_000;
/// Maximum number of entries, before symmetry reduction, of a model that a run builds: with 200 million entries, a
/// model took 2.5 GB of memory, and its message to the solver 1.2 GB.
const MOST_ENTRIES: u64 = 40_000_000;

/// Returns `true` if the model for this number of epochs has at most `MOST_ENTRIES` entries. If a chunk occupies a link
/// for several epochs, each row of the link contains the starts of all these epochs.
pub(super) fn fits(task: &CollectiveTask, epochs: u32) -> bool {
    let links: u64 = task.epochs.links.iter().map(|link| u64::from(link.occupied.max(1))).sum();
    let entries = (task.chunks.len() as u64)
        .saturating_mul(links + task.network.gpus().len() as u64)
        .saturating_mul(u64::from(epochs) + 1);
    entries <= MOST_ENTRIES
}

/// Returns the knobs of the solver that act on models without an objective.
pub(super) fn solver_knobs(names: &[&str]) -> Vec<ParamInfo> {
    solve::knobs().into_iter().filter(|knob| names.contains(&&*knob.name)).collect()
}

/// Returns the knob for the time limit of one feasibility problem, s.
pub(super) fn question_s(usual: f64) -> ParamInfo {
    let help = "Time limit for each feasibility problem, which tests whether a schedule of K epochs exists.";
    ParamInfo::float("question_s", 0.1, 1e6, usual, help).unit("s").effect(Effect::Warm)
}

/// Returns the knob that switches symmetry reduction on.
pub(super) fn fold() -> ParamInfo {
    let help = "If true, searches symmetric schedules first, with one chunk per orbit; detects \
         symmetries if the scenario lists none.";
    ParamInfo::bool("fold", true, help).effect(Effect::Warm)
}

/// Returns the options of the solver. Knobs that have the names of options but belong to other searches are not used.
pub(super) fn options(params: &Params, names: &[&str], seed: u64) -> Options {
    // Reads only the knobs that the method has.
    let knobs = solver_knobs(names);
    let given: Vec<_> =
        knobs.iter().filter_map(|knob| params.get(&knob.name).map(|value| (&*knob.name, value))).collect();
    solve::options_of(&Params::resolve(&knobs, given).unwrap_or_default(), seed)
}

/// Returns the seed of the solver.
pub(super) fn seed(cx: &Context<'_, Collective>) -> u64 {
    cx.stream(STREAM).next_u64()
}

/// Solves models in the solver process of a run.
pub(super) struct RunSolver<'c, 'a> {
    pub(super) cx: &'c mut Context<'a, Collective>,
    pub(super) isolated: bool,
    /// If true, reports which constraints of an infeasible model are in conflict.
    pub(super) explains: bool,
}

impl ProgramSolver for RunSolver<'_, '_> {
    fn solve(&mut self, model: &Model, options: Options, start: Start) -> Result<Solution, MethodError> {
        solve::run(SolveRequest { model, options, start, isolated: self.isolated }, &mut EndReader, self.cx)
    }

    fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.cx.checkpoint()
    }

    fn impossible(&mut self, model: &Model) -> Result<(), MethodError> {
        if self.explains
            && let Some(conflict) = solve::why_infeasible(model, self.isolated, self.cx)?
        {
            let words = constraints(&conflict);
            if !words.is_empty() {
                self.cx.note(Severity::Info, sentence(words, &conflict));
            }
        }
        Ok(())
    }

    fn elapsed_s(&self) -> f64 {
        self.cx.elapsed_s()
    }

    fn built(&mut self, program: &BuiltProgram) {
        let folded = match program.folded_by {
            1 => "whole".to_owned(),
            order => format!("symmetry-reduced, order {order}"),
        };
        self.cx.phase("question", format!("{} epochs, {folded}", program.epochs));
        for (after, extent) in [("written in full", program.whole), ("time windows", program.pruned)] {
            self.cx.report(EventBody::Model(ModelSize {
                after: after.to_owned(),
                columns: extent.columns,
                rows: extent.rows,
                ..ModelSize::default()
            }));
        }
        self.cx.report(EventBody::Model(ModelSize {
            after: folded,
            columns: u64::from(program.size.columns),
            rows: u64::from(program.size.rows),
            nonzeros: u64::from(program.size.nonzeros),
            integers: u64::from(program.size.integers),
        }));
    }
}

/// Returns the deliveries, links and buffers whose constraints are part of a conflict. Other rows of the model are
/// omitted, because they only describe where chunks are.
fn constraints(conflict: &Conflict) -> Vec<String> {
    let of = |party: &Party| {
        let words: Vec<&str> = party.name.split(' ').collect();
        match *words.as_slice() {
            ["deliver", chunk, node] => Some(format!("the delivery of chunk {chunk} to node {node}")),
            ["at", chunk, node, _] if party.lower > 0.0 => {
                Some(format!("the delivery of chunk {chunk} to node {node}"))
            }
            ["window", link, _] => Some(format!("the capacity of link {link}")),
            ["buffer", node, _] => Some(format!("the buffer limit of node {node}")),
            _ => None,
        }
    };
    conflict.rows.iter().chain(&conflict.columns).filter_map(of).collect()
}

/// Reader that ignores the solutions and bounds that a solver reports before its end, because the objective of a model
/// is not the objective of plans.
struct EndReader;

impl Reader<Collective> for EndReader {
    fn incumbent(
        &mut self,
        _cx: &mut Context<'_, Collective>,
        _objective: f64,
        _values: &[f64],
        _source: &str,
    ) -> Result<(), MethodError> {
        Ok(())
    }

    fn bound(&mut self, _cx: &mut Context<'_, Collective>, _bound: f64) -> Result<(), MethodError> {
        Ok(())
    }

    fn meaning(&self, _objective: f64) -> Option<f64> {
        None
    }
}

/// Reports the answer to a feasibility problem as a note and as points of the series of the run; `proves` is `false` if
/// the model excludes some schedules of the network.
pub(super) fn tell(cx: &mut Context<'_, Collective>, asked: &AskedQuestion, proves: bool) {
    let epochs = asked.program.epochs;
    let answer = match (asked.outcome, asked.program.folded_by) {
        (QuestionOutcome::Feasible, _) => format!("a schedule of {epochs} epochs exists"),
        (QuestionOutcome::Infeasible, 1) if proves => format!("no schedule of {epochs} epochs exists"),
        (QuestionOutcome::Infeasible, 1) => {
            format!(
                "no schedule of {epochs} epochs exists on the reversed network; this proves nothing for the \
                 network itself, because the model excludes some of its schedules"
            )
        }
        (QuestionOutcome::Infeasible, order) => {
            format!("no schedule of {epochs} epochs has the symmetries of order {order}")
        }
        (QuestionOutcome::Unknown, _) => {
            format!("undecided within question_s whether {epochs} epochs suffice; raise question_s")
        }
    };
    cx.note(Severity::Info, format!("{answer} ({:.2} s)", asked.seconds));
    for (name, y) in question_series::points(asked) {
        cx.report(EventBody::Series(SeriesPoint { name: name.to_owned(), x: f64::from(epochs), y }));
    }
}

/// Returns the largest group of symmetries that a search finds for a task; only the identity if symmetries are
/// disabled.
pub(super) fn folding_of(task: &crate::model::task::CollectiveTask, wanted: bool) -> Folding {
    if !wanted {
        return Folding::none(&task.network, &task.chunks);
    }
    Folding::largest(&task.network, &task.chunks)
}

/// Settings of the feasibility problems for all tasks of a session.
pub(super) struct Asking<'p> {
    pub(super) limits: QuestionLimits,
    pub(super) params: &'p Params,
    /// The only number of epochs to test; if `None`, numbers are tested from the lower bound upward.
    pub(super) only: Option<u32>,
    /// `true` if symmetric schedules are searched first.
    pub(super) fold: bool,
    /// Number of columns, with all chunks in all epochs, above which a model is not solved.
    pub(super) most_columns: u64,
    /// `true` if a proven bound applies to the best known plan, so that the bound is reported.
    pub(super) states: bool,
}

/// Answers to the feasibility problems.
pub(super) struct AskedAll {
    /// The best schedule of each task.
    pub(super) schedules: Vec<EpochSchedule>,
    /// Proven lower bound on the number of epochs of all tasks together.
    pub(super) proven: u32,
}

/// Searches for schedules of fewer epochs, task by task, and reports each schedule with which the whole collective
/// completes earlier. Returns the best schedules and the proven lower bound on the number of epochs. `tops` are upper
/// limits on the epochs of the schedules that are searched.
pub(super) fn ask_all(
    session: &EpochSession,
    schedules: Vec<EpochSchedule>,
    tops: &[u32],
    asking: &Asking<'_>,
    cx: &mut Context<'_, Collective>,
) -> Result<AskedAll, MethodError> {
    let tasks = Arc::clone(&session.tasks);
    let mut proven: Vec<u32> = session.bounds.iter().map(|bound| bound.epochs).collect();
    // `proven` starts at the bounds of the session, which need no feasibility problem.
    let mut all = AskedAll { schedules, proven: 0 };
    for (at, task) in tasks.tasks.iter().enumerate() {
        let below = (proven[at], tops.get(at).copied().unwrap_or(0));
        let (bound, top) = asking.only.map_or(below, |only| (only, only + 1));
        // Size of the full model: the memory for building a model depends on it.
        let columns = (task.chunks.len() as u64)
            .saturating_mul((task.network.links().len() + task.network.gpus().len()) as u64)
            .saturating_mul(u64::from(top) + 1);
        if columns > asking.most_columns || !fits(task, top) {
            let text = format!(
                "skipped the integer program: the number of its columns ({columns}) or of its entries \
                 exceeds the limit"
            );
            cx.note(Severity::Warning, text);
            continue;
        }
        let folding = folding_of(task, asking.fold);
        // Runs in the solver process, which can be stopped at once.
        let mut solver = RunSolver {
            cx: &mut *cx,
            isolated: solve::isolated(asking.params),
            explains: asking.only.is_some(),
        };
        fewest_epochs(task, bound, top, &folding, &asking.limits, &mut solver, |solver, asked, found| {
            tell(solver.cx, asked, !task.slides);
            // Only a full model proves a bound for all schedules, and only if reversed schedules need not be scheduled
            // again.
            let whole = asked.program.folded_by == 1 && !task.slides;
            if asked.outcome == QuestionOutcome::Infeasible && whole {
                proven[at] = proven[at].max(asked.program.epochs + 1);
                if asking.states {
                    state(session, proven.iter().sum(), solver.cx);
                }
            }
            let known = all.schedules[at].finish;
            if let Some(schedule) = found.filter(|schedule| schedule.finish < known) {
                all.schedules[at] = schedule.clone();
                // Every improvement is reported together with the current schedules of the other parts.
                session.offer(all.schedules.clone(), "integer program", &mut solver.cx.here())?;
            }
            Ok(())
        })?;
    }
    all.proven = proven.iter().sum();
    Ok(all)
}

/// Reports a bound in epochs that the feasibility problems have proven.
pub(super) fn state(session: &EpochSession, epochs: u32, cx: &mut Context<'_, Collective>) {
    let parts = session.tasks.tasks.len() > 1;
    // Parts follow each other, so their epochs add up.
    let bound_us = f64::from(epochs) * session.tasks.epoch_us;
    cx.bound_over(
        bound_us,
        &covers(session.tasks.epoch_us, Discipline::WholeChunk, session.tasks.pieces, parts),
    );
}
