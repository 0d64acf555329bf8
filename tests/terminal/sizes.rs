//! Tests of terminal sizes: too small, larger again, and quick changes of size.

use super::pty::{Place, View};
use super::searching;
use std::time::{Duration, Instant};

/// Returns `true` if the screen fills exactly this size: the header ends at the right margin, the footer is on the last
/// row, and no old text remains.
fn fills(view: &View, width: usize, height: usize) -> bool {
    let header = &view.rows[0];
    view.rows.len() == height
        && header.contains(" megatron_177b  ")
        && header.chars().count() == width - 1
        && view.rows.iter().filter(|row| row.contains("q quit")).count() == 1
        && view.rows[height - 1].contains("q quit")
}

#[test]
fn a_terminal_that_is_too_small_says_what_it_needs() {
    let place = Place::new();
    let mut terminal = place.opening(&["preset:megatron_177b", "--solve"]).size(59, 15).start();
    terminal.until_shown(&["59 × 15, needs 60 × 16"]);
    terminal.until_shown(&["12.83"]);
    terminal.resize(60, 16);
    terminal.until("the smallest workbench", |view| view.rows[0].contains("megatron_177b"));
    terminal.resize(200, 60);
    terminal.until("the largest workbench", |view| fills(view, 200, 60));
    terminal.resize(10, 3);
    terminal.until("a short message", |view| view.rows.len() == 3 && !view.has("Parameters"));
    terminal.resize(1, 1);
    terminal.resize(80, 24);
    terminal.until("the compact workbench", |view| fills(view, 80, 24));
    terminal.keys("q");
    assert_eq!(terminal.end().tidy().code, 0);
}

#[test]
fn a_storm_of_sizes_costs_few_frames_and_ends_right() {
    let place = Place::new();
    let mut terminal = place.open(&["preset:megatron_177b", "--solve"]);
    terminal.until("a full screen", |view| fills(view, 120, 40) && view.has("DP s2*"));
    terminal.until_quiet(Duration::from_millis(300));
    let (frames, began) = (terminal.frames(), Instant::now());
    for step in 0..50_u16 {
        terminal.resize(80 + 2 * step, 24 + step / 2);
        terminal.pass(Duration::from_millis(10));
    }
    terminal.resize(132, 43);
    let storm = began.elapsed();
    terminal.until("the last size", |view| fills(view, 132, 43) && view.has("DP s2*"));
    let folded = terminal.frames() - frames;
    // One in 50 ms, and what panes still had to work out for the last size.
    let most = storm.as_millis() as usize / 50 + 4;
    assert!(folded <= most, "{folded} frames in {storm:?}");
    terminal.keys("q");
    assert_eq!(terminal.end().tidy().code, 0);
}

#[test]
fn a_storm_of_sizes_while_a_search_works() {
    let place = Place::new();
    let mut terminal = searching(&place);
    for step in 0..50_u16 {
        terminal.resize(1 + 5 * step, 1 + 2 * step);
        terminal.pass(Duration::from_millis(5));
    }
    terminal.resize(120, 40);
    terminal.until("the last size", |view| {
        view.rows[0].chars().count() == 119
            && view.rows[0].contains("RUNNING")
            && view.rows[39].contains("q quit")
    });
    terminal.keys("\x03\x03");
    assert_eq!(terminal.end().tidy().code, 130);
}
