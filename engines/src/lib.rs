//! The catalogue: every kind, method, checker, importer, exporter and preset by name.
//!
//! The program sees only this crate and `lightbay-core`. What differs between kinds is behind [`AnyScenario`] and
//! [`AnyPlan`]; matching on their variants is for presenters and summaries alone.
//!
//! | room | what |
//! |---|---|
//! | [`subject`] | a scenario or plan of any kind |
//! | [`catalogue`] | kinds, methods, presets and knobs by name |
//! | `listed` | what a kind brings to the catalogue |
//! | [`files`] | reading scenario and plan files, checking plans |
//! | [`solve`] | settings, requests and jobs for the run board |
//! | [`sweep`] | scenarios x values of knobs x methods, a row each |
//! | [`formats`] | importers and exporters |
//! | [`convert`] | scenarios from plans of other kinds |
//! | [`models`] | methods as models for other solvers, and the way back |
//! | [`glossary`] | words and figures of all kinds, explained |
//! | [`schema`] | JSON Schemas of scenario, plan and event |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

/// Runs the same generic code for whatever kind a subject is of.
macro_rules! each_kind {
    ($subject:expr, $enum:ident, $inner:ident => $body:expr) => {
        match $subject {
            $enum::Training($inner) => $body,
            $enum::Tpu($inner) => $body,
            $enum::Crossconnect($inner) => $body,
        }
    };
}

/// Runs the same generic code with the type `$kind` standing for the kind of that name; `$none` for an unknown one.
macro_rules! named_kind {
    ($name:expr, $kind:ident => $body:expr, $none:expr) => {
        match $name {
            <lightbay_training::Training as lightbay_core::kind::Kind>::NAME => {
                type $kind = lightbay_training::Training;
                $body
            }
            <lightbay_tpu::Tpu as lightbay_core::kind::Kind>::NAME => {
                type $kind = lightbay_tpu::Tpu;
                $body
            }
            <lightbay_crossconnect::Crossconnect as lightbay_core::kind::Kind>::NAME => {
                type $kind = lightbay_crossconnect::Crossconnect;
                $body
            }
            _ => $none,
        }
    };
}

pub mod catalogue;
pub mod convert;
mod envelope;
pub mod files;
pub mod formats;
pub mod glossary;
mod listed;
pub mod models;
pub mod schema;
pub mod solve;
pub mod subject;
pub mod sweep;

pub use catalogue::{
    FigureInfo, KindInfo, PresetInfo, figure, figure_label, figure_text, kind, kinds, knobs, method, methods,
    metric, metrics, other_question, preset, presets, sections, solver,
};
pub use convert::{Conversion, Converted, conversion, convert};
pub use files::{AnyFile, CheckReport, PlanFile, read_file};
pub use formats::{
    Artifact, FormatInfo, Imported, Input, Product, SecondSubject, Subject, SubjectSort, export,
    export_against, exporters, import, importers, remarks,
};
pub use lightbay_crossconnect as crossconnect;
pub use lightbay_tpu as tpu;
pub use lightbay_training as training;
pub use models::{ModelledMethod, Question, modelled};
pub use schema::{SchemaOf, schema};
pub use solve::{Ask, apply, change, idle, job};
pub use subject::{AnyPlan, AnyScenario};
