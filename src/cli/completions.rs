//! `lightbay completions`: completions for a shell.

use super::complete::VARIABLE;
use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;
use std::io::Write as _;

const EXAMPLES: &str = "\
Examples:
  lightbay completions bash > ~/.local/share/bash-completion/completions/lightbay
  lightbay completions zsh > \"${fpath[1]}/_lightbay\"
  lightbay completions fish > ~/.config/fish/completions/lightbay.fish";

/// The script of bash. Bash breaks words at `:` and `=`, so that `preset:tiny4` and `seq=4096` arrive as three words; the
/// script therefore reads the words from the line, and removes the part up to the last break from the candidates.
const BASH: &str = r#"_lightbay() {
    local line="${COMP_LINE:0:COMP_POINT}" words=() current IFS=$' \t\n'
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current="${words[-1]}"
    COMPREPLY=()
    IFS=$'\013'
    COMPREPLY=( $(VARIABLE=bash _CLAP_IFS="$IFS" _CLAP_COMPLETE_INDEX=$((${#words[@]} - 1)) _CLAP_COMPLETE_COMP_TYPE=9 \
        _CLAP_COMPLETE_SPACE=true lightbay -- "${words[@]}" 2> /dev/null) )
    if [[ $current == *[:=]* && $COMP_WORDBREAKS == *:* ]]; then
        local before="${current%"${current##*[:=]}"}"
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    fi
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/:] ]] && compopt -o nospace
}
complete -o bashdefault -F _lightbay lightbay
"#;

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
    if arguments.shell == Shell::Bash {
        console.out().write_all(BASH.replace("VARIABLE", VARIABLE).as_bytes())?;
    } else {
        shell.write_registration(VARIABLE, "lightbay", "lightbay", "lightbay", console.out())?;
    }
    Ok(Exit::Done)
}
