//! Marks, baseline, comparison, checks, and which plan is shown.

use crate::app::effect::{Effect, Effects};
use crate::app::layer::{CompareView, Layer, Pair};
use crate::app::plans::{PlanEntry, PlanLabel, Shown};
use crate::app::state::App;
use lightbay_core::event::Severity;
use lightbay_core::param::ParamValue;
use lightbay_core::plan::Header;
use lightbay_core::problem::printable;
use lightbay_core::standing::Standing;
use lightbay_engines::{ScenarioDifferences, metrics};
use lightbay_sessions::compare::{Apart, CompareTable, ComparedPlan, TOLERANCE, compare};

impl App {
    /// Marks or unmarks the selected plan.
    pub(super) fn mark(&mut self, effects: &mut Effects) {
        let Some(number) = self.meant_plan().map(|entry| entry.number) else { return };
        let Some(entry) = self.plans.get_mut(number) else { return };
        entry.marked = !entry.marked;
        let text = if entry.marked {
            "marked; the plan stays in the table; press {compare_plans} to compare"
        } else {
            "no longer marked"
        };
        if entry.marked
            && let Some(plan) = entry.plan.clone()
        {
            effects.push(Effect::SavePlan { number, plan });
        }
        self.to_remember = true;
        self.say(Severity::Info, format!("plan {number} {text}"));
    }

    /// Makes the selected plan the baseline, or clears the baseline if the selected plan is the baseline.
    pub(super) fn toggle_baseline(&mut self, effects: &mut Effects) {
        let in_compare = match self.layers.last() {
            Some(Layer::Compare(view)) => view.pair().map(|pair| pair.plan),
            _ => None,
        };
        let Some(number) = in_compare.or_else(|| self.meant_plan().map(|entry| entry.number)) else { return };
        if self.plans.baseline == Some(number) && in_compare.is_none() {
            self.plans.baseline = None;
            self.say(Severity::Info, format!("plan {number} is no longer the baseline"));
        } else {
            self.plans.baseline = Some(number);
            if let Some(plan) = self.plans.get(number).and_then(|entry| entry.plan.clone()) {
                effects.push(Effect::SavePlan { number, plan });
            }
            self.say(
                Severity::Info,
                format!("plan {number} is the baseline; tables and, where possible, charts compare the current plan with it"),
            );
        }
        if let Some(Layer::Compare(_)) = self.layers.last() {
            let pairs = self.pairs();
            if let Some(Layer::Compare(view)) = self.layers.last_mut() {
                *view = CompareView::new(pairs);
            }
        }
        self.to_remember = true;
    }

    /// Sets the name or the note of the selected plan; `-` removes it.
    pub(super) fn label_plan(&mut self, text: &str, is_name: bool, effects: &mut Effects) {
        let Some(number) = self.meant_plan().map(|entry| entry.number) else { return };
        if self.session.beside.is_some() {
            let text = "the session is open in another window, which saves it; name and note plans there";
            return self.say(Severity::Warning, text);
        }
        let most = if is_name { MOST_NAME } else { MOST_NOTE };
        let text: String = printable(text.trim()).chars().take(most).collect();
        let text = if text == "-" { String::new() } else { text };
        let what = if is_name { "name" } else { "note" };
        let said = if text.is_empty() {
            format!("plan {number} has no {what} now")
        } else {
            format!("{what} of plan {number}: {text}")
        };
        // A plan with a label stays in the session.
        if let Some(plan) =
            self.plans.get(number).and_then(|entry| entry.plan.clone()).filter(|_| !text.is_empty())
        {
            effects.push(Effect::SavePlan { number, plan });
        }
        let label = self.plans.labels.entry(number).or_default();
        *(if is_name { &mut label.name } else { &mut label.note }) = text;
        if *label == PlanLabel::default() {
            self.plans.labels.remove(&number);
        }
        self.to_remember = true;
        self.say(Severity::Info, said);
        self.touch();
    }

