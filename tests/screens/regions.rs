//! Panes of regions: timeline, networks, loads of experts, demand over circuits, delays.

use super::at_sizes;
use super::fixture::{Bench, Style};

const THREE: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn solved(style: Style) -> Bench {
    let mut bench = Bench::open("moe-small", style);
    bench.solve(1, "mfabric-swap");
    bench
}

/// Shows one pane on the whole screen.
fn zoomed(bench: &mut Bench, pane: u8) {
    bench.keys(&format!("{pane} z"));
}

#[test]
fn every_pane_with_a_number_is_drawn_at_every_size() {
    for pane in 1..=5 {
        let mut bench = solved(Style::Colour);
        zoomed(&mut bench, pane);
        at_sizes(&format!("region-{pane}"), &mut bench, &THREE);
    }
    let mut plain = solved(Style::Ascii);
    at_sizes("region-ascii", &mut plain, &[(120, 40)]);
    for pane in [2, 3] {
        let mut plain = solved(Style::Ascii);
        zoomed(&mut plain, pane);
        at_sizes(&format!("region-ascii-{pane}"), &mut plain, &[(120, 40)]);
    }
}

#[test]
fn the_brackets_go_through_the_layers_and_the_view_through_the_levels() {
    let mut bench = solved(Style::Colour);
    zoomed(&mut bench, 2);
    let first = bench.screen("region-layer-first", 120, 40);
    assert!(first.contains("the slowest") && first.contains("analytic model"), "{first}");
    assert!(first.contains("dispatch") && first.contains("experts, back"), "{first}");
    bench.keys("]");
    let second = bench.screen("region-layer-second", 120, 40);
    let sentence = |screen: &str| {
        let line = screen.lines().find(|line| line.contains("> layer ") && line.contains("all-to-all"));
        line.map(str::to_owned)
    };
    assert_ne!(sentence(&first), sentence(&second), "{second}");
    bench.keys("v");
    let micro_batch = bench.screen("region-micro-batch", 120, 40);
    assert!(micro_batch.contains("change of circuits"), "{micro_batch}");
    bench.keys("v");
    let iteration = bench.screen("region-iteration", 120, 40);
    assert!(iteration.contains("gradients"), "{iteration}");
}

#[test]
fn networks_are_bars_up_to_a_bound() {
    let mut bench = solved(Style::Colour);
    zoomed(&mut bench, 3);
    let screen = bench.screen("region-networks", 200, 60);
    for words in ["■ compute", "■ all-to-all", "■ gradients", "pooled, a bound", "fat-tree"] {
        assert!(screen.contains(words), "{words} is missing:\n{screen}");
    }
}
