//! Line 0: scenario and method, objective, gap, and active run. The header never scrolls, and its parts have the same
//! order at every size.

use crate::app::action::Command;
use crate::app::drawn::{Drawn, Hit};
use crate::app::runs::{Run, RunState};
use crate::app::state::App;
use crate::view::figures::{Gap, Goal, Headline, Room};
use crate::view::shell::runs::short_word;
use lightbay_core::quantity;
use lightbay_core::report::Unit;
use lightbay_widgets::{Cut, Header, Piece, Segment, Tone, number, pieces_width, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Minimum width of a header with the name of the program, unless no scenario is open.
const BRANDED: u16 = 130;

/// Minimum width of a header with the label of the objective and the method of the plan. These depend on the width only,
/// so that they stay while other parts come and go.
const LABELLED: u16 = 100;

/// The header with its parts.
#[derive(Debug, Default)]
pub struct HeaderLine {
    segments: Vec<Segment>,
    state: Vec<Piece>,
}

/// Level of abbreviation of the header. Names and numbers are not cut as long as other parts can be omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Brevity {
    Full,
    /// A tick replaces the word `verified`.
    Tick,
    /// As `Tick`, and the time after the state of the run is omitted.
    NoClock,
    /// As `NoClock`, and numbers have fewer decimals.
    Short,
}

impl Brevity {
    /// Returns the number of columns that the header keeps for the state of a run.
    fn state_columns(self, app: &App) -> u16 {
        match self {
            _ if app.work.is_none() => 0,
            Self::Full | Self::Tick => "RUNNING 00:00".len() as u16,
            Self::NoClock | Self::Short => "RUNNING".len() as u16,
        }
    }
}

impl HeaderLine {
    pub fn draw(&mut self, app: &App, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        // Words go before the number of the plan and the first figures of the kind, the time after them; bound and gap go
        // only if the short form leaves too few columns, too.
        let levels = [
            (2, Brevity::Full),
            (2, Brevity::Tick),
            (2, Brevity::NoClock),
            (1, Brevity::Full),
            (1, Brevity::NoClock),
            (1, Brevity::Short),
        ];
        let mut brevity = Brevity::Full;
        // In the grid, the strip has the time too.
        let in_grid = area.width >= LABELLED;
        for (priority, tried) in levels.into_iter().filter(|level| in_grid || *level != (2, Brevity::NoClock))
        {
            brevity = tried;
            self.segments.clear();
            self.state.clear();
            self.fill(app, brevity, in_grid);
            self.state.push(state_word(app, brevity < Brevity::NoClock));
            if self.least(app, brevity, priority) <= area.width {
                break;
            }
        }
        // If nothing else can be omitted, a very long name is cut in its middle.
        let over = self.least(app, brevity, 0).saturating_sub(area.width);
        if over > 0
            && let Some(name) = self.segments.first_mut()
        {
            let glyphs = app.look.theme.glyphs;
            let room = text::width(&name.value, glyphs).saturating_sub(over).max(8);
            name.value = text::cut_to(&name.value, room, Cut::Middle, glyphs).into();
        }
        let help = super::key_of(app, &Command::Help);
        if area.width >= 160 || app.work.is_none() {
            self.state.push(Piece::muted(format!("   {help} help")));
            let width = (help.len() + 5) as u16;
            let rect = Rect { x: area.right().saturating_sub(width + 1), width, ..area };
            out.hits.push(Hit { rect, click: crate::app::Action::Do(Command::Help), open: None });
        }
        // The name of the program depends on the width only, so that a first plan does not move the other parts.
        let brand = if area.width >= BRANDED || app.work.is_none() { "lightbay" } else { "" };
        let header = Header::new(&app.look.theme, &self.segments, &self.state).brand(brand);
        (&header.state_columns(brevity.state_columns(app))).render(area, buf);
    }

    /// Returns the number of columns of the segments up to a priority, and of the state.
    fn least(&self, app: &App, brevity: Brevity, priority: u8) -> u16 {
        let glyphs = app.look.theme.glyphs;
        let width = |text: &str| text::width(text, glyphs);
        let part = |text: &str| if text.is_empty() { 0 } else { width(text) + 1 };
        let segments: u16 = self
            .segments
            .iter()
            .filter(|segment| segment.priority <= priority)
            .map(|segment| part(&segment.label) + width(&segment.value) + part(&segment.suffix) + 2)
            .sum();
        segments + pieces_width(&self.state, glyphs).max(brevity.state_columns(app)) + 2
    }

