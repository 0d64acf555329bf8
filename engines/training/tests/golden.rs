//! The acceptance figures of the engine: presets at their defaults, sweeps, ports.
#![allow(clippy::unwrap_used, clippy::panic)] // a failed unwrap is a failed test

use lightbay_core::watch::Unwatched;
use lightbay_training::TrainingScenario;
use lightbay_training::programs::circuit_bounds::circuit_bounds;
use lightbay_training::scenario::job::{Job, PortsPerPod};
use lightbay_training::scenario::presets;
use lightbay_training::search::allocations::{self, VectorTask};
use lightbay_training::search::baselines::Baseline;
use lightbay_training::search::circuits::Circuits;
use lightbay_training::search::ports;
use lightbay_training::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_training::simulate::windows::Windows;

struct Case {
    evaluator: Evaluator,
    caps: Vec<u32>,
    baselines: [f64; 3],
}

impl Case {
    fn new(preset: &str, bandwidth_gbps: f64, seq: u32) -> Self {
        let mut job = presets::job(preset).unwrap().job();
        job.run.bandwidth_gbps = bandwidth_gbps;
        job.run.seq = seq;
        Self::of(&job)
    }

    fn of(job: &Job) -> Self {
        let scenario = TrainingScenario::Job(job.clone());
        let evaluator = Evaluator::new(&scenario.build().unwrap().instance).unwrap();
        let mut scratch = Scratch::default();
        let baselines = Baseline::ALL.map(|baseline| {
            evaluator.makespan(&baseline.allocate(&evaluator.network), Rates::Fair, &mut scratch)
        });
        let limit = baselines.into_iter().fold(f64::INFINITY, f64::min) * (1.0 + 1e-4);
        let caps = circuit_bounds(&evaluator.network, &Windows::new(&evaluator.network, limit));
        Self { evaluator, caps, baselines }
    }

    fn best(&self, rates: Rates) -> Circuits {
        let proof = allocations::search(self.task(rates), None, &mut Unwatched::default()).unwrap();
        let found = proof.best.unwrap();
        assert_eq!(proof.bound, found.makespan);
        found
    }

    fn task(&self, rates: Rates) -> VectorTask<'_> {
        VectorTask::new(&self.evaluator, rates, &self.caps)
    }

    fn nct(&self, makespan: f64) -> f64 {
        self.evaluator.ideal.nct(makespan).unwrap()
    }
}

fn assert_digits(what: &str, value: f64, expected: f64, digits: i32) {
    // Within one unit of the last printed digit.
    let unit = 10f64.powi(-digits);
    assert!((value - expected).abs() <= unit * 1.0001, "{what}: {value}, expected {expected}");
}

