//! Jobs whose pods are listed by rank: hand-computed times, agreement with one replica that represents all, random lists.
#![allow(clippy::unwrap_used, clippy::panic)] // a failed unwrap is a failed test

use lightbay_core::event::EndStatus;
use lightbay_core::kind::Kind as _;
use lightbay_core::param::{ParamValue, Setting};
use lightbay_core::random::{Stream, Streams};
use lightbay_core::scenario::Scenario;
use lightbay_core::testing::Ask;
use lightbay_training::model::collapse::expanded;
use lightbay_training::scenario::instance::{Instance, LinkKind, TaskKind};
use lightbay_training::scenario::job::{
    FailedPort, Job, Measured, MeasuredStage, ModelChoice, Order, PodMap, PodRange, PortsPerPod, RunConfig,
};
use lightbay_training::scenario::workload::Workload;
use lightbay_training::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_training::{Training, TrainingScenario, methods};
use rand::RngExt as _;

fn job(run: RunConfig, pods: Option<PodMap>) -> Job {
    Job {
        model: Some(ModelChoice::Preset("gpt_7b".to_owned())),
        run,
        pods,
        failed_ports: Vec::new(),
        ports_per_pod: None,
        reverse: false,
        measured: None,
        reconfiguration: None,
    }
}

fn built(job: &Job) -> Instance {
    TrainingScenario::Job(job.clone()).build().unwrap().instance
}

fn refused(job: &Job) -> String {
    job.shape().unwrap_err().to_string()
}

/// Makespan of a plan that the checker accepted, and its circuits.
fn solved(job: &Job, method: &str) -> (f64, Vec<i64>) {
    let done = Ask::of(&methods::all(), method, TrainingScenario::Job(job.clone())).run().sound().done;
    let plan = done.plan.clone().unwrap().to_value().unwrap();
    let circuits = plan["result"]["topology"].as_array().unwrap();
    (done.value.unwrap(), circuits.iter().map(|entry| entry["circuits"].as_i64().unwrap()).collect())
}

