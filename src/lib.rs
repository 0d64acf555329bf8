//! The program: command line, app shell, event loop, wiring. No algorithm and no drawing of cells.
//!
//! A library so that tests and benchmarks reach its rooms; `main.rs` only calls [`cli::run`], and [`helper`]
//! in the second process that some runs start.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod app;
pub mod cli;
pub mod helper;
pub mod runtime;
pub mod view;
