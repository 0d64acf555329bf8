//! Reading the result of a plan from JSON, all problems at once.
//!
//! Only the form is checked here; the checker verifies the plan.

use super::{
    JobPlan, JobResult, LinkCircuits, PhaseEvent, Phases, RateControl, Segment, TaskSchedule, TrainingResult,
};
use lightbay_core::problem::Problems;
use lightbay_core::read::{Fields, whole_numbers};
use lightbay_core::units::{LinkId, TaskId};

const MOST: i64 = u32::MAX as i64 - 1;
/// Times and volumes above this indicate a damaged file.
const HUGE: f64 = 1e18;

impl TrainingResult {
    /// Reads the keys of a `result`; values of a wrong type, values out of range and missing keys are problems. The
    /// caller must finish `fields`, which reports unknown keys.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let single = Self::read_one(fields, problems);
        let jobs = if fields.has("jobs") { fields.each("jobs", problems, job) } else { Some(Vec::new()) };
        let phases = if fields.has("phases") { phases(fields, problems).map(Some) } else { Some(None) };
        Some(Self { jobs: jobs?, phases: phases?, ..single? })
    }

    /// Reads the keys of a result for one job.
    fn read_one(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        const CONTROLS: [(&str, RateControl); 2] =
            [("fair", RateControl::Fair), ("joint", RateControl::Joint)];
        let rate_control = fields.choice("rate_control", &CONTROLS, problems);
        let topology = fields.each("topology", problems, |fields, problems| {
            let link = id(fields, "link", problems);
            let circuits = id(fields, "circuits", problems);
            Some(LinkCircuits { link: LinkId(link?), circuits: circuits? })
        });
        let ports_used = fields.int("ports_used", 0..=i64::MAX, problems);
        let ideal_makespan_s = fields.float("ideal_makespan_s", -HUGE..=HUGE, problems);
        let nct = match fields.optional("nct") {
            None => Some(None),
            Some(_) => fields.float("nct", -HUGE..=HUGE, problems).map(Some),
        };
        let tasks = fields.each("tasks", problems, task);
        Some(Self {
            rate_control: rate_control?,
            topology: topology?,
            ports_used: u64::try_from(ports_used?).ok()?,
            ideal_makespan_s: ideal_makespan_s?,
            nct: nct?,
            tasks: tasks?,
            jobs: Vec::new(),
            phases: None,
        })
    }
}

