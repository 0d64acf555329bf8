//! Computations of every stage, in order.

use crate::scenario::job::Step;
use std::fmt;

/// One compute of a stage: a micro-batch through one of the chunks of layers that the stage holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compute {
    /// Forward or backward, and the micro-batch.
    pub step: Step,
    /// The chunk, from 0; without virtual stages there is only chunk 0.
    pub chunk: u32,
}

impl fmt::Display for Compute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.step, u64::from(self.chunk) + 1)
    }
}

/// The compute list of every stage: warm-up forwards, then one forward and one backward in turn, then the
/// remaining backwards.
pub fn one_forward_one_backward(stages: u32, micro_batches: u32) -> Vec<Vec<Step>> {
    let list = |stage: u32| {
        let warm_up = (stages - 1 - stage).min(micro_batches);
        alternate(micro_batches, warm_up, |backward, micro_batch| Step { backward, micro_batch })
    };
    (0..stages).map(list).collect()
}

/// The compute list of every stage if stages have several chunks (interleaved 1F1B of Megatron-LM). Micro-batches pass
/// the stages in groups whose size is the number of stages. Each group passes one chunk after the other; backward
/// passes begin with the last chunk. The warm-up of stage s is `2*(stages - s - 1) + (chunks - 1)*stages` forwards, but
/// at most all forwards. The number of micro-batches must be a multiple of the number of stages.
pub fn interleaved(stages: u32, chunks: u32, micro_batches: u32) -> Vec<Vec<Compute>> {
    let computes = micro_batches * chunks;
    let list = |stage: u32| {
        let warm_up = (2 * (stages - 1 - stage) + (chunks - 1) * stages).min(computes);
        alternate(computes, warm_up, |backward, turn| {
            let (group, within) = (turn / (stages * chunks), turn % (stages * chunks));
            let chunk = within / stages;
            Compute {
                step: Step { backward, micro_batch: group * stages + within % stages },
                chunk: if backward { chunks - 1 - chunk } else { chunk },
            }
        })
    };
    (0..stages).map(list).collect()
}

/// Lists `count` forwards and the same number of backwards: `warm_up` forwards, then one forward and one backward in
/// turn, then the remaining backwards.
fn alternate<T>(count: u32, warm_up: u32, of: impl Fn(bool, u32) -> T) -> Vec<T> {
    let steady = count - warm_up;
    let mut list = Vec::with_capacity(2 * count as usize);
    list.extend((0..warm_up).map(|turn| of(false, turn)));
    for turn in 0..steady {
        list.push(of(false, warm_up + turn));
        list.push(of(true, turn));
    }
    list.extend((steady..count).map(|turn| of(true, turn)));
    list
}