/// name, ideal makespan, ideal communication, NCT of prop, sqrt, halve, fair, joint, makespan fair, joint.
type Row = (&'static str, f64, f64, [f64; 3], f64, f64, f64, f64);

const DEFAULTS: [Row; 8] = [
    ("tiny4", 0.449082, 0.055952, [1.0901; 3], 1.0901, 1.0240, 0.454125, 0.450424),
    ("tiny8", 0.675070, 0.057294, [1.1114; 3], 1.1114, 1.0469, 0.681455, 0.677754),
    ("tiny32", 2.030997, 0.065347, [1.2209; 3], 1.1699, 1.1643, 2.042099, 2.041735),
    ("small", 0.351051, 0.026193, [1.4965; 3], 1.2147, 1.1281, 0.356674, 0.354406),
    ("megatron_177b", 12.801242, 0.414229, [1.2902, 1.1687, 1.1687], 1.1622, 1.0691, 12.868430, 12.829852),
    ("mixtral_8x22b", 11.331479, 0.167198, [1.6371, 1.3829, 1.2585], 1.1897, 1.1157, 11.363199, 11.350826),
    ("megatron_462b", 32.957843, 0.455344, [1.7544, 1.1078, 1.0359], 1.0000, 1.0000, 32.957843, 32.957843),
    ("deepseek_671b", 12.045428, 0.421554, [1.5464, 1.1175, 1.3635], 1.0390, 1.0247, 12.061849, 12.055830),
];

#[test]
fn presets_at_their_defaults() {
    for (name, ideal, comm, baselines, fair, joint, fair_s, joint_s) in DEFAULTS {
        let case = Case::new(name, 400.0, 4096);
        assert_digits(&format!("{name} ideal"), case.evaluator.ideal.makespan(), ideal, 6);
        assert_digits(&format!("{name} comm"), case.evaluator.ideal.path.comm, comm, 6);
        for (value, expected) in case.baselines.into_iter().zip(baselines) {
            assert_digits(&format!("{name} baseline"), case.nct(value), expected, 4);
        }
        for (rates, nct, makespan) in [(Rates::Fair, fair, fair_s), (Rates::Level, joint, joint_s)] {
            let found = case.best(rates);
            assert_digits(&format!("{name} {rates:?} {:?}", found.x), found.makespan, makespan, 6);
            assert_digits(&format!("{name} {rates:?} NCT"), case.nct(found.makespan), nct, 4);
        }
    }
}

#[test]
fn useful_circuits_of_presets() {
    let expected: [(&str, &[u32]); 8] = [
        ("tiny4", &[2, 4, 4]),
        ("tiny8", &[2, 4, 4]),
        ("tiny32", &[2, 4, 4]),
        ("small", &[4; 7]),
        ("megatron_177b", &[8; 5]),
        ("mixtral_8x22b", &[8, 8, 8, 16, 16, 16, 16]),
        ("megatron_462b", &[8, 8, 8, 16, 16, 16, 16]),
        ("deepseek_671b", &[8, 8, 8, 32, 32, 32, 32]),
    ];
    for (name, caps) in expected {
        assert_eq!(Case::new(name, 400.0, 4096).caps, caps, "{name}");
    }
}

#[test]
fn baselines_of_presets() {
    let expected: [(&str, [&[u32]; 3]); 6] = [
        ("tiny4", [&[1, 3, 3]; 3]),
        ("small", [&[1, 1, 1, 3, 3, 3, 3]; 3]),
        ("megatron_177b", [&[1, 1, 7, 7, 7], &[2, 2, 7, 6, 7], &[2, 2, 7, 6, 7]]),
        ("mixtral_8x22b", [&[2, 2, 2, 14, 12, 12, 14], &[4, 3, 4, 12, 9, 9, 12], &[4, 4, 4, 12, 8, 8, 12]]),
        (
            "megatron_462b",
            [&[1, 1, 1, 15, 15, 15, 15], &[4, 4, 4, 14, 12, 12, 14], &[6, 6, 6, 13, 10, 10, 13]],
        ),
        (
            "deepseek_671b",
            [&[2, 2, 2, 30, 28, 28, 30], &[5, 5, 5, 27, 22, 22, 27], &[9, 9, 9, 23, 14, 14, 23]],
        ),
    ];
    for (name, vectors) in expected {
        let case = Case::new(name, 400.0, 4096);
        for (baseline, expected) in Baseline::ALL.into_iter().zip(vectors) {
            assert_eq!(baseline.allocate(&case.evaluator.network), expected, "{name} {}", baseline.name());
        }
    }
}

#[test]
fn fewest_ports_of_presets() {
    for (name, fair, joint) in [
        ("tiny4", 7, 7),
        ("tiny8", 7, 7),
        ("small", 30, 28),
        ("megatron_177b", 44, 42),
        ("mixtral_8x22b", 57, 58),
        ("megatron_462b", 94, 86),
        ("deepseek_671b", 109, 105),
    ] {
        let case = Case::new(name, 400.0, 4096);
        for (rates, expected) in [(Rates::Fair, fair), (Rates::Level, joint)] {
            let best = case.best(rates);
            let fewest = ports::fewest(case.task(rates), &best, &mut Unwatched::default()).unwrap();
            assert_eq!(fewest.found.ports, expected, "{name} {rates:?} {:?}", fewest.found.x);
            assert!(fewest.proven && fewest.found.makespan <= best.makespan * (1.0 + ports::TOLERANCE));
        }
    }
}

/// NCT of the best baseline, fair, joint.
type Cell = [f64; 3];

fn assert_sweep(name: &str, cells: [(f64, u32, Cell); 6]) {
    for (bandwidth, seq, expected) in cells {
        let case = Case::new(name, bandwidth, seq);
        let values = [
            case.baselines.into_iter().fold(f64::INFINITY, f64::min),
            case.best(Rates::Fair).makespan,
            case.best(Rates::Level).makespan,
        ];
        for (value, expected) in values.into_iter().zip(expected) {
            assert_digits(&format!("{name} at {bandwidth} Gb/s, seq {seq}"), case.nct(value), expected, 4);
        }
    }
}

#[test]
fn sweep_of_megatron_177b() {
    assert_sweep(
        "megatron_177b",
        [
            (200.0, 4096, [1.1955, 1.1907, 1.0883]),
            (800.0, 4096, [1.1150, 1.0845, 1.0182]),
            (1600.0, 4096, [1.0911, 1.0101, 1.0101]),
            (400.0, 2048, [1.2143, 1.1502, 1.0473]),
            (400.0, 8192, [1.1973, 1.1034, 1.0354]),
            (400.0, 16384, [1.1856, 1.0371, 1.0371]),
        ],
    );
}

#[test]
fn sweep_of_mixtral_8x22b() {
    assert_sweep(
        "mixtral_8x22b",
        [
            (200.0, 4096, [1.3626, 1.3498, 1.2474]),
            (800.0, 4096, [1.2047, 1.0631, 1.0631]),
            (1600.0, 4096, [1.2047, 1.0275, 1.0275]),
            (400.0, 2048, [1.2920, 1.2866, 1.1701]),
            (400.0, 8192, [1.3278, 1.1047, 1.1047]),
            (400.0, 16384, [1.3044, 1.0682, 1.0682]),
        ],
    );
}

#[test]
fn sweep_of_megatron_462b() {
    assert_sweep(
        "megatron_462b",
        [
            (200.0, 4096, [1.1104, 1.1071, 1.0000]),
            (800.0, 4096, [1.0359, 1.0000, 1.0000]),
            (1600.0, 4096, [1.0359, 1.0000, 1.0000]),
            (400.0, 2048, [1.0990, 1.0972, 1.0000]),
            (400.0, 8192, [1.0278, 1.0000, 1.0000]),
            (400.0, 16384, [1.0465, 1.0000, 1.0000]),
        ],
    );
}

#[test]
fn sweep_of_deepseek_671b() {
    assert_sweep(
        "deepseek_671b",
        [
            (200.0, 4096, [1.2033, 1.1834, 1.1417]),
            (800.0, 4096, [1.0298, 1.0157, 1.0000]),
            (1600.0, 4096, [1.0000, 1.0000, 1.0000]),
            (400.0, 2048, [1.1318, 1.1272, 1.0950]),
            (400.0, 8192, [1.0220, 1.0000, 1.0000]),
            (400.0, 16384, [1.0000, 1.0000, 1.0000]),
        ],
    );
}

#[test]
fn the_paper_topology_of_megatron_462b() {
    let case = Case::new("megatron_462b", 400.0, 4096);
    let best = case.best(Rates::Level);
    assert_eq!((&best.x[..3], best.x[3]), (&[8, 8, 8][..], 12));
}

#[test]
fn event_times_of_ideal_runs() {
    for (name, intervals) in [
        ("tiny4", 20),
        ("tiny8", 28),
        ("small", 120),
        ("megatron_177b", 210),
        ("mixtral_8x22b", 408),
        ("megatron_462b", 819),
        ("deepseek_671b", 819),
    ] {
        let case = Case::new(name, 400.0, 4096);
        assert_eq!(case.evaluator.ideal.trace.event_times().len() - 1, intervals, "{name}");
    }
}

#[test]
fn few_vectors_are_evaluated_before_the_proof() {
    for (name, total, most) in [
        ("tiny4", 2, 1),
        ("small", 45, 1),
        ("megatron_177b", 61, 5),
        ("mixtral_8x22b", 497, 1),
        ("megatron_462b", 512, 1),
        ("deepseek_671b", 512, 3),
    ] {
        let case = Case::new(name, 400.0, 4096);
        let proof = allocations::search(case.task(Rates::Level), None, &mut Unwatched::default()).unwrap();
        assert_eq!(proof.total, Some(total), "{name}");
        assert!(proof.evaluated <= most, "{name}: {} evaluated", proof.evaluated);
    }
}

#[test]
fn surplus_ports_help_the_reversed_job() {
    for (name, before, after) in [
        ("megatron_177b", [1.1622, 1.0691], [1.0304, 1.0304]),
        ("mixtral_8x22b", [1.1897, 1.1157], [1.1157, 1.1157]),
        ("deepseek_671b", [1.0390, 1.0247], [1.0000, 1.0000]),
    ] {
        for (index, rates) in [Rates::Fair, Rates::Level].into_iter().enumerate() {
            let case = Case::new(name, 400.0, 4096);
            let best = case.best(rates);
            let fewest = ports::fewest(case.task(rates), &best, &mut Unwatched::default()).unwrap();
            let budget = &case.evaluator.network.budget;
            let free = budget.free(&fewest.found.x);
            let own: Vec<(u32, i64)> =
                (0..budget.pods()).filter_map(|pod| Some((budget.ports(pod)?, free[pod]))).collect();
            let mut reversed = presets::job(name).unwrap().job();
            reversed.reverse = true;
            // Pods keep their place; the reversed job gets what the first leaves in each.
            let ports: Vec<u32> = own.iter().map(|(ports, surplus)| ports + *surplus as u32).collect();
            let plain = Case::of(&reversed);
            assert_digits(
                &format!("{name} {rates:?} before"),
                plain.nct(plain.best(rates).makespan),
                before[index],
                4,
            );
            reversed.ports_per_pod = Some(PortsPerPod::ByPosition(ports));
            let richer = Case::of(&reversed);
            assert_digits(
                &format!("{name} {rates:?} after"),
                richer.nct(richer.best(rates).makespan),
                after[index],
                4,
            );
        }
    }
}
