//! The methods of kind `crossconnect`, one file each, and what they share.

mod all_to_all;
mod anneal;
mod auto;
mod baselines;
mod exact;
mod finish;
mod ground;
mod halving;
mod idle;
mod knobs;
mod lns;
mod polish;
mod repair;

pub use all_to_all::NAME as ORDER;

use crate::kind::Crossconnect;
use lightbay_core::method::Method;
use lightbay_highs::modelled::Modelled;
use std::sync::Arc;

/// All methods, in the order in which they are listed.
pub fn all() -> Vec<Arc<dyn Method<Crossconnect>>> {
    vec![
        Arc::new(auto::Auto),
        Arc::new(anneal::Anneal),
        Arc::new(lns::Lns),
        Arc::new(exact::Exact),
        Arc::new(halving::Halving),
        Arc::new(polish::Polish),
        Arc::new(repair::Repair),
        Arc::new(baselines::Baseline { renamed: false }),
        Arc::new(baselines::Baseline { renamed: true }),
        Arc::new(all_to_all::AllToAll),
    ]
}

/// The methods whose model can be written.
pub fn models() -> Vec<Arc<dyn Modelled<Crossconnect>>> {
    vec![Arc::new(exact::Written)]
}
