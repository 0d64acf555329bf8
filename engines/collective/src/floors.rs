//! Floors under all schedules, whatever their chunks and epochs (docs/methods/collective.md, section 5).
//!
//! | module | what |
//! |---|---|
//! | [`digraph`], [`scale`], [`maxflow`] | graphs with whole capacities, and flows on them |
//! | [`spread`], [`quotient`] | floor of data that may be copied, by cuts |
//! | [`latency`] | floors that count latencies |
//! | [`mod@floor`], [`partition`] | floors of networks, and of reductions by partitions of the ranks |
//! | [`reach`] | data that links which are up too early cannot deliver |
//! | [`proof`] | floors of scenarios, with what proves them |

pub mod digraph;
pub mod floor;
pub mod latency;
pub mod maxflow;
pub mod partition;
pub mod proof;
pub mod quotient;
pub mod reach;
pub mod scale;
pub mod spread;
