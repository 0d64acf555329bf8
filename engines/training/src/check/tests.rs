//! Plans by hand that must pass, and one broken plan for every rule.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod bounds;
mod corruption;
mod jobs;
mod layouts;
mod mutations;
mod presets;
mod scenarios;
mod shared;
mod support;
mod worked;
