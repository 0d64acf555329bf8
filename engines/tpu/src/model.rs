//! Pods as groups of cubes, and the links between their chips.
//!
//! | module | what |
//! |---|---|
//! | [`pod`] | chips, ports, arcs, links and switches of one cube: the numbering of all files |
//! | [`group`] | finite groups, which number the cubes of a symmetric pod |
//! | [`topology`] | states of the switches, and the links that follow |
//! | `pairs` | unordered pairs of chips that the symmetry of a pod takes for one |
//! | [`baselines`] | the tori that designs are measured against |

pub mod baselines;
pub mod group;
pub(crate) mod pairs;
pub mod pod;
pub mod topology;
