#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{edge, random_tail_exact, tiny4, toy_a, toy_b};
use crate::scenario::instance::GpuSet;

#[test]
fn only_last_transfers_of_the_smallest_preset_compete() {
    let contention = Contention::new(&Network::new(&tiny4()).unwrap());
    assert!(contention.tail_exact());
    let contended: Vec<usize> = (0..12).filter(|task| contention.contended[*task]).collect();
    assert_eq!(contended, [8, 9, 10, 11]);
    assert_eq!(contention.leaf, [false, true, true]);
    assert_eq!(Contention::new(&Network::new(&toy_b()).unwrap()).count(), 0);
    assert!(
        (0..50).all(|seed| Contention::new(&Network::new(&random_tail_exact(seed)).unwrap()).tail_exact())
    );
}

#[test]
fn every_reason_is_found() {
    let mut shared = toy_a();
    shared.tasks[1].src_gpus = shared.tasks[0].src_gpus.clone();
    let contention = Contention::new(&Network::new(&shared).unwrap());
    assert_eq!(contention.loose, [Loose::SharedNic { task: 0, other: 1 }]);
    assert!(!contention.sinks_only());

    let mut doubled = toy_a();
    doubled.tasks[1].dst_gpus = GpuSet::List(vec![7, 7]);
    let contention = Contention::new(&Network::new(&doubled).unwrap());
    assert_eq!(contention.loose, [Loose::SharedNic { task: 1, other: 1 }]);

    let mut tails = toy_a();
    tails.tasks[1].tail_s = 0.5;
    let contention = Contention::new(&Network::new(&tails).unwrap());
    assert_eq!(contention.loose, [Loose::UnequalTails { link: 0 }]);
    assert!(contention.sinks_only() && !contention.tail_exact());

    let mut inner = toy_a();
    inner.tasks.push(crate::model::samples::task(2, 1, 0, 1, 1e9, 0.0));
    inner.edges.push(edge(1, 2, 0.0));
    let contention = Contention::new(&Network::new(&inner).unwrap());
    assert_eq!(contention.loose, [Loose::ContendedBeforeTail { link: 0, task: 1, other: 0 }]);
    assert!(contention.loose[0].to_string().contains("task 1, for which other tasks wait"));
}

/// Two tasks of 2 flows from the same 2 GPUs over one link: with 2 ports its circuits carry what the 2 NICs send, with
/// 3 they carry more. With circuits of 2 ports each the pod has one circuit.
#[test]
fn limits_of_nics_that_follow_from_ports_are_left_out() {
    let loose = |ports: u32, cost: u32| {
        let mut shared = toy_a();
        shared.tasks[1].src_gpus = shared.tasks[0].src_gpus.clone();
        shared.pods[0].ports = ports;
        shared.links[0].ports_a = cost;
        Contention::new(&Network::new(&shared).unwrap().without_implied_nics()).loose
    };
    let shared = vec![Loose::SharedNic { task: 0, other: 1 }];
    assert_eq!((loose(2, 1), loose(3, 1), loose(3, 2)), (Vec::new(), shared, Vec::new()));
    // The other pod may be the one with few ports, and mirrors have no limit.
    let mut mirrored = toy_a();
    mirrored.tasks[1].src_gpus = mirrored.tasks[0].src_gpus.clone();
    mirrored.pods[1].ports = 2;
    assert!(Contention::new(&Network::new(&mirrored).unwrap().without_implied_nics()).tail_exact());
    mirrored.pods[1].mirror = true;
    assert!(!Contention::new(&Network::new(&mirrored).unwrap().without_implied_nics()).tail_exact());
    // Two flows on one NIC want twice its rate.
    let mut doubled = toy_a();
    doubled.tasks[1].dst_gpus = GpuSet::List(vec![7, 7]);
    doubled.pods[0].ports = 1;
    assert!(Contention::new(&Network::new(&doubled).unwrap().without_implied_nics()).tail_exact());
    doubled.pods[0].ports = 2;
    assert!(!Contention::new(&Network::new(&doubled).unwrap().without_implied_nics()).tail_exact());
}

#[test]
fn a_nic_that_ordered_tasks_use_is_no_resource() {
    let mut instance = toy_a();
    instance.tasks[1].src_gpus = instance.tasks[0].src_gpus.clone();
    instance.edges.push(edge(0, 1, 0.0));
    let network = Network::new(&instance).unwrap();
    assert!(network.nic_groups.is_empty());
    assert_eq!(Contention::new(&network).count(), 0);
}

#[test]
fn broken_instances_are_refused() {
    use crate::model::network::NetworkError;
    let mut cycle = toy_b();
    cycle.edges.push(edge(1, 0, 0.0));
    assert!(matches!(Network::new(&cycle), Err(NetworkError::Cycle(_))));
    let mut dangling = toy_b();
    dangling.edges.push(edge(1, 9, 0.0));
    assert_eq!(Network::new(&dangling).unwrap_err(), NetworkError::UnknownTask(2));
    let mut empty = toy_b();
    empty.tasks[0].volume_bytes = f64::NAN;
    assert!(matches!(Network::new(&empty), Err(NetworkError::EmptyTask(_))));
}
