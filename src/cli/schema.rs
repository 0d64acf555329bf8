//! `lightbay schema`: JSON Schemas of the files that lightbay reads and writes, of the configuration file, and of the objects that commands print.

use super::complete;
use super::config;
use super::console::Console;
use super::documents;
use super::exit::Exit;
use super::failure::Failure;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::problem::{printable, suggestion};
use lightbay_engines::{SchemaOf, schema};
use std::io::Write as _;

/// Arguments of `schema`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  lightbay schema scenario > scenario.schema.json\n  lightbay schema check      the object of `lightbay check --json`\n  lightbay schema"
)]
pub struct Arguments {
    /// Schema to print: scenario, plan, event, config.toml, or the command whose JSON object is described [default: list all]
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::schema))]
    name: Option<String>,
}

/// Name of the schema of the configuration file.
pub const CONFIG: &str = "config.toml";

/// Returns the name of a schema, as in its file name.
fn name_of(which: SchemaOf) -> &'static str {
    which.file_name().trim_end_matches(".json")
}

/// Prints a schema, or lists all.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let files = SchemaOf::ALL.map(name_of);
    let names: Vec<&str> = files.iter().chain(&[CONFIG]).chain(documents::NAMES).copied().collect();
    let Some(name) = &arguments.name else {
        for name in names {
            writeln!(console.out(), "{name}")?;
        }
        return Ok(Exit::Done);
    };
    let of_file = SchemaOf::ALL.into_iter().find(|which| name_of(*which) == name).map(schema);
    let of_config = || (name == CONFIG).then(config::schema);
    let Some(found) = of_file.or_else(of_config).or_else(|| documents::schema(name)) else {
        let message = format!("there is no schema '{}'", printable(name));
        return Err(Failure::input("", message, suggestion(name, &names)));
    };
    console.write_json(&found)?;
    Ok(Exit::Done)
}
