//! `csv`: the changes of all switches as one table, in the order in which they are made, with pods and ports as in the
//! plan, from 0. If there are several batches, a line that starts with `#` precedes each batch.

use super::File;
use super::script::{LineSort, Script};
use crate::plan::{Action, Changes, Entry};
use crate::rollout::caveat;
use crate::scenario::{CrossconnectScenario, Wiring};
use lightbay_core::cells;

/// Name of the format.
pub const NAME: &str = "csv";
/// Description of the format.
pub const HELP: &str = "The changes of all switches as one table in the order of execution, for people and spreadsheets; pods and ports count from 0, panel ports from 1 on each side of a switch.";

/// The columns that the import reads: pods and ports count from 0.
pub const COLUMNS: [&str; 6] = ["ocs_id", "action", "pod_a", "port_a", "pod_b", "port_b"];
/// Further columns for people: sides, port numbers from 1 on each side of the switch, names of the pods, batch number
/// from 1 (rollback tables number their own batches; kept circuits have none), and the name of the switch.
pub const MORE_COLUMNS: [&str; 8] =
    ["side_a", "panel_a", "pod_name_a", "side_b", "panel_b", "pod_name_b", "batch", "switch_name"];

pub(super) fn files(scenario: &CrossconnectScenario, changes: &Changes, full: bool) -> Vec<File> {
    let file = |name: &str, rollback, beside| {
        let (removes, adds) = changed(changes, rollback);
        File {
            name: name.to_owned(),
            script: table(scenario, changes, full, rollback),
            beside,
            switch: None,
            batch: 0,
            rollback,
            removes,
            adds,
        }
    };
    vec![file("changes.csv", false, None), file("changes.rollback.csv", true, Some(".rollback.csv"))]
}

fn table(scenario: &CrossconnectScenario, changes: &Changes, full: bool, rollback: bool) -> Script {
    let mut text = Script::plain(&[&COLUMNS[..], &MORE_COLUMNS[..]].concat().join(","));
    if full {
        for ocs in &changes.ocs {
            for entry in ocs.cross_connects.iter().filter(|entry| entry.action == Action::Keep) {
                row(&mut text, scenario, ocs.ocs_id, (Action::Keep, None), entry);
            }
        }
    }
    if let Some(remark) = caveat::strays(scenario).filter(|_| !rollback) {
        text.push(LineSort::Comment, format!("# {remark} This table lists circuits only."));
    }
    let count = changes.batches.len();
    let order: Vec<usize> = if rollback { (0..count).rev().collect() } else { (0..count).collect() };
    for (step, batch) in order.into_iter().enumerate() {
        if count > 1 {
            let what = if rollback { "rollback step" } else { "batch" };
            text.push(LineSort::Comment, format!("# {what} {} of {count}", step + 1));
        }
        for done in [Action::Remove, Action::Add] {
            // A rollback reverses the order: it removes the added circuits first.
            let planned = match (rollback, done) {
                (true, Action::Remove) => Action::Add,
                (true, _) => Action::Remove,
                (false, done) => done,
            };
            for reference in &changes.batches[batch].changes {
                let listed = changes.ocs.get(reference.ocs_id as usize);
                let entry = listed.and_then(|ocs| ocs.cross_connects.get(reference.entry as usize));
                if let Some(entry) = entry.filter(|entry| entry.action == planned) {
                    row(&mut text, scenario, reference.ocs_id, (done, Some(step + 1)), entry);
                }
            }
        }
    }
    text
}

fn row(
    text: &mut Script,
    scenario: &CrossconnectScenario,
    ocs: u32,
    (action, batch): (Action, Option<usize>),
    entry: &Entry,
) {
    let Entry { pod_a, port_a_index, switch_port_a, pod_b, port_b_index, switch_port_b, .. } = entry;
    let name = |pod: u32| cells::csv(&scenario.pod_name(pod as usize));
    let far = if scenario.wiring == Wiring::SingleSided { 'a' } else { 'b' };
    let batch = batch.map_or_else(String::new, |batch| batch.to_string());
    let sort = match action {
        Action::Remove => LineSort::Remove,
        Action::Add => LineSort::Add,
        Action::Keep => LineSort::Other,
    };
    let line = format!(
        "{ocs},{},{pod_a},{port_a_index},{pod_b},{port_b_index},a,{switch_port_a},{},{far},{switch_port_b},{},{batch},{}",
        action.word(),
        name(*pod_a),
        name(*pod_b),
        cells::csv(&scenario.ocs_name(ocs))
    );
    text.push(sort, line);
}

/// Returns the numbers of circuits that a table removes and adds.
fn changed(changes: &Changes, rollback: bool) -> (usize, usize) {
    let entries = || changes.ocs.iter().flat_map(|ocs| &ocs.cross_connects);
    let count = |action| entries().filter(|entry| entry.action == action).count();
    let (removes, adds) = (count(Action::Remove), count(Action::Add));
    if rollback { (adds, removes) } else { (removes, adds) }
}
