//! Trees of a collective: of its only part, or of both halves of an AllReduce, which have one epoch length
//! (docs/methods/collective-trees.md, section 11).

use super::compact::compact;
use super::library::{CLOSE, TreeEffort, TreeLibrary, TreePlan, TreePlanSort, TreeSorts};
use super::list::ListOrder;
use super::matching::MatchOrder;
use super::sends::{ListSends, list_sends};
use crate::floors::floor::network_floor;
use crate::plan::compact::CompactPlan;
use crate::scenario::network::LinkNetwork;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Trees of every part of a collective, made once for all sizes.
#[derive(Debug)]
pub struct TreeParts<'n> {
    libraries: Vec<TreeLibrary<'n>>,
    networks: &'n [LinkNetwork],
}

/// Schedules of all parts.
#[derive(Clone, Debug)]
pub struct PartsPlan {
    /// Time until the last part ends, µs.
    pub finish_us: f64,
    /// Schedule of each part; all have one type and equal numbers of pieces.
    pub plans: Vec<TreePlan>,
}

impl<'n> TreeParts<'n> {
    /// Creates the trees that spread the data of all `roots` to all `ranks`, on the network of each part in its
    /// direction of planning.
    pub fn new(networks: &'n [LinkNetwork], roots: &[u32], ranks: &[u32]) -> Self {
        let mut libraries = Vec::with_capacity(networks.len());
        for network in networks {
            let mut shards = vec![0; network.node_count()];
            for root in roots {
                shards[*root as usize] = 1;
            }
            // Symmetries can be used only if all GPUs send and receive.
            let symmetric = roots.len() == network.gpus().len() && ranks.len() == roots.len();
            let floor = network_floor(network, &shards, ranks, symmetric).ok().flatten();
            let rate = floor.map_or(f64::INFINITY, |floor| floor.rate.as_f64());
            libraries.push(TreeLibrary::new(network, roots, ranks, rate));
        }
        Self { libraries, networks }
    }

    /// Returns parts whose trees are made in one pass, for a first plan; `None` if the trees of these parts take no
    /// longer.
    pub fn quick(&self) -> Option<Self> {
        let quick: Vec<Option<TreeLibrary<'n>>> = self.libraries.iter().map(TreeLibrary::quick).collect();
        let libraries = quick.into_iter().collect::<Option<_>>()?;
        Some(Self { libraries, networks: self.networks })
    }

    /// Returns the trees of each part.
    pub fn libraries(&self) -> &[TreeLibrary<'n>] {
        &self.libraries
    }

    /// Returns the best schedule for `shard_bytes` of every root, or `None` if no schedule was found; `floor_us` is a
    /// lower bound on the time.
    ///
    /// # Errors
    /// If the run must stop.
    pub fn plan<W: Watch>(
        &self,
        shard_bytes: f64,
        floor_us: f64,
        effort: &TreeEffort,
        watch: &mut W,
    ) -> Result<Option<PartsPlan>, MethodError> {
        // A single part needs no common epoch length.
        if let [library] = &self.libraries[..] {
            let plan = library.plan(shard_bytes, floor_us, effort, watch)?;
            return Ok(plan.map(|plan| PartsPlan { finish_us: plan.finish_us, plans: vec![plan] }));
        }
        // Both halves must use the same kind of schedule and the same number of pieces.
        let sorts: &[TreeSorts] = match effort.sorts {
            TreeSorts::All => &[TreeSorts::Matching, TreeSorts::List, TreeSorts::Periodic],
            TreeSorts::List => &[TreeSorts::List],
            TreeSorts::Periodic => &[TreeSorts::Periodic],
            TreeSorts::Matching => &[TreeSorts::Matching],
        };
        let mut best: Option<PartsPlan> = None;
        for &sorts in sorts {
            let effort = TreeEffort { sorts, ..*effort };
            let mut own = Vec::with_capacity(self.libraries.len());
            for library in &self.libraries {
                own.extend(library.plan(shard_bytes, 0.0, &effort, watch)?);
            }
            if own.len() < self.libraries.len() {
                continue;
            }
            // Tries the numbers of pieces that are best for one of the halves with both halves.
            let mut counts: Vec<u32> = own.iter().map(|plan| plan.sort.pieces()).collect();
            counts.sort_unstable();
            counts.dedup();
            for pieces in counts {
                let mut plans = Vec::with_capacity(own.len());
                for (part, plan) in own.iter().enumerate() {
                    plans.extend(self.with_pieces(part, plan, pieces, shard_bytes, watch)?);
                }
                let all = Some(plans).filter(|plans| plans.len() == own.len());
                let Some(plans) = all.and_then(|plans| self.in_common_epochs(plans, shard_bytes)) else {
                    continue;
                };
                if best.as_ref().is_none_or(|best| plans.finish_us < best.finish_us) {
                    best = Some(plans);
                }
            }
            let floor_us: f64 = self.libraries.iter().map(|library| library.floor_us(shard_bytes)).sum();
            let is_close = best.as_ref().is_some_and(|best| best.finish_us <= floor_us * (1.0 + CLOSE));
            // The matching is close enough to the floor: the other kinds take longer and gain little.
            if sorts == TreeSorts::Matching && is_close {
                break;
            }
        }
        Ok(best)
    }

