//! The panes of kind `crossconnect`.
//!
//! One switch is chosen in pane 1, or with the brackets in the panes that show it: matrix and export follow.

mod changes;
mod compare;
mod export;
mod logical;
mod matrix;
mod phases;
mod rewiring;
mod switches;
mod words;

use super::desk::Desk;
use super::explained::fail;
use super::{CompareBlocks, Explain, Explanations, KindPanes, KindScreens, PaneInput, Title, frame};
use crate::app::drawn::{CellEditing, Drawn, JobKey, JobResult, PaneDrawn, ViewJob};
use crate::app::pane::{PaneId, PaneInfo};
use crate::app::plans::PlanEntry;
use crate::app::state::App;
use lightbay_engines::AnyPlan;
use lightbay_engines::crossconnect::plan::{Changes, CrossconnectResult};
use lightbay_engines::crossconnect::rollout::caveat;
use lightbay_engines::crossconnect::rollout::explained::ChangeFacts;
use lightbay_engines::crossconnect::scenario::CrossconnectScenario;
use lightbay_widgets::PaneState as Shown;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Phases that were counted, or why they could not be.
type Counted = Result<Arc<phases::Orders>, String>;

/// What the kind shows.
pub const SCREENS: KindScreens = KindScreens {
    kind: "crossconnect",
    panes: PANES,
    sections: SECTIONS,
    make: || Box::new(Crossconnects::new()),
};

/// The pane in which a switch is chosen.
const SWITCHES: PaneId = PaneId::Kind(1);

/// Sections that no other pane shows.
const SECTIONS: &[&str] = &["hall", "pairs"];

const PANES: &[PaneInfo] = &[
    PaneInfo {
        home: 7,
        ..PaneInfo::new(1, "Switches", "Which switches change, and how many circuits of each go dark?")
    },
    PaneInfo {
        modes: &["pods", "ports", "changed ports"],
        steps: "switch",
        home: 2,
        rows: 19,
        ..PaneInfo::new(2, "Matrix", "What does the chosen switch keep, add and remove?")
    },
    PaneInfo {
        home: 1,
        ..PaneInfo::new(3, "Rewiring", "Is that few, against the bound and the other methods?")
    },
    PaneInfo {
        modes: &["circuits", "orientation"],
        home: 6,
        ..PaneInfo::new(
            4,
            "Logical",
            "Which pods get more or fewer circuits, and what would another target remove?",
        )
    },
    PaneInfo {
        home: 3,
        ..PaneInfo::new(5, "Changes", "In which order is it safe, and which pods miss circuits meanwhile?")
    },
    PaneInfo {
        modes: export::FORMATS,
        steps: "switch",
        home: 4,
        ..PaneInfo::new(6, "Export", "What would be sent to the switches?")
    },
    PaneInfo {
        modes: &["as planned", "the other rule"],
        steps: "phase",
        home: 5,
        ..PaneInfo::new(7, "Phases", "Who sends to whom in an all-to-all, and is a receiver hit twice?")
    },
];

/// Sorts of jobs besides the explanations of plans.
const FILES: u64 = 1;
const ORDER: u64 = 2;

/// A plan explained.
#[derive(Debug)]
struct Explained {
    /// Key of the plan, for caches.
    key: u64,
    /// The plan.
    plan: AnyPlan,
    /// What panes need of it.
    facts: ChangeFacts,
    /// What has to be told of the change beside its figures: wanted circuits that are not set, pairs that a batch cuts off.
    warnings: Vec<Warning>,
    /// How wanted circuits are edited; nothing where there are too many pods.
    editing: Option<Arc<CellEditing>>,
}

/// Something that has to be told of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Warning {
    /// In a few words, for titles.
    short: String,
    /// In one sentence.
    text: String,
}

impl Warning {
    /// All warnings of a change.
    fn all(scenario: &CrossconnectScenario, changes: &Changes) -> Vec<Self> {
        let unmet = caveat::unmet(scenario, changes).map(|text| {
            let count = changes.totals.unmet_circuits.unwrap_or(0);
            Self { short: format!("{} cannot be set", words::circuits(count)), text }
        });
        let cut = caveat::cut_off(scenario, changes).map(|text| {
            let pairs = caveat::cut_pairs(scenario, changes).into_iter().flat_map(|(_, pairs)| pairs);
            let count = pairs.collect::<BTreeSet<_>>().len();
            let word = if count == 1 { "pair" } else { "pairs" };
            Self { short: format!("{count} {word} cut off"), text }
        });
        unmet.into_iter().chain(cut).collect()
    }
}

