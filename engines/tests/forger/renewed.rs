//! Forgeries whose scenario is another one, with its hash renewed as by somebody who knows the format: other values of every
//! parameter, other fields, and several places at once.
//!
//! A plan that passes on another scenario is none if all that is said of it is true there. What nobody can see in the plan
//! itself is tried: the method of the plan solves that scenario honestly, and must not beat the bound that was verified.

use crate::changes::{self, Change};
use crate::{Judged, Passed, claims, free, judge};
use lightbay_core::checked::{BoundTrust, VerifiedBound};
use lightbay_core::kind::Depth;
use lightbay_core::param::{Domain, ParamInfo, ParamValue, Setting};
use lightbay_core::random::{Stream, Streams};
use lightbay_core::testing::run;
use lightbay_engines::files::read_value;
use lightbay_engines::{AnyFile, AnyPlan, AnyScenario, CheckReport, Request, apply, job, methods};
use rand::RngExt;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Pairs of places of a plan that the suite tries.
const USUAL_CASES: u64 = 25;
/// The variable of the environment that gives the number of pairs.
const MANY: &str = "LIGHTBAY_FORGERIES";
/// Pods that the suite tries: checking the others in full takes a minute, which is for long runs.
const QUICK_PODS: &[&str] = &["with_routes=false", "pt-4x4x4"];
/// Relative amount by which an honest plan has to beat a bound that rounding may explain.
const ROUNDING: f64 = 1e-7;

/// Returns `true` if a plan is among those of this run.
pub fn is_tried(kind: &str, case: &str) -> bool {
    kind != "tpu" || std::env::var_os(MANY).is_some() || QUICK_PODS.iter().any(|part| case.contains(part))
}

/// The file with the hash of the scenario that is in it.
fn renewed(mut forged: Value) -> Value {
    if let Ok(AnyFile::Scenario(scenario)) = read_value(&forged["scenario"]) {
        forged["provenance"]["scenario_sha256"] = json!(scenario.sha256().unwrap());
    }
    forged
}

/// Honest plans of scenarios that forged plans name.
#[derive(Default)]
pub struct Honest {
    known: HashMap<String, Option<(f64, Option<VerifiedBound>)>>,
    /// Forged plans that were held against an honest one.
    pub held: usize,
}

impl Honest {
    /// The objective that the methods reach on the scenario of a file, and what is verified of it; `None` if there is no
    /// plan.
    fn plan(&mut self, forged: &Value) -> Option<(f64, Option<VerifiedBound>)> {
        let Ok(AnyFile::Scenario(scenario)) = read_value(&forged["scenario"]) else { return None };
        let method = forged["method"].as_str().unwrap_or("auto");
        let key = format!("{method} {}", forged["scenario"]);
        self.known.entry(key).or_insert_with(|| solve(&scenario, method)).clone()
    }

    /// Something false that a forged plan that passed says with the blessing of the checker.
    fn lie(&mut self, forged: &Value, report: &CheckReport) -> Option<String> {
        let (honest, bound) = self.plan(forged)?;
        let sign = if forged["objective"]["sense"] == "min" { 1.0 } else { -1.0 };
        let beats = |value: f64, bound: f64| sign * (bound - value) > ROUNDING * bound.abs();
        // A bound for some plans only is one for an honest plan if the bound of that covers the same.
        let covers = |bound: &VerifiedBound, other: Option<&VerifiedBound>| {
            bound.covers.is_none() || other.is_some_and(|other| other.covers == bound.covers)
        };
        let verified = report.verified.as_ref();
        let value = forged["objective"]["value"].as_f64()?;
        let held = verified.filter(|verified| covers(verified, bound.as_ref()));
        let reverse = bound.as_ref().filter(|bound| covers(bound, verified));
        self.held += usize::from(held.is_some() || reverse.is_some());
        if let Some(verified) = held.filter(|verified| beats(honest, verified.value)) {
            return Some(format!("{honest} is reached, and {} is verified", verified.value));
        }
        let bound = reverse.filter(|bound| beats(value, bound.value))?;
        Some(format!("{value} passes, and {} is the bound of an honest plan", bound.value))
    }
}

