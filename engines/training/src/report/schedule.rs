//! Start, end and mean rate of every task.

use super::pod_name;
use crate::analysis::Setting;
use crate::plan::TrainingResult;
use crate::scenario::instance::Instance;
use lightbay_core::report::{Cell, Column, Section, Table, Unit};

/// Number of rows that an overview shows.
const OVERVIEW: usize = 12;

pub(super) fn section(instance: &Instance, setting: &Setting, result: &TrainingResult) -> Section {
    let network = &setting.evaluator.network;
    let mut order: Vec<usize> = (0..result.tasks.len().min(instance.tasks.len())).collect();
    let start_s = |task: &usize| result.tasks[*task].start_s;
    order.sort_by(|a, b| start_s(a).total_cmp(&start_s(b)).then(a.cmp(b)));
    let columns = vec![
        Column::words("task", "task"),
        Column::words("src", "from"),
        Column::words("dst", "to"),
        Column::numbers("start_s", "start", Unit::SECONDS),
        Column::numbers("finish_s", "end", Unit::SECONDS),
        Column::numbers("mean_rate_nics", "mean rate / NIC rate", Unit::RATIO.with_decimals(2)),
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
    }
    Section::new("Schedule, by start", table)
}
