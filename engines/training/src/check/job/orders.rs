//! Computations of every stage, in order, derived by the checker independently.

use crate::check::{Findings, code};
use crate::scenario::job::{Job, Order, Step};
use crate::scenario::workload::Shape;

/// A micro-batch on one chunk of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Forward or backward, and the micro-batch.
    pub step: Step,
    /// Chunk of the stage, from 0.
    pub chunk: u32,
}

impl Turn {
    /// Name of the computation, with the chunk if a stage has several chunks.
    pub fn label(&self, chunks: u32) -> String {
        if chunks > 1 { format!("{}.{}", self.step, self.chunk + 1) } else { self.step.to_string() }
    }
}

/// Returns the computations of every stage, in order; `None`, with a violation, if the job lists an order that does not
/// fit it.
pub(super) fn orders(job: &Job, shape: &Shape, found: &mut Findings) -> Option<Vec<Vec<Turn>>> {
    let (stages, n) = (shape.stages, job.run.micro_batches);
    let literal = job.measured.as_ref().and_then(|measured| match &measured.order {
        Order::Lists(lists) => Some(lists),
        Order::OneForwardOneBackward => None,
    });
    let Some(lists) = literal else {
        let of = |stage: u32| {
            let later = stages - 1 - stage;
            match shape.virtual_stages {
                1 => one_forward_one_backward(&in_turn(n, false), &in_turn(n, true), later),
                chunks => one_forward_one_backward(
                    &in_groups(stages, chunks, n, false),
                    &in_groups(stages, chunks, n, true),
                    2 * later + (chunks - 1) * stages,
                ),
            }
        };
        return Some((0..stages).map(of).collect());
    };
    if shape.virtual_stages > 1 {
        found.add(
            code::SCENARIO,
            "the order lists micro-batches without chunks, but a stage has several chunks",
        );
        return None;
    }
    if lists.len() != stages as usize {
        found
            .add(code::SCENARIO, format!("the order lists {} stages, but the job has {stages}", lists.len()));
        return None;
    }
    for (stage, list) in lists.iter().enumerate() {
        let mut times = vec![[0_u32; 2]; n as usize];
        for step in list {
            if let Some(count) = times.get_mut(step.micro_batch as usize) {
                count[usize::from(step.backward)] += 1;
            }
        }
        if list.len() != 2 * n as usize || times.iter().any(|count| *count != [1, 1]) {
            found.add(
                code::SCENARIO,
                format!(
                    "the order of stage {} must have F and B of each of {n} micro-batches once",
                    stage + 1
                ),
            );
            return None;
        }
    }
    let whole = |list: &Vec<Step>| list.iter().map(|&step| Turn { step, chunk: 0 }).collect();
    Some(lists.iter().map(whole).collect())
}

/// Returns the computations of all micro-batches on the only chunk, in order.
fn in_turn(n: u32, backward: bool) -> Vec<Turn> {
    (0..n).map(|micro_batch| Turn { step: Step { backward, micro_batch }, chunk: 0 }).collect()
}

/// Returns the computations of groups of micro-batches; each group passes all chunks before the next group.
fn in_groups(group: u32, chunks: u32, n: u32, backward: bool) -> Vec<Turn> {
    let mut turns = Vec::with_capacity(n as usize * chunks as usize);
    for first in (0..n).step_by(group as usize) {
        for passed in 0..chunks {
            let chunk = if backward { chunks - 1 - passed } else { passed };
            let batches = first..(first + group).min(n);
            turns.extend(batches.map(|micro_batch| Turn { step: Step { backward, micro_batch }, chunk }));
        }
    }
    turns
}

/// Orders the forward and backward passes of a stage as 1F1B with `warm_up` forward passes first.
fn one_forward_one_backward(forwards: &[Turn], backwards: &[Turn], warm_up: u32) -> Vec<Turn> {
    let ahead = forwards.len().min(warm_up as usize);
    let mut list = forwards[..ahead].to_vec();
    for (forward, backward) in forwards[ahead..].iter().zip(backwards) {
        list.extend([*forward, *backward]);
    }
    list.extend(&backwards[forwards.len() - ahead..]);
    list
}
