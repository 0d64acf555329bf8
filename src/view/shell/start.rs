//! The start screen: continue a session, open an example, or open a file.

use super::select;
use crate::app::action::{Command, Motion, Recent};
use crate::app::drawn::{Drawn, PaneDrawn};
use crate::app::pane::{ItemId, PaneId};
use crate::app::state::{App, Example};
use crate::view::figures::{Room, in_unit, with_unit};
use lightbay_core::metric::MetricInfo;
use lightbay_core::plan::OPTIMAL_GAP;
use lightbay_core::report::Unit;
use lightbay_engines::{figure, metrics};
use lightbay_widgets::{Cut, HEAT_STEPS, Pane, Pen, Piece, Tone, number, scroll, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Width of the block if there is room.
const WIDTH: u16 = 108;

/// First column and width of the second text of a row, and first column of the third.
const SECOND: (i32, i32) = (16, 21);
const THIRD: i32 = SECOND.0 + SECOND.1 + 1;

/// Number of columns below which an explanation is cut, because it would take too many rows.
const LEAST_THIRD: i32 = 20;

/// What the program does, longest first.
const PURPOSE: [&str; 3] = [
    "plans optical circuits for AI clusters, verifies each plan and explains it",
    "plans optical circuits for AI clusters and verifies each plan",
    "plans optical circuits for AI clusters",
];

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
    /// The rest of the third column of the row above.
    Rest(String),
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
        let selected = app.start_selected();
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
            let more = Piece::muted(format!(
                "{} more rows below; {} moves down",
                below + 1,
                super::key_of(app, &Command::Motion(Motion::Down))
            ));
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
        rows.push((StartRow::Brand, None));
        if !start.is_short {
            rows.push((StartRow::Gap, None));
        }
        if let Some(source) = &start.opening {
            // Until it is open, keys wait for its panes.
            rows.push((StartRow::Words(vec![Piece::answer("opening "), Piece::text(source.clone())]), None));
            return;
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
        let room = i32::from(width) - THIRD - 1;
        if start.is_short {
            for (row, _) in rows.iter_mut() {
                shorten(row, room);
            }
        }
        wrap(rows, room);
    }
}

/// Ends an explanation that does not fit after the longest part of it that does, if it has parts.
fn shorten(row: &mut StartRow, room: i32) {
    let StartRow::Three([_, _, third], _) = row else { return };
    if third.chars().count() as i32 <= room {
        return;
    }
    let mut ends = third.rmatch_indices([',', ':', ';']).map(|(at, _)| at);
    if let Some(end) = ends.find(|end| *end > 0 && third[..*end].chars().count() as i32 <= room) {
        third.truncate(end);
    }
}

/// Continues the explanations that do not fit in the rows below them.
fn wrap(rows: &mut Vec<(StartRow, Option<ItemId>)>, room: i32) {
    let wraps = |row: &StartRow| matches!(row, StartRow::Three([_, _, third], _) if third.chars().count() as i32 > room);
    if room < LEAST_THIRD || !rows.iter().any(|(row, _)| wraps(row)) {
        return;
    }
    let all = std::mem::take(rows);
    for (mut row, id) in all {
        let mut rest = Vec::new();
        if let StartRow::Three([_, _, third], _) = &mut row {
            let mut lines = broken(third, room as usize).into_iter();
            *third = lines.next().unwrap_or_default();
            rest.extend(lines);
        }
        rows.push((row, id));
        rows.extend(rest.into_iter().map(|text| (StartRow::Rest(text), None)));
    }
}

/// Breaks a text at blanks into lines of at most `width` characters; only longer words make longer lines.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last > 0 && last + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
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
        (format!("{palette}new"), "from a preset", "opens an example, whose parameters you can change"),
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
        (Command::NextPalette, "next palette of colours"),
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
    /// Last column of the gap.
    gap: Option<i32>,
    /// Last column of the figure that [`spoken`] returns.
    spoken: Option<i32>,
}

impl SessionColumns {
    /// Number of columns that a row needs in addition to the name and the parts that may be omitted.
    const FIXED: i32 = 32;
    /// Number of columns by which the names of the longest presets exceed the usual names.
    const LONG: i32 = 11;

