//! Result of a simulation: start and finish of every task, and its pieces of constant rate.

use crate::model::network::Network;
use crate::simulate::sinks::{Sink, Stretch};

/// A stretch of constant rate of one task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Index of the task.
    pub task: u32,
    /// Start of the stretch, seconds.
    pub start: f64,
    /// End of the stretch, seconds.
    pub end: f64,
    /// Bytes sent in the stretch.
    pub volume: f64,
}

/// A complete simulated run. Pieces of one task are in time order; pieces of different tasks are mixed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Largest finish plus tail of a task, seconds.
    pub makespan: f64,
    /// Start of every task, seconds.
    pub start: Vec<f64>,
    /// Finish of every task, seconds.
    pub finish: Vec<f64>,
    /// Stretches of all tasks.
    pub pieces: Vec<Piece>,
}

impl Trace {
    /// Distinct start and finish times, ascending; times within 1e-9 s count as one time.
    pub fn event_times(&self) -> Vec<f64> {
        self.event_times_among(&vec![true; self.start.len()])
    }

    /// Distinct start and finish times of the tasks that `counted` names, as in [`Trace::event_times`].
    pub fn event_times_among(&self, counted: &[bool]) -> Vec<f64> {
        let tasks = (0..self.start.len()).filter(|task| counted[*task]);
        let mut times: Vec<f64> = tasks.flat_map(|task| [self.start[task], self.finish[task]]).collect();
        times.sort_unstable_by(f64::total_cmp);
        times.dedup_by(|later, earlier| *later - *earlier <= 1e-9);
        times
    }

    /// Adds the stretches that [`crate::simulate::sinks`] computed for the sinks of one directed link.
    pub(crate) fn add_stretches(&mut self, network: &Network, sinks: &[Sink], stretches: &[Stretch]) {
        let begin = self.pieces.len();
        let mut sent = vec![0.0; sinks.len()];
        let mut last: Vec<Option<usize>> = vec![None; sinks.len()];
        for stretch in stretches {
            let index = stretch.sink as usize;
            let task = sinks[index].task;
            let rate = network.flows[task as usize] * network.rate;
            let volume = stretch.speed * (stretch.end - stretch.start) * rate;
            sent[index] += volume;
            last[index] = Some(self.pieces.len());
            self.pieces.push(Piece { task, start: stretch.start, end: stretch.end, volume });
        }
        for (index, sink) in sinks.iter().enumerate() {
            // Late in a long iteration, the end of a short transfer can round to its release.
            let at = last[index].unwrap_or_else(|| {
                let (start, end) = (sink.release, sink.release);
                self.pieces.push(Piece { task: sink.task, start, end, volume: 0.0 });
                self.pieces.len() - 1
            });
            self.finish[sink.task as usize] = self.pieces[at].end;
            // The last piece takes the rounding error, so that volumes add up exactly. If that makes its volume
            // negative, the piece becomes empty and the pieces before it take the rest.
            let mut left = network.volume[sink.task as usize] - sent[index];
            let own = |piece: &&mut Piece| piece.task == sink.task;
            for piece in self.pieces[begin..=at].iter_mut().rev().filter(own) {
                let volume = piece.volume + left;
                piece.volume = volume.max(0.0);
                left = volume.min(0.0);
                if left == 0.0 {
                    break;
                }
            }
            self.start[sink.task as usize] = sink.release;
        }
    }
}
