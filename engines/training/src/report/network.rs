//! Pods with their ports, links with their circuits.

use super::{link_name, pod_name, task};
use crate::analysis::Setting;
use crate::plan::TrainingResult;
use crate::scenario::instance::{Instance, Link, LinkKind};
use lightbay_core::problem::counted;
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Column, Matrix, Phrase, Section, Table, Tone, Unit};

/// Index of the column of volumes in the table of links.
const VOLUME: usize = 5;

pub(super) fn pods(instance: &Instance, setting: &Setting, result: Option<&TrainingResult>) -> Section {
    let free = result.map(|result| match &result.phases {
        None => setting.evaluator.network.budget.free(&result.circuits()),
        // Maximum number of ports that a pod uses at a time.
        Some(phases) => {
            let peak = phases.peak_ports(instance).into_iter();
            peak.zip(&instance.pods).map(|(used, pod)| i64::from(pod.ports) - used as i64).collect()
        }
    });
    let mut columns = vec![Column::words("name", "pod"), Column::counts("ports", "ports")];
    if free.is_some() {
        columns.extend([Column::counts("used", "used"), Column::counts("free", "free")]);
    }
    let used = columns.len() - 2;
    let mut table = Table::new(["pod", "pods"], columns);
    if free.is_some() {
        table = table.bar(used);
    }
    for (index, pod) in instance.pods.iter().enumerate().filter(|(_, pod)| !pod.mirror) {
        let mut cells = vec![Cell::new(pod.name.as_str()), Cell::new(pod.ports)];
        if let Some(free) = free.as_ref().and_then(|free| free.get(index)) {
            cells.extend([Cell::new(i64::from(pod.ports) - free), Cell::new(*free)]);
        }
        table.row(cells).item = Some(index as u32);
    }
    let mirrors = instance.pods.iter().filter(|pod| pod.mirror).count();
    let mut section = Section::new("Pods", table);
    if let Some(result) = result.filter(|result| result.phases.is_none()) {
        section = section.on_screens("circuits", "circuits", matrix(instance, &result.circuits()));
    }
    if mirrors == 0 {
        return section;
    }
    let represent = counted(mirrors as u64, "mirror represents", "mirrors represent");
    section.remark(format!("One replica is planned; {represent} its ring neighbours."))
}

/// Circuits from pod to pod.
fn matrix(instance: &Instance, circuits: &[u32]) -> Matrix {
    let count = instance.pods.len();
    let names: Vec<String> = instance.pods.iter().map(|pod| pod.name.clone()).collect();
    let mut cells = vec![Cell::new("·").tone(Tone::Muted); count * count];
    for (link, set) in instance.links.iter().zip(circuits) {
        let (a, b) = (link.pod_a.index(), link.pod_b.index());
        for at in [a * count + b, b * count + a] {
            cells[at] = Cell::new(*set);
        }
    }
    Matrix {
        name: "circuits",
        unit: Unit::COUNT,
        rows: names.clone(),
        columns: names,
        cells,
        symmetric: true,
        shaded: true,
        ..Matrix::default()
    }
}

pub(super) fn links(instance: &Instance, setting: &Setting, result: Option<&TrainingResult>) -> Section {
    Section::new("Links", table(instance, setting, result, |_| true).bar(VOLUME))
}

/// The links of a pod.
pub(super) fn links_of(
    instance: &Instance,
    setting: &Setting,
    result: Option<&TrainingResult>,
    pod: usize,
) -> Section {
    let is_of = |link: &Link| [link.pod_a, link.pod_b].iter().any(|end| end.index() == pod);
    Section::new(format!("links of {}", pod_name(instance, pod)), table(instance, setting, result, is_of))
}

/// Table of links; `is_shown` selects the links.
fn table(
    instance: &Instance,
    setting: &Setting,
    result: Option<&TrainingResult>,
    is_shown: impl Fn(&Link) -> bool,
) -> Table {
    let network = &setting.evaluator.network;
    let circuits = result.map(TrainingResult::circuits);
    let columns = vec![
        Column::counts("id", "link"),
        Column::words("pod_a", "pod"),
        Column::words("pod_b", "pod"),
        Column::words("kind", "traffic").priority(1),
        Column::counts("tasks", "tasks"),
        Column::numbers("volume_bytes", "volume", Unit::GIGABYTES),
        Column::counts("fit", "possible").priority(3),
        Column::counts("useful", "useful").priority(2),
        Column::counts("circuits", "circuits"),
    ];
    let mut table = Table::new(["link", "links"], columns);
    for (index, link) in instance.links.iter().enumerate().filter(|(_, link)| is_shown(link)) {
        let tasks: Vec<u32> = network.carried[2 * index..2 * index + 2].concat();
        let volume = tasks.iter().fold(0.0, |sum, task| sum + network.volume[*task as usize]);
        let set = circuits.as_ref().and_then(|circuits| circuits.get(index).copied());
        let row = table.row(vec![
            Cell::new(index),
            Cell::new(pod_name(instance, link.pod_a.index())),
            Cell::new(pod_name(instance, link.pod_b.index())),
            Cell::new(traffic(link.kind)),
            Cell::new(tasks.len()),
            Cell::new(volume),
            Cell::new(network.budget.limit(index)),
            Cell::new(setting.circuit_bounds[index]),
            set.map_or_else(Cell::none, |set| Cell::new(set).tone(Tone::Answer)),
        ]);
        row.item = Some(index as u32);
        row.sentence = Phrase::new()
            .answer(format!("> {}", link_name(instance, index)))
            .text(set.map_or_else(String::new, |set| format!("  {}", task::circuits(set))))
            .muted(format!(", at most {} are useful", setting.circuit_bounds[index]))
            .muted(format!("; {}", counted(tasks.len() as u64, "task", "tasks")))
            .muted(format!(" with {} GB", number(volume, Unit::GIGABYTES)));
    }
    table
}

/// Parallelism whose traffic a link carries.
const fn traffic(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Pp => "pp",
        LinkKind::Dp => "dp",
        LinkKind::Mixed => "mixed",
    }
}
