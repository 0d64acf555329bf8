//! Terms and figures of all kinds, explained: the text of `lightbay explain`, the workbench and `docs/glossary.md`.

use crate::catalogue::{kinds, metrics};
use lightbay_core::kind::Kind;
use lightbay_core::problem::nearest;
use lightbay_core::term::{self, Term};
use std::fmt::Write as _;

/// An entry of the glossary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlossaryEntry {
    /// The term, as displayed.
    pub word: String,
    /// Name in files, if the entry is a figure.
    pub name: Option<&'static str>,
    /// Synonyms of the term.
    pub also: &'static [&'static str],
    /// Kind that uses the term; `None` for a term of all kinds.
    pub kind: Option<&'static str>,
    /// Definition, in one sentence.
    pub sentence: &'static str,
    /// Formula; empty for most entries.
    pub formula: &'static str,
    /// Source: paper and section; empty for common terms of the field.
    pub source: &'static str,
}

impl GlossaryEntry {
    fn of_term(term: &Term, kind: Option<&'static str>) -> Self {
        let Term { word, also, sentence, formula, source } = *term;
        Self { word: word.to_owned(), name: None, also, kind, sentence, formula, source }
    }

    fn of_figure(
        kind: &'static str,
        name: Option<&'static str>,
        label: &str,
        sentence: &'static str,
    ) -> Self {
        let word = label.to_owned();
        Self { word, name, also: &[], kind: Some(kind), sentence, formula: "", source: "" }
    }

    fn is_called(&self, word: &str) -> bool {
        let same = |known: &str| known.eq_ignore_ascii_case(word);
        same(&self.word) || self.name.is_some_and(same) || self.also.iter().any(|also| same(also))
    }
}

/// Returns the terms of one kind; none for an unknown kind.
pub fn terms(kind: &str) -> &'static [Term] {
    named_kind!(kind, K => K::TERMS, &[])
}

/// Returns every entry: terms of all kinds, then the terms of each kind with its objective and its figures.
pub fn entries() -> Vec<GlossaryEntry> {
    let mut entries: Vec<GlossaryEntry> =
        term::TERMS.iter().map(|term| GlossaryEntry::of_term(term, None)).collect();
    for kind in kinds() {
        let objective = kind.objective;
        entries.push(GlossaryEntry::of_figure(
            kind.name,
            Some(objective.name),
            objective.label,
            objective.definition,
        ));
        entries.extend(metrics(kind.name).iter().map(|info| {
            GlossaryEntry::of_figure(
                kind.name,
                info.is_carried().then_some(info.name),
                info.label,
                info.definition,
            )
        }));
        entries.extend(terms(kind.name).iter().map(|term| GlossaryEntry::of_term(term, Some(kind.name))));
    }
    entries
}

/// Returns the entries for a term: one, or one for each kind that uses it.
///
/// # Errors
/// The term is unknown; the error names the nearest known terms.
pub fn explain(word: &str) -> Result<Vec<GlossaryEntry>, String> {
    let word = word.trim();
    let all = entries();
    let meant: Vec<GlossaryEntry> = all.iter().filter(|entry| entry.is_called(word)).cloned().collect();
    if !meant.is_empty() {
        return Ok(meant);
    }
    let words: Vec<&str> = all
        .iter()
        .flat_map(|entry| std::iter::once(entry.word.as_str()).chain(entry.also.iter().copied()))
        .collect();
    // The message does not list all terms, because the list would hide the suggestion.
    let near = nearest(word, words.iter().copied());
    Err(near.map_or_else(
        || "`lightbay explain` lists all terms".to_owned(),
        |near| format!("did you mean '{near}'?"),
    ))
}

/// Formats an entry as lines of text.
pub fn lines(entry: &GlossaryEntry) -> Vec<String> {
    let of = entry.kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    let mut lines = vec![format!("{}{of}", entry.word), entry.sentence.to_owned()];
    if !entry.formula.is_empty() {
        lines.push(format!("Formula: {}", entry.formula));
    }
    if let Some(name) = entry.name {
        lines.push(format!("In files: {name}"));
    }
    if !entry.also.is_empty() {
        lines.push(format!("Also called: {}", entry.also.join(", ")));
    }
    if !entry.source.is_empty() {
        lines.push(format!("Source: {}", entry.source));
    }
    lines
}

/// Formats the glossary as a Markdown document, with the terms of each kind in alphabetical order.
pub fn markdown() -> String {
    let mut text =
        "# Glossary\n\nTerms on screens, in files and in messages. `lightbay explain WORD` prints the same definitions.\n"
            .to_owned();
    let kinds: Vec<Option<&'static str>> =
        std::iter::once(None).chain(kinds().iter().map(|kind| Some(kind.name))).collect();
    let all = entries();
    for kind in kinds {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n## {}\n\n", kind.unwrap_or("All kinds"));
        let mut own: Vec<&GlossaryEntry> = all.iter().filter(|entry| entry.kind == kind).collect();
        own.sort_by_key(|entry| entry.word.to_lowercase());
        for entry in own {
            let name = entry.name.map_or_else(String::new, |name| format!(" (`{name}`)"));
            let _ = write!(text, "- **{}**{name}: {}", entry.word, entry.sentence);
            if !entry.formula.is_empty() {
                let _ = write!(text, " *{}*.", entry.formula);
            }
            if !entry.also.is_empty() {
                let _ = write!(text, " Also called: {}.", entry.also.join(", "));
            }
            if !entry.source.is_empty() {
                let _ = write!(text, " Source: {}.", entry.source);
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_figures_and_other_names_are_explained() {
        let one = |word: &str| explain(word).unwrap().remove(0);
        assert!(one("NCT").sentence.contains("1 is ideal"));
        assert_eq!(one("mcf_lower").word, "MCF");
        assert_eq!(one("helper process").word, "solver process");
        assert_eq!(explain("bound").unwrap().iter().filter(|entry| entry.kind.is_none()).count(), 1);
        assert!(explain("NCTS").unwrap_err().contains("NCT"));
    }

    #[test]
    fn every_word_is_a_sentence() {
        for entry in entries() {
            let sentence = entry.sentence;
            assert!(sentence.ends_with('.') && !sentence.ends_with(".."), "{}: {sentence}", entry.word);
            assert!(!sentence.contains("  "), "{}: {sentence}", entry.word);
        }
    }
}
