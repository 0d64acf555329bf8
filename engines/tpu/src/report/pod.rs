//! Size, wiring and requirements of a scenario.

use crate::model::baselines;
use crate::plan::TpuResult;
use crate::scenario::{TopologyChoice, TpuScenario};
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Facts, Section};

pub(super) fn section(scenario: &TpuScenario, result: Option<&TpuResult>, group: Option<&str>) -> Section {
    let mut facts = Facts::new();
    facts.add("chips", "chips", scenario.nodes());
    facts.add("cubes", "cubes", scenario.cubes);
    let open = result.is_none() && scenario.topology == TopologyChoice::Design;
    if let Some(group) = group {
        facts.add("group", "numbered by", group);
    } else if !open {
        facts.add("group", "numbered by", Cell::none().note("the pod is not symmetric"));
    }
    let wired = match &scenario.topology {
        TopologyChoice::Design => "to be designed".to_owned(),
        TopologyChoice::Pt => format!("prismatic torus {}", baselines::named(scenario.pt_shape())),
        TopologyChoice::Pdtt => match scenario.pdtt_shape() {
            Ok(shape) => format!("doubly twisted torus {}", baselines::named(shape)),
            Err(problem) => problem.message,
        },
        TopologyChoice::Given(_) => "as given".to_owned(),
    };
    facts.add("topology", "topology", wired);
    facts.add("vc_count", "virtual channels", scenario.vc_count);
    facts.add("turn_priority", "turns by", scenario.turn_priority.word().to_uppercase());
    facts.add("slack_hops", "detours of routes", Cell::new(scenario.slack()).note("hops above the shortest"));
    if !scenario.failed_ocs.is_empty() {
        let ids: Vec<String> = scenario.failed_ocs.iter().map(ToString::to_string).collect();
        facts.add("failed_ocs", "failed switches", ids.join(", "));
    }
    if scenario.tolerated_ocs_faults > 0 {
        facts.add("tolerated_ocs_faults", "failed switches to tolerate", scenario.tolerated_ocs_faults);
        facts.sentence("any one at a time");
    }
    let title = format!("Pod of {}", counted(scenario.nodes() as u64, "chip", "chips"));
    Section::new(title, facts)
}
