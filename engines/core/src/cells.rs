//! Text as cells of tables that other programs read: Markdown and CSV.

use crate::problem::printable;
use std::borrow::Cow;

/// Escapes a text so that it stays in its cell (or line) of a Markdown document and is not read as markup.
pub fn markdown(text: &str) -> String {
    let mut safe = String::new();
    for c in printable(text).chars() {
        match c {
            // Not every reader supports `\<`, but all of them support entities.
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '[' | ']' => safe.extend(['\\', c]),
            other => safe.push(other),
        }
    }
    safe
}

/// First characters of a field that a spreadsheet executes as a formula.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// Quotes a text as a field of a CSV file (RFC 4180) that a spreadsheet does not execute as a formula, because names
/// may come from untrusted files: a formula gets an apostrophe in front. Control characters, including line ends, are
/// written as `\u{..}`.
pub fn csv(text: &str) -> String {
    let text = &printable(text);
    if text.starts_with(FORMULA) {
        quoted(&format!("'{text}")).into_owned()
    } else {
        quoted(text).into_owned()
    }
}

/// Returns the text of a field that [`csv`] wrote, without its apostrophe.
pub fn plain(field: &str) -> &str {
    field.strip_prefix('\'').filter(|text| text.starts_with(FORMULA)).unwrap_or(field)
}

/// Quotes a text as a field of a CSV file if necessary. For trusted texts only: a spreadsheet may execute the text as a
/// formula.
pub fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// Splits a line of a CSV file (RFC 4180) into its fields, without their quotes. A quoted field may hold commas and
/// doubled quotes, but no line end.
pub fn fields(line: &str) -> Vec<Cow<'_, str>> {
    if !line.contains('"') {
        return line.split(',').map(Cow::Borrowed).collect();
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(line.len())
        .from_reader(line.as_bytes());
    // Reading from memory cannot fail, and the text is UTF-8.
    let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
    record.iter().map(|field| Cow::Owned(field.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_stays_in_its_cell() {
        assert_eq!(markdown("a|b *c* [d](e) `f` <g>"), "a\\|b \\*c\\* \\[d\\](e) \\`f\\` &lt;g&gt;");
        assert_eq!(markdown("a\nb"), "a\\\\u{a}b");
        for (text, field) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"yes\"", "\"say \"\"yes\"\"\""),
            ("=1+1", "'=1+1"),
            ("-1,2", "\"'-1,2\""),
            ("a\n=1\u{1b}", "a\\u{a}=1\\u{1b}"),
            ("\t=1", "\\u{9}=1"),
        ] {
            assert_eq!(csv(text), field);
            assert_eq!(plain(&fields(&csv(text))[0]), printable(text));
        }
        assert_eq!(plain("'plain'"), "'plain'");
        assert_eq!(quoted("-1"), "-1", "numbers stay numbers");
    }

    #[test]
    fn fields_of_a_line_are_read_as_they_are_written() {
        for (line, wanted) in [
            ("a,b,,", &["a", "b", "", ""][..]),
            ("\"a,b\",\"say \"\"yes\"\"\",c", &["a,b", "say \"yes\"", "c"]),
            ("\"\",x,\"\"", &["", "x", ""]),
            ("1,\"((4096, 8), (8, 8))\",2", &["1", "((4096, 8), (8, 8))", "2"]),
        ] {
            assert_eq!(fields(line), wanted, "{line}");
        }
        let texts = ["plain", "a,b", "say \"yes\"", ""];
        let line: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
        assert_eq!(fields(&line.join(",")), texts);
    }
}
