//! The solver as a phase of a method.

use crate::Training;
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, HotStartFate, ModelSize};
use lightbay_core::method::MethodError;
use lightbay_core::param::Params;
use lightbay_highs::model::Model;
use lightbay_highs::solution::{Solution, Start};
use lightbay_highs::solve::{self, Reader, SolveRequest};
use rand::RngExt;

/// Maximum amount that the solver's tolerances may add to a bound, relative.
pub(super) const TOLERANCE: f64 = 5e-10;

/// Reports the size of a model.
pub(super) fn report_size(cx: &mut Context<'_, Training>, model: &Model, after: &str) {
    let size = model.size();
    cx.report(EventBody::Model(ModelSize {
        after: after.to_owned(),
        columns: u64::from(size.columns),
        rows: u64::from(size.rows),
        nonzeros: u64::from(size.nonzeros),
        integers: u64::from(size.integers),
    }));
}

/// Returns `point` as the starting point of the solver. If the point breaks a row, returns no starting point and
/// reports the reason; the report names the origin of the point, `what`.
pub(super) fn start_at(
    cx: &mut Context<'_, Training>,
    point: Result<Vec<f64>, String>,
    what: &str,
    before_s: f64,
) -> Start {
    match point {
        Ok(point) => Start::Full(point),
        Err(broken) => {
            let why = format!("{what} is not a feasible point of the model: {broken}");
            cx.hot_start_fate(HotStartFate::Rejected, why, Some(before_s), None);
            Start::None
        }
    }
}

/// Solves a model with the solver's settings from `params` and a seed from `stream`.
pub(super) fn run(
    cx: &mut Context<'_, Training>,
    params: &Params,
    stream: u64,
    (model, start): (&Model, Start),
    reader: &mut impl Reader<Training>,
) -> Result<Solution, MethodError> {
    let seed = cx.stream(stream).random::<u64>();
    let ask = SolveRequest {
        model,
        options: solve::options_of(params, seed),
        start,
        isolated: solve::isolated(params),
    };
    solve::run(ask, reader, cx)
}
