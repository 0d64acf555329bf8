//! Documents in Markdown (CommonMark with the tables of GitHub).

use lightbay_core::cells;
use std::fmt::Write as _;

/// A document under construction. Text of the document itself is used unchanged; text from inputs must be escaped with
/// [`text`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    body: String,
    /// Link targets that are too long to be in the text; they are written at the end.
    references: String,
}

/// Escapes text from an input, so that it is not read as markup.
pub fn text(text: &str) -> String {
    cells::markdown(text)
}

impl Document {
    /// Creates an empty document.
    pub fn new() -> Self {
        Self::default()
    }

    fn block(&mut self, text: &str) {
        if !self.body.is_empty() {
            self.body.push('\n');
        }
        self.body.push_str(text);
        if !text.ends_with('\n') {
            self.body.push('\n');
        }
    }

    /// Adds a heading; level 1 is the highest.
    pub fn heading(&mut self, level: usize, words: &str) {
        self.block(&format!("{} {words}", "#".repeat(level.clamp(1, 6))));
    }

    /// Adds a paragraph with the text `words`.
    pub fn paragraph(&mut self, words: &str) {
        self.block(words);
    }

    /// Adds text that is shown unchanged, such as commands: an indented block, which nothing inside can end.
    pub fn code(&mut self, text: &str) {
        let lines: String = text.lines().fold(String::new(), |mut lines, line| {
            let _ = writeln!(lines, "    {line}");
            lines
        });
        self.block(&lines);
    }

    /// Adds a bullet list.
    pub fn list(&mut self, points: &[String]) {
        let lines: String = points.iter().fold(String::new(), |mut lines, point| {
            let _ = writeln!(lines, "- {point}");
            lines
        });
        self.block(&lines);
    }

    /// Adds a table; a column name that begins with `>` marks a column of numbers.
    pub fn table(&mut self, columns: &[&str], rows: &[Vec<String>]) {
        let mut table = String::new();
        let names: Vec<&str> = columns.iter().map(|name| name.trim_start_matches('>')).collect();
        let _ = writeln!(table, "| {} |", names.join(" | "));
        for name in columns {
            table.push_str(if name.starts_with('>') { "|---:" } else { "|---" });
        }
        table.push_str("|\n");
        for row in rows {
            let _ = writeln!(table, "| {} |", row.join(" | "));
        }
        self.block(&table);
    }

    /// Adds a picture in a separate file next to the document; `words` is its alternative text.
    pub fn picture(&mut self, words: &str, file: &str) {
        self.block(&format!("![{}](<{}>)", text(words), file.replace(['<', '>', '\n'], "_")));
    }

    /// Adds a picture embedded in the document. The encoded content of the picture is at the end of the document, so
    /// that it does not interrupt the text.
    pub fn embedded_picture(&mut self, words: &str, media_type: &str, bytes: &[u8]) {
        let number = self.references.lines().count() + 1;
        self.block(&format!("![{}][picture-{number}]", text(words)));
        let _ = writeln!(self.references, "[picture-{number}]: data:{media_type};base64,{}", base64(bytes));
    }

    /// Returns the content of the file.
    pub fn into_text(mut self) -> String {
        if !self.references.is_empty() {
            let references = std::mem::take(&mut self.references);
            self.block(&references);
        }
        self.body
    }
}

/// Encodes bytes as base64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word =
            group.iter().fold(0u32, |word, byte| (word << 8) | u32::from(*byte)) << (8 * (3 - group.len()));
        for position in 0..4 {
            let letter = (word >> (18 - 6 * position)) & 63;
            text.push(if position <= group.len() { char::from(LETTERS[letter as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_apart_and_long_targets_come_last() {
        let mut document = Document::new();
        document.heading(1, "Plan");
        document.embedded_picture("a [b]", "image/svg+xml", b"<svg/>");
        document.paragraph("It holds.");
        document.table(&["pod", ">ports"], &[vec![text("p|0"), "4".to_owned()]]);
        document.list(&["one".to_owned(), "two".to_owned()]);
        document.code("a\n```\n");
        document.picture("the plan", "plan one.svg");
        assert_eq!(
            document.into_text(),
            "# Plan\n\n![a \\[b\\]][picture-1]\n\nIt holds.\n\n| pod | ports |\n|---|---:|\n| p\\|0 | 4 |\n\n- one\n- two\n\n    a\n    ```\n\n\
             ![the plan](<plan one.svg>)\n\n[picture-1]: data:image/svg+xml;base64,PHN2Zy8+\n"
        );
    }

    #[test]
    fn letters_are_those_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
