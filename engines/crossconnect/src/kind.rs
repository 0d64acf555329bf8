//! The kind `crossconnect`: connects scenario, result, checker and hot starts to the traits of `lightbay_core`.

mod listed;
mod metrics;
mod named;
mod terms;

use crate::Crossconnect;
use crate::check::{self, Envelope};
use crate::files::handover::failed_numbers;
use crate::model::assignment::Assignment;
use crate::model::task::Task;
use crate::plan::{Action, Changes, CrossconnectResult};
use crate::report::CrossconnectReport;
use crate::rollout::assemble;
use crate::scenario::{CrossconnectScenario, KNOBS, Side, Wiring};
use crate::search::start::fitted;
use lightbay_core::checked::Verdict;
use lightbay_core::exchange::{CircuitMatrix, CircuitPlaces, PlacedCircuit, PlacedPort};
use lightbay_core::kind::{Carried, Depth, Kind, ObjectiveInfo, SweepInfo};
use lightbay_core::metric::MetricInfo;
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problems, counted};
use lightbay_core::read::Fields;
use lightbay_core::record::Knobs;
use lightbay_core::report::differences::Differences;
use lightbay_core::report::{Report, SectionInfo};
use lightbay_core::scenario::Scenario;
use lightbay_core::term::Term;
use lightbay_core::watch::Unwatched;
use std::collections::BTreeMap;

impl Kind for Crossconnect {
    const NAME: &'static str = "crossconnect";
    const OBJECTIVE: ObjectiveInfo = metrics::OBJECTIVE;
    const DEFAULT_METHOD: &'static str = "auto";
    const PREVIEW_METHOD: &'static str = "lumos-polish";

    const METRICS: &'static [MetricInfo] = metrics::METRICS;

    const SECTIONS: &'static [SectionInfo] = crate::report::SECTIONS;
    const SWEEPS: SweepInfo = SweepInfo::over(
        &["changed_percent", "max_dark_per_pod", "min_pair_share", "instance_seed"],
        &["share that changes", "dark circuits", "share of pairs", "seed", "other parameter"],
    );
    const TERMS: &'static [Term] = terms::TERMS;

    type Scenario = CrossconnectScenario;
    type Result = CrossconnectResult;

    fn read_scenario(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<CrossconnectScenario> {
        CrossconnectScenario::read(fields, problems)
    }

    fn read_result(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<CrossconnectResult> {
        CrossconnectResult::read(fields, problems)
    }

    fn other_question(method: &str) -> Option<&'static str> {
        (method == crate::methods::ORDER)
            .then_some("it divides an all-to-all into phases and changes no circuit, so it has no removals")
    }

    fn validate(scenario: &CrossconnectScenario) -> Result<(), Problems> {
        scenario.validate()
    }

    fn table() -> Option<&'static Knobs<Self::Scenario>> {
        Some(&KNOBS)
    }

    fn check(plan: &Plan<Self>, depth: Depth) -> Verdict {
        if let Some(violation) = check::of_method(&plan.result, &plan.method) {
            return Verdict::refused(vec![violation]);
        }
        let envelope = Envelope {
            value: plan.objective.value,
            bound: plan.objective.bound,
            bound_covers: plan.provenance.bound_covers(),
            method: &plan.method,
            metrics: &plan.metrics,
        };
        check::check(&plan.scenario.body, &plan.result, &envelope, depth)
    }

    fn carry(
        result: &CrossconnectResult,
        from: &CrossconnectScenario,
        to: &CrossconnectScenario,
    ) -> Result<Carried<CrossconnectResult>, String> {
        carry(result, from, to)
    }

    fn caveat(plan: &Plan<Self>) -> Option<String> {
        crate::rollout::caveat::of(&plan.scenario.body, plan.result.changes()?, &plan.metrics)
    }

    fn report<'a>(
        scenario: &'a Scenario<Self>,
        plan: Option<&'a Plan<Self>>,
    ) -> Result<Box<dyn Report + 'a>, Problems> {
        Ok(Box::new(CrossconnectReport::new(scenario, plan)))
    }

    fn differences(a: &Plan<Self>, b: &Plan<Self>) -> Differences {
        crate::report::differences::of(a, b)
    }

    fn circuits(plan: &Plan<Self>) -> Option<CircuitMatrix> {
        Some(circuits(&plan.scenario.body, plan.result.changes()?))
    }
}

