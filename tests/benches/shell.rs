//! Measures the workbench as a user sees it: start time, response time, bytes written to the terminal, and memory.
//!
//! Runs the program in a pseudo-terminal; `figure:` lines become rows of docs/figures.md.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark prints its figures and fails by panicking"
)]

#[path = "../terminal/pty.rs"]
mod pty;

use pty::{Opening, PROGRAM, Place, Terminal, View};
use std::fmt::Display;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Number of repetitions of short measurements.
const STARTS: usize = 20;

/// Number of keys that are pressed to measure each distribution of response times.
const KEYS: usize = 200;

/// Time for which the bytes written during a solve are counted.
const LISTEN: Duration = Duration::from_secs(5);

fn figure(name: &str, value: impl Display) {
    // What reads the lines splits them there.
    assert!(!name.contains(": "), "{name}");
    println!("figure: {name}: {value}");
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the median and the 99th percentile as text.
fn spread(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share).round() as usize]);
    format!("{:.1} ms, {:.1} ms", at(0.5), at(0.99))
}

/// Returns the number of the pane whose tab is chosen.
fn chosen(view: &View) -> Option<char> {
    view.rows.get(1)?.split('[').nth(1)?.chars().next()
}

/// Starts the program. The receiver gets, for each finished frame, the number of the chosen pane and the time of the
/// last byte of the frame.
fn watched(opening: Opening) -> (Terminal, Receiver<(char, Instant)>) {
    let (sender, frames) = channel();
    let watch = move |view: &View, at: Instant| {
        if let Some(pane) = chosen(view) {
            // Nobody listens any more at the end.
            let _ = sender.send((pane, at));
        }
    };
    (opening.watch(watch).start(), frames)
}

/// Measures the time from the press of a key to the end of the frame that shows its effect.
fn key_to_frame(terminal: &mut Terminal, frames: &Receiver<(char, Instant)>) -> String {
    let times = (0..KEYS).map(|press| {
        let pane = if press % 2 == 0 { '2' } else { '3' };
        while frames.try_recv().is_ok() {}
        let pressed = Instant::now();
        terminal.keys(&pane.to_string());
        let answered = |(shown, _): &(char, Instant)| *shown == pane;
        let (_, at) = frames.iter().find(answered).unwrap();
        let time = at.saturating_duration_since(pressed);
        // As a person does, and so that frames of the search come between.
        terminal.pass(Duration::from_millis(7 + press as u64 % 40));
        time
    });
    spread(times.collect())
}

fn first_frame() {
    let times = (0..STARTS).map(|_| {
        let place = Place::new();
        let start = Instant::now();
        place.open(&["preset:megatron_177b"]).first_frame().saturating_duration_since(start)
    });
    figure("workbench, start to first frame (median, 99 %)", spread(times.collect()));
}

fn leaving() {
    let times = (0..STARTS).map(|_| {
        let place = Place::new();
        let mut terminal = place.open(&["preset:megatron_177b", "--solve"]);
        terminal.until_shown(&["OPTIMAL"]);
        let start = Instant::now();
        terminal.keys("q");
        terminal.end();
        start.elapsed()
    });
    figure("workbench, `q` to the shell's prompt, everything saved (median, 99 %)", spread(times.collect()));
}

fn idle() {
    let place = Place::new();
    let (mut terminal, frames) = watched(place.opening(&["preset:megatron_177b", "--solve"]).size(200, 60));
    terminal.until_shown(&["OPTIMAL"]);
    terminal.until_quiet(Duration::from_secs(1));
    #[cfg(target_os = "linux")]
    {
        let megabytes = pty::process::resident(terminal.pid()) as f64 / 1e6;
        figure("workbench idle after a solve, 200x60, resident memory", format!("{megabytes:.0} MB"));
    }
    let before = terminal.bytes();
    terminal.pass(Duration::from_secs(3));
    figure("workbench idle, bytes sent in 3 s", terminal.bytes() - before);
    figure("workbench idle, 200x60, key to frame (median, 99 %)", key_to_frame(&mut terminal, &frames));
}

fn solving() {
    let place = Place::new();
    let cores = std::thread::available_parallelism().unwrap().to_string();
    let opening = place.opening(&["preset:deepseek_671b", "--threads", &cores]).size(200, 60);
    let (mut terminal, frames) = watched(opening);
    terminal.until_shown(&["deepseek_671b is open"]);
    // Longer than all that is measured, on every core.
    terminal.command("choose_method delta-fast");
    for setting in ["generations=1000000", "stall_generations=1000000", "population=2000"] {
        terminal.command(&format!("set {setting}"));
    }
    terminal.keys("r");
    terminal.until_shown(&["RUNNING", "plan 2"]);
    let times = key_to_frame(&mut terminal, &frames);
    figure("workbench while all cores solve, 200x60, key to frame (median, 99 %)", times);
    let before = terminal.bytes();
    terminal.pass(LISTEN);
    let rate = (terminal.bytes() - before) as f64 / LISTEN.as_secs_f64() / 1e3;
    figure("workbench while all cores solve, 200x60, sent", format!("{rate:.1} kB/s"));
    let start = Instant::now();
    terminal.keys("x");
    terminal.until_shown(&["STOPPED"]);
    figure(
        "workbench while all cores solve, `x` to STOPPED on the screen",
        format!("{:.0} ms", ms(start.elapsed())),
    );
}

fn main() {
    // `cargo test --benches` only wants to know that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let megabytes = std::fs::metadata(PROGRAM).unwrap().len() as f64 / 1e6;
    figure("program, size of the release binary", format!("{megabytes:.1} MB"));
    first_frame();
    leaving();
    idle();
    solving();
}
