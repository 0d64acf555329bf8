//! Reads lists of pods and of switches with their numbers of ports, as tables or as JSON, and spreads the ports of the
//! pods over the switches.

use super::matrix::Matrix;
use super::rows::{PortRows, Row};
use super::{HallFile, MOST_PORTS};
use crate::scenario::{NAME_REMEDY, Side, Wiring, wrong_name};
use lightbay_core::param::Params;
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_core::read::{brief, parse_json};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A switch with the ports of its panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sized {
    pub name: String,
    pub ports: u32,
}

/// Numbers of ports of a pod: the total, or one number for each switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ports {
    All(u32),
    On(Vec<u32>),
}

/// Pods with their ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pods {
    pub pods: Vec<(String, Ports)>,
    /// Names of the switches, one for each column; none if only totals of ports are given.
    pub switches: Vec<String>,
}

/// Lists of a fabric as JSON.
pub(super) struct Hall {
    pub pods: Pods,
    pub switches: Vec<Sized>,
    pub wanted: Option<Matrix>,
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&ports| i64::from(ports) <= MOST_PORTS)
}

/// Checks that the names of a list are valid and unique.
fn names<'n>(names: impl Iterator<Item = (String, &'n str)>, problems: &mut Problems) {
    let mut seen: HashMap<&str, String> = HashMap::new();
    for (place, name) in names {
        if let Some(wrong) = wrong_name(name) {
            problems.add(place, format!("the name '{}' {wrong}", printable(name)), NAME_REMEDY);
        } else if let Some(first) = seen.insert(name, place.clone()) {
            problems.add(
                place,
                format!("names {}, which {first} already names", printable(name)),
                "name it once",
            );
        }
    }
}

/// Reads a table of pods with the columns `pod,ports`, or with `pod` and a column for every switch.
pub(super) fn pods(file: &HallFile<'_>) -> Result<Pods, Problems> {
    let mut problems = Problems::new();
    let (header, lines) = file.rows();
    let columns = &header[1..];
    let in_all = columns.iter().map(|name| name.to_ascii_lowercase()).eq(["ports"]);
    let mut found = Pods { switches: if in_all { Vec::new() } else { columns.to_vec() }, ..Pods::default() };
    let mut places = Vec::new();
    for (line, row) in lines {
        let place = format!("line {line}");
        let counts: Vec<Option<u32>> = row[1..].iter().map(|text| number(text)).collect();
        match counts.iter().copied().collect::<Option<Vec<u32>>>() {
            Some(counts) if counts.len() == columns.len() => {
                let ports = if in_all { Ports::All(counts[0]) } else { Ports::On(counts) };
                found.pods.push((row[0].clone(), ports));
                places.push(place);
            }
            Some(counts) => problems.add(
                place,
                format!(
                    "has {} numbers, but the header has {} columns after the name",
                    counts.len(),
                    columns.len()
                ),
                "give the ports of the pod in every column",
            ),
            None => {
                let at = counts.iter().position(Option::is_none).unwrap_or_default();
                let remedy = format!("give a number of ports from 0 to {MOST_PORTS}");
                problems.add(place, format!("has '{}'", printable(&row[at + 1])), remedy);
            }
        }
    }
    names(places.into_iter().zip(found.pods.iter().map(|(name, _)| name.as_str())), &mut problems);
    if found.pods.is_empty() && problems.is_empty() {
        problems.add("", "names no pod", "give a row for every pod");
    }
    problems.into_result(found)
}

/// Reads a table of switches with the columns `switch,ports`.
pub(super) fn switches(file: &HallFile<'_>) -> Result<Vec<Sized>, Problems> {
    let mut problems = Problems::new();
    let (header, lines) = file.rows();
    if !header.iter().map(|name| name.to_ascii_lowercase()).eq(["switch", "ports"]) {
        let message = format!("has the columns '{}'", printable(&header.join(",")));
        return Err(Problem::new("line 1", message, "give switch,ports").into());
    }
    let (mut found, mut places) = (Vec::new(), Vec::new());
    for (line, row) in lines {
        let place = format!("line {line}");
        if let Some(ports) = row.get(1).and_then(|text| number(text)).filter(|_| row.len() == 2) {
            found.push(Sized { name: row[0].clone(), ports });
            places.push(place);
        } else {
            let remedy = format!("give a name and a number of ports from 0 to {MOST_PORTS}");
            problems.add(place, format!("is '{}'", printable(&row.join(","))), remedy);
        }
    }
    names(places.into_iter().zip(found.iter().map(|switch| switch.name.as_str())), &mut problems);
    if found.is_empty() && problems.is_empty() {
        problems.add("", "names no switch", "give a row for every switch");
    }
    problems.into_result(found)
}

