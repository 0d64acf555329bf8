//! Tests of the whole program in a pseudo-terminal: input, screen, and the state of the terminal afterwards.
#![cfg(unix)]
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "terminal/crashing.rs"]
mod crashing;
#[path = "terminal/day.rs"]
mod day;
#[path = "terminal/leaving.rs"]
mod leaving;
#[path = "terminal/pointing.rs"]
mod pointing;
#[path = "terminal/pty.rs"]
mod pty;
#[path = "terminal/quiet.rs"]
mod quiet;
#[path = "terminal/saving.rs"]
mod saving;
#[path = "terminal/sizes.rs"]
mod sizes;
#[path = "terminal/solving.rs"]
mod solving;

use pty::{Place, Terminal};

/// Opens a built-in scenario and waits until it is on the screen.
fn opened(place: &Place, preset: &str) -> Terminal {
    let terminal = place.open(&[&format!("preset:{preset}")]);
    terminal.until_shown(&[&format!("{preset} is open")]);
    terminal
}

/// Opens a scenario with a search that takes longer than any test, and waits for the first plans.
fn searching(place: &Place) -> Terminal {
    let mut terminal = opened(place, "deepseek_671b");
    search(&mut terminal);
    terminal
}

/// Starts a search that takes longer than any test.
fn search_by(terminal: &mut Terminal, method: &str) {
    terminal.command(&format!("choose_method {method}"));
    for setting in ["generations=1000000", "stall_generations=1000000", "population=2000"] {
        terminal.command(&format!("set {setting}"));
    }
    terminal.keys("r");
}

/// Starts such a search, and waits until it has a plan and the genetic algorithm is running.
fn search(terminal: &mut Terminal) {
    search_by(terminal, "delta-fast");
    terminal.until("a search with a plan", |view| {
        ["RUNNING", "x stop", "gen "].iter().all(|text| view.has(text)) && view.rows[0].contains("delta-fast")
    });
}
