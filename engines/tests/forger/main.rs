//! No forged plan passes: every field of plans of every kind is changed in every way that could profit whoever hands
//! the plan over, and the checker has to refuse each of them. What no checker can know is on a short list, with its
//! reason.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::print_stdout, reason = "a long run tells its counts")]

mod changes;
mod claims;
mod free;
mod plans;
mod renewed;

use lightbay_core::checked::BoundTrust;
use lightbay_core::kind::Depth;
use lightbay_engines::files::read_value;
use lightbay_engines::{AnyFile, AnyPlan, CheckReport};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Verdict on a file.
enum Judged {
    /// It is not read, or a rule is broken.
    Refused,
    /// It says the same as before.
    Same,
    /// It passed.
    Passed(Box<CheckReport>),
}

fn judge(value: &Value, original: &[u8], depth: Depth) -> Judged {
    let Ok(AnyFile::Plan(file)) = read_value(value) else { return Judged::Refused };
    let report = file.check(depth);
    match &report.plan {
        Some(plan) if plan.to_json().unwrap() == original => Judged::Same,
        Some(_) => Judged::Passed(Box::new(report)),
        None => Judged::Refused,
    }
}

/// Forgeries that passed, by rule of the place (`result.tasks[].start_s`) and what was done to it.
#[derive(Default)]
struct Passed {
    tried: usize,
    /// Those on other scenarios that passed, and of which all that is verified is true there.
    judged_true: usize,
    by_place: BTreeMap<String, Vec<String>>,
}

impl Passed {
    fn add(&mut self, place: &str, text: String) {
        self.by_place.entry(place.to_owned()).or_default().push(text);
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (place, examples) in &self.by_place {
            writeln!(text, "{place} ({}): {}", examples.len(), examples[..examples.len().min(4)].join("; "))
                .unwrap();
        }
        text
    }
}

/// Forges all plans of a kind on other scenarios, with their hash renewed, and at several places at once.
fn forge_renewed(kind: &str) {
    let mut passed = Passed::default();
    let mut honest = renewed::Honest::default();
    for (case, plan) in plans::of(kind) {
        if !renewed::is_tried(kind, &case) {
            continue;
        }
        let (value, original) = (value_of(&plan), plan.to_json().unwrap());
        renewed::parameters(kind, &case, &value, &original, &mut honest, &mut passed);
        renewed::fields(kind, &case, &value, &original, &mut honest, &mut passed);
        renewed::methods_and_claims(kind, &case, &value, &original, &mut honest, &mut passed);
        renewed::pairs(kind, &case, &value, &original, &mut honest, &mut passed);
    }
    let (tried, truths, held) = (passed.tried, passed.judged_true, honest.held);
    println!("{kind}: {tried} forgeries, {truths} true on other scenarios, {held} held against honest plans");
    assert!(held > 0, "no forged plan was held against an honest one");
    assert!(passed.tried > 100, "{} forgeries are too few to mean anything", passed.tried);
    let gaps = free::known_gaps(kind);
    passed.by_place.retain(|place, _| !gaps.contains(&place.as_str()));
    assert!(passed.by_place.is_empty(), "of {} forged plans these pass:\n{}", passed.tried, passed.text());
}

