//! Lists the files of a folder with a few words about the content of each.

use crate::app::listing::ListedFile;
use lightbay_core::problem::printable;
use lightbay_core::quantity::file_size;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Maximum number of files that are listed.
const MOST: usize = 500;

/// Number of files whose content is looked at; the others show their size.
const LOOKED_AT: usize = 100;

/// Number of bytes that are read of a file: name and kind are at its beginning.
const HEAD: u64 = 4096;

/// Returns the files and folders of a folder by name, folders first, without hidden ones; none if it cannot be read.
pub fn entries(folder: &Path) -> Vec<ListedFile> {
    let Ok(all) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<(bool, String)> = all
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            // A link counts as what it points to.
            let is_file = !std::fs::metadata(entry.path()).ok()?.is_dir();
            (!name.starts_with('.') && !name.contains(char::is_control)).then_some((is_file, name))
        })
        .collect();
    found.sort();
    found.truncate(MOST);
    found
        .into_iter()
        .enumerate()
        .map(|(index, (is_file, name))| {
            if !is_file {
                return ListedFile { name: format!("{name}/"), about: "folder".to_owned() };
            }
            let about = if index < LOOKED_AT { about(&folder.join(&name)) } else { String::new() };
            ListedFile { name, about }
        })
        .collect()
}

/// Describes a file: `scenario training tiny4, 3120 bytes`; another file by its size.
fn about(path: &Path) -> String {
    let Ok(metadata) = std::fs::metadata(path) else { return String::new() };
    if !metadata.is_file() {
        return "not a file".to_owned();
    }
    let size = file_size(metadata.len());
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    if read.is_err() {
        return "cannot be read".to_owned();
    }
    let head = String::from_utf8_lossy(&head);
    // A plan contains its scenario, so the document is what its head names first.
    let place = |what: &str| head.find(&format!("lightbay.{what}/"));
    let what =
        ["scenario", "plan"].into_iter().filter(|what| place(what).is_some()).min_by_key(|what| place(what));
    match what {
        Some(what) => {
            let words: Vec<String> = ["kind", "name"].iter().filter_map(|key| value_of(&head, key)).collect();
            format!("{what} {}, {size}", printable(&words.join(" ")))
        }
        None => size,
    }
}

/// Returns the first text that a JSON file has under a key.
fn value_of(json: &str, key: &str) -> Option<String> {
    let (_, after) = json.split_once(&format!("\"{key}\""))?;
    let (value, _) = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?.split_once('"')?;
    Some(value.chars().take(60).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_first_and_files_say_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("zoo")).unwrap();
        let scenario = r#"{ "schema": "lightbay.scenario/1", "kind": "training", "name": "tiny4" }"#;
        std::fs::write(folder.path().join("a.json"), scenario).unwrap();
        let plan = r#"{ "schema": "lightbay.plan/1", "kind": "training", "name": "t4", "scenario": "#;
        std::fs::write(folder.path().join("p.json"), format!("{plan}{scenario} }}")).unwrap();
        std::fs::write(folder.path().join("b.csv"), "x".repeat(2500)).unwrap();
        std::fs::write(folder.path().join(".hidden"), "").unwrap();
        let listed: Vec<(String, String)> =
            entries(folder.path()).into_iter().map(|entry| (entry.name, entry.about)).collect();
        let expected = [
            ("zoo/", "folder"),
            ("a.json", "scenario training tiny4, 72 bytes"),
            ("b.csv", "2500 bytes"),
            ("p.json", "plan training t4, 151 bytes"),
        ];
        assert_eq!(listed, expected.map(|(name, about)| (name.to_owned(), about.to_owned())));
        assert!(entries(Path::new("/nowhere/at/all")).is_empty());
    }
}
