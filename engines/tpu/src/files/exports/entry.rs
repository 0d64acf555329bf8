//! Export formats by name: the scenario with its full topology, a study of networks of degree 4, and files for other
//! programs.

use super::{File, PodSubject, formats, write};
use crate::Tpu;
use crate::model::topology::Topology;
use crate::scenario::TopologyChoice;
use crate::scenario::presets;
use crate::search::radix4;
use lightbay_core::checked::Checked;
use lightbay_core::format::{Artifact, FormatInfo, INSTANCE, SubjectOf, SubjectSort, file_stem};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems, few};
use lightbay_core::scenario::Scenario;
use lightbay_core::watch::Unwatched;

/// Format of the study of networks of degree 4, whose content does not depend on the exported pod.
const RADIX4: &str = "radix4";

/// Default numbers of nodes of the networks in the study.
const RADIX4_NODES: [i64; 4] = [10, 20, 30, 40];

/// Returns all formats.
pub(crate) fn exporters() -> Vec<FormatInfo> {
    let instance = FormatInfo::new(
        INSTANCE,
        "The scenario with its full topology: the wiring of the torus or of the plan.",
        SubjectSort::Either,
        "json",
    )
    .leaving_out(&[
        "the routes and their virtual channels",
        "the throughput and its bounds",
        "the symmetry group",
    ]);
    let study = FormatInfo::new(
        RADIX4,
        "A separate study as CSV: throughput of directed networks of degree 4, by family and size.",
        SubjectSort::Either,
        "csv",
    )
    .leaving_out(&["the pod (the study covers other networks)"])
    .with(vec![
        ParamInfo::int_list(
            "radix4_nodes",
            2,
            200,
            "Numbers of nodes in the study. Default: 10, 20, 30 and 40.",
        ),
        ParamInfo::int("radix4_seed", 0, i64::MAX, 1, "Seed of the study's random networks."),
    ]);
    let mut all = vec![instance, study];
    all.extend(formats());
    all
}

/// Writes a scenario or plan in a format; `against` is the pod before the change.
pub(crate) fn export(
    subject: SubjectOf<'_, Tpu>,
    against: Option<SubjectOf<'_, Tpu>>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    match format {
        RADIX4 => study(subject.name(), params),
        INSTANCE => Ok(vec![Artifact::of_scenario(&explicit(subject)?, format)?]),
        _ => {
            let pod = wiring(subject)?;
            let failing = |subject: SubjectOf<'_, Tpu>| {
                wiring(subject).map(|pod| pod.failing(&subject.scenario().body.failed_ocs))
            };
            let before = against.map(failing).transpose().map_err(|problem| problem.under("against"))?;
            let subject = PodSubject {
                name: subject.name(),
                scenario: &subject.scenario().body,
                pod: &pod,
                result: match subject {
                    SubjectOf::Scenario(_) => None,
                    SubjectOf::Plan(plan) => Some(&plan.plan().result),
                },
                before: before.as_ref(),
            };
            artifacts(&subject, format, params)
        }
    }
}

/// Returns remarks on the files of a scenario or plan: the failed switches, whose circuits the files leave out.
pub(crate) fn remarks(subject: SubjectOf<'_, Tpu>, format: &str) -> Vec<String> {
    let failed: Vec<String> = subject.scenario().body.failed_ocs.iter().map(ToString::to_string).collect();
    let has_links = ["anynet", "circuits", "changes", "graphml", "dot", "svg"].contains(&format);
    if failed.is_empty() || !has_links {
        return Vec::new();
    }
    vec![format!("the file leaves out the circuits of the failed switches (failed_ocs): {}", few(&failed))]
}

/// Returns the scenario with its full topology.
fn explicit(subject: SubjectOf<'_, Tpu>) -> Result<Scenario<Tpu>, Problem> {
    let mut explicit = Scenario::clone(subject.scenario());
    let topology = match subject {
        SubjectOf::Scenario(scenario) => {
            scenario.body.named_topology()?.map(|pod| presets::given(&pod).topology)
        }
        SubjectOf::Plan(plan) => Some(TopologyChoice::Given(plan.plan().result.topology.clone())),
    };
    if let Some(topology) = topology {
        explicit.body.topology = topology;
        explicit.body.group = None;
    }
    Ok(explicit)
}

/// Returns the pod of a plan, or the pod that a scenario names.
fn wiring(subject: SubjectOf<'_, Tpu>) -> Result<Topology, Problem> {
    match subject {
        SubjectOf::Scenario(scenario) => wired(scenario),
        SubjectOf::Plan(plan) => designed(plan),
    }
}

fn wired(scenario: &Scenario<Tpu>) -> Result<Topology, Problem> {
    scenario.body.named_topology()?.ok_or_else(|| {
        Problem::new("topology", "is not designed yet", "solve the scenario first and export the plan")
    })
}

fn designed(plan: &Checked<Tpu>) -> Result<Topology, Problem> {
    plan.plan().result.topology.topology().map_err(|problem| problem.under("result.topology"))
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
        .map_err(|error| Problem::new("radix4_nodes", error.to_string(), "set other sizes"))?;
    Ok(vec![Artifact::new(format!("{}.{RADIX4}.csv", file_stem(name)), radix4::csv(&rows))])
}

fn artifacts(subject: &PodSubject<'_>, format: &str, params: &Params) -> Result<Vec<Artifact>, Problems> {
    let stem = file_stem(subject.name);
    let known = formats();
    let extension = known.iter().find(|known| known.name == format).map_or("txt", |known| known.extension);
    let first =
        if extension == format { format!("{stem}.{format}") } else { format!("{stem}.{format}.{extension}") };
    let artifact = |file: File| Artifact {
        name: file.beside.map_or_else(|| first.clone(), |ending| format!("{stem}{ending}")),
        beside: file.beside,
        ..Artifact::new(String::new(), file.text)
    };
    Ok(write(format, subject, params)?.into_iter().map(artifact).collect())
}
