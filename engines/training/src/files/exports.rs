//! Exports of kind `training`.
//!
//! | format | reader |
//! |---|---|
//! | `instance`, `expanded` | this program: the explicit inputs, all replicas |
//! | `csv` | spreadsheets, other optimizers |
//! | `dot`, `graphml` | Graphviz, networkx, Gephi |
//! | `svg` | people in a review |
//! | `trace` | ui.perfetto.dev, chrome://tracing |

use crate::report::alternatives;
use crate::{Training, TrainingScenario};
use facts::Facts;
use lightbay_core::checked::{BoundTrust, Checked};
use lightbay_core::clock::Deadline;
use lightbay_core::format::{Artifact, FormatInfo, INSTANCE, SubjectOf, SubjectSort, file_stem};
use lightbay_core::kind::{Depth, EXACT_LIMIT};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use lightbay_formats::graph as files;
use std::sync::Arc;

mod again;
pub(crate) mod chakra;
mod facts;
mod graph;
mod jobs;
mod picture;
mod tables;
mod trace;
mod verdict;

const CSV: &str = "csv";
const DOT: &str = "dot";
const GRAPHML: &str = "graphml";
const SVG: &str = "svg";
const TRACE: &str = "trace";

/// Returns all formats.
pub(crate) fn exporters() -> Vec<FormatInfo> {
    let format = |name, help, of, extension, params| {
        FormatInfo::new(name, help, of, extension).leaving_out(leaves_out(name)).with(params)
    };
    let mut all = again::formats();
    let graph = || vec![graph::what(), replicas()];
    all.extend([
        format(
            CSV,
            "Tables: tasks and traffic between pods (long and dense); for a plan, also schedule segments \
             and circuits.",
            SubjectSort::Either,
            "csv",
            vec![tables::table(), replicas()],
        ),
        format(
            DOT,
            "Topology or DAG for Graphviz: draw it with `dot -Tsvg`.",
            SubjectSort::Either,
            "dot",
            graph(),
        ),
        format(
            GRAPHML,
            "Topology or DAG with all figures as attributes, for networkx, Gephi and yEd.",
            SubjectSort::Either,
            "graphml",
            graph(),
        ),
        format(
            SVG,
            "Picture of a plan for a review: topology, circuits, timeline; also readable in black and \
             white.",
            SubjectSort::Plan,
            "svg",
            Vec::new(),
        ),
        format(
            TRACE,
            "Timeline for ui.perfetto.dev and chrome://tracing: a slice for every segment of every task and for every compute step.",
            SubjectSort::Plan,
            "json",
            Vec::new(),
        ),
    ]);
    let traces = format(
        chakra::CHAKRA,
        "Chakra traces of a job, one file for each GPU, with its groups and pods: for ASTRA-sim and other simulators.",
        SubjectSort::Either,
        "et",
        Vec::new(),
    );
    all.push(FormatInfo { folder: true, ..traces });
    all
}

/// Returns the parts of a plan that are not in the files of a format.
fn leaves_out(format: &str) -> &'static [&'static str] {
    const BOUND: &str = "the bound and the gap";
    const PARAMETERS: &str = "the parameters of the job and of the method";
    match format {
        CSV => &[BOUND, PARAMETERS, "the edges between tasks"],
        DOT | GRAPHML => &["the times and rates of the flows", BOUND, PARAMETERS],
        SVG => &["the volumes of the tasks", PARAMETERS],
        chakra::CHAKRA => &[
            "the circuits",
            BOUND,
            "the ports of the pods",
            "the rates of NICs and inside pods",
            "collectives inside pods, whose time is part of the computations",
        ],
        _ => &["the circuits", BOUND, PARAMETERS],
    }
}

fn replicas() -> ParamInfo {
    ParamInfo::choice(
        "replicas",
        &["one", "all"],
        "one",
        "Replicas to write: one (the planned replica, with mirrors of its neighbours) or all.",
    )
}

/// Writes a scenario or plan in a format.
pub(crate) fn export(
    subject: SubjectOf<'_, Training>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    match subject {
        SubjectOf::Scenario(scenario) => export_scenario(scenario, format, params),
        SubjectOf::Plan(plan) => export_plan(plan, format, params),
    }
}

