//! `csv`: the changes of all switches as one table, in the order in which they are made, with pods and ports as in the
//! plan, from 0. Where there are several batches, a line that starts with `#` stands before each.

use super::File;
use crate::plan::{Action, Changes, Entry};
use std::fmt::Write as _;

/// Name of the format.
pub const NAME: &str = "csv";
/// What it is.
pub const HELP: &str = "The changes of all switches as one table in the order of execution, for people and spreadsheets; pods and ports count from 0.";

/// The columns.
pub const COLUMNS: [&str; 6] = ["ocs_id", "action", "pod_a", "port_a", "pod_b", "port_b"];

pub(super) fn files(changes: &Changes, full: bool) -> Vec<File> {
    let table = |rollback| table(changes, full, rollback);
    vec![
        File { name: "changes.csv".to_owned(), text: table(false), beside: None },
        File { name: "changes.rollback.csv".to_owned(), text: table(true), beside: Some(".rollback.csv") },
    ]
}

fn table(changes: &Changes, full: bool, rollback: bool) -> String {
    let mut text = COLUMNS.join(",");
    text.push('\n');
    if full {
        for ocs in &changes.ocs {
            for entry in ocs.cross_connects.iter().filter(|entry| entry.action == Action::Keep) {
                row(&mut text, ocs.ocs_id, Action::Keep, entry);
            }
        }
    }
    let count = changes.batches.len();
    let order: Vec<usize> = if rollback { (0..count).rev().collect() } else { (0..count).collect() };
    for (step, batch) in order.into_iter().enumerate() {
        if count > 1 {
            let _ =
                writeln!(text, "# {} {} of {count}", if rollback { "step back" } else { "batch" }, step + 1);
        }
        for done in [Action::Remove, Action::Add] {
            // Taking back is the other way round: what was added goes first.
            let planned = match (rollback, done) {
                (true, Action::Remove) => Action::Add,
                (true, _) => Action::Remove,
                (false, done) => done,
            };
            for reference in &changes.batches[batch].changes {
                let listed = changes.ocs.get(reference.ocs_id as usize);
                let entry = listed.and_then(|ocs| ocs.cross_connects.get(reference.entry as usize));
                if let Some(entry) = entry.filter(|entry| entry.action == planned) {
                    row(&mut text, reference.ocs_id, done, entry);
                }
            }
        }
    }
    text
}

fn row(text: &mut String, ocs: u32, action: Action, entry: &Entry) {
    let Entry { pod_a, port_a_index, pod_b, port_b_index, .. } = entry;
    let _ = writeln!(text, "{ocs},{},{pod_a},{port_a_index},{pod_b},{port_b_index}", action.word());
}
