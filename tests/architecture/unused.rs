//! Checks for unused parts that the compiler does not report: packages that a manifest declares and no line names, and
//! public functions that only tests call.

use super::{is_test, list, members, metadata, root, sources, text};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns every source file in the folders and their subfolders.
fn files(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = folders.to_vec();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// Iterates over the identifiers of a line.
fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Returns `true` if a source file in the folders names a package outside comments.
fn names(folders: &[PathBuf], package: &str) -> bool {
    files(folders).iter().any(|path| {
        let content = fs::read_to_string(path).unwrap();
        // Unlike `code`, with the tests of the file: they may be what needs the package.
        content
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .any(|line| identifiers(line).any(|word| word == package))
    })
}

#[test]
fn every_declared_package_is_used() {
    let metadata = metadata();
    let members = members(&metadata);
    let mut wrong = Vec::new();
    for package in list(&metadata, "packages") {
        let Some(folder) = members.get(text(package, "name")) else { continue };
        for dependency in list(package, "dependencies") {
            let name = dependency["rename"].as_str().unwrap_or(text(dependency, "name")).replace('-', "_");
            let folders: &[&str] = match dependency["kind"].as_str() {
                None => &["src"],
                Some("build") => &["build.rs"],
                Some(_) => &["src", "tests", "benches"],
            };
            let folders: Vec<PathBuf> =
                folders.iter().map(|part| folder.join(part)).filter(|path| path.exists()).collect();
            // The macro that declares scenarios and results derives serialisation.
            let by_macro = name == "serde" && names(&folders, "record");
            if !by_macro && !names(&folders, &name) {
                wrong.push(format!("{} declares {name} and never names it", text(package, "name")));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_shared_version_belongs_to_a_declared_package() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let shared = manifest.split("[workspace.dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap();
    let shared: BTreeSet<&str> = shared
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Some(line.split_once(" = ")?.0))
        .collect();
    assert!(shared.len() > 30, "the shared versions were not found");
    let metadata = metadata();
    let members = members(&metadata);
    let declared: BTreeSet<&str> = list(&metadata, "packages")
        .iter()
        .filter(|package| members.contains_key(text(package, "name")))
        .flat_map(|package| list(package, "dependencies"))
        .map(|dependency| text(dependency, "name"))
        .collect();
    assert_eq!(shared.difference(&declared).collect::<Vec<_>>(), Vec::<&&str>::new());
}

/// Public functions that only tests and examples may call, with the reason for each.
const FOR_TESTS: [(&str, &str); 1] = [("with_glyphs", "tests draw widgets in every set of characters")];

/// Returns the lines outside comments and outside test-only items, and the names of the test-only modules.
fn production(content: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut kept, mut modules) = (Vec::new(), Vec::new());
    // The indentation of the item that is left out: of one that is announced, or of one that began.
    let (mut announced, mut inside): (Option<usize>, Option<usize>) = (None, None);
    for line in content.lines() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if let Some(from) = inside {
            if indent == from && trimmed.starts_with('}') {
                inside = None;
            }
        } else if let Some(from) = announced {
            if trimmed.starts_with("#[") || trimmed.starts_with("//") {
                continue;
            }
            announced = None;
            let named = trimmed.trim_end_matches(';').rsplit(' ').next().unwrap();
            if trimmed.ends_with(';') && trimmed.contains("mod ") {
                modules.push(named);
            } else if !trimmed.ends_with([';', '}', ',']) {
                inside = Some(from);
            }
        } else if trimmed.starts_with("#[cfg(test)]") {
            announced = Some(indent);
        } else if !trimmed.starts_with("//") {
            kept.push(line);
        }
    }
    (kept, modules)
}

/// Returns the name of the function that a line defines, and `true` if the function is public.
fn function(line: &str) -> Option<(&str, bool)> {
    let line = line.trim_start();
    let (head, rest) = line.split_once("fn ")?;
    let is_head = |word: &str| {
        word.starts_with("pub") || ["const", "async", "unsafe"].contains(&word) || word.ends_with(')')
    };
    let name = identifiers(rest).next()?;
    (head.split_whitespace().all(is_head) && rest.starts_with(name))
        .then_some((name, head.starts_with("pub")))
}

#[test]
fn every_public_function_has_a_caller_outside_tests() {
    let sources = sources();
    // What a build script needs of a crate of another system is in its names.
    let sources =
        sources.iter().filter(|(path, _)| !is_test(path) && !path.starts_with("engines/highs/bindings"));
    let mut files: Vec<(&Path, Vec<&str>)> = Vec::new();
    let mut for_tests: BTreeSet<PathBuf> = BTreeSet::new();
    for (path, content) in sources {
        let (lines, modules) = production(content);
        let folder = match path.file_stem().and_then(|stem| stem.to_str()) {
            Some("lib" | "main") => path.parent().unwrap().to_owned(),
            _ => path.with_extension(""),
        };
        for_tests.extend(modules.iter().map(|module| folder.join(module).with_extension("rs")));
        files.push((path, lines));
    }
    files.retain(|(path, _)| !for_tests.contains(*path));
    // Functions of one name are told apart by nobody here: one caller serves all of them.
    let (mut defined, mut named): (BTreeMap<&str, Vec<&Path>>, BTreeMap<&str, usize>) = Default::default();
    for (path, lines) in &files {
        for line in lines {
            let definition = function(line);
            if let Some((name, true)) = definition {
                defined.entry(name).or_default().push(path);
            }
            let own = definition.map(|(name, _)| name);
            for word in identifiers(line).filter(|word| Some(*word) != own) {
                *named.entry(word).or_default() += 1;
            }
        }
    }
    assert!(defined.len() > 2000, "the functions were not found");
    let unused: BTreeMap<&str, Vec<&Path>> =
        defined.into_iter().filter(|(name, _)| !named.contains_key(name)).collect();
    let known: BTreeSet<&str> = FOR_TESTS.iter().map(|(name, _)| *name).collect();
    let wrong: Vec<_> = unused.iter().filter(|(name, _)| !known.contains(*name)).collect();
    assert!(wrong.is_empty(), "only tests call these: delete them, or call them: {wrong:#?}");
    let gone: Vec<_> = known.iter().filter(|name| !unused.contains_key(**name)).collect();
    assert!(gone.is_empty(), "these have callers by now: {gone:?}");
}
