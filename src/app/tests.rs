//! Tests that read as tables: state before, action, state and effects after.

mod layers;
mod saving;
mod sliders;
mod solving;
mod support;
mod sweeps;
mod table;
