//! The built-in jobs: figures of an independent prototype, reproduced from the full graph and the plain simulator.

use super::support::{Scenario, job_case, preset, simulated};
use crate::check::nics::nic_groups;
use crate::check::replay::replay;
use crate::check::walk::critical_communication_s;

/// Name, ideal makespan and communication on the ideal critical path in seconds.
const IDEAL: [(&str, f64, f64); 8] = [
    ("tiny4", 0.449082, 0.055952),
    ("tiny8", 0.675070, 0.057294),
    ("tiny32", 2.030997, 0.065347),
    ("small", 0.351051, 0.026193),
    ("megatron_177b", 12.801242, 0.414229),
    ("mixtral_8x22b", 11.331479, 0.167198),
    ("megatron_462b", 32.957843, 0.455344),
    ("deepseek_671b", 12.045428, 0.421554),
];

#[test]
fn ideal_runs() {
    for (name, makespan_s, communication_s) in IDEAL {
        let case = job_case(&preset(name));
        let run = replay(&case, &nic_groups(&case), None).unwrap();
        let found = critical_communication_s(&case, &run).unwrap();
        assert!((run.makespan_s - makespan_s).abs() < 1e-6, "{name}: {}", run.makespan_s);
        assert!((found - communication_s).abs() < 1e-6, "{name}: {found}");
    }
}

#[test]
fn fair_runs_of_known_topologies() {
    let cases: [(&str, &[u32], f64); 14] = [
        ("tiny4", &[1, 3, 3], 1.0901),
        ("tiny8", &[1, 3, 3], 1.1114),
        ("tiny32", &[1, 3, 3], 1.2209),
        ("tiny32", &[2, 2, 2], 1.1699),
        ("small", &[1, 1, 1, 3, 3, 3, 3], 1.4965),
        ("megatron_177b", &[1, 1, 7, 7, 7], 1.2902),
        ("megatron_177b", &[2, 2, 7, 6, 7], 1.1687),
        ("mixtral_8x22b", &[2, 2, 2, 14, 12, 12, 14], 1.6371),
        ("mixtral_8x22b", &[4, 3, 4, 12, 9, 9, 12], 1.3829),
        ("mixtral_8x22b", &[4, 4, 4, 12, 8, 8, 12], 1.2585),
        ("megatron_462b", &[4, 4, 4, 14, 12, 12, 14], 1.1078),
        ("megatron_462b", &[6, 6, 6, 13, 10, 10, 13], 1.0359),
        ("deepseek_671b", &[5, 5, 5, 27, 22, 22, 27], 1.1175),
        ("deepseek_671b", &[9, 9, 9, 23, 14, 14, 23], 1.3635),
    ];
    for (name, circuits, nct) in cases {
        let plan = simulated(&Scenario::Job(preset(name)), circuits);
        let found = plan.result.nct.unwrap();
        assert!((found - nct).abs() < 6e-5, "{name} {circuits:?}: {found}");
    }
}

#[test]
fn a_plan_for_the_wrong_machine_fails() {
    let plan = simulated(&Scenario::Job(preset("megatron_177b")), &[2, 2, 7, 6, 7]);
    let mut job = preset("megatron_177b");
    job.run.bandwidth_gbps = 200.0;
    let moved = super::support::Whole { scenario: Scenario::Job(job), ..plan };
    assert!(!moved.codes().is_empty());
}
