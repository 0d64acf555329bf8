//! Tests of pop-ups, the bar of an edit, and the list of possible next keys.

use crate::at_sizes;
use crate::fixture::{Bench, Style};
use lightbay::app::Command;
use lightbay::app::action::{Fact, LayerCommand};
use lightbay::app::layer::{Layer, Preview};
use lightbay_widgets::text_of;
use std::time::Duration;

const BOTH: [(u16, u16); 2] = [(80, 24), (120, 40)];

#[test]
fn compare() {
    let mut bench = Bench::solved("tiny4", Style::Colour);
    bench.run(Command::Compare);
    at_sizes("compare", &mut bench, &[(60, 16), (80, 24), (120, 40)]);
    bench.keys("PgDn");
    at_sizes("compare-scrolled", &mut bench, &[(80, 24)]);
    bench.keys("PgUp d");
    let (buf, _) = bench.draw(120, 40);
    let shown = text_of(&buf);
    let says_same = |line: &str| line.split_whitespace().filter(|word| *word == "same").count() > 1;
    assert!(!shown.lines().any(says_same), "equal rows are left out:\n{shown}");
}

#[test]
fn compare_without_colour_and_unicode() {
    let mut bench = Bench::solved("tiny4", Style::Ascii);
    bench.run(Command::Compare);
    at_sizes("compare-ascii", &mut bench, &[(120, 40)]);
}

#[test]
fn help() {
    let mut bench = Bench::working("tiny4", Style::Colour);
    bench.keys("?");
    at_sizes("help", &mut bench, &BOTH);
    bench.types("mark");
    at_sizes("help-filtered", &mut bench, &[(80, 24)]);
}

#[test]
fn help_reaches_its_last_line_and_its_first() {
    let mut bench = Bench::working("tiny4", Style::Colour);
    bench.keys("?");
    bench.draw(80, 24);
    for _ in 0..20 {
        bench.run(Command::Layer(LayerCommand::PageDown));
        bench.draw(80, 24);
    }
    let last = bench.screen("help-end", 80, 24);
    assert!(last.contains("other_answer"), "{last}");
    for _ in 0..20 {
        bench.run(Command::Layer(LayerCommand::PageUp));
        bench.draw(80, 24);
    }
    // Help begins with the focused pane.
    let first = bench.screen("help-top", 80, 24);
    assert!(first.contains("1 DAG") && first.contains("Where does the time go"), "{first}");
}

#[test]
fn palette() {
    let mut bench = Bench::open("tiny4", Style::Colour);
    bench.keys(":");
    at_sizes("palette", &mut bench, &BOTH);
    bench.types("stop");
    at_sizes("palette-impossible", &mut bench, &[(80, 24)]);
    bench.keys("C-u");
    bench.types("zzzz");
    at_sizes("palette-nothing", &mut bench, &[(80, 24)]);
}

#[test]
fn editing_a_knob() {
    let mut bench = Bench::solved("tiny4", Style::Colour);
    let row = bench.app.work.as_ref().unwrap().row_named("bandwidth_gbps").unwrap().id;
    bench.keys("Space f");
    bench.app.pane_mut(lightbay::app::PaneId::Params).selected = Some(row);
    bench.keys("e");
    at_sizes("knob", &mut bench, &BOTH);
    bench.types("x");
    bench.keys("Enter");
    at_sizes("knob-problem", &mut bench, &[(80, 24)]);
    bench.keys("Esc");
    let row = bench.app.work.as_ref().unwrap().row_named("method").unwrap().id;
    bench.app.pane_mut(lightbay::app::PaneId::Params).selected = Some(row);
    bench.keys("e");
    at_sizes("knob-choice", &mut bench, &[(80, 24)]);
}

#[test]
fn writing_a_file() {
    let mut bench = Bench::solved("tiny4", Style::Colour);
    bench.keys("w");
    at_sizes("export", &mut bench, &BOTH);
}

#[test]
fn leaving_while_something_works() {
    let mut bench = Bench::working("tiny4", Style::Colour);
    bench.keys("q");
    at_sizes("confirm", &mut bench, &[(60, 16), (80, 24)]);
}

#[test]
fn log_runs_and_panes() {
    let mut bench = Bench::working("tiny4", Style::Colour);
    for (name, command) in [("log", Command::Log), ("runs", Command::Runs), ("panes", Command::Panes)] {
        bench.run(command);
        bench.run(Command::Layer(LayerCommand::Down));
        at_sizes(name, &mut bench, &BOTH);
        bench.keys("Esc");
    }
}

#[test]
fn text_is_wrapped_and_scrolled() {
    let mut bench = Bench::solved("tiny4", Style::Colour);
    let mut lines: Vec<String> = (0..40).map(|n| format!("line {n}")).collect();
    lines[1] = format!("! {}", "a sentence that is far too long for one row ".repeat(4));
    bench.fact(Fact::Checked { number: 1, standing: None, lines });
    let text = bench.app.layers.iter().any(|layer| matches!(layer, Layer::Text(_)));
    assert!(text, "a failed check is shown");
    at_sizes("text", &mut bench, &[(80, 24)]);
    for _ in 0..9 {
        bench.run(Command::Layer(LayerCommand::PageDown));
        bench.draw(80, 24);
    }
    assert!(bench.screen("text-end", 80, 24).contains("line 39"));
}

#[test]
fn keys_that_may_follow() {
    let mut bench = Bench::working("tiny4", Style::Colour);
    bench.keys("Space");
    assert!(!bench.screen("menu-early", 120, 40).contains("list all panes"), "not at once");
    bench.wait(Duration::from_millis(400));
    at_sizes("menu", &mut bench, &BOTH);
}

#[test]
fn editing_circuits() {
    let mut bench = Bench::solved("tiny4", Style::Colour);
    bench.keys("3");
    bench.draw(120, 40);
    bench.keys("e +");
    assert!(bench.app.layers.iter().any(|layer| matches!(layer, Layer::EditCell(_))));
    at_sizes("cell", &mut bench, &[(80, 24)]);
    let Some(Layer::EditCell(edit)) = bench.app.layers.last() else { panic!("the edit goes on") };
    let key = edit.key;
    let plan = bench.app.plans.get(1).unwrap().plan.clone().unwrap();
    let previews = vec![
        Preview { variant: "sched.", plan: Ok(plan) },
        Preview { variant: "fair", plan: Err("no plan under these circuits".to_owned()) },
    ];
    bench.fact(Fact::Evaluated { key, previews });
    at_sizes("cell-answer", &mut bench, &[(80, 24), (120, 40), (200, 60)]);
    bench.keys("+ + + +");
    at_sizes("cell-refused", &mut bench, &[(80, 24)]);
}

/// A pop-up receives all clicks on its area, so the items below it cannot be clicked.
#[test]
fn nothing_behind_a_pop_up_can_be_clicked() {
    let mut bench = Bench::working("tiny4", Style::Colour);
    let (_, drawn) = bench.draw(120, 40);
    let tab = drawn.hit(12, 1).cloned().expect("a tab");
    bench.keys("?");
    let (_, drawn) = bench.draw(120, 40);
    assert!(drawn.hits.iter().all(|hit| hit.click != tab.click));
}
