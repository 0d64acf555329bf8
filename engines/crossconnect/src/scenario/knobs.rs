//! The knobs of a scenario: what forms, flags and help are made from.

use super::{Circuit, CrossconnectScenario, GIVEN, MAX_PORTS, Pinned, Port, Side, Wiring};
use crate::scenario::presets;
use lightbay_core::method::without_effect;
use lightbay_core::param::{Effect, ParamInfo, ParamValue};
use lightbay_core::problem::{Problem, suggestion};
use std::collections::BTreeSet;

/// Remedy where circuits are given port by port.
const ANEW: &str =
    "edit 'placed' and 'logical_circuits' in the file, or make the scenario with keep_ports=false";
/// Word for an empty list.
const NONE: &str = "none";
/// Pairs of pods up to which the knob of their circuits lists them.
const MOST_LISTED: usize = 64;

/// The knobs of a scenario; of any scenario of the kind if none is given.
pub fn knobs(scenario: Option<&CrossconnectScenario>) -> Vec<ParamInfo> {
    let most = i64::from(MAX_PORTS);
    let mut knobs = vec![
        ParamInfo::choice(
            "wiring",
            &Wiring::ALL.map(|(name, _)| name),
            "two_sided",
            "Ports that may meet on a switch: A and B, the same on pairs of simplex switches, or any two.",
        )
        .effect(Effect::Cold),
        ParamInfo::text(
            "circuits",
            "Wanted circuits of single pairs of pods, '0-1:4, 2-3:2'; the other pairs stay as they are.",
        ),
        ParamInfo::int_or_list(
            "ports_a",
            0,
            most,
            "A ports of a pod on every switch; all ports if single_sided.",
        ),
        ParamInfo::int_or_list("ports_b", 0, most, "B ports of a pod on every switch."),
        ParamInfo::text(
            "failed_ports",
            "Ports out of order as switch:pod:side and index, '3:0:a1, 4:2:b0'; 'none' for no port.",
        ),
        ParamInfo::text("failed_ocs", "Switches with all ports out of order, '2,5'; 'none' for no switch."),
        ParamInfo::text(
            "pinned",
            "Installed circuits that must stay, as switch:pod.port-pod.port, '0:1.0-2.0'; 'none' for no circuit.",
        ),
        ParamInfo::int(
            "max_dark_per_pod",
            0,
            1 << 20,
            0,
            "Circuits that a pod may miss while a batch is under way; 0 for no limit.",
        ),
        ParamInfo::float(
            "min_pair_share",
            0.0,
            1.0,
            0.0,
            "Share of its circuits that every pair of pods keeps while a batch is under way; 0 for no limit.",
        ),
    ];
    if scenario.is_none_or(|scenario| scenario.family.is_some()) {
        let cold = |info: ParamInfo| info.effect(Effect::Cold);
        knobs.push(
            cold(ParamInfo::int(
                "changed_percent",
                0,
                100,
                25,
                "Circuits that the new topology of a random instance touches; 100 for an independent one.",
            ))
            .unit("%"),
        );
        knobs.push(cold(ParamInfo::int("instance_seed", 0, i64::MAX, 1, "Seed of a random instance.")));
    }
    knobs
}

/// Knobs of random instances.
const DRAWN: [&str; 2] = ["changed_percent", "instance_seed"];

