//! Plans from assignments: ports, batches, phases.
//!
//! | module | what |
//! |---|---|
//! | [`ports`] | from circuits per pair of pods to ports |
//! | [`batches`] | the order in which changes are made |
//! | [`phases`] | the order of phases of an all-to-all |
//! | [`assemble`] | from a target to what plans hold, and back |
//! | [`explained`] | changes in figures, for people |
//! | [`steps`] | live circuits around every batch, and how far a change is |
//! | [`caveat`] | what a person has to be told of a plan beside its objective |

pub mod assemble;
pub mod batches;
pub mod caveat;
pub mod explained;
pub mod phases;
pub mod ports;
pub mod steps;
