//! Parts of the question that follow from the network.
//!
//! | module | what |
//! |---|---|
//! | [`symmetries`] | symmetries that are not declared |
//! | [`epochs`] | links in epochs |
//! | [`passing`] | what a hop takes beyond the hops before it |
//! | [`mirror`] | schedules that are planned backwards, as they happen |
//! | [`lanes`] | switches that cut through, by the pace at which chunks arrive |
//! | [`fluid`] | links for parts of chunks |
//! | [`group`] | groups of symmetries that fix no GPU |
//! | [`buffers`] | chunks that GPUs hold for others |
//! | [`distances`] | shortest times between nodes |
//! | [`task`] | the question that searches answer |
//! | [`schedule`] | starts of chunks on links, pruned, and replayed in continuous time |

pub mod buffers;
pub mod distances;
pub mod epochs;
pub mod fluid;
pub mod group;
pub mod lanes;
pub mod mirror;
pub mod passing;
pub mod schedule;
pub mod symmetries;
pub mod task;
