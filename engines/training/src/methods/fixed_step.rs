//! `delta-fixed-step`: circuits by the integer program over slots of fixed length, for comparison.

mod modelled;

use super::approach::SessionMethod;
use super::session::{Session, candidate};
use super::{knobs, solver, start};
use crate::Training;
use crate::model::network::Network;
use crate::programs::fixed_step::{FixedStep, FixedStepQuestion, SlotWindows, Slots};
use crate::programs::interval::Names;
use crate::search::baselines::Baseline;
use crate::search::circuits::Circuits;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, SeriesPoint, Severity};
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::{Limit, Status};
use lightbay_core::problem::{Problem, Problems};
use lightbay_highs::solution::Status as Ending;
use lightbay_highs::solve::Reader;
pub(super) use modelled::FixedStepModel;
use std::sync::Arc;

/// The method `delta-fixed-step`: the integer program over slots.
pub(super) struct FixedSteps;

/// Number of the random stream that seeds the solver; streams 0, 1, ... belong to the islands of the genetic search.
const SOLVER_STREAM: u64 = (1 << 32) + 4;

/// Maximum number of slots of the schedule from which the solver starts.
const MOST_SLOTS: u32 = 1_000_000;

/// Returns the parameters that shape the model.
fn shape_knobs() -> Vec<ParamInfo> {
    vec![
        ParamInfo::float(
            "dt_ms",
            1e-3,
            1e7,
            20.0,
            "Length of a slot; durations and delays are rounded up to whole slots.",
        )
        .unit("ms"),
        ParamInfo::int(
            "max_columns",
            100,
            10_000_000,
            20_000,
            "Maximum number of columns of the model, which grows with the iteration time divided by the \
             slot length.",
        ),
    ]
}

impl SessionMethod for FixedSteps {
    fn info(&self) -> MethodInfo {
        let mut params = shape_knobs();
        params.extend(knobs::solver(&["solver_process", "presolve"]));
        MethodInfo {
            name: "delta-fixed-step",
            help: "Chooses circuits with an integer program over slots of fixed length; for comparison on \
                 small scenarios.",
            proves: false,
            hot_start: true,
            params,
        }
    }

    fn run(&self, session: &mut Session<'_, '_>, params: &Params) -> Result<Outcome, MethodError> {
        // Check the size before the model is built.
        let network = &session.evaluator.network;
        schedule(network, &Baseline::ALL[0].allocate(network), params)?;
        let start = start::start(session)?;
        let evaluator = Arc::clone(&session.evaluator);
        let names = Names::new(&session.instance);
        let mut caps = start.caps;
        start::admit(&mut caps, &start.best.x);
        let (model, slots) = write(&evaluator.network, &names, &caps, &start.best.x, params)?;
        session.cx.phase(
            "slots",
            format!(
                "{} slots of {} ms for a schedule of the best circuits so far",
                slots.end,
                model.slot_s * 1e3
            ),
        );
        solver::report_size(session.cx, &model.model, "slot windows");
        let given = model.point(&slots).and_then(|point| {
            model.model.first_broken(&point, 1e-6).map_or(Ok(point), |b| Err(b.to_string()))
        });
        let given = solver::start_at(session.cx, given, "the schedule in slots", start.best.makespan);
        let mut best = start.best;
        let mut reading = SlotReader {
            evaluator: &evaluator,
            model: &model,
            best: &mut best,
            scratch: Scratch::default(),
            points: 0,
        };
        let solution = solver::run(session.cx, params, SOLVER_STREAM, (&model.model, given), &mut reading)?;
        if let Some(values) = &solution.values {
            let claimed_s = model.claimed_s(values);
            let text = format!(
                "the model counts {claimed_s:.6} s in slots of {} ms; without rounding the plan takes {:.6} s",
                model.slot_s * 1e3,
                best.makespan
            );
            session.cx.note(Severity::Info, text);
        }
        let limited = !matches!(solution.status, Ending::Optimal | Ending::Infeasible);
        Ok(Outcome::Done { status: Status::Heuristic, limit: limited.then_some(Limit::Work) })
    }
}

