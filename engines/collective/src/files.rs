//! Files of other programs: topologies are read, schedules are written.
//!
//! | format | reader or writer |
//! |---|---|
//! | [`msccl`] | MSCCL and RCCL executors |
//! | [`mscclpp`] | the executor of MSCCL++ |
//! | [`traces`] | simulators that read Chakra traces, one file for each rank |
//! | [`tables`] | spreadsheets and scripts: every send |
//! | [`traffic`] | planners of circuits: loads of links and of pairs of groups |
//! | [`timeline`] | Perfetto: a track for every link |
//! | [`picture`] | reviews: links over time |
//! | [`tuner`] | NCCL: built-in algorithms by size |
//! | `handover` | plans of other kinds become networks |
//! | [`import`] | topologies of NCCL, RCCL, TACCL and MSCCL, inputs of the published TE-CCL program, schedules |

pub(crate) mod handover;
pub mod import;
pub mod msccl;
pub mod mscclpp;
mod occupation;
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
use lightbay_core::format::{Artifact, FormatInfo, SubjectOf, file_stem, needs_plan};
use lightbay_core::param::Params;
use lightbay_core::problem::{Problem, Problems};

/// All formats that are written.
pub(crate) fn formats() -> Vec<FormatInfo> {
    vec![
        msccl::format(),
        mscclpp::format(),
        traces::format(),
        tables::format(),
        traffic::format(),
        timeline::format(),
        picture::format(),
        tuner::format(),
    ]
}

/// Writes a plan.
///
/// # Errors
/// A scenario, or a plan that the format cannot express.
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
    let SubjectOf::Plan(plan) = subject else { return Err(needs_plan(format).into()) };
    let (scenario, result) = (&plan.plan().scenario.body, &plan.plan().result);
    if !result.trees.is_empty() {
        let message = "needs every send, and the plan keeps its trees in short form";
        let remedy = "solve with trees and a larger most_sends, or fewer most_pieces";
        return Err(Problem::new("to", message, remedy).into());
    }
    match format {
        msccl::NAME => {
            let algorithm = msccl::algorithm(subject.name(), scenario, result, params)?;
            Ok(one("xml", lightbay_formats::msccl::write(&algorithm)))
        }
        mscclpp::NAME => {
            let plan = mscclpp::plan(subject.name(), scenario, result, params)?;
            Ok(one("mscclpp.json", lightbay_formats::mscclpp::write(&plan)))
        }
        traffic::NAME => Ok(one("traffic.csv", traffic::table(scenario, result, params)?)),
        timeline::NAME => Ok(one("trace.json", timeline::trace(subject.name(), scenario, result)?)),
        picture::NAME => Ok(one("svg", picture::svg(subject.name(), scenario, result)?)),
        traces::NAME => traces::files(&stem, scenario, result),
        _ => Ok(one("sends.csv", tables::sends(scenario, result)?)),
    }
}
