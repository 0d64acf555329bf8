//! Terms of collective communication.

use lightbay_core::term::Term;

/// Source of the terms that the TE-CCL paper defines.
const PAPER: &str =
    "Rethinking Machine Learning Collective Communication as a Multi-Commodity Flow Problem, section 3";

/// Terms of this kind in addition to the names of its figures.
pub(super) const TERMS: &[Term] = &[
    Term::new("collective", "Exchange of data among all ranks of a job, such as AllGather or AllReduce.")
        .also(&["collectives", "collective communication"]),
    Term::new("rank", "A GPU that takes part in a collective, numbered by its position in `ranks`.").also(&["ranks"]),
    Term::new("chunk", "Part of the data of a rank that is sent as a whole.").also(&["chunks"]),
    Term::new("epoch", "Time slot; transmissions start at the beginning of epochs.")
        .also(&["epochs"])
        .source(PAPER),
    Term::new("alpha", "Fixed latency of a link, independent of the size.").also(&["latency"]),
    Term::new("straggler", "A link that is slower than others of its type.").also(&["stragglers"]),
    Term::new("cut-through", "Switches that pass a chunk on as soon as its first byte arrives, so the transmissions of a chunk on consecutive links overlap and together take as long as the slowest one.")
        .also(&["cut_through"]),
    Term::new("store-and-forward", "Switches that receive a chunk whole before they send it on.")
        .also(&["store_and_forward"]),
    Term::new("AllGather", "Every rank gets the chunks of all ranks.").also(&["all_gather", "allgather"]),
    Term::new("AllToAll", "Every rank gets a different chunk from every rank.").also(&["all_to_all", "alltoall"]),
    Term::new("ReduceScatter", "The data of all ranks are added up, and every rank gets a different part of the sum.")
        .also(&["reduce_scatter", "reducescatter"]),
    Term::new("AllReduce", "The data of all ranks are added up, and every rank gets the whole sum.")
        .also(&["all_reduce", "allreduce"]),
    Term::new("binding cut", "The set of nodes whose entry links prove the bound; for ReduceScatter, Gather and the first part of an AllReduce, the links that leave the set.").also(&["cut"]),
];
