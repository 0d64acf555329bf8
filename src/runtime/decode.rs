//! From the bytes of a terminal to keys, mouse, pasted text and answers. Whatever is not understood is swallowed
//! whole, so that a late answer is never typed into a field.

use crate::app::action::{Mouse, MouseKind};
use crate::app::key::{Code, Key};

/// Most bytes that are taken from one paste; the rest is dropped.
const PASTE_LIMIT: usize = 1 << 20;

/// Longest sequence that is waited for; a longer one is no sequence.
const SEQUENCE_LIMIT: usize = 4096;

/// Something the terminal sent.
#[derive(Clone, Debug, PartialEq)]
pub enum TerminalInput {
    /// A key.
    Key(Key),
    /// A pasted text.
    Paste(String),
    /// The mouse.
    Mouse(Mouse),
    /// The window has the focus (true) or lost it.
    Focus(bool),
    /// Lightness of the background, 0 to 1, as the terminal answered.
    Background(f32),
}

/// Reads a stream of bytes piece by piece.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    paste: Option<Vec<u8>>,
}

/// Result of decoding the front of the buffer.
enum Step {
    /// The beginning of something.
    Wait,
    /// So many bytes, which mean this or nothing.
    Take(usize, Option<TerminalInput>),
    /// So many bytes that begin a paste.
    Paste(usize),
}

impl Decoder {
    /// Takes in bytes and appends what they mean.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<TerminalInput>) {
        self.buffer.extend_from_slice(bytes);
        self.advance(out);
    }

    /// Returns `true` if the buffer holds the beginning of something, such as a single Escape.
    pub const fn is_waiting(&self) -> bool {
        !self.buffer.is_empty() && self.paste.is_none()
    }

    /// Nothing followed for a while: what waits is taken as it stands.
    pub fn time_out(&mut self, out: &mut Vec<TerminalInput>) {
        if self.paste.is_some() || self.buffer.is_empty() {
            return;
        }
        let rest = std::mem::take(&mut self.buffer);
        if rest.first() == Some(&0x1b) {
            out.push(TerminalInput::Key(Key::plain(Code::Esc)));
            self.feed(&rest[1..], out);
        }
    }

    fn advance(&mut self, out: &mut Vec<TerminalInput>) {
        loop {
            if self.paste.is_some() {
                if !self.advance_paste(out) {
                    return;
                }
                continue;
            }
            match step(&self.buffer) {
                Step::Wait if self.buffer.len() > SEQUENCE_LIMIT => self.buffer.clear(),
                Step::Wait => return,
                Step::Take(count, input) => {
                    self.buffer.drain(..count);
                    out.extend(input);
                }
                Step::Paste(count) => {
                    self.buffer.drain(..count);
                    self.paste = Some(Vec::new());
                }
            }
        }
    }

    /// Moves bytes into the paste; true once it is complete.
    fn advance_paste(&mut self, out: &mut Vec<TerminalInput>) -> bool {
        const END: &[u8] = b"\x1b[201~";
        let Some(paste) = &mut self.paste else { return true };
        let end = self.buffer.windows(END.len()).position(|window| window == END);
        // The last bytes may be the beginning of the end mark.
        let take = end.unwrap_or_else(|| self.buffer.len().saturating_sub(END.len() - 1));
        let room = PASTE_LIMIT.saturating_sub(paste.len()).min(take);
        paste.extend_from_slice(&self.buffer[..room]);
        self.buffer.drain(..take);
        if end.is_none() {
            return false;
        }
        self.buffer.drain(..END.len());
        let text = String::from_utf8_lossy(&self.paste.take().unwrap_or_default()).into_owned();
        out.push(TerminalInput::Paste(text));
        true
    }
}

