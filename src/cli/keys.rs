//! `lightbay keys`: the table of actions of the workbench.

use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use super::table::TextTable;
use crate::app::table::{ActionInfo, TableGroup, TablePlace, all};
use clap::Args;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write as _;

/// Arguments of `keys`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  lightbay keys\n  lightbay keys --json | jq -r .actions[].name")]
pub struct Arguments {
    /// Print one JSON object: {"schema", "actions": [{"name", "keys", "group", "place", "help"}]}
    #[arg(long)]
    json: bool,
}

/// Lists the actions.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    if arguments.json {
        let actions: Vec<_> = all()
            .iter()
            .map(|action| {
                json!({
                    "name": action.name,
                    "keys": action.keys,
                    "group": action.group.title(),
                    "place": place(action),
                    "help": action.help,
                })
            })
            .collect();
        let document = json!({ "schema": "lightbay.keys/1", "actions": actions });
        console.write_json(&document)?;
        return Ok(Exit::Done);
    }
    let groups: BTreeSet<TableGroup> = all().iter().map(|action| action.group).collect();
    for group in groups {
        let mut table = TextTable::new(&["", "", ""]);
        for action in all().iter().filter(|action| action.group == group) {
            let keys = if action.keys.is_empty() { "-".to_owned() } else { action.keys.join(", ") };
            table.row([format!("  {keys:<16}"), action.name.to_owned(), action.help.to_owned()]);
        }
        writeln!(console.out(), "{}\n{table}", group.title())?;
    }
    writeln!(
        console.out(),
        "C- is Ctrl, A- is Alt, S- is Shift; press keys separated by a space one after the other."
    )?;
    Ok(Exit::Done)
}

fn place(action: &ActionInfo) -> String {
    match action.place {
        TablePlace::Anywhere => "anywhere".to_owned(),
        TablePlace::Workbench => "workbench".to_owned(),
        TablePlace::Layers(kinds) => {
            kinds.iter().map(|kind| format!("{kind:?}").to_lowercase()).collect::<Vec<_>>().join(", ")
        }
    }
}
