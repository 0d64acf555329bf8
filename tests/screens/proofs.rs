//! Header, strip and state of a run say the same of a bound, from the first plan on.

use super::files::has;
use super::fixture::{Bench, Style};
use lightbay_core::event::RunId;

fn header(bench: &mut Bench) -> String {
    let screen = bench.screen("proofs-header", 200, 60);
    screen.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A ring of 8 GPUs: 20 us are the best that whole chunks can do in epochs of 2.5 us; half of the data of 7 ranks through
/// a link of 50 GB/s takes 8.75 us, 1 us of latency more where none is left out. Halves in both directions end at 9.75.
#[test]
fn a_plan_that_is_best_of_some_is_not_called_optimal() {
    let mut bench = Bench::open("ring8-allgather-1mb", Style::Colour);
    bench.solve(1, "construct");
    assert_eq!(bench.app.run_word(bench.app.runs.get(RunId(1)).unwrap()), "DONE");
    let first = header(&mut bench);
    has(&first, "gap 56.2 % verified (0.00 % verified in part)");
    has(&first, "DONE");
    let screen = bench.screen("proofs-strip", 200, 60);
    has(&screen, "gap 56.2 % verified");
    assert!(!screen.contains("OPTIMAL") && !screen.contains("nothing proven"), "{screen}");
    bench.solve(2, "auto");
    assert_eq!(bench.app.run_word(bench.app.runs.get(RunId(1)).unwrap()), "DONE");
    let best = bench.app.plans.best().unwrap();
    let brief = bench.app.standing_of(best).brief();
    has(&header(&mut bench), &format!("gap {brief}"));
    // Narrow screens keep what is less than a proof for all plans.
    bench.keys("Esc");
    let narrow = bench.screen("proofs-narrow", 80, 24).lines().next().unwrap().to_owned();
    has(&narrow, "gap ");
}