/// Reads JSON such as `{"pods": {"leaf-a": 8, …}, "switches": {"ocs-east": 32, …}, "circuits": {"leaf-a": {"leaf-b":
/// 2}}}`.
pub(super) fn json(file: &HallFile<'_>) -> Result<Hall, Problems> {
    let value = parse_json(file.text.as_bytes())?;
    let mut problems = Problems::new();
    let Some(map) = value.as_object() else {
        return Err(Problem::new("", format!("is {}", brief(&value)), "give an object").into());
    };
    for key in map.keys().filter(|key| !["pods", "switches", "circuits"].contains(&key.as_str())) {
        problems.add(printable(key), "is not a known key", "use pods, switches or circuits");
    }
    let mut counts = |key: &str| -> Vec<(String, u32)> {
        let Some(list) = map.get(key).and_then(Value::as_object).filter(|list| !list.is_empty()) else {
            problems.add(
                key,
                "is not an object that maps names to numbers of ports",
                "write an object like {\"leaf-a\": 8}",
            );
            return Vec::new();
        };
        let mut found = Vec::new();
        for (name, ports) in list {
            if let Some(ports) = ports.as_u64().filter(|&ports| ports <= MOST_PORTS as u64) {
                found.push((name.clone(), ports as u32));
            } else {
                let remedy = format!("give a whole number from 0 to {MOST_PORTS}");
                problems.add(format!("{key}.{}", printable(name)), format!("is {}", brief(ports)), remedy);
            }
        }
        found
    };
    let (pods, switches) = (counts("pods"), counts("switches"));
    let wanted = map.get("circuits").map(|circuits| wanted(circuits, &pods, &mut problems));
    for (key, list) in [("pods", &pods), ("switches", &switches)] {
        names(
            list.iter().map(|(name, _)| (format!("{key}.{}", printable(name)), name.as_str())),
            &mut problems,
        );
    }
    let switches = switches.into_iter().map(|(name, ports)| Sized { name, ports }).collect();
    let pods = pods.into_iter().map(|(name, ports)| (name, Ports::All(ports))).collect();
    problems.into_result(Hall { pods: Pods { pods, switches: Vec::new() }, switches, wanted })
}

fn wanted(circuits: &Value, pods: &[(String, u32)], problems: &mut Problems) -> Matrix {
    let none = Map::new();
    let at = |name: &str| pods.iter().position(|(pod, _)| pod == name);
    let mut pairs: HashMap<(usize, usize), u32> = HashMap::new();
    if !circuits.is_object() {
        problems.add(
            "circuits",
            format!("is {}", brief(circuits)),
            "write an object like {\"leaf-a\": {\"leaf-b\": 2}}",
        );
    }
    for (a, row) in circuits.as_object().unwrap_or(&none) {
        for (b, count) in row.as_object().unwrap_or(&none) {
            let path = format!("circuits.{}.{}", printable(a), printable(b));
            let pair = at(a).zip(at(b)).filter(|(a, b)| a != b);
            let count = count.as_u64().filter(|&count| count <= 1 << 20).map(|count| count as u32);
            let Some(((i, j), count)) = pair.zip(count) else {
                problems.add(
                    path,
                    "is not a number of circuits between two pods",
                    "give two names from 'pods' and a whole number from 0 to 1048576",
                );
                continue;
            };
            if pairs.insert((i.min(j), i.max(j)), count).is_some_and(|before| before != count) {
                problems.add(path, "is given twice with two numbers", "give each pair once");
            }
        }
    }
    Matrix::of(pods.iter().map(|(name, _)| name.clone()).collect(), &pairs)
}

