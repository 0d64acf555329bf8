//! The first screen: go on with a session, open an example, bring your own.

use super::select;
use crate::app::action::{Command, Recent};
use crate::app::drawn::{Drawn, PaneDrawn};
use crate::app::pane::{ItemId, PaneId};
use crate::app::state::{App, Start};
use crate::view::figures::{Room, in_unit, quantity};
use lightbay_widgets::{Cut, HEAT_STEPS, Pane, Pen, Piece, Tone, number, scroll};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// The block takes this many columns where there is room.
const WIDTH: u16 = 92;

/// One row of the screen.
#[derive(Debug)]
enum Row {
    /// Empty.
    Gap,
    /// Name of the program and what it is for.
    Brand,
    /// Title of a block, with its number at the right end.
    Title(&'static str, String),
    /// Heads of the columns of the sessions.
    Heads,
    /// A session.
    Recent(usize),
    /// Three columns, the first only where it changes, and whether the first or the second is the name.
    Three([String; 3], Name),
    /// Pieces of text.
    Words(Vec<Piece>),
    /// Something that went wrong.
    Problem(String),
}

/// Which column is the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    First,
    Second,
}

/// The screen with its rows.
#[derive(Debug, Default)]
pub struct StartList {
    rows: Vec<(Row, Option<ItemId>)>,
    offset: usize,
}

