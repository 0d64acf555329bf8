//! The start screen: continue a session, open an example, or open a file.

use super::select;
use crate::app::action::{Command, Recent};
use crate::app::drawn::{Drawn, PaneDrawn};
use crate::app::pane::{ItemId, PaneId};
use crate::app::state::{App, Example};
use crate::view::figures::{Room, in_unit, with_unit};
use lightbay_core::metric::MetricInfo;
use lightbay_core::report::Unit;
use lightbay_engines::{figure, metrics};
use lightbay_widgets::{Cut, HEAT_STEPS, Pane, Pen, Piece, Tone, scroll, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Width of the block if there is room.
const WIDTH: u16 = 108;

/// One row of the screen.
#[derive(Debug)]
enum StartRow {
    /// An empty row.
    Gap,
    /// Name of the program and its purpose.
    Brand,
    /// Title of a block, with its number at the right end.
    Title(&'static str, String),
    /// Headings of the columns of the sessions.
    Heads,
    /// A saved session, by its index.
    Recent(usize),
    /// Three columns of text, and which of the columns contains the name. The first column is blank in a row that
    /// repeats the first column of the row above.
    Three([String; 3], Name),
    /// A text made of pieces.
    Words(Vec<Piece>),
    /// An error message.
    Problem(String),
}

/// Column that contains the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    First,
    Second,
}

/// The screen with its rows.
#[derive(Debug, Default)]
pub struct StartList {
    rows: Vec<(StartRow, Option<ItemId>)>,
    offset: usize,
}

impl StartList {
    pub fn draw(&mut self, app: &App, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        let width = area.width.saturating_sub(4).min(WIDTH);
        let x = area.x + (area.width - width) / 2;
        self.fill(app, width);
        let height = usize::from(area.height);
        // A third of the spare rows, at most 6, stays blank above the block.
        let spare = height.saturating_sub(self.rows.len());
        let top = (spare / 3).min(6) as u16;
        let selected = app.pane(PaneId::Start).selected.unwrap_or(0);
        let last = self.rows.iter().rev().find_map(|(_, id)| *id);
        // After the last item there are rows without items, which are visible together with it.
        let at = match last {
            Some(last) if last == selected => self.rows.len().checked_sub(1),
            _ => self.rows.iter().position(|(_, id)| *id == Some(selected)),
        };
        let room = if self.rows.len() > height { height - 1 } else { height };
        self.offset = scroll::follow(self.offset, at, room, self.rows.len());
        if at.is_some_and(|at| at < room) && selected == 0 {
            self.offset = 0;
        }
        let block = Rect { x, y: area.y + top, width, height: area.height - top };
        // The last line shows the number of hidden rows instead of a row.
        let below = (self.rows.len() - self.offset).saturating_sub(usize::from(block.height));
        let bottom = block.bottom() - u16::from(below > 0);
        if below > 0 {
            let more = Piece::muted(format!("{} more rows below", below + 1));
            let line = Rect { y: bottom, height: 1, ..block };
            StartRow::Words(vec![more]).draw(app, line, false, buf);
        }
        for (y, (row, id)) in (block.y..bottom).zip(self.rows.iter().skip(self.offset)) {
            let line = Rect { y, height: 1, ..block };
            let chosen = id.is_some_and(|id| id == selected);
            if chosen {
                buf.set_style(line, app.look.theme.selected());
            }
            row.draw(app, line, chosen, buf);
            if let Some(id) = id {
                out.hits.push(select(PaneId::Start, *id, line, Some(Command::Inspect)));
            }
        }
        let sentence = self.sentence(app, selected);
        out.panes.push(PaneDrawn {
            page: height,
            offset: self.offset,
            sentence,
            ..PaneDrawn::new(PaneId::Start, area)
        });
    }

    fn sentence(&self, app: &App, selected: ItemId) -> String {
        match self.rows.iter().find(|(_, id)| *id == Some(selected)) {
            Some((StartRow::Recent(index), _)) => {
                let recent = app.start.recent.as_ref().and_then(|all| all.get(*index));
                recent.map_or_else(String::new, |recent| format!("session:{}", recent.name))
            }
            Some((StartRow::Three(texts, Name::Second), _)) => format!("preset:{}", texts[1]),
            _ => String::new(),
        }
    }

    fn fill(&mut self, app: &App, width: u16) {
        let start = &app.start;
        let rows = &mut self.rows;
        rows.clear();
        let mut next: ItemId = 0;
        let mut item = || {
            next += 1;
            Some(next - 1)
        };
        rows.extend([(StartRow::Brand, None), (StartRow::Gap, None)]);
        if let Some(source) = &start.opening {
            rows.push((StartRow::Words(vec![Piece::answer("opening "), Piece::text(source.clone())]), None));
            rows.push((StartRow::Gap, None));
        }
        if !start.problems.is_empty() {
            rows.extend(start.problems.iter().map(|problem| (StartRow::Problem(problem.clone()), None)));
            rows.push((StartRow::Gap, None));
        }
        match &start.recent {
            None => rows.push((StartRow::Title("Continue", "looking for sessions".to_owned()), None)),
            Some(recent) => {
                let count = match recent.len() {
                    0 => "no saved session yet".to_owned(),
                    1 => "1 session".to_owned(),
                    count => format!("{count} sessions"),
                };
                rows.push((StartRow::Title("Continue", count), None));
                if !recent.is_empty() {
                    rows.push((StartRow::Heads, None));
                }
                rows.extend((0..recent.len()).map(|index| (StartRow::Recent(index), item())));
            }
        }
        rows.push((StartRow::Gap, None));
        examples(app, rows, &mut item);
        rows.push((StartRow::Gap, None));
        own(app, rows, &mut item);
        rows.push((StartRow::Gap, None));
        rows.push((StartRow::Title("This terminal", String::new()), None));
        terminal(app, rows, width);
    }
}

fn examples(
    app: &App,
    rows: &mut Vec<(StartRow, Option<ItemId>)>,
    item: &mut impl FnMut() -> Option<ItemId>,
) {
    let start = &app.start;
    let mut kinds: Vec<&str> = start.presets.iter().map(|preset| preset.kind).collect();
    kinds.dedup();
    let count = if kinds.len() == 1 { "1 kind".to_owned() } else { format!("{} kinds", kinds.len()) };
    rows.push((StartRow::Title("Open an example", count), None));
    let mut last = "";
    for example in start.examples() {
        let row = match example {
            Example::Preset(index) => {
                let preset = &start.presets[index];
                let kind = if preset.kind == last { "" } else { preset.kind };
                last = preset.kind;
                let texts = [kind.to_owned(), preset.name.to_owned(), preset.help.to_owned()];
                StartRow::Three(texts, Name::Second)
            }
            Example::More(count) => {
                let all = format!(
                    "{}new lists all and opens the one you choose",
                    super::key_of(app, &Command::Palette)
                );
                StartRow::Three([String::new(), format!("{count} more"), all], Name::First)
            }
        };
        rows.push((row, item()));
    }
}

fn own(app: &App, rows: &mut Vec<(StartRow, Option<ItemId>)>, item: &mut impl FnMut() -> Option<ItemId>) {
    rows.push((StartRow::Title("Bring your own", String::new()), None));
    let palette = super::key_of(app, &Command::Palette);
    let lines = [
        (format!("{palette}open"), "a file", "scenario or plan, .json or .json.gz"),
        (format!("{palette}new"), "from a preset", "an example by name, to change its parameters"),
        (format!("{palette}import"), "another format", "workloads and topologies of other tools"),
        (super::key_of(app, &Command::Help), "help", "introduction, and the keys that work here"),
        (palette.clone(), "all commands", "every action by name, with its key"),
    ];
    for (first, second, third) in lines {
        rows.push((StartRow::Three([first, second.to_owned(), third.to_owned()], Name::First), item()));
    }
}

fn terminal(app: &App, rows: &mut Vec<(StartRow, Option<ItemId>)>, width: u16) {
    let look = &app.look;
    let pair = |label: &'static str, value: String| [Piece::muted(label), Piece::text(value)];
    let mut first = Vec::new();
    first.extend(pair("colour ", look.theme.depth.name().to_owned()));
    first.extend(pair("   palette ", look.theme.palette.name().to_owned()));
    first.extend(pair("   glyphs ", look.glyphs.name().to_owned()));
    if look.theme.shades() && width >= 60 {
        first.push(Piece::muted("   heat "));
        first.extend((0..HEAT_STEPS).map(|step| Piece::new("  ", Tone::Heat(step))));
    }
    rows.push((StartRow::Words(first), None));
    let (threads, all) = app.options.threads;
    let mut second = Vec::new();
    second.extend(pair("threads ", format!("{threads} of {all}")));
    second.extend(pair("   lightbay ", app.options.version.to_owned()));
    second.extend(pair("   on ", app.options.host.clone()));
    rows.push((StartRow::Words(second), None));
    let mut third = Vec::new();
    let keys = [
        (Command::NextPalette, "next palette"),
        (Command::NextGlyphs, "next glyphs"),
        (Command::ToggleMouse, "mouse on or off"),
    ];
    for (command, word) in keys {
        third.push(Piece::text(super::key_of(app, &command)));
        third.push(Piece::muted(format!(" {word}   ")));
    }
    rows.push((StartRow::Words(third), None));
}

/// Widths of the parts of a session's row; parts without room are omitted.
struct SessionColumns {
    name: i32,
    /// First column of the kind on the screen; the next two fields are the first columns of method and status.
    kind: Option<i32>,
    method: Option<i32>,
    status: Option<i32>,
    /// Last column of the value of the objective.
    value: i32,
    /// Last column of the figure that [`spoken`] returns.
    spoken: i32,
}

impl SessionColumns {
    /// Number of columns that a row needs in addition to name, kind, method and status.
    const FIXED: i32 = 42;

    fn of(width: i32) -> Self {
        let mut room = width - Self::FIXED - 14;
        let mut take = |columns: i32| {
            let fits = room >= columns;
            room -= if fits { columns } else { 0 };
            fits
        };
        let (method, status, kind) = (take(16), take(15), take(14));
        let name = 14 + room.clamp(0, 10);
        let mut x = 3 + name + 2;
        let mut at = |shown: bool, columns: i32| {
            let here = shown.then_some(x);
            x += if shown { columns } else { 0 };
            here
        };
        let (kind, method) = (at(kind, 14), at(method, 15));
        let value = x + 14;
        let spoken = value + 8;
        Self { name, kind, method, status: status.then_some(spoken + 3), value, spoken }
    }
}

impl StartRow {
    fn draw(&self, app: &App, line: Rect, chosen: bool, buf: &mut Buffer) {
        let theme = &app.look.theme;
        if let Self::Title(name, right) = self {
            let value = [Piece::answer(right.clone())];
            let value = if right.is_empty() { &[][..] } else { &value };
            return (&Pane::new(theme, name).value(value)).render(line, buf);
        }
        let mut pen = Pen::new(buf, line, theme);
        let width = pen.width();
        let style = |tone| theme.style(tone);
        if chosen {
            pen.glyph(0, 0, ">", style(Tone::Answer));
        }
        match self {
            Self::Gap | Self::Title(..) => {}
            Self::Brand => {
                let used = pen.text(1, 0, "lightbay", style(Tone::Answer));
                let words = "plans optical circuits for AI clusters, verifies each plan and explains it";
                pen.cut(used + 3, 0, width - used - 3, words, Cut::End, style(Tone::Muted));
            }
            Self::Heads => {
                let columns = SessionColumns::of(width);
                let muted = style(Tone::Muted);
                pen.text(3, 0, "name", muted);
                let left = [(columns.kind, "kind"), (columns.method, "method"), (columns.status, "status")];
                for (x, head) in left {
                    if let Some(x) = x {
                        pen.text(x, 0, head, muted);
                    }
                }
                pen.right(columns.value, 0, "best", muted);
                pen.right(columns.spoken, 0, &spoken_head(app), muted);
            }
            Self::Recent(index) => {
                if let Some(recent) = app.start.recent.as_ref().and_then(|all| all.get(*index)) {
                    draw_recent(&mut pen, recent, chosen);
                }
            }
            Self::Three([first, second, third], name) => {
                let bold = |at| {
                    let tone = if *name == at { Tone::Text } else { Tone::Muted };
                    theme.ink(tone, chosen && *name == at)
                };
                let middle = if *name == Name::First { Tone::Text } else { Tone::Muted };
                let first_style =
                    if *name == Name::First { theme.style(Tone::Answer) } else { style(Tone::Muted) };
                // If columns are few, the explanations are omitted first.
                let (from, room) = if width >= 60 { (16, 20) } else { (15, 20) };
                pen.cut(3, 0, from - 4, first, Cut::End, first_style);
                let second_style = if *name == Name::Second { bold(Name::Second) } else { style(middle) };
                pen.cut(from, 0, room, second, Cut::Middle, second_style);
                let from = from + room + 1;
                pen.cut(from, 0, width - from - 1, third, Cut::End, style(Tone::Muted));
            }
            Self::Words(pieces) => {
                pen.pieces(3, 0, width - 3, pieces);
            }
            Self::Problem(text) => {
                pen.text(1, 0, "!", theme.ink(Tone::Bad, true));
                pen.cut(3, 0, width - 3, text, Cut::End, style(Tone::Bad));
            }
        }
    }
}

/// Returns one figure of a session's best plan with its value: the figure that a table of plans never drops, such as
/// NCT.
fn spoken(recent: &Recent) -> Option<(&'static MetricInfo, f64)> {
    let info =
        metrics(&recent.kind).iter().find(|info| info.table.is_some_and(|table| table.priority == 0))?;
    Some((info, *recent.metrics.get(info.name)?))
}

/// Returns the heading of the column with the figures of [`spoken`]: their distinct titles, joined by `/`.
fn spoken_head(app: &App) -> String {
    let mut heads: Vec<&str> =
        app.start.recent.iter().flatten().filter_map(|recent| Some(spoken(recent)?.0.table?.title)).collect();
    heads.sort_unstable();
    heads.dedup();
    heads.join("/")
}

fn draw_recent(pen: &mut Pen<'_>, recent: &Recent, chosen: bool) {
    let theme = pen.theme();
    let width = pen.width();
    let columns = SessionColumns::of(width);
    pen.cut(3, 0, columns.name, &recent.name, Cut::Middle, theme.ink(Tone::Text, chosen));
    if let Some(x) = columns.kind {
        pen.cut(x, 0, 12, &recent.kind, Cut::End, theme.style(Tone::Muted));
    }
    if let Some(x) = columns.method {
        pen.cut(x, 0, 14, &recent.method, Cut::Middle, theme.style(Tone::Text));
    }
    if let Some((name, value)) = &recent.objective {
        let unit = figure(&recent.kind, name).map_or(Unit::NUMBER, |figure| figure.unit);
        pen.right(columns.value, 0, &with_unit(*value, unit, Room::Long), theme.style(Tone::Text));
    }
    if let Some((info, value)) = spoken(recent) {
        pen.right(columns.spoken, 0, &in_unit(value, info.unit, Room::Long), theme.ink(Tone::Text, chosen));
    }
    if let Some(x) = columns.status {
        let tone = if recent.status == "optimal" { Tone::Good } else { Tone::Text };
        pen.cut(x, 0, 12, &recent.status.replace('_', " "), Cut::End, theme.style(tone));
    }
    let from = columns.status.map_or(columns.spoken, |x| x + 12);
    let age = i32::from(text::width(&recent.age, pen.glyphs()));
    if from + 1 + age < width {
        pen.right(width - 1, 0, &recent.age, theme.style(Tone::Muted));
    }
}
