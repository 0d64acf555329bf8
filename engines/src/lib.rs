//! The catalogue: every kind, method, checker, importer, exporter and preset by name.
//!
//! The program uses only this crate and `lightbay-core`. [`AnyScenario`] and [`AnyPlan`] hide the differences between
//! kinds; only presenters and summaries match on their variants.
//!
//! | module | content |
//! |---|---|
//! | [`subject`] | a scenario or plan of any kind |
//! | `kinds` | the list of kinds |
//! | [`catalogue`] | kinds, methods, presets and knobs by name |
//! | [`files`] | reading scenario and plan files, checking plans |
//! | [`solve`] | settings, requests and jobs for the run board |
//! | [`sweep`] | combinations of scenarios, values of knobs and methods, one row each |
//! | [`formats`] | importers and exporters |
//! | [`convert`] | scenarios from plans of other kinds |
//! | [`models`] | methods as models for other solvers, and plans from their solutions |
//! | [`glossary`] | terms and figures of all kinds, explained |
//! | [`schema`] | JSON Schemas of scenario, plan and event |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

#[macro_use]
mod kinds;

pub mod catalogue;
pub mod convert;
pub mod differences;
mod envelope;
pub mod files;
pub mod formats;
pub mod glossary;
pub mod job;
pub mod models;
pub mod schema;
pub mod solve;
pub mod subject;
pub mod sweep;

pub use catalogue::{
    FigureInfo, KindInfo, PresetInfo, bound_text, covers_all, figure, figure_label, figure_text, kind, kinds,
    knobs, method, methods, metric, metrics, other_question, preset, presets, saved_standing, sections,
    solver, sweeps,
};
pub use convert::{Conversion, Converted, conversion, convert};
pub use differences::{Difference, ScenarioDifferences};
pub use files::{AnyFile, CheckReport, PlanFile, read_file};
pub use formats::{
    Artifact, FileSource, FormatInfo, ImportReport, Input, Product, SecondSubject, Subject, SubjectSort,
    export, export_against, exporters, import, import_sources, importers, recognised, remarks,
};
kind_crates!();
pub use models::{
    ModelAnswer, ModelOutcome, ModelledMethod, Question, is_foreign_model, modelled, solve_foreign_model,
};
pub use schema::{SchemaOf, schema};
pub use solve::{Request, apply, change, idle, job, suited, unknown_method};
pub use subject::name::name_param;
pub use subject::{AnyPlan, AnyScenario};
