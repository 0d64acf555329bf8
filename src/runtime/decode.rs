//! Decodes the bytes of a terminal into keys, mouse events, pasted text and replies to queries. Unknown sequences are
//! dropped completely, so that a late reply is never typed into a field.

use crate::app::action::{Mouse, MouseKind};
use crate::app::key::{Code, Key};

/// Maximum number of bytes of one paste; the rest is dropped.
const PASTE_LIMIT: usize = 1 << 20;

/// Maximum length in bytes of a sequence whose content is kept; the content of longer sequences is ignored.
const SEQUENCE_LIMIT: usize = 4096;

/// Input from the terminal.
#[derive(Clone, Debug, PartialEq)]
pub enum TerminalInput {
    /// A key was pressed.
    Key(Key),
    /// A text was pasted.
    Paste(String),
    /// An event of the mouse.
    Mouse(Mouse),
    /// The window has the focus (true) or lost it.
    Focus(bool),
    /// Lightness of the background, 0 to 1, from the terminal's reply.
    Background(f32),
    /// The terminal offers the keyboard protocol of kitty.
    KittyKeyboard,
}

/// Decodes a stream of bytes piece by piece.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    paste: Option<Vec<u8>>,
}

/// Incomplete input at the start of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A lone Escape, which is a key unless more bytes follow immediately.
    Escape,
    /// A sequence or a multi-byte character, whose rest may arrive late on a slow line.
    Rest,
}

/// Result of decoding the front of the buffer.
enum Step {
    /// The buffer has only the beginning of an input: wait for more bytes.
    Wait,
    /// This number of bytes is a complete input; `Some` contains the event of the input.
    Take(usize, Option<TerminalInput>),
    /// This number of bytes begins a paste.
    Paste(usize),
}

impl Decoder {
    /// Decodes bytes and appends their events.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<TerminalInput>) {
        self.buffer.extend_from_slice(bytes);
        self.advance(out);
    }

    /// Returns the type of the incomplete input in the buffer; the type decides how long to wait for the rest of the
    /// input.
    pub fn waiting(&self) -> Option<Awaited> {
        match self.buffer.as_slice() {
            _ if self.paste.is_some() => None,
            [] => None,
            [0x1b] => Some(Awaited::Escape),
            _ => Some(Awaited::Rest),
        }
    }

    /// Handles incomplete input whose rest did not arrive in time: a lone Escape becomes a key, and any other
    /// incomplete input is dropped completely, so that none of its bytes becomes a key.
    pub fn time_out(&mut self, out: &mut Vec<TerminalInput>) {
        let waiting = self.waiting();
        if waiting.is_some() {
            self.buffer.clear();
        }
        if waiting == Some(Awaited::Escape) {
            out.push(TerminalInput::Key(Key::plain(Code::Esc)));
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
                // The decoder still waits for the end of the sequence, so that its bytes are not decoded as keys. The
                // last byte may be the first of the two bytes that end the sequence. `>` opens private parameters, so
                // that the rest of the sequence does not become a key either.
                Step::Wait if self.buffer.len() > SEQUENCE_LIMIT => {
                    let last = self.buffer.len() - 1;
                    self.buffer.splice(2..last, [b'>']);
                    return;
                }
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

    /// Moves bytes into the paste; returns `true` once the paste is complete.
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

/// Returns a key with the modifiers of a control sequence, which are encoded as 1 plus a bit each for shift, alt and
/// control.
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
        // The sequence was interrupted: the bytes before this one are dropped, and this byte is decoded.
        return Step::Take(end + 2, None);
    }
    let parameters = &rest[..end];
    if let Some(mouse) = parameters.strip_prefix(b"<") {
        return Step::Take(length, mouse_input(mouse, last).map(TerminalInput::Mouse));
    }
    if parameters.first().is_some_and(|byte| !byte.is_ascii_digit() && *byte != b';') {
        // `ESC [ ? FLAGS u` answers the question for the keyboard protocol of kitty.
        let kitty = last == b'u' && parameters.starts_with(b"?");
        return Step::Take(length, kitty.then_some(TerminalInput::KittyKeyboard));
    }
    if event(parameters) == Some(RELEASE) {
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
            .and_then(|character| Some(TerminalInput::Key(unicode_key(character, modifiers)?))),
        letter => letter_key(letter).map(|code| TerminalInput::Key(modified(code, modifiers))),
    };
    Step::Take(length, input)
}

