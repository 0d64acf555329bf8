//! Evaluates the lists of values that the user edits, such as circuits per link, on a separate thread: the newest
//! request replaces a waiting request.

use crate::app::action::Fact;
use crate::app::effect::Evaluation;
use crate::app::layer::Preview;
use crate::app::plans::PlanRef;
use crate::runtime::helpers::Finished;
use lightbay_core::clock::Clock;
use lightbay_core::context::Stop;
use lightbay_core::event::{Done, Event, EventBody, EventSink, RunId};
use lightbay_core::run::Runs;
use lightbay_engines::{AnyPlan, AnyScenario, Request};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// Time limit of an evaluation, which then ends with its best result; usually it takes milliseconds.
const LIMIT: Duration = Duration::from_mins(1);

/// Interval at which an active evaluation checks for a newer request.
const LOOK: Duration = Duration::from_millis(20);

/// Maximum time that an evaluation may take to stop.
const STOPS: Duration = Duration::from_secs(5);

#[derive(Default)]
struct EvaluationQueue {
    waiting: Option<Evaluation>,
    closed: bool,
}

/// Evaluator of the lists of values that the user edits. Its thread starts with the first request and ends when the
/// evaluator is dropped.
pub struct Evaluator {
    queue: Arc<(Mutex<EvaluationQueue>, Condvar)>,
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
    /// Creates an evaluator that sends its results to `results`.
    pub fn new(results: mpsc::Sender<Finished>, clock: Arc<dyn Clock>) -> Self {
        Self { queue: Arc::default(), results, clock, started: false }
    }

    /// Submits a request; drops an older request that is still waiting.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn ask(&mut self, evaluation: Evaluation) -> std::io::Result<()> {
        if !self.started {
            let (queue, results, clock) =
                (Arc::clone(&self.queue), self.results.clone(), Arc::clone(&self.clock));
            let ends = Arc::new(LastEnd::default());
            let runs = Runs::new(1, RunId(1), Arc::clone(&ends) as Arc<dyn EventSink>, clock, None)?;
            std::thread::Builder::new()
                .name("lb-evaluate".to_owned())
                .spawn(move || work(&queue, &runs, &ends, &results))?;
            self.started = true;
        }
        let (queue, wake) = &*self.queue;
        queue.lock().unwrap_or_else(PoisonError::into_inner).waiting = Some(evaluation);
        wake.notify_one();
        Ok(())
    }
}

impl Drop for Evaluator {
    fn drop(&mut self) {
        let (queue, wake) = &*self.queue;
        queue.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        wake.notify_one();
    }
}

/// Event sink that stores the outcome of the run that ended last and drops all other events.
#[derive(Default)]
struct LastEnd(Mutex<Option<(RunId, Done)>>);

impl EventSink for LastEnd {
    fn report(&self, event: Event) {
        if let EventBody::Done(done) = event.body {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((event.run, done));
        }
    }
}

fn work(
    queue: &(Mutex<EvaluationQueue>, Condvar),
    runs: &Runs,
    ends: &LastEnd,
    results: &mpsc::Sender<Finished>,
) {
    let (queue, wake) = queue;
    loop {
        let evaluation = {
            let guard = queue.lock().unwrap_or_else(PoisonError::into_inner);
            let idle = |queue: &mut EvaluationQueue| queue.waiting.is_none() && !queue.closed;
            let mut guard = wake.wait_while(guard, idle).unwrap_or_else(PoisonError::into_inner);
            match guard.waiting.take() {
                Some(evaluation) if !guard.closed => evaluation,
                _ => return,
            }
        };
        let Evaluation { key, scenario, method, base, variants } = evaluation;
        let newer = || {
            let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.closed || queue.waiting.is_some()
        };
        let request = |settings| Request {
            hot_start: base.as_ref().map(|plan| plan.0.shared()),
            ..Request::of(method.as_str()).with(settings)
        };
        let previews: Vec<Preview> = variants
            .into_iter()
            .map_while(|(variant, settings)| {
                let plan = evaluate(runs, ends, &scenario, &request(settings), &newer)?;
                Some(Preview { variant, plan })
            })
            .collect();
        // The result of a replaced request is not needed.
        if newer() {
            continue;
        }
        if results.blocking_send(Finished::Fact(Fact::Evaluated { key, previews })).is_err() {
            return;
        }
    }
}

/// Evaluates a request. Returns the plan or the reason that there is none; returns `None` if a newer request has
/// arrived.
fn evaluate(
    runs: &Runs,
    ends: &LastEnd,
    scenario: &AnyScenario,
    request: &Request,
    newer: &impl Fn() -> bool,
) -> Option<Result<PlanRef, String>> {
    let job = match lightbay_engines::job(scenario, request) {
        Ok(job) => job,
        Err(problems) => {
            let words = problems.list().iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            return Some(Err(words));
        }
    };
    let run = runs.submit(job).run;
    let mut left = LIMIT;
    while !runs.wait_idle(LOOK.min(left)) {
        left = left.saturating_sub(LOOK);
        let replaced = newer();
        if replaced || left.is_zero() {
            runs.stop(run, if replaced { Stop::Requested } else { Stop::Time });
            if !runs.wait_idle(STOPS) && !replaced {
                return Some(Err(format!("the evaluation takes more than {} s", LIMIT.as_secs())));
            }
            if replaced {
                return None;
            }
            break;
        }
    }
    let ended = ends.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some((_, done)) = ended.filter(|(of, _)| *of == run) else {
        return Some(Err("the evaluation returned no result".to_owned()));
    };
    Some(match done.plan.as_ref().and_then(AnyPlan::of) {
        Some(plan) => Ok(PlanRef(plan)),
        None if done.message.is_empty() => Err(format!("no plan: {}", done.status.word().replace('_', " "))),
        None => Err(done.message),
    })
}
