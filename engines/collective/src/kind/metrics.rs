//! Objective and figures of schedules.

use crate::compose::figure;
use lightbay_core::kind::{ObjectiveInfo, Sense};
use lightbay_core::metric::MetricInfo;
use lightbay_core::report::Unit;

/// Unit of times, which are stored in µs.
pub(crate) const MICROSECONDS: Unit = Unit::new("µs", 1.0, Some(3));
/// Unit of lower bounds on times.
const LOWER_BOUND: Unit = MICROSECONDS.bounding(Sense::Min);
/// Unit of rates, which are stored in GB/s.
pub(crate) const GBYTE_PER_S: Unit = Unit::new("GB/s", 1.0, Some(3));

/// The objective.
pub(super) const OBJECTIVE: ObjectiveInfo = ObjectiveInfo::min(
    "finish_us",
    "finish",
    MICROSECONDS,
    "Completion time in whole epochs: the time \
         until the last delivery.",
);

/// Every figure other than the objective, in the order in which tables show them.
pub(super) const METRICS: &[MetricInfo] = &[
    MetricInfo::bound(
        figure::LOWER_BOUND,
        "at least",
        LOWER_BOUND,
        "Lower bound on the completion time of every schedule of whole chunks that has the chunk size and the \
         epoch length of the plan.",
    )
    .in_table("at least", 0, 2),
    MetricInfo::bound(
        figure::FLOOR,
        "floor",
        LOWER_BOUND,
        "Lower bound on the completion time for any number of chunks and any epoch length; includes latencies \
         only if 'alpha_threshold' of the plan is 0.",
    )
    .in_table("floor", 0, 2),
    MetricInfo::bound(
        figure::LATENCY_FLOOR,
        "bound on replay",
        LOWER_BOUND,
        "Lower bound on the completion time without epochs, for any number of chunks.",
    ),
    MetricInfo::bound(
        figure::FLOOR_GAP,
        "above the floor",
        Unit::PERCENT,
        "Completion time divided by 'floor', minus 1.",
    )
    .in_table("above", 0, 2),
    // Epochs of two plans may have different lengths, so that fewer epochs are not better.
    MetricInfo::neutral(figure::EPOCHS, "epochs", Unit::COUNT, "Epochs until the last delivery.")
        .in_table("epochs", 0, 3),
    MetricInfo::input(figure::EPOCH_US, "epoch", Unit::new("µs", 1.0, None), "Length of an epoch.")
        .in_table("epoch", 0, 4),
    MetricInfo::restated(
        figure::ALGBW,
        "algorithm bandwidth",
        GBYTE_PER_S,
        Sense::Max,
        "Buffer size divided by the completion time.",
    )
    .in_header(2)
    .titled("algbw")
    .in_table("GB/s", 0, 1)
    .in_comparison("algbw", [3, 1]),
    MetricInfo::cost(
        figure::REPLAY,
        "replay",
        MICROSECONDS,
        "Completion time without epochs: every transmission starts as soon as its data is there and its \
         link is free.",
    )
    .in_header(4)
    .in_comparison("replay", [3, 1]),
    // A schedule with fewer transmissions is not better, because the objective is the completion time.
    MetricInfo::neutral(figure::SENDS, "sends", Unit::COUNT, "Number of transmissions of chunks on links.")
        .in_comparison("sends", [0, 0]),
    MetricInfo::neutral(
        figure::BUSIEST,
        "busiest link",
        Unit::PERCENT,
        "Fraction of the completion time in which the busiest link transmits.",
    ),
];
