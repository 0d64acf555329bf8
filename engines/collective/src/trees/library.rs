//! Library of the trees of a network: the trees are computed once, and the best schedule for any amount of data is made
//! from them (docs/methods/collective-trees.md, section 11).

mod balanced;
mod listed;
mod matched;

use super::columns::{ColumnLimits, Packing, TreeProgram, TreeQuestion};
use super::fold::Fold;
use super::list::{Batch, ListOrder, ListSchedule, list_schedule};
use super::matching::Matching;
use super::periodic::{PeriodicFigures, periodic};
use super::pieces::spread;
use super::timing::PieceTiming;
use super::tree::Tree;
use crate::scenario::network::LinkNetwork;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Trees of a network for one shard of data per rank, at several rates: the lower the rate, the shorter the paths.
#[derive(Clone, Debug)]
pub struct TreeLibrary<'n> {
    network: &'n LinkNetwork,
    fold: Fold,
    ranks: usize,
    /// Roots whose data the trees carry.
    data: Vec<u32>,
    /// Largest rate per shard, GB/s; infinite if unknown.
    limit: f64,
    roots: Vec<u32>,
    wanted: Vec<bool>,
    /// `true` if the trees are made in one pass, for a first plan.
    is_quick: bool,
    /// Trees at several rates, computed when a schedule first needs them; `None` if a rank cannot be reached.
    variants: OnceLock<Option<Variants>>,
    /// Held by the thread that computes the trees; others wait for them.
    making: Arc<Mutex<()>>,
}

/// Trees at several rates, called variants; the variants with the best rate come first.
#[derive(Clone, Debug)]
struct Variants {
    packings: Vec<Packing>,
    /// For each variant, the smallest number of pieces for which every tree gets an integer number; 1 if that number is
    /// too large.
    wholes: Vec<u32>,
}

/// Variants of the trees: the fraction of the best rate at which paths are shortened, and the weight of the deepest GPU
/// relative to the mean. Large data needs a high rate, small data short paths; the other fractions fit sizes in
/// between.
const RATES: [(f64, f64); 8] =
    [(1.0, 0.0), (1.0, 2.0), (0.995, 0.0), (0.98, 0.0), (0.9, 0.0), (0.9, 2.0), (0.8, 0.0), (0.6, 0.0)];

/// Up to this number of pieces per rank may be tried, however large the network is.
const LEAST_PIECES: u64 = 64;

/// Maximum number of hops of pieces in one schedule of balanced trees, if one piece per rank does not have more: a plan
/// lists the start of each hop, and its file must not be too large to be read again.
const MOST_STARTS: u64 = 3_000_000;

/// Maximum number of epochs of the slowest latency for which an epoch length is tried.
const LATENCY_EPOCHS: u32 = 16;

/// Maximum common denominator of shares that is used as a number of pieces.
const MOST_WHOLE: u64 = 512;

/// Relative distance to the floor at which a matching is accepted; on direct networks, list schedules do not come as
/// close.
pub(super) const CLOSE: f64 = 1e-3;
/// Relative distance to the floor at which a matching is accepted if the LP model for the shares of the trees is large.
const NEAR: f64 = 5e-3;
/// Number of roots times number of classes of links above which the LP model for the shares of the trees counts as
/// large: solving it takes seconds or more.
const COSTLY: usize = 4_000;

/// Limits of the search for a schedule. The limits are counts, not times, so that results are the same on any machine.
#[derive(Clone, Copy, Debug)]
pub struct TreeEffort {
    /// Smallest piece, bytes.
    pub min_piece_bytes: f64,
    /// Maximum number of pieces of a root's data.
    pub most_pieces: u32,
    /// The number of pieces of a root's data must be a multiple of this number.
    pub multiple: u32,
    /// Types of schedules that are tried.
    pub sorts: TreeSorts,
    /// Maximum number of hops of pieces (pieces times hops per piece) in one schedule that is tried.
    pub run_hops: u64,
    /// Maximum number of hops of pieces in all schedules that are tried.
    pub all_hops: u64,
}

