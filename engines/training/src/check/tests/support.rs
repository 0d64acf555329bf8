//! Instances, jobs and plans that the tests share.

use crate::check::case::Case;
use crate::check::nics::nic_groups;
use crate::check::replay::replay;
use crate::check::sanity::port_use;
use crate::check::walk::critical_communication_s;
use crate::check::{Claims, Findings, check_instance, check_job, job};
use crate::plan::{LinkCircuits, RateControl, Segment, TaskSchedule, TrainingResult};
use crate::scenario::instance::{Edge, GpuSet, Instance, Link, LinkKind, Pod, Task, TaskKind};
use crate::scenario::job::{Job, Measured, MeasuredStage, ModelChoice, Order, RunConfig};
use lightbay_core::checked::Verdict;
use lightbay_core::kind::Depth;
use lightbay_core::units::{LinkId, PodId, TaskId};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes per second of a 400 Gb/s NIC.
pub const NIC: f64 = 5e10;

/// A plan with its scenario and claims, ready to be broken.
#[derive(Clone, Debug)]
pub struct Whole {
    pub scenario: Scenario,
    pub result: TrainingResult,
    pub makespan_s: f64,
    pub bound_s: Option<f64>,
    /// Figures of the envelope; none if empty.
    pub metrics: BTreeMap<String, f64>,
}

#[derive(Clone, Debug)]
pub enum Scenario {
    Instance(Instance),
    Job(Job),
}

impl Whole {
    pub fn claims(&self) -> Claims<'_> {
        Claims {
            makespan_s: self.makespan_s,
            bound_s: self.bound_s,
            bound_covers: self.result.rate_control.bound_covers().filter(|_| self.bound_s.is_some()),
            method: "by-hand",
            metrics: (!self.metrics.is_empty()).then_some(&self.metrics),
            robust: None,
        }
    }

    pub fn check_at(&self, depth: Depth) -> Verdict {
        let claims = self.claims();
        match &self.scenario {
            Scenario::Instance(instance) => check_instance(instance, &self.result, &claims, depth),
            Scenario::Job(job) => check_job(job, &self.result, &claims, depth),
        }
    }

    pub fn check(&self) -> Verdict {
        self.check_at(Depth::Usual)
    }

    /// The codes of all violations.
    pub fn codes(&self) -> BTreeSet<&'static str> {
        self.check().violations.iter().map(|violation| violation.code).collect()
    }

    pub fn assert_passes(&self) {
        assert_eq!(self.check().violations, [], "a plan that must pass");
    }

    #[track_caller]
    pub fn assert_codes(&self, expected: &[&'static str]) {
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        assert_eq!(self.codes(), expected, "{:#?}", self.check().violations);
    }

    /// The same with all figures that an envelope carries.
    pub fn with_metrics(mut self) -> Self {
        let case = match &self.scenario {
            Scenario::Job(job) => job_case(job),
            Scenario::Instance(instance) => Case::from_instance(instance).expect("no cycle"),
        };
        let ideal = replay(&case, &nic_groups(&case), None).expect("finite times");
        let ports: u32 = case.net.pods.iter().filter(|pod| !pod.mirror).map(|pod| pod.ports).sum();
        let used = self.result.ports_used as f64;
        let figures = [
            ("total_ports", Some(used)),
            ("port_ratio", Some(used / f64::from(ports))),
            ("ideal_makespan_s", Some(self.result.ideal_makespan_s)),
            ("nct", self.result.nct),
            ("comm_ideal_s", critical_communication_s(&case, &ideal)),
        ];
        let figures = figures.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        self.metrics = figures.collect();
        self
    }

    pub fn instance(&mut self) -> &mut Instance {
        match &mut self.scenario {
            Scenario::Instance(instance) => instance,
            Scenario::Job(_) => panic!("not an instance"),
        }
    }

    pub fn task(&mut self, task: usize) -> &mut TaskSchedule {
        &mut self.result.tasks[task]
    }
}

pub fn pod(id: u32, ports: u32, mirror: bool) -> Pod {
    Pod { id: PodId(id), name: format!("p{id}"), ports, mirror }
}

pub fn link(id: u32, a: u32, b: u32, kind: LinkKind, ports_b: u32) -> Link {
    Link { id: LinkId(id), pod_a: PodId(a), pod_b: PodId(b), kind, ports_a: 1, ports_b }
}

