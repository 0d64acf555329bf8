//! The sections of a kind as panes.

use super::SectionContext;
use super::against::compared;
use super::beside::{Gathered, SessionKey};
use super::pane::{ItemWork, SectionPane, Wanted};
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::app::pane::PaneInfo;
use crate::app::plans::{PlanEntry, PlanRef};
use crate::app::state::App;
use crate::app::sweeps::PaneSweeps;
use crate::view::present::explained::no_plan;
use crate::view::present::{PaneInput, other_plan};
use lightbay_core::clock::Deadline;
use lightbay_core::problem::Problems;
use lightbay_core::report::section::SectionOf;
use lightbay_core::report::{Report, RunSort, SectionInfo, Unavailable};
use lightbay_engines::{AnyScenario, sections};
use lightbay_widgets::Piece;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Offset of the job types of section panes, to which the number of the pane is added; the job types of the kind's own
/// panes start at 0.
const SORT: u64 = 1 << 32;

/// The scenario or plan of a section.
#[derive(Clone, Debug)]
enum SectionSubject {
    /// A plan, identified by its number and by its object in memory, because plan numbers restart when another scenario
    /// is opened.
    Plan(u64, PlanRef),
    /// A scenario with its hash.
    Scenario(String, AnyScenario),
}

impl PartialEq for SectionSubject {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Plan(number, plan), Self::Plan(other, other_plan)) => {
                number == other && plan == other_plan
            }
            // The hash represents the whole scenario.
            (Self::Scenario(sha256, _), Self::Scenario(other, _)) => sha256 == other,
            _ => false,
        }
    }
}

impl SectionSubject {
    /// Returns the subject of a section: the displayed plan, or the scenario if the section does not need a plan. If
    /// the displayed plan solves another problem than the section explains, the subject is the best plan for the
    /// problem of the section.
    fn of(app: &App, info: &SectionInfo) -> Option<Self> {
        let scenario = || {
            let work = app.work.as_ref()?;
            Some(Self::Scenario(work.now.sha256.clone(), work.now.scenario.clone()))
        };
        // The effect of a slider is shown at once, without waiting for the new plan.
        if info.is_of_present() {
            return scenario();
        }
        let Some(plan) = app.shown_plan() else {
            // Without a plan, a section with `off_objective` names the method to solve with, unless runs are active.
            let waits = info.off_objective && app.runs.is_busy();
            // Sections of runs have data before there is a plan; without a run, the kind names the methods to solve
            // with.
            let of_run = info.run != RunSort::OfPlan;
            return scenario()
                .filter(|_| info.of == SectionOf::Scenario || of_run || info.off_objective && !waits);
        };
        let shown = Self::Plan(app.shown_key(), PlanRef(plan.clone()));
        let fits = |entry: &PlanEntry| entry.competes() != info.off_objective;
        if info.of == SectionOf::Scenario || app.plans.shown().is_none_or(fits) {
            return Some(shown);
        }
        let fitting = app.plans.rows().into_iter().filter(|entry| fits(entry));
        let in_memory = fitting.filter_map(|entry| Some(Self::Plan(entry.number, entry.plan.clone()?)));
        let kind = app.work.as_ref().map_or("", |work| work.kind);
        let is_coming = app
            .runs
            .active()
            .any(|run| lightbay_engines::other_question(kind, &run.method).is_some() == info.off_objective);
        in_memory.into_iter().next().or_else(|| (!info.off_objective || !is_coming).then_some(shown))
    }

    fn with<T>(&self, work: impl FnOnce(&dyn Report) -> Result<T, Unavailable>) -> Result<T, Unavailable> {
        let of =
            |report: Result<Box<dyn Report + '_>, Problems>| work(&*report.map_err(Unavailable::failed)?);
        match self {
            Self::Plan(_, plan) => of(plan.0.report()),
            Self::Scenario(_, scenario) => of(scenario.report()),
        }
    }

    /// Returns the number of the plan; 0 for a scenario.
    const fn number(&self) -> u64 {
        match self {
            Self::Plan(number, _) => *number,
            Self::Scenario(..) => 0,
        }
    }
}

/// Key of a computed section: its subject, and the plans and run of the session if the section uses them.
#[derive(Clone, Debug, PartialEq)]
struct SectionKey {
    subject: SectionSubject,
    /// The baseline whose values are shown too, with its name.
    against: Option<(SectionSubject, String)>,
    session: Option<SessionKey>,
}

/// Sections of the kind that is open, by number of the pane.
#[derive(Debug, Default)]
pub struct SectionPanes {
    panes: BTreeMap<u8, SectionPane<SectionKey>>,
    /// Plans and runs of the session that each pane uses, by number of the pane.
    gathered: BTreeMap<u8, Gathered>,
}

impl SectionPanes {
    /// Stores a section that a helper thread made; returns any other result.
    ///
    /// # Errors
    /// The result, if the result is not a section.
    pub fn accept(&mut self, key: JobKey, result: JobResult) -> Result<(), JobResult> {
        let number = u8::try_from(key.variant & 0xff).ok().filter(|_| key.variant >= SORT);
        match number.and_then(|number| self.panes.get_mut(&number)) {
            Some(pane) => pane.accept(key, result),
            None => Err(result),
        }
    }

