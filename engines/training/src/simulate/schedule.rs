//! A simulated run as the result that a plan carries.

use crate::plan::{LinkCircuits, RateControl, Segment, TaskSchedule, TrainingResult};
use crate::simulate::evaluate::Evaluator;
use crate::simulate::iteration::Trace;
use lightbay_core::units::{LinkId, TaskId};

/// The result of running `trace` on circuits `x`. Segments of a task touch and cover start to finish.
pub fn result(evaluator: &Evaluator, x: &[u32], rates: RateControl, trace: &Trace) -> TrainingResult {
    let mut tasks: Vec<TaskSchedule> = (0..evaluator.network.tasks())
        .map(|task| TaskSchedule {
            task: TaskId::from_index(task),
            start_s: trace.start[task],
            finish_s: trace.finish[task],
            segments: Vec::new(),
        })
        .collect();
    for piece in &trace.pieces {
        let schedule = &mut tasks[piece.task as usize];
        let start_s = schedule.segments.last().map_or(schedule.start_s, |last| last.end_s);
        schedule.segments.push(Segment { start_s, end_s: piece.end, volume_bytes: piece.volume });
    }
    TrainingResult {
        rate_control: rates,
        topology: x
            .iter()
            .enumerate()
            .map(|(link, &circuits)| LinkCircuits { link: LinkId::from_index(link), circuits })
            .collect(),
        ports_used: evaluator.network.budget.total(x),
        ideal_makespan_s: evaluator.ideal.makespan(),
        nct: evaluator.ideal.nct(trace.makespan),
        tasks,
        jobs: Vec::new(),
    }
}
