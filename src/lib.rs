//! The program: command line, app shell, event loop, wiring. The algorithms are in `lightbay-engines`; the widgets that
//! write terminal cells are in `lightbay-widgets`.
//!
//! The program is a library so that tests and benchmarks can use its modules; `main.rs` only calls [`cli::run`], and
//! [`helper`] in the second process that some runs start.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod app;
pub mod cli;
pub mod helper;
pub mod runtime;
pub mod view;
