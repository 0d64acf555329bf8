//! Text of files, line by line, with the effect of every line on connections.

/// Effect of a line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineSort {
    /// The line removes a connection, or is part of a command that does.
    Remove,
    /// The line adds a connection, or is part of a command that does.
    Add,
    /// The line is a comment for people, without effect.
    Comment,
    /// The line has another purpose: login, brackets, headings, kept connections, reading the state back.
    Other,
}

/// A text whose lines are marked with their effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    text: String,
    sorts: Vec<LineSort>,
}

impl Script {
    /// Creates a text without lines that add or remove connections.
    pub(super) fn plain(text: &str) -> Self {
        let mut script = Self::default();
        script.push(LineSort::Other, text);
        script
    }

    /// Appends one or more lines, all with the same effect.
    pub(super) fn push(&mut self, sort: LineSort, text: impl AsRef<str>) {
        for line in text.as_ref().lines() {
            self.text.push_str(line);
            self.text.push('\n');
            self.sorts.push(sort);
        }
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the whole text.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.sorts.len()
    }

    /// Returns `true` if there is no line.
    pub fn is_empty(&self) -> bool {
        self.sorts.is_empty()
    }

    /// Returns every line with its effect.
    pub fn lines(&self) -> impl Iterator<Item = (LineSort, &str)> {
        self.sorts.iter().copied().zip(self.text.lines())
    }
}

/// Returns the beginning of a shell script of RESTCONF requests: the function `request`, for paths below the data
/// resource `data`.
pub(super) fn restconf_requests(data: &str) -> String {
    format!(
        r#"set -eu
: "${{OCS_URL:?such as http://192.0.2.1}}" "${{OCS_USER:?}}" "${{OCS_PASSWORD:?}}"
request() {{ # method, path, body (@- for standard input)
  curl --config /dev/fd/3 --fail --silent --show-error --header 'Content-Type: application/yang-data+json' \
    --header 'Accept: application/yang-data+json' --request "$1" ${{3:+--data "$3"}} "$OCS_URL{data}/$2" 3<<LOGIN
user = "$OCS_USER:$OCS_PASSWORD"
LOGIN
}}
"#
    )
}
