//! Planner and checker share no code: on every job both must come to the same schedule, figure by figure.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use lightbay_core::checked::{BoundTrust, Verdict};
use lightbay_core::kind::Depth;
use lightbay_core::units::{LinkId, PodId, TaskId};
use lightbay_training::check::{Claims, check_instance, check_job};
use lightbay_training::model::collapse::collapsed;
use lightbay_training::model::reduced_dag::Dominance;
use lightbay_training::plan::TrainingResult;
use lightbay_training::scenario::instance::{Edge, GpuSet, Instance, Link, LinkKind, Pod, Task, TaskKind};
use lightbay_training::scenario::job::{
    Balance, Job, Measured, MeasuredStage, Order, PortsPerPod, RunConfig, Step,
};
use lightbay_training::scenario::presets::JOBS;
use lightbay_training::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_training::simulate::replicas::expand_plan;
use lightbay_training::simulate::schedule;
use proptest::prelude::*;

const RATES: [Rates; 3] = [Rates::Fair, Rates::Level, Rates::Best];

/// A circuit allocation within the ports: one each, then more where `seed` points.
fn circuits(evaluator: &Evaluator, seed: u64) -> Vec<u32> {
    let budget = &evaluator.network.budget;
    let mut x = vec![1; budget.links()];
    let mut state = seed;
    for _ in 0..200 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let link = (state >> 33) as usize % x.len().max(1);
        let mut more = x.clone();
        if let Some(count) = more.get_mut(link) {
            *count += 1;
        }
        if budget.fits(&more) {
            x = more;
        }
    }
    x
}

fn planned(evaluator: &Evaluator, x: &[u32], rates: Rates) -> (TrainingResult, f64) {
    let mut scratch = Scratch::default();
    let trace = evaluator.trace(x, rates, &mut scratch);
    (schedule::result(evaluator, x, rates.control(), &trace), trace.makespan)
}

const fn claims(makespan_s: f64, bound_s: Option<f64>) -> Claims<'static> {
    Claims { makespan_s, bound_s, bound_covers: None, method: "test", metrics: None, robust: None }
}

fn on_job(job: &Job, result: &TrainingResult, makespan_s: f64, bound_s: Option<f64>) -> Verdict {
    check_job(job, result, &claims(makespan_s, bound_s), Depth::Usual)
}

fn on_instance(instance: &Instance, result: &TrainingResult, makespan_s: f64) -> Verdict {
    check_instance(instance, result, &claims(makespan_s, None), Depth::Usual)
}

/// Plans `job` under every rule and checks it in all forms.
fn agree(job: &Job, seed: u64, expand: bool) -> Result<(), String> {
    // A job that the planner refuses (too few ports, for example) or that never leaves its pods is not the subject.
    let Ok((instance, _)) = collapsed(job, Dominance::AtBandwidth) else { return Ok(()) };
    if instance.tasks.is_empty() {
        return Ok(());
    }
    let evaluator = Evaluator::new(&instance).map_err(|error| error.to_string())?;
    let x = circuits(&evaluator, seed);
    for rates in RATES {
        let (result, makespan_s) = planned(&evaluator, &x, rates);
        let ends = on_job(job, &result, makespan_s, None);
        if !ends.violations.is_empty() {
            return Err(format!("job, {rates:?}, {x:?}: {:#?}", ends.violations));
        }
        let reduced = on_instance(&instance, &result, makespan_s);
        if !reduced.violations.is_empty() {
            return Err(format!("instance, {rates:?}, {x:?}: {:#?}", reduced.violations));
        }
        if expand {
            let (all, copied) = expand_plan(job, &result).map_err(|error| error.to_string())?;
            let copies = on_instance(&all, &copied, makespan_s);
            if !copies.violations.is_empty() {
                return Err(format!("expanded, {rates:?}, {x:?}: {:#?}", copies.violations));
            }
        }
    }
    Ok(())
}

#[test]
fn on_every_built_in_job() {
    for preset in JOBS {
        for seed in 0..4 {
            let expand = seed == 0 && !preset.name.starts_with("megatron");
            agree(&preset.job(), seed, expand).unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        }
        let mut turned = preset.job();
        turned.reverse = true;
        agree(&turned, 9, false).unwrap_or_else(|error| panic!("{} reversed: {error}", preset.name));
        let mut exact = preset.job();
        exact.run.balance = Balance::Exact;
        agree(&exact, 7, false).unwrap_or_else(|error| panic!("{} exact: {error}", preset.name));
    }
}