fn export_scenario(
    scenario: &Arc<Scenario<Training>>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    if let TrainingScenario::Shared(shared) = &scenario.body {
        return jobs::scenarios(scenario, shared, format, params);
    }
    if [INSTANCE, again::EXPANDED].contains(&format) {
        return again::export_scenario(scenario, format, params);
    }
    if format == chakra::CHAKRA {
        return traces(&scenario.name, &scenario.body);
    }
    write(&Facts::of_scenario(scenario, all(params))?, format, params)
}

/// Returns the Chakra traces of a job, or a problem if the scenario is not a single job.
fn traces(name: &str, scenario: &TrainingScenario) -> Result<Vec<Artifact>, Problems> {
    let TrainingScenario::Job(job) = scenario else {
        let message =
            "is written from a job; an instance has no computations, only the time between transfers";
        return Err(Problem::new("to", message, "give a scenario with `job`, or export `instance`").into());
    };
    chakra::files(&file_stem(name), job)
}

fn export_plan(
    plan: &Arc<Checked<Training>>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    if let TrainingScenario::Shared(_) = &plan.plan().scenario.body {
        return jobs::plans(plan.plan(), format, params);
    }
    if [INSTANCE, again::EXPANDED].contains(&format) {
        return again::export_plan(plan, format, params);
    }
    if format == chakra::CHAKRA {
        return traces(&plan.plan().name, &plan.plan().scenario.body);
    }
    let facts = Facts::of_plan(plan.plan(), all(params))?;
    let stem = file_stem(&facts.name);
    match format {
        SVG => Ok(vec![one(format!("{stem}.svg"), picture::svg(&*confirmed(plan)?, &facts))]),
        TRACE => Ok(vec![one(format!("{stem}.trace.json"), trace::text(plan.plan(), &facts)?)]),
        _ => write(&facts, format, params),
    }
}

/// Returns the plan. If its bound is only claimed by the method, the checker first tries to prove the bound within a
/// time limit, so that a file for a review does not rely on the claim.
fn confirmed(plan: &Arc<Checked<Training>>) -> Result<Arc<Checked<Training>>, Problems> {
    if plan.bound_trust() != BoundTrust::Claimed {
        return Ok(Arc::clone(plan));
    }
    again::verified(plan.plan().clone(), Depth::Exact(Deadline::after(EXACT_LIMIT)), "the plan").map(Arc::new)
}

/// Returns the plans that get reports: the plan itself, and for several jobs also the plan of each job.
///
/// # Errors
/// A plan that the checker refuses.
pub(crate) fn reviewed(plan: &Arc<Checked<Training>>) -> Result<Vec<Arc<Checked<Training>>>, Problems> {
    let TrainingScenario::Shared(_) = &plan.plan().scenario.body else { return Ok(vec![confirmed(plan)?]) };
    let mut all = vec![Arc::clone(plan)];
    for part in jobs::single(plan.plan())? {
        all.push(confirmed(&Arc::new(part))?);
    }
    Ok(all)
}

/// Returns sentences that rate a plan: its makespan, its proof, and a comparison with simple allocations. Returns no
/// sentence for several jobs, whose plans are rated one by one.
///
/// # Errors
/// A plan that cannot be analysed.
pub(crate) fn verdict(plan: &Checked<Training>) -> Result<Vec<String>, Problems> {
    if matches!(plan.plan().scenario.body, TrainingScenario::Shared(_)) {
        return Ok(Vec::new());
    }
    let facts = Facts::of_plan(plan.plan(), false)?;
    let mut lines = verdict::lines(plan, &facts);
    let lead = facts.explained().and_then(|explained| alternatives::lead(&explained.analysis));
    lines.extend(lead);
    Ok(lines)
}

fn all(params: &Params) -> bool {
    params.text("replicas") == Some("all")
}

/// Writes the formats that scenarios and plans have in common.
fn write(facts: &Facts, format: &str, params: &Params) -> Result<Vec<Artifact>, Problems> {
    let stem = file_stem(&facts.name);
    if format == CSV {
        let tables = tables::files(facts, params.text("table").unwrap_or_default())?;
        let file = |(name, text)| one(format!("{stem}.{name}.csv"), text);
        return Ok(tables.into_iter().map(file).collect());
    }
    let what = params.text("what").unwrap_or_default();
    let of = if what == graph::DAG { graph::dag } else { graph::topology };
    let text = match format {
        GRAPHML => files::graphml(&of(facts, false)),
        _ => files::dot(&of(facts, true)),
    };
    Ok(vec![one(format!("{stem}.{what}.{format}"), text)])
}

fn one(name: String, text: String) -> Artifact {
    Artifact::new(name, text)
}
