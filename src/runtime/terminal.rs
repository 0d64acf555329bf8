//! The only owner of the terminal: sets it up, restores it, and draws frames.
//!
//! Every end of the program (return, panic, signal) calls [`restore`], which undoes the setup exactly, in reverse
//! order, and discards pending input while the terminal is still in raw mode.

use crate::app::RunProgress;
use ratatui::Frame;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use rustix::termios::{OptionalActions, QueueSelector, Termios};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Mutex, PoisonError};

/// Sequence that saves the title, switches to the alternate screen, clears it, hides the cursor, and enables bracketed
/// paste and focus events.
const ENTER: &str = "\x1b[22;0t\x1b[?1049h\x1b[2J\x1b[?25l\x1b[?2004h\x1b[?1004h";
/// Sequence that undoes [`ENTER`] in reverse order, after a frame that may be incomplete.
const LEAVE: &str = "\x1b[?2026l\x1b[0m\x1b[?1004l\x1b[?2004l\x1b[?25h\x1b[?1049l\x1b[23;0t";
/// Sequence that makes the terminal report buttons and drags but not plain motion, with positions as decimal numbers.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";
/// Sequences that query the keyboard protocol of kitty, the background colour, and the device attributes, to which every
/// terminal replies.
const ASK_KITTY: &str = "\x1b[?u";
const ASK_BACKGROUND: &str = "\x1b]11;?\x1b\\";
const ASK_ATTRIBUTES: &str = "\x1b[c";
/// Sequence that makes the terminal report ambiguous keys as unambiguous sequences (protocol of kitty, flag 1): Esc is
/// then known at once.
const KITTY_ON: &str = "\x1b[>1u";
const KITTY_OFF: &str = "\x1b[<u";
const SYNC_BEGIN: &str = "\x1b[?2026h";
const SYNC_END: &str = "\x1b[?2026l";

/// Maximum number of cells that are drawn; on a larger screen the lowest rows stay empty.
const MOST_CELLS: u32 = 65_535;

/// State of the terminal to be restored. The state is global, so that a panic or a signal can restore the terminal.
#[derive(Debug)]
struct Undo {
    out: File,
    tty: File,
    before: Termios,
    mouse: bool,
    kitty: bool,
    progress: bool,
}

static UNDO: Mutex<Option<Undo>> = Mutex::new(None);

/// Restores the terminal, if it was set up. May be called any number of times, from any thread.
pub fn restore() {
    let undo = UNDO.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(mut undo) = undo else { return };
    let mut text = String::new();
    if undo.progress {
        text.push_str(&progress_sequence(RunProgress::Idle));
    }
    if undo.kitty {
        text.push_str(KITTY_OFF);
    }
    if undo.mouse {
        text.push_str(MOUSE_OFF);
    }
    text.push_str(LEAVE);
    // A closed terminal cannot be restored, so errors are ignored.
    let _ = undo.out.write_all(text.as_bytes());
    let _ = undo.out.flush();
    let _ = rustix::termios::tcflush(&undo.tty, QueueSelector::IFlush);
    let _ = rustix::termios::tcsetattr(&undo.tty, OptionalActions::Flush, &undo.before);
}

/// The terminal while this program draws on it. Dropping this value restores the terminal.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<File>>>,
    out: File,
    tty: File,
    mouse: bool,
    /// `true` if the terminal uses the keyboard protocol of kitty.
    kitty: bool,
    /// `true` while the terminal shows the progress of a run.
    progress: bool,
    repaint: bool,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("mouse", &self.mouse).finish_non_exhaustive()
    }
}

/// Opens the terminal for key input: standard input, or the controlling terminal if standard input is not a terminal.
///
/// # Errors
/// If the process has no terminal.
pub fn keyboard() -> io::Result<File> {
    use std::io::IsTerminal as _;
    use std::os::fd::AsFd as _;
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(File::from(stdin.as_fd().try_clone_to_owned()?));
    }
    File::options().read(true).write(true).open("/dev/tty")
}

