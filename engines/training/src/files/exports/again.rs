//! Formats that lightbay can read back: explicit instances, and scenarios and plans with all replicas instead of one.

use crate::methods::figures;
use crate::model::collapse::expanded;
use crate::model::reduced_dag::Dominance;
use crate::simulate::replicas::expand_plan;
use crate::{Training, TrainingScenario};
use lightbay_core::checked::{AnyChecked as _, Checked};
use lightbay_core::format::{Artifact, FormatInfo, INSTANCE, SubjectSort, file_stem};
use lightbay_core::kind::Depth;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

pub(super) const EXPANDED: &str = "expanded";

pub(super) fn formats() -> Vec<FormatInfo> {
    vec![
        FormatInfo {
            name: INSTANCE,
            help: "The explicit inputs of a scenario or plan: pods, links, tasks and edges of the \
                 reduced DAG.",
            of: SubjectSort::Either,
            leaves_out: &[
                "the job parameters from which the inputs were derived",
                "the plan, if one is given",
            ],
            against: None,
            extension: "json",
            folder: false,
            streams: false,
            params: vec![ParamInfo::bool(
                "all_edges",
                false,
                "If true, keeps edges that other edges imply at this bandwidth, so that the bandwidth \
                 can be raised later.",
            )],
        },
        FormatInfo {
            name: EXPANDED,
            help: "The scenario or plan for all replicas, with real pods instead of mirrors.",
            of: SubjectSort::Either,
            leaves_out: &[
                "the job parameters from which the inputs were derived",
                "the bound of a plan, if all replicas together take longer than one replica",
            ],
            against: None,
            extension: "json",
            folder: false,
            streams: false,
            params: Vec::new(),
        },
    ]
}

pub(super) fn export_scenario(
    scenario: &Arc<Scenario<Training>>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    let instance = match (format, &scenario.body) {
        (EXPANDED, TrainingScenario::Job(job)) => expanded(job)?,
        // An instance is explicit already and has no replicas to expand.
        (_, TrainingScenario::Instance(instance)) => instance.clone(),
        _ => {
            let dominance =
                if params.bool("all_edges") { Dominance::KeepAll } else { Dominance::AtBandwidth };
            scenario.body.build_with(dominance)?.instance
        }
    };
    let explicit = Scenario::<Training> {
        name: scenario.name.clone(),
        body: TrainingScenario::Instance(instance),
        provenance: scenario.provenance.clone(),
    };
    Ok(vec![Artifact::of_scenario(&explicit, format)?])
}

pub(super) fn export_plan(
    plan: &Arc<Checked<Training>>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    if format == INSTANCE {
        return export_scenario(&plan.plan().scenario, format, params);
    }
    let original = plan.plan();
    let (instance, result) = match &original.scenario.body {
        TrainingScenario::Job(job) => expand_plan(job, &original.result)?,
        TrainingScenario::Instance(instance) => (instance.clone(), original.result.clone()),
        TrainingScenario::Shared(_) => return super::jobs::plans(original, format, params),
    };
    let scenario = Arc::new(Scenario {
        name: original.scenario.name.clone(),
        body: TrainingScenario::Instance(instance),
        provenance: original.scenario.provenance.clone(),
    });
    let mut wide = Plan { scenario, result, ..original.clone() };
    wide.provenance.scenario_sha256 = wide.scenario.sha256()?;
    recount(&mut wide);
    // The figures of one replica differ from the figures of all replicas, and the configurations of `robust` belong to
    // the job, not to its instance.
    wide.metrics = figures(&wide.scenario.body, &wide.result)?;
    wide.parameters.remove("robust");
    // Only checked plans are written, and this also holds for expanded plans.
    let wide = verified(wide, Depth::Usual, "the expanded plan")?;
    let bytes = wide.to_json()?;
    Ok(vec![Artifact::new(format!("{}.expanded.plan.json", file_stem(&original.name)), bytes)])
}

/// Checks a plan and returns it if the checker accepts it.
///
/// # Errors
/// Every rule that the plan breaks.
pub(super) fn verified(
    plan: Plan<Training>,
    depth: Depth,
    what: &str,
) -> Result<Checked<Training>, Problems> {
    Checked::verify(plan, depth).map_err(|rejected| {
        let mut problems = Problems::new();
        for violation in rejected.violations {
            problems.push(Problem::new("", format!("{what} breaks {violation}"), "please report this"));
        }
        problems
    })
}

/// Replaces the makespan of a single replica by the makespan of all replicas if the two makespans differ.
///
/// The makespans can differ only if the number of GPUs per stage is odd and some sends share NICs with a gradient
/// exchange: the clockwise part of the exchange then has one flow more than the counter-clockwise part, so the two
/// parts delay the sends unequally. The changed plan has no bound, because the bound of one replica is not proven for
/// all replicas.
fn recount(wide: &mut Plan<Training>) {
    let TrainingScenario::Instance(instance) = &wide.scenario.body else { return };
    let ends = instance.tasks.iter().zip(&wide.result.tasks).map(|(task, run)| run.finish_s + task.tail_s);
    let makespan = ends.fold(0.0, f64::max);
    let value = wide.objective.value;
    if instance.tasks.is_empty() || (makespan - value).abs() <= 1e-9 * value {
        return;
    }
    wide.set_unproven(makespan);
}
