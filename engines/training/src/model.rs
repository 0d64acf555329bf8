//! Pods, links, transfers and graphs in the form that algorithms walk over.
//!
//! | module | what |
//! |---|---|
//! | [`budget`] | ports of the pods, and which circuit allocations fit |
//! | [`network`] | an instance as compact arrays |
//! | [`full_dag`] | every compute and transfer of one iteration |
//! | [`reduced_dag`] | transfers between pods alone, with the work between them as delays |
//! | [`collapse`] | from the reduced graph to an instance: one replica, or all |
//! | [`build`] | from a scenario to the instance that methods work on |
//! | [`jobs`] | each job of a plan as a scenario of its own, and the ports that jobs pass on |

pub mod budget;
pub mod build;
pub mod collapse;
pub mod full_dag;
pub mod jobs;
pub mod network;
pub mod reduced_dag;
#[cfg(test)]
pub(crate) mod samples;
