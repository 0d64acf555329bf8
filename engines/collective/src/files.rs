//! Files of other programs: topologies are read, schedules are written.
//!
//! | format | reader or writer |
//! |---|---|
//! | [`msccl`] | MSCCL and RCCL executors |
//! | [`mscclpp`] | the executor of MSCCL++ |
//! | [`traces`] | simulators that read Chakra traces, one file for each rank |
//! | [`tables`] | spreadsheets and scripts: every send |
//! | [`traffic`] | planners of circuits: loads of links and of pairs of groups |
//! | `copies` | remarks on programs for networks whose switches copy or reduce |
//! | [`timeline`] | Perfetto: a track for every link |
//! | [`picture`] | reviews: links over time |
//! | `networks` | graph tools and simulators: the network without a schedule |
//! | [`tuner`] | NCCL: built-in algorithms by size |
//! | `handover` | conversion of plans of other kinds to networks |
//! | [`import`] | topologies of NCCL, RCCL, TACCL and MSCCL, inputs of the published TE-CCL program, schedules |

mod copies;
pub(crate) mod handover;
pub mod import;
pub mod msccl;
pub mod mscclpp;
mod networks;
pub(crate) mod occupation;
pub mod picture;
mod places;
pub mod tables;
pub mod timeline;
pub mod traces;
pub mod traffic;
pub mod transfers;
pub mod tuner;

#[cfg(test)]
mod tests;

use crate::Collective;
use crate::compose::unfolded;
use crate::plan::{CollectiveResult, SizeRange};
use crate::scenario::CollectiveScenario;
use lightbay_core::format::{Artifact, FormatInfo, SubjectOf, file_stem, needs_plan};
use lightbay_core::method::without_effect;
use lightbay_core::param::{ParamValue, Params};
use lightbay_core::problem::{Problem, Problems};
use std::borrow::Cow;

/// Maximum number of sends to which a plan in compact form is unfolded for an exported file.
const MOST_SENDS: u64 = 10_000_000;

/// Remark for files that contain one size only: they omit the schedules for the other sizes of the plan.
const OTHER_SIZES: &str = "schedules for the other sizes of a plan of several sizes";

/// Returns all formats that are written.
pub(crate) fn formats() -> Vec<FormatInfo> {
    let mut formats = vec![
        msccl::format(),
        mscclpp::format(),
        traces::format(),
        tables::format(),
        traffic::format(),
        timeline::format(),
        picture::format(),
        tuner::format(),
    ];
    formats.extend(networks::formats());
    formats
}

/// Returns the remarks on an exported file: the table for the NCCL tuner has one, and programs of ranks have one if
/// switches copy or reduce.
pub(crate) fn remarks(subject: SubjectOf<'_, Collective>, format: &str) -> Vec<String> {
    let program = [msccl::format(), mscclpp::format()].into_iter().find(|info| info.name == format);
    let remark = match (subject, program) {
        (SubjectOf::Plan(plan), Some(info)) => copies::remark(&info, plan.plan()),
        _ if format == tuner::NAME => Some(tuner::remark(&subject.scenario().body)),
        _ => None,
    };
    remark.into_iter().collect()
}

/// Returns the files that a format writes for a scenario or a plan.
///
/// # Errors
/// A scenario if the format needs a plan, or a subject that the format cannot express.
pub(crate) fn export(
    subject: SubjectOf<'_, Collective>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    let stem = file_stem(subject.name());
    let one = |ending: &str, text: String| vec![Artifact::new(format!("{stem}.{ending}"), text)];
    if format == tuner::NAME {
        return Ok(one("nccl_tuner.csv", tuner::table(&subject.scenario().body, params)?));
    }
    if networks::writes(format) {
        return Ok(vec![networks::file(format, &stem, &subject.scenario().body)?]);
    }
    let SubjectOf::Plan(plan) = subject else { return Err(needs_plan(format).into()) };
    let (scenario, result) = (&plan.plan().scenario.body, &plan.plan().result);
    let name = subject.name();
    if format == msccl::NAME || format == mscclpp::NAME {
        if result.ranges.is_empty() {
            return Ok(vec![program(format, name, (scenario, result), params, &stem)?]);
        }
        return programs_of_ranges(format, name, (scenario, result), params);
    }
    match format {
        traffic::NAME => return Ok(one("traffic.csv", traffic::table(scenario, result, params)?)),
        picture::NAME => return Ok(one("svg", picture::svg(name, scenario, result)?)),
        _ => {}
    }
    let result = &*listed(scenario, result)?;
    match format {
        timeline::NAME => Ok(one("trace.json", timeline::trace(name, scenario, result)?)),
        traces::NAME => traces::files(&stem, scenario, result),
        _ => Ok(one("sends.csv", tables::sends(scenario, result)?)),
    }
}

