//! The case of a job: the checker's own placement and transfers, and the whole graph without merged or dropped nodes.
//!
//! All replicas behave alike, so the checker walks one of them: its pods are 0..G, and G mirror pods represent the ring
//! neighbours.

use super::case::Case;
use super::{Findings, code};
use crate::scenario::instance::{Instance, Link, LinkKind, Pod};
use crate::scenario::job::{Job, PortsPerPod};
use crate::scenario::workload::{Shape, Workload};
use lightbay_core::units::{LinkId, PodId};
use std::borrow::Cow;

mod exchange;
mod graph;
mod listed;
mod orders;

use graph::Builder;
use listed::ListedPods;

/// Maximum number of compute nodes of all stages that a check can hold in memory.
const MOST_COMPUTES: u64 = 16_000_000;

/// Derives network, transfers and full graph; `None` with `scenario` violations if the job contradicts itself.
pub(super) fn case(job: &Job, found: &mut Findings) -> Option<Case<'static>> {
    let (shape, listed) = laid(job).map_err(|fault| found.add(code::SCENARIO, fault)).ok()?;
    let Some(load) = Workload::of(job, &shape) else {
        found.add(code::SCENARIO, "the job names no known model and has no measured figures");
        return None;
    };
    if load.stages.len() != shape.stages as usize {
        found.add(
            code::SCENARIO,
            format!("the job has {} stages, but figures for {} stages", shape.stages, load.stages.len()),
        );
        return None;
    }
    let figures = load.stages.iter().flat_map(|stage| [stage.fwd_s, stage.bwd_s, stage.dp_bytes_per_gpu]);
    if let Some(odd) =
        figures.chain([load.pp_volume_bytes]).find(|value| !(*value >= 0.0 && value.is_finite()))
    {
        found.add(
            code::SCENARIO,
            format!("a time or volume of the job is {odd}, but must be a finite number, 0 or more"),
        );
        return None;
    }
    let orders = orders::orders(job, &shape, found)?;
    let mut builder = Builder::new(job, &shape, &load, listed.as_ref());
    for _ in 0..listed.as_ref().map_or(1, |listed| listed.groups.len()) {
        if let Err(fault) = builder.pipeline(&orders) {
            found.add(code::SCENARIO, fault);
            return None;
        }
    }
    match &listed {
        Some(listed) => builder.exchanges(listed),
        None => builder.ring(),
    }
    let (tasks, dag) = (builder.tasks, builder.dag);
    let (pods, links) =
        listed.map_or_else(|| network(&shape), |listed| listed.network(job.run.virtual_stages));
    let net = Instance {
        nic_bandwidth_gbps: job.run.bandwidth_gbps,
        pods,
        links,
        tasks,
        edges: Vec::new(),
        provenance: None,
        reconfiguration: job.reconfiguration,
    };
    Some(Case { net: Cow::Owned(net), dag })
}

/// Sizes and placement of a job that shares pods with others.
pub(super) fn shape(job: &Job) -> Result<Shape, String> {
    match laid(job)? {
        (shape, None) => Ok(shape),
        (_, Some(_)) => {
            Err("a job whose 'pods' differ between replicas cannot share pods with other jobs".to_owned())
        }
    }
}

