//! A search that proves: incumbent and bound over time and over nodes, the gap relative to the objective and to the
//! ideal communication, the steps, the sizes of the models, and the state and log of the solver. The section says so if
//! a bound covers only some plans.

mod curves;
mod steps;
#[cfg(test)]
mod tests;
mod words;

use super::beside::comm_ideal_s;
use crate::Training;
use lightbay_core::plan::{OPTIMAL_GAP, Plan, gap};
use lightbay_core::quantity::{self, open_percent};
use lightbay_core::report::text::squeezed;
use lightbay_core::report::{
    Cell, Column, Facts, Phrase, RunBeside, Section, Surroundings, Table, Tone, Unavailable, Unit,
};
use lightbay_core::standing::Standing;

/// The forms of the section: blocks that a screen shows one at a time.
pub(super) const FORMS: &[&str] = &["over_time", "over_nodes", "solver_log"];

/// The forms with curves, with the steps below them.
const CURVES: &[&str] = &["over_time", "over_nodes"];

/// The form with the solver's log.
const LOG: &[&str] = &["solver_log"];

/// The section on the search that found a plan, as far as the plan and its checker contain it.
pub(super) fn of_plan(plan: &Plan<Training>, standing: Option<&Standing>) -> Section {
    let mut facts = Facts::new();
    facts.add("method", "method", plan.method.as_str());
    let status = standing.map_or_else(|| plan.status.word().to_owned(), Standing::status);
    facts.add("status", "status", status);
    facts.number("best_s", "best", Unit::SECONDS, Cell::new(plan.objective.value).tone(Tone::Answer));
    let leading = standing.and_then(Standing::leading);
    facts.number("bound_s", "bound", Unit::SECONDS, Cell::new(leading.map(|bound| bound.value)));
    facts.sentence(leading.and_then(|bound| bound.covers.as_deref()).unwrap_or_default());
    facts.number("gap", "gap", Unit::PERCENT, Cell::new(leading.map(|bound| bound.gap)));
    facts.sentence(standing.map_or_else(String::new, Standing::brief));
    facts.number("elapsed_s", "found after", Unit::SECONDS.with_decimals(3), plan.provenance.elapsed_s);
    Section::new("Search", facts).subject(plan.method.as_str())
}

/// The bounds on the plans of the run's scenario.
fn standings(beside: &Surroundings) -> impl Iterator<Item = &Standing> {
    beside.plans.iter().filter(|plan| plan.is_of_run).filter_map(|plan| plan.standing.as_ref())
}

/// Returns `true` if the scenario of the run has a plan for which the checker confirms that no plan is better.
fn is_verified(beside: &Surroundings) -> bool {
    standings(beside).filter_map(Standing::optimum).any(|bound| bound.is_on_all && bound.is_verified())
}

/// Returns `true` if the run claims that its best plan is optimal, but no checker confirms the claim.
fn is_claimed(run: &RunBeside, beside: &Surroundings) -> bool {
    is_proven(run) && !is_verified(beside)
}

/// Returns the smallest verified gap of a plan of the run's scenario.
fn verified_gap(beside: &Surroundings) -> Option<f64> {
    let bounds = standings(beside).filter_map(Standing::leading);
    let verified = bounds.filter(|bound| bound.is_verified() && bound.is_on_all);
    verified.map(|bound| bound.gap).min_by(f64::total_cmp)
}

/// The section on a search with a proof, for the current run of a plan or a scenario.
pub(super) fn in_session(beside: &Surroundings) -> Result<Section, Unavailable> {
    let run = beside.run.as_ref().ok_or_else(|| {
        Unavailable::absent("no search with a bound yet", "solve with delta-joint or delta-select")
    })?;
    let search = Search { run, comm_s: comm_ideal_s(beside) };
    let curves = curves::Values::of(run, beside);
    let is_silent = run.search.stats.is_none() && run.search.models.is_empty();
    if curves.are_empty() && run.search.lines.is_empty() && run.is_active && is_silent {
        return Err(Unavailable::absent("the run has no bound yet", ""));
    }
    if curves.are_empty() && run.search.lines.is_empty() && !run.is_active {
        return Err(Unavailable::absent(
            "the run ended without a plan and without a bound",
            "L shows the log; change parameters and press r",
        ));
    }
    let mut section = Section::empty("Search")
        .subject(super::beside::subject(run))
        .context(search.context(is_claimed(run, beside)))
        .answer(search.answer(is_verified(beside), verified_gap(beside)))
        .sentence(words::sentence(run, is_verified(beside)))
        .legend(words::legend(run));
    section.remarks = words::remarks(run);
    if !curves.are_empty() {
        section = section.block(FORMS[0], "Best and bound over time", curves.over_time()).block(
            FORMS[1],
            "Best and bound over nodes",
            curves.over_nodes(),
        );
    }
    let facts = words::facts(run);
    if !facts.facts.is_empty() {
        section = section.block("model", "", facts).only_in(LOG);
    }
    if !run.search.rows.is_empty() {
        section = section.block("steps", "", steps::table(&search, is_claimed(run, beside))).only_in(CURVES);
    }
    Ok(match &run.search.standing {
        _ if !run.search.lines.is_empty() => section.block(FORMS[2], "", log(run)),
        Some(standing) => no_log(section, format!("latest state of the solver: {standing}")),
        None => no_log(section, "only methods with a solver have a log; v shows the curves".to_owned()),
    })
}

