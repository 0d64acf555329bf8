//! The picture of a plan for a review: topology, circuits and ports, and the timeline with its tail enlarged.

use super::facts::Facts;
use super::verdict;
use crate::Training;
use crate::analysis::full_steps;
use crate::scenario::instance::TaskKind;
use crate::{TrainingScenario, analysis::Step};
use lightbay_core::checked::Checked;
use lightbay_formats::svg::{Area, Drawing, Fill, Font, Stroke};

mod matrix;
mod timeline;
mod topology;

/// Width of the picture; its height follows from its contents.
const WIDTH: f64 = 1120.0;
/// Space around the picture.
const MARGIN: f64 = 30.0;
/// Left edge of the column to the right of the topology.
const MATRIX_X: f64 = 620.0;

const HEADING: Font = Font::plain(14.0).bold();
const BODY: Font = Font::plain(11.0);
const SMALL: Font = Font::plain(9.0);

/// The tail is enlarged if it is at most this fraction of the iteration.
const SMALL_TAIL: f64 = 0.6;

/// Returns the fill of a kind of task.
const fn fill(kind: TaskKind) -> Fill {
    match kind {
        TaskKind::PpFwd => Fill::Rising,
        TaskKind::PpBwd => Fill::Falling,
        TaskKind::Dp => Fill::Dotted,
        TaskKind::Other => Fill::Crossed,
    }
}

/// Draws the picture as SVG.
pub(super) fn svg(plan: &Checked<Training>, facts: &Facts) -> String {
    let envelope = plan.plan();
    let mut drawing = Drawing::new(WIDTH, &format!("{}: circuits for one training iteration", facts.name));
    let mut y = MARGIN + 12.0;
    drawing.text((MARGIN, y), Font::plain(18.0).bold(), &facts.name);
    y += 20.0;
    for line in verdict::lines(plan, facts) {
        drawing.text((MARGIN, y), BODY, &line);
        y += 15.0;
    }
    y += 20.0;
    let Some(explained) = facts.explained() else { return drawing.into_text(y) };
    drawing.text((MARGIN, y), HEADING, "Topology");
    drawing.text((MATRIX_X, y), HEADING, "Circuits between pods");
    y += 12.0;
    let below_topology =
        topology::draw(&mut drawing, facts, explained, (MARGIN, y), MATRIX_X - MARGIN - 40.0);
    let below_matrix = matrix::draw(&mut drawing, facts, explained, (MATRIX_X, y), WIDTH - MARGIN - MATRIX_X);
    y = below_topology.max(below_matrix) + 30.0;
    let end_s = envelope.objective.value;
    let steps = match &envelope.scenario.body {
        TrainingScenario::Job(job) => full_steps(job, &envelope.result).unwrap_or_default(),
        TrainingScenario::Instance(_) | TrainingScenario::Shared(_) => Vec::new(),
    };
    let steps: Vec<Step> = steps.into_iter().filter(|step| step.task.is_none()).collect();
    let tail_s = explained.analysis.events.get(explained.analysis.tail_begins()).copied();
    let tail_s = tail_s.filter(|from| *from > 0.0 && end_s - from <= SMALL_TAIL * end_s);
    let mut windows = vec![("Whole iteration".to_owned(), 0.0, end_s)];
    if let Some(from) = tail_s {
        windows.push((format!("Tail, from {from:.3} s on"), from, end_s));
    }
    for (title, from_s, to_s) in windows {
        drawing.text((MARGIN, y), HEADING, &title);
        y = timeline::Timeline { facts, plan: explained, steps: &steps, from_s, to_s }
            .draw(&mut drawing, y + 12.0)
            + 34.0;
    }
    y = legend(&mut drawing, y, !steps.is_empty());
    drawing.into_text(y + MARGIN)
}

fn legend(drawing: &mut Drawing, y: f64, compute: bool) -> f64 {
    let mut entries = vec![
        (fill(TaskKind::PpFwd), 0.5, "activations forward"),
        (fill(TaskKind::PpBwd), 0.5, "gradients backward"),
        (fill(TaskKind::Dp), 0.5, "exchange between replicas"),
    ];
    if compute {
        entries.push((Fill::Light, 0.5, "forward compute"));
        entries.push((Fill::Grey, 0.5, "backward compute"));
    }
    entries.push((Fill::White, 2.0, "thick: critical path"));
    let mut x = MARGIN;
    for (fill, width, words) in entries {
        let area = Area { x, y: y - 9.0, width: 20.0, height: 11.0 };
        drawing.rectangle(area, fill, Stroke::solid(width), "");
        drawing.text((x + 26.0, y), BODY, words);
        x += 26.0 + BODY.width(words) + 24.0;
    }
    drawing.text(
        (MARGIN, y + 18.0),
        BODY,
        "Height of a transfer: its rate in NICs; the line above a row is the capacity of the link's circuits.",
    );
    y + 18.0
}
