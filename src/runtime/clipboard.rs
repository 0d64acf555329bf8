//! Copies text to the clipboard through the terminal, which also works over SSH. The terminal does not confirm a copy,
//! so the message only says that the text was sent.

use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Length of a clipboard sequence up to which terminals are known to accept the sequence, in bytes.
pub const LIMIT: usize = 74_994;

/// Terminal multiplexer between the program and the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// No multiplexer: the program is connected directly to the terminal.
    Nothing,
    /// tmux.
    Tmux,
    /// GNU screen.
    Screen,
}

impl Between {
    /// Finds out from environment variables whether a terminal multiplexer runs between lightbay and the terminal.
    pub fn of(env: impl Fn(&str) -> Option<std::ffi::OsString>) -> Self {
        if env("TMUX").is_some() {
            Self::Tmux
        } else if env("STY").is_some() {
            Self::Screen
        } else {
            Self::Nothing
        }
    }
}

/// How to copy a text to the user's clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Send this sequence to the terminal.
    Sequence(String),
    /// Pass the text to tmux, which also sends it to the terminal; if tmux refuses, send this sequence.
    Tmux(String),
    /// The text is too long for the terminal and must be written to a file.
    TooLong,
}

/// Returns the sequence that copies a text to the clipboard, or [`Way::TooLong`] if the sequence is longer than
/// [`LIMIT`].
pub fn copy(text: &str, between: Between) -> Way {
    let mut sequence = String::new();
    // Writing into a string cannot fail.
    let _ = CopyToClipboard::to_clipboard_from(text).write_ansi(&mut sequence);
    if sequence.len() > LIMIT {
        return Way::TooLong;
    }
    Way::Sequence(match between {
        Between::Nothing => sequence,
        // With its default settings tmux drops wrapped sequences of programs; it accepts the plain one if the user
        // allows it.
        Between::Tmux => return Way::Tmux(sequence),
        // GNU screen accepts at most 768 bytes per sequence.
        Between::Screen => {
            let characters: Vec<char> = sequence.chars().collect();
            let mut wrapped = String::with_capacity(sequence.len() * 2);
            for part in characters.chunks(700) {
                wrapped.push_str("\x1bP");
                wrapped.extend(part);
                wrapped.push_str("\x1b\\");
            }
            wrapped
        }
    })
}

/// Passes a text to tmux, which stores it in a buffer and sends it to the terminal.
///
/// # Errors
/// If tmux cannot be started, or is too old for this.
pub fn to_tmux(text: &str) -> std::io::Result<()> {
    let mut child = std::process::Command::new("tmux")
        .args(["load-buffer", "-w", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(text.as_bytes())?;
    }
    let status = child.wait()?;
    if status.success() { Ok(()) } else { Err(std::io::Error::other(format!("tmux ended with {status}"))) }
}

/// Returns the message about a text that was sent.
pub fn sent(text: &str) -> String {
    let lines = text.lines().count();
    let what = if lines > 1 { format!("{lines} lines") } else { format!("'{}'", shortened(text)) };
    format!("sent to the terminal's clipboard: {what}")
}

fn shortened(text: &str) -> String {
    const MOST: usize = 400;
    if text.chars().count() <= MOST {
        text.to_owned()
    } else {
        text.chars().take(MOST - 1).chain(['…']).collect()
    }
}

/// Writes a text that is too long for the clipboard to a file; returns the path.
///
/// # Errors
/// Returns the reason that the file could not be written.
pub fn to_file(text: &str, folder: &Path) -> Result<PathBuf, String> {
    let path = folder.join("copied.txt");
    lightbay_sessions::own_write(&path, text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_wrapped_for_what_stands_between() {
        let plain = "\x1b]52;c;aGVsbG8=\x1b\\";
        assert_eq!(copy("hello", Between::Nothing), Way::Sequence(plain.to_owned()));
        assert_eq!(copy("hello", Between::Tmux), Way::Tmux(plain.to_owned()));
        let Way::Sequence(screen) = copy(&"x".repeat(3000), Between::Screen) else { panic!("short enough") };
        assert!(screen.split("\x1b\\").all(|part| part.len() <= 768));
    }

    #[test]
    fn what_terminals_would_cut_is_not_sent() {
        assert_eq!(copy(&"x".repeat(60_000), Between::Nothing), Way::TooLong);
        assert!(matches!(copy(&"x".repeat(56_000), Between::Nothing), Way::Sequence(_)));
    }
}
