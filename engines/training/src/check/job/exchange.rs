//! Gradient exchanges of jobs whose pods are listed rank by rank.

use super::graph::Builder;
use super::listed::ListedPods;
use crate::check::case::Work;
use crate::scenario::instance::{GpuSet, Task, TaskKind};
use crate::scenario::workload::Shape;
use lightbay_core::units::{PodId, TaskId};

/// The ranks of a stage in several replicas.
pub(super) fn ranks(shape: &Shape, stage: usize, replicas: &[u32]) -> GpuSet {
    let of = |replica: &u32| {
        let unit = stage as u32 * shape.replicas + replica;
        (0..shape.gpus_per_stage).map(move |gpu| unit * shape.gpus_per_stage + gpu)
    };
    GpuSet::List(replicas.iter().flat_map(of).collect())
}

/// The first or the last `count` GPUs of a set.
fn part(all: &GpuSet, count: u32, first: bool) -> GpuSet {
    let count = count as usize;
    let skipped = if first { 0 } else { all.len() - count };
    GpuSet::List(all.iter().skip(skipped).take(count).collect())
}

impl Builder<'_> {
    /// Adds the exchanges of every stage that is in several pods, last stage first, after all pipelines.
    pub fn exchanges(&mut self, listed: &ListedPods) {
        let shape = self.shape;
        for stage in (0..shape.stages as usize).rev() {
            let per_gpu = self.load.stages[stage].dp_bytes_per_gpu;
            if per_gpu == 0.0 || !listed.exchanging[stage] {
                continue;
            }
            let ring = listed.ring(stage);
            let count = ring.len();
            let fewer =
                |a: usize, b: usize| shape.gpus_per_stage * ring[a].1.len().min(ring[b].1.len()) as u32;
            // A ring of d pods sends (d - 1) / d of the gradients of a stage; `per_gpu` is for a ring of all replicas,
            // so it is first divided by (replicas - 1) / replicas.
            let replicas = f64::from(shape.replicas);
            let gradients = f64::from(shape.gpus_per_stage) * per_gpu * replicas / (replicas - 1.0);
            let whole = gradients * (count as f64 - 1.0) / count as f64;
            let narrow = (0..count).map(|at| fewer(at, (at + 1) % count)).min().unwrap_or(1);
            let ahead = if count > 2 { f64::from(narrow.div_ceil(2)) / f64::from(narrow) } else { 1.0 };

            let buckets = shape.dp_buckets as usize;
            let layers = if buckets > 1 { self.layers(stage) } else { 1 };
            let mut taken = 0;
            let mut previous: Vec<Vec<usize>> = vec![Vec::new(); count];
            for bucket in 0..buckets {
                let own = layers / buckets + usize::from(bucket < layers % buckets);
                taken += own;
                let share = own as f64 / layers as f64;
                // Replicas reduce together, so all of them must be ready.
                let ready: Vec<usize> = self
                    .ends
                    .iter()
                    .flat_map(|ends| {
                        if bucket + 1 == buckets {
                            [ends.last[stage], ends.last_send[stage]]
                        } else {
                            [ends.final_gradients[stage].get(taken - 1).copied(), None]
                        }
                    })
                    .flatten()
                    .collect();
                for at in 0..count {
                    let before = std::mem::take(&mut previous[at]);
                    for clockwise in [true, false] {
                        let to = if clockwise { (at + 1) % count } else { (at + count - 1) % count };
                        let width = fewer(at, to);
                        let half = if count > 2 { width.div_ceil(2) } else { width };
                        let (flows, part_of) =
                            if clockwise { (half, ahead) } else { (width - half, 1.0 - ahead) };
                        if part_of <= 0.0 {
                            continue;
                        }
                        let id = self.tasks.len();
                        let ends =
                            |place: usize| part(&ranks(shape, stage, &ring[place].1), flows, clockwise);
                        let number = if buckets > 1 { format!(".{}", bucket + 1) } else { String::new() };
                        self.tasks.push(Task {
                            id: TaskId::from_index(id),
                            name: format!(
                                "DP{number} s{} {}>{}",
                                stage + 1,
                                listed.name(ring[at].0),
                                listed.name(ring[to].0)
                            ),
                            kind: TaskKind::Dp,
                            micro_batch: 0,
                            stage: stage as u32 + 1,
                            replica: ring[at].1[0],
                            src_pod: PodId(ring[at].0),
                            dst_pod: PodId(ring[to].0),
                            flows,
                            volume_bytes: whole * part_of * share,
                            src_gpus: ends(at),
                            dst_gpus: ends(to),
                            release_s: 0.0,
                            tail_s: 0.0,
                        });
                        let waits: Vec<usize> = ready.iter().chain(&before).copied().collect();
                        let node = self.node(Work::Transfer(id), waits);
                        previous[at].push(node);
                    }
                }
            }
        }
    }
}
