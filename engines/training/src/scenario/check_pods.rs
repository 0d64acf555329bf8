//! Check of a job's list of pods, and the placement that follows from it.

use super::job::{Job, PodMap, PortsPerPod};
use super::limits::{MAX_GPUS_PER_STAGE, MAX_PORTS};
use crate::scenario::workload::{Shape, StagePlaces};
use lightbay_core::problem::{Problem, Problems, counted, printable};
use std::collections::HashMap;

/// Maximum number of pods in a list.
const MAX_LISTED: usize = 1 << 16;

/// A range of ranks and its pod.
struct Part {
    first: u64,
    last: u64,
    pod: u32,
}

/// Refuses placement settings that cannot be combined with a list of pods.
pub(super) fn check_alone(job: &Job, problems: &mut Problems) {
    let run = &job.run;
    let others = [
        ("gpus_per_pod", run.gpus_per_pod.is_some()),
        ("gpus_per_pod_per_replica", run.gpus_per_pod_per_replica > 0),
    ];
    let given = others.into_iter().filter(|(_, given)| *given).map(|(name, _)| format!("job.run.{name}"));
    for path in given.chain(job.reverse.then(|| "job.reverse".to_owned())) {
        problems.add(path, "cannot be combined with 'pods'", "give one of the two");
    }
}

/// Places the stages of all replicas as the list gives them. If the groups of replicas are alike, `shape` describes one
/// group; otherwise `shape` gets the places of all replicas.
pub(super) fn place(job: &Job, map: &PodMap, shape: &mut Shape, problems: &mut Problems) {
    let Some((names, parts)) = parts(map, job.run.gpus.into(), problems) else { return };
    let Some(pods) = pods_of_replicas(&names, &parts, shape, problems) else { return };
    let places = StagePlaces::of(names, pods);
    let mut gpus = vec![0_u32; places.names.len()];
    for part in &parts {
        gpus[part.pod as usize] += (part.last + 1 - part.first) as u32;
    }
    let listed = gpus.len();
    // Pods of the copies; all ports are taken as equal here, because they are assigned below.
    let copies = places.copies(&vec![1; listed]).map_or_else(Vec::new, |copies| copies.pods);
    let positions = copies.first().map_or(0, Vec::len);
    let ports = match &job.ports_per_pod {
        None => gpus,
        Some(PortsPerPod::Same(ports)) => vec![*ports; listed],
        Some(PortsPerPod::ByPosition(ports)) if ports.len() == listed => ports.clone(),
        // Every copy gets the same ports, position by position.
        Some(PortsPerPod::ByPosition(ports)) if ports.len() == positions => {
            let mut all = vec![0; listed];
            for copy in &copies {
                for (pod, ports) in copy.iter().zip(ports) {
                    all[*pod as usize] = *ports;
                }
            }
            all
        }
        Some(PortsPerPod::ByPosition(ports)) => {
            let remedy = if copies.len() > 1 {
                format!("give one number, {positions} numbers (one copy) or {listed} numbers")
            } else {
                format!("give one number or {listed} numbers")
            };
            problems.add(
                "job.ports_per_pod",
                format!("has {} entries, but the job has {listed} pods", ports.len()),
                remedy,
            );
            return;
        }
    };
    if let Some(ports) = ports.iter().find(|ports| !(1..=MAX_PORTS).contains(ports)) {
        let remedy = format!("give whole numbers from 1 to {MAX_PORTS}");
        problems.add("job.ports_per_pod", format!("has '{ports}'"), remedy);
        return;
    }
    let Some(ports) = left(job, &places.names, ports, problems) else { return };
    if let Some(copies) = places.copies(&ports) {
        let together = u64::from(shape.gpus_per_stage) * u64::from(copies.together);
        if together > MAX_GPUS_PER_STAGE {
            problems.add(
                "job.pods",
                format!(
                    "a pod would hold {together} GPUs of one stage, but the maximum is {MAX_GPUS_PER_STAGE}"
                ),
                "list smaller pods",
            );
            return;
        }
        shape.gpus_per_stage *= copies.together;
        shape.dp_in *= copies.together;
        shape.replicas = copies.pods.len() as u32;
        shape.replicas_per_pod = copies.together;
        shape.stages_per_pod = copies.stages_per_pod;
        shape.pods_per_replica = copies.pods[0].len() as u32;
        shape.ports = copies.pods[0].iter().map(|pod| ports[*pod as usize]).collect();
        let name = |pod: &u32| places.names[*pod as usize].clone();
        shape.names = Some(copies.pods.iter().map(|copy| copy.iter().map(name).collect()).collect());
    } else {
        shape.pods_per_replica = listed as u32;
        shape.ports = ports;
        shape.places = Some(places);
    }
}

