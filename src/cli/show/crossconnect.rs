//! What cross-connects amount to: pods, switches and circuits, and of a plan what every switch keeps, adds and removes,
//! in which batches.

use crate::cli::quantity;
use crate::cli::table::Table;
use lightbay_core::plan::Plan;
use lightbay_core::problem::{counted, printable};
use lightbay_core::scenario::Scenario;
use lightbay_engines::crossconnect::assemble::counting_bound;
use lightbay_engines::crossconnect::caveat;
use lightbay_engines::crossconnect::plan::{Action, Changes, EntryRef, OcsChanges, PhaseOrder, PhaseRule};
use lightbay_engines::crossconnect::scenario::Side;
use lightbay_engines::crossconnect::{Crossconnect, CrossconnectResult, CrossconnectScenario};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Switches, batches and phases that are listed.
const LISTED: usize = 16;

/// Everything that is shown, computed once for both forms.
pub struct Figures<'a> {
    scenario: &'a CrossconnectScenario,
    result: Option<&'a CrossconnectResult>,
    installed: u64,
    /// Removals that no plan avoids, by counting pairs of pods.
    bound: u64,
}

/// What happens on a switch.
#[derive(Clone, Copy)]
struct Counts {
    ocs_id: u32,
    kept: usize,
    added: usize,
    removed: usize,
}

impl Counts {
    fn of(ocs: &OcsChanges) -> Self {
        let count = |action| ocs.cross_connects.iter().filter(|entry| entry.action == action).count();
        Self {
            ocs_id: ocs.ocs_id,
            kept: count(Action::Keep),
            added: count(Action::Add),
            removed: count(Action::Remove),
        }
    }
}

impl<'a> Figures<'a> {
    /// Computes the figures.
    pub fn of(scenario: &'a Scenario<Crossconnect>, plan: Option<&'a Plan<Crossconnect>>) -> Self {
        let body = &scenario.body;
        Self {
            scenario: body,
            result: plan.map(|plan| &plan.result),
            installed: body.installed_circuits().count() as u64,
            bound: counting_bound(body),
        }
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = write!(out, "{}", self.hall());
        match self.result {
            None => {}
            Some(CrossconnectResult::Changes(changes)) => {
                let counts: Vec<Counts> = changes.ocs.iter().map(Counts::of).collect();
                let _ = write!(out, "\nSwitches, {}\n{}", of_all(counts.len()), switches(&counts));
                if !changes.batches.is_empty() {
                    let _ = write!(
                        out,
                        "\nBatches, {}\n{}",
                        of_all(changes.batches.len()),
                        batches(self.scenario, changes)
                    );
                }
            }
            Some(CrossconnectResult::Order(order)) => {
                let rule = match order.rule {
                    PhaseRule::Printed => "as printed",
                    PhaseRule::Corrected => "corrected",
                };
                let _ = write!(
                    out,
                    "\nPhases, {}, order {rule}: GPU that GPU 0, 1, 2, … sends to\n{}",
                    of_all(order.phases.len()),
                    phases(order)
                );
            }
        }
        out
    }

    fn hall(&self) -> Table {
        let scenario = self.scenario;
        let mut table = Table::new(&["", ""]);
        let mut row = |name: &str, value: String| table.row([format!("  {name:<14}"), value]);
        row("pods", scenario.pods.to_string());
        row("switches", format!("{}, {}", scenario.ocs_count, scenario.wiring.word().replace('_', " ")));
        let (a, b) = (self.ports(Side::A), self.ports(Side::B));
        let uniform = if scenario.is_uniform() { "uniform" } else { "not uniform" };
        let ports = if b == 0 { format!("{a}") } else { format!("{a} A and {b} B") };
        row("ports", format!("{ports}, {uniform}"));
        if !scenario.failed_ports.is_empty() {
            let failed = counted(scenario.failed_ports.len() as u64, "port", "ports");
            row("out of order", failed);
        }
        let wanted = counted(scenario.wanted_circuits(), "circuit", "circuits");
        row("wanted", if scenario.is_placed() { format!("{wanted}, given port by port") } else { wanted });
        if let Some(totals) = self.result.and_then(CrossconnectResult::changes).map(|changes| changes.totals)
            && let (Some(unmet), Some(least)) = (totals.unmet_circuits, totals.lower_bound_unmet_circuits)
        {
            row(
                "not set",
                format!(
                    "{}, at least {least} by counting ports in order",
                    counted(unmet, "circuit", "circuits")
                ),
            );
        }
        let pinned = match scenario.pinned.len() {
            0 => String::new(),
            pinned => format!(", {pinned} pinned"),
        };
        row("installed", format!("{}{pinned}", counted(self.installed, "circuit", "circuits")));
        row("to remove", format!("at least {}, by counting pairs of pods", self.bound));
        if !scenario.rollout.is_usual() {
            let rollout = scenario.rollout;
            let mut limits = Vec::new();
            if rollout.max_dark_per_pod > 0 {
                let most = u64::from(rollout.max_dark_per_pod);
                limits.push(format!("a pod misses at most {}", counted(most, "circuit", "circuits")));
            }
            if rollout.min_pair_share > 0.0 {
                let share = quantity::percent(rollout.min_pair_share);
                limits.push(format!("a pair of pods keeps {share}"));
            }
            row("rollout", limits.join(", "));
        }
        if let Some(predicted) = scenario.predicted_makespan_s {
            row("for a job of", format!("{} per iteration", quantity::value("makespan_s", predicted)));
        }
        if let Some(from) = &scenario.derived_from {
            row("made from", format!("a {} plan, {}", printable(&from.kind), printable(&from.plan_sha256)));
        }
        table
    }

