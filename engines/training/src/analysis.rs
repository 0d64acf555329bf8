//! A plan explained: what every task could have done, which ones dictate the makespan, and how links are used.
//!
//! Everything here follows from a scenario and a checked result; nothing is searched for. Panes and summaries read
//! it, so that they never compute on their own.

use crate::baselines::Baseline;
use crate::circuit_bounds::circuit_bounds;
use crate::critical_path::{critical_path, slack};
use crate::evaluate::{Evaluator, Rates, Scratch};
use crate::instance::Instance;
use crate::network::NetworkError;
use crate::plan::{RateControl, TrainingResult};
use crate::scenario::TrainingScenario;
use crate::sim::{Piece, Trace};
use crate::windows::{IndexWindows, Windows};
use lightbay_core::problem::Problems;

mod full;
mod links;

pub use full::{Step, full_steps};
pub use links::LinkFacts;

/// Two event times closer than this are one, seconds.
const SAME_MOMENT_S: f64 = 1e-9;

/// Why a plan cannot be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The scenario cannot be built.
    #[error("{0}")]
    Scenario(Problems),
    /// The instance cannot be compiled.
    #[error("{0}")]
    Network(#[from] NetworkError),
    /// The result is of another scenario.
    #[error("the plan has {tasks} tasks and {links} links, the scenario has others")]
    Mismatch {
        /// Tasks of the result.
        tasks: usize,
        /// Links of the result.
        links: usize,
    },
}

/// A scenario with everything that does not depend on a plan.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The instance.
    pub instance: Instance,
    /// Ready to evaluate circuits.
    pub evaluator: Evaluator,
    /// T_up: makespan of the best baseline under the fair rule, times 1 + 1e-4, seconds.
    pub limit_s: f64,
    /// Windows under that limit.
    pub windows: Windows,
    /// Useful circuits of every link (DELTA Alg. 2).
    pub circuit_bounds: Vec<u32>,
}

impl Setting {
    /// Prepares a scenario.
    ///
    /// # Errors
    /// [`AnalysisError`] if it cannot be built.
    pub fn new(scenario: &TrainingScenario) -> Result<Self, AnalysisError> {
        let instance = scenario.build().map_err(AnalysisError::Scenario)?.instance;
        let evaluator = Evaluator::new(&instance)?;
        let mut scratch = Scratch::default();
        let best = Baseline::ALL
            .iter()
            .map(|baseline| {
                evaluator.makespan(&baseline.allocate(&evaluator.network), Rates::Fair, &mut scratch)
            })
            .fold(f64::INFINITY, f64::min);
        let limit_s = if best.is_finite() { best * (1.0 + 1e-4) } else { evaluator.ideal.makespan() };
        let windows = Windows::new(&evaluator.network, limit_s);
        let circuit_bounds = circuit_bounds(&evaluator.network, &windows);
        Ok(Self { instance, evaluator, limit_s, windows, circuit_bounds })
    }
}

/// A task of a plan beside what it could have been.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskFacts {
    /// Start in the plan, seconds.
    pub start_s: f64,
    /// Finish in the plan, seconds.
    pub finish_s: f64,
    /// Shortest possible duration V/(F*B), seconds.
    pub least_s: f64,
    /// How much later it could finish without moving the makespan, seconds.
    pub slack_s: f64,
    /// Whether it is on the critical path.
    pub critical: bool,
    /// Start on the ideal network, seconds.
    pub ideal_start_s: f64,
    /// Finish on the ideal network, seconds.
    pub ideal_finish_s: f64,
    /// Finish on the same circuits under fair sharing, seconds.
    pub fair_finish_s: f64,
}

impl TaskFacts {
    /// Duration in the plan, seconds.
    pub fn takes_s(&self) -> f64 {
        self.finish_s - self.start_s
    }
}

/// What a task sends in consecutive intervals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    /// First interval in which it is active.
    pub first: usize,
    /// Rate in NICs in each interval from there on; 0 where it is held back.
    pub nics: Vec<f64>,
}

/// A plan explained.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The scenario it is for.
    pub setting: Setting,
    /// Circuits of every link.
    pub circuits: Vec<u32>,
    /// Who decides the rates.
    pub rate_control: RateControl,
    /// Makespan, seconds.
    pub makespan_s: f64,
    /// Makespan of the same circuits under fair sharing, seconds.
    pub fair_makespan_s: f64,
    /// All tasks, in id order.
    pub tasks: Vec<TaskFacts>,
    /// Tasks of the critical path from the first to the last.
    pub path: Vec<u32>,
    /// Communication on the critical path, seconds.
    pub path_comm_s: f64,
    /// Distinct event times, ascending, seconds.
    pub events: Vec<f64>,
    /// Activity of every task over the intervals between events.
    pub activity: Vec<Activity>,
    /// All links, in id order.
    pub links: Vec<LinkFacts>,
    /// Intervals of each task that the DAG alone allows (DELTA Alg. 1).
    pub dag_windows: IndexWindows,
    /// Intervals of each task around this plan, two to either side.
    pub anchored_windows: IndexWindows,
}

impl Analysis {
    /// Explains `result`, which must have passed the checker for this scenario.
    ///
    /// # Errors
    /// [`AnalysisError`] if the result does not belong to the scenario.
    pub fn new(scenario: &TrainingScenario, result: &TrainingResult) -> Result<Self, AnalysisError> {
        Self::of(Setting::new(scenario)?, result)
    }

