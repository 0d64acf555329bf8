//! The name of a scenario as a parameter, for scenarios of every kind; plans do not depend on the name.

use super::{AnyPlan, AnyScenario, Variants};
use lightbay_core::param::{ParamInfo, ParamValue, Setting};
use lightbay_core::problem::{Problem, is_deceptive};
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// Name of the parameter.
pub(crate) const NAME: &str = "name";

/// Maximum number of characters of a given name, because names appear in titles, lists and file names.
const MOST: usize = 200;

/// Describes the name of a scenario as a parameter. The name is not one of the knobs, because knobs define the problem.
pub fn name_param() -> ParamInfo {
    ParamInfo::text(
        NAME,
        "Name of the scenario and its plans, in titles and names of files; it changes no plan.",
    )
}

/// Returns the scenario name that a setting contains.
///
/// # Errors
/// An invalid name.
pub(crate) fn name_of(setting: &Setting) -> Result<String, Problem> {
    if setting.index.is_some() {
        return Err(Problem::new(setting.to_string(), "has no entries", "write it without [ ]"));
    }
    valid(&setting.text).map(str::to_owned)
}

/// Returns the text of a value, if the text is a valid name.
pub(super) fn text_of(value: &ParamValue) -> Result<String, Problem> {
    match value {
        ParamValue::Text(text) => valid(text).map(str::to_owned),
        other => valid(&other.to_string()).map(str::to_owned),
    }
}

fn valid(text: &str) -> Result<&str, Problem> {
    let wrong = |message: String| {
        let remedy = format!("give 1 to {MOST} characters of text without control characters");
        Err(Problem::new(NAME, message, remedy))
    };
    let text = text.trim();
    match text.chars().count() {
        0 => wrong("is empty".to_owned()),
        count if count > MOST => wrong(format!("has {count} characters")),
        _ if text.chars().any(|sign| sign.is_control() || is_deceptive(sign)) => {
            wrong("has an invisible character".to_owned())
        }
        _ => Ok(text),
    }
}

impl AnyScenario {
    /// Returns the same scenario under another name.
    #[must_use]
    pub fn renamed(&self, name: &str) -> Self {
        fn of<K: Variants>(scenario: &Scenario<K>, name: &str) -> AnyScenario {
            super::any_scenario::<K>(Scenario { name: name.to_owned(), ..scenario.clone() })
        }
        each_kind!(self, Self, scenario => of(scenario, name))
    }

    /// Returns the same scenario with a name that describes its content.
    #[must_use]
    pub fn named_after_content(&self) -> Self {
        fn of<K: Variants>(scenario: &Scenario<K>) -> String {
            K::usual_name(&scenario.body)
        }
        self.renamed(&each_kind!(self, Self, scenario => of(scenario)))
    }
}

impl AnyPlan {
    /// Returns the same plan and its scenario under another name.
    #[must_use]
    pub fn renamed(&self, name: &str) -> Self {
        each_kind!(self, Self, plan => Variants::plan(Arc::new(plan.renamed(name))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_show() {
        assert_eq!(valid(" rack 7: ä "), Ok("rack 7: ä"));
        for (name, wrong) in [
            ("", "name: is empty"),
            ("  ", "name: is empty"),
            ("a\u{1b}[2J", "name: has an invisible character"),
            ("a\u{202e}b", "name: has an invisible character"),
            (&*"ä".repeat(201), "name: has 201 characters"),
        ] {
            let problem = valid(name).unwrap_err().to_string();
            assert!(problem.starts_with(wrong), "{problem}");
        }
        assert!(valid(&"ä".repeat(200)).is_ok());
    }
}
