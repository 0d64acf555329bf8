//! The methods of kind `tpu`, one file each, and what they share.

mod baseline;
mod evaluate;
mod fast;
pub mod finish;
mod greedy;
mod lp;
mod milp;
mod random;

use crate::kind::Tpu;
use lightbay_core::method::Method;
use lightbay_highs::modelled::Modelled;
use std::sync::Arc;

/// All methods, in the order in which they are listed.
pub fn all() -> Vec<Arc<dyn Method<Tpu>>> {
    vec![
        Arc::new(fast::Fast),
        Arc::new(greedy::Greedy),
        Arc::new(lp::Relaxation),
        Arc::new(milp::Milp),
        Arc::new(random::Random),
        Arc::new(baseline::Baseline { twisted: false }),
        Arc::new(baseline::Baseline { twisted: true }),
        Arc::new(evaluate::Evaluate),
    ]
}

/// The methods whose model can be written.
pub fn models() -> Vec<Arc<dyn Modelled<Tpu>>> {
    vec![Arc::new(milp::Written)]
}