/// The result of a plan of this kind.
fn result_of(plan: &AnyPlan) -> Option<&CrossconnectResult> {
    match plan {
        AnyPlan::Crossconnect(plan) => Some(&plan.plan().result),
        _ => None,
    }
}

/// The changes of a plan; `None` if it is an order of phases.
fn changes_of(plan: &AnyPlan) -> Option<&Changes> {
    result_of(plan)?.changes()
}

/// The scenario of a plan.
fn scenario_of(plan: &AnyPlan) -> Option<&CrossconnectScenario> {
    match plan {
        AnyPlan::Crossconnect(plan) => Some(&plan.plan().scenario.body),
        _ => None,
    }
}

impl Explained {
    fn scenario(&self) -> Option<&CrossconnectScenario> {
        scenario_of(&self.plan)
    }

    fn changes(&self) -> Option<&Changes> {
        changes_of(&self.plan)
    }
}

impl Explain for Explained {
    fn explain(key: u64, plan: AnyPlan) -> Result<Self, String> {
        const WRONG: &str = "this plan touches no switch";
        let changes = changes_of(&plan).ok_or(WRONG)?;
        let scenario = scenario_of(&plan).ok_or(WRONG)?;
        let facts = ChangeFacts::of(scenario, changes);
        let warnings = Warning::all(scenario, changes);
        let editing = logical::cell_editing(scenario, &facts).map(Arc::new);
        Ok(Self { key, plan, facts, warnings, editing })
    }

    /// An order of phases touches no switch: the best plan that does is explained in its place.
    fn shown(app: &App) -> Option<(u64, &AnyPlan)> {
        let shown = app.shown_plan()?;
        if changes_of(shown).is_some() {
            return Some((app.shown_key(), shown));
        }
        app.plans.rows().into_iter().find_map(|entry| {
            let plan = &entry.plan.as_ref()?.0;
            changes_of(plan).map(|_| (entry.number, plan))
        })
    }
}

/// The panes with what they keep.
#[derive(Debug)]
struct Crossconnects {
    explained: Explanations<Explained>,
    files: Desk<(u64, u8), export::Files>,
    orders: Desk<u64, phases::Orders>,
    switches: matrix::MatrixPane,
    matrix: matrix::MatrixPane,
    rewiring: rewiring::RewiringPane,
    logical: logical::LogicalPane,
    changes: changes::ChangesPane,
    export: export::ExportPane,
    phases: phases::PhasesPane,
}

impl Crossconnects {
    fn new() -> Self {
        Self {
            explained: Explanations::default(),
            files: Desk::new(FILES, 4),
            orders: Desk::new(ORDER, 4),
            switches: matrix::MatrixPane::default(),
            matrix: matrix::MatrixPane::default(),
            rewiring: rewiring::RewiringPane::default(),
            logical: logical::LogicalPane::default(),
            changes: changes::ChangesPane::default(),
            export: export::ExportPane::default(),
            phases: phases::PhasesPane::default(),
        }
    }

    /// The plan in the format that is chosen.
    fn files(
        &mut self,
        input: &PaneInput<'_>,
        plan: &Explained,
        jobs: &mut Vec<ViewJob>,
    ) -> Option<Result<Arc<export::Files>, String>> {
        let format = input.state.mode;
        let job = JobKey { pane: PaneId::Kind(6), plan: plan.key, size: (0, 0), variant: FILES };
        let of = plan.plan.clone();
        self.files.look(&(plan.key, format), job, jobs, move || export::write(&of, usize::from(format)))
    }

    /// The order of phases: of the plan shown, else of the newest plan that is one.
    fn order(&mut self, app: &App, jobs: &mut Vec<ViewJob>) -> Option<(u64, Option<Counted>)> {
        let is_order = |plan: &AnyPlan| result_of(plan).is_some_and(|result| result.order().is_some());
        let shown = app.shown_plan().filter(|plan| is_order(plan)).map(|plan| (app.shown_key(), plan));
        let (key, plan) = shown.or_else(|| {
            app.plans.iter().rev().find_map(|entry| {
                let plan = &entry.plan.as_ref()?.0;
                is_order(plan).then_some((entry.number, plan))
            })
        })?;
        let job = JobKey { pane: PaneId::Kind(7), plan: key, size: (0, 0), variant: ORDER };
        let of = plan.clone();
        Some((key, self.orders.look(&key, job, jobs, move || phases::Orders::of(&of))))
    }

