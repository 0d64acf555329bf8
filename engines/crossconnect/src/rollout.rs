//! Plans from assignments: ports, batches, phases.
//!
//! | module | content |
//! |---|---|
//! | [`ports`] | assignment of ports to the circuits of pairs of pods |
//! | [`batches`] | the order in which changes are made |
//! | [`phases`] | the order of phases of an all-to-all |
//! | [`assemble`] | conversion of a target to the content of plans, and back |
//! | [`explained`] | counts of a plan for reports |
//! | [`steps`] | live circuits before, during and after every batch, and the progress of a change |
//! | [`caveat`] | warnings about a plan in addition to its objective |

pub mod assemble;
pub mod batches;
pub mod caveat;
pub mod explained;
pub mod phases;
pub mod ports;
pub mod steps;
