//! Common ground of all planning engines: contracts, envelopes, parameters, events and runs. Knows no kind.
//!
//! | module | content |
//! |---|---|
//! | [`units`] | quantities and ids as types |
//! | [`problem`], [`read`], [`json`] | problems of an input; reading and writing files |
//! | [`param`] | parameters as data |
//! | [`record`] | fields of files: reader, ranges, parameters and schema from one declaration |
//! | [`kind`], [`listed`], [`method`], [`context`] | the traits that an engine implements, and its interface to a run |
//! | [`format`] | files that kinds write and read |
//! | [`metric`] | figures of plans as data |
//! | [`watch`], [`building`] | the interface of a long computation to its run, independent of kinds |
//! | [`scenario`], [`plan`], [`checked`] | the file envelopes, and plans that passed their checker |
//! | [`standing`] | the bounds on a plan, which plans they cover and who confirms them |
//! | [`event`], [`run`] | events of a run, and the execution of runs |
//! | [`exchange`] | records that kinds exchange |
//! | [`report`] | sections that explain scenarios and plans |
//! | [`quantity`], [`cells`] | formatting of figures and names, for display and for tables of other programs |
//! | [`term`] | terms, for the glossary |
//! | `testing` | whole runs for the tests of engines |
//! | [`random`], [`clock`], [`worker`] | seeded random streams, time, solver processes |
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
