//! The usual terminal, 120 x 40, put together from the widgets.

use lightbay_widgets::{
    Background, ColorDepth, Column, Footer, GlyphSet, Header, Hits, KeyHint, LogEntry, LogLines, PairRow,
    PairedBars, Palette, Pane, PaneState, Piece, Popup, Segment, Sentence, Severity, Tab, Table, TableRow,
    TableState, Tabs, Theme, Tone,
};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier};
use ratatui_core::widgets::{StatefulWidget, Widget};

use crate::fixture;

pub fn themes() -> Vec<(&'static str, Theme)> {
    let theme = |palette, depth, background| Theme::new(palette, depth, background, GlyphSet::Braille);
    vec![
        ("okabe", Theme::default()),
        ("light", theme(Palette::Okabe, ColorDepth::TrueColor, Background::Light)),
        ("256", theme(Palette::Okabe, ColorDepth::Indexed, Background::Dark)),
        ("contrast", theme(Palette::Contrast, ColorDepth::TrueColor, Background::Dark)),
        ("ansi", theme(Palette::Ansi, ColorDepth::Ansi16, Background::Dark)),
        ("mono", Theme::mono(GlyphSet::Ascii)),
    ]
}

fn frame(theme: &Theme, buf: &mut Buffer) {
    let segments = [
        Segment::new("", "megatron_177b"),
        Segment::new("plan", "6 delta-level").plain().priority(3),
        Segment::new("makespan", "12.829852 s"),
        Segment::new("NCT", "1.0691"),
        Segment::new("gap", "2.1 % NCT").priority(1),
    ];
    let state = [Piece::answer("RUNNING 01:02")];
    Header::new(theme, &segments, &state).brand("lightbay").render(Rect::new(0, 0, 120, 1), buf);
    let names = ["DAG", "Activity", "Ports", "GA", "Search", "Path", "Rates", "Contention", "What-if"];
    let tabs: Vec<_> = (1..).zip(names).map(|(id, name)| Tab::new(id, id.to_string(), name)).collect();
    let right = [Piece::muted("grid  live")];
    let mut hits = Hits::default();
    Tabs::new(theme, &tabs).focused(2).right(&right).render(Rect::new(0, 1, 120, 1), buf, &mut hits);
    let entries = [LogEntry {
        time_s: 49.9,
        severity: Severity::Info,
        source: "delta-interval".into(),
        message: "bound 12.813825 → 12.820989 s, this event order".into(),
    }];
    let note = [Piece::muted("1 of 6  L log")];
    LogLines::new(theme, &entries).right(&note).render(Rect::new(0, 38, 120, 1), buf);
    let keys = [
        ("r", "solve warm"),
        ("x", "stop, keep best"),
        ("p", "pause"),
        ("e", "edit"),
        ("u", "undo"),
        ("m", "mark"),
        ("c", "compare"),
        ("w", "write"),
        ("z", "zoom"),
        ("Tab", "pane"),
        ("?", "help"),
        ("q", "quit"),
    ];
    let hints: Vec<_> = (0..)
        .zip(keys)
        .map(|(id, (key, label))| {
            let hint = KeyHint::new(id, key, label).enabled(key != "u");
            if matches!(key, "?" | "q") { hint.keep() } else { hint }
        })
        .collect();
    Footer::new(theme, &hints).render(Rect::new(0, 39, 120, 1), buf, &mut hits);
}

fn pane(theme: &Theme, area: Rect, number: u8, name: &str, value: &str, buf: &mut Buffer) -> Rect {
    let value = [Piece::answer(value.to_owned())];
    let context = if number == 2 { vec![Piece::muted("DP tail")] } else { Vec::new() };
    let pane = Pane::new(theme, name).value(&value).context(&context).focused(number == 2);
    let pane = if number > 0 { pane.number(number) } else { pane };
    pane.render(area, buf);
    Pane::inner(area)
}

pub fn grid(theme: &Theme) -> Buffer {
    let mut buf = Buffer::empty(Rect::new(0, 0, 120, 40));
    let out = &mut buf;
    frame(theme, out);
    let inner = pane(theme, Rect::new(1, 3, 27, 12), 0, "Parameters", "1 changed", out);
    fixture::draw_form(theme, inner, out);
    pane(theme, Rect::new(1, 16, 27, 9), 0, "Plans", "best 6", out);
    fixture::draw_plans(theme, Rect::new(1, 17, 27, 8), out);
    let inner = pane(theme, Rect::new(1, 30, 27, 8), 0, "Solve", "RUNNING 01:02", out);
    fixture::draw_solve(theme, inner, out);
    let stale =
        Pane::new(theme, "What-if").number(9).state(PaneState::Stale("from plan 6, parameters changed"));
    stale.render(Rect::new(1, 26, 27, 1), out);
    pane(theme, Rect::new(30, 3, 89, 16), 2, "Activity", "13 of 214 intervals", out);
    fixture::draw_activity(theme, Rect::new(30, 4, 89, 14), out);
    let sentence = [
        Piece::answer("> DP s2*"),
        Piece::muted("  s1 goes first from 12.41 s; both end at "),
        Piece::answer("12.830"),
        Piece::muted("; fair sharing ends at "),
        Piece::text("12.889"),
    ];
    Sentence::new(theme, &sentence).render(Rect::new(30, 18, 89, 1), out);
    pane(theme, Rect::new(30, 19, 51, 12), 1, "DAG", "critical 51 of 198", out);
    fixture::draw_dag(theme, Rect::new(30, 20, 51, 11), out);
    pane(theme, Rect::new(83, 19, 36, 5), 3, "Ports", "42 of 48 used", out);
    fixture::draw_ports(theme, Rect::new(83, 20, 36, 4), out);
    pane(theme, Rect::new(83, 26, 36, 5), 6, "Path", "loss 28.61 ms", out);
    fixture::draw_path(theme, Rect::new(83, 27, 36, 4), out);
    pane(theme, Rect::new(30, 33, 44, 4), 4, "GA", "best 12.829852", out);
    fixture::draw_ga(theme, Rect::new(30, 34, 44, 3), out);
    pane(theme, Rect::new(76, 33, 43, 4), 5, "Search", "gap 2.1 % NCT", out);
    fixture::draw_search(theme, Rect::new(76, 34, 43, 3), out);
    buf
}

