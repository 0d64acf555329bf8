//! The timeline of an iteration for ui.perfetto.dev and chrome://tracing: one micro-batch of the stage with the most
//! layers in all its phases, and the steps of the iteration.

use crate::Moe;
use crate::plan::{AllToAll, LayerPhase, LayerPlan, MoeResult, STALL};
use crate::scenario::MoeScenario;
use lightbay_core::format::{Artifact, FormatInfo, SubjectOf, SubjectSort, file_stem, needs_plan};
use lightbay_core::problem::{Problem, Problems};
use lightbay_formats::Value;
use lightbay_formats::chrome_trace::{self, Process, Slice, Trace};

/// Name of the format.
pub const NAME: &str = "trace";

/// Names of the rows of the stage.
const ROWS: [&str; 4] = ["compute", "all-to-alls", "stalls", "optical switch"];

/// Returns all formats.
pub fn formats() -> Vec<FormatInfo> {
    let info = FormatInfo::new(
        NAME,
        "Timeline for ui.perfetto.dev and chrome://tracing: phases, all-to-alls, stalls and changes of circuits.",
        SubjectSort::Plan,
        "json",
    );
    vec![info.leaving_out(&["the circuits", "the routes", "the costs", "the bound and the gap"])]
}

/// Returns the file with the timeline of a plan.
///
/// # Errors
/// A scenario.
pub fn export(subject: SubjectOf<'_, Moe>, format: &str) -> Result<Vec<Artifact>, Problems> {
    let SubjectOf::Plan(plan) = subject else { return Err(needs_plan(format).into()) };
    let plan = plan.plan();
    let mut trace = traced(&plan.scenario.body, &plan.result);
    trace.about = vec![
        ("plan".to_owned(), plan.name.clone().into()),
        ("method".to_owned(), plan.method.clone().into()),
        (plan.objective.name.clone(), plan.objective.value.into()),
        ("model".to_owned(), "analytic: times follow from bytes and rates".into()),
    ];
    let text = chrome_trace::write(&trace)
        .map_err(|error| Problem::new("", error.to_string(), "please report this"))?;
    Ok(vec![Artifact::new(format!("{}.{NAME}.json", file_stem(subject.name())), text)])
}

/// A change of circuits: start and end in ms, and name.
struct CircuitChange {
    start_ms: f64,
    end_ms: f64,
    name: String,
    args: Vec<(&'static str, Value)>,
}

/// State while the events of one micro-batch are written.
struct TimelineWalk<'r> {
    layers: &'r [LayerPlan],
    slices: Vec<Slice>,
    /// Changes of circuits, which are written last.
    changes: Vec<CircuitChange>,
    now_ms: f64,
    /// Start of the latest event of every phase.
    began_ms: Vec<(LayerPhase, f64)>,
    /// Time of the tensor-parallel exchanges of a layer, forward, ms.
    tensor_ms: f64,
}

fn traced(scenario: &MoeScenario, result: &MoeResult) -> Trace {
    let iteration = &result.iteration;
    let layers = result.layers.len().max(1) as f64;
    let mut walk = TimelineWalk {
        layers: &result.layers,
        slices: Vec::new(),
        changes: Vec::new(),
        now_ms: 0.0,
        began_ms: Vec::new(),
        tensor_ms: iteration.tensor_parallel_ms / 3.0 / layers,
    };
    for layer in 0..result.layers.len() {
        walk.pass(layer, true);
    }
    for layer in (0..result.layers.len()).rev() {
        walk.pass(layer, false);
    }
    let step_ms = walk.now_ms;
    let mut stage = Process {
        name: "stage with the most layers, first micro-batch".to_owned(),
        threads: ROWS.map(str::to_owned).into(),
    };
    let mut slices = walk.slices;
    walk.changes.sort_by(|a, b| a.start_ms.total_cmp(&b.start_ms));
    let spans = walk.changes.iter().map(|change| (change.start_ms / 1e3, change.end_ms / 1e3));
    let rows = chrome_trace::rows(spans);
    for (change, row) in walk.changes.into_iter().zip(rows) {
        let thread = ROWS.len() - 1 + row;
        while stage.threads.len() <= thread {
            stage.threads.push(format!("{} ({})", ROWS[ROWS.len() - 1], row + 1));
        }
        let times = (change.start_ms, change.end_ms);
        slices.push(slice((0, thread), change.name, "reconfiguration", times, change.args));
    }
    let (steps, mut at) = (scenario.cluster.micro_batches + scenario.shape().pp - 1, 0.0);
    for step in 0..steps {
        let name = match step.checked_sub(scenario.cluster.micro_batches) {
            None => format!("micro-batch {}", step + 1),
            Some(_) => "pipeline fills and drains".to_owned(),
        };
        slices.push(slice((1, 0), name, "step", (at, at + step_ms), Vec::new()));
        at += step_ms;
    }
    let gradients = (at, at + iteration.data_parallel_ms);
    slices.push(slice((1, 1), "gradients".to_owned(), "data_parallel", gradients, Vec::new()));
    let whole =
        Process { name: "iteration".to_owned(), threads: vec!["steps".to_owned(), "gradients".to_owned()] };
    Trace { processes: vec![stage, whole], slices, about: Vec::new() }
}

