//! The kind `collective` in the catalogue: its methods and built-in scenarios.

use crate::scenario::{CollectiveScenario, presets};
use crate::{Collective, methods};
use lightbay_core::listed::{Listed, Preset};
use lightbay_core::method::Method;
use lightbay_highs::modelled::{Modelled, Models};
use std::sync::Arc;

impl Listed for Collective {
    const HELP: &'static str = "schedules of collective communication, with what no schedule can beat";

    fn methods() -> Vec<Arc<dyn Method<Self>>> {
        methods::all()
    }

    fn presets() -> Vec<Preset> {
        presets::PRESETS.to_vec()
    }

    fn preset(name: &str) -> Option<CollectiveScenario> {
        presets::scenario(name)
    }
}

impl Models for Collective {
    fn models() -> Vec<Arc<dyn Modelled<Self>>> {
        methods::models()
    }
}
