//! No option does nothing: for every knob of every method, scenario, importer and exporter there is a case in which
//! changing its value changes the plan, the amount of work or what the run says. An entry without a case fails.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod collectives;
mod crossconnects;
mod formats;
mod idle;
mod methods;
mod pods;
mod programs;
mod regions;
mod runs;
mod scenarios;
mod traces;

use std::collections::BTreeSet;
use std::fmt::Debug;

/// Compares the entries of the catalogue with those that have a case.
fn assert_covered<K: Ord + Debug + Clone>(what: &str, entries: &[K], cases: &[K]) {
    let (known, tested): (BTreeSet<&K>, BTreeSet<&K>) = (entries.iter().collect(), cases.iter().collect());
    let without: Vec<_> = known.difference(&tested).collect();
    let stale: Vec<_> = tested.difference(&known).collect();
    assert!(without.is_empty(), "{what} without a case that shows what they do: {without:#?}");
    assert!(stale.is_empty(), "cases for {what} that do not exist: {stale:#?}");
    assert_eq!(cases.len(), tested.len(), "{what} with two cases");
}

/// Fails with every entry whose case changed nothing.
fn assert_all_changed(what: &str, idle: Vec<String>) {
    assert!(idle.is_empty(), "{what} that change nothing:\n{}", idle.join("\n"));
}
