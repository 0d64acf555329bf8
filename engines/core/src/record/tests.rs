//! Records that are read, written, described and set from one declaration.

use super::{Knob, Knobs, Record, any, list, within};
use crate::param::{Effect, ParamValue};
use crate::problem::Problems;
use crate::read::Fields;
use crate::{record, words};
use serde_json::json;

words! {
    /// Way of a packet.
    pub enum Way {
        /// Over the top.
        Over = "over",
        /// Below.
        Under = "under",
    }
}

record! {
    /// A part.
    pub struct Part {
        /// Name of the part.
        pub name: String = any(),
        /// Weight.
        pub weight_kg: Option<f64> = within(0.5..=2.0).unit("kg"),
    }
}

record! {
    /// A whole.
    pub struct Whole {
        /// Number of ports, that is how many
        /// circuits end here.
        pub ports: u16 = within(1..=64).cold(),
        /// Way of the packets.
        pub way: Way = any().or(Way::Over),
        /// Failed ports.
        pub failed: Vec<u16> = list(),
        /// Rate.
        pub rate_gbps: f64 = within(1e-3..=1e6).or(400.0).unit("Gb/s").omitted(),
        /// Ends.
        pub ends: [u8; 2] = any().or([0, 1]),
        /// Parts.
        pub parts: Vec<Part> = list(),
    }
}

fn read<R: Record>(value: &serde_json::Value) -> Result<R, String> {
    let mut problems = Problems::new();
    let mut fields = Fields::of(value, "", &mut problems).expect("an object");
    let record = R::of_fields(&mut fields, &mut problems);
    fields.finish(&mut problems);
    problems.into_result(()).map_err(|problems| problems.to_string())?;
    Ok(record.expect("no problems"))
}

#[test]
fn what_is_left_out_has_its_default_and_what_is_written_reads_back() {
    let whole: Whole = read(&json!({"ports": 8.0, "way": null})).expect("valid");
    let usual = Whole {
        ports: 8,
        way: Way::Over,
        failed: Vec::new(),
        rate_gbps: 400.0,
        ends: [0, 1],
        parts: Vec::new(),
    };
    assert_eq!(whole, usual);
    let written = serde_json::to_value(&whole).expect("plain");
    assert_eq!(written, json!({"ports": 8, "way": "over", "ends": [0, 1]}));
    let other = Whole { failed: vec![3], rate_gbps: 1.0, ..whole };
    assert_eq!(read::<Whole>(&serde_json::to_value(&other).expect("plain")), Ok(other));
}

#[test]
fn every_problem_of_a_record_is_told_with_its_place() {
    let wrong = json!({
        "way": "aver", "failed": [1, -1, "x"], "rate_gbps": 0, "ends": [1], "port": 3,
        "parts": [{"name": "a", "weight_kg": 3}, {}]
    });
    let told = read::<Whole>(&wrong).expect_err("wrong");
    let lines = [
        "ports: is missing; add it",
        "way: is 'aver'; did you mean 'over'?",
        "failed[1]: is '-1'; give a whole number from 0 to 65535",
        "failed[2]: is 'x'; give a whole number from 0 to 65535",
        "rate_gbps: is '0'; give a number from 0.001 to 1000000",
        "ends: has 1 entries; give 2 entries",
        "parts[0].weight_kg: is '3'; give a number from 0.5 to 2",
        "parts[1].name: is missing; add it",
        "port: is not a known key; did you mean 'ports'?",
    ];
    for line in lines {
        assert!(told.contains(line), "{line} in {told}");
    }
}

#[test]
fn the_schema_has_the_ranges_of_the_reader() {
    let schema = schemars::schema_for!(Whole).to_value();
    let ports = json!({"type": "integer", "minimum": 1, "maximum": 64, "description": "Number of ports, that is how many circuits end here."});
    assert_eq!(schema["properties"]["ports"], ports);
    assert_eq!(schema["required"], json!(["ports"]));
    assert_eq!(schema["properties"]["rate_gbps"]["type"], json!(["number", "null"]));
    assert_eq!(schema["additionalProperties"], json!(false));
}

#[test]
fn parameters_follow_from_the_fields() {
    let knobs: Knobs<Whole> = Knobs::new(vec![
        Knob::of("ports", |whole: &Whole| Some(whole), |whole| whole),
        Knob::of("way", |whole: &Whole| Some(whole), |whole| whole)
            .idle_if(|whole| (whole.ports == 1).then_some(("on one port".into(), "raise `ports`"))),
        Knob::of("rate_gbps", |whole: &Whole| Some(whole), |whole| whole),
    ]);
    let infos = knobs.infos(None);
    assert_eq!((infos[0].effect, infos[0].default.clone()), (Effect::Cold, None));
    assert_eq!(
        (infos[2].unit.as_ref(), infos[2].valid().as_str()),
        ("Gb/s", "a number from 0.001 to 1000000")
    );
    let mut whole: Whole = read(&json!({"ports": 8})).expect("valid");
    knobs.set(&mut whole, "way", None, &ParamValue::Text("under".to_owned())).expect("valid");
    knobs.set(&mut whole, "ports", None, &ParamValue::Int(1)).expect("valid");
    assert_eq!((whole.way, knobs.get(&whole, "ports")), (Way::Under, Some(ParamValue::Int(1))));
    assert_eq!(knobs.idle(&whole)[0].to_string(), "way: has no effect on one port; raise `ports`");
    let told = |name: &str, index, value: i64| {
        knobs.set(&mut whole.clone(), name, index, &ParamValue::Int(value)).expect_err("wrong").to_string()
    };
    assert_eq!(told("ports", None, 65), "ports: '65' is not valid; give a whole number from 1 to 64");
    assert_eq!(told("ports", Some(1), 5), "ports: is not a list; write ports=5");
    assert!(told("port", None, 5).starts_with("port: is not a parameter of this scenario; did you mean"));
}
