//! Analysis of a plan: the times that every task would have on an ideal network, the tasks that determine the makespan,
//! and the use of links.
//!
//! Everything is computed from a scenario and a checked result, without a search. Panes and summaries read the analysis
//! and compute nothing themselves.

use crate::model::network::{Network, NetworkError};
use crate::plan::{RateControl, TrainingResult};
use crate::programs::circuit_bounds::circuit_bounds;
use crate::scenario::TrainingScenario;
use crate::scenario::instance::Instance;
use crate::search::baselines::Baseline;
use crate::simulate::critical_path::{CriticalPath, critical_path, second_chain, slack as slack_of, spare};
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use crate::simulate::iteration::{Piece, Trace};
use crate::simulate::windows::{IndexWindows, Windows};
use lightbay_core::problem::Problems;

mod chain;
mod demand;
mod full;
mod links;
pub mod prices;
mod rates;
pub mod robustness;
mod slack;

pub use chain::{Causes, Chain, ChainTask};
pub use demand::{Demand, DemandStep};
pub use full::{Step, full_steps};
pub use links::LinkFacts;
pub use rates::{LinkRates, TaskRates};
pub use slack::{SlackBin, slack_bins};

/// Two event times closer than this count as equal, seconds.
const SAME_MOMENT_S: f64 = 1e-9;

/// Reason that a plan cannot be analysed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The scenario cannot be built.
    #[error("{0}")]
    Scenario(Problems),
    /// The instance cannot be compiled.
    #[error("{0}")]
    Network(#[from] NetworkError),
    /// The circuits of the plan change within the iteration.
    #[error(
        "the circuits of the plan change within the iteration; see the sections 'schedule' and 'switchings'"
    )]
    Moves,
    /// The result belongs to another scenario.
    #[error(
        "the plan has {tasks} tasks and {links} links, but the scenario has other numbers of tasks and links"
    )]
    Mismatch {
        /// Number of tasks of the result.
        tasks: usize,
        /// Number of links of the result.
        links: usize,
    },
}

/// A scenario, with everything that the analysis can compute without a plan.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Instance of the scenario.
    pub instance: Instance,
    /// Evaluator of circuit allocations for this instance.
    pub evaluator: Evaluator,
    /// Upper bound on the makespan (`T_up` in DELTA), seconds: the makespan of the best baseline at fair rates, times
    /// `1 + 1e-4`.
    pub limit_s: f64,
    /// Time windows of the tasks in schedules that end by `limit_s`.
    pub windows: Windows,
    /// Useful circuits of every link (DELTA Alg. 2).
    pub circuit_bounds: Vec<u32>,
}

impl Setting {
    /// Prepares a scenario.
    ///
    /// # Errors
    /// [`AnalysisError`] if the scenario cannot be built.
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

    /// Returns a copy whose evaluator is valid only for joint rates and only for circuits that fit the ports, see
    /// [`Evaluator::within_ports`].
    #[must_use]
    pub fn within_ports(&self) -> Self {
        Self { evaluator: self.evaluator.within_ports(), ..self.clone() }
    }
}

/// A task of a plan, compared with the ideal network and with fair sharing.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskFacts {
    /// Start in the plan, seconds.
    pub start_s: f64,
    /// Finish in the plan, seconds.
    pub finish_s: f64,
    /// Shortest possible duration V/(F*B), seconds.
    pub least_s: f64,
    /// Time by which the finish can be delayed without lengthening the iteration if everything after the task runs at
    /// ideal speed, seconds.
    pub slack_s: f64,
    /// Time by which the finish can be delayed without lengthening the iteration if everything after the task takes as
    /// long as in the plan, seconds; 0 on the critical path.
    pub spare_s: f64,
    /// `true` if the task is on the critical path.
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

/// Rates of a task in consecutive intervals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    /// First interval in which the task is active.
    pub first: usize,
    /// Rate in NICs in each interval from `first` on; 0 while the task is paused.
    pub nics: Vec<f64>,
}

