//! Checks that messages, screens and documents use one term for each thing, and not the retired words.

use super::{code, is_test, root, sources};
use std::fs;

/// Retired words, each with the term that replaces it.
const RETIRED: [(&str, &str); 25] = [
    ("as usual", "default"),
    ("asked for", "requested, required"),
    ("by the clock", "by the time limit"),
    ("carried out", "implemented, executed"),
    ("carries out", "implements, performs"),
    ("come and go", "time-varying"),
    ("drawn trace", "synthetic trace"),
    ("the fullest ", "most loaded (link), with the most layers (stage)"),
    ("go on ", "continue, resume"),
    ("goes on ", "continues, resumes"),
    ("hears of", "is called with"),
    ("hit twice", "receives two flows, incast"),
    ("less one", "minus 1"),
    ("longest time", "time limit"),
    ("not repeatable", "not reproducible"),
    ("out of order", "failed"),
    ("played on", "mapped onto"),
    ("short form", "compact form"),
    ("stands beside", "cannot be combined with"),
    ("starts warm", "starts from plan"),
    ("still works", "is running"),
    ("turned round", "reversed"),
    ("wanted circuits", "target circuits"),
    ("what chance gives", "random baseline"),
    ("word of the screens", "term"),
];

/// Returns a message for each retired word in the lines of a text.
fn retired<'t>(place: &str, lines: impl Iterator<Item = &'t str>) -> Vec<String> {
    let words = |line: &str| {
        let line = line.to_lowercase();
        let found = RETIRED.iter().filter(|(old, _)| super::has_word(&line, old));
        found.map(|(old, term)| format!("{place}: '{}' -> {term}", old.trim())).collect::<Vec<_>>()
    };
    lines.flat_map(words).collect()
}

#[test]
fn messages_screens_and_documents_use_one_term_per_thing() {
    let mut wrong = Vec::new();
    for (path, content) in sources().iter().filter(|(path, _)| !is_test(path) && !path.starts_with("tests")) {
        wrong.extend(retired(&path.display().to_string(), code(content)));
    }
    for folder in ["", "docs", "docs/methods"] {
        for entry in fs::read_dir(root().join(folder)).unwrap().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let content = fs::read_to_string(&path).unwrap();
                wrong.extend(retired(&path.display().to_string(), content.lines()));
            }
        }
    }
    assert!(wrong.is_empty(), "retired words: {wrong:#?}");
}

#[test]
fn a_retired_word_is_found_as_a_whole_word() {
    assert_eq!(retired("x", ["links out of order"].into_iter()), ["x: 'out of order' -> failed"]);
    assert_eq!(retired("x", ["Goes on after it", "cargo on deck"].into_iter()).len(), 1);
}