#[test]
fn the_bound_of_fixed_circuits_is_not_a_bound_of_the_job() {
    let job = JOBS.iter().find(|preset| preset.name == "small").unwrap().job();
    let (instance, _) = collapsed(&job, Dominance::AtBandwidth).unwrap();
    let evaluator = Evaluator::new(&instance).unwrap();
    let poor = vec![1; evaluator.network.links()];
    let (result, makespan_s) = planned(&evaluator, &poor, Rates::Level);
    let verdict = on_job(&job, &result, makespan_s, Some(makespan_s));
    assert_eq!(verdict.violations[0].code, "bound");
    let optimum_s = 0.354_406;
    assert_eq!(on_job(&job, &result, makespan_s, Some(optimum_s)).bound, BoundTrust::Verified);
}

prop_compose! {
    fn stages(pp: u32)(list in prop::collection::vec((1e-3..20e-3_f64, 1e-3..40e-3_f64, prop_oneof![Just(0.0), 1e6..2e9_f64]), pp as usize)) -> Vec<MeasuredStage> {
        list.into_iter().map(|(fwd_s, bwd_s, dp_bytes_per_gpu)| MeasuredStage { fwd_s, bwd_s, dp_bytes_per_gpu, dp_bytes_per_micro_batch: 0.0 }).collect()
    }
}

/// The order of GPipe.
fn all_forwards_first(stages: u32, n: u32) -> Order {
    let steps = |backward| (0..n).map(move |micro_batch| Step { backward, micro_batch });
    Order::Lists(vec![steps(false).chain(steps(true)).collect(); stages as usize])
}

fn jobs() -> impl Strategy<Value = Job> {
    let sizes = (1..4_u32, 1..7_u32, 1..5_u32, 1..4_u32, 1..7_u32);
    sizes.prop_flat_map(|(tp, pp, replicas, per_pod, n)| {
        let switches = (any::<bool>(), any::<bool>(), any::<bool>(), 0..3_u32, 1e5..3e8_f64);
        (stages(pp), switches, 1..4_u32).prop_map(move |(stages, switches, chunks)| {
            let (reverse, blocking, literal, ports, pp_bytes) = switches;
            let interleaved = chunks > 1 && pp > 1 && !literal;
            let n = if interleaved { n.next_multiple_of(pp) } else { n };
            let mut run = RunConfig::of(tp, pp, tp * pp * replicas, tp * per_pod.min(pp), n);
            run.virtual_stages = if interleaved { chunks } else { 1 };
            run.dp_buckets = 1 + ports * chunks % 5;
            run.blocking_p2p = blocking;
            Job {
                model: None,
                run,
                pods: None,
                failed_ports: Vec::new(),
                ports_per_pod: Some(PortsPerPod::Same(4 + 3 * ports)),
                reverse,
                measured: Some(Measured {
                    stages,
                    pp_bytes_per_rank: pp_bytes,
                    order: if literal { all_forwards_first(pp, n) } else { Order::OneForwardOneBackward },
                    replicas: None,
                }),
                reconfiguration: None,
            }
        })
    })
}