    /// Draws a section of the displayed plan, or of the scenario if the section does not need a plan.
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
        let new = || SectionPane::new(info.title, SORT + u64::from(number));
        let pane = self.panes.entry(number).or_insert_with(new);
        let Some(subject) = SectionSubject::of(app, info) else {
            pane.forget();
            return no_plan(input, area, buf);
        };
        let plan = subject.number();
        let gathered = self.gathered.entry(number).or_default();
        let session = info.in_session.then(|| gathered.of(app, plan, info.run));
        // Sections of several plans of the session contain the baseline already.
        let against = if info.in_session || plan == 0 { None } else { baseline(app, plan) };
        let key = SectionKey {
            subject: subject.clone(),
            against: against.clone(),
            session: session.as_ref().map(|session| session.0.clone()),
        };
        let before = other_plan(app, plan).map_or_else(Vec::new, |plan| vec![plan, Piece::muted("  ")]);
        let context = SectionContext { before, ..SectionContext::default() };
        let is_live = session.as_ref().is_some_and(|(session, _)| session.is_active());
        let of_items = subject.clone();
        let work = move |deadline: Deadline| {
            subject.with(|report| {
                if let Some((_, beside)) = &session {
                    return report.in_session(info.name, beside, deadline);
                }
                let section = report.section(info.name, deadline)?;
                let Some((baseline, name)) = &against else { return Ok(section) };
                // A part that the baseline lacks is not compared.
                match baseline.with(|report| report.section(info.name, deadline)) {
                    Ok(old) => Ok(compared(section, &old, name)),
                    Err(_) => Ok(section),
                }
            })
        };
        let detail = (!info.item.is_empty()).then(|| {
            let work = move |item, deadline: Deadline| {
                of_items.with(|report| report.detail(info.name, item, deadline))
            };
            Arc::new(work) as ItemWork
        });
        let wanted = Wanted { key, plan, work, detail, is_live };
        pane.draw(input, Some(wanted), context, area, buf, out);
    }
}

/// Returns the baseline with its name, if it is another plan than plan `shown` of the same scenario.
fn baseline(app: &App, shown: u64) -> Option<(SectionSubject, String)> {
    let entry = app.plans.baseline().filter(|entry| entry.number != shown)?;
    let is_same = app.plans.get(shown).is_none_or(|of| of.scenario_sha256 == entry.scenario_sha256);
    let plan = app.baseline_plan().filter(|_| is_same)?;
    let name = format!("B {}", entry.number);
    Some((SectionSubject::Plan(entry.number, PlanRef(plan.clone())), name))
}

/// Adds to a pane the section whose name is in `pane.shows`, and the forms of the section.
fn of_section(pane: PaneInfo, sections: &'static [SectionInfo]) -> PaneInfo {
    match sections.iter().find(|section| section.name == pane.shows) {
        Some(section) => PaneInfo {
            section: Some(section),
            modes: section.forms,
            steps: section.item,
            zooms: true,
            ..pane
        },
        None => pane,
    }
}

/// Section name of the pane that charts sweeps.
pub const SWEEPS: &str = "sweeps";

/// Makes the pane of sweeps, with a form for each knob that the kind offers.
fn of_sweeps(pane: PaneInfo, kind: &str) -> PaneInfo {
    let offered = lightbay_engines::sweeps(kind);
    // Leaks one value per kind for the life of the program.
    let sweeps = Box::leak(Box::new(PaneSweeps { knobs: offered.knobs, methods: offered.methods }));
    let objective = lightbay_engines::kind(kind).map_or("", |info| info.objective.label);
    let overlay = if offered.figure.is_empty() { "" } else { objective };
    PaneInfo { modes: offered.forms, overlay, sweeps: Some(sweeps), ..pane }
}

/// Home of the panes that follow a kind's own panes. These panes are not drawn by default; the user opens them by
/// number, from the list or from the command palette. This number is larger than any home.
const NO_HOME: u8 = 100;

/// Returns the own panes of a kind, followed by panes of some of its sections; a pane for every section if the kind has
/// no own panes. Made once for every kind.
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
    let named = |pane: &PaneInfo| {
        if pane.shows == SWEEPS { of_sweeps(*pane, kind) } else { of_section(*pane, sections(kind)) }
    };
    let mut panes: Vec<PaneInfo> = own.iter().map(named).collect();
    let mut listed: Vec<&'static SectionInfo> = sections(kind).iter().filter(is_wanted).collect();
    // Without own panes, the kind assigns places to sections; the other sections follow in order.
    if own.is_empty() {
        listed.sort_by_key(|section| if section.place == 0 { u8::MAX } else { section.place });
    }
    for section in listed {
        let number = panes.len() as u8 + 1;
        panes.push(PaneInfo {
            modes: section.forms,
            steps: section.item,
            zooms: true,
            section: Some(section),
            home: if own.is_empty() { number } else { NO_HOME + number },
            ..PaneInfo::new(number, section.title, section.help)
        });
    }
    if panes.iter().all(|pane| pane.sweeps.is_none()) {
        let number = panes.len() as u8 + 1;
        let help = "What if a parameter of the scenario had another value?";
        let pane = PaneInfo::new(number, "What-if", help);
        let home = if own.is_empty() { number } else { NO_HOME + number };
        panes.push(of_sweeps(PaneInfo { home, ..pane }, kind));
    }
    // Leaks one value per kind for the life of the program.
    let panes: &'static [PaneInfo] = Box::leak(panes.into_boxed_slice());
    made.insert(kind.to_owned(), panes);
    panes
}
