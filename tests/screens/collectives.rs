//! Panes of collectives: network, occupancy, bandwidth by size, chunks.

use super::at_sizes;
use super::fixture::{Bench, Style};

const THREE: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn solved(style: Style) -> Bench {
    let mut bench = Bench::open("dgx1-allgather-200kb", style);
    bench.solve(1, "construct");
    bench
}

/// Shows one pane on the whole screen.
fn zoomed(bench: &mut Bench, pane: u8) {
    bench.keys(&format!("{pane} z"));
}

#[test]
fn every_pane_with_a_number_is_drawn_at_every_size() {
    for pane in [1, 2, 4, 6] {
        let mut bench = solved(Style::Colour);
        zoomed(&mut bench, pane);
        at_sizes(&format!("collective-{pane}"), &mut bench, &THREE);
    }
    for pane in [1, 2] {
        let mut plain = solved(Style::Ascii);
        zoomed(&mut plain, pane);
        at_sizes(&format!("collective-ascii-{pane}"), &mut plain, &[(120, 40)]);
    }
}

#[test]
fn the_cursor_begins_at_the_busiest_link_and_steps_through_transmissions() {
    let mut bench = solved(Style::Colour);
    zoomed(&mut bench, 2);
    let first = bench.screen("collective-cursor", 120, 40);
    assert!(first.contains("epochs 0 to "), "{first}");
    let cursor = |screen: &str| screen.lines().find(|line| line.contains("> chunk")).map(str::to_owned);
    bench.keys("]");
    let after = bench.screen("collective-cursor-after", 120, 40);
    assert!(cursor(&first).is_some() && cursor(&first) != cursor(&after), "{after}");
    bench.keys("+ +");
    let near = bench.screen("collective-near", 120, 40);
    assert_ne!(after, near, "the axis is stretched");
}
