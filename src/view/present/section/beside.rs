//! Plans and runs of the session as sections are given them.

use crate::app::pane::PaneId;
use crate::app::plans::{PlanEntry, Shown};
use crate::app::runs::{Run, RunState};
use crate::app::series::Series;
use crate::app::state::App;
use crate::view::figures::bound_for;
use crate::view::trust::Trust;
use lightbay_core::event::{HotStartFate, RunId};
use lightbay_core::report::session::{BoundStanding, RunPoint};
use lightbay_core::report::{PlanBeside, RunBeside, Surroundings};
use std::sync::Arc;

/// Key of surroundings: changes whenever they do.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionKey {
    shown: u64,
    baseline: Option<u64>,
    scenario: Option<String>,
    plans: Vec<(u64, u64, Option<u64>, bool)>,
    run: Option<RunKey>,
}

/// Key of a run: changes with everything the run tells.
#[derive(Clone, Debug, PartialEq)]
struct RunKey {
    id: RunId,
    state: RunState,
    /// Points of its series so far.
    points: u64,
    /// Phases and notes so far.
    remarks: usize,
    bound: Option<u64>,
}

/// Seconds between two surroundings that differ in points of series alone. A search that improves a hundred times a
/// second would otherwise keep a core busy with sections.
const BETWEEN_POINTS_S: f64 = 0.25;

/// The surroundings of a session, gathered again when it changes.
#[derive(Debug, Default)]
pub struct Gathered {
    known: Option<(SessionKey, Arc<Surroundings>)>,
    /// Time of the run at which they were gathered, in seconds.
    at_s: f64,
}

impl Gathered {
    /// The surroundings of the plan with a number.
    pub fn of(&mut self, app: &App, explained: u64) -> (SessionKey, Arc<Surroundings>) {
        let key = SessionKey::of(app, explained);
        let now_s = run_of(app).map_or(0.0, |run| run.elapsed_s);
        let is_recent = now_s - self.at_s < BETWEEN_POINTS_S;
        let is_same = |known: &SessionKey| *known == key || (is_recent && known.differs_in_points(&key));
        if let Some(known) = self.known.as_ref().filter(|known| is_same(&known.0)) {
            return known.clone();
        }
        let known = (key, Arc::new(surroundings(app, explained)));
        self.known = Some(known.clone());
        self.at_s = now_s;
        known
    }
}

impl SessionKey {
    fn of(app: &App, explained: u64) -> Self {
        let plan = |entry: &PlanEntry| {
            let bound = bound_for(app, entry).map(f64::to_bits);
            (entry.number, entry.value.to_bits(), bound, entry.status.is_some())
        };
        let run = run_of(app).map(|run| {
            let series = run.named.values().map(Series::total).sum::<u64>() + run.incumbents.total();
            RunKey {
                id: run.id,
                state: run.state,
                points: series,
                remarks: run.phases.len() + run.notes.len(),
                bound: run.bound.map(f64::to_bits),
            }
        });
        Self {
            shown: explained,
            baseline: app.plans.baseline,
            scenario: app.work.as_ref().map(|work| work.now.sha256.clone()),
            plans: app.plans.iter().map(plan).collect(),
            run,
        }
    }

    /// Returns `true` if points of series are all that another key has more or less of, of a run that still works.
    fn differs_in_points(&self, other: &Self) -> bool {
        let (Some(run), Some(after)) = (&self.run, &other.run) else { return false };
        let points = after.points;
        let now = Self { run: Some(RunKey { points, ..run.clone() }), ..self.clone() };
        run.state.is_active() && now == *other
    }
}

/// The run that sections are about: one that works, of those the one selected in the strip first, as long as the best
/// plan is shown; else the run that found the plan shown. Never one that says nothing about that plan.
fn run_of(app: &App) -> Option<&Run> {
    let speaks = |run: &&Run| run.best.is_some() || !run.named.is_empty();
    let selected = app.pane(PaneId::Solve).selected.map(|id| RunId(u64::from(id)));
    let working = || app.runs.active().filter(|run| speaks(run)).filter(|_| app.plans.shown == Shown::Best);
    let chosen = working().find(|run| Some(run.id) == selected).or_else(|| working().last());
    let found_it = || app.runs.get(app.plans.shown()?.origin?.0).filter(|run| speaks(run));
    chosen.or_else(found_it)
}

fn surroundings(app: &App, explained: u64) -> Surroundings {
    let shown = app.plans.get(explained).or_else(|| app.plans.shown());
    Surroundings {
        plans: app.plans.rows().into_iter().map(|entry| plan(app, entry, shown)).collect(),
        run: run_of(app).map(run),
    }
}

fn plan(app: &App, entry: &PlanEntry, shown: Option<&PlanEntry>) -> PlanBeside {
    let own_run = entry.origin.and_then(|(run, _)| app.runs.get(run));
    let began_with = own_run.and_then(|run| run.hot_start.as_ref()).and_then(|report| {
        let used = report.fate != HotStartFate::Rejected;
        report.after.or(report.before).filter(|_| used)
    });
    let closes =
        |bound: f64| lightbay_core::plan::gap(entry.value, bound) <= lightbay_core::plan::OPTIMAL_GAP;
    let partial = own_run
        .and_then(|run| run.partial.as_ref())
        .and_then(|bound| bound.only.as_ref().filter(|_| closes(bound.value)).cloned());
    PlanBeside {
        number: entry.number,
        method: entry.method.clone(),
        value: entry.value,
        metrics: entry.metrics.clone(),
        status: entry.status,
        bound: bound_for(app, entry),
        trust: match Trust::of_entry(app, entry) {
            None => BoundStanding::Verified,
            Some(Trust::Wider(bound)) => BoundStanding::Wider(bound),
            Some(Trust::Nothing) => BoundStanding::Claimed,
        },
        partial,
        at_s: entry.at_s,
        began_with,
        is_shown: shown.is_some_and(|shown| shown.number == entry.number),
        is_baseline: app.plans.baseline == Some(entry.number),
        is_rival: entry.competes()
            && shown.is_some_and(|shown| shown.scenario_sha256 == entry.scenario_sha256),
        is_stale: app.is_of_another_scenario(entry),
        plan: entry.plan.as_ref().map(|plan| plan.0.shared()),
    }
}

fn run(run: &Run) -> RunBeside {
    let points = |series: &Series| {
        let point = |point: &crate::app::series::Point| RunPoint {
            at_s: point.at_s,
            count: point.count,
            value: point.value,
        };
        series.points().iter().map(point).collect::<Vec<_>>()
    };
    RunBeside {
        id: run.id,
        method: run.method.clone(),
        state: run.word(),
        is_active: run.state.is_active(),
        elapsed_s: run.elapsed_s,
        phases: run.phases.clone(),
        notes: run.notes.iter().map(|note| (note.at_s, note.text.clone())).collect(),
        best: run.best.as_ref().map(|best| best.value),
        bound: run.bound,
        incumbents: points(&run.incumbents),
        series: run.named.iter().map(|(name, series)| (name.clone(), points(series))).collect(),
    }
}
