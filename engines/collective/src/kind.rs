//! The kind `collective`: implements the traits of the core for scenario, result, checker and reports.

mod listed;
mod metrics;
mod named;
mod terms;

use crate::Collective;
use crate::check::{self, ScheduleEnvelope};
use crate::plan::{CollectiveResult, floor_covers};
use crate::report::CollectiveReport;
use crate::scenario::{CollectiveScenario, KNOBS, LinkRecord, NodeSort};
use lightbay_core::checked::Verdict;
use lightbay_core::exchange::{Graph, GraphLink};
use lightbay_core::kind::{Carried, Depth, Kind, ObjectiveInfo, SweepInfo};
use lightbay_core::metric::MetricInfo;
use lightbay_core::plan::Plan;
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use lightbay_core::record::{Knobs, Record as _};
use lightbay_core::report::{Report, SectionInfo};
use lightbay_core::scenario::Scenario;
use lightbay_core::term::Term;

impl Kind for Collective {
    const NAME: &'static str = "collective";
    const OBJECTIVE: ObjectiveInfo = metrics::OBJECTIVE;
    const DEFAULT_METHOD: &'static str = "auto";
    const PREVIEW_METHOD: &'static str = "shortest-path";
    const METRICS: &'static [MetricInfo] = metrics::METRICS;
    const SECTIONS: &'static [SectionInfo] = crate::report::SECTIONS;
    const SWEEPS: SweepInfo = SweepInfo::over(
        &["output_buffer_bytes", "chunks_per_rank", "epoch_multiplier"],
        &["size", "chunks", "epoch", "other parameter"],
    );
    const TERMS: &'static [Term] = terms::TERMS;

    type Scenario = CollectiveScenario;
    type Result = CollectiveResult;

    fn read_scenario(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<CollectiveScenario> {
        CollectiveScenario::of_fields(fields, problems)
    }

    fn read_result(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<CollectiveResult> {
        CollectiveResult::of_fields(fields, problems)
    }

    fn validate(scenario: &CollectiveScenario) -> Result<(), Problems> {
        scenario.validate()
    }

    fn table() -> Option<&'static Knobs<Self::Scenario>> {
        Some(&KNOBS)
    }

    fn covers_all(covers: &str) -> bool {
        [0.0, 1.0].into_iter().any(|alpha_threshold| covers == floor_covers(alpha_threshold))
    }

    fn check(plan: &Plan<Self>, _depth: Depth) -> Verdict {
        let envelope = ScheduleEnvelope {
            value: plan.objective.value,
            bound: plan.objective.bound,
            bound_covers: plan.provenance.bound_covers(),
            metrics: &plan.metrics,
        };
        let (scenario, result) = (&plan.scenario.body, &plan.result);
        let mut verdict = check::check(scenario, result, &envelope);
        verdict.violations.extend(check::methods::violations(scenario, result, &plan.method, plan.status));
        verdict
    }

    /// Converts a plan to a changed scenario. The plan stays valid if only names change, but not if sizes or links
    /// change.
    fn carry(
        result: &CollectiveResult,
        from: &CollectiveScenario,
        to: &CollectiveScenario,
    ) -> Result<Carried<CollectiveResult>, String> {
        crate::compose::carry(result, from, to)
    }

    fn caveat(plan: &Plan<Self>) -> Option<String> {
        let reduced = crate::report::not_reduced(&plan.scenario.body, &plan.result);
        let said = [crate::report::latencies_left_out(&plan.result), reduced];
        let said: Vec<String> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    fn report<'a>(
        scenario: &'a Scenario<Self>,
        plan: Option<&'a Plan<Self>>,
    ) -> Result<Box<dyn Report + 'a>, Problems> {
        Ok(Box::new(CollectiveReport::new(scenario, plan)))
    }

    fn graph(plan: &Plan<Self>) -> Option<Graph> {
        let topology = &plan.scenario.body.topology;
        let link = |link: &LinkRecord| GraphLink {
            from: link.from,
            to: link.to,
            capacity_gbps: 8.0 * link.capacity_gbyte_per_s / link.beta_scale,
            latency_s: link.alpha_us * link.alpha_scale * 1e-6,
        };
        Some(Graph {
            nodes: topology.nodes.iter().map(|node| node.name.clone()).collect(),
            switches: topology
                .nodes
                .iter()
                .filter(|node| node.kind == NodeSort::Switch)
                .map(|node| node.id)
                .collect(),
            links: topology.links.iter().map(link).collect(),
            left_out: Vec::new(),
        })
    }
}