fn step(bytes: &[u8]) -> Step {
    match bytes {
        [] | [0x1b] => Step::Wait,
        [0x1b, b'[', rest @ ..] => control_sequence(rest),
        [0x1b, b'O'] => Step::Wait,
        [0x1b, b'O', letter, ..] => {
            Step::Take(3, letter_key(*letter).map(|code| TerminalInput::Key(Key::plain(code))))
        }
        [0x1b, b']' | b'P' | b'_' | b'^' | b'X', rest @ ..] => text_sequence(bytes[1], rest),
        [0x1b, 0x1b, ..] => Step::Take(1, Some(TerminalInput::Key(Key::plain(Code::Esc)))),
        [0x1b, rest @ ..] => match step(rest) {
            Step::Take(count, Some(TerminalInput::Key(key))) => {
                Step::Take(count + 1, Some(TerminalInput::Key(Key { alt: true, ..key })))
            }
            Step::Take(count, input) => Step::Take(count + 1, input),
            other => other,
        },
        [byte, ..] if *byte < 0x80 => Step::Take(1, ascii(*byte).map(TerminalInput::Key)),
        _ => utf8(bytes),
    }
}

fn ascii(byte: u8) -> Option<Key> {
    Some(match byte {
        b'\r' | b'\n' => Key::plain(Code::Enter),
        b'\t' => Key::plain(Code::Tab),
        0x08 | 0x7f => Key::plain(Code::Backspace),
        0x00 => Key::ctrl(' '),
        0x01..=0x1a => Key::ctrl((b'a' + byte - 1) as char),
        0x1c..=0x1f => Key::ctrl((b'4' + byte - 0x1c) as char),
        0x20..=0x7e => Key::char(byte as char),
        _ => return None,
    })
}

fn utf8(bytes: &[u8]) -> Step {
    let length = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Step::Take(1, None),
    };
    let have = bytes.len().min(length);
    if bytes[1..have].iter().any(|byte| byte & 0xc0 != 0x80) {
        return Step::Take(1, None);
    }
    if have < length {
        return Step::Wait;
    }
    let character = std::str::from_utf8(&bytes[..length]).ok().and_then(|text| text.chars().next());
    Step::Take(length, character.map(|character| TerminalInput::Key(Key::char(character))))
}

fn letter_key(letter: u8) -> Option<Code> {
    Some(match letter {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'H' => Code::Home,
        b'F' => Code::End,
        b'P' => Code::F(1),
        b'Q' => Code::F(2),
        b'R' => Code::F(3),
        b'S' => Code::F(4),
        _ => return None,
    })
}

fn number_key(number: u32) -> Option<Code> {
    Some(match number {
        1 | 7 => Code::Home,
        3 => Code::Delete,
        4 | 8 => Code::End,
        5 => Code::PageUp,
        6 => Code::PageDown,
        11..=15 => Code::F(number as u8 - 10),
        17..=21 => Code::F(number as u8 - 11),
        23 | 24 => Code::F(number as u8 - 12),
        _ => return None,
    })
}

/// A key with the modifiers of a control sequence: 1 plus a bit each for shift, alt, control.
const fn modified(code: Code, modifiers: u32) -> Key {
    let bits = modifiers.saturating_sub(1);
    Key { code, shift: bits & 1 != 0, alt: bits & 2 != 0, ctrl: bits & 4 != 0 }
}

