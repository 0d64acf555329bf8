//! Reading a scenario from JSON, all problems at once.

use super::{
    Circuit, CrossconnectScenario, Family, Installed, InstalledOcs, MAX_OCS, MAX_PODS, MAX_PORTS, Pinned,
    Placed, Port, Rollout, Side, Stray, StrayEnd, Wiring,
};
use lightbay_core::exchange::DerivedFrom;
use lightbay_core::problem::Problems;
use lightbay_core::read::{Fields, brief, list_at};
use serde_json::Value;

/// Most circuits of a pair of pods.
const MAX_CIRCUITS: i64 = 1 << 20;

impl CrossconnectScenario {
    /// Reads the scenario's own keys. The caller finishes `fields`.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let pods = fields.int("pods", 1..=MAX_PODS as i64, problems).map(|pods| pods as usize);
        let ocs_count = fields.int("ocs_count", 1..=MAX_OCS as i64, problems).map(|count| count as usize);
        let wiring = match fields.optional("wiring") {
            None => Some(Wiring::TwoSided),
            Some(_) => fields.choice("wiring", &Wiring::ALL, problems),
        };
        let ports_a = table(fields, "ports_a", pods, ocs_count, i64::from(MAX_PORTS), problems);
        let ports_b = if wiring == Some(Wiring::SingleSided) && !fields.has("ports_b") {
            pods.zip(ocs_count).map(|(pods, ocs)| vec![vec![0; ocs]; pods])
        } else {
            table(fields, "ports_b", pods, ocs_count, i64::from(MAX_PORTS), problems)
        };
        let logical_circuits = table(fields, "logical_circuits", pods, pods, MAX_CIRCUITS, problems);
        let installed = match fields.optional_object("installed", problems) {
            None if fields.has("installed") => None,
            None => Some(Installed::default()),
            Some(mut inner) => {
                let ocs = inner.each("ocs", problems, installed_ocs);
                inner.finish(problems);
                ocs.map(|ocs| Installed { ocs })
            }
        };
        let strays = optional_list(fields, "strays", problems, stray);
        let placed = optional_list(fields, "placed", problems, placed);
        let failed_ports = optional_list(fields, "failed_ports", problems, port);
        let pinned = optional_list(fields, "pinned", problems, pinned);
        let rollout = match fields.optional_object("rollout", problems) {
            None => Some(Rollout::default()),
            Some(mut inner) => {
                let dark = inner.int_or("max_dark_per_pod", 0..=MAX_CIRCUITS, 0, problems);
                let share = inner.float_or("min_pair_share", 0.0..=1.0, 0.0, problems);
                inner.finish(problems);
                dark.zip(share)
                    .map(|(dark, share)| Rollout { max_dark_per_pod: dark as u32, min_pair_share: share })
            }
        };
        let pod_names = names(fields, pods, problems).ok();
        let family = match fields.optional_object("family", problems) {
            None => Some(None),
            Some(mut inner) => {
                let changed = inner.int("changed_percent", 0..=100, problems);
                let seed = inner.int("instance_seed", 0..=i64::MAX, problems);
                inner.finish(problems);
                changed.zip(seed).map(|(changed, seed)| {
                    Some(Family { changed_percent: changed as u32, instance_seed: seed as u64 })
                })
            }
        };
        let predicted = match fields.optional("predicted_makespan_s") {
            None => Some(None),
            Some(_) => fields.float("predicted_makespan_s", 0.0..=1e12, problems).map(Some),
        };
        let derived_from = match fields.optional_object("derived_from", problems) {
            None => Some(None),
            Some(mut inner) => {
                let mut text = |key| inner.text(key, problems).map(str::to_owned);
                let (kind, scenario, plan) = (text("kind"), text("scenario_sha256"), text("plan_sha256"));
                inner.finish(problems);
                kind.zip(scenario).zip(plan).map(|((kind, scenario_sha256), plan_sha256)| {
                    Some(DerivedFrom { kind, scenario_sha256, plan_sha256 })
                })
            }
        };
        Some(Self {
            pods: pods? as u32,
            ocs_count: ocs_count? as u32,
            wiring: wiring?,
            ports_a: ports_a?,
            ports_b: ports_b?,
            logical_circuits: logical_circuits?,
            installed: installed?,
            strays: strays?,
            placed: placed?,
            failed_ports: failed_ports?,
            pinned: pinned?,
            rollout: rollout?,
            pod_names: pod_names?,
            family: family?,
            predicted_makespan_s: predicted?,
            derived_from: derived_from?,
        })
    }
}

/// A table of whole numbers with a row for each pod. Shapes are only judged if the numbers that give them were read.
fn table(
    fields: &mut Fields<'_>,
    key: &'static str,
    rows: Option<usize>,
    columns: Option<usize>,
    most: i64,
    problems: &mut Problems,
) -> Option<Vec<Vec<u32>>> {
    let path = fields.path_of(key);
    let list = fields.list(key, problems)?;
    if let Some(rows) = rows.filter(|&rows| rows != list.len()) {
        problems.add(path, format!("has {} rows", list.len()), format!("give one for each pod, {rows}"));
        return None;
    }
    let mut table = Vec::with_capacity(list.len());
    for (index, row) in list.iter().enumerate() {
        table.extend(row_at(row, &format!("{path}[{index}]"), columns, most, problems));
    }
    (table.len() == list.len()).then_some(table)
}

