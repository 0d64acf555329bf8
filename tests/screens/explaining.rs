//! Tests of the panes that explain a plan: critical path, rates of a link, demand and capacity, and slack.

use crate::fixture::{Bench, Style};
use insta::assert_snapshot;
use lightbay::app::pane::PaneId;
use lightbay::app::{Action, Command};

const PANES: [(u8, &str); 4] = [(6, "path"), (7, "rates"), (8, "contention"), (10, "slack")];

fn focused(bench: &mut Bench, pane: u8) {
    bench.run(Command::Focus(PaneId::Kind(pane)));
}

#[test]
fn each_pane_with_the_focus() {
    let mut bench = Bench::solved("small", Style::Colour);
    for (pane, name) in PANES {
        focused(&mut bench, pane);
        for (width, height) in [(80, 24), (120, 40), (200, 60)] {
            let screen = bench.screen(name, width, height);
            assert_snapshot!(format!("explaining-{name}-{width}x{height}"), screen);
        }
    }
}

#[test]
fn each_pane_without_unicode() {
    let mut bench = Bench::solved("small", Style::Ascii);
    for (pane, name) in PANES {
        focused(&mut bench, pane);
        bench.app.focus.zoomed = true;
        let screen = bench.screen(&format!("ascii-{name}"), 100, 30);
        assert!(screen.is_ascii());
        assert_snapshot!(format!("explaining-{name}-ascii"), screen);
        bench.app.focus.zoomed = false;
    }
}

#[test]
fn headings_of_a_later_block_stay_in_view() {
    let mut bench = Bench::solved("small", Style::NoColour);
    focused(&mut bench, 6);
    bench.app.focus.zoomed = true;
    bench.draw(80, 24);
    bench.keys("G");
    let screen = bench.screen("path-end", 80, 24);
    assert!(!screen.contains("capacity loss") && screen.contains("adds ms"), "{screen}");
}

#[test]
fn sections_show_the_baseline_next_to_the_plan() {
    let mut bench = Bench::solved("tiny4", Style::NoColour);
    let links = bench.app.kind_panes().iter().find(|info| info.name == "Links").unwrap().id();
    bench.run(Command::Focus(links));
    let number = bench.app.plans.baseline.unwrap();
    let screen = bench.screen("links-baseline", 120, 40);
    assert!(screen.contains(&format!("against B {number}")), "{screen}");
    assert!(screen.contains(&format!("circuits  B {number}")), "{screen}");
    bench.app.plans.baseline = None;
    let screen = bench.screen("links-alone", 120, 40);
    assert!(!screen.contains(&format!("B {number}")), "{screen}");
}

/// Returns the line with the sentence of a pane that fills the screen.
fn sentence(bench: &mut Bench, pane: u8) -> String {
    focused(bench, pane);
    bench.app.focus.zoomed = true;
    bench.draw(160, 50);
    let (_, drawn) = bench.draw(160, 50);
    drawn.pane(PaneId::Kind(pane)).unwrap().sentence.clone()
}

#[test]
fn what_is_chosen_in_one_pane_is_chosen_in_all() {
    let mut bench = Bench::solved("small", Style::Colour);
    // Down from the first task of the list.
    focused(&mut bench, 6);
    bench.draw(160, 50);
    bench.keys("j");
    let chosen = sentence(&mut bench, 6);
    let name = chosen.split("  ").next().unwrap().to_owned();
    for pane in [1, 2, 10, 7] {
        assert!(sentence(&mut bench, pane).starts_with(&name), "{name}: {}", sentence(&mut bench, pane));
    }
    // The link that carries it stands out among links.
    let way = sentence(&mut bench, 8);
    let pods = way.trim_start_matches("> ").split("  ").next().unwrap().to_owned();
    let ports = sentence(&mut bench, 3);
    let ends: Vec<&str> = pods.split("→").collect();
    assert!(ends.iter().all(|pod| ports.contains(pod)), "{pods}: {ports}");
    // The brackets of the rates go through the links; tasks follow.
    focused(&mut bench, 7);
    bench.draw(160, 50);
    bench.keys("[");
    let next = sentence(&mut bench, 8);
    assert_ne!(next, way);
    let task = sentence(&mut bench, 7);
    let name = task.split("  ").next().unwrap().to_owned();
    for pane in [1, 2, 10] {
        assert!(sentence(&mut bench, pane).starts_with(&name), "{name}: {}", sentence(&mut bench, pane));
    }
    // A move in a pane starts from what it shows, not from what was chosen in it before.
    let before = sentence(&mut bench, 10);
    bench.keys("j");
    let after = sentence(&mut bench, 10);
    assert_ne!(before, after);
    bench.keys("k");
    assert_eq!(sentence(&mut bench, 10), before);
}

#[test]
fn slack_is_listed_in_three_orders() {
    let mut bench = Bench::solved("small", Style::Colour);
    focused(&mut bench, 10);
    bench.app.focus.zoomed = true;
    let by_slack = bench.screen("slack", 120, 40);
    bench.keys("v");
    let by_start = bench.screen("slack", 120, 40);
    bench.keys("v");
    let by_link = bench.screen("slack", 120, 40);
    assert!(by_slack.contains("by slack") && by_start.contains("by start") && by_link.contains("by link"));
    assert_ne!(by_slack, by_start);
    assert_ne!(by_start, by_link);
}

#[test]
fn panes_without_a_key_are_reached_by_name() {
    let mut bench = Bench::solved("small", Style::Colour);
    bench.run(Command::FocusNamed("slack".to_owned()));
    assert_eq!(bench.app.focus.pane, PaneId::Kind(10));
    bench.run(Command::FocusNamed("slacks".to_owned()));
    assert_eq!(bench.app.focus.pane, PaneId::Kind(10), "a name that is none leads nowhere");
    assert!(bench.screen("pane-by-name", 120, 40).contains("no pane is called 'slacks'"));
}

/// A list scrolled to the item chosen in another pane starts with its first row again for an item that it lacks.
#[test]
fn a_list_without_the_chosen_item_starts_with_its_first_row() {
    let mut bench = Bench::solved("small", Style::Colour);
    bench.draw(120, 40);
    let [tasks, path] = [1, 6].map(|pane| bench.app.items(PaneId::Kind(pane)));
    let known = |id: &u32| tasks.iter().any(|item| item.id == *id);
    let last = path.iter().map(|item| item.id).rfind(known).unwrap();
    let away = tasks.iter().map(|item| item.id).find(|id| path.iter().all(|item| item.id != *id)).unwrap();
    let mut offset = |id: u32| {
        let now = bench.app.now;
        bench.app.update(Action::Select { pane: PaneId::Kind(1), item: Some(id) }, now);
        bench.draw(120, 40);
        bench.app.pane(PaneId::Kind(6)).offset
    };
    assert!(offset(last) > 0 && offset(away) == 0);
}