impl Default for TreeEffort {
    fn default() -> Self {
        Self {
            min_piece_bytes: 1024.0,
            most_pieces: u32::MAX,
            multiple: 1,
            sorts: TreeSorts::All,
            run_hops: 200_000,
            all_hops: 4_000_000,
        }
    }
}

/// Types of schedules along trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeSorts {
    /// All types.
    All,
    /// Only list schedules.
    List,
    /// Only periodic schedules.
    Periodic,
    /// Only matchings of pieces to links.
    Matching,
}

impl TreeSorts {
    /// All values, each with its name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("auto", Self::All),
        ("list", Self::List),
        ("periodic", Self::Periodic),
        ("matching", Self::Matching),
    ];

    /// Returns `true` if schedules of the given kind are tried.
    fn tries(self, other: Self) -> bool {
        self == Self::All || self == other
    }
}

/// How the pieces of a plan are sent.
#[derive(Clone, Debug, PartialEq)]
pub enum TreePlanSort {
    /// Equal pieces, sent as soon as links are free: the number for each rank, and the order.
    List {
        /// Number of pieces of each rank's data.
        pieces: u32,
        /// Order of waiting pieces.
        order: ListOrder,
    },
    /// One piece of every tree in each epoch.
    Periodic(PeriodicFigures),
    /// Equal pieces, each along a separate tree that grows over free links.
    Matched(Arc<Matching>),
}

impl TreePlanSort {
    /// Returns the number of pieces of the data of each rank or, for periodic schedules, of the share that each tree
    /// carries.
    pub fn pieces(&self) -> u32 {
        match self {
            Self::List { pieces, .. } => *pieces,
            Self::Periodic(figures) => figures.pieces,
            Self::Matched(matching) => matching.pieces,
        }
    }
}

/// The best schedule found for an amount of data.
#[derive(Clone, Debug, PartialEq)]
pub struct TreePlan {
    /// Time until all data has arrived, µs.
    pub finish_us: f64,
    /// Position, in the library, of the trees that the schedule uses.
    pub variant: usize,
    /// How pieces are sent.
    pub sort: TreePlanSort,
}

/// A list schedule with the trees and pieces from which it is made.
#[derive(Debug)]
pub struct ListPlan<'l> {
    /// Links in epochs.
    pub timing: PieceTiming,
    /// Trees with their pieces.
    pub batches: Vec<Batch<'l>>,
    /// Starts of the pieces.
    pub schedule: ListSchedule,
}

impl<'n> TreeLibrary<'n> {
    /// Creates the library of data that all `roots` spread to all `ranks`; `rate` is the largest rate per shard, GB/s,
    /// if known, else infinite. Trees are computed when a schedule first needs them.
    pub fn new(network: &'n LinkNetwork, roots: &[u32], ranks: &[u32], rate: f64) -> Self {
        let fold = fold_for(network, &[roots, ranks]);
        let mut wanted = vec![false; network.node_count()];
        for rank in ranks {
            wanted[*rank as usize] = true;
        }
        let data = fold.representatives().iter().copied().filter(|root| roots.contains(root)).collect();
        Self {
            network,
            fold,
            ranks: ranks.len(),
            data,
            limit: rate,
            roots: roots.to_vec(),
            wanted,
            is_quick: false,
            variants: OnceLock::new(),
            making: Arc::default(),
        }
    }

    /// Returns the library that makes its trees in one pass, for a first plan, if the trees of this library take longer.
    #[must_use]
    pub fn quick(&self) -> Option<Self> {
        self.is_balanced().then(|| Self {
            is_quick: true,
            variants: OnceLock::new(),
            making: Arc::default(),
            ..self.clone()
        })
    }

    /// Returns `true` if the LP model for the shares is so large that a matching close to the floor is preferable to
    /// the trees from this model.
    fn is_costly(&self) -> bool {
        self.data.len() * self.fold.class_links().len() > COSTLY
    }

    /// Returns `true` if the trees are balanced over the links one by one.
    fn is_balanced(&self) -> bool {
        self.is_costly() && self.limit.is_finite()
    }

