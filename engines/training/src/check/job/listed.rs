//! Placement of jobs whose pods are listed rank by rank, derived from this list.

use crate::scenario::instance::{Link, LinkKind, Pod};
use crate::scenario::job::{Job, PodMap, PortsPerPod};
use crate::scenario::workload::Shape;
use lightbay_core::units::{LinkId, PodId};

/// The pods that hold the stages of all replicas.
pub(super) struct ListedPods {
    names: Vec<String>,
    pub ports: Vec<u32>,
    /// Pod of each replica and stage: `at[replica][stage]`.
    at: Vec<Vec<u32>>,
    /// Groups of replicas that have the same pods on all stages, in order of the first replica of each group.
    pub groups: Vec<Vec<u32>>,
    /// Stages whose gradients leave their pods.
    pub exchanging: Vec<bool>,
}

/// The pods of a stage that exchange gradients, in the order of their first replicas: pod and replicas.
pub(super) type Ring = Vec<(u32, Vec<u32>)>;

/// Placement of replicas that differ only by failed ports. The second element of the pair has the pods of all replicas;
/// it is `None` if all replicas have the same working ports, because one replica represents all in this case.
pub(super) fn failed(job: &Job, shape: Shape) -> Result<(Shape, Option<ListedPods>), String> {
    let (copies, pods, together) = (shape.replicas, shape.pods_per_replica, shape.replicas_per_pod);
    let mut listed =
        ListedPods { names: vec![], ports: vec![], at: vec![], groups: vec![], exchanging: vec![] };
    for copy in 0..copies {
        for pod in 0..pods {
            listed.names.push(if copies == 1 { format!("p{pod}") } else { format!("r{copy}p{pod}") });
            listed.ports.push(shape.ports[pod as usize]);
        }
        let of = |stage| copy * pods + super::place(stage, shape.stages_per_pod, pods, shape.reverse);
        for _ in 0..together {
            listed.at.push((0..shape.stages).map(of).collect());
        }
        listed.groups.push((copy * together..(copy + 1) * together).collect());
    }
    listed.take_failed(job)?;
    let mut of_copies = listed.ports.chunks(pods as usize);
    let first = of_copies.next().unwrap_or_default().to_vec();
    if of_copies.all(|ports| ports == first) {
        return Ok((Shape { ports: first, ..shape }, None));
    }
    listed.set_exchanging(job);
    let unit = Shape {
        gpus_per_stage: shape.gpus_per_stage / together,
        dp_in: shape.dp_in / together,
        replicas: copies * together,
        replicas_per_pod: 1,
        pods_per_replica: listed.ports.len() as u32,
        ports: listed.ports.clone(),
        ..shape
    };
    Ok((unit, Some(listed)))
}