fn unicode_key(character: char, modifiers: u32) -> Option<Key> {
    let code = match character {
        '\x1b' => Code::Esc,
        '\r' => Code::Enter,
        '\t' => Code::Tab,
        '\x08' | '\x7f' => Code::Backspace,
        // Keys without a character, such as Caps Lock, have codes of the private use area.
        '\u{e000}'..='\u{f8ff}' => return None,
        other if other.is_control() => return None,
        other => Code::Char(other),
    };
    Some(modified(code, modifiers).normal())
}

/// Event number of a key release in the keyboard protocol of kitty; 1 is a press, 2 a repeat.
const RELEASE: u32 = 3;

/// Returns the number of the key event (such as press or release) in parameters of the form `…;modifiers:event`.
fn event(parameters: &[u8]) -> Option<u32> {
    let modifiers = parameters.split(|byte| *byte == b';').nth(1)?;
    std::str::from_utf8(modifiers.split(|byte| *byte == b':').nth(1)?).ok()?.parse().ok()
}

/// Returns the numbers between semicolons; sub-parameters after a colon are left out.
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

/// Decodes a sequence that contains text, such as `ESC ] … ST`. Only the reply with the background colour becomes an
/// event; all other sequences of this type are dropped.
fn text_sequence(sort: u8, rest: &[u8]) -> Step {
    const CANCEL: u8 = 0x18;
    const SUBSTITUTE: u8 = 0x1a;
    let Some(end) = rest.iter().position(|byte| [0x07, 0x1b, CANCEL, SUBSTITUTE].contains(byte)) else {
        return Step::Wait;
    };
    let length = match rest[end..] {
        [0x1b] => return Step::Wait,
        [0x1b, b'\\', ..] => 2,
        // This sequence was interrupted by the next one, or was cancelled.
        [0x1b, ..] => return Step::Take(end + 2, None),
        [0x07, ..] => 1,
        _ => return Step::Take(end + 3, None),
    };
    let answer = (sort == b']').then(|| background(&rest[..end])).flatten();
    Step::Take(end + length + 2, answer.map(TerminalInput::Background))
}

