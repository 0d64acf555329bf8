//! Panes of sections: worked out on a helper thread, shown until there is something newer.

use super::SectionView;
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::app::pane::PaneInfo;
use crate::app::plans::PlanRef;
use crate::view::present::desk::Desk;
use crate::view::present::explained::no_plan;
use crate::view::present::{PaneInput, Title, frame};
use lightbay_core::clock::Deadline;
use lightbay_core::report::{Section, SectionInfo, Unavailable};
use lightbay_engines::{AnyPlan, AnyScenario, sections};
use lightbay_widgets::{PaneState as Shown, Piece};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest work for a pane: the helper thread serves all of them.
pub const LONGEST: Duration = Duration::from_secs(8);

/// Tells their jobs from those of the own panes of a kind, which count from 0.
const SORT: u64 = u64::MAX;

/// Sections that stay in memory.
const KEPT: usize = 12;

/// The scenario or plan that a section is of.
#[derive(Clone, Debug, PartialEq)]
enum Subject {
    /// A plan in memory: numbers begin again when another scenario is opened.
    Plan(u64, PlanRef),
    /// A scenario by its hash.
    Scenario(String),
}

/// A section that was worked out, or the sentence and the remedy of one that is not there.
pub type Outcome = Result<Arc<Section>, (String, String)>;

/// Sections of the kind that is open.
#[derive(Debug)]
pub struct SectionPanes {
    worked: Desk<(Subject, &'static str), Outcome>,
    views: BTreeMap<&'static str, SectionView>,
    /// The last ones that were drawn: they stay on the screen until the next are ready.
    last: BTreeMap<&'static str, Arc<Outcome>>,
}

impl SectionPanes {
    /// Nothing worked out yet.
    pub fn new() -> Self {
        Self { worked: Desk::new(SORT, KEPT), views: BTreeMap::new(), last: BTreeMap::new() }
    }

    /// Takes in what a helper thread made; gives back what is of another sort.
    ///
    /// # Errors
    /// The result, if it is not a section.
    pub fn accept(&mut self, key: JobKey, result: JobResult) -> Result<(), JobResult> {
        self.worked.accept(key, result)
    }

    /// Draws a section by its name, of the plan shown or of the scenario where no plan is needed.
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        info: &'static SectionInfo,
        area: Rect,
        buf: &mut Buffer,
        (drawn, out): (&mut PaneDrawn, &mut Drawn),
    ) {
        use lightbay_core::report::section::SectionOf;
        let app = input.app;
        let nothing = Title { context: Vec::new(), value: Vec::new() };
        let plan = app.shown_plan().map(|plan| (app.shown_key(), plan));
        if plan.is_none() && info.of == SectionOf::Plan {
            self.last.remove(info.name);
            return no_plan(input, area, buf);
        }
        let Some(outcome) = self.look(input, info, plan, out) else {
            let what = format!("section {}", info.name);
            return frame(input, &nothing, Shown::Waiting(&what), area, buf);
        };
        match outcome {
            Err(why) => {
                let state = Shown::Failed { what: &why, remedy: "press V to check the plan" };
                frame(input, &nothing, state, area, buf);
            }
            Ok(outcome) => match &*outcome {
                Ok(section) => {
                    let view = self.views.entry(info.name).or_default();
                    view.draw(input, section, Vec::<Piece>::new(), area, buf, (drawn, out));
                }
                Err((what, remedy)) => frame(input, &nothing, Shown::Empty { what, remedy }, area, buf),
            },
        }
    }

    fn look(
        &mut self,
        input: &PaneInput<'_>,
        info: &'static SectionInfo,
        plan: Option<(u64, &AnyPlan)>,
        out: &mut Drawn,
    ) -> Option<Result<Arc<Outcome>, String>> {
        let app = input.app;
        let (subject, number) = match plan {
            Some((key, plan)) => (Subject::Plan(key, PlanRef(plan.clone())), key),
            None => (Subject::Scenario(app.work.as_ref()?.now.sha256.clone()), 0),
        };
        let job = JobKey { pane: input.pane, plan: number, size: (0, 0), variant: 0 };
        let name = info.name;
        let plan = plan.map(|(_, plan)| plan.clone());
        let scenario = app.work.as_ref()?.now.scenario.clone();
        let work = move || {
            Ok(plan.as_ref().map_or_else(|| of_scenario(&scenario, name), |plan| of_plan(plan, name)))
        };
        match self.worked.look(&(subject, name), job, &mut out.jobs, work) {
            Some(Ok(made)) => {
                self.last.insert(name, Arc::clone(&made));
                Some(Ok(made))
            }
            Some(Err(why)) => Some(Err(why)),
            None => self.last.get(name).map(|last| Ok(Arc::clone(last))),
        }
    }
}

fn of_plan(plan: &AnyPlan, name: &str) -> Outcome {
    let report = plan.report().map_err(|problems| (problems.to_string(), String::new()))?;
    ready(report.section(name, Deadline::after(LONGEST)))
}

fn of_scenario(scenario: &AnyScenario, name: &str) -> Outcome {
    let report = scenario.report().map_err(|problems| (problems.to_string(), String::new()))?;
    ready(report.section(name, Deadline::after(LONGEST)))
}

/// A section for the screen, or the words of the pane in its place.
pub fn ready(section: Result<Section, Unavailable>) -> Outcome {
    section.map(Arc::new).map_err(|unavailable| match unavailable {
        Unavailable::Absent { because, remedy } => (because, remedy),
        Unavailable::Failed(why) => (why, String::new()),
    })
}

/// Panes of a kind behind its own ones have no place of their own on the screen: they are opened by number, list or
/// palette. This is more than any home.
const NO_HOME: u8 = 100;

/// The own panes of a kind with those of some of its sections behind them; a pane for every section where it has none.
/// Made once for every kind.
pub fn with_sections(
    kind: &str,
    own: Option<(&'static [PaneInfo], &'static [&'static str])>,
) -> &'static [PaneInfo] {
    static MADE: Mutex<BTreeMap<String, &'static [PaneInfo]>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = made.get(kind) {
        return known;
    }
    let (own, wanted) = own.map_or((&[][..], None), |(own, wanted)| (own, Some(wanted)));
    let is_wanted = |section: &&SectionInfo| wanted.is_none_or(|wanted| wanted.contains(&section.name));
    let mut panes = own.to_vec();
    for section in sections(kind).iter().filter(is_wanted) {
        let number = panes.len() as u8 + 1;
        panes.push(PaneInfo {
            modes: section.forms,
            zooms: true,
            section: Some(section),
            home: if own.is_empty() { number } else { NO_HOME + number },
            ..PaneInfo::new(number, section.title, section.help)
        });
    }
    // As many as there are kinds, for as long as the program runs.
    let panes: &'static [PaneInfo] = Box::leak(panes.into_boxed_slice());
    made.insert(kind.to_owned(), panes);
    panes
}
