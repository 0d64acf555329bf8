//! Tests that the pictures in the documents are frames of the program.

use super::fixture::{Bench, Style};
use lightbay::app::action::Command;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;
use std::path::Path;

/// Width and height of a cell in a picture.
const CELL: (u16, u16) = (9, 18);
/// Foreground and background of cells without a colour.
const TERMINAL: [&str; 2] = ["#d8d8d8", "#16181d"];

/// Returns the foreground and background of a cell, and whether its text is bold or dim.
fn style(cell: &Cell) -> (String, Option<String>, bool, bool) {
    let colour = |colour: Color| match colour {
        Color::Rgb(r, g, b) => Some(format!("#{r:02x}{g:02x}{b:02x}")),
        _ => None,
    };
    let (mut front, mut back) = (colour(cell.fg), colour(cell.bg));
    if cell.modifier.contains(Modifier::REVERSED) {
        (front, back) = (back.or(Some(TERMINAL[1].to_owned())), front.or(Some(TERMINAL[0].to_owned())));
    }
    let (bold, dim) = (cell.modifier.contains(Modifier::BOLD), cell.modifier.contains(Modifier::DIM));
    (front.unwrap_or_else(|| TERMINAL[0].to_owned()), back, bold, dim)
}

/// Returns a screen as SVG: each piece of text has one style and is stretched to the width of its cells, so that the
/// font does not matter.
fn svg(buf: &Buffer) -> String {
    let (width, height) = (buf.area.width, buf.area.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, \
         monospace\" font-size=\"15\">\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        width * CELL.0,
        height * CELL.1,
        TERMINAL[1]
    );
    for y in 0..height {
        let mut x = 0;
        while x < width {
            let first = style(&buf[(x, y)]);
            let end = (x..width).find(|&at| style(&buf[(at, y)]) != first).unwrap_or(width);
            let text: String = (x..end).map(|at| buf[(at, y)].symbol()).collect();
            piece(&mut out, (x, y), &text, &first);
            x = end;
        }
    }
    out.push_str("</svg>\n");
    out
}

/// Characters of braille patterns, which many fonts lack.
const BRAILLE: std::ops::RangeInclusive<char> = '\u{2800}'..='\u{28ff}';

/// Draws braille patterns dot by dot: bits 0 to 2 and 6 are the left column, 3 to 5 and 7 the right one.
fn dots(out: &mut String, (left, top): (u16, u16), text: &str, colour: &str) {
    let places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
    let mut path = String::new();
    for (at, c) in text.chars().enumerate().filter(|(_, c)| BRAILLE.contains(c)) {
        let bits = u32::from(c) - 0x2800;
        for (bit, (column, row)) in places.iter().enumerate() {
            if bits >> bit & 1 == 0 {
                continue;
            }
            let (x, y) = (
                f64::from(left) + f64::from(CELL.0) * at as f64 + 4.5 * f64::from(*column),
                f64::from(top) + 4.5 * f64::from(*row),
            );
            write!(path, "M{} {}h2.6v2.6h-2.6z", x + 1.0, y + 1.0).unwrap();
        }
    }
    if !path.is_empty() {
        writeln!(out, "<path fill=\"{colour}\" d=\"{path}\"/>").unwrap();
    }
}

fn piece(
    out: &mut String,
    (x, y): (u16, u16),
    text: &str,
    (front, back, bold, dim): &(String, Option<String>, bool, bool),
) {
    let (left, top) = (x * CELL.0, y * CELL.1);
    if let Some(back) = back {
        let width = text.chars().count() as u16 * CELL.0;
        writeln!(
            out,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{}\" fill=\"{back}\"/>",
            CELL.1
        )
        .unwrap();
    }
    dots(out, (left, top), text, front);
    let text: String = text.chars().map(|c| if BRAILLE.contains(&c) { ' ' } else { c }).collect();
    let indent = text.chars().take_while(|c| *c == ' ').count() as u16;
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    let (left, length) = (left + indent * CELL.0, text.chars().count() as u16 * CELL.0);
    let weight = if *bold { " font-weight=\"bold\"" } else { "" };
    let faint = if *dim { " opacity=\"0.6\"" } else { "" };
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    writeln!(
        out,
        "<text x=\"{left}\" y=\"{}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" \
         fill=\"{front}\"{weight}{faint}>{text}</text>",
        top + 14
    )
    .unwrap();
}

fn check(name: &str, bench: &mut Bench, width: u16, height: u16) {
    bench.draw(width, height);
    let picture = svg(&bench.draw(width, height).0);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures").join(format!("{name}.svg"));
    if std::env::var_os("LIGHTBAY_WRITE_PICTURES").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &picture).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == picture, "{} is out of date; run with LIGHTBAY_WRITE_PICTURES=1", path.display());
}

/// Run this test with `LIGHTBAY_WRITE_PICTURES=1` to write the pictures again.
#[test]
fn pictures_of_the_documents_are_current() {
    let mut bench = Bench::open("megatron_177b", Style::Colour);
    bench.solve(1, "auto");
    check("workbench", &mut bench, 120, 40);
}

/// Tests the picture of a collective: its network, the transmissions on links and the bandwidth by size.
#[test]
fn the_picture_of_a_collective_is_current() {
    let mut bench = Bench::open("ndv2x2-allgather-1gb", Style::Colour);
    bench.solve(1, "trees");
    check("collective", &mut bench, 120, 40);
}

/// Tests the picture of a change of circuits: the circuits of one switch, pod by pod, next to the list of switches.
#[test]
fn the_picture_of_a_change_of_circuits_is_current() {
    let mut bench = Bench::open("crossconnect-16-16-25", Style::Colour);
    bench.solve(1, "lumos-lns");
    bench.run(Command::FocusNamed("Matrix".to_owned()));
    check("crossconnect", &mut bench, 120, 40);
}

/// Tests the picture of the fewest ports as a function of the iteration time, with a MEMS switch.
#[test]
fn the_picture_of_the_frontier_is_current() {
    let mut bench = Bench::open("megatron_177b", Style::Colour);
    bench.set("method=delta-phases");
    bench.set("switch=mems");
    bench.solve(1, "delta-phases");
    bench.run(Command::FocusNamed("Frontier".to_owned()));
    bench.run(Command::Zoom);
    check("frontier", &mut bench, 100, 30);
}
