//! Line 0: scenario and method, objective, gap, and active run. The header never scrolls, and its parts have the same
//! order at every size.

use crate::app::action::Command;
use crate::app::drawn::{Drawn, Hit};
use crate::app::runs::{Run, RunState};
use crate::app::state::App;
use crate::view::figures::{Gap, Goal, Headline, Room};
use lightbay_core::quantity;
use lightbay_core::report::Unit;
use lightbay_widgets::{Cut, Header, Piece, Segment, Tone, number, pieces_width, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Minimum width of a header with the name of the program, unless no scenario is open.
const BRANDED: u16 = 130;

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
    /// The time after the state of the run is omitted.
    NoClock,
    /// The time is omitted, and numbers have fewer decimals.
    Short,
}

impl HeaderLine {
    pub fn draw(&mut self, app: &App, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        for brevity in [Brevity::Full, Brevity::NoClock, Brevity::Short] {
            self.segments.clear();
            self.state.clear();
            self.fill(app, brevity);
            self.state.push(state_word(app, brevity < Brevity::NoClock));
            if self.least(app) <= area.width {
                break;
            }
        }
        // If nothing else can be omitted, a very long name is cut in its middle.
        let over = self.least(app).saturating_sub(area.width);
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
        (&Header::new(&app.look.theme, &self.segments, &self.state).brand(brand)).render(area, buf);
    }

    /// Returns the number of columns of the segments that are always shown, without optional labels.
    fn least(&self, app: &App) -> u16 {
        let glyphs = app.look.theme.glyphs;
        let width = |text: &str| text::width(text, glyphs);
        let part = |text: &str| if text.is_empty() { 0 } else { width(text) + 1 };
        let segments: u16 = self
            .segments
            .iter()
            .filter(|segment| segment.priority == 0)
            .map(|segment| {
                let label = if segment.label_may_go { 0 } else { part(&segment.label) };
                label + width(&segment.value) + part(&segment.suffix) + 2
            })
            .sum();
        segments + pieces_width(&self.state, glyphs) + 2
    }

    fn fill(&mut self, app: &App, brevity: Brevity) {
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
        let priority = u8::from(!app.is_stale() && !headline.preview);
        let plan = Segment::new("plan", headline.name.clone()).plain().priority(priority).suffix(stale);
        self.segments.push(plan);
        let room = if brevity < Brevity::Short { Room::Long } else { Room::Short };
        let value = goal.with_unit(headline.value, room);
        let objective = Segment::new(goal.name, value);
        // A bare number needs its label.
        let is_count = goal.unit == Unit::COUNT;
        self.segments.push(if is_count { objective } else { objective.label_may_go() });
        self.add(true, &headline);
        let gap = headline.gap();
        self.add_proof(&headline, &goal, brevity);
        if let Some(second) = gap.and_then(Gap::second) {
            self.segments.push(Segment::new("", second).plain().priority(3));
        }
        self.add(false, &headline);
    }

    /// Adds the bound, the gap and whether the bound is verified or claimed, at every size, then a smaller claimed gap, if
    /// there is one, and the plans that the bound covers.
    fn add_proof(&mut self, headline: &Headline, goal: &Goal, brevity: Brevity) {
        let standing = &headline.standing;
        if standing.other_question().is_some() {
            self.segments.push(Segment::new("", "different problem").plain().priority(1));
        }
        let Some(leading) = standing.leading() else {
            self.segments.push(Segment::new("gap", number::UNKNOWN));
            return;
        };
        // Some kinds declare the bound among their figures.
        if headline.in_header(true).all(|(info, ..)| info.label != "bound") {
            // Bound and value have equally many digits, so that they can be compared.
            let room = if brevity < Brevity::Short { Room::Long } else { Room::Short };
            let bound = String::from(goal.bound_on(headline.value, leading.value, room));
            self.segments.push(Segment::new("bound", bound).priority(1));
        }
        let gap = quantity::gap(leading.gap);
        let is_proof = leading.is_verified() && leading.is_on_all;
        let word = if is_proof && brevity == Brevity::Short { "✓" } else { leading.word() };
        self.segments.push(Segment::new("gap", format!("{gap} {word}")));
        if let Some(closer) = standing.closer() {
            let words = format!("({} {})", quantity::gap(closer.gap), closer.word());
            self.segments.push(Segment::new("", words).plain().priority(3));
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

/// Returns the state of the solve in words, with its clock if there is room.
pub fn state_word(app: &App, clock: bool) -> Piece {
    let Some(run) = leading(app) else { return Piece::muted("IDLE") };
    let text = if clock {
        format!("{} {}", app.run_word(run), number::duration(app.elapsed_s(run)))
    } else {
        app.run_word(run).to_owned()
    };
    // The word is about the run; without the name of the method it could be read as a word about the displayed plan.
    let refused = run.word() == "REFUSED";
    let shown = app.plans.shown().map(|entry| entry.number);
    let is_of_shown = shown == app.plans.newest_of(run.id).map(|entry| entry.number);
    let is_of_other = run.state == RunState::Ended && shown.is_some() && (refused || !is_of_shown);
    let text = if is_of_other { format!("{} {text}", run.method) } else { text };
    let failed = refused || matches!(run.word(), "FAILED" | "CRASHED");
    Piece::new(text, if failed { Tone::Bad } else { Tone::Answer }).bold()
}
