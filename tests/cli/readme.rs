//! The command blocks of the README do what they say.
//!
//! In a block marked `console`, lines after `$ ` are commands for `sh`; what follows up to the next command is what
//! they print, with `…` for anything within a line and a line of its own with `...` for any number of lines.

use super::support::{PROGRAM, Place};
use std::path::Path;
use std::process::{Command, Stdio};

struct Step {
    line: usize,
    command: String,
    expected: Vec<String>,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside {
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step { line: index + 1, command: command.to_owned(), expected: Vec::new() });
            } else {
                let step = steps.last_mut().expect("a block begins with a command");
                step.expected.push(line.to_owned());
            }
        }
    }
    steps
}

fn line_matches(pattern: &str, line: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('…') else { return pattern.trim_end() == line.trim_end() };
    let Some(mut tail) = line.strip_prefix(head) else { return false };
    if rest.is_empty() {
        return true;
    }
    loop {
        if line_matches(rest, tail) {
            return true;
        }
        let mut chars = tail.chars();
        if chars.next().is_none() {
            return false;
        }
        tail = chars.as_str();
    }
}

fn matches(expected: &[String], printed: &[&str]) -> bool {
    match (expected.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "..." => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        (Some((first, rest)), Some((line, others))) => line_matches(first, line) && matches(rest, others),
        _ => false,
    }
}

#[test]
fn the_commands_of_the_readme_do_what_it_says() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let steps = steps(&readme);
    assert!(steps.len() >= 8, "the tour is missing");
    let place = Place::new();
    // The tour begins with a file of this repository.
    std::os::unix::fs::symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), place.path("tests"))
        .unwrap();
    let folder = Path::new(PROGRAM).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    for step in steps {
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{}", step.command)])
            .current_dir(place.path(""))
            .env_clear()
            .env("HOME", place.path("home"))
            .env("PATH", &path)
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let printed: Vec<&str> = text.lines().collect();
        assert!(
            matches(&step.expected, &printed),
            "README.md:{}: {}\nexpected\n{}\nprinted\n{text}",
            step.line,
            step.command,
            step.expected.join("\n")
        );
    }
}

#[test]
fn patterns_match_within_and_across_lines() {
    let expected = ["a … c".to_owned(), "...".to_owned(), "end".to_owned()];
    assert!(matches(&expected, &["a b c", "1", "2", "end"]));
    assert!(matches(&expected, &["a b b c", "end"]));
    assert!(!matches(&expected, &["a b", "end"]));
    assert!(!matches(&expected, &["a b c", "end", "more"]));
}