/// Four pods, every pair a link, tasks between any of them; GPUs overlap, so that network cards are shared.
fn instances() -> impl Strategy<Value = Instance> {
    let task = (0..4_u32, 1..4_u32, 1..4_u32, 0..4_u32, 0..4_u32, 1e7..3e9_f64, 0.0..0.03_f64, 0.0..0.01_f64);
    let tasks = prop::collection::vec(task, 1..12);
    let edges = prop::collection::vec((0..12_u32, 0..12_u32, 0.0..0.02_f64), 0..12);
    (tasks, edges, 9..20_u32).prop_map(|(tasks, edges, ports)| {
        let count = tasks.len() as u32;
        let pods = (0..4).map(|id| Pod { id: PodId(id), name: format!("p{id}"), ports, mirror: false });
        let pairs = (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b)));
        let links = pairs.enumerate().map(|(id, (a, b))| Link {
            id: LinkId::from_index(id),
            pod_a: PodId(a),
            pod_b: PodId(b),
            kind: LinkKind::Mixed,
            ports_a: 1,
            ports_b: 1,
        });
        let tasks = tasks.into_iter().enumerate().map(
            |(id, (src, step, flows, first, other, volume_bytes, release_s, tail_s))| {
                let dst = (src + step) % 4;
                Task {
                    id: TaskId::from_index(id),
                    name: format!("t{id}"),
                    kind: TaskKind::Other,
                    micro_batch: 0,
                    stage: 0,
                    replica: 0,
                    src_pod: PodId(src),
                    dst_pod: PodId(dst),
                    flows,
                    volume_bytes,
                    src_gpus: GpuSet::Range { first: 8 * src + first, count: flows },
                    dst_gpus: GpuSet::Range { first: 8 * dst + other, count: flows },
                    release_s,
                    tail_s,
                }
            },
        );
        let edges = edges.into_iter().filter_map(|(a, b, delay_s)| {
            let (pred, succ) = (a.min(b), a.max(b));
            (pred < succ && succ < count).then_some(Edge { pred: TaskId(pred), succ: TaskId(succ), delay_s })
        });
        Instance {
            nic_bandwidth_gbps: 400.0,
            pods: pods.collect(),
            links: links.collect(),
            tasks: tasks.collect(),
            edges: edges.collect(),
            provenance: None,
            reconfiguration: None,
        }
    })
}

/// Tasks (flows, bytes, release) from one pod to another, each with GPUs of its own.
fn one_link(sinks: &[(u32, f64, f64)], ports: u32) -> Instance {
    let pod = |id: u32| Pod { id: PodId(id), name: format!("p{id}"), ports, mirror: false };
    let link =
        Link { id: LinkId(0), pod_a: PodId(0), pod_b: PodId(1), kind: LinkKind::Dp, ports_a: 1, ports_b: 1 };
    let tasks = sinks.iter().enumerate().map(|(id, &(flows, volume_bytes, release_s))| Task {
        id: TaskId::from_index(id),
        name: format!("t{id}"),
        kind: TaskKind::Dp,
        micro_batch: 0,
        stage: 0,
        replica: 0,
        src_pod: PodId(0),
        dst_pod: PodId(1),
        flows,
        volume_bytes,
        src_gpus: GpuSet::Range { first: 8 * id as u32, count: flows },
        dst_gpus: GpuSet::Range { first: 1000 + 8 * id as u32, count: flows },
        release_s,
        tail_s: 0.0,
    });
    Instance {
        nic_bandwidth_gbps: 400.0,
        pods: vec![pod(0), pod(1)],
        links: vec![link],
        tasks: tasks.collect(),
        edges: vec![],
        provenance: None,
        reconfiguration: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_any_measured_job(job in jobs(), seed in any::<u64>()) {
        // Odd stages send unequal halves around the ring; a copied plan gives both the same time, which is not fair.
        let even = job.run.tp % 2 == 0 || job.run.gpus / (job.run.tp * job.run.pp) < 3;
        prop_assert_eq!(agree(&job, seed, even), Ok(()));
    }

    #[test]
    fn on_any_instance(instance in instances(), seed in any::<u64>()) {
        let evaluator = Evaluator::new(&instance).unwrap();
        let x = circuits(&evaluator, seed);
        for rates in RATES {
            let (result, makespan_s) = planned(&evaluator, &x, rates);
            prop_assert_eq!(on_instance(&instance, &result, makespan_s).violations, []);
        }
    }

    /// Level-first rates and a closed form over all subsets are two ways to the same optimum.
    #[test]
    fn on_the_optimum_of_one_link(
        sinks in prop::collection::vec((1..5_u32, 1e7..3e9_f64, 0.0..0.05_f64), 1..6),
        ports in 1..9_u32,
    ) {
        let instance = one_link(&sinks, ports);
        let evaluator = Evaluator::new(&instance).unwrap();
        let (result, makespan_s) = planned(&evaluator, &[ports], Rates::Level);
        let verdict = check_instance(&instance, &result, &claims(makespan_s, Some(makespan_s)), Depth::Usual);
        prop_assert_eq!((verdict.violations, verdict.bound), (vec![], BoundTrust::Verified));
    }
}
