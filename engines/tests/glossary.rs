//! `docs/glossary.md` is the one that this version generates.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::Path;

/// Run with `LIGHTBAY_WRITE_GLOSSARY=1` to write it again.
#[test]
fn the_glossary_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/glossary.md");
    let current = lightbay_engines::glossary::markdown();
    if std::env::var_os("LIGHTBAY_WRITE_GLOSSARY").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &current).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == current, "docs/glossary.md is out of date; run with LIGHTBAY_WRITE_GLOSSARY=1");
}
