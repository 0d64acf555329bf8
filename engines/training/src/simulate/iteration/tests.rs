#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{random_dag, tiny4, toy_a, toy_b};
use crate::simulate::iteration::ideal::ideal;
use crate::simulate::sinks::{Sink, Stretch};

fn run(instance: &crate::scenario::instance::Instance, x: &[u32], rule: Rule) -> Trace {
    let network = Network::new(instance).unwrap();
    let contention = Contention::new(&network);
    let mut trace = Trace::default();
    Simulator::new().run(&network, &contention, x, rule, Some(&mut trace));
    trace
}

fn assert_ms(times: &[f64], expected_ms: &[f64]) {
    assert_eq!(times.len(), expected_ms.len());
    for (index, (time, expected)) in times.iter().zip(expected_ms).enumerate() {
        assert!((time * 1e3 - expected).abs() < 1e-4, "{index}: {} ms, expected {expected}", time * 1e3);
    }
}

#[test]
fn two_transfers_on_one_link() {
    let instance = toy_a();
    for (x, fair, level) in [
        (3, [23.333333, 33.333333], [30.0, 30.0]),
        (2, [30.0, 40.0], [40.0, 40.0]),
        (1, [70.0, 80.0], [80.0, 80.0]),
    ] {
        assert_ms(&run(&instance, &[x], Rule::Fair).finish, &fair);
        assert_ms(&run(&instance, &[x], Rule::Level).finish, &level);
    }
    let ideal = run(&instance, &[1], Rule::Ideal);
    assert_ms(&ideal.finish, &[20.0, 30.0]);
}

#[test]
fn a_transfer_that_gives_way_has_an_idle_stretch() {
    let trace = run(&toy_a(), &[2], Rule::Level);
    let first: Vec<&Piece> = trace.pieces.iter().filter(|piece| piece.task == 0).collect();
    assert_eq!(first.len(), 3);
    assert!((first[0].volume - 1e9).abs() < 1.0);
    assert_eq!(first[1].volume, 0.0);
    assert_ms(&[first[1].start, first[1].end, first[2].end], &[10.0, 20.0, 40.0]);
}

#[test]
fn rounding_never_makes_a_piece_negative() {
    let network = Network::new(&toy_a()).unwrap();
    let sink = |task| Sink { task, release: 0.0, work: 0.02, flows: 2.0, tail: 0.0 };
    let stretch = |sink, start, end, speed| Stretch { sink, start, end, speed };
    // Task 0 sends 2e9 bytes and 0.002 too many within 20 ms; its last piece has room for 1e-7 bytes.
    let stretches = [
        stretch(0, 0.0, 0.02, 1.0 + 1e-12),
        stretch(1, 0.02, 0.04, 1.0),
        stretch(0, 0.04, 0.04 + 1e-12, 1e-6),
    ];
    let mut trace = Trace { start: vec![0.0; 2], finish: vec![0.0; 2], ..Trace::default() };
    trace.add_stretches(&network, &[sink(0), sink(1)], &stretches);
    let volumes: Vec<f64> = trace.pieces.iter().map(|piece| piece.volume).collect();
    assert!((volumes[0] - 2e9).abs() < 1e-6, "{volumes:?}");
    assert_eq!(volumes[1..], [2e9, 0.0]);
    assert_eq!(trace.finish, [0.04 + 1e-12, 0.04]);
}

#[test]
fn circuits_off_the_critical_path_do_not_help() {
    let instance = toy_b();
    for (x, starts, finishes) in [
        ([2, 1], [0.0, 20.0, 10.0], [10.0, 30.0, 40.0]),
        ([1, 2], [0.0, 30.0, 20.0], [20.0, 50.0, 35.0]),
        ([1, 1], [0.0, 30.0, 20.0], [20.0, 50.0, 50.0]),
    ] {
        for rule in [Rule::Fair, Rule::Level] {
            let trace = run(&instance, &x, rule);
            assert_ms(&trace.start, &starts);
            assert_ms(&trace.finish, &finishes);
        }
    }
    let network = Network::new(&instance).unwrap();
    let ideal = ideal(&network, &Contention::new(&network));
    assert_ms(&[ideal.makespan(), ideal.path.comm], &[30.0, 20.0]);
    assert_eq!(ideal.path.tasks, [0, 1]);
    assert_ms(&ideal.trace.event_times(), &[0.0, 10.0, 20.0, 25.0, 30.0]);
    assert!((ideal.nct(0.04).unwrap() - 1.5).abs() < 1e-9);
}

#[test]
fn the_smallest_preset_by_hand() {
    let instance = tiny4();
    let fair = run(&instance, &[1, 3, 3], Rule::Fair);
    assert_ms(
        &fair.finish,
        &[
            38.223893, 57.503611, 76.783329, 151.217849, 208.050371, 208.050371, 264.882893, 321.044327,
            343.339647, 374.936539, 410.615887, 454.124603,
        ],
    );
    let level = run(&instance, &[1, 3, 3], Rule::Level);
    assert_ms(&level.finish[8..], &[354.487307, 369.362709, 418.016635, 450.424228]);
    assert_ms(&level.finish[..8], &fair.finish.iter().take(8).map(|t| t * 1e3).collect::<Vec<_>>());
    let network = Network::new(&instance).unwrap();
    let ideal = ideal(&network, &Contention::new(&network));
    assert_ms(&[ideal.makespan(), ideal.path.comm], &[449.082051, 55.952015]);
    assert_eq!(ideal.path.tasks, [0, 3, 4, 7, 11]);
}

