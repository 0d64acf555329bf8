//! Sizes that follow from parallelism and placement: GPUs per stage, replicas, pods, ports.

use super::places::{Ring, StagePlaces};
use crate::scenario::instance::LinkKind;

/// Groups of GPUs of a valid job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// g: Number of GPUs that run one stage of one replica, or of all replicas that share its pods.
    pub gpus_per_stage: u32,
    /// R: number of copies of the pipeline with separate pods.
    pub replicas: u32,
    /// Number of replicas that share pods; together they count as one of the R copies.
    pub replicas_per_pod: u32,
    /// Number of pipeline stages of a replica.
    pub stages: u32,
    /// Number of chunks of layers that a stage holds. With 2 or more chunks, the last stage sends to the first stage,
    /// which continues with its next chunk.
    pub virtual_stages: u32,
    /// Number of buckets in which a stage exchanges its gradients.
    pub dp_buckets: u32,
    /// Number of stages that share a pod.
    pub stages_per_pod: u32,
    /// G: number of pods of one replica.
    pub pods_per_replica: u32,
    /// Number of attention data-parallel ranks inside one stage.
    pub dp_in: u32,
    /// `true` if the first stages are in the last pod.
    pub reverse: bool,
    /// `true` if the stages of a pod exchange gradients with other replicas, by pod position. Pods without an exchange
    /// have no ring and need no circuits for a ring.
    pub exchanging: Vec<bool>,
    /// Optical ports by pod position.
    pub ports: Vec<u32>,
    /// Names of the pods of every copy by position, if the job names them.
    pub names: Option<Vec<Vec<String>>>,
    /// Pods of all replicas, if they are not alike. In this case, positions are the pods themselves, and `replicas`
    /// counts replicas that may share pods.
    pub places: Option<StagePlaces>,
}

impl Shape {
    /// Pod position of a stage within its replica, both from 0.
    pub fn position(&self, stage: u32) -> u32 {
        let position = stage / self.stages_per_pod;
        if self.reverse { self.pods_per_replica - 1 - position } else { position }
    }

    /// Stages in the pod at `position`; the pod of the last stages may hold fewer stages than the other pods.
    pub fn stages_at(&self, position: u32) -> u32 {
        let forward = if self.reverse { self.pods_per_replica - 1 - position } else { position };
        self.stages_per_pod.min(self.stages - forward * self.stages_per_pod)
    }

    /// Number of flows of a stage towards its clockwise ring neighbour. With two replicas, both neighbours are the same
    /// pod, and all GPUs send to this pod.
    pub fn clockwise_flows(&self) -> u32 {
        if self.replicas > 2 { self.gpus_per_stage.div_ceil(2) } else { self.gpus_per_stage }
    }

    /// Number of flows of a stage towards its counter-clockwise ring neighbour.
    pub fn counter_clockwise_flows(&self) -> u32 {
        self.gpus_per_stage - self.clockwise_flows()
    }

    /// Pod positions that have a ring, in order.
    pub fn rings(&self) -> impl Iterator<Item = u32> {
        (0..self.pods_per_replica).filter(|&position| self.exchanging[position as usize])
    }

    /// Ports that a circuit on a collapsed ring link needs: such a circuit represents one circuit towards each
    /// neighbouring replica. With two replicas, both neighbours are the same replica.
    pub fn ring_ports(&self) -> u32 {
        if self.replicas > 2 { 2 } else { 1 }
    }

    /// Pairs of positions with pipeline transfers: neighbours and, if stages hold several chunks, the two ends of the
    /// pipeline. With two pods, neighbours and ends are the same pair.
    pub fn pipeline_links(&self) -> impl Iterator<Item = [u32; 2]> + use<> {
        let last = self.pods_per_replica - 1;
        let around = self.virtual_stages > 1 && last > 1;
        (1..=last).map(|position| [position - 1, position]).chain(around.then_some([0, last]))
    }

    /// Ports that one circuit on each link of the pod at `position` needs.
    pub fn fewest_ports(&self, position: u32) -> u32 {
        let pipeline = self.pipeline_links().filter(|ends| ends.contains(&position)).count() as u32;
        pipeline + if self.exchanging[position as usize] { self.ring_ports() } else { 0 }
    }

