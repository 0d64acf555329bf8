//! `lightbay keys`: the table of actions of the workbench, with the keys in force.

use super::config::Config;
use super::console::Console;
use super::documents::{KeysDocument, KeysEntry};
use super::exit::Exit;
use super::failure::Failure;
use super::table::TextTable;
use crate::app::table::{ActionInfo, TableGroup, TablePlace, all};
use clap::Args;
use std::collections::BTreeSet;
use std::io::Write as _;

/// Arguments of `keys`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  lightbay keys\n  lightbay keys --json | jq -r .actions[].name")]
pub struct Arguments {
    /// Print one JSON object: {"schema", "actions": [{"name", "keys", "default", "group", "place", "help"}]}
    #[arg(long)]
    json: bool,
}

/// Lists the actions.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let (keymap, problems) = Config::load_and_warn(console).keymap();
    // The problems come first on standard error, so that the table is read with them in mind.
    for problem in problems.list() {
        console.say(&format!("{}: {problem}", problems.source));
    }
    if arguments.json {
        let entry = |(index, action): (usize, &ActionInfo)| KeysEntry {
            name: action.name,
            keys: keymap.keys(index).to_vec(),
            default: action.keys,
            group: action.group.title(),
            place: place(action),
            help: keymap.in_words(action.help).into_owned(),
        };
        console.write_document(&KeysDocument { actions: all().iter().enumerate().map(entry).collect() })?;
        return Ok(Exit::Done);
    }
    let groups: BTreeSet<TableGroup> = all().iter().map(|action| action.group).collect();
    for group in groups {
        let mut table = TextTable::new(&["", "", ""]);
        for (index, action) in all().iter().enumerate().filter(|(_, action)| action.group == group) {
            let keys = keymap.listed(index);
            let keys = if keys.is_empty() { "-".to_owned() } else { keys };
            let help = keymap.in_words(action.help).into_owned();
            table.row([format!("  {keys:<16}"), action.name.to_owned(), help]);
        }
        writeln!(console.out(), "{}\n{table}", group.title())?;
    }
    writeln!(
        console.out(),
        "C- is Ctrl, A- is Alt, S- is Shift; press keys separated by a space one after the other.\n\
         [keys] in the configuration file changes the keys; `lightbay config default` prints the section."
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
