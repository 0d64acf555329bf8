//! Tests of rules that hold on every screen.

use crate::fixture::{Bench, Style, recent};
use lightbay::app::action::{Action, Fact};
use lightbay::app::{Command, PaneId};
use lightbay_widgets::text_of;
use proptest::prelude::*;
use std::cell::RefCell;

/// Calls `work` with a workbench in a style. Each workbench is made only once, because making it takes long and drawing
/// does not change it.
fn with_bench<T>(style: Style, work: impl FnOnce(&mut Bench) -> T) -> T {
    thread_local! {
        static BENCHES: RefCell<Vec<(Style, Bench)>> = const { RefCell::new(Vec::new()) };
    }
    BENCHES.with_borrow_mut(|benches| {
        let at = benches.iter().position(|(known, _)| *known == style).unwrap_or_else(|| {
            benches.push((style, Bench::working("tiny4", style)));
            benches.len() - 1
        });
        work(&mut benches[at].1)
    })
}

fn style() -> impl Strategy<Value = Style> {
    prop_oneof![Just(Style::Colour), Just(Style::NoColour), Just(Style::Ascii)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Drawing never panics, for any size, focus and layer.
    #[test]
    fn any_size_is_drawn(
        width in 0u16..=400,
        height in 0u16..=120,
        focus in 0usize..8,
        layer in 0usize..9,
        zoomed in any::<bool>(),
        style in style(),
    ) {
        with_bench(style, |bench| {
            let order = bench.app.focus_order();
            bench.run(Command::Focus(order[focus % order.len()]));
            bench.app.focus.zoomed = zoomed;
            let commands = [
                Command::Help, Command::Palette, Command::Log, Command::Runs, Command::Panes, Command::Write,
                Command::Compare, Command::Quit,
            ];
            if let Some(command) = commands.get(layer) {
                bench.run(command.clone());
            }
            let (buf, drawn) = bench.draw(width, height);
            bench.app.layers.clear();
            bench.app.focus.zoomed = false;
            for hit in &drawn.hits {
                prop_assert_eq!(hit.rect.intersection(buf.area), hit.rect, "{:?}", hit);
            }
            Ok(())
        })?;
    }

    /// Without Unicode, the screen contains no byte above 0x7E.
    #[test]
    fn ascii_stays_ascii(width in 0u16..=260, height in 0u16..=70, focus in 0usize..8) {
        with_bench(Style::Ascii, |bench| {
            let order = bench.app.focus_order();
            bench.run(Command::Focus(order[focus % order.len()]));
            let (buf, _) = bench.draw(width, height);
            for cell in &buf.content {
                prop_assert!(cell.symbol().bytes().all(|byte| (0x20..=0x7e).contains(&byte)), "{:?}", cell.symbol());
            }
            Ok(())
        })?;
    }

    /// Help and quit can be read at every size, and so can identity, makespan, NCT, gap and state.
    #[test]
    fn what_must_stay_stays(width in 60u16..=320, height in 16u16..=90) {
        with_bench(Style::Colour, |bench| {
            let (buf, _) = bench.draw(width, height);
            let text = text_of(&buf);
            let last = text.lines().last().unwrap_or_default();
            prop_assert!(last.contains("? help") && last.contains("q quit"), "{last}");
            let first = text.lines().next().unwrap_or_default();
            for part in ["tiny4", "0.450", "NCT 1.0240", "gap 0.09 %", "RUNNING"] {
                prop_assert!(first.contains(part), "{part} in {first}");
            }
            Ok(())
        })?;
    }
}

#[test]
fn the_first_screen_is_drawn_at_any_size() {
    let mut bench = Bench::start(Style::Ascii);
    bench.fact(Fact::Recent(recent()));
    for (width, height) in [(0, 0), (1, 1), (59, 16), (60, 16), (61, 17), (70, 20), (79, 50), (400, 120)] {
        for selected in [0, 5, 16] {
            bench.app.pane_mut(PaneId::Start).selected = Some(selected);
            let (buf, _) = bench.draw(width, height);
            assert!(text_of(&buf).is_ascii());
            if width >= 60 && height >= 16 {
                assert!(
                    text_of(&buf).lines().any(|line| line.trim_start().starts_with('>')),
                    "{}",
                    text_of(&buf)
                );
            }
        }
    }
}

/// Every meaning of a colour is also shown by a word, a letter or a sign.
#[test]
fn without_colour_nothing_is_lost() {
    let mut bench = Bench::working("tiny4", Style::NoColour);
    bench.set("bandwidth_gbps=800");
    let text = bench.screen("no-colour-all", 120, 40);
    for sign in [
        "tiny4 *",
        "> ",
        "B 1",
        "RUNNING",
        "PAUSED",
        "WAITING",
        "DONE",
        "% ",
        " I ",
        "1 changed",
        "* run uses 400",
    ] {
        assert!(text.contains(sign), "{sign:?} is missing in\n{text}");
    }
}

#[test]
fn rows_tabs_and_keys_can_be_clicked() {
    let mut bench = Bench::working("tiny4", Style::Colour);
    let (buf, drawn) = bench.draw(120, 40);
    let text = text_of(&buf);
    let find = |needle: &str| {
        let (y, line) = text.lines().enumerate().find(|(_, line)| line.contains(needle)).unwrap();
        let x = line.chars().count() - line[line.find(needle).unwrap()..].chars().count();
        (x as u16, y as u16)
    };
    let click = |needle: &str| {
        let (x, y) = find(needle);
        drawn.hit(x, y).unwrap_or_else(|| panic!("{needle} cannot be clicked")).click.clone()
    };
    assert_eq!(click("Activity"), Action::Do(Command::Focus(PaneId::Kind(2))));
    assert_eq!(click("x stop"), Action::Do(Command::Stop));
    let plan = bench.app.plans.rows()[1].number as u32;
    assert_eq!(click("delta-fast     1.0901"), Action::Select { pane: PaneId::Plans, item: Some(plan) });
    assert!(matches!(click("bandwidth_gbps"), Action::Select { pane: PaneId::Params, item: Some(_) }));
    assert!(matches!(click("delta-joint"), Action::Select { pane: PaneId::Solve, item: Some(4) }));
}

/// The wheel can scroll the table of plans so that the selected plan is hidden; a new selection is always visible.
#[test]
fn the_table_of_plans_follows_only_a_new_selection() {
    let mut bench = Bench::solved("tiny4", Style::Colour);
    bench.draw(100, 30);
    bench.app.pane_mut(PaneId::Plans).offset = 2;
    let (_, drawn) = bench.frame(100, 30);
    let kept = drawn.pane(PaneId::Plans).unwrap().offset;
    let rows = bench.app.plans.rows().len() + 1;
    let page = drawn.pane(PaneId::Plans).unwrap().page;
    assert_eq!(kept, 2.min(rows.saturating_sub(page)));
}

/// When the clock advances, only digits and the dots of curves over time change on the screen.
#[test]
fn nothing_jumps_when_the_clock_ticks() {
    let mut bench = Bench::working("tiny4", Style::Colour);
    let before = bench.screen("tick", 120, 40);
    bench.wait(std::time::Duration::from_secs(7));
    let after = bench.screen("tock", 120, 40);
    let changed: Vec<(&str, &str)> = before.lines().zip(after.lines()).filter(|(a, b)| a != b).collect();
    assert!(!changed.is_empty(), "the clock ticks");
    for (a, b) in changed {
        let mask = |line: &str| {
            let line = line.replace(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c), " ");
            line.replace(|c: char| c.is_ascii_digit(), "0")
        };
        assert_eq!(mask(a), mask(b));
    }
}
