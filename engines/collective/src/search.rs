//! Searches for schedules.
//!
//! | module | what |
//! |---|---|
//! | [`construct`] | chunk by chunk, each by trees of earliest arrival |
//! | [`rounds`] | round by round, each an integer program |
//! | [`baselines`] | ring, shortest paths, one tree |

pub mod baselines;
pub mod construct;
pub mod rounds;
