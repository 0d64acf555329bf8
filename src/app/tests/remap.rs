//! Keys that the user changed: remapped, sequences, unbound, conflicts, unknown actions; all texts name the new keys.

use super::support::Bench;
use crate::app::key::{Key, sequence};
use crate::app::keymap::{Found, Keymap, Remap};
use crate::app::layer::{Layer, LayerKind};
use crate::app::table;
use crate::app::{hints, palette};

fn remap(action: &str, keys: &[&str]) -> Remap {
    Remap {
        place: "line 2, column 1".to_owned(),
        action: action.to_owned(),
        keys: Some(keys.iter().map(|text| (*text).to_owned()).collect()),
    }
}

fn built(remaps: &[Remap]) -> (Keymap, Vec<String>) {
    let (map, problems) = Keymap::remapped(remaps);
    (map, problems.iter().map(ToString::to_string).collect())
}

fn name_of(map: &Keymap, keys: &str) -> Option<&'static str> {
    match map.base(&sequence(keys).unwrap()) {
        Found::Action(action) => Some(table::all()[action].name),
        _ => None,
    }
}

#[test]
fn without_changes_the_keys_are_the_defaults() {
    assert_eq!(built(&[]), (Keymap::default(), Vec::new()));
}

#[test]
fn an_action_gets_several_keys_and_sequences_and_loses_its_default() {
    let (map, problems) = built(&[remap("solve_warm", &["F5", "Space k r", "C-x s"])]);
    assert_eq!(problems, [""; 0]);
    for keys in ["F5", "Space k r", "C-x s"] {
        assert_eq!(name_of(&map, keys), Some("solve_warm"), "{keys}");
    }
    assert_eq!(name_of(&map, "r"), None);
    assert_eq!(map.hint("solve_warm"), "F5");
}

#[test]
fn two_actions_swap_their_keys() {
    let (map, problems) = built(&[remap("zoom", &["e"]), remap("edit", &["z"])]);
    assert_eq!(problems, [""; 0]);
    assert_eq!((name_of(&map, "e"), name_of(&map, "z")), (Some("zoom"), Some("edit")));
}

#[test]
fn an_action_without_keys_is_named_as_in_the_palette() {
    let (map, problems) = built(&[remap("stop_solve", &[])]);
    assert_eq!(problems, [""; 0]);
    assert_eq!((name_of(&map, "x"), map.hint("stop_solve")), (None, ":stop_solve".to_owned()));
}

#[test]
fn problems_name_the_place_and_the_remedy_and_change_nothing() {
    let none = Remap { keys: None, ..remap("zoom", &[]) };
    let cases = [
        (vec![remap("zom", &["e"])], "keys.zom: this action does not exist; did you mean 'zoom'?"),
        (vec![remap("wwwwwww", &["e"])], "`lightbay keys` lists the actions"),
        (vec![remap("zoom", &["Entr"])], "keys.zoom: 'Entr' is not a key; write a character"),
        (vec![none], "keys.zoom: the value is not a key; give a key such as \"F5\""),
        (vec![remap("zoom", &["e"])], "'e' conflicts with the default keys of 'edit'"),
        (vec![remap("zoom", &["g"])], "'g' conflicts with the default keys of 'go_first'"),
        (vec![remap("zoom", &["F5"]), remap("pin", &["F5"])], "'F5' is bound to 'zoom' too, in this file"),
        (vec![remap("accept", &["a"])], "'a' is typed into the text field of a pop-up"),
        (vec![remap("raise", &["5"])], "is typed as a number"),
        (vec![remap("close", &[])], "without a key, pop-ups could not be used; give it a key, such as Esc"),
        (
            vec![remap("accept", &[])],
            "without a key, pop-ups could not be used; give it a key, such as Enter",
        ),
        (vec![remap("zoom", &["space o"])], "did you mean 'Space o'?"),
        (vec![remap("zoom", &["ctrl+l"])], "did you mean 'C-l'?"),
        (vec![remap("zoom", &["Alt-PageDown"])], "did you mean 'A-PgDn'?"),
        (vec![remap("zoom", &["C-S-u"])], "did you mean 'C-u'?"),
    ];
    for (remaps, expected) in cases {
        let (map, problems) = built(&remaps);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("line 2, column 1: keys."), "{}", problems[0]);
        assert!(problems[0].contains(expected), "'{expected}' is missing in {}", problems[0]);
        let changed = name_of(&map, "F5") == Some("zoom");
        assert!(changed || map == Keymap::default(), "{remaps:?} changed the keys");
    }
}

