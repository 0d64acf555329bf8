//! The axes of a sweep: a knob of the scenario or of a method with its values.

use crate::solve::parse_entry;
use lightbay_core::param::{Domain, Effect, ParamInfo, ParamValue, Setting};
use lightbay_core::problem::{Problem, Problems};

/// Maximum number of values of one axis; a longer range is probably a typing error.
const MAX_VALUES: usize = 10_000;

/// Owner of the knob that an axis varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisOf {
    /// A knob of the scenario.
    Scenario,
    /// A knob of the methods, or a common knob of all methods.
    Method,
}

/// A knob, and the values that the sweep gives to the knob, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Description of the knob.
    pub info: ParamInfo,
    /// Index of an entry of the knob's list, if only this entry is varied.
    pub index: Option<usize>,
    /// Owner of the knob.
    pub turns: AxisOf,
    /// Values of the axis, each valid for the knob and all different.
    pub values: Vec<ParamValue>,
}

impl Axis {
    /// Reads the values from `setting`, as typed after `--over`: `400,800`, `1..8`, `200..1600..200`, `[4,8],[8,8]`.
    ///
    /// # Errors
    /// Every text that is no value of the knob, and values that are given twice.
    pub(super) fn parse(setting: &Setting, info: &ParamInfo, turns: AxisOf) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let mut values: Vec<ParamValue> = Vec::new();
        for part in parts(&setting.text) {
            match expand(part, setting, info) {
                Ok(found) => values.extend(found),
                Err(problem) => problems.push(problem),
            }
        }
        problems.into_result(())?;
        for (at, value) in values.iter().enumerate() {
            if values.iter().take(at).any(|other| other == value) {
                let problem =
                    Problem::new(setting.name.clone(), format!("has {value} twice"), "give it once");
                return Err(problem.into());
            }
        }
        Ok(Self { info: info.clone(), index: setting.index, turns, values })
    }

    /// Returns the knob as it is written: `seq`, `ports_per_pod[3]`.
    pub fn label(&self) -> String {
        match self.index {
            Some(index) => format!("{}[{index}]", self.info.name),
            None => self.info.name.to_string(),
        }
    }

    /// Returns `true` if the knob allows the run for one value to start from the plan for another value.
    pub fn hands_on(&self) -> bool {
        self.turns == AxisOf::Scenario && self.info.effect != Effect::Cold
    }
}

/// Returns the parts of a text between commas that are outside brackets.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Returns the text between two brackets that enclose all of it; otherwise the text itself.
fn unbracketed(text: &str) -> &str {
    let inner = text.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.filter(|inner| !inner.contains(['[', ']'])).unwrap_or(text)
}

/// Reads one value, or all values of a range.
fn expand(part: &str, setting: &Setting, info: &ParamInfo) -> Result<Vec<ParamValue>, Problem> {
    let one = |text: &str| parse_entry(info, &Setting { text: text.trim().to_owned(), ..setting.clone() });
    let whole = match info.domain {
        Domain::Int { .. } | Domain::IntOrList { .. } => true,
        Domain::IntList { .. } => setting.index.is_some(),
        Domain::Float { .. } => false,
        // The brackets only keep the commas of a text together.
        Domain::Text => return Ok(vec![one(unbracketed(part))?]),
        Domain::Bool | Domain::Choice { .. } => return Ok(vec![one(part)?]),
    };
    let Some((first, rest)) = part.split_once("..") else { return Ok(vec![one(part)?]) };
    let (last, step) = match rest.split_once("..") {
        Some((last, step)) => (last, Some(step)),
        None => (rest, None),
    };
    let refuse = |remedy: &str| Problem::new(info.name.clone(), format!("'{part}' is not a range"), remedy);
    let number = |value: ParamValue| value.as_f64().ok_or_else(|| refuse("write first..last..step"));
    let (first, last) = (number(one(first)?)?, number(one(last)?)?);
    let under = |problem: Problem| problem.under(&info.name);
    let step = match step {
        None if whole => 1.0,
        None => return Err(refuse("add the step: first..last..step")),
        Some(text) if whole => {
            number(ParamInfo::int("step", 1, i64::MAX, 1, "").parse(text).map_err(under)?)?
        }
        Some(text) => number(ParamInfo::float("step", 0.0, f64::MAX, 0.0, "").parse(text).map_err(under)?)?,
    };
    if first > last || step <= 0.0 {
        return Err(refuse("write first..last..step with first up to last and a step above 0"));
    }
    // A last value that only a rounding error excludes belongs to the range.
    let count = ((last - first) / step + 1e-9).floor() + 1.0;
    if count > MAX_VALUES as f64 {
        let message = format!("'{part}' has {count} values, but the maximum is {MAX_VALUES}");
        return Err(Problem::new(info.name.clone(), message, "give a larger step, or a shorter range"));
    }
    (0..count as usize)
        .map(|at| {
            let value = decimal(first + at as f64 * step);
            let value = if whole { ParamValue::Int(value as i64) } else { ParamValue::Float(value) };
            match setting.index {
                Some(_) => Ok(value),
                None => info.accept(&value),
            }
        })
        .collect()
}

/// Rounds a number to the number that a user would type: 0.3, not 0.30000000000000004.
fn decimal(value: f64) -> f64 {
    format!("{value:.12e}").parse().unwrap_or(value)
}
