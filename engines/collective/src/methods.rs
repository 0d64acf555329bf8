//! The methods of kind `collective`, one file each, and what they share.

mod asking;
mod astar;
mod auto;
mod baselines;
mod construct;
mod lp;
mod milp;
mod session;

#[cfg(test)]
mod tests;

use crate::Collective;
use crate::search::baselines::FixedWays;
use lightbay_core::method::Method;
use std::sync::Arc;

/// All methods, in the order in which they are listed.
pub fn all() -> Vec<Arc<dyn Method<Collective>>> {
    vec![
        Arc::new(auto::Auto),
        Arc::new(construct::Construct),
        Arc::new(milp::CopyMethod),
        Arc::new(lp::FluidMethod),
        Arc::new(astar::RoundsMethod),
        Arc::new(baselines::FixedWaysMethod { ways: FixedWays::Ring }),
        Arc::new(baselines::FixedWaysMethod { ways: FixedWays::ShortestPaths }),
        Arc::new(baselines::FixedWaysMethod { ways: FixedWays::SingleTree }),
    ]
}
