//! Tests of layers: a layer handles a key or passes it on, text fields can be edited, and pasted text never runs
//! commands.

use super::support::Bench;
use crate::app::action::{Action, Command, Fact, Mouse, MouseKind};
use crate::app::drawn::{Drawn, Hit, PaneDrawn};
use crate::app::effect::{Effect, Source};
use crate::app::layer::{Layer, LayerKind};
use crate::app::palette;
use crate::app::pane::PaneId;
use ratatui::layout::Rect;
use std::time::Duration;

fn top(bench: &Bench) -> Option<LayerKind> {
    bench.app.layers.last().map(Layer::kind)
}

#[test]
fn a_text_field_takes_letters_that_are_keys_elsewhere() {
    let mut bench = Bench::open();
    bench.keys(":").text("qrx?");
    let Some(Layer::Palette(list)) = bench.app.layers.last() else { panic!("the palette") };
    assert_eq!(list.field.text(), "qrx?");
    assert!(bench.effects.is_empty());
    bench.keys("C-a C-k").text("zoom").keys("Enter");
    assert!(bench.app.focus.zoomed && top(&bench).is_none());
    bench.keys("Esc");
    assert!(!bench.app.focus.zoomed);
}

#[test]
fn layers_consume_or_pass_on() {
    // Layer opened by, key, what is on top afterwards.
    let cases: &[(&str, &str, Option<LayerKind>)] = &[
        ("L", "q", None),
        ("L", "r", Some(LayerKind::Log)),
        ("L", "?", Some(LayerKind::Help)),
        ("? Esc L", "Esc", None),
        ("?", "F1", Some(LayerKind::Help)),
        ("w", "Esc", None),
        ("Space p", "j Enter", None),
    ];
    for (open, keys, expected) in cases {
        let mut bench = Bench::open();
        bench.keys(open).keys(keys);
        assert_eq!(top(&bench), *expected, "{open} then {keys}");
        assert!(bench.effects.iter().all(|effect| !matches!(effect, Effect::StartRun(_))));
    }
    let mut bench = Bench::open();
    bench.keys("L C-l");
    assert_eq!(bench.effects, [Effect::Repaint]);
    bench.keys("C-z");
    assert_eq!(bench.effects, [Effect::Suspend]);
}

#[test]
fn help_runs_the_line_that_was_chosen() {
    let mut bench = Bench::open();
    bench.keys("?").text("zoom the pane").keys("Enter");
    assert!(bench.app.focus.zoomed && top(&bench).is_none());
}

#[test]
fn a_refused_value_stays_in_the_field_with_the_reason() {
    let mut bench = Bench::open();
    bench.act(Action::Do(Command::Focus(PaneId::Params)));
    let row = bench.app.work.as_ref().unwrap().row_named("bandwidth_gbps").unwrap();
    bench.act(Action::Select { pane: PaneId::Params, item: Some(row.id) });
    bench.keys("e C-u").text("fast").keys("Enter");
    let Some(Layer::EditKnob(edit)) = bench.app.layers.last() else { panic!("still open") };
    assert!(edit.field.problem.contains("'fast' is not valid"), "{}", edit.field.problem);
    bench.keys("C-u").text("800").keys("Enter");
    assert!(top(&bench).is_none());
    assert_eq!(bench.app.work.as_ref().unwrap().changes(), 1);
    let row = bench.app.work.as_ref().unwrap().row_named("method").unwrap();
    bench.act(Action::Select { pane: PaneId::Params, item: Some(row.id) });
    bench.keys("Enter Down Enter");
    assert_ne!(bench.app.work.as_ref().unwrap().now.method, "auto");
    assert!(bench.app.work.as_ref().unwrap().row(row.id).is_some(), "rows keep their identity");
}

#[test]
fn a_pasted_text_is_one_edit_or_nothing() {
    let mut bench = Bench::open();
    bench.act(Action::Paste("rqx\nr".to_owned()));
    assert!(bench.effects.is_empty() && !bench.app.runs.is_busy());
    assert!(bench.last_message().contains("text field"));
    bench.keys(":").act(Action::Paste("open a\r\nb\x1b[31m\n".to_owned()));
    let Some(Layer::Palette(list)) = bench.app.layers.last() else { panic!("the palette") };
    assert_eq!(list.field.text(), "open a b[31m");
}

