//! Plans of the baselines, computed for the comparison with a plan.

use crate::model::assignment::Assignment;
use crate::model::task::Task;
use crate::scenario::CrossconnectScenario;
use crate::search::baselines::{relabel, scratch};
use crate::search::orient::{Preference, orient};
use crate::search::repair::repair;
use crate::search::start::{Tries, halved};
use lightbay_core::clock::Deadline;
use lightbay_core::random::Streams;
use lightbay_core::watch::StopTest;

/// Maximum number of circuits for which baselines are computed: each then takes less than about a second.
const MOST_CIRCUITS: u64 = 5_000;

/// The result of a method that starts from the scenario alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FromScratch {
    /// Name of the method.
    pub method: &'static str,
    /// Number of removed circuits.
    pub removed: u64,
    /// Number of removed circuits on each switch.
    pub per_switch: Vec<u32>,
}

/// Computes the baselines and the two constructions, each from scratch with default parameters; those that find no
/// solution, or that the deadline leaves no time for, are missing.
pub(super) fn from_scratch(scenario: &CrossconnectScenario, deadline: Deadline) -> Vec<FromScratch> {
    let task = Task::of(scenario);
    let circuits: u64 = task.wanted.iter().map(|cell| u64::from(cell.count)).sum();
    // Flows need ports with sides.
    if task.single_sided || circuits == 0 || circuits > MOST_CIRCUITS {
        return Vec::new();
    }
    let mut watch = StopTest::new(move || deadline.is_over());
    let streams = || Streams::new(0);
    let mut found: Vec<(&'static str, Assignment)> = Vec::new();
    if let Ok(plan) = scratch(&task, Tries::default(), streams(), &mut watch) {
        let renamed = relabel(&task, &plan, &mut watch);
        found.push(("lumos-scratch", plan));
        found.extend(renamed.ok().map(|plan| ("lumos-relabel", plan)));
    }
    if !deadline.is_over() {
        let plan = halved(&task, Tries::default(), streams(), &mut watch, |_, _, _| Ok(()));
        found.extend(plan.ok().map(|plan| ("lumos-halving", plan)));
    }
    if !deadline.is_over() {
        let all: Vec<usize> = (0..task.ocs_count).collect();
        let oriented = orient(&task, &all, &task.wanted, Preference::none(), &mut watch);
        let plan = oriented.ok().and_then(|demand| repair(&task, &demand, &task.installed, &mut watch).ok());
        found.extend(plan.map(|plan| ("lumos-repair", plan)));
    }
    found
        .into_iter()
        .map(|(method, plan)| {
            let plan = task.completed(&plan);
            let per_switch = task.removed_by_ocs(&plan).into_iter().map(|count| count as u32).collect();
            FromScratch { method, removed: task.removed(&plan), per_switch }
        })
        .collect()
}
