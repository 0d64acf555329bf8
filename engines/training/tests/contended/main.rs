//! The search over orders of competing transfers: against brute force, against every plan, and its figures on
//! a seeded family.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod brute;
mod family;
mod figures;
mod valid;
