mod commands;
mod toy;
mod yang;

use super::*;
use crate::plan::{Action, Entry};
use crate::scenario::{Panel, PanelPort, Side, Wiring};
use crate::testing::{self, Sample};
use lightbay_core::param::ParamValue;
use proptest::prelude::*;
use std::collections::BTreeMap;
use toy::{Reply, Switches};

/// Numbers of the boxes' ports and what they are called, counted by the formulas of the wiring alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbering {
    pub format: &'static str,
    pub ingress_base: u64,
    pub egress_base: Option<u64>,
    pub bidirectional: bool,
}

/// State of all boxes: connections by box, ingress name and egress name.
pub(crate) type State = BTreeMap<u32, BTreeMap<String, String>>;

/// The same where a port has one number on its panel: only a switch with a series for ingress and one for egress ports has two.
fn panel_connections(
    wiring: Wiring,
    both: bool,
    ocs: u32,
    total: u64,
    (a, b): (u64, u64),
) -> Vec<(u32, u64, u64, u64)> {
    match (wiring, both) {
        (Wiring::CrossWired, _) => vec![(2 * ocs, a, b, 0), (2 * ocs + 1, b, a, 0)],
        (_, false) => vec![(ocs, a, b, total), (ocs, b, a, total)],
        (_, true) => vec![(ocs, a, b, 0)],
    }
}

/// Gives the ports of every switch numbers of their own, in no order, with spare ones among them.
pub(crate) fn on_panels(scenario: &mut CrossconnectScenario, changes: &mut Changes) {
    for ocs in 0..scenario.ocs_count {
        let mut ports: Vec<PanelPort> = Vec::new();
        let port = |pod: Option<u32>, side: Option<Side>, port_index: Option<u32>| PanelPort {
            number: 0,
            pod,
            side,
            port_index,
            pod_port: None,
            label: None,
            reserved: false,
        };
        for (_, side) in Side::ALL {
            for pod in 0..scenario.pods {
                for index in 0..scenario.ports(side, pod as usize, ocs as usize) {
                    let side = Some(side).filter(|_| scenario.wiring != Wiring::SingleSided);
                    ports.push(port(Some(pod), side, Some(index)));
                }
            }
            ports.push(port(None, None, None));
        }
        // A step that shares no factor with the length visits every place once.
        let count = ports.len();
        let step = (2..2 * count + 2).find(|step| num_free_of(*step, count)).unwrap_or(1);
        let mut shuffled: Vec<PanelPort> =
            (0..count).map(|at| ports[(at * step + 1) % count].clone()).collect();
        for (number, port) in (1..).zip(&mut shuffled) {
            port.number = number;
        }
        scenario.panels.push(Panel { name: format!("ocs-{ocs}"), ports: shuffled });
        let own = scenario.own_numbers(ocs).unwrap();
        for entry in &mut changes.ocs[ocs as usize].cross_connects {
            let [a, b] = scenario.ends(entry.circuit());
            (entry.switch_port_a, entry.switch_port_b) = (own[&a], own[&b]);
        }
    }
    scenario.validate().unwrap();
}

fn num_free_of(step: usize, count: usize) -> bool {
    (2..=step.min(count)).all(|factor| !step.is_multiple_of(factor) || !count.is_multiple_of(factor))
}

/// Connections of one circuit, box by box, ports of a side counted from 1, with the number of ingress ports of the box.
fn connections(
    wiring: Wiring,
    both: bool,
    ocs: u32,
    (na, nb): (u64, u64),
    (a, b): (u64, u64),
) -> Vec<(u32, u64, u64, u64)> {
    let total = na + nb;
    match (wiring, both) {
        (Wiring::TwoSided, false) => vec![(ocs, a, na + b, total), (ocs, na + b, a, total)],
        (Wiring::TwoSided, true) => vec![(ocs, a, b, na)],
        (Wiring::CrossWired, _) => vec![(2 * ocs, a, b, na), (2 * ocs + 1, b, a, nb)],
        (Wiring::SingleSided, false) => vec![(ocs, a, b, na), (ocs, b, a, na)],
        (Wiring::SingleSided, true) => vec![(ocs, a, b, 0)],
    }
}

