//! Terms of regional circuits for mixture-of-experts training.

use lightbay_core::term::Term;

const PAPER: &str = "mFabric (MixNet), SIGCOMM 2025";

/// Terms of this kind in addition to the names of its figures.
pub(super) const TERMS: &[Term] = &[
    Term::new("region", "The servers of one expert-parallel group, joined by one small optical circuit switch.")
        .also(&["regional"])
        .source(PAPER),
    Term::new("gate", "The part of a layer that chooses the experts of every token.").also(&["router"]),
    Term::new("dispatch", "The all-to-all that brings tokens to their experts.").also(&["a2a_1"]),
    Term::new("combine", "The all-to-all that brings the tokens back from their experts.").also(&["a2a_2"]),
    Term::new(
        "EPS",
        "Electrical packet switches: the network that carries the gradients and the bytes that circuits do not carry in time.",
    )
    .also(&["packet switch", "packet switches"]),
    Term::new(
        "spill",
        "Bytes of a pair of servers that its circuits cannot carry within the time of the exchange; packet switches carry them.",
    )
    .formula("sum_j max(0, D_ij - C_ij B T): bytes D and circuits C of each pair, rate B of a circuit, time T of the exchange"),
    Term::new(
        "delegation GPU",
        "The GPU to which the NIC of a circuit belongs: tokens to send are gathered on this GPU over NVSwitch, and received tokens are scattered from it.",
    )
    .source(PAPER),
    Term::new(
        "window",
        "The compute phase before an all-to-all, in which circuits can change without delaying the all-to-all; a \
         longer change causes a stall.",
    )
    .also(&["hidden reconfiguration"])
    .formula("stall = max(0, delay - length of the window)"),
    Term::new("optical degree", "Number of NICs per server connected to the optical switch.").also(&["alpha"]).source(PAPER),
    Term::new(
        "copilot",
        "The prediction of the expert loads of a layer from the loads of the previous layer, so that circuits can \
         be set in advance.",
    )
    .also(&["predictor"])
    .formula("min over P of sum_i w_i |Y_i - P X_i|^2 + ridge |P - 1/N|^2, columns of P on the simplex")
    .source(PAPER),
    Term::new(
        "break-even",
        "The reconfiguration delay at which the fastest schedule takes as long as static circuits; with a longer delay, circuit changes shorten nothing.",
    )
    .also(&["break-even delay"]),
    Term::new(
        "EPLB",
        "Expert-parallel load balancer of DeepSeek: a placement that replicates busy experts and packs the replicas evenly on servers and ranks.",
    )
    .also(&["expert-parallel load balancer"]),
    Term::new(
        "fat-tree",
        "A network of non-blocking packet switches, with one NIC per GPU.",
    )
    .also(&["fat_tree"]),
    Term::new(
        "kappa",
        "Concentration of the Dirichlet distribution of expert shares per rank; the larger, the closer every rank is to the mean shares.",
    ),
    Term::new(
        "L1",
        "Error of predicted expert loads: sum of the absolute differences between predicted and actual shares.",
    )
    .also(&["L1 error"]),
    Term::new(
        "pooled",
        "A lower bound on the iteration time of all networks with experts in blocks: all NICs of a server act as one, without a hop inside the server.",
    )
    .also(&["pooled NICs"]),
    Term::new(
        "rail",
        "A fat-tree in which bytes first take a hop inside the server to the NIC of the rail of their destination.",
    )
    .also(&["rail-optimized"]),
    Term::new(
        "topoopt",
        "A network of one patch panel: static circulant circuits that forward bytes from server to server, without packet switches.",
    ),
    Term::new(
        "paper",
        "Policy that changes circuits before every dispatch with the whole delay; all other changes count as free.",
    )
    .also(&["policy paper"]),
    Term::new(
        "reuse",
        "Policy that runs every dispatch on the circuits of the previous layer; circuits change while the experts compute.",
    )
    .also(&["policy reuse"]),
    Term::new("analytic model", "Times that follow from bytes and rates alone, without packets, queues or losses."),
];
