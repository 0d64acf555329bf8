//! `lightbay completions`: completions for a shell.

use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use clap::Args;
use clap_complete::Shell;
use std::io::Write as _;

const EXAMPLES: &str = "\
Examples:
  lightbay completions bash > ~/.local/share/bash-completion/completions/lightbay
  lightbay completions zsh > \"${fpath[1]}/_lightbay\"
  lightbay completions fish > ~/.config/fish/completions/lightbay.fish";

/// Arguments of `completions`.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

/// Writes the completions.
pub fn run(
    arguments: &Arguments,
    mut command: clap::Command,
    console: &mut Console,
) -> Result<Exit, Failure> {
    // The generator panics if its writer fails, and a reader may close the pipe at any time, so the text is generated
    // in memory first.
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "lightbay", &mut text);
    console.out().write_all(&text)?;
    Ok(Exit::Done)
}
