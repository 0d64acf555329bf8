//! Rates at which the tasks of a directed link send, over time.

use super::SAME_MOMENT_S;
use crate::model::network::Network;
use crate::simulate::iteration::Trace;

/// The rate of a task over the stretches of its link.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRates {
    /// Index of the task.
    pub task: u32,
    /// Rate in NICs in each stretch; 0 where the task is inactive or held back.
    pub nics: Vec<f64>,
}

/// Rates of the tasks of a directed link, in stretches of time in which no rate changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkRates {
    /// Boundaries of the stretches, ascending, seconds; there is one boundary more than stretches.
    pub times_s: Vec<f64>,
    /// Tasks of the directed link in the order in which they begin.
    pub tasks: Vec<TaskRates>,
}

impl LinkRates {
    /// Rates of the tasks that `direction` carries in a run.
    pub fn new(network: &Network, trace: &Trace, direction: u32) -> Self {
        let carried = &network.carried[direction as usize];
        let own = || trace.pieces.iter().filter(|piece| network.via[piece.task as usize] == direction);
        let mut times_s: Vec<f64> = own().flat_map(|piece| [piece.start, piece.end]).collect();
        times_s.sort_unstable_by(f64::total_cmp);
        times_s.dedup_by(|later, earlier| *later - *earlier <= SAME_MOMENT_S);
        let mut order = carried.clone();
        order.sort_by(|a, b| {
            let start = |task: u32| trace.start[task as usize];
            start(*a).total_cmp(&start(*b)).then(a.cmp(b))
        });
        let stretches = times_s.len().saturating_sub(1);
        let mut tasks: Vec<TaskRates> =
            order.iter().map(|task| TaskRates { task: *task, nics: vec![0.0; stretches] }).collect();
        let mut place = vec![usize::MAX; network.tasks()];
        for (at, task) in order.iter().enumerate() {
            place[*task as usize] = at;
        }
        let at = |time: f64| times_s.partition_point(|known| *known < time - SAME_MOMENT_S);
        for piece in own() {
            let length = piece.end - piece.start;
            if length > SAME_MOMENT_S {
                let nics = piece.volume / length / network.rate;
                tasks[place[piece.task as usize]].nics[at(piece.start)..at(piece.end)].fill(nics);
            }
        }
        Self { times_s, tasks }
    }
}
