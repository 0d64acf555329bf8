//! Exports of kind `tpu`.

use super::{Artifact, FormatInfo, SecondSubject, SubjectOf, SubjectSort, file_stem, write_problem};
use crate::subject::AnyScenario;
use lightbay_core::checked::Checked;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use lightbay_core::watch::Unwatched;
use lightbay_tpu::Tpu;
use lightbay_tpu::files::exports::{self, Subject};
use lightbay_tpu::model::topology::Topology;
use lightbay_tpu::scenario::TopologyChoice;
use lightbay_tpu::scenario::presets;
use lightbay_tpu::search::radix4;
use std::sync::Arc;

/// The one format that is a scenario again.
const INSTANCE: &str = "instance";

/// The study of networks of degree 4, which is of no pod.
const RADIX4: &str = "radix4";

/// Sizes of the study unless others are asked for.
const RADIX4_NODES: [i64; 4] = [10, 20, 30, 40];

pub(crate) fn exporters() -> Vec<FormatInfo> {
    let mut all = vec![FormatInfo {
        name: INSTANCE,
        help: "The scenario with its topology spelled out: that of a torus, or that of the plan.",
        of: SubjectSort::Either,
        leaves_out: &[
            "the routes and their virtual channels",
            "the throughput and its bounds",
            "the symmetry group",
        ],
        against: None,
        extension: "json",
        folder: false,
        params: Vec::new(),
    }];
    all.push(FormatInfo {
        name: RADIX4,
        help: "A study beside the pod, as CSV: what directed networks of degree 4 carry, by family and size.",
        of: SubjectSort::Either,
        leaves_out: &["the pod (the study covers other networks)"],
        against: None,
        extension: "csv",
        folder: false,
        params: vec![
            ParamInfo::int_list(
                "radix4_nodes",
                2,
                200,
                "Numbers of nodes in the study. Default: 10, 20, 30 and 40.",
            ),
            ParamInfo::int("radix4_seed", 0, i64::MAX, 1, "Seed of the study's random networks."),
        ],
    });
    all.extend(exports::formats().into_iter().map(|format| FormatInfo {
        name: format.name,
        help: format.help,
        of: if format.needs_plan { SubjectSort::Plan } else { SubjectSort::Either },
        leaves_out: format.leaves_out,
        against: format.replaced_by_before.map(|knob| SecondSubject {
            of: SubjectSort::Either,
            help: "the pod as it is wired before",
            replaces: Some(knob),
        }),
        extension: format.extension,
        folder: false,
        params: format.params,
    }));
    all
}

pub(crate) fn export_scenario(
    scenario: &Arc<Scenario<Tpu>>,
    against: Option<SubjectOf<'_, Tpu>>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    if format == RADIX4 {
        return study(&scenario.name, params);
    }
    if format == INSTANCE {
        let named = scenario.body.named_topology()?;
        let mut explicit = Scenario::clone(scenario);
        if let Some(pod) = named {
            explicit.body.topology = presets::given(&pod).topology;
            explicit.body.group = None;
        }
        return written(explicit, format);
    }
    let pod = wired(scenario)?;
    let before = against.map(state).transpose()?;
    let subject = Subject {
        name: &scenario.name,
        scenario: &scenario.body,
        pod: &pod,
        result: None,
        before: before.as_ref(),
    };
    artifacts(&subject, format, params)
}

pub(crate) fn export_plan(
    plan: &Arc<Checked<Tpu>>,
    against: Option<SubjectOf<'_, Tpu>>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    if format == RADIX4 {
        return study(&plan.plan().name, params);
    }
    let (scenario, result) = (&plan.plan().scenario, &plan.plan().result);
    if format == INSTANCE {
        let mut explicit = Scenario::clone(scenario);
        explicit.body.topology = TopologyChoice::Given(result.topology.clone());
        explicit.body.group = None;
        return written(explicit, format);
    }
    let pod = designed(plan)?;
    let before = against.map(state).transpose()?;
    let subject = Subject {
        name: &plan.plan().name,
        scenario: &scenario.body,
        pod: &pod,
        result: Some(result),
        before: before.as_ref(),
    };
    artifacts(&subject, format, params)
}

/// The pod that a scenario names.
fn wired(scenario: &Scenario<Tpu>) -> Result<Topology, Problem> {
    scenario.body.named_topology()?.ok_or_else(|| {
        Problem::new("topology", "is not designed yet", "solve the scenario first and export the plan")
    })
}

/// The pod of a plan.
fn designed(plan: &Checked<Tpu>) -> Result<Topology, Problem> {
    plan.plan().result.topology.topology().map_err(|problem| problem.under("result.topology"))
}

/// The pod before, as a second subject says.
fn state(against: SubjectOf<'_, Tpu>) -> Result<Topology, Problem> {
    match against {
        SubjectOf::Scenario(scenario) => wired(scenario),
        SubjectOf::Plan(plan) => designed(plan),
    }
    .map_err(|problem| problem.under("against"))
}

fn study(name: &str, params: &Params) -> Result<Vec<Artifact>, Problems> {
    let asked = params.ints("radix4_nodes").filter(|sizes| !sizes.is_empty());
    let sizes: Vec<usize> = asked
        .unwrap_or_else(|| RADIX4_NODES.to_vec())
        .into_iter()
        .filter_map(|nodes| usize::try_from(nodes).ok())
        .collect();
    let seed = params.int("radix4_seed").and_then(|seed| u64::try_from(seed).ok()).unwrap_or(1);
    let rows = radix4::study(&sizes, seed, &mut Unwatched::default())
        .map_err(|error| Problem::new("radix4_nodes", error.to_string(), "ask for other sizes"))?;
    let name = format!("{}.{RADIX4}.csv", file_stem(name));
    Ok(vec![Artifact { name, bytes: radix4::csv(&rows).into_bytes(), beside: None }])
}

fn artifacts(subject: &Subject<'_>, format: &str, params: &Params) -> Result<Vec<Artifact>, Problems> {
    let stem = file_stem(subject.name);
    let known = exports::formats();
    let extension = known.iter().find(|known| known.name == format).map_or("txt", |known| known.extension);
    let first =
        if extension == format { format!("{stem}.{format}") } else { format!("{stem}.{format}.{extension}") };
    let files = exports::write(format, subject, params)?;
    let artifact = |file: exports::File| Artifact {
        name: file.beside.map_or_else(|| first.clone(), |ending| format!("{stem}{ending}")),
        bytes: file.text.into_bytes(),
        beside: file.beside,
    };
    Ok(files.into_iter().map(artifact).collect())
}

fn written(scenario: Scenario<Tpu>, format: &str) -> Result<Vec<Artifact>, Problems> {
    let name = format!("{}.{format}.json", file_stem(&scenario.name));
    let bytes = AnyScenario::Tpu(Arc::new(scenario)).to_json().map_err(write_problem)?;
    Ok(vec![Artifact { name, bytes, beside: None }])
}
