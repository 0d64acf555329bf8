//! The schemas under `engines/schemas` are the ones this version generates.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use lightbay_engines::{SchemaOf, schema};
use std::path::Path;

/// Run with `LIGHTBAY_WRITE_SCHEMAS=1` to write them anew.
#[test]
fn checked_in_schemas_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    for which in SchemaOf::ALL {
        let mut current = serde_json::to_string_pretty(&schema(which)).unwrap();
        current.push('\n');
        let path = folder.join(which.file_name());
        if std::env::var_os("LIGHTBAY_WRITE_SCHEMAS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &current).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(stored == current, "{} is out of date; run with LIGHTBAY_WRITE_SCHEMAS=1", path.display());
    }
}
