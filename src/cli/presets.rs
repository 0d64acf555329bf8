//! `lightbay presets`: built-in scenarios by kind.

use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use super::table::TextTable;
use clap::Args;
use lightbay_engines::{kinds, presets};
use serde_json::json;
use std::io::Write as _;

/// Arguments of `presets`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Print one JSON object: {"schema", "presets": [{"kind", "name", "help"}]}
    #[arg(long)]
    json: bool,
}

/// Lists the presets.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    if arguments.json {
        let presets: Vec<_> = presets()
            .iter()
            .map(|preset| json!({ "kind": preset.kind, "name": preset.name, "help": preset.help }))
            .collect();
        console.write_json(&json!({ "schema": "lightbay.presets/1", "presets": presets }))?;
        return Ok(Exit::Done);
    }
    for kind in kinds() {
        writeln!(console.out(), "{}: {}", kind.name, kind.help)?;
        let mut table = TextTable::new(&["", ""]);
        for preset in presets().iter().filter(|preset| preset.kind == kind.name) {
            table.row([format!("  preset:{}", preset.name), preset.help.to_owned()]);
        }
        write!(console.out(), "{table}")?;
    }
    Ok(Exit::Done)
}
