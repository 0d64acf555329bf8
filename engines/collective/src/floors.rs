//! Lower bounds (floors) for all schedules, for any chunking and any epoch length (docs/methods/collective.md, section
//! 5).
//!
//! | module | content |
//! |---|---|
//! | [`digraph`], [`scale`], [`maxflow`] | graphs with integer capacities, and flows on them |
//! | [`spread`], [`quotient`] | lower bound for data that may be copied, from cuts |
//! | [`latency`] | lower bounds that count latencies |
//! | [`mod@floor`], [`partition`] | lower bounds for networks, and for reductions from partitions of the ranks |
//! | [`reach`] | data that no schedule can deliver, because links are up too early |
//! | [`proof`] | lower bounds for scenarios, with their proofs |

pub mod digraph;
pub mod floor;
pub mod growing;
pub mod latency;
pub mod maxflow;
pub mod partition;
pub mod proof;
pub mod quotient;
pub mod reach;
pub mod scale;
pub mod spread;
