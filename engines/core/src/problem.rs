//! Problems of an input. All problems are reported together, each with its place, the value, and what would be valid.

use std::borrow::Cow;
use std::fmt;

/// A problem of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Place of the problem: a path of keys (`job.run.tp`, `tasks[3].flows`), a line (`line 12, column 4`), or empty
    /// for the whole input.
    pub path: String,
    /// Statement of the problem, with the value, in one sentence without a full stop.
    pub message: String,
    /// Remedy: a valid value or an action; empty if the message contains it.
    pub remedy: String,
}

impl Problem {
    /// Creates a problem at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), remedy: remedy.into() }
    }

    /// Prefixes the path of the problem with the key of an outer level.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        if self.path.is_empty() {
            self.path = prefix.to_owned();
        } else if self.path.starts_with('[') {
            self.path = format!("{prefix}{}", self.path);
        } else if !prefix.is_empty() {
            self.path = format!("{prefix}.{}", self.path);
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Paths and messages may contain names and values from a file, which can be of any length.
        if !self.path.is_empty() {
            write!(f, "{}: ", printable(&shortened(&self.path, SHOWN)))?;
        }
        f.write_str(&printable(&shortened(&self.message, SHOWN)))?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", printable(&shortened(&self.remedy, SHOWN)))?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// The problems of one input, with the name of the input. Stores the first [`Problems::CAP`] problems and counts the
/// others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    /// The name of the input as the user wrote it (a path, `-`, `preset:NAME`); may be empty.
    pub source: String,
    list: Vec<Problem>,
    total: usize,
}

impl Problems {
    /// Maximum number of problems of one input that are stored and shown.
    pub const CAP: usize = 20;

    /// Creates an empty list for an unnamed input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty list for the input called `source`.
    pub fn of(source: impl Into<String>) -> Self {
        Self { source: source.into(), ..Self::default() }
    }

    /// Creates a list with a single problem.
    pub fn one(problem: Problem) -> Self {
        let mut problems = Self::new();
        problems.push(problem);
        problems
    }

    /// Sets the name of the input to which the problems belong.
    #[must_use]
    pub fn named(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Adds a problem.
    pub fn push(&mut self, problem: Problem) {
        self.total += 1;
        if self.list.len() < Self::CAP {
            self.list.push(problem);
        }
    }

    /// Adds a problem with this path, message and remedy.
    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) {
        self.push(Problem::new(path, message, remedy));
    }

    /// Adds all problems of another list.
    pub fn extend(&mut self, other: Self) {
        let unseen = other.total - other.list.len();
        for problem in other.list {
            self.push(problem);
        }
        self.total += unseen;
    }

    /// Returns the problems that are stored.
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// Returns the number of problems found, including those beyond the cap.
    pub const fn total(&self) -> usize {
        self.total
    }