/// Texts separated by commas; none for 'none'.
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
    /// Knobs of the kind that cannot act on the scenario.
    pub fn idle(&self) -> Vec<Problem> {
        let mut idle = Vec::new();
        if self.family.is_none() {
            let remedy = "take a random instance, such as preset:crossconnect-16-16-25, or change `circuits`";
            idle.extend(without_effect(DRAWN, "on a scenario that was not drawn at random", remedy));
        }
        if self.is_placed() {
            idle.extend(without_effect(["circuits"], GIVEN, ANEW));
        }
        if self.wiring == Wiring::SingleSided {
            let why = "with single_sided wiring, where ports have no sides";
            idle.extend(without_effect(["ports_b"], why, "count all ports in `ports_a`"));
        }
        idle
    }

    /// The value of a knob. `None` for unknown names and for what no knob can express (ports that differ between
    /// switches, circuits of many pairs of pods).
    pub fn get(&self, name: &str) -> Option<ParamValue> {
        Some(match name {
            "wiring" => ParamValue::Text(self.wiring.word().to_owned()),
            "circuits" => self.listed_circuits()?,
            "ports_a" => per_pod(&self.ports_a)?,
            "ports_b" => per_pod(&self.ports_b)?,
            "failed_ports" => {
                let dead = self.failed_ocs();
                listed(self.failed_ports.iter().filter(|port| !dead.contains(&port.ocs_id)), |port| {
                    let side = if port.side == Side::A { 'a' } else { 'b' };
                    format!("{}:{}:{side}{}", port.ocs_id, port.pod, port.port_index)
                })
            }
            "failed_ocs" => listed(self.failed_ocs().into_iter(), |ocs| ocs.to_string()),
            "pinned" => listed(self.pinned.iter(), |pin| {
                let Circuit { pod_a, port_a_index, pod_b, port_b_index } = pin.circuit;
                format!("{}:{pod_a}.{port_a_index}-{pod_b}.{port_b_index}", pin.ocs_id)
            }),
            "max_dark_per_pod" => ParamValue::Int(i64::from(self.rollout.max_dark_per_pod)),
            "min_pair_share" => ParamValue::Float(self.rollout.min_pair_share),
            "changed_percent" => ParamValue::Int(i64::from(self.family?.changed_percent)),
            "instance_seed" => ParamValue::Int(self.family?.instance_seed as i64),
            _ => return None,
        })
    }

    /// Changes a knob, or the ports of one pod. Only the knob's own range is checked: several changes may only fit
    /// together.
    ///
    /// # Errors
    /// An unknown name or a value that is not valid.
    pub fn set(&mut self, name: &str, index: Option<usize>, value: &ParamValue) -> Result<(), Problem> {
        let all = knobs(Some(self));
        let Some(info) = all.iter().find(|info| info.name == name) else {
            let names: Vec<&str> = all.iter().map(|info| info.name.as_ref()).collect();
            let idle = self.idle().into_iter().find(|problem| problem.path == name);
            return Err(idle.unwrap_or_else(|| {
                Problem::new(name, "is not a parameter of this scenario", suggestion(name, &names))
            }));
        };
        if let Some(pod) = index {
            return self.set_ports_of(info, name, pod, value);
        }
        let value = info.accept(value)?;
        let text = || match &value {
            ParamValue::Text(text) => text.clone(),
            other => other.to_string(),
        };
        let whole = || value.as_i64().unwrap_or_default();
        match name {
            "wiring" => {
                let word = text();
                let had_sides = self.wiring != Wiring::SingleSided;
                let known = Wiring::ALL.iter().find(|(name, _)| *name == word);
                self.wiring = known.map_or(self.wiring, |(_, wiring)| *wiring);
                if had_sides && self.wiring == Wiring::SingleSided {
                    self.join_sides();
                }
            }
            "circuits" if self.is_placed() => {
                return Err(Problem::new(name, format!("has no effect {GIVEN}"), ANEW));
            }
            "circuits" => self.set_circuits(&text())?,
            "ports_a" => set_per_pod(&mut self.ports_a, name, &value)?,
            "ports_b" => set_per_pod(&mut self.ports_b, name, &value)?,
            "failed_ports" => {
                let dead = self.failed_ocs();
                let mut ports = entries(&text()).map(failed_port).collect::<Result<BTreeSet<_>, _>>()?;
                ports.extend(self.failed_ports.iter().filter(|port| dead.contains(&port.ocs_id)));
                self.failed_ports = ports.into_iter().collect();
            }
            "failed_ocs" => self.set_failed_ocs(&text())?,
            "pinned" => {
                let pins = entries(&text()).map(pinned).collect::<Result<BTreeSet<_>, _>>()?;
                self.pinned = pins.into_iter().collect();
            }
            "max_dark_per_pod" => self.rollout.max_dark_per_pod = whole() as u32,
            "min_pair_share" => self.rollout.min_pair_share = value.as_f64().unwrap_or_default(),
            _ => self.redraw(name, whole())?,
        }
        Ok(())
    }

    /// Makes all ports A ports: the B ports of a pod follow its A ports, with what is installed, pinned or failed there.
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
        for port in self.failed_ports.iter_mut().filter(|port| port.side == Side::B) {
            port.port_index += shift(port.pod, port.ocs_id);
            port.side = Side::A;
        }
        for (a, b) in self.ports_a.iter_mut().flatten().zip(self.ports_b.iter_mut().flatten()) {
            *a += std::mem::take(b);
        }
    }

    fn set_ports_of(
        &mut self,
        info: &ParamInfo,
        name: &str,
        pod: usize,
        value: &ParamValue,
    ) -> Result<(), Problem> {
        let pods = self.pods;
        let table = match name {
            "ports_a" => &mut self.ports_a,
            "ports_b" => &mut self.ports_b,
            _ => return Err(Problem::new(name, "has no entries", "write it without [ ]")),
        };
        let Some(row) = table.get_mut(pod) else {
            return Err(Problem::new(
                format!("{name}[{pod}]"),
                "is not a pod of the scenario",
                format!("pods are 0 to {}", pods - 1),
            ));
        };
        let ports = info.accept(value)?.as_i64().unwrap_or_default();
        row.fill(ports as u32);
        Ok(())
    }

    /// The wanted circuits pair by pair; `None` if they are too many to be read.
    fn listed_circuits(&self) -> Option<ParamValue> {
        let rows = self.logical_circuits.iter().enumerate();
        let pairs = rows
            .flat_map(|(a, row)| row.iter().enumerate().skip(a + 1).map(move |(b, &count)| (a, b, count)));
        let wanted: Vec<_> = pairs.filter(|&(_, _, count)| count > 0).collect();
        let text = |(a, b, count)| format!("{a}-{b}:{count}");
        (wanted.len() <= MOST_LISTED).then(|| listed(wanted.into_iter(), text))
    }

    fn set_circuits(&mut self, text: &str) -> Result<(), Problem> {
        let pods = self.pods as usize;
        for entry in entries(text) {
            let parts = entry.split_once(':').and_then(|(pair, count)| {
                let (a, b) = pair.split_once('-')?;
                Some((
                    a.trim().parse::<usize>().ok()?,
                    b.trim().parse::<usize>().ok()?,
                    count.trim().parse::<u32>().ok()?,
                ))
            });
            let Some((a, b, count)) = parts.filter(|&(a, b, _)| a != b && a < pods && b < pods) else {
                let remedy = format!("give pairs of different pods, 0 to {}, such as '0-1:4'", pods - 1);
                return Err(wrong("circuits", entry, remedy));
            };
            self.logical_circuits[a][b] = count;
            self.logical_circuits[b][a] = count;
        }
        Ok(())
    }

    /// Switches of which every port has failed.
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
            let ocs = entry.parse::<u32>().ok().filter(|&ocs| ocs < self.ocs_count);
            dead.insert(ocs.ok_or_else(|| {
                wrong("failed_ocs", entry, format!("switches are 0 to {}", self.ocs_count - 1))
            })?);
        }
        let before = self.failed_ocs();
        self.failed_ports.retain(|port| !before.contains(&port.ocs_id) && !dead.contains(&port.ocs_id));
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

    /// Draws another instance of the random family. Circuits that were set by hand would be lost, so it refuses then.
    fn redraw(&mut self, name: &str, value: i64) -> Result<(), Problem> {
        let Some(mut family) = self.family else { return Ok(()) };
        let drawn = presets::random(self.pods as usize, self.ocs_count as usize, family);
        if drawn.logical_circuits != self.logical_circuits || drawn.installed != self.installed {
            return Err(Problem::new(
                name.to_owned(),
                format!("{value} draws other circuits, and those that were set by hand would be lost"),
                "set it first and the circuits after it, or start from the preset again",
            ));
        }
        if name == "changed_percent" {
            family.changed_percent = value as u32;
        } else {
            family.instance_seed = value as u64;
        }
        let drawn = presets::random(self.pods as usize, self.ocs_count as usize, family);
        self.logical_circuits = drawn.logical_circuits;
        self.installed = drawn.installed;
        self.family = drawn.family;
        Ok(())
    }
}