    /// Returns the pairs of plans to compare: each marked plan with the baseline or, without a baseline, with the
    /// marked plan that has the lowest number. If this gives no pair, returns the displayed plan with the baseline, a marked plan or the first
    /// other plan of the table.
    fn pairs(&self) -> Vec<Pair> {
        let baseline = self.plans.baseline.filter(|number| self.plans.get(*number).is_some());
        let marked: Vec<u64> = self.plans.marked().iter().map(|entry| entry.number).collect();
        let pair = |plan, against| (plan != against).then_some(Pair { plan, against });
        let mut pairs: Vec<Pair> = match (baseline, marked.as_slice()) {
            (Some(baseline), [_, ..]) => marked.iter().filter_map(|number| pair(*number, baseline)).collect(),
            (None, [first, rest @ ..]) if !rest.is_empty() => {
                rest.iter().filter_map(|number| pair(*number, *first)).collect()
            }
            _ => Vec::new(),
        };
        if pairs.is_empty() {
            let shown = self.plans.shown().map(|entry| entry.number);
            let other = baseline.filter(|number| Some(*number) != shown).or_else(|| {
                let marked = marked.first().copied().filter(|number| Some(*number) != shown);
                let rows = self.plans.rows();
                marked.or_else(|| rows.iter().map(|entry| entry.number).find(|number| Some(*number) != shown))
            });
            pairs.extend(shown.zip(other).and_then(|(shown, other)| pair(shown, other)));
        }
        pairs
    }

    /// Shows plans side by side.
    pub(super) fn compare(&mut self, effects: &mut Effects) {
        let pairs = self.pairs();
        if pairs.is_empty() {
            self.say(Severity::Warning, "mark two plans with m, or make one the baseline with B");
            return;
        }
        for pair in &pairs {
            self.load(pair.plan, effects);
            self.load(pair.against, effects);
        }
        self.layers.push(Layer::Compare(CompareView::new(pairs)));
    }

    /// Returns the comparison of pairs that have the same reference, settings first; `None` while a plan is not in
    /// memory.
    pub fn comparison(&self, pairs: &[Pair]) -> Option<CompareTable> {
        let reference = pairs.first()?.against;
        let first = self.plans.get(reference)?.plan.as_ref()?.0.scenario();
        let subject = |number: u64| -> Option<Compared> {
            let entry = self.plans.get(number)?;
            let plan = &entry.plan.as_ref()?.0;
            let scenario = plan.scenario();
            let knobs = scenario
                .every_knob()
                .iter()
                .filter_map(|info| Some((info.name.to_string(), scenario.knob(&info.name)?)))
                .collect();
            let label = format!("{} {}", entry.number, self.plans.title(entry));
            let header = plan.header();
            // Uses the present bounds, as the header of the screen does, not the bounds at the end of the run of the
            // plan.
            let standing = self.standing_of(entry);
            let differences = ScenarioDifferences::of(&first, &scenario).ok()?;
            let ScenarioDifferences { fields, job, origin, is_same_question, .. } = differences;
            let apart = Apart { fields, job, origin, is_same_question };
            Some(Compared { label, header, standing, knobs, apart, other_question: entry.other_question })
        };
        // The reference is first.
        let numbers = std::iter::once(reference).chain(pairs.iter().map(|pair| pair.plan));
        let subjects: Vec<Compared> = numbers.map(subject).collect::<Option<_>>()?;
        let subjects: Vec<ComparedPlan<'_>> = subjects.iter().map(Compared::subject).collect();
        let kind = self.work.as_ref().map_or("", |work| work.kind);
        compare(&subjects, TOLERANCE, metrics(kind)).ok()
    }

    /// Returns the reason that plans cannot be compared now.
    pub fn why_no_comparison(&self, pairs: &[Pair]) -> String {
        let numbers = pairs.iter().flat_map(|pair| [pair.against, pair.plan]);
        let mut entries = numbers.filter_map(|number| self.plans.get(number));
        let why = entries.find_map(|entry| entry.usable().err());
        why.unwrap_or_else(|| "these plans cannot be compared".to_owned())
    }

    /// Verifies the selected plan with the independent checker, on another thread.
    pub(super) fn check(&mut self, exact: bool, effects: &mut Effects) {
        let Some((number, plan)) = self.meant_plan().map(|entry| (entry.number, entry.plan.clone())) else {
            return;
        };
        if let Some(refusal) = self.plans.get(number).and_then(PlanEntry::refusal) {
            return self.say(Severity::Error, refusal);
        }
        if let Some(plan) = plan {
            self.say(Severity::Info, format!("checking plan {number}"));
            effects.push(Effect::Check { number, plan, exact });
        } else {
            self.load(number, effects);
            self.say(
                Severity::Info,
                format!("plan {number} is being read; press {{check_plan}} again in a moment"),
            );
        }
    }

