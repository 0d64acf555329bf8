//! The methods of kind `collective`, one file each, and their shared parts.

mod asking;
mod astar;
mod auto;
mod baselines;
mod construct;
mod kept;
mod lp;
mod milp;
mod modelled;
mod one_size;
mod ranges;
mod session;
mod trees;

#[cfg(test)]
mod tests;

use crate::Collective;
use crate::search::baselines::FixedWays;
use kept::KeepsBest;
use lightbay_core::method::Method;
use lightbay_highs::modelled::Modelled;
use one_size::OneSize;
use std::sync::Arc;

/// Returns all methods, in the order in which they are listed.
pub fn all() -> Vec<Arc<dyn Method<Collective>>> {
    vec![
        Arc::new(KeepsBest(auto::AutoMethod)),
        Arc::new(OneSize(construct::Construct)),
        Arc::new(OneSize(trees::TreesMethod)),
        Arc::new(OneSize(milp::CopyMethod)),
        Arc::new(OneSize(lp::FluidMethod)),
        Arc::new(OneSize(astar::RoundsMethod)),
        Arc::new(OneSize(baselines::FixedWaysMethod { ways: FixedWays::Ring })),
        Arc::new(OneSize(baselines::FixedWaysMethod { ways: FixedWays::ShortestPaths })),
        Arc::new(OneSize(baselines::FixedWaysMethod { ways: FixedWays::SingleTree })),
    ]
}

/// Returns the methods that solve a single integer program, which can be exported to other solvers.
pub fn models() -> Vec<Arc<dyn Modelled<Collective>>> {
    vec![Arc::new(modelled::CopyModel)]
}
