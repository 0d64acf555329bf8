//! The panes of kind `crossconnect`.
//!
//! The user chooses a switch in pane 1, or with the bracket keys in the panes that show it; matrix and export show the
//! chosen switch. Panes 1, 3, 5 and 7 are sections of the report.

mod changed;
mod export;
mod logical;
mod matrix;

use super::explained::fail;
use super::job_results::JobResults;
use super::{Explain, Explanations, KindPanes, KindScreens, PaneInput, Title, frame};
use crate::app::drawn::{CellEditing, Drawn, JobKey, JobResult, PaneDrawn, ViewJob};
use crate::app::pane::{PaneId, PaneInfo};
use crate::app::state::App;
use crate::view::present::section::Prepared;
use lightbay_core::clock::Deadline;
use lightbay_engines::AnyPlan;
use lightbay_engines::crossconnect::plan::{Changes, CrossconnectResult};
use lightbay_engines::crossconnect::report::switch;
use lightbay_engines::crossconnect::rollout::explained::ChangeFacts;
use lightbay_engines::crossconnect::scenario::CrossconnectScenario;
use lightbay_widgets::PaneState as Shown;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Panes of the kind.
pub const SCREENS: KindScreens = KindScreens {
    kind: "crossconnect",
    panes: PANES,
    sections: SECTIONS,
    make: || Box::new(Crossconnects::new()),
};

/// The pane in which a switch is chosen.
const SWITCHES: PaneId = PaneId::Kind(1);

/// Sections that no other pane shows.
const SECTIONS: &[&str] = &["hall", "port_map", "run_sheet", "pairs"];

const PANES: &[PaneInfo] = &[
    PaneInfo {
        home: 7,
        ..PaneInfo::new(1, "Switches", "Which switches change, and how many circuits of each go dark?")
            .of_section("switches")
    },
    PaneInfo {
        modes: switch::FORMS,
        steps: "switch",
        home: 2,
        rows: 19,
        ..PaneInfo::new(2, "Matrix", "What does the chosen switch keep, add and remove?")
    },
    PaneInfo {
        home: 1,
        ..PaneInfo::new(
            3,
            "Rewiring",
            "How many circuits are removed, compared with the bound and the other methods?",
        )
        .of_section("rewiring")
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
        ..PaneInfo::new(
            5,
            "Changes",
            "Which order of the changes is safe, and which pods lack circuits meanwhile?",
        )
        .of_section("batches")
    },
    PaneInfo {
        modes: export::FORMATS,
        steps: "switch",
        home: 4,
        ..PaneInfo::new(6, "Export", "What would be sent to the switches?")
    },
    PaneInfo {
        home: 5,
        ..PaneInfo::new(
            7,
            "Phases",
            "Who sends to whom in an all-to-all, and does a receiver get two \
             flows?",
        )
        .of_section("phases")
    },
];

/// Type of the jobs that write the files of a plan; type 0 is for explanations of plans.
const FILES: u64 = 1;
const MATRIX: u64 = 2;

/// A plan with the figures that explain it.
#[derive(Debug)]
struct ExplainedChange {
    /// Key of the plan, for caches.
    key: u64,
    /// The explained plan.
    plan: AnyPlan,
    /// Figures of the change of circuits.
    facts: ChangeFacts,
    /// The section of all switches, shown next to the matrix of one switch.
    switches: Option<Arc<Prepared>>,
    /// Rules for editing target circuits; `None` if there are too many pods.
    editing: Option<Arc<CellEditing>>,
}

/// Returns the result of a plan of this kind.
fn result_of(plan: &AnyPlan) -> Option<&CrossconnectResult> {
    match plan {
        AnyPlan::Crossconnect(plan) => Some(&plan.plan().result),
        _ => None,
    }
}

/// Returns the changes of a plan; `None` if the plan is an order of phases.
fn changes_of(plan: &AnyPlan) -> Option<&Changes> {
    result_of(plan)?.changes()
}

/// Returns the scenario of a plan.
fn scenario_of(plan: &AnyPlan) -> Option<&CrossconnectScenario> {
    match plan {
        AnyPlan::Crossconnect(plan) => Some(&plan.plan().scenario.body),
        _ => None,
    }
}

