//! Sentences in parts, each with its meaning.

use super::value::Tone;
use std::fmt;

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The words, with the blanks around them. The writer makes text from files printable.
    pub text: String,
    /// Meaning of the words, for their colour.
    pub tone: Tone,
}

/// A sentence in parts: plain text for a log, coloured on a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrase {
    /// The parts, in reading order.
    pub words: Vec<Words>,
}

impl Phrase {
    /// Creates an empty phrase.
    pub const fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// Adds words with the meaning `tone`.
    #[must_use]
    pub fn with(mut self, text: impl Into<String>, tone: Tone) -> Self {
        self.words.push(Words { text: text.into(), tone });
        self
    }

    /// Adds plain words.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.with(text, Tone::Text)
    }

    /// Adds words of low priority: labels and units.
    #[must_use]
    pub fn muted(self, text: impl Into<String>) -> Self {
        self.with(text, Tone::Muted)
    }

    /// Adds the words that answer the question of the section.
    #[must_use]
    pub fn answer(self, text: impl Into<String>) -> Self {
        self.with(text, Tone::Answer)
    }

    /// Adds words for something that is as intended.
    #[must_use]
    pub fn good(self, text: impl Into<String>) -> Self {
        self.with(text, Tone::Good)
    }

    /// Adds words for something that is broken or lost.
    #[must_use]
    pub fn bad(self, text: impl Into<String>) -> Self {
        self.with(text, Tone::Bad)
    }

    /// Returns `true` if there are no words.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|words| words.text.is_empty())
    }
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words.iter().try_for_each(|words| f.write_str(&words.text))
    }
}

impl From<String> for Phrase {
    fn from(text: String) -> Self {
        Self::new().text(text)
    }
}

impl From<&str> for Phrase {
    fn from(text: &str) -> Self {
        Self::new().text(text)
    }
}
