//! Parameters as data: forms, flags, help, validation and documentation derive from one description.

use crate::problem::{Problem, nearest, suggestion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

mod typed;
mod values;

pub use values::Params;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ParamValue {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A name or free text.
    Text(String),
    /// Several values.
    List(Vec<ParamValue>),
}

impl ParamValue {
    /// Returns the value as a number, if the value is a number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the value as a whole number, if the value is a whole number.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(*value as i64),
            _ => None,
        }
    }
}

impl From<i64> for ParamValue {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<f64> for ParamValue {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => f.write_str(if *value { "true" } else { "false" }),
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Text(value) => f.write_str(value),
            Self::List(values) => {
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        f.write_str(",")?;
                    }
                    value.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

/// Values that a parameter accepts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Domain {
    /// `true` or `false`.
    Bool,
    /// Whole numbers from `min` to `max`.
    Int {
        /// Smallest valid number.
        min: i64,
        /// Largest valid number.
        max: i64,
    },
    /// Numbers from `min` to `max`.
    Float {
        /// Smallest valid number.
        min: f64,
        /// Largest valid number.
        max: f64,
    },
    /// One of these names.
    Choice {
        /// The valid names.
        names: Vec<Cow<'static, str>>,
    },
    /// Free text (a name, a file).
    Text,
    /// A list of whole numbers, written `4,4,6`; single entries are written as `name[2]=6`.
    IntList {
        /// Smallest entry.
        min: i64,
        /// Largest entry.
        max: i64,
    },
    /// A list of whole numbers, such as one for each pod, or one whole number that holds for all entries of the list;
    /// single entries are written as `name[2]=6`.
    IntOrList {
        /// Smallest entry.
        min: i64,
        /// Largest entry.
        max: i64,
    },
}

/// Effect of a change of the parameter on a running or finished search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The running method gets the new value at its next checkpoint.
    Live,
    /// The change starts a new run from the known plans.
    Warm,
    /// The change starts a new run without a known plan.
    Cold,
}

/// The description of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ParamInfo {
    /// Flat name, unique within a kind.
    pub name: Cow<'static, str>,
    /// Unit of the value, empty if it has none.
    pub unit: Cow<'static, str>,
    /// Valid values.
    pub domain: Domain,
    /// Default value; `None` if the value follows from the scenario.
    pub default: Option<ParamValue>,
    /// Help in one sentence: what the parameter sets; for a bool, what `true` does.
    pub help: Cow<'static, str>,
    /// Effect of a change of the parameter on a search.
    pub effect: Effect,
    /// Hint shown for an invalid value: an alternative that the user may have meant; may be empty.
    #[serde(skip)]
    pub hint: Cow<'static, str>,
    /// `true` if a text, such as `0-1:4, 0-2:1`, sets only the entries that it names. Zero removes an entry.
    #[serde(skip)]
    pub sets_entries: bool,
}

impl ParamInfo {
    fn new(name: &'static str, domain: Domain, default: Option<ParamValue>, help: &'static str) -> Self {
        let (unit, hint) = ("".into(), "".into());
        let (help, effect, sets_entries) = (help.into(), Effect::Warm, false);
        Self { name: name.into(), unit, domain, default, help, effect, hint, sets_entries }
    }

    /// Creates a yes-or-no parameter.
    pub fn bool(name: &'static str, default: bool, help: &'static str) -> Self {
        Self::new(name, Domain::Bool, Some(ParamValue::Bool(default)), help)
    }

    /// Creates a whole-number parameter.
    pub fn int(name: &'static str, min: i64, max: i64, default: i64, help: &'static str) -> Self {
        Self::new(name, Domain::Int { min, max }, Some(ParamValue::Int(default)), help)
    }

    /// Creates a number parameter.
    pub fn float(name: &'static str, min: f64, max: f64, default: f64, help: &'static str) -> Self {
        Self::new(name, Domain::Float { min, max }, Some(ParamValue::Float(default)), help)
    }

    /// Creates a parameter whose value is one of several names.
    pub fn choice(
        name: &'static str,
        names: &[&'static str],
        default: &'static str,
        help: &'static str,
    ) -> Self {
        let names = names.iter().map(|name| Cow::Borrowed(*name)).collect();
        Self::new(name, Domain::Choice { names }, Some(ParamValue::Text(default.to_owned())), help)
    }

    /// Creates a free-text parameter without a default.
    pub fn text(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Domain::Text, None, help)
    }

    /// Creates a parameter without a default whose value is a list of whole numbers.
    pub fn int_list(name: &'static str, min: i64, max: i64, help: &'static str) -> Self {
        Self::new(name, Domain::IntList { min, max }, None, help)
    }

