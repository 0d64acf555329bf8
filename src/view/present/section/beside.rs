//! Plans and runs of the session, as inputs of sections.

use crate::app::pane::PaneId;
use crate::app::plans::{PlanEntry, Shown};
use crate::app::runs::{Marker, Run, RunState};
use crate::app::series::RunCurve;
use crate::app::state::App;
use crate::view::shell::runs::standing;
use lightbay_core::event::{HotStartFate, RunId};
use lightbay_core::report::session::RunPoint;
use lightbay_core::report::{PlanBeside, RunBeside, RunGenerations, RunSearch, RunSort, Surroundings};
use std::sync::Arc;

/// Key of [`Surroundings`] (the plans and the run of the session that a section uses); it changes whenever these plans
/// or the run change.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionKey {
    shown: u64,
    baseline: Option<u64>,
    scenario: Option<String>,
    plans: Vec<(u64, u64, Option<u64>, bool)>,
    run: Option<RunKey>,
}

/// Key of the events of a run.
#[derive(Clone, Debug, PartialEq)]
struct RunKey {
    id: RunId,
    state: RunState,
    /// Number of events or points of curves so far, counting only those that change sections about runs of this type.
    said: u64,
    bound: Option<u64>,
    standing: Option<String>,
    /// Step of the run's time: sections with a time axis are at most one step old.
    step: i32,
}

impl RunKey {
    fn of(app: &App, run: &Run, sort: RunSort) -> Self {
        let said = match sort {
            // Solver figures and log lines do not change these sections.
            RunSort::OfPlan => {
                let series = run.named.values().map(RunCurve::total).sum::<u64>() + run.incumbents.total();
                series + (run.phases.len() + run.notes.len()) as u64
            }
            RunSort::Search | RunSort::Generations => run.heard,
        };
        let standing = standing(app, run).filter(|_| sort == RunSort::Search);
        // Logarithmic steps: an axis of a long run rarely needs a new end.
        let step = ((1.0 + app.elapsed_s(run)).ln() / STEP).floor() as i32;
        Self { id: run.id, state: run.state, said, bound: run.bound.map(f64::to_bits), standing, step }
    }
}

/// Minimum time between two collections of [`Surroundings`] that differ only in the events of a run, s. Without this
/// minimum, a search with a hundred improvements per second would keep a core busy with sections.
const BETWEEN_WORDS_S: f64 = 0.25;

/// Logarithm of the growth of a run's time by one step.
const STEP: f64 = 0.05;

/// Cached [`Surroundings`], one for each type of run; collected again when the session changes.
#[derive(Debug, Default)]
pub struct Gathered {
    known: Vec<Known>,
}

/// Cached [`Surroundings`] for one type of run.
#[derive(Debug)]
struct Known {
    sort: RunSort,
    /// Time of the run at which the surroundings were collected, in seconds.
    at_s: f64,
    key: SessionKey,
    beside: Arc<Surroundings>,
}

impl Gathered {
    /// Returns the plans and the run that a section about the plan `explained` uses, with their key. The run has the
    /// type `sort`.
    pub fn of(&mut self, app: &App, explained: u64, sort: RunSort) -> (SessionKey, Arc<Surroundings>) {
        let key = SessionKey::of(app, explained, sort);
        let now_s = run_of(app, sort).map_or(0.0, |run| app.elapsed_s(run));
        let holds = |known: &Known| {
            let is_recent = now_s - known.at_s < BETWEEN_WORDS_S;
            known.key == key || (is_recent && known.key.differs_in_words(&key))
        };
        let at = self.known.iter().position(|known| known.sort == sort);
        if let Some(known) = at.and_then(|at| self.known.get(at)).filter(|known| holds(known)) {
            return (known.key.clone(), known.beside.clone());
        }
        let beside = Arc::new(surroundings(app, explained, sort));
        let known = Known { sort, at_s: now_s, key: key.clone(), beside: beside.clone() };
        match at.and_then(|at| self.known.get_mut(at)) {
            Some(place) => *place = known,
            None => self.known.push(known),
        }
        (key, beside)
    }
}

impl SessionKey {
    fn of(app: &App, explained: u64, sort: RunSort) -> Self {
        let plan = |entry: &PlanEntry| {
            // The checker may confirm a bound without changing its value.
            let bounds = app.standing_of(entry);
            let bound =
                bounds.bounds().iter().map(|bound| bound.value.to_bits() ^ u64::from(bound.is_verified()));
            let bound = bound.reduce(|all, one| all.rotate_left(7) ^ one);
            (entry.number, entry.value.to_bits(), bound, entry.status.is_some())
        };
        Self {
            shown: explained,
            baseline: app.plans.baseline,
            scenario: app.work.as_ref().map(|work| work.now.sha256.clone()),
            plans: app.plans.iter().map(plan).collect(),
            run: run_of(app, sort).map(|run| RunKey::of(app, run, sort)),
        }
    }

    /// Returns `true` while the run is active.
    pub fn is_active(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.state.is_active())
    }

    /// Returns `true` if `other` differs from this key at most in the events of a run, and this run is active.
    fn differs_in_words(&self, other: &Self) -> bool {
        let (Some(run), Some(after)) = (&self.run, &other.run) else { return false };
        let (said, standing, step) = (after.said, after.standing.clone(), after.step);
        let now = Self { run: Some(RunKey { said, standing, step, ..run.clone() }), ..self.clone() };
        run.state.is_active() && now == *other
    }
}

