//! Builds schedules chunk by chunk: each chunk gets a tree of earliest arrivals over the free epochs of the links
//! (docs/methods/collective-search.md, section 6).
//!
//! | module | content |
//! |---|---|
//! | [`tracks`] | free epochs of links |
//! | [`chains`] | paths from GPU to GPU through switches |
//! | [`place`] | the tree of one chunk |
//! | [`orders`] | orders of the chunks |
//! | [`matched`] | matching of all chunks to links in order of time |
//! | [`grafts`] | local search on the trees of all chunks |

mod chains;
mod grafts;
mod matched;
mod orders;
mod place;
mod tracks;

#[cfg(test)]
mod tests;

pub use chains::ChainTable;
pub use grafts::{graft, suits as suits_grafts};
pub use place::{FanOut, PlacementRule, Placer};
pub(super) use tracks::{LinkTracks, NEVER};

use crate::bounds::EpochBound;
use crate::model::group::Folding;
use crate::model::schedule::{ChunkStart, EpochSchedule};
use crate::model::task::CollectiveTask;
use lightbay_core::method::MethodError;
use lightbay_core::random::{Stream, Streams};
use lightbay_core::watch::Watch;
use rand::RngExt;

/// Limits of a construction.
#[derive(Clone, Copy, Debug)]
pub struct ConstructLimits {
    /// Number of passes whose chunk orders come from scores, after the passes with fixed orders.
    pub restarts: u32,
    /// Seed of the random numbers that break ties.
    pub seed: u64,
}

/// Rules for chunks with several destinations on networks with copying switches. The high prices of links, 16 and 256,
/// keep trees away from scarce links between chassis; the other rules fit networks without such links.
const COPYING: [PlacementRule; 6] = [
    PlacementRule { fan_out: FanOut::Opportunistic, price: 16.0, noise: 0.0, slow_first: 0.0 },
    PlacementRule { fan_out: FanOut::Opportunistic, price: 256.0, noise: 0.0, slow_first: 0.0 },
    PlacementRule { fan_out: FanOut::Atomic, price: 4.0, noise: 0.0, slow_first: 0.0 },
    PlacementRule { fan_out: FanOut::None, price: 0.0, noise: 0.0, slow_first: 0.0 },
    PlacementRule { fan_out: FanOut::Opportunistic, price: 1.0, noise: 0.0, slow_first: 0.0 },
    SLOW_FIRST,
];
/// Rules for all other tasks: without a price of links, with a price, and [`SLOW_FIRST`].
const PLAIN: [PlacementRule; 3] = [
    PlacementRule { fan_out: FanOut::None, price: 0.0, noise: 0.0, slow_first: 0.0 },
    PlacementRule { fan_out: FanOut::None, price: 1.0, noise: 0.0, slow_first: 0.0 },
    SLOW_FIRST,
];
/// Rule for networks in which a chunk occupies different links for different numbers of epochs. With a weight of 2, the
/// GPU with the longer path is served first, unless its path can only start later than the other path by more than the
/// difference between the lengths of the two paths.
const SLOW_FIRST: PlacementRule =
    PlacementRule { fan_out: FanOut::None, price: 0.0, noise: 0.0, slow_first: 2.0 };

/// Returns the rules for placing the chunks of a task; rules that help most often come first.
fn rules(task: &CollectiveTask) -> &'static [PlacementRule] {
    // Fan-out needs copying switches and chunks with several destinations.
    let switches = (0..task.network.node_count() as u32).any(|node| task.network.is_switch(node));
    let rules: &[PlacementRule] =
        if switches && task.switch_copies && !task.chunks.is_unicast() { &COPYING } else { &PLAIN };
    // The last rule has an effect only if links differ in speed.
    let uneven = task.epochs.links.windows(2).any(|pair| pair[0].occupied != pair[1].occupied);
    if uneven { rules } else { &rules[..rules.len() - 1] }
}

