//! Objective and figures of plans.

use crate::report::ITERATION;
use lightbay_core::kind::ObjectiveInfo;
use lightbay_core::metric::MetricInfo;
use lightbay_core::report::Unit;

/// Unit of times, which are stored in ms.
pub(crate) const MS: Unit = Unit::new("ms", 1.0, Some(3));
/// Unit of costs.
pub(crate) const USD: Unit = Unit::new("$", 1.0, Some(0));

/// The objective.
pub(super) const OBJECTIVE: ObjectiveInfo = ObjectiveInfo::min(
    "iteration_ms",
    "iteration",
    ITERATION,
    "Iteration time by an analytic model: all micro-batches through all stages, and the gradient \
     reduction.",
);

/// Every figure other than the objective, in the order in which tables show them.
pub(super) const METRICS: &[MetricInfo] = &[
    MetricInfo::neutral(
        "all_to_all_ms",
        "all-to-alls",
        MS,
        "Time of all all-to-alls of a micro-batch in the stage with the most layers.",
    )
    .in_header(2)
    .in_table("a2a", 8, 2)
    .in_comparison("a2a", [3, 1]),
    MetricInfo::neutral(
        "stall_ms",
        "stalls",
        MS,
        "Time per micro-batch that the stage with the most layers waits for circuits.",
    )
    .in_header(1)
    .in_table("stall", 8, 3)
    .in_comparison("stalls", [3, 1]),
    MetricInfo::input(
        "compute_ms",
        "compute",
        MS,
        "Compute time of a micro-batch in the stage with the \
         most layers.",
    ),
    MetricInfo::neutral(
        "data_parallel_ms",
        "gradients",
        MS,
        "Time of the gradient reduction between replicas, once per iteration.",
    ),
    MetricInfo::neutral(
        "to_fat_tree",
        "against fat-tree",
        Unit::RATIO,
        "Time of an iteration divided by its time on a fat-tree.",
    )
    .in_table("to FT", 6, 1)
    .in_comparison("to FT", [4, 2]),
    MetricInfo::neutral(
        "cluster_usd",
        "cost",
        USD,
        "Price of the network parts of the cluster, at the prices of the scenario.",
    ),
    MetricInfo::gain(
        "performance_per_dollar",
        "performance per dollar",
        Unit::RATIO,
        "Iterations per time and dollar of network, relative to a fat-tree.",
    )
    .in_table("perf/$", 6, 1)
    .in_comparison("perf/$", [4, 2]),
    MetricInfo::neutral(
        "reconfigurations",
        "changes",
        Unit::COUNT,
        "Number of reconfigurations of a region per micro-batch, without those whose delay is ignored by the policy 'paper'.",
    ),
];
