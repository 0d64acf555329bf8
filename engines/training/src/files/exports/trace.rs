//! The iteration of a plan as a timeline: one process for each pod, one thread for each stage and link, one slice for
//! each segment of a task. For jobs, compute and transfers inside pods are included.

use super::facts::{Explained, Facts, link_word, step_name, task_word};
use crate::analysis::{Step, full_steps};
use crate::model::full_dag::NodeKind;
use crate::{Training, TrainingScenario};
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problem, Problems};
use lightbay_formats::Value;
use lightbay_formats::chrome_trace::{self, Process, Slice, Trace};
use std::collections::BTreeMap;

/// An activity with one start and one end: a task, a compute, or a transfer inside a pod.
struct UnbrokenRun {
    start_s: f64,
    end_s: f64,
    slices: Vec<Piece>,
}

/// A slice that has no row yet.
struct Piece {
    name: String,
    category: &'static str,
    start_s: f64,
    end_s: f64,
    args: Vec<(&'static str, Value)>,
}

/// Row of a pod: its type (0: compute, 1: transfers inside the pod, 2: links), its number within the type, and its
/// name. Rows are sorted in this order.
type Row = (u8, u32, String);

/// Rows of a pod, each with its activities.
type Rows = BTreeMap<Row, Vec<UnbrokenRun>>;

/// An activity with its pod and its row.
type RowRun = (usize, Row, UnbrokenRun);

/// Writes the timeline of the iteration.
pub(super) fn text(plan: &Plan<Training>, facts: &Facts) -> Result<String, Problems> {
    let mut pods: Vec<Rows> = facts.pods.iter().map(|_| Rows::new()).collect();
    if let Some(explained) = facts.explained() {
        for index in 0..explained.result.tasks.len() {
            let (pod, row, run) = transfer(facts, explained, index);
            if let Some(rows) = pods.get_mut(pod) {
                rows.entry(row).or_default().push(run);
            }
        }
    }
    for (pod, row, run) in inside(plan)? {
        if let Some(rows) = pods.get_mut(pod) {
            rows.entry(row).or_default().push(run);
        }
    }
    let mut trace = Trace { about: about(plan), ..Trace::default() };
    // Mirrors send nothing.
    for (name, rows) in facts.pods.iter().zip(pods).filter(|(_, rows)| !rows.is_empty()) {
        let mut process = Process { name: name.clone(), threads: Vec::new() };
        for ((_, _, name), runs) in rows {
            lay(&mut trace, &mut process, &name, runs);
        }
        trace.processes.push(process);
    }
    chrome_trace::write(&trace)
        .map_err(|error| Problem::new("", error.to_string(), "please report this").into())
}

/// Distributes activities over the minimum number of threads so that activities on the same thread do not overlap.
fn lay(trace: &mut Trace, process: &mut Process, name: &str, mut runs: Vec<UnbrokenRun>) {
    runs.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    let rows = chrome_trace::rows(runs.iter().map(|run| (run.start_s, run.end_s)));
    let first = process.threads.len();
    for row in 0..rows.iter().max().map_or(0, |most| most + 1) {
        let name = if row == 0 { name.to_owned() } else { format!("{name} ({})", row + 1) };
        process.threads.push(name);
    }
    for (run, row) in runs.into_iter().zip(rows) {
        trace.slices.extend(run.slices.into_iter().map(|piece| Slice {
            process: trace.processes.len(),
            thread: first + row,
            name: piece.name,
            category: piece.category,
            start_s: piece.start_s,
            end_s: piece.end_s,
            args: piece.args,
        }));
    }
}

fn about(plan: &Plan<Training>) -> Vec<(String, Value)> {
    let mut about = vec![
        ("plan".to_owned(), plan.name.clone().into()),
        ("method".to_owned(), plan.method.clone().into()),
        ("status".to_owned(), plan.status.word().into()),
        (plan.objective.name.clone(), plan.objective.value.into()),
        ("scenario_sha256".to_owned(), plan.provenance.scenario_sha256.clone().into()),
    ];
    about.extend(plan.result.nct.map(|nct| ("nct".to_owned(), nct.into())));
    about
}

/// Returns a task between pods, on a row of its link at the sending pod.
fn transfer(facts: &Facts, plan: &Explained, index: usize) -> RowRun {
    let network = facts.network();
    let task = &facts.instance().tasks[index];
    let schedule = &plan.result.tasks[index];
    let known = &plan.analysis.tasks[index];
    let direction = network.via[index];
    let link = network.link_of(index as u32);
    let [src, dst] = facts.route(direction as usize);
    let kind = facts.instance().links.get(link).map_or("", |link| link_word(link.kind));
    let slices = schedule.segments.iter().enumerate().map(|(number, segment)| {
        let length_s = segment.end_s - segment.start_s;
        let nics = if length_s > 0.0 { segment.volume_bytes / length_s / network.rate } else { 0.0 };
        Piece {
            name: if segment.volume_bytes > 0.0 {
                task.name.clone()
            } else {
                format!("{} paused (rate 0)", task.name)
            },
            category: task_word(task.kind),
            start_s: segment.start_s,
            end_s: segment.end_s,
            args: vec![
                ("task", Value::Int(index as i64)),
                ("segment", Value::Int(number as i64)),
                ("micro_batch", task.micro_batch.into()),
                ("stage", task.stage.into()),
                ("bytes", segment.volume_bytes.into()),
                ("rate_nics", nics.into()),
                ("rate_gbps", (nics * network.rate * 8e-9).into()),
                ("flows", task.flows.into()),
                ("circuits", plan.analysis.circuits[link].into()),
                ("slack_ms", (known.slack_s * 1e3).into()),
                ("critical", Value::from(if known.critical { "yes" } else { "no" })),
            ],
        }
    });
    let run = UnbrokenRun { start_s: schedule.start_s, end_s: schedule.finish_s, slices: slices.collect() };
    (task.src_pod.index(), (2, direction, format!("{src} → {dst} {kind}")), run)
}

/// Returns the compute of every stage and its transfers inside the pod; nothing for an explicit instance, in which
/// delays represent both.
fn inside(plan: &Plan<Training>) -> Result<Vec<RowRun>, Problems> {
    let TrainingScenario::Job(job) = &plan.scenario.body else { return Ok(Vec::new()) };
    let shape = job.shape()?;
    let steps = full_steps(job, &plan.result)
        .map_err(|error| Problem::new("", error.to_string(), "solve the scenario again"))?;
    let chunks = steps.iter().any(|step| step.chunk > 0);
    // If replicas differ, every stage has a row for each group of replicas.
    let of_group = |group: u32| {
        let group = shape.places.as_ref().and_then(|places| places.groups.get(group as usize));
        group.map_or_else(String::new, |group| format!(" of replica {}", group.replicas[0]))
    };
    let runs = steps.into_iter().filter(|step| step.task.is_none()).map(|step| {
        let Step { kind, group, stage, micro_batch, chunk, start_s, finish_s, .. } = step;
        let of = of_group(group);
        let name = |letter| step_name(letter, &step, chunks);
        // The last stage sends activations to the next chunk of the first stage, and the first stage sends gradients
        // back.
        let to = |back: bool| {
            if back { (stage + shape.stages - 1) % shape.stages } else { (stage + 1) % shape.stages }
        };
        let inside = |back: bool| {
            let row = format!("stage {} → {} in the pod{of}", stage + 1, to(back) + 1);
            (1, 2 * stage + u32::from(back), row)
        };
        let compute = || (0, stage, format!("stage {}{of}", stage + 1));
        let (row, name, category) = match kind {
            NodeKind::Forward => (compute(), name('F'), "forward"),
            NodeKind::Backward => (compute(), name('B'), "backward"),
            NodeKind::SendForward => (inside(false), name('F'), "pp_fwd_in_pod"),
            NodeKind::SendBackward => (inside(true), name('B'), "pp_bwd_in_pod"),
            NodeKind::Clockwise | NodeKind::CounterClockwise => {
                let row = (1, 2 * stage, format!("stage {} DP in the pod", stage + 1));
                (row, format!("DP s{}", stage + 1), "dp_in_pod")
            }
        };
        let args = vec![
            ("stage", (stage + 1).into()),
            ("micro_batch", (micro_batch + 1).into()),
            ("chunk", (chunk + 1).into()),
        ];
        let piece = Piece { name, category, start_s, end_s: finish_s, args };
        let pod = match &shape.places {
            Some(places) => places.groups[group as usize].pods[stage as usize],
            None => shape.position(stage),
        };
        (pod as usize, row, UnbrokenRun { start_s, end_s: finish_s, slices: vec![piece] })
    });
    Ok(runs.collect())
}
