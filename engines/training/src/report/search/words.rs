//! A search in words: its models, its hot start, the state of its solver, and the coverage of its bound.

use super::{is_proven, unit_of};
use lightbay_core::event::{HotStartFate, ModelSize, covered};
use lightbay_core::quantity::grouped;
use lightbay_core::report::text::{cell, number};
use lightbay_core::report::{Cell, Facts, Phrase, RunBeside, Tone, Unit};

fn size(model: &ModelSize) -> String {
    format!("{} {}×{}", model.after, grouped(model.rows), grouped(model.columns))
}

fn seconds(value: f64) -> String {
    number(value, Unit::SECONDS)
}

/// Size of the model with the sizes of earlier models, and the result of the hot start (accepted, repaired or
/// rejected).
pub(super) fn facts(run: &RunBeside) -> Facts {
    let mut facts = Facts::new();
    if let Some(last) = run.search.models.last() {
        facts.add("model", "model", format!("{}, {} integer", size(last), grouped(last.integers)));
        // Equal sizes are written once.
        let sizes = run
            .search
            .models
            .windows(2)
            .filter(|pair| (pair[0].rows, pair[0].columns) != (pair[1].rows, pair[1].columns));
        let before: Vec<String> = sizes.map(|pair| size(&pair[0])).collect();
        if !before.is_empty() {
            facts.sentence(format!("from {}", before.join(" → ")));
        }
    }
    if let Some(report) = &run.hot_start {
        let tone = match report.fate {
            HotStartFate::Accepted => Tone::Good,
            HotStartFate::Repaired => Tone::Text,
            HotStartFate::Rejected => Tone::Bad,
        };
        let mark = if report.fate == HotStartFate::Rejected { "! " } else { "" };
        let changed = report.before.filter(|before| Some(*before) != report.after);
        let values = match (changed, report.after) {
            (Some(before), Some(after)) => format!("  {} → {} s", seconds(before), seconds(after)),
            (None, Some(after)) => format!("  {} s", seconds(after)),
            (_, None) => String::new(),
        };
        let fate = Cell::new(format!("{mark}{}{values}", report.fate.word())).tone(tone);
        facts.add("hot_start", "hot start", fate).sentence(report.why.as_str());
    }
    facts
}

/// Hot start and model size in one line.
pub(super) fn legend(run: &RunBeside) -> Phrase {
    let facts = facts(run).facts;
    let of = |name: &str| facts.iter().find(|fact| fact.name == name);
    let mut phrase = Phrase::new();
    if let Some(fact) = of("hot_start") {
        phrase = phrase.muted("hot start ").with(cell(&fact.cell, fact.unit), fact.cell.tone).muted("   ");
    }
    if let Some(fact) = of("model") {
        phrase =
            phrase.muted("model  ").text(cell(&fact.cell, fact.unit)).muted(format!("  {}", fact.sentence));
    }
    // The reason comes last, because it is long.
    match of("hot_start").filter(|fact| !fact.sentence.is_empty()) {
        Some(fact) => phrase.muted(format!("   hot start: {}", fact.sentence)),
        None => phrase,
    }
}

/// Sentence on the state of the search and the coverage of its bound.
pub(super) fn sentence(run: &RunBeside, is_verified: bool) -> Phrase {
    let search = &run.search;
    let mut line = Phrase::new();
    // The state of a run that is stopping comes first, because the user waits for its end.
    if let Some(standing) = search.standing.as_ref().filter(|_| run.is_stopping) {
        line = line.answer(format!("{standing}  "));
    }
    // The proven result comes before the method.
    if let Some((_, Some(only))) = run.proof() {
        line = line.muted(format!("bound: {only}  "));
    } else if is_proven(run) {
        line = if run.is_stale {
            line.with("* stale: proven for other parameters  ", Tone::Changed)
        } else if is_verified {
            line.good("proven: no plan is better  ")
        } else {
            line.text("claimed: no plan is better  ")
        };
    }
    if let Some(standing) = search.standing.as_ref().filter(|_| !run.is_stopping) {
        line = line.text(format!("{standing}  "));
    }
    if let Some(stats) = &search.stats {
        let (counted, done) = (unit_of(run), grouped(stats.done));
        line = line.text(match stats.total {
            Some(total) => format!("{counted} {done} of {}", grouped(total)),
            None => format!("{counted} {done}"),
        });
        let counts = [
            ("open", stats.open),
            ("pruned", stats.pruned),
            ("LP it", stats.lp_iterations),
            ("cuts", stats.cuts),
        ];
        for (name, value) in counts {
            if let Some(value) = value {
                line = line.muted(format!("  {name} {}", grouped(value)));
            }
        }
        // The next bound is omitted if it is 0 or if its node has no better plans.
        let can_be_better =
            |next: &f64| next.is_finite() && *next > 0.0 && run.best.is_none_or(|best| *next < best);
        if let Some(next) = stats.next_bound.filter(can_be_better) {
            line = line.muted(format!("  best open node {}", seconds(next)));
            if let Some(only) = search.partial.as_ref().and_then(|bound| bound.only.as_ref()) {
                line = line.muted(format!(" for {}", covered(only)));
            }
        }
    }
    match run.phases.last() {
        Some((_, phase)) if line.is_empty() => line.muted(phase.detail.as_str()),
        _ => line,
    }
}

/// All facts on a search, one line each.
pub(super) fn remarks(run: &RunBeside) -> Vec<String> {
    let mut lines = super::super::beside::remarks(run);
    if let Some((_, phase)) = run.phases.last() {
        lines.push(format!("{}: {}", phase.name, phase.detail));
    }
    if let Some((since_s, stage)) = &run.search.stage {
        lines.push(format!("the solver entered its stage \"{stage}\" at {since_s:.1} s"));
    }
    if let Some(process) = &run.search.process {
        lines.push(format!("its solver runs in the {process}"));
    }
    for model in &run.search.models {
        lines.push(format!(
            "model {}: {} rows, {} columns, {} of them integer, {} entries",
            model.after, model.rows, model.columns, model.integers, model.nonzeros
        ));
    }
    if let Some(offer) = &run.offer {
        let taken = if offer.taken { "accepted" } else { "not better than this run's own plan" };
        lines.push(format!("solution imported from {}: {} s, {taken}", offer.from, seconds(offer.value)));
    }
    lines.extend(run.markers.iter().map(|(at_s, text)| format!("{at_s:.1} s  {text}")));
    lines
}
