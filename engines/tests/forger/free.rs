//! Statements of a plan that are neither believed nor refused.

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
const FREE_OF_KIND: &[(&str, &str, &str)] = &[
    (
        "training",
        "result.rate_control",
        "a schedule that both controls can have is one of either; fair plans are simulated again and have to agree",
    ),
    (
        "tpu",
        "result.certificates.class_lengths[]",
        "any lengths that prove the claimed upper end are as good a certificate",
    ),
    (
        "tpu",
        "result.certificates.link_lengths[]",
        "any lengths that prove the claimed upper end are as good a certificate",
    ),
    (
        "collective",
        "provenance.bound_covers",
        "a bound in epochs of another length is one too; only that in those of the plan counts as verified",
    ),
    (
        "collective",
        "result.claims.bounds",
        "any path, cut or sum over links that gives as many epochs proves the same bound",
    ),
    (
        "collective",
        "result.claims.floor.with_latency.target",
        "any destination inside the cut that is as far behind it proves the same floor",
    ),
    (
        "collective",
        "result.trees[].trees[].edges",
        "another order of the hops is the same tree, as long as each begins where one before has arrived",
    ),
    (
        "crossconnect",
        "result.batches",
        "another order of batches is as good if every step is possible and as much is dark, which is counted again",
    ),
];

/// Parts that a plan may leave out or have fewer of: it claims less then.
const OPTIONAL: &[(&str, &str, &str)] = &[
    ("tpu", "result.routing.unbalanced", "what was there before balancing"),
    ("tpu", "result.topology.symmetry", "a symmetry; without it the pod is checked in full"),
    ("tpu", "result.simulation", "figures of the simulator"),
    ("tpu", "result.faults", "cases of failed switches"),
    ("tpu", "result.faults[].routing", "routes of a case; its figures are said to be claimed then"),
    ("tpu", "result.faults[].routing.unbalanced", "what was there before balancing"),
    ("tpu", "result.faults[].saturation_flits_per_cycle_per_node", "a figure of the simulator"),
    ("collective", "result.trees[].adds_up", "the phase of a part; without it, that of its place counts"),
];

/// Changes that make a part smaller or take it away.
const SMALLER: &[&str] =
    &["to null", "removed", "emptied", "without its first entry", "without its last entry"];

/// Figures that only the exact depth works out: it has to refuse them, and until then they have to be called claimed.
const EXACT_ONLY: &[(&str, &str)] =
    &[("tpu", "result.simulation"), ("tpu", "result.faults[].saturation_flits_per_cycle_per_node")];

/// Figures of routes that the plan leaves out for its size: nobody can count them, and they have to be called claimed.
const LEFT_OUT: &[(&str, &str)] =
    &[("tpu", "result.routing.claims.vc_hops"), ("tpu", "result.routing.unbalanced")];

/// True if a place holds figures that only the exact depth works out.
pub fn is_for_exact(kind: &str, change: &Change) -> bool {
    EXACT_ONLY.iter().any(|(of, place)| *of == kind && change.place.starts_with(place))
}

/// True if a place holds figures of something that the plan leaves out.
pub fn is_left_out(kind: &str, change: &Change, forged: &Value) -> bool {
    let none = |routes: &Value| routes.as_array().is_some_and(Vec::is_empty);
    let out = forged.pointer("/result/routing/routes").is_some_and(none);
    LEFT_OUT.iter().any(|(of, place)| *of == kind && change.place.starts_with(place)) && out
}

/// Statuses that claim no more than the file shows: that nothing is proven, or a gap that stands beside them.
const CLAIM_NOTHING: &[&str] = &["feasible", "heuristic", "numerical_trouble", "gap_reached"];

/// Returns `true` if a change that passed is one that may.
pub fn is_free(kind: &str, change: &Change, forged: &Value) -> bool {
    let place = change.place.as_str();
    if place == "status" {
        return forged["status"].as_str().is_some_and(|status| CLAIM_NOTHING.contains(&status));
    }
    let listed = FREE.iter().any(|(field, _)| *field == place);
    let of_kind = FREE_OF_KIND.iter().any(|(of, field, _)| *of == kind && *field == place);
    let optional = OPTIONAL.iter().any(|(of, field, _)| *of == kind && *field == place);
    listed
        || of_kind
        || (optional && SMALLER.contains(&change.what.as_str()))
        || place.strip_prefix("parameters.").is_some_and(|name| is_valid(kind, name, forged))
}

/// Returns `true` if the value of a parameter is one that the method takes, or its default. How a plan was searched for
/// cannot be seen in it; parameters that say something about the result have to agree with figures that the checker
/// works out.
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

const TRAINING: &[&str] = &[];

const TPU: &[&str] = &[];

const CROSSCONNECT: &[&str] = &[];