impl Numbering {
    fn name(self, number: u64, side: char) -> String {
        match self.format {
            "calient_tl1" => format!("1.{}.{}", (number - 1) / 8 + 1, (number - 1) % 8 + 1),
            "ocp_ocs" => format!("port-{number}"),
            "sonic_ocs" => format!("{number}{side}"),
            _ => number.to_string(),
        }
    }

    /// The state that entries give, those with action `gone` left out.
    pub(crate) fn state(self, scenario: &CrossconnectScenario, changes: &Changes, gone: Action) -> State {
        let one_series = match self.format {
            "sonic_ocs" | "glimmerglass_tl1" => false,
            "calient_tl1" => self.bidirectional,
            _ => true,
        };
        let mut state = State::new();
        for ocs in &changes.ocs {
            let ports = |side| -> u64 {
                (0..scenario.pods as usize)
                    .map(|pod| u64::from(scenario.ports(side, pod, ocs.ocs_id as usize)))
                    .sum()
            };
            let sides = (ports(Side::A), ports(Side::B));
            for entry in ocs.cross_connects.iter().filter(|entry| entry.action != gone) {
                let Entry { switch_port_a, switch_port_b, .. } = *entry;
                let ends = (u64::from(switch_port_a), u64::from(switch_port_b));
                let of_panel = scenario.panel(ocs.ocs_id).map(|panel| panel.ports.len() as u64);
                let found = match of_panel {
                    Some(total) => {
                        panel_connections(scenario.wiring, self.bidirectional, ocs.ocs_id, total, ends)
                    }
                    None => connections(scenario.wiring, self.bidirectional, ocs.ocs_id, sides, ends),
                };
                for (id, ingress, egress, count) in found {
                    let base =
                        self.egress_base.unwrap_or(self.ingress_base + if one_series { count } else { 0 });
                    let (from, to) = (self.ingress_base + ingress - 1, base + egress - 1);
                    state.entry(id).or_default().insert(self.name(from, 'A'), self.name(to, 'B'));
                }
            }
        }
        state
    }

    fn params(self, full: bool) -> Params {
        let known = formats().into_iter().find(|known| known.name == self.format).unwrap();
        let mut params = defaults(&known);
        params.set("full", ParamValue::Bool(full));
        params.set("bidirectional", ParamValue::Bool(self.bidirectional));
        params.set("ingress_base", ParamValue::Int(self.ingress_base as i64));
        if let Some(base) = self.egress_base {
            params.set("egress_base", ParamValue::Int(base as i64));
        }
        params
    }
}

fn defaults(format: &FormatInfo) -> Params {
    let mut params = Params::default();
    for info in &format.params {
        if let Some(default) = &info.default {
            params.set(info.name.to_string(), default.clone());
        }
    }
    params
}

fn without_empty(mut state: State) -> State {
    state.retain(|_, connections| !connections.is_empty());
    state
}

pub(crate) const WITH_PORTS: [&str; 7] = [
    "polatis_tl1",
    "calient_tl1",
    "glimmerglass_tl1",
    "polatis_restconf",
    "polatis_netconf",
    "ocp_ocs",
    "sonic_ocs",
];

/// Formats whose ingress and egress ports are numbered apart in any case.
pub(crate) const TWO_SERIES: [&str; 2] = ["sonic_ocs", "glimmerglass_tl1"];

fn is_rollback(file: &File) -> bool {
    file.name.contains("rollback")
}

/// Sends files to toy switches in the order of their names.
fn send(switches: &mut Switches, numbering: Numbering, files: &[File], back: bool) {
    let own = files.iter().filter(|file| file.beside.is_none());
    let mut files: Vec<&File> = own.filter(|file| is_rollback(file) == back).collect();
    files.sort_by(|one, other| one.name.cmp(&other.name));
    for file in files {
        let id: u32 = file.name.split("ocs-").last().unwrap().split('.').next().unwrap().parse().unwrap();
        let reply = switches.send(numbering.format, id, file.text());
        assert_eq!(reply, Ok(Reply::ReadBack), "{}\n{}", file.name, file.text());
    }
}

/// Values of the parameter `form` of SONiC.
const SONIC_FORMS: [&str; 5] = ["cli1", "cli2", "restconf", "patch", "bulk"];

