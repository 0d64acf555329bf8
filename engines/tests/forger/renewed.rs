//! Forgeries whose scenario is another one, with its hash renewed as by somebody who knows the format: other values of every
//! parameter, other fields, and several places at once.
//!
//! A plan that passes on another scenario is none if all that is said of it is true there. What nobody can see in the plan
//! itself is tried: the method of the plan solves that scenario honestly, and must not beat the bound that was verified.

use crate::changes::{self, Change};
use crate::{Judged, Passed, free, judge};
use lightbay_core::kind::Depth;
use lightbay_core::param::{Domain, ParamInfo, ParamValue};
use lightbay_core::random::{Stream, Streams};
use lightbay_core::testing::run;
use lightbay_engines::files::read_value;
use lightbay_engines::{AnyFile, AnyScenario, CheckReport, Request, job};
use rand::RngExt;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Pairs of places of a plan that the suite tries; `LIGHTBAY_FORGERIES` is another number.
const FEW: u64 = 25;
/// Relative amount by which an honest plan has to beat a bound that rounding may explain.
const ROUNDING: f64 = 1e-7;

/// The file with the hash of the scenario that is in it.
fn renewed(mut forged: Value) -> Value {
    if let Ok(AnyFile::Scenario(scenario)) = read_value(&forged["scenario"]) {
        forged["provenance"]["scenario_sha256"] = json!(scenario.sha256().unwrap());
    }
    forged
}

/// Honest objectives of scenarios that forged plans name.
#[derive(Default)]
pub struct Honest {
    known: HashMap<String, Option<f64>>,
}

impl Honest {
    /// The objective that the methods reach on the scenario of a file; `None` if there is no plan.
    fn objective(&mut self, forged: &Value) -> Option<f64> {
        let Ok(AnyFile::Scenario(scenario)) = read_value(&forged["scenario"]) else { return None };
        let key = forged["scenario"].to_string();
        *self
            .known
            .entry(key)
            .or_insert_with(|| solve(&scenario, forged["method"].as_str().unwrap_or("auto")))
    }

    /// Something false that a forged plan that passed says with the blessing of the checker.
    fn lie(&mut self, forged: &Value, report: &CheckReport) -> Option<String> {
        let verified = report.verified.as_ref().filter(|bound| bound.covers.is_none())?;
        let honest = self.objective(forged)?;
        let better = if forged["objective"]["sense"] == "min" {
            honest < verified.value - ROUNDING * verified.value.abs()
        } else {
            honest > verified.value + ROUNDING * verified.value.abs()
        };
        better.then(|| format!("{honest} is reached, and {} is verified", verified.value))
    }
}

fn solve(scenario: &AnyScenario, method: &str) -> Option<f64> {
    let value = |method: &str| run(job(scenario, &Request::of(method)).ok()?, 2).done.value;
    value(method).or_else(|| value(scenario.suited_method()))
}

/// Texts that parameters take.
const TEXTS: &[(&str, &[&str])] = &[
    ("failed_ocs", &["0", "1", "0,1", "none"]),
    ("failed_ports", &["0:0:a0", "1:1:b0", "none"]),
    ("failed_links", &["0-1", "1-0", "none"]),
    ("circuits", &["0-1:1", "0-1:3", "2-3:0"]),
    ("pinned", &["none"]),
    ("group", &["Z2", "Z4", "Z2 x Z2"]),
];

/// Other values of a parameter.
fn others(info: &ParamInfo, now: Option<&ParamValue>) -> Vec<ParamValue> {
    let texts = TEXTS.iter().find(|(name, _)| *name == info.name).map_or(&[][..], |(_, texts)| texts);
    let mut found: Vec<ParamValue> = texts.iter().map(|text| ParamValue::Text((*text).to_owned())).collect();
    found.extend(match (&info.domain, now) {
        (Domain::Choice { names }, _) => {
            names.iter().map(|name| ParamValue::Text(name.to_string())).collect()
        }
        (_, Some(ParamValue::Int(whole))) => {
            [whole * 2, whole / 2, whole + 1, whole - 1, 0, 1].map(ParamValue::Int).to_vec()
        }
        (_, Some(ParamValue::Float(value))) => {
            [value * 2.0, value / 2.0, value * 1.01, value * 0.99, 0.0].map(ParamValue::Float).to_vec()
        }
        (_, Some(ParamValue::Bool(yes))) => vec![ParamValue::Bool(!yes)],
        (_, Some(ParamValue::List(list))) => {
            let more = |entry: &ParamValue| {
                entry.as_i64().map_or_else(|| entry.clone(), |one| ParamValue::Int(one + 1))
            };
            vec![ParamValue::List(list.iter().map(more).collect())]
        }
        (Domain::Bool, None) => vec![ParamValue::Bool(true), ParamValue::Bool(false)],
        (Domain::Int { .. } | Domain::IntOrList { .. }, None) => [1, 2, 4].map(ParamValue::Int).to_vec(),
        (Domain::Float { .. }, None) => [0.5, 1.0, 10.0].map(ParamValue::Float).to_vec(),
        _ => Vec::new(),
    });
    found.retain(|value| Some(value) != now);
    found
}

