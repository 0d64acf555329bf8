//! The parameters of a scenario, from which forms, flags and help are generated.

use super::{CrossconnectScenario, GIVEN, MAX_PORTS, Port, Side, Wiring};
use crate::scenario::presets;
use lightbay_core::param::{ParamInfo, ParamValue};
use lightbay_core::problem::{Problem, few};
use lightbay_core::record::{Knob, Knobs, Record as _};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Remedy if circuits are given port by port.
const ANEW: &str =
    "edit 'placed' and 'logical_circuits' in the file, or create the scenario with keep_ports=false";
/// Word for an empty list.
const NONE: &str = "none";
/// Remedy for a pin that cannot be read.
const PIN_REMEDY: &str = "give switch:pod.port-pod.port, such as '0:1.0-2.0', switch:port-port with the \
                          port numbers of a panel, or 'none'";
/// Maximum number of pairs of pods that the parameter for their circuits lists.
const MOST_LISTED: usize = 64;

/// The parameters of a scenario.
pub static KNOBS: LazyLock<Knobs<CrossconnectScenario>> = LazyLock::new(|| {
    let most = i64::from(MAX_PORTS);
    Knobs::new(vec![
        Knob::of("wiring", |hall: &CrossconnectScenario| Some(hall), |hall| hall).set_by(|hall, word| {
            set_wiring(hall, word);
            Ok(())
        }),
        Knob::own(
            ParamInfo::text(
                "circuits",
                "Number of target circuits for single pairs of pods, named by number or name, '0-1:4, leaf-a-leaf-b:2'; other pairs are unchanged.",
            )
            .by_entries(),
            CrossconnectScenario::listed_circuits,
            |hall, text| hall.set_circuits(&text.to_string()),
        )
        .refused_if(|hall| hall.is_placed().then_some((GIVEN.into(), ANEW))),
        Knob::own(
            ParamInfo::int_or_list(
                "ports_a",
                0,
                most,
                "Number of A ports of a pod on every switch; all ports if single_sided.",
            ),
            |hall: &CrossconnectScenario| per_pod(&hall.ports_a),
            |hall, ports| set_per_pod(&mut hall.ports_a, "ports_a", ports),
        )
        .entries(|hall, pod, ports| set_ports_of(&mut hall.ports_a, "ports_a", pod, ports)),
        Knob::own(
            ParamInfo::int_or_list("ports_b", 0, most, "Number of B ports of a pod on every switch."),
            |hall: &CrossconnectScenario| per_pod(&hall.ports_b),
            |hall, ports| set_per_pod(&mut hall.ports_b, "ports_b", ports),
        )
        .entries(|hall, pod, ports| set_ports_of(&mut hall.ports_b, "ports_b", pod, ports))
        .idle_if(|hall| {
            let why = "with single_sided wiring, where ports have no sides";
            (hall.wiring == Wiring::SingleSided).then_some((why.into(), "count all ports in `ports_a`"))
        }),
        Knob::own(
            ParamInfo::text(
                "failed_ports",
                "Failed ports as switch:pod:port, where port is a side and an index, '3:0:a1, 4:2:b0', or as switch:port with the port number of the panel, 'ocs-east:5'; 'none' for no port.",
            ),
            |hall: &CrossconnectScenario| Some(listed_ports(hall)),
            set_failed_ports,
        ),
        Knob::own(
            ParamInfo::text("failed_ocs", "Switches on which all ports have failed, by number or name: '2,5'; 'none' for no switch. Ports that failed before their switch stay failed."),
            |hall: &CrossconnectScenario| Some(listed(hall.failed_ocs().into_iter(), |ocs| hall.ocs_text(ocs))),
            |hall, text| hall.set_failed_ocs(&text.to_string()),
        ),
        Knob::own(
            ParamInfo::text(
                "pinned",
                "Installed circuits that must stay, as switch:pod.port-pod.port, such as '0:1.0-2.0', or as switch:port-port with the port numbers of the panel; 'none' for no circuit.",
            ),
            |hall: &CrossconnectScenario| Some(listed_pins(hall)),
            |hall, text| {
                let pins = entries(&text.to_string())
                    .map(|entry| hall.pin_named(entry).ok_or_else(|| wrong("pinned", entry, PIN_REMEDY)))
                    .collect::<Result<BTreeSet<_>, _>>()?;
                hall.pinned = pins.into_iter().collect();
                Ok(())
            },
        ),
        rollout("max_dark_per_pod"),
        rollout("min_pair_share"),
        drawn("changed_percent"),
        drawn("instance_seed"),
    ])
});

