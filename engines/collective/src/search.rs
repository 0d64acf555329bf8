//! Searches for schedules. Sections are those of docs/methods/collective-search.md.
//!
//! | module | content |
//! |---|---|
//! | [`construct`] | schedules built chunk by chunk, along trees of earliest arrival |
//! | [`rounds`] | schedules built round by round, each round by a MILP model |
//! | [`baselines`] | baselines along a ring, shortest paths or one tree |
//! | [`given`] | schedules of other programs, converted to epochs |
//! | [`ranges`] | assignment of schedules to ranges of sizes |

pub mod baselines;
pub mod construct;
pub mod given;
pub mod ranges;
pub mod rounds;
