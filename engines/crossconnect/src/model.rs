//! Circuits per switch and pair of pods, without ports: the data on which methods work.
//!
//! | module | content |
//! |---|---|
//! | [`assignment`] | circuits of every switch |
//! | [`task`] | a scenario without failed ports and pinned circuits |

pub mod assignment;
pub mod task;