/// Sizes and placement, recomputed from the job. Also returns, as the second element of the pair, the pods of all
/// replicas, or `None` if one replica represents all.
fn laid(job: &Job) -> Result<(Shape, Option<ListedPods>), String> {
    let run = &job.run;
    let sizes = [
        ("tp", run.tp),
        ("cp", run.cp),
        ("pp", run.pp),
        ("ep", run.ep),
        ("etp", run.etp),
        ("gpus", run.gpus),
        ("micro_batches", run.micro_batches),
        ("virtual_stages", run.virtual_stages),
        ("dp_buckets", run.dp_buckets),
    ];
    if let Some((name, _)) = sizes.iter().find(|(_, value)| *value == 0) {
        return Err(format!("'{name}' is 0, but must be 1 or more"));
    }
    let parts = u64::from(run.pp) * u64::from(run.virtual_stages);
    if parts.saturating_mul(run.micro_batches.into()) > MOST_COMPUTES {
        return Err(format!(
            "{} micro-batches on {parts} parts of the model are too many to check",
            run.micro_batches
        ));
    }
    interleavable(job)?;
    let sequence_gpus = u64::from(run.tp) * u64::from(run.cp);
    let alone = sequence_gpus.max(u64::from(run.ep) * u64::from(run.etp));
    let (together, own_gpus) = sharing(job, alone)?;
    let stage_gpus = alone * together;
    if run.cp > 1 && job.measured.is_none() && !run.seq.is_multiple_of(2 * run.cp) {
        return Err(format!(
            "'cp' is {}, but 2 x cp does not divide the {} tokens of a sequence",
            run.cp, run.seq
        ));
    }
    let replica_gpus = stage_gpus.saturating_mul(u64::from(run.pp));
    let gpus = u64::from(run.gpus);
    if replica_gpus > gpus || gpus % replica_gpus != 0 {
        return Err(format!("'gpus' is {gpus}, not a multiple of the {replica_gpus} GPUs of one replica"));
    }
    let Some(map) = &job.pods else {
        let shape = uniform(job, [stage_gpus, together, own_gpus])?;
        return if job.failed_ports.is_empty() { Ok((shape, None)) } else { listed::failed(job, shape) };
    };
    if own_gpus > 0 || run.gpus_per_pod.is_some() || job.reverse {
        return Err("'pods' are given together with another placement".to_owned());
    }
    divisible(job, stage_gpus)?;
    let replicas = (gpus / replica_gpus) as u32;
    let listed = ListedPods::of(job, map, stage_gpus as u32, replicas)?;
    let mut shape = Shape {
        gpus_per_stage: stage_gpus as u32,
        replicas,
        replicas_per_pod: 1,
        stages: run.pp,
        virtual_stages: run.virtual_stages,
        dp_buckets: run.dp_buckets,
        stages_per_pod: run.pp,
        pods_per_replica: listed.ports.len() as u32,
        dp_in: (stage_gpus / sequence_gpus) as u32,
        reverse: false,
        exchanging: vec![],
        ports: listed.ports.clone(),
        names: None,
        places: None,
    };
    if listed.represent(&mut shape) {
        shape.exchanging = exchanging(job, &shape);
        return Ok((shape, None));
    }
    Ok((shape, Some(listed)))
}

/// Sizes and placement of replicas that are all alike. A stage has `stage_gpus` GPUs, which belong to `together`
/// replicas. Each replica has `own_gpus` GPUs in a pod.
fn uniform(job: &Job, [stage_gpus, together, own_gpus]: [u64; 3]) -> Result<Shape, String> {
    let run = &job.run;
    let replica_gpus = stage_gpus * u64::from(run.pp);
    let pod_gpus = own_gpus * together;
    let key = if run.gpus_per_pod.is_some() { "gpus_per_pod" } else { "gpus_per_pod_per_replica" };
    if pod_gpus < stage_gpus || pod_gpus % stage_gpus != 0 {
        return Err(format!("'{key}' is {pod_gpus}, not a multiple of the {stage_gpus} GPUs of one stage"));
    }
    if pod_gpus > replica_gpus {
        return Err(format!("'{key}' is {pod_gpus}, more than the {replica_gpus} GPUs of one replica"));
    }
    divisible(job, stage_gpus)?;
    let stages_per_pod = (pod_gpus / stage_gpus) as u32;
    let pods = run.pp.div_ceil(stages_per_pod);
    let stages_in = |position: u32| {
        (0..run.pp).filter(|stage| place(*stage, stages_per_pod, pods, job.reverse) == position).count()
    };
    let ports = match &job.ports_per_pod {
        None => (0..pods).map(|position| (stages_in(position) as u64 * stage_gpus) as u32).collect(),
        Some(PortsPerPod::Same(ports)) => vec![*ports; pods as usize],
        Some(PortsPerPod::ByPosition(list)) if list.len() == pods as usize => list.clone(),
        Some(PortsPerPod::ByPosition(list)) => {
            return Err(format!("'ports_per_pod' has {} entries, but a replica has {pods} pods", list.len()));
        }
    };
    let mut shape = Shape {
        gpus_per_stage: stage_gpus as u32,
        replicas: (u64::from(run.gpus) / replica_gpus) as u32,
        replicas_per_pod: together as u32,
        stages: run.pp,
        virtual_stages: run.virtual_stages,
        dp_buckets: run.dp_buckets,
        stages_per_pod,
        pods_per_replica: pods,
        dp_in: (stage_gpus / (u64::from(run.tp) * u64::from(run.cp))) as u32,
        reverse: job.reverse,
        exchanging: vec![],
        ports,
        names: None,
        places: None,
    };
    shape.exchanging = exchanging(job, &shape);
    Ok(shape)
}

