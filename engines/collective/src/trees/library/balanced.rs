//! Trees of networks with few symmetries: balanced trees at several rates and, on small networks, shares from the linear
//! program over these trees (docs/methods/collective-trees.md, section 11).

use super::{TreeLibrary, Variants, whole_pieces};
use crate::model::distances::arrivals;
use crate::trees::balance::{BalanceLimits, balanced};
use crate::trees::columns::{ColumnLimits, Packing, TreeProgram, TreeQuestion};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Fractions of the largest rate for which links are loaded, with the price of latency.
const BALANCES: [(f64, f64); 3] = [(1.0, 2.0), (0.98, 10.0), (0.9, 10.0)];
/// Number of units of all roots together: enough that one unit is a small part of what a link carries.
const UNITS: usize = 2_048;
/// Maximum number of units of one root.
const MOST_UNITS: usize = 32;
/// Maximum number of hops of all trees, if one tree per root does not have more: a second or two per rate, and a plan
/// that lists all trees remains small.
const MOST_HOPS: usize = 400_000;
/// Maximum number of passes for one rate.
const PASSES: u32 = 8;
/// Time of a hop besides its latency, relative to the latency of the slowest link.
const HOP: f64 = 0.25;
/// Depth of the trees up to which latency has its usual price, relative to the distance of the farthest node.
const DEPTH: f64 = 2.5;
/// Relative distance to the largest rate at which no linear program is solved.
const CLOSE_RATE: f64 = 1e-3;
/// Maximum number of hops of all trees for which the linear program is solved: a few seconds.
const MOST_COLUMN_HOPS: usize = 80_000;
/// Fractions of the rate of that program at which paths are shortened, with the weight of the deepest GPU.
const SHORTER: [(f64, f64); 2] = [(1.0, 2.0), (0.998, 2.0)];
/// Maximum number of rounds of pricing of that program.
const ROUNDS: u32 = 30;

impl TreeLibrary<'_> {
    /// Computes balanced trees at several rates, or for a first plan at one rate in one pass; `None` if a rank cannot be
    /// reached.
    pub(super) fn make_balanced<W: Watch>(
        &self,
        question: &TreeQuestion<'_>,
        watch: &mut W,
    ) -> Result<Option<Variants>, MethodError> {
        let network = question.network;
        let slowest = question.latencies.iter().copied().fold(0.0, f64::max);
        // A piece is sent on after it has arrived completely, except by a cut-through switch.
        let hop = |(link, latency): (&_, &f64)| {
            if network.is_through(link) { *latency } else { latency + HOP * slowest }
        };
        let latencies: Vec<f64> = network.links().iter().zip(question.latencies).map(hop).collect();
        let question = TreeQuestion { latencies: &latencies, ..*question };
        let farthest = self.data.first().map_or(0.0, |root| {
            let reached = arrivals(network, *root, false, |link, at| at + latencies[link as usize]);
            reached.into_iter().filter(|time| time.is_finite()).fold(0.0, f64::max)
        });
        let whole = self.ranks * self.data.len();
        let most = (UNITS / self.data.len()).min(MOST_HOPS / whole).clamp(1, MOST_UNITS);
        let copies = network.switch_copies() && network.gpus().len() < network.node_count();
        // One unit per root gives the smallest plans, and the largest pieces in periodic schedules.
        let mut wanted = vec![(BALANCES[0], 1, copies)];
        if !self.is_quick {
            wanted.extend(BALANCES.map(|balance| (balance, most, copies)));
            if copies {
                // Lists cannot always use the copies of switches.
                wanted.push((BALANCES[0], most, false));
            }
            wanted.dedup();
        }
        let mut packings: Vec<Packing> = Vec::new();
        for ((share, latency), units, copies) in wanted {
            let limits = BalanceLimits {
                rate: share * self.limit,
                units: units as u32,
                passes: if self.is_quick { 1 } else { PASSES },
                latency,
                depth_us: DEPTH * farthest,
                copies,
            };
            let Some(packing) = balanced(&question, &limits, watch)? else { return Ok(None) };
            packings.push(packing);
        }
        let is_short = packings.iter().all(|packing| packing.rate < self.limit * (1.0 - CLOSE_RATE));
        if is_short && !self.is_quick && whole * most <= MOST_COLUMN_HOPS {
            let limits = ColumnLimits { rounds: ROUNDS, ..ColumnLimits::new(self.limit) };
            if let Some(mut program) = TreeProgram::new(&question, limits)? {
                for packing in &packings {
                    program.take(packing)?;
                }
                let best = program.maximise(watch)?;
                let rate = best.rate;
                packings.push(best);
                for (share, depth) in SHORTER {
                    packings.push(program.shorten(share * rate, depth, watch)?);
                }
            }
        }
        packings.sort_by(|one, other| other.rate.total_cmp(&one.rate));
        let wholes = packings.iter().map(whole_pieces).collect();
        Ok(Some(Variants { packings, wholes }))
    }
}
