//! Circuits per switch and pair of pods, ports aside: what methods work on.
//!
//! | module | what |
//! |---|---|
//! | [`assignment`] | circuits of every switch |
//! | [`task`] | a scenario without what has failed and what is pinned |

pub mod assignment;
pub mod task;