/// Decodes the bytes that follow `ESC [`.
fn control_sequence(rest: &[u8]) -> Step {
    // The Linux console sends `ESC [ [ A` for F1.
    if let [b'[', more @ ..] = rest {
        return match more {
            [] => Step::Wait,
            [letter, ..] => {
                let key = (b'A'..=b'E').contains(letter).then(|| Code::F(letter - b'A' + 1));
                Step::Take(4, key.map(|code| TerminalInput::Key(Key::plain(code))))
            }
        };
    }
    let Some(end) = rest.iter().position(|byte| !(0x20..=0x3f).contains(byte)) else { return Step::Wait };
    let last = rest[end];
    let length = end + 3;
    if !(0x40..=0x7e).contains(&last) {
        // Broken off: the bytes before it mean nothing, the byte itself may.
        return Step::Take(end + 2, None);
    }
    let parameters = &rest[..end];
    if let Some(mouse) = parameters.strip_prefix(b"<") {
        return Step::Take(length, mouse_input(mouse, last).map(TerminalInput::Mouse));
    }
    if parameters.first().is_some_and(|byte| !byte.is_ascii_digit() && *byte != b';') {
        return Step::Take(length, None);
    }
    let numbers = numbers(parameters);
    let number = |index: usize| numbers.get(index).copied().flatten();
    let modifiers = number(1).unwrap_or(1);
    let input = match last {
        b'~' if number(0) == Some(200) => return Step::Paste(length),
        b'~' => number(0).and_then(number_key).map(|code| TerminalInput::Key(modified(code, modifiers))),
        b'Z' => Some(TerminalInput::Key(Key { shift: true, ..Key::plain(Code::Tab) })),
        b'I' => Some(TerminalInput::Focus(true)),
        b'O' => Some(TerminalInput::Focus(false)),
        b'u' => number(0)
            .and_then(char::from_u32)
            .map(|character| TerminalInput::Key(unicode_key(character, modifiers))),
        letter => letter_key(letter).map(|code| TerminalInput::Key(modified(code, modifiers))),
    };
    Step::Take(length, input)
}

fn unicode_key(character: char, modifiers: u32) -> Key {
    let code = match character {
        '\x1b' => Code::Esc,
        '\r' => Code::Enter,
        '\t' => Code::Tab,
        '\x7f' => Code::Backspace,
        other => Code::Char(other),
    };
    modified(code, modifiers).normal()
}

/// Numbers between semicolons; sub-parameters after a colon are left out.
fn numbers(parameters: &[u8]) -> Vec<Option<u32>> {
    let number = |part: &[u8]| {
        let own = part.split(|byte| *byte == b':').next().unwrap_or_default();
        std::str::from_utf8(own).ok()?.parse().ok()
    };
    parameters.split(|byte| *byte == b';').map(number).collect()
}

fn mouse_input(parameters: &[u8], last: u8) -> Option<Mouse> {
    let numbers = numbers(parameters);
    let [Some(button), Some(x), Some(y)] = numbers[..] else { return None };
    let what = match (button & 0b1110_0011, last) {
        (64, b'M') => MouseKind::Wheel(-1),
        (65, b'M') => MouseKind::Wheel(1),
        (0, b'M') => MouseKind::Press,
        (32, b'M') => MouseKind::Drag,
        (0, b'm') => MouseKind::Release,
        (2, b'M') => MouseKind::RightPress,
        _ => return None,
    };
    let cell = |position: u32| u16::try_from(position.saturating_sub(1)).ok();
    Some(Mouse { what, x: cell(x)?, y: cell(y)? })
}

/// Answers that carry text: `ESC ] … ST` and its relatives. Only the background is understood.
fn text_sequence(sort: u8, rest: &[u8]) -> Step {
    let bell = rest.iter().position(|byte| *byte == 0x07);
    let string_end = rest.windows(2).position(|pair| pair == b"\x1b\\");
    let (end, length) = match (bell, string_end) {
        (Some(bell), string) if string.is_none_or(|string| bell < string) => (bell, 1),
        (_, Some(string)) => (string, 2),
        _ => return Step::Wait,
    };
    let answer = (sort == b']').then(|| background(&rest[..end])).flatten();
    Step::Take(end + length + 2, answer.map(TerminalInput::Background))
}

