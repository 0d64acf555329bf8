//! The methods of kind `crossconnect`, one file each, and their shared parts.

mod all_to_all;
mod anneal;
mod auto;
mod baselines;
mod exact;
mod finish;
mod first;
mod given;
mod halving;
mod idle;
mod knobs;
mod lns;
mod polish;
mod proof;
mod repair;
mod session;
#[cfg(test)]
mod tests;

pub use all_to_all::NAME as ORDER;

use crate::Crossconnect;
use given::UnlessGiven;
use lightbay_core::method::Method;
use lightbay_highs::modelled::Modelled;
use std::sync::Arc;

/// Returns all methods, in the order in which they are listed.
pub fn all() -> Vec<Arc<dyn Method<Crossconnect>>> {
    vec![
        Arc::new(UnlessGiven(auto::Auto)),
        Arc::new(UnlessGiven(anneal::Anneal)),
        Arc::new(UnlessGiven(lns::Lns)),
        Arc::new(UnlessGiven(exact::Exact)),
        Arc::new(UnlessGiven(halving::Halving)),
        Arc::new(UnlessGiven(polish::Polish)),
        Arc::new(UnlessGiven(repair::Repair)),
        Arc::new(UnlessGiven(baselines::BaselineMethod { renamed: false })),
        Arc::new(UnlessGiven(baselines::BaselineMethod { renamed: true })),
        Arc::new(all_to_all::AllToAll),
    ]
}

/// Returns the methods whose model can be exported.
pub fn models() -> Vec<Arc<dyn Modelled<Crossconnect>>> {
    vec![Arc::new(exact::ExactModel)]
}
