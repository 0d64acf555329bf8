//! Names of scenarios without a given name.

use crate::scenario::{TopologyChoice, TpuScenario};

/// Name made of the given shape of a torus (`pt-4x4x8`), or of the number of chips (`pod-512`; `pt-512` for a torus
/// without a given shape).
pub(super) fn usual(scenario: &TpuScenario) -> String {
    let torus = match scenario.topology {
        TopologyChoice::Pt => Some("pt"),
        TopologyChoice::Pdtt => Some("pdtt"),
        TopologyChoice::Design | TopologyChoice::Given(_) => None,
    };
    match (torus, scenario.job_shape) {
        (Some(torus), Some([x, y, z])) => format!("{torus}-{x}x{y}x{z}"),
        (Some(torus), None) => format!("{torus}-{}", 64 * u32::from(scenario.cubes)),
        (None, _) => format!("pod-{}", 64 * u32::from(scenario.cubes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::presets;

    #[test]
    fn pods_are_named_after_their_chips() {
        for (preset, name) in [("tpu-512", "pod-512"), ("pt-4x4x8", "pt-4x4x8"), ("pdtt-4x4x8", "pdtt-4x4x8")]
        {
            assert_eq!(usual(&presets::scenario(preset).unwrap()), name);
        }
    }
}
