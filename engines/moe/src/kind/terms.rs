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
    Term::new("analytic model", "Times that follow from bytes and rates alone, without packets, queues or losses."),
];
