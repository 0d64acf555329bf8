#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation should fail the test")]

use super::*;
use crate::files::import::tests::resolved;
use crate::scenario::instance::Instance;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_formats::Limits;
use lightbay_formats::chakra::{ChakraNode, ChakraSort, ChakraTrace, ChakraValue, write};

/// A node: its number, its work, and the nodes on which it depends.
enum Made {
    Compute(u64),
    Send(u32, u64),
    Receive(u32, u64),
    Collective(i64, u64, &'static str),
}

fn node(id: u64, made: &Made, after: &[u64]) -> ChakraNode {
    let int = |name: &str, value: u64| (name.to_owned(), ChakraValue::Int(value as i64));
    let (sort, attributes, duration_us) = match made {
        Made::Compute(us) => (ChakraSort::Compute, vec![], *us),
        Made::Send(to, bytes) => {
            (ChakraSort::Send, vec![int("comm_dst", (*to).into()), int("comm_size", *bytes)], 0)
        }
        Made::Receive(from, bytes) => {
            (ChakraSort::Receive, vec![int("comm_src", (*from).into()), int("comm_size", *bytes)], 0)
        }
        Made::Collective(kind, bytes, group) => {
            let group = ("pg_name".to_owned(), ChakraValue::Text((*group).to_owned()));
            (ChakraSort::Collective, vec![int("comm_type", *kind as u64), int("comm_size", *bytes), group], 0)
        }
    };
    ChakraNode {
        id,
        name: format!("n{id}"),
        sort,
        control_deps: Vec::new(),
        data_deps: after.to_vec(),
        duration_us,
        attributes,
    }
}

fn trace(rank: u32, nodes: &[(u64, Made, &[u64])]) -> Input {
    let nodes = nodes.iter().map(|(id, made, after)| node(*id, made, after)).collect();
    let trace = ChakraTrace { version: "0.0.4".to_owned(), nodes, skipped: 0 };
    Input { name: format!("job.{rank}.et"), bytes: write(&trace) }
}

fn import(inputs: &[Input], settings: &[&str]) -> Result<(Instance, ImportedScenario<Training>), String> {
    let params = resolved(&knobs::knobs(), settings);
    let made = scenario_in_memory(inputs, &params, false).map_err(|problems| problems.to_string())?;
    let TrainingScenario::Instance(instance) = &made.scenario.body else { panic!("an instance") };
    Ok((instance.clone(), made))
}

const RATES: [&str; 3] = ["bandwidth_gbps=80", "intra_pod_gbps=800", "latency_us=10"];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    RATES.iter().chain(more).copied().collect()
}