fn rollout(key: &'static str) -> Knob<CrossconnectScenario> {
    Knob::of(key, |hall: &CrossconnectScenario| Some(&hall.rollout), |hall| &mut hall.rollout)
}

/// Returns a parameter of random instances; setting it samples a new instance.
fn drawn(key: &'static str) -> Knob<CrossconnectScenario> {
    Knob::of(
        key,
        |hall: &CrossconnectScenario| hall.family.as_ref(),
        |hall| hall.family.get_or_insert_default(),
    )
    .set_by(move |hall, value| hall.redraw(key, value))
    .hidden_if(|hall| {
        let remedy = "use a random instance, such as preset:crossconnect-16-16-25, or change `circuits`";
        hall.family.is_none().then_some(("on a scenario that is not a random instance".into(), remedy))
    })
}

/// Returns the texts between commas; nothing for 'none'.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|entry| !entry.is_empty() && *entry != NONE)
}

fn wrong(knob: &str, entry: &str, remedy: impl Into<String>) -> Problem {
    Problem::new(knob, format!("has '{entry}'"), remedy)
}

fn listed<T>(entries: impl Iterator<Item = T>, text: impl Fn(T) -> String) -> ParamValue {
    let all: Vec<String> = entries.map(text).collect();
    ParamValue::Text(if all.is_empty() { NONE.to_owned() } else { all.join(",") })
}

impl CrossconnectScenario {
    /// Sets a parameter, or the ports of one pod.
    ///
    /// # Errors
    /// An unknown name or a value that is not valid.
    pub fn set(&mut self, name: &str, index: Option<usize>, value: &ParamValue) -> Result<(), Problem> {
        KNOBS.set(self, name, index, value)
    }

    /// Makes all ports A ports: the B ports of a pod follow its A ports, and its installed, pinned and failed entries
    /// move with them.
    fn join_sides(&mut self) {
        let first_b = self.ports_a.clone();
        let shift = |pod: u32, ocs: u32| {
            first_b.get(pod as usize).and_then(|row| row.get(ocs as usize)).copied().unwrap_or(0)
        };
        for ocs in &mut self.installed.ocs {
            for circuit in &mut ocs.cross_connects {
                circuit.port_b_index += shift(circuit.pod_b, ocs.ocs_id);
            }
        }
        for stray in &mut self.strays {
            for end in [&mut stray.from, &mut stray.to] {
                if end.side == Side::B {
                    end.port_index += shift(end.pod, stray.ocs_id);
                    end.side = Side::A;
                }
            }
        }
        for pin in &mut self.pinned {
            pin.circuit.port_b_index += shift(pin.circuit.pod_b, pin.ocs_id);
        }
        for placed in &mut self.placed {
            placed.circuit.port_b_index += shift(placed.circuit.pod_b, placed.ocs_id);
        }
        let failed = self.failed_ports.iter_mut().chain(&mut self.failed_before);
        for port in failed.filter(|port| port.side == Side::B) {
            port.port_index += shift(port.pod, port.ocs_id);
            port.side = Side::A;
        }
        for (ocs, panel) in (0u32..).zip(&mut self.panels) {
            for port in &mut panel.ports {
                if let (Some(Side::B), Some(pod), Some(index)) = (port.side, port.pod, port.port_index) {
                    port.port_index = Some(index + shift(pod, ocs));
                }
                port.side = None;
            }
        }
        for (a, b) in self.ports_a.iter_mut().flatten().zip(self.ports_b.iter_mut().flatten()) {
            *a += std::mem::take(b);
        }
    }

    /// Returns the target circuits pair by pair; `None` if there are too many pairs to list, or if names are ambiguous.
    fn listed_circuits(&self) -> Option<ParamValue> {
        let rows = self.logical_circuits.iter().enumerate();
        let pairs = rows
            .flat_map(|(a, row)| row.iter().enumerate().skip(a + 1).map(move |(b, &count)| (a, b, count)));
        let wanted: Vec<_> = pairs.filter(|&(_, _, count)| count > 0).collect();
        let pod = |pod: usize| self.pod_text(pod as u32);
        let text = |(a, b, count)| format!("{}-{}:{count}", pod(a), pod(b));
        // Pairs of names that are ambiguous cannot be listed.
        let reads =
            |&(a, b, _): &(usize, usize, u32)| self.pair_named(&format!("{}-{}", pod(a), pod(b))).is_some();
        let lists = wanted.len() <= MOST_LISTED && (self.pods_have_numbers() || wanted.iter().all(reads));
        lists.then(|| listed(wanted.into_iter(), text))
    }

