//! Forgeries of several fields that agree with each other: a better value, a proof that nobody made.

use serde_json::{Value, json};

/// The claim that the plan as it is cannot be beaten.
pub const PROVEN: &str = "optimal without a proof";

/// Forged files by what they claim. Each has to be refused, or its bound at least counted as claimed only.
pub fn of(plan: &Value) -> Vec<(&'static str, Value)> {
    let min = plan["objective"]["sense"] == "min";
    let value = plan["objective"]["value"].as_f64().unwrap();
    let mut forged = Vec::new();
    for share in [1e-8, 1e-6, 1e-3, 0.5] {
        let better = if min { value * (1.0 - share) } else { value * (1.0 + share) };
        if (better - value).abs() > 0.0 {
            forged.push(("a better value", with(plan, better, plan["objective"]["bound"].as_f64(), min)));
            forged.push(("a better value that is optimal", optimal(plan, better)));
        }
    }
    // A whole number is better by one.
    forged.push(("one better", with(plan, if min { value - 1.0 } else { value + 1.0 }, None, min)));
    let proven = plan["status"] == "optimal";
    if !proven {
        forged.push((PROVEN, optimal(plan, value)));
    }
    forged
}

/// Values that a free field cannot have either, for any kind.
pub fn nonsense(plan: &Value) -> Vec<(&'static str, Value)> {
    let long = "0".repeat(64);
    let table = [
        ("/seed", json!(-1)),
        ("/seed", json!(0.5)),
        ("/seed", json!("1")),
        ("/threads", json!(0)),
        ("/threads", json!(-1)),
        ("/threads", json!(1_000_000)),
        ("/method", json!("no-such-method")),
        ("/parameters/no_such_parameter", json!(1)),
        ("/metrics/no_such_figure", json!(1.0)),
        ("/provenance/elapsed_s", json!(-1.0)),
        ("/provenance/elapsed_s", json!("soon")),
        ("/provenance/reproducible", json!(plan["provenance"]["reproducible"] == false)),
        ("/provenance/scenario_sha256", json!(long)),
        ("/provenance/bound_covers", json!("plans that are worse")),
        ("/provenance/bound_covers", json!(1)),
        ("/derived_from", json!({"kind": "training", "scenario_sha256": "", "plan_sha256": long})),
        ("/limit", json!("time")),
        ("/name", json!("another plan")),
    ];
    let place = |(pointer, value): (&'static str, Value)| {
        let mut forged = plan.clone();
        let (block, key) = pointer.rsplit_once('/').unwrap();
        forged.pointer_mut(block).unwrap()[key] = value;
        (pointer, forged)
    };
    table.into_iter().map(place).collect()
}

fn with(plan: &Value, value: f64, bound: Option<f64>, min: bool) -> Value {
    let mut forged = plan.clone();
    forged["objective"]["value"] = json!(value);
    // The bound follows where it would be passed.
    let bound = bound.map(|bound| if min { bound.min(value) } else { bound.max(value) });
    forged["objective"]["bound"] = json!(bound);
    forged["objective"]["gap"] = json!(bound.map(|bound| gap(value, bound)));
    if bound.is_none() {
        forged["provenance"].as_object_mut().unwrap().remove("bound_covers");
        if forged["status"] == "optimal" {
            forged["status"] = json!("feasible");
        }
    }
    forged
}

fn optimal(plan: &Value, value: f64) -> Value {
    let mut forged = plan.clone();
    forged["status"] = json!("optimal");
    forged["limit"] = Value::Null;
    forged["objective"]["value"] = json!(value);
    forged["objective"]["bound"] = json!(value);
    forged["objective"]["gap"] = json!(0.0);
    forged
}

fn gap(value: f64, bound: f64) -> f64 {
    if value == bound { 0.0 } else { (value - bound).abs() / value.abs() }
}
