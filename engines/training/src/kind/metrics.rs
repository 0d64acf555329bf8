//! Objective and figures of training plans.

use lightbay_core::kind::{ObjectiveInfo, Sense};
use lightbay_core::metric::{MetricInfo, Relation};
use lightbay_core::report::Unit;

/// The objective of training plans: the makespan.
pub(super) const OBJECTIVE: ObjectiveInfo = ObjectiveInfo::min(
    "makespan_s",
    "makespan",
    Unit::SECONDS,
    "Time of one training iteration, from its first computation to the end of its last computation or transfer.",
);

/// Every figure other than the objective, in the order in which tables show them.
pub(super) const METRICS: &[MetricInfo] = &[
    MetricInfo::restated(
        "nct",
        "NCT",
        Unit::RATIO,
        Sense::Min,
        "Normalised completion time: 1 + (makespan - ideal makespan) / communication on the critical path of the ideal \
         network; 1 is ideal.",
    )
    .early_in_header(0)
    .in_table("NCT", 6, 0)
    .ideal(1.0)
    .in_comparison("NCT", [4, 4]),
    MetricInfo::restated(
        "loss_s",
        "loss over ideal",
        Unit::MILLISECONDS,
        Sense::Min,
        "Makespan minus the ideal makespan.",
    )
    .derived(|figures| Some(figures.value - figures.get("ideal_makespan_s")?))
    .in_comparison("loss ms", [3, 2]),
    MetricInfo::cost(
        "total_ports",
        "ports",
        Unit::COUNT,
        "Ports that carry circuits, over all pods of one replica; a circuit uses one at each end.",
    )
    .out_of(|figures| {
        let share = figures.get("port_ratio").filter(|share| *share > 0.0)?;
        Some((figures.get("total_ports")? / share).round())
    })
    .in_header(2)
    .in_table("P", 0, 1)
    .in_comparison("ports", [0, 0]),
    MetricInfo::restated(
        "port_ratio",
        "port utilisation",
        Unit::RATIO,
        Sense::Min,
        "Share of the ports of the pods that carry circuits.",
    ),
    MetricInfo::input(
        "ideal_makespan_s",
        "ideal makespan",
        Unit::SECONDS,
        "Makespan on the ideal network, where every transfer runs at the full rate of its NICs as soon as it may start.",
    )
    .relation(Relation::IdealObjective),
    MetricInfo::input(
        "comm_ideal_s",
        "ideal communication",
        Unit::SECONDS,
        "Time of the transfers on the critical path of the ideal network; the denominator of NCT.",
    )
    .relation(Relation::Yardstick("of ideal comm.")),
    MetricInfo::cost(
        "worst_nct",
        "worst NCT",
        Unit::RATIO,
        "Largest NCT over the configurations that a robust plan is made for.",
    ),
    MetricInfo::input(
        "mean_makespan_s",
        "mean makespan",
        Unit::SECONDS,
        "Mean makespan over the configurations that a robust plan is made for.",
    ),
    MetricInfo::input(
        "makespan_alone_s",
        "makespan alone",
        Unit::SECONDS,
        "Weighted mean makespan of the jobs if each uses only its own ports.",
    ),
    MetricInfo::input(
        "nct_alone",
        "NCT alone",
        Unit::RATIO,
        "Weighted mean NCT of the jobs if each uses only its own ports.",
    ),
    MetricInfo::cost(
        "ports_taken",
        "ports in",
        Unit::COUNT,
        "Ports that one job uses and that belong to another job.",
    ),
];