impl StartList {
    pub fn draw(&mut self, app: &App, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        let width = area.width.saturating_sub(4).min(WIDTH);
        let x = area.x + (area.width - width) / 2;
        self.fill(app, width);
        let height = usize::from(area.height);
        // Rows of air where there are some; the whole block in the middle of a tall screen.
        let spare = height.saturating_sub(self.rows.len());
        let top = (spare / 3).min(6) as u16;
        let selected = app.pane(PaneId::Start).selected.unwrap_or(0);
        let at = self.rows.iter().position(|(_, id)| *id == Some(selected));
        self.offset = scroll::follow(self.offset, at, height, self.rows.len());
        if at.is_some_and(|at| at < height) && selected == 0 {
            self.offset = 0;
        }
        let block = Rect { x, y: area.y + top, width, height: area.height - top };
        for (y, (row, id)) in (block.y..block.bottom()).zip(self.rows.iter().skip(self.offset)) {
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
            Some((Row::Recent(index), _)) => {
                let recent = app.start.recent.as_ref().and_then(|all| all.get(*index));
                recent.map_or_else(String::new, |recent| format!("session:{}", recent.name))
            }
            Some((Row::Three(texts, Name::Second), _)) => format!("preset:{}", texts[1]),
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
        rows.extend([(Row::Brand, None), (Row::Gap, None)]);
        if let Some(source) = &start.opening {
            rows.push((Row::Words(vec![Piece::answer("opening "), Piece::text(source.clone())]), None));
            rows.push((Row::Gap, None));
        }
        if !start.problems.is_empty() {
            rows.extend(start.problems.iter().map(|problem| (Row::Problem(problem.clone()), None)));
            rows.push((Row::Gap, None));
        }
        match &start.recent {
            None => rows.push((Row::Title("Continue", "looking for sessions".to_owned()), None)),
            Some(recent) => {
                let count = match recent.len() {
                    0 => "no saved session yet".to_owned(),
                    1 => "1 session".to_owned(),
                    count => format!("{count} sessions"),
                };
                rows.push((Row::Title("Continue", count), None));
                if !recent.is_empty() {
                    rows.push((Row::Heads, None));
                }
                rows.extend((0..recent.len()).map(|index| (Row::Recent(index), item())));
            }
        }
        rows.push((Row::Gap, None));
        examples(start, rows, &mut item);
        rows.push((Row::Gap, None));
        own(rows, &mut item);
        rows.push((Row::Gap, None));
        rows.push((Row::Title("This terminal", String::new()), None));
        terminal(app, rows, width);
    }
}

fn examples(start: &Start, rows: &mut Vec<(Row, Option<ItemId>)>, item: &mut impl FnMut() -> Option<ItemId>) {
    let mut kinds: Vec<&str> = start.presets.iter().map(|preset| preset.kind).collect();
    kinds.dedup();
    let count = if kinds.len() == 1 { "1 kind".to_owned() } else { format!("{} kinds", kinds.len()) };
    rows.push((Row::Title("Open an example", count), None));
    let mut last = "";
    for preset in &start.presets {
        let kind = if preset.kind == last { "" } else { preset.kind };
        last = preset.kind;
        let texts = [kind.to_owned(), preset.name.to_owned(), preset.help.to_owned()];
        rows.push((Row::Three(texts, Name::Second), item()));
    }
}

fn own(rows: &mut Vec<(Row, Option<ItemId>)>, item: &mut impl FnMut() -> Option<ItemId>) {
    rows.push((Row::Title("Bring your own", String::new()), None));
    let palette = super::key_of(&Command::Palette);
    let lines = [
        (format!("{palette}open"), "a file", "scenario or plan, .json or .json.gz"),
        (format!("{palette}new"), "from a preset", "an example by name, to change its knobs"),
        (format!("{palette}import"), "another format", "workloads and topologies of other tools"),
        (super::key_of(&Command::Help).to_owned(), "help", "the idea, the keys of this place"),
        (palette.to_owned(), "all commands", "every action by name, with its key"),
    ];
    for (first, second, third) in lines {
        rows.push((Row::Three([first, second.to_owned(), third.to_owned()], Name::First), item()));
    }
}

fn terminal(app: &App, rows: &mut Vec<(Row, Option<ItemId>)>, width: u16) {
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
    rows.push((Row::Words(first), None));
    let (threads, all) = app.options.threads;
    let mut second = Vec::new();
    second.extend(pair("threads ", format!("{threads} of {all}")));
    second.extend(pair("   lightbay ", app.options.version.to_owned()));
    second.extend(pair("   on ", app.options.host.clone()));
    let keys =
        [(Command::NextPalette, "palette"), (Command::NextGlyphs, "glyphs"), (Command::ToggleMouse, "mouse")];
    second.push(Piece::muted("   "));
    for (command, word) in keys {
        second.push(Piece::text(super::key_of(&command)));
        second.push(Piece::muted(format!(" {word}  ")));
    }
    rows.push((Row::Words(second), None));
}

/// First columns of the table of sessions, and their widths.
fn session_columns(width: i32) -> [(i32, i32); 7] {
    // name, kind, method, value, NCT, status, age
    let name = (width - 75).clamp(14, 24);
    let starts = [3, 4 + name, 4 + name + 14, 4 + name + 30, 4 + name + 46, 4 + name + 56, width - 1];
    [
        (starts[0], name),
        (starts[1], 12),
        (starts[2], 14),
        (starts[3], 15),
        (starts[4], 7),
        (starts[5], 12),
        (starts[6], 14),
    ]
}

impl Row {
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
                let words =
                    "plans optical circuits for AI clusters, checks them, and shows why they are good";
                pen.cut(used + 3, 0, width - used - 3, words, Cut::End, style(Tone::Muted));
            }
            Self::Heads => {
                let columns = session_columns(width);
                let heads = ["name", "kind", "method", "best", "NCT", "status"];
                for (index, (head, (x, room))) in heads.iter().zip(columns).enumerate() {
                    if index == 3 || index == 4 {
                        pen.right((x + room).min(width), 0, head, style(Tone::Muted));
                    } else {
                        pen.cut(x, 0, room, head, Cut::End, style(Tone::Muted));
                    }
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
                pen.cut(3, 0, 14, first, Cut::End, first_style);
                let second_style = if *name == Name::Second { bold(Name::Second) } else { style(middle) };
                pen.cut(18, 0, 22, second, Cut::Middle, second_style);
                pen.cut(41, 0, width - 42, third, Cut::End, style(Tone::Muted));
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

fn draw_recent(pen: &mut Pen<'_>, recent: &Recent, chosen: bool) {
    let theme = pen.theme();
    let width = pen.width();
    let columns = session_columns(width);
    let name_style = theme.ink(Tone::Text, chosen);
    pen.cut(columns[0].0, 0, columns[0].1, &recent.name, Cut::Middle, name_style);
    pen.cut(columns[1].0, 0, columns[1].1, &recent.kind, Cut::End, theme.style(Tone::Muted));
    pen.cut(columns[2].0, 0, columns[2].1, &recent.method, Cut::Middle, theme.style(Tone::Text));
    let right = |(x, room): (i32, i32)| (x + room).min(width);
    if let Some((name, value)) = &recent.objective {
        let (_, unit) = quantity(name);
        let text = format!("{} {unit}", in_unit(*value, unit, Room::Long));
        if right(columns[3]) < width {
            pen.right(right(columns[3]), 0, text.trim_end(), theme.style(Tone::Text));
        }
    }
    if let Some(nct) = recent.metrics.get("nct").filter(|_| right(columns[4]) < width) {
        pen.right(right(columns[4]), 0, &number::nct(*nct), theme.ink(Tone::Text, chosen));
    }
    let proven = recent.status == "optimal";
    let tone = if proven { Tone::Good } else { Tone::Text };
    let age_width = recent.age.chars().count() as i32;
    let status_room = (width - 2 - age_width - columns[5].0).min(columns[5].1);
    if status_room > 3 {
        pen.cut(columns[5].0, 0, status_room, &recent.status.replace('_', " "), Cut::End, theme.style(tone));
    }
    if columns[4].0 < width - age_width - 1 {
        pen.right(width - 1, 0, &recent.age, theme.style(Tone::Muted));
    }
}