fn slice(
    (process, thread): (usize, usize),
    name: String,
    category: &'static str,
    (start, end): (f64, f64),
    args: Vec<(&'static str, Value)>,
) -> Slice {
    Slice { process, thread, name, category, start_s: start / 1e3, end_s: end / 1e3, args }
}

impl TimelineWalk<'_> {
    /// Writes the forward or the backward pass of a layer.
    fn pass(&mut self, number: usize, is_forward: bool) {
        let layers = self.layers;
        let Some(layer) = layers.get(number) else { return };
        let split = LayerPhase::ALL.iter().position(|(_, phase)| *phase == LayerPhase::ExpertOutBwd);
        for event in &layer.timeline.events {
            let stalled = event.phase.strip_prefix(STALL);
            let word = stalled.unwrap_or(&event.phase);
            let Some(phase) = LayerPhase::of_word(word) else { continue };
            let place = LayerPhase::ALL.iter().position(|(_, known)| *known == phase);
            if (place < split) != is_forward {
                continue;
            }
            // Tensor-parallel exchanges inside the servers are drawn before attention, which they belong to.
            if matches!(phase, LayerPhase::AttentionFwd | LayerPhase::AttentionBwd) && self.tensor_ms > 0.0 {
                let length = self.tensor_ms * if is_forward { 1.0 } else { 2.0 };
                self.add(number, 0, ("tensor parallel".to_owned(), "tensor_parallel"), length, Vec::new());
            }
            let length = event.end_ms - event.start_ms;
            if stalled.is_some() {
                self.add(number, 2, (event.phase.clone(), "stall"), length, Vec::new());
                continue;
            }
            if let Some(change) = layer.timeline.reconfigurations.iter().find(|change| change.before == phase)
            {
                // A change with a stall ends when the exchange begins; a hidden change begins with the phase that hides
                // it.
                let window = self.began_ms.iter().find(|(known, _)| known.word() == change.window);
                let hidden = window.filter(|_| change.stall_ms == 0.0);
                let start = hidden.map_or(self.now_ms - change.delay_ms, |(_, began)| *began);
                let args = vec![
                    ("layer", Value::Int(i64::from(layer.layer))),
                    ("stall_ms", change.stall_ms.into()),
                    ("window", change.window.clone().into()),
                ];
                self.changes.push(CircuitChange {
                    start_ms: start,
                    end_ms: start + change.delay_ms,
                    name: format!("set before {word}"),
                    args,
                });
            }
            self.began_ms.retain(|(known, _)| *known != phase);
            self.began_ms.push((phase, self.now_ms));
            if LayerPhase::EXCHANGES.contains(&phase) {
                let other = layer.other_exchanges.iter().find(|other| other.phase == phase);
                let times = other.map_or(layer.all_to_all, |other| other.all_to_all);
                self.add(number, 1, (word.to_owned(), "all_to_all"), length, parts(&times));
            } else {
                self.add(number, 0, (word.to_owned(), "compute"), length, Vec::new());
            }
        }
    }

    fn add(
        &mut self,
        layer: usize,
        thread: usize,
        (name, category): (String, &'static str),
        length_ms: f64,
        mut args: Vec<(&'static str, Value)>,
    ) {
        args.insert(0, ("layer", Value::Int(layer as i64)));
        let times = (self.now_ms, self.now_ms + length_ms);
        self.slices.push(slice((0, thread), format!("{name} {layer}"), category, times, args));
        self.now_ms = times.1;
    }
}

fn parts(times: &AllToAll) -> Vec<(&'static str, Value)> {
    vec![
        ("circuits_ms", times.step3_ocs_ms.into()),
        ("packet_switches_ms", times.step3_eps_ms.into()),
        ("gather_ms", times.gather_ms.into()),
        ("scatter_ms", times.scatter_ms.into()),
        ("inside_servers_ms", times.local_ms.into()),
    ]
}
