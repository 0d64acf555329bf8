//! Keys as plain data, and their notation: `r`, `S-Tab`, `C-d`, `Space o`, `g g`.

use std::fmt;
use std::str::FromStr;

/// Key that was pressed, without modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each key is named by what is printed on it")]
pub enum Code {
    Char(char),
    F(u8),
    Enter,
    Esc,
    Tab,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
}

/// One key with its modifiers. Shift is part of a character, and is a modifier only of other keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The key itself.
    pub code: Code,
    /// Control was held.
    pub ctrl: bool,
    /// Alt or Meta was held.
    pub alt: bool,
    /// Shift was held.
    pub shift: bool,
}

const NAMES: &[(&str, Code)] = &[
    ("Space", Code::Char(' ')),
    ("Enter", Code::Enter),
    ("Esc", Code::Esc),
    ("Tab", Code::Tab),
    ("Backspace", Code::Backspace),
    ("Delete", Code::Delete),
    ("Left", Code::Left),
    ("Right", Code::Right),
    ("Up", Code::Up),
    ("Down", Code::Down),
    ("Home", Code::Home),
    ("End", Code::End),
    ("PgUp", Code::PageUp),
    ("PgDn", Code::PageDown),
];

impl Key {
    /// Creates a key without modifiers.
    pub const fn plain(code: Code) -> Self {
        Self { code, ctrl: false, alt: false, shift: false }
    }

    /// Creates a character key.
    pub const fn char(character: char) -> Self {
        Self::plain(Code::Char(character))
    }

    /// Creates a character with control.
    pub const fn ctrl(character: char) -> Self {
        Self { ctrl: true, ..Self::char(character) }
    }

    /// Returns the key in the form that the keymap uses: shift is dropped if the character already implies it.
    #[must_use]
    pub const fn normal(mut self) -> Self {
        if matches!(self.code, Code::Char(_)) {
            self.shift = false;
        }
        self
    }

    /// Returns the character that this key types into a text field.
    pub const fn text(self) -> Option<char> {
        match self.code {
            Code::Char(character) if !self.ctrl && !self.alt => Some(character),
            _ => None,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, prefix) in [(self.ctrl, "C-"), (self.alt, "A-"), (self.shift, "S-")] {
            if held {
                f.write_str(prefix)?;
            }
        }
        if let Some((name, _)) = NAMES.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            Code::Char(character) => write!(f, "{character}"),
            Code::F(number) => write!(f, "F{number}"),
            _ => Ok(()),
        }
    }
}

/// Error for a text that does not name a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a key; write a character, a name such as Tab or PgUp, or a key with C-, A- or S- before it"
)]
pub struct NoKey(pub String);

impl FromStr for Key {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let mut key = Self::char(' ');
        let mut rest = text;
        while rest.chars().count() > 2 {
            let held = match rest.as_bytes() {
                [b'C', b'-', ..] => &mut key.ctrl,
                [b'A', b'-', ..] => &mut key.alt,
                [b'S', b'-', ..] => &mut key.shift,
                _ => break,
            };
            *held = true;
            rest = &rest[2..];
        }
        let mut characters = rest.chars();
        key.code = match (characters.next(), characters.as_str()) {
            // Shift is part of a character, and terminals do not report it together with Ctrl.
            (Some(_), "") if key.shift && key.ctrl => return Err(NoKey(text.to_owned())),
            (Some(only), "") if key.shift => Code::Char(only.to_ascii_uppercase()),
            (Some(only), "") => Code::Char(only),
            (Some('F'), digits) if digits.parse::<u8>().is_ok_and(|number| (1..=24).contains(&number)) => {
                Code::F(digits.parse().unwrap_or(1))
            }
            _ => match NAMES.iter().find(|(name, _)| *name == rest) {
                Some((_, code)) => *code,
                None => return Err(NoKey(text.to_owned())),
            },
        };
        Ok(key.normal())
    }
}

/// Reads a sequence of keys separated by blanks.
///
/// # Errors
/// The first part that does not name a key.
pub fn sequence(text: &str) -> Result<Vec<Key>, NoKey> {
    let keys: Vec<Key> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    if keys.is_empty() { Err(NoKey(text.to_owned())) } else { Ok(keys) }
}

/// Other ways in which people write modifiers, in lower case.
const MODIFIERS: [(&str, &str); 9] = [
    ("ctrl+", "C-"),
    ("ctrl-", "C-"),
    ("control+", "C-"),
    ("^", "C-"),
    ("alt+", "A-"),
    ("alt-", "A-"),
    ("meta-", "A-"),
    ("shift+", "S-"),
    ("shift-", "S-"),
];

/// Other ways in which people write the names of keys, in lower case.
const SYNONYMS: [(&str, &str); 7] = [
    ("return", "Enter"),
    ("escape", "Esc"),
    ("del", "Delete"),
    ("bs", "Backspace"),
    ("pageup", "PgUp"),
    ("pagedown", "PgDn"),
    ("spacebar", "Space"),
];

/// Returns the sequence that a person probably means by a text in another notation, such as `ctrl+l` or `space o`;
/// `None` if no key is similar.
pub fn meant(text: &str) -> Option<String> {
    let words: Option<Vec<String>> = text.split_whitespace().map(meant_key).collect();
    words.map(|words| words.join(" ")).filter(|meant| !meant.is_empty() && sequence(meant).is_ok())
}

fn meant_key(word: &str) -> Option<String> {
    let (mut prefix, mut rest) = (String::new(), word);
    'prefixes: loop {
        let lower = rest.to_lowercase();
        for (written, short) in MODIFIERS.into_iter().chain([("c-", "C-"), ("a-", "A-"), ("s-", "S-")]) {
            if lower.len() == rest.len() && rest.len() > written.len() && lower.starts_with(written) {
                prefix.push_str(short);
                rest = &rest[written.len()..];
                continue 'prefixes;
            }
        }
        break;
    }
    let lower = rest.to_lowercase();
    let synonym = SYNONYMS.iter().find(|(written, _)| *written == lower).map(|(_, name)| *name);
    let name = synonym
        .or_else(|| NAMES.iter().map(|(name, _)| *name).find(|name| name.eq_ignore_ascii_case(&lower)));
    let key = format!("{prefix}{}", name.unwrap_or(rest));
    // Terminals do not report Shift of a character together with Ctrl.
    let plain = key.replacen("S-", "", 1);
    [key, plain].into_iter().find(|key| key.parse::<Key>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        for text in ["r", "R", "C-d", "S-Tab", "Space", "F1", "PgUp", "<", "-", "C--", "g"] {
            let key: Key = text.parse().unwrap();
            assert_eq!(key.to_string(), text);
        }
        assert_eq!(sequence("g g").unwrap(), [Key::char('g'), Key::char('g')]);
        assert_eq!("S-r".parse::<Key>().unwrap(), Key::char('R'));
        assert!("C-S-r".parse::<Key>().is_err());
        assert!("F99".parse::<Key>().is_err());
        assert!("Entr".parse::<Key>().is_err());
        assert!(sequence("  ").is_err());
    }
}