/// Returns the best schedule of a number of passes; stops when a schedule meets the bound. Calls `found` with every
/// better schedule. Returns `None` if time-varying links are not up again in time; otherwise a schedule is always
/// found.
///
/// # Errors
/// If the run must stop.
pub fn construct<W: Watch<S>, S>(
    task: &CollectiveTask,
    bound: &EpochBound,
    limits: ConstructLimits,
    watch: &mut W,
    mut found: impl FnMut(&mut W, &EpochSchedule) -> Result<(), MethodError>,
) -> Result<Option<EpochSchedule>, MethodError> {
    // The search ends as soon as a schedule meets the bound.
    let mut state = BestSchedule { schedule: None, bound: bound.epochs };
    let folding = folding(task);
    // With many chunks, placing them one by one takes too long, so the symmetry-reduced passes come first.
    if let Some(folding) = folding.as_ref().filter(|_| task.chunks.len() > MOST_ONE_BY_ONE) {
        let limits = ConstructLimits { restarts: limits.restarts.max(1), ..limits };
        let mut stream = Streams::new(limits.seed).stream(0);
        folded(task, folding, limits, &mut stream, watch, &mut state, &mut found)?;
        if state.schedule.is_some() {
            return Ok(state.schedule);
        }
    }
    let mut placer = Placer::new(task);
    // Keeps the rule of the best fixed order for the restarts.
    let (mut rule, mut finishes) = (rules(task)[0], Vec::new());
    // Fixed orders, each with all rules; the order that the binding cut gives comes first.
    for order in orders::fixed(task, bound) {
        for &next in rules(task) {
            let Some(finish) = placer.pass(&order, next, watch)? else { continue };
            if state.is_improved_by(finish) {
                // Removes starts that serve no delivery before reporting the schedule.
                state.keep(EpochSchedule::pruned(task, placer.starts.clone()), watch, &mut found)?;
                (rule, finishes) = (next, placer.finishes.clone());
            }
            if state.is_met() {
                return Ok(state.schedule);
            }
        }
    }
    // All passes use one random stream: equal seeds give equal schedules.
    let mut stream = Streams::new(limits.seed).stream(0);
    // With few chunks, symmetric schedules are tried after the fixed orders.
    if let Some(folding) = folding.filter(|_| task.chunks.len() <= MOST_ONE_BY_ONE) {
        folded(task, &folding, limits, &mut stream, watch, &mut state, &mut found)?;
        if state.is_met() {
            return Ok(state.schedule);
        }
    }
    if matched::suits(task) {
        // A separate random stream, so that other passes do not change.
        let mut random = Streams::new(limits.seed).stream(1);
        let most = limits.restarts * MATCHED_PASSES;
        matched::passes(task, most, &mut random, watch, |watch, finish, starts| {
            if state.is_improved_by(finish) {
                state.keep(EpochSchedule::pruned(task, starts), watch, &mut found)?;
            }
            Ok(state.is_met())
        })?;
        if state.is_met() {
            return Ok(state.schedule);
        }
    }
    // Squeaky wheel optimisation (Joslin and Clements): chunks that end late move towards the front of the order.
    let mut scores = vec![0.0f64; task.chunks.len()];
    for _ in 0..limits.restarts {
        // Lateness is divided by the bound, so that weights are comparable for schedules of any length.
        let floor = f64::from(bound.epochs.max(1));
        for (score, finish) in scores.iter_mut().zip(&finishes) {
            // Exponential smoothing: the blame of a pass decreases by a fifth each time.
            *score = 0.8 * *score + 4.0 * f64::from(finish.saturating_sub(bound.epochs)) / floor;
        }
        let order = orders::scored(task, &scores, || stream.random::<f64>());
        let Some(finish) = placer.pass(&order, rule, watch)? else { break };
        // Blame comes from the last pass, not from the best one, so the search does not cycle.
        finishes.clone_from(&placer.finishes);
        if state.is_improved_by(finish) {
            state.keep(EpochSchedule::pruned(task, placer.starts.clone()), watch, &mut found)?;
        }
        if state.is_met() {
            break;
        }
    }
    Ok(state.schedule)
}

/// The best schedule so far, and the bound that ends the search.
struct BestSchedule {
    schedule: Option<EpochSchedule>,
    bound: u32,
}

impl BestSchedule {
    fn is_met(&self) -> bool {
        self.schedule.as_ref().is_some_and(|best| best.finish <= self.bound)
    }

    fn is_improved_by(&self, finish: u32) -> bool {
        self.schedule.as_ref().is_none_or(|best| finish < best.finish)
    }

    fn keep<W>(
        &mut self,
        schedule: EpochSchedule,
        watch: &mut W,
        found: &mut impl FnMut(&mut W, &EpochSchedule) -> Result<(), MethodError>,
    ) -> Result<(), MethodError> {
        found(watch, &schedule)?;
        self.schedule = Some(schedule);
        Ok(())
    }
}

/// Makes passes over the representatives of a symmetry-reduced task; the images of a start follow from the start. Each
/// decision of a pass applies to all images at once, so the schedules have the symmetries of the network.
fn folded<W: Watch<S>, S>(
    task: &CollectiveTask,
    folding: &Folding,
    limits: ConstructLimits,
    stream: &mut Stream,
    watch: &mut W,
    state: &mut BestSchedule,
    found: &mut impl FnMut(&mut W, &EpochSchedule) -> Result<(), MethodError>,
) -> Result<(), MethodError> {
    // Finish and starts of the best pass so far.
    let mut best: Option<(u32, Vec<ChunkStart>)> = None;
    let ended = folded_passes(task, folding, limits, stream, watch, |watch, finish, starts| {
        // Unfolds only better passes.
        if !state.is_improved_by(finish) || best.as_ref().is_some_and(|(known, _)| *known <= finish) {
            return Ok(false);
        }
        if task.chunks.len() > MOST_ONE_BY_ONE {
            // Unfolding takes longer than a pass, so it is done once, after the last pass.
            best = Some((finish, starts.to_vec()));
            return Ok(finish <= state.bound);
        }
        state.keep(EpochSchedule::pruned(task, unfolded(folding, starts)), watch, found)?;
        Ok(state.is_met())
    });
    // Unfolds and reports the best pass, also if the run was stopped.
    if let Some((_, starts)) = best {
        state.keep(EpochSchedule::pruned(task, unfolded(folding, &starts)), watch, found)?;
    }
    ended
}

