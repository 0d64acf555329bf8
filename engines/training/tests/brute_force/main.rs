//! The search with proof against brute force over every feasible vector of circuits, on networks of any shape.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod ask;
mod odd_links;
#[path = "../support/parts.rs"]
mod parts;
mod proof;
mod reference;
