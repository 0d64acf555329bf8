//! One section as a pane: computed on a helper thread, and shown until a newer section is ready.

use super::{Prepared, SectionContext, SectionView};
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::app::pane::ItemId;
use crate::app::plans::PlanEntry;
use crate::app::state::App;
use crate::view::present::explained::fail;
use crate::view::present::job_results::JobResults;
use crate::view::present::{PaneInput, Title, frame};
use lightbay_core::clock::{Deadline, is_unwanted};
use lightbay_core::param::Setting;
use lightbay_core::report::{Section, Unavailable};
use lightbay_widgets::{PaneState as Shown, Piece, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Initial time limit of work for a pane; work that can end early returns its result at that time.
const FIRST: Duration = Duration::from_secs(30);

/// Factor by which the time limit grows after work ends without a result, as long as the pane is visible.
const LONGER: u32 = 4;

/// Time after which a section that should follow the newest plan, but does not, is marked with its plan.
const LATE: Duration = Duration::from_secs(1);

/// Number of sections that stay in memory, including sections of plans displayed before.
const KEPT: usize = 6;

/// Number that is added to the job type of a pane for jobs about single items.
const DETAIL: u64 = 1 << 33;

/// A computed section, or the reason that the section is missing.
type PreparedSection = Result<Arc<Prepared>, Unavailable>;

/// Function that computes the details of an item until the deadline.
pub type ItemWork = Arc<dyn Fn(ItemId, Deadline) -> Result<Section, Unavailable> + Send + Sync>;

/// Input for the computation of a section.
pub struct Wanted<K, W> {
    /// Key that changes whenever the section does.
    pub key: K,
    /// Number of the plan, 0 for a scenario.
    pub plan: u64,
    /// Computes the section until the deadline.
    pub work: W,
    /// Computes the details of an item, if the items of the section have details.
    pub detail: Option<ItemWork>,
    /// `true` to show the newest computed section even if it belongs to another key, because keys change faster than
    /// sections are computed.
    pub is_live: bool,
}

/// A section as a pane. Computed sections are stored by key, which identifies the plan or scenario.
#[derive(Debug)]
pub struct SectionPane<K> {
    waits_for: String,
    /// Name of the rows whose items other panes share.
    linked: Option<&'static str>,
    sort: u64,
    worked: JobResults<K, PreparedSection>,
    /// The section shown last; it stays on the screen until the next section is ready.
    last: Option<Arc<PreparedSection>>,
    details: JobResults<(K, ItemId), PreparedSection>,
    /// The plan that the pane waits for, and the start of the wait.
    waits: Option<(u64, Instant)>,
    /// The plan of the newest computed section.
    newest_plan: u64,
    /// Time when the section on the screen was the requested one, or when the pane was first drawn.
    current_at: Option<Instant>,
    /// Details of the item chosen last.
    last_detail: Option<((K, ItemId), Arc<Prepared>)>,
    view: SectionView,
}

impl<K: Clone + PartialEq + Send + Sync + 'static> SectionPane<K> {
    /// Creates a pane without a computed section. `waits_for` names the section during the computation, and `sort`
    /// distinguishes the jobs of the pane from other jobs.
    pub fn new(waits_for: impl Into<String>, sort: u64) -> Self {
        let worked = JobResults::new(sort, KEPT);
        let details = JobResults::new(sort + DETAIL, KEPT);
        let view = SectionView::default();
        let waits_for = waits_for.into();
        Self {
            waits_for,
            linked: None,
            sort,
            worked,
            last: None,
            waits: None,
            newest_plan: 0,
            current_at: None,
            details,
            last_detail: None,
            view,
        }
    }

    /// Sets the name of the rows whose items other panes share.
    pub const fn linked(mut self, rows: &'static str) -> Self {
        self.linked = Some(rows);
        self
    }

    /// Stores a result of a helper thread.
    ///
    /// # Errors
    /// Returns the result if it belongs to another pane.
    pub fn accept(&mut self, key: JobKey, result: JobResult) -> Result<(), JobResult> {
        match self.worked.accept(key, result) {
            Ok(()) => {
                self.newest_plan = key.plan;
                Ok(())
            }
            Err(result) => self.details.accept(key, result),
        }
    }

    /// Drops the section shown last, if this section is not related to the next section.
    pub fn forget(&mut self) {
        (self.last, self.last_detail) = (None, None);
    }

    /// Returns the number of columns that the section shown last can use.
    pub fn wish(&self) -> u16 {
        self.view.wish()
    }

    /// Returns the number of columns of all signs of the matrix shown last, without gaps, and of the words after them.
    pub fn close(&self) -> Option<u16> {
        self.view.close()
    }

    /// Returns the number of rows of the body drawn last, without the sentences below it.
    pub const fn rows(&self) -> u16 {
        self.view.rows()
    }

    /// Returns the rows of `area` that the section drawn last leaves to another picture.
    pub fn rest(&self, area: Rect) -> Rect {
        if self.last.is_some() { self.view.rest(area) } else { Rect::ZERO }
    }

    /// Fills the view with the section of a key, if it is computed, so that its widths are known before it is drawn.
    pub fn prepare(&mut self, input: &PaneInput<'_>, key: &K) {
        if let Some(Ok(made)) = self.worked.known(key)
            && let Ok(section) = made.as_ref()
        {
            self.view.selection(input, section, None);
        }
    }

    /// Draws the requested section, or the last one until the requested one is ready.
    pub fn draw<W>(
        &mut self,
        input: &PaneInput<'_>,
        wanted: Option<Wanted<K, W>>,
        context: SectionContext,
        area: Rect,
        buf: &mut Buffer,
        (drawn, out): (&mut PaneDrawn, &mut Drawn),
    ) where
        W: Fn(Deadline) -> Result<Section, Unavailable> + Send + Sync + 'static,
    {
        let mut of_item = None;
        let waited_before = self.waits.take();
        let mut context = context;
        if let Some(Wanted { key, plan, work, detail, is_live }) = wanted {
            let job = JobKey { pane: input.pane, plan, size: (0, 0), variant: self.sort };
            let linked = self.linked;
            let prepare =
                move || Ok(patiently(&work).map(|section| Arc::new(Prepared::new(section, linked))));
            match self.worked.look(&key, job, &mut out.jobs, prepare) {
                Some(Ok(made)) => {
                    self.last = Some(made);
                    self.newest_plan = plan;
                    self.current_at = Some(input.app.now);
                }
                Some(Err(why)) => return fail(input, &why, area, buf),
                None => {
                    let start =
                        waited_before.filter(|(of, _)| *of == plan).map_or(input.app.now, |(_, at)| at);
                    self.waits = Some((plan, start));
                    out.waits = true;
                    if is_live {
                        self.last = self.worked.newest().or_else(|| self.last.take());
                        // A section that stays behind is marked with its plan.
                        let current_at = *self.current_at.get_or_insert(input.app.now);
                        let of_preview = is_preview(self.newest_plan) && !is_preview(plan);
                        let name = if of_preview {
                            "preview".to_owned()
                        } else {
                            format!("plan {}", self.newest_plan)
                        };
                        let of = Piece::new(format!("{name}  "), Tone::Changed);
                        let is_in_table = input.app.plans.get(self.newest_plan).is_some();
                        let is_late = input.app.now - current_at >= LATE && self.newest_plan != plan;
                        context.before.splice(..0, (of_preview || is_late && is_in_table).then_some(of));
                    } else if self.last.as_deref().is_some_and(Result::is_err) {
                        // A part that an older plan lacks may exist in this plan.
                        self.last = None;
                    } else if self.last.is_some() {
                        let words = format!("{}  ", waiting("", plan, input.app.now - start));
                        context.before.insert(0, Piece::new(words, Tone::Changed));
                    }
                }
            }
            of_item = detail.map(|detail| (key, job, detail));
        }
        let nothing = Title::default();
        match self.last.as_deref() {
            None => {
                let (plan, start) = self.waits.unwrap_or((0, input.app.now));
                let words = waiting(&self.waits_for, plan, input.app.now - start);
                frame(input, &nothing, Shown::Empty { what: &words, remedy: "" }, area, buf);
            }
            Some(Ok(section)) => {
                let chosen = self.view.selection(input, section, context.pointed.as_ref()).item;
                match chosen.zip(of_item) {
                    Some((item, (key, job, detail))) => {
                        let work = move || {
                            let made = patiently(&|deadline| detail(item, deadline));
                            Ok(made.map(|of| Arc::new(Prepared::new(of, None))))
                        };
                        let wanted = (key, item);
                        let made = self.details.look(&wanted, job, &mut out.jobs, work);
                        let last = self.last_detail.as_ref().map(|(of, _)| of);
                        let is_late = made.is_none() && last != Some(&wanted);
                        if let Some(Ok(made)) = made {
                            self.last_detail = made.as_ref().as_ref().ok().map(|of| (wanted, Arc::clone(of)));
                        } else {
                            context.detail_is_late = is_late;
                            // The detail of another plan must not stay below the section of this one.
                            if last.is_some_and(|of| of.0 != wanted.0) {
                                self.last_detail = None;
                            }
                        }
                    }
                    None => self.last_detail = None,
                }
                let detail = self.last_detail.as_ref().map(|(_, of)| Arc::clone(of));
                self.view.draw(input, section, detail.as_ref(), context, area, buf, (drawn, out));
            }
            Some(Err(Unavailable::Absent { because, remedy })) => {
                let remedy = remedy_now(input.app, remedy);
                frame(input, &nothing, Shown::Empty { what: because, remedy: &remedy }, area, buf);
            }
            Some(Err(why)) => fail(input, &why.to_string(), area, buf),
        }
    }
}