pub fn with_popup(theme: &Theme) -> Buffer {
    let mut buf = grid(theme);
    Popup::dim(theme, Rect::new(0, 2, 120, 36), &mut buf);
    let area = Popup::centred(Rect::new(0, 2, 120, 36), 92, 24);
    let value = [Piece::answer("6 better on 6 of 7, tie on 1")];
    Popup::new(theme, "Compare").value(&value).render(area, &mut buf);
    let inner = Popup::inner(area);
    let columns = [
        Column::left("", 26).grow(),
        Column::right("6 delta-level", 14),
        Column::right("B 4 iter-halve", 14),
        Column::right("6 - B", 12),
        Column::right("%", 8).priority(1),
    ];
    let better = |text: &'static str| Piece::new(text, Tone::Good).bold();
    let row = |cells: [Piece; 5]| TableRow::fixed(cells.to_vec());
    let rows = [
        TableRow::heading("what differs"),
        row([" rates".into(), Piece::answer("joint"), Piece::muted("fair"), "".into(), "".into()]),
        TableRow::gap(),
        TableRow::heading("result"),
        row([
            " makespan s".into(),
            Piece::answer("12.829852"),
            Piece::muted("12.871114"),
            better("-0.041262"),
            better("-0.32"),
        ]),
        row([
            " NCT".into(),
            Piece::answer("1.0691"),
            Piece::muted("1.1687"),
            better("-0.0996"),
            better("-8.5"),
        ]),
        row([
            " critical tasks".into(),
            Piece::answer("51"),
            Piece::muted("51"),
            Piece::muted("0"),
            Piece::muted("tie"),
        ]),
    ];
    let table = Table::new(theme, &columns, &rows).selectable(false);
    table.render(Rect { height: 9, ..inner }, &mut buf, &mut TableState::default());
    let pair = |name: &'static str, new_s, old_s, difference: &'static str| PairRow {
        name: Piece::new(name, Tone::Gradient),
        new_s: Some(new_s),
        old_s: Some(old_s),
        difference: Piece::text(difference),
    };
    let pairs = [
        pair("DP s6", (11.63, 12.67), (11.68, 12.09), "+582.1"),
        pair("DP s2*", (12.256, 12.83), (12.28, 12.70), "+135.5"),
        pair("DP s1", (12.41, 12.83), (12.45, 12.871), "-41.3"),
    ];
    let bars = PairedBars::new(theme, &pairs).title("gradients");
    bars.render(Rect { y: inner.y + 12, height: 4, ..inner }, &mut buf);
    buf
}

/// The cells with colours as a terminal would get them.
pub fn ansi(buf: &Buffer) -> String {
    use std::fmt::Write as _;
    let colour = |out: &mut String, colour: Color, base: u8| {
        let _ = match colour {
            Color::Rgb(r, g, b) => write!(out, ";{};2;{r};{g};{b}", base + 8),
            Color::Indexed(index) => write!(out, ";{};5;{index}", base + 8),
            Color::Reset => Ok(()),
            named => {
                let names = [
                    Color::Black,
                    Color::Red,
                    Color::Green,
                    Color::Yellow,
                    Color::Blue,
                    Color::Magenta,
                    Color::Cyan,
                    Color::Gray,
                    Color::DarkGray,
                    Color::LightRed,
                    Color::LightGreen,
                    Color::LightYellow,
                    Color::LightBlue,
                    Color::LightMagenta,
                    Color::LightCyan,
                    Color::White,
                ];
                let index = names.iter().position(|name| *name == named).unwrap_or(7) as u8;
                write!(out, ";{}", if index < 8 { base + index } else { base + 52 + index })
            }
        };
    };
    let mut out = String::new();
    for row in buf.content.chunks(usize::from(buf.area.width)) {
        for cell in row {
            out.push_str("\u{1b}[0");
            for (modifier, code) in [
                (Modifier::BOLD, ";1"),
                (Modifier::DIM, ";2"),
                (Modifier::UNDERLINED, ";4"),
                (Modifier::REVERSED, ";7"),
            ] {
                if cell.modifier.contains(modifier) {
                    out.push_str(code);
                }
            }
            colour(&mut out, cell.fg, 30);
            colour(&mut out, cell.bg, 40);
            out.push('m');
            out.push_str(cell.symbol());
        }
        out.push_str("\u{1b}[0m\n");
    }
    out
}
