//! Searches for schedules.
//!
//! | module | what |
//! |---|---|
//! | [`construct`] | chunk by chunk, each by trees of earliest arrival |
//! | [`baselines`] | ring, shortest paths, one tree |

pub mod baselines;
pub mod construct;