/// Pod positions from which gradients go to other replicas.
fn exchanging(job: &Job, shape: &Shape) -> Vec<bool> {
    let exchanges = |stage: u32| {
        let silent = |bytes: f64| bytes <= 0.0;
        let measured = job.measured.as_ref().and_then(|measured| measured.stages.get(stage as usize));
        shape.replicas > 1 && !measured.is_some_and(|figures| silent(figures.dp_bytes_per_gpu))
    };
    let mut exchanging = vec![false; shape.pods_per_replica as usize];
    for stage in (0..shape.stages).filter(|stage| exchanges(*stage)) {
        exchanging[place(stage, shape.stages_per_pod, shape.pods_per_replica, shape.reverse) as usize] = true;
    }
    exchanging
}

/// Number of replicas that share a pod, and number of GPUs that each of these replicas has in the pod. A pod holds
/// consecutive ranks, and so does a stage.
fn sharing(job: &Job, alone: u64) -> Result<(u64, u64), String> {
    let run = &job.run;
    let Some(pod) = run.gpus_per_pod.map(u64::from) else {
        return Ok((1, run.gpus_per_pod_per_replica.into()));
    };
    let column = u64::from(run.gpus) / u64::from(run.pp);
    let replicas = column / alone;
    if replicas == 0 || replicas * alone != column || pod == 0 {
        return Err(format!(
            "the {column} GPUs of a stage cannot be divided into groups of {alone} GPUs and pods of {pod} GPUs"
        ));
    }
    match (pod.is_multiple_of(column), column.is_multiple_of(pod) && pod.is_multiple_of(alone)) {
        (true, _) => Ok((replicas, pod / replicas)),
        (false, true) => Ok((pod / alone, alone)),
        (false, false) => Err(format!(
            "'gpus_per_pod' is {pod}, which neither is a multiple of the {column} GPUs of a stage nor divides them into whole groups of {alone} GPUs"
        )),
    }
}

