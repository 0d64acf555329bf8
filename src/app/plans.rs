//! The table of plans: numbers, marks, baseline, displayed plan and best plan.
//!
//! Each run has one row for its best plan; older plans of a run keep their row only while they are marked, the baseline
//! or displayed. A plan that is not needed is dropped from memory, and read from disk again on demand.

use lightbay_core::event::RunId;
use lightbay_core::kind::Sense;
use lightbay_core::plan::{Header, Status};
use lightbay_core::standing::Standing;
use lightbay_engines::AnyPlan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of newest plans that stay in memory in addition to the best, marked, baseline and displayed plans.
const NEWEST_KEPT: usize = 8;

/// Relative difference below which two objective values are a tie.
pub const TIE: f64 = 1e-9;

/// A plan that can be compared: two values are equal if they are the same object in memory.
#[derive(Clone, Debug)]
pub struct PlanRef(pub AnyPlan);

impl PartialEq for PlanRef {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.0.shared()), Arc::as_ptr(&other.0.shared()))
    }
}

/// One plan of the session.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanEntry {
    /// Number in the session, from 1.
    pub number: u64,
    /// Run that found the plan, and number of the plan in that run; `None` for plans from files and edits.
    pub origin: Option<(RunId, u64)>,
    /// Method that found the plan.
    pub method: String,
    /// Origin of the plan: the step of the method that found it, the file from which it was read, or the edit that made
    /// it.
    pub source: String,
    /// Objective value.
    pub value: f64,
    /// Value that breaks ties of the objective, smaller is better.
    pub secondary: f64,
    /// Figures for the comparison of plans, by name with unit.
    pub metrics: BTreeMap<String, f64>,
    /// Status of the plan, such as optimal or feasible; `None` while its run is active.
    pub status: Option<Status>,
    /// The bounds on the plan by the checker and by the plan's method; see [`crate::app::state::App::standing_of`].
    pub standing: Standing,
    /// The problem that the plan's method solves, if the method does not optimise the objective; a plan for another
    /// problem can be displayed, but never counts as the best plan.
    pub other_question: Option<&'static str>,
    /// Hash of the plan's scenario.
    pub scenario_sha256: String,
    /// Seconds of the run's clock when the plan was found.
    pub at_s: f64,
    /// `true` if the user marked the plan.
    pub marked: bool,
    /// `true` if a newer plan of the same run replaced the plan in the table.
    pub superseded: bool,
    /// Later runs that ended with an equal plan, which is stored only once.
    pub found_again: Vec<RunId>,
    /// Reason that the saved plan cannot be used, such as a violated rule; `None` if no reason is known. Such a plan is
    /// never the best plan.
    pub refused: Option<String>,
    /// The plan, if it is in memory.
    pub plan: Option<PlanRef>,
}

impl PlanEntry {
    /// Returns everything but scenario and result, if the plan is in memory.
    pub fn header(&self) -> Option<Header> {
        self.plan.as_ref().map(|plan| plan.0.header())
    }

    /// Stores the plan after it was read and checked again. Keeps the results of an exact check.
    pub fn read(&mut self, plan: PlanRef) {
        if !self.standing.is_exact() {
            self.standing = plan.0.standing();
        }
        self.plan = Some(plan);
        self.refused = None;
    }

    /// Records that the saved plan cannot be used, and forgets what its file claims about its quality.
    pub fn refuse(&mut self, problem: String) {
        self.standing = self.standing.clone().forgotten();
        self.refused = Some(problem);
        self.plan = None;
    }

    /// Returns the reason that the plan cannot be used, and what to do.
    pub fn refusal(&self) -> Option<String> {
        let problem = self.refused.as_ref()?;
        Some(format!("plan {} cannot be used: {problem}; {{solve_warm}} solves again", self.number))
    }

    /// Returns the plan.
    ///
    /// # Errors
    /// The reason that the plan is not in memory.
    pub fn usable(&self) -> Result<&PlanRef, String> {
        self.plan.as_ref().ok_or_else(|| match &self.refused {
            Some(problem) => format!("plan {} cannot be used: {problem}; solve again", self.number),
            None => format!("plan {} is still being read; try again in a moment", self.number),
        })
    }

    /// Returns `true` if the plan's method optimises the objective, and the plan was not refused.
    pub fn competes(&self) -> bool {
        self.other_question.is_none() && self.refused.is_none()
    }
}

/// Choice of the plan on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Shown {
    /// The best plan is displayed.
    #[default]
    Best,
    /// The plan with this number, which the user chose, is displayed.
    Chosen(u64),
}

