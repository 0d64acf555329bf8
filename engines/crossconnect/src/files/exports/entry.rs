//! Formats by name: what is the scenario again, and what controllers of switches and people read.

use super::{File, Subject, formats, write};
use crate::Crossconnect;
use lightbay_core::format::{Artifact, FormatInfo, INSTANCE, SubjectOf, SubjectSort, file_stem, needs_plan};
use lightbay_core::param::Params;
use lightbay_core::problem::Problems;
use lightbay_core::scenario::Scenario;

/// All formats.
pub(crate) fn exporters() -> Vec<FormatInfo> {
    let instance = FormatInfo::new(
        INSTANCE,
        "The scenario with every circuit spelled out, instead of a random family and its seed.",
        SubjectSort::Either,
        "json",
    );
    let mut all = vec![instance.leaving_out(&["the plan", "the random family that it was drawn from"])];
    all.extend(formats());
    all
}

/// Writes a scenario or plan in a format.
pub(crate) fn export(
    subject: SubjectOf<'_, Crossconnect>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    if format == INSTANCE {
        let mut explicit = Scenario::clone(subject.scenario());
        explicit.body.family = None;
        return Ok(vec![Artifact::of_scenario(&explicit, format)?]);
    }
    let SubjectOf::Plan(plan) = subject else { return Err(needs_plan(format).into()) };
    let plan = plan.plan();
    let stem = file_stem(&plan.name);
    let artifact = |file: File| Artifact {
        name: format!("{stem}.{}", file.name),
        bytes: file.text.into_bytes(),
        beside: file.beside,
    };
    let subject = Subject { name: &plan.name, scenario: &plan.scenario.body, result: &plan.result };
    Ok(write(format, &subject, params)?.into_iter().map(artifact).collect())
}
