//! The scenario before it is solved: pods, switches, ports and circuits.

use crate::plan::CrossconnectResult;
use crate::rollout::assemble::counting_bound;
use crate::scenario::{CrossconnectScenario, Side};
use lightbay_core::problem::{counted, printable};
use lightbay_core::report::{Cell, Column, Facts, Phrase, Section, Table, Tone, Unit};
use std::collections::BTreeMap;

pub(super) fn section(scenario: &CrossconnectScenario, result: Option<&CrossconnectResult>) -> Section {
    let mut facts = Facts::new();
    facts.add("pods", "pods", scenario.pods);
    facts.add(
        "ocs_count",
        "switches",
        Cell::new(scenario.ocs_count).note(scenario.wiring.word().replace('_', " ")),
    );
    let (a, b) = (ports(scenario, Side::A), ports(scenario, Side::B));
    facts.add("ports_a", if b == 0 { "ports" } else { "ports, side A" }, a);
    if b > 0 {
        facts.add("ports_b", "ports, side B", b);
    }
    facts.add("uniform", "same on every switch", scenario.is_uniform());
    if !scenario.failed_ports.is_empty() {
        facts.add("failed_ports", "failed", Cell::new(scenario.failed_ports.len()).note("ports"));
    }
    let wanted = Cell::new(scenario.wanted_circuits());
    let wanted = if scenario.is_placed() { wanted.note("given port by port") } else { wanted };
    facts.add("wanted_circuits", "circuits wanted", wanted);
    let totals = result.and_then(CrossconnectResult::changes).map(|changes| changes.totals);
    if let Some((unmet, least)) =
        totals.and_then(|totals| Some((totals.unmet_circuits?, totals.lower_bound_unmet_circuits?)))
    {
        facts.add("unmet_circuits", "circuits not set", unmet);
        facts.sentence(format!("lower bound {least}, from the number of working ports"));
        facts.add("lower_bound_unmet_circuits", "not set, at least", least);
    }
    let installed = scenario.installed_circuits().count();
    facts.add("installed_circuits", "circuits installed", installed);
    if !scenario.strays.is_empty() {
        facts.add("stray_connections", "connections without a circuit", scenario.strays.len());
        facts.sentence(
            "connections in one direction only, or that use a port twice; exports delete them first",
        );
    }
    if !scenario.pinned.is_empty() {
        facts.add("pinned_circuits", "pinned circuits", scenario.pinned.len());
    }
    let least = counting_bound(scenario);
    facts.add("lower_bound_removed_circuits", "circuits to remove, at least", least);
    facts.sentence("by counting pairs of pods");
    if !scenario.rollout.is_usual() {
        let rollout = scenario.rollout;
        if rollout.max_dark_per_pod > 0 {
            let most = counted(u64::from(rollout.max_dark_per_pod), "circuit", "circuits");
            facts.add("max_dark_per_pod", "a pod lacks at most", Cell::new(rollout.max_dark_per_pod));
            facts.sentence(format!("limit of the rollout: {most} dark in a batch"));
        }
        if rollout.min_pair_share > 0.0 {
            facts.number("min_pair_share", "a pair of pods keeps", Unit::PERCENT, rollout.min_pair_share);
            facts.sentence(
                "limit of the rollout: minimum fraction of its circuits that stays in service in every batch",
            );
        }
    }
    let is_whole = totals.is_none_or(|totals| totals.unmet_circuits.is_none());
    if let Some(predicted_s) = scenario.predicted_makespan_s.filter(|_| is_whole) {
        facts.number("predicted_makespan_s", "predicted makespan", Unit::SECONDS, predicted_s);
        facts.sentence("per iteration, by the plan that chose the circuits");
    }
    if let Some(switching) = &scenario.switching {
        facts.number("switching_time_s", "circuits are set at", Unit::SECONDS, switching.time_s);
        facts.sentence(format!(
            "after the start of every iteration, by reconfiguration {}; the new circuits carry traffic {} s later",
            switching.phase, switching.delay_s
        ));
    }
    if let Some(from) = &scenario.derived_from {
        facts.add("derived_from", "made from", format!("a {} plan", printable(&from.kind)));
        facts.add("derived_from_sha256", "its SHA-256", from.plan_sha256.as_str());
    }
    if scenario.is_placed() {
        facts.add("placed_circuits", "circuits with given ports", scenario.placed.len());
    }
    let title = format!(
        "Fabric: {} and {}",
        counted(u64::from(scenario.pods), "pod", "pods"),
        counted(u64::from(scenario.ocs_count), "switch", "switches")
    );
    // A screen has one row for the ports of both sides and one for the circuits. The sentence has the bound.
    let mut shown = facts.clone();
    shown.facts.retain(|fact| match fact.name {
        "ports_b" | "installed_circuits" => false,
        "lower_bound_removed_circuits" => installed == 0,
        "uniform" => !scenario.is_uniform(),
        _ => true,
    });
    for fact in &mut shown.facts {
        match fact.name {
            "ports_a" if b > 0 => fact.sentence = format!("and {b} on side B"),
            "wanted_circuits" => fact.sentence = format!("and {installed} installed"),
            _ => {}
        }
    }
    let section = Section::new(title, facts).only_written().on_screens("figures", "", shown);
    let section = match installed {
        0 => section,
        _ => section.sentence(
            Phrase::new().answer(format!("> every plan removes at least {least} of {installed} circuits")),
        ),
    };
    if scenario.pods as usize > MOST_PODS {
        return section;
    }
    section
        .on_screens("pods", "", pods(scenario))
        .legend("stays at most: circuits that the target keeps; the others have to change")
}