/// Adds the remedy for a missing log to a section.
fn no_log(section: Section, remedy: String) -> Section {
    let mut facts = Facts::new();
    facts.add("log", "no lines of a solver log", remedy);
    section.on_screens("log", "", facts).only_in(LOG)
}

/// Lines of the solver's log.
fn log(run: &RunBeside) -> Table {
    let columns = vec![
        Column::numbers("at_s", "", Unit::SECONDS.with_decimals(1)).priority(1),
        Column::words("line", "").aligned(),
    ];
    let mut table = Table::new(["line", "lines"], columns).newest_last();
    for (number, (at_s, text)) in (run.search.first_line..).zip(&run.search.lines) {
        let row = table.row(vec![Cell::new(*at_s).tone(Tone::Muted), Cell::new(text.as_str())]);
        row.item = Some(number);
        row.sentence = Phrase::new().answer("> ").text(squeezed(text, 1));
    }
    table
}

/// A run with a search, and the ideal communication time to which its gaps are related.
struct Search<'a> {
    run: &'a RunBeside,
    /// Ideal communication time of the run's scenario, if a plan of this scenario is known.
    comm_s: Option<f64>,
}

/// A gap relative to the objective and, if known, to the ideal communication.
#[derive(Clone, Copy, Debug, PartialEq)]
struct GapOf {
    share: f64,
    of_comm: Option<f64>,
}

impl GapOf {
    /// Text of the gap relative to the objective: `0.07 %`.
    fn words(self) -> String {
        format!("{} %", open_percent(self.share, if self.share < 0.0995 { 2 } else { 1 }))
    }

    /// Text of the gap relative to the ideal communication: `2.1 % of ideal comm.`
    fn second(self) -> Option<String> {
        self.of_comm.map(|share| format!("{} % of ideal comm.", open_percent(share, 1)))
    }
}

impl Search<'_> {
    fn gap(&self, best: f64, bound: f64) -> GapOf {
        let of_comm = self.comm_s.map(|comm_s| ((best - bound) / comm_s).max(0.0));
        GapOf { share: gap(best, bound).max(0.0), of_comm }
    }

    /// The gap between best and bound, if both are known, and the plans that the bound covers, if it does not cover all
    /// plans.
    fn standing(&self) -> Option<(GapOf, Option<&str>)> {
        let (bound, only) = self.run.proof()?;
        Some((self.gap(self.run.best?, bound), only))
    }

    /// The gap in words. If no checker confirmed a closed gap, the verified gap of the plan comes first, as in the
    /// header; without one, the gap is called claimed.
    fn answer(&self, is_verified: bool, verified: Option<f64>) -> Phrase {
        let words = match (self.standing(), self.run.proof()) {
            // The gap to a bound that covers only some plans is called partial.
            (Some((gap, Some(_))), _) => format!("partial gap {}", gap.words()),
            (Some((gap, None)), _) if is_proven(self.run) && !is_verified => match verified {
                Some(share) => format!("gap {} verified", quantity::gap(share)),
                None => format!("gap {} claimed", gap.words()),
            },
            (Some((gap, None)), _) => format!("gap {}", gap.words()),
            (None, Some(_)) => "no plan yet".to_owned(),
            (None, None) => "no bound yet".to_owned(),
        };
        Phrase::new().answer(words)
    }

    /// The gap divided by the ideal communication, and the process of the solver. The plans that the bound covers are
    /// not named here, but in the sentence of the section ([`words::sentence`]).
    /// A claimed gap is not divided, because the verified gap precedes it.
    fn context(&self, is_claimed: bool) -> Phrase {
        let second = self.standing().filter(|_| !is_claimed).and_then(|(gap, _)| gap.second());
        let mut phrase = Phrase::new();
        for text in [second.as_deref(), self.run.search.process.as_deref()].into_iter().flatten() {
            let between = if phrase.is_empty() { "" } else { "  " };
            phrase = phrase.muted(format!("{between}{text}"));
        }
        phrase
    }
}

/// Name of the unit that a run counts: `nodes`, `allocs`.
fn unit_of(run: &RunBeside) -> &str {
    let unit = run.search.stats.as_ref().map(|stats| stats.unit.as_str());
    unit.filter(|unit| !unit.is_empty()).unwrap_or("nodes")
}

/// Returns `true` if the best plan of a run is proven optimal among all plans.
fn is_proven(run: &RunBeside) -> bool {
    run.best.zip(run.bound).is_some_and(|(best, bound)| gap(best, bound) <= OPTIMAL_GAP)
}
