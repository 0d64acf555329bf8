//! Genetic search over circuits: `delta-fast` evaluates them at max-min fair rates, `delta-level` at rates that give
//! priority to the transfer that determines the end.

use super::approach::SessionMethod;
use super::session::Session;
use super::{idle, knobs, start};
use crate::scenario::TrainingScenario;
use crate::search::ga::{self, Evolved, GaSettings};
use crate::simulate::evaluate::Rates;
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::random::Stream;
use std::sync::Arc;

/// A method that uses the genetic search: `delta-fast` or `delta-level`.
pub(super) struct Evolve {
    /// Name of the method.
    pub name: &'static str,
    /// Rate rule under which the method evaluates circuits.
    pub rates: Rates,
}

impl SessionMethod for Evolve {
    fn info(&self) -> MethodInfo {
        let mut params = vec![knobs::min_ports()];
        params.extend(knobs::genetic());
        MethodInfo {
            name: self.name,
            help: match self.rates {
                Rates::Fair => "Genetic search over circuits at max-min fair rates.",
                Rates::Level | Rates::Best => {
                    "Genetic search over circuits; rates give priority to the transfer that determines \
                     the end."
                }
            },
            proves: false,
            hot_start: true,
            params,
        }
    }

    fn rates(&self, _params: &Params) -> Rates {
        self.rates
    }

    fn idle(&self, _scenario: &TrainingScenario, params: &Params) -> Vec<Problem> {
        idle::genetic(params)
    }

    fn run(&self, session: &mut Session<'_, '_>, params: &Params) -> Result<Outcome, MethodError> {
        let start = start::start(session)?;
        let evolved = evolve(session, params, &start, None)?;
        let mut best = if evolved.best.better_than(&start.best) { evolved.best } else { start.best };
        session.fewest_ports(&mut best, &start.caps)?;
        Ok(Outcome::Done { status: Status::Heuristic, limit: evolved.limit })
    }
}

/// Runs the genetic search as a phase of a method. `target` is a lower bound on the makespan; the search ends when it
/// is reached.
pub(super) fn evolve(
    session: &mut Session<'_, '_>,
    params: &Params,
    start: &start::Start,
    target: Option<f64>,
) -> Result<Evolved, MethodError> {
    let settings = knobs::settings(params, start.hot);
    session.cx.phase(
        "genetic search",
        format!(
            "{} islands of {} individuals, at most {} generations",
            settings.islands, settings.population, settings.generations
        ),
    );
    session.evolving_since_s = Some(session.cx.elapsed_s());
    let evolved = search(session, &settings, start, target);
    session.evolving_since_s = None;
    evolved
}

/// Runs the genetic search alone; island n uses random stream n.
pub(super) fn search(
    session: &mut Session<'_, '_>,
    settings: &GaSettings,
    start: &start::Start,
    target: Option<f64>,
) -> Result<Evolved, MethodError> {
    let evaluator = Arc::clone(&session.evaluator);
    let task = ga::GaTask { evaluator: &evaluator, rates: session.rates, caps: &start.caps, target };
    let streams: Vec<Stream> = (0..u64::from(settings.islands)).map(|n| session.cx.stream(n)).collect();
    ga::evolve(task, settings, &start.seeds, |island| streams[island as usize].clone(), session)
}
