//! Tests of the command line: they start the program, give it input and signals, and check its output and files.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod bad_input;
mod bombs;
mod collectives;
mod commands;
mod crossconnect;
mod faults;
mod field;
mod files;
mod first_words;
mod halls;
mod helpers;
mod infeasible;
mod machines;
mod models;
mod names;
mod readme;
mod sample;
mod saved;
mod scripts;
mod several_jobs;
mod signals;
mod solving;
mod standing;
mod support;
mod sweep;
mod switch_states;
mod tpu;