/// Checks that layers, experts and the GPUs of a stage can be split as the job specifies.
fn divisible(job: &Job, stage_gpus: u64) -> Result<(), String> {
    let run = &job.run;
    let experts = u64::from(run.ep) * u64::from(run.etp);
    let sequences = u64::from(run.tp) * u64::from(run.cp);
    for (what, ranks) in [("'tp' times 'cp'", sequences), ("'ep' times 'etp'", experts)] {
        if !stage_gpus.is_multiple_of(ranks) {
            return Err(format!(
                "{what} is {ranks}, which does not divide the {stage_gpus} GPUs of one stage"
            ));
        }
    }
    let Some(model) = job.resolved_model() else { return Ok(()) };
    if run.pp > model.layers {
        return Err(format!("'pp' is {}, but the model has {} layers", run.pp, model.layers));
    }
    match model.moe() {
        None if experts > 1 => Err(format!("'ep' times 'etp' is {experts}, but the model has no experts")),
        Some(moe) if moe.experts % run.ep != 0 => {
            Err(format!("'ep' is {}, which does not divide the {} experts", run.ep, moe.experts))
        }
        // Buckets hold whole layers, and the smallest stage has `layers / pp` layers, rounded down.
        _ if job.measured.is_none() && run.dp_buckets > 1 && run.dp_buckets > model.layers / run.pp => {
            Err(format!(
                "'dp_buckets' is {}, but a stage has only {} layers",
                run.dp_buckets,
                model.layers / run.pp
            ))
        }
        _ => Ok(()),
    }
}

/// Checks that stages can hold as many chunks as the job specifies.
fn interleavable(job: &Job) -> Result<(), String> {
    let run = &job.run;
    let chunks = run.virtual_stages;
    if chunks < 2 {
        return Ok(());
    }
    if run.pp < 2 {
        return Err(format!("'virtual_stages' is {chunks}, but the job has one stage"));
    }
    if !run.micro_batches.is_multiple_of(run.pp) {
        return Err(format!(
            "'micro_batches' is {}, not a multiple of the {} stages that interleave them",
            run.micro_batches, run.pp
        ));
    }
    let parts = u64::from(run.pp) * u64::from(chunks);
    match job.resolved_model() {
        Some(model) if job.measured.is_none() && !u64::from(model.layers).is_multiple_of(parts) => {
            Err(format!("{} layers cannot be divided into {parts} equal parts of the model", model.layers))
        }
        _ => Ok(()),
    }
}

/// Pod position of a stage.
fn place(stage: u32, stages_per_pod: u32, pods: u32, reverse: bool) -> u32 {
    let position = stage / stages_per_pod;
    if reverse { pods - 1 - position } else { position }
}

/// Pods and links of one replica and its ring neighbours.
fn network(shape: &Shape) -> (Vec<Pod>, Vec<Link>) {
    let pods_per_replica = shape.pods_per_replica;
    let given = shape.names.as_ref().and_then(|names| names.first());
    let named = |position: u32| match given {
        Some(names) => names[position as usize].clone(),
        None => format!("p{position}"),
    };
    let mut pods: Vec<Pod> = (0..pods_per_replica)
        .map(|position| Pod {
            id: PodId(position),
            name: named(position),
            ports: shape.ports[position as usize],
            mirror: false,
        })
        .collect();
    if shape.exchanging.contains(&true) {
        pods.extend((0..pods_per_replica).map(|position| Pod {
            id: PodId(pods_per_replica + position),
            name: format!("ring-{}", named(position)),
            ports: 0,
            mirror: true,
        }));
    }
    // The last stage sends to the first stage if the first stage has further chunks; with two pods this link already
    // exists.
    let closing = shape.virtual_stages > 1 && pods_per_replica > 2;
    let pipeline = (1..pods_per_replica)
        .map(|position| (position - 1, position))
        .chain(closing.then_some((0, pods_per_replica - 1)))
        .map(|(a, b)| (a, b, LinkKind::Pp, 1, 1));
    let ring_ports = if shape.replicas > 2 { 2 } else { 1 };
    let exchange = (0..pods_per_replica)
        .filter(|position| shape.exchanging[*position as usize])
        .map(|position| (position, pods_per_replica + position, LinkKind::Dp, ring_ports, 0));
    let links = pipeline
        .chain(exchange)
        .enumerate()
        .map(|(id, (a, b, kind, ports_a, ports_b))| Link {
            id: LinkId::from_index(id),
            pod_a: PodId(a),
            pod_b: PodId(b),
            kind,
            ports_a,
            ports_b,
        })
        .collect();
    (pods, links)
}
