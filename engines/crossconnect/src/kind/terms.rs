//! Terms of cross-connects.

use lightbay_core::term::Term;

/// Terms of this kind in addition to the names of its figures.
pub(super) const TERMS: &[Term] = &[
    Term::new(
        "cross-connect",
        "The setting of a switch that joins two of its ports: an A port and a B port, if its ports have sides.",
    )
    .also(&["cross-connects"]),
    Term::new(
        "logical topology",
        "The number of circuits that each pair of pods is to have, whichever switches hold them.",
    )
    .also(&["target", "target circuits"]),
    Term::new("installed circuits", "Circuits that the switches hold now."),
    Term::new(
        "rewiring",
        "Removing and adding cross-connects to get from the installed to the target circuits.",
    ),
    Term::new(
        "dark circuit",
        "A circuit that is out of service during a batch: removed, and not yet replaced.",
    )
    .also(&["dark"]),
    Term::new("batch", "A step of a change that is made on all switches before the next one begins.")
        .also(&["step"]),
    Term::new("run sheet", "A document for the people who make a change: the ports, circuits and rollback of every batch."),
    Term::new(
        "rollout",
        "The order in which a change is made, and the circuits that must stay in \
         service meanwhile.",
    ),
    Term::new("two-sided", "Switches whose circuits join an A port with a B port.").also(&["two sided"]),
    Term::new("pinned circuit", "An installed circuit that no plan may remove or move."),
    Term::new(
        "decimation",
        "A search that fixes the circuits with the largest expected numbers first, and computes prices again for the \
         rest.",
    ),
    Term::new(
        "prices",
        "Numbers of a plan for its pairs, pods and ports whose sum proves a bound on the removals of every plan.",
    )
    .also(&["price"]),
    Term::new("all-to-all", "Traffic in which every GPU sends to every other GPU, phase by phase.")
        .also(&["phases"]),
];
