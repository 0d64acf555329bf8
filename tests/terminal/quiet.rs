//! Tests of the bytes written to the terminal: none while idle, few during a solve, and neither colour nor Unicode if
//! the user excludes them.

#[cfg(target_os = "linux")]
use super::pty::process;
use super::pty::{ESCAPE, Place, Terminal};
use super::{opened, search};
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
#[test]
fn idle_writes_nothing_and_uses_no_processor() {
    let place = Place::new();
    let mut terminal = place.open(&["preset:megatron_177b", "--solve"]);
    terminal.until_shown(&["OPTIMAL", "DP s2*"]);
    terminal.until_quiet(Duration::from_millis(1200));
    for screen in ["", "3z", "?"] {
        terminal.keys(screen);
        terminal.until_quiet(Duration::from_millis(500));
        // What a key changed is saved a moment later; whatever goes on for ever shows in every stretch of time.
        let stretches: Vec<Stretch> = (0..3).map(|_| Stretch::of(&terminal)).collect();
        assert!(stretches.iter().all(|stretch| stretch.bytes == 0), "{stretches:?} after '{screen}'");
        // The system counts processor time in steps of 10 ms.
        let still = |stretch: &Stretch| stretch.cpu_ms <= 10 && stretch.woken <= 1;
        assert!(stretches.iter().any(still), "{stretches:?} after '{screen}'");
    }
}

/// Bytes written, processor time and wake-ups of a program in three seconds.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Stretch {
    bytes: usize,
    cpu_ms: u64,
    /// Number of times that a thread was woken.
    woken: u64,
}

#[cfg(target_os = "linux")]
impl Stretch {
    fn of(terminal: &Terminal) -> Self {
        let now = || (terminal.bytes(), process::cpu_ms(terminal.pid()), process::sleeps(terminal.pid()));
        let (bytes, cpu_ms, woken) = now();
        terminal.pass(Duration::from_secs(3));
        let after = now();
        Self { bytes: after.0 - bytes, cpu_ms: after.1 - cpu_ms, woken: after.2 - woken }
    }
}

/// Returns the maximum number of bytes in one second, and the mean number of bytes per second.
fn rates(terminal: &Terminal, from: Instant) -> (usize, f64) {
    let arrivals = terminal.arrivals();
    let mut before = 0;
    let sizes: Vec<(Instant, usize)> = arrivals
        .into_iter()
        .map(|(at, total)| {
            let size = total - before;
            before = total;
            (at, size)
        })
        .filter(|(at, _)| *at >= from)
        .collect();
    let total: usize = sizes.iter().map(|(_, size)| size).sum();
    let fullest = sizes.iter().map(|(at, _)| {
        let within = sizes.iter().filter(|(other, _)| *other >= *at && *other - *at < Duration::from_secs(1));
        within.map(|(_, size)| size).sum()
    });
    (fullest.max().unwrap_or(0), total as f64 / from.elapsed().as_secs_f64())
}

#[test]
fn solving_keeps_within_the_bytes_of_a_slow_line() {
    let place = Place::new();
    let mut terminal = place
        .opening(&["preset:deepseek_671b"])
        .size(200, 60)
        .env("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22")
        .env("COLORTERM", "truecolor")
        .start();
    terminal.until_shown(&["deepseek_671b is open"]);
    let began = Instant::now();
    let frames = terminal.frames();
    search(&mut terminal);
    terminal.pass(Duration::from_secs(4));
    let (fullest, mean) = rates(&terminal, began);
    let frames = (terminal.frames() - frames) as f64 / began.elapsed().as_secs_f64();
    assert!(fullest <= 256 << 10, "{fullest} bytes in one second");
    assert!(mean <= f64::from(64 << 10), "{mean} bytes a second");
    // Five from the search; typing at the start adds some.
    assert!(frames <= 12.0, "{frames} frames a second");
    terminal.keys("\x03\x03");
    assert_eq!(terminal.end().tidy().code, 130);
}