fn row_at(
    row: &Value,
    path: &str,
    columns: Option<usize>,
    most: i64,
    problems: &mut Problems,
) -> Option<Vec<u32>> {
    let row = list_at(row, path, problems)?;
    if let Some(columns) = columns.filter(|&columns| columns != row.len()) {
        problems.add(path, format!("has {} entries", row.len()), format!("give {columns}"));
        return None;
    }
    let mut numbers = Vec::with_capacity(row.len());
    for (index, entry) in row.iter().enumerate() {
        match entry.as_i64().filter(|number| (0..=most).contains(number)) {
            Some(number) => numbers.push(number as u32),
            None => problems.add(
                format!("{path}[{index}]"),
                format!("is {}", brief(entry)),
                format!("give a whole number from 0 to {most}"),
            ),
        }
    }
    (numbers.len() == row.len()).then_some(numbers)
}

fn optional_list<T>(
    fields: &mut Fields<'_>,
    key: &'static str,
    problems: &mut Problems,
    read: impl Fn(&mut Fields<'_>, &mut Problems) -> Option<T>,
) -> Option<Vec<T>> {
    match fields.optional(key) {
        None => Some(Vec::new()),
        Some(_) => fields.each(key, problems, read),
    }
}

fn installed_ocs(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<InstalledOcs> {
    let ocs_id = fields.int("ocs_id", 0..=MAX_OCS as i64 - 1, problems);
    let cross_connects = fields.each("cross_connects", problems, circuit);
    Some(InstalledOcs { ocs_id: ocs_id? as u32, cross_connects: cross_connects? })
}

fn circuit(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Circuit> {
    let mut id = |key, most: i64| fields.int(key, 0..=most - 1, problems).map(|id| id as u32);
    let (pod_a, port_a_index) = (id("pod_a", MAX_PODS as i64), id("port_a_index", i64::from(MAX_PORTS)));
    let (pod_b, port_b_index) = (id("pod_b", MAX_PODS as i64), id("port_b_index", i64::from(MAX_PORTS)));
    Some(Circuit { pod_a: pod_a?, port_a_index: port_a_index?, pod_b: pod_b?, port_b_index: port_b_index? })
}

fn port(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Port> {
    let mut id = |key, most: i64| fields.int(key, 0..=most - 1, problems).map(|id| id as u32);
    let (ocs_id, pod) = (id("ocs_id", MAX_OCS as i64), id("pod", MAX_PODS as i64));
    let port_index = id("port_index", i64::from(MAX_PORTS));
    let side = fields.choice("side", &Side::ALL, problems);
    Some(Port { ocs_id: ocs_id?, pod: pod?, side: side?, port_index: port_index? })
}

fn stray(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Stray> {
    let ocs_id = fields.int("ocs_id", 0..=MAX_OCS as i64 - 1, problems);
    let mut end = |key, problems: &mut Problems| {
        let mut inner = fields.object(key, problems)?;
        let pod = inner.int("pod", 0..=MAX_PODS as i64 - 1, problems);
        let port_index = inner.int("port_index", 0..=i64::from(MAX_PORTS) - 1, problems);
        let side = inner.choice("side", &Side::ALL, problems);
        inner.finish(problems);
        Some(StrayEnd { pod: pod? as u32, side: side?, port_index: port_index? as u32 })
    };
    let (from, to) = (end("from", problems), end("to", problems));
    let both_ways = fields.bool_or("both_ways", false, problems);
    Some(Stray { ocs_id: ocs_id? as u32, from: from?, to: to?, both_ways: both_ways? })
}

fn pinned(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Pinned> {
    let ocs_id = fields.int("ocs_id", 0..=MAX_OCS as i64 - 1, problems);
    let circuit = circuit(fields, problems);
    Some(Pinned { ocs_id: ocs_id? as u32, circuit: circuit? })
}

fn placed(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Placed> {
    let Pinned { ocs_id, circuit } = pinned(fields, problems)?;
    Some(Placed { ocs_id, circuit })
}

/// Names of all pods, if there are any. What is wrong with them is among the problems.
fn names(
    fields: &mut Fields<'_>,
    pods: Option<usize>,
    problems: &mut Problems,
) -> Result<Option<Vec<String>>, ()> {
    if fields.optional("pod_names").is_none() {
        return Ok(None);
    }
    let path = fields.path_of("pod_names");
    let list = fields.list("pod_names", problems).ok_or(())?;
    let names: Vec<String> = list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    if names.len() != list.len() || pods.is_some_and(|pods| pods != names.len()) {
        problems.add(
            path,
            format!("has {} names", names.len()),
            "give one text for each pod, or leave it out",
        );
        return Err(());
    }
    Ok(Some(names))
}
