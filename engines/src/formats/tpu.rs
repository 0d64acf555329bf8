//! Exports of kind `tpu`.

use super::{Artifact, FormatInfo, SubjectSort, file_stem, write_problem};
use crate::subject::AnyScenario;
use lightbay_core::checked::Checked;
use lightbay_core::param::Params;
use lightbay_core::problem::Problems;
use lightbay_core::scenario::Scenario;
use lightbay_tpu::scenario::TopologyChoice;
use lightbay_tpu::{Tpu, presets};
use std::sync::Arc;

pub(crate) fn exporters() -> Vec<FormatInfo> {
    vec![FormatInfo {
        name: "instance",
        help: "The scenario with its topology spelled out: that of a torus, or that of the plan.",
        of: SubjectSort::Either,
        extension: "json",
        params: Vec::new(),
    }]
}

pub(crate) fn export_scenario(
    scenario: &Arc<Scenario<Tpu>>,
    format: &str,
    _params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    let mut explicit = Scenario::clone(scenario);
    if let Some(pod) = scenario.body.named_topology()? {
        explicit.body.topology = presets::given(&pod).topology;
        explicit.body.group = None;
    }
    written(explicit, format)
}

pub(crate) fn export_plan(
    plan: &Arc<Checked<Tpu>>,
    format: &str,
    _params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    let mut explicit = Scenario::clone(&plan.plan().scenario);
    explicit.body.topology = TopologyChoice::Given(plan.plan().result.topology.clone());
    explicit.body.group = None;
    written(explicit, format)
}

fn written(scenario: Scenario<Tpu>, format: &str) -> Result<Vec<Artifact>, Problems> {
    let name = format!("{}.{format}.json", file_stem(&scenario.name));
    let bytes = AnyScenario::Tpu(Arc::new(scenario)).to_json().map_err(write_problem)?;
    Ok(vec![Artifact { name, bytes, beside: None }])
}
