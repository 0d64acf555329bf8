//! Searches for schedules. Sections are those of docs/methods/collective.md.
//!
//! | module | what |
//! |---|---|
//! | [`construct`] | chunk by chunk, each by trees of earliest arrival |
//! | [`rounds`] | round by round, each an integer program |
//! | [`baselines`] | ring, shortest paths, one tree |
//! | [`given`] | steps that somebody else put in order |
//! | [`ranges`] | which of some schedules serve which sizes |

pub mod baselines;
pub mod construct;
pub mod given;
pub mod ranges;
pub mod rounds;