    fn set_circuits(&mut self, text: &str) -> Result<(), Problem> {
        let mut seen = BTreeSet::new();
        let mut circuits = self.logical_circuits.clone();
        for entry in entries(text) {
            let parts = entry.rsplit_once(':').and_then(|(pair, count)| {
                let (a, b) = self.pair_named(pair)?;
                Some((a as usize, b as usize, count.trim().parse::<u32>().ok()?))
            });
            let Some((a, b, count)) = parts else {
                let [one, other] = [0, 1].map(|pod| {
                    self.pod_names.as_ref().map_or_else(|| pod.to_string(), |_| self.pod_name(pod))
                });
                let by = if self.pods_have_numbers() {
                    format!("by number (0 to {}) or by name", self.pods - 1)
                } else {
                    "by name, because names of pods are numbers".to_owned()
                };
                let remedy = format!("give pairs of different pods, {by}, such as '{one}-{other}:4'");
                return Err(wrong("circuits", entry, remedy));
            };
            if !seen.insert([a.min(b), a.max(b)]) {
                let message = format!("has '{entry}', but the list names this pair of pods twice");
                return Err(Problem::new("circuits", message, "name each pair of pods once"));
            }
            circuits[a][b] = count;
            circuits[b][a] = count;
        }
        self.set_target(circuits);
        Ok(())
    }

    /// Sets the target circuits. If they change, the scenario loses the iteration time that was predicted for the
    /// previous target and the plan that this target came from.
    pub(crate) fn set_target(&mut self, circuits: Vec<Vec<u32>>) {
        if circuits != self.logical_circuits {
            (self.predicted_makespan_s, self.derived_from) = (None, None);
        }
        self.logical_circuits = circuits;
    }

    /// Returns the switches whose ports have all failed.
    pub fn failed_ocs(&self) -> BTreeSet<u32> {
        let mut failed = vec![0u64; self.ocs_count as usize];
        for port in &self.failed_ports {
            if let Some(count) = failed.get_mut(port.ocs_id as usize) {
                *count += 1;
            }
        }
        let ports = |ocs: usize| -> u64 {
            (0..self.pods as usize)
                .map(|pod| {
                    u64::from(self.ports(Side::A, pod, ocs)) + u64::from(self.ports(Side::B, pod, ocs))
                })
                .sum()
        };
        let dead = failed.iter().enumerate().filter(|&(ocs, &count)| count > 0 && count == ports(ocs));
        dead.map(|(ocs, _)| ocs as u32).collect()
    }

    fn set_failed_ocs(&mut self, text: &str) -> Result<(), Problem> {
        let mut dead = BTreeSet::new();
        for entry in entries(text) {
            dead.insert(self.ocs_named(entry).ok_or_else(|| {
                let last = self.ocs_count - 1;
                let remedy = if !self.switches_have_numbers() {
                    let names: Vec<String> = (0..self.ocs_count).map(|ocs| self.ocs_name(ocs)).collect();
                    format!("the names of the switches are numbers, so give names: {}", few(&names))
                } else if self.panels.is_empty() {
                    format!("switches are 0 to {last}")
                } else {
                    format!("switches are 0 to {last}, or give a name")
                };
                wrong("failed_ocs", entry, remedy)
            })?);
        }
        let before = self.failed_ocs();
        // Ports that failed on their own account stay failed when their switch works again.
        let fails = |port: &Port| dead.contains(&port.ocs_id) && !before.contains(&port.ocs_id);
        self.failed_before.retain(|port| before.contains(&port.ocs_id));
        self.failed_before.extend(self.failed_ports.iter().copied().filter(fails));
        self.failed_ports.retain(|port| !before.contains(&port.ocs_id) && !dead.contains(&port.ocs_id));
        let repaired = |port: &Port| !dead.contains(&port.ocs_id);
        self.failed_ports.extend(self.failed_before.iter().copied().filter(repaired));
        self.failed_before.retain(|port| dead.contains(&port.ocs_id));
        self.failed_before.sort_unstable();
        for &ocs_id in &dead {
            for pod in 0..self.pods {
                for (_, side) in Side::ALL {
                    let ports = self.ports(side, pod as usize, ocs_id as usize);
                    self.failed_ports.extend((0..ports).map(|port_index| Port {
                        ocs_id,
                        pod,
                        side,
                        port_index,
                    }));
                }
            }
        }
        self.failed_ports.sort_unstable();
        Ok(())
    }

