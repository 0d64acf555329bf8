//! The sections of a kind as panes.

use super::pane::{SectionPane, Wanted};
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::app::pane::PaneInfo;
use crate::app::plans::PlanRef;
use crate::view::present::PaneInput;
use crate::view::present::explained::no_plan;
use lightbay_core::clock::Deadline;
use lightbay_core::problem::Problems;
use lightbay_core::report::section::SectionOf;
use lightbay_core::report::{Report, Section, SectionInfo, Unavailable};
use lightbay_engines::{AnyScenario, sections};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Tells their jobs, by number of the pane, from those of the own panes of a kind, which count from 0.
const SORT: u64 = 1 << 32;

/// The scenario or plan that a section is of.
#[derive(Clone, Debug)]
enum Subject {
    /// A plan in memory: numbers begin again when another scenario is opened.
    Plan(u64, PlanRef),
    /// A scenario with its hash.
    Scenario(String, AnyScenario),
}

impl PartialEq for Subject {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Plan(number, plan), Self::Plan(other, other_plan)) => {
                number == other && plan == other_plan
            }
            // The hash stands for all of it.
            (Self::Scenario(sha256, _), Self::Scenario(other, _)) => sha256 == other,
            _ => false,
        }
    }
}

impl Subject {
    fn section(&self, name: &str, deadline: Deadline) -> Result<Section, Unavailable> {
        let of = |report: Result<Box<dyn Report + '_>, Problems>| {
            report.map_err(Unavailable::failed)?.section(name, deadline)
        };
        match self {
            Self::Plan(_, plan) => of(plan.0.report()),
            Self::Scenario(_, scenario) => of(scenario.report()),
        }
    }
}

/// Sections of the kind that is open, by number of the pane.
#[derive(Debug, Default)]
pub struct SectionPanes {
    panes: BTreeMap<u8, SectionPane<Subject>>,
}

impl SectionPanes {
    /// Takes in what a helper thread made; gives back what is not of a section.
    ///
    /// # Errors
    /// The result, if it is not a section.
    pub fn accept(&mut self, key: JobKey, result: JobResult) -> Result<(), JobResult> {
        let number = key.variant.checked_sub(SORT).and_then(|number| u8::try_from(number).ok());
        match number.and_then(|number| self.panes.get_mut(&number)) {
            Some(pane) => pane.accept(key, result),
            None => Err(result),
        }
    }

    /// Draws a section of the plan shown, or of the scenario where no plan is needed.
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        info: &'static SectionInfo,
        area: Rect,
        buf: &mut Buffer,
        out: (&mut PaneDrawn, &mut Drawn),
    ) {
        let app = input.app;
        let number = input.info.number;
        let new = || SectionPane::new(format!("section {}", info.name), SORT + u64::from(number));
        let pane = self.panes.entry(number).or_insert_with(new);
        let subject = match (app.shown_plan(), &app.work) {
            (Some(plan), _) => Subject::Plan(app.shown_key(), PlanRef(plan.clone())),
            (None, Some(work)) if info.of == SectionOf::Scenario => {
                Subject::Scenario(work.now.sha256.clone(), work.now.scenario.clone())
            }
            (None, _) => {
                pane.forget();
                return no_plan(input, area, buf);
            }
        };
        let plan = if let Subject::Plan(number, _) = &subject { *number } else { 0 };
        let key = subject.clone();
        let work = move |deadline: Deadline| subject.section(info.name, deadline);
        pane.draw(input, Some(Wanted { key, plan, work }), Vec::new(), area, buf, out);
    }
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