#[test]
fn messages_between_pods_are_transfers_of_ranks_with_equal_programs() {
    // Two ranks per pod; each of the first pod computes, sends to its partner, and computes again.
    let sender = |rank: u32| {
        trace(
            rank,
            &[
                (1, Made::Compute(100), &[]),
                (2, Made::Send(rank + 2, 1000), &[1]),
                (3, Made::Compute(50), &[2]),
            ],
        )
    };
    let receiver =
        |rank: u32| trace(rank, &[(7, Made::Receive(rank - 2, 1000), &[]), (8, Made::Compute(30), &[7])]);
    let files = [sender(0), sender(1), receiver(2), receiver(3)];
    let (instance, made) = import(&files, &with(&["gpus_per_pod=2"])).unwrap();
    assert_eq!((instance.pods.len(), instance.links.len(), instance.tasks.len()), (2, 1, 1));
    let task = &instance.tasks[0];
    assert_eq!((task.flows, task.volume_bytes, task.release_s), (2, 2000.0, 100e-6));
    assert_eq!(task.tail_s, 50e-6);
    assert_eq!(task.src_gpus.iter().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(task.dst_gpus.iter().collect::<Vec<_>>(), [2, 3]);
    assert_eq!(made.scenario.name, "job");
    let assumed: Vec<&str> = made.assumed.iter().map(|assumed| assumed.set_with.as_str()).collect();
    assert_eq!(assumed, ["ports_per_pod="]);
    // In one pod, nothing crosses.
    let said = import(&files, &["gpus_per_pod=4"]).unwrap_err();
    assert!(said.contains("have all ranks in one pod"), "{said}");
}

#[test]
fn an_all_reduce_is_a_ring_over_the_pods() {
    // Four ranks in two pods reduce 8 MB: each sends 2 x 3/4 x 8 MB to its successor, and two of the hops cross.
    let rank = |rank: u32| {
        let all = Made::Collective(0, 8_000_000, "all");
        trace(rank, &[(0, Made::Compute(200), &[]), (1, all, &[0]), (2, Made::Compute(10), &[1])])
    };
    let files: Vec<Input> = (0..4).map(rank).collect();
    let (instance, made) = import(&files, &with(&["gpus_per_pod=2"])).unwrap();
    let flows: Vec<_> = instance
        .tasks
        .iter()
        .map(|task| (task.src_pod.0, task.dst_pod.0, task.flows, task.volume_bytes))
        .collect();
    assert_eq!(flows, [(0, 1, 1, 12e6), (1, 0, 1, 12e6)]);
    // The hops inside the pods take less time than those between at their fastest, so they cannot bind.
    assert!(instance.tasks.iter().all(|task| (task.release_s, task.tail_s) == (200e-6, 10e-6)));
    assert!(made.assumed.iter().any(|assumed| assumed.set_with == "the file of groups (JSON)"));
    // With two groups, one ring runs in each direction.
    let pair = |rank: u32| {
        let name = if rank.is_multiple_of(2) { "1" } else { "2" };
        trace(rank, &[(1, Made::Collective(7, 4_000_000, name), &[])])
    };
    let files: Vec<Input> = (0..6).map(pair).collect();
    let groups = Input { name: "g.json".to_owned(), bytes: b"{\"1\": [0, 2, 4], \"2\": [1, 3, 5]}".to_vec() };
    let files: Vec<Input> = files.into_iter().chain([groups]).collect();
    let ends = |instance: &Instance| -> Vec<(u32, u32)> {
        let mut ends: Vec<_> = instance.tasks.iter().map(|task| (task.src_pod.0, task.dst_pod.0)).collect();
        ends.sort_unstable();
        ends
    };
    let (both, _) = import(&files, &with(&["gpus_per_pod=2"])).unwrap();
    assert_eq!(ends(&both), [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]);
    assert!(both.tasks.iter().all(|task| task.volume_bytes == 4_000_000.0 * (2.0 / 3.0)));
    let (one, _) = import(&files, &with(&["gpus_per_pod=2", "rings=one"])).unwrap();
    assert_eq!(ends(&one), [(0, 1), (1, 2), (2, 0)]);
    assert!(one.tasks.iter().all(|task| task.flows == 2));
}

#[test]
fn other_collectives_send_what_their_definition_says() {
    let files = |kind: i64, bytes: u64| -> Vec<Input> {
        (0..4).map(|rank| trace(rank, &[(1, Made::Collective(kind, bytes, "all"), &[])])).collect()
    };
    let sent = |kind: i64, more: &[&'static str]| -> Vec<(u32, u32, u32, f64)> {
        let mut settings = with(&["gpus_per_pod=2"]);
        settings.extend(more);
        let (instance, _) = import(&files(kind, 1_000_000), &settings).unwrap();
        let of = |task: &crate::scenario::instance::Task| {
            (task.src_pod.0, task.dst_pod.0, task.flows, task.volume_bytes)
        };
        instance.tasks.iter().map(of).collect()
    };
    // An all-gather of 1 MB per rank sends three parts per hop; of 1 MB in total, a quarter of that.
    assert_eq!(sent(2, &[]), [(0, 1, 1, 3e6), (1, 0, 1, 3e6)]);
    assert_eq!(sent(2, &["size=total"]), [(0, 1, 1, 0.75e6), (1, 0, 1, 0.75e6)]);
    assert_eq!(sent(7, &[]), [(0, 1, 1, 0.75e6), (1, 0, 1, 0.75e6)]);
    // An all-to-all sends a quarter of the input from each of two ranks to each of two.
    assert_eq!(sent(6, &[]), [(0, 1, 2, 1e6), (1, 0, 2, 1e6)]);
    assert_eq!(sent(5, &[]), [(0, 1, 1, 1e6)]);
    assert_eq!(sent(1, &[]), [(1, 0, 1, 1e6)]);
    assert_eq!(sent(3, &[]), [(1, 0, 2, 2e6)]);
    assert_eq!(sent(4, &[]), [(0, 1, 2, 0.5e6)]);
    assert_eq!(sent(6, &["elem_bytes=2"]), [(0, 1, 2, 2e6), (1, 0, 2, 2e6)]);
}

/// Bytes that each rank sends to and receives from other pods.
fn bytes_of_ranks(instance: &Instance, ranks: usize) -> Vec<[f64; 2]> {
    let mut sums = vec![[0.0; 2]; ranks];
    for task in &instance.tasks {
        for (side, gpus) in [&task.src_gpus, &task.dst_gpus].into_iter().enumerate() {
            gpus.iter().for_each(|gpu| sums[gpu as usize][side] += task.volume_bytes / f64::from(task.flows));
        }
    }
    sums
}

/// Pods of the ranks 0 and 1, of rank 2, and of rank 3.
fn table_of_four() -> Input {
    let text = "rank_first,rank_last,pod\n0,1,big\n2,2,y\n3,3,z\n";
    Input { name: "pods.csv".to_owned(), bytes: text.as_bytes().to_vec() }
}

#[test]
fn an_all_to_all_between_pods_of_unequal_size_uses_every_gpu() {
    let rank = |rank: u32, bytes: u64| trace(rank, &[(1, Made::Collective(6, bytes, "all"), &[])]);
    let files: Vec<Input> = (0..4).map(|at| rank(at, 8_000_000)).chain([table_of_four()]).collect();
    let (instance, _) = import(&files, &with(&["ports_per_pod=3"])).unwrap();
    let (big, small) = ([4e6, 4e6], [6e6, 6e6]);
    assert_eq!(bytes_of_ranks(&instance, 4), [big, big, small, small]);
    assert_eq!(instance.tasks.len(), 6);
    // Ranks of one run may send different totals.
    let files = (0..4).map(|at| rank(at, 4_000_000 * u64::from(at + 1))).chain([table_of_four()]);
    let (instance, made) = import(&files.collect::<Vec<_>>(), &with(&["ports_per_pod=3"])).unwrap();
    let sent: Vec<f64> = bytes_of_ranks(&instance, 4).iter().map(|sides| sides[0]).collect();
    assert_eq!(sent, [2e6, 4e6, 9e6, 12e6]);
    let said = &made.assumed.last().unwrap().what;
    assert!(said.contains("parts of 1 all-to-all whose ranks send different totals"), "{said}");
}

/// The profiler trace of a rank with one all-to-all of BF16 numbers.
fn profiled(rank: u32, elements: u32, splits: &str) -> Input {
    let text = format!(
        "{{\"distributedInfo\":{{\"rank\":{rank},\"world_size\":4}},\"traceEvents\":[{{\"ph\":\"X\",\
         \"cat\":\"kernel\",\"name\":\"ncclDevKernel_SendRecv\",\"ts\":5,\"dur\":9,\"args\":{{\"stream\":7,\
         \"Collective name\":\"all_to_allv\",\"In msg nelems\":{elements},\"dtype\":\"BFloat16\",\
         \"Group size\":4,\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1, 2, 3]\",\
         \"In split size\":\"{splits}\"}}}}]}}"
    );
    Input { name: format!("job.{rank}.json"), bytes: text.into_bytes() }
}

#[test]
fn split_sizes_of_a_profiler_trace_are_the_parts_of_an_all_to_all() {
    let files: Vec<Input> = (0..4)
        .map(|rank| profiled(rank, 4_000_000, "[1000000, 500000, 500000, 2000000]"))
        .chain([table_of_four()])
        .collect();
    let (instance, _) = import(&files, &with(&["ports_per_pod=3"])).unwrap();
    let bytes = |instance: &Instance, from: u32, to: u32| -> f64 {
        let own = instance.tasks.iter().filter(|task| (task.src_pod.0, task.dst_pod.0) == (from, to));
        own.map(|task| task.volume_bytes).sum()
    };
    assert_eq!([bytes(&instance, 0, 2), bytes(&instance, 0, 1), bytes(&instance, 2, 0)], [8e6, 2e6, 3e6]);
    assert_eq!(bytes_of_ranks(&instance, 4)[3], [4e6, 12e6]);
    // Expert parallelism: every rank sends another total.
    let files = [(5, "[1, 1, 1, 2]"), (3, "[3, 0, 0, 0]"), (8, "[2, 2, 2, 2]"), (4, "[0, 0, 4, 0]")];
    let files = (0..).zip(files).map(|(rank, (elements, splits))| profiled(rank, 1000 * elements, splits));
    let files: Vec<Input> = files.chain([table_of_four()]).collect();
    let (instance, made) = import(&files, &with(&["ports_per_pod=3"])).unwrap();
    assert_eq!([bytes(&instance, 0, 2), bytes(&instance, 1, 0), bytes(&instance, 2, 1)], [4e3, 8e3, 8e3]);
    assert!(!made.assumed.iter().any(|assumed| assumed.what.contains("all-to-all")), "{:?}", made.assumed);
    let wrong: Vec<Input> =
        (0..4).map(|rank| profiled(rank, 10, "[5, 5]")).chain([table_of_four()]).collect();
    let said = import(&wrong, &with(&["ports_per_pod=3"])).unwrap_err();
    assert!(said.contains("has 2 entries, but the group has 4 ranks"), "{said}");
}

#[test]
fn computations_of_a_gpu_follow_each_other() {
    // Two computations become ready at once; the message waits for the second one.
    let sender = trace(
        0,
        &[(1, Made::Compute(100), &[]), (2, Made::Compute(40), &[]), (3, Made::Send(1, 1000), &[2])],
    );
    let receiver = trace(1, &[(1, Made::Receive(0, 1000), &[])]);
    let files = [sender, receiver];
    let settings = with(&["gpus_per_pod=1"]);
    let (serial, _) = import(&files, &settings).unwrap();
    assert!((serial.tasks[0].release_s - 140e-6).abs() < 1e-15);
    let apart = with(&["gpus_per_pod=1", "serialise_compute=false"]);
    // Without an order, the message is ready after 40 us, and the other computation is longer than both.
    let said = import(&files, &apart).unwrap_err();
    assert!(said.contains("works for 0.100 ms without ever waiting"), "{said}");
    let (none, _) = import(&files, &with(&["gpus_per_pod=1", "compute=zero"])).unwrap();
    assert_eq!(none.tasks[0].release_s, 0.0);
}

#[test]
fn ranks_that_disagree_or_lack_a_trace_are_named() {
    let gather = |bytes: u64| Made::Collective(2, bytes, "all");
    let said = |files: &[Input], more: &[&'static str]| {
        let mut settings = with(&["gpus_per_pod=1"]);
        settings.extend(more);
        import(files, &settings).unwrap_err()
    };
    let sizes = said(&[trace(0, &[(1, gather(8), &[])]), trace(1, &[(5, gather(9), &[])])], &[]);
    assert!(
        sizes
            .contains("rank 0 has all-gather of 8 bytes (node 1), rank 1 has all-gather of 9 bytes (node 5)"),
        "{sizes}"
    );
    let counts =
        said(&[trace(0, &[(1, gather(8), &[]), (2, gather(8), &[])]), trace(1, &[(5, gather(8), &[])])], &[]);
    assert!(counts.contains("has 2 collectives on rank 0, but 1 on rank 1"), "{counts}");
    let lost = said(&[trace(0, &[(1, Made::Send(1, 9), &[])]), trace(1, &[(1, Made::Compute(1), &[])])], &[]);
    assert!(lost.contains("from rank 0 to rank 1 with tag 0: are 1 send, but 0 receives"), "{lost}");
    let alone = [trace(0, &[(1, Made::Send(1, 1000), &[])]), trace(2, &[(1, Made::Compute(0), &[])])];
    assert!(said(&alone, &[]).contains("one rank has no trace: 1"), "{}", said(&alone, &[]));
    let (ready, _) = import(&alone, &with(&["gpus_per_pod=1", "missing_ranks=ready"])).unwrap();
    assert_eq!(ready.tasks.len(), 1);
    // A group that all traced ranks use has all ranks, so the lost one is named.
    let gap = [0, 1, 3].map(|rank| trace(rank, &[(1, gather(8), &[])]));
    assert!(said(&gap, &[]).contains("one rank has no trace: 2"), "{}", said(&gap, &[]));
    let timed = [trace(0, &[(1, Made::Send(1, 9), &[])]), trace(1, &[(1, Made::Receive(0, 9), &[])])];
    for (setting, why) in [("size=total", "no all-gather"), ("tflops=100", "lacks a time")] {
        let unused = said(&timed, &[setting]);
        assert!(unused.contains("has no effect") && unused.contains(why), "{setting}: {unused}");
    }
    let twice = [trace(3, &[(1, gather(8), &[])]), trace(3, &[(1, gather(8), &[])])];
    assert!(said(&twice, &[]).contains("is of rank 3, as is job.3.et"));
    let round = trace(0, &[(1, Made::Compute(1), &[2]), (2, Made::Compute(1), &[1])]);
    assert!(said(&[round], &[]).contains("depend on each other in a cycle"), "cycle");
    // Two ranks that each wait for the other's message before they send their own.
    let waits =
        |rank: u32| trace(rank, &[(1, Made::Receive(1 - rank, 9), &[]), (2, Made::Send(1 - rank, 9), &[1])]);
    let dead = said(&[waits(0), waits(1)], &[]);
    assert!(dead.contains("wait for each other in a cycle through"), "{dead}");
    let negative = trace(0, &[(1, Made::Collective(2, u64::MAX, "all"), &[])]);
    assert!(said(&[negative], &[]).contains("node 1 comm_size: is -1"));
}

#[test]
fn problems_of_the_instance_name_parameters() {
    // Rank 0 exchanges with three others, each in a pod of its own.
    let rank = |rank: u32| trace(rank, &[(1, Made::Collective(6, 4000, "all"), &[])]);
    let files: Vec<Input> = (0..4).map(rank).collect();
    let said = import(&files, &with(&["gpus_per_pod=1"])).unwrap_err();
    assert!(
        said.contains("ports_per_pod: pod 'p0' has 1 port") && said.contains("raise ports_per_pod="),
        "{said}"
    );
    assert!(import(&files, &with(&["gpus_per_pod=1", "ports_per_pod=3"])).is_ok());
    let tiny: Vec<Input> =
        (0..2).map(|rank| trace(rank, &[(1, Made::Collective(0, 4, "all"), &[])])).collect();
    let said = import(&tiny, &with(&["gpus_per_pod=1"])).unwrap_err();
    assert!(said.contains("too short to simulate") && said.contains("check elem_bytes="), "{said}");
}

#[test]
fn strict_wants_every_assumption_set() {
    let rank = |rank: u32| trace(rank, &[(1, Made::Collective(2, 1000, "3"), &[])]);
    let files: Vec<Input> = (0..4).map(rank).collect();
    let params = resolved(&knobs::knobs(), &[]);
    let said = scenario_in_memory(&files, &params, true).unwrap_err().to_string();
    for name in ["gpus_per_pod", "bandwidth_gbps", "intra_pod_gbps", "size", "ports_per_pod"] {
        assert!(said.contains(&format!("set '{name}='")), "{name} is not in\n{said}");
    }
    let groups = Input { name: "g.json".to_owned(), bytes: b"{\"3\": [0, 1, 2, 3]}".to_vec() };
    let files: Vec<Input> = files.into_iter().chain([groups]).collect();
    let all = resolved(&knobs::knobs(), &with(&["gpus_per_pod=2", "size=input", "ports_per_pod=2"]));
    assert!(scenario_in_memory(&files, &all, true).unwrap().assumed.is_empty());
}

#[test]
fn a_table_places_the_ranks() {
    let rank = |rank: u32| trace(rank, &[(1, Made::Collective(0, 1000, "all"), &[])]);
    let table = |text: &str| Input { name: "pods.csv".to_owned(), bytes: text.as_bytes().to_vec() };
    let files = |text: &str| -> Vec<Input> { (0..3).map(rank).chain([table(text)]).collect() };
    let (instance, _) = import(&files("rank_first,rank_last,pod\n0,0,a\n1,2,b\n"), &RATES).unwrap();
    let pods: Vec<_> = instance.pods.iter().map(|pod| (pod.name.as_str(), pod.ports)).collect();
    assert_eq!(pods, [("a", 1), ("b", 2)]);
    let said = import(&files("rank_first,rank_last,pod\n0,1,a\n"), &RATES).unwrap_err();
    assert!(said.contains("rank 2: has no pod"), "{said}");
    let said = import(&files("rank_first,rank_last,pod\n0,2,a\n2,2,b\n"), &RATES).unwrap_err();
    assert!(said.contains("rank 2: is in pod 'a' and in pod 'b'"), "{said}");
}

/// The bytes from pod 0 to pod 1 and back.
fn both_ways(instance: &Instance) -> [f64; 2] {
    let sum = |from: u32| -> f64 {
        instance.tasks.iter().filter(|task| task.src_pod.0 == from).map(|task| task.volume_bytes).sum()
    };
    [sum(0), sum(1)]
}

#[test]
fn roots_and_split_sizes_follow_the_listed_order_of_a_group() {
    let groups = |text: &str| Input { name: "g.json".to_owned(), bytes: text.as_bytes().to_vec() };
    let files = |list: &str| -> Vec<Input> {
        let rank = |rank| trace(rank, &[(1, Made::Collective(5, 1000, "7"), &[])]);
        (0..4).map(rank).chain([groups(list)]).collect()
    };
    let two = with(&["gpus_per_pod=2"]);
    let of = |list: &str| both_ways(&import(&files(list), &two).unwrap().0);
    assert_eq!(of("{\"7\": [0, 1, 2, 3]}"), [1000.0, 0.0]);
    assert_eq!(of("{\"7\": [2, 0, 1, 3]}"), [0.0, 1000.0]);
    // Without a listed group, the lowest rank is the root.
    assert_eq!(of("{}"), [1000.0, 0.0]);
    let kernel = |rank: u32| {
        let text = format!(
            "{{\"distributedInfo\":{{\"rank\":{rank},\"world_size\":4}},\"traceEvents\":[{{\"ph\":\"X\",\
             \"cat\":\"kernel\",\"name\":\"ncclDevKernel_SendRecv\",\"ts\":5,\"dur\":1,\"args\":{{\"stream\":7,\
             \"Collective name\":\"all_to_allv\",\"In msg nelems\":1200,\"dtype\":\"Float\",\"Group size\":4,\
             \"Process Group Name\":\"82\",\"Process Group Ranks\":\"[2, 3, 0, 1]\",\
             \"In split size\":\"[900, 100, 100, 100]\"}}}}]}}"
        );
        Input { name: format!("x.{rank}.json"), bytes: text.into_bytes() }
    };
    let kernels: Vec<Input> = (0..4).map(kernel).collect();
    assert_eq!(both_ways(&import(&kernels, &two).unwrap().0), [8000.0, 1600.0]);
    // Execution traces do not list the ranks of their groups.
    let call = |rank: u32| {
        let text = format!(
            "{{\"schema\":\"1.0.2-chakra.0.0.4\",\"nodes\":[{{\"id\":1,\"name\":\"record_param_comms\",\"inputs\":\
             {{\"values\":[[[1,2,0,1200,4,\"cuda:0\"]],5,82,{rank},\"all_to_allv\",[900,100,100,100],[],4]}}}}]}}"
        );
        Input { name: format!("x.{rank}.json"), bytes: text.into_bytes() }
    };
    let calls: Vec<Input> = (0..4).map(call).collect();
    let (instance, made) = import(&calls, &two).unwrap();
    assert_eq!(both_ways(&instance), [1600.0, 8000.0]);
    assert!(made.notes.iter().any(|note| note.contains("in ascending order")), "{:?}", made.notes);
    let calls: Vec<Input> = calls.into_iter().chain([groups("{\"82\": [2, 3, 0, 1]}")]).collect();
    let said = import(&calls, &two).unwrap_err();
    assert!(said.contains("has no effect: PyTorch execution traces"), "{said}");
}

#[test]
fn a_job_without_barriers_has_no_file_of_groups() {
    let files = crate::files::exports::chakra::files("job", &job("tiny4", "gpus_per_pod=8")).unwrap();
    let names = |ending: &str| files.iter().filter(|file| file.name.ends_with(ending)).count();
    assert_eq!((names(".groups.json"), names(".pods.csv")), (0, 1));
}

/// The job of the tests of exports.
fn job(preset: &str, text: &str) -> crate::scenario::job::Job {
    let mut scenario = crate::scenario::presets::scenario(preset).unwrap();
    for setting in text.split_whitespace() {
        scenario.apply(&setting.parse().unwrap()).unwrap();
    }
    let TrainingScenario::Job(job) = scenario else { panic!("a job") };
    job
}

#[test]
fn exported_traces_of_a_job_come_back_with_the_same_transfers() {
    use crate::model::collapse::expanded;
    for (preset, text) in [("tiny4", ""), ("small", "micro_batches=3 dp_buckets=2"), ("tiny_interleaved", "")]
    {
        let job = job(preset, text);
        let files = crate::files::exports::chakra::files("job", &job).unwrap();
        let inputs: Vec<Input> =
            files.into_iter().map(|file| Input { name: file.name, bytes: file.bytes }).collect();
        let rate = format!("bandwidth_gbps={}", job.run.bandwidth_gbps);
        let inside = format!("intra_pod_gbps={}", job.run.intra_pod_gbps.unwrap_or(job.run.bandwidth_gbps));
        let (made, _) = import(&inputs, &[&rate, &inside, "latency_us=0"]).unwrap();
        let own = expanded(&job).unwrap();
        // Bytes by pair of pods, and number of tasks.
        let sums = |instance: &Instance| {
            let mut sums = std::collections::BTreeMap::new();
            for task in &instance.tasks {
                let name = |pod: lightbay_core::units::PodId| instance.pods[pod.index()].name.clone();
                let entry: &mut (u32, f64) =
                    sums.entry((name(task.src_pod), name(task.dst_pod))).or_default();
                (entry.0, entry.1) = (entry.0 + 1, entry.1 + task.volume_bytes);
            }
            sums
        };
        let (a, b) = (sums(&made), sums(&own));
        // The halves of a stage that send around the ring in opposite directions have different programs.
        let is_split = job.shape().unwrap().counter_clockwise_flows() > 0;
        assert!(is_split || made.tasks.len() == own.tasks.len(), "{preset} {text}");
        assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{text}");
        for (pair, (count, bytes)) in &a {
            assert!(is_split || *count == b[pair].0, "{text} {pair:?}");
            assert!((bytes - b[pair].1).abs() <= 1e-6 * bytes, "{text} {pair:?}");
        }
        // With two circuits on every link, both take the same time.
        let time = |instance: &Instance| {
            let evaluator = Evaluator::new(instance).unwrap();
            evaluator.makespan(&vec![2; instance.links.len()], Rates::Fair, &mut Scratch::default())
        };
        let (a, b) = (time(&made), time(&own));
        assert!((a - b).abs() <= 1e-5 * b, "{preset} {text}: {a} {b}");
    }
}

/// The traces of STAGE's run, unpacked, and their file of groups.
fn dense() -> Vec<Input> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/resources/inputs/traces");
    let read = |name: String| {
        let stored = std::fs::read(format!("{folder}/{name}")).unwrap();
        let bytes = lightbay_formats::gz::bytes(stored.as_slice(), &Limits::default(), 1 << 24).unwrap();
        Input { name: name.trim_end_matches(".gz").to_owned(), bytes }
    };
    let traces = (0..8).map(|rank| format!("dense.{rank}.et.gz"));
    traces.chain(["dense.comm_group.json".to_owned()]).map(read).collect()
}