impl Screen {
    /// Sets up the terminal: writes to `out` and reads keys from `tty`.
    ///
    /// # Errors
    /// If `out` is not a terminal or cannot be written.
    pub fn enter(out: File, tty: File, mouse: bool, ask_background: bool) -> io::Result<Self> {
        let backend = CrosstermBackend::new(BufWriter::with_capacity(1 << 16, out.try_clone()?));
        // The viewport is fixed, because the size is read from our own descriptor, and only when a frame is drawn.
        let viewport = Viewport::Fixed(Rect::ZERO);
        let terminal = Terminal::with_options(backend, TerminalOptions { viewport })?;
        let mut screen = Self { terminal, out, tty, mouse, kitty: false, progress: false, repaint: true };
        screen.take()?;
        let background = if ask_background { ASK_BACKGROUND } else { "" };
        screen.out.write_all(format!("{ASK_KITTY}{background}{ASK_ATTRIBUTES}").as_bytes())?;
        Ok(screen)
    }

    fn take(&mut self) -> io::Result<()> {
        let before = rustix::termios::tcgetattr(&self.tty)?;
        let mut raw = before.clone();
        raw.make_raw();
        let (out, tty) = (self.out.try_clone()?, self.tty.try_clone()?);
        let undo = Undo { out, tty, before, mouse: self.mouse, kitty: self.kitty, progress: self.progress };
        // Stored for `restore` before anything changes.
        *UNDO.lock().unwrap_or_else(PoisonError::into_inner) = Some(undo);
        rustix::termios::tcsetattr(&self.tty, OptionalActions::Now, &raw)?;
        self.out.write_all(ENTER.as_bytes())?;
        if self.mouse {
            self.out.write_all(MOUSE_ON.as_bytes())?;
        }
        if self.kitty {
            self.out.write_all(KITTY_ON.as_bytes())?;
        }
        self.repaint = true;
        Ok(())
    }

    /// Releases the terminal temporarily.
    pub fn leave(&self) {
        restore();
    }

