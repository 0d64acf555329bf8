//! Tables for spreadsheets and other optimizers. Bytes are whole numbers; the bytes of the segments of a task add up to
//! the bytes of the task, and the bytes of all tasks add up to the traffic matrix.

use super::facts::{Explained, Facts, link_word, task_word, whole};
use lightbay_core::param::ParamInfo;
use lightbay_core::problem::{Problem, Problems};
use lightbay_formats::Value;
use lightbay_formats::csv::CsvTable;
use std::collections::BTreeMap;

const ALL: &str = "all";
const TASKS: &str = "tasks";
const SEGMENTS: &str = "segments";
const CIRCUITS: &str = "circuits";
const TRAFFIC: &str = "traffic";
const TRAFFIC_DENSE: &str = "traffic_dense";

/// Returns the parameter that selects the tables to write.
pub(super) fn table() -> ParamInfo {
    ParamInfo::choice(
        "table",
        &[ALL, TASKS, SEGMENTS, CIRCUITS, TRAFFIC, TRAFFIC_DENSE],
        ALL,
        "Table to write. Several tables need a folder; one table can go to standard output.",
    )
}

/// The tables that were requested, by name.
pub(super) fn files(facts: &Facts, asked: &str) -> Result<Vec<(&'static str, String)>, Problems> {
    let mut all = vec![(TASKS, tasks(facts))];
    if let Some(plan) = facts.explained() {
        all.push((SEGMENTS, segments(facts, plan)));
        all.push((CIRCUITS, circuits(facts, plan)));
    }
    all.push((TRAFFIC, traffic(facts)));
    all.push((TRAFFIC_DENSE, traffic_dense(facts)));
    all.retain(|(name, _)| asked == ALL || asked == *name);
    if all.is_empty() {
        let message = format!("table '{asked}' exists only for a plan");
        return Err(Problem::new("table", message, "solve the scenario first and export the plan").into());
    }
    Ok(all)
}

fn tasks(facts: &Facts) -> String {
    let network = facts.network();
    let ideal = &facts.setting().evaluator.ideal.trace;
    let mut columns = vec![
        "task",
        "name",
        "kind",
        "micro_batch",
        "stage",
        "replica",
        "src",
        "dst",
        "link",
        "flows",
        "bytes",
        "release_s",
        "tail_s",
        "least_s",
        "ideal_start_s",
        "ideal_finish_s",
    ];
    if facts.explained().is_some() {
        columns.extend(["start_s", "finish_s", "slack_s", "critical", "fair_finish_s"]);
    }
    let mut table = CsvTable::new(columns);
    for (index, task) in facts.instance().tasks.iter().enumerate() {
        let mut row: Vec<Value> = vec![
            Value::Int(index as i64),
            task.name.clone().into(),
            task_word(task.kind).into(),
            task.micro_batch.into(),
            task.stage.into(),
            task.replica.into(),
            facts.pod(task.src_pod.index()).into(),
            facts.pod(task.dst_pod.index()).into(),
            Value::Int(network.link_of(index as u32) as i64),
            task.flows.into(),
            facts.bytes(index).into(),
            task.release_s.into(),
            task.tail_s.into(),
            network.tau[index].into(),
            ideal.start[index].into(),
            ideal.finish[index].into(),
        ];
        if let Some(plan) = facts.explained() {
            let known = &plan.analysis.tasks[index];
            row.extend([
                known.start_s.into(),
                known.finish_s.into(),
                known.slack_s.into(),
                Value::from(if known.critical { "true" } else { "false" }),
                known.fair_finish_s.into(),
            ]);
        }
        table.row(row);
    }
    table.into_text()
}

fn segments(facts: &Facts, plan: &Explained) -> String {
    let rate = facts.network().rate;
    let mut table =
        CsvTable::new(["task", "name", "segment", "start_s", "end_s", "bytes", "rate_gbps", "rate_nics"]);
    for (index, (schedule, task)) in plan.result.tasks.iter().zip(&facts.instance().tasks).enumerate() {
        let (mut sent, mut written) = (0.0, 0);
        for (number, segment) in schedule.segments.iter().enumerate() {
            // Rounding the cumulative bytes, not each part, preserves the sum.
            sent += segment.volume_bytes;
            let last = number + 1 == schedule.segments.len();
            let upto = if last { facts.bytes(index) } else { whole(sent) };
            let length_s = segment.end_s - segment.start_s;
            let bytes_per_s = if length_s > 0.0 { segment.volume_bytes / length_s } else { 0.0 };
            table.row([
                Value::Int(index as i64),
                task.name.clone().into(),
                Value::Int(number as i64),
                segment.start_s.into(),
                segment.end_s.into(),
                Value::Int(upto - written),
                (bytes_per_s * 8e-9).into(),
                (bytes_per_s / rate).into(),
            ]);
            written = upto;
        }
    }
    table.into_text()
}

fn circuits(facts: &Facts, plan: &Explained) -> String {
    let mut table = CsvTable::new([
        "link",
        "pod_a",
        "pod_b",
        "kind",
        "circuits",
        "capacity_gbps",
        "useful_circuits",
        "ports_a",
        "ports_b",
        "bytes_ab",
        "bytes_ba",
        "busy_share",
        "peak_flows",
        "slack_s",
    ]);
    let nic_gbps = facts.instance().nic_bandwidth_gbps;
    for (index, (link, known)) in facts.instance().links.iter().zip(&plan.analysis.links).enumerate() {
        let [a, b] = facts.ends(index);
        let slack = if known.slack_s.is_finite() { known.slack_s.into() } else { Value::from("") };
        table.row([
            Value::Int(index as i64),
            a.into(),
            b.into(),
            link_word(link.kind).into(),
            known.circuits.into(),
            (f64::from(known.circuits) * nic_gbps).into(),
            known.bound.into(),
            (known.circuits * link.ports_a).into(),
            (known.circuits * link.ports_b).into(),
            facts.carried_bytes(2 * index).into(),
            facts.carried_bytes(2 * index + 1).into(),
            known.busy.into(),
            known.peak_flows.into(),
            slack,
        ]);
    }
    table.into_text()
}

/// Bytes that one pod sends to another pod, for every ordered pair of pods with traffic.
fn pairs(facts: &Facts) -> BTreeMap<(usize, usize), i64> {
    let mut pairs = BTreeMap::new();
    for (index, task) in facts.instance().tasks.iter().enumerate() {
        *pairs.entry((task.src_pod.index(), task.dst_pod.index())).or_default() += facts.bytes(index);
    }
    pairs
}

fn traffic(facts: &Facts) -> String {
    let mut table = CsvTable::new(["src", "dst", "bytes"]);
    for ((from, to), bytes) in pairs(facts) {
        table.row([facts.pod(from).into(), facts.pod(to).into(), Value::Int(bytes)]);
    }
    table.into_text()
}

fn traffic_dense(facts: &Facts) -> String {
    let pairs = pairs(facts);
    let mut table = CsvTable::new(std::iter::once("bytes from").chain(facts.pods.iter().map(String::as_str)));
    for (from, name) in facts.pods.iter().enumerate() {
        let cells = (0..facts.pods.len()).map(|to| Value::Int(pairs.get(&(from, to)).copied().unwrap_or(0)));
        table.row(std::iter::once(name.as_str().into()).chain(cells));
    }
    table.into_text()
}
