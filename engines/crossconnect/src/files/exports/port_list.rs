//! The list of ports that accompanies the files of a format: every port of every device by pod, side and index, with
//! its number on its side of the switch and its name in the commands of the format. People use this list when they
//! connect cables.

use crate::files::devices::naming::Naming;
use crate::files::devices::template::Role;
use crate::files::devices::{Device, side_ports};
use crate::plan::Entry;
use crate::scenario::{CrossconnectScenario, Panel, Side, Wiring};
use lightbay_core::problem::printable;
use lightbay_formats::csv::CsvTable;
use lightbay_formats::graph::Value;

/// Ending of the name of the list.
pub const ENDING: &str = ".ports.csv";

/// The columns. `panel` is the panel number of the port; without a panel, the ports on each side of the switch are
/// numbered from 1 in order of the pods. `ingress` and `egress` are the names of the port in commands; `ingress` is
/// empty if light cannot enter at the port, `egress` if light cannot leave there. The last columns are the names of
/// switch and port and the text on the panel.
pub const COLUMNS: [&str; 12] = [
    "switch",
    "ocs_id",
    "pod",
    "pod_name",
    "side",
    "index",
    "panel",
    "ingress",
    "egress",
    "switch_name",
    "pod_port",
    "label",
];

/// Returns the list of the ports of some devices.
pub(super) fn text(scenario: &CrossconnectScenario, devices: &[Device], naming: &Naming) -> String {
    let mut table = CsvTable::new(COLUMNS);
    for device in devices.iter().filter(|device| device.has_ports()) {
        let own = scenario.own_numbers(device.ocs);
        let listed = |number: u32| scenario.panel(device.ocs)?.ports.get(number as usize - 1);
        let text = |text: Option<&String>| Value::from(text.map_or("", String::as_str));
        for (letter, side) in Side::ALL {
            let mut panel = 0;
            for pod in 0..scenario.pods {
                for index in 0..scenario.ports(side, pod as usize, device.ocs as usize) {
                    panel = match &own {
                        Some(own) => own.get(&(side, pod, index)).copied().unwrap_or(1),
                        None => panel + 1,
                    };
                    let port = own.as_ref().and_then(|_| listed(panel));
                    let (ingress, egress) = device.numbers_of(side, panel);
                    let name = |role, number: Option<u64>| {
                        Value::from(
                            number
                                .map_or_else(String::new, |number| naming.template.name(role, number))
                                .as_str(),
                        )
                    };
                    table.row([
                        Value::Int(device.id.into()),
                        Value::Int(device.ocs.into()),
                        Value::Int(pod.into()),
                        Value::from(scenario.pod_name(pod as usize).as_str()),
                        Value::from(letter),
                        Value::Int(index.into()),
                        Value::Int(panel.into()),
                        name(Role::Ingress, ingress),
                        name(Role::Egress, egress),
                        Value::from(scenario.ocs_name(device.ocs).as_str()),
                        text(port.and_then(|port| port.pod_port.as_ref())),
                        text(port.and_then(|port| port.label.as_ref())),
                    ]);
                }
            }
        }
    }
    table.into_text()
}

/// Returns a text that names a circuit in the comment on a command: `A 1.0 (r0p1, port 2 of side A) to B 3.0 (r0p3,
/// port 4 of side B)`, or, if the panel has its own port numbers, `port 2 (leaf-a Ethernet0) to port 5 (leaf-b
/// Ethernet8)`.
pub(super) fn label(scenario: &CrossconnectScenario, ocs: u32, entry: &Entry) -> String {
    ends(scenario, ocs, entry).join(" to ")
}

/// Returns both ends of a circuit, as in [`label`].
pub(super) fn ends(scenario: &CrossconnectScenario, ocs: u32, entry: &Entry) -> [String; 2] {
    let far = if scenario.wiring == Wiring::SingleSided { 'A' } else { 'B' };
    let end = |side: char, pod: u32, index: u32, number: u32| {
        if let Some(panel) = scenario.panel(ocs) {
            return port_on_panel(scenario, panel, pod, number);
        }
        let name: String =
            printable(&scenario.pod_name(pod as usize)).replace("--", "- -").chars().take(40).collect();
        format!("{side} {pod}.{index} ({name}, port {number} of side {side})")
    };
    [
        end('A', entry.pod_a, entry.port_a_index, entry.switch_port_a),
        end(far, entry.pod_b, entry.port_b_index, entry.switch_port_b),
    ]
}

/// Returns a text with a port's number on the panel, its pod, name and label, safe for a comment.
pub(super) fn port_on_panel(scenario: &CrossconnectScenario, panel: &Panel, pod: u32, number: u32) -> String {
    let port = (number as usize).checked_sub(1).and_then(|at| panel.ports.get(at));
    let name = port.and_then(|port| port.pod_port.as_deref()).map(|name| format!(" {name}"));
    let label = port.and_then(|port| port.label.as_deref()).map(|label| format!(", {label}"));
    let text = format!(
        "{}{}{}",
        scenario.pod_name(pod as usize),
        name.unwrap_or_default(),
        label.unwrap_or_default()
    );
    let text: String = printable(&text).replace("--", "- -").chars().take(80).collect();
    format!("port {number} ({text})")
}

/// First and last name of a series of ports.
pub type Names = (String, String);

/// Default names of the ports of a switch in the commands of a vendor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Name of the vendor.
    pub vendor: &'static str,
    /// Names of the A ports as ingress and as egress ports; `None` if the ports cannot be that end of a connection.
    pub a: [Option<Names>; 2],
    /// Names of the B ports as ingress and as egress ports; both `None` if the wiring is `single_sided`.
    pub b: [Option<Names>; 2],
}

/// Returns the names of the ports of a switch in the vendors' commands (of the first device, if the switch is a pair).
pub fn called(scenario: &CrossconnectScenario, ocs: u32) -> Vec<Called> {
    const SHOWN: [(&str, &str); 4] = [
        ("Polatis", super::polatis_tl1::NAME),
        ("Calient", super::calient_tl1::NAME),
        ("OCP", super::ocp_ocs::NAME),
        ("SONiC", super::sonic_ocs::NAME),
    ];
    let of = |(vendor, format): (&'static str, &str)| {
        let naming = super::usual_naming(format)?;
        let devices = crate::files::devices::devices(scenario, &naming.numbers).ok()?;
        let device = devices.iter().find(|device| device.ocs == ocs)?;
        let names = |side: Side| -> [Option<Names>; 2] {
            let last = u32::try_from(side_ports(scenario, side, ocs)).unwrap_or(u32::MAX);
            if last == 0 {
                return [None, None];
            }
            let whole = scenario.panel(ocs).map(|panel| panel.ports.len() as u32);
            let last = whole.unwrap_or(last);
            let (first, last) = (device.numbers_of(side, 1), device.numbers_of(side, last));
            let series = |role, first: Option<u64>, last: Option<u64>| {
                let name = |number| naming.template.name(role, number);
                first.zip(last).map(|(first, last)| (name(first), name(last)))
            };
            [series(Role::Ingress, first.0, last.0), series(Role::Egress, first.1, last.1)]
        };
        Some(Called { vendor, a: names(Side::A), b: names(Side::B) })
    };
    SHOWN.into_iter().filter_map(of).collect()
}
