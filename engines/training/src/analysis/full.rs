//! The full graph of a job under a plan: when every compute and every transfer inside a pod happens.

use super::AnalysisError;
use crate::model::collapse::full_dag;
use crate::model::full_dag::NodeKind;
use crate::model::reduced_dag::{Dominance, reduce};
use crate::plan::TrainingResult;
use crate::scenario::job::Job;
use crate::scenario::workload::Workload;

/// A node of the full graph with its times under a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Kind of the node.
    pub kind: NodeKind,
    /// Group of replicas with the same pods, from 0; 0 if one replica represents all.
    pub group: u32,
    /// Stage, from 0; for a transfer, the sending stage.
    pub stage: u32,
    /// Micro-batch, from 0.
    pub micro_batch: u32,
    /// Chunk of the stage, from 0; for a transfer, the sending chunk.
    pub chunk: u32,
    /// Start, seconds.
    pub start_s: f64,
    /// Finish, seconds.
    pub finish_s: f64,
    /// Inter-pod task that this node corresponds to, if the node is a transfer between pods.
    pub task: Option<u32>,
}

/// All nodes of one replica in an order of execution; if replicas are not alike, the nodes of every group of replicas.
///
/// # Errors
/// [`AnalysisError`] if the full graph of the job cannot be built or the result belongs to another scenario.
pub fn full_steps(job: &Job, result: &TrainingResult) -> Result<Vec<Step>, AnalysisError> {
    let shape = job.shape().map_err(AnalysisError::Scenario)?;
    let mismatch = || AnalysisError::Mismatch { tasks: result.tasks.len(), links: result.topology.len() };
    let workload = Workload::of(job, &shape).ok_or_else(mismatch)?;
    let full = full_dag(job, &shape, &workload, 1).map_err(AnalysisError::Scenario)?;
    let reduced = reduce(&full, Dominance::AtBandwidth).map_err(AnalysisError::Scenario)?;
    if reduced.tasks.len() != result.tasks.len() {
        return Err(mismatch());
    }
    let mut task_of = vec![None; full.nodes().len()];
    for (task, reduced) in reduced.tasks.iter().enumerate() {
        task_of[reduced.node as usize] = Some(task as u32);
    }
    let mut steps: Vec<Step> = Vec::with_capacity(full.nodes().len());
    for (index, node) in full.nodes().iter().enumerate() {
        let planned = task_of[index].and_then(|task| result.tasks.get(task as usize));
        let (start_s, finish_s) = if let Some(task) = planned {
            (task.start_s, task.finish_s)
        } else {
            let preds = full.preds(index).iter();
            let ready = preds.map(|pred| steps[*pred as usize].finish_s).fold(0.0, f64::max);
            (ready, ready + node.duration_s)
        };
        steps.push(Step {
            kind: node.kind,
            group: node.replica,
            stage: node.stage,
            micro_batch: node.micro_batch,
            chunk: node.chunk,
            start_s,
            finish_s,
            task: task_of[index],
        });
    }
    Ok(steps)
}
