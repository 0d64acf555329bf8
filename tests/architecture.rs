//! Rules of this repository that the compiler does not check: the dependencies between crates, and the content of
//! source files.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "architecture/terms.rs"]
mod terms;
#[path = "architecture/unused.rs"]
mod unused;

/// Returns, for each crate of this workspace, the workspace crates that it may use. Every crate may use only crates of
/// lower layers.
fn allowed() -> BTreeMap<&'static str, Vec<&'static str>> {
    let engines =
        ["lightbay-training", "lightbay-tpu", "lightbay-crossconnect", "lightbay-collective", "lightbay-moe"];
    let mut allowed: BTreeMap<&str, Vec<&str>> = engines
        .iter()
        .map(|engine| (*engine, vec!["lightbay-core", "lightbay-formats", "lightbay-highs"]))
        .collect();
    // The bindings of HiGHS, under the name that its build script asks for.
    allowed.insert("bindgen", vec![]);
    allowed.insert("lightbay-core", vec![]);
    allowed.insert("lightbay-widgets", vec![]);
    allowed.insert("lightbay-formats", vec!["lightbay-core"]);
    allowed.insert("lightbay-highs", vec!["lightbay-core"]);
    allowed.insert("lightbay-sessions", vec!["lightbay-core"]);
    allowed.insert(
        "lightbay-engines",
        engines.iter().copied().chain(["lightbay-core", "lightbay-formats", "lightbay-highs"]).collect(),
    );
    allowed.insert(
        "lightbay",
        vec!["lightbay-core", "lightbay-engines", "lightbay-sessions", "lightbay-widgets", "lightbay-highs"],
    );
    allowed
}

