//! `lightbay man`: the manual page, made from the grammar.

use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use clap::Args;
use lightbay_core::problem::suggestion;
use std::io::Write as _;

/// Arguments of `man`.
#[derive(Args, Debug)]
#[command(after_long_help = "Example:\n  lightbay man | man -l -")]
pub struct Arguments {
    /// Command whose page to write [default: the whole program]
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Writes the page.
pub fn run(
    arguments: &Arguments,
    mut command: clap::Command,
    console: &mut Console,
) -> Result<Exit, Failure> {
    // Subcommands get the global options only when the grammar is built.
    command.build();
    let page = match &arguments.command {
        None => command,
        Some(name) => command.find_subcommand(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
            Failure::input("", format!("command '{name}' does not exist"), suggestion(name, &names))
        })?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    console.out().write_all(&text)?;
    Ok(Exit::Done)
}
