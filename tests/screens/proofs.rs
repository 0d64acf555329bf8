//! Tests that header, strip and state of a run agree about a bound, from the first plan to the end of the run.

use super::files::has;
use super::fixture::{Bench, Style};
use lightbay_core::event::RunId;

fn header(bench: &mut Bench) -> String {
    let screen = bench.screen("proofs-header", 200, 60);
    screen.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A ring of 8 GPUs: 20 us is the minimum for whole chunks in epochs of 2.5 us. Half of the data of 7 ranks takes 8.75
/// us on a link of 50 GB/s, and 9.75 us with 1 us of latency. A schedule that sends the halves in both directions ends
/// at 9.75 us.
#[test]
fn a_plan_that_is_best_of_some_is_not_called_optimal() {
    let mut bench = Bench::open("ring8-allgather-1mb", Style::Colour);
    bench.solve(1, "construct");
    assert!(!bench.app.is_best_of_all(bench.app.runs.get(RunId(1)).unwrap()));
    let first = header(&mut bench);
    has(&first, "gap 56.2 % verified (0.00 % verified for some plans)");
    has(&first, "DONE");
    let screen = bench.screen("proofs-strip", 200, 60);
    has(&screen, "gap 56.2 % verified");
    assert!(!screen.contains("OPTIMAL") && !screen.contains("nothing proven"), "{screen}");
    // The caption of the side bar is whole.
    let side = bench.screen("proofs-side", 120, 40);
    has(&side, "(0.00 % some plans)");
    bench.solve(2, "auto");
    assert!(!bench.app.is_best_of_all(bench.app.runs.get(RunId(1)).unwrap()));
    let best = bench.app.plans.best().unwrap();
    let brief = bench.app.standing_of(best).brief();
    has(&header(&mut bench), &format!("gap {brief}"));
    // Narrow screens keep what is less than a proof for all plans.
    bench.keys("Esc");
    let narrow = bench.screen("proofs-narrow", 80, 24).lines().next().unwrap().to_owned();
    has(&narrow, "gap ");
}

/// Header, strip and panes describe the bounds of a plan in the same words as the command line, reports and pictures:
/// for a verified bound, no bound, a claimed bound, and a bound on some plans.
#[test]
fn header_strip_and_panes_have_the_words_of_every_standing() {
    let claimed = "28 removed, claimed optimal, gap 28.6 % verified (0.00 % claimed)";
    for (preset, method, brief, strip_and_pane) in [
        // The strip has the loss over an ideal network, as the header may.
        ("tiny4", "auto", "0.00 % verified", ["loss verified", ""]),
        ("tiny4", "prop-alloc", "no bound", ["", ""]),
        (
            "crossconnect-16-8-25",
            "lumos-exact",
            "28.6 % verified (0.00 % claimed)",
            ["  gap 28.6 % verified", claimed],
        ),
        (
            "ring8-allgather-1mb",
            "teccl-milp",
            "56.2 % verified (0.00 % verified for some plans)",
            ["  gap 56.2 % verified", ""],
        ),
    ] {
        let mut bench = Bench::open(preset, Style::Colour);
        bench.solve(1, method);
        let found = bench.app.standing_of(bench.app.plans.shown().unwrap()).brief();
        assert_eq!(found, brief, "{preset} {method}");
        let told = if brief == "no bound" { "gap -".to_owned() } else { format!("gap {brief}") };
        has(&header(&mut bench), &told);
        let screen = bench.screen("proofs-standing", 200, 60);
        for text in strip_and_pane {
            has(&screen, text);
        }
    }
}

/// An order of phases removes no circuit. Bounds on the number of removed circuits therefore do not apply to an order
/// of phases, and prove nothing about it.
#[test]
fn a_plan_of_another_question_has_no_bound_of_the_objective() {
    let mut bench = Bench::open("crossconnect-16-8-25", Style::Colour);
    bench.solve(1, "auto");
    bench.solve(2, "all-to-all-order");
    let order = bench.app.plans.iter().find(|entry| entry.method == "all-to-all-order").unwrap().number;
    bench.app.plans.shown = lightbay::app::plans::Shown::Chosen(order);
    let told = header(&mut bench);
    has(&told, "different problem gap -");
    assert!(!told.contains("verified") && !told.contains("bound"), "{told}");
    let standing = bench.app.standing_of_shown().unwrap();
    assert_eq!(standing.words(false), "all-to-all-order claims no bound");
}

/// In the header, the word for a verified bound becomes a tick before a figure of the kind is left out.
#[test]
fn a_tick_replaces_the_word_before_a_figure_goes() {
    let mut bench = Bench::open("tiny4", Style::Colour);
    bench.solve(1, "auto");
    let figures = |width: u16| {
        let header = bench.screen("proofs-tick", width, 40).lines().next().unwrap().to_owned();
        ["0.00 % verified", "0.00 % \u{2713}", "  ports "].map(|text| header.contains(text))
    };
    let seen: Vec<[bool; 3]> = (100..=140).step_by(3).map(figures).collect();
    assert!(seen.contains(&[true, false, true]) && seen.contains(&[false, true, true]), "{seen:?}");
}