    /// Sets the terminal up again; the next frame redraws every cell.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn reenter(&mut self) -> io::Result<()> {
        restore();
        self.take()
    }

    /// Switches to the keyboard protocol of kitty, which the terminal offers.
    ///
    /// # Errors
    /// If the terminal cannot be written.
    pub fn use_kitty_keyboard(&mut self) -> io::Result<()> {
        if self.kitty {
            return Ok(());
        }
        self.kitty = true;
        if let Some(undo) = UNDO.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            undo.kitty = true;
        }
        self.control(KITTY_ON)
    }

    /// Returns the numbers of columns and rows; zero if the terminal does not report its size.
    pub fn size(&self) -> (u16, u16) {
        rustix::termios::tcgetwinsize(&self.out).map_or((0, 0), |size| (size.ws_col, size.ws_row))
    }

    /// Makes the next frame write every cell.
    pub const fn repaint(&mut self) {
        self.repaint = true;
    }

    /// Draws a frame of the present size. `None` if there is no room for anything.
    ///
    /// # Errors
    /// If the terminal cannot be written.
    pub fn draw<T>(
        &mut self,
        size: (u16, u16),
        draw: impl FnOnce(&mut Frame<'_>) -> T,
    ) -> io::Result<Option<T>> {
        let area = drawable(size);
        if area.is_empty() {
            return Ok(None);
        }
        self.begin()?;
        let drawn = self.draw_inside(area, draw);
        // The synchronised update is ended even after an error; otherwise the terminal would freeze.
        let ended = self.end();
        let drawn = drawn?;
        ended.map(|()| drawn)
    }

    fn draw_inside<T>(
        &mut self,
        area: Rect,
        draw: impl FnOnce(&mut Frame<'_>) -> T,
    ) -> io::Result<Option<T>> {
        if self.repaint || self.terminal.get_frame().area() != area {
            self.repaint = false;
            self.terminal.backend_mut().write_all(b"\x1b[0m\x1b[2J")?;
            self.terminal.resize(area)?;
        }
        let mut result = None;
        self.terminal.draw(|frame| result = Some(draw(frame)))?;
        Ok(result)
    }

    fn begin(&mut self) -> io::Result<()> {
        self.terminal.backend_mut().write_all(SYNC_BEGIN.as_bytes())
    }

    fn end(&mut self) -> io::Result<()> {
        let backend = self.terminal.backend_mut();
        backend.write_all(SYNC_END.as_bytes())?;
        io::Write::flush(backend)
    }

    /// Writes a control sequence that does not change cells, such as title or clipboard.
    ///
    /// # Errors
    /// If the terminal cannot be written.
    pub fn control(&mut self, text: &str) -> io::Result<()> {
        let backend = self.terminal.backend_mut();
        backend.write_all(text.as_bytes())?;
        io::Write::flush(backend)
    }

    /// Shows the progress of runs in the title bar or task bar of the terminal.
    ///
    /// # Errors
    /// If the terminal cannot be written.
    pub fn show_progress(&mut self, progress: RunProgress) -> io::Result<()> {
        self.progress = progress != RunProgress::Idle;
        if let Some(undo) = UNDO.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            undo.progress = self.progress;
        }
        self.control(&progress_sequence(progress))
    }

    /// Captures or releases the mouse.
    ///
    /// # Errors
    /// If the terminal cannot be written.
    pub fn capture_mouse(&mut self, capture: bool) -> io::Result<()> {
        self.mouse = capture;
        if let Some(undo) = UNDO.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            undo.mouse = capture;
        }
        self.control(if capture { MOUSE_ON } else { MOUSE_OFF })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Returns the part of a screen that is drawn: the whole screen, or its upper rows if it has more than `MOST_CELLS`
/// cells.
fn drawable((width, height): (u16, u16)) -> Rect {
    let most = MOST_CELLS.checked_div(u32::from(width)).unwrap_or(0);
    Rect::new(0, 0, width, height.min(u16::try_from(most).unwrap_or(u16::MAX)))
}

/// Returns the sequence OSC 9;4 for a progress: state 0 removes it, 1 shows a percentage, 3 shows an unknown share.
fn progress_sequence(progress: RunProgress) -> String {
    match progress {
        RunProgress::Idle => "\x1b]9;4;0;0\x07".to_owned(),
        RunProgress::Busy => "\x1b]9;4;3;0\x07".to_owned(),
        RunProgress::Percent(percent) => format!("\x1b]9;4;1;{percent}\x07"),
    }
}

/// Returns the title without control characters, which could end the title sequence early.
pub fn title(text: &str) -> String {
    let text: String = text.chars().filter(|character| !character.is_control()).take(200).collect();
    format!("\x1b]0;{text}\x07")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_a_drawable_part() {
        assert_eq!(drawable((200, 60)), Rect::new(0, 0, 200, 60));
        assert!(drawable((0, 0)).is_empty());
        assert!(drawable((0, 50)).is_empty());
        let huge = drawable((u16::MAX, u16::MAX));
        assert!(u32::from(huge.width) * u32::from(huge.height) <= MOST_CELLS && huge.height == 1);
        assert_eq!(drawable((1000, 500)).height, 65);
    }

    #[test]
    fn leaving_undoes_what_entering_did() {
        for mode in ["1049", "2004", "1004"] {
            assert!(ENTER.contains(&format!("?{mode}h")) && LEAVE.contains(&format!("?{mode}l")));
        }
        for mode in ["1000", "1002", "1006"] {
            assert!(MOUSE_ON.contains(&format!("?{mode}h")) && MOUSE_OFF.contains(&format!("?{mode}l")));
        }
        assert!(ENTER.contains("?25l") && LEAVE.contains("?25h"));
    }

    #[test]
    fn a_title_cannot_be_broken_out_of() {
        assert_eq!(title("a\x07b\x1b]0;c"), "\x1b]0;ab]0;c\x07");
    }
}
