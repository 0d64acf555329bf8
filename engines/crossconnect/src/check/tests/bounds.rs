//! Bounds that are proven again, or that a better plan refutes.

use super::support::Case;
use crate::check::code;
use crate::model::task::{Task, merged};
use crate::programs::exact::{ExactProgram, Orientation};
use crate::rollout::assemble;
use crate::scenario::presets;
use crate::scenario::{CrossconnectScenario, Family, Placed, Port, Side};
use lightbay_core::checked::BoundTrust;
use lightbay_core::kind::Depth;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;

/// The plan of a scenario that removes least, in any orientation or in one.
fn best(
    scenario: CrossconnectScenario,
    of: impl Fn(&Task) -> Option<Vec<crate::model::assignment::Cell>>,
) -> Case {
    let task = Task::of(&scenario);
    let cells = of(&task);
    let orientation = cells.as_deref().map_or(Orientation::Joint, Orientation::Fixed);
    let program = ExactProgram::new(&task, orientation);
    let options = Options::new().set("mip_abs_gap", 0.0).set("mip_rel_gap", 0.0);
    let found = solve_here(program.model(), &options, &Start::None, &mut NoListener).unwrap();
    let plan = program.assignment(&found.values.unwrap());
    let candidate = assemble::candidate(&scenario, &task.assignment(&plan));
    Case {
        scenario,
        result: candidate.result,
        value: candidate.value,
        bound: None,
        bound_covers: None,
        metrics: candidate.metrics,
        filled: false,
    }
}

/// Some random instances, one with a failed port and one with a pinned circuit.
fn scenarios() -> Vec<CrossconnectScenario> {
    let random = |seed| presets::random(6, 4, Family { changed_percent: 40, instance_seed: seed });
    let mut scenarios: Vec<_> = (1..5).map(random).collect();
    // One circuit fewer is wanted, so that a port may fail.
    let circuit = scenarios[0].installed.ocs[0].cross_connects[0];
    let (a, b) = (circuit.pod_a as usize, circuit.pod_b as usize);
    let failing = &mut scenarios[0];
    if failing.logical_circuits[a][b] > 0 {
        failing.logical_circuits[a][b] -= 1;
        failing.logical_circuits[b][a] -= 1;
        let (pod, port_index) = (circuit.pod_a, circuit.port_a_index);
        failing.failed_ports.push(Port { ocs_id: 0, pod, side: Side::A, port_index });
    }
    let pinning = &mut scenarios[1];
    let staying = pinning.installed.ocs.iter().find_map(|ocs| {
        let wanted = |pod_a: u32, pod_b: u32| pinning.logical_circuits[pod_a as usize][pod_b as usize] > 0;
        let circuit = ocs.cross_connects.iter().find(|circuit| wanted(circuit.pod_a, circuit.pod_b))?;
        Some(Placed { ocs_id: ocs.ocs_id, circuit: *circuit })
    });
    pinning.pinned.extend(staying);
    scenarios
}

#[test]
fn the_least_that_any_plan_removes_is_proven_again() {
    let mut beyond_counting = 0;
    for scenario in scenarios() {
        let case = best(scenario, |_| None);
        case.assert_passes();
        let counted = case.verdict().verified.unwrap().value;
        beyond_counting += u32::from(counted < case.value);
        // Every claim up to the optimum is confirmed, and what is confirmed is said without a claim as well.
        for claimed in [counted, case.value] {
            let verdict = case.with(|case| case.bound = Some(claimed)).verdict_at(Depth::EXACT);
            assert_eq!((verdict.violations, verdict.bound), (Vec::new(), BoundTrust::Verified));
        }
        let verified = case.verdict_at(Depth::EXACT).verified.unwrap();
        assert_eq!((verified.value, verified.gap), (case.value, 0.0));
        // In the usual depth the count of pairs is all that is confirmed.
        let usual = case.with(|case| case.bound = Some(case.value)).verdict();
        let expected = if counted < case.value { BoundTrust::Claimed } else { BoundTrust::Verified };
        assert_eq!((usual.bound, usual.verified.unwrap().value), (expected, counted));
    }
    assert!(beyond_counting > 0, "an example whose optimum is above the count of pairs");
}

#[test]
fn a_bound_that_a_better_plan_refutes_is_a_violation() {
    let mut refuted = 0;
    for scenario in scenarios() {
        // Nothing is kept on purpose: the plan of a scenario with nothing installed, put on the one that has.
        let mut green = scenario.clone();
        green.pinned.clear();
        green.installed.ocs.iter_mut().for_each(|ocs| ocs.cross_connects.clear());
        let task = Task::of(&scenario);
        let wasteful = best(green, |_| None);
        let changes = wasteful.result.changes().unwrap();
        let target = task.part(&assemble::target(&wasteful.scenario, changes));
        let candidate = assemble::candidate(&scenario, &task.assignment(&target));
        let least = best(scenario.clone(), |_| None).value;
        if !scenario.pinned.is_empty() || candidate.value <= least {
            continue;
        }
        refuted += 1;
        let mut case = Case { scenario, value: candidate.value, ..wasteful };
        (case.result, case.metrics) = (candidate.result, candidate.metrics);
        case.bound = Some(case.value);
        case.assert_passes();
        assert_eq!(case.verdict().bound, BoundTrust::Claimed);
        let violations = case.verdict_at(Depth::EXACT).violations;
        assert_eq!(violations.iter().map(|found| found.code).collect::<Vec<_>>(), [code::BOUND]);
        let honest = case.with(|case| case.bound = None).verdict_at(Depth::EXACT);
        assert_eq!((honest.violations, honest.bound), (Vec::new(), BoundTrust::None));
    }
    assert!(refuted > 0, "an example that can be done better");
}

#[test]
fn a_bound_on_one_orientation_is_proven_for_that() {
    for scenario in scenarios() {
        // The orientation of what is best with nothing installed is not the one that keeps most.
        let mut green = scenario.clone();
        green.pinned.clear();
        green.installed.ocs.iter_mut().for_each(|ocs| ocs.cross_connects.clear());
        if !scenario.pinned.is_empty() {
            continue;
        }
        let chosen = best(green, |_| None);
        let target = assemble::target(&chosen.scenario, chosen.result.changes().unwrap());
        let oriented = |task: &Task| Some(merged(task.part(&target).ocs.into_iter().flatten()));
        let mut case = best(scenario, oriented);
        case.bound = Some(case.value);
        case.bound_covers = Some("plans with the orientation that was chosen first");
        let verdict = case.verdict_at(Depth::EXACT);
        assert_eq!((verdict.violations, verdict.bound), (Vec::new(), BoundTrust::Verified));
        case.bound_covers = Some("plans that I know");
        case.assert_codes(&[code::BOUND]);
    }
}
