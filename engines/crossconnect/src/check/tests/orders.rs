//! Orders of all-to-all phases, written down by hand and by the rules' formulas.

use super::support::Case;
use crate::check::code;
use crate::plan::{CrossconnectResult, PhaseOrder, PhaseRule};

fn case(pods: u32, order: PhaseOrder) -> Case {
    let mut case = Case::example();
    case.scenario.pods = pods;
    case.result = CrossconnectResult::Order(order);
    case.value = 0.0;
    case
}

/// N = 1, P = 3: in phase t GPU g sends to g + t - 1.
fn ring() -> PhaseOrder {
    PhaseOrder {
        rule: PhaseRule::Corrected,
        gpus_per_pod: 1,
        phases: vec![vec![0, 1, 2], vec![1, 2, 0], vec![2, 0, 1]],
        max_flows_per_pod_pair: 1,
        contended_phases: 0,
    }
}

/// N = 2, P = 4 by the corrected rule, the first three phases as published.
fn eight() -> PhaseOrder {
    let phases = vec![
        vec![0, 3, 2, 5, 4, 7, 6, 1],
        vec![1, 2, 3, 4, 5, 6, 7, 0],
        vec![2, 5, 4, 7, 6, 1, 0, 3],
        vec![3, 4, 5, 6, 7, 0, 1, 2],
        vec![4, 7, 6, 1, 0, 3, 2, 5],
        vec![5, 6, 7, 0, 1, 2, 3, 4],
        vec![6, 1, 0, 3, 2, 5, 4, 7],
        vec![7, 0, 1, 2, 3, 4, 5, 6],
    ];
    PhaseOrder {
        rule: PhaseRule::Corrected,
        gpus_per_pod: 2,
        phases,
        max_flows_per_pod_pair: 1,
        contended_phases: 0,
    }
}

/// N = 4, P = 2 by the printed rule: the first phase is [0,4,0,4],[5,1,5,1], and every other one is that, moved on.
fn printed() -> PhaseOrder {
    let first = [0, 4, 0, 4, 5, 1, 5, 1];
    PhaseOrder {
        rule: PhaseRule::Printed,
        gpus_per_pod: 4,
        phases: (0..8).map(|phase| first.iter().map(|to| (to + phase) % 8).collect()).collect(),
        max_flows_per_pod_pair: 2,
        contended_phases: 8,
    }
}

#[test]
fn sound_orders_pass() {
    case(3, ring()).assert_passes();
    case(4, eight()).assert_passes();
    // Two of four go to each pod in every phase, and two of them meet.
    case(2, printed()).assert_passes();
}

#[test]
fn damaged_orders_are_found_out() {
    let damaged = |change: fn(&mut PhaseOrder)| {
        let mut order = eight();
        change(&mut order);
        case(4, order)
    };
    damaged(|order| order.phases[2][0] = 5).assert_codes(&[
        code::PHASES,
        code::RECEIVER,
        code::PAIR,
        code::FLOWS,
    ]);
    damaged(|order| order.phases.swap(0, 1)).assert_codes(&[code::PHASES]);
    damaged(|order| order.rule = PhaseRule::Printed).assert_codes(&[code::PHASES]);
    damaged(|order| order.max_flows_per_pod_pair = 2).assert_codes(&[code::FLOWS]);
    damaged(|order| order.contended_phases = 1).assert_codes(&[code::FLOWS]);
    damaged(|order| {
        order.phases.pop();
    })
    .assert_codes(&[code::PHASES]);
    damaged(|order| {
        order.phases[3].pop();
    })
    .assert_codes(&[code::PHASES]);
    damaged(|order| order.phases[3][3] = 8).assert_codes(&[code::PHASES]);
    damaged(|order| order.gpus_per_pod = 0).assert_codes(&[code::PHASES]);
    damaged(|order| order.gpus_per_pod = u32::MAX).assert_codes(&[code::PHASES]);
    case(4, eight()).with(|case| case.value = 1.0).assert_codes(&[code::REMOVED]);
    case(4, eight()).with(|case| case.metric("phases", 7.0)).assert_codes(&[code::METRICS]);
    case(4, eight()).with(|case| case.metric("contended_phases", 1.0)).assert_codes(&[code::METRICS]);
    case(4, eight()).with(|case| case.metric("max_flows_per_pod_pair", 1.0)).assert_passes();
    case(4, eight()).with(|case| case.metric("pod_pairs_short_of_circuits", 0.0)).assert_passes();
    case(4, eight())
        .with(|case| case.metric("pod_pairs_short_of_circuits", 1.0))
        .assert_codes(&[code::METRICS]);
}
