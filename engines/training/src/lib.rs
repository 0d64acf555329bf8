//! DELTA: circuits between the pods of one LLM training job, from its computation-communication DAG.
//!
//! | module | what |
//! |---|---|
//! | [`scenario`] | the input: jobs, instances, their sizes, knobs and presets |
//! | [`plan`] | the result: circuits per link and the schedule that they allow |
//! | [`model`] | pods, links and graphs in the form that algorithms walk over |
//! | [`simulate`] | makespans and schedules of given circuits |
//! | [`programs`] | integer programs over circuits and schedules |
//! | [`search`] | searches for circuits, rates and ports |
//! | [`analysis`] | plans explained: causes, prices, robustness |
//! | `report` | scenarios and plans as sections |
//! | [`check`] | the independent checker |
//! | [`files`] | jobs from files of other tools, plans for other kinds |
//! | [`methods`] | the methods by name |
//! | [`kind`] | the kind `training`, through which the core uses this crate |
#![forbid(unsafe_code)]

pub mod analysis;
pub mod check;
pub mod files;
pub mod kind;
pub mod methods;
pub mod model;
pub mod plan;
pub mod programs;
pub mod report;
pub mod scenario;
pub mod search;
pub mod simulate;

pub use scenario::TrainingScenario;

/// Circuits between the pods of one LLM training job (DELTA).
#[derive(Debug)]
pub struct Training;