fn slot_s(params: &Params) -> f64 {
    params.float("dt_ms").unwrap_or(20.0) * 1e-3
}

/// Returns a schedule in slots. If its model would exceed `max_columns`, returns a problem that suggests a longer slot.
fn schedule(network: &Network, x: &[u32], params: &Params) -> Result<Slots, MethodError> {
    let slot_s = slot_s(params);
    let most = params.int("max_columns").and_then(|most| u64::try_from(most).ok()).unwrap_or(u64::MAX);
    // A model has at least one column per slot, so with more slots than `max_columns` it is always too large.
    let longest = u32::try_from(most).unwrap_or(MOST_SLOTS).min(MOST_SLOTS);
    let slots = Slots::level_first(network, x, slot_s, longest);
    let columns = slots.as_ref().map(|slots| SlotWindows::new(network, slot_s, slots.end).columns());
    match (slots, columns) {
        (Some(slots), Some(columns)) if columns <= most => Ok(slots),
        (_, columns) => {
            let size = columns
                .map_or_else(|| format!("more than {longest} slots"), |c| format!("about {c} columns"));
            // The number of columns grows with the number of slots, so the slots are lengthened by the ratio of columns
            // to `max_columns`.
            let factor = columns.map_or(10.0, |columns| columns as f64 / most as f64).max(1.1);
            let remedy = format!(
                "use longer slots, such as dt_ms={:.3}, raise max_columns, or use delta-interval or delta-select",
                slot_s * 1e3 * factor * 1.1
            );
            let what = format!("gives a model of {size}, but max_columns allows {most} columns");
            Err(Problems::from(Problem::new("dt_ms", what, remedy)).into())
        }
    }
}

/// Computes a schedule in slots on the circuits `x`, and builds the model whose horizon is the end of this schedule;
/// returns both.
fn write(
    network: &Network,
    names: &Names,
    caps: &[u32],
    x: &[u32],
    params: &Params,
) -> Result<(FixedStep, Slots), MethodError> {
    let slots = schedule(network, x, params)?;
    let model = FixedStep::new(FixedStepQuestion {
        network,
        names,
        caps,
        slot_s: slot_s(params),
        horizon: slots.end,
    });
    Ok((model, slots))
}

/// Reader of the solver's points: evaluates the circuits of each point without slots.
struct SlotReader<'s> {
    evaluator: &'s Arc<Evaluator>,
    model: &'s FixedStep,
    best: &'s mut Circuits,
    scratch: Scratch,
    /// Number of points read so far.
    points: u32,
}

impl Reader<Training> for SlotReader<'_> {
    fn incumbent(
        &mut self,
        cx: &mut Context<'_, Training>,
        _objective: f64,
        values: &[f64],
        source: &str,
    ) -> Result<(), MethodError> {
        self.points += 1;
        let y = self.model.claimed_s(values);
        let name = "makespan in slots (s)".to_owned();
        cx.report(EventBody::Series(SeriesPoint { name, x: f64::from(self.points), y }));
        let x = self.model.circuits(values);
        let makespan = self.evaluator.makespan(&x, Rates::Best, &mut self.scratch);
        cx.count_work(1);
        let found = Circuits { ports: self.evaluator.network.budget.total(&x), makespan, x };
        if found.better_than(self.best) {
            let (evaluator, x) = (Arc::clone(self.evaluator), found.x.clone());
            super::session::hand_over(cx, &found, source, move || candidate(&evaluator, &x, Rates::Best))?;
            *self.best = found;
        }
        Ok(())
    }

    /// Ignores the bound of the model: plans without slots can be shorter than any plan of the model, so this bound
    /// does not hold for them.
    fn bound(&mut self, _cx: &mut Context<'_, Training>, _bound: f64) -> Result<(), MethodError> {
        Ok(())
    }

    fn meaning(&self, _slots: f64) -> Option<f64> {
        None
    }
}
