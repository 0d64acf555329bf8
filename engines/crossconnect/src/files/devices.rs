//! Devices of the switches of a scenario, and the numbers of their ports.
//!
//! A switch with N_A and N_B duplex ports per side has T = N_A + N_B duplex ports in total; A port a is duplex port a,
//! B port b is N_A + b.
//!
//! | wiring | devices of a switch | connections (ingress, egress) of circuit (a, b), counted from 1 |
//! |---|---|---|
//! | `two_sided` | one, T × T | (a, N_A + b) and (N_A + b, a) |
//! | `cross_wired` | two, N_A × N_B and N_B × N_A | (a, b) on the first, (b, a) on the second |
//! | `single_sided` | one, T × T | (a, b) and (b, a) |
//! | bidirectional | one | (a, b), or (a, N_A + b) if both sides share one series of numbers |
//!
//! If ingress and egress ports share one series of numbers, the numbers of egress ports follow those of ingress ports.
//!
//! If a panel has its own port numbers, a port has its panel number both as ingress and as egress port. If ingress and
//! egress ports share one series and each of the T ports is both, the egress number is the panel number plus T.

pub(crate) mod naming;
pub mod template;

use crate::scenario::{CrossconnectScenario, Side, Stray, StrayEnd, Wiring};
use lightbay_core::problem::Problem;

/// A circuit, given by the panel numbers of its ports, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ends {
    /// Number of the A port.
    pub a: u32,
    /// Number of the B port, or of the second A port if the wiring is `single_sided`.
    pub b: u32,
}

/// A connection of a device, given by the device's own port numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane {
    /// Number of the ingress port.
    pub ingress: u64,
    /// Number of the egress port.
    pub egress: u64,
}

/// Numbering of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Number of the first ingress port.
    pub ingress_base: u64,
    /// Number of the first egress port. Default: the number after the last ingress port, or `ingress_base` if ingress
    /// and egress ports are numbered separately.
    pub egress_base: Option<u64>,
    /// `true` if ingress and egress ports share one series of numbers.
    pub one_series: bool,
    /// `true` if one connection carries both directions.
    pub bidirectional: bool,
}

/// A device: a switch, or one switch of a simplex pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Number of the device: the number of the switch, or 2k and 2k + 1 for switch k if the wiring is `cross_wired`.
    pub id: u32,
    /// The switch.
    pub ocs: u32,
    layout: Layout,
    a_ports: u64,
    ingress: Series,
    egress: Series,
    /// Side of every port of a panel that has its own port numbers; `None` for ports that belong to no pod.
    panel: Option<Vec<Option<Side>>>,
}

/// Connections that make a circuit on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Two connections, A to B and back.
    Duplex,
    /// One connection, A to B.
    Forward,
    /// One connection, B to A.
    Backward,
    /// Two connections between any two ports.
    Any,
    /// One bidirectional connection from side to side.
    BothWays,
    /// One bidirectional connection between any two ports.
    AnyBothWays,
}

/// Consecutive numbers of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Series {
    first: u64,
    count: u64,
}

impl Series {
    /// Returns the position of a number in the series, counted from 0; `None` if the number is not in the series.
    fn position(self, number: u64) -> Option<u64> {
        number.checked_sub(self.first).filter(|&position| position < self.count)
    }

    const fn number(self, position: u64) -> u64 {
        self.first + position
    }

    const fn meets(self, other: Self) -> bool {
        self.first < other.first + other.count && other.first < self.first + self.count
    }

    fn shown(self) -> String {
        match self.count {
            0 => "none".to_owned(),
            count => format!("{} to {}", self.first, self.first + count - 1),
        }
    }
}

/// Direction of a connection of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    /// The connection leads from the A port to the B port.
    Out,
    /// The connection leads from the B port to the A port.
    Back,
    /// The connection carries both directions.
    Both,
}

/// A connection, given by the ports that it joins: side, and panel number from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joint {
    /// Port at which light enters the switch.
    pub from: (Side, u32),
    /// Port at which light leaves the switch.
    pub to: (Side, u32),
    /// The circuit of which the connection may be one direction; `None` if the connection joins a port to itself, or
    /// two ports of the same side of a switch with sides.
    pub circuit: Option<(Ends, Way)>,
}

/// Returns the number of ports of all pods on one side of a switch.
pub fn side_ports(scenario: &CrossconnectScenario, side: Side, ocs: u32) -> u64 {
    (0..scenario.pods as usize).map(|pod| u64::from(scenario.ports(side, pod, ocs as usize))).sum()
}