/// Returns the run that sections about runs of this type show: the run selected in the strip if it is of this type,
/// else the newest run of the type.
fn run_of(app: &App, sort: RunSort) -> Option<&Run> {
    let selected = app.pane(PaneId::Solve).selected.map(|id| RunId(u64::from(id)));
    let kind = app.work.as_ref().map_or("", |work| work.kind);
    // An active run may not have reported figures yet.
    let will_prove = |run: &Run| {
        run.state.is_active() && lightbay_engines::method(kind, &run.method).is_some_and(|info| info.proves)
    };
    let wanted = |run: &Run| match sort {
        RunSort::OfPlan => false,
        RunSort::Search => run.searches() || will_prove(run),
        RunSort::Generations => run.evolves(),
    };
    if sort == RunSort::OfPlan {
        return run_of_plan(app, selected);
    }
    let chosen = selected.and_then(|id| app.runs.get(id)).filter(|run| wanted(run));
    // Before any genetic search, an active run may still begin one.
    let may_evolve = || app.runs.active().last().filter(|_| sort == RunSort::Generations);
    chosen.or_else(|| app.runs.latest(wanted)).or_else(may_evolve)
}

/// Returns, while the best plan is displayed, an active run, preferably the run selected in the strip; otherwise the
/// run that found the displayed plan. Considers only runs that have reported figures.
fn run_of_plan(app: &App, selected: Option<RunId>) -> Option<&Run> {
    let speaks = |run: &&Run| run.best.is_some() || !run.named.is_empty() || !run.phases.is_empty();
    let working = || app.runs.active().filter(|run| speaks(run)).filter(|_| app.plans.shown == Shown::Best);
    let chosen = working().find(|run| Some(run.id) == selected).or_else(|| working().last());
    let found_it = || app.runs.get(app.plans.shown()?.origin?.0).filter(|run| speaks(run));
    chosen.or_else(found_it)
}

fn surroundings(app: &App, explained: u64, sort: RunSort) -> Surroundings {
    // The plan of an edit has no number, and no other plan's bound holds for it.
    let is_edit = app.cell_edit().is_some_and(|edit| edit.is_changed() && edit.plan().is_some());
    let shown = app.plans.get(explained).or_else(|| app.plans.shown().filter(|_| !is_edit));
    let beside = run_of(app, sort);
    Surroundings {
        plans: app.plans.rows().into_iter().map(|entry| plan(app, entry, shown, beside)).collect(),
        run: beside.map(|beside| run(app, beside, sort)),
    }
}

fn plan(app: &App, entry: &PlanEntry, shown: Option<&PlanEntry>, beside: Option<&Run>) -> PlanBeside {
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
    let standing = app.standing_of(entry);
    PlanBeside {
        number: entry.number,
        method: entry.method.clone(),
        value: entry.value,
        metrics: entry.metrics.clone(),
        status: entry.status,
        bound: standing.on_all().map(|bound| bound.value),
        standing: Some(standing),
        partial,
        at_s: entry.at_s,
        began_with,
        is_shown: shown.is_some_and(|shown| shown.number == entry.number),
        is_baseline: app.plans.baseline == Some(entry.number),
        is_rival: entry.competes()
            && shown.is_some_and(|shown| shown.scenario_sha256 == entry.scenario_sha256),
        is_stale: app.is_of_another_scenario(entry),
        is_of_run: beside.is_some_and(|run| run.scenario_sha256 == entry.scenario_sha256),
        plan: entry.plan.as_ref().map(|plan| plan.0.shared()),
    }
}

fn run(app: &App, run: &Run, sort: RunSort) -> RunBeside {
    let points = |series: &RunCurve| {
        let point = |point: &crate::app::series::Point| RunPoint {
            at_s: point.at_s,
            count: point.count,
            value: point.value,
        };
        series.points().iter().map(point).collect::<Vec<_>>()
    };
    let said = |markers: &[Marker]| markers.iter().map(|note| (note.at_s, note.text.clone())).collect();
    let search = |run: &Run| RunSearch {
        stats: run.solver.clone(),
        standing: standing(app, run),
        stage: run.stage().map(|stage| (run.stage_since_s, stage.to_owned())),
        process: run.process.clone(),
        models: run.models.clone(),
        partial: run.partial.clone(),
        bounds: points(&run.bounds),
        partial_bounds: points(&run.partial_bounds),
        rows: run.rows.clone(),
        lines: run.lines.iter().map(|line| (line.at_ms as f64 / 1e3, line.text.clone())).collect(),
        first_line: run.lines.front().map_or(0, |line| line.number),
    };
    let generations = |run: &Run| RunGenerations {
        stats: run.generation.clone(),
        best: points(&run.best_curve),
        mean: points(&run.mean_curve),
    };
    RunBeside {
        id: run.id,
        method: run.method.clone(),
        state: run.word(),
        is_active: run.state.is_active(),
        is_stopping: run.state == RunState::Stopping,
        is_stale: app.work.as_ref().is_none_or(|work| work.now.sha256 != run.scenario_sha256),
        elapsed_s: app.elapsed_s(run),
        phases: run.phases.clone(),
        notes: said(&run.notes),
        best: run.best.as_ref().map(|best| best.value),
        bound: run.bound,
        incumbents: points(&run.incumbents),
        series: run.named.iter().map(|(name, series)| (name.clone(), points(series))).collect(),
        hot_start: run.hot_start.clone(),
        offer: run.offer.clone(),
        markers: said(&run.markers),
        // Copies only the data of the section, because this happens at every event.
        search: if sort == RunSort::Search { search(run) } else { RunSearch::default() },
        generations: if sort == RunSort::Generations { generations(run) } else { RunGenerations::default() },
    }
}
