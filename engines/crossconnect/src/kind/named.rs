//! Names of scenarios without a given name.

use crate::scenario::CrossconnectScenario;

/// Returns the default name of a scenario, from its pods and switches: `16-pods-8-switches`.
pub(super) fn usual(scenario: &CrossconnectScenario) -> String {
    let word = if scenario.ocs_count == 1 { "switch" } else { "switches" };
    format!("{}-pods-{}-{word}", scenario.pods, scenario.ocs_count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::presets;

    #[test]
    fn switches_are_named_after_their_number_and_pods() {
        let scenario = presets::scenario("crossconnect-16-8-25").unwrap();
        assert_eq!(usual(&scenario), "16-pods-8-switches");
    }
}
