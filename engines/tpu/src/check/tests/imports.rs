//! The checker stands on its own: what its files may name.

use std::fs;
use std::path::{Path, PathBuf};

const OWN_CRATE: [&str; 3] = ["plan", "scenario", "check"];
const OTHER_CRATES: [&str; 3] = ["std", "lightbay_core", "lightbay_highs"];
const MAKERS_FOR_TESTS: [&str; 11] = [
    "presets",
    "baselines",
    "assemble",
    "group",
    "topology",
    "metrics",
    "mcf",
    "routing",
    "dor",
    "faults",
    "watch",
];

fn sources(folder: &Path, list: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, list);
        } else {
            list.push(path);
        }
    }
}

/// First path segment after every occurrence of `prefix`.
fn named_after<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let end = |rest: &str| rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    text.match_indices(prefix)
        .map(|(at, _)| &text[at + prefix.len()..])
        .map(|rest| &rest[..end(rest)])
        .collect()
}

#[test]
fn only_types_and_core_are_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![root.join("check.rs")];
    sources(&root.join("check"), &mut files);
    assert!(files.len() > 7);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let is_test = file.components().any(|part| part.as_os_str() == "tests");
        for module in named_after(&text, "crate::") {
            let allowed = OWN_CRATE.contains(&module) || (is_test && MAKERS_FOR_TESTS.contains(&module));
            assert!(allowed || file.ends_with("imports.rs"), "{} uses crate::{module}", file.display());
        }
        for line in text.lines().map(str::trim_start).filter(|line| line.starts_with("use ")) {
            let first = named_after(line, "use ")[0];
            let local =
                ["crate", "super", "self"].contains(&first) || text.contains(&format!("mod {first};"));
            assert!(local || OTHER_CRATES.contains(&first), "{} has '{line}'", file.display());
        }
        // Climbing out of the folder would get around the rule above; so would methods of the plan's types.
        let depth = file.strip_prefix(&root).unwrap().components().count() - 1;
        let steps = "super::".repeat(depth + 1);
        assert!(!text.contains(&steps) || is_test, "{} leaves the checker", file.display());
        for method in [".topology()", ".named_topology(", ".pt_shape(", ".pdtt_shape(", "usual_shape("] {
            assert!(!text.contains(method) || is_test, "{} calls {method}", file.display());
        }
    }
}