/// A plan with the results of its analysis.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Scenario of the plan.
    pub setting: Setting,
    /// Circuits of every link.
    pub circuits: Vec<u32>,
    /// `true` if circuits change within the iteration: in this case, `circuits` has the maximum number of circuits of
    /// every link.
    pub moves: bool,
    /// Rate rule of the plan: max-min fair sharing, or rates that the plan schedules.
    pub rate_control: RateControl,
    /// Makespan of the plan, seconds.
    pub makespan_s: f64,
    /// Makespan of the same circuits under fair sharing, seconds.
    pub fair_makespan_s: f64,
    /// All tasks, in id order.
    pub tasks: Vec<TaskFacts>,
    /// Tasks of the critical path from the first to the last.
    pub path: Vec<u32>,
    /// The critical path, compared with the ideal network.
    pub chain: Chain,
    /// The chain that ends last among the chains that do not end with the last task of the critical path; `None` if no
    /// other task can end last: all other tasks have successors and no work after them.
    pub second: Option<Chain>,
    /// Demand on every directed link.
    pub demand: Vec<Demand>,
    /// Schedule on the circuits of the plan under fair sharing: the times of the plan itself if the plan leaves rates
    /// to the network, otherwise a simulation.
    pub fair: Trace,
    /// Schedule on the circuits of the plan at scheduled rates: the times of the plan itself if the plan schedules
    /// rates, otherwise a level-first or a fair simulation, whichever is shorter.
    pub joint: Trace,
    /// Distinct event times, ascending, seconds.
    pub events: Vec<f64>,
    /// Rates of every task in the intervals between events.
    pub activity: Vec<Activity>,
    /// All links, in id order.
    pub links: Vec<LinkFacts>,
    /// Intervals in which each task can be active if only the DAG restricts them (DELTA Alg. 1).
    pub dag_windows: IndexWindows,
    /// Intervals in which each task is active in this plan, widened by two intervals at each end for tasks with
    /// successors; all intervals for other tasks.
    pub anchored_windows: IndexWindows,
}

impl Analysis {
    /// Analyses `result`, which must have passed the checker for this scenario.
    ///
    /// # Errors
    /// A scenario that cannot be built, a result of another scenario, or circuits that change within the iteration.
    pub fn new(scenario: &TrainingScenario, result: &TrainingResult) -> Result<Self, AnalysisError> {
        Self::of(Setting::new(scenario)?, result)
    }

    /// Analyses `result` for a prepared scenario.
    ///
    /// # Errors
    /// A result of another scenario, or circuits that change within the iteration.
    pub fn of(setting: Setting, result: &TrainingResult) -> Result<Self, AnalysisError> {
        if result.phases.is_some() {
            return Err(AnalysisError::Moves);
        }
        Self::with_circuits(setting, result, result.circuits())
    }

    /// Analyses the times of the tasks of a plan whose circuits may change. If circuits change, the analysis has the
    /// maximum number of circuits of every link. Fair rates on fixed circuits are not simulated: the fair times are set
    /// to the times of the plan.
    ///
    /// # Errors
    /// A scenario that cannot be built, or a result of another scenario.
    pub fn of_times(scenario: &TrainingScenario, result: &TrainingResult) -> Result<Self, AnalysisError> {
        let circuits = match &result.phases {
            None => result.circuits(),
            Some(phases) => phases.peak_circuits(),
        };
        Self::with_circuits(Setting::new(scenario)?, result, circuits)
    }

