//! Objective and figures of pods.

use super::LOSSY;
use lightbay_core::kind::{ObjectiveInfo, Sense};
use lightbay_core::metric::MetricInfo;
use lightbay_core::report::Unit;

/// Unit of throughputs per pair, which are small numbers.
const PER_PAIR: Unit = Unit::NUMBER;

/// The objective of pods: the proven throughput.
pub(super) const OBJECTIVE: ObjectiveInfo = ObjectiveInfo::max(
    "mcf_lower",
    "MCF",
    PER_PAIR,
    "Maximum concurrent flow: flits per cycle that every ordered pair of chips is proven to send at once over ideally \
     split routes.",
);

/// Every figure other than the objective, in the order in which tables show them.
pub(super) const METRICS: &[MetricInfo] = &[
    MetricInfo::bound(
        "bound",
        "bound",
        PER_PAIR.bounding(Sense::Max),
        "Proven upper bound on the concurrent flow of every pod of this scenario.",
    )
    .derived(|figures| figures.bound)
    .early_in_header(2),
    MetricInfo::bound(
        "mcf_upper",
        "MCF upper",
        PER_PAIR.bounding(Sense::Max),
        "Proven upper bound on the concurrent flow of this pod: the upper end of its certificate.",
    ),
    MetricInfo::restated(
        "n_mcf",
        "n x MCF",
        Unit::RATIO,
        Sense::Max,
        "Concurrent flow times the number of chips: about the flits per cycle that a chip sends to all others together \
         (exactly: n - 1 times the concurrent flow).",
    ),
    MetricInfo::cost(
        "avg_hops",
        "average hops",
        Unit::RATIO,
        "Mean distance of the ordered pairs of chips, in links.",
    )
    .in_table("hops", 5, 2)
    .in_comparison("avg hops", [4, 3]),
    MetricInfo::cost("diameter", "diameter", Unit::COUNT, "Largest distance of a pair of chips, in links."),
    MetricInfo::cost(
        "max_channel_load",
        "max channel load",
        Unit::COUNT,
        "Number of routes over the most loaded directed link, with one route per ordered pair of chips.",
    )
    .in_table("load", 5, 1)
    .in_comparison("max load", [0, 0]),
    MetricInfo::cost(
        "load_over_ideal",
        "load over ideal",
        Unit::new("x ideal load", 1.0, Some(2)),
        "Max channel load divided by the max channel load of ideally split routes (1 / MCF); shown if it exceeds 1.25.",
    )
    .derived(|figures| Some(figures.get("max_channel_load")? * figures.value).filter(|times| *times > LOSSY))
    .warning_in_header(1)
    .titled("routes"),
    MetricInfo::gain(
        "vc_ratio",
        "VC ratio",
        Unit::RATIO,
        "Hops on the least used virtual channel divided by hops on the most used one; 1 is balanced.",
    )
    .in_comparison("VC ratio", [4, 2]),
    MetricInfo::bound(
        "certified_gap",
        "certified gap",
        Unit::PERCENT,
        "Upper minus lower end of the certificate of this pod, divided by the lower end.",
    )
    .derived(|figures| Some(figures.get("mcf_upper")? / figures.value - 1.0).filter(|gap| gap.is_finite()))
    .in_header(3)
    .titled("certified to"),
    MetricInfo::cost(
        "worst_fault_load",
        "worst fault load",
        Unit::COUNT,
        "Largest max channel load over all failures of a single switch, with routes around the failed switch.",
    ),
    MetricInfo::gain(
        "saturation_flits_per_cycle_per_node",
        "saturation",
        Unit::FLITS,
        "Largest offered load per chip that the simulated routes deliver under uniform traffic, with the \
         allocator and speedup of the simulation.",
    ),
];