/// Asserts the invariants of every run, whatever the rule.
fn assert_sound(instance: &crate::scenario::instance::Instance, x: &[u32], rule: Rule, trace: &Trace) {
    let network = Network::new(instance).unwrap();
    let mut sent = vec![0.0; network.tasks()];
    for piece in &trace.pieces {
        assert!(piece.end > piece.start && piece.volume >= -1e-3);
        sent[piece.task as usize] += piece.volume;
    }
    for (task, sent) in sent.iter().enumerate() {
        assert!((sent - network.volume[task]).abs() < 1.0);
        for arc in network.preds.of(task as u32) {
            assert!(trace.start[task] >= trace.finish[arc.task as usize] + arc.delay - 1e-9);
        }
    }
    let mut cuts: Vec<f64> = trace.pieces.iter().flat_map(|piece| [piece.start, piece.end]).collect();
    cuts.sort_unstable_by(f64::total_cmp);
    cuts.dedup_by(|b, a| *b - *a < 1e-9);
    for pair in cuts.windows(2) {
        let middle = f64::midpoint(pair[0], pair[1]);
        let mut on_link = vec![0.0; network.carried.len()];
        let mut on_nic = vec![0.0; network.nic_groups.len()];
        for piece in trace.pieces.iter().filter(|piece| piece.start < middle && middle < piece.end) {
            let task = piece.task as usize;
            let rate = piece.volume / (piece.end - piece.start) / network.rate;
            assert!(rate <= network.flows[task] * (1.0 + 1e-6) + 1e-6);
            on_link[network.via[task] as usize] += rate;
            for &(group, weight) in &network.nics_of[task] {
                on_nic[group as usize] += rate / network.flows[task] * weight;
            }
        }
        for (via, load) in on_link.iter().enumerate() {
            assert!(rule == Rule::Ideal || *load <= f64::from(x[via / 2]) * (1.0 + 1e-5));
        }
        assert!(on_nic.iter().all(|load| *load <= 1.0 + 1e-5));
    }
}

#[test]
fn random_runs_are_sound_under_every_rule() {
    let mut shorter = 0;
    for seed in 0..150 {
        let instance = random_dag(seed);
        let x = [1 + (seed % 3) as u32, 3 - (seed % 3) as u32];
        let spans = [Rule::Ideal, Rule::Fair, Rule::Level].map(|rule| {
            let trace = run(&instance, &x, rule);
            assert_sound(&instance, &x, rule, &trace);
            trace.makespan
        });
        // Where NICs are shared, fair sharing on the ideal network may lose to priorities on a real one.
        let shared_nics = !Network::new(&instance).unwrap().nic_groups.is_empty();
        let least = spans[1].min(spans[2]);
        assert!(shared_nics || spans[0] <= least + 1e-9, "seed {seed}: {spans:?}");
        shorter += usize::from(spans[2] < spans[1] - 1e-9);
    }
    assert!(shorter > 75, "level-first should usually beat fair sharing, it did {shorter} times of 150");
}

#[test]
fn a_simulator_keeps_nothing_from_run_to_run() {
    let mut simulator = Simulator::new();
    for seed in 0..20 {
        let instance = random_dag(seed);
        let network = Network::new(&instance).unwrap();
        let contention = Contention::new(&network);
        let reused = simulator.run(&network, &contention, &[2, 2], Rule::Level, None);
        let fresh = Simulator::new().run(&network, &contention, &[2, 2], Rule::Level, None);
        assert_eq!(reused, fresh);
    }
}

#[test]
fn transfers_shorter_than_a_picosecond_are_told_apart() {
    // One and two bytes at 1.25e14 bytes per second on two flows each: 4e-15 s and 8e-15 s alone, on three circuits.
    let mut instance = toy_a();
    instance.nic_bandwidth_gbps = 1e6;
    for (task, volume) in instance.tasks.iter_mut().zip([1.0, 2.0]) {
        (task.volume_bytes, task.release_s) = (volume, 0.0);
    }
    let trace = run(&instance, &[3], Rule::Fair);
    let near =
        |time: f64, expected: f64| assert!((time - expected).abs() < 1e-27, "{time:e}, not {expected:e}");
    // Four flows share three circuits until the first task is over; then the second has its NICs to itself.
    near(trace.finish[0], 16e-15 / 3.0);
    near(trace.finish[1], 16e-15 / 3.0 + 4e-15);
    let rates = trace.pieces.iter().map(|piece| piece.volume / (piece.end - piece.start) / 1.25e14);
    assert!(rates.into_iter().all(|rate| rate <= 2.0 * (1.0 + 1e-9)), "{:?}", trace.pieces);
}
