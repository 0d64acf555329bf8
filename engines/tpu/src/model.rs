//! Pods as groups of cubes, and the links between their chips.
//!
//! | module | what |
//! |---|---|
//! | [`pod`] | chips, ports, arcs, links and switches of one cube: the numbering of all files |
//! | [`group`] | finite groups, which number the cubes of a symmetric pod |
//! | [`topology`] | states of the switches, and the links that follow |
//! | [`baselines`] | the tori that designs are measured against |

pub mod baselines;
pub mod group;
pub mod pod;
pub mod topology;
