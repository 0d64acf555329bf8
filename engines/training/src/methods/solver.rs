//! The solver as a phase of a method.

use crate::kind::Training;
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, ModelSize};
use lightbay_core::method::MethodError;
use lightbay_core::param::Params;
use lightbay_highs::model::Model;
use lightbay_highs::solution::{Solution, Start};
use lightbay_highs::solve::{self, Ask, Reader};
use rand::RngExt;

/// Says how large a model is.
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

/// Solves a model with the solver's knobs among the parameters; the random numbers of `stream` seed it.
pub(super) fn run(
    cx: &mut Context<'_, Training>,
    params: &Params,
    stream: u64,
    (model, start): (&Model, Start),
    reader: &mut impl Reader<Training>,
) -> Result<Solution, MethodError> {
    let seed = cx.stream(stream).random::<u64>();
    let ask =
        Ask { model, options: solve::options_of(params, seed), start, isolated: solve::isolated(params) };
    solve::run(ask, reader, cx)
}
