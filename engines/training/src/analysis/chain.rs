//! Losses of a chain of tasks against the ideal network, task by task and by cause.
//!
//! The finish of a task on the chain is later than on the ideal network by what it inherits and by what it loses
//! itself: `finish - ideal finish = late predecessor + held back + too few circuits + contention`. From one task to
//! the next some of that lateness may vanish: on the ideal network the next task (or the end of the iteration) waits
//! for something else anyway. This *room* takes back what was lost last, so that a task that may dawdle for free is
//! not blamed for it. What is left is what each task costs; the costs of a chain add up to how much later it ends
//! than the ideal iteration.

use crate::simulate::critical_path::CriticalPath;
use crate::simulate::evaluate::Evaluator;
use crate::simulate::iteration::Trace;

/// Room on the ideal network up to which a task is on one of its critical paths, seconds.
const IDEALLY_CRITICAL_S: f64 = 1e-7;

/// Seconds by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Causes {
    /// Fewer circuits than flows, even with the link to itself: V/(min(F,x)*B) - V/(F*B).
    pub too_few_s: f64,
    /// Sharing circuits or NICs with others: the rest of the duration.
    pub contention_s: f64,
    /// Starting later than predecessors and release allow.
    pub held_s: f64,
}

impl Causes {
    /// All causes together, seconds.
    pub fn sum_s(&self) -> f64 {
        self.too_few_s + self.contention_s + self.held_s
    }
}

/// A task of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChainTask {
    /// The task.
    pub task: u32,
    /// Rigid work and waiting between the task before it, or the begin of the iteration, and its start, seconds.
    pub before_s: f64,
    /// Start, seconds.
    pub start_s: f64,
    /// Duration in the plan, seconds.
    pub takes_s: f64,
    /// Duration on the ideal network, seconds: V/(F*B) unless NICs are shared there too.
    pub ideal_s: f64,
    /// Later start than on the ideal network because what came before was late, seconds.
    pub late_s: f64,
    /// Its own losses, by cause.
    pub loses: Causes,
    /// Room after it on the ideal network: lateness that vanishes before the next task or the end, seconds.
    pub room_s: f64,
    /// Part of its losses that reaches the end of the chain, by cause.
    pub costs: Causes,
}

/// A chain of tasks each of which starts when the one before it allows, against the ideal network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// From the first to the last.
    pub tasks: Vec<ChainTask>,
    /// End of the work after the last one, seconds.
    pub end_s: f64,
    /// Sum of durations, seconds.
    pub comm_s: f64,
    /// Everything else up to the end, seconds.
    pub rigid_s: f64,
    /// End minus ideal makespan, seconds: `costs.sum_s() - spare_s`. Negative if the chain ends before that.
    pub loss_s: f64,
    /// Costs of all tasks.
    pub costs: Causes,
    /// Room that nothing was lost in, seconds: 0 on a chain that is late all the way.
    pub spare_s: f64,
    /// Place in the chain of the first task that has room on the ideal network: there the chain leaves every ideal
    /// critical path. `None` if it follows one to its end.
    pub leaves_ideal: Option<usize>,
}

/// A sort of loss.
#[derive(Clone, Copy)]
enum Cause {
    Held,
    TooFew,
    Contention,
}

/// Lateness that has not vanished, the newest last.
#[derive(Default)]
struct Lateness {
    /// Place in the chain, cause, seconds.
    lost: Vec<(usize, Cause, f64)>,
    /// Seconds ahead of the ideal network.
    ahead_s: f64,
}

impl Lateness {
    /// Adds a loss; a negative one is room.
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

    /// Takes back what was lost last.
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
    /// Splits the loss of a chain of `trace`, a run of `circuits`. `ideal_slack` is the slack of each task on the ideal
    /// network, seconds.
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
        // Of the task before: its finish, and by how much that is later than on the ideal network.
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
