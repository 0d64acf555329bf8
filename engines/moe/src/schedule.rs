//! Times at which circuits change: candidates, the cost of every exchange on each of them, policies, and the plan that
//! follows (docs/methods/moe.md, sections 8 and 9).
//!
//! | part | content |
//! |---|---|
//! | [`stage`] | the layers of a stage with the circuits that can be set, and what exchanges take on them |
//! | [`policies`] | the policies of the paper and simple rules |
//! | [`optimum`] | the cheapest choice over all layers, by dynamic programming |
//! | [`assemble`] | plans from choices |
//! | [`break_even`] | the delay up to which changing circuits pays |

pub mod assemble;
pub mod break_even;
pub mod optimum;
pub mod policies;
pub mod stage;

#[cfg(test)]
mod tests;
