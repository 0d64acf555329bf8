//! Tests of the sliders of panes, which change a knob in steps and solve again, and of the playback of steps.

use super::support::Bench;
use crate::app::action::Action;
use crate::app::drawn::{Drawn, Item, PaneDrawn};
use crate::app::pane::{PaneId, PaneInfo};
use crate::app::state::AUTO_DELAY;
use lightbay_core::report::SectionInfo;
use ratatui::layout::Rect;
use std::time::Duration;

const SECTION: SectionInfo =
    SectionInfo::of_scenario("rates", "Rates", "What does a rate change?").slides("bandwidth_gbps", (1, 3));

const PANES: &[PaneInfo] = &[
    PaneInfo::new(1, "DAG", "Where does time go?"),
    PaneInfo { section: Some(&SECTION), ..PaneInfo::new(2, "Rates", "What does a rate change?") },
];

fn bandwidth(bench: &Bench) -> Option<f64> {
    bench.app.work.as_ref().unwrap().now.scenario.knob("bandwidth_gbps")?.as_f64()
}

#[test]
fn a_slider_moves_its_knob_and_the_plan_follows() {
    let mut bench = Bench::open_with(|_| PANES);
    assert_eq!(bandwidth(&bench), Some(400.0));
    bench.keys("2 >");
    assert_eq!(bandwidth(&bench), Some(500.0), "the next step of 1, 2 and 5");
    bench.keys("> <");
    assert_eq!(bandwidth(&bench), Some(500.0));
    bench.wait(AUTO_DELAY);
    assert_eq!(bench.request().scenario.knob("bandwidth_gbps").unwrap().as_f64(), Some(500.0));
    // At its end it stays and says so.
    bench.keys("> >");
    assert_eq!(bandwidth(&bench), Some(1000.0));
    assert!(bench.last_message().contains("largest value"), "{}", bench.last_message());
    // Elsewhere the same keys are those of the side bar.
    let side = bench.app.focus.side;
    bench.keys("1 >");
    assert_eq!((bandwidth(&bench), bench.app.focus.side), (Some(1000.0), side + 2));
}

#[test]
fn steps_go_along_the_axis_and_are_played_to_the_last_one() {
    let mut bench = Bench::open_with(|_| PANES);
    bench.keys("2");
    let pane = PaneId::Kind(2);
    let item = |id, row, place| Item { id, row, place };
    let items = [item(1, 0, 0.0), item(2, 0, 5.0), item(3, 1, 2.0)];
    let draw = |bench: &mut Bench, chosen: u32| {
        let mut drawn = PaneDrawn::new(pane, Rect::new(0, 0, 80, 20));
        (drawn.items, drawn.steps, drawn.steps_through) = (items.into(), 3, Some((pane, chosen)));
        drawn.along_axis = true;
        bench.act(Action::Drawn(Drawn { panes: vec![drawn], ..Drawn::default() }));
    };
    draw(&mut bench, 1);
    bench.keys("]");
    assert_eq!(bench.app.pane(pane).selected, Some(3), "the next in time is in the other row");
    draw(&mut bench, 3);
    bench.keys("]");
    assert_eq!(bench.app.pane(pane).selected, Some(2), "the last in time");
    // From the last step it begins again with the first.
    draw(&mut bench, 2);
    bench.keys("Space Space");
    assert_eq!(bench.app.pane(pane).selected, Some(1));
    draw(&mut bench, 1);
    let mut seen = Vec::new();
    for _ in 0..4 {
        bench.wait(Duration::from_millis(100));
        let selected = bench.app.pane(pane).selected.unwrap();
        seen.push(selected);
        draw(&mut bench, selected);
    }
    assert_eq!(seen, [3, 2, 2, 2]);
    assert_eq!(bench.app.play_at, None, "it stops at the last step");
}
