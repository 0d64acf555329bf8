//! A formatter that writes, as `\u` escapes, the characters that could make a name misleading, even those that JSON
//! allows unescaped.
//!
//! Every reader gets the same values, and a terminal shows the text without executing control characters.

use crate::problem::is_deceptive;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// A formatter that writes like `F`, but with `\u` escapes for characters that could make a name misleading.
#[derive(Debug, Default)]
pub(super) struct Printable<F>(pub F);

macro_rules! as_inside {
    ($($name:ident($($argument:ident: $type:ty),*)),* $(,)?) => {
        $(fn $name<W: Write + ?Sized>(&mut self, writer: &mut W $(, $argument: $type)*) -> io::Result<()> {
            self.0.$name(writer $(, $argument)*)
        })*
    };
}

impl<F: Formatter> Formatter for Printable<F> {
    scalar_methods!(as_inside);
    as_inside!(
        begin_array(),
        end_array(),
        begin_array_value(first: bool),
        end_array_value(),
        begin_object(),
        end_object(),
        begin_object_key(first: bool),
        end_object_key(),
        begin_object_value(),
        end_object_value(),
        begin_string(),
    );

    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, sign)) = rest.char_indices().find(|(_, sign)| is_deceptive(*sign)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            // All deceptive characters are below U+10000, so one UTF-16 unit is enough.
            write!(writer, "\\u{:04x}", u32::from(sign))?;
            rest = &rest[at + sign.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}
