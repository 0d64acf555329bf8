//! A search in words: its models, its hot start, where its solver stands, what its bound covers.

use super::unit_of;
use crate::app::runs::{Run, RunState, covered};
use crate::view::present::PaneInput;
use crate::view::shell::runs::standing;
use lightbay_core::event::{HotStartFate, ModelSize};
use lightbay_widgets::{Piece, Tone, number};

/// Which plans the bound covers, if not all.
pub fn only(run: &Run) -> Option<&str> {
    run.proof()?.1
}

/// Lines about the run that change seldom, each fitting into `room` columns.
pub fn lines(run: &Run, room: usize) -> Vec<Vec<Piece>> {
    [models(&run.models, room), hot_start(run, room)].into_iter().flatten().collect()
}

fn size(model: &ModelSize) -> String {
    format!("{} {}×{}", model.after, number::short(model.rows), number::short(model.columns))
}

/// Size of the model, from step to step: `model  written in full 57 310×49 204 → … → presolve 1 880×1 702`.
fn models(models: &[ModelSize], room: usize) -> Option<Vec<Piece>> {
    let (last, before) = models.split_last()?;
    let before: Vec<String> = before.iter().map(size).collect();
    let whole = format!("{}, {} integer", size(last), number::short(last.integers));
    // The first and the last step tell most.
    let ends: &[String] = before.get(..1).unwrap_or_default();
    let forms = [(&before[..], &whole), (&before[..], &size(last)), (ends, &whole), (ends, &size(last))]
        .map(|(steps, end)| [steps, std::slice::from_ref(end)].concat().join(" → "));
    let label = "model  ";
    let fits = |text: &String| label.len() + text.chars().count() <= room;
    let text = forms.into_iter().find(fits).unwrap_or(whole);
    Some(vec![Piece::muted(label), Piece::text(text)])
}

fn hot_start(run: &Run, room: usize) -> Option<Vec<Piece>> {
    let report = run.hot_start.as_ref()?;
    let tone = match report.fate {
        HotStartFate::Accepted => Tone::Good,
        HotStartFate::Repaired => Tone::Text,
        HotStartFate::Rejected => Tone::Bad,
    };
    let mark = if report.fate == HotStartFate::Rejected { "! " } else { "" };
    let mut line =
        vec![Piece::muted("hot start "), Piece::new(format!("{mark}{}", report.fate.word()), tone).bold()];
    if let Some(after) = report.after {
        let after = number::seconds6(after);
        line.push(Piece::text(
            match report.before.filter(|before| room >= 60 && Some(*before) != report.after) {
                Some(before) => format!("  {} → {after} s", number::seconds6(before)),
                None => format!("  {after} s"),
            },
        ));
    }
    if !report.why.is_empty() {
        line.push(Piece::muted(format!("  {}", report.why)));
    }
    Some(line)
}

/// Words on what a chart without curves waits for.
pub fn awaited(input: &PaneInput<'_>, run: &Run) -> String {
    match standing(input.app, run) {
        Some(standing) => format!("a plan or a bound; {standing}"),
        None => "a plan or a bound".to_owned(),
    }
}

/// Sentence on the state of the search and the cover of its bound.
pub fn sentence(input: &PaneInput<'_>, run: &Run) -> Vec<Piece> {
    let mut line = Vec::new();
    let standing = standing(input.app, run);
    // A person waits for what stops.
    if run.state == RunState::Stopping
        && let Some(standing) = &standing
    {
        line.push(Piece::answer(format!("{standing}  ")));
    }
    // What is proven comes before how.
    if let Some(only) = only(run) {
        line.push(Piece::new(format!("bound: {only}  "), Tone::Changed));
    } else if let (Some(best), Some(bound)) = (&run.best, run.bound)
        && lightbay_core::plan::gap(best.value, bound) <= lightbay_core::plan::OPTIMAL_GAP
    {
        let now = input.app.work.as_ref().is_some_and(|work| work.now.sha256 == run.scenario_sha256);
        line.push(if now {
            Piece::new("proven: no plan is better  ", Tone::Good)
        } else {
            Piece::new("* stale: proven for other parameters  ", Tone::Changed)
        });
    }
    if run.state == RunState::Running
        && let Some(standing) = &standing
    {
        line.push(Piece::text(format!("{standing}  ")));
    }
    if let Some(stats) = &run.solver {
        let counted = unit_of(run);
        let done = number::count(stats.done);
        line.push(Piece::text(match stats.total {
            Some(total) => format!("{counted} {done} of {}", number::count(total)),
            None => format!("{counted} {done}"),
        }));
        for (name, value) in [("open", stats.open), ("pruned", stats.pruned)] {
            if let Some(value) = value {
                line.push(Piece::muted(format!("  {name} {}", number::count(value))));
            }
        }
        for (name, value) in [("LP it", stats.lp_iterations), ("cuts", stats.cuts)] {
            if let Some(value) = value {
                line.push(Piece::muted(format!("  {name} {}", number::short(value))));
            }
        }
        // That no plan takes less than no time is no news.
        if let Some(next) = stats.next_bound.filter(|next| next.is_finite() && *next > 0.0) {
            line.push(Piece::muted(format!("  best open node {}", number::seconds6(next))));
            if let Some(partial) = run.partial.as_ref().and_then(|bound| bound.only.as_ref()) {
                line.push(Piece::muted(format!(" for {}", covered(partial))));
            }
        }
    }
    if line.is_empty() {
        line.push(Piece::muted(run.phase.as_ref().map_or_else(String::new, |phase| phase.detail.clone())));
    }
    line
}

/// Everything there is to know, one line each.
pub fn details(run: &Run) -> Vec<String> {
    let mut lines = vec![format!("{} run {}: {}", run.method, run.id, run.word())];
    if let Some(phase) = &run.phase {
        lines.push(format!("{}: {}", phase.name, phase.detail));
    }
    if let Some(stage) = run.stage() {
        lines.push(format!("the solver entered its stage \"{stage}\" at {:.1} s", run.stage_since_s));
    }
    if let Some(process) = &run.process {
        lines.push(format!("its solver works in the {process}"));
    }
    for model in &run.models {
        lines.push(format!(
            "model {}: {} rows, {} columns, {} of them integer, {} entries",
            model.after, model.rows, model.columns, model.integers, model.nonzeros
        ));
    }
    if let Some(report) = &run.hot_start {
        let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.6}"));
        lines.push(format!(
            "hot start {}, objective {} s before, {} s in this run: {}",
            report.fate.word(),
            value(report.before),
            value(report.after),
            report.why
        ));
    }
    if let Some(offer) = &run.offer {
        lines.push(format!(
            "solution imported from {}: {:.6} s, {}",
            offer.from,
            offer.value,
            if offer.taken { "accepted" } else { "not better than the own plan" }
        ));
    }
    lines.extend(run.markers.iter().map(|marker| format!("{:.1} s  {}", marker.at_s, marker.text)));
    lines
}