/// Lightness from `11;rgb:RRRR/GGGG/BBBB`.
fn background(text: &[u8]) -> Option<f32> {
    let text = std::str::from_utf8(text).ok()?.strip_prefix("11;rgb:")?;
    let mut parts = text.split('/').map(|part| {
        let most = 16_f32.powi(part.len() as i32) - 1.0;
        u32::from_str_radix(part, 16).ok().map(|value| value as f32 / most)
    });
    let (red, green, blue) = (parts.next()??, parts.next()??, parts.next()??);
    Some(0.2126 * red + 0.7152 * green + 0.0722 * blue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(bytes: &[u8]) -> Vec<TerminalInput> {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        decoder.feed(bytes, &mut out);
        decoder.time_out(&mut out);
        out
    }

    fn keys(bytes: &[u8]) -> Vec<String> {
        decode(bytes)
            .into_iter()
            .map(|input| match input {
                TerminalInput::Key(key) => key.to_string(),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn keys_come_out_as_they_are_named() {
        let cases: &[(&[u8], &[&str])] = &[
            (b"rR", &["r", "R"]),
            ("ä→".as_bytes(), &["ä", "→"]),
            (b"\x1b", &["Esc"]),
            (b"\x1b\x1b", &["Esc", "Esc"]),
            (b"\x1b[A\x1b[1;5C\x1bOP", &["Up", "C-Right", "F1"]),
            (b"\x1b[5~\x1b[24~\x1b[3;2~", &["PgUp", "F12", "S-Delete"]),
            (b"\x1b[Z\t\r\x7f", &["S-Tab", "Tab", "Enter", "Backspace"]),
            (b"\x03\x1a\x0c\x04", &["C-c", "C-z", "C-l", "C-d"]),
            (b"\x1bb\x1b[97;5u", &["A-b", "C-a"]),
            (b"\x1b[[B", &["F2"]),
        ];
        for (bytes, expected) in cases {
            assert_eq!(keys(bytes), *expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_paste_is_one_input_even_in_pieces() {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for byte in b"a\x1b[200~q\x1b[201x\nz\x1b[201~b" {
            decoder.feed(&[*byte], &mut out);
        }
        assert_eq!(
            out,
            [
                TerminalInput::Key(Key::char('a')),
                TerminalInput::Paste("q\x1b[201x\nz".to_owned()),
                TerminalInput::Key(Key::char('b'))
            ]
        );
    }

    #[test]
    fn mouse_and_focus_are_understood() {
        let mouse = |what, x, y| TerminalInput::Mouse(Mouse { what, x, y });
        assert_eq!(
            decode(b"\x1b[<0;3;4M\x1b[<32;5;4M\x1b[<0;5;4m\x1b[<65;1;1M\x1b[I"),
            [
                mouse(MouseKind::Press, 2, 3),
                mouse(MouseKind::Drag, 4, 3),
                mouse(MouseKind::Release, 4, 3),
                mouse(MouseKind::Wheel(1), 0, 0),
                TerminalInput::Focus(true)
            ]
        );
    }

    #[test]
    fn late_answers_are_swallowed() {
        assert_eq!(keys(b"\x1b[?62;22cr"), ["r"]);
        assert_eq!(keys(b"\x1b[?2026;2$yr"), ["r"]);
        assert_eq!(keys(b"\x1bP1$r0m\x1b\\r"), ["r"]);
        assert_eq!(
            decode(b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\q"),
            [TerminalInput::Background(1.0), TerminalInput::Key(Key::char('q'))]
        );
        assert_eq!(decode(b"\x1b]11;rgb:00/00/00\x07"), [TerminalInput::Background(0.0)]);
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_come_to_the_same(bytes: Vec<u8>, cut in 0usize..64) {
            let cut = cut.min(bytes.len());
            let mut whole = (Decoder::default(), Vec::new());
            whole.0.feed(&bytes, &mut whole.1);
            let mut parts = (Decoder::default(), Vec::new());
            parts.0.feed(&bytes[..cut], &mut parts.1);
            parts.0.feed(&bytes[cut..], &mut parts.1);
            prop_assert_eq!(whole.1, parts.1);
        }
    }
}
