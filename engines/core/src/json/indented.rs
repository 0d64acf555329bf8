//! An indented layout in which numbers follow each other on one line.
//!
//! serde_json puts every element of an array on a line of its own, so a plan with long lists of numbers would have a
//! hundred thousand lines. Here the line break before an element is delayed until the element is known: numbers,
//! booleans and nulls stay on the line, anything else starts a new line.

use serde_json::ser::{Formatter, PrettyFormatter};
use std::io::{self, Write};

/// A formatter like [`PrettyFormatter`] that writes the numbers of an array on one line.
#[derive(Default)]
pub(super) struct Indented {
    pretty: PrettyFormatter<'static>,
    /// Set while an element of an array has begun but nothing of the element is written; `true` if the element is the
    /// first of its array.
    announced: Option<bool>,
    /// `true` if the last element written is on the line of the array's opening bracket.
    on_line: bool,
}

impl Indented {
    /// Writes the separator before a number, boolean or null.
    fn stay<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        let Some(first) = self.announced.take() else { return Ok(()) };
        self.on_line = true;
        writer.write_all(if first { b"" } else { b", " })
    }

    /// Writes the separator before a string, array or object.
    fn start_line<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        let Some(first) = self.announced.take() else { return Ok(()) };
        self.on_line = false;
        self.pretty.begin_array_value(writer, first)
    }
}

macro_rules! on_the_line {
    ($($name:ident($($value:ident: $type:ty)?)),* $(,)?) => {
        $(fn $name<W: Write + ?Sized>(&mut self, writer: &mut W $(, $value: $type)?) -> io::Result<()> {
            self.stay(writer)?;
            self.pretty.$name(writer $(, $value)?)
        })*
    };
}

macro_rules! as_pretty {
    ($($name:ident($($value:ident: $type:ty)?)),* $(,)?) => {
        $(fn $name<W: Write + ?Sized>(&mut self, writer: &mut W $(, $value: $type)?) -> io::Result<()> {
            self.pretty.$name(writer $(, $value)?)
        })*
    };
}

impl Formatter for Indented {
    scalar_methods!(on_the_line);

    as_pretty!(
        end_object(),
        begin_object_key(first: bool),
        end_object_key(),
        begin_object_value(),
        end_object_value(),
        end_array_value(),
    );

    fn begin_string<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.start_line(writer)?;
        self.pretty.begin_string(writer)
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.start_line(writer)?;
        self.pretty.begin_object(writer)
    }

    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.start_line(writer)?;
        self.pretty.begin_array(writer)
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        self.announced = Some(first);
        Ok(())
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        if std::mem::take(&mut self.on_line) {
            // Closes the nesting level without the line break before the bracket.
            self.pretty.end_array(&mut Bracket(writer))
        } else {
            self.pretty.end_array(writer)
        }
    }
}

/// A writer that passes on only the closing bracket of an array and drops the line break before the bracket.
struct Bracket<'a, W: ?Sized>(&'a mut W);

impl<W: Write + ?Sized> Write for Bracket<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes == b"]" {
            self.0.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::to_pretty;
    use serde_json::{Value, json};

    #[test]
    fn numbers_share_a_line_and_everything_else_has_its_own() {
        let value = json!({
            "a": [1, 2.5, null, true],
            "b": [[1, 2], [], [3]],
            "c": ["x", "y"],
            "d": [{"e": [7]}, 8, 9],
            "f": []
        });
        let text = String::from_utf8(to_pretty(&value).expect("finite")).expect("UTF-8");
        let wanted = "{\n  \"a\": [1, 2.5, null, true],\n  \"b\": [\n    [1, 2],\n    [],\n    [3]\n  ],\n  \"c\": [\n    \"x\",\n    \
                      \"y\"\n  ],\n  \"d\": [\n    {\n      \"e\": [7]\n    }, 8, 9],\n  \"f\": []\n}\n";
        assert_eq!(text, wanted);
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
