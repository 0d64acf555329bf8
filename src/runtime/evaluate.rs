//! Evaluates edited lists on a thread of its own: the newest question replaces the one that waits.

use crate::app::action::Fact;
use crate::app::effect::Evaluation;
use crate::app::layer::Preview;
use crate::app::plans::PlanRef;
use crate::runtime::helpers::Finished;
use lightbay_core::clock::Clock;
use lightbay_core::event::{Done, Event, EventBody, EventSink, RunId};
use lightbay_core::param::ParamValue;
use lightbay_core::run::Runs;
use lightbay_engines::{AnyPlan, AnyScenario, Ask};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// An evaluation that takes longer is given up; it should take milliseconds.
const LIMIT: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Desk {
    waiting: Option<Evaluation>,
    closed: bool,
}

/// The evaluator. Its thread starts with the first question and ends when this is dropped.
pub struct Evaluator {
    desk: Arc<(Mutex<Desk>, Condvar)>,
    results: mpsc::Sender<Finished>,
    clock: Arc<dyn Clock>,
    started: bool,
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").field("started", &self.started).finish_non_exhaustive()
    }
}

impl Evaluator {
    /// An evaluator that sends its answers to `results`.
    pub fn new(results: mpsc::Sender<Finished>, clock: Arc<dyn Clock>) -> Self {
        Self { desk: Arc::default(), results, clock, started: false }
    }

    /// Asks; an older question that still waits is forgotten.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn ask(&mut self, evaluation: Evaluation) -> std::io::Result<()> {
        if !self.started {
            let (desk, results, clock) =
                (Arc::clone(&self.desk), self.results.clone(), Arc::clone(&self.clock));
            let ear = Arc::new(Ear::default());
            let runs = Runs::new(1, RunId(1), Arc::clone(&ear) as Arc<dyn EventSink>, clock, None)?;
            std::thread::Builder::new()
                .name("lb-evaluate".to_owned())
                .spawn(move || work(&desk, &runs, &ear, &results))?;
            self.started = true;
        }
        let (desk, wake) = &*self.desk;
        desk.lock().unwrap_or_else(PoisonError::into_inner).waiting = Some(evaluation);
        wake.notify_one();
        Ok(())
    }
}

impl Drop for Evaluator {
    fn drop(&mut self) {
        let (desk, wake) = &*self.desk;
        desk.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        wake.notify_one();
    }
}

/// Keeps the end of the last run.
#[derive(Default)]
struct Ear(Mutex<Option<(RunId, Done)>>);

impl EventSink for Ear {
    fn report(&self, event: Event) {
        if let EventBody::Done(done) = event.body {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((event.run, done));
        }
    }
}

fn work(desk: &(Mutex<Desk>, Condvar), runs: &Runs, ear: &Ear, results: &mpsc::Sender<Finished>) {
    let (desk, wake) = desk;
    loop {
        let evaluation = {
            let guard = desk.lock().unwrap_or_else(PoisonError::into_inner);
            let idle = |desk: &mut Desk| desk.waiting.is_none() && !desk.closed;
            let mut guard = wake.wait_while(guard, idle).unwrap_or_else(PoisonError::into_inner);
            match guard.waiting.take() {
                Some(evaluation) if !guard.closed => evaluation,
                _ => return,
            }
        };
        let Evaluation { key, scenario, method, variants } = evaluation;
        let previews = variants
            .into_iter()
            .map(|(variant, settings)| Preview {
                variant,
                plan: evaluate(runs, ear, &scenario, &method, settings),
            })
            .collect();
        if results.blocking_send(Finished::Fact(Fact::Evaluated { key, previews })).is_err() {
            return;
        }
    }
}

fn evaluate(
    runs: &Runs,
    ear: &Ear,
    scenario: &AnyScenario,
    method: &str,
    settings: Vec<(String, ParamValue)>,
) -> Result<PlanRef, String> {
    let ask = Ask::of(method).with(settings);
    let job = lightbay_engines::job(scenario, &ask)
        .map_err(|problems| problems.list().iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let run = runs.submit(job).run;
    if !runs.wait_idle(LIMIT) {
        runs.stop(run, lightbay_core::context::Stop::Time);
        return Err(format!("the evaluation takes more than {} s", LIMIT.as_secs()));
    }
    let ended = ear.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    let done =
        ended.filter(|(of, _)| *of == run).map(|(_, done)| done).ok_or("the evaluation said nothing")?;
    match done.plan.as_ref().and_then(AnyPlan::of) {
        Some(plan) => Ok(PlanRef(plan)),
        None if done.message.is_empty() => Err(format!("no plan: {}", done.status.word().replace('_', " "))),
        None => Err(done.message),
    }
}
