//! Terms of training jobs.

use lightbay_core::term::Term;

const DELTA: &str = "DELTA";

/// Terms of this kind in addition to its figures.
pub(super) const TERMS: &[Term] = &[
    Term::new("pod", "GPUs joined by a network of their own; circuits join pods."),
    Term::new(
        "replica",
        "One copy of the model: data parallelism trains replicas on different data. \
         Replicas with the same placement and the same ports get the same circuits.",
    )
    .also(&["DP replica"]),
    Term::new("stage", "A run of consecutive layers that pipeline parallelism puts on the same GPUs.")
        .also(&["pipeline stage"]),
    Term::new("micro-batch", "A part of the batch that passes through the pipeline as one unit.")
        .also(&["microbatch"]),
    Term::new(
        "ring neighbour",
        "A pod of another replica with which a pod exchanges gradients. If one replica represents all replicas, \
         mirror pods represent the ring neighbours of its pods.",
    )
    .also(&["ring", "ring neighbours", "mirror", "peer"]),
    Term::new(
        "DAG",
        "The computation-communication graph of an iteration: tasks are transfers between pods, edges carry \
         compute and fixed delays.",
    )
    .also(&["computation-communication DAG"])
    .source(DELTA),
    Term::new(
        "ideal network",
        "A network without shared circuits: every transfer runs at the full rate of its NICs.",
    )
    .also(&["ideal"]),
    Term::new(
        "critical path",
        "The tasks that determine the makespan: none of them can end later, at the planned rates, \
         without delaying the iteration.",
    ),
    Term::new(
        "slack",
        "How much later a task could end without delaying the iteration. Slack at full rate assumes that all later tasks \
         run as fast as the NICs allow; slack as planned assumes that they keep their planned durations.",
    ),
    Term::new(
        "max-min fair rates",
        "Rates without control: transfers that share circuits get equal rates, and capacity that one of them cannot use goes to the others.",
    )
    .also(&["fair", "max-min fair"]),
    Term::new("scheduled rates", "Rates that are part of the plan: senders follow the segments of its schedule.")
        .also(&["scheduled", "joint"]),
    Term::new("link", "Two pods that exchange data directly; circuits are allocated to links."),
    Term::new(
        "frontier",
        "The smallest number of ports for each iteration time, with static circuits and with reconfigurations.",
    ),
    Term::new("makespan bound", "A lower bound on the makespan of every plan."),
    Term::new(
        "useful circuits",
        "Number of circuits of a link beyond which further circuits do not shorten the iteration: the maximum number of \
         flows on the link that can be active at the same time.",
    )
    .also(&["max useful", "useful"])
    .source("DELTA, Algorithm 2"),
    Term::new(
        "tail-exact",
        "A job in which only transfers at the end of the iteration compete; the shortest makespan on given circuits is then computed exactly.",
    ),
    Term::new(
        "capacity loss",
        "Additional time that a task takes because its link has fewer circuits than the task has flows.",
    )
    .also(&["too few"]),
    Term::new(
        "contention delay",
        "Additional time that a task takes because it shares circuits or NICs with other tasks.",
    )
    .also(&["contention"]),
    Term::new(
        "sensitivity",
        "The gain of one more port and the cost of one fewer circuit, computed as differences between best plans: \
         the shadow prices of ports and circuits.",
    )
    .also(&["shadow price", "prices"]),
    Term::new("spare circuits", "Circuits of a link on which every task has slack: the link could give up one of them.")
        .also(&["donors"]),
    Term::new("MFU", "Model FLOPs utilisation: the share of the peak rate of a GPU that training reaches."),
];
