//! The picture of a plan for a review: one micro-batch through the stage with the most layers, and the parts of the
//! iteration time.

use super::{ANALYTIC, timeline};
use crate::Moe;
use crate::plan::MoeResult;
use lightbay_core::format::{Artifact, FormatInfo, SubjectOf, SubjectSort, file_stem, needs_plan};
use lightbay_core::problem::Problems;
use lightbay_formats::svg::{Anchor, Area, Drawing, Fill, Font, Stroke};

/// Name of the format.
pub(crate) const NAME: &str = "svg";

/// Width of the picture.
const WIDTH: f64 = 1120.0;
/// Margin around the picture.
const MARGIN: f64 = 30.0;
/// Width of the column for the names of rows.
const NAMES: f64 = 150.0;
/// Height of a row.
const ROW: f64 = 26.0;
/// Number of rows into which the micro-batch is divided, so that its exchanges are distinguishable.
const STRIPS: u32 = 4;
/// Number of intervals into which marks divide the time axis of a row.
const MARKS: u32 = 8;

const BODY: Font = Font::plain(11.0);
const SMALL: Font = Font::plain(9.0);

/// Returns the description of the format.
pub(crate) fn format() -> FormatInfo {
    FormatInfo::new(
        NAME,
        "Picture for a review: one micro-batch with all-to-alls, stalls and circuit changes.",
        SubjectSort::Plan,
        "svg",
    )
    .leaving_out(&["the circuits", "the routes", "the costs", "the bound and the gap"])
}

/// Returns the picture of a plan as a file.
///
/// # Errors
/// A scenario.
pub(crate) fn export(subject: SubjectOf<'_, Moe>, format: &str) -> Result<Vec<Artifact>, Problems> {
    let SubjectOf::Plan(plan) = subject else { return Err(needs_plan(format).into()) };
    let text = svg(subject.name(), &plan.plan().result);
    Ok(vec![Artifact::new(format!("{}.svg", file_stem(subject.name())), text)])
}

/// Returns the content of the file.
pub(super) fn svg(name: &str, result: &MoeResult) -> String {
    let mut drawing = Drawing::new(WIDTH, &format!("{name}: one micro-batch"));
    let mut y = MARGIN + 12.0;
    drawing.text((MARGIN, y), Font::plain(18.0).bold(), name);
    y += 20.0;
    for line in lines(result) {
        drawing.text((MARGIN, y), BODY, &line);
        y += 15.0;
    }
    y = shares(&mut drawing, result, y + 14.0);
    let spans = timeline::spans(result);
    let length_s = (spans.end_s / f64::from(STRIPS)).max(f64::MIN_POSITIVE);
    let scale = (WIDTH - MARGIN - MARGIN - NAMES) / length_s;
    for strip in 0..STRIPS {
        let begin_s = f64::from(strip) * length_s;
        y += 22.0;
        let bottom = y + ROW * spans.lanes.len() as f64;
        let x = |time_s: f64| MARGIN + NAMES + (time_s - begin_s) * scale;
        for mark in 0..=MARKS {
            let time_s = begin_s + length_s * f64::from(mark) / f64::from(MARKS);
            drawing.line((x(time_s), y), (x(time_s), bottom + 4.0), Stroke::faint(0.5));
            let words = format!("{:.1} ms", 1e3 * time_s);
            drawing.text((x(time_s), bottom + 15.0), SMALL.at(Anchor::Middle), &words);
        }
        for lane in &spans.lanes {
            drawing.text((MARGIN + NAMES - 6.0, y + ROW - 9.0), SMALL.at(Anchor::End), &lane.name);
            for span in &lane.spans {
                let (from, to) = (span.start_s.max(begin_s), span.end_s.min(begin_s + length_s));
                if to > from {
                    let area = Area {
                        x: x(from),
                        y: y + 3.0,
                        width: ((to - from) * scale).max(0.3),
                        height: ROW - 6.0,
                    };
                    let about =
                        format!("{}: {:.3} to {:.3} ms", span.name, 1e3 * span.start_s, 1e3 * span.end_s);
                    drawing.rectangle(area, fill(&lane.name), Stroke::solid(0.4), &about);
                }
            }
            y += ROW;
        }
        y = bottom + 18.0;
    }
    drawing.into_text(y + MARGIN)
}

/// Returns the fill of an interval.
fn fill(lane: &str) -> Fill {
    match lane {
        timeline::STALLS => Fill::Black,
        timeline::COMPUTE => Fill::Light,
        timeline::ALL_TO_ALL => Fill::Rising,
        _ => Fill::Dotted,
    }
}

/// Draws the parts of the time of a micro-batch as one bar; returns the height below the bar.
fn shares(drawing: &mut Drawing, result: &MoeResult, y: f64) -> f64 {
    let iteration = &result.iteration;
    let parts = [
        ("computing", iteration.compute_ms, Fill::Light),
        ("tensor-parallel exchanges", iteration.tensor_parallel_ms, Fill::Grey),
        ("all-to-alls", iteration.all_to_all_ms, Fill::Rising),
        ("stalls", iteration.stall_ms, Fill::Black),
    ];
    let sum: f64 = parts.iter().map(|(_, time_ms, _)| time_ms).sum();
    let scale = (WIDTH - 2.0 * MARGIN - NAMES) / sum.max(f64::MIN_POSITIVE);
    drawing.text((MARGIN + NAMES - 6.0, y + ROW - 9.0), SMALL.at(Anchor::End), "a micro-batch");
    let (mut x, mut words) = (MARGIN + NAMES, Vec::new());
    for (name, time_ms, fill) in parts.into_iter().filter(|(_, time_ms, _)| *time_ms > 0.0) {
        let about = format!("{name}: {time_ms:.3} ms, {:.1} %", 100.0 * time_ms / sum);
        let area = Area { x, y: y + 3.0, width: (time_ms * scale).max(0.3), height: ROW - 6.0 };
        drawing.rectangle(area, fill, Stroke::solid(0.6), &about);
        words.push(about);
        x += area.width;
    }
    drawing.text((MARGIN + NAMES, y + ROW + 9.0), SMALL, &words.join("; "));
    y + ROW + 12.0
}

/// Returns the lines of text on the iteration time and the meaning of the rows.
fn lines(result: &MoeResult) -> Vec<String> {
    let iteration = &result.iteration;
    let stalls = match iteration.stall_ms {
        0.0 => "no exchange waits for circuits".to_owned(),
        stall_ms => format!("a micro-batch waits {stall_ms:.3} ms for circuits"),
    };
    vec![
        format!(
            "{}: an iteration takes {:.6} s; {stalls}; gradients take {:.3} ms.",
            iteration.fabric.word(),
            iteration.iteration_ms / 1e3,
            iteration.data_parallel_ms
        ),
        ANALYTIC.to_owned(),
        "Rows show one micro-batch in the stage with the most layers, all layers forward and back: \
         all-to-alls hatched, stalls black, circuit changes dotted."
            .to_owned(),
        "The bar includes tensor-parallel exchanges, the rows do not.".to_owned(),
    ]
}
