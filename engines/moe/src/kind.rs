//! The kind `moe`: connects scenario, result and checker to the traits of `lightbay_core`.

mod listed;
pub(crate) mod metrics;
mod named;
mod terms;

#[cfg(test)]
mod tests;

use crate::Moe;
use crate::check::{self, RegionEnvelope};
use crate::files::handover;
use crate::plan::{FabricKind, MoeResult};
use crate::report::MoeReport;
use crate::scenario::{KNOBS, MoeScenario};
use crate::schedule::assemble;
use lightbay_core::checked::Verdict;
use lightbay_core::exchange::{CircuitMatrix, Graph, TrafficMatrix};
use lightbay_core::kind::{Carried, Depth, Kind, ObjectiveInfo, SweepInfo};
use lightbay_core::metric::MetricInfo;
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problems, counted};
use lightbay_core::read::Fields;
use lightbay_core::record::{Knobs, Record as _};
use lightbay_core::report::{Report, SectionInfo};
use lightbay_core::scenario::Scenario;
use lightbay_core::term::Term;

impl Kind for Moe {
    const NAME: &'static str = "moe";
    const OBJECTIVE: ObjectiveInfo = metrics::OBJECTIVE;
    const DEFAULT_METHOD: &'static str = "auto";
    const PREVIEW_METHOD: &'static str = "mfabric-greedy";

    const METRICS: &'static [MetricInfo] = metrics::METRICS;
    const SECTIONS: &'static [SectionInfo] = crate::report::SECTIONS;
    const SWEEPS: SweepInfo = SweepInfo::over(
        &["reconfiguration_delay_ms", "optical_degree", "link_gbps", "seq", "micro_batches"],
        &["delay", "optical degree", "rate", "sequence", "micro-batches", "other parameter"],
    );
    const SYNONYMS: &'static [(&'static str, &'static str)] =
        &[("delay_profile", "reconfiguration_delay_ms")];
    const TERMS: &'static [Term] = terms::TERMS;

    type Scenario = MoeScenario;
    type Result = MoeResult;

    fn read_scenario(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<MoeScenario> {
        MoeScenario::of_fields(fields, problems)
    }

    fn read_result(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<MoeResult> {
        MoeResult::of_fields(fields, problems)
    }

    fn other_question(method: &str) -> Option<&'static str> {
        match method {
            "fat-tree" | "rail" => Some("it uses packet switches at every NIC, which cost more"),
            "topoopt" => Some("it uses a patch panel instead of an optical circuit switch"),
            crate::methods::POOLED => Some("it is a bound, which in general no network reaches"),
            _ => None,
        }
    }

    fn validate(scenario: &MoeScenario) -> Result<(), Problems> {
        scenario.validate()
    }

    fn table() -> Option<&'static Knobs<Self::Scenario>> {
        Some(&KNOBS)
    }

    fn check(plan: &Plan<Self>, depth: Depth) -> Verdict {
        let envelope = RegionEnvelope {
            method: &plan.method,
            params: &plan.parameters,
            value: plan.objective.value,
            bound: plan.objective.bound,
            bound_covers: plan.provenance.bound_covers(),
            metrics: &plan.metrics,
        };
        check::check(&plan.scenario.body, &plan.result, &envelope, depth)
    }

    /// Converts a plan to another scenario: recomputes plans of networks without regional circuits, which takes little
    /// time, and refuses all other plans.
    fn carry(result: &MoeResult, from: &MoeScenario, to: &MoeScenario) -> Result<Carried<MoeResult>, String> {
        let fabric = result.iteration.fabric;
        if fabric == FabricKind::Mfabric {
            if from.trace == to.trace && from.model == to.model && from.region == to.region {
                return Err(
                    "its stalls were computed for other times or delays; solve the scenario again".to_owned()
                );
            }
            return Err(
                "its circuits were chosen for another demand or region; solve the scenario again".to_owned()
            );
        }
        let candidate = assemble::fabric(to, fabric).map_err(|none| none.0)?;
        Ok(Carried { candidate, repairs: Vec::new() })
    }

    fn caveat(plan: &Plan<Self>) -> Option<String> {
        let iteration = &plan.result.iteration;
        if plan.result.layers.iter().any(|layer| layer.placement.is_some()) && iteration.free_changes == 0 {
            return Some(
                "compute times assume equal load on all ranks; gradient synchronisation between expert \
                 replicas is ignored"
                    .to_owned(),
            );
        }
        if iteration.free_changes > 0 {
            let changes =
                counted(u64::from(iteration.free_changes), "change of circuits", "changes of circuits");
            return Some(format!("the policy 'paper' ignores the delay of {changes} in a micro-batch"));
        }
        None
    }

    fn report<'a>(
        scenario: &'a Scenario<Self>,
        plan: Option<&'a Plan<Self>>,
    ) -> Result<Box<dyn Report + 'a>, Problems> {
        Ok(Box::new(MoeReport::new(scenario, plan)))
    }

    fn circuits(plan: &Plan<Self>) -> Option<CircuitMatrix> {
        handover::circuits(&plan.scenario.body, handover::longest(&plan.result)?)
    }

    fn circuits_of_layer(plan: &Plan<Self>, layer: u32) -> Option<CircuitMatrix> {
        handover::circuits(&plan.scenario.body, handover::of(&plan.result, layer)?)
    }

    fn network_of_layer(plan: &Plan<Self>, layer: u32) -> Option<(Graph, TrafficMatrix)> {
        let layer = handover::of(&plan.result, layer)?;
        Some((handover::graph(&plan.scenario.body, layer), handover::traffic(layer)))
    }

    fn graph(plan: &Plan<Self>) -> Option<Graph> {
        Some(handover::graph(&plan.scenario.body, handover::longest(&plan.result)?))
    }

    fn traffic(plan: &Plan<Self>) -> Option<TrafficMatrix> {
        Some(handover::traffic(handover::longest(&plan.result)?))
    }
}