/// Subtracts the failed ports from the ports of pods that are not listed. If replicas on separate pods then have
/// different ports, `shape` gets the places of all replicas.
pub(super) fn fail(job: &Job, shape: &mut Shape, problems: &mut Problems) {
    if job.failed_ports.is_empty() {
        return;
    }
    let (copies, positions, together) = (shape.replicas, shape.pods_per_replica, shape.replicas_per_pod);
    let all = || (0..copies).flat_map(|copy| (0..positions).map(move |position| (copy, position)));
    let name =
        |(copy, position)| if copies > 1 { format!("r{copy}p{position}") } else { format!("p{position}") };
    let names: Vec<String> = all().map(name).collect();
    let ports = all().map(|(_, position)| shape.ports[position as usize]).collect();
    let Some(ports) = left(job, &names, ports, problems) else { return };
    let pod = |replica: u32, stage| replica / together * positions + shape.position(stage);
    let pods =
        (0..copies * together).map(|replica| (0..shape.stages).map(|stage| pod(replica, stage)).collect());
    let places = StagePlaces::of(names, pods.collect());
    if let Some(alike) = places.copies(&ports) {
        // Positions are numbered in the order of pods.
        shape.ports = ports[..alike.pods[0].len()].to_vec();
        return;
    }
    shape.gpus_per_stage /= together;
    shape.dp_in /= together;
    shape.replicas *= together;
    shape.replicas_per_pod = 1;
    shape.stages_per_pod = shape.stages;
    shape.pods_per_replica = ports.len() as u32;
    shape.ports = ports;
    shape.places = Some(places);
}

/// Working ports of every pod: its ports without the failed ports.
fn left(job: &Job, names: &[String], mut ports: Vec<u32>, problems: &mut Problems) -> Option<Vec<u32>> {
    let before = problems.total();
    let had = ports.clone();
    let pods: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let mut seen = HashMap::new();
    for (at, failed) in job.failed_ports.iter().enumerate() {
        let path = format!("job.failed_ports[{at}]");
        let Some(&pod) = pods.get(failed.pod.as_str()) else {
            let (first, last) =
                (names.first().map_or("", String::as_str), names.last().map_or("", String::as_str));
            problems.add(
                path,
                format!("names '{}', but no pod has that name", printable(&failed.pod)),
                format!("give one of the {} pods, '{first}' to '{last}'", names.len()),
            );
            continue;
        };
        if !(1..=had[pod]).contains(&failed.port) {
            let message = format!(
                "is port {} of '{}', which has {}",
                failed.port,
                failed.pod,
                counted(had[pod].into(), "port", "ports")
            );
            problems.add(path, message, format!("give a port from 1 to {}", had[pod]));
        } else if let Some(first) = seen.insert((pod, failed.port), at) {
            problems.add(path, format!("repeats job.failed_ports[{first}]"), "name it once");
        } else {
            ports[pod] -= 1;
        }
    }
    (problems.total() == before).then_some(ports)
}

