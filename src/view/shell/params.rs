//! The parameters form: the values for the next solve, and the changes since the last solve.

use super::{Title, drawn, indented, select, solve_key, title};
use crate::app::action::Command;
use crate::app::drawn::{Drawn, PaneDrawn};
use crate::app::pane::PaneId;
use crate::app::state::App;
use crate::app::work::{FormRow as Knob, Section, Work};
use crate::view::layout::Placed;
use lightbay_core::param::{Domain, ParamInfo, ParamValue};
use lightbay_widgets::{Form, FormKind, FormRow, FormState, Pane, PaneState, Piece, Sentence, Tone, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};

/// Minimum width at which blocks have headings and values their units.
const ROOMY: u16 = 34;

/// The form with its rows.
#[derive(Debug, Default)]
pub struct Params {
    rows: Vec<FormRow>,
    state: FormState,
}

/// Maximum length of a list that is shown in full.
const LISTED: usize = 24;

/// Formats a value for display: large whole numbers in groups, a limit of 0 by its meaning, long lists by their length.
pub fn shown(info: &ParamInfo, value: Option<&ParamValue>) -> String {
    let name = info.name.as_ref();
    match value {
        // A missing free text is omitted; other missing values are derived from the scenario.
        None if info.domain == Domain::Text => "none".to_owned(),
        None => "auto".to_owned(),
        Some(value) if name == "time_limit_s" && value.as_f64() == Some(0.0) => "none".to_owned(),
        Some(value) if value.as_f64().is_some() && name != "seed" => number::grouped(&value.to_string()),
        Some(value) => {
            let text = value.to_string();
            let entries = text.split(',').count();
            if entries > 1 && text.len() > LISTED { format!("{entries} entries") } else { text }
        }
    }
}

const fn heading(section: Section) -> &'static str {
    match section {
        Section::Scenario => "scenario",
        Section::Method | Section::Params => "method",
        Section::Common => "limits",
    }
}

impl Params {
    pub fn draw(&mut self, app: &App, placed: &Placed, buf: &mut Buffer, out: &mut Drawn) {
        let Some(work) = &app.work else { return };
        let knobs = app.form_rows();
        let roomy = placed.area.width >= ROOMY;
        self.fill(&knobs, roomy);
        let changed = knobs.iter().filter(|row| row.changed()).count();
        let mut value = if changed == 0 {
            Vec::new()
        } else {
            vec![Piece::new(format!("{changed} changed"), Tone::Changed).bold()]
        };
        let foot = 2 * usize::from(app.focus.pane == PaneId::Params) + usize::from(changed > 0);
        let page = usize::from(Pane::inner(placed.area).height).saturating_sub(foot);
        // A note on changes is more important than the range of visible rows.
        if page < self.rows.len() && (changed == 0 || roomy) {
            let first = self.state.offset.min(self.rows.len() - page);
            let gap = if changed == 0 { "" } else { "  " };
            value.insert(
                0,
                Piece::muted(format!("{}-{} of {}{gap}", first + 1, first + page, self.rows.len())),
            );
        }
        let what = Title { name: "Parameters", value: &value, state: PaneState::Ready };
        let body = indented(title(app, placed, &what, buf), placed);
        let focused = app.focus.pane == PaneId::Params;
        let selected = app.pane(PaneId::Params);
        let (body, foot) = reserve(body, if focused { 2 } else { 0 });
        let (body, note) = reserve(body, u16::from(changed > 0));
        // The cursor is visible from the start.
        let at = selected.selected.or_else(|| knobs.first().map(|row| row.id).filter(|_| focused));
        self.state.selected = at;
        self.state.offset = selected.offset;
        (&Form::new(&app.look.theme, &self.rows)).render(body, buf, &mut self.state);
        out.hits.extend(
            self.state.hits.iter().map(|hit| select(PaneId::Params, hit.id, hit.rect, Some(Command::Edit))),
        );
        if changed > 0 {
            let pieces = note_of(app, work, &knobs, changed);
            let left = Rect { x: note.x.saturating_sub(u16::from(!placed.popup)), ..note };
            (&Sentence::new(&app.look.theme, &pieces)).render(left, buf);
        }
        if focused && let Some(row) = knobs.iter().find(|row| Some(row.id) == at) {
            let pieces = about(row);
            (&Sentence::new(&app.look.theme, &pieces).wrap(true)).render(foot, buf);
        }
        // The text to copy is empty here, because the state makes it from name and value.
        let pane = drawn(placed, usize::from(body.height), self.state.offset, String::new());
        out.panes.push(PaneDrawn { chosen: at, ..pane });
    }

    fn fill(&mut self, knobs: &[Knob], roomy: bool) {
        self.rows.clear();
        let mut last = "";
        for knob in knobs {
            let block = heading(knob.section);
            if roomy && block != last {
                self.rows.push(FormRow::heading(block));
                last = block;
            }
            let mut row = FormRow::field(knob.id, knob.name.clone(), shown(&knob.info, knob.value.as_ref()));
            // Names that end in `_s` or `gbps` already contain the unit.
            if roomy && !knob.name.ends_with("_s") && !knob.name.ends_with("gbps") {
                row = row.unit(knob.info.unit.clone());
            }
            if let Some(was) = &knob.was {
                row = row.changed_from(shown(&knob.info, was.as_ref()));
            }
            debug_assert_eq!(row.kind, FormKind::Field);
            self.rows.push(row);
        }
    }
}

/// Splits `rows` rows off at the bottom of an area, if enough rows remain above; returns the area above and these rows.
fn reserve(body: Rect, rows: u16) -> (Rect, Rect) {
    if rows == 0 || body.height < rows + 3 {
        return (body, Rect { height: 0, ..body });
    }
    let height = body.height - rows;
    (Rect { height, ..body }, Rect { y: body.y + height, height: rows, ..body })
}

/// Returns the note on changed knobs: `* run uses 400   r solve`, or `* plan 3 has 400` while the run with the change
/// has no plan yet.
fn note_of(app: &App, work: &Work, knobs: &[Knob], changed: usize) -> Vec<Piece> {
    let waits = work.changes() > 0;
    let owner = match (waits, app.plans.shown(), &work.solved) {
        (false, Some(shown), _) => format!("plan {} has", shown.number),
        (_, _, Some(_)) => "run uses".to_owned(),
        _ => "file has".to_owned(),
    };
    let words = match knobs.iter().find(|row| row.changed()) {
        Some(row) if changed == 1 => {
            format!("{owner} {}", shown(&row.info, row.was.as_ref().and_then(Option::as_ref)))
        }
        _ => format!("{owner} other values"),
    };
    let mut pieces = vec![Piece::new(" * ", Tone::Changed).bold(), Piece::muted(words)];
    if waits || !app.runs.is_busy() {
        pieces.push(Piece::answer(format!("   {}", solve_key(app))));
        pieces.push(Piece::muted(" solve"));
    }
    pieces
}

/// Returns the sentence about a knob: its meaning and its valid values.
pub fn about(row: &Knob) -> Vec<Piece> {
    vec![
        Piece::answer(format!("> {}", row.name)),
        Piece::text(format!("  {}", row.info.help)),
        Piece::muted(format!("  {}", row.info.valid())),
    ]
}
