//! The kind `moe` in the catalogue: its methods, built-in scenarios and formats.

use crate::scenario::{MoeScenario, presets};
use crate::{Moe, methods};
use lightbay_core::listed::{Listed, Preset};
use lightbay_core::method::Method;
use lightbay_highs::modelled::Models;
use std::sync::Arc;

impl Listed for Moe {
    const HELP: &'static str =
        "regional circuits for the expert-parallel all-to-alls of mixture-of-experts training";

    fn methods() -> Vec<Arc<dyn Method<Self>>> {
        methods::all()
    }

    fn presets() -> Vec<Preset> {
        presets::PRESETS.to_vec()
    }

    fn preset(name: &str) -> Option<MoeScenario> {
        presets::scenario(name)
    }
}

impl Models for Moe {}
