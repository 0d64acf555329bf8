//! Panels of switches with their own port numbers: a name for every switch, and the wiring of each of its ports.

use super::{CrossconnectScenario, MAX_PODS, MAX_PORTS, Side, Wiring};
use lightbay_core::format::file_stem;
use lightbay_core::problem::Problems;
use lightbay_core::record;
use lightbay_core::record::{any, within};
use std::collections::{HashMap, HashSet};

/// Maximum number of ports of a panel.
const MAX_PANEL: i64 = MAX_PODS as i64 * MAX_PORTS as i64;
/// Maximum length of the name of a switch, a port or a label, in characters.
const LONGEST: usize = 120;

record! {
    /// The panel of one switch.
    #[derive(Eq)]
    pub struct Panel {
        /// Name of the switch.
        pub name: String = any(),
        /// Ports of the panel in order of their numbers, 1, 2, …, including spare and reserved ports.
        pub ports: Vec<PanelPort> = any(),
    }
}

record! {
    /// A port of a panel. A port without a pod is spare.
    #[derive(Eq)]
    pub struct PanelPort {
        /// Number on the panel.
        pub number: u32 = within(1..=MAX_PANEL),
        /// The pod that is wired to the port.
        pub pod: Option<u32> = within(0..=MAX_PODS as i64 - 1),
        /// Side of the port; A if the wiring is `single_sided`.
        pub side: Option<Side> = any(),
        /// Index within pod, switch and side, from 0; none for a port that plans do not use.
        pub port_index: Option<u32> = within(0..=i64::from(MAX_PORTS) - 1),
        /// Name of the port at the pod.
        pub pod_port: Option<String> = any(),
        /// Text on the panel.
        pub label: Option<String> = any(),
        /// `true` if the port is reserved for other purposes.
        pub reserved: bool = any().or(false).omitted(),
    }
}

/// A port that plans can use: side, pod and index.
pub type End = (Side, u32, u32);

impl PanelPort {
    /// Returns the port as plans name it; `None` for a spare or reserved port.
    pub fn end(&self) -> Option<End> {
        Some((self.side.unwrap_or(Side::A), self.pod?, self.port_index?))
    }
}

/// Checks a name that is used in tables, file names and lists; returns the problem, or `None` if the name is valid.
pub(crate) fn wrong_name(name: &str) -> Option<String> {
    let sign = name.chars().find(|c| c.is_control() || matches!(c, ',' | ':' | ';' | '"' | '/' | '\\'));
    if let Some(sign) = sign {
        return Some(format!("has the character {sign:?}"));
    }
    if name.trim() != name || name.is_empty() {
        return Some("is empty, or begins or ends with a space".to_owned());
    }
    (name.chars().count() > LONGEST).then(|| format!("is longer than {LONGEST} characters"))
}

/// Returns the number in `3` or `pod 3`.
fn number_of_pod(text: &str) -> Option<u32> {
    text.strip_prefix("pod ").unwrap_or(text).parse().ok()
}

/// Remedy for a name that is not valid.
pub(crate) const NAME_REMEDY: &str = "give a name without control characters and without , : ; \" / and \\";

impl CrossconnectScenario {
    /// Returns the panel of a switch; `None` if ports are numbered in order of the pods.
    pub fn panel(&self, ocs: u32) -> Option<&Panel> {
        self.panels.get(ocs as usize)
    }

    /// Returns the numbers of the ports on the panel of a switch; `None` if ports are numbered in order of the pods.
    pub fn own_numbers(&self, ocs: u32) -> Option<HashMap<End, u32>> {
        let ports = self.panel(ocs)?.ports.iter();
        Some(ports.filter_map(|port| Some((port.end()?, port.number))).collect())
    }

    /// Returns the name of a switch, for messages and reports.
    pub fn ocs_name(&self, ocs: u32) -> String {
        self.panel(ocs).map_or_else(|| format!("OCS {ocs}"), |panel| panel.name.clone())
    }

    /// Returns the number of a switch, given its name, or the number as text; `None` if the switch does not exist, or
    /// if the text is a number and switches have names only ([`Self::switches_have_numbers`]).
    pub fn ocs_named(&self, text: &str) -> Option<u32> {
        let by_name = self.panels.iter().position(|panel| panel.name == text).map(|at| at as u32);
        by_name.or_else(|| self.ocs_numbered(text).filter(|&ocs| ocs < self.ocs_count))
    }

    /// Returns the number of a pod, given its name, or the number as text; `None` if the pod does not exist, or if the
    /// text is a number and pods have names only ([`Self::pods_have_numbers`]).
    pub fn pod_named(&self, text: &str) -> Option<u32> {
        let by_name = self.pod_names.iter().flatten().position(|name| name == text).map(|at| at as u32);
        by_name.or_else(|| self.pod_numbered(text).filter(|&pod| pod < self.pods))
    }

    /// Parses the number of a switch, which may not exist; `None` if switches have names only.
    pub(super) fn ocs_numbered(&self, text: &str) -> Option<u32> {
        text.parse().ok().filter(|_| self.switches_have_numbers())
    }