    /// Creates a parameter without a default whose value is a list of whole numbers, or one whole number for all
    /// entries.
    pub fn int_or_list(name: &'static str, min: i64, max: i64, help: &'static str) -> Self {
        Self::new(name, Domain::IntOrList { min, max }, None, help)
    }

    /// Sets the unit of the parameter.
    #[must_use]
    pub fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit.into();
        self
    }

    /// Sets the effect of a change of the parameter; the default is [`Effect::Warm`].
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Removes the default: the value follows from the scenario.
    #[must_use]
    pub fn derived(mut self) -> Self {
        self.default = None;
        self
    }

    /// Sets the hint for invalid values.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Declares that a text sets only the entries that it names, and leaves the other entries unchanged.
    #[must_use]
    pub fn by_entries(mut self) -> Self {
        self.sets_entries = true;
        self
    }

    /// Returns the valid values in words, for messages: `a whole number from 1 to 9`.
    pub fn valid(&self) -> String {
        // The limits of i64 and u32 mean "no limit" and are not printed.
        let list = |min: &i64, max: &i64| match *max {
            NO_LIMIT | i64::MAX => format!("{min} up"),
            max => format!("{min} to {max}"),
        };
        match &self.domain {
            Domain::Bool => "true or false".to_owned(),
            Domain::Int { min, max } => format!("a whole number from {}", list(min, max)),
            Domain::Float { min, max } => format!("a number from {min} to {max}"),
            Domain::Choice { names } => format!("one of {}", names.join(", ")),
            Domain::Text => "text".to_owned(),
            Domain::IntList { min, max } => {
                format!("whole numbers from {}, separated by commas", list(min, max))
            }
            Domain::IntOrList { min, max } => {
                format!(
                    "a whole number from {} or a list of whole numbers from this range, separated by commas",
                    list(min, max)
                )
            }
        }
    }

    /// Reads a value as typed by a person. Numbers may be grouped with `_`, or with spaces in groups of three digits, and
    /// may be followed by a unit that converts to the unit of the parameter, such as `25us` for seconds, or `25%` for a
    /// fraction without unit. A whole number without a unit may be
    /// followed by a multiple, such as `4k`. `yes`, `no`, `on`, `off`, `1` and `0` are booleans.
    ///
    /// # Errors
    /// A [`Problem`] that names the parameter, the text and what would be valid.
    pub fn parse(&self, text: &str) -> Result<ParamValue, Problem> {
        let text = text.trim();
        let ungrouped = ungrouped(text);
        let value = match &self.domain {
            Domain::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Some(ParamValue::Bool(true)),
                "false" | "no" | "off" | "0" => Some(ParamValue::Bool(false)),
                _ => None,
            },
            Domain::Int { .. } => parse_int(&ungrouped)
                .or_else(|| ParamValue::Float(self.percent(&ungrouped)?).as_i64())
                .or_else(|| {
                    let typed = typed::in_unit(&ungrouped, &self.unit);
                    ParamValue::Float(typed.or_else(|| typed::count(&ungrouped, &self.unit))?).as_i64()
                })
                .map(ParamValue::Int),
            Domain::Float { .. } => parse_float(&ungrouped)
                .or_else(|| self.percent(&ungrouped))
                .or_else(|| typed::in_unit(&ungrouped, &self.unit))
                .map(ParamValue::Float),
            Domain::Choice { .. } | Domain::Text => Some(ParamValue::Text(text.to_owned())),
            Domain::IntList { .. } => parse_list(text),
            Domain::IntOrList { .. } => {
                if text.contains(',') || text.starts_with('[') {
                    parse_list(text)
                } else {
                    // Two numbers with a space between them are not one number.
                    parse_int(&text.replace('_', "")).map(ParamValue::Int)
                }
            }
        };
        match value {
            // The message quotes the text, not the number that a unit makes of it.
            Some(value @ (ParamValue::Int(_) | ParamValue::Float(_))) => {
                self.accept(&value).map_err(|_| self.refuse(text))
            }
            Some(value) => self.accept(&value),
            None => Err(self.refuse(text)),
        }
    }

    /// Reads a number with a per cent sign: as it is if per cent is the unit of the parameter, and as a fraction if the
    /// parameter is a number without unit.
    fn percent(&self, text: &str) -> Option<f64> {
        let number = parse_float(text.strip_suffix('%')?)?;
        match (&*self.unit, &self.domain) {
            ("%", _) => Some(number),
            ("", Domain::Float { .. }) => Some(number / 100.0),
            _ => None,
        }
    }

    /// Checks a value and converts it to the type of the parameter (a whole number becomes a float if the parameter is
    /// a number).
    ///
    /// # Errors
    /// A [`Problem`] that names the parameter, the value and what would be valid.
    pub fn accept(&self, value: &ParamValue) -> Result<ParamValue, Problem> {
        let inside = |value: Option<i64>, min: i64, max: i64| value.filter(|v| (min..=max).contains(v));
        let entries = |values: &[ParamValue], min: i64, max: i64| {
            let entries: Option<Vec<ParamValue>> =
                values.iter().map(|v| inside(v.as_i64(), min, max).map(ParamValue::Int)).collect();
            entries.filter(|entries| !entries.is_empty()).map(ParamValue::List)
        };
        let accepted = match (&self.domain, value) {
            (Domain::Bool, ParamValue::Bool(_)) => Some(value.clone()),
            (Domain::Int { min, max }, _) => inside(value.as_i64(), *min, *max).map(ParamValue::Int),
            (Domain::Float { min, max }, _) => {
                value.as_f64().filter(|v| v.is_finite() && *v >= *min && *v <= *max).map(ParamValue::Float)
            }
            (Domain::Choice { names }, ParamValue::Text(text)) => {
                if names.iter().any(|name| name == text) {
                    Some(value.clone())
                } else {
                    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
                    let remedy = if self.hint.is_empty() {
                        suggestion(text, &names)
                    } else {
                        let near = nearest(text, names.iter().copied());
                        let near = near.map_or_else(String::new, |near| format!("did you mean '{near}'? "));
                        format!("{near}use one of {}; {}", names.join(", "), self.hint)
                    };
                    return Err(Problem::new(self.name.clone(), format!("there is no '{text}'"), remedy));
                }
            }
            (Domain::Text, ParamValue::Text(_)) => Some(value.clone()),
            (Domain::IntList { min, max } | Domain::IntOrList { min, max }, ParamValue::List(values)) => {
                entries(values, *min, *max)
            }
            (Domain::IntOrList { min, max }, _) => inside(value.as_i64(), *min, *max).map(ParamValue::Int),
            _ => None,
        };
        accepted.ok_or_else(|| self.refuse(&value.to_string()))
    }

    /// Returns the problem of the typed text `text`, which is not valid.
    pub fn refuse(&self, text: &str) -> Problem {
        let hint = if self.hint.is_empty() { String::new() } else { format!("; {}", self.hint) };
        // The text is not a plain number, perhaps because of its unit, so the message names the right unit.
        let is_number = matches!(self.domain, Domain::Int { .. } | Domain::Float { .. });
        let is_plain = text.parse().is_ok_and(f64::is_finite);
        let unit = if is_number && !is_plain && !self.unit.is_empty() {
            let thousands =
                if self.unit == "tokens" && text.ends_with(['k', 'K']) { ", or 4Ki for 4096" } else { "" };
            format!(", in {}{thousands}", self.unit)
        } else {
            String::new()
        };
        Problem::new(
            self.name.clone(),
            format!("'{text}' is not valid"),
            format!("give {}{unit}{hint}", self.valid()),
        )
    }
}