    /// Returns `true` if there are no problems.
    pub const fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns `Ok(value)` if there are no problems, otherwise the problems.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self::one(problem)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.list.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            if !self.source.is_empty() {
                write!(f, "{}: ", printable(&self.source))?;
            }
            write!(f, "{problem}")?;
        }
        let unseen = self.total - self.list.len();
        if unseen > 0 {
            write!(f, "\nand {unseen} more")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Returns `true` if a character changes the behaviour of a terminal or the appearance of the text around it: control
/// characters, bidirectional overrides, separators of lines, and characters without width.
pub const fn is_deceptive(sign: char) -> bool {
    matches!(
        sign,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    )
}

/// Makes a text from an input safe for a terminal: the characters of [`is_deceptive`], such as those of escape
/// sequences, become `\u{..}`.
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_deceptive(c) {
            safe.extend(c.escape_unicode());
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Maximum number of characters of a path, message or remedy that are shown.
const SHOWN: usize = 2000;

/// Returns the text if it has at most `most` characters; otherwise its beginning and end, with the number of omitted
/// characters between them.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let count = text.chars().count();
    if count <= most {
        return Cow::Borrowed(text);
    }
    let head = most * 3 / 4;
    let tail = most - head;
    let byte = |sign: usize| text.char_indices().nth(sign).map_or(text.len(), |(at, _)| at);
    Cow::Owned(format!(
        "{}… ({} more characters) …{}",
        &text[..byte(head)],
        count - most,
        &text[byte(count - tail)..]
    ))
}

/// Maximum length in bytes of a word that is compared with valid names, because the comparison takes time proportional
/// to the product of both lengths.
const LONGEST_WORD: usize = 200;

/// Returns the candidate most similar to `word`, if it is similar enough to be a likely typing error.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST_WORD {
        return None;
    }
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST_WORD)
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().max(word.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Formats a number with its noun: `1 port`, `3 ports`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Maximum number of items of a list in a sentence.
const MOST_LISTED: usize = 8;

/// Formats a list for a sentence: the first items, at most eight, then the number of remaining items.
pub fn few(items: &[String]) -> String {
    match items.split_at_checked(MOST_LISTED) {
        Some((first, rest)) if !rest.is_empty() => format!("{} and {} more", first.join(", "), rest.len()),
        _ => items.join(", "),
    }
}

/// Returns a suggestion for an unknown name: `did you mean 'x'?` or the valid names.
pub fn suggestion(word: &str, candidates: &[&str]) -> String {
    match nearest(word, candidates.iter().copied()) {
        Some(near) => format!("did you mean '{near}'?"),
        None if candidates.is_empty() => "leave it out".to_owned(),
        None if candidates.len() == 1 => format!("use {}", candidates[0]),
        None => format!("use one of {}", candidates.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_twenty_and_counts_the_rest() {
        let mut problems = Problems::of("a.json");
        for i in 0..25 {
            problems.add(format!("tasks[{i}]"), "is wrong", "mend it");
        }
        assert_eq!(problems.list().len(), 20);
        assert_eq!(problems.total(), 25);
        let text = problems.to_string();
        assert!(text.starts_with("a.json: tasks[0]: is wrong; mend it\n"));
        assert!(text.ends_with("and 5 more"));
    }

    #[test]
    fn lists_name_eight_items_and_count_the_rest() {
        let items = |count: u32| (0..count).map(|item| item.to_string()).collect::<Vec<_>>();
        assert_eq!(few(&items(2)), "0, 1");
        assert_eq!(few(&items(8)), "0, 1, 2, 3, 4, 5, 6, 7");
        assert_eq!(few(&items(10)), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
    }

    #[test]
    fn escape_sequences_are_shown_not_sent() {
        let shown = Problem::new("name", "'\u{1b}[2J' is not a name", "").to_string();
        assert_eq!(shown, "name: '\\u{1b}[2J' is not a name");
    }

    #[test]
    fn suggests_only_what_is_near() {
        assert_eq!(nearest("bandwith_gbps", ["bandwidth_gbps", "seq"]), Some("bandwidth_gbps"));
        assert_eq!(nearest("zzzzzz", ["seq", "mfu"]), None);
    }

    #[test]
    fn long_words_are_neither_compared_nor_repeated() {
        let word = "x".repeat(10_000_000);
        assert_eq!(suggestion(&word, &["seq"]), "use seq");
        let shown = Problem::new(&word, format!("is '{word}'"), &word).to_string();
        assert!(shown.len() < 7000, "{}", shown.len());
        assert!(shown.contains("(9998005 more characters)"));
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüäöüäö", 4), "äöü… (4 more characters) …ö");
    }

    #[test]
    fn one_is_singular() {
        let ports = [0, 1, 2].map(|count| counted(count, "port", "ports"));
        assert_eq!(ports, ["0 ports", "1 port", "2 ports"]);
    }

    #[test]
    fn paths_nest() {
        assert_eq!(Problem::new("[2].x", "", "").under("tasks").path, "tasks[2].x");
        assert_eq!(Problem::new("x", "", "").under("job").path, "job.x");
    }
}
