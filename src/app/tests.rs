//! Tests that read as tables: state before, action, state and effects after.

mod layers;
mod preview;
mod saving;
mod sliders;
mod solving;
mod support;
mod sweeps;
mod table;
