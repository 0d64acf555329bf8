//! Names of scenarios without a given name.

use crate::scenario::MoeScenario;
use crate::scenario::shapes::MoeModelChoice;

/// Returns the default name of a scenario, from the model and the GPUs of the cluster: `moe-mixtral_8x7b-1024-gpus`.
pub(super) fn usual(scenario: &MoeScenario) -> String {
    let gpus = u64::from(scenario.cluster.servers) * u64::from(scenario.region.gpus_per_server);
    match scenario.model {
        MoeModelChoice::Preset(preset) => format!("moe-{}-{gpus}-gpus", preset.word()),
        MoeModelChoice::Own(shape) => {
            format!("moe-{}-experts-{}-layers-{gpus}-gpus", shape.experts, shape.layers)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::presets;

    #[test]
    fn regions_are_named_after_model_and_gpus() {
        let scenario = presets::scenario("moe-mixtral_8x7b").unwrap();
        assert_eq!(usual(&scenario), "moe-mixtral_8x7b-1024-gpus");
    }
}