/// Returns the lightness of the background from `11;rgb:RRRR/GGGG/BBBB`, 0 to 1.
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

    /// Names of the inputs of parts that come with a pause behind each, in milliseconds, as the reader plays them.
    fn played(parts: &[(&[u8], u32)]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for (part, pause) in parts {
            decoder.feed(part, &mut out);
            let patience = match decoder.waiting() {
                None => continue,
                Some(Awaited::Escape) => 30,
                Some(Awaited::Rest) => 950,
            };
            if *pause >= patience {
                decoder.time_out(&mut out);
            }
        }
        out.into_iter()
            .map(|input| match input {
                TerminalInput::Key(key) => key.to_string(),
                TerminalInput::Mouse(mouse) => format!("{:?} {} {}", mouse.what, mouse.x, mouse.y),
                TerminalInput::Background(light) => format!("background {light:.4}"),
                TerminalInput::KittyKeyboard => "kitty".to_owned(),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn parts_of_a_sequence_are_never_keys() {
        const END: u32 = 1500;
        // (0.2126 x 0x1d1d + 0.7152 x 0x2020 + 0.0722 x 0x2121) / 65535
        let dark: &[&str] = &["background 0.1233"];
        let paste: &[&str] = &["Paste(\"set seq=8192\")"];
        #[expect(clippy::type_complexity, reason = "a table of one test")]
        let cases: &[(&[(&[u8], u32)], &[&str])] = &[
            // Device attributes.
            (&[(b"\x1b[?62", 60), (b";22;52c", END)], &[]),
            (&[(b"\x1b[", 300), (b"?62;2", 300), (b"2;52c", END)], &[]),
            // The background.
            (&[(b"\x1b]11;rgb:", 60), (b"1d1d/2020/2121\x1b\\", END)], dark),
            (&[(b"\x1b]11;", 60), (b"rgb:1d1d/2020/2121\x1b\\", END)], dark),
            (&[(b"\x1b]11;rgb:1d1d/2020/2121\x1b", 60), (b"\\", END)], dark),
            (&[(b"\x1b]11;r", 400), (b"gb:1d1d/", 400), (b"2020/2121\x07", END)], dark),
            // Name of the terminal, mouse, focus, keys.
            (&[(b"\x1bP>|Term", 60), (b" 4.1\x1b\\", END)], &[]),
            (&[(b"\x1b[<35;14;", 60), (b"7M", END)], &[]),
            (&[(b"\x1b[<0;14;2M\x1b[<0;14", 60), (b";2m", END)], &["Press 13 1", "Release 13 1"]),
            (&[(b"\x1b[", 60), (b"I", END)], &["Focus(true)"]),
            (&[(b"\x1b[", 60), (b"B", END)], &["Down"]),
            (&[(b"\x1bO", 60), (b"B", END)], &["Down"]),
            (&[(b"\x1b[6", 60), (b"~", END)], &["PgDn"]),
            // What never ends is dropped whole.
            (&[(b"\x1b]11;rgb:1d1d", 2500), (b"?", END)], &["?"]),
            (&[(b"\x1b[?62;2", 2500), (b"?", END)], &["?"]),
            (&[(b"\x1b[", END)], &[]),
            (&[(b"\x1b]11;rgb:1d1d", 60), (b"\x1b[B", END)], &["Down"]),
            // Keys that are let go, in the protocol of kitty.
            (&[(b"\x1b[113;1:3u", END)], &[]),
            (&[(b"\x1b[13;1:3u", END)], &[]),
            (&[(b"\x1b[1;1:3B\x1b[6;1:3~", END)], &[]),
            (&[(b"\x1b[63;1:1u", 30), (b"\x1b[63;1:3u", END)], &["?"]),
            (&[(b"\x1b[1;1:2B", END)], &["Down"]),
            (&[(b"\x1b[57358u\x1b[8;5u", END)], &["C-Backspace"]),
            // Pastes.
            (&[(b"\x1b[20", 60), (b"0~set seq=8192\x1b[201~", END)], paste),
            (&[(b"\x1b[200~set s", 1500), (b"eq=8192", 1500), (b"\x1b[201~", END)], paste),
            (&[(b"\x1b[200~set seq=8192\x1b[20", 60), (b"1~", END)], paste),
            // A letter of two bytes, and half of one.
            (&[(b"\xc3", 60), (b"\xb6", END)], &["ö"]),
            (&[(b"\xc3", END), (b"q", END)], &["q"]),
            // Escape.
            (&[(b"\x1b", END)], &["Esc"]),
            (&[(b"\x1b", 60), (b"r", END)], &["Esc", "r"]),
            (&[(b"\x1b", 60), (b"[B", END)], &["Esc", "[", "B"]),
            (&[(b"\x1b\x1b", END)], &["Esc", "Esc"]),
            (&[(b"\x1bb", END)], &["A-b"]),
            (&[(b"\x1b]11;rgb:1d1d/2020/2121\x1b\\\x1b[?62;22;52c", END)], dark),
        ];
        for (parts, expected) in cases {
            assert_eq!(played(parts), *expected, "{parts:?}");
        }
    }

    #[test]
    fn the_end_of_a_long_answer_is_still_waited_for() {
        let long = vec![b'q'; 3 * SEQUENCE_LIMIT];
        for (start, end) in [(&b"\x1b]52;c;"[..], &b"\x1b\\"[..]), (b"\x1bP", b"\x07")] {
            let parts = [(start, 10), (&long[..], 10), (&long[..], 10), (end, 10), (b"r", 10)];
            assert_eq!(played(&parts), ["r"]);
        }
        let digits = vec![b'7'; 2 * SEQUENCE_LIMIT];
        assert_eq!(played(&[(b"\x1b[", 10), (&digits, 10), (b"~", 10), (b"r", 10)]), ["r"]);
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