/// Returns the number of a port on the panel of a switch, from 1; 0 if the panel does not list the port.
pub fn panel_number(scenario: &CrossconnectScenario, ocs: u32, end: StrayEnd) -> u32 {
    if let Some(panel) = scenario.panel(ocs) {
        let wanted = Some((end.side, end.pod, end.port_index));
        return panel.ports.iter().find(|port| port.end() == wanted).map_or(0, |port| port.number);
    }
    let before = (0..end.pod as usize).map(|pod| scenario.ports(end.side, pod, ocs as usize));
    1 + before.sum::<u32>() + end.port_index
}

/// Returns the devices of all switches.
///
/// # Errors
/// Numbers that contradict the wiring or each other.
pub fn devices(scenario: &CrossconnectScenario, numbers: &Numbers) -> Result<Vec<Device>, Problem> {
    let mut devices = Vec::new();
    for ocs in 0..scenario.ocs_count {
        let ports = |side| side_ports(scenario, side, ocs);
        let (a, b) = (ports(Side::A), ports(Side::B));
        let boxes = match (scenario.wiring, numbers.bidirectional) {
            (Wiring::TwoSided, false) => vec![(ocs, Layout::Duplex, a + b, a + b)],
            (Wiring::TwoSided, true) => vec![(ocs, Layout::BothWays, a, b)],
            (Wiring::SingleSided, false) => vec![(ocs, Layout::Any, a, a)],
            (Wiring::SingleSided, true) => vec![(ocs, Layout::AnyBothWays, a, a)],
            (Wiring::CrossWired, false) => {
                vec![(2 * ocs, Layout::Forward, a, b), (2 * ocs + 1, Layout::Backward, b, a)]
            }
            (Wiring::CrossWired, true) => {
                return Err(Problem::new(
                    "bidirectional",
                    "is true, but the switches are wired crosswise in simplex pairs",
                    "leave it out",
                ));
            }
        };
        for (id, layout, ingress_ports, egress_ports) in boxes {
            let panel = scenario.panel(ocs).map(|panel| {
                let ports = panel.ports.iter();
                ports.map(|port| port.end().map(|(side, ..)| side)).collect::<Vec<_>>()
            });
            let counts = panel
                .as_ref()
                .map_or((ingress_ports, egress_ports), |panel| (panel.len() as u64, panel.len() as u64));
            devices.push(Device {
                panel,
                ..device((id, ocs), layout, a, counts, (numbers, scenario.panel(ocs).is_some()))?
            });
        }
    }
    Ok(devices)
}

fn device(
    (id, ocs): (u32, u32),
    layout: Layout,
    a_ports: u64,
    (ingress_ports, egress_ports): (u64, u64),
    (numbers, own): (&Numbers, bool),
) -> Result<Device, Problem> {
    let ingress = Series { first: numbers.ingress_base, count: ingress_ports };
    // If each port is either an ingress or an egress port, a panel has one number per port and no second series.
    let two_ways = matches!(layout, Layout::Duplex | Layout::Any);
    let same_ports = numbers.one_series && (layout == Layout::AnyBothWays || (own && !two_ways));
    let first = match numbers.egress_base {
        Some(_) if same_ports => {
            return Err(Problem::new(
                "egress_base",
                "is given, but every port of the switch has a single number for both directions",
                "give 'ingress_base' alone",
            ));
        }
        Some(first) => first,
        None if numbers.one_series && !same_ports => ingress.first + ingress.count,
        None => ingress.first,
    };
    let egress = Series { first, count: egress_ports };
    if numbers.one_series && !same_ports && ingress.meets(egress) {
        return Err(Problem::new(
            "egress_base",
            format!("is {first}, but the ingress ports of switch {id} have the numbers {}", ingress.shown()),
            format!("give {} or more, or leave it out", ingress.first + ingress.count),
        ));
    }
    Ok(Device { id, ocs, layout, a_ports, ingress, egress, panel: None })
}

impl Device {
    /// Returns `true` if the device has any port.
    pub const fn has_ports(&self) -> bool {
        self.ingress.count > 0 || self.egress.count > 0
    }

    /// Returns the number of the first egress port if it follows the last port of a panel: a panel that lists fewer
    /// ports than the switch has then gives wrong numbers.
    pub const fn egress_after_panel(&self) -> Option<u64> {
        let (ingress, egress) = (self.ingress, self.egress);
        if self.panel.is_some() && egress.first == ingress.first + ingress.count {
            Some(egress.first)
        } else {
            None
        }
    }