#[test]
fn a_list_without_entries_says_what_to_type() {
    for (keys, shown, told) in [
        ("Space o", "open FILE", "type the name of a file, such as job.json or plan.json"),
        (": o p e n Space", "open FILE", "type the name of a file"),
    ] {
        let mut bench = Bench::open();
        bench.app.start.recent = None;
        bench.keys(keys);
        let Some(Layer::Palette(list)) = bench.app.layers.last() else { panic!("the palette") };
        let lines = crate::app::palette::lines(&bench.app, list.field.text());
        assert_eq!((lines.len(), lines[0].text.as_str()), (1, shown));
        assert!(lines[0].help.contains(told), "{}", lines[0].help);
        bench.keys("Enter");
        let Some(Layer::Palette(list)) = bench.app.layers.last() else { panic!("it is not open") };
        assert_eq!(list.field.text(), "open ");
        assert!(list.field.problem.contains(told), "{}", list.field.problem);
    }
}

#[test]
fn the_first_screen_opens_what_is_chosen() {
    let mut bench = Bench::start();
    bench.keys("j Enter");
    let Some(Effect::Open(Source::Preset(name))) = bench.effects.first() else {
        panic!("{:?}", bench.effects)
    };
    assert_eq!(*name, bench.app.start.presets[0].name);
    bench.fact(Fact::OpenFailed { source: "x".to_owned(), problems: vec!["broken".to_owned()] });
    assert_eq!(bench.app.start.problems, ["broken"]);
    bench.keys("r");
    assert!(bench.last_message().contains("nothing is open"));
    bench.keys("Space o").text("plans/a.json").keys("Enter");
    assert_eq!(bench.effects, [Effect::Open(Source::File("/tmp/lightbay-test/plans/a.json".into()))]);
}

#[test]
fn opening_something_else_asks_while_a_solve_runs() {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.act(Action::Do(Command::Open("preset:small".to_owned())));
    assert_eq!(top(&bench), Some(LayerKind::Confirm));
    bench.keys("n");
    assert!(bench.effects.is_empty());
    bench.act(Action::Do(Command::Open("preset:small".to_owned()))).keys("y");
    assert_eq!(bench.effects, [Effect::StopRun(run), Effect::Open(Source::Preset("small".to_owned()))]);
}

#[test]
fn the_mouse_is_the_same_as_keys() {
    let mut bench = Bench::open();
    let select = Action::Select { pane: PaneId::Kind(2), item: Some(7) };
    let hit = Hit { rect: Rect::new(5, 5, 10, 1), click: select, open: Some(Action::Do(Command::Zoom)) };
    let panes = vec![
        PaneDrawn::new(PaneId::Kind(2), Rect::new(0, 0, 60, 20)),
        PaneDrawn::new(PaneId::Kind(1), Rect::new(60, 0, 40, 20)),
    ];
    let drawn = Drawn { hits: vec![hit], panes, ..Drawn::default() };
    let mouse = |what, x, y| Action::Mouse(Mouse { what, x, y });
    bench.act(Action::Drawn(drawn.clone())).act(mouse(MouseKind::Press, 6, 5));
    assert_eq!(bench.app.focus.pane, PaneId::Kind(2));
    assert_eq!(bench.app.pane(PaneId::Kind(2)).selected, Some(7));
    bench.now += Duration::from_millis(300);
    bench.act(Action::Drawn(drawn.clone())).act(mouse(MouseKind::Press, 6, 5));
    assert!(bench.app.focus.zoomed, "a double click opens");
    bench.act(Action::Drawn(drawn)).act(mouse(MouseKind::Press, 70, 3));
    assert_eq!(bench.app.focus.pane, PaneId::Kind(1));
    bench.act(mouse(MouseKind::Wheel(-1), 79, 3));
    assert_eq!(bench.app.pane(PaneId::Kind(1)).zoom, 1, "the wheel stretches a chart");
}