    /// Shows a plan by number.
    pub(super) fn show_plan(&mut self, number: u64, effects: &mut Effects) {
        if self.plans.get(number).is_none() {
            self.say(Severity::Error, format!("there is no plan {number}; see the table of plans"));
            return;
        }
        if let Some(refusal) = self.plans.get(number).and_then(PlanEntry::refusal) {
            return self.say(Severity::Error, refusal);
        }
        self.plans.shown = Shown::Chosen(number);
        self.to_remember = true;
        self.load(number, effects);
        self.discard_edit();
        self.touch();
    }

    /// Shows a plan by the name that the user gave it, or by number.
    pub(super) fn show_plan_named(&mut self, name: &str, effects: &mut Effects) {
        if let Some(number) = self.plans.named(name.trim()) {
            self.show_plan(number, effects);
        } else {
            let text = format!("no plan is called '{}'; see the table of plans", printable(name));
            self.say(Severity::Error, text);
        }
    }

    /// Shows the best plan.
    pub(super) fn follow_best(&mut self, _effects: &mut Effects) {
        self.plans.shown = Shown::Best;
        self.to_remember = true;
        self.discard_edit();
        self.touch();
    }

    /// Ends the edit of cells, because the edit belongs to the plan that was displayed before.
    pub(super) fn discard_edit(&mut self) {
        self.layers.retain(|layer| !matches!(layer, Layer::EditCell(_)));
    }

    /// Requests that a plan be read again if it is not in memory.
    pub(super) fn load(&mut self, number: u64, effects: &mut Effects) {
        let missing = self.plans.get(number).is_some_and(|entry| entry.plan.is_none());
        if missing && self.loading.insert(number) {
            effects.push(Effect::LoadPlan { number });
        }
    }

    /// Returns the known facts about a plan, one line each.
    pub(super) fn plan_details(&self, entry: &PlanEntry) -> Vec<String> {
        let standing = self.standing_of(entry);
        let label = self.plans.labels.get(&entry.number).cloned().unwrap_or_default();
        let own = [("name        ", label.name), ("note        ", label.note)];
        let own = own.into_iter().filter(|(_, text)| !text.is_empty());
        let mut lines: Vec<String> = own.map(|(head, text)| format!("{head}{text}")).collect();
        lines.extend([
            format!("method      {}", entry.method),
            format!("from        {}", entry.source),
            format!("objective   {}", entry.value),
            format!(
                "status      {}",
                entry.refused.as_ref().map_or_else(|| standing.status(), |why| format!("refused: {why}"))
            ),
            format!("bound       {}", standing.words(false)),
        ]);
        lines.extend(standing.other_question().map(|why| format!("problem     not the objective: {why}")));
        lines.extend(entry.metrics.iter().map(|(name, value)| format!("{name}  {value}")));
        if let Some(header) = entry.header() {
            lines.push(String::new());
            lines.extend(header.parameters.iter().map(|(name, value)| format!("{name}={value}")));
            lines.push(format!("seed={}  threads={}", header.seed, header.threads));
            if let Some(start) = &header.provenance.hot_start {
                lines.push(format!("started from {start}"));
            }
            match &header.provenance.not_reproducible_because {
                Some(why) => lines.push(format!("not reproducible: {why}")),
                None => lines.push("reproducible with the same scenario, parameters and seed".to_owned()),
            }
        }
        lines.push(format!("scenario    {}", entry.scenario_sha256));
        lines
    }
}

/// Maximum numbers of characters of the name and of the note of a plan.
const MOST_NAME: usize = 60;
const MOST_NOTE: usize = 500;

/// A plan as input of a comparison.
struct Compared {
    label: String,
    header: Header,
    standing: Standing,
    knobs: Vec<(String, ParamValue)>,
    apart: Apart,
    other_question: Option<&'static str>,
}

impl Compared {
    fn subject(&self) -> ComparedPlan<'_> {
        ComparedPlan {
            label: &self.label,
            header: &self.header,
            standing: &self.standing,
            knobs: &self.knobs,
            other_question: self.other_question,
            apart: Some(&self.apart),
        }
    }
}
