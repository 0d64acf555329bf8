//! The methods of kind `tpu`, one file each, and their common code.

mod approach;
pub mod assemble;
mod baseline;
mod begin;
mod certify;
mod evaluate;
mod fast;
pub mod finish;
mod greedy;
mod idle;
mod lp;
mod milp;
mod random;
pub mod route;
pub mod settings;
#[cfg(test)]
mod tests;

use crate::Tpu;
use approach::OnModel;
use lightbay_core::method::Method;
use lightbay_highs::modelled::Modelled;
use std::sync::Arc;

/// All methods, in the order in which they are listed.
pub fn all() -> Vec<Arc<dyn Method<Tpu>>> {
    vec![
        Arc::new(fast::Fast),
        Arc::new(OnModel(greedy::Greedy)),
        Arc::new(OnModel(lp::Relaxation)),
        Arc::new(OnModel(milp::Milp)),
        Arc::new(random::Random),
        Arc::new(baseline::BaselineMethod { twisted: false }),
        Arc::new(baseline::BaselineMethod { twisted: true }),
        Arc::new(evaluate::Evaluate),
    ]
}

/// The methods whose model can be exported.
pub fn models() -> Vec<Arc<dyn Modelled<Tpu>>> {
    vec![Arc::new(milp::PodModel)]
}
