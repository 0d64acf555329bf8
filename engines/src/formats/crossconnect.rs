//! Exports of kind `crossconnect`.

use super::{Artifact, FormatInfo, SubjectOf, SubjectSort, file_stem, write_problem};
use crate::subject::AnyScenario;
use lightbay_core::checked::Checked;
use lightbay_core::param::Params;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use lightbay_crossconnect::Crossconnect;
use lightbay_crossconnect::files::exports::{self, Subject};
use std::sync::Arc;

/// The one format that is a scenario again.
const INSTANCE: &str = "instance";

pub(crate) fn exporters() -> Vec<FormatInfo> {
    let mut all = vec![FormatInfo {
        name: INSTANCE,
        help: "The scenario with every circuit spelled out, instead of a random family and its seed.",
        of: SubjectSort::Either,
        leaves_out: &["the plan", "the random family that it was drawn from"],
        against: None,
        extension: "json",
        folder: false,
        params: Vec::new(),
    }];
    all.extend(exports::formats().into_iter().map(|format| FormatInfo {
        name: format.name,
        help: format.help,
        of: SubjectSort::Plan,
        leaves_out: format.leaves_out,
        against: None,
        extension: format.extension,
        folder: format.folder,
        params: format.params,
    }));
    all
}

pub(crate) fn export_scenario(
    scenario: &Arc<Scenario<Crossconnect>>,
    _against: Option<SubjectOf<'_, Crossconnect>>,
    format: &str,
    _params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    if format != INSTANCE {
        let problem =
            Problem::new("to", format!("'{format}' is written from a plan"), "solve the scenario first");
        return Err(problem.into());
    }
    let mut explicit = Scenario::clone(scenario);
    explicit.body.family = None;
    let name = format!("{}.{format}.json", file_stem(&explicit.name));
    let bytes = AnyScenario::Crossconnect(Arc::new(explicit)).to_json().map_err(write_problem)?;
    Ok(vec![Artifact { name, bytes, beside: None }])
}

pub(crate) fn export_plan(
    plan: &Arc<Checked<Crossconnect>>,
    against: Option<SubjectOf<'_, Crossconnect>>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    let plan = plan.plan();
    if format == INSTANCE {
        return export_scenario(&plan.scenario, against, format, params);
    }
    let subject = Subject { name: &plan.name, scenario: &plan.scenario.body, result: &plan.result };
    let stem = file_stem(&plan.name);
    let artifact = |file: exports::File| Artifact {
        name: format!("{stem}.{}", file.name),
        bytes: file.text.into_bytes(),
        beside: file.beside,
    };
    Ok(exports::write(format, &subject, params)?.into_iter().map(artifact).collect())
}