    /// Computes the trees unless they exist; returns whether every rank can be reached.
    ///
    /// # Errors
    /// If the run must stop, or if the solver fails.
    pub fn prepare<W: Watch>(&self, watch: &mut W) -> Result<bool, MethodError> {
        if self.variants.get().is_none() {
            // Computing the trees uses no other threads, so waiting for them ends.
            let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
            if self.variants.get().is_none() {
                let made = self.make(watch)?;
                let _ = self.variants.set(made);
            }
        }
        Ok(self.variants.get().is_some_and(Option::is_some))
    }

    fn make<W: Watch>(&self, watch: &mut W) -> Result<Option<Variants>, MethodError> {
        let (network, fold) = (self.network, &self.fold);
        let weight = |root: &u32| f64::from(u8::from(self.roots.contains(root)));
        let weights: Vec<f64> = fold.representatives().iter().map(weight).collect();
        let slowest = network.links().iter().map(|link| link.alpha_us).fold(0.0, f64::max);
        // If all latencies are 0, the number of hops is minimised instead.
        let latency = |alpha_us: f64| if slowest > 0.0 { alpha_us } else { 1.0 };
        let latencies: Vec<f64> = network.links().iter().map(|link| latency(link.alpha_us)).collect();
        let question =
            // The same model serves all variants: its trees stay as columns.
            TreeQuestion { network, fold, ranks: &self.wanted, weights: &weights, latencies: &latencies };
        if self.is_balanced() {
            return self.make_balanced(&question, watch);
        }
        let Some(mut program) = TreeProgram::new(&question, ColumnLimits::new(self.limit))? else {
            return Ok(None);
        };
        // The best rate first.
        let mut packings = vec![program.maximise(watch)?];
        let best = packings[0].rate;
        let step = if self.is_costly() { 3 } else { 1 };
        for (share, depth) in RATES.into_iter().step_by(step) {
            // A lower rate allows shorter trees.
            let packing = program.shorten(share * best, depth, watch)?;
            if packings.iter().all(|known| known.trees != packing.trees) {
                packings.push(packing);
            }
        }
        let wholes = packings.iter().map(whole_pieces).collect();
        Ok(Some(Variants { packings, wholes }))
    }

    /// Returns the fold of the network.
    pub const fn fold(&self) -> &Fold {
        &self.fold
    }

    /// Returns the trees, those of the best rate first; empty before [`Self::prepare`].
    pub fn variants(&self) -> &[Packing] {
        self.variants.get().and_then(Option::as_ref).map_or(&[], |variants| &variants.packings)
    }

    /// Returns the number of pieces for which every tree of a variant gets an integer number.
    fn whole(&self, variant: usize) -> u32 {
        self.variants.get().and_then(Option::as_ref).map_or(1, |all| all.wholes[variant])
    }

    /// Returns the largest rate per shard that the trees reach, GB/s.
    pub fn rate(&self) -> f64 {
        self.variants().iter().map(|packing| packing.rate).fold(0.0, f64::max)
    }

    /// Returns a lower bound on the time of every schedule for shards of `shard_bytes`, µs.
    pub fn floor_us(&self, shard_bytes: f64) -> f64 {
        shard_bytes / (1000.0 * self.limit)
    }

