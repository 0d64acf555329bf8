//! Arguments of Megatron-LM with their lines: `--name value` in scripts, `name: value` in YAML.

use lightbay_core::problem::{Problems, printable};
use std::collections::BTreeMap;

/// Characters around words of a script that belong to the shell, or to a list in another language.
const SIGNS: [char; 7] = ['"', '\'', '\\', '(', ')', ';', ','];

/// Value of an argument at one place of the text.
#[derive(Clone, Copy)]
struct Given<'t> {
    /// Value; empty for flags.
    value: &'t str,
    /// Line, from 1.
    line: usize,
    /// Number of sections of YAML around the key; 0 in scripts.
    depth: usize,
    /// `true` for a key of YAML.
    key: bool,
}

/// Arguments by their names, with `_` between words.
pub(super) struct Arguments<'t> {
    given: BTreeMap<String, Vec<Given<'t>>>,
    pub(super) problems: Problems,
    pub(super) notes: Vec<String>,
}

/// Number of sections of YAML around a line, according to the indentation of the lines before.
#[derive(Default)]
struct Sections {
    indents: Vec<usize>,
}

impl Sections {
    fn enter(&mut self, indent: usize) -> usize {
        while self.indents.last().is_some_and(|last| *last >= indent) {
            self.indents.pop();
        }
        self.indents.push(indent);
        self.indents.len() - 1
    }
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-'))
}

/// Returns `false` for the values that switch a flag off.
fn is_on(value: &str) -> bool {
    !matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "0")
}

/// Removes the signs around a word. If the word assigns an argument to a variable, such as `ARGS="--swiglu`, also
/// removes the name of the variable.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(SIGNS);
    let Some((name, value)) = word.split_once('=') else { return word };
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_variable = !name.is_empty()
        && !name.starts_with(|sign: char| sign.is_ascii_digit())
        && name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_');
    let value = value.trim_matches(SIGNS);
    if is_variable && value.starts_with("--") { value } else { word }
}

impl<'t> Arguments<'t> {
    /// Reads `--name value`, `--name=value`, and `name: value` of YAML.
    pub(super) fn of(text: &'t str) -> Self {
        let mut read = Self { given: BTreeMap::new(), problems: Problems::new(), notes: Vec::new() };
        let mut sections = Sections::default();
        for (line, raw) in (1..).zip(text.lines()) {
            let content = raw.split(" #").next().unwrap_or_default().trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let indent = raw.len() - raw.trim_start().len();
            let is_key = !content.starts_with('-') || content.starts_with("- ");
            if let Some((name, value)) = content.split_once(':').filter(|(name, _)| is_key && is_word(name)) {
                let depth = sections.enter(indent);
                if value.starts_with(' ') && !matches!(value.trim(), "" | "null" | "~") {
                    let value = value.trim().trim_matches(['"', '\'']);
                    read.add(name, Given { value, line, depth, key: true });
                    continue;
                }
            } else if content.starts_with("- ") {
                sections.enter(indent);
            }
            let words: Vec<&str> = content.split_whitespace().map(bare).collect();
            for (at, word) in words.iter().enumerate() {
                let Some(name) = word.strip_prefix("--").filter(|name| !name.is_empty()) else { continue };
                let (name, value) = name.split_once('=').unwrap_or_else(|| {
                    let next = words.get(at + 1).copied().filter(|next| !next.starts_with("--"));
                    (name, next.unwrap_or_default())
                });
                read.add(name, Given { value: value.trim_matches(SIGNS), line, depth: 0, key: false });
            }
        }
        // A reference to another key repeats this key, so it counts only if nothing else gives the value.
        for all in read.given.values_mut() {
            let refers = |one: &Given<'_>| one.key && one.value.starts_with("${");
            if !all.iter().all(refers) {
                all.retain(|one| !refers(one));
            }
        }
        read
    }

    fn add(&mut self, name: &str, given: Given<'t>) {
        self.given.entry(name.replace('-', "_")).or_default().push(given);
    }

    /// Returns the value of an argument. In YAML, the key with the fewest sections around it counts, because inner
    /// sections describe other models; the others become a remark. Two values at the same depth are a problem.
    fn found(&mut self, name: &str, same: impl Fn(&str, &str) -> bool) -> Option<Given<'t>> {
        let all = self.given.get_mut(name)?;
        let first = *all.iter().min_by_key(|one| one.depth)?;
        let others: Vec<Given<'t>> =
            all.iter().filter(|one| !same(one.value, first.value)).copied().collect();
        // The next reading of this argument repeats neither the problem nor the remark.
        *all = vec![first];
        let told = |one: &Given<'_>| {
            let value = if one.value.is_empty() { "set".to_owned() } else { printable(one.value) };
            format!("{value} in line {}", one.line)
        };
        if let Some(other) = others.iter().find(|other| other.depth == first.depth) {
            let message = format!("is {} and {}", told(&first), told(other));
            self.problems.add(name, message, "keep the value that the run uses and remove the other");
        } else if let Some(inner) = others.first() {
            self.notes.push(format!(
                "{name} is {}; the import ignores {}, which belongs to an inner section",
                told(&first),
                told(inner)
            ));
        }
        Some(first)
    }

    /// Returns the first of the names that is given, with its value.
    pub(super) fn text(&mut self, names: &[&str]) -> Option<(String, String)> {
        names.iter().find_map(|name| {
            let found = self.found(name, |one, other| one == other)?;
            Some(((*name).to_owned(), found.value.to_owned()))
        })
    }

    /// Returns the value of a flag, which is `false` for the values `false`, `no` and `0`; `None` if it is not given.
    pub(super) fn switch(&mut self, name: &str) -> Option<bool> {
        self.found(name, |one, other| is_on(one) == is_on(other)).map(|found| is_on(found.value))
    }

    /// Returns `true` if a flag is given and on.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.switch(name) == Some(true)
    }

    /// Returns `true` if the value of a name that is read comes from a key of YAML.
    pub(super) fn is_key(&self, name: &str) -> bool {
        let all = self.given.get(name);
        all.and_then(|all| all.iter().min_by_key(|one| one.depth)).is_some_and(|one| one.key)
    }

    /// Returns `true` if any argument has this value.
    pub(super) fn has_value(&self, value: &str) -> bool {
        self.given.values().flatten().any(|one| one.value == value)
    }

    /// Returns the size that has one of the names; `None` if there is none, or if its value is invalid, which adds a
    /// problem.
    pub(super) fn given(&mut self, names: &[&str]) -> Option<u64> {
        let (name, value) = self.text(names)?;
        let size = value.replace('_', "").parse::<u64>().ok().filter(|size| u32::try_from(*size).is_ok());
        if size.is_none() {
            let remedy = if value.contains('$') {
                "replace the variable by a number"
            } else {
                "use an integer from 0 to 4294967295"
            };
            self.problems.add(name, format!("is '{}'", printable(&value)), remedy);
        }
        size
    }

    /// Reads a required size of at least 1.
    pub(super) fn size(&mut self, names: &[&str]) -> Option<u32> {
        if self.text(names).is_none() {
            let argument = format!("--{}", names[0].replace('_', "-"));
            self.problems.add(names[0], "is missing", format!("add {argument}, or {} in YAML", names[0]));
            return None;
        }
        let size = self.given(names)?;
        if size == 0 {
            self.problems.add(names[0], "is 0", "use an integer, 1 or more");
            return None;
        }
        u32::try_from(size).ok()
    }

    /// Reads a size of at least 1 that may be missing.
    pub(super) fn small(&mut self, names: &[&str]) -> Option<u32> {
        self.given(names).and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0)
    }
}