    fn fill(&mut self, app: &App, brevity: Brevity, labelled: bool) {
        let Some(work) = &app.work else {
            self.segments.push(Segment::new("", "no scenario open"));
            return;
        };
        let name = work.now.scenario.name();
        let name = if name.is_empty() { work.source.clone() } else { name.to_owned() };
        // The star marks changes that are not solved, or solved without a plan yet; it is shown at every size.
        let changed = work.changed() || app.is_stale();
        self.segments.push(Segment::new("", name).suffix(if changed { "*" } else { "" }));
        let goal = Goal::of(work.objective);
        let Some(headline) = Headline::of(app) else {
            let is_solving = app.runs.active().next().is_some();
            let solves = || format!("no plan yet, {} solves", super::solve_key(app));
            let words = if is_solving { "solving, no plan yet".to_owned() } else { solves() };
            self.segments.push(Segment::new("", words).plain().priority(1));
            return;
        };
        // An edit and a plan of other values are named at every size.
        let stale = if app.is_stale() { "stale" } else { "" };
        // On a narrow screen the bound comes before the number of the plan.
        let priority = if app.is_stale() || headline.preview { 0 } else { 2 - u8::from(labelled) };
        let name = if labelled { headline.name.as_str() } else { headline.short_name() };
        let plan = Segment::new("plan", name.to_owned()).plain().priority(priority).suffix(stale);
        self.segments.push(plan);
        let room = if brevity < Brevity::Short { Room::Long } else { Room::Short };
        let value = goal.with_unit(headline.value, room);
        // A bare number needs its label.
        let label = if labelled || goal.unit == Unit::COUNT { goal.name } else { "" };
        self.segments.push(Segment::new(label, value));
        self.add(true, &headline);
        let gap = headline.gap();
        self.add_proof(app, &headline, &goal, brevity);
        if let Some(second) = gap.and_then(Gap::second) {
            self.segments.push(Segment::new("", second).plain().priority(3));
        }
        self.add(false, &headline);
    }

    /// Adds the bound, the gap and whether the bound is verified or claimed, at every size, then a smaller claimed gap, if
    /// there is one, and the plans that the bound covers.
    fn add_proof(&mut self, app: &App, headline: &Headline, goal: &Goal, brevity: Brevity) {
        let standing = &headline.standing;
        if standing.other_question().is_some() {
            self.segments.push(Segment::new("", "different problem").plain().priority(1));
        }
        let leading = standing.leading();
        // Some kinds declare the bound among their figures.
        let has_bound = leading.is_some() || standing.other_question().is_none();
        if has_bound && headline.in_header(true).all(|(info, ..)| info.label != "bound") {
            // The bound has the digits of the best plan if that plan meets it, so that every plan shows the same bound.
            let room = if brevity < Brevity::Short { Room::Long } else { Room::Short };
            let best = app.plans.best().map_or(headline.value, |best| best.value);
            let bound = leading.map(|leading| String::from(goal.bound_on(best, leading.value, room)));
            let bound = bound.unwrap_or_else(|| number::UNKNOWN.to_owned());
            self.segments.push(Segment::new("bound", bound).priority(1));
        }
        let Some(leading) = leading else {
            self.segments.push(Segment::new("gap", number::UNKNOWN));
            return;
        };
        let gap = quantity::gap(leading.gap);
        let word = match brevity {
            Brevity::Full => leading.word().to_owned(),
            _ => short_word(leading.word()),
        };
        self.segments.push(Segment::new("gap", format!("{gap} {word}")));
        if let Some(closer) = standing.closer() {
            let words = format!("({} {})", quantity::gap(closer.gap), closer.word());
            self.segments.push(Segment::new("", words).plain().priority(4));
        }
        if let Some(covers) = &leading.covers {
            self.segments.push(Segment::new("for", covers.clone()).plain().priority(5));
        }
    }

    fn add(&mut self, early: bool, headline: &Headline) {
        self.segments.extend(headline.in_header(early).map(|(info, place, text)| {
            let segment = Segment::new(place.title.unwrap_or(info.label), text);
            if place.priority > 0 { segment.priority(place.priority) } else { segment }
        }));
    }
}

/// Returns the run that the header shows: an active run, else a waiting run, else a run of another process, else the
/// run that ended last.
pub fn leading(app: &App) -> Option<&Run> {
    let working = |run: &&Run| matches!(run.state, RunState::Running | RunState::Stopping);
    let newest = || app.runs.iter().rev();
    let ended_last = || newest().rev().max_by_key(|run| app.heard_at.get(&run.id).copied());
    newest()
        .find(working)
        .or_else(|| newest().find(|run| run.state.is_active()))
        .or_else(|| newest().find(|run| run.state == RunState::Elsewhere))
        .or_else(ended_last)
}

/// Returns the state of the leading run, with its clock if there is room.
pub fn run_word(app: &App, clock: bool) -> Piece {
    let Some(run) = leading(app) else { return Piece::muted("IDLE") };
    let word = app.run_word(run);
    let text =
        if clock { format!("{word} {}", number::duration(app.elapsed_s(run))) } else { word.to_owned() };
    let failed = matches!(run.word(), "REFUSED" | "FAILED" | "CRASHED");
    Piece::new(text, if failed { Tone::Bad } else { Tone::Answer }).bold()
}

/// Returns the state of the solve in words, with its clock if there is room.
fn state_word(app: &App, clock: bool) -> Piece {
    let Some(run) = leading(app) else { return Piece::muted("IDLE") };
    let mut word = run_word(app, clock);
    // The word is about the run; without the name of the method it could be read as a word about the displayed plan.
    let refused = run.word() == "REFUSED";
    let shown = app.plans.shown().map(|entry| entry.number);
    let is_of_shown = shown == app.plans.newest_of(run.id).map(|entry| entry.number);
    let is_of_other = run.state == RunState::Ended && shown.is_some() && (refused || !is_of_shown);
    if is_of_other {
        word.text = format!("{} {}", run.method, word.text).into();
    }
    word
}