/// Ports of every pod, if they are the same on all switches.
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
                format!("give one number, or {}: one for each pod", table.len()),
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

fn failed_port(entry: &str) -> Result<Port, Problem> {
    let parsed = || {
        let mut parts = entry.split(':').map(str::trim);
        let (ocs_id, pod, port) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
        let (side, index) = match port.split_at_checked(1)? {
            ("a" | "A", index) => (Side::A, index),
            ("b" | "B", index) => (Side::B, index),
            _ => return None,
        };
        let port = Port { ocs_id, pod, side, port_index: index.parse().ok()? };
        parts.next().is_none().then_some(port)
    };
    parsed().ok_or_else(|| {
        wrong("failed_ports", entry, "give switch:pod:side and index, such as '3:0:a1', or 'none'")
    })
}

fn pinned(entry: &str) -> Result<Pinned, Problem> {
    let end = |text: &str| -> Option<(u32, u32)> {
        let (pod, port) = text.trim().split_once('.')?;
        Some((pod.parse().ok()?, port.parse().ok()?))
    };
    let parsed = || {
        let (ocs, circuit) = entry.split_once(':')?;
        let (a, b) = circuit.split_once('-')?;
        let ((pod_a, port_a_index), (pod_b, port_b_index)) = (end(a)?, end(b)?);
        let circuit = Circuit { pod_a, port_a_index, pod_b, port_b_index };
        Some(Pinned { ocs_id: ocs.trim().parse().ok()?, circuit })
    };
    parsed().ok_or_else(|| {
        wrong("pinned", entry, "give switch:pod.port-pod.port, such as '0:1.0-2.0', or 'none'")
    })
}