fn phases(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Phases> {
    let mut fields = fields.object("phases", problems)?;
    let switchings = id(&mut fields, "switchings", problems);
    let events = fields.each("events", problems, |fields, problems| {
        let (time_s, circuits) = (time(fields, "time_s", problems), ports(fields, "circuits", problems));
        Some(PhaseEvent { time_s: time_s?, circuits: circuits? })
    });
    fields.finish(problems);
    Some(Phases { switchings: switchings?, events: events? })
}

/// Reads one of several jobs; jobs within jobs are unknown keys.
fn job(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<JobResult> {
    let name = fields.text("name", problems).map(str::to_owned);
    let ports_per_pod = ports(fields, "ports_per_pod", problems);
    let (given, taken) = (ports(fields, "given", problems), ports(fields, "taken", problems));
    let (alone, shared) = (plan(fields, "alone", problems), plan(fields, "shared", problems));
    Some(JobResult {
        name: name?,
        ports_per_pod: ports_per_pod?,
        given: given?,
        taken: taken?,
        alone: alone?,
        shared: shared?,
    })
}

fn ports(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<Vec<u32>> {
    let path = fields.path_of(key);
    whole_numbers(fields.required(key, problems)?, &path, problems)
}

fn plan(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<JobPlan> {
    let mut fields = fields.object(key, problems)?;
    let makespan_s = time(&mut fields, "makespan_s", problems);
    let result = fields.object("result", problems).and_then(|mut inner| {
        let result = TrainingResult::read_one(&mut inner, problems);
        inner.finish(problems);
        result
    });
    fields.finish(problems);
    Some(JobPlan { makespan_s: makespan_s?, result: result? })
}

fn task(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<TaskSchedule> {
    let task = id(fields, "task", problems);
    let (start_s, finish_s) = (time(fields, "start_s", problems), time(fields, "finish_s", problems));
    let segments = fields.each("segments", problems, |fields, problems| {
        let (start_s, end_s) = (time(fields, "start_s", problems), time(fields, "end_s", problems));
        let volume_bytes = fields.float("volume_bytes", -HUGE..=HUGE, problems);
        Some(Segment { start_s: start_s?, end_s: end_s?, volume_bytes: volume_bytes? })
    });
    Some(TaskSchedule { task: TaskId(task?), start_s: start_s?, finish_s: finish_s?, segments: segments? })
}

fn time(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<f64> {
    fields.float(key, -HUGE..=HUGE, problems)
}

fn id(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<u32> {
    u32::try_from(fields.int(key, 0..=MOST, problems)?).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

    use super::*;
    use serde_json::{Value, json};

    fn read(value: &Value) -> Result<TrainingResult, Problems> {
        let mut problems = Problems::new();
        let mut fields = Fields::of(value, "result", &mut problems).expect("an object");
        let result = TrainingResult::read(&mut fields, &mut problems);
        fields.finish(&mut problems);
        problems.into_result(result).map(|result| result.expect("no problem, a result"))
    }

    #[test]
    fn a_result_reads_back_as_it_was_written() {
        let result = TrainingResult {
            rate_control: RateControl::Joint,
            topology: vec![LinkCircuits { link: LinkId(0), circuits: 3 }],
            ports_used: 6,
            ideal_makespan_s: 0.03,
            nct: None,
            tasks: vec![TaskSchedule {
                task: TaskId(0),
                start_s: 0.1,
                finish_s: 0.30000000000000004,
                segments: vec![Segment { start_s: 0.1, end_s: 0.30000000000000004, volume_bytes: 1e9 }],
            }],
            jobs: Vec::new(),
            phases: None,
        };
        let value = serde_json::to_value(&result).unwrap();
        assert_eq!(read(&value), Ok(result.clone()));

        let plan = |makespan_s| JobPlan { makespan_s, result: result.clone() };
        let job = JobResult {
            name: "a".to_owned(),
            ports_per_pod: vec![3, 4],
            given: vec![1, 0],
            taken: vec![0, 2],
            alone: plan(0.4),
            shared: plan(0.3),
        };
        let several = TrainingResult { jobs: vec![job], tasks: Vec::new(), topology: Vec::new(), ..result };
        let mut value = serde_json::to_value(&several).unwrap();
        assert_eq!(read(&value), Ok(several));
        value["jobs"][0]["shared"]["result"]["jobs"] = json!([]);
        value["jobs"][0]["given"] = json!([-1, 0]);
        let text = read(&value).unwrap_err().to_string();
        assert!(text.contains("result.jobs[0].shared.result.jobs: is not a known key"), "{text}");
        assert!(text.contains("result.jobs[0].given[0]: is '-1'"), "{text}");
    }

    #[test]
    fn every_fault_is_named() {
        let value = json!({
            "rate_control": "fairly", "topology": [{"link": 0, "circuits": 1.5}], "ports_used": -1,
            "ideal_makespan_s": 1.0, "nct": 1.0, "makespan_s": 1.0,
            "tasks": [{"task": 0, "start_s": 0.0, "finish_s": "late", "segments": []}]
        });
        let problems = read(&value).unwrap_err();
        let text = problems.to_string();
        for path in ["rate_control", "topology[0].circuits", "ports_used", "makespan_s", "tasks[0].finish_s"]
        {
            assert!(text.contains(&format!("result.{path}: ")), "{path} in {text}");
        }
        assert_eq!(problems.total(), 5, "{text}");
    }
}