/// Two replicas of the first stage share a pod, the third has its own, and the second stage of all is in a third pod:
/// 4, 2 and 6 GPUs. One micro-batch, so everything can be added up by hand.
///
/// f = 7,189,037,056 FLOPs x 4096 tokens / (2 x 395.6e12) and b = 2 f per stage. The lone replica sends 33,554,432 bytes
/// over the one circuit that its two ports leave for it: 0.671 ms each way, against 2 x 33,554,432 bytes over 3
/// circuits. The two pods of the first stage then exchange 2 x 1,715,470,336 / 2 x 6 bytes in two flows over the other
/// circuit of the smaller pod.
#[test]
fn an_uneven_list_has_the_times_of_a_calculation_by_hand() {
    let sizes = vec![4, 2, 6];
    let job = job(RunConfig::of(2, 2, 6 * 2, 0, 1), Some(PodMap::Sizes(sizes)));
    let shape = job.shape().unwrap();
    let places = shape.places.as_ref().unwrap();
    assert_eq!(
        places.groups.iter().map(|group| group.replicas.clone()).collect::<Vec<_>>(),
        [vec![0, 1], vec![2]]
    );
    let instance = built(&job);
    let names: Vec<&str> = instance.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(
        names,
        ["F1 s1>s2 r0-1", "B1 s2>s1 r0-1", "F1 s1>s2 r2", "B1 s2>s1 r2", "DP s1 p0>p1", "DP s1 p1>p0"]
    );
    let links: Vec<_> = instance.links.iter().map(|link| (link.pod_a.0, link.pod_b.0, link.kind)).collect();
    assert_eq!(links, [(0, 2, LinkKind::Pp), (1, 2, LinkKind::Pp), (0, 1, LinkKind::Dp)]);
    let sent: Vec<(u32, f64)> = instance.tasks.iter().map(|task| (task.flows, task.volume_bytes)).collect();
    let exchange = 2.0 * 1_715_470_336.0 / 2.0 * 6.0;
    let one = 33_554_432.0;
    assert_eq!(sent, [(4, 2.0 * one), (4, 2.0 * one), (2, one), (2, one), (2, exchange), (2, exchange)]);
    assert_eq!(instance.tasks[4].src_gpus.iter().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(instance.tasks[2].src_gpus.iter().collect::<Vec<_>>(), [4, 5]);
    assert_eq!(instance.tasks[2].dst_gpus.iter().collect::<Vec<_>>(), [10, 11]);

    let forward = 7_189_037_056.0 * 4096.0 / (2.0 * 989e12 * 0.4);
    let by_hand = 6.0 * forward + 2.0 * one / 5e10 + exchange / 5e10;
    let (makespan, circuits) = solved(&job, "delta-joint");
    assert!((makespan - by_hand).abs() < 1e-9, "{makespan} {by_hand}");
    assert_eq!((circuits[1], circuits[2]), (1, 1));
    assert!((solved(&job, "auto").0 - by_hand).abs() < 1e-9);
}

/// Ring traffic inside a pod uses no circuit: with all replicas of a stage in one pod there is no exchange, however
/// uneven the pods are.
#[test]
fn gradients_of_replicas_in_one_pod_use_no_circuit() {
    let run = RunConfig::of(2, 4, 16, 0, 4);
    let one = job(RunConfig { gpus_per_pod: Some(8), ..run }, None);
    let listed = job(run, Some(PodMap::Sizes(vec![8, 8])));
    assert_eq!(built(&one).tasks, built(&listed).tasks, "a list of equal pods is the number");
    let uneven = job(run, Some(PodMap::Sizes(vec![4, 12])));
    let instance = built(&uneven);
    assert!(instance.tasks.iter().all(|task| task.kind != TaskKind::Dp));
    let shape = uneven.shape().unwrap();
    assert!(shape.places.is_some() && shape.crosses() && !shape.exchanging.contains(&true));
    // One boundary is crossed by both replicas at once: 4 flows of a quarter of both volumes.
    assert!(instance.tasks.iter().all(|task| (task.flows, task.volume_bytes) == (4, 2.0 * 33_554_432.0)));
    solved(&uneven, "delta-joint");
}

/// Ranges that give every replica pods of its own are copies: one represents all. With one more port in one of the pods
/// they are not, all are planned, and the iteration takes as long.
#[test]
fn replicas_are_planned_one_by_one_only_where_they_differ() {
    for replicas in [2, 3] {
        let run = RunConfig::of(2, 4, 8 * replicas, 4, 4);
        let usual = job(run, None);
        let ranges = (0..4).flat_map(|stage| {
            (0..replicas).map(move |replica| {
                let first = 2 * (stage * replicas + replica);
                PodRange { rank_first: first, rank_last: first + 1, pod: format!("r{replica}-{}", stage / 2) }
            })
        });
        let mut listed =
            job(RunConfig { gpus_per_pod_per_replica: 0, ..run }, Some(PodMap::Ranges(ranges.collect())));
        let shape = listed.shape().unwrap();
        assert_eq!((shape.replicas, shape.pods_per_replica, shape.places.is_none()), (replicas, 2, true));
        assert_eq!(built(&usual).tasks, built(&listed).tasks);
        let whole = expanded(&listed).unwrap();
        assert_eq!(whole.pods[2].name, "r1-0");
        let (expected, _) = solved(&usual, "delta-joint");
        assert!((solved(&listed, "delta-joint").0 - expected).abs() < 1e-12);

        let mut ports = vec![4; 2 * replicas as usize];
        ports[1] = 5;
        listed.ports_per_pod = Some(PortsPerPod::ByPosition(ports));
        let shape = listed.shape().unwrap();
        assert_eq!(shape.places.as_ref().unwrap().groups.len(), replicas as usize);
        let apart = built(&listed);
        let all = expanded(&usual).unwrap();
        assert_eq!((apart.tasks.len(), apart.links.len()), (all.tasks.len(), all.links.len()));
        // With the same circuits on all links, the same end under both rules.
        let (one, other) = (Evaluator::new(&all).unwrap(), Evaluator::new(&apart).unwrap());
        for rates in [Rates::Fair, Rates::Level] {
            let ends = [&one, &other].map(|evaluator| {
                let x = vec![1; evaluator.network.links()];
                evaluator.trace(&x, rates, &mut Scratch::default()).makespan
            });
            assert!((ends[0] - ends[1]).abs() < 1e-12 * ends[0], "{ends:?}");
        }
        let (makespan, _) = solved(&listed, "auto");
        assert!((makespan - expected).abs() < 1e-9 * expected, "{makespan} {expected}");
    }
}

/// Measured volumes hold for all replicas of the job: those that share a pod send one share of them.
#[test]
fn measured_jobs_have_pods_too() {
    let stage = |bytes| MeasuredStage {
        fwd_s: 1.0,
        bwd_s: 2.0,
        dp_bytes_per_gpu: bytes,
        dp_bytes_per_micro_batch: 0.0,
    };
    let mut job = job(RunConfig::of(1, 2, 8, 0, 1), Some(PodMap::Sizes(vec![1, 3, 4])));
    job.model = None;
    job.ports_per_pod = Some(PortsPerPod::Same(8));
    job.measured = Some(Measured {
        stages: vec![stage(1.5e9), stage(0.0)],
        pp_bytes_per_rank: 1e9,
        order: Order::OneForwardOneBackward,
        replicas: None,
    });
    // Four replicas send 3/4 of 2e9 bytes each; two pods exchange half of 2e9 over one flow.
    let instance = built(&job);
    let exchange: Vec<_> = instance.tasks.iter().filter(|task| task.kind == TaskKind::Dp).collect();
    assert_eq!(exchange.len(), 2);
    for task in exchange {
        assert_eq!((task.flows, task.stage), (1, 1));
        assert!((task.volume_bytes - 1e9).abs() < 1.0);
    }
    // 1 s forward, 20 ms across, 3 s of the second stage, back, 2 s, then 20 ms of gradients.
    let (makespan, _) = solved(&job, "delta-joint");
    assert!((makespan - 6.06).abs() < 1e-9, "{makespan}");
    job.pods = None;
    job.run.gpus_per_pod = Some(2);
    let two = Workload::of(&job, &job.shape().unwrap()).unwrap();
    // Two copies of two replicas: half of 2e9 bytes cross, and each of two GPUs sends half of that.
    assert!((two.stages[0].dp_bytes_per_gpu - 0.5e9).abs() < 1.0);
}

#[test]
fn lists_that_do_not_fit_are_refused_with_the_numbers() {
    let run = RunConfig::of(2, 4, 16, 0, 4);
    let of = |sizes: &[u32]| job(run, Some(PodMap::Sizes(sizes.to_vec())));
    let said = refused(&of(&[8, 4]));
    assert!(said.contains("job.pods: lists 2 pods of 12 GPUs in total, but the job has 16"), "{said}");
    let said = refused(&of(&[3, 13]));
    assert!(said.contains("separates ranks 2 to 3, which are the 2 GPUs of stage 1 of replica 1"), "{said}");
    assert!(said.contains("let pods begin at multiples of 2"), "{said}");
    let range = |rank_first, rank_last, pod: &str| PodRange { rank_first, rank_last, pod: pod.to_owned() };
    let ranged = |ranges: &[PodRange]| refused(&job(run, Some(PodMap::Ranges(ranges.to_vec()))));
    let said = ranged(&[range(0, 7, "a"), range(10, 15, "b")]);
    assert!(said.contains("assigns ranks 8 to 9 to no pod"), "{said}");
    let said = ranged(&[range(0, 7, "a"), range(6, 15, "b")]);
    assert!(said.contains("assigns rank 6 twice, the second time to 'b'"), "{said}");
    let said = ranged(&[range(0, 7, "a"), range(8, 16, "b")]);
    assert!(said.contains("holds ranks 8 to 16, but the job has ranks 0 to 15"), "{said}");
    let said = ranged(&[range(0, 7, "a\u{1b}"), range(8, 15, "b")]);
    assert!(said.contains("job.pods[0].pod: is 'a"), "{said}");
    let mut both = of(&[8, 8]);
    both.run.gpus_per_pod = Some(8);
    assert!(refused(&both).contains("job.run.gpus_per_pod: cannot be combined with 'pods'"));
    // A stage of one GPU per pod: two pods have one port for a pipeline and a ring.
    let mut few = of(&[2, 2, 4, 4, 4]);
    few.ports_per_pod = Some(PortsPerPod::Same(2));
    let said = refused(&few);
    assert!(said.contains("has 2 ports, but one circuit on each of its links needs"), "{said}");
}

#[test]
fn a_list_is_a_value_of_gpus_per_pod() {
    let mut scenario = TrainingScenario::Job(job(RunConfig::of(2, 4, 16, 4, 4), None));
    let set = |scenario: &mut TrainingScenario, text: &str| {
        scenario.apply(&text.parse::<Setting>().unwrap()).unwrap();
    };
    set(&mut scenario, "gpus_per_pod=4,12");
    let TrainingScenario::Job(listed) = &scenario else { panic!("a job") };
    assert_eq!(listed.pods, Some(PodMap::Sizes(vec![4, 12])));
    assert_eq!((listed.run.gpus_per_pod, listed.run.gpus_per_pod_per_replica), (None, 0));
    assert_eq!(
        scenario.get("gpus_per_pod").unwrap(),
        ParamValue::List([4, 12].map(ParamValue::Int).to_vec())
    );
    let written = Scenario::<Training>::new("own".to_owned(), scenario.clone()).to_value().unwrap();
    assert_eq!(written["job"]["pods"], serde_json::json!([4, 12]));
    assert_eq!(Scenario::<Training>::from_value(&written).unwrap().body, scenario);
    assert!(Training::question(&scenario).is_some());
    set(&mut scenario, "gpus_per_pod=8");
    let TrainingScenario::Job(even) = &scenario else { panic!("a job") };
    assert_eq!((even.run.gpus_per_pod, &even.pods), (Some(8), &None));
}

/// One port of one replica fails: its pod has 3 ports for a pipeline link and a ring link of two replicas. Every plan of
/// all replicas is at least as long as the plan without the failure, and a plan with 3 ports in all such pods is one for
/// the failure too.
#[test]
fn a_failed_port_takes_a_port_from_one_pod_alone() {
    let mut job = job(RunConfig::of(2, 4, 16, 4, 4), None);
    let (whole, _) = solved(&job, "delta-joint");
    job.failed_ports = FailedPort::list("r1p0:4").unwrap();
    let shape = job.shape().unwrap();
    assert_eq!((shape.ports.clone(), shape.replicas), (vec![4, 4, 3, 4], 2));
    let names: Vec<String> = built(&job).pods.iter().map(|pod| pod.name.clone()).collect();
    assert_eq!(names, ["r0p0", "r0p1", "r1p0", "r1p1"]);
    let (degraded, _) = solved(&job, "auto");
    let mut fewer = job.clone();
    (fewer.failed_ports, fewer.ports_per_pod) = (Vec::new(), Some(PortsPerPod::ByPosition(vec![3, 4])));
    let (all_fewer, _) = solved(&fewer, "delta-joint");
    assert!(whole <= degraded * (1.0 + 1e-9), "{whole} {degraded}");
    assert!(degraded <= all_fewer * (1.0 + 1e-9), "{degraded} {all_fewer}");
    // The same port in both replicas leaves them alike: one represents both.
    job.failed_ports = FailedPort::list("r0p0:1, r1p0:4").unwrap();
    let shape = job.shape().unwrap();
    assert_eq!((shape.ports.clone(), shape.places.is_none()), (vec![3, 4], true));
    assert!((solved(&job, "delta-joint").0 - all_fewer).abs() < 1e-12);
    // Shared pods lose their own ports.
    job.run = RunConfig { gpus_per_pod: Some(8), ..RunConfig::of(2, 4, 16, 0, 4) };
    job.failed_ports = FailedPort::list("p1:8, p1:7").unwrap();
    assert_eq!(job.shape().unwrap().ports, [8, 6]);
    solved(&job, "auto");
}

#[test]
fn a_pod_that_cannot_serve_its_links_is_refused() {
    let mut job = job(RunConfig::of(2, 4, 16, 4, 4), None);
    job.failed_ports = FailedPort::list("r0p1:1,r0p1:2,r0p1:3").unwrap();
    let said = refused(&job);
    assert!(said.contains("leave pod 'r0p1' 1 port, but one circuit on each of its links needs 2"), "{said}");
    assert!(said.contains("repair 1 of the failed ports"), "{said}");
    for (ports, expected) in [
        ("p1:1", "names 'p1', but no pod has that name; give one of the 4 pods, 'r0p0' to 'r1p1'"),
        ("r0p1:5", "is port 5 of 'r0p1', which has 4"),
        ("r0p1:2, r0p1:2", "repeats job.failed_ports[0]"),
    ] {
        job.failed_ports = FailedPort::list(ports).unwrap();
        let said = refused(&job);
        assert!(said.contains(expected), "{said}");
    }
    for wrong in ["p1", "p1:0", "p1:x"] {
        assert!(FailedPort::list(wrong).unwrap_err().to_string().contains("names no port"), "{wrong}");
    }
    assert_eq!(FailedPort::list("none").unwrap(), []);
}

fn random_list(random: &mut Stream) -> Job {
    let (tp, pp) = (random.random_range(1..=3), random.random_range(1..=4));
    let replicas = random.random_range(1..=5);
    let mut run = RunConfig::of(tp, pp, tp * pp * replicas, 0, random.random_range(1..=4));
    run.bandwidth_gbps = f64::from(random.random_range(50..=1600));
    run.blocking_p2p = random.random();
    if random.random() {
        run.dp_buckets = random.random_range(1..=3);
    }
    let units = pp * replicas;
    let pods = random.random_range(1..=units.min(6));
    let of: Vec<u32> = (0..units).map(|_| random.random_range(0..pods)).collect();
    let ranges = (0..).zip(of).map(|(unit, pod)| PodRange {
        rank_first: unit * tp,
        rank_last: unit * tp + tp - 1,
        pod: format!("pod-{pod}"),
    });
    let mut job = job(run, Some(PodMap::Ranges(ranges.collect())));
    job.ports_per_pod = Some(PortsPerPod::Same(random.random_range(4..=12)));
    if random.random() {
        let pod = format!("pod-{}", random.random_range(0..pods));
        job.failed_ports = vec![FailedPort { pod, port: 1 }];
    }
    job
}

/// Whatever the list is, every plan passes the checker, which derives pods, rings and volumes by itself; a method that
/// is refused by it would end with violations.
#[test]
fn the_checker_agrees_on_random_lists() {
    let mut random = Streams::new(35).stream(0);
    let mut apart = 0;
    let mut planned = 0;
    while planned < 60 {
        let job = random_list(&mut random);
        let Ok(shape) = job.shape() else { continue };
        apart += usize::from(shape.places.is_some());
        planned += 1;
        for method in ["prop-alloc", "delta-fast"] {
            let ran = Ask::of(&methods::all(), method, TrainingScenario::Job(job.clone())).run();
            assert!(
                matches!(ran.done.status, EndStatus::Heuristic | EndStatus::Feasible | EndStatus::Optimal),
                "{method}: {:?} {} {:?} {job:?}",
                ran.done.status,
                ran.done.message,
                ran.done.violations
            );
        }
    }
    assert!(apart > 20, "{apart}");
}
