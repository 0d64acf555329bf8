//! Readers and writers of other tools' files: bytes in, typed records out, and the other way round.
//!
//! Nothing here opens a path, plans or guesses in silence. A reader takes `impl BufRead`, recognises what it holds by
//! content ([`detect`]), unpacks gzip by its magic bytes ([`gz`]), caps every size before it allocates, and answers
//! with a typed record or with every problem of the file at once, each with line, field, value and remedy.
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
mod value;
mod xml;

pub use detect::{Format, SwitchState};
pub use gz::Limits;
pub use imported::Imported;
pub use value::Value;
