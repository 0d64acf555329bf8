//! Tests that read as tables: state before, action, state and effects after.

mod daily;
mod files;
mod layers;
mod preview;
mod remap;
mod reproduce;
mod saving;
mod signs;
mod sliders;
mod solving;
mod standing;
mod support;
mod sweeps;
mod table;
