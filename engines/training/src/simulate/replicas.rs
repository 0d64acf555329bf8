//! Expansion of a plan of one replica to all replicas.

use super::evaluate::{Evaluator, Rates, Scratch};
use super::schedule;
use crate::model::collapse::{Expansion, collapsed, expand};
use crate::model::reduced_dag::Dominance;
use crate::plan::{LinkCircuits, PhaseEvent, Phases, RateControl, Segment, TaskSchedule, TrainingResult};
use crate::scenario::instance::{Instance, Link};
use crate::scenario::job::Job;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::units::LinkId;

/// A collapsed plan on the expanded instance: circuits and schedules of a link or task are copied to all its copies.
///
/// Half of the GPUs of a stage exchange gradients clockwise on the ring of the replicas, the other half
/// counter-clockwise. If the number of GPUs is odd, the smaller half has slack. At scheduled rates, it is slowed down
/// to the speed of the larger half. At fair rates, it ends earlier, so the iteration is simulated again.
///
/// # Errors
/// All problems of the job, or a plan that does not belong to the collapsed instance.
pub fn expand_plan(job: &Job, result: &TrainingResult) -> Result<(Instance, TrainingResult), Problems> {
    let Expansion { instance, link_of, task_of } = expand(job)?;
    let (collapsed, _) = collapsed(job, Dominance::AtBandwidth)?;
    let fits = (result.topology.len() == collapsed.links.len() || result.phases.is_some())
        && result.tasks.len() == collapsed.tasks.len()
        && result.topology.iter().enumerate().all(|(id, entry)| entry.link.index() == id)
        && result.tasks.iter().enumerate().all(|(id, entry)| entry.task.index() == id);
    if !fits {
        return Err(Problem::new(
            "result",
            "does not list every link and task of the job once, in order",
            "correct the plan; `check` names what is wrong with it",
        )
        .into());
    }
    let topology: Vec<LinkCircuits> = link_of
        .iter()
        .enumerate()
        .filter_map(|(id, link)| {
            let circuits = result.topology.get(link.index())?.circuits;
            Some(LinkCircuits { link: LinkId::from_index(id), circuits })
        })
        .collect();
    let phases = result.phases.as_ref().map(|phases| Phases {
        events: phases.events.iter().map(|event| copied(event, &link_of)).collect(),
        ..phases.clone()
    });
    let mut copies = task_of.iter().zip(&instance.tasks);
    let halves_differ = copies.any(|(source, task)| task.flows != collapsed.tasks[source.index()].flows);
    if halves_differ && result.rate_control == RateControl::Fair {
        let circuits: Vec<u32> = topology.iter().map(|entry| entry.circuits).collect();
        let result = fair_run(&instance, &circuits)?;
        return Ok((instance, result));
    }
    let tasks = task_of.iter().zip(&instance.tasks).map(|(&source, task)| {
        let schedule = &result.tasks[source.index()];
        let share = task.volume_bytes / collapsed.tasks[source.index()].volume_bytes;
        TaskSchedule {
            task: task.id,
            start_s: schedule.start_s,
            finish_s: schedule.finish_s,
            segments: schedule
                .segments
                .iter()
                .map(|segment| Segment { volume_bytes: segment.volume_bytes * share, ..*segment })
                .collect(),
        }
    });
    let tasks = tasks.collect();
    let set: u64 = instance
        .links
        .iter()
        .zip(&topology)
        .map(|(link, entry)| circuit_ports(link) * u64::from(entry.circuits))
        .sum();
    let ports_used = phases.as_ref().map_or(set, |phases| phases.peak_ports(&instance).iter().sum());
    let result = TrainingResult { topology, ports_used, tasks, phases, ..result.clone() };
    Ok((instance, result))
}

/// Returns an event of the expanded instance: every copy of a link has the circuits that the event gives the link.
fn copied(event: &PhaseEvent, link_of: &[LinkId]) -> PhaseEvent {
    let circuits = link_of.iter().filter_map(|link| event.circuits.get(link.index()).copied()).collect();
    PhaseEvent { time_s: event.time_s, circuits }
}

fn fair_run(instance: &Instance, circuits: &[u32]) -> Result<TrainingResult, Problem> {
    let evaluator = Evaluator::new(instance).map_err(|error| {
        Problem::new(
            "job",
            error.to_string(),
            "write one replica with mirrors of its neighbours (replicas=one, or another format)",
        )
    })?;
    let trace = evaluator.trace(circuits, Rates::Fair, &mut Scratch::default());
    Ok(schedule::result(&evaluator, circuits, RateControl::Fair, &trace))
}

/// Number of ports that one circuit of a link uses; all pods of an expanded instance are real.
fn circuit_ports(link: &Link) -> u64 {
    u64::from(link.ports_a) + u64::from(link.ports_b)
}
