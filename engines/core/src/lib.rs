//! What all planning engines share: contracts, envelopes, parameters, events and runs. Knows no kind.
#![forbid(unsafe_code)]

pub mod problem;
pub mod units;
