//! Conversion of a solved program to an exact schedule: volumes add up, and times follow from volumes.
//!
//! The solver's numbers are exact only up to its tolerances. The volumes of the solver are used; times are recomputed
//! in one pass over the events, in which every interval is as long as its volumes and the DAG require.

use super::competition::Competition;
use super::solver::Point;
use crate::simulate::evaluate::Evaluator;
use crate::simulate::iteration::{Piece, Trace};

/// Volumes and lengths below this count as noise; iterations last about 1000 units.
const NOISE: f64 = 1e-9;

/// Relative difference up to which rates count as equal.
const SAME_RATE: f64 = 1e-9;

/// Converts a solution of the program to the schedule on circuits `x`.
pub(super) fn trace(evaluator: &Evaluator, x: &[u32], competition: &Competition, point: &Point) -> Trace {
    // Volumes come from the program and times are recomputed, so capacities hold exactly.
    let sent = cleaned(competition, point);
    let times = times(competition, point, &sent);
    let network = &evaluator.network;
    let n = network.tasks();
    let mut trace = Trace { start: vec![0.0; n], finish: vec![0.0; n], ..Trace::default() };
    let spans = point.order.spans(competition);
    for &task in &network.order {
        let index = task as usize;
        let mut ready = network.release[index];
        for arc in network.preds.of(task) {
            ready = ready.max(trace.finish[arc.task as usize] + arc.delay);
        }
        trace.start[index] = ready;
        if let Some(position) = competition.position[index] {
            let position = position as usize;
            let first = spans[position].0 as usize;
            let pieces = sent[position].iter().enumerate().map(|(at, volume)| {
                (times[first + at] * competition.unit_s, times[first + at + 1] * competition.unit_s, *volume)
            });
            let share = network.volume[index] / competition.rivals[position].volume;
            add(&mut trace, task, ready, network.volume[index], share, pieces);
        } else {
            let end = ready + network.duration_alone(task, x[network.link_of(task)]);
            trace.finish[index] = end;
            trace.pieces.push(Piece { task, start: ready, end, volume: network.volume[index] });
        }
    }
    trace.makespan = (0..n).map(|task| trace.finish[task] + network.tail[task]).fold(0.0, f64::max);
    trace
}

/// Volumes without noise, which add up to the volumes of the tasks.
fn cleaned(competition: &Competition, point: &Point) -> Vec<Vec<f64>> {
    let end = point.makespan;
    let spans = point.order.spans(competition);
    let length =
        |interval: usize| point.times.get(interval + 1).copied().unwrap_or(end) - point.times[interval];
    let clean = |(position, sent): (usize, &Vec<f64>)| {
        let first = spans[position].0 as usize;
        let volume = competition.rivals[position].volume;
        let keep = |at: usize, sent: f64| {
            // Volume in intervals of no length is noise of the solver; it is distributed over the other intervals in
            // proportion.
            if length(first + at) <= NOISE || sent <= NOISE * volume.min(1.0) { 0.0 } else { sent }
        };
        let kept: Vec<f64> = sent.iter().enumerate().map(|(at, sent)| keep(at, *sent)).collect();
        let total: f64 = kept.iter().sum();
        // A task whose volumes are all noise keeps the values of the solver.
        let (kept, total) = if total > 0.0 { (kept, total) } else { (sent.clone(), sent.iter().sum()) };
        kept.into_iter().map(|part| part * volume / total).collect()
    };
    point.sent.iter().enumerate().map(clean).collect()
}

/// Times of all events and of the end of the last interval: as early as volumes and the DAG allow.
fn times(competition: &Competition, point: &Point, sent: &[Vec<f64>]) -> Vec<f64> {
    let events = &point.order.events;
    let spans = point.order.spans(competition);
    let in_interval = |position: u32, interval: u32| {
        let (from, to) = spans[position as usize];
        if (from..to).contains(&interval) { sent[position as usize][(interval - from) as usize] } else { 0.0 }
    };
    let mut times = Vec::with_capacity(events.len() + 1);
    // Forward pass: each event waits for precedence and for the volumes of the interval before it.
    let mut now = 0.0f64;
    for (interval, event) in events.iter().enumerate() {
        let rival = &competition.rivals[event.rival() as usize];
        if !event.is_end() {
            now = now.max(rival.earliest);
            for &(ahead, delay) in &rival.after {
                // Ends of predecessors come earlier in the order.
                now = now.max(times[spans[ahead as usize].1 as usize] + delay);
            }
        }
        times.push(now);
        let interval = interval as u32;
        // Length of an interval: the largest of all loads divided by their capacities.
        let mut needed = 0.0f64;
        for (position, rival) in competition.rivals.iter().enumerate() {
            needed = needed.max(in_interval(position as u32, interval) / rival.rate);
        }
        for resource in &competition.resources {
            let taken: f64 =
                resource.users.iter().map(|&(position, take)| take * in_interval(position, interval)).sum();
            needed = needed.max(taken / resource.capacity);
        }
        now += needed;
    }
    times.push(now);
    times
}

/// Adds the pieces of one task, given as start, end and volume in NIC units; equal rates become one piece.
fn add(
    trace: &mut Trace,
    task: u32,
    ready: f64,
    volume: f64,
    share: f64,
    pieces: impl Iterator<Item = (f64, f64, f64)>,
) {
    let mut own: Vec<Piece> = Vec::new();
    let mut at = ready;
    // Pieces are laid end to end, so that segments are contiguous as the checker requires.
    for (start, end, part) in pieces {
        if end <= at {
            // The interval has no length, so volume here is rounding.
            if let Some(last) = own.last_mut() {
                last.volume += part * share;
            }
            continue;
        }
        // Before its first event a task may be ready, but it is not served.
        if start > at + f64::EPSILON * start && own.is_empty() {
            own.push(Piece { task, start: at, end: start, volume: 0.0 });
            at = start;
        }
        let piece = Piece { task, start: at, end, volume: part * share };
        at = end;
        // Equal rates in neighbouring intervals form one segment.
        match own.last_mut() {
            Some(last) if same_rate(last, &piece) => {
                last.end = piece.end;
                last.volume += piece.volume;
            }
            _ => own.push(piece),
        }
    }
    // Idle time after the last volume does not belong to the task.
    while own.len() > 1 && own.last().is_some_and(|piece| piece.volume == 0.0) {
        own.pop();
    }
    // The last piece takes the rounding error.
    let sent: f64 = own.iter().map(|piece| piece.volume).sum();
    if let Some(last) = own.last_mut() {
        last.volume += volume - sent;
        trace.finish[task as usize] = last.end;
    }
    trace.pieces.append(&mut own);
}

fn same_rate(a: &Piece, b: &Piece) -> bool {
    let (first, second) = (a.volume / (a.end - a.start), b.volume / (b.end - b.start));
    (first - second).abs() <= SAME_RATE * first.max(second)
}
