//! Version of this build, and the file formats that it reads and writes.

use lightbay_core::{event, plan, scenario};

/// Full version: `0.1.0 (commit 0123456789, built 2026-01-31)`; without the commit if the program was built outside a
/// repository.
pub const FULL: &str = env!("LIGHTBAY_VERSION");

/// The file formats that this build reads and writes.
pub const SCHEMAS: [&str; 3] = [scenario::SCHEMA, plan::SCHEMA, event::SCHEMA];