    fn of(width: i32) -> Self {
        let mut room = width - Self::FIXED - 14;
        let mut take = |columns: i32| {
            let fits = room >= columns;
            room -= if fits { columns } else { 0 };
            fits
        };
        let (status, gap, long, spoken, method, kind) =
            (take(14), take(8), take(Self::LONG), take(8), take(15), take(13));
        let name = 14 + if long { Self::LONG } else { 0 } + room.clamp(0, 8);
        let mut x = 3 + name + 2;
        let mut at = |shown: bool, columns: i32| {
            let here = shown.then_some(x);
            x += if shown { columns } else { 0 };
            here
        };
        let (kind, method) = (at(kind, 13), at(method, 15));
        let value = x + 14;
        let mut last = value;
        let mut right = |shown: bool, columns: i32| {
            last += if shown { columns } else { 0 };
            shown.then_some(last)
        };
        let (gap, spoken) = (right(gap, 8), right(spoken, 8));
        Self { name, kind, method, status: status.then_some(last + 3), value, gap, spoken }
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
                let room = width - used - 3;
                let fits = PURPOSE.iter().find(|words| words.len() as i32 <= room);
                let words = fits.or(PURPOSE.last()).copied().unwrap_or_default();
                pen.cut(used + 3, 0, room, words, Cut::End, style(Tone::Muted));
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
                if let Some(x) = columns.gap {
                    pen.right(x, 0, "gap", muted);
                }
                if let Some(x) = columns.spoken {
                    pen.right(x, 0, &spoken_head(app), muted);
                }
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
                let (from, room) = SECOND;
                pen.cut(3, 0, from - 4, first, Cut::End, first_style);
                let second_style = if *name == Name::Second { bold(Name::Second) } else { style(middle) };
                pen.cut(from, 0, room, second, Cut::Middle, second_style);
                // If columns are few, the explanations are omitted first.
                pen.cut(THIRD, 0, width - THIRD - 1, third, Cut::End, style(Tone::Muted));
            }
            Self::Rest(text) => {
                pen.cut(THIRD, 0, width - THIRD - 1, text, Cut::End, style(Tone::Muted));
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
    if let Some(x) = columns.gap {
        let gap = recent.gap.map_or_else(|| number::UNKNOWN.to_owned(), lightbay_core::quantity::gap);
        let tone = if recent.verified { Tone::Text } else { Tone::Muted };
        pen.right(x, 0, &gap, theme.style(tone));
    }
    if let (Some(x), Some((info, value))) = (columns.spoken, spoken(recent)) {
        pen.right(x, 0, &in_unit(value, info.unit, Room::Long), theme.ink(Tone::Text, chosen));
    }
    if let Some(x) = columns.status {
        // Without a verified bound that the plan meets, its optimality is a claim.
        let is_proven = recent.verified && recent.gap.is_some_and(|gap| gap <= OPTIMAL_GAP);
        let (status, tone) = match recent.status.as_str() {
            "optimal" if is_proven => ("optimal", Tone::Good),
            "optimal" => ("claimed", Tone::Text),
            status => (status, Tone::Text),
        };
        pen.cut(x, 0, 11, &status.replace('_', " "), Cut::End, theme.style(tone));
    }
    let last = columns.spoken.or(columns.gap).unwrap_or(columns.value);
    let from = columns.status.map_or(last, |x| x + 11);
    let age = i32::from(text::width(&recent.age, pen.glyphs()));
    if from + 1 + age < width {
        pen.right(width - 1, 0, &recent.age, theme.style(Tone::Muted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanations_continue_in_the_next_row() {
        let row = |text: &str| {
            (StartRow::Three([String::new(), String::new(), text.to_owned()], Name::First), Some(4))
        };
        let mut rows = vec![row("one two three"), row("short")];
        wrap(&mut rows, 20);
        assert_eq!(rows.len(), 2, "everything fits");
        let mut rows = vec![row("a first part and a second part"), row("short")];
        wrap(&mut rows, 20);
        let texts: Vec<(&str, Option<ItemId>)> = rows
            .iter()
            .map(|(row, id)| match row {
                StartRow::Three([_, _, text], _) | StartRow::Rest(text) => (text.as_str(), *id),
                _ => ("", *id),
            })
            .collect();
        let expected = [("a first part and a", Some(4)), ("second part", None), ("short", Some(4))];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_small_screen_shows_the_first_parts_of_explanations() {
        let shortened = |text: &str| {
            let mut row = StartRow::Three([String::new(), String::new(), text.to_owned()], Name::First);
            shorten(&mut row, 12);
            match row {
                StartRow::Three([_, _, text], _) => text,
                _ => String::new(),
            }
        };
        assert_eq!(shortened("one, two: three, four"), "one, two");
        assert_eq!(shortened("one, two"), "one, two");
        assert_eq!(shortened("a text without parts"), "a text without parts");
    }

    #[test]
    fn status_gap_and_age_of_a_session_are_there_at_80_columns() {
        let columns = SessionColumns::of(76);
        assert!(columns.status.is_some() && columns.gap.is_some());
        assert!(columns.status.is_some_and(|x| x + 11 + 1 + 11 < 76), "an age such as 'today 23:40' fits");
        let wide = SessionColumns::of(104);
        assert!(wide.method.is_some() && wide.spoken.is_some());
        assert!(SessionColumns::of(118).kind.is_some());
    }
}
