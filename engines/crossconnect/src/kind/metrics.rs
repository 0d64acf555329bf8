//! Objective and figures of changes of cross-connects.

use lightbay_core::kind::{ObjectiveInfo, Sense};
use lightbay_core::metric::MetricInfo;
use lightbay_core::report::Unit;

/// The objective.
pub(super) const OBJECTIVE: ObjectiveInfo = ObjectiveInfo::min(
    "removed_circuits",
    "removed",
    Unit::COUNT,
    "Number of installed circuits at working ports that are removed by the change, on all switches.",
);

/// Every figure other than the objective, in the order in which tables show them.
pub(super) const METRICS: &[MetricInfo] = &[
    MetricInfo::input(
        "installed_circuits",
        "installed",
        Unit::COUNT,
        "Number of installed circuits at working ports: kept and removed circuits.",
    )
    .derived(|figures| Some(figures.get("kept_circuits")? + figures.value).filter(|all| *all > 0.0))
    .early_in_header(2)
    .titled("of"),
    MetricInfo::input(
        "set_up_circuits",
        "set up",
        Unit::COUNT,
        "Number of circuits that the change sets where none is installed.",
    )
    .derived(|figures| {
        let installed = figures.get("kept_circuits")? + figures.value;
        figures.get("added_circuits").filter(|_| installed == 0.0)
    })
    .early_in_header(2),
    MetricInfo::bound("bound", "bound", Unit::COUNT, "Proven lower bound on the removals of every plan.")
        .derived(|figures| figures.bound)
        .early_in_header(1),
    MetricInfo::restated(
        "kept_circuits",
        "kept",
        Unit::COUNT,
        Sense::Max,
        "Installed circuits that stay on their ports.",
    )
    .in_comparison("kept", [0, 0]),
    MetricInfo::restated(
        "added_circuits",
        "added",
        Unit::COUNT,
        Sense::Min,
        "Circuits that the change sets.",
    )
    .in_comparison("added", [0, 0]),
    MetricInfo::bound(
        "lower_bound_removed_circuits",
        "removed, at least",
        Unit::COUNT,
        "Lower bound on the removals of every plan, from counting the circuits of every pair of pods.",
    ),
    MetricInfo::input(
        "forced_removed_circuits",
        "forced removals",
        Unit::COUNT,
        "Installed circuits on failed ports, which every plan removes; not counted as removed.",
    ),
    MetricInfo::cost(
        "unmet_circuits",
        "unmet",
        Unit::COUNT,
        "Target circuits that the plan does not set because ports have failed.",
    ),
    MetricInfo::input(
        "lower_bound_unmet_circuits",
        "unmet, at least",
        Unit::COUNT,
        "Lower bound on the unmet target circuits of every plan, from counting working ports.",
    ),
    MetricInfo::cost("batches", "batches", Unit::COUNT, "Number of batches in which the change is made.")
        .in_header(3)
        .in_table("bat", 3, 2)
        .in_comparison("batches", [0, 0]),
    MetricInfo::cost(
        "max_dark_circuits",
        "max dark",
        Unit::COUNT,
        "Maximum number of circuits that carry nothing during a batch.",
    ),
    MetricInfo::cost(
        "max_dark_per_pod",
        "max dark in a pod",
        Unit::COUNT,
        "Maximum number of circuits that one pod lacks during a batch.",
    )
    .in_table("dark", 4, 1)
    .in_comparison("dark a pod", [0, 0]),
    MetricInfo::gain(
        "least_pair_share",
        "smallest pair share",
        Unit::RATIO,
        "Smallest fraction of its circuits that a pair of pods keeps during a batch; 0: a pair is cut \
         off.",
    ),
    MetricInfo::gain(
        "dark_limit_kept",
        "dark limit kept",
        Unit::COUNT,
        "1 if no pod lacks more circuits in a batch than the rollout allows, 0 otherwise.",
    ),
    MetricInfo::gain(
        "pair_share_kept",
        "pair share kept",
        Unit::COUNT,
        "1 if every pair of pods keeps the fraction of its circuits that the rollout requires, 0 \
         otherwise.",
    ),
    MetricInfo::input(
        "predicted_makespan_s",
        "predicted makespan",
        Unit::SECONDS,
        "Time of one training iteration, as predicted by the plan that chose the circuits; omitted if the \
         plan does not set all target circuits.",
    ),
    MetricInfo::input("phases", "phases", Unit::COUNT, "Number of phases of the all-to-all.").in_header(3),
    MetricInfo::cost(
        "max_flows_per_pod_pair",
        "max flows per pod pair",
        Unit::COUNT,
        "Maximum number of flows between two pods in any phase of the all-to-all.",
    ),
    MetricInfo::cost(
        "contended_phases",
        "contended phases",
        Unit::COUNT,
        "Number of phases of the all-to-all in which some GPU receives more than one flow.",
    ),
    MetricInfo::cost(
        "pod_pairs_short_of_circuits",
        "pairs short of circuits",
        Unit::COUNT,
        "Number of pairs of pods whose circuits are fewer than the max flows per pod pair.",
    ),
];
