//! Readers and writers of other tools' files: they convert bytes to typed records and back.
//!
//! No function here opens files or computes plans, and every assumption is reported. A reader takes `impl BufRead`,
//! recognises the format by the content ([`detect`]), unpacks gzip by its magic bytes ([`gz`]), limits every size
//! before it allocates, and returns a typed record or all problems of the file at once, each with line, field, value
//! and remedy.
#![forbid(unsafe_code)]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation should fail the test")
)]

pub mod aicb;
pub mod anynet;
pub mod chakra;
pub mod chrome_trace;
pub mod collective;
pub mod csv;
pub mod detect;
pub mod expert_loads;
pub mod graph;
pub mod gz;
pub mod html;
pub mod imported;
mod lines;
pub mod markdown;
pub mod model_config;
pub mod msccl;
pub mod mscclpp;
pub mod nccl;
pub mod network;
mod number;
pub mod sections;
pub mod solutions;
pub mod svg;
pub mod taccl;
pub mod traces;
mod value;
mod xml;

pub use detect::{Format, SwitchState};
pub use gz::Limits;
pub use imported::Imported;
pub use value::Value;