/// Forges all plans of a kind.
fn forge(kind: &str) {
    let mut passed = Passed::default();
    for (case, plan) in plans::of(kind) {
        let value = value_of(&plan);
        let original = plan.to_json().unwrap();
        assert!(
            matches!(judge(&value, &original, Depth::Usual), Judged::Same),
            "{case}: the plan itself passes"
        );
        changes::each(&value, |change, forged| {
            passed.tried += 1;
            let Judged::Passed(report) = judge(forged, &original, Depth::Usual) else { return };
            let said = report.remarks.iter().any(|remark| remark.contains("claimed"));
            let refused = || matches!(judge(forged, &original, Depth::EXACT), Judged::Refused);
            let is_free = free::is_free(kind, change, forged)
                || (said && free::is_left_out(kind, change, forged))
                || (said && free::is_for_exact(kind, change) && refused());
            if !is_free {
                passed.add(&change.place, format!("{case}: {} {}", change.at, change.what));
            }
        });
        for (field, forged) in claims::nonsense(&value) {
            passed.tried += 1;
            if matches!(judge(&forged, &original, Depth::Usual), Judged::Passed(_)) {
                passed.add(field, format!("{case}: {field} nonsense"));
            }
        }
        for (claim, forged) in claims::of(&value) {
            passed.tried += 1;
            match judge(&forged, &original, Depth::Usual) {
                // What the checker proves itself is no forgery, whoever did not claim it before.
                Judged::Passed(report) if report.bound == BoundTrust::Verified && claim == claims::PROVEN => {
                }
                Judged::Passed(report) if report.bound != BoundTrust::Claimed => {
                    passed.add(claim, format!("{case}: {claim}"));
                }
                _ => {}
            }
        }
    }
    assert!(passed.tried > 500, "{} forgeries are too few to mean anything", passed.tried);
    let gaps = free::known_gaps(kind);
    passed.by_place.retain(|place, _| !gaps.contains(&place.as_str()));
    assert!(passed.by_place.is_empty(), "of {} forged plans these pass:\n{}", passed.tried, passed.text());
}

fn value_of(plan: &AnyPlan) -> Value {
    serde_json::from_slice(&plan.to_json().unwrap()).unwrap()
}

#[test]
fn no_forged_training_plan_passes() {
    forge("training");
}

#[test]
fn no_forged_pod_passes() {
    forge("tpu");
}

#[test]
fn no_forged_crossconnect_plan_passes() {
    forge("crossconnect");
}

#[test]
fn no_forged_region_passes() {
    forge("moe");
}

#[test]
fn no_forged_schedule_passes() {
    forge("collective");
}

#[test]
fn no_training_plan_passes_as_one_of_another_scenario() {
    forge_renewed("training");
}

#[test]
fn no_pod_passes_as_one_of_another_scenario() {
    forge_renewed("tpu");
}

#[test]
fn no_crossconnect_plan_passes_as_one_of_another_scenario() {
    forge_renewed("crossconnect");
}

#[test]
fn no_region_passes_as_one_of_another_scenario() {
    forge_renewed("moe");
}

#[test]
fn no_schedule_passes_as_one_of_another_scenario() {
    forge_renewed("collective");
}

/// An order of phases removes no circuit: as a plan of `auto` it would beat every change of circuits, of which the example
/// needs two. Changes that are said to be an order would be ranked among none.
#[test]
fn no_order_of_phases_passes_as_changes_of_circuits_and_none_the_other_way() {
    let plans = plans::of("crossconnect");
    let of = |part: &str| &plans.iter().find(|(case, _)| case.contains(part)).unwrap().1;
    let refused = |plan: &AnyPlan, method: &str| {
        let mut forged = value_of(plan);
        forged["method"] = serde_json::json!(method);
        forged["parameters"] = serde_json::json!({});
        let Ok(AnyFile::Plan(file)) = read_value(&forged) else { panic!("{method}: a plan that is read") };
        file.check(Depth::Usual).violations.iter().any(|violation| violation.code == "method")
    };
    let (order, changes) = (of("all-to-all-order"), of("lumos-relabel"));
    for method in ["auto", "lumos-repair", "lumos-relabel"] {
        assert!(refused(order, method), "{method}");
        assert!(!refused(changes, method), "{method}");
    }
    assert!(refused(changes, "all-to-all-order"));
    assert!(!refused(order, "all-to-all-order"));
}

#[test]
fn every_kind_is_forged() {
    let kinds: Vec<&str> = lightbay_engines::kinds().iter().map(|kind| kind.name).collect();
    assert_eq!(
        kinds,
        ["training", "tpu", "crossconnect", "moe", "collective"],
        "a new kind needs plans to forge and a test here"
    );
}
