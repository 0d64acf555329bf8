//! Several jobs on one set of pods: each job gets a separate file, because formats hold one network and one schedule.

use super::{Artifact, export_plan, export_scenario};
use crate::methods::figures;
use crate::model::jobs::separate;
use crate::scenario::shared::SharedPods;
use crate::{Training, TrainingScenario};
use lightbay_core::checked::Checked;
use lightbay_core::kind::Depth;
use lightbay_core::param::Params;
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// Writes every job with the ports that it brought.
pub(super) fn scenarios(
    scenario: &Scenario<Training>,
    shared: &SharedPods,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    let mut files = Vec::with_capacity(shared.jobs.len());
    for placed in &shared.jobs {
        let name = format!("{} {}", scenario.name, placed.name);
        let body = TrainingScenario::Job(placed.job.clone());
        files.extend(export_scenario(&Arc::new(Scenario::new(name, body)), format, params)?);
    }
    Ok(files)
}

/// Writes every job with its plan on the ports that it has after trading.
pub(super) fn plans(plan: &Plan<Training>, format: &str, params: &Params) -> Result<Vec<Artifact>, Problems> {
    let mut files = Vec::new();
    for single in single(plan)? {
        files.extend(export_plan(&Arc::new(single), format, params)?);
    }
    Ok(files)
}

/// Returns a separate plan for every job. A bound on the mean of all jobs is not a bound on one job.
pub(super) fn single(plan: &Plan<Training>) -> Result<Vec<Checked<Training>>, Problems> {
    let mut plans = Vec::new();
    for part in separate(&plan.scenario.body, &plan.result, plan.objective.value) {
        let name = format!("{} {}", plan.name, part.name);
        let metrics = figures(&part.scenario, &part.result)?;
        let mut single = Plan {
            scenario: Arc::new(Scenario::new(name.clone(), part.scenario)),
            name,
            metrics,
            result: part.result,
            ..plan.clone()
        };
        single.set_unproven(part.makespan_s);
        single.provenance.scenario_sha256 = single.scenario.sha256()?;
        let checked = Checked::verify(single, Depth::Usual).map_err(|rejected| {
            let mut problems = Problems::new();
            for violation in rejected.violations {
                let text = format!("the plan of one job is invalid: {violation}");
                problems.push(Problem::new("", text, "please report this"));
            }
            problems
        })?;
        plans.push(checked);
    }
    Ok(plans)
}
