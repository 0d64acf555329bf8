//! Gradients of a stage in buckets, which become ready one after the other during its last backward passes.

use super::{Shape, StageLoad, Workload};

/// One bucket of gradients of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// The fraction of the stage's gradients in this bucket.
    pub share: f64,
    /// The chunk whose last backward completes the bucket.
    pub chunk: u32,
    /// Fraction of the last backward of `chunk` after which the bucket is complete, above 0 and up to 1.
    pub done: f64,
}

impl Workload {
    /// The buckets of a stage in the order in which they become ready: its last layers first. Layers are distributed as
    /// evenly as possible, and the first buckets hold the remainder. The bytes of a stage, including its table, count
    /// as evenly distributed over its layers. If the layers are unknown, the buckets are equal.
    pub fn buckets(&self, shape: &Shape, stage: u32) -> Vec<Bucket> {
        let (count, chunks) = (shape.dp_buckets, shape.virtual_stages);
        let layers = parts(&self.stages[stage as usize], shape);
        let in_chunk = layers / chunks;
        let mut ready = 0;
        (0..count)
            .map(|bucket| {
                let own = layers / count + u32::from(bucket < layers % count);
                ready += own;
                // Backward passes go from the last chunk to the first.
                let passed = (ready - 1) / in_chunk;
                Bucket {
                    share: f64::from(own) / f64::from(layers),
                    chunk: chunks - 1 - passed,
                    done: f64::from(ready - passed * in_chunk) / f64::from(in_chunk),
                }
            })
            .collect()
    }
}

/// Returns the number of parts that are distributed over the buckets of a stage: its layers if they are known, suffice
/// for all buckets and can be divided equally over the chunks; otherwise `buckets * chunks` equal parts.
fn parts(stage: &StageLoad, shape: &Shape) -> u32 {
    let (count, chunks) = (shape.dp_buckets, shape.virtual_stages);
    let goes_round = stage.layers >= count && stage.layers > 0 && stage.layers.is_multiple_of(chunks);
    if goes_round { stage.layers } else { count * chunks }
}
