//! `lightbay schema`: JSON Schemas of the files that lightbay reads and writes.

use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use clap::Args;
use lightbay_core::problem::{printable, suggestion};
use lightbay_engines::{SchemaOf, schema};
use std::io::Write as _;

/// Arguments of `schema`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  lightbay schema scenario > scenario.schema.json\n  lightbay schema"
)]
pub struct Arguments {
    /// Schema to print: scenario, plan or event [default: list all]
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

/// Returns the name of a schema, as in its file name.
fn name_of(which: SchemaOf) -> &'static str {
    which.file_name().trim_end_matches(".json")
}

/// Prints a schema, or lists all.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let Some(name) = &arguments.name else {
        for which in SchemaOf::ALL {
            writeln!(console.out(), "{}", name_of(which))?;
        }
        return Ok(Exit::Done);
    };
    let Some(which) = SchemaOf::ALL.into_iter().find(|which| name_of(*which) == name) else {
        let names = SchemaOf::ALL.map(name_of);
        let message = format!("there is no schema '{}'", printable(name));
        return Err(Failure::input("", message, suggestion(name, &names)));
    };
    console.write_json(&schema(which))?;
    Ok(Exit::Done)
}
