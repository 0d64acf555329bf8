//! `lightbay explain`: explains terms and figures of the program.

use super::complete;
use super::console::Console;
use super::documents::{GlossaryDocument, GlossaryWord};
use super::exit::Exit;
use super::failure::Failure;
use super::table::TextTable;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::problem::printable;
use lightbay_engines::glossary::{GlossaryEntry, entries, explain, lines};
use std::io::Write as _;

/// Arguments of `explain`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  lightbay explain NCT\n  lightbay explain virtual channel\n  lightbay explain"
)]
pub struct Arguments {
    /// Term, such as NCT or `virtual channel` [default: list all terms]
    #[arg(value_name = "WORD", add = ArgValueCompleter::new(complete::term))]
    words: Vec<String>,

    /// Print one JSON object: {"schema", "words": [{"word", "name", "also", "kind", "sentence", "formula", "source"}]}
    #[arg(long)]
    json: bool,
}

/// Explains a term, or lists all.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let word = arguments.words.join(" ");
    let meant = if word.is_empty() {
        entries()
    } else {
        explain(&word).map_err(|near| {
            Failure::input("", format!("the glossary has no term '{}'", printable(&word)), near)
        })?
    };
    if arguments.json {
        console.write_document(&GlossaryDocument { words: meant.into_iter().map(word_entry).collect() })?;
    } else if word.is_empty() {
        let mut table = TextTable::new(&["word", "kind", "name in files"]);
        for entry in &meant {
            let cell = |text: Option<&'static str>| text.unwrap_or_default().to_owned();
            table.row([entry.word.clone(), cell(entry.kind), cell(entry.name)]);
        }
        write!(console.out(), "{table}")?;
    } else {
        for (index, entry) in meant.iter().enumerate() {
            let gap = if index > 0 { "\n" } else { "" };
            writeln!(console.out(), "{gap}{}", lines(entry).join("\n  "))?;
        }
    }
    Ok(Exit::Done)
}

fn word_entry(entry: GlossaryEntry) -> GlossaryWord {
    let GlossaryEntry { word, name, also, kind, sentence, formula, source } = entry;
    GlossaryWord { word, name, also, kind, sentence, formula, source }
}