/// Returns the plan with every send, including sends that trees in compact form represent.
fn listed<'p>(
    scenario: &CollectiveScenario,
    result: &'p CollectiveResult,
) -> Result<Cow<'p, CollectiveResult>, Problem> {
    if result.trees.is_empty() {
        return Ok(Cow::Borrowed(result));
    }
    unfolded(scenario, result, MOST_SENDS).map(Cow::Owned).map_err(|why| {
        let message = format!("needs every send, but the plan stores its trees in compact form: {why}");
        Problem::new(
            "to",
            message,
            "export lightbay, traffic or svg, or solve with trees and a smaller most_pieces",
        )
    })
}

/// Writes the schedule of one size as a program for an executor.
fn program(
    format: &str,
    name: &str,
    (scenario, result): (&CollectiveScenario, &CollectiveResult),
    params: &Params,
    stem: &str,
) -> Result<Artifact, Problems> {
    let result = &*listed(scenario, result)?;
    if format == msccl::NAME {
        let algorithm = msccl::algorithm(name, scenario, result, params)?;
        return Ok(Artifact::new(format!("{stem}.xml"), lightbay_formats::msccl::write(&algorithm)));
    }
    let plan = mscclpp::plan(name, scenario, result, params)?;
    Ok(Artifact::new(format!("{stem}.mscclpp.json"), lightbay_formats::mscclpp::write(&plan)))
}

/// Writes a program for each range of sizes of the plan.
fn programs_of_ranges(
    format: &str,
    name: &str,
    (scenario, result): (&CollectiveScenario, &CollectiveResult),
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    let given = ["min_bytes", "max_bytes"].into_iter().filter(|knob| params.int(knob).is_some());
    let why = "on a plan of several sizes, because each range of the plan sets this limit";
    let mut problems = Problems::new();
    without_effect(given, why, "leave it out").for_each(|problem| problems.push(problem));
    problems.into_result(())?;
    let mut files = Vec::with_capacity(result.ranges.len());
    for range in &result.ranges {
        let mut params = params.clone();
        for (knob, bytes) in [("min_bytes", range.min_bytes), ("max_bytes", range.max_bytes)] {
            params.set(knob, ParamValue::Int(i64::try_from(bytes).unwrap_or(i64::MAX)));
        }
        let sized = scenario.sized(range.planned_for_bytes as f64);
        let stem = format!("{}.{}-{}", file_stem(name), range.min_bytes, range.max_bytes);
        files.push(program(format, name, (&sized, &range.schedule), &params, &stem)?);
    }
    let own = scenario.demand.output_buffer_bytes.and_then(|bytes| own_range(bytes, &result.ranges));
    if let Some([least, most]) = own {
        let mut params = params.clone();
        for (knob, bytes) in [("min_bytes", least), ("max_bytes", most)] {
            params.set(knob, ParamValue::Int(i64::try_from(bytes).unwrap_or(i64::MAX)));
        }
        let stem = format!("{}.{least}-{most}", file_stem(name));
        files.push(program(format, name, (scenario, result), &params, &stem)?);
    }
    Ok(files)
}

/// Returns the smallest and largest size for which the schedule of the buffer itself serves: from the range next to the
/// buffer size to this size. `None` if a range contains the buffer size.
fn own_range(buffer_bytes: f64, ranges: &[SizeRange]) -> Option<[u64; 2]> {
    let bytes = buffer_bytes as u64;
    let below = ranges.iter().map(|range| range.max_bytes).filter(|max| *max < bytes).max();
    let above = ranges.iter().map(|range| range.min_bytes).filter(|min| *min > bytes).min();
    let is_covered = ranges.iter().any(|range| (range.min_bytes..=range.max_bytes).contains(&bytes));
    let own = match (below, above) {
        (Some(below), _) => [below + 1, bytes],
        (None, Some(above)) => [bytes, above - 1],
        (None, None) => [bytes, bytes],
    };
    (!is_covered).then_some(own)
}
