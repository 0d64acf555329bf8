//! The methods of kind `training`, one file each, and what they share.

mod allocate;
mod carry;
mod evolve;
mod joint;
mod knobs;
mod session;
mod simulate;
mod start;
mod topo;

use crate::baselines::Baseline;
use crate::evaluate::Rates;
use crate::kind::Training;
use lightbay_core::method::Method;
use std::sync::Arc;

pub use carry::carry;
pub use session::candidate;

/// All methods, in the order in which they are listed.
pub fn all() -> Vec<Arc<dyn Method<Training>>> {
    let mut methods: Vec<Arc<dyn Method<Training>>> = Vec::new();
    for baseline in Baseline::ALL {
        methods.push(Arc::new(allocate::Allocate(baseline)));
    }
    methods.push(Arc::new(evolve::Evolve { name: "delta-fast", rates: Rates::Fair }));
    methods.push(Arc::new(evolve::Evolve { name: "delta-level", rates: Rates::Level }));
    methods.push(Arc::new(topo::Topo));
    methods.push(Arc::new(joint::Joint));
    methods.push(Arc::new(simulate::Simulate));
    methods
}
