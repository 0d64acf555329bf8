//! Numbers and names of the ports of the switches, format by format.

use super::template::{Role, Template};
use super::{Device, Numbers};
use crate::files::exports::{
    calient_tl1, glimmerglass_tl1, ocp_ocs, polatis_netconf, polatis_restconf, polatis_tl1, sonic_ocs,
};
use crate::scenario::CrossconnectScenario;
use lightbay_core::param::{ParamInfo, ParamValue, Params};
use lightbay_core::problem::Problem;

/// Numbering and naming of the ports in a format; the parameters and the import use it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    /// `true` if ingress and egress ports share one series of numbers.
    one_series: bool,
    /// `true` if ingress and egress ports share one series of numbers on devices on which one connection carries both
    /// directions; `one_series` applies to all other devices.
    one_series_both_ways: bool,
    /// Template of port names, if names are more than numbers.
    template: Option<&'static str>,
    /// Smallest allowed number of the first port.
    least: i64,
}

const PORTS: [(&str, Ports); 7] = [
    (polatis_tl1::NAME, plain(1)),
    (calient_tl1::NAME, Ports { one_series: false, template: Some("1.{slot}.{port}"), ..plain(1) }),
    (glimmerglass_tl1::NAME, Ports { one_series: false, one_series_both_ways: false, ..plain(1) }),
    (polatis_restconf::NAME, plain(1)),
    (polatis_netconf::NAME, plain(1)),
    (ocp_ocs::NAME, Ports { template: Some("port-{n}"), ..plain(0) }),
    (
        sonic_ocs::NAME,
        Ports { one_series: false, one_series_both_ways: false, template: Some("{n}{side}"), ..plain(0) },
    ),
];

const fn plain(least: i64) -> Ports {
    Ports { one_series: true, one_series_both_ways: true, template: None, least }
}

/// Returns the numbering of a format; `None` for formats without ports.
pub(crate) fn ports_of(format: &str) -> Option<Ports> {
    PORTS.iter().find(|(name, _)| *name == format).map(|(_, ports)| *ports)
}

/// Default number of ports per slot.
pub(crate) const USUAL_PORTS_PER_SLOT: i64 = 8;

/// Largest allowed number of the first port.
const MOST: i64 = 1_000_000;

/// Returns the parameters for the numbers of ports, which exports and imports share.
pub(crate) fn port_knobs(ports: &Ports) -> Vec<ParamInfo> {
    let mut knobs = vec![
        ParamInfo::bool(
            "bidirectional",
            false,
            "If true, one connection of the switch carries both directions; if false, a circuit needs \
             two connections.",
        ),
        ParamInfo::int("ingress_base", ports.least, MOST, 1, "Number of the first ingress port."),
        ParamInfo::int(
            "egress_base",
            ports.least,
            MOST,
            1,
            if ports.one_series {
                "Number of the first egress port. Default: the number after the last ingress port."
            } else {
                "Number of the first egress port. Default: the number of the first ingress port."
            },
        )
        .derived(),
    ];
    if let Some(template) = ports.template {
        knobs.push(text_knob(
            "port_template",
            template,
            "Template for names of ports: text with {n}, or with {slot} and {port}, and optionally \
             {side} (A or B).",
        ));
        let per_slot = ParamInfo::int(
            "ports_per_slot",
            1,
            MOST,
            USUAL_PORTS_PER_SLOT,
            "Number of ports per slot, for names with {slot}. Default: 8.",
        );
        knobs.push(per_slot.derived());
    }
    knobs
}

/// Returns a text parameter with a default.
pub(crate) fn text_knob(name: &'static str, default: &str, help: &'static str) -> ParamInfo {
    ParamInfo { default: Some(ParamValue::Text(default.to_owned())), ..ParamInfo::text(name, help) }
}

/// Settings that all formats with ports share.
#[derive(Clone, Debug)]
pub(crate) struct Naming {
    pub numbers: Numbers,
    pub template: Template,
}

/// Returns the settings of a format's ports that the parameters choose.
pub(crate) fn naming(ports: &Ports, params: &Params) -> Result<Naming, Problem> {
    let bidirectional = params.bool("bidirectional");
    let per_slot = params.int("ports_per_slot");
    let template = match ports.template {
        Some(usual) => {
            let count = u64::try_from(per_slot.unwrap_or(USUAL_PORTS_PER_SLOT)).unwrap_or(1);
            Template::new(params.text("port_template").unwrap_or(usual), count)?
        }
        None => Template::new("{n}", 1)?,
    };
    if let Some(count) = per_slot.filter(|_| !template.has_slots()) {
        return Err(Problem::new(
            "ports_per_slot",
            format!("is {count}, but there is no {{slot}} in the names of ports"),
            "give a port_template with {slot} and {port}, or leave ports_per_slot out",
        ));
    }
    let number = |name: &str| params.int(name).and_then(|number| u64::try_from(number).ok());
    let one_series = if bidirectional { ports.one_series_both_ways } else { ports.one_series };
    let numbers = Numbers {
        ingress_base: number("ingress_base").unwrap_or(1),
        egress_base: number("egress_base"),
        one_series: one_series && !template.tells_sides(),
        bidirectional,
    };
    if template.has_slots() && (numbers.ingress_base == 0 || numbers.egress_base == Some(0)) {
        let zero = if numbers.ingress_base == 0 { "ingress_base" } else { "egress_base" };
        return Err(Problem::new(zero, "is 0, but slots and ports count from 1", "give 1 or more"));
    }
    Ok(Naming { numbers, template })
}

/// Checks that the labels of a panel that have the form of port names are the names of their ports.
///
/// # Errors
/// A label that names another port: commands and replies would then mean the wrong port.
pub(crate) fn labels_agree(
    scenario: &CrossconnectScenario,
    devices: &[Device],
    naming: &Naming,
) -> Result<(), Problem> {
    if naming.template.is_bare() {
        return Ok(());
    }
    for device in devices {
        for port in scenario.panel(device.ocs).into_iter().flat_map(|panel| &panel.ports) {
            let (Some((side, ..)), Some(label)) = (port.end(), &port.label) else { continue };
            let (role, number) = match device.numbers_of(side, port.number) {
                (Some(number), _) => (Role::Ingress, number),
                (None, Some(number)) => (Role::Egress, number),
                (None, None) => continue,
            };
            if naming.template.number(role, label).is_some_and(|labelled| labelled != number) {
                let switch = scenario.ocs_name(device.ocs);
                return Err(Problem::new(
                    "port_template",
                    format!(
                        "names port {} of {switch} {}, but its label is {label}",
                        port.number,
                        naming.template.name(role, number)
                    ),
                    "set port_template, ports_per_slot or ingress_base so that names and labels agree, or import a port \
                     map with other labels",
                ));
            }
        }
    }
    Ok(())
}
