//! Terms of TPU pods.

use lightbay_core::term::Term;

/// Terms that this kind explains in addition to its figures.
pub(super) const TERMS: &[Term] = &[
    Term::new(
        "cube",
        "64 chips, 4 x 4 x 4, joined by electrical links; optical switches join the faces of cubes.",
    ),
    Term::new(
        "virtual channel",
        "A separate buffer of a link: routes change virtual channels in an order without cycles, so that \
         they cannot deadlock.",
    )
    .also(&["VC", "VCs", "virtual channels"]),
    Term::new(
        "concurrent flow",
        "Traffic in which every ordered pair of chips sends at the same rate at once.",
    )
    .also(&["all-to-all throughput"])
    .source("TONS, throughput-centric synthesis"),
    Term::new(
        "cover bound",
        "Upper bound on the MCF of every pod of a size, from the number of chips that can lie within \
         each number of hops.",
    ),
    Term::new(
        "hop bound",
        "Upper bound on the MCF of a pod from its distances: every link carries at most one flit per \
         cycle.",
    )
    .formula("6 n / sum of the distances of all ordered pairs"),
    Term::new(
        "lengths",
        "Upper bound on the MCF of a pod from one length for all electrical links and one for all optical links: \
         1:3 counts an optical link as three.",
    )
    .also(&["two-length bound", "length bound"])
    .formula("2 (144 a + 48 b) / sum of the distances from a cube, with lengths a and b"),
    Term::new(
        "voltage",
        "Setting of a switch in a symmetric pod: the shift from each cube to the cube that its + port reaches.",
    )
    .also(&["voltages"]),
    Term::new(
        "ideal load",
        "Lower bound on the maximum load of a link for any routes of a pod: 1 divided by the upper bound on its MCF.",
    )
    .also(&["1/MCF", "ideal max"]),
    Term::new(
        "Moore bound",
        "Upper bound on the MCF of every network with this number of chips and six links per chip.",
    ),
    Term::new("PT", "The plain three-dimensional torus.").also(&["prismatic torus"]),
    Term::new(
        "PDTT",
        "Prismatic doubly twisted torus: a torus whose wrap-around links in the short dimensions are shifted by half \
         the length of every long dimension.",
    )
        .also(&["doubly twisted torus", "twisted torus"]),
    Term::new(
        "certificate",
        "A flow and lengths of links that prove the throughput of a pod: the flow is a lower bound, the \
         lengths give an upper bound.",
    ),
    Term::new("dimension-order routing", "Routes that finish one axis before they turn to the next.")
        .also(&["DOR"]),
    Term::new(
        "turn priority",
        "Order in which turns from link to link are tried; a turn is allowed unless it closes a cycle, because cycles can deadlock.",
    ),
    Term::new(
        "turn model",
        "Set of allowed turns from link to link that closes no cycle, so that routes by these turns cannot deadlock.",
    )
    .also(&["allowed turns"]),
    Term::new(
        "dateline",
        "Link of a ring of a torus at which dimension-order routes change to the next virtual channel, which opens the \
         cycle of the ring.",
    ),
    Term::new(
        "bound in search",
        "Upper bound on the MCF of the pod that a search tries at the moment; it says nothing about other pods.",
    ),
    Term::new(
        "max/mean",
        "Load of the most loaded channel divided by the mean load of all channels: 1 if all are equally loaded.",
    ),
    Term::new(
        "allocator",
        "The part of a router that decides in every cycle which inputs of its crossbar send to which outputs; an ideal \
         allocator lets every output serve any waiting flit.",
    )
    .also(&["switch allocator"]),
    Term::new(
        "speedup",
        "Number of rounds of a router's allocator per cycle, so how many flits an input or output of the crossbar can \
         pass on in a cycle; links carry one.",
    ),
    Term::new(
        "iSLIP",
        "Allocator by rotating priorities: every output grants one request, every input accepts one grant, and their \
         pointers move only past accepted grants.",
    )
    .source("McKeown, The iSLIP scheduling algorithm for input-queued switches"),
    Term::new(
        "wavefront allocator",
        "Allocator that grants the diagonals of the request matrix one after the other, from a diagonal that rotates; \
         no request remains whose input and output are both free.",
    )
    .source("Tamir and Chi, Symmetric crossbar arbiters"),
    Term::new("flit", "The amount of data that a link moves in one cycle."),
];
