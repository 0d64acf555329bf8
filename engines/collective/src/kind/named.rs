//! Default names of scenarios.

use crate::scenario::{CollectiveScenario, CollectiveSort};

/// Returns the default name of a scenario, from network, collective and buffer size: `torus-4x4x4-all_reduce-1gb`.
pub(super) fn usual(scenario: &CollectiveScenario) -> String {
    let network = match &scenario.family {
        Some(family) => {
            let size: Vec<String> = family.size.iter().map(ToString::to_string).collect();
            format!("{}-{}", family.network.word(), size.join("x"))
        }
        None => format!("{}-gpus", scenario.topology.gpus().count()),
    };
    let demand = &scenario.demand;
    let word =
        CollectiveSort::ALL.iter().find(|(_, sort)| *sort == demand.collective).map_or("", |(word, _)| word);
    let size = match (demand.output_buffer_bytes, demand.chunk_bytes) {
        (Some(bytes), _) => format!("-{}", short(bytes)),
        (None, Some(bytes)) => format!("-chunks-of-{}", short(bytes)),
        (None, None) => String::new(),
    };
    format!("{network}-{word}{size}")
}

/// Returns a size in the notation of presets: `200kb`, `64mb`, `1.5gb`.
fn short(bytes: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("tb", 1e12), ("gb", 1e9), ("mb", 1e6), ("kb", 1e3)];
    let unit = UNITS.iter().find(|(_, size)| bytes >= *size);
    unit.map_or_else(|| format!("{bytes}b"), |(unit, size)| format!("{}{unit}", bytes / size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::presets;

    #[test]
    fn collectives_are_named_after_network_collective_and_size() {
        for (preset, name) in [
            ("dgx1-allgather-200kb", "dgx1-1-all_gather-200kb"),
            ("ndv2x2-allgather-1gb", "ndv2-2-all_gather-1gb"),
            ("dgx1-alltoall-200kb", "dgx1-1-all_to_all-200kb"),
        ] {
            assert_eq!(usual(&presets::scenario(preset).unwrap()), name);
        }
        assert_eq!((short(1.5e9), short(999.0), short(64e6)), ("1.5gb".into(), "999b".into(), "64mb".into()));
    }
}