/// The value that a method reaches, or if it reaches none the one that is suited to the scenario, and what is verified.
fn solve(scenario: &AnyScenario, method: &str) -> Option<(f64, Option<VerifiedBound>)> {
    let solved = |method: &str, text: &str| {
        let settings: Vec<Setting> =
            text.split_whitespace().map(|setting| setting.parse().unwrap()).collect();
        let (scenario, given) = apply(scenario, method, &settings).ok()?;
        let done = run(job(&scenario, &Request::of(method).with(given)).ok()?, 2).done;
        let plan = AnyPlan::of(&done.plan?)?;
        let Ok(AnyFile::Plan(file)) = read_value(&crate::value_of(&plan)) else {
            panic!("a plan that is read")
        };
        Some((done.value?, file.check(Depth::Usual).verified))
    };
    if scenario.kind() == "tpu" {
        // Pods are drawn: an annealed design that is routed takes minutes for all that is asked here.
        return match scenario.suited_method() {
            "tons-fast" => solved("random", "samples=3 routing=none"),
            suited => solved(suited, "routing=none"),
        };
    }
    solved(method, "").or_else(|| solved(scenario.suited_method(), ""))
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

/// The plan on its scenario with one field of the file changed, known to the parameters or not.
pub fn fields(
    kind: &str,
    case: &str,
    plan: &Value,
    original: &[u8],
    honest: &mut Honest,
    passed: &mut Passed,
) {
    changes::each(&plan["scenario"], |change, scenario| {
        let mut forged = plan.clone();
        forged["scenario"] = scenario.clone();
        passed.tried += 1;
        let text = format!("scenario.{} {}", change.at, change.what);
        let place = format!("scenario.{}", change.place);
        told(kind, (case, &text, &place), &renewed(forged), original, honest, passed);
    });
}

/// The plan as one of another method, with a better value or a proof that nobody made.
pub fn methods_and_claims(
    kind: &str,
    case: &str,
    plan: &Value,
    original: &[u8],
    honest: &mut Honest,
    passed: &mut Passed,
) {
    for info in methods(kind) {
        let mut other = plan.clone();
        other["method"] = json!(info.name);
        other["parameters"] = json!({});
        claimed(&format!("{case}: method {}", info.name), &other, original, honest, passed);
    }
}

/// A better value or a proof that nobody made, on top of what was forged.
fn claimed(text: &str, forged: &Value, original: &[u8], honest: &mut Honest, passed: &mut Passed) {
    for (claim, forged) in claims::of(forged) {
        passed.tried += 1;
        let Judged::Passed(report) = judge(&forged, original, Depth::Usual) else { continue };
        if report.bound == BoundTrust::Claimed {
            continue;
        }
        // What the checker proves itself is no forgery, as long as it is true.
        let lie = honest.lie(&forged, &report);
        if claim != claims::PROVEN || report.bound != BoundTrust::Verified || lie.is_some() {
            passed.add(claim, format!("{text}: {claim}: {}", lie.unwrap_or_default()));
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
    claimed(&format!("{case}: {text}"), forged, original, honest, passed);
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
    let count = std::env::var(MANY).ok().and_then(|text| text.parse().ok()).unwrap_or(USUAL_CASES);
    let mut stream: Stream = Streams::new(seed_of(case)).stream(7);
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
                // The plan is named as the scenario: both may be called otherwise.
                || (change.place == "name" && forged["name"] == forged["scenario"]["name"])
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

/// Another seed for every case.
fn seed_of(case: &str) -> u64 {
    case.bytes().fold(1, |seed, byte| seed * 31 % 1_000_003 + u64::from(byte))
}

fn under_scenario(change: Change) -> Change {
    let Change { place, at, what } = change;
    Change { place: format!("scenario.{place}"), at: format!("scenario.{at}"), what }
}