    /// Returns the schedule of a part with another number of pieces; `None` if none is found.
    fn with_pieces<W: Watch>(
        &self,
        part: usize,
        plan: &TreePlan,
        pieces: u32,
        shard_bytes: f64,
        watch: &mut W,
    ) -> Result<Option<TreePlan>, MethodError> {
        if plan.sort.pieces() == pieces {
            return Ok(Some(plan.clone()));
        }
        let library = &self.libraries[part];
        Ok(match &plan.sort {
            TreePlanSort::Matched(_) => {
                let mut best: Option<TreePlan> = None;
                for order in MatchOrder::ALL {
                    let found = library.matched(shard_bytes, pieces, order, watch)?;
                    let known = best.as_ref().map_or(f64::INFINITY, |best| best.finish_us);
                    best = found.filter(|found| found.finish_us < known).or(best);
                }
                best
            }
            TreePlanSort::List { .. } => ListOrder::ALL
                .into_iter()
                .filter_map(|order| {
                    let list = library.list(plan.variant, shard_bytes, pieces, order)?;
                    let finish_us = f64::from(list.schedule.finish) * list.timing.epoch_us;
                    let sort = TreePlanSort::List { pieces, order };
                    Some(TreePlan { finish_us, variant: plan.variant, sort })
                })
                // The best list order for this number of pieces.
                .min_by(|one, other| one.finish_us.total_cmp(&other.finish_us)),
            TreePlanSort::Periodic(_) => {
                library.periodic_with(plan.variant, shard_bytes, pieces).map(|figures| {
                    let sort = TreePlanSort::Periodic(figures);
                    TreePlan { finish_us: figures.finish_us, variant: plan.variant, sort }
                })
            }
        })
    }

    /// Returns schedules of all parts in epochs of one length; `None` if a schedule has too many epochs.
    fn in_common_epochs(&self, plans: Vec<TreePlan>, shard_bytes: f64) -> Option<PartsPlan> {
        let periodic = plans.iter().any(|plan| matches!(plan.sort, TreePlanSort::Periodic(_)));
        // The parts run one after the other, so their times are added.
        let finish_us = if periodic {
            let parts = self.in_short(&PartsPlan { finish_us: 0.0, plans: plans.clone() }, shard_bytes)?;
            parts.iter().map(|part| part.finish_epochs as f64 * part.epoch_us).sum()
        } else {
            plans.iter().map(|plan| plan.finish_us).sum()
        };
        Some(PartsPlan { finish_us, plans })
    }

    /// Returns the schedules in compact form; `None` if a schedule has too many epochs.
    pub fn in_short(&self, plan: &PartsPlan, shard_bytes: f64) -> Option<Vec<CompactPlan>> {
        let mut least_us = 0.0;
        loop {
            let parts = self.networks.iter().zip(&self.libraries).zip(&plan.plans);
            let parts: Vec<CompactPlan> = parts
                .map(|((network, library), plan)| compact(network, library, plan, shard_bytes, least_us))
                .collect::<Option<_>>()?;
            // Both parts use the longer epoch: a second pass lengthens the shorter one.
            let longest = parts.iter().map(|part| part.epoch_us).fold(0.0, f64::max);
            if parts.iter().all(|part| part.epoch_us == longest) || least_us > 0.0 {
                return Some(
                    parts.into_iter().map(|part| CompactPlan { epoch_us: longest, ..part }).collect(),
                );
            }
            least_us = longest;
        }
    }

    /// Returns the length of an epoch in µs, the number of pieces of every root, and the sends of each part. `None` for
    /// periodic schedules, and if there are more than `most` sends.
    pub fn sends(&self, plan: &PartsPlan, shard_bytes: f64, most: u64) -> Option<(f64, u32, Vec<ListSends>)> {
        let (mut epoch_us, mut all, mut count) = (0.0, Vec::new(), 0_u64);
        let pieces = plan.plans.first()?.sort.pieces();
        for ((network, library), plan) in self.networks.iter().zip(&self.libraries).zip(&plan.plans) {
            let list = library.whole_pieces(plan, shard_bytes)?;
            let each =
                list.batches.iter().map(|batch| u64::from(batch.pieces) * batch.tree.links().len() as u64);
            count += each.sum::<u64>() * library.fold().order() as u64;
            if count > most {
                return None;
            }
            epoch_us = list.timing.epoch_us;
            all.push(list_sends(network, library.fold(), &list.timing, &list.batches, &list.schedule));
        }
        Some((epoch_us, pieces, all))
    }
}
