//! The panes of kind `tpu`.

mod crossings;
mod faces;
mod live;
mod vc_load;

use super::job_results::JobResults;
use super::section::pane::{is_preview, remedy_now};
use super::{Explain, Explanations, KindPanes, KindScreens, PaneInput, Title, frame};
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn, ViewJob};
use crate::app::pane::{PaneId, PaneInfo};
use crate::app::state::App;
use lightbay_core::clock::Deadline;
use lightbay_engines::tpu::analysis::estimate::{self, EstimatedRoutes};
use lightbay_engines::tpu::analysis::explained;
use lightbay_engines::tpu::analysis::tori::{ROUTED_CUBES, Tori};
use lightbay_engines::tpu::model::topology::Topology;
use lightbay_engines::tpu::plan::TpuResult;
use lightbay_engines::tpu::report::NOT_ROUTED;
use lightbay_engines::tpu::scenario::{TopologyChoice, TpuScenario};
use lightbay_engines::{AnyPlan, AnyScenario};
use lightbay_widgets::{PaneState as Shown, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Panes of the kind.
pub const SCREENS: KindScreens =
    KindScreens { kind: "tpu", panes: PANES, sections: SECTIONS, make: || Box::new(Tpu::new()) };

/// Sections that no other pane shows.
const SECTIONS: &[&str] = &["pod", "simulation"];

const PANES: &[PaneInfo] = &[
    PaneInfo {
        modes: &["hops and loads", "hops", "figures"],
        home: 2,
        ..PaneInfo::new(
            1,
            "VC load",
            "Are the virtual channels equally loaded, and what did balancing change?",
        )
    },
    PaneInfo {
        home: 4,
        ..PaneInfo::new(2, "Channel load", "Where is the most loaded channel, and which flows use it?")
            .of_section("hottest")
    },
    PaneInfo {
        home: 1,
        ..PaneInfo::new(
            3,
            "Throughput",
            "How good is this pod, compared with a torus and with the bound on all pods?",
        )
        .of_section("throughput")
    },
    PaneInfo {
        modes: &["by cube", "by face", "cube by cube"],
        home: 3,
        ..PaneInfo::new(
            4,
            "Cubes x OCS",
            "How is every switch set, and how would a change affect the bounds?",
        )
    },
    PaneInfo {
        home: 6,
        ..PaneInfo::new(5, "Faults", "What remains if one switch fails?").of_section("faults")
    },
    PaneInfo {
        home: 5,
        ..PaneInfo::new(6, "Sizes", "How do designs compare with tori at each size?").of_section("sizes")
    },
];

/// Type of the jobs that measure tori; type 0 is for explanations of plans.
const TORI: u64 = 1;
/// Type of the jobs that estimate routes of a plan without routes.
const ESTIMATE: u64 = 2;
const LIVE: u64 = 4;

/// A plan with the figures that explain it.
#[derive(Clone, Debug)]
struct ExplainedPod {
    /// Key of the plan, for caches.
    key: u64,
    /// Figures of the pod.
    facts: explained::PodFacts,
    scenario: TpuScenario,
    /// `true` if the plan has no routes, and the routes of `facts` are an estimate.
    is_estimate: bool,
    /// `true` if the pod uses dimension-order routing.
    by_dimension: bool,
    /// `true` if the method of the plan computes routes.
    is_to_route: bool,
    /// `true` if the pod's switches can be changed, which is not possible for a torus or a given topology.
    free: bool,
}

fn result_of(plan: &AnyPlan) -> Option<&TpuResult> {
    match plan {
        AnyPlan::Tpu(plan) => Some(&plan.plan().result),
        _ => None,
    }
}

impl Explain for ExplainedPod {
    fn explain(key: u64, plan: AnyPlan) -> Result<Self, String> {
        let result = result_of(&plan).ok_or("this is not a plan of a pod")?;
        let facts = explained::PodFacts::of(result)?;
        let header = plan.header();
        let routing = header.parameters.get("routing").map(ToString::to_string);
        let AnyScenario::Tpu(scenario) = plan.scenario() else { return Err("this is not a pod".to_owned()) };
        let free = scenario.body.topology == TopologyChoice::Design;
        let by_dimension = routing.as_deref() == Some("dor");
        let is_to_route = routing.as_deref() != Some("none");
        let scenario = scenario.body.clone();
        Ok(Self { key, facts, scenario, is_estimate: false, by_dimension, is_to_route, free })
    }
}

impl ExplainedPod {
    /// Returns the same plan with dimension-order routes if it is a torus, else with estimated routes, by allowed turns.
    fn estimated(&self) -> Result<Self, String> {
        let routing = estimate::routing(&self.facts.pod, &self.scenario, Deadline::NEVER);
        let EstimatedRoutes { routing, by_dimension } = routing.ok_or_else(|| NOT_ROUTED.to_owned())?;
        let routes = Some(explained::Routes::of(&self.facts.pod, &routing));
        let facts = explained::PodFacts { routes, ..self.facts.clone() };
        Ok(Self { facts, is_estimate: !by_dimension, by_dimension, ..self.clone() })
    }
}

/// Formats a throughput in flits per cycle and ordered pair, with five significant digits at every size.
fn mcf(value: f64) -> number::Num {
    let is_positive = value > 0.0 && value.is_finite();
    let decimals = if is_positive { (3.0 - value.log10().floor()).clamp(3.0, 9.0) as usize } else { 6 };
    number::fixed(value, decimals)
}

/// Returns the name of a plan by its key.
fn named(key: u64) -> String {
    if is_preview(key) { "preview".to_owned() } else { format!("plan {key}") }
}

/// Draws the message that a plan lists no routes, and that none can be estimated.
fn no_routes(input: &PaneInput<'_>, plan: &ExplainedPod, area: Rect, buf: &mut Buffer) {
    let run = input.app.runs.newest().into_iter().find(|run| run.state.is_active());
    let awaited = run.map(|run| match &run.phase {
        Some(phase) => format!("the routes of this pod; current phase: {}", phase.name),
        None => "the routes of this pod".to_owned(),
    });
    let what = match &plan.facts.stated {
        None if plan.is_to_route => NOT_ROUTED.to_owned(),
        None => format!("the plan has no routes between its {} chips", plan.facts.chips()),
        Some(stated) => format!(
            "the routes were left out of this plan; its method claims {} routes over the most loaded channel",
            number::count(stated.max_channel_load)
        ),
    };
    let needed = match &plan.facts.stated {
        None if plan.is_to_route => "solve it again",
        None => "solve with routing=at",
        Some(_) => "solve with with_routes=true",
    };
    let remedy = remedy_now(input.app, needed);
    let empty = Shown::Empty { what: &what, remedy: &remedy };
    let state = awaited.as_deref().map_or(empty, Shown::Waiting);
    frame(input, &Title::default(), state, area, buf);
}

/// The panes with their stored results.
#[derive(Debug)]
struct Tpu {
    explained: Explanations<ExplainedPod>,
    estimated: JobResults<(u64, Topology), ExplainedPod>,
    tori: JobResults<usize, Tori>,
    live: JobResults<(u64, Vec<i64>), live::Live>,
    /// The bounds shown last during an edit; they stay until the next bounds are ready.
    last_live: Option<Arc<live::Live>>,
    vc_load: vc_load::VcPane,
    crossings: crossings::CrossingsPane,
}

/// Returns the number of cubes of the open scenario.
fn cubes_of(app: &App) -> Option<usize> {
    let cubes = |scenario: &AnyScenario| match scenario {
        AnyScenario::Tpu(scenario) => Some(usize::from(scenario.body.cubes)),
        _ => None,
    };
    let shown = app.plans.shown().and_then(|entry| entry.plan.as_ref()).map(|plan| plan.0.scenario());
    shown.as_ref().and_then(cubes).or_else(|| cubes(&app.work.as_ref()?.now.scenario))
}

impl Tpu {
    fn new() -> Self {
        Self {
            explained: Explanations::default(),
            estimated: JobResults::new(ESTIMATE, 4),
            tori: JobResults::new(TORI, 4),
            live: JobResults::new(LIVE, 32),
            last_live: None,
            vc_load: vc_load::VcPane::default(),
            crossings: crossings::CrossingsPane::default(),
        }
    }

    /// Returns measures of the tori with as many cubes as the open scenario.
    fn tori(&mut self, app: &App, jobs: &mut Vec<ViewJob>) -> Option<Arc<Tori>> {
        let cubes = cubes_of(app)?;
        let job = JobKey { pane: PaneId::Kind(1), plan: cubes as u64, size: (0, 0), variant: TORI };
        self.tori.look(&cubes, job, jobs, move || Ok(Tori::of(cubes, true)))?.ok()
    }

    /// Returns a plan without routes with estimated routes; `None` until these are computed. During a run, the estimate
    /// of an earlier plan stays until the next one is ready.
    fn estimated(
        &mut self,
        app: &App,
        plan: &Arc<ExplainedPod>,
        jobs: &mut Vec<ViewJob>,
    ) -> Option<Arc<ExplainedPod>> {
        if plan.facts.routes.is_some() || plan.facts.stated.is_some() {
            return Some(Arc::clone(plan));
        }
        let job = JobKey { pane: PaneId::Kind(1), plan: plan.key, size: (0, 0), variant: ESTIMATE };
        let (key, of) = ((plan.key, plan.facts.pod.clone()), Arc::clone(plan));
        let last = self.estimated.newest().filter(|_| app.runs.is_busy());
        let last = last.filter(|last| last.facts.chips() == plan.facts.chips());
        match self.estimated.look(&key, job, jobs, move || of.estimated()) {
            Some(made) => Some(made.unwrap_or_else(|_| Arc::clone(plan))),
            None => last,
        }
    }

    /// Returns bounds of the edited design.
    fn live(
        &mut self,
        input: &PaneInput<'_>,
        plan: &ExplainedPod,
        jobs: &mut Vec<ViewJob>,
    ) -> Option<Arc<live::Live>> {
        let edit = input.app.cell_edit().filter(|edit| edit.pane == input.pane && edit.is_changed());
        let Some(edit) = edit else {
            self.last_live = None;
            return None;
        };
        let job = JobKey { pane: PaneId::Kind(4), plan: edit.key, size: (0, 0), variant: LIVE };
        let (pod, values) = (plan.facts.pod.clone(), edit.values.clone());
        let key = (plan.key, edit.values.clone());
        if let Some(made) = self.live.look(&key, job, jobs, move || live::Live::edited(&pod, &values)) {
            self.last_live = made.ok();
        }
        self.last_live.clone()
    }
}

impl KindPanes for Tpu {
    fn accept(&mut self, key: JobKey, result: JobResult) {
        // A late result of another kind is dropped.
        drop(
            self.explained
                .accept(key, result)
                .or_else(|result| self.estimated.accept(key, result))
                .or_else(|result| self.tori.accept(key, result))
                .or_else(|result| self.live.accept(key, result)),
        );
    }

    fn draw(
        &mut self,
        input: &PaneInput<'_>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let app = input.app;
        let is_first = app.plans.shown().is_none() && app.preview().is_none();
        if input.info.number == 1
            && is_first
            && let Some(tori) = self.tori(app, &mut out.jobs).filter(|tori| tori.cubes <= ROUTED_CUBES)
        {
            let beside =
                vc_load::ComparedRoutes { tori: Some(&tori), baseline: None, waits: true, newer: None };
            self.vc_load.draw(input, None, &beside, area, buf, drawn, out);
            return;
        }
        let Some(plan) = self.explained.shown_or_state(input, area, buf, &mut out.jobs) else { return };
        let tori = self.tori(app, &mut out.jobs);
        let tori = tori.as_deref();
        let baseline = self.explained.of_baseline(app, &mut out.jobs);
        let name = |number: u64| {
            let title = app.plans.get(number).map_or("", |entry| app.plans.title(entry));
            format!("B {number} {title}")
        };
        let routed = self.estimated(app, &plan, &mut out.jobs);
        if input.info.number == 1 {
            let baseline = baseline.as_deref();
            let baseline = baseline.map(|plan| vc_load::BaselineRoutes { plan, name: name(plan.key) });
            let waits = routed.is_none();
            let routed = routed.unwrap_or_else(|| Arc::clone(&plan));
            let newer = Some(app.shown_key()).filter(|key| *key != routed.key);
            let beside = vc_load::ComparedRoutes { tori, baseline: baseline.as_ref(), waits, newer };
            self.vc_load.draw(input, Some(&routed), &beside, area, buf, drawn, out);
        } else {
            // The switches of a new plan are shown at once, with the loads of its routes as soon as they are known.
            let plan = routed.filter(|routed| routed.facts.pod == plan.facts.pod).unwrap_or(plan);
            let live = self.live(input, &plan, &mut out.jobs);
            let torus = tori.and_then(Tori::best);
            let against = match &baseline {
                Some(baseline) => Some(crossings::Against {
                    key: baseline.key,
                    name: name(baseline.key),
                    pod: &baseline.facts.pod,
                }),
                None => torus.map(|torus| crossings::Against {
                    key: u64::MAX,
                    name: torus.name.clone(),
                    pod: &torus.pod,
                }),
            };
            self.crossings.draw(input, &plan, against.as_ref(), tori, live.as_deref(), area, buf, drawn, out);
        }
    }
}