    /// Returns `true` if one connection carries both directions.
    pub const fn is_bidirectional(&self) -> bool {
        matches!(self.layout, Layout::BothWays | Layout::AnyBothWays)
    }

    /// Returns the position of a port, given by its side and number, among the ingress or egress ports of the device.
    const fn position(&self, side: Side, number: u32) -> u64 {
        let at = (if number == 0 { 0 } else { number - 1 }) as u64;
        let behind = self.panel.is_none() && matches!((self.layout, side), (Layout::Duplex, Side::B));
        if behind { self.a_ports + at } else { at }
    }

    /// Returns the numbers of a port as ingress and as egress port; `None` for a direction that the port does not have.
    /// The port is given by its side and its panel number, from 1.
    pub const fn numbers_of(&self, side: Side, panel: u32) -> (Option<u64>, Option<u64>) {
        let at = self.position(side, panel);
        let (ingress, egress) = (self.ingress, self.egress);
        let is_a = matches!(side, Side::A);
        match self.layout {
            Layout::Duplex | Layout::Any | Layout::AnyBothWays => {
                (Some(ingress.number(at)), Some(egress.number(at)))
            }
            Layout::Forward | Layout::BothWays if is_a => (Some(ingress.number(at)), None),
            Layout::Forward | Layout::BothWays => (None, Some(egress.number(at))),
            Layout::Backward if is_a => (None, Some(egress.number(at))),
            Layout::Backward => (Some(ingress.number(at)), None),
        }
    }

    /// Returns the connections of a circuit on this device.
    pub fn lanes(&self, ends: Ends) -> impl Iterator<Item = Lane> + use<> {
        let (a, b) = (self.position(Side::A, ends.a), self.position(Side::B, ends.b));
        let (ingress, egress) = (self.ingress, self.egress);
        let lane = move |from, to| Some(Lane { ingress: ingress.number(from), egress: egress.number(to) });
        let lanes = match self.layout {
            Layout::Duplex | Layout::Any => [lane(a, b), lane(b, a)],
            Layout::Backward => [lane(b, a), None],
            Layout::Forward | Layout::BothWays | Layout::AnyBothWays => [lane(a, b), None],
        };
        lanes.into_iter().flatten()
    }

    /// Returns a stray connection in the port numbers of this device: one connection, or two if each direction needs a
    /// connection of its own; none if the ports of the stray connection belong to another device.
    pub fn stray_lanes(&self, scenario: &CrossconnectScenario, stray: &Stray) -> Vec<Lane> {
        let port = |end: StrayEnd| (end.side, panel_number(scenario, self.ocs, end));
        let (from, to) = (port(stray.from), port(stray.to));
        let lane = |from: (Side, u32), to: (Side, u32)| {
            let (ingress, egress) = (self.numbers_of(from.0, from.1).0?, self.numbers_of(to.0, to.1).1?);
            Some(Lane { ingress, egress })
        };
        let mut lanes: Vec<Lane> = lane(from, to).into_iter().collect();
        if self.is_bidirectional() {
            // If only one side has ingress ports, that end identifies the connection.
            lanes.extend(lane(to, from).filter(|_| lanes.is_empty()));
        } else if stray.both_ways && from != to {
            lanes.extend(lane(to, from));
        }
        lanes
    }

    /// Returns the ports that a connection joins, and the circuit of which it may be one direction.
    ///
    /// # Errors
    /// The problem of the connection, as a phrase such as "names ingress port 9, which does not exist", and the valid
    /// range or form.
    pub fn joint(&self, lane: Lane) -> Result<Joint, (String, String)> {
        let (mut from, mut to) = (self.ingress.position(lane.ingress), self.egress.position(lane.egress));
        // A bidirectional connection may be listed from either end.
        if self.layout == Layout::BothWays && from.is_none() && to.is_none() {
            (from, to) = (self.ingress.position(lane.egress), self.egress.position(lane.ingress));
        }
        let Some(from) = from else {
            return Err((
                format!("names ingress port {}, which does not exist", lane.ingress),
                format!("ingress ports of switch {} are {}", self.id, self.ingress.shown()),
            ));
        };
        let Some(to) = to else {
            return Err((
                format!("names egress port {}, which does not exist", lane.egress),
                format!("egress ports of switch {} are {}", self.id, self.egress.shown()),
            ));
        };
        let of = |side: Side, position: u64| (side, position as u32 + 1);
        if let Some(panel) = &self.panel {
            return self.joint_on_panel(panel, lane, [from, to]);
        }
        let duplex = |position: u64| match position.checked_sub(self.a_ports) {
            Some(position) => of(Side::B, position),
            None => of(Side::A, position),
        };
        let (from, to) = match self.layout {
            Layout::Duplex => (duplex(from), duplex(to)),
            Layout::Any | Layout::AnyBothWays => (of(Side::A, from), of(Side::A, to)),
            Layout::Forward | Layout::BothWays => (of(Side::A, from), of(Side::B, to)),
            Layout::Backward => (of(Side::B, from), of(Side::A, to)),
        };
        Ok(self.joined(from, to))
    }

