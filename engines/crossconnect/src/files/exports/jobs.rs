//! Connections that every device removes and adds, batch by batch, and the steps that undo them.

use crate::files::devices::{Device, Ends, Lane};
use crate::files::exports::port_list;
use crate::plan::{Action, Batch, Changes, Entry};
use crate::scenario::CrossconnectScenario;
use lightbay_core::problem::{counted, printable};
use std::collections::HashMap;
use std::rc::Rc;
use strays::Strays;

mod strays;

/// Ways in which a format uses the whole state of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    /// The whole state replaces the present one.
    Replaces,
    /// The whole state is set up on a switch without connections.
    Fills,
}

/// The changes of one device in one batch.
#[derive(Clone, Debug)]
pub(super) struct BoxJob {
    /// Number of the device.
    pub device: u32,
    /// Number of the batch, from 1, or of the rollback step.
    pub batch: usize,
    /// Number of batches.
    pub batches: usize,
    /// `true` if the job undoes the change.
    pub rollback: bool,
    /// `true` if one connection carries both directions.
    pub bidirectional: bool,
    /// Connections to remove.
    pub removes: Vec<Lane>,
    /// Connections to add after the removals.
    pub adds: Vec<Lane>,
    /// All connections of the device after the job, if the job writes this state instead of the changes.
    pub whole: Option<Vec<Lane>>,
    /// `true` if the device has no connection before the job. Always `false` for a device with reserved ports, because
    /// such ports may hold connections of other users.
    pub starts_empty: bool,
    /// For every connection, a text for comments that names the circuit of the connection: pod, side, index and panel
    /// port of both ends.
    pub labels: Rc<HashMap<Lane, String>>,
    /// Remarks on the plan, safe for a comment.
    remarks: Rc<Vec<String>>,
    /// Name of the plan, safe for a comment.
    name: String,
}

/// Texts and names that all files of a plan share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told<'a> {
    /// Scenario, for names of pods.
    pub scenario: &'a CrossconnectScenario,
    /// Name of the plan.
    pub name: &'a str,
    /// Remarks on the plan, one sentence each.
    pub remarks: &'a [String],
    /// `true` if commands name a connection by its ingress port alone.
    pub by_ingress: bool,
}

impl BoxJob {
    /// Returns the title of the job, in one line.
    pub fn title(&self) -> String {
        let what = match &self.whole {
            Some(whole) => format!("{} in all", connections(whole.len())),
            None => {
                format!("{} to remove, {} to add", connections(self.removes.len()), self.adds.len())
            }
        };
        let Self { device, batch, batches, name, .. } = self;
        let back = if self.rollback { "back to the state before " } else { "" };
        let part = match (self.rollback, batches) {
            (_, 1) => String::new(),
            (false, _) => format!(", batch {batch} of {batches}"),
            (true, _) => format!(", rollback step {batch} of {batches}"),
        };
        format!("Switch {device}, {back}{name}{part}: {what}.")
    }

    /// Returns advice to the operator who runs the commands, and the remarks on the plan, in lines for a comment.
    pub fn advice(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.batches > 1 {
            lines.push("Finish a batch on all switches before the next one begins.".to_owned());
        }
        lines.push(
            "The last command reads the state back: compare it with the plan before you change anything else."
                .to_owned(),
        );
        lines.extend(self.remarks.iter().cloned());
        lines
    }

    /// Returns a text for a comment on the circuit of a connection.
    pub fn label(&self, lane: &Lane) -> &str {
        self.labels.get(lane).map_or("", String::as_str)
    }
}

fn connections(count: usize) -> String {
    counted(count as u64, "connection", "connections")
}

/// Returns a name without the characters that would end a comment.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for c in printable(name).chars().take(80) {
        if !(c == '-' && plain.ends_with('-')) {
            plain.push(c);
        }
    }
    plain
}

