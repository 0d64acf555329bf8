//! Start, end and mean rate of every task.

use super::task::route;
use super::{link_name, pod_name};
use crate::analysis::Setting;
use crate::plan::TrainingResult;
use crate::scenario::instance::Instance;
use lightbay_core::problem::counted;
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Column, Phrase, Section, Table, Unit};

/// Number of rows that an overview shows.
const OVERVIEW: usize = 12;

pub(super) fn section(instance: &Instance, setting: &Setting, result: &TrainingResult) -> Section {
    let order = (0..result.tasks.len().min(instance.tasks.len())).collect();
    Section::new("Schedule, by start", table(instance, setting, result, order))
}

/// The tasks on a link: when they transfer, or before the first plan, how much.
pub(super) fn of_link(
    instance: &Instance,
    setting: &Setting,
    result: Option<&TrainingResult>,
    link: usize,
) -> Section {
    let carried = &setting.evaluator.network.carried;
    let tasks: Vec<usize> =
        carried[2 * link..2 * link + 2].concat().into_iter().map(|task| task as usize).collect();
    let title = format!("tasks on {}", link_name(instance, link));
    if let Some(result) = result {
        let tasks = tasks.into_iter().filter(|task| *task < result.tasks.len()).collect();
        return Section::new(title, table(instance, setting, result, tasks));
    }
    let columns = vec![
        Column::words("task", "task"),
        Column::words("src", "from"),
        Column::words("dst", "to"),
        Column::numbers("volume_bytes", "volume", Unit::GIGABYTES),
    ];
    let mut table = Table::new(["task", "tasks"], columns);
    for task in tasks.into_iter().filter_map(|task| instance.tasks.get(task)) {
        table.row(vec![
            Cell::new(task.name.as_str()),
            Cell::new(pod_name(instance, task.src_pod.index())),
            Cell::new(pod_name(instance, task.dst_pod.index())),
            Cell::new(task.volume_bytes),
        ]);
    }
    Section::new(title, table)
}

/// Table of tasks in the order of their starts.
fn table(instance: &Instance, setting: &Setting, result: &TrainingResult, mut order: Vec<usize>) -> Table {
    let network = &setting.evaluator.network;
    let start_s = |task: &usize| result.tasks[*task].start_s;
    order.sort_by(|a, b| start_s(a).total_cmp(&start_s(b)).then(a.cmp(b)));
    let columns = vec![
        Column::words("task", "task"),
        Column::words("src", "from"),
        Column::words("dst", "to"),
        Column::numbers("start_s", "start", Unit::SECONDS),
        Column::numbers("finish_s", "end", Unit::SECONDS),
        Column::numbers("mean_rate_nics", "mean NICs", Unit::RATIO.with_decimals(2)),
        Column::counts("flows", "flows"),
    ];
    let mut table = Table::new(["task", "tasks"], columns).overview(OVERVIEW);
    for index in order {
        let (schedule, task) = (&result.tasks[index], &instance.tasks[index]);
        // Mean rate in NICs: 1 is one flow at full speed.
        let seconds = schedule.finish_s - schedule.start_s;
        let rate = if seconds > 0.0 { task.volume_bytes / seconds / network.rate } else { 0.0 };
        let row = table.row(vec![
            Cell::new(task.name.as_str()),
            Cell::new(pod_name(instance, task.src_pod.index())),
            Cell::new(pod_name(instance, task.dst_pod.index())),
            Cell::new(schedule.start_s),
            Cell::new(schedule.finish_s),
            Cell::new(rate),
            Cell::new(task.flows),
        ]);
        row.item = Some(index as u32);
        let [start, end] =
            [schedule.start_s, schedule.finish_s].map(|seconds| number(seconds, Unit::SECONDS));
        row.sentence = Phrase::new()
            .answer(format!("> {}", task.name))
            .text(format!("  {}  {start} to {end} s", route(instance, index as u32)))
            .muted(format!(
                "; mean rate {} NICs, {}",
                number(rate, Unit::RATIO.with_decimals(2)),
                counted(task.flows.into(), "flow", "flows")
            ));
    }
    table
}
