//! Explanations of plans: made once per plan on a helper thread, and kept while the plan is displayed.

use super::job_results::{JobResults, Made};
use super::{PaneInput, Title, frame};
use crate::app::drawn::{JobKey, JobResult, ViewJob};
use crate::app::pane::PaneId;
use crate::app::plans::PlanRef;
use crate::app::state::App;
use lightbay_engines::AnyPlan;
use lightbay_widgets::PaneState as Shown;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Number of explanations that stay in memory: of the displayed plan, the baseline, and a few earlier plans.
const KEPT: usize = 6;

/// Figures of a plan that are not in its file, for panes.
pub trait Explain: Sized + Send + Sync + 'static {
    /// Computes the explanation. `key` distinguishes plans. Runs on a helper thread.
    ///
    /// # Errors
    /// The reason that the plan cannot be explained.
    fn explain(key: u64, plan: AnyPlan) -> Result<Self, String>;

    /// Returns the plan to be explained (the displayed plan), with a number that changes whenever the plan changes.
    fn shown(app: &App) -> Option<(u64, &AnyPlan)> {
        Some((app.shown_key(), app.shown_plan()?))
    }
}

/// Identity of an explained plan: its number, and the plan itself, compared by its address in memory. The number alone
/// does not suffice, because plan numbers restart when another scenario is opened.
type Identity = (u64, PlanRef);

/// State of the explanation of the displayed plan.
#[derive(Debug)]
enum Lookup<E> {
    Ready(Arc<E>),
    NoPlan,
    /// The plan is being explained for the first time.
    Making,
    Failed(String),
}

/// Draws the message that a part of a plan could not be computed.
pub fn fail(input: &PaneInput<'_>, why: &str, area: Rect, buf: &mut Buffer) {
    let state = Shown::Failed { what: why, remedy: "press {check_plan} to check the plan" };
    frame(input, &Title::default(), state, area, buf);
}

/// Draws the message of a pane that has no plan to show: a run is searching, the last run failed for the stated reason,
/// or nothing was solved.
pub fn no_plan(input: &PaneInput<'_>, area: Rect, buf: &mut Buffer) {
    let failed = input.app.runs.latest(|_| true).and_then(|run| {
        let why = crate::view::shell::runs::failure(run)?;
        Some(format!("{} {}: {why}", run.method, run.word().to_lowercase()))
    });
    let state = match &failed {
        _ if input.app.runs.is_busy() => Shown::Waiting("the first plan"),
        Some(what) => {
            Shown::Failed { what, remedy: "{log} shows the log; change parameters and press {solve_warm}" }
        }
        None => Shown::Empty { what: "no plan yet", remedy: "press {solve_warm} to solve" },
    };
    frame(input, &Title::default(), state, area, buf);
}

/// Stored explanations, by plan.
#[derive(Debug)]
pub struct Explanations<E> {
    results: JobResults<Identity, E>,
    /// The explanation drawn last; it stays on the screen until the next explanation is ready.
    last: Option<Arc<E>>,
}

impl<E: Explain> Default for Explanations<E> {
    fn default() -> Self {
        Self { results: JobResults::new(0, KEPT), last: None }
    }
}

impl<E: Explain> Explanations<E> {
    /// Returns the explanation of the displayed plan. If the explanation is missing, the pane shows the reason: no
    /// plan, work in progress, or a failure.
    pub fn shown_or_state(
        &mut self,
        input: &PaneInput<'_>,
        area: Rect,
        buf: &mut Buffer,
        jobs: &mut Vec<ViewJob>,
    ) -> Option<Arc<E>> {
        let mut say = |state: Shown<'_>| {
            frame(input, &Title::default(), state, area, buf);
        };
        match self.of_shown(input.app, jobs) {
            Lookup::Ready(explained) => return Some(explained),
            Lookup::NoPlan => no_plan(input, area, buf),
            Lookup::Making => say(Shown::Waiting("the figures of the plan")),
            Lookup::Failed(why) => fail(input, &why, area, buf),
        }
        None
    }

    /// Returns the explanation of the displayed plan; requests it if necessary. The last explanation stays until the
    /// new one is ready, so that a stream of better plans does not make the screen flicker.
    fn of_shown(&mut self, app: &App, jobs: &mut Vec<ViewJob>) -> Lookup<E> {
        let Some((key, plan)) = E::shown(app) else {
            self.last = None;
            return Lookup::NoPlan;
        };
        match self.look(key, plan, jobs) {
            Some(Ok(explained)) => {
                self.last = Some(Arc::clone(&explained));
                Lookup::Ready(explained)
            }
            Some(Err(why)) => Lookup::Failed(why),
            None => self.last.as_ref().map_or(Lookup::Making, |last| Lookup::Ready(Arc::clone(last))),
        }
    }

    /// Returns the explanation of the baseline, once it is ready.
    pub fn of_baseline(&mut self, app: &App, jobs: &mut Vec<ViewJob>) -> Option<Arc<E>> {
        let plan = app.baseline_plan()?;
        let key = app.plans.baseline()?.number;
        self.look(key, plan, jobs)?.ok()
    }

    fn look(&mut self, key: u64, plan: &AnyPlan, jobs: &mut Vec<ViewJob>) -> Option<Made<E>> {
        let job = JobKey { pane: PaneId::Kind(1), plan: key, size: (0, 0), variant: 0 };
        let of = plan.clone();
        self.results.look(&(key, PlanRef(plan.clone())), job, jobs, move || E::explain(key, of.clone()))
    }

    /// Stores an explanation that a helper thread made; returns any other result.
    ///
    /// # Errors
    /// The result, if the result is not an explanation.
    pub fn accept(&mut self, job: JobKey, result: JobResult) -> Result<(), JobResult> {
        self.results.accept(job, result)
    }
}
