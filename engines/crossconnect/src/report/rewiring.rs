//! Compares the removed circuits of a plan with the removed circuits of other methods and with the bound.

use super::from_scratch::FromScratch;
use super::words;
use crate::Crossconnect;
use crate::plan::{Action, Changes};
use crate::rollout::explained::ChangeFacts;
use crate::scenario::CrossconnectScenario;
use lightbay_core::checked::downcast;
use lightbay_core::plan::{Status, gap};
use lightbay_core::quantity::{self, number};
use lightbay_core::report::{
    Cell, Column, Facts, Line, Matrix, Phrase, PlanBeside, Row, Section, Surroundings, Table, Tone, Unit,
};
use lightbay_core::standing::{KnownBound, Standing};

/// Multiple of the removals of the best baseline at which the scale of the bars ends at most.
const OFF_SCALE: f64 = 2.0;

/// The plan to rank, and the plans that it is compared with.
pub(super) struct Ranked<'a> {
    pub scenario: &'a CrossconnectScenario,
    pub changes: &'a Changes,
    pub facts: &'a ChangeFacts,
    /// The plan to rank, as the report shows it next to other plans.
    pub shown: &'a PlanBeside,
    pub beside: &'a Surroundings,
    /// `true` in a session, whose plans have numbers.
    pub in_session: bool,
    /// Plans of the baselines, computed for this comparison.
    pub baselines: &'a [FromScratch],
}