impl ListedPods {
    /// Reads the list for stages of `g` GPUs.
    pub fn of(job: &Job, map: &PodMap, g: u32, replicas: u32) -> Result<Self, String> {
        let gpus = job.run.gpus as usize;
        let mut names: Vec<String> = Vec::new();
        let mut pod_of: Vec<Option<u32>> = vec![None; gpus];
        let mut assign = |first: u64, last: u64, pod: u32| {
            for rank in first..=last {
                match pod_of.get_mut(rank as usize) {
                    None => return Err(format!("'pods' name rank {rank}, but the job has {gpus} ranks")),
                    Some(Some(_)) => return Err(format!("'pods' name rank {rank} twice")),
                    Some(free) => *free = Some(pod),
                }
            }
            Ok(())
        };
        match map {
            PodMap::Sizes(sizes) => {
                let mut next = 0;
                for (pod, size) in (0..).zip(sizes) {
                    if *size == 0 {
                        return Err("'pods' have a pod without GPUs".to_owned());
                    }
                    assign(next, next + u64::from(*size) - 1, pod)?;
                    next += u64::from(*size);
                    names.push(format!("p{pod}"));
                }
            }
            PodMap::Ranges(ranges) => {
                for range in ranges {
                    let name = range.pod.trim();
                    if range.rank_first > range.rank_last || name.is_empty() {
                        return Err("a range of 'pods' is empty or has no name".to_owned());
                    }
                    let pod = names.iter().position(|known| known == name).unwrap_or(names.len());
                    if pod == names.len() {
                        names.push(name.to_owned());
                    }
                    assign(range.rank_first.into(), range.rank_last.into(), pod as u32)?;
                }
            }
        }
        let mut held = vec![0_u32; names.len()];
        let mut at = vec![vec![0; job.run.pp as usize]; replicas as usize];
        for (rank, pod) in pod_of.iter().enumerate() {
            let Some(pod) = *pod else { return Err(format!("'pods' do not name rank {rank}")) };
            held[pod as usize] += 1;
            let unit = rank / g as usize;
            let (stage, replica) = (unit / replicas as usize, unit % replicas as usize);
            if rank % g as usize == 0 {
                at[replica][stage] = pod;
            } else if at[replica][stage] != pod {
                return Err(format!(
                    "'pods' separate the {g} GPUs of stage {} of replica {replica}",
                    stage + 1
                ));
            }
        }
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for replica in 0..replicas {
            let same = |group: &&mut Vec<u32>| at[group[0] as usize] == at[replica as usize];
            match groups.iter_mut().find(same) {
                Some(group) => group.push(replica),
                None => groups.push(vec![replica]),
            }
        }
        let mut listed = Self { names, ports: held, at, groups, exchanging: Vec::new() };
        let positions = listed.separate().map(|(_, pods)| pods);
        match &job.ports_per_pod {
            None => {}
            Some(PortsPerPod::Same(ports)) => listed.ports.fill(*ports),
            Some(PortsPerPod::ByPosition(list)) if list.len() == listed.names.len() => {
                listed.ports.clone_from(list);
            }
            Some(PortsPerPod::ByPosition(list)) => {
                let Some(positions) = positions.filter(|positions| positions[0].len() == list.len()) else {
                    return Err(format!(
                        "'ports_per_pod' has {} entries, which is not the number of pods",
                        list.len()
                    ));
                };
                for (pod, ports) in positions.iter().flat_map(|copy| copy.iter().zip(list)) {
                    listed.ports[*pod as usize] = *ports;
                }
            }
        }
        listed.take_failed(job)?;
        listed.set_exchanging(job);
        Ok(listed)
    }

    fn set_exchanging(&mut self, job: &Job) {
        self.exchanging = (0..job.run.pp as usize)
            .map(|stage| {
                let figures = job.measured.as_ref().and_then(|measured| measured.stages.get(stage));
                self.ring(stage).len() > 1 && figures.is_none_or(|figures| figures.dp_bytes_per_gpu > 0.0)
            })
            .collect();
    }

    /// Subtracts the failed ports from the ports of their pods.
    fn take_failed(&mut self, job: &Job) -> Result<(), String> {
        let all = self.ports.clone();
        for (at, failed) in job.failed_ports.iter().enumerate() {
            let pod = self.names.iter().position(|name| *name == failed.pod);
            let Some(pod) = pod.filter(|pod| failed.port > 0 && failed.port <= all[*pod]) else {
                return Err(format!(
                    "'failed_ports' name port {} of '{}', which does not exist",
                    failed.port, failed.pod
                ));
            };
            if job.failed_ports[..at].contains(failed) {
                return Err(format!("'failed_ports' name port {} of '{}' twice", failed.port, failed.pod));
            }
            self.ports[pod] -= 1;
        }
        Ok(())
    }

    /// Pod of a stage of a group.
    pub fn pod(&self, group: usize, stage: usize) -> u32 {
        self.at[self.groups[group][0] as usize][stage]
    }