const NO_LIMIT: i64 = u32::MAX as i64;

fn parse_int(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| ParamValue::Float(parse_float(text)?).as_i64())
}

/// Returns a number without the signs between its groups of digits. Spaces stay unless exactly three digits follow, so
/// that two numbers do not become one; the space before a unit goes.
fn ungrouped(text: &str) -> String {
    let is_space = |sign: char| matches!(sign, ' ' | '\u{202f}');
    let mut parts = text.split(is_space);
    let mut number = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.chars().take_while(char::is_ascii_digit).count();
        let is_group = digits == 3 && number.ends_with(|sign: char| sign.is_ascii_digit());
        if digits > 0 && !is_group {
            number.push(' ');
        }
        number.push_str(part);
    }
    number.replace('_', "")
}

fn parse_float(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

fn parse_list(text: &str) -> Option<ParamValue> {
    let inner = text.trim_start_matches('[').trim_end_matches(']');
    let entries: Option<Vec<ParamValue>> =
        inner.split(',').map(|entry| parse_int(entry.trim()).map(ParamValue::Int)).collect();
    entries.map(ParamValue::List)
}

/// `name=value` or `name[3]=value` as typed after `--set`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name of the parameter.
    pub name: String,
    /// Index of the entry, for an entry of a list.
    pub index: Option<usize>,
    /// The value as typed.
    pub text: String,
}

