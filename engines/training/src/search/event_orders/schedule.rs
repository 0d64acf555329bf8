//! Conversion of windows that are feasible for every resource to a schedule with rates.

use super::cuts::View;
use super::rates::Service;
use crate::model::network::Network;
use crate::simulate::iteration::{Piece, Trace};

/// Amounts below this fraction of a job count as rounding.
const TINY: f64 = 1e-12;

/// Converts windows, and the amounts of work that each resource does in them (`services`), to a schedule with rates.
/// All times are multiplied by the largest `stretch` of a service, so that all work fits.
pub fn trace(network: &Network, view: View<'_>, services: &[Service]) -> Trace {
    let problem = view.problem;
    let n = network.tasks();
    // Numerical errors: all times are stretched so that every service fits exactly.
    let stretch = services.iter().map(|service| service.stretch).fold(1.0, f64::max);
    let seconds = problem.unit * stretch;
    let mut trace = Trace { start: vec![0.0; n], finish: vec![0.0; n], ..Trace::default() };
    let mut placed = vec![false; n];
    for service in services {
        let stretches = service.times.len().saturating_sub(1);
        for (position, &job) in service.jobs.iter().enumerate() {
            let job = &problem.jobs[job as usize];
            let task = job.task as usize;
            let amounts = &service.amount[position * stretches..(position + 1) * stretches];
            // Amounts that come from rounding would create segments without volume.
            let least = TINY * amounts.iter().sum::<f64>();
            let total: f64 = amounts.iter().filter(|amount| **amount > least).sum();
            let Some(first) = amounts.iter().position(|amount| *amount > least) else { continue };
            let last = amounts.iter().rposition(|amount| *amount > least).unwrap_or(first);
            placed[task] = true;
            trace.start[task] = service.times[first] * seconds;
            trace.finish[task] = service.times[last + 1] * seconds;
            for (at, &amount) in amounts.iter().enumerate().take(last + 1).skip(first) {
                let amount = if amount > least { amount } else { 0.0 };
                // Volumes in proportion to amounts, so that they add up exactly.
                trace.pieces.push(Piece {
                    task: job.task,
                    start: service.times[at] * seconds,
                    end: service.times[at + 1] * seconds,
                    volume: network.volume[task] * (amount / total),
                });
            }
        }
    }
    // Uncontended tasks follow in topological order at full speed.
    for &task in &network.order {
        let at = task as usize;
        let preds = network.preds.of(task).iter();
        let ready = preds.map(|arc| trace.finish[arc.task as usize] + arc.delay);
        let ready = ready.fold(network.release[at], f64::max);
        if placed[at] {
            // Rounding may have made the task begin slightly too early.
            trace.start[at] = trace.start[at].max(ready);
        } else {
            (trace.start[at], trace.finish[at]) = (ready, ready + problem.seconds[at]);
            let piece = Piece { task, start: ready, end: trace.finish[at], volume: network.volume[at] };
            trace.pieces.push(piece);
        }
        trace.makespan = trace.makespan.max(trace.finish[at] + network.tail[at]);
    }
    trace
}
