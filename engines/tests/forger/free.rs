//! What a plan may say without being believed or refused.

use crate::changes::Change;
use lightbay_core::param::ParamValue;
use lightbay_engines::method;
use serde::Deserialize as _;
use serde_json::Value;

/// Fields of any kind that no checker can know, each with the reason why nothing is gained by changing them.
const FREE: &[(&str, &str)] = &[
    ("provenance.lightbay_version", "any version may have written the plan"),
    ("provenance.started_at", "when a run began changes nothing about its plan"),
    ("provenance.elapsed_s", "how long a run took cannot be seen in its plan; that it is not negative can"),
    ("provenance.solver", "the name of a program that nothing rests on"),
    ("provenance.hot_start", "words on where a run started"),
    ("provenance.not_reproducible_because", "words on a plan that is said not to be reproducible"),
    ("provenance.forged", "provenance is free for additions"),
    ("seed", "any seed within range may have led to the plan"),
    ("threads", "any number of threads within range may have led to the plan"),
    ("notes", "free remarks"),
    ("forged", "unknown keys outside of result and scenario are warned about and not read"),
    ("limit", "which limit of its own ended a search that proves nothing"),
    (
        "method",
        "who found a plan cannot be seen in it; methods that do not exist, that do not take its parameters or \
                cannot have its status and bound are refused",
    ),
];

/// Fields that one kind leaves free, with the reason.
const FREE_OF_KIND: &[(&str, &str, &str)] = &[(
    "training",
    "result.rate_control",
    "a schedule that both controls can have is one of either; fair plans are simulated again and have to agree",
)];

/// Statuses that claim no more than the file shows: that nothing is proven, or a gap that stands beside them.
const CLAIM_NOTHING: &[&str] = &["feasible", "heuristic", "numerical_trouble", "gap_reached"];

/// Whether a change that passed is one that may.
pub fn is_free(kind: &str, change: &Change, forged: &Value) -> bool {
    let place = change.place.as_str();
    if place == "status" {
        return forged["status"].as_str().is_some_and(|status| CLAIM_NOTHING.contains(&status));
    }
    let listed = FREE.iter().any(|(field, _)| *field == place);
    let of_kind = FREE_OF_KIND.iter().any(|(of, field, _)| *of == kind && *field == place);
    listed || of_kind || place.strip_prefix("parameters.").is_some_and(|name| is_valid(kind, name, forged))
}

/// Whether the value of a parameter is one that the method takes, or its default. How a plan was searched for cannot be seen
/// in it; parameters that say something about the result have to agree with figures that the checker works out.
fn is_valid(kind: &str, name: &str, forged: &Value) -> bool {
    let name = name.trim_end_matches("[]");
    let info = forged["method"].as_str().and_then(|of| method(kind, of));
    let Some(param) = info.and_then(|info| info.params.into_iter().find(|param| param.name == name)) else {
        return false;
    };
    match &forged["parameters"][name] {
        Value::Null => forged["parameters"].get(name).is_none(),
        value => ParamValue::deserialize(value).is_ok_and(|value| param.accept(&value).is_ok()),
    }
}

/// Places where forgeries of a kind still pass.
pub fn known_gaps(kind: &str) -> &'static [&'static str] {
    match kind {
        "training" => TRAINING,
        "tpu" => TPU,
        "crossconnect" => CROSSCONNECT,
        _ => &[],
    }
}

const TRAINING: &[&str] = &[
    "/provenance/bound_covers",
    "a better value",
    "a better value that is optimal",
    "metrics.comm_ideal_s",
    "metrics.ideal_makespan_s",
    "metrics.makespan_alone_s",
    "metrics.nct",
    "metrics.nct_alone",
    "metrics.port_ratio",
    "metrics.ports_taken",
    "metrics.total_ports",
    "metrics.worst_nct",
    "objective.value",
    "provenance.bound_covers",
    "result.ideal_makespan_s",
    "result.jobs[].alone.makespan_s",
    "result.jobs[].alone.result.ideal_makespan_s",
    "result.jobs[].alone.result.nct",
    "result.jobs[].alone.result.tasks[].finish_s",
    "result.jobs[].alone.result.tasks[].segments[].end_s",
    "result.jobs[].alone.result.tasks[].segments[].start_s",
    "result.jobs[].alone.result.tasks[].segments[].volume_bytes",
    "result.jobs[].alone.result.tasks[].start_s",
    "result.jobs[].shared.makespan_s",
    "result.jobs[].shared.result.ideal_makespan_s",
    "result.jobs[].shared.result.nct",
    "result.jobs[].shared.result.tasks[].finish_s",
    "result.jobs[].shared.result.tasks[].segments[].end_s",
    "result.jobs[].shared.result.tasks[].segments[].start_s",
    "result.jobs[].shared.result.tasks[].segments[].volume_bytes",
    "result.jobs[].shared.result.tasks[].start_s",
    "result.nct",
    "result.tasks[].finish_s",
    "result.tasks[].segments[].end_s",
    "result.tasks[].segments[].start_s",
    "result.tasks[].segments[].volume_bytes",
    "result.tasks[].start_s",
];

const TPU: &[&str] = &[
    "/provenance/bound_covers",
    "metrics.avg_hops",
    "metrics.diameter",
    "metrics.max_channel_load",
    "metrics.mcf_upper",
    "metrics.n_mcf",
    "metrics.vc_ratio",
    "result.certificates.class_lengths[]",
    "result.routing.routes",
    "result.routing.unbalanced",
    "result.topology.symmetry",
];

const CROSSCONNECT: &[&str] = &[
    "/provenance/bound_covers",
    "metrics.added_circuits",
    "metrics.batches",
    "metrics.contended_phases",
    "metrics.kept_circuits",
    "metrics.least_pair_share",
    "metrics.lower_bound_removed_circuits",
    "metrics.max_dark_circuits",
    "metrics.max_dark_per_pod",
    "metrics.max_flows_per_pod_pair",
    "metrics.phases",
    "metrics.pod_pairs_short_of_circuits",
    "result.batches[].changes",
];