    /// Returns the best schedule for shards of `shard_bytes` that a search within the effort finds. `floor_us` is a
    /// lower bound on the time: the search ends when a schedule is close to this bound. `None` if no schedule was
    /// found.
    ///
    /// # Errors
    /// If the run must stop.
    pub fn plan<W: Watch>(
        &self,
        shard_bytes: f64,
        floor_us: f64,
        effort: &TreeEffort,
        watch: &mut W,
    ) -> Result<Option<TreePlan>, MethodError> {
        // No schedule ends before its data has passed the binding cut.
        let floor_us = floor_us.max(self.floor_us(shard_bytes));
        let mut best: Option<TreePlan> = None;
        // A later candidate must be better by more than rounding errors; otherwise the earlier one stays.
        let mut take = |plan: TreePlan| {
            if best.as_ref().is_none_or(|best| plan.finish_us < best.finish_us * (1.0 - 1e-9)) {
                best = Some(plan);
            }
        };
        // Total number of hops if every root sends one piece.
        let hops = (self.ranks.max(2) as u64 - 1) * self.data.len().max(1) as u64;
        // Large networks get more effort: enough hops for at least `LEAST_PIECES` pieces of each root.
        let run_hops = effort.run_hops.max(LEAST_PIECES.saturating_mul(hops));
        // Without symmetries, a plan lists the start of each of these hops.
        let run_hops = if self.is_balanced() { run_hops.min(MOST_STARTS.max(hops)) } else { run_hops };
        let most = (run_hops / hops).min((shard_bytes / effort.min_piece_bytes).max(1.0) as u64);
        let multiple = effort.multiple.max(1);
        let most = most.min(u64::from(effort.most_pieces)).max(u64::from(multiple));
        // Tries matching first: on direct networks it often comes within 1e-3 of the floor, and list
        // schedules are then unnecessary.
        let matched = if effort.sorts.tries(TreeSorts::Matching) && self.is_matched() {
            self.plan_matched(shard_bytes, floor_us, (most as u32, hops), effort, watch)?
        } else {
            None
        };
        let near = |plan: &TreePlan| self.is_costly() && plan.finish_us <= floor_us * (1.0 + NEAR);
        // Trees are also skipped if their LP model is large and the matching is close to the lower bound.
        if effort.sorts == TreeSorts::Matching || matched.as_ref().is_some_and(near) {
            return Ok(matched);
        }
        if !self.prepare(watch)? {
            return Ok(None);
        }
        // Periodic schedules need only arithmetic, so all variants are tried.
        let periodic = if effort.sorts.tries(TreeSorts::Periodic) { self.variants() } else { &[][..] };
        for (variant, packing) in periodic.iter().enumerate() {
            watch.checkpoint()?;
            if let Some(figures) = self.periodic(packing, shard_bytes, effort) {
                take(TreePlan {
                    finish_us: figures.finish_us,
                    variant,
                    sort: TreePlanSort::Periodic(figures),
                });
            }
        }
        matched.into_iter().for_each(&mut take);
        if !effort.sorts.tries(TreeSorts::List) {
            return Ok(best);
        }
        self.plan_lists(best, shard_bytes, floor_us, (most as u32, hops, run_hops), effort, watch)
    }

    /// Returns the periodic schedule of the trees of a variant with the best number of pieces; `None` if the variant
    /// does not exist.
    #[cfg(test)]
    pub fn periodic_figures(
        &self,
        variant: usize,
        shard_bytes: f64,
        effort: &TreeEffort,
    ) -> Option<PeriodicFigures> {
        self.periodic(self.variants().get(variant)?, shard_bytes, effort)
    }

    /// Returns the periodic schedule of the trees of a variant with a number of pieces; `None` if these trees do not
    /// exist.
    pub fn periodic_with(&self, variant: usize, shard_bytes: f64, pieces: u32) -> Option<PeriodicFigures> {
        let packing = self.variants().get(variant)?;
        let trees = packing.trees.iter().flatten().map(|(tree, _)| tree);
        Some(periodic(self.network, trees, shard_bytes / (1000.0 * packing.rate), pieces))
    }

    /// Returns the periodic schedule of the trees of `packing` with the best number of pieces among rounded powers of
    /// the square root of 2; never `None`.
    fn periodic(&self, packing: &Packing, shard_bytes: f64, effort: &TreeEffort) -> Option<PeriodicFigures> {
        let round_us = shard_bytes / (1000.0 * packing.rate);
        let trees = || packing.trees.iter().flatten().map(|(tree, _)| tree);
        let roots = packing.trees.iter().filter(|trees| !trees.is_empty()).count();
        let mean = trees().count() as f64 / roots.max(1) as f64;
        let mut best: Option<PeriodicFigures> = None;
        // Tries powers of the square root of 2; numbers of pieces in between give about the same time.
        let mut counts: Vec<u32> =
            (0..29).map(|step| 2_f64.powf(f64::from(step) / 2.0).round() as u32).collect();
        if self.is_balanced() {
            // The slowest latency is a whole number of epochs, so that little is lost by rounding.
            let slowest = self.network.links().iter().map(|link| link.alpha_us).fold(0.0, f64::max);
            counts.extend((1..=LATENCY_EPOCHS).map(|epochs| (round_us * f64::from(epochs) / slowest) as u32));
            counts.retain(|count| (1..1 << 14).contains(count));
            counts.sort_unstable();
        }
        for pieces in counts {
            if pieces > 1 && pieces > effort.most_pieces {
                break;
            }
            if pieces > 1 && shard_bytes / (f64::from(pieces) * mean) < effort.min_piece_bytes {
                break;
            }
            // More pieces shorten the epochs, but latencies are rounded up more often.
            let figures = periodic(self.network, trees(), round_us, pieces);
            if best.is_none_or(|best| figures.finish_us < best.finish_us) {
                best = Some(figures);
            }
        }
        best
    }