/// A task of two flows between two pods.
pub fn task(id: u32, name: &str, pods: [u32; 2], gpus: [u32; 2], volume_bytes: f64, release_s: f64) -> Task {
    let pair = |first: u32| GpuSet::List(vec![first, first + 1]);
    Task {
        id: TaskId(id),
        name: name.to_owned(),
        kind: TaskKind::Other,
        micro_batch: 1,
        stage: 1,
        replica: 0,
        src_pod: PodId(pods[0]),
        dst_pod: PodId(pods[1]),
        flows: 2,
        volume_bytes,
        src_gpus: pair(gpus[0]),
        dst_gpus: pair(gpus[1]),
        release_s,
        tail_s: 0.0,
    }
}

/// Two tasks that meet on one link; `ports` at both ends.
pub fn toy_a(ports: u32) -> Instance {
    Instance {
        nic_bandwidth_gbps: 400.0,
        pods: vec![pod(0, ports, false), pod(1, ports, false)],
        links: vec![link(0, 0, 1, LinkKind::Pp, 1)],
        tasks: vec![task(0, "a", [0, 1], [0, 10], 2e9, 0.0), task(1, "b", [0, 1], [2, 12], 2e9, 0.01)],
        edges: vec![],
        provenance: None,
        reconfiguration: None,
    }
}

/// A then B back and D to a mirror pod.
pub fn toy_b() -> Instance {
    Instance {
        nic_bandwidth_gbps: 400.0,
        pods: vec![pod(0, 3, false), pod(1, 3, false), pod(2, 0, true)],
        links: vec![link(0, 0, 1, LinkKind::Pp, 1), link(1, 1, 2, LinkKind::Dp, 0)],
        tasks: vec![
            task(0, "A", [0, 1], [0, 2], 1e9, 0.0),
            task(1, "B", [1, 0], [2, 0], 1e9, 0.0),
            task(2, "D", [1, 2], [4, 6], 1.5e9, 0.0),
        ],
        edges: vec![
            Edge { pred: TaskId(0), succ: TaskId(1), delay_s: 0.01 },
            Edge { pred: TaskId(0), succ: TaskId(2), delay_s: 0.0 },
        ],
        provenance: None,
        reconfiguration: None,
    }
}

/// A schedule from its start and pieces (rate in NICs, end in seconds).
pub fn runs(task: u32, start_s: f64, pieces: &[(f64, f64)]) -> TaskSchedule {
    let mut from_s = start_s;
    let segments = pieces
        .iter()
        .map(|(nics, end_s)| {
            let segment =
                Segment { start_s: from_s, end_s: *end_s, volume_bytes: nics * NIC * (end_s - from_s) };
            from_s = *end_s;
            segment
        })
        .collect();
    TaskSchedule { task: TaskId(task), start_s, finish_s: from_s, segments }
}

/// A plan from its parts.
pub fn whole(
    scenario: Scenario,
    rate_control: RateControl,
    circuits: &[u32],
    ports_used: u64,
    [makespan_s, ideal_makespan_s, nct]: [f64; 3],
    tasks: Vec<TaskSchedule>,
) -> Whole {
    let topology = circuits
        .iter()
        .enumerate()
        .map(|(link, circuits)| LinkCircuits { link: LinkId::from_index(link), circuits: *circuits })
        .collect();
    let result = TrainingResult {
        rate_control,
        topology,
        ports_used,
        ideal_makespan_s,
        nct: Some(nct),
        tasks,
        jobs: Vec::new(),
        phases: None,
    };
    Whole { scenario, result, makespan_s, bound_s: None, metrics: BTreeMap::new() }
}

/// toy_a with 3 circuits at fair rates: 2, then 1.5 each, then 2 NICs.
pub fn toy_a_fair() -> Whole {
    let (first_s, second_s) = (0.07 / 3.0, 0.1 / 3.0);
    let tasks =
        vec![runs(0, 0.0, &[(2.0, 0.01), (1.5, first_s)]), runs(1, 0.01, &[(1.5, first_s), (2.0, second_s)])];
    let figures = [second_s, 0.03, 7.0 / 6.0];
    whole(Scenario::Instance(toy_a(3)), RateControl::Fair, &[3], 6, figures, tasks)
}

/// toy_a with 3 circuits and planned rates: the later task keeps its two NICs.
pub fn toy_a_joint() -> Whole {
    let tasks = vec![runs(0, 0.0, &[(2.0, 0.01), (1.0, 0.03)]), runs(1, 0.01, &[(2.0, 0.03)])];
    whole(Scenario::Instance(toy_a(3)), RateControl::Joint, &[3], 6, [0.03, 0.03, 1.0], tasks)
}

