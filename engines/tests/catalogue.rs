//! The catalogue holds together: names are unique, defaults exist, presets are valid and read back.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use lightbay_core::param::Setting;
use lightbay_core::problem::Problems;
use lightbay_core::run::common_params;
use lightbay_engines::{AnyFile, AnyScenario, apply, kinds, knobs, methods, preset, presets, read_file};
use std::collections::BTreeSet;

#[test]
fn every_kind_has_its_default_method_and_presets() {
    for kind in kinds() {
        assert!(methods(kind.name).iter().any(|method| method.name == kind.default_method), "{}", kind.name);
        assert!(presets().iter().any(|preset| preset.kind == kind.name), "{}", kind.name);
    }
}

#[test]
fn knob_names_are_flat_and_never_mean_two_things() {
    for kind in kinds() {
        let scenario: BTreeSet<String> = knobs(kind.name).iter().map(|knob| knob.name.to_string()).collect();
        assert_eq!(scenario.len(), knobs(kind.name).len());
        let common: BTreeSet<String> = common_params().iter().map(|knob| knob.name.to_string()).collect();
        assert!(scenario.is_disjoint(&common));
        for method in methods(kind.name) {
            for param in &method.params {
                let name = param.name.to_string();
                assert!(!scenario.contains(&name), "{name} is a knob of the scenario and of {}", method.name);
                assert!(!common.contains(&name), "{name} is common and of {}", method.name);
                assert!(!name.contains('.'), "{name}");
                assert!(param.help.ends_with('.'), "{name}: {}", param.help);
            }
        }
    }
}

fn reread(scenario: &AnyScenario) -> AnyScenario {
    match read_file(scenario.to_json().unwrap().as_slice(), "memory") {
        Ok(AnyFile::Scenario(read)) => read,
        Ok(AnyFile::Plan(_)) => panic!("a scenario was read as a plan"),
        Err(problems) => panic!("{problems}"),
    }
}

#[test]
fn presets_are_valid_and_read_back_as_they_were_written() {
    for info in presets() {
        let scenario = preset(info.name).unwrap();
        assert_eq!((scenario.kind(), scenario.name()), (info.kind, info.name));
        let read = reread(&scenario);
        assert_eq!(read, scenario);
        assert_eq!(read.sha256().unwrap(), scenario.sha256().unwrap());
        assert_eq!(read.renamed("other").sha256().unwrap(), scenario.sha256().unwrap());
    }
    assert!(preset("megatron_177").unwrap_err().to_string().contains("did you mean 'megatron_177b'?"));
}

#[test]
fn every_knob_can_be_set_to_its_present_value() {
    for info in presets() {
        let scenario = preset(info.name).unwrap();
        for knob in scenario.knobs() {
            let Some(value) = scenario.knob(&knob.name) else { continue };
            let same = scenario.with(&knob.name, None, &value).unwrap_or_else(|problems| {
                panic!("{} of {}: {problems}", knob.name, info.name);
            });
            assert_eq!(same.knob(&knob.name), Some(value), "{} of {}", knob.name, info.name);
        }
    }
}

fn refusal(settings: &[&str]) -> Problems {
    let settings: Vec<Setting> = settings.iter().map(|text| text.parse().unwrap()).collect();
    apply(&preset("tiny4").unwrap(), "delta-joint", &settings).unwrap_err()
}

#[test]
fn settings_that_do_not_fit_are_all_named_with_a_remedy() {
    let text = refusal(&["bandwith_gbps=800", "seq=-1", "time_limit_s=soon"]).to_string();
    assert!(text.contains("did you mean 'bandwidth_gbps'?"), "{text}");
    assert!(text.contains("seq: '-1' is not valid"), "{text}");
    assert!(text.contains("time_limit_s: 'soon' is not valid"), "{text}");
}

#[test]
fn settings_go_where_they_belong() {
    let settings: Vec<Setting> =
        ["bandwidth_gbps=800", "time_limit_s=5"].iter().map(|text| text.parse().unwrap()).collect();
    let (scenario, params) = apply(&preset("tiny4").unwrap(), "delta-joint", &settings).unwrap();
    assert_eq!(scenario.knob("bandwidth_gbps").unwrap().as_f64(), Some(800.0));
    assert_eq!(params.len(), 1);
    assert_eq!(params[0].0, "time_limit_s");
}

#[test]
fn files_that_are_not_ours_are_named_as_such() {
    for (content, expected) in [
        ("[1, 2]", "a list of length 2"),
        ("{}", "schema: is missing"),
        (r#"{"schema": "lightbay.plan/2"}"#, "reads 'lightbay.plan/1'"),
        (r#"{"schema": "lightbay.scenario/1", "kind": "trainin"}"#, "did you mean 'training'?"),
        (r#"{"schema": "else/1"}"#, "schema: is 'else/1'"),
    ] {
        let problems = read_file(content.as_bytes(), "x.json").unwrap_err();
        assert!(problems.to_string().contains(expected), "{content}: {problems}");
        assert!(problems.to_string().starts_with("x.json: "), "{problems}");
    }
}

#[test]
fn sweeps_that_are_offered_are_over_knobs_of_their_kind() {
    for kind in lightbay_engines::kinds() {
        let offered = lightbay_engines::sweeps(kind.name);
        let knobs = lightbay_engines::knobs(kind.name);
        for name in offered.knobs {
            assert!(knobs.iter().any(|knob| knob.name == *name), "{}: {name}", kind.name);
        }
        assert!(offered.forms.is_empty() || offered.forms.len() == offered.knobs.len() + 1, "{}", kind.name);
        for name in offered.methods {
            assert!(lightbay_engines::method(kind.name, name).is_some(), "{}: {name}", kind.name);
        }
        let figure = offered.figure;
        assert!(figure.is_empty() || lightbay_engines::metric(kind.name, figure).is_some(), "{figure}");
        // A slider moves a number of a scenario that has a preset with it.
        for slider in lightbay_engines::sections(kind.name).iter().filter_map(|section| section.slides) {
            assert!(knobs.iter().any(|knob| knob.name == slider.knob), "{}: {}", kind.name, slider.knob);
        }
    }
}
