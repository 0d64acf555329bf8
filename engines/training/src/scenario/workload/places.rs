//! Pods of a job that are given rank by rank: replicas may share pods unevenly, and pods may hold parts of stages.
//!
//! Replicas whose stages are in the same pods form a group: they work at the same times, so their transfers are one
//! task. The replicas of a stage that share a pod reduce their gradients inside the pod; the ring of the stage joins
//! pods.

/// Pods that hold the stages of all replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagePlaces {
    /// Names of the pods.
    pub names: Vec<String>,
    /// Replicas with the same pods.
    pub groups: Vec<ReplicaGroup>,
    /// `true` for stages whose gradients go to other pods.
    pub exchanging: Vec<bool>,
}

/// Replicas whose stages are in the same pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaGroup {
    /// Numbers of the replicas, ascending.
    pub replicas: Vec<u32>,
    /// Pod of each stage.
    pub pods: Vec<u32>,
}

/// A pod on the ring of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingPod {
    /// Number of the pod.
    pub pod: u32,
    /// Replicas whose stage the pod holds, ascending.
    pub replicas: Vec<u32>,
}

/// The pods that exchange the gradients of a stage, in the order of the ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The pods of the ring, each with all replicas whose ranks of this stage are in the pod.
    pub pods: Vec<RingPod>,
    /// Number of GPUs of the stage in one replica.
    gpus: u32,
}

/// A transfer from a pod of a ring to one of its neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// Place of the receiver on the ring.
    pub to: usize,
    /// Number of flows.
    pub flows: u32,
    /// Fraction of the gradients of the stage that goes in this direction.
    pub share: f64,
}

impl StagePlaces {
    /// Groups replicas by their pods, which `pods` lists by stage.
    pub fn of(names: Vec<String>, pods: Vec<Vec<u32>>) -> Self {
        let stages = pods.first().map_or(0, Vec::len);
        let mut groups: Vec<ReplicaGroup> = Vec::new();
        let mut known = std::collections::HashMap::new();
        for (replica, pods) in (0..).zip(pods) {
            let next = groups.len();
            let group = *known.entry(pods.clone()).or_insert(next);
            if group == next {
                groups.push(ReplicaGroup { replicas: Vec::new(), pods });
            }
            groups[group].replicas.push(replica);
        }
        Self { names, groups, exchanging: vec![false; stages] }
    }

    /// The ring of a stage with `gpus` GPUs in each replica.
    pub fn ring(&self, stage: u32, gpus: u32) -> Ring {
        let mut pods: Vec<RingPod> = Vec::new();
        for group in &self.groups {
            let pod = group.pods[stage as usize];
            match pods.iter_mut().find(|known| known.pod == pod) {
                Some(known) => known.replicas.extend(&group.replicas),
                None => pods.push(RingPod { pod, replicas: group.replicas.clone() }),
            }
        }
        for pod in &mut pods {
            pod.replicas.sort_unstable();
        }
        Ring { pods, gpus }
    }

    /// Copies of one pipeline on separate pods: the pods of each copy by position, the number of stages of a pod and
    /// the number of replicas of a copy. `ports` are the optical ports of all pods. `None` if groups share a pod, or
    /// differ in their number of replicas, their stages per pod or their ports.
    pub fn copies(&self, ports: &[u32]) -> Option<Copies> {
        let first = self.groups.first()?;
        let together = first.replicas.len();
        let mut taken = vec![false; self.names.len()];
        let mut copies = Vec::with_capacity(self.groups.len());
        let mut stages_per_pod = None;
        for group in &self.groups {
            let mut runs: Vec<(u32, usize)> = Vec::new();
            for &pod in &group.pods {
                match runs.last_mut() {
                    Some((last, count)) if *last == pod => *count += 1,
                    _ => runs.push((pod, 1)),
                }
            }
            let size = *stages_per_pod.get_or_insert(runs[0].1);
            let (last, others) = runs.split_last()?;
            let even = last.1 <= size && others.iter().all(|(_, count)| *count == size);
            let alone = runs.iter().all(|(pod, _)| !std::mem::replace(&mut taken[*pod as usize], true));
            if group.replicas.len() != together || !even || !alone {
                return None;
            }
            copies.push(runs.into_iter().map(|(pod, _)| pod).collect::<Vec<u32>>());
        }
        let of = |copy: &Vec<u32>| -> Vec<u32> { copy.iter().map(|pod| ports[*pod as usize]).collect() };
        let same = copies.iter().all(|copy| of(copy) == of(&copies[0]));
        same.then(|| Copies {
            together: together as u32,
            stages_per_pod: stages_per_pod.unwrap_or(1) as u32,
            pods: copies,
        })
    }
}

/// Groups of replicas that are alike and have separate pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copies {
    /// Number of replicas of a copy.
    pub together: u32,
    /// Number of stages in a pod.
    pub stages_per_pod: u32,
    /// Pods of each copy by position.
    pub pods: Vec<Vec<u32>>,
}

impl Ring {
    /// Flows between two neighbours: one for each GPU of the stage in the pod that has fewer of these GPUs.
    fn width(&self, a: usize, b: usize) -> u32 {
        self.gpus * self.pods[a].replicas.len().min(self.pods[b].replicas.len()) as u32
    }

    /// Fraction of the gradients that goes clockwise: the number of clockwise flows divided by the number of all flows,
    /// for the two adjacent pods with the fewest flows between them; half of these flows, rounded up, go clockwise.
    /// With two pods, the fraction is 1, because both neighbours are then the same pod.
    fn clockwise_share(&self) -> f64 {
        let count = self.pods.len();
        if count < 3 {
            return 1.0;
        }
        let narrowest = (0..count).map(|at| self.width(at, (at + 1) % count)).min().unwrap_or(1);
        f64::from(narrowest.div_ceil(2)) / f64::from(narrowest)
    }

    /// Returns the transfer to the next pod on the ring.
    pub fn clockwise(&self, from: usize) -> Hop {
        let to = (from + 1) % self.pods.len();
        let width = self.width(from, to);
        let flows = if self.pods.len() > 2 { width.div_ceil(2) } else { width };
        Hop { to, flows, share: self.clockwise_share() }
    }

    /// Returns the transfer to the previous pod on the ring, if part of the gradients goes to the previous pod.
    pub fn counter_clockwise(&self, from: usize) -> Option<Hop> {
        let to = (from + self.pods.len() - 1) % self.pods.len();
        let width = self.width(from, to);
        let share = 1.0 - self.clockwise_share();
        (share > 0.0).then(|| Hop { to, flows: width - width.div_ceil(2), share })
    }

    /// Bytes of the gradients of the stage that cross between neighbours of the ring, if each GPU of a ring of
    /// `replicas` replicas would send `per_gpu` bytes.
    pub fn bytes(&self, per_gpu: f64, replicas: u32) -> f64 {
        let sent = |count: f64| (count - 1.0) / count;
        f64::from(self.gpus) * per_gpu * sent(self.pods.len() as f64) / sent(f64::from(replicas))
    }
}