    /// Returns a schedule of whole pieces with the trees and pieces from which it is made; `None` for periodic
    /// schedules and for schedules with too many epochs.
    pub fn whole_pieces<'l>(&'l self, plan: &'l TreePlan, shard_bytes: f64) -> Option<ListPlan<'l>> {
        match &plan.sort {
            TreePlanSort::List { pieces, order } => self.list(plan.variant, shard_bytes, *pieces, *order),
            TreePlanSort::Matched(matching) => {
                let timing = PieceTiming::new(self.network, shard_bytes / f64::from(matching.pieces))?;
                let batches = matching.trees.iter().map(|tree| Batch { tree, pieces: 1 }).collect();
                let schedule = ListSchedule { finish: matching.finish, starts: matching.starts.clone() };
                Some(ListPlan { timing, batches, schedule })
            }
            TreePlanSort::Periodic(_) => None,
        }
    }

    /// Returns the list schedule of the trees of a variant; `None` if it has too many epochs.
    pub fn list(
        &self,
        variant: usize,
        shard_bytes: f64,
        pieces: u32,
        order: ListOrder,
    ) -> Option<ListPlan<'_>> {
        let timing = PieceTiming::new(self.network, shard_bytes / f64::from(pieces))?;
        let batches: Vec<Batch<'_>> = self
            .variants()
            .get(variant)?
            .trees
            .iter()
            .flat_map(|trees| spread(trees, pieces))
            .map(|(tree, pieces): (&Tree, u32)| Batch { tree, pieces })
            .collect();
        let schedule = list_schedule(&self.fold, &timing, &batches, order, self.network.switch_copies());
        Some(ListPlan { timing, batches, schedule })
    }
}

/// Returns the fold of the network if its symmetries map each of the node sets to itself, else the trivial fold.
fn fold_for(network: &LinkNetwork, sets: &[&[u32]]) -> Fold {
    let fold = Fold::of(network);
    let keeps = |set: &&[u32]| {
        let stays = |generator: &Vec<u32>| set.iter().all(|node| set.contains(&generator[*node as usize]));
        // The symmetries must map roots to roots and ranks to ranks.
        set.len() == network.gpus().len() || fold.generators().iter().all(stays)
    };
    if sets.iter().all(keeps) { fold } else { Fold::trivial(network) }
}

/// Returns the smallest number of pieces for which every tree of a packing gets an integer number; 1 if that number is
/// too large.
fn whole_pieces(packing: &Packing) -> u32 {
    let shares: Vec<f64> = packing.trees.iter().flatten().map(|(_, share)| *share).collect();
    let near = |of: &u64| {
        shares.iter().all(|share| {
            let parts = share * *of as f64;
            (parts - parts.round()).abs() < 1e-6
        })
    };
    (1..=MOST_WHOLE).find(near).map_or(1, |of| of as u32)
}

/// Returns the numbers of pieces to try, up to and including `most`.
fn piece_counts(most: u32) -> Vec<u32> {
    // All small numbers, then numbers with growing steps.
    let mut counts: Vec<u32> = (1..=8).collect();
    let mut next = 10_u32;
    while next < most {
        counts.push(next);
        // Steps of about a quarter, later of a half.
        next += if next < 64 { (next / 4).max(2) } else { next / 2 };
    }
    counts.push(most);
    counts.retain(|count| *count <= most);
    counts.dedup();
    counts
}
