//! `lightbay man`: the manual page, made from the grammar.

use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use clap::Args;
use lightbay_core::problem::{printable, suggestion};
use std::io::Write as _;

/// Arguments of `man`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  lightbay man | man -l -\n  lightbay man sweep merge | man -l -")]
pub struct Arguments {
    /// Command whose page to write, such as `solve` or `sweep merge` [default: the whole program]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

/// Writes the page.
pub fn run(
    arguments: &Arguments,
    mut command: clap::Command,
    console: &mut Console,
) -> Result<Exit, Failure> {
    // Subcommands get the global options only when the grammar is built.
    command.build();
    let mut page = command;
    for name in &arguments.command {
        page = page.find_subcommand(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = page.get_subcommands().map(clap::Command::get_name).collect();
            Failure::input(
                "",
                format!("command '{}' does not exist", printable(name)),
                suggestion(name, &names),
            )
        })?;
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    console.out().write_all(&text)?;
    Ok(Exit::Done)
}