    fn ports(&self, side: Side) -> u64 {
        let (pods, ocs) = (self.scenario.pods as usize, self.scenario.ocs_count as usize);
        (0..pods)
            .flat_map(|pod| (0..ocs).map(move |ocs| (pod, ocs)))
            .map(|(pod, ocs)| u64::from(self.scenario.ports(side, pod, ocs)))
            .sum()
    }

    /// As one JSON value.
    pub fn json(&self) -> Value {
        let scenario = self.scenario;
        let changes = self.result.and_then(CrossconnectResult::changes);
        let order = self.result.and_then(CrossconnectResult::order);
        json!({
            "pods": scenario.pods,
            "ocs_count": scenario.ocs_count,
            "wiring": scenario.wiring,
            "ports_a": self.ports(Side::A),
            "ports_b": self.ports(Side::B),
            "uniform": scenario.is_uniform(),
            "failed_ports": scenario.failed_ports.len(),
            "wanted_circuits": scenario.wanted_circuits(),
            "installed_circuits": self.installed,
            "pinned_circuits": scenario.pinned.len(),
            "lower_bound_removed_circuits": self.bound,
            "rollout": scenario.rollout,
            "predicted_makespan_s": scenario.predicted_makespan_s,
            "derived_from": scenario.derived_from,
            "placed_circuits": scenario.placed.len(),
            "totals": changes.map(|changes| changes.totals),
            "warnings": changes.map(|changes| warnings(scenario, changes)),
            "switches": changes.map(|changes| {
                changes.ocs.iter().map(Counts::of).map(|counts| json!({
                    "ocs_id": counts.ocs_id,
                    "kept": counts.kept,
                    "added": counts.added,
                    "removed": counts.removed,
                })).collect::<Vec<_>>()
            }),
            "batches": changes.map(|changes| {
                let cut = caveat::cut_pairs(scenario, changes);
                (0..changes.batches.len()).map(|number| {
                    let (removed, added) = of_batch(changes, number);
                    json!({
                        "removed": removed,
                        "added": added,
                        "dark_circuits": changes.batches[number].dark_circuits,
                        "pairs_cut_off": cut.iter().find(|(batch, _)| *batch == number).map_or(0, |(_, pairs)| pairs.len()),
                    })
                }).collect::<Vec<_>>()
            }),
            "order": order.map(|order| json!({
                "rule": order.rule,
                "gpus_per_pod": order.gpus_per_pod,
                "phases": order.phases.len(),
                "max_flows_per_pod_pair": order.max_flows_per_pod_pair,
                "contended_phases": order.contended_phases,
            })),
        })
    }
}

fn of_all(all: usize) -> String {
    if all > LISTED { format!("{LISTED} of {all}") } else { all.to_string() }
}

/// The switches on which most is removed; in order of number if all fit.
fn switches(counts: &[Counts]) -> Table {
    let mut order = counts.to_vec();
    if order.len() > LISTED {
        order.sort_by_key(|counts| (std::cmp::Reverse(counts.removed + counts.added), counts.ocs_id));
    }
    let mut table = Table::new(&[">  switch", ">kept", ">added", ">removed"]);
    for counts in order.iter().take(LISTED) {
        table.row([
            format!("  {}", counts.ocs_id),
            counts.kept.to_string(),
            counts.added.to_string(),
            counts.removed.to_string(),
        ]);
    }
    table
}

/// Removals and additions of a batch.
fn of_batch(changes: &Changes, number: usize) -> (usize, usize) {
    let Some(batch) = changes.batches.get(number) else { return (0, 0) };
    let is_removal = |at: &&EntryRef| {
        let ocs = changes.ocs.get(at.ocs_id as usize);
        let entry = ocs.and_then(|ocs| ocs.cross_connects.get(at.entry as usize));
        entry.is_some_and(|entry| entry.action == Action::Remove)
    };
    let removed = batch.changes.iter().filter(is_removal).count();
    (removed, batch.changes.len() - removed)
}

/// What has to be told of a change beside its figures.
fn warnings(scenario: &CrossconnectScenario, changes: &Changes) -> Vec<String> {
    [caveat::unmet(scenario, changes), caveat::cut_off(scenario, changes)].into_iter().flatten().collect()
}

fn batches(scenario: &CrossconnectScenario, changes: &Changes) -> Table {
    let cut = caveat::cut_pairs(scenario, changes);
    let pairs_of =
        |number: usize| cut.iter().find(|(batch, _)| *batch == number).map_or(0, |(_, pairs)| pairs.len());
    let mut table =
        Table::new(&[">  batch", ">removed", ">added", ">dark meanwhile", ">pairs of pods cut off"]);
    for (number, batch) in changes.batches.iter().enumerate().take(LISTED) {
        let (removed, added) = of_batch(changes, number);
        table.row([
            format!("  {}", number + 1),
            removed.to_string(),
            added.to_string(),
            batch.dark_circuits.to_string(),
            pairs_of(number).to_string(),
        ]);
    }
    table
}

fn phases(order: &PhaseOrder) -> Table {
    let mut table = Table::new(&[">  phase", ""]);
    for (number, phase) in order.phases.iter().enumerate().take(LISTED) {
        let mut listed: Vec<String> = phase.iter().take(LISTED).map(ToString::to_string).collect();
        if phase.len() > LISTED {
            listed.push("…".to_owned());
        }
        table.row([format!("  {}", number + 1), listed.join(" ")]);
    }
    table
}
