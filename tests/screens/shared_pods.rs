//! Tests of several jobs on one set of pods: which job gives ports to which, and which job the other panes show.

use super::at_sizes;
use super::fixture::{Bench, Style};
use lightbay::app::pane::PaneId;
use lightbay::app::{Action, Command};

const REALLOCATION: PaneId = PaneId::Kind(11);

/// Returns a workbench with a plan for two jobs.
fn pair(style: Style) -> Bench {
    let mut bench = Bench::open("megatron_177b_pair", style);
    bench.solve(1, "reallocate");
    bench
}

fn zoomed(bench: &mut Bench, pane: PaneId) {
    bench.run(Command::Focus(pane));
    bench.app.focus.zoomed = true;
}

#[test]
fn ports_that_change_hands() {
    let mut bench = pair(Style::Colour);
    zoomed(&mut bench, REALLOCATION);
    at_sizes("reallocation", &mut bench, &[(60, 16), (80, 24), (120, 40), (200, 60)]);
    let mut bench = pair(Style::Ascii);
    zoomed(&mut bench, REALLOCATION);
    at_sizes("reallocation-ascii", &mut bench, &[(80, 24), (120, 40)]);
}

#[test]
fn the_job_chosen_there_is_the_one_that_all_panes_show() {
    let mut bench = pair(Style::NoColour);
    zoomed(&mut bench, PaneId::Kind(3));
    let usual = bench.screen("reallocation-usual", 120, 40);
    let title = |screen: &str| screen.lines().find(|line| line.contains("used ═")).unwrap().to_owned();
    assert!(title(&usual).contains(" megatron_177b "), "the first that takes ports\n{usual}");
    bench.run(Command::Focus(REALLOCATION));
    bench.screen("reallocation-choosing", 120, 40);
    bench.app.update(Action::Select { pane: REALLOCATION, item: Some(1) }, std::time::Instant::now());
    zoomed(&mut bench, PaneId::Kind(3));
    let other = bench.screen("reallocation-chosen", 120, 40);
    assert!(title(&other).contains(" megatron_177b_reversed "), "{other}");
    for pane in [1, 2, 6, 7, 8, 10] {
        zoomed(&mut bench, PaneId::Kind(pane));
        let screen = bench.screen(&format!("reallocation-{pane}"), 120, 40);
        assert!(screen.contains(" megatron_177b_reversed "), "{screen}");
    }
}

#[test]
fn one_job_says_what_it_could_give() {
    let mut bench = Bench::solved("small", Style::Colour);
    zoomed(&mut bench, REALLOCATION);
    at_sizes("surplus", &mut bench, &[(80, 24), (120, 40)]);
    let screen = bench.screen("surplus-again", 120, 40);
    assert!(screen.contains("ports to spare") && screen.contains("spare ports of this job"), "{screen}");
}