#[test]
fn copying_takes_the_sentence_and_the_pane() {
    let mut bench = Bench::open();
    let mut pane = PaneDrawn::new(PaneId::Kind(1), Rect::new(3, 4, 50, 10));
    pane.sentence = "DP s2* 573.3 ms".to_owned();
    bench.act(Action::Drawn(Drawn { panes: vec![pane], ..Drawn::default() }));
    bench.keys("y");
    assert_eq!(bench.effects, [Effect::Copy("DP s2* 573.3 ms".to_owned())]);
    bench.keys("Y");
    assert_eq!(bench.effects, [Effect::CopyArea(Rect::new(3, 4, 50, 10))]);
}

#[test]
fn the_palette_finds_panes_and_parameters_by_their_names() {
    let mut bench = Bench::open();
    bench.keys(":").text("activ").keys("Enter");
    assert_eq!((bench.app.focus.pane, top(&bench)), (PaneId::Kind(2), None));
    // A parameter is typed in, up to its value.
    bench.keys(":").text("bandwidth");
    let Some(Layer::Palette(list)) = bench.app.layers.last() else { panic!("the palette") };
    let lines = crate::app::palette::lines(&bench.app, list.field.text());
    assert_eq!(lines[0].text, "set bandwidth_gbps=");
    bench.keys("Enter");
    let Some(Layer::Palette(list)) = bench.app.layers.last() else { panic!("the palette") };
    assert_eq!(list.field.text(), "set bandwidth_gbps=");
}

#[test]
fn the_help_lists_the_keys_of_pop_ups_too() {
    let mut bench = Bench::open();
    let names: Vec<String> = palette::help(&bench.app, "").into_iter().map(|line| line.text).collect();
    for info in crate::app::table::all() {
        assert!(names.iter().any(|name| name == info.name), "{} is not in the help", info.name);
    }
    bench.keys("?").text("only_differences").keys("Enter");
    assert_eq!(bench.last_message(), "this key works in pop-ups");
    assert!(bench.app.layers.is_empty());
}

#[test]
fn a_drag_over_an_axis_shows_the_range() {
    let mut bench = Bench::open();
    let pane = PaneId::Kind(1);
    let area = Rect::new(0, 0, 110, 10);
    let axes = vec![(pane, Rect::new(10, 1, 100, 8))];
    bench.act(Action::Drawn(Drawn { panes: vec![PaneDrawn::new(pane, area)], axes, ..Drawn::default() }));
    let mouse = |bench: &mut Bench, what, x| {
        bench.act(Action::Mouse(Mouse { what, x, y: 4 }));
    };
    mouse(&mut bench, MouseKind::Press, 60);
    mouse(&mut bench, MouseKind::Drag, 70);
    mouse(&mut bench, MouseKind::Drag, 84);
    mouse(&mut bench, MouseKind::Release, 84);
    assert_eq!(bench.app.pane(pane).window(), (0.5, 0.75));
    assert_eq!(bench.last_message(), "DAG shows the chosen range; = shows the whole axis");
    bench.keys("=");
    assert_eq!(bench.app.pane(pane).window(), (0.0, 1.0));
    // Neither a click nor a drag outside an axis shows a range.
    mouse(&mut bench, MouseKind::Press, 60);
    mouse(&mut bench, MouseKind::Release, 60);
    mouse(&mut bench, MouseKind::Press, 4);
    mouse(&mut bench, MouseKind::Drag, 50);
    mouse(&mut bench, MouseKind::Release, 50);
    assert_eq!(bench.app.pane(pane).window(), (0.0, 1.0));
}

#[test]
fn a_pane_that_does_not_exist_is_told_from_the_palette_too() {
    let mut bench = Bench::open();
    bench.keys(":").text("go_to_pane_8").keys("Enter");
    assert_eq!(bench.last_message(), "pane 8 does not exist; the panes are 1 to 3");
    assert!(bench.app.layers.is_empty());
}