/// Shows all panes and layers of the program, one after the other.
fn tour(terminal: &mut Terminal) {
    for keys in ["1", "2", "3", "4", "5", "z", "z", "v", "2o", " t", " f", "t", "?", ESCAPE, "L", ESCAPE, " "]
    {
        let frames = terminal.frames();
        terminal.keys(keys);
        terminal.next_frame(frames);
    }
    terminal.escape();
    terminal.command("set bandwidth_gbps=800");
    terminal.keys("r");
    terminal.until_shown(&["12.591233 s", "OPTIMAL"]);
    terminal.command("solve delta-fast");
    terminal.until("the genetic search", |view| {
        view.rows.iter().any(|row| row.contains("delta-fast") && row.contains("DONE"))
    });
    for keys in ["4", "mBc", ESCAPE, "w", ESCAPE, "3e", ESCAPE, ":se", ESCAPE] {
        let frames = terminal.frames();
        terminal.keys(keys);
        terminal.next_frame(frames);
    }
    terminal.resize(59, 15);
    terminal.until_shown(&["needs 60"]);
    terminal.resize(80, 24);
    terminal.until_shown(&["megatron_177b"]);
}

/// Returns the parameters of all SGR sequences that set a colour.
fn colours(written: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(written);
    let sequences = text.split("\x1b[").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, ';' | ':' | '?')))?;
        rest[end..].starts_with('m').then(|| rest[..end].to_owned())
    });
    // 39, 49 and 59 take a colour away.
    let sets = |code: &str| {
        code.parse().is_ok_and(|code: u8| matches!(code, 30..=38 | 40..=48 | 58 | 90..=97 | 100..=107))
    };
    sequences.filter(|sequence| sequence.split([';', ':']).any(sets)).collect()
}

#[test]
fn no_color_writes_no_colour_and_still_tells_everything() {
    let place = Place::new();
    let start = |name: &str| {
        let opening = place.opening(&["preset:megatron_177b", "--solve"]).env("COLORTERM", "truecolor");
        opening.env(name, "1").start()
    };
    let mut plain = start("NO_COLOR");
    let view = plain.until_shown(&["OPTIMAL", "DP s2*"]);
    assert!(view.has("═ 1 DAG") && view.has(">"), "focus and selection show without colour");
    tour(&mut plain);
    plain.keys("q");
    let coloured = colours(&plain.written(0));
    assert!(coloured.is_empty(), "{coloured:?}");
    // The same without the variable: the test can see colours.
    let coloured = start("SOMETHING");
    coloured.until_shown(&["OPTIMAL", "DP s2*"]);
    assert!(colours(&coloured.written(0)).len() > 50);
}

#[test]
fn ascii_writes_no_byte_above_0x7e() {
    let place = Place::new();
    let mut terminal = place.open(&["preset:megatron_177b", "--solve", "--glyphs", "ascii"]);
    terminal.until_shown(&["OPTIMAL", "DP s2*", "p0-ring"]);
    tour(&mut terminal);
    terminal.keys("q");
    let ended = {
        let written = terminal.written(0);
        (written, terminal.end().tidy())
    };
    let odd: Vec<char> =
        String::from_utf8_lossy(&ended.0).chars().filter(|c| !c.is_ascii() || *c == '\x7f').collect();
    assert!(odd.is_empty(), "{odd:?}");
}

#[test]
fn every_frame_is_bracketed() {
    let place = Place::new();
    let mut terminal = opened(&place, "tiny4");
    terminal.keys("r");
    terminal.until_shown(&["OPTIMAL"]);
    terminal.until_quiet(Duration::from_millis(300));
    let written = String::from_utf8(terminal.written(0)).unwrap();
    let (begins, ends) = (written.matches("\x1b[?2026h").count(), written.matches("\x1b[?2026l").count());
    assert_eq!(begins, ends);
    assert_eq!(ends, terminal.frames());
    // Outside of frames there are modes, the questions and the title, and no text of the screen.
    for between in written.split("\x1b[?2026h").map(|part| part.rsplit("\x1b[?2026l").next().unwrap()) {
        assert!(!between.contains("Parameters") && between.len() < 200, "{between:?}");
    }
}
