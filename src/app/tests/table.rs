//! Tests of the action table: every command has an entry, a description, and keys that conflict with no other keys.

use super::support::Bench;
use crate::app::key::{Key, sequence};
use crate::app::keymap::Keymap;
use crate::app::layer::LayerKind;
use crate::app::table::{self, Make, TablePlace};
use crate::app::{hints, palette};
use std::collections::BTreeSet;

#[test]
fn the_default_keys_have_no_conflict() {
    if let Err(conflicts) = Keymap::new(table::all()) {
        panic!("{}", conflicts.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn a_conflict_is_reported_with_both_names() {
    let mut actions = table::all().to_vec();
    let twice = actions.iter().position(|info| info.name == "stop_solve").unwrap();
    actions[twice].keys = &["r", "g"];
    let conflicts = Keymap::new(&actions).unwrap_err();
    let told: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
    assert!(told.contains(
        &"'r' is bound to 'solve_warm' and 'stop_solve'; change the keys of one of these actions".to_owned()
    ));
    assert!(
        told.iter().any(|text| text.starts_with("'g g' is bound to 'stop_solve' and 'go_first'")),
        "{told:?}"
    );
}

#[test]
fn every_action_has_a_name_a_sentence_and_a_way_to_reach_it() {
    let mut names = BTreeSet::new();
    let bench = Bench::open();
    let reachable: BTreeSet<String> =
        palette::lines(&bench.app, "").iter().map(|line| table::all()[line.action].name.to_owned()).collect();
    for info in table::all() {
        assert!(names.insert(info.name), "{} is there twice", info.name);
        assert!(
            info.name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit()),
            "{}",
            info.name
        );
        assert!(
            info.help.chars().next().is_some_and(char::is_lowercase) && !info.help.ends_with('.'),
            "{}",
            info.help
        );
        assert!(info.weight == 0 || !info.label.is_empty(), "{} is in the footer without a label", info.name);
        match info.place {
            TablePlace::Layers(kinds) => assert!(!info.keys.is_empty() && !kinds.is_empty(), "{}", info.name),
            _ => assert!(reachable.contains(info.name), "{} is not in the palette", info.name),
        }
    }
}

#[test]
fn reserved_keys_are_left_alone() {
    for info in table::all().iter().filter(|info| !matches!(info.place, TablePlace::Layers(_))) {
        for keys in info.keys {
            for key in sequence(keys).unwrap() {
                assert!(!key.alt, "{keys} of {} needs Alt", info.name);
                let taken = ['a', 'b', 's', 'q', 'g', 'o', 'p', 't', 'n', 'w', 'r'];
                assert!(!taken.iter().any(|c| key == Key::ctrl(*c)), "{keys} of {} is reserved", info.name);
            }
        }
    }
}

#[test]
fn every_layer_can_be_left_and_shows_how() {
    use LayerKind::{Compare, Confirm, EditCell, EditKnob, Export, Help, Log, Palette, Panes, Runs, Text};
    for kind in [Help, Palette, EditKnob, EditCell, Confirm, Compare, Export, Log, Runs, Panes, Text] {
        let esc = table::all().iter().any(|info| info.layers().contains(&kind) && info.keys.contains(&"Esc"));
        assert!(esc, "{kind:?}");
    }
}

#[test]
fn pressing_any_bound_keys_anywhere_never_breaks() {
    let keys: Vec<&str> = table::all().iter().flat_map(|info| info.keys.iter().copied()).collect();
    for first in &keys {
        let mut bench = Bench::open();
        bench.draw_ports();
        for second in &keys {
            if *first == "C-c" || *second == "C-c" {
                continue;
            }
            bench.keys(first).keys(second);
            let _ = (hints::footer(&bench.app), palette::help(&bench.app, ""));
        }
        let mut start = Bench::start();
        start.keys(first).keys("Enter");
    }
}

#[test]
fn the_footer_offers_what_is_possible_and_never_loses_help_and_quit() {
    let mut bench = Bench::open();
    let names = |bench: &Bench| -> Vec<&str> {
        hints::footer(&bench.app).iter().filter_map(|hint| Some(table::all()[hint.action?].name)).collect()
    };
    let idle = names(&bench);
    assert_eq!(idle[0], "solve_warm");
    assert_eq!(idle[idle.len() - 2..], ["help", "quit"]);
    let stop = hints::footer(&bench.app).into_iter().find(|hint| hint.label == "stop").unwrap();
    assert!(!stop.possible);
    bench.keys("r").accept(false);
    let stop = hints::footer(&bench.app).into_iter().find(|hint| hint.label == "stop").unwrap();
    assert!(stop.possible);
    bench.keys("w");
    assert!(names(&bench).contains(&"accept") && !names(&bench).contains(&"solve_warm"));
}

#[test]
fn the_leader_shows_what_may_follow_after_a_moment() {
    let mut bench = Bench::open();
    bench.keys("Space");
    assert!(!bench.app.menu && bench.app.next_wake().is_some());
    bench.wait(std::time::Duration::from_millis(299));
    assert!(!bench.app.menu);
    bench.wait(std::time::Duration::from_millis(2));
    assert!(bench.app.menu);
    let next = hints::next_keys(&bench.app);
    assert!(next.iter().any(|next| next.key == "o" && next.help.starts_with("open")));
    bench.keys("Esc");
    assert!(!bench.app.menu && bench.app.pending.is_empty() && bench.app.next_wake().is_none());
}

#[test]
fn the_palette_finds_by_letters_and_takes_arguments() {
    let mut bench = Bench::open();
    let first = |bench: &Bench, query: &str| palette::lines(&bench.app, query)[0].text.clone();
    assert_eq!(first(&bench, "baseln"), "set_baseline");
    assert_eq!(first(&bench, "solve delta-fa"), "solve delta-fast");
    assert_eq!(first(&bench, "export js"), "export json");
    bench.keys(":").text("set bandwidth_gbps=800").keys("Enter");
    assert!(bench.app.layers.is_empty(), "{}", bench.last_message());
    let work = bench.app.work.as_ref().unwrap();
    let row = work.row_named("bandwidth_gbps").unwrap();
    assert_eq!(row.value.as_ref().and_then(lightbay_core::param::ParamValue::as_f64), Some(800.0));
    assert!(row.changed() && work.changed());
    bench.keys("u");
    assert!(!bench.app.work.as_ref().unwrap().changed());
    bench.keys(":").text("set bandwidth_gbp=8").keys("Enter");
    assert!(bench.last_message().contains("did you mean"), "{}", bench.last_message());
}

#[test]
fn table_entries_with_arguments_open_the_palette_on_their_name() {
    let mut bench = Bench::open();
    for info in table::all().iter().filter(|info| matches!(info.make, Make::With(_)) && !info.keys.is_empty())
    {
        // What a kind has no pane for says so instead.
        if !(info.possible)(&bench.app).is_yes() {
            continue;
        }
        bench.keys(info.keys[0]);
        let Some(crate::app::layer::Layer::Palette(list)) = bench.app.layers.last() else {
            panic!("{} opens no palette", info.name);
        };
        assert_eq!(list.field.text(), format!("{} ", info.name));
        bench.keys("Esc");
    }
}
