//! Integer programs over circuits and schedules, and the reductions that keep them small. Section 5 is in
//! docs/methods/training-search.md, the others are in docs/methods/training-exact.md.
//!
//! | module | what |
//! |---|---|
//! | [`interval`] | intervals of variable length (DELTA Eq. 3-18; section 11) |
//! | [`fixed_step`] | slots of fixed length (DELTA Eq. 19-30; section 11) |
//! | [`selection`] | numbers of circuits and the durations that follow from them (section 8) |
//! | [`circuit_bounds`] | the most circuits of a link that can be useful (DELTA Alg. 2; section 5) |

pub mod circuit_bounds;
pub mod fixed_step;
pub mod interval;
pub mod selection;
