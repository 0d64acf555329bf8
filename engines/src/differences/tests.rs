//! Differences have the names of their fields, and long lists have the counts and sums that were computed by hand.

use super::*;
use crate::preset;
use lightbay_core::param::ParamValue;
use serde_json::json;

fn differing(a: &Value, b: &Value) -> Vec<(String, [String; 2])> {
    let mut out = Vec::new();
    compare(vec![Some(a)], vec![Some(b)], "", &mut out);
    out
}

fn row(name: &str, a: &str, b: &str) -> Difference {
    (name.to_owned(), [a.to_owned(), b.to_owned()])
}

#[test]
fn fields_have_paths_and_lists_have_counts_and_sums() {
    let times: Vec<f64> = (0..80).map(|at| if at < 2 { 0.5 } else { 0.025 }).collect();
    let mut halved = times.clone();
    (halved[0], halved[1]) = (0.25, 0.25);
    let rows = |values: &[f64]| values.iter().map(|ms| json!({"ms": ms, "on": "a"})).collect::<Vec<_>>();
    let a =
        json!({"model": {"layers": 80, "bias": null}, "times": times, "rows": rows(&times), "few": [1, 2]});
    let b = json!({"model": {"layers": 72}, "times": halved, "rows": rows(&halved[..78]), "few": [1, 3], "x": true});
    // 2 x 0.5 + 78 x 0.025 = 2.95, of which 0.5 is gone; the two rows that are cut off take 0.05 with them.
    assert_eq!(
        differing(&a, &b),
        [
            row("model.layers", "80", "72"),
            row("times", "80 values, sum 2.95", "80 values, 2 differ, sum 2.45"),
            row("rows.ms", "80 values, sum 2.95", "78 values, 4 differ, sum 2.4"),
            row("rows.on", "80 values", "78 values, 2 differ"),
            row("few", "1, 2", "1, 3"),
            row("x", "-", "true"),
        ]
    );
    assert_eq!(differing(&a, &a), []);
}

#[test]
fn what_parameters_explain_is_told_once() {
    let a = preset("tiny4").unwrap();
    let b = a.with("bandwidth_gbps", None, &ParamValue::Float(800.0)).unwrap().renamed("other");
    let found = ScenarioDifferences::of(&a, &b).unwrap();
    assert_eq!(found.knobs, [row("bandwidth_gbps", "400 Gb/s", "800 Gb/s")]);
    assert_eq!((found.fields, found.is_same_question), (Vec::new(), false));
    let same = ScenarioDifferences::of(&a, &a.renamed("other")).unwrap();
    assert!(same.is_same_question && same.asked().next().is_none());
    // A network with its links is made by two parameters.
    let ring = preset("ring8-allgather-1mb").unwrap();
    let torus = ring.with_all(&[
        ("network", None, &ParamValue::Text("torus".into())),
        ("network_size", None, &ParamValue::Text("4x2".into())),
    ]);
    if let Ok(torus) = torus {
        let found = ScenarioDifferences::of(&ring, &torus).unwrap();
        assert_eq!(found.fields, []);
    }
}

#[test]
fn what_no_parameter_explains_is_a_field() {
    let a = preset("crossconnect-example").unwrap();
    let mut value = a.to_value().unwrap();
    // Circuits of pods 0-2 and 1-3 go over to 0-3 and 1-2: every port stays as used as it was.
    for (row, column, circuits) in
        [(0, 2, 0), (0, 3, 3), (1, 2, 3), (1, 3, 0), (2, 0, 0), (2, 1, 3), (3, 0, 3), (3, 1, 0)]
    {
        value["logical_circuits"][row][column] = json!(circuits);
    }
    let b = AnyScenario::from_value(&value).unwrap();
    let found = ScenarioDifferences::of(&a, &b).unwrap();
    assert_eq!(found.fields, [row("logical_circuits", "16 values, sum 16", "16 values, 8 differ, sum 16")]);
    assert!(found.knobs.iter().all(|(name, _)| name == "circuits") && !found.is_same_question);
}