    fn draw_order(
        &mut self,
        input: &PaneInput<'_>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let none = || Title { context: Vec::new(), value: Vec::new() };
        match self.order(input.app, &mut out.jobs) {
            None => {
                let what = match input.app.runs.latest(|run| run.method == phases::METHOD) {
                    Some(run) if run.state.is_active() => {
                        return frame(input, &none(), Shown::Waiting("the order of phases"), area, buf);
                    }
                    _ => "no order of phases yet",
                };
                let remedy = format!(":solve {} orders an all-to-all between the pods", phases::METHOD);
                frame(input, &none(), Shown::Empty { what, remedy: &remedy }, area, buf);
            }
            Some((_, None)) => frame(input, &none(), Shown::Waiting("the phases to be counted"), area, buf),
            Some((_, Some(Err(why)))) => fail(input, &why, area, buf),
            Some((number, Some(Ok(orders)))) => {
                self.phases.draw(input, number, &orders, area, buf, drawn);
            }
        }
    }
}

/// The switch that panes show: the one chosen in pane 1, else the one with most changes.
fn chosen_switch(app: &App, facts: &ChangeFacts) -> usize {
    let chosen = app.pane(SWITCHES).selected.map(|id| id as usize);
    chosen.filter(|switch| *switch < facts.switches.len()).unwrap_or_else(|| facts.usual_switch())
}

/// Lets the brackets go through the switches.
fn step_through_switches(drawn: &mut PaneDrawn, facts: &ChangeFacts, switch: usize) {
    drawn.steps = facts.switches.len() as u32;
    drawn.steps_through = Some((SWITCHES, switch as u32));
}

/// `plan 5` where panes show another plan than the header names.
fn other_plan(app: &App, plan: &Explained) -> Option<lightbay_widgets::Piece> {
    (plan.key != app.shown_key() && app.plans.get(plan.key).is_some())
        .then(|| lightbay_widgets::Piece::new(format!("plan {}", plan.key), lightbay_widgets::Tone::Changed))
}

impl KindPanes for Crossconnects {
    fn accept(&mut self, key: JobKey, result: JobResult) {
        // A late result of another kind is nobody's.
        drop(
            self.explained
                .accept(key, result)
                .or_else(|result| self.files.accept(key, result))
                .or_else(|result| self.orders.accept(key, result)),
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
        if input.info.number == 7 {
            return self.draw_order(input, area, buf, drawn, out);
        }
        if input.app.shown_plan().is_some() && Explained::shown(input.app).is_none() {
            let state = Shown::Empty {
                what: "the plan orders phases and touches no switch",
                remedy: "choose another method with Space m and press r",
            };
            return frame(input, &Title { context: Vec::new(), value: Vec::new() }, state, area, buf);
        }
        let Some(plan) = self.explained.shown_or_state(input, area, buf, &mut out.jobs) else { return };
        match input.info.number {
            1 => self.switches.draw(input, &plan, true, area, buf, drawn, out),
            2 => self.matrix.draw(input, &plan, false, area, buf, drawn, out),
            3 => self.rewiring.draw(input, &plan, area, buf, drawn, out),
            4 => self.logical.draw(input, &plan, area, buf, drawn, out),
            5 => self.changes.draw(input, &plan, area, buf, drawn, out),
            _ => match self.files(input, &plan, &mut out.jobs) {
                None => {
                    let title = Title { context: Vec::new(), value: Vec::new() };
                    frame(input, &title, Shown::Waiting("the files to be written"), area, buf);
                }
                Some(Err(why)) => fail(input, &why, area, buf),
                Some(Ok(files)) => self.export.draw(input, &plan, &files, area, buf, drawn),
            },
        }
    }

    fn compare(&self, a: &PlanEntry, b: &PlanEntry) -> CompareBlocks {
        compare::blocks(a, b)
    }
}