/// Computes a section with increasing time limits, as long as it is requested.
fn patiently(work: &dyn Fn(Deadline) -> Result<Section, Unavailable>) -> Result<Section, Unavailable> {
    let mut limit = FIRST;
    loop {
        match work(Deadline::after(limit)) {
            Err(Unavailable::Late(_)) if !is_unwanted() => limit = limit.saturating_mul(LONGER),
            made => return made,
        }
    }
}

/// Returns the remedy. If the settings that the remedy names are already made, returns that the current run will
/// compute the section, that the run of the plan ended too early, or that the user must solve.
pub fn remedy_now(app: &App, remedy: &str) -> String {
    if remedy == "solve it again" && app.runs.is_busy() {
        return "the current run will compute this section".to_owned();
    }
    let named = |text: &str| -> Vec<Setting> {
        let setting = |word: &str| word.trim_matches([',', ';', '.']).parse().ok();
        text.split_whitespace().filter_map(setting).collect()
    };
    let is_now =
        |setting: &Setting| app.setting(&setting.name).is_some_and(|value| value.to_string() == setting.text);
    let alternatives = remedy.split(" or ").map(named);
    let mut made = alternatives.filter(|settings| !settings.is_empty() && settings.iter().all(is_now));
    let Some(settings) = made.next() else { return remedy.to_owned() };
    let shown = app.plans.shown();
    let is_of_plan = |setting: &Setting, entry: &PlanEntry| {
        let plan = entry.plan.as_ref().map(|plan| plan.0.header());
        let own = plan.and_then(|plan| plan.parameters.get(&setting.name).map(ToString::to_string));
        own.map_or(!app.is_of_another_scenario(entry), |own| own == setting.text)
    };
    if app.runs.is_busy() {
        "the setting is already made, and the current run will compute this section".to_owned()
    } else if shown.is_some_and(|entry| settings.iter().all(|setting| is_of_plan(setting, entry))) {
        "the run of this plan ended before this section; {solve_warm} continues".to_owned()
    } else if shown.is_some() {
        "the setting is made now, but the plan was made without it; press {solve_warm}".to_owned()
    } else {
        "the setting is made; press {solve_warm} to solve".to_owned()
    }
}

/// Returns `true` for the key of a preview: plans have numbers in the table, previews do not.
pub fn is_preview(plan: u64) -> bool {
    plan > u64::from(u32::MAX)
}

/// Returns what a pane waits for and, from one second on, for how long: `drawing Links of plan 3 ... 2 s`.
fn waiting(what: &str, plan: u64, waited: Duration) -> String {
    let of = match plan {
        0 => String::new(),
        _ if is_preview(plan) => "the preview".to_owned(),
        _ => format!("plan {plan}"),
    };
    let words = match (what, of.as_str()) {
        ("", "") => "the scenario".to_owned(),
        (what, "") => what.to_owned(),
        ("", of) => of.to_owned(),
        (what, of) => format!("{what} of {of}"),
    };
    let time = match waited.as_secs() {
        0 => String::new(),
        seconds => format!(" {seconds} s"),
    };
    format!("drawing {words} ...{time}")
}