    /// The same for a scenario that is prepared already.
    ///
    /// # Errors
    /// [`AnalysisError`] if the result does not belong to the scenario.
    pub fn of(setting: Setting, result: &TrainingResult) -> Result<Self, AnalysisError> {
        let network = &setting.evaluator.network;
        let circuits = result.circuits();
        if result.tasks.len() != network.tasks() || circuits.len() != network.links() {
            return Err(AnalysisError::Mismatch { tasks: result.tasks.len(), links: circuits.len() });
        }
        let trace = trace_of(result, &network.tail);
        let path = critical_path(network, &trace);
        let slack = slack(network, &trace);
        let fair = setting.evaluator.trace(&circuits, Rates::Fair, &mut Scratch::default());
        let ideal = &setting.evaluator.ideal.trace;
        let mut tasks: Vec<TaskFacts> = (0..network.tasks())
            .map(|task| TaskFacts {
                start_s: trace.start[task],
                finish_s: trace.finish[task],
                least_s: network.tau[task],
                slack_s: slack[task].max(0.0),
                critical: false,
                ideal_start_s: ideal.start[task],
                ideal_finish_s: ideal.finish[task],
                fair_finish_s: fair.finish[task],
            })
            .collect();
        for &task in &path.tasks {
            tasks[task as usize].critical = true;
        }
        let events = event_times(result);
        let activity = activities(result, &events, network.rate);
        let links = links::facts(&setting, &circuits, &trace, &tasks);
        let anchored_windows = IndexWindows::anchored(network, &trace, 2);
        let dag_windows = IndexWindows::new(network, anchored_windows.intervals);
        Ok(Self {
            circuits,
            rate_control: result.rate_control,
            makespan_s: trace.makespan,
            fair_makespan_s: fair.makespan,
            tasks,
            path: path.tasks,
            path_comm_s: path.comm,
            events,
            activity,
            links,
            dag_windows,
            anchored_windows,
            setting,
        })
    }

    /// Predecessors of a task with delay in seconds, and whether each dictates its start.
    pub fn predecessors(&self, task: u32) -> Vec<(u32, f64, bool)> {
        let start = self.tasks[task as usize].start_s;
        let arcs = self.setting.evaluator.network.preds.of(task);
        arcs.iter()
            .map(|arc| {
                let allows = self.tasks[arc.task as usize].finish_s + arc.delay;
                (arc.task, arc.delay, allows >= start - 1e-7)
            })
            .collect()
    }

    /// Successors of a task with delay in seconds, and whether it dictates the start of each.
    pub fn successors(&self, task: u32) -> Vec<(u32, f64, bool)> {
        let finish = self.tasks[task as usize].finish_s;
        let arcs = self.setting.evaluator.network.succs.of(task);
        arcs.iter()
            .map(|arc| {
                (arc.task, arc.delay, finish + arc.delay >= self.tasks[arc.task as usize].start_s - 1e-7)
            })
            .collect()
    }

    /// The first event from which only sinks are active: where the tail of the iteration begins.
    pub fn tail_begins(&self) -> usize {
        let network = &self.setting.evaluator.network;
        let last = (0..self.tasks.len() as u32)
            .filter(|task| !network.is_sink(*task))
            .map(|task| self.tasks[task as usize].start_s)
            .fold(0.0, f64::max);
        let first_sink = (0..self.tasks.len() as u32)
            .filter(|task| network.is_sink(*task))
            .map(|task| self.tasks[task as usize].start_s)
            .fold(f64::INFINITY, f64::min);
        let from = first_sink.min(last);
        self.events.partition_point(|event| *event < from - SAME_MOMENT_S)
    }
}

fn trace_of(result: &TrainingResult, tail: &[f64]) -> Trace {
    let mut trace = Trace::default();
    for (index, task) in result.tasks.iter().enumerate() {
        trace.start.push(task.start_s);
        trace.finish.push(task.finish_s);
        trace.makespan = trace.makespan.max(task.finish_s + tail[index]);
        trace.pieces.extend(task.segments.iter().map(|segment| Piece {
            task: index as u32,
            start: segment.start_s,
            end: segment.end_s,
            volume: segment.volume_bytes,
        }));
    }
    trace
}

fn event_times(result: &TrainingResult) -> Vec<f64> {
    let mut times: Vec<f64> = result
        .tasks
        .iter()
        .flat_map(|task| {
            let ends = task.segments.iter().map(|segment| segment.end_s);
            [task.start_s, task.finish_s].into_iter().chain(ends)
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    times.dedup_by(|later, earlier| *later - *earlier <= SAME_MOMENT_S);
    times
}

fn activities(result: &TrainingResult, events: &[f64], rate: f64) -> Vec<Activity> {
    let at = |time: f64| events.partition_point(|event| *event < time - SAME_MOMENT_S);
    result
        .tasks
        .iter()
        .map(|task| {
            let (first, last) = (at(task.start_s), at(task.finish_s));
            let mut nics = vec![0.0; last.saturating_sub(first)];
            for segment in &task.segments {
                let length = segment.end_s - segment.start_s;
                if length <= SAME_MOMENT_S {
                    continue;
                }
                let level = segment.volume_bytes / length / rate;
                let (from, to) = (at(segment.start_s).max(first), at(segment.end_s).min(last));
                for interval in from..to {
                    nics[interval - first] = level;
                }
            }
            Activity { first, nics }
        })
        .collect()
}
