//! Imports files of other tools one by one, from the tests or from the folder that the environment variable names. Each
//! file is imported, or the message names its format and the next step.

use crate::support::Place;
use std::path::{Path, PathBuf};

/// Environment variable that names a folder with files of other tools.
const FOLDER: &str = "LIGHTBAY_FIELD_FILES";

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[test]
fn every_file_of_the_folder_is_read_or_named() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resources/inputs");
    let folder = std::env::var_os(FOLDER).map_or(own, PathBuf::from);
    let mut found = Vec::new();
    files(&folder, &mut found);
    found.sort();
    assert!(!found.is_empty());
    let place = Place::new();
    let mut unnamed = Vec::new();
    for file in &found {
        let name = file.to_str().unwrap();
        let ran = place.run(&["import", name, "-o", "made.json", "--force"]);
        if ran.code == Some(0) {
            continue;
        }
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.err);
        let twice = format!("{name}: {name}: ");
        if ran.err.contains("nor a format that lightbay knows") || ran.err.contains(&twice) {
            unnamed.push(format!("{name}: {}", ran.err.trim()));
        }
    }
    assert!(unnamed.is_empty(), "{}", unnamed.join("\n"));
}