    /// Samples another instance of the random family. Refuses if circuits were set by hand, because these circuits
    /// would be lost.
    fn redraw(&mut self, name: &'static str, value: &ParamValue) -> Result<(), Problem> {
        let Some(mut family) = self.family else { return Ok(()) };
        let draw = |family| presets::random(self.pods as usize, self.ocs_count as usize, family);
        let drawn = draw(family);
        if drawn.logical_circuits != self.logical_circuits || drawn.installed != self.installed {
            return Err(Problem::new(
                name,
                format!(
                    "with {value}, other circuits would be drawn at random and replace the circuits that were set by hand"
                ),
                "set it before you set circuits, or start from the preset again",
            ));
        }
        family.set_field(name, value);
        let drawn = draw(family);
        self.set_target(drawn.logical_circuits);
        self.installed = drawn.installed;
        self.family = drawn.family;
        Ok(())
    }
}

fn set_wiring(hall: &mut CrossconnectScenario, word: &ParamValue) {
    let had_sides = hall.wiring != Wiring::SingleSided;
    hall.set_field("wiring", word);
    if had_sides && hall.wiring == Wiring::SingleSided {
        hall.join_sides();
    } else if !had_sides && hall.wiring != Wiring::SingleSided {
        for port in hall.panels.iter_mut().flat_map(|panel| &mut panel.ports) {
            port.side = port.pod.map(|_| Side::A);
        }
    }
}

/// Returns the failed ports of switches that still have working ports.
fn listed_ports(hall: &CrossconnectScenario) -> ParamValue {
    let dead = hall.failed_ocs();
    let single = hall.failed_ports.iter().filter(|port| !dead.contains(&port.ocs_id));
    listed(single, |&port| hall.port_text(port))
}

fn set_failed_ports(hall: &mut CrossconnectScenario, text: &ParamValue) -> Result<(), Problem> {
    let dead = hall.failed_ocs();
    let mut ports = entries(&text.to_string())
        .map(|entry| hall.port_named(entry).ok_or_else(|| wrong("failed_ports", entry, port_remedy(hall))))
        .collect::<Result<BTreeSet<_>, _>>()?;
    ports.extend(hall.failed_ports.iter().filter(|port| dead.contains(&port.ocs_id)));
    hall.failed_before.retain(|port| dead.contains(&port.ocs_id));
    hall.failed_ports = ports.into_iter().collect();
    Ok(())
}

fn port_remedy(hall: &CrossconnectScenario) -> String {
    match hall.panels.first() {
        Some(panel) => {
            format!(
                "give switch:port, such as '{}:1', where the port belongs to a pod, or 'none'",
                panel.name
            )
        }
        None => {
            "give switch:pod:port, where port is a side and an index, such as '3:0:a1', or 'none'".to_owned()
        }
    }
}

fn listed_pins(hall: &CrossconnectScenario) -> ParamValue {
    listed(hall.pinned.iter(), |&pin| hall.pin_text(pin))
}

/// Sets the ports of one pod on every switch.
fn set_ports_of(table: &mut [Vec<u32>], name: &str, pod: usize, ports: &ParamValue) -> Result<(), Problem> {
    let (path, pods) = (format!("{name}[{pod}]"), table.len());
    let Some(row) = table.get_mut(pod) else {
        return Err(Problem::new(
            path,
            "is not a pod of the scenario",
            format!("pods are 0 to {}", pods - 1),
        ));
    };
    let valid = ports.as_i64().filter(|ports| (0..=i64::from(MAX_PORTS)).contains(ports));
    let Some(ports) = valid else {
        let remedy = format!("give a whole number from 0 to {MAX_PORTS}");
        return Err(Problem::new(path, format!("'{ports}' is not valid"), remedy));
    };
    row.fill(ports as u32);
    Ok(())
}

/// Returns the number of ports of every pod, if it is the same on all switches.
fn per_pod(table: &[Vec<u32>]) -> Option<ParamValue> {
    let mut pods = Vec::with_capacity(table.len());
    for row in table {
        let first = *row.first()?;
        if row.iter().any(|&ports| ports != first) {
            return None;
        }
        pods.push(i64::from(first));
    }
    let first = *pods.first()?;
    Some(if pods.iter().all(|&ports| ports == first) {
        ParamValue::Int(first)
    } else {
        ParamValue::List(pods.into_iter().map(ParamValue::Int).collect())
    })
}

fn set_per_pod(table: &mut [Vec<u32>], name: &str, value: &ParamValue) -> Result<(), Problem> {
    match value {
        ParamValue::List(list) if list.len() == table.len() => {
            for (row, ports) in table.iter_mut().zip(list) {
                row.fill(ports.as_i64().unwrap_or_default() as u32);
            }
        }
        ParamValue::List(list) => {
            return Err(Problem::new(
                name,
                format!("has {} entries", list.len()),
                format!("give one number for all pods, or {} numbers, one for each pod", table.len()),
            ));
        }
        one => {
            let ports = one.as_i64().unwrap_or_default() as u32;
            for row in table {
                row.fill(ports);
            }
        }
    }
    Ok(())
}
