//! Losses of a chain of tasks against the ideal network, task by task and by cause.
//!
//! The finish of a task on the chain is later than on the ideal network by the delay that it inherits and the delay
//! that it adds: `finish - ideal finish = late predecessor + held back + too few circuits + contention`. On the ideal
//! network, the next task (or the end of the iteration) may wait for something else after the task; a delay within this
//! waiting time costs nothing. This waiting time is called *room*. It is subtracted from the latest losses, so that a
//! task is not charged for a delay that costs nothing. The remaining losses are the costs of the tasks. The costs of a
//! chain, minus the room that no loss has used up, add up to its end minus the ideal makespan.

use crate::simulate::critical_path::CriticalPath;
use crate::simulate::evaluate::Evaluator;
use crate::simulate::iteration::Trace;

/// A task with at most this much room on the ideal network is on a critical path of the ideal network, seconds.
const IDEALLY_CRITICAL_S: f64 = 1e-7;

/// Seconds by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Causes {
    /// Loss because the link has fewer circuits than the task has flows: the duration without other tasks on the link,
    /// minus the duration with a circuit per flow, V/(min(F,x)*B) - V/(F*B).
    pub too_few_s: f64,
    /// Loss because the task shares circuits or NICs with other tasks: the rest of its duration beyond the ideal
    /// duration.
    pub contention_s: f64,
    /// Loss because the task starts later than predecessors and release allow.
    pub held_s: f64,
}

impl Causes {
    /// Sum over all causes, seconds.
    pub fn sum_s(&self) -> f64 {
        self.too_few_s + self.contention_s + self.held_s
    }
}

/// A task of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChainTask {
    /// Index of the task.
    pub task: u32,
    /// Fixed work and waiting from the end of the previous task, or from the beginning of the iteration, to the start
    /// of this task, seconds.
    pub before_s: f64,
    /// Start of the task in the plan, seconds.
    pub start_s: f64,
    /// Duration in the plan, seconds.
    pub takes_s: f64,
    /// Duration on the ideal network, seconds: V/(F*B) unless NICs are shared there too.
    pub ideal_s: f64,
    /// Delay of the start of the task against the ideal network, caused by its predecessors, seconds.
    pub late_s: f64,
    /// Losses of the task itself, by cause.
    pub loses: Causes,
    /// Room after the task on the ideal network: delay that vanishes before the next task or the end, seconds.
    pub room_s: f64,
    /// Part of the losses of the task that still delays the end of the chain, by cause.
    pub costs: Causes,
}

/// A chain of tasks, each of which starts when the previous one allows, compared with the ideal network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// Tasks from the first to the last.
    pub tasks: Vec<ChainTask>,
    /// End of the work after the last task, seconds.
    pub end_s: f64,
    /// Sum of the durations of the tasks, seconds.
    pub comm_s: f64,
    /// All other time up to the end of the chain: fixed work and waiting, seconds.
    pub rigid_s: f64,
    /// End minus ideal makespan, seconds: `costs.sum_s() - spare_s`. The loss is negative if the chain ends before the
    /// ideal makespan.
    pub loss_s: f64,
    /// Costs of all tasks.
    pub costs: Causes,
    /// Room that no loss of the chain has used up, seconds; this is the time by which the chain ends before the ideal
    /// makespan, or 0.
    pub spare_s: f64,
    /// Position in the chain of the first task that has room on the ideal network, where the chain leaves every ideal
    /// critical path. `None` if the chain stays on an ideal critical path to the end.
    pub leaves_ideal: Option<usize>,
}

/// A kind of loss.
#[derive(Clone, Copy)]
enum Cause {
    Held,
    TooFew,
    Contention,
}

/// Losses that have not vanished, in the order of the chain.
#[derive(Default)]
struct Lateness {
    /// Position in the chain, cause, seconds.
    lost: Vec<(usize, Cause, f64)>,
    /// Time by which the chain is ahead of the ideal network, seconds.
    ahead_s: f64,
}