    /// Returns `true` if activations, or gradients between replicas, cross pods.
    pub fn crosses(&self) -> bool {
        match &self.places {
            Some(_) => !self.listed_links().is_empty(),
            None => self.pods_per_replica > 1 || self.exchanging.contains(&true),
        }
    }

    /// Returns `true` if two consecutive stages of a replica, or of a group of replicas, are in different pods.
    pub fn crosses_pods(&self, replica: u32, stage: u32, neighbour: u32) -> bool {
        match &self.places {
            Some(places) => {
                let pods = &places.groups[replica as usize].pods;
                pods[stage as usize] != pods[neighbour as usize]
            }
            None => self.position(stage) != self.position(neighbour),
        }
    }

    /// Returns `true` if two consecutive stages are in one pod.
    pub fn stages_share_pods(&self) -> bool {
        match &self.places {
            Some(places) => (0..places.groups.len() as u32)
                .any(|group| self.neighbours().any(|[from, to]| !self.crosses_pods(group, from, to))),
            None => self.stages_per_pod > 1,
        }
    }

    /// Name of the pod at `position`.
    pub fn pod_name(&self, position: u32) -> String {
        match (&self.places, &self.names) {
            (Some(places), _) => places.names[position as usize].clone(),
            (None, Some(names)) => names[0][position as usize].clone(),
            (None, None) => format!("p{position}"),
        }
    }

    /// The ring of a stage of a job whose pods are listed rank by rank.
    ///
    /// # Panics
    /// If the pods are not listed rank by rank, or if the stage does not exist.
    #[expect(clippy::expect_used, reason = "only jobs with listed pods have rings of stages")]
    pub fn ring(&self, stage: u32) -> Ring {
        let places = self.places.as_ref().expect("the pods are listed");
        places.ring(stage, self.gpus_per_stage)
    }

    /// Pairs of stages with transfers, in the direction of activations.
    pub fn neighbours(&self) -> impl Iterator<Item = [u32; 2]> + use<> {
        let last = self.stages - 1;
        let around = self.virtual_stages > 1 && last > 0;
        (1..=last).map(|stage| [stage - 1, stage]).chain(around.then_some([last, 0]))
    }

    /// Links between pods that are listed rank by rank: pipelines of all groups, then rings.
    pub fn listed_links(&self) -> Vec<([u32; 2], LinkKind)> {
        let Some(places) = &self.places else { return Vec::new() };
        let mut links: Vec<([u32; 2], LinkKind)> = Vec::new();
        let mut known = std::collections::HashMap::new();
        let mut join = |a: u32, b: u32, kind| {
            let ends = [a.min(b), a.max(b)];
            let link: usize = *known.entry(ends).or_insert(links.len());
            match links.get_mut(link) {
                None => links.push((ends, kind)),
                Some((_, known)) if *known != kind => *known = LinkKind::Mixed,
                Some(_) => {}
            }
        };
        for group in &places.groups {
            for [from, to] in self.neighbours().map(|pair| pair.map(|stage| group.pods[stage as usize])) {
                if from != to {
                    join(from, to, LinkKind::Pp);
                }
            }
        }
        for stage in (0..self.stages).filter(|stage| places.exchanging[*stage as usize]) {
            let ring = places.ring(stage, self.gpus_per_stage);
            for (at, pod) in ring.pods.iter().enumerate() {
                join(pod.pod, ring.pods[ring.clockwise(at).to].pod, LinkKind::Dp);
            }
        }
        links
    }

    /// Number of the first GPU that runs a given stage of a given replica.
    pub fn first_gpu(&self, replica: u32, stage: u32) -> u32 {
        (replica * self.stages + stage) * self.gpus_per_stage
    }

    /// First of the GPUs that represent a stage's ring neighbours in a collapsed instance.
    pub fn first_mirror_gpu(&self, stage: u32) -> u32 {
        self.first_gpu(self.replicas, stage)
    }
}

/// Number of nodes of the full graph of one replica: compute, transfers, gradient exchanges.
pub fn node_count(stages: u32, chunks: u32, micro_batches: u32, exchanges: u32) -> u64 {
    let (parts, n) = (u64::from(stages) * u64::from(chunks), u64::from(micro_batches));
    (2 * parts.saturating_mul(n))
        .saturating_add(2 * parts.saturating_sub(1).saturating_mul(n))
        .saturating_add(u64::from(exchanges))
}
