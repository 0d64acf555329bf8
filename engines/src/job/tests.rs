use super::*;
use std::collections::BTreeSet;

#[test]
fn every_name_is_a_parameter_of_its_kind() {
    for kind in crate::kinds() {
        // Some parameters belong only to scenarios that no preset has.
        let all = crate::knobs(kind.name).into_iter().map(|info| info.name.to_string());
        let mut known: BTreeSet<String> = all.collect();
        for preset in crate::presets().iter().filter(|preset| preset.kind == kind.name) {
            let scenario = crate::preset(preset.name).unwrap();
            known.extend(scenario.every_knob().into_iter().map(|info| info.name.to_string()));
        }
        for name in names(kind.name) {
            assert!(known.contains(*name), "{}: {name}", kind.name);
        }
    }
}

#[test]
fn models_are_the_job_and_ports_are_the_design() {
    assert!(states_job("training", "model") && states_job("training", "seq"));
    assert!(!states_job("training", "ports_per_pod") && !states_job("training", "bandwidth_gbps"));
    assert!(!states_job("moe", "optical_degree") && states_job("collective", "output_buffer_bytes"));
}