impl Lateness {
    /// Adds a loss; a negative loss is room.
    fn lose(&mut self, place: usize, cause: Cause, seconds: f64) {
        if seconds < 0.0 {
            return self.vanish(-seconds);
        }
        let used = seconds.min(self.ahead_s);
        self.ahead_s -= used;
        if seconds > used {
            self.lost.push((place, cause, seconds - used));
        }
    }

    /// Subtracts room from the latest losses.
    fn vanish(&mut self, mut seconds: f64) {
        while seconds > 0.0 {
            let Some((_, _, last)) = self.lost.last_mut() else {
                self.ahead_s += seconds;
                return;
            };
            let taken = last.min(seconds);
            *last -= taken;
            seconds -= taken;
            if *last <= 0.0 {
                self.lost.pop();
            }
        }
    }
}

impl Chain {
    /// Splits the loss of a chain of `trace`, a simulated run on `circuits`. `ideal_slack` is the slack of each task on
    /// the ideal network, seconds.
    pub fn new(
        evaluator: &Evaluator,
        circuits: &[u32],
        trace: &Trace,
        path: &CriticalPath,
        ideal_slack: &[f64],
    ) -> Self {
        let network = &evaluator.network;
        let ideal = &evaluator.ideal.trace;
        let mut late = Lateness::default();
        let mut tasks: Vec<ChainTask> = Vec::with_capacity(path.tasks.len());
        // Finish of the previous task, and by how much it is later than on the ideal network.
        let mut before: Option<(f64, f64)> = None;
        for (place, &task) in path.tasks.iter().enumerate() {
            let at = task as usize;
            let (start_s, finish_s) = (trace.start[at], trace.finish[at]);
            let later = start_s - ideal.start[at];
            let step = later - before.map_or(0.0, |(_, later)| later);
            late.lose(place, Cause::Held, step);
            if let Some(ChainTask { room_s, .. }) = tasks.last_mut().filter(|_| step < 0.0) {
                *room_s = -step;
            }
            let held_s = step.max(0.0);
            let (takes_s, ideal_s) = (finish_s - start_s, ideal.finish[at] - ideal.start[at]);
            let alone_s = network.duration_alone(task, circuits[network.link_of(task)]);
            let too_few_s = alone_s - network.tau[at];
            let contention_s = takes_s - ideal_s - too_few_s;
            late.lose(place, Cause::TooFew, too_few_s);
            late.lose(place, Cause::Contention, contention_s);
            tasks.push(ChainTask {
                task,
                before_s: start_s - before.map_or(0.0, |(finish, _)| finish),
                start_s,
                takes_s,
                ideal_s,
                late_s: later - held_s,
                loses: Causes { too_few_s, contention_s, held_s },
                room_s: 0.0,
                costs: Causes::default(),
            });
            before = Some((finish_s, finish_s - ideal.finish[at]));
        }
        let end_s = path.comm + path.rigid;
        let loss_s = end_s - ideal.makespan;
        if let (Some(last), Some((_, later))) = (tasks.last_mut(), before) {
            last.room_s = later - loss_s;
            late.vanish(last.room_s.max(0.0));
        }
        let mut costs = Causes::default();
        for (place, cause, seconds) in late.lost {
            for sum in [&mut costs, &mut tasks[place].costs] {
                *match cause {
                    Cause::Held => &mut sum.held_s,
                    Cause::TooFew => &mut sum.too_few_s,
                    Cause::Contention => &mut sum.contention_s,
                } += seconds;
            }
        }
        let leaves_ideal =
            path.tasks.iter().position(|task| ideal_slack[*task as usize] > IDEALLY_CRITICAL_S);
        Self {
            tasks,
            end_s,
            comm_s: path.comm,
            rigid_s: path.rigid,
            loss_s,
            costs,
            spare_s: late.ahead_s,
            leaves_ideal,
        }
    }
}

#[cfg(test)]
mod tests;