/// External packages that only the program itself may use; the other crates must not depend on them, directly or
/// indirectly.
const SHELL_ONLY: [&str; 9] = [
    "tokio",
    "crossterm",
    "ratatui",
    "ratatui-crossterm",
    "clap",
    "color-eyre",
    "eyre",
    "signal-hook",
    "etcetera",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn cargo(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn metadata() -> Value {
    // Packages of other systems need not be on this machine.
    let version = String::from_utf8(cargo(&["-vV"])).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let found = cargo(&["metadata", "--format-version", "1", "--offline", "--filter-platform", host]);
    serde_json::from_slice(&found).unwrap()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v Vec<Value> {
    value[key].as_array().unwrap()
}

/// Returns the name and the folder of every package of this workspace.
fn members(metadata: &Value) -> BTreeMap<String, PathBuf> {
    let ids: BTreeSet<&str> =
        list(metadata, "workspace_members").iter().map(|id| id.as_str().unwrap()).collect();
    list(metadata, "packages")
        .iter()
        .filter(|package| ids.contains(text(package, "id")))
        .map(|package| {
            let manifest = PathBuf::from(text(package, "manifest_path"));
            (text(package, "name").to_owned(), manifest.parent().unwrap().to_owned())
        })
        .collect()
}

#[test]
fn crates_name_only_what_lies_below_them() {
    let metadata = metadata();
    let members = members(&metadata);
    let allowed = allowed();
    let mut wrong = Vec::new();
    for package in
        list(&metadata, "packages").iter().filter(|package| members.contains_key(text(package, "name")))
    {
        let name = text(package, "name");
        let may =
            allowed.get(name).unwrap_or_else(|| panic!("'{name}' is a new crate: say what it may name"));
        for dependency in list(package, "dependencies") {
            let other = text(dependency, "name");
            if members.contains_key(other) && !may.contains(&other) {
                wrong.push(format!("{name} -> {other}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn terminal_and_async_packages_stay_in_the_program() {
    let metadata = metadata();
    let members = members(&metadata);
    let names: BTreeMap<&str, &str> = list(&metadata, "packages")
        .iter()
        .map(|package| (text(package, "id"), text(package, "name")))
        .collect();
    // Normal dependencies only: tests of a crate may use what they like.
    let edges: BTreeMap<&str, Vec<&str>> = list(&metadata["resolve"], "nodes")
        .iter()
        .map(|node| {
            let normal =
                |dependency: &&Value| list(dependency, "dep_kinds").iter().any(|kind| kind["kind"].is_null());
            let deps =
                list(node, "deps").iter().filter(normal).map(|dependency| text(dependency, "pkg")).collect();
            (text(node, "id"), deps)
        })
        .collect();
    let mut wrong = Vec::new();
    for (id, name) in names.iter().filter(|(_, name)| members.contains_key(**name) && **name != "lightbay") {
        let mut seen = BTreeSet::new();
        let mut open = vec![*id];
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                open.extend(&edges[at]);
            }
        }
        for reached in seen.iter().map(|id| names[id]).filter(|reached| SHELL_ONLY.contains(reached)) {
            wrong.push(format!("{name} reaches {reached}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Returns every source file of this repository with its content.
fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = ["src", "widgets", "engines", "sessions", "tests", "benches"]
        .iter()
        .map(|folder| root().join(folder))
        .collect();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let content = fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root()).unwrap().to_owned(), content));
            }
        }
    }
    assert!(found.len() > 100, "the sources were not found");
    found.sort();
    found
}

#[test]
fn files_are_small_and_say_what_they_are_for() {
    let mut wrong = Vec::new();
    for (path, content) in sources() {
        let shown = path.display();
        let lines = content.lines().count();
        if lines > 600 {
            wrong.push(format!("{shown} has {lines} lines, more than 600"));
        }
        // Beside integration tests a module has to be a folder, or cargo takes it for a test of its own.
        let shared = path.iter().any(|word| word == "tests" || word == "benches");
        if path.ends_with("mod.rs") && !shared {
            wrong.push(format!("{shown}: modules are NAME.rs beside NAME/"));
        }
        if !content.starts_with("//!") && !path.ends_with("tests.rs") {
            wrong.push(format!("{shown} does not begin with what it is for"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_crate_but_the_solver_forbids_unsafe_code() {
    let members = members(&metadata());
    for (name, folder) in members.iter().filter(|(name, _)| *name != "lightbay-highs") {
        for file in
            ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file)).iter().filter(|file| file.exists())
        {
            let content = fs::read_to_string(file).unwrap();
            // The program looks at its descriptors before Rust's runtime does.
            let rule = if file.ends_with("src/main.rs") { "deny" } else { "forbid" };
            let line = format!("#![{rule}(unsafe_code)]");
            assert!(content.contains(&line), "{name}: {}", file.display());
        }
    }
    let allowed: Vec<PathBuf> = sources()
        .into_iter()
        .filter(|(path, content)| !is_test(path) && content.contains("allow(unsafe_code"))
        .map(|(path, _)| path)
        .filter(|path| !path.starts_with("engines/highs"))
        .collect();
    assert_eq!(allowed, [Path::new("src/start.rs")]);
}

/// Iterates over the lines of code outside tests and comments.
fn code(content: &str) -> impl Iterator<Item = &str> {
    content
        .lines()
        .take_while(|line| !line.starts_with("#[cfg(test)]"))
        .map(str::trim_start)
        .filter(|line| !line.starts_with("//"))
}

fn is_test(path: &Path) -> bool {
    let words: Vec<_> = path.iter().map(|word| word.to_string_lossy()).collect();
    words
        .iter()
        .any(|word| word == "tests" || word == "tests.rs" || word == "benches" || word == "testing.rs")
}

#[test]
fn engines_know_no_paths_clocks_processes_or_environment() {
    let forbidden =
        ["std::fs", "std::path", "std::net", "std::env::", "Instant::now", "SystemTime", "process::Command"];
    let mut wrong = Vec::new();
    for (path, content) in sources() {
        // The one clock of the engines, and the build scripts.
        let exempt = path.ends_with("core/src/clock.rs") || path.starts_with("engines/highs");
        if !path.starts_with("engines") || exempt || is_test(&path) {
            continue;
        }
        for line in code(&content) {
            if let Some(word) = forbidden.iter().find(|word| line.contains(**word)) {
                wrong.push(format!("{} uses {word}", path.display()));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Rules for the checker of an engine: the crates and names that it may use in addition to the types of scenarios and
/// plans and to the code that all engines share.
struct Checker {
    engine: &'static str,
    /// Crates.
    crates: &'static [&'static str],
    /// Methods of scenario and plan types that call the search algorithms, so the checker must not use them.
    forbidden: &'static [&'static str],
}

const CHECKERS: [Checker; 5] = [
    Checker { engine: "training", crates: &[], forbidden: &[".build()", ".build_with("] },
    Checker {
        engine: "tpu",
        // A solver of programs, which the checker states for itself.
        crates: &["lightbay_highs"],
        forbidden: &[".topology()", ".named_topology(", ".pt_shape(", ".pdtt_shape(", "usual_shape("],
    },
    Checker {
        engine: "crossconnect",
        // A solver of programs, which the checker states for itself.
        crates: &["lightbay_highs"],
        forbidden: &[".ends(", ".is_uniform(", ".installed_circuits("],
    },
    Checker {
        engine: "moe",
        // A solver of programs, which the checker states for itself.
        crates: &["lightbay_highs"],
        forbidden: &[".of_rate(", ".eps_gbps(", ".numa(", ".stage_layers(", ".replicas(", ".copies("],
    },
    // Tables by hash, nothing that solves.
    Checker {
        engine: "collective",
        crates: &["rustc_hash"],
        forbidden: &[".topology()", ".idle()", ".set("],
    },
];

/// Returns the first path segment after every occurrence of `prefix`.
fn named_after<'a>(line: &'a str, prefix: &str) -> Vec<&'a str> {
    let end = |rest: &str| rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    line.match_indices(prefix)
        .map(|(at, _)| &line[at + prefix.len()..])
        .map(|rest| &rest[..end(rest)])
        .collect()
}

#[test]
fn checkers_use_none_of_the_solving_code() {
    let sources = sources();
    let mut wrong = Vec::new();
    let mut read: BTreeMap<String, usize> = BTreeMap::new();
    for (path, content) in sources.iter().filter(|(path, _)| !is_test(path)) {
        let words: Vec<_> = path.iter().map(|word| word.to_string_lossy()).collect();
        let ["engines", engine, "src", first, ..] =
            words.iter().map(AsRef::as_ref).collect::<Vec<&str>>()[..]
        else {
            continue;
        };
        if first != "check" && first != "check.rs" {
            continue;
        }
        *read.entry(engine.to_owned()).or_default() += 1;
        let own = CHECKERS.iter().find(|checker| checker.engine == engine);
        // Climbing out of the folder would get around what may be named.
        let outside = "super::".repeat(words.len() - 3);
        for line in code(content) {
            let mut slip = |what: String| wrong.push(format!("{} {what}", path.display()));
            for module in named_after(line, "crate::") {
                if !["check", "scenario", "plan"].contains(&module) {
                    slip(format!("uses crate::{module}"));
                }
            }
            // Presets are made by the algorithms that the checker is to judge.
            if named_after(line, "scenario::").contains(&"presets") {
                slip("uses crate::scenario::presets".to_owned());
            }
            if let Some(name) = named_after(line, "use ").first().filter(|_| line.starts_with("use ")) {
                let local =
                    ["crate", "super", "self"].contains(name) || content.contains(&format!("mod {name};"));
                let shared = ["std", "lightbay_core"].contains(name);
                if !local && !shared && !own.is_some_and(|own| own.crates.contains(name)) {
                    slip(format!("has '{line}'"));
                }
            }
            if line.contains(&outside) {
                slip("leaves the checker".to_owned());
            }
            for method in own.map_or(&[][..], |own| own.forbidden) {
                if line.contains(method) {
                    slip(format!("calls {method}"));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(read.values().all(|files| *files > 5), "{read:?}");
    assert!(CHECKERS.iter().all(|checker| read.contains_key(checker.engine)), "{read:?}");
}

/// Returns the top-level modules of one engine, each with the top-level modules that its code names.
fn rooms(engine: &str) -> BTreeMap<String, BTreeSet<String>> {
    let folder = Path::new("engines").join(engine).join("src");
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, content) in sources().iter().filter(|(path, _)| path.starts_with(&folder) && !is_test(path)) {
        let inside = path.strip_prefix(&folder).unwrap();
        let room = inside.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_owned();
        let named = code(content).flat_map(|line| named_after(line, "crate::"));
        // Types that the crate itself names, such as its kind, belong to no room.
        let others = named.filter(|name| name.starts_with(char::is_lowercase) && *name != room);
        rooms.entry(room.clone()).or_default().extend(others.map(str::to_owned));
    }
    rooms.remove("lib");
    rooms
}

#[test]
fn rooms_of_an_engine_form_no_circle_of_imports() {
    let mut wrong = Vec::new();
    for checker in CHECKERS {
        let mut open = rooms(checker.engine);
        assert!(open.len() > 8, "{}: {open:?}", checker.engine);
        let known: BTreeSet<String> = open.keys().cloned().collect();
        let unknown: Vec<&String> = open.values().flatten().filter(|room| !known.contains(*room)).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?} are no rooms", checker.engine);
        // Rooms that name no open room are closed, until none are left or the rest waits for itself.
        while let Some(closed) = open
            .iter()
            .find(|(_, named)| named.iter().all(|room| !open.contains_key(room)))
            .map(|(room, _)| room.clone())
        {
            open.remove(&closed);
        }
        if !open.is_empty() {
            wrong.push(format!("{}: {open:?}", checker.engine));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Type names that three or more modules may define: parts of data structures whose name is used together with the
/// module, arguments of commands, and types that every checker defines for itself.
const COMMON_NAMES: [&str; 22] = [
    "Arguments",
    "Builder",
    "Cell",
    "Column",
    "Columns",
    "Command",
    "End",
    "Entry",
    "Event",
    "Input",
    "Key",
    "Lane",
    "Line",
    "Matrix",
    "Node",
    "Part",
    "Piece",
    "Point",
    "Row",
    "State",
    "Step",
    "Tree",
];

/// Returns the name of the type that a line defines.
fn defined(line: &str) -> Option<&str> {
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let line = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    });
    let mut words = line.split_whitespace();
    let definition = ["struct", "enum", "trait", "type"].contains(&words.next()?);
    let name = words.next().filter(|_| definition)?;
    Some(&name[..name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len())])
}

/// Returns the type names in the source files of the folders, each with the files that define it.
fn type_names(folders: &[PathBuf]) -> BTreeMap<String, Vec<String>> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, content) in sources().iter().filter(|(path, _)| !is_test(path)) {
        if !folders.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        // Indented definitions are associated types, or local to a function or a test.
        for name in content.lines().filter_map(defined) {
            places.entry(name.to_owned()).or_default().push(path.display().to_string());
        }
    }
    places
}

#[test]
fn a_type_name_means_one_thing() {
    let engines = ["core", "highs", "formats", "training", "tpu", "crossconnect", "moe", "collective"]
        .map(|name| Path::new("engines").join(name).join("src"));
    let others = ["src", "widgets/src", "sessions/src", "engines/src"].map(PathBuf::from);
    let places = type_names(&[&engines[..], &others[..]].concat());
    assert!(places.len() > 900, "the types were not found");
    let many = |name: &str| places.get(name).is_some_and(|places| places.len() > 2);
    let wrong: Vec<_> =
        places.iter().filter(|(name, _)| many(name) && !COMMON_NAMES.contains(&name.as_str())).collect();
    assert!(wrong.is_empty(), "one name in three modules or more: {wrong:#?}");
    let unused: Vec<_> = COMMON_NAMES.iter().filter(|name| !many(name)).collect();
    assert!(unused.is_empty(), "no longer common: {unused:?}");
}

#[test]
fn only_sessions_write_files() {
    let mut wrong = Vec::new();
    for (path, content) in sources().iter().filter(|(path, _)| path.starts_with("src") && !is_test(path)) {
        for line in code(content) {
            let by_sessions = line.contains("LineFile::create");
            if !by_sessions && ["fs::write(", "File::create"].iter().any(|word| line.contains(word)) {
                wrong.push(format!("{} writes a file by itself", path.display()));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// The file with the list of kinds.
const KINDS: &str = "engines/src/kinds.rs";

/// Files outside the modules of a kind that may name kinds, with the reason.
const NAMING_KINDS: [(&str, &str); 3] = [
    (KINDS, "the list of kinds"),
    ("engines/src/formats/laid.rs", "formats of switches for plans of any kind whose circuits have places"),
    ("src/view/present.rs", "the list of the screens that kinds draw themselves"),
];

/// The names of a kind in the list of kinds.
struct KindName {
    /// Name of the variant of `AnyScenario` and `AnyPlan`.
    variant: String,
    /// Name in files, which is also the name of the module.
    name: String,
}

/// Reads the kinds from the list of kinds, in which each kind is a line such as `Tpu = lightbay_tpu as tpu;`.
fn kinds() -> Vec<KindName> {
    let list = fs::read_to_string(root().join(KINDS)).unwrap();
    let of = |line: &str| {
        let (variant, rest) = line.trim().split_once(" = lightbay_")?;
        let (_, name) = rest.strip_suffix(';')?.split_once(" as ")?;
        Some(KindName { variant: variant.to_owned(), name: name.to_owned() })
    };
    list.lines().filter_map(of).collect()
}

/// Returns `true` if `line` contains `word`, and the character before `word` cannot belong to a name.
fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(part))
}

/// Returns `true` if a line of code contains the crate, the module, the variant or the name in files of a kind.
fn names_kind(line: &str, kind: &KindName) -> bool {
    let KindName { variant, name } = kind;
    [format!("lightbay_{name}"), format!("{name}::"), format!("mod {name};")]
        .iter()
        .any(|word| has_word(line, word))
        || line.contains(&format!("\"{name}\""))
        || ["AnyScenario", "AnyPlan", "AnyDraft"]
            .iter()
            .any(|any| line.contains(&format!("{any}::{variant}")))
}

#[test]
fn only_the_list_and_the_rooms_of_a_kind_name_it() {
    let kinds = kinds();
    let engines: BTreeSet<&str> = CHECKERS.iter().map(|checker| checker.engine).collect();
    assert_eq!(kinds.iter().map(|kind| kind.name.as_str()).collect::<BTreeSet<_>>(), engines);
    let mut wrong = BTreeSet::new();
    let mut excused = BTreeSet::new();
    for (path, content) in sources().iter().filter(|(path, _)| !is_test(path)) {
        let shown = path.display().to_string();
        for kind in &kinds {
            let own = [format!("engines/{}/", kind.name), format!("src/view/present/{}", kind.name)];
            if own.iter().any(|room| shown.starts_with(room)) {
                continue;
            }
            // The crate of an engine may speak of another kind, but never name its crate.
            // So may readers and writers of files, which have words of their own for collectives and experts.
            let below = engines.iter().copied().chain(["formats"]);
            let engine = below.into_iter().any(|engine| shown.starts_with(&format!("engines/{engine}/")));
            let found = if engine {
                code(content).any(|line| line.contains(&format!("lightbay_{}", kind.name)))
            } else {
                code(content).any(|line| names_kind(line, kind))
            };
            if !found {
                continue;
            }
            if let Some((file, _)) = NAMING_KINDS.iter().find(|(file, _)| *file == shown) {
                excused.insert(*file);
            } else {
                wrong.insert(format!("{shown} names {}", kind.name));
            }
        }
    }
    assert_eq!(wrong, BTreeSet::new());
    let idle = NAMING_KINDS.iter().filter(|(file, _)| !excused.contains(file));
    assert_eq!(idle.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new(), "exceptions that nothing needs");
}

#[test]
fn words_that_only_hold_the_name_of_a_kind_name_none() {
    let kind = KindName { variant: "Tpu".to_owned(), name: "tpu".to_owned() };
    for line in
        ["use lightbay_engines::tpu::pod;", "use lightbay_tpu::Tpu;", "if kind == \"tpu\" {", "mod tpu;"]
    {
        assert!(names_kind(line, &kind), "{line}");
    }
    assert!(names_kind("AnyPlan::Tpu(plan) => {", &kind));
    for line in ["let output::Kind = other;", "not_tpu::call()", "preset(\"tpu-128\")", "the tpu pods"] {
        assert!(!names_kind(line, &kind), "{line}");
    }
}