    /// Does the same as [`Self::joint`] for a panel that has its own port numbers.
    fn joint_on_panel(
        &self,
        panel: &[Option<Side>],
        lane: Lane,
        ends: [u64; 2],
    ) -> Result<Joint, (String, String)> {
        let [from, to] = ends.map(|position| {
            let side = panel.get(position as usize).copied().flatten();
            side.map(|side| (side, position as u32 + 1)).ok_or(position + 1)
        });
        let (from, to) = match (from, to) {
            (Ok(from), Ok(to)) => (from, to),
            (Err(number), _) | (_, Err(number)) => {
                return Err((
                    format!(
                        "joins {} and {}, but port {number} belongs to no pod",
                        lane.ingress, lane.egress
                    ),
                    "remove the connection on the switch, or assign the port to a pod in the port map"
                        .to_owned(),
                ));
            }
        };
        let wanted = match self.layout {
            Layout::Forward | Layout::BothWays => Some((Side::A, Side::B)),
            Layout::Backward => Some((Side::B, Side::A)),
            Layout::Duplex | Layout::Any | Layout::AnyBothWays => None,
        };
        // A bidirectional connection may be listed from either end.
        let (from, to) =
            if self.layout == Layout::BothWays && from.0 == Side::B { (to, from) } else { (from, to) };
        if let Some((first, second)) = wanted.filter(|&sides| sides != (from.0, to.0)) {
            let word = |side: Side| side.word().to_uppercase();
            return Err((
                format!("joins {} and {}, which are ports of the wrong sides", lane.ingress, lane.egress),
                format!(
                    "switch {} joins ports of side {} to ports of side {}",
                    self.id,
                    word(first),
                    word(second)
                ),
            ));
        }
        Ok(self.joined(from, to))
    }

    /// Returns `true` if neither end of a connection is a port of a pod.
    pub fn is_foreign(&self, lane: Lane) -> bool {
        let foreign = |series: Series, number| {
            let at = series.position(number);
            let side = at.zip(self.panel.as_ref()).and_then(|(at, panel)| panel.get(at as usize));
            side.is_some_and(Option::is_none)
        };
        foreign(self.ingress, lane.ingress) && foreign(self.egress, lane.egress)
    }

    /// Returns `true` if a bidirectional connection between two sides is listed from side B; commands name it from side
    /// A.
    pub fn is_listed_from_b(&self, lane: Lane) -> bool {
        let is_b = |position: u64| {
            let panel = self.panel.as_ref().and_then(|panel| panel.get(position as usize));
            panel.copied().flatten() == Some(Side::B)
        };
        let first = self.ingress.position(lane.ingress);
        self.layout == Layout::BothWays && first.is_none_or(is_b)
    }

    /// Returns the number of the first egress port, if egress ports have numbers of their own.
    pub fn first_egress(&self) -> Option<u64> {
        let is_apart = self.layout != Layout::AnyBothWays || self.egress != self.ingress;
        (self.egress.count > 0 && is_apart).then_some(self.egress.first)
    }

    fn joined(&self, from: (Side, u32), to: (Side, u32)) -> Joint {
        let no_sides = matches!(self.layout, Layout::Any | Layout::AnyBothWays);
        // Switches name a connection from one end, so the circuit keeps the order of its ends.
        let keeps_order = self.layout == Layout::AnyBothWays;
        let way = |way| if self.is_bidirectional() { Way::Both } else { way };
        let circuit = if from == to || (from.0 == to.0 && !no_sides) {
            None
        } else if keeps_order || from < to {
            Some((Ends { a: from.1, b: to.1 }, way(Way::Out)))
        } else {
            Some((Ends { a: to.1, b: from.1 }, way(Way::Back)))
        };
        Joint { from, to, circuit }
    }
}

#[cfg(test)]
mod tests;