/// Calls `passed` with the finish and the starts of each pass over the representatives until `passed` returns `true`,
/// which means that no more passes are needed.
fn folded_passes<W: Watch<S>, S>(
    task: &CollectiveTask,
    folding: &Folding,
    limits: ConstructLimits,
    stream: &mut Stream,
    watch: &mut W,
    mut passed: impl FnMut(&mut W, u32, &[ChunkStart]) -> Result<bool, MethodError>,
) -> Result<(), MethodError> {
    // A start of a representative occupies the tracks of all its images at once.
    let mut placer = Placer::folded(task, folding);
    // Chunks with far destinations come first; a random weight, at most the longest path, varies the order.
    let far: Vec<u32> = folding.chunks.iter().map(|chunk| task.eccentricity(*chunk as usize)).collect();
    let longest = f64::from(far.iter().copied().max().unwrap_or(1));
    let rules = rules(task);
    // Passes use the rules, and the levels of noise, in rotation.
    for pass in 0..limits.restarts * FOLDED_PASSES {
        let rule = rules[pass as usize % rules.len()];
        let noise = NOISE[(pass as usize / rules.len()) % NOISE.len()] * longest;
        placer.salt(u64::from(pass));
        let weights: Vec<f64> =
            far.iter().map(|far| f64::from(*far) + longest * stream.random::<f64>()).collect();
        let mut order: Vec<usize> = (0..far.len()).collect();
        // The first pass keeps the numerical order.
        if pass > 0 {
            order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
        }
        let order: Vec<u32> = order.into_iter().map(|at| folding.chunks[at]).collect();
        let Some(finish) = placer.pass(&order, PlacementRule { noise, ..rule }, watch)? else {
            return Ok(());
        };
        if passed(watch, finish, &placer.starts)? {
            break;
        }
    }
    Ok(())
}

/// Returns the group of symmetries by which a task is reduced. Every element of the group except the identity moves
/// every link, so that no link carries two images of a start. `None` if the task is not reduced.
fn folding(task: &CollectiveTask) -> Option<Folding> {
    let (chunks, gpus) = (task.chunks.len(), task.network.gpus().len());
    // Images of chunks with one destination are looked up, images of other chunks are listed.
    let listed = chunks.saturating_mul(gpus) > MOST_IMAGES && !task.chunks.is_unicast();
    if task.network.generators().is_empty() || listed || task.chunks.deliveries() > MOST_DELIVERIES {
        return None;
    }
    let folding = Folding::largest(&task.network, &task.chunks);
    // If an element mapped a link to itself, two images of one start could collide on it.
    let is_free = folding.links.iter().all(|(_, count)| *count == 1);
    (is_free && !folding.is_trivial()).then_some(folding)
}

/// Returns the starts of all chunks, given the starts of the first chunk of every orbit. Every element of the group
/// maps the link and the chunk of each start.
fn unfolded(folding: &Folding, starts: &[ChunkStart]) -> Vec<ChunkStart> {
    let images = |start: &ChunkStart| {
        let ChunkStart { epoch, link, chunk } = *start;
        let elements = folding.elements.iter().enumerate();
        elements.map(move |(place, element)| ChunkStart {
            epoch,
            link: element.links[link as usize],
            chunk: folding.image(place, chunk),
        })
    };
    starts.iter().flat_map(images).collect()
}

/// Maximum number of images of chunks for which tasks are symmetry-reduced: lists of 16 MiB.
const MOST_IMAGES: usize = 1 << 22;
/// Maximum number of deliveries for which tasks are symmetry-reduced; with more, trees or the compact form are used.
const MOST_DELIVERIES: usize = 1 << 20;
/// Number of chunks above which a schedule from the symmetry-reduced passes ends the search, so that chunks are not
/// placed one by one.
const MOST_ONE_BY_ONE: usize = 8_192;
/// Number of passes over a symmetry-reduced task for each restart: a pass is cheap, because it places only
/// representatives.
const FOLDED_PASSES: u32 = 8;
/// Number of passes that match chunks to links, for each restart; together, these passes take about as long as one pass
/// that places all chunks one by one.
const MATCHED_PASSES: u32 = 4;
/// Maximum random additions to the prices of paths, relative to the longest path of a chunk; the passes use these
/// values in turn.
const NOISE: [f64; 6] = [0.0, 0.02, 0.1, 0.3, 0.05, 0.6];
