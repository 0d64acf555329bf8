//! Circuits of a region, their NICs, and the time of an all-to-all on them. Sections are those of docs/methods/moe.md.
//!
//! | module | content |
//! |---|---|
//! | [`circuits`] | circuits by pair of servers |
//! | [`exchange`] | time of the exchange between servers, computed server by server |
//! | [`greedy`] | Algorithm 1, as printed in the paper, or continued after blocked pairs |
//! | [`swap`] | local search on the time of the exchange |
//! | [`exact`] | the best circuits, from an integer program |
//! | [`mapping`] | NICs of the circuits, spread over NUMA nodes |
//! | [`routes`] | routes of the bytes, and the times of the five steps of an all-to-all |

pub mod circuits;
pub mod exact;
pub mod exchange;
pub mod greedy;
pub mod mapping;
pub mod routes;
pub mod swap;

#[cfg(test)]
mod tests;
