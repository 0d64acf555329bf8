//! Parts of a problem that follow from the network and its epochs.
//!
//! | module | content |
//! |---|---|
//! | [`symmetries`] | search for symmetries that the network does not declare |
//! | [`epochs`] | links in epochs |
//! | [`passing`] | time of a hop, given the hops before it |
//! | [`mirror`] | conversion of schedules that are planned backwards to the actual network |
//! | [`lanes`] | cut-through switches, represented once for each pace at which chunks arrive |
//! | [`fluid`] | links that carry parts of chunks |
//! | [`group`] | groups of symmetries in which only the identity maps a GPU to itself |
//! | [`buffers`] | chunks that GPUs hold although they are not destinations |
//! | [`distances`] | shortest times between nodes |
//! | [`task`] | the problem that searches solve |
//! | [`schedule`] | starts of chunks on links, without unnecessary starts, and their replay in continuous time |

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