impl std::str::FromStr for Setting {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let malformed = || {
            Problem::new(
                "",
                format!("'{text}' is not a setting"),
                "write name=value, or name[3]=value for one entry of a list",
            )
        };
        let (key, value) = text.split_once('=').ok_or_else(malformed)?;
        let key = key.trim();
        let (name, index) = match key.split_once('[') {
            None => (key, None),
            Some((name, rest)) => {
                let index =
                    rest.strip_suffix(']').and_then(|digits| digits.parse().ok()).ok_or_else(malformed)?;
                (name, Some(index))
            }
        };
        if name.is_empty() {
            return Err(malformed());
        }
        Ok(Self { name: name.to_owned(), index, text: value.trim().to_owned() })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}[{index}]={}", self.name, self.text),
            None => write!(f, "{}={}", self.name, self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_entries_of_lists() {
        let setting: Setting = "ports_per_pod[3]=14".parse().expect("a setting");
        assert_eq!(
            (setting.name.as_str(), setting.index, setting.text.as_str()),
            ("ports_per_pod", Some(3), "14")
        );
        assert!("=3".parse::<Setting>().is_err());
        assert!("a[x]=3".parse::<Setting>().is_err());
    }

    #[test]
    fn values_are_checked_against_their_range() {
        let info = ParamInfo::int("tp", 1, 64, 1, "Tensor-parallel ranks.");
        assert_eq!(info.parse("8"), Ok(ParamValue::Int(8)));
        assert_eq!(info.parse("1e1"), Ok(ParamValue::Int(10)));
        let problem = info.parse("0").expect_err("out of range");
        assert_eq!(problem.to_string(), "tp: '0' is not valid; give a whole number from 1 to 64");
        assert!(ParamInfo::float("gap", 0.0, 1.0, 0.0, "").parse("nan").is_err());
        assert_eq!(ParamInfo::float("gap", 0.0, 1.0, 0.0, "").parse("1%"), Ok(ParamValue::Float(0.01)));
        assert_eq!(
            ParamInfo::int_list("topology", 1, 99, "").parse("4,4,6"),
            Ok(ParamValue::List(vec![ParamValue::Int(4), ParamValue::Int(4), ParamValue::Int(6)]))
        );
    }

    #[test]
    fn per_cent_is_read_only_where_it_has_a_meaning() {
        let over = ParamInfo::float("target_over", 0.0, 100.0, 0.0, "").unit("%");
        assert_eq!(over.parse("5%"), Ok(ParamValue::Float(5.0)));
        let changed = ParamInfo::int("changed_percent", 0, 100, 0, "").unit("%");
        assert_eq!(changed.parse("25 %"), Ok(ParamValue::Int(25)));
        let rate = ParamInfo::float("bandwidth_gbps", 0.0, 1e6, 1.0, "").unit("Gb/s");
        assert!(rate.parse("50%").is_err());
        assert!(ParamInfo::int("micro_batches", 1, 1000, 1, "").parse("200%").is_err());
        assert!(ParamInfo::int_or_list("ports", 1, 1000, "").parse("400%,6").is_err());
    }

    #[test]
    fn two_numbers_are_not_one() {
        let ports = ParamInfo::int_or_list("ports_per_pod", 1, 1_000_000, "");
        for text in ["4 6", "1 1 2", "4 096"] {
            assert!(ports.parse(text).is_err(), "{text}");
        }
        let batches = ParamInfo::int("micro_batches", 1, 10_000_000, 1, "");
        assert!(batches.parse("1 2").is_err());
        for text in ["1 048 576", "1_048_576", "1048576"] {
            assert_eq!(batches.parse(text), Ok(ParamValue::Int(1_048_576)), "{text}");
        }
    }

    #[test]
    fn units_behind_numbers_are_understood_or_refused() {
        let rate = ParamInfo::float("bandwidth_gbps", 0.001, 1e6, 400.0, "").unit("Gb/s");
        assert_eq!(rate.parse("800G"), Ok(ParamValue::Float(800.0)));
        assert_eq!(rate.parse("1 GB"), Err(rate.refuse("1 GB")));
        assert!(rate.refuse("1GB").to_string().ends_with("to 1000000, in Gb/s"));
        let tokens = ParamInfo::int("seq", 1, 1 << 26, 4096, "").unit("tokens");
        assert!(tokens.parse("4k").expect_err("4000 or 4096").to_string().contains("in tokens"));
        let bytes = ParamInfo::int("min_bytes", 0, 1 << 40, 0, "").unit("bytes");
        assert_eq!(bytes.parse("64KiB"), Ok(ParamValue::Int(65_536)));
    }

    #[test]
    fn unknown_parameters_are_named_with_the_nearest_valid_one() {
        let infos = [ParamInfo::int("population", 2, 10_000, 40, "")];
        let given = [("populaton", &ParamValue::Int(3))];
        let problems = Params::resolve(&infos, given).expect_err("unknown");
        assert!(problems.to_string().contains("did you mean 'population'?"));
    }
}