/// The same two tasks one after the other on two circuits, with an idle segment.
pub fn toy_a_idle() -> Whole {
    let tasks = vec![
        runs(0, 0.0, &[(2.0, 0.01), (0.0, 0.02), (1.0, 0.04)]),
        runs(1, 0.01, &[(2.0, 0.02), (1.0, 0.04)]),
    ];
    whole(Scenario::Instance(toy_a(3)), RateControl::Joint, &[2], 4, [0.04, 0.03, 1.5], tasks)
}

/// toy_b with circuits [2, 1]: no task meets another.
pub fn toy_b_plan(rate_control: RateControl) -> Whole {
    let tasks =
        vec![runs(0, 0.0, &[(2.0, 0.01)]), runs(1, 0.02, &[(2.0, 0.03)]), runs(2, 0.01, &[(1.0, 0.04)])];
    whole(Scenario::Instance(toy_b()), rate_control, &[2, 1], 5, [0.04, 0.03, 1.5], tasks)
}

pub fn preset(name: &str) -> Job {
    crate::scenario::presets::job(name).expect("a built-in job").job()
}

/// GPT 7B, 4 stages in 2 pods, 4 micro-batches, as the built-in job.
pub fn tiny4() -> Job {
    Job {
        model: Some(ModelChoice::Preset("gpt_7b".to_owned())),
        run: RunConfig::of(2, 4, 16, 4, 4),
        pods: None,
        failed_ports: Vec::new(),
        ports_per_pod: None,
        reverse: false,
        measured: None,
        reconfiguration: None,
    }
}

/// One GPU per stage, one stage per pod, round numbers: forward 1 s, backward 2 s.
pub fn measured(stages: u32, replicas: u32, n: u32, pp_bytes: f64, dp_bytes: f64) -> Job {
    let stage =
        MeasuredStage { fwd_s: 1.0, bwd_s: 2.0, dp_bytes_per_gpu: dp_bytes, dp_bytes_per_micro_batch: 0.0 };
    Job {
        model: None,
        run: RunConfig::of(1, stages, stages * replicas, 1, n),
        pods: None,
        failed_ports: Vec::new(),
        ports_per_pod: Some(crate::scenario::job::PortsPerPod::Same(6)),
        reverse: false,
        measured: Some(Measured {
            stages: vec![stage; stages as usize],
            pp_bytes_per_rank: pp_bytes,
            order: Order::OneForwardOneBackward,
            replicas: None,
        }),
        reconfiguration: None,
    }
}

pub fn job_case(job: &Job) -> Case<'static> {
    let mut found = Findings::default();
    let case = job::case(job, &mut found);
    assert!(found.is_empty(), "{found:?}");
    case.expect("no violation, so there is a case")
}

/// A fair plan of the simulator: every interval between events at its mean rate is enough where tasks do not meet.
pub fn simulated(scenario: &Scenario, circuits: &[u32]) -> Whole {
    let case = match scenario {
        Scenario::Job(job) => job_case(job),
        Scenario::Instance(instance) => Case::from_instance(instance).expect("no cycle"),
    };
    let nics = nic_groups(&case);
    let run = replay(&case, &nics, Some(circuits)).expect("finite times");
    let ideal = replay(&case, &nics, None).expect("finite times");
    let nct = critical_communication_s(&case, &ideal)
        .map(|comm_s| 1.0 + (run.makespan_s - ideal.makespan_s) / comm_s);
    let ports_used = port_use(&case.net, circuits)
        .iter()
        .zip(&case.net.pods)
        .filter(|(_, pod)| !pod.mirror)
        .map(|(used, _)| used)
        .sum();
    let tasks = case
        .net
        .tasks
        .iter()
        .enumerate()
        .map(|(id, task)| {
            let (start_s, end_s) = (run.start_s[id], run.finish_s[id]);
            let segment = Segment { start_s, end_s, volume_bytes: task.volume_bytes };
            TaskSchedule { task: TaskId::from_index(id), start_s, finish_s: end_s, segments: vec![segment] }
        })
        .collect();
    let figures = [run.makespan_s, ideal.makespan_s, nct.unwrap_or(1.0)];
    let mut plan = whole(scenario.clone(), RateControl::Fair, circuits, ports_used, figures, tasks);
    if nct.is_none() {
        plan.result.nct = None;
    }
    plan
}