/// Returns the names of the pods, and the ranges in rank order; every rank is in one range.
fn parts(map: &PodMap, gpus: u64, problems: &mut Problems) -> Option<(Vec<String>, Vec<Part>)> {
    let before = problems.total();
    let (names, mut parts) = match map {
        PodMap::Sizes(sizes) => {
            let mut parts: Vec<Part> = Vec::with_capacity(sizes.len());
            for (pod, size) in (0..).zip(sizes) {
                let first = parts.last().map_or(0, |part| part.last + 1);
                parts.push(Part { first, last: (first + u64::from(*size)).saturating_sub(1), pod });
            }
            let total: u64 = sizes.iter().map(|size| u64::from(*size)).sum();
            if total != gpus || sizes.contains(&0) {
                let has = counted(sizes.len() as u64, "pod", "pods");
                problems.add(
                    "job.pods",
                    format!("lists {has} of {total} GPUs in total, but the job has {gpus}"),
                    format!("give sizes of at least 1 that add up to {gpus}, or change `gpus`"),
                );
            }
            ((0..sizes.len()).map(|pod| format!("p{pod}")).collect(), parts)
        }
        PodMap::Ranges(ranges) => {
            let mut known: HashMap<&str, u32> = HashMap::new();
            let mut names: Vec<String> = Vec::new();
            let mut parts = Vec::with_capacity(ranges.len());
            for (at, range) in ranges.iter().enumerate() {
                let name = range.pod.trim();
                if name.is_empty() || printable(name) != name || name.contains([':', ',', ';']) {
                    let message = format!("is '{}'", printable(name));
                    let remedy = "give a name without control characters, ':', ',' and ';'";
                    problems.add(format!("job.pods[{at}].pod"), message, remedy);
                }
                let (first, last) = (u64::from(range.rank_first), u64::from(range.rank_last));
                if first > last || last >= gpus {
                    problems.add(
                        format!("job.pods[{at}]"),
                        format!("holds ranks {first} to {last}, but the job has ranks 0 to {}", gpus - 1),
                        format!("give the first rank, then the last, both from 0 to {}", gpus - 1),
                    );
                }
                let next = names.len() as u32;
                let pod = *known.entry(name).or_insert(next);
                if pod == next {
                    names.push(name.to_owned());
                }
                parts.push(Part { first, last, pod });
            }
            (names, parts)
        }
    };
    if names.len() > MAX_LISTED {
        let message = format!("lists {} pods, but the maximum is {MAX_LISTED}", names.len());
        problems.add("job.pods", message, "list larger pods");
    }
    if problems.total() > before {
        return None;
    }
    parts.sort_by_key(|part| part.first);
    let mut next = 0;
    for part in &parts {
        let name = |pod: u32| names[pod as usize].as_str();
        if part.first > next {
            problems.add(
                "job.pods",
                format!("assigns ranks {next} to {} to no pod", part.first - 1),
                "give every rank a pod",
            );
        } else if part.first < next {
            problems.add(
                "job.pods",
                format!("assigns rank {} twice, the second time to '{}'", part.first, name(part.pod)),
                "list every rank once",
            );
        }
        next = next.max(part.last + 1);
    }
    if next < gpus {
        let message = format!("assigns ranks {next} to {} to no pod", gpus - 1);
        problems.add("job.pods", message, "give every rank a pod");
    }
    (problems.total() == before).then_some((names, parts))
}

/// The pod of every stage of every replica.
fn pods_of_replicas(
    names: &[String],
    parts: &[Part],
    shape: &Shape,
    problems: &mut Problems,
) -> Option<Vec<Vec<u32>>> {
    let (g, stages) = (u64::from(shape.gpus_per_stage), shape.stages as usize);
    let mut pods = vec![vec![0; stages]; shape.replicas as usize];
    let mut at = 0;
    let mut first = 0;
    for stage in 0..stages {
        for (replica, pods) in pods.iter_mut().enumerate() {
            let last = first + g - 1;
            while parts[at].last < first {
                at += 1;
            }
            let pod = parts[at].pod;
            let other = parts[at..].iter().take_while(|part| part.first <= last).find(|part| part.pod != pod);
            if let Some(other) = other {
                problems.push(Problem::new(
                    "job.pods",
                    format!(
                        "separates ranks {first} to {last}, which are the {g} GPUs of stage {} of replica {replica}: \
                         rank {} is in '{}', but rank {first} is in '{}'",
                        stage + 1, other.first, names[other.pod as usize], names[pod as usize]
                    ),
                    format!("let pods begin at multiples of {g}, because these GPUs exchange activations inside a pod"),
                ));
                return None;
            }
            pods[stage] = pod;
            first += g;
        }
    }
    Some(pods)
}