/// The plan on its scenario with another value of one parameter, or of two.
pub fn parameters(
    kind: &str,
    case: &str,
    plan: &Value,
    original: &[u8],
    honest: &mut Honest,
    passed: &mut Passed,
) {
    let AnyFile::Scenario(scenario) = read_value(&plan["scenario"]).unwrap() else { panic!("a scenario") };
    let mut single = Vec::new();
    for info in scenario.knobs() {
        let now = scenario.knob(&info.name);
        for value in others(&info, now.as_ref()) {
            if let Ok(other) = scenario.with(&info.name, None, &value) {
                single.push((format!("{}={value}", info.name), info.name.to_string(), value, other));
            }
        }
    }
    let mut judged = |text: &str, name: &str, other: &AnyScenario| {
        let mut forged = plan.clone();
        forged["scenario"] = other.to_value().unwrap();
        passed.tried += 1;
        told(kind, (case, text, &format!("scenario, {name}")), &renewed(forged), original, honest, passed);
    };
    for (text, name, _, other) in &single {
        judged(text, name, other);
    }
    // Two at once: every one with the next of another parameter.
    for pair in single.windows(2).filter(|pair| pair[0].1 != pair[1].1) {
        let ((one, name, value, _), (two, other_name, other_value, _)) = (&pair[0], &pair[1]);
        if let Ok(both) = scenario.with_all(&[(name, None, value), (other_name, None, other_value)]) {
            judged(&format!("{one} {two}"), &format!("{name} and {other_name}"), &both);
        }
    }
}

/// Judges a forged file, and notes what is false and passed.
fn told(
    kind: &str,
    (case, text, place): (&str, &str, &str),
    forged: &Value,
    original: &[u8],
    honest: &mut Honest,
    passed: &mut Passed,
) {
    let Judged::Passed(report) = judge(forged, original, Depth::Usual) else { return };
    passed.judged_true += 1;
    if std::env::var_os("LIGHTBAY_FORGERIES_TOLD").is_some() {
        println!("{kind} {case}: {text} passes");
    }
    if let Some(lie) = honest.lie(forged, &report) {
        passed.add(place, format!("{case}: {text}: {lie}"));
    }
}

/// Random pairs of places of the whole file, and places of the scenario.
pub fn pairs(
    kind: &str,
    case: &str,
    plan: &Value,
    original: &[u8],
    honest: &mut Honest,
    passed: &mut Passed,
) {
    let count = std::env::var("LIGHTBAY_FORGERIES").ok().and_then(|text| text.parse().ok()).unwrap_or(FEW);
    let mut stream: Stream = Streams::new(case.len() as u64 + 1).stream(7);
    for number in 0..count {
        let mut choose = |most: usize| stream.random_range(0..most);
        // Every third is in the scenario alone.
        let (first, forged) = if number.is_multiple_of(3) {
            let Some((change, scenario)) = changes::any(&plan["scenario"], &mut choose) else { continue };
            let mut forged = plan.clone();
            forged["scenario"] = scenario;
            (under_scenario(change), forged)
        } else {
            let Some(made) = changes::any(plan, &mut choose) else { continue };
            made
        };
        let Some((second, forged)) = changes::any(&forged, &mut choose) else { continue };
        let forged = renewed(forged);
        passed.tried += 1;
        let Judged::Passed(report) = judge(&forged, original, Depth::Usual) else { continue };
        let said = report.remarks.iter().any(|remark| remark.contains("claimed"));
        // What is read as it was before is no change: a gap that is left out is worked out again.
        let read = report.plan.as_ref().map(crate::value_of).unwrap_or_default();
        let may = |change: &Change| {
            let block = change.place.split(['.', '[']).next().unwrap_or_default();
            read[block] == plan[block]
                || change.place.starts_with("scenario")
                || change.place.starts_with("provenance.scenario_sha256")
                || free::is_free(kind, change, &forged)
                || (said && (free::is_left_out(kind, change, &forged) || free::is_for_exact(kind, change)))
        };
        let text = format!("{} {}, {} {}", first.at, first.what, second.at, second.what);
        if !may(&first) || !may(&second) {
            passed.add(&format!("{} and {}", first.place, second.place), format!("{case}: {text}"));
        } else if let Some(lie) = honest.lie(&forged, &report) {
            passed.add(&format!("{} and {}", first.place, second.place), format!("{case}: {text}: {lie}"));
        }
    }
}

fn under_scenario(change: Change) -> Change {
    let Change { place, at, what } = change;
    Change { place: format!("scenario.{place}"), at: format!("scenario.{at}"), what }
}
