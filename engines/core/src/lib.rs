//! Common ground of all planning engines: contracts, envelopes, parameters, events and runs. Knows no kind.
//!
//! | room | what |
//! |---|---|
//! | [`units`] | quantities and ids as types |
//! | [`problem`], [`read`], [`json`] | input that is wrong, reading and writing files |
//! | [`param`] | parameters as data |
//! | [`record`] | fields of files: reader, ranges, parameters and schema from one declaration |
//! | [`kind`], [`listed`], [`method`], [`context`] | the contracts an engine implements and is given |
//! | [`format`] | files that kinds write and read |
//! | [`metric`] | figures of plans as data |
//! | [`watch`], [`building`] | the connection of long work to its run, for algorithms that know no kind |
//! | [`scenario`], [`plan`], [`checked`] | the file envelopes and the seal of the checker |
//! | [`standing`] | what is proven of a plan, for which plans and by whom |
//! | [`event`], [`run`] | what a run says, and who runs it |
//! | [`exchange`] | records that kinds hand to each other |
//! | [`report`] | scenarios and plans explained as sections |
//! | [`quantity`], [`cells`] | figures and names for people, and in tables of other programs |
//! | [`term`] | words of the field, for the glossary |
//! | `testing` | whole runs for the tests of engines |
//! | [`random`], [`clock`], [`worker`] | seeded streams, time, helper processes |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod building;
pub mod cells;
pub mod checked;
pub mod clock;
pub mod context;
pub mod event;
pub mod exchange;
pub mod format;
pub mod json;
pub mod kind;
pub mod listed;
pub mod method;
pub mod metric;
pub mod param;
pub mod plan;
pub mod problem;
pub mod quantity;
pub mod random;
pub mod read;
pub mod record;
pub mod report;
pub mod run;
pub mod scenario;
pub mod standing;
pub mod term;
#[cfg(feature = "testing")]
pub mod testing;
pub mod units;
pub mod watch;
pub mod worker;
