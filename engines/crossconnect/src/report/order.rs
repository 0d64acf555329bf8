//! The phases of an all-to-all.

use super::OVERVIEW;
use crate::plan::{PhaseOrder, PhaseRule};
use lightbay_core::report::{Cell, Column, Facts, Section, Table};

/// Destinations that are written out before the rest is only hinted at.
const DESTINATIONS: usize = 16;

pub(super) fn section(order: &PhaseOrder) -> Section {
    let mut facts = Facts::new();
    let rule = match order.rule {
        PhaseRule::Printed => "as printed",
        PhaseRule::Corrected => "corrected",
    };
    facts.add("rule", "order", rule);
    facts.add("gpus_per_pod", "GPUs in a pod", order.gpus_per_pod);
    facts.add("phases", "phases", order.phases.len());
    facts.add("max_flows_per_pod_pair", "flows between two pods, at most", order.max_flows_per_pod_pair);
    facts.add("contended_phases", "phases with contention", order.contended_phases);
    let columns = vec![Column::counts("phase", "phase"), Column::words("destinations", "destinations")];
    let mut table = Table::new(["phase", "phases"], columns).overview(OVERVIEW);
    for (number, phase) in order.phases.iter().enumerate() {
        let mut listed: Vec<String> = phase.iter().take(DESTINATIONS).map(ToString::to_string).collect();
        if phase.len() > DESTINATIONS {
            listed.push("…".to_owned());
        }
        table.row(vec![Cell::new(number + 1), Cell::new(listed.join(" "))]);
    }
    Section::empty("Phases").block("order", "Phases", facts).block(
        "list",
        "Destinations: GPU that GPU 0, 1, 2, … sends to",
        table,
    )
}
