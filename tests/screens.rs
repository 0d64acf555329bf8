//! Tests of whole screens at all sizes of the layout, with and without colour, and with and without Unicode.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "screens/collectives.rs"]
mod collectives;
#[path = "screens/crossconnects.rs"]
mod crossconnects;
#[path = "screens/explaining.rs"]
mod explaining;
#[path = "screens/files.rs"]
mod files;
#[path = "screens/fixture.rs"]
mod fixture;
#[path = "screens/layers.rs"]
mod layers;
#[path = "screens/layout.rs"]
mod layout;
#[path = "screens/milp.rs"]
mod milp;
#[path = "screens/pictures.rs"]
mod pictures;
#[path = "screens/pods.rs"]
mod pods;
#[path = "screens/proofs.rs"]
mod proofs;
#[path = "screens/regions.rs"]
mod regions;
#[path = "screens/rules.rs"]
mod rules;
#[path = "screens/sample.rs"]
mod sample;
#[path = "screens/searching.rs"]
mod searching;
#[path = "screens/shared_pods.rs"]
mod shared_pods;
#[path = "screens/truth.rs"]
mod truth;
#[path = "screens/whatif.rs"]
mod whatif;

use fixture::{Bench, Style, recent};
use insta::assert_snapshot;
use lightbay::app::action::Fact;

/// The sizes at which the layout changes, and some sizes between them.
const SIZES: [(u16, u16); 9] =
    [(20, 5), (59, 15), (60, 16), (80, 24), (100, 30), (120, 40), (160, 45), (200, 60), (320, 90)];

fn at_sizes(name: &str, bench: &mut Bench, sizes: &[(u16, u16)]) {
    for (width, height) in sizes {
        let screen = bench.screen(name, *width, *height);
        assert_snapshot!(format!("{name}-{width}x{height}"), screen);
    }
}

#[test]
fn a_workbench_at_work() {
    at_sizes("working", &mut Bench::working("tiny4", Style::Colour), &SIZES);
}

#[test]
fn the_first_screen() {
    let mut bench = Bench::start(Style::Colour);
    bench.fact(Fact::Recent(recent()));
    at_sizes("start", &mut bench, &SIZES);
}

#[test]
fn the_first_screen_when_something_could_not_be_opened() {
    let mut bench = Bench::start(Style::Colour);
    bench.fact(Fact::OpenFailed {
        source: "night.json".to_owned(),
        problems: vec!["'night.json' is no file; look at its spelling".to_owned()],
    });
    at_sizes("start-problem", &mut bench, &[(80, 24)]);
}

#[test]
fn a_scenario_without_a_plan() {
    at_sizes("opened", &mut Bench::open("tiny4", Style::Colour), &[(60, 16), (80, 24), (120, 40)]);
}

#[test]
fn without_colour() {
    at_sizes("no-colour", &mut Bench::working("tiny4", Style::NoColour), &[(80, 24), (120, 40)]);
}

#[test]
fn without_unicode() {
    at_sizes("ascii", &mut Bench::working("tiny4", Style::Ascii), &SIZES);
}

#[test]
fn each_pane_of_the_shell_with_the_focus() {
    let mut bench = Bench::working("tiny4", Style::Colour);
    for (name, keys) in [("params", "Space f j"), ("plans", "Space t j"), ("solve", "Space x j")] {
        bench.keys(keys);
        at_sizes(name, &mut bench, &[(80, 24), (120, 40)]);
    }
}

#[test]
fn a_zoomed_pane() {
    let mut bench = Bench::working("tiny4", Style::Colour);
    bench.keys("2 z");
    at_sizes("zoomed", &mut bench, &[(80, 24), (120, 40), (200, 60)]);
}

#[test]
fn changed_parameters_make_the_plan_old() {
    let mut bench = Bench::solved("tiny4", Style::Colour);
    bench.set("bandwidth_gbps=800");
    at_sizes("changed", &mut bench, &[(60, 16), (80, 24), (120, 40), (200, 60)]);
    bench.set("gap=0.01");
    bench.set("time_limit_s=600");
    at_sizes("changed-more", &mut bench, &[(120, 40)]);
}

#[test]
fn a_frozen_display_says_so() {
    let mut bench = Bench::working("tiny4", Style::Colour);
    bench.keys("f");
    let screen = bench.screen("frozen", 120, 40);
    assert!(screen.lines().nth(1).unwrap().contains("frozen, 0 behind"), "{screen}");
}
