//! Tests of signals during a solve: the best plan is written, the exit code names the signal, and a kill loses no plan.

use super::support::{Place, exists};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Arguments of a search that takes longer than any test.
const LONG: [&str; 9] = [
    "solve",
    "preset:deepseek_671b",
    "--method",
    "delta-fast",
    "--set",
    "generations=1000000",
    "--set",
    "stall_generations=1000000",
    "--progress=json",
];

/// Maximum time that a test waits for an event.
const PATIENCE: Duration = Duration::from_mins(1);

/// Starts the long search and waits until it has a checked plan.
fn searching(place: &Place, more: &[&str]) -> (Child, std::thread::JoinHandle<String>) {
    let mut child = place.spawn(&[&LONG[..], more].concat());
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    loop {
        line.clear();
        assert_ne!(err.read_line(&mut line).unwrap(), 0, "it ended before it had a plan");
        if line.contains("\"event\":\"incumbent\"") && line.contains("\"checked\":true") {
            break;
        }
    }
    // Somebody has to go on reading.
    let rest = std::thread::spawn(move || {
        let mut rest = String::new();
        err.read_to_string(&mut rest).unwrap();
        rest
    });
    (child, rest)
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status().unwrap();
    assert!(sent.success());
}

fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "{what} did not come");
        std::thread::yield_now();
    }
}

#[test]
fn interrupt_and_termination_write_the_best_plan() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new();
        let (child, rest) = searching(&place, &["-o", "plan.json"]);
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        let rest = rest.join().unwrap();
        assert_eq!(output.status.code(), Some(code), "{name}\n{rest}");
        assert!(rest.contains("\"status\":\"stopped\""), "{rest}");
        place.run(&["check", "plan.json"]).done();
        let plan = place.json("plan.json");
        assert_eq!(plan["status"], "stopped");
        assert_eq!(plan["provenance"]["reproducible"], false);
        assert_eq!(place.files(), ["plan.json"], "no temporary file is left");
    }
}

#[test]
fn the_plan_goes_to_standard_output_where_no_file_was_named() {
    let place = Place::new();
    let (child, rest) = searching(&place, &[]);
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    rest.join().unwrap();
    assert_eq!(output.status.code(), Some(143));
    place.feed(&["check", "-"], &output.stdout).done();
}

#[cfg(target_os = "linux")]
#[test]
fn hang_up_writes_the_best_plan_unless_it_was_ignored_from_the_start() {
    let place = Place::new();
    let (child, rest) = searching(&place, &["-o", "plan.json"]);
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let mask = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap() & 1
    };
    signal(&child, "HUP");
    let expected = if mask("SigIgn:") == 1 {
        // Whoever started the tests did so with nohup; then a hang-up changes nothing.
        assert_eq!(mask("SigCgt:"), 0);
        signal(&child, "TERM");
        143
    } else {
        129
    };
    let output = child.wait_with_output().unwrap();
    rest.join().unwrap();
    assert_eq!(output.status.code(), Some(expected));
    place.run(&["check", "plan.json"]).done();
}

#[test]
fn a_kill_loses_at_most_the_last_second() {
    let place = Place::new();
    let (mut child, rest) = searching(&place, &["-o", "plan.json"]);
    // The first plan is written at once.
    wait_for("the plan file", || exists(&place.path("plan.json")));
    child.kill().unwrap();
    child.wait().unwrap();
    rest.join().unwrap();
    place.run(&["check", "plan.json"]).done();
}

#[test]
fn a_pipe_that_nobody_reads_does_not_hold_up_signals() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new();
        assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
        let arguments = ["solve", "preset:tiny4", "--method", "prop-alloc", "--progress=json", "-o", "pipe"];
        let mut child = place.spawn(&arguments);
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("\"event\":\"done\"") {
            line.clear();
            assert_ne!(err.read_line(&mut line).unwrap(), 0, "it ended without waiting for a reader");
        }
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        let mut rest = String::new();
        err.read_to_string(&mut rest).unwrap();
        assert_eq!(output.status.code(), Some(code), "{name}\n{rest}");
        let (_, saved) = rest.split_once("for a program to read pipe; the plan was saved as ").unwrap();
        let saved = saved.trim_end().strip_suffix(" instead").unwrap();
        place.run(&["check", saved]).done();
    }
}

#[test]
fn a_pipe_that_is_read_gets_the_plan_once() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let child = place.spawn(&["solve", "preset:tiny4", "-o", "pipe"]);
    let text = std::fs::read_to_string(place.path("pipe")).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    place.write("plan.json", text);
    place.run(&["check", "plan.json"]).done();
}

#[test]
fn output_that_its_reader_cuts_off_is_a_failure() {
    let place = Place::new();
    // Far more than a pipe has room for; the reader leaves after ten bytes.
    for arguments in [
        &["solve", "preset:deepseek_671b", "--method", "prop-alloc"][..],
        &["export", "preset:deepseek_671b", "--to", "instance"],
    ] {
        let mut child =
            place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 10];
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut first).unwrap();
        drop(out);
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {err}");
        assert!(err.contains("the reader closed"), "{arguments:?}: {err}");
    }
    // Everything was written before the reader left.
    let mut child = place.command(&["presets"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 10]).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_closed_standard_output_is_told_before_the_work() {
    let place = Place::new();
    for arguments in ["solve preset:tiny4", "new tiny4", "export preset:tiny4 --to instance"] {
        let mut command = Command::new("sh");
        let line = format!("exec {} {arguments} >&-", super::support::PROGRAM);
        let output = command.args(["-c", &line]).env("HOME", place.path("home")).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains("standard output: is closed"), "{err}");
        // Thrown away on purpose is something else.
        let line = format!("exec {} {arguments} >/dev/null", super::support::PROGRAM);
        let status = Command::new("sh").args(["-c", &line]).env("HOME", place.path("home")).status().unwrap();
        assert_eq!(status.code(), Some(0));
    }
    // So is `/dev/null` opened for reading and writing, as Python's DEVNULL and Node's 'ignore' are; that is how Rust's
    // runtime opens it in the place of a closed stream.
    for arguments in
        [&["solve", "preset:tiny4"][..], &["new", "tiny4"], &["export", "preset:tiny4", "--to", "instance"]]
    {
        let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null").unwrap();
        let output = place.command(arguments).stdout(null).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{err}");
    }
    // So it is where nothing has to be done first.
    place.run(&["solve", "preset:tiny4", "-o", "kept.json"]).done();
    for arguments in [
        "check kept.json",
        "show kept.json",
        "show kept.json --json",
        "compare kept.json kept.json",
        "info",
        "presets",
        "methods training",
        "explain nct",
        "keys",
        "man",
        "completions bash",
        "config default",
        "--help",
        "--version",
    ] {
        let mut command = Command::new("sh");
        let line = format!("exec {} {arguments} >&-", super::support::PROGRAM);
        command.args(["-c", &line]).current_dir(place.path(".")).env("HOME", place.path("home"));
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}: {err}");
        assert!(err.contains("standard output cannot be written: it is closed"), "{arguments}: {err}");
    }
    // With a file nothing goes there.
    let line = format!("exec {} solve preset:tiny4 -o plan.json >&-", super::support::PROGRAM);
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(place.path(".")).env("HOME", place.path("home"));
    assert_eq!(command.status().unwrap().code(), Some(0));
    assert!(exists(&place.path("plan.json")));
}