    /// Number of stages in a pod, and the pods of each group by position. `None` if two groups share a pod, or if the
    /// groups differ in size or distribute their stages differently.
    fn separate(&self) -> Option<(usize, Vec<Vec<u32>>)> {
        let mut all: Vec<Vec<u32>> = Vec::new();
        let stages = self.at[0].len();
        let size = (0..stages).take_while(|stage| self.pod(0, *stage) == self.pod(0, 0)).count();
        for group in 0..self.groups.len() {
            let pods: Vec<u32> = (0..stages).step_by(size).map(|stage| self.pod(group, stage)).collect();
            let cut_alike = (0..stages).all(|stage| self.pod(group, stage) == pods[stage / size]);
            let mut distinct = pods.clone();
            distinct.sort_unstable();
            distinct.dedup();
            let shared = all.iter().flatten().any(|pod| pods.contains(pod));
            if !cut_alike
                || shared
                || distinct.len() != pods.len()
                || self.groups[group].len() != self.groups[0].len()
            {
                return None;
            }
            all.push(pods);
        }
        Some((size, all))
    }

    /// If all groups are alike and have the same ports, sets `shape` to one group, which then represents all of them,
    /// and returns `true`.
    pub fn represent(&self, shape: &mut Shape) -> bool {
        let Some((size, copies)) = self.separate() else { return false };
        let ports = |copy: &Vec<u32>| copy.iter().map(|pod| self.ports[*pod as usize]).collect::<Vec<u32>>();
        if copies.iter().any(|copy| ports(copy) != ports(&copies[0])) {
            return false;
        }
        let together = self.groups[0].len() as u32;
        shape.gpus_per_stage *= together;
        shape.dp_in *= together;
        shape.replicas_per_pod = together;
        shape.replicas = copies.len() as u32;
        shape.stages_per_pod = size as u32;
        shape.pods_per_replica = copies[0].len() as u32;
        shape.ports = ports(&copies[0]);
        let name = |pod: &u32| self.names[*pod as usize].clone();
        shape.names = Some(vec![copies[0].iter().map(name).collect()]);
        true
    }

    /// The ring of a stage.
    pub fn ring(&self, stage: usize) -> Ring {
        let mut ring: Ring = Vec::new();
        for (replica, pods) in (0..).zip(&self.at) {
            match ring.iter_mut().find(|(pod, _)| *pod == pods[stage]) {
                Some((_, replicas)) => replicas.push(replica),
                None => ring.push((pods[stage], vec![replica])),
            }
        }
        ring
    }

    /// Name of a pod.
    pub fn name(&self, pod: u32) -> &str {
        &self.names[pod as usize]
    }

    /// All pods, and a link for each pair with traffic: pipelines of the groups in turn, then rings by stage.
    pub fn network(&self, chunks: u32) -> (Vec<Pod>, Vec<Link>) {
        let pods = (0..).zip(&self.names).zip(&self.ports);
        let pods = pods.map(|((id, name), ports)| Pod {
            id: PodId(id),
            name: name.clone(),
            ports: *ports,
            mirror: false,
        });
        let mut pairs: Vec<(u32, u32, LinkKind)> = Vec::new();
        let mut join = |a: u32, b: u32, kind: LinkKind| {
            let (low, high) = (a.min(b), a.max(b));
            match pairs.iter_mut().find(|(a, b, _)| (*a, *b) == (low, high)) {
                Some((_, _, known)) if *known == kind => {}
                Some((_, _, known)) => *known = LinkKind::Mixed,
                None => pairs.push((low, high, kind)),
            }
        };
        let stages = self.at[0].len();
        for group in 0..self.groups.len() {
            for stage in 1..=stages {
                // Only stages of several chunks send from the last stage to the first.
                let (from, to) = (self.pod(group, stage - 1), self.pod(group, stage % stages));
                if from != to && (stage < stages || chunks > 1) {
                    join(from, to, LinkKind::Pp);
                }
            }
        }
        for stage in (0..stages).filter(|stage| self.exchanging[*stage]) {
            let ring = self.ring(stage);
            for at in 0..ring.len() {
                join(ring[at].0, ring[(at + 1) % ring.len()].0, LinkKind::Dp);
            }
        }
        let links = pairs.into_iter().enumerate().map(|(id, (a, b, kind))| Link {
            id: LinkId::from_index(id),
            pod_a: PodId(a),
            pod_b: PodId(b),
            kind,
            ports_a: 1,
            ports_b: 1,
        });
        (pods.collect(), links.collect())
    }
}
