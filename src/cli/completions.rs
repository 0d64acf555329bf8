//! `lightbay completions`: completions for a shell.

use super::complete::VARIABLE;
use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;

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

/// Writes the script of the shell, which calls the program for every completion.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let shells = Shells::builtins();
    let name = arguments.shell.to_string();
    let shell = shells.completer(&name).ok_or_else(|| {
        Failure::input(
            "",
            format!("completions for {name} do not exist"),
            "use bash, zsh, fish, elvish or powershell",
        )
    })?;
    shell.write_registration(VARIABLE, "lightbay", "lightbay", "lightbay", console.out())?;
    Ok(Exit::Done)
}
