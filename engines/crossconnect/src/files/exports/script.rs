//! Text of files, line by line, with what every line does to a connection.

/// Effect of a line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineSort {
    /// Takes a connection down, or belongs to what does.
    Remove,
    /// Sets a connection up, or belongs to what does.
    Add,
    /// Tells people something and does nothing.
    Comment,
    /// Anything else: log-in, brackets, headings, what stays, reading the state back.
    Other,
}

/// A text whose lines are known by what they do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    text: String,
    sorts: Vec<LineSort>,
}

impl Script {
    /// A text of which no line touches a connection.
    pub(super) fn plain(text: &str) -> Self {
        let mut script = Self::default();
        script.push(LineSort::Other, text);
        script
    }

    /// Appends one line or several, all of one type.
    pub(super) fn push(&mut self, sort: LineSort, text: impl AsRef<str>) {
        for line in text.as_ref().lines() {
            self.text.push_str(line);
            self.text.push('\n');
            self.sorts.push(sort);
        }
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole text.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.sorts.len()
    }

    /// Returns `true` if there is no line.
    pub fn is_empty(&self) -> bool {
        self.sorts.is_empty()
    }

    /// Every line with what it does.
    pub fn lines(&self) -> impl Iterator<Item = (LineSort, &str)> {
        self.sorts.iter().copied().zip(self.text.lines())
    }
}