fn check_commands(sample: Sample, numbering: Numbering, (full, panels): (bool, bool), form: &str) {
    let (mut scenario, mut changes) = testing::random(sample);
    if panels {
        on_panels(&mut scenario, &mut changes);
    }
    let result = testing::result(changes.clone());
    let subject = Subject { name: "it's -- a <test>\n", scenario: &scenario, result: &result, sha256: None };
    let mut params = numbering.params(full);
    params.set("form", ParamValue::Text(form.to_owned()));
    let (old, new) = (
        numbering.state(&scenario, &changes, Action::Add),
        numbering.state(&scenario, &changes, Action::Remove),
    );
    if changes.batches.is_empty() && !full {
        assert!(write(numbering.format, &subject, &params).unwrap_err().to_string().contains("full"));
        return;
    }
    let files = write(numbering.format, &subject, &params).unwrap();
    let fills = full && whole(numbering.format) == Some(Whole::Fills);
    // Failed switches get no commands, so they stay as they are.
    let failed = scenario.failed_ocs();
    let ocs_of = |id: u32| if scenario.wiring == Wiring::CrossWired { id / 2 } else { id };
    let working = |mut state: State| {
        state.retain(|id, _| !failed.contains(&ocs_of(*id)));
        state
    };
    let (old, new) = (working(old), working(new));
    let start = if fills { State::new() } else { old };
    // On a bidirectional switch any port of the one series is a port.
    let ports_are_shared = numbering.bidirectional && !TWO_SERIES.contains(&numbering.format);
    let mut switches = Switches::holding(start.clone(), ports_are_shared);
    send(&mut switches, numbering, &files, false);
    assert_eq!(without_empty(switches.state()), without_empty(new));
    send(&mut switches, numbering, &files, true);
    assert_eq!(without_empty(switches.state()), without_empty(start));
}

prop_compose! {
    pub(crate) fn any_sample()(
        wiring in prop_oneof![Just(Wiring::TwoSided), Just(Wiring::CrossWired), Just(Wiring::SingleSided)],
        pods in 2u32..6,
        ocs_count in 1u32..4,
        most_ports in 1u32..4,
        failed_ports in 0usize..3,
        batches in 1usize..4,
        seed in any::<u64>(),
    ) -> Sample {
        Sample { wiring, pods, ocs_count, most_ports, failed_ports, batches, seed }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn commands_lead_to_the_target_and_back(
        sample in any_sample(),
        bidirectional in any::<bool>(),
        ingress_base in 1u64..4,
        far_base in prop_oneof![Just(None), Just(Some(1000u64))],
        full in any::<bool>(),
        panels in any::<bool>(),
    ) {
        let bidirectional = bidirectional && sample.wiring != Wiring::CrossWired;
        for format in WITH_PORTS {
            let alike = bidirectional && sample.wiring == Wiring::SingleSided && !TWO_SERIES.contains(&format);
            let egress_base = far_base.filter(|_| !alike && !panels);
            let forms = if format == "sonic_ocs" { &SONIC_FORMS[..] } else { &[""] };
            for form in forms {
                let numbering = Numbering { format, ingress_base, egress_base, bidirectional };
                check_commands(sample, numbering, (full, panels), form);
            }
        }
    }

    #[test]
    fn tables_lead_to_the_target_and_back(sample in any_sample(), full in any::<bool>()) {
        let (scenario, changes) = testing::random(sample);
        if !changes.batches.is_empty() || full {
            let result = testing::result(changes.clone());
            let subject = Subject { name: "test", scenario: &scenario, result: &result, sha256: None };
            let mut params = Params::default();
            params.set("full", ParamValue::Bool(full));
            let files = write("csv", &subject, &params).unwrap();
            let state = |gone: Action| -> toy::Table {
                let listed = changes.ocs.iter().flat_map(|ocs| ocs.cross_connects.iter().map(move |entry| (ocs.ocs_id, entry)));
                listed
                    .filter(|(_, entry)| entry.action != gone)
                    .map(|(ocs, entry)| (ocs, testing::circuit(entry)))
                    .collect()
            };
            let (old, new) = (state(Action::Add), state(Action::Remove));
            prop_assert_eq!(toy::table(files[0].text(), old.clone()), Ok(new.clone()));
            prop_assert_eq!(toy::table(files[1].text(), new), Ok(old));
        }
    }
}