    fn with_circuits(
        setting: Setting,
        result: &TrainingResult,
        circuits: Vec<u32>,
    ) -> Result<Self, AnalysisError> {
        let moves = result.phases.is_some();
        let network = &setting.evaluator.network;
        if result.tasks.len() != network.tasks() || circuits.len() != network.links() {
            return Err(AnalysisError::Mismatch { tasks: result.tasks.len(), links: circuits.len() });
        }
        let trace = trace_of(result, &network.tail);
        let path = critical_path(network, &trace);
        let slack = slack_of(network, &trace);
        let spare = spare(network, &trace);
        let mut scratch = Scratch::default();
        let simulated =
            if moves { trace.clone() } else { setting.evaluator.trace(&circuits, Rates::Fair, &mut scratch) };
        let ideal = &setting.evaluator.ideal.trace;
        let ideal_slack = slack_of(network, ideal);
        let split =
            |path: &CriticalPath| Chain::new(&setting.evaluator, &circuits, &trace, path, &ideal_slack);
        let chain = split(&path);
        let second = second_chain(network, &trace, &path).map(|second| split(&second));
        let demand = demands(network, &circuits, &trace, &chain);
        let mut tasks: Vec<TaskFacts> = (0..network.tasks())
            .map(|task| TaskFacts {
                start_s: trace.start[task],
                finish_s: trace.finish[task],
                least_s: network.tau[task],
                slack_s: slack[task].max(0.0),
                spare_s: spare[task].max(0.0),
                critical: false,
                ideal_start_s: ideal.start[task],
                ideal_finish_s: ideal.finish[task],
                fair_finish_s: simulated.finish[task],
            })
            .collect();
        for &task in &path.tasks {
            tasks[task as usize].critical = true;
        }
        let events = event_times(result);
        let activity = activities(result, &events, network.rate);
        let links = links::facts(&setting, &circuits, &trace, &tasks, &demand);
        let anchored_windows = IndexWindows::anchored(network, &trace, 2);
        let dag_windows = IndexWindows::new(network, anchored_windows.intervals);
        let fair_makespan_s = simulated.makespan;
        let makespan_s = trace.makespan;
        let (fair, joint) = match result.rate_control {
            RateControl::Fair => (trace, setting.evaluator.trace(&circuits, Rates::Best, &mut scratch)),
            RateControl::Joint => (simulated, trace),
        };
        Ok(Self {
            circuits,
            moves,
            rate_control: result.rate_control,
            makespan_s,
            fair_makespan_s,
            tasks,
            path: path.tasks,
            chain,
            second,
            demand,
            fair,
            joint,
            events,
            activity,
            links,
            dag_windows,
            anchored_windows,
            setting,
        })
    }

    /// Predecessors of a task: for each predecessor, its index, the minimum time from its finish to the start of the
    /// task in seconds, and `true` if this predecessor determines the start of the task.
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

    /// Rates on a directed link under a rate rule, on the circuits of the plan.
    pub fn rates(&self, direction: u32, control: RateControl) -> LinkRates {
        let trace = match control {
            RateControl::Fair => &self.fair,
            RateControl::Joint => &self.joint,
        };
        LinkRates::new(&self.setting.evaluator.network, trace, direction)
    }

    /// Successors of a task: for each successor, its index, the minimum time from the finish of the task to the start
    /// of the successor in seconds, and `true` if the task determines this start.
    pub fn successors(&self, task: u32) -> Vec<(u32, f64, bool)> {
        let finish = self.tasks[task as usize].finish_s;
        let arcs = self.setting.evaluator.network.succs.of(task);
        arcs.iter()
            .map(|arc| {
                (arc.task, arc.delay, finish + arc.delay >= self.tasks[arc.task as usize].start_s - 1e-7)
            })
            .collect()
    }

    /// Index of the event at which the tail of the iteration begins: the first start of a task without successors, or
    /// the last start of a task with successors if that is earlier.
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

/// Demand on every directed link, with the part of the makespan that critical tasks on this link cost.
fn demands(network: &Network, circuits: &[u32], trace: &Trace, chain: &Chain) -> Vec<Demand> {
    let mut demands: Vec<Demand> = network
        .carried
        .iter()
        .enumerate()
        .map(|(direction, carried)| Demand::new(network, trace, carried, circuits[direction / 2]))
        .collect();
    for task in &chain.tasks {
        demands[network.via[task.task as usize] as usize].costs_s += task.costs.sum_s();
    }
    demands
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

#[cfg(test)]
mod tests;
