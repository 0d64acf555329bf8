//! The best plan that `auto` knows, with the data for its bound.

use super::super::asking::state;
use super::super::lp::FluidBest;
use super::super::session::{EpochSession, end};
use super::super::trees;
use crate::Collective;
use crate::plan::CollectiveResult;
use lightbay_core::checked::same;
use lightbay_core::context::Context;
use lightbay_core::kind::Candidate;
use lightbay_core::method::{MethodError, Outcome};

/// The best known plan, with the data for its bound.
#[expect(clippy::large_enum_variant, reason = "a run keeps one value of this type")]
pub(super) enum KeptSchedule {
    /// Whole chunks: the number of epochs of the plan, and the proven lower bound on this number.
    Whole { session: EpochSession, finish: u32, proven: u32 },
    /// Equal pieces of chunks.
    Pieces { session: EpochSession, finish_us: f64 },
    /// Parts of chunks.
    Parts(FluidBest),
    /// Trees, and the floor on their finish.
    Trees { candidate: Candidate<CollectiveResult>, floor_us: f64 },
}

impl KeptSchedule {
    /// Returns the completion time, µs.
    pub(super) fn finish_us(&self) -> f64 {
        match self {
            Self::Whole { session, finish, .. } => f64::from(*finish) * session.tasks.epoch_us,
            Self::Pieces { finish_us, .. } => *finish_us,
            Self::Trees { candidate, .. } => candidate.value,
            Self::Parts(best) => best.finish_us,
        }
    }

    /// Reports the bound for the epochs and chunks of the kept plan, and returns the outcome of the run.
    pub(super) fn conclude(self, cx: &mut Context<'_, Collective>) -> Result<Outcome, MethodError> {
        Ok(match self {
            Self::Whole { session, finish, proven } => {
                state(&session, proven, cx);
                end(finish, proven)
            }
            Self::Pieces { session, finish_us } => {
                session.state_bound(cx);
                let bound_us = session.bound_us();
                // The bound for pieces covers only schedules of these pieces.
                if same(finish_us, bound_us) { end(0, 0) } else { end(1, 0) }
            }
            Self::Parts(best) => {
                best.state_bound(cx);
                end(best.finish, best.proven)
            }
            Self::Trees { candidate, floor_us } => {
                let outcome = trees::stated(candidate.value, floor_us, cx);
                // Also reports a schedule that was reported before without its bound.
                let sends = candidate.result.sends.len() as f64;
                cx.supersede(candidate.value, sends, "trees", move || candidate)?;
                outcome
            }
        })
    }
}
