//! Tests of the look of the widgets, at several sizes, with each set of characters, with colour and without.
#![allow(clippy::unwrap_used, reason = "a failed test may stop")]

use std::fmt::Write as _;

mod fixture;
mod screen;

use lightbay_widgets::{GlyphSet, Theme, text_of};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

type Draw = fn(&Theme, Rect, &mut Buffer);

/// Name, how it is drawn, and at which sizes.
type Look = (&'static str, Draw, [(u16, u16); 3]);

/// Each widget with the sizes it has on the designed screens.
const WIDGETS: [Look; 10] = [
    ("activity", fixture::draw_activity, [(90, 15), (78, 15), (40, 6)]),
    ("form", fixture::draw_form, [(25, 10), (38, 10), (16, 4)]),
    ("plans", fixture::draw_plans, [(26, 8), (40, 8), (18, 4)]),
    ("solve", fixture::draw_solve, [(25, 8), (78, 2), (40, 10)]),
    ("ports", fixture::draw_ports, [(37, 4), (52, 4), (20, 3)]),
    ("dag", fixture::draw_dag, [(51, 11), (98, 11), (40, 6)]),
    ("path", fixture::draw_path, [(37, 4), (56, 4), (20, 2)]),
    ("ga", fixture::draw_ga, [(46, 3), (70, 13), (18, 2)]),
    ("search", fixture::draw_search, [(46, 3), (80, 8), (30, 6)]),
    ("rates", fixture::draw_rates, [(56, 24), (30, 9), (12, 4)]),
];

fn draw(draw: Draw, theme: &Theme, (width, height): (u16, u16)) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    draw(theme, area, &mut buf);
    buf
}

#[test]
fn widgets_look_as_drawn() {
    for (name, widget, sizes) in WIDGETS {
        for (set, theme) in [
            ("braille", Theme::default()),
            ("block", Theme::default().with_glyphs(GlyphSet::Block)),
            ("ascii-mono", Theme::mono(GlyphSet::Ascii)),
            ("mono", Theme::mono(GlyphSet::Braille)),
        ] {
            let mut out = String::new();
            for size in sizes {
                let buf = draw(widget, &theme, size);
                let _ = write!(out, "{} x {}\n{}\n\n", size.0, size.1, text_of(&buf));
            }
            insta::assert_snapshot!(format!("{name}-{set}"), out);
        }
    }
}

/// Every sign that carries a meaning must be there without colour and without Unicode.
#[test]
fn ascii_without_colour_keeps_every_sign() {
    let theme = Theme::mono(GlyphSet::Ascii);
    let text = |widget: Draw, size| text_of(&draw(widget, &theme, size));
    let activity = text(fixture::draw_activity, (90, 15));
    for sign in ["[4.0]", "[ 0 ]", ">DP s2*", "B48 s5>s4*", "= 6 =", "- 4 -"] {
        assert!(activity.contains(sign), "{sign} missing in\n{activity}");
    }
    let plans = text(fixture::draw_plans, (26, 8));
    assert!(plans.contains("\n> 6 ") || plans.contains("\n>  6"), "{plans}");
    assert!(plans.contains(" B "), "{plans}");
    let form = text(fixture::draw_form, (38, 10));
    assert!(form.contains("> bandwidth_gbps 800 * was 400"), "{form}");
    let dag = text(fixture::draw_dag, (98, 11));
    for sign in ["~ x43 ~", "<48*", "DP s2*", "+155.9 ms+-", ">=DP s2*"] {
        assert!(dag.contains(sign), "{sign} missing in\n{dag}");
    }
    let ports = text(fixture::draw_ports, (37, 4));
    for sign in ["4 +2", "6 -1", "16/16", "10/16"] {
        assert!(ports.contains(sign), "{sign} missing in\n{ports}");
    }
    let solve = text(fixture::draw_solve, (25, 8));
    for sign in ["RUNNING", "PAUSED", "DONE", "#", "-", "70 %"] {
        assert!(solve.contains(sign), "{sign} missing in\n{solve}");
    }
}

#[test]
fn the_designed_screens_can_be_drawn() {
    for (name, theme) in [("grid", Theme::default()), ("grid-ascii-mono", Theme::mono(GlyphSet::Ascii))] {
        insta::assert_snapshot!(name, text_of(&screen::grid(&theme)));
    }
    insta::assert_snapshot!("grid-popup", text_of(&screen::with_popup(&Theme::default())));
}

/// Writes the screens with colour for a look at them: `LOOK=folder cargo test -p lightbay-widgets --test look`.
#[test]
fn write_screens_for_the_eye() {
    let Ok(folder) = std::env::var("LOOK") else { return };
    for (name, theme) in screen::themes() {
        for (kind, buf) in [("grid", screen::grid(&theme)), ("popup", screen::with_popup(&theme))] {
            std::fs::write(format!("{folder}/{kind}-{name}.ansi"), screen::ansi(&buf)).unwrap();
        }
        let rates = draw(fixture::draw_rates, &theme, (58, 24));
        std::fs::write(format!("{folder}/rates-{name}.ansi"), screen::ansi(&rates)).unwrap();
        let ga = draw(fixture::draw_ga, &theme, (70, 13));
        std::fs::write(format!("{folder}/ga-{name}.ansi"), screen::ansi(&ga)).unwrap();
        let dag = draw(fixture::draw_dag, &theme, (98, 12));
        std::fs::write(format!("{folder}/dag-{name}.ansi"), screen::ansi(&dag)).unwrap();
    }
}
