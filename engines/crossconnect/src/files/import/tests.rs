mod replies;
mod wrong;

use super::*;
use crate::files::exports::tests::{Numbering, State, TWO_SERIES, WITH_PORTS, any_sample, on_panels};
use crate::files::exports::{self, Subject};
use crate::plan::Action;
use crate::scenario::{Circuit, InstalledOcs, Wiring};
use crate::testing::{self, Sample};
use lightbay_core::param::ParamValue;
use proptest::prelude::*;

fn params(format: &str, settings: &[(&str, ParamValue)]) -> Params {
    let known = formats().into_iter().find(|known| known.name == format).unwrap();
    let mut params = Params::default();
    for info in &known.params {
        if let Some(default) = &info.default {
            params.set(info.name.to_string(), default.clone());
        }
    }
    for (name, value) in settings {
        params.set(*name, value.clone());
    }
    params
}

/// A number setting, if there is one.
fn base(params: &mut Params, name: &str, number: Option<u64>) {
    if let Some(number) = number {
        params.set(name, ParamValue::Int(number as i64));
    }
}

/// The new state of a plan.
fn target(changes: &crate::plan::Changes) -> Installed {
    let ocs = changes.ocs.iter().map(|ocs| {
        let there = ocs.cross_connects.iter().filter(|entry| entry.action != Action::Remove);
        let mut cross_connects: Vec<Circuit> = there.map(testing::circuit).collect();
        cross_connects.sort_unstable();
        InstalledOcs { ocs_id: ocs.ocs_id, cross_connects }
    });
    Installed { ocs: ocs.collect() }
}

fn read(
    numbering: Numbering,
    scenario: &CrossconnectScenario,
    files: &[(String, String)],
) -> Result<Imported, Problems> {
    let mut params =
        params(numbering.format, &[("bidirectional", ParamValue::Bool(numbering.bidirectional))]);
    base(&mut params, "ingress_base", Some(numbering.ingress_base));
    base(&mut params, "egress_base", numbering.egress_base);
    let files: Vec<Input<'_>> =
        files.iter().map(|(name, text)| Input { name, bytes: text.as_bytes() }).collect();
    installed(numbering.format, &files, scenario, &params)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replies_of_switches_become_their_state(
        sample in any_sample(),
        bidirectional in any::<bool>(),
        ingress_base in 1u64..4,
        far_base in prop_oneof![Just(None), Just(Some(1000u64))],
        panels in any::<bool>(),
    ) {
        let bidirectional = bidirectional && sample.wiring != Wiring::CrossWired;
        let (mut scenario, mut changes) = testing::random(sample);
        if panels {
            on_panels(&mut scenario, &mut changes);
        }
        for format in WITH_PORTS {
            let alike = bidirectional && sample.wiring == Wiring::SingleSided && !TWO_SERIES.contains(&format);
            let egress_base = far_base.filter(|_| !alike && !panels);
            let numbering = Numbering { format, ingress_base, egress_base, bidirectional };
            let mut state = numbering.state(&scenario, &changes, Action::Remove);
            let boxes = if sample.wiring == Wiring::CrossWired { 2 } else { 1 } * sample.ocs_count;
            for id in 0..boxes {
                state.entry(id).or_default();
            }
            let imported = read(numbering, &scenario, &replies::files(numbering, &state)).unwrap();
            prop_assert_eq!(imported.installed, target(&changes));
        }
    }

    #[test]
    fn tables_become_the_state_after_or_before(sample in any_sample()) {
        let (scenario, changes) = testing::random(sample);
        let result = testing::result(changes.clone());
        let mut full = Params::default();
        full.set("full", ParamValue::Bool(true));
        let subject = Subject { name: "", scenario: &scenario, result: &result, sha256: None };
        let text = exports::write("csv", &subject, &full).unwrap().swap_remove(0).script.into_text();
        let file = [Input { name: "state.csv", bytes: text.as_bytes() }];
        let after = installed("csv", &file, &scenario, &params("csv", &[])).unwrap();
        prop_assert_eq!(after.installed, target(&changes));
        let state = [("state", ParamValue::Text("before".to_owned()))];
        let before = installed("csv", &file, &scenario, &params("csv", &state)).unwrap();
        prop_assert_eq!(before.installed, scenario.installed);
    }

    #[test]
    fn nothing_makes_it_panic(text in "\\PC{0,200}", damage in any::<prop::sample::Index>(), with in any::<u8>()) {
        let (scenario, changes) = testing::example();
        for format in formats().into_iter().filter(|format| !["port_map", "hall"].contains(&format.name)) {
            let numbering = Numbering { format: format.name, ingress_base: 1, egress_base: None, bidirectional: false };
            let params = params(format.name, &[]);
            let mut bytes = match format.name {
                "csv" => b"ocs_id,action,pod_a,port_a,pod_b,port_b\n0,keep,0,0,1,0\n".to_vec(),
                _ => replies::text(format.name, &numbering.state(&scenario, &changes, Action::Add)[&0]).into_bytes(),
            };
            let at = damage.index(bytes.len());
            bytes[at] = with;
            for bytes in [text.as_bytes(), &bytes] {
                let files = [Input { name: "ocs-0", bytes }, Input { name: "ocs-1", bytes }];
                let _ = installed(format.name, &files, &scenario, &params);
            }
        }
    }
}