#[test]
fn a_conflict_of_one_key_leaves_the_others() {
    let (map, problems) = built(&[remap("zoom", &["e", "F6"])]);
    assert_eq!(problems.len(), 1);
    assert_eq!((name_of(&map, "e"), name_of(&map, "F6")), (Some("edit"), Some("zoom")));
}

#[test]
fn the_workbench_can_always_be_left() {
    let (map, problems) = built(&[remap("quit", &[]), remap("palette", &[]), remap("interrupt", &[])]);
    assert!(problems[0].contains("could not be left"), "{problems:?}");
    assert_eq!(name_of(&map, "q"), Some("quit"));
}

#[test]
fn keys_footer_help_palette_and_messages_follow_the_change() {
    let mut bench = Bench::open();
    bench.app.keymap = built(&[
        remap("solve_warm", &["F5"]),
        remap("help", &["C-x h"]),
        remap("export", &["F6"]),
        remap("check_plan", &[]),
    ])
    .0;
    let hint = |bench: &Bench, name: &str| {
        let footer = hints::footer(&bench.app);
        footer
            .into_iter()
            .find(|hint| hint.action.is_some_and(|action| table::all()[action].name == name))
            .map(|hint| hint.keys)
    };
    assert_eq!(hint(&bench, "solve_warm").as_deref(), Some("F5"));
    assert_eq!((hint(&bench, "help").as_deref(), hint(&bench, "check_plan")), (Some("C-x h"), None));
    let keys = |lines: Vec<palette::Line>, name: &str| {
        lines.into_iter().find(|line| line.text.starts_with(name)).map(|line| line.keys)
    };
    assert_eq!(keys(palette::help(&bench.app, ""), "solve_warm").as_deref(), Some("F5"));
    assert_eq!(keys(palette::lines(&bench.app, "check"), "check_plan").as_deref(), Some(""));
    bench.keys("r");
    assert!(bench.last_message().contains("'r' does nothing here; C-x h shows"), "{}", bench.last_message());
    bench.keys("V");
    assert!(bench.last_message().contains("C-x h"), "{}", bench.last_message());
    bench.keys("F5");
    assert!(bench.request().method == "auto");
    bench.keys("F6");
    assert!(matches!(bench.app.layers.last(), Some(Layer::Palette(list)) if list.field.text() == "export "));
    bench.keys("Esc C-x h");
    assert!(matches!(bench.app.layers.last(), Some(Layer::Help(_))));
}

#[test]
fn pop_ups_take_sequences_and_say_what_they_do_not_know() {
    let mut bench = Bench::open();
    bench.app.keymap = built(&[remap("close", &["C-x k", "Esc"])]).0;
    bench.keys(":").text("zoom").keys("C-x");
    assert_eq!(bench.app.pending, [Key::ctrl('x')]);
    assert_eq!(hints::next_keys(&bench.app).len(), 1);
    bench.keys("k");
    assert!(bench.app.layers.is_empty() && bench.app.pending.is_empty());
    bench.keys(": C-x z");
    assert!(bench.app.pending.is_empty());
    assert_eq!(bench.app.layers.last().map(Layer::kind), Some(LayerKind::Palette));
    bench.keys("C-x Esc");
    assert_eq!((bench.app.pending.len(), bench.app.layers.len()), (0, 1));
}

#[test]
fn texts_in_braces_that_name_no_action_stay() {
    let map = Keymap::default();
    assert_eq!(map.in_words("{a} {quit} {"), "{a} q {");
    assert_eq!(map.in_words("x{{quit}"), "x{q");
}
