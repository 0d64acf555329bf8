//! The schemas under `engines/schemas` are the ones this version generates.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod reader;

use lightbay_engines::{SchemaOf, schema};
use std::path::Path;

/// Run with `LIGHTBAY_WRITE_SCHEMAS=1` to write them again.
#[test]
fn checked_in_schemas_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    for which in SchemaOf::ALL {
        let mut current = serde_json::to_string_pretty(&schema(which)).unwrap();
        current.push('\n');
        let path = folder.join(which.file_name());
        if std::env::var_os("LIGHTBAY_WRITE_SCHEMAS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &current).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(stored == current, "{} is out of date; run with LIGHTBAY_WRITE_SCHEMAS=1", path.display());
    }
}

/// The forms of a scenario stand beside the keys of the envelope, so none of them may rule other keys out.
#[test]
fn no_form_of_a_scenario_rules_out_the_envelope() {
    let schema = schema(SchemaOf::Scenario);
    for kind in schema["oneOf"].as_array().unwrap() {
        let name = kind["allOf"][0]["$ref"].as_str().unwrap().trim_start_matches("#/$defs/");
        let body = &schema["$defs"][name];
        let forms = ["oneOf", "anyOf"].into_iter().filter_map(|forms| body[forms].as_array()).flatten();
        for form in forms.chain([body]) {
            assert!(form.get("additionalProperties").is_none(), "{name}: {form}");
        }
    }
}
