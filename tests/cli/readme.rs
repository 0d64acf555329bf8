//! Tests that the command blocks of the README and the documents print the shown output, and that all links have a
//! target.
//!
//! In a block marked `console`, lines after `$ ` are commands for `sh`; the lines up to the next command are the
//! expected output, in which `…` stands for any text within a line, and a line `...` for any number of lines.

use super::support::{PROGRAM, Place};
use std::path::{Path, PathBuf};
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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the paths of README.md and of all documents in `docs`, sorted by name.
fn documents() -> Vec<PathBuf> {
    let mut found = vec![root().join("README.md")];
    let mut open = vec![root().join("docs")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Runs the commands of a document one after the other, in a folder that only this document uses.
fn execute(document: &Path, steps: &[Step]) {
    let place = Place::new();
    // Documents name files of this repository.
    std::os::unix::fs::symlink(root().join("tests"), place.path("tests")).unwrap();
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
        // The documents leave out the line with which `solve` sums up a written plan.
        let is_summary = |line: &&str| {
            line.starts_with("lightbay: ")
                && (line.contains("; verified bound ") || line.ends_with(" claims no bound"))
        };
        let printed: Vec<&str> = text.lines().filter(|line| !is_summary(line)).collect();
        assert!(
            matches(&step.expected, &printed),
            "{}:{}: {}\nexpected\n{}\nprinted\n{text}",
            document.display(),
            step.line,
            step.command,
            step.expected.join("\n")
        );
    }
}

#[test]
fn the_commands_of_the_documents_do_what_they_say() {
    let mut count = 0;
    for document in documents() {
        let steps = steps(&std::fs::read_to_string(&document).unwrap());
        count += steps.len();
        execute(&document, &steps);
    }
    assert!(count >= 40, "the tour is missing");
}

#[test]
fn the_readme_is_short_and_links_lead_to_files() {
    let readme = std::fs::read(root().join("README.md")).unwrap();
    assert!(readme.len() <= 10 << 10, "README.md has {} bytes", readme.len());
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        // What programs print is not a link of the document.
        let text: String = text.split("```").step_by(2).collect();
        for (_, rest) in text.match_indices("](").map(|(at, _)| text[at..].split_at(2)) {
            let link = rest.split(')').next().unwrap();
            let file = link.split('#').next().unwrap();
            if !link.contains("://") {
                let target = document.parent().unwrap().join(file);
                assert!(target.exists(), "{}: '{link}' leads nowhere", document.display());
            }
        }
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