/// Converts a plan to another scenario with the same number of pods. An order of phases stays as it is. Circuits keep
/// their switches and ports if they fit the other scenario and belong to its target; the remaining target circuits are
/// placed around them. If the other scenario gives its circuits port by port, the result has these circuits.
fn carry(
    result: &CrossconnectResult,
    from: &CrossconnectScenario,
    to: &CrossconnectScenario,
) -> Result<Carried<CrossconnectResult>, String> {
    if from.pods != to.pods {
        return Err(format!("the plan is for {} pods, but the scenario has {}", from.pods, to.pods));
    }
    let changes = match result {
        CrossconnectResult::Changes(changes) => changes,
        CrossconnectResult::Order(order) => {
            let candidate = assemble::order(to, order.clone());
            return Ok(Carried { candidate, repairs: Vec::new() });
        }
    };
    if to.is_placed() {
        let candidate = assemble::candidate(to, &Assignment::default());
        let moved = assemble::target(from, changes)
            != assemble::target(to, candidate.result.changes().unwrap_or(changes));
        let repairs =
            moved.then(|| "the circuits come from the scenario, which lists them port by port".to_owned());
        return Ok(Carried { candidate, repairs: repairs.into_iter().collect() });
    }
    let task = Task::of(to);
    let start = task.part(&assemble::target(from, changes));
    let misfit = task.misfit(&start);
    let found = fitted(&task, &start, &mut Unwatched::default()).map_err(|error| error.to_string())?;
    match (found, misfit) {
        (Some(found), misfit) => {
            let candidate = assemble::candidate(to, &task.assignment(&found));
            let repairs = misfit.map(|why| {
                let moved = counted(found.lacks(&start), "circuit was", "circuits were");
                format!("{why}: {moved} moved or dropped")
            });
            Ok(Carried { candidate, repairs: repairs.into_iter().collect() })
        }
        (None, why) => {
            Err(format!("the plan cannot be adapted to this scenario: {}", why.unwrap_or_default()))
        }
    }
}

/// Returns the circuits after the change, with their switches and ports, and the number of ports of every pod. For
/// switches without sides, switches and ports are left out, because the format needs an A port and a B port for each
/// circuit.
fn circuits(scenario: &CrossconnectScenario, changes: &Changes) -> CircuitMatrix {
    let mut counts: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let target = assemble::target(scenario, changes);
    for cell in target.ocs.iter().flatten().filter(|cell| cell.a != cell.b) {
        *counts.entry((cell.a.min(cell.b), cell.a.max(cell.b))).or_default() += cell.count;
    }
    let ports = |pod: usize| -> u32 {
        let of = |side| (0..scenario.ocs_count as usize).map(move |ocs| scenario.ports(side, pod, ocs));
        of(Side::A).chain(of(Side::B)).sum()
    };
    let pods = 0..scenario.pods as usize;
    let has_places = scenario.wiring != Wiring::SingleSided;
    CircuitMatrix {
        pods: pods.clone().map(|pod| scenario.pod_name(pod)).collect(),
        ports_per_pod: pods.map(ports).collect(),
        circuits: counts.into_iter().map(|((a, b), count)| (a, b, count)).collect(),
        circuit_gbps: None,
        failed_ports: if has_places { Vec::new() } else { failed_numbers(scenario) },
        places: has_places.then(|| places(scenario, changes)),
        left_out: vec!["the batches of the change".to_owned()],
    }
}

fn places(scenario: &CrossconnectScenario, changes: &Changes) -> CircuitPlaces {
    let staying = changes.ocs.iter().flat_map(|ocs| {
        let entries = ocs.cross_connects.iter().filter(|entry| entry.action != Action::Remove);
        entries.map(move |entry| PlacedCircuit {
            switch: ocs.ocs_id,
            pod_a: entry.pod_a,
            port_a: entry.port_a_index,
            pod_b: entry.pod_b,
            port_b: entry.port_b_index,
        })
    });
    let failed = scenario.failed_ports.iter().map(|port| PlacedPort {
        switch: port.ocs_id,
        pod: port.pod,
        side_b: port.side == Side::B,
        port: port.port_index,
    });
    CircuitPlaces {
        ports_a: scenario.ports_a.clone(),
        ports_b: scenario.ports_b.clone(),
        sides: ["the A ports", "the B ports"].map(str::to_owned),
        circuits: staying.collect(),
        failed_ports: failed.collect(),
        fixed: scenario.is_placed(),
        single_sided: false,
        before: None,
    }
}

#[cfg(test)]
mod tests;
