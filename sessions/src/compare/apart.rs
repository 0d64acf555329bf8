//! Plans whose scenarios differ in more than the varied knobs: names every difference, and decides which plans are not
//! ranked.

use super::{ComparedPlan, Scope, SettingDifference};
use lightbay_core::param::ParamValue;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Differences of a scenario from the scenario of the first plan, other than knobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Apart {
    /// Fields of the problem that differ, with both values as text.
    pub fields: Vec<(String, [String; 2])>,
    /// Knobs that differ and state the job or its demand, with both values as text. Other knobs are part of the design.
    pub job: Vec<(String, [String; 2])>,
    /// Differences of the origin of the scenarios, with both values as text.
    pub origin: Vec<(String, [String; 2])>,
    /// `true` if methods solve the same problem for both scenarios, despite these differences.
    pub is_same_question: bool,
}

impl Apart {
    /// Returns `true` if the plans solve different problems: they differ in more than knobs of the design.
    pub(super) const fn is_other_question(&self) -> bool {
        !(self.is_same_question || self.fields.is_empty() && self.job.is_empty())
    }
}

/// A plan that is listed and not ranked.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NotRanked {
    /// Name of the plan.
    pub label: String,
    /// Method of the plan.
    pub method: String,
    /// The reason that the plan is not ranked, as a clause with a subject.
    pub because: String,
}

impl NotRanked {
    /// Returns plan and reason as one sentence.
    pub fn sentence(&self) -> String {
        format!("{} is not ranked: {}.", self.label, self.because)
    }
}

/// Maximum number of differences that the reason for not ranking a plan names.
const NAMED: usize = 4;

/// Returns the reason that a plan is not ranked, if there is one.
pub(super) fn not_ranked(subject: &ComparedPlan<'_>) -> Option<NotRanked> {
    let method = &subject.header.method;
    let of_method = subject.other_question.map(|why| format!("{method} solves a different problem ({why})"));
    let because = of_method.or_else(|| {
        let apart = subject.apart.filter(|apart| apart.is_other_question())?;
        // A parameter and a field may have the same name.
        let is_field = |name: &str| apart.fields.iter().any(|(field, _)| field == name);
        let all = || apart.job.iter().filter(|(name, _)| !is_field(name)).chain(&apart.fields);
        let named = all().take(NAMED).map(|(name, [a, b])| format!("{name}: {a} -> {b}"));
        let named: Vec<String> = named.collect();
        let more = match all().count().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Some(format!("its scenario defines a different problem ({}{more})", named.join("; ")))
    })?;
    Some(NotRanked { label: subject.label.to_owned(), method: method.clone(), because })
}

/// Text of a field that a scenario does not have.
const ABSENT: &str = "-";

/// Type of a difference between scenarios: in the fields of the problem, or in the origin.
#[derive(Clone, Copy)]
enum FieldPart {
    Fields,
    Origin,
}

impl FieldPart {
    fn of<'a>(self, subject: &ComparedPlan<'a>) -> &'a [(String, [String; 2])] {
        match (self, subject.apart) {
            (_, None) => &[],
            (Self::Fields, Some(apart)) => &apart.fields,
            (Self::Origin, Some(apart)) => &apart.origin,
        }
    }
}

/// Returns the differences other than knobs as settings: owner, name, and the value in each plan.
pub(super) fn rows<'a>(subjects: &[ComparedPlan<'a>]) -> Vec<(Scope, &'a str, Vec<Option<ParamValue>>)> {
    let mut rows = Vec::new();
    for (scope, part) in [(Scope::Scenario, FieldPart::Fields), (Scope::Origin, FieldPart::Origin)] {
        let mut seen = BTreeSet::new();
        for (name, [first, _]) in subjects.iter().flat_map(|subject| part.of(subject)) {
            if !seen.insert(name.as_str()) {
                continue;
            }
            let value = |subject: &ComparedPlan<'_>| {
                let own = part.of(subject).iter().find(|(known, _)| known == name);
                let text = own.map_or(first, |(_, [_, own])| own);
                (text != ABSENT).then(|| ParamValue::Text(text.clone()))
            };
            rows.push((scope, name.as_str(), subjects.iter().map(value).collect()));
        }
    }
    rows
}

/// Returns the names of the knobs in which the scenarios of ranked plans differ, if they define different problems.
pub(super) fn varied(subjects: &[ComparedPlan<'_>], settings: &[SettingDifference]) -> Vec<String> {
    let apart = || subjects.iter().filter_map(|subject| subject.apart);
    if apart().all(|apart| apart.is_same_question) {
        return Vec::new();
    }
    let stated = || apart().flat_map(|apart| apart.fields.iter().chain(&apart.job));
    let is_field = |name: &str| stated().any(|(field, _)| field == name);
    let ranked: Vec<bool> = subjects.iter().map(|subject| not_ranked(subject).is_none()).collect();
    let differs = |row: &SettingDifference| {
        let mut values =
            row.values.iter().zip(&ranked).filter(|(_, ranked)| **ranked).map(|(value, _)| value);
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let knobs =
        settings.iter().filter(|row| row.scope == Scope::Scenario && row.name != "name" && differs(row));
    knobs.map(|row| row.name.clone()).filter(|name| !is_field(name)).collect()
}