/// Maximum number of pods that a screen lists.
const MOST_PODS: usize = 256;

/// Returns the table of the pods with their ports, and their circuits before and after the change.
fn pods(scenario: &CrossconnectScenario) -> Table {
    let count = scenario.pods as usize;
    let mut installed: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (_, circuit) in scenario.installed_circuits() {
        let (a, b) = (circuit.pod_a, circuit.pod_b);
        *installed.entry((a.min(b), a.max(b))).or_default() += 1;
    }
    let wanted = scenario.wanted_pairs();
    let mut stays = vec![0_u32; count];
    let mut ends = [vec![0_u32; count], vec![0_u32; count]];
    let add = |list: &mut Vec<u32>, (a, b): (u32, u32), circuits: u32| {
        for pod in [a, b] {
            if let Some(sum) = list.get_mut(pod as usize) {
                *sum += circuits;
            }
        }
    };
    for (pair, circuits) in &wanted {
        add(&mut ends[1], *pair, *circuits);
        add(&mut stays, *pair, installed.get(pair).map_or(0, |there| *there.min(circuits)));
    }
    for (pair, circuits) in &installed {
        add(&mut ends[0], *pair, *circuits);
    }
    let columns = vec![
        Column::words("pod", "pod"),
        Column::counts("ports", "ports").priority(1),
        Column::counts("installed", "installed"),
        Column::counts("wanted", "wanted"),
        Column::counts("stays", "stays at most"),
        Column::counts("moves", "moves at least"),
    ];
    let mut table = Table::new(["pod", "pods"], columns).bar(5).parts(&["moves at least", "stays at most"]);
    for pod in 0..count {
        let all = |side| -> u32 {
            (0..scenario.ocs_count as usize).map(|ocs| scenario.ports(side, pod, ocs)).sum()
        };
        let moves = ends[1][pod].saturating_sub(stays[pod]);
        let row = table.row(vec![
            Cell::new(scenario.pod_name(pod)),
            Cell::new(all(Side::A) + all(Side::B)),
            Cell::new(ends[0][pod]),
            Cell::new(ends[1][pod]),
            Cell::new(stays[pod]),
            Cell::new(moves).tone(if moves > 0 { Tone::Answer } else { Tone::Muted }),
        ]);
        row.parts = vec![f64::from(moves), f64::from(stays[pod])];
    }
    table
}

/// Returns the number of ports of a side, over all pods and switches.
fn ports(scenario: &CrossconnectScenario, side: Side) -> u64 {
    let (pods, ocs) = (scenario.pods as usize, scenario.ocs_count as usize);
    (0..pods)
        .flat_map(|pod| (0..ocs).map(move |ocs| (pod, ocs)))
        .map(|(pod, ocs)| u64::from(scenario.ports(side, pod, ocs)))
        .sum()
}
