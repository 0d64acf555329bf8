//! Traces of other tools give the figures that their documentation states, and damage is a problem with a place.
#![allow(clippy::unwrap_used, reason = "a failed expectation should fail the test")]

use lightbay_core::problem::Problems;
use lightbay_formats::traces::{
    RankTrace, TracedCollective, TracedWork, groups, profiler, pytorch, task_graph,
};
use lightbay_formats::{Limits, chakra, gz};
use proptest::prelude::*;

const LIMITS: Limits = Limits { content_bytes: 8 << 20, line_bytes: 1 << 20, rows: 100_000 };

macro_rules! trace {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/resources/inputs/traces/", $name)).as_slice()
    };
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    gz::bytes(bytes, &LIMITS, 1 << 24).unwrap()
}

fn binary(bytes: &[u8]) -> RankTrace {
    chakra::read_stream(unpacked(bytes).as_slice(), false).unwrap()
}

fn count(trace: &RankTrace, is: impl Fn(TracedWork) -> bool) -> (usize, f64) {
    let of = trace.nodes().iter().filter(|node| is(node.work));
    of.fold((0, 0.0), |(count, size), node| (count + 1, size + node.size))
}

fn collective(trace: &RankTrace, wanted: TracedCollective) -> (usize, f64) {
    count(trace, |work| matches!(work, TracedWork::Collective { kind, .. } if kind == wanted))
}

#[test]
fn traces_of_stage_have_the_counts_of_its_run() {
    let dense = binary(trace!("dense.0.et.gz"));
    assert_eq!((dense.nodes().len(), dense.in_elements, dense.in_bytes), (348, true, false));
    assert_eq!(collective(&dense, TracedCollective::AllGather), (48, 12_582_912.0));
    assert_eq!(collective(&dense, TracedCollective::ReduceScatter), (32, 16_777_216.0));
    assert_eq!(collective(&dense, TracedCollective::AllReduce), (10, 115_867_648.0));
    assert_eq!(count(&dense, |work| matches!(work, TracedWork::Send { to: 4, .. })), (4, 4.0 * 262_144.0));
    assert_eq!(
        count(&dense, |work| matches!(work, TracedWork::Receive { from: 4, .. })),
        (4, 4.0 * 262_144.0)
    );
    assert_eq!((0..348).map(|node| dense.deps(node).len()).sum::<usize>() as u64 + dense.dangling, 469);
    assert_eq!(binary(trace!("dense.5.et.gz")).nodes().len(), 356);
    let moe = binary(include_bytes!("../../../tests/resources/inputs/collectives/moe.0.et.gz"));
    assert_eq!(moe.nodes().len(), 155);
    assert_eq!(collective(&moe, TracedCollective::AllToAll), (8, 8_388_608.0));
    assert_eq!(collective(&moe, TracedCollective::AllGather), (6, 2_099_200.0));
    assert_eq!(collective(&moe, TracedCollective::AllReduce), (3, 54_790_144.0));
    let listed = groups::read(trace!("dense.comm_group.json"), &LIMITS).unwrap();
    assert_eq!((listed.len(), listed["5"].as_slice()), (16, &[0, 2][..]));
}

#[test]
fn json_and_binary_give_the_same_trace() {
    let small = chakra::read_json(trace!("small_chakra.0.json"), &LIMITS, false).unwrap();
    assert_eq!((small.nodes().len(), collective(&small, TracedCollective::Broadcast).0), (7, 3));
    // Nodes of a trace that was cut out of a longer one.
    assert!(small.dangling > 0);
    let text = "{\"version\": \"0.0.4\"}\n{\"id\": \"1\", \"name\": \"a\", \"type\": \"COMP_NODE\", \"durationMicros\": \"7\"}\n\
         {\"id\": \"2\", \"type\": \"COMM_COLL_NODE\", \"dataDeps\": [\"1\"], \"attr\": [{\"name\": \"comm_type\", \"int64Val\": \"2\"},\
         {\"name\": \"comm_size\", \"uint64Val\": \"512\"}, {\"name\": \"pg_name\", \"stringVal\": \"3\"}]}";
    let read = chakra::read_json(text.as_bytes(), &LIMITS, false).unwrap();
    assert_eq!(collective(&read, TracedCollective::AllGather), (1, 512.0));
    assert_eq!((read.nodes()[0].micros, read.deps(1), read.groups[0].name.as_str()), (7.0, &[0][..], "3"));
}

#[test]
fn profilers_and_execution_traces_are_read() {
    let steps = profiler::read(trace!("steps.1.json"), &LIMITS).unwrap();
    // Four all-reduces of 25e6 values of two bytes.
    assert_eq!(collective(&steps, TracedCollective::AllReduce), (4, 2e8));
    assert_eq!((steps.rank, steps.world), (Some(1), Some(2)));
    let renamed = profiler::read(trace!("renamed_kernels.json"), &LIMITS).unwrap();
    assert_eq!((renamed.world, renamed.notes.len()), (Some(64), 1));
    let calls = pytorch::read(trace!("pytorch_et.json.gz"), &LIMITS).unwrap();
    // Ten all-gathers of one float each.
    assert_eq!(collective(&calls, TracedCollective::AllGather), (10, 40.0));
    assert_eq!(calls.groups[0].ranks.as_deref(), Some(&[0, 1][..]));
}

#[test]
fn task_graphs_have_a_trace_for_each_node() {
    let read = task_graph::read(trace!("vgg_16.fbuf.gz"), &LIMITS).unwrap();
    assert_eq!((read.traces.len(), read.nic_gbps), (16, Some(100.0)));
    // 368 forward and 368 backward tasks on 16 nodes; 32 all-reduces over all of them.
    let computes: usize =
        read.traces.iter().map(|trace| count(trace, |work| matches!(work, TracedWork::Compute(_))).0).sum();
    assert_eq!(computes, 736);
    for trace in &read.traces {
        assert_eq!(collective(trace, TracedCollective::AllReduce), (32, 1_157_409_952.0));
        assert!(trace.notes.is_empty(), "{:?}", trace.notes);
    }
}

/// A reader with a good file.
type Case = (fn(&[u8]) -> Result<(), Problems>, Vec<u8>);

fn cases() -> Vec<Case> {
    vec![
        (|bytes| chakra::read_stream(bytes, true).map(drop), unpacked(trace!("dense.0.et.gz"))),
        (|bytes| chakra::read_json(bytes, &LIMITS, true).map(drop), trace!("small_chakra.0.json").to_vec()),
        (|bytes| profiler::read(bytes, &LIMITS).map(drop), trace!("steps.0.json").to_vec()),
        (|bytes| pytorch::read(bytes, &LIMITS).map(drop), unpacked(trace!("pytorch_et.json.gz"))),
        (|bytes| groups::read(bytes, &LIMITS).map(drop), trace!("dense.comm_group.json").to_vec()),
        (|bytes| task_graph::read(bytes, &LIMITS).map(drop), unpacked(trace!("vgg_16.fbuf.gz"))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn damaged_traces_never_panic(
        which in 0..6_usize,
        cut in 0.0..1.2_f64,
        changes in proptest::collection::vec((0.0..1.0_f64, any::<u8>()), 0..6),
    ) {
        let (read, mut bytes) = cases().swap_remove(which);
        for (at, value) in changes {
            let at = (at * bytes.len() as f64) as usize;
            bytes[at] = value;
        }
        bytes.truncate((cut * bytes.len() as f64) as usize);
        let _ = read(&bytes);
    }
}
