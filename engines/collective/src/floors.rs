//! Floors under all schedules, whatever their chunks and epochs (docs/methods/collective.md, section 5).
//!
//! | module | what |
//! |---|---|
//! | [`digraph`], [`scale`], [`maxflow`] | graphs with whole capacities, and flows on them |
//! | [`spread`], [`quotient`] | floor of data that may be copied, by cuts |
//! | [`exchange`] | floor of data of which every pair has its own, by a concurrent flow |
//! | [`latency`] | floors that count latencies |
//! | [`floor`], [`collective`], [`cut`] | floors of networks and of collectives by name, cuts in words |
//! | [`proof`] | floors of scenarios, with what proves them |

pub mod collective;
pub mod cut;
pub mod digraph;
pub mod exchange;
pub mod floor;
pub mod latency;
pub mod maxflow;
pub mod proof;
pub mod quotient;
pub mod scale;
pub mod spread;
