//! Conversion of a simulated run to the result of a plan.

use crate::plan::{LinkCircuits, RateControl, Segment, TaskSchedule, TrainingResult};
use crate::simulate::evaluate::Evaluator;
use crate::simulate::iteration::Trace;
use lightbay_core::units::{LinkId, TaskId};

/// Returns the result of a plan with the circuits `x` and the times and rates of the simulated run `trace`. Segments of
/// a task are contiguous and cover start to finish.
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
        // Late in a long iteration, the end of a short transfer can round to its start, but a segment must have a
        // length.
        let end_s = if piece.volume > 0.0 { piece.end.max(start_s.next_up()) } else { piece.end };
        schedule.segments.push(Segment { start_s, end_s, volume_bytes: piece.volume });
        schedule.finish_s = schedule.finish_s.max(end_s);
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
        phases: None,
    }
}