/// Name and note that the user gave a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanLabel {
    /// Name, shown in place of the method; empty if there is none.
    pub name: String,
    /// Note; empty if there is none.
    pub note: String,
}

/// All plans of the session.
#[derive(Clone, Debug)]
pub struct PlanTable {
    /// Names and notes of plans, by number.
    pub labels: BTreeMap<u64, PlanLabel>,
    entries: Vec<PlanEntry>,
    next: u64,
    sense: Sense,
    /// Number of the baseline plan.
    pub baseline: Option<u64>,
    /// Choice of the displayed plan.
    pub shown: Shown,
    /// Hash of the scenario for which the best plan is determined.
    pub scenario_sha256: String,
    /// Numbers of the plans from which runs were started, by run.
    pub started_from: BTreeMap<RunId, u64>,
    /// Numbers of plans whose files must be written again, because the files are refused.
    pub to_save: Vec<u64>,
}

impl Default for PlanTable {
    fn default() -> Self {
        Self::new(Sense::Min, "")
    }
}

impl PlanTable {
    /// Creates an empty table.
    pub fn new(sense: Sense, scenario_sha256: &str) -> Self {
        Self {
            labels: BTreeMap::new(),
            entries: Vec::new(),
            next: 1,
            sense,
            baseline: None,
            shown: Shown::Best,
            scenario_sha256: scenario_sha256.to_owned(),
            started_from: BTreeMap::new(),
            to_save: Vec::new(),
        }
    }

    /// Returns `true` if `a` is better than `b`: by value, then by tie breaker.
    pub fn better(&self, a: (f64, f64), b: (f64, f64)) -> bool {
        if (a.0 - b.0).abs() <= TIE * b.0.abs() { a.1 < b.1 } else { self.sense.better(a.0, b.0) }
    }

    /// Adds a plan and returns its number. An older plan of the same run loses its row if it is not needed.
    pub fn add(&mut self, mut entry: PlanEntry) -> u64 {
        if entry.number == 0 {
            entry.number = self.next;
        }
        let number = entry.number;
        self.next = self.next.max(number + 1);
        self.entries.retain(|known| known.number != number);
        if let Some((run, _)) = entry.origin {
            for known in &mut self.entries {
                if known.origin.is_some_and(|(known_run, _)| known_run == run) {
                    known.superseded = true;
                }
            }
        }
        self.entries.push(entry);
        self.forget_unneeded();
        number
    }

    /// Records that a run ended with a plan that the table already has. The earlier plans of the run lose their rows;
    /// if one of them was displayed, the equal plan is displayed instead. Returns `false` if the table has no plan with
    /// this number.
    pub fn find_again(&mut self, number: u64, run: RunId) -> bool {
        let Some(entry) = self.get_mut(number) else { return false };
        if !entry.found_again.contains(&run) {
            entry.found_again.push(run);
        }
        for own in self.entries.iter_mut().filter(|entry| entry.origin.is_some_and(|(of, _)| of == run)) {
            own.superseded = true;
            if self.shown == Shown::Chosen(own.number) && !own.marked && self.baseline != Some(own.number) {
                self.shown = Shown::Chosen(number);
            }
        }
        self.forget_unneeded();
        true
    }