#[test]
fn a_run_of_stage_has_the_messages_between_its_stages() {
    // Pods of one stage: four micro-batches cross in both directions, from four ranks, with 262144 elements of two bytes.
    let (instance, made) = import(&dense(), &["gpus_per_pod=4", "tflops=400"]).unwrap();
    assert_eq!((instance.tasks.len(), made.scenario.name.as_str()), (8, "dense"));
    assert!(instance.tasks.iter().all(|task| task.volume_bytes == 4.0 * 524_288.0 && task.flows == 4));
    let said = import(&dense(), &["gpus_per_pod=4"]).unwrap_err();
    assert!(said.contains("tflops: is missing"), "{said}");
    assert!(import(&dense(), &["gpus_per_pod=4", "compute=zero"]).is_ok());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(500))]
    #[test]
    fn damaged_runs_never_panic(
        which in 0..9_usize,
        cut in 0.2..1.5_f64,
        changes in proptest::collection::vec((0.0..1.0_f64, proptest::prelude::any::<u8>()), 0..4),
    ) {
        let mut files = dense();
        let bytes = &mut files[which].bytes;
        for (at, value) in changes {
            let at = (at * bytes.len() as f64) as usize;
            bytes[at] = value;
        }
        bytes.truncate((cut * bytes.len() as f64) as usize);
        let _ = import(&files, &["gpus_per_pod=2", "tflops=400"]);
    }
}
