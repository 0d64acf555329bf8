//! Circuits of a region, their NICs, and the time of an all-to-all on them. Sections are those of docs/methods/moe.md.
//!
//! | part | content |
//! |---|---|
//! | [`circuits`] | circuits by pair of servers |
//! | [`exchange`] | time of the exchange between servers, server by server |
//! | [`greedy`] | Algorithm 1, as it is printed and continued |
//! | [`swap`] | local search on the time itself |
//! | [`exact`] | the best circuits by an integer program |
//! | [`mapping`] | NICs of the circuits, spread over NUMA nodes |
//! | [`routes`] | ways of the bytes, and the five steps of an all-to-all |

pub mod circuits;
pub mod exact;
pub mod exchange;
pub mod greedy;
pub mod mapping;
pub mod routes;
pub mod swap;

#[cfg(test)]
mod tests;