    /// Iterates over all plans, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &PlanEntry> {
        self.entries.iter()
    }

    /// Returns a plan by number.
    pub fn get(&self, number: u64) -> Option<&PlanEntry> {
        self.entries.iter().find(|entry| entry.number == number)
    }

    /// Returns a plan by number, to change it.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut PlanEntry> {
        self.entries.iter_mut().find(|entry| entry.number == number)
    }

    /// Returns the name of a plan: the name that the user gave it, else its method.
    pub fn title<'a>(&'a self, entry: &'a PlanEntry) -> &'a str {
        let given = self.labels.get(&entry.number).map(|label| label.name.as_str());
        given.filter(|name| !name.is_empty()).unwrap_or(&entry.method)
    }

    /// Returns the method of a plan with the name and the note that the user gave it.
    pub fn words(&self, entry: &PlanEntry) -> String {
        let label = self.labels.get(&entry.number).cloned().unwrap_or_default();
        let words = [entry.method.clone(), label.name, label.note];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the plan that the user gave this name, or the plan with this number.
    pub fn named(&self, name: &str) -> Option<u64> {
        let given =
            self.labels.iter().find(|(number, label)| label.name == name && self.get(**number).is_some());
        let number = || name.parse().ok().filter(|number| self.get(*number).is_some());
        given.map(|(number, _)| *number).or_else(number)
    }

    /// Returns the note on a plan; `None` if there is none.
    pub fn note(&self, number: u64) -> Option<&str> {
        self.labels.get(&number).map(|label| label.note.as_str()).filter(|note| !note.is_empty())
    }

    /// Returns the newest plan of a run; if the run ended with a plan that an earlier run had found, returns the plan
    /// of the earlier run.
    pub fn newest_of(&self, run: RunId) -> Option<&PlanEntry> {
        let again = self.entries.iter().find(|entry| entry.found_again.contains(&run));
        again
            .or_else(|| self.entries.iter().rev().find(|entry| entry.origin.is_some_and(|(of, _)| of == run)))
    }

    /// Returns the rows of the table: plans of the present scenario, best first, then plans of other scenarios.
    pub fn rows(&self) -> Vec<&PlanEntry> {
        let mut rows: Vec<&PlanEntry> = self
            .entries
            .iter()
            .filter(|entry| {
                !entry.superseded
                    || entry.marked
                    || self.baseline == Some(entry.number)
                    || self.shown == Shown::Chosen(entry.number)
            })
            .collect();
        rows.sort_by(|a, b| {
            let present = |entry: &PlanEntry| entry.scenario_sha256 == self.scenario_sha256;
            let kind = |entry: &PlanEntry| (present(entry), entry.competes());
            kind(b).cmp(&kind(a)).then_with(|| {
                let (own, other) = ((a.value, a.secondary), (b.value, b.secondary));
                if self.better(own, other) {
                    std::cmp::Ordering::Less
                } else if self.better(other, own) {
                    std::cmp::Ordering::Greater
                } else {
                    a.number.cmp(&b.number)
                }
            })
        });
        rows
    }

    /// Returns the best plan of the present scenario.
    pub fn best(&self) -> Option<&PlanEntry> {
        self.best_of(&self.scenario_sha256)
    }

    /// Returns the best plan of the scenario with a given hash. Of equally good plans of different runs, returns the
    /// oldest; of equally good plans of one run, returns the newest, because it may contain more information about the
    /// same design.
    pub fn best_of(&self, scenario_sha256: &str) -> Option<&PlanEntry> {
        let mut best: Option<&PlanEntry> = None;
        let of_scenario = self.entries.iter().filter(|entry| entry.scenario_sha256 == scenario_sha256);
        for entry in of_scenario.filter(|entry| entry.competes()) {
            let figures = |entry: &PlanEntry| (entry.value, entry.secondary);
            let run = |entry: &PlanEntry| entry.origin.map(|origin| origin.0);
            let takes = best.is_none_or(|best| {
                let told_anew = run(entry).is_some() && run(entry) == run(best);
                self.better(figures(entry), figures(best))
                    || (told_anew && !self.better(figures(best), figures(entry)))
            });
            if takes {
                best = Some(entry);
            }
        }
        best
    }

    /// Returns the displayed plan. While a changed scenario has no plan yet, returns the newest plan of another
    /// scenario, which the screen marks as stale. A plan for another problem is displayed if no other plan exists.
    pub fn shown(&self) -> Option<&PlanEntry> {
        match self.shown {
            Shown::Chosen(number) => self.get(number),
            Shown::Best => None,
        }
        .or_else(|| self.best())
        .or_else(|| {
            let newest = self.entries.iter().rev().find(|entry| entry.refused.is_none())?;
            self.best_of(&newest.scenario_sha256).or(Some(newest))
        })
    }

    /// Returns the baseline plan, unless the baseline is the displayed plan.
    pub fn baseline(&self) -> Option<&PlanEntry> {
        let baseline = self.get(self.baseline?)?;
        (self.shown().map(|shown| shown.number) != Some(baseline.number)).then_some(baseline)
    }

    /// Returns the marked plans in the order of their numbers.
    pub fn marked(&self) -> Vec<&PlanEntry> {
        self.entries.iter().filter(|entry| entry.marked).collect()
    }

    /// Returns the number of plans.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if there are no plans.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Drops plans that are not needed from memory; their rows stay.
    pub fn forget_unneeded(&mut self) {
        let best = self.best().map(|entry| entry.number);
        let shown = self.shown().map(|entry| entry.number);
        let newest = self.entries.len().saturating_sub(NEWEST_KEPT);
        let baseline = self.baseline;
        for (index, entry) in self.entries.iter_mut().enumerate() {
            let number = Some(entry.number);
            if index < newest && !entry.marked && number != best && number != shown && number != baseline {
                entry.plan = None;
            }
        }
    }
}