impl ExplainedChange {
    fn scenario(&self) -> Option<&CrossconnectScenario> {
        scenario_of(&self.plan)
    }
}

impl Explain for ExplainedChange {
    fn explain(key: u64, plan: AnyPlan) -> Result<Self, String> {
        const WRONG: &str = "this plan touches no switch";
        let changes = changes_of(&plan).ok_or(WRONG)?;
        let scenario = scenario_of(&plan).ok_or(WRONG)?;
        let facts = ChangeFacts::of(scenario, changes);
        let editing = logical::cell_editing(scenario, &facts).map(Arc::new);
        let section = plan.report().ok().and_then(|report| report.section("switches", Deadline::NEVER).ok());
        let switches = section.map(|section| Arc::new(Prepared::new(section, None)));
        Ok(Self { key, plan, facts, switches, editing })
    }

    /// Returns the plan to be explained: the displayed plan, or the best plan that changes switches if the displayed
    /// plan only orders phases.
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

/// The panes with their stored results.
#[derive(Debug)]
struct Crossconnects {
    explained: Explanations<ExplainedChange>,
    files: JobResults<(u64, u8), export::ExportPreview>,
    matrix: matrix::MatrixPane,
    logical: logical::LogicalPane,
    export: export::ExportPane,
}

impl Crossconnects {
    fn new() -> Self {
        Self {
            explained: Explanations::default(),
            files: JobResults::new(FILES, 4),
            matrix: matrix::MatrixPane::new(),
            logical: logical::LogicalPane::default(),
            export: export::ExportPane::default(),
        }
    }

    /// Returns the files of the plan in the chosen format.
    fn files(
        &mut self,
        input: &PaneInput<'_>,
        plan: &ExplainedChange,
        jobs: &mut Vec<ViewJob>,
    ) -> Option<Result<Arc<export::ExportPreview>, String>> {
        let format = input.state.mode;
        let job = JobKey { pane: PaneId::Kind(6), plan: plan.key, size: (0, 0), variant: FILES };
        let of = plan.plan.clone();
        self.files.look(&(plan.key, format), job, jobs, move || export::write(&of, usize::from(format)))
    }
}

/// Returns the displayed switch: the switch chosen in pane 1, else the switch with the most changes.
fn chosen_switch(app: &App, facts: &ChangeFacts) -> usize {
    let chosen = app.pane(SWITCHES).selected.map(|id| id as usize);
    chosen.filter(|switch| *switch < facts.switches.len()).unwrap_or_else(|| facts.usual_switch())
}

/// Makes the bracket keys step through the switches.
fn step_through_switches(drawn: &mut PaneDrawn, facts: &ChangeFacts, switch: usize) {
    drawn.steps = facts.switches.len() as u32;
    drawn.steps_through = Some((SWITCHES, switch as u32));
}

impl KindPanes for Crossconnects {
    fn accept(&mut self, key: JobKey, result: JobResult) {
        // A late result of another kind is dropped.
        drop(
            self.explained
                .accept(key, result)
                .or_else(|result| self.files.accept(key, result))
                .or_else(|result| self.matrix.accept(key, result)),
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
        if input.app.shown_plan().is_some() && ExplainedChange::shown(input.app).is_none() {
            let state = Shown::Empty {
                what: "the plan orders phases and touches no switch",
                remedy: "choose another method with {choose_method} and press {solve_warm}",
            };
            return frame(input, &Title::default(), state, area, buf);
        }
        let Some(plan) = self.explained.shown_or_state(input, area, buf, &mut out.jobs) else { return };
        match input.info.number {
            2 => self.matrix.draw(input, &plan, area, buf, (drawn, out)),
            4 => self.logical.draw(input, &plan, area, buf, drawn, out),
            _ => match self.files(input, &plan, &mut out.jobs) {
                None => {
                    let title = Title::default();
                    frame(input, &title, Shown::Waiting("the files to be written"), area, buf);
                }
                Some(Err(why)) => fail(input, &why, area, buf),
                Some(Ok(files)) => self.export.draw(input, &plan, &files, area, buf, drawn),
            },
        }
    }
}