/// Returns the jobs of all devices: forward batch by batch, then the rollback, last batch first.
pub(super) fn of(told: Told<'_>, changes: &Changes, devices: &[Device], full: Option<Whole>) -> Vec<BoxJob> {
    let name = plain(told.name);
    let remarks = told.remarks.iter().map(|remark| commentable(remark)).collect();
    let remarks = Rc::new(remarks);
    if let Some(whole) = full {
        return all_at_once((told, &name, &remarks), changes, devices, whole);
    }
    let labels: Vec<Rc<HashMap<Lane, String>>> =
        devices.iter().map(|device| Rc::new(labels(told.scenario, changes, device))).collect();
    let strays: Vec<Strays> =
        devices.iter().map(|device| Strays::of(told.scenario, changes, device, told.by_ingress)).collect();
    // Connections that make no circuit are deleted even if no circuit changes.
    let nothing = [Batch { changes: Vec::new(), dark_circuits: 0 }];
    let steps = if changes.batches.is_empty() { &nothing[..] } else { &changes.batches[..] };
    let batches = steps.len();
    let mut forward = Vec::new();
    let mut back = Vec::new();
    let mut held: Vec<usize> = devices
        .iter()
        .zip(&strays)
        .map(|(device, strays)| {
            state(changes, device, Action::Add).len() + strays.stay.len() + strays.go.len()
        })
        .collect();
    for (number, batch) in steps.iter().enumerate() {
        let mut step = Vec::new();
        for (((device, labels), strays), held) in devices.iter().zip(&labels).zip(&strays).zip(&mut held) {
            let lanes = |action| -> Vec<Lane> {
                let entries = referred(changes, batch, device.ocs).filter(|entry| entry.action == action);
                entries.flat_map(|entry| device.lanes(ends(entry))).collect()
            };
            let (removes, mut adds) = (lanes(Action::Remove), lanes(Action::Add));
            adds.retain(|lane| !strays.stay.contains(lane));
            let (cleared, again): (&[Lane], &[Lane]) =
                if number == 0 { (&strays.go, &strays.again) } else { (&[], &[]) };
            if removes.is_empty() && adds.is_empty() && cleared.is_empty() {
                continue;
            }
            let job = BoxJob {
                device: device.id,
                batch: number + 1,
                batches,
                rollback: false,
                bidirectional: device.is_bidirectional(),
                removes,
                adds,
                whole: None,
                starts_empty: *held == 0 && !has_reserved(told.scenario, device),
                labels: Rc::clone(labels),
                remarks: Rc::clone(&remarks),
                name: name.clone(),
            };
            *held = (*held + job.adds.len()).saturating_sub(job.removes.len() + cleared.len());
            step.push(BoxJob {
                rollback: true,
                batch: batches - number,
                removes: job.adds.clone(),
                adds: job.removes.clone(),
                starts_empty: *held == 0 && !has_reserved(told.scenario, device),
                ..job.clone()
            });
            forward.push(strays::cleared(job, cleared, again));
        }
        back.push(step);
    }
    forward.extend(back.into_iter().rev().flatten());
    forward
}

fn all_at_once(
    (told, name, remarks): (Told<'_>, &str, &Rc<Vec<String>>),
    changes: &Changes,
    devices: &[Device],
    whole: Whole,
) -> Vec<BoxJob> {
    let job = |device: &Device, rollback: bool| {
        let new = state(changes, device, Action::Remove);
        let (removes, adds, whole) = match (whole, rollback) {
            (Whole::Fills, false) => (Vec::new(), new, None),
            (Whole::Fills, true) => (new, Vec::new(), None),
            (Whole::Replaces, false) => (Vec::new(), Vec::new(), Some(new)),
            (Whole::Replaces, true) => (Vec::new(), Vec::new(), Some(state(changes, device, Action::Add))),
        };
        BoxJob {
            device: device.id,
            batch: 1,
            batches: 1,
            rollback,
            bidirectional: device.is_bidirectional(),
            removes,
            adds,
            starts_empty: whole.is_none() && !rollback && !has_reserved(told.scenario, device),
            whole,
            labels: Rc::new(labels(told.scenario, changes, device)),
            remarks: Rc::clone(remarks),
            name: name.to_owned(),
        }
    };
    let with_ports = || devices.iter().filter(|device| device.has_ports());
    with_ports()
        .map(|device| job(device, false))
        .chain(with_ports().map(|device| job(device, true)))
        .collect()
}

/// Returns the connections of a device for all circuits except those whose entry has the action `gone`.
fn state(changes: &Changes, device: &Device, gone: Action) -> Vec<Lane> {
    let listed =
        changes.ocs.iter().filter(|ocs| ocs.ocs_id == device.ocs).flat_map(|ocs| &ocs.cross_connects);
    listed.filter(|entry| entry.action != gone).flat_map(|entry| device.lanes(ends(entry))).collect()
}

/// Returns `true` if a device's panel has reserved ports, which other users may use.
fn has_reserved(scenario: &CrossconnectScenario, device: &Device) -> bool {
    scenario.panel(device.ocs).is_some_and(|panel| panel.ports.iter().any(|port| port.reserved))
}

/// Returns a label for every connection of a device. The label names the circuit (pod, side, index and panel port of
/// both ends), or notes that the connection makes no circuit.
fn labels(scenario: &CrossconnectScenario, changes: &Changes, device: &Device) -> HashMap<Lane, String> {
    let listed =
        changes.ocs.iter().filter(|ocs| ocs.ocs_id == device.ocs).flat_map(|ocs| &ocs.cross_connects);
    let circuits = listed.flat_map(|entry| {
        let label = port_list::label(scenario, device.ocs, entry);
        device.lanes(ends(entry)).map(move |lane| (lane, label.clone()))
    });
    strays::labels(scenario, device).chain(circuits).collect()
}

/// Returns a sentence without the characters that would end a comment.
fn commentable(text: &str) -> String {
    printable(text).replace("--", "- -")
}

/// Returns the entries of a switch that a batch changes.
fn referred<'a>(changes: &'a Changes, batch: &'a Batch, ocs: u32) -> impl Iterator<Item = &'a Entry> {
    let listed = changes.ocs.iter().find(move |listed| listed.ocs_id == ocs);
    let references = batch.changes.iter().filter(move |reference| reference.ocs_id == ocs);
    references.filter_map(move |reference| listed?.cross_connects.get(reference.entry as usize))
}

/// Returns the panel numbers of both ports of a circuit.
const fn ends(entry: &Entry) -> Ends {
    Ends { a: entry.switch_port_a, b: entry.switch_port_b }
}
