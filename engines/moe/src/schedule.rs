//! Times at which circuits change: candidates, the cost of every exchange on each of them, policies, and the plan that
//! follows (docs/methods/moe.md, sections 8 and 9).
//!
//! | module | content |
//! |---|---|
//! | [`stage`] | the layers of a stage with the candidate circuits, and the times of exchanges on them |
//! | [`policies`] | the policies of the paper and simple rules |
//! | [`optimum`] | the cheapest choice over all layers, by dynamic programming |
//! | [`assemble`] | plans from schedules of circuits |
//! | [`break_even`] | the delay up to which circuit changes shorten the iteration |

pub mod assemble;
pub mod break_even;
pub mod optimum;
pub mod policies;
pub mod stage;

#[cfg(test)]
mod tests;
