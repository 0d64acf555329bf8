//! Differences of two scenarios of a kind by name and value: their parameters, then every other field of their files.

use crate::job::states_job;
use crate::subject::AnyScenario;
use lightbay_core::json::WriteError;
use lightbay_core::quantity;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Name of a field or parameter with its value in both scenarios as text.
pub type Difference = (String, [String; 2]);

/// Keys of a scenario that do not belong to the problem.
const LABELS: [&str; 3] = ["schema", "kind", "name"];
/// Keys that describe the origin of a scenario.
const ORIGIN: [&str; 3] = ["provenance", "derived_from", "notes"];
/// Maximum number of values of a list that are written out; longer lists are given by their count and sum.
const WRITTEN_OUT: usize = 4;
/// Maximum number of characters of a value that are shown.
const MOST_VALUE: usize = 60;
/// Text in place of a missing value.
const ABSENT: &str = "-";

/// Differences of a scenario from another scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenarioDifferences {
    /// Parameters, in the order of forms and help.
    pub knobs: Vec<Difference>,
    /// Fields that do not belong to a parameter, such as the sizes of a model or measured times; a long list is
    /// described by the number and the sum of its values.
    pub fields: Vec<Difference>,
    /// Differences of the origin of the scenarios.
    pub origin: Vec<Difference>,
    /// Parameters of [`Self::knobs`] that state the job or its demand, so that the scenarios are different problems.
    pub job: Vec<Difference>,
    /// `true` if the two scenarios state the same problem: they differ at most in name and origin.
    pub is_same_question: bool,
}

impl ScenarioDifferences {
    /// Compares two scenarios of one kind.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn of(a: &AnyScenario, b: &AnyScenario) -> Result<Self, WriteError> {
        let asked = a.question().zip(b.question());
        let is_same_question = a.sha256()? == b.sha256()? || asked.is_some_and(|(a, b)| a == b);
        let mut found = Self { is_same_question, ..Self::default() };
        let mut seen = BTreeSet::new();
        let mut given = Vec::new();
        let infos = a.every_knob().into_iter().chain(b.every_knob());
        for info in infos.filter(|info| info.name != "name" && seen.insert(info.name.to_string())) {
            let values = [a, b].map(|scenario| scenario.knob(&info.name));
            if values[0] == values[1] {
                continue;
            }
            let unit = if info.unit.is_empty() { String::new() } else { format!(" {}", info.unit) };
            let text = |value: &Option<_>| match value {
                None => ABSENT.to_owned(),
                Some(value) => shortened(&format!("{value}{unit}")),
            };
            let difference = (info.name.to_string(), [text(&values[0]), text(&values[1])]);
            if states_job(a.kind(), &info.name) {
                found.job.push(difference.clone());
            }
            found.knobs.push(difference);
            if let [_, Some(value)] = values {
                given.push((info.name.to_string(), value));
            }
        }
        let (whole_a, whole_b) = (a.to_value()?, b.to_value()?);
        // Differences that remain when `a` has the parameters of `b` are not explained by any parameter.
        let moved = a.as_far_as_possible(&given).to_value()?;
        let mut left = Vec::new();
        compare(vec![Some(&moved)], vec![Some(&whole_b)], "", &mut left);
        let left: BTreeSet<String> = left.into_iter().map(|(name, _)| name).collect();
        let mut all = Vec::new();
        compare(vec![Some(&whole_a)], vec![Some(&whole_b)], "", &mut all);
        for difference in all {
            let key = difference.0.split('.').next().unwrap_or_default();
            if ORIGIN.contains(&key) {
                found.origin.push(difference);
            } else if !LABELS.contains(&key) && left.contains(&difference.0) {
                found.fields.push(difference);
            }
        }
        // Names and origins do not change the problem.
        let asks_nothing_else = found.asked().next().is_none();
        found.is_same_question |= asks_nothing_else;
        Ok(found)
    }

    /// Iterates over the parameters and fields that differ. Differences of the origin are left out, because they do not
    /// change the problem.
    pub fn asked(&self) -> impl Iterator<Item = &Difference> {
        self.knobs.iter().chain(&self.fields)
    }
}

/// Values at one path of the JSON tree of a scenario: one value, or the values of all rows of a list.
type ValuesAtPath<'v> = Vec<Option<&'v Value>>;

/// Compares the values at one path of the JSON trees of both scenarios. If lists have different lengths, missing rows
/// are added to the shorter one.
fn compare<'v>(a: ValuesAtPath<'v>, b: ValuesAtPath<'v>, path: &str, out: &mut Vec<Difference>) {
    let there = |values: ValuesAtPath<'v>| -> ValuesAtPath<'v> {
        values.into_iter().map(|value| value.filter(|value| !value.is_null())).collect()
    };
    let (a, b) = (there(a), there(b));
    if a == b {
        return;
    }
    let all = || a.iter().chain(&b).copied().flatten();
    if all().all(Value::is_object) {
        let mut seen = BTreeSet::new();
        let keys = all().filter_map(Value::as_object).flat_map(Map::keys);
        let keys: Vec<&'v String> = keys.filter(|key| seen.insert(*key)).collect();
        for key in keys {
            let at = |values: &ValuesAtPath<'v>| -> ValuesAtPath<'v> {
                values.iter().map(|value| value.and_then(|value| value.get(key))).collect()
            };
            let name = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            compare(at(&a), at(&b), &name, out);
        }
    } else if all().all(Value::is_array) {
        let (mut rows_a, mut rows_b) = (Vec::new(), Vec::new());
        for (a, b) in a.iter().zip(&b) {
            let rows = |list: Option<&Value>| list.and_then(Value::as_array).map_or(0, Vec::len);
            for row in 0..rows(*a).max(rows(*b)) {
                rows_a.push(a.and_then(|list| list.get(row)));
                rows_b.push(b.and_then(|list| list.get(row)));
            }
        }
        compare(rows_a, rows_b, path, out);
    } else {
        out.push((path.to_owned(), summary(&a, &b)));
    }
}

/// Describes the values `a` and `b` of the two scenarios at one path as text: a few values in full, otherwise the
/// number of values, their sum, and the number of values that differ.
fn summary(a: &ValuesAtPath<'_>, b: &ValuesAtPath<'_>) -> [String; 2] {
    let count = |values: &ValuesAtPath<'_>| values.iter().flatten().count();
    let (in_a, in_b) = (count(a), count(b));
    if in_a <= WRITTEN_OUT && in_b <= WRITTEN_OUT {
        return [a, b].map(|values| {
            let texts: Vec<String> = values.iter().flatten().map(|value| text(value)).collect();
            if texts.is_empty() { ABSENT.to_owned() } else { shortened(&texts.join(", ")) }
        });
    }
    let differ = a.iter().zip(b).filter(|(a, b)| a != b).count();
    let sum = |values: &ValuesAtPath<'_>| {
        let numbers: Option<Vec<f64>> = values.iter().flatten().map(|value| value.as_f64()).collect();
        numbers.map_or_else(String::new, |numbers| {
            format!(", sum {}", quantity::number(numbers.iter().sum::<f64>()))
        })
    };
    [format!("{in_a} values{}", sum(a)), format!("{in_b} values, {differ} differ{}", sum(b))]
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), quantity::number),
        other => other.to_string(),
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= MOST_VALUE {
        return text.to_owned();
    }
    text.chars().take(MOST_VALUE).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
