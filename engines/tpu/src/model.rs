//! Pods as groups of cubes, and the links between their chips.
//!
//! | module | content |
//! |---|---|
//! | [`pod`] | chips, ports, arcs, links and switches of one cube: the numbering of all files |
//! | [`group`] | finite groups, which number the cubes of a symmetric pod |
//! | [`router`] | the allocators of the simulated routers |
//! | [`topology`] | states of the switches, and the resulting links |
//! | `pairs` | classes of unordered pairs of chips that are equivalent under the symmetry of a pod |
//! | [`baselines`] | the tori that designs are compared with |

pub mod baselines;
pub mod group;
pub(crate) mod pairs;
pub mod pod;
pub mod router;
pub mod topology;