    /// Parses the number of a pod, which may not exist; `None` if pods have names only.
    pub(super) fn pod_numbered(&self, text: &str) -> Option<u32> {
        number_of_pod(text).filter(|_| self.pods_have_numbers())
    }

    /// Returns `true` if texts may give switches by number, from 0. If the name of a switch is the number of another
    /// switch, texts give the names, because a number would be ambiguous.
    pub fn switches_have_numbers(&self) -> bool {
        let number = |panel: &Panel| panel.name.parse::<u32>().ok();
        (0u32..).zip(&self.panels).all(|(ocs, panel)| number(panel).is_none_or(|number| number == ocs))
    }

    /// Returns `true` if texts may give pods by number, from 0, as [`Self::switches_have_numbers`] for switches.
    pub fn pods_have_numbers(&self) -> bool {
        let names = self.pod_names.iter().flatten();
        (0u32..).zip(names).all(|(pod, name)| number_of_pod(name).is_none_or(|number| number == pod))
    }

    /// Returns a switch as the text of a parameter, which [`Self::ocs_named`] reads: its number, or its name if switches
    /// have names only.
    pub(super) fn ocs_text(&self, ocs: u32) -> String {
        if self.switches_have_numbers() { ocs.to_string() } else { self.ocs_name(ocs) }
    }

    /// Returns a pod as the text of a parameter, which [`Self::pod_named`] reads, like [`Self::ocs_text`].
    pub(super) fn pod_text(&self, pod: u32) -> String {
        if self.pods_have_numbers() { pod.to_string() } else { self.pod_name(pod as usize) }
    }

    /// Checks panels against the ports of the pods: every port once, numbers from 1 without a gap, valid names.
    pub(super) fn validate_panels(&self, problems: &mut Problems) {
        if self.panels.is_empty() {
            return;
        }
        if self.panels.len() != self.ocs_count as usize {
            let message = format!("has {} entries, but 'ocs_count' is {}", self.panels.len(), self.ocs_count);
            problems.add("panels", message, "give one entry for each switch, or none");
            return;
        }
        let mut names = HashSet::new();
        for (ocs, panel) in self.panels.iter().enumerate() {
            let path = format!("panels[{ocs}]");
            if let Some(wrong) = wrong_name(&panel.name) {
                problems.add(format!("{path}.name"), wrong, NAME_REMEDY);
            } else if !names.insert(file_stem(&panel.name)) {
                let message =
                    format!("is '{}', which gives the same file name as another switch", panel.name);
                problems.add(format!("{path}.name"), message, "give names that differ in letters or digits");
            }
            self.validate_panel(ocs, panel, &path, problems);
        }
    }

    fn validate_panel(&self, ocs: usize, panel: &Panel, path: &str, problems: &mut Problems) {
        let single = self.wiring == Wiring::SingleSided;
        let mut seen: HashMap<End, usize> = HashMap::new();
        for (at, port) in panel.ports.iter().enumerate() {
            let path = format!("{path}.ports[{at}]");
            if port.number as usize != at + 1 {
                let message = format!("is {}", port.number);
                let remedy = format!("list every port in order, spare ones too: {} is expected here", at + 1);
                problems.add(format!("{path}.number"), message, remedy);
                return;
            }
            for (key, text) in [("pod_port", &port.pod_port), ("label", &port.label)] {
                let wrong = text
                    .as_ref()
                    .filter(|text| text.chars().any(char::is_control) || text.len() > 4 * LONGEST);
                if wrong.is_some() {
                    problems.add(
                        format!("{path}.{key}"),
                        "has control characters or is too long",
                        format!("give one line of at most {} bytes", 4 * LONGEST),
                    );
                }
            }
            if single && port.side == Some(Side::B) {
                problems.add(
                    format!("{path}.side"),
                    "is 'b', but with single_sided wiring ports have no sides",
                    "leave it out",
                );
            } else if !single && port.port_index.is_some() && port.side.is_none() {
                problems.add(format!("{path}.side"), "is missing", "give 'a' or 'b', the side of the switch");
            }
            let end = match port.end() {
                Some(_) if port.reserved => {
                    problems.add(
                        path,
                        "is reserved, but has an index",
                        "leave 'port_index' or 'reserved' out",
                    );
                    continue;
                }
                None if port.port_index.is_some() => {
                    problems.add(path, "has an index but no pod", "add 'pod', or leave 'port_index' out");
                    continue;
                }
                None => continue,
                Some(end) => end,
            };
            let (side, pod, index) = end;
            if !self.validate_port(side, pod, index, ocs, &path, problems) {
                continue;
            }
            if let Some(first) = seen.insert(end, at) {
                problems.add(
                    path,
                    format!("is the same port as ports[{first}]"),
                    "list every port of a pod once",
                );
            }
        }
        let listed = seen.len() as u64;
        let ports_of =
            |(_, side)| (0..self.pods as usize).map(move |pod| u64::from(self.ports(side, pod, ocs)));
        let ports: u64 = Side::ALL.into_iter().flat_map(ports_of).sum();
        if listed != ports && problems.is_empty() {
            let message = format!("lists only {listed} of the {ports} ports of the pods on this switch");
            problems.add(path, message, "list every port that 'ports_a' and 'ports_b' count");
        }
    }
}
