//! Tests that read as tables: state before, action, state and effects after.

mod layers;
mod saving;
mod solving;
mod support;
mod sweeps;
mod table;
