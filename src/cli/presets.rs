//! `lightbay presets`: built-in scenarios by kind.

use super::console::Console;
use super::documents::{PresetEntry, PresetsDocument};
use super::exit::Exit;
use super::failure::Failure;
use super::table::TextTable;
use clap::Args;
use lightbay_engines::{PresetInfo, kinds, presets};
use std::io::Write as _;

/// Arguments of `presets`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  lightbay presets\n  lightbay presets --json | jq -r .presets[].name"
)]
pub struct Arguments {
    /// Print one JSON object (`lightbay schema presets`)
    #[arg(long)]
    json: bool,
}

/// Lists the presets.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    if arguments.json {
        let entry = |preset: &PresetInfo| PresetEntry {
            kind: preset.kind.to_owned(),
            name: preset.name.to_owned(),
            help: preset.help.to_owned(),
        };
        console.write_document(&PresetsDocument { presets: presets().iter().map(entry).collect() })?;
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
