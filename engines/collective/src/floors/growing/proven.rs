//! The longest time that a weighted sum of growing cuts excludes.

use super::question::{SpreadQuestion, SpreadSource};
use crate::plan::{GrowingCut, GrowingCuts};
use rustc_hash::FxHashMap;

/// Fraction by which the capacity must stay below the data, so that rounding cannot make a bound wrong.
const MARGIN: f64 = 1e-9;
/// Steps of the bisection of the time.
const STEPS: u32 = 50;

/// Returns the times at which nodes join a cut if the end is at `end_us`, µs.
fn joins(
    question: &SpreadQuestion<'_>,
    source: &SpreadSource,
    cut: &GrowingCut,
    slot_us: f64,
    end_us: f64,
) -> Vec<f64> {
    let to_target = question.latencies_to(cut.target);
    let join = |(node, slots): (usize, &u32)| {
        // Before its first data arrives, and when its data arrives too late, a node does not matter.
        let at = (end_us - f64::from(*slots) * slot_us).min(end_us - to_target[node]);
        at.max(source.distances[node])
    };
    let mut joins: Vec<f64> = cut.slots.iter().enumerate().map(join).collect();
    joins[cut.source as usize] = 0.0;
    joins[cut.target as usize] = end_us;
    joins
}

/// Start or end of a window: orbit of the link, source and class of the link, time, change of the load.
type WindowEnd = (u32, (usize, u32), f64, f64);

/// Returns the bytes, times weight, that links can carry in the windows of weighted cuts if the end is at `end_us`.
fn capacity(question: &SpreadQuestion<'_>, cuts: &GrowingCuts, end_us: f64) -> f64 {
    let links = question.network.links();
    let mut ends: Vec<WindowEnd> = Vec::new();
    for cut in &cuts.cuts {
        let Some(at) = question.place(cut.source) else { continue };
        let source = &question.sources[at];
        let joins = joins(question, source, cut, cuts.slot_us, end_us);
        for (id, link) in links.iter().enumerate() {
            let (from, to) = (joins[link.from as usize], joins[link.to as usize] - link.alpha_us);
            if from < to {
                let (orbit, class) = (question.link_orbits[id], (at, source.classes[id]));
                // The mean over the images of the cut.
                let load = cut.weight / f64::from(source.class_sizes[id] * source.count);
                ends.extend([(orbit, class, from, load), (orbit, class, to, -load)]);
            }
        }
    }
    ends.sort_by(|a, b| a.0.cmp(&b.0).then(a.2.total_cmp(&b.2)).then(a.1.cmp(&b.1)));
    let mut sum = 0.0;
    for of_orbit in ends.chunk_by(|a, b| a.0 == b.0) {
        let mut loads: FxHashMap<(usize, u32), f64> = FxHashMap::default();
        let (mut before, mut area) = (0.0, 0.0);
        for at_once in of_orbit.chunk_by(|a, b| a.2 == b.2) {
            // Until here, the link is needed as often as by the source that needs it most.
            let most = loads.values().fold(0.0, |most: f64, load| most.max(*load));
            area += most * (at_once[0].2 - before);
            before = at_once[0].2;
            for (_, class, _, change) in at_once {
                *loads.entry(*class).or_default() += change;
            }
        }
        let link = of_orbit[0].0 as usize;
        sum += area * f64::from(question.orbit_sizes[link]) * links[link].capacity_gbyte_per_s * 1000.0;
    }
    sum
}

/// Returns the latest time, between `from_us` and `to_us`, by which no schedule completes because of weighted cuts, µs;
/// every source has `bytes` of data. `None` if the cuts do not exclude `from_us`.
pub fn proven_us(
    question: &SpreadQuestion<'_>,
    cuts: &GrowingCuts,
    bytes: f64,
    (from_us, to_us): (f64, f64),
) -> Option<f64> {
    let data: f64 = cuts.cuts.iter().map(|cut| cut.weight * bytes).sum();
    let excludes = |end_us: f64| capacity(question, cuts, end_us) < data * (1.0 - MARGIN);
    if !excludes(from_us) {
        return None;
    }
    if excludes(to_us) {
        return Some(to_us);
    }
    // Windows only grow with the end, so the excluded times are an interval.
    let (mut low, mut high) = (from_us, to_us);
    for _ in 0..STEPS {
        let middle = low.midpoint(high);
        if excludes(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}
