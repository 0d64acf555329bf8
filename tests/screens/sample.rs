//! Tests of the panes of a kind without its own drawing code: one pane for every section, drawn by the general renderer
//! of sections.

use super::at_sizes;
use super::fixture::{Bench, Style};
use lightbay::app::pane::PaneId;

const THREE: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// Numbers of the panes, which show facts, a table, spans, a matrix, and curves with a table.
const PANES: std::ops::RangeInclusive<u8> = 1..=5;

fn solved(style: Style) -> Bench {
    let mut bench = Bench::open("sample-5", style);
    bench.solve(1, "swap");
    bench
}

fn focus(bench: &mut Bench, pane: u8) {
    bench.keys(&pane.to_string());
    assert_eq!(bench.app.focus.pane, PaneId::Kind(pane));
}

#[test]
fn every_section_is_a_pane_at_every_size() {
    for style in [Style::Colour, Style::Ascii] {
        let mut bench = solved(style);
        for pane in PANES {
            focus(&mut bench, pane);
            let name = if style == Style::Ascii { "sample-ascii" } else { "sample" };
            at_sizes(&format!("{name}-{pane}"), &mut bench, &THREE);
        }
    }
}

#[test]
fn the_cursor_walks_over_rows_cells_and_spans_and_says_what_they_are() {
    let mut bench = solved(Style::Colour);
    for (pane, keys, sentence) in [
        (1, "j", "> transfers  5"),
        (2, "j", "> transfer 3  start 8.000 ms"),
        (3, "l", "> transfer 3  link  0.008000 s to 0.024000 s"),
        (4, "j l", "> transfer 3 x transfer 3"),
    ] {
        focus(&mut bench, pane);
        bench.draw(120, 40);
        bench.keys(keys);
        let screen = bench.screen(&format!("sample-cursor-{pane}"), 120, 40);
        assert!(screen.contains(sentence), "{sentence} is missing:\n{screen}");
    }
}

#[test]
fn forms_show_one_block_at_a_time() {
    let mut bench = solved(Style::Colour);
    focus(&mut bench, 5);
    let curve = bench.screen("sample-curve", 120, 40);
    bench.keys("v");
    let points = bench.screen("sample-points", 120, 40);
    assert!(!curve.contains("transfers done") && points.contains("transfers done"), "{curve}\n{points}");
}

#[test]
fn a_scenario_without_a_plan_has_its_own_sections_and_says_what_the_others_need() {
    let mut bench = Bench::open("sample-5", Style::Colour);
    focus(&mut bench, 1);
    let link = bench.screen("sample-link", 120, 40);
    assert!(link.contains("bandwidth") && link.contains("100 Gb/s"), "{link}");
    focus(&mut bench, 2);
    let order = bench.screen("sample-order", 120, 40);
    assert!(order.contains("no plan yet") && order.contains("press r to solve"), "{order}");
}

#[test]
fn its_metrics_stand_in_header_and_table() {
    let mut bench = solved(Style::Colour);
    let screen = bench.screen("sample-header", 160, 45);
    let header = screen.lines().next().unwrap();
    assert!(header.contains("mean end 56.000 ms") && header.contains("longest wait"), "{header}");
}
