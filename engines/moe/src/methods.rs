//! The methods of kind `moe`, one file each, and their shared parts.

mod auto;
mod baseline;
mod copilot;
mod exact;
mod given;
mod knobs;
mod placed;
mod regional;
mod session;

use crate::Moe;
use crate::predict::passage::FitSettings;
use lightbay_core::method::Method;
use lightbay_core::param::Params;
use std::sync::Arc;

/// Name of the method whose iteration time is a bound for every network: all NICs of a server count as one NIC.
pub const POOLED: &str = "pooled";

/// Returns the settings of the predictions of a method.
pub(crate) fn prediction(method: &str, params: &Params) -> FitSettings {
    if method == copilot::NAME { knobs::prediction_of(params) } else { FitSettings::default() }
}

/// Returns all methods, in the order in which they are listed.
pub fn all() -> Vec<Arc<dyn Method<Moe>>> {
    let mut all: Vec<Arc<dyn Method<Moe>>> = vec![
        Arc::new(auto::AutoRegional),
        Arc::new(regional::Regional { swap: true }),
        Arc::new(regional::Regional { swap: false }),
        Arc::new(exact::ExactRegional),
        Arc::new(copilot::Copilot),
        Arc::new(placed::PlacedMethod),
        Arc::new(given::StaticCircuits),
    ];
    for baseline in baseline::BASELINES {
        all.push(Arc::new(*baseline));
    }
    all
}