/// Gives every pod its ports on the switches: the numbers that the table gives for each switch or, if only the total is
/// given, shares in proportion to the sizes of the switches. Each port that rounding leaves goes to the switch with the
/// fewest ports of the pod relative to the size of the switch. Panels list the pods in order, A ports before B ports;
/// remaining ports are spare.
pub(super) fn spread(pods: &Pods, switches: &[Sized], params: &Params) -> Result<PortRows, Problems> {
    let wiring = params.text("wiring").unwrap_or(Wiring::SingleSided.word());
    let single = wiring == Wiring::SingleSided.word();
    let mut problems = Problems::new();
    let order: Vec<Option<usize>> =
        switches.iter().map(|switch| pods.switches.iter().position(|name| *name == switch.name)).collect();
    if !pods.switches.is_empty() {
        let known = |name: &&String| switches.iter().all(|switch| switch.name != **name);
        for name in pods.switches.iter().filter(known) {
            problems.add(
                "",
                format!("the list of pods has a column '{}', which is not a switch", printable(name)),
                "name the switches as in the list of switches",
            );
        }
        for (switch, _) in switches.iter().zip(&order).filter(|(_, at)| at.is_none()) {
            problems.add(
                "",
                format!("the list of pods has no column for {}", printable(&switch.name)),
                "add it",
            );
        }
    }
    problems.into_result(())?;
    let mut problems = Problems::new();
    let sizes: Vec<u64> = switches.iter().map(|switch| u64::from(switch.ports)).collect();
    let total: u64 = sizes.iter().sum();
    let mut free = sizes.clone();
    let mut counts: Vec<Vec<u64>> = Vec::new();
    for (name, ports) in &pods.pods {
        let mut row: Vec<u64> = match ports {
            Ports::On(counts) => order.iter().map(|at| at.map_or(0, |at| u64::from(counts[at]))).collect(),
            Ports::All(ports) => sizes.iter().map(|size| u64::from(*ports) * size / total.max(1)).collect(),
        };
        let over = (0..row.len()).find(|&switch| row[switch] > free[switch]);
        let fits = over.is_none();
        for (free, count) in free.iter_mut().zip(&row) {
            *free = free.saturating_sub(*count);
        }
        let rest = match ports {
            Ports::All(ports) => u64::from(*ports) - row.iter().sum::<u64>(),
            Ports::On(_) => 0,
        };
        let placed = fits
            && (0..rest).all(|_| {
                // The switch with the fewest ports of this pod relative to its size; ties go to the switch with the
                // most free ports, then to the lowest number.
                let best = (0..row.len())
                    .filter(|&at| free[at] > 0)
                    .min_by_key(|&at| (row[at] * total / sizes[at].max(1), std::cmp::Reverse(free[at])));
                best.is_some_and(|at| {
                    row[at] += 1;
                    free[at] -= 1;
                    true
                })
            });
        if !placed {
            let wanted: u64 = pods
                .pods
                .iter()
                .map(|(_, ports)| match ports {
                    Ports::All(ports) => u64::from(*ports),
                    Ports::On(counts) => counts.iter().map(|&count| u64::from(count)).sum(),
                })
                .sum();
            let where_to =
                over.map_or_else(String::new, |at| format!(" on {}", printable(&switches[at].name)));
            problems.add(
                "",
                format!("the ports of {} do not fit{where_to}: the pods have {wanted} ports, the switches {total}", printable(name)),
                "give larger switches, or pods with fewer ports",
            );
            break;
        }
        counts.push(row);
    }
    problems.into_result(())?;
    let mut rows =
        PortRows { pods: pods.pods.iter().map(|(name, _)| name.clone()).collect(), ..PortRows::default() };
    for (at, switch) in switches.iter().enumerate() {
        let mut number = 0;
        let sides: &[Option<Side>] = if single { &[None] } else { &[Some(Side::A), Some(Side::B)] };
        for &side in sides {
            for (pod, (name, _)) in pods.pods.iter().enumerate() {
                let all = counts[pod][at];
                // If the number of ports is odd, the extra port is an A port in one pod and a B port in the next pod,
                // so that both sides stay in balance.
                let odd = u64::from((pod + at).is_multiple_of(2));
                let on_side = match side {
                    None => all,
                    Some(Side::A) => all.div_ceil(2) - (all % 2) * (1 - odd),
                    Some(Side::B) => all / 2 + (all % 2) * (1 - odd),
                };
                for _ in 0..on_side {
                    number += 1;
                    let row = Row { side, pod: Some(name.clone()), ..Row::default() };
                    // Numbers increase, so none is used twice.
                    drop(rows.add(&switch.name, number, row));
                }
            }
        }
        while number < switch.ports {
            number += 1;
            drop(rows.add(&switch.name, number, Row::default()));
        }
        if number == 0 {
            rows.switches.push((switch.name.clone(), std::collections::BTreeMap::new()));
        }
    }
    Ok(rows)
}