impl Ranked<'_> {
    /// Returns the bound that is drawn with the removals: the larger of the bound in the header, which is a verified
    /// bound if there is one, and the bound from counting pairs of pods.
    fn bound(&self) -> f64 {
        let counting = self.changes.totals.lower_bound_removed_circuits as f64;
        self.drawn().map_or(counting, |bound| bound.value.max(counting))
    }

    /// Returns the bound on all plans that bars and header show; `None` if no bound is known.
    fn drawn(&self) -> Option<&KnownBound> {
        self.shown.standing.as_ref()?.drawn()
    }

    /// Returns the tightest known bound on all plans; `None` if no bound is known.
    fn best_known(&self) -> Option<&KnownBound> {
        self.shown.standing.as_ref()?.on_all()
    }

    pub(super) fn section(&self) -> Section {
        let alone = [self.shown];
        let mut rivals = self.beside.best_by_method();
        if rivals.is_empty() {
            rivals = alone.to_vec();
        }
        // A baseline without a plan in the session is computed.
        let computed: Vec<PlanBeside> = self.computed(&rivals).collect();
        rivals.extend(&computed);
        rivals.sort_by(|a, b| a.value.total_cmp(&b.value));
        let section = Section::empty("Rewiring").answer(self.answer()).sentence(self.verdict()).block(
            "methods",
            "",
            self.methods(&rivals),
        );
        let section = match self.per_switch(&rivals) {
            Some((matrix, most)) if most > 0.0 => {
                let title = format!("Circuits removed at each switch, 0 to {}", number(most));
                section.on_screens("per_switch", title, matrix)
            }
            _ => section,
        };
        section.block("beside", "", self.circumstances(&rivals))
    }

    /// Iterates over the computed baselines whose methods have no plan among `rivals`.
    fn computed(&self, rivals: &[&PlanBeside]) -> impl Iterator<Item = PlanBeside> {
        let totals = self.changes.totals;
        let installed = totals.kept_circuits + totals.removed_circuits;
        // Nothing is removed where nothing is installed.
        let baselines: &[FromScratch] = if self.facts.green_field { &[] } else { self.baselines };
        let is_new = |plan: &&FromScratch| rivals.iter().all(|known| known.method != plan.method);
        baselines.iter().filter(is_new).map(move |plan| PlanBeside {
            method: plan.method.to_owned(),
            value: plan.removed as f64,
            metrics: [("kept_circuits".to_owned(), installed as f64 - plan.removed as f64)].into(),
            ..PlanBeside::default()
        })
    }

    fn answer(&self) -> Phrase {
        let totals = self.changes.totals;
        if self.facts.green_field {
            return Phrase::new().answer(totals.added_circuits.to_string()).muted(" to set up");
        }
        Phrase::new()
            .answer(self.facts.removed().to_string())
            .muted(" of ")
            .text((totals.kept_circuits + totals.removed_circuits).to_string())
            .muted(" removed")
    }

    /// Returns the table of the best plan of every method, best first, compared with the bound.
    fn methods(&self, rivals: &[&PlanBeside]) -> Table {
        let is_warm = rivals.iter().any(|plan| plan.began_with.is_some());
        let mut columns = vec![
            Column::words("method", "circuits removed"),
            Column::counts("removed_circuits", ""),
            Column::words("plan", "plan").priority(3),
            Column::numbers("found_after_s", "after", Unit::new("s", 1.0, Some(2))).priority(4),
        ];
        if is_warm {
            columns.push(Column::counts("began_with_removed_circuits", "warm from").priority(3));
        }
        let bound = self.bound();
        let word = self.drawn().filter(|drawn| drawn.value >= bound).map_or("verified", KnownBound::word);
        let label = format!("bound {}, {word}", number(bound));
        let limit = Line { name: "bound".to_owned(), label, value: bound };
        let mut table = Table::new(["method", "methods"], columns).bar(1).limit(Some(limit)).of_plans();
        // Baselines that remove many times more circuits would hide the differences of the best plans. The scale stays
        // when a run finds a better plan, because baselines do not change.
        let values = || rivals.iter().map(|plan| plan.value);
        let best = self.baselines.iter().map(|plan| plan.removed as f64).reduce(f64::min);
        let most = OFF_SCALE * best.unwrap_or_else(|| values().fold(f64::INFINITY, f64::min));
        table.full = (most > bound && values().any(|value| value > most)).then_some(most);
        for plan in rivals {
            let name = Cell::new(plan.method.as_str());
            let name = if plan.is_baseline { name.note("B") } else { name };
            let tone = if plan.is_shown { Tone::Answer } else { Tone::Text };
            // Only a proven optimum is green.
            let is_optimal = plan.is_shown && bound >= plan.value - 0.5 && self.is_proven();
            let mut cells = vec![
                name.tone(tone),
                Cell::new(plan.value).tone(if is_optimal { Tone::Good } else { tone }),
                self.source(plan),
                if plan.at_s > 0.0 { Cell::new(plan.at_s).tone(Tone::Muted) } else { Cell::none() },
            ];
            if is_warm {
                cells.push(plan.began_with.map_or_else(Cell::none, Cell::new));
            }
            let row = Row::new(cells).sentence(Self::sentence(plan));
            table.push(if plan.number > 0 { row.item(plan.number as u32) } else { row });
        }
        table
    }

    /// Returns what a row is: a plan by its number, with a star if its scenario has changed since, the preview of a
    /// session without plans, an edit, or a baseline that was computed for the comparison.
    fn source(&self, plan: &PlanBeside) -> Cell {
        match plan.number {
            0 if plan.is_shown && self.in_session => {
                let of = if self.beside.plans.is_empty() { "preview" } else { "edit" };
                Cell::new(of).tone(Tone::Changed)
            }
            0 if plan.is_shown => Cell::new("this plan"),
            0 => Cell::new("baseline").tone(Tone::Muted),
            number if plan.is_stale => Cell::new(format!("{number} *")).tone(Tone::Changed),
            number => Cell::new(number.to_string()).tone(Tone::Muted),
        }
    }

    /// Returns the removed circuits of every switch, for this plan, the plan with which it is compared, and the computed
    /// baselines, and the largest of these numbers; `None` for a single switch.
    fn per_switch(&self, rivals: &[&PlanBeside]) -> Option<(Matrix, f64)> {
        let of_rival = |plan: &PlanBeside| {
            let plan = downcast::<Crossconnect>(plan.plan.as_ref()?)?;
            let changes = plan.plan().result.changes()?;
            (changes.ocs.len() == self.changes.ocs.len()).then(|| removed(changes))
        };
        let others = || rivals.iter().filter(|plan| !plan.is_shown);
        let mut rival = others().find(|plan| plan.is_baseline).into_iter().chain(others());
        let rival = rival.find_map(|plan| Some((plan.method.clone(), of_rival(plan)?)));
        if self.changes.ocs.len() < 2 {
            return None;
        }
        let own = ("this plan".to_owned(), self.facts.per_switch());
        let mut lines: Vec<(String, Vec<u32>)> = std::iter::once(own).chain(rival).collect();
        let computed = |plan: &&FromScratch| lines.iter().all(|(method, _)| *method != plan.method);
        let computed: Vec<_> = self.baselines.iter().filter(computed).collect();
        lines.extend(computed.into_iter().map(|plan| (plan.method.to_owned(), plan.per_switch.clone())));
        // The others have the order of the table.
        lines[1..].sort_by_key(|(_, counts)| counts.iter().sum::<u32>());
        let most = lines.iter().flat_map(|(_, counts)| counts).max().copied().unwrap_or(0);
        let matrix = Matrix {
            name: "removed_circuits",
            unit: Unit::COUNT,
            rows: lines.iter().map(|(name, _)| name.clone()).collect(),
            columns: self.changes.ocs.iter().map(|ocs| ocs.ocs_id.to_string()).collect(),
            cells: lines.iter().flat_map(|(_, counts)| counts.iter().copied().map(Cell::new)).collect(),
            shaded: true,
            ..Matrix::default()
        };
        Some((matrix, f64::from(most)))
    }

    /// Returns further facts: the gain of the change, circuits that every plan removes, and other bounds.
    fn circumstances(&self, rivals: &[&PlanBeside]) -> Facts {
        let mut facts = Facts::new();
        let totals = self.changes.totals;
        let is_whole = totals.unmet_circuits.is_none();
        if let Some(predicted_s) = self.scenario.predicted_makespan_s.filter(|_| is_whole) {
            facts.number("predicted_makespan_s", "iteration time afterwards", Unit::SECONDS, predicted_s);
            let disturbed = words::circuits(totals.removed_circuits);
            facts.sentence(format!(
                "predicted by the plan that chose the circuits; the change disturbs {disturbed}"
            ));
        }
        if let Some(forced) = totals.forced_removed_circuits.filter(|forced| *forced > 0) {
            facts.add("forced_removed_circuits", "circuits lost", Cell::new(forced).tone(Tone::Warn));
            facts.sentence("at failed ports; every plan removes them");
        }
        let counting = totals.lower_bound_removed_circuits;
        facts.add("lower_bound_removed_circuits", "demand-difference bound", counting);
        if rivals.iter().any(|plan| plan.began_with.is_some()) {
            facts.add("warm", "hot start", true);
            facts.sentence("the search started from a known plan; R solves from scratch");
        }
        facts
    }

    /// Returns the verdict on the removals against the best known bound on their number.
    fn verdict(&self) -> Phrase {
        let removed = self.facts.removed() as f64;
        let bound = self.bound();
        if self.facts.green_field {
            let added = words::circuits(self.changes.totals.added_circuits);
            return Phrase::new().answer(format!("> {added}")).muted(" to set up; nothing is installed");
        }
        let phrase = Phrase::new().answer(format!("> {}", number(removed)));
        if self.shown.is_stale {
            // The scenario has changed since, so nothing is known about its current form.
            return phrase
                .muted(" removed by plan ")
                .with(format!("{} *", self.shown.number), Tone::Changed)
                .muted(", stale");
        }
        let brief = self.shown.standing.as_ref().map(Standing::brief);
        let gap = brief.unwrap_or_else(|| quantity::gap(gap(removed, bound)));
        if bound >= removed - 0.5 && self.is_proven() {
            return phrase.good(" is optimal").muted(": no plan removes fewer");
        }
        if self.best_known().is_some_and(|known| known.value >= removed - 0.5) {
            let phrase = phrase.muted(format!(" removed, claimed optimal, gap {gap}"));
            let is_verified = bound < removed - 0.5;
            return if is_verified { phrase.muted("; verified bound ").text(number(bound)) } else { phrase };
        }
        if let Some(only) = &self.shown.partial {
            return phrase.good(" is optimal").muted(format!(" for {}", only.trim_end_matches(" only")));
        }
        phrase.muted(" removed; lower bound ").text(number(bound)).muted(", gap ").text(gap)
    }

    /// Returns `true` if the bound is not only claimed.
    fn is_proven(&self) -> bool {
        self.drawn().is_none_or(KnownBound::is_verified) || self.is_counted()
    }

    /// Returns `true` if counting pairs of pods proves that no plan removes fewer circuits than this one.
    fn is_counted(&self) -> bool {
        self.changes.totals.lower_bound_removed_circuits as f64 >= self.facts.removed() as f64 - 0.5
    }

    fn sentence(plan: &PlanBeside) -> Phrase {
        let figure = |name: &str| plan.metrics.get(name).copied();
        let name = if plan.number > 0 {
            format!("> plan {} {}", plan.number, plan.method)
        } else {
            format!("> {}", plan.method)
        };
        let mut phrase = Phrase::new()
            .answer(name)
            .muted("  removes ")
            .answer(number(plan.value))
            .muted(" keeps ")
            .text(number(figure("kept_circuits").unwrap_or(0.0)));
        if let Some(batches) = figure("batches") {
            let word = if batches == 1.0 { " batch" } else { " batches" };
            phrase = phrase.muted(" in ").text(number(batches)).muted(word);
        }
        if plan.is_stale {
            phrase = phrase.with("  * stale", Tone::Changed);
        } else if let Some(status) = plan.status {
            let bound = plan.standing.as_ref().and_then(Standing::drawn);
            let is_verified =
                bound.is_none_or(|bound| bound.is_verified() && bound.value >= plan.value - 0.5);
            let claim = if status == Status::Optimal && !is_verified { "claimed " } else { "" };
            phrase = phrase.muted(format!("  {claim}{}", status.word().replace('_', " ")));
        }
        if plan.number == 0 && !plan.is_shown {
            return phrase.muted(format!("  computed for comparison; :solve {} makes a plan", plan.method));
        }
        if !plan.is_shown {
            phrase = phrase.muted(format!("  :show_plan {} shows it", plan.number));
        }
        phrase
    }
}

/// Returns the number of removed circuits of every switch, including circuits that every plan removes.
fn removed(changes: &Changes) -> Vec<u32> {
    let is_removed = |entry: &&crate::plan::Entry| entry.action == Action::Remove;
    changes.ocs.iter().map(|ocs| ocs.cross_connects.iter().filter(is_removed).count() as u32).collect()
}
