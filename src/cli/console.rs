//! Only this module writes to the standard streams of the program.
//!
//! At start both descriptors are duplicated and our own output uses the copies. Then the original descriptors are
//! redirected to the log, so that a library cannot write into a result or onto the screen.

use super::documents::{Document, Named};
use super::failure::Failure;
use lightbay_core::json::to_pretty;
use lightbay_sessions::{Overrides, Places, append_to, make_folders};
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Size above which a log is renamed to `.old` and a new one is started, bytes.
const LOG_LIMIT_BYTES: u64 = 4 << 20;

/// Standard output and standard error as they were at start.
#[derive(Debug)]
pub struct Console {
    out: BufWriter<Output>,
    err: File,
    overrides: Overrides,
    quiet: bool,
}

/// Standard output of the caller. Writing fails if the caller closed it.
#[derive(Debug)]
pub struct Output {
    file: File,
    is_closed: bool,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_closed {
            return Err(io::Error::other("it is closed"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Console {
    /// Copies both descriptors. `out_is_closed` is `true` if the caller closed standard output; Rust's runtime then has
    /// opened `/dev/null` instead.
    ///
    /// # Errors
    /// If the process has no descriptors left.
    pub fn open(out_is_closed: bool) -> io::Result<Self> {
        let out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let err = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        let out = BufWriter::with_capacity(1 << 16, Output { file: out, is_closed: out_is_closed });
        Ok(Self { out, err, overrides: Overrides::default(), quiet: false })
    }

    /// Returns standard output, buffered.
    pub const fn out(&mut self) -> &mut BufWriter<Output> {
        &mut self.out
    }

    /// Writes an object to standard output as JSON for scripts; escapes characters that could disguise a name.
    ///
    /// # Errors
    /// Returns the error of the system if standard output cannot be written.
    pub fn write_json(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        Ok(self.out.write_all(&to_pretty(document)?)?)
    }

    /// Writes a document with its schema name to standard output.
    ///
    /// # Errors
    /// Returns the error of the system if standard output cannot be written.
    pub fn write_document(&mut self, document: &impl Document) -> Result<(), Failure> {
        self.write_json(&Named::new(document))
    }

    /// Returns `true` if the caller closed standard output, so that a result would be lost.
    pub fn out_is_closed(&self) -> bool {
        self.out.get_ref().is_closed
    }

    /// Flushes the buffered output.
    ///
    /// # Errors
    /// Returns the error of the system if standard output cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Returns another handle of standard error, for a separate thread.
    ///
    /// # Errors
    /// If the process has no descriptors left.
    pub fn err_handle(&self) -> io::Result<File> {
        self.err.try_clone()
    }

    /// Returns another handle of standard output, unbuffered, for the screen.
    ///
    /// # Errors
    /// If the process has no descriptors left.
    pub fn out_handle(&self) -> io::Result<File> {
        self.out.get_ref().file.try_clone()
    }

    /// Returns `true` if standard output is a terminal.
    pub fn out_is_terminal(&self) -> bool {
        self.out.get_ref().file.is_terminal()
    }

    /// Returns `true` if standard error is a terminal.
    pub fn err_is_terminal(&self) -> bool {
        self.err.is_terminal()
    }

    /// Returns the number of columns and rows of the terminal to which standard output is connected.
    pub fn size(&self) -> Option<(u16, u16)> {
        let size = rustix::termios::tcgetwinsize(&self.out.get_ref().file).ok()?;
        (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
    }

    /// Returns `true` if help may be coloured.
    pub fn out_shows_colour(&self) -> bool {
        self.out_is_terminal() && colour_is_welcome()
    }

    /// Returns `true` if messages may be coloured.
    pub fn err_shows_colour(&self) -> bool {
        self.err_is_terminal() && colour_is_welcome()
    }

    /// Sets whether notes, warnings and progress are left out, so that standard error carries errors only.
    pub const fn set_quiet(&mut self, quiet: bool) {
        self.quiet = quiet;
    }

    /// Returns `true` if standard error carries errors only.
    pub const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Writes a line of information to standard error, unless the user wants errors only. A closed standard error is
    /// ignored.
    pub fn say(&mut self, message: &str) {
        if !self.quiet {
            self.say_raw(&format!("lightbay: {message}\n"));
        }
    }

    /// Writes a line about an error.
    pub fn error(&mut self, message: &str) {
        self.say_raw(&format!("error: {message}\n"));
    }

    /// Writes a line with a warning, unless the user wants errors only.
    pub fn warn(&mut self, message: &str) {
        if !self.quiet {
            self.say_raw(&format!("warning: {message}\n"));
        }
    }

    /// Writes text to standard error unchanged.
    pub fn say_raw(&mut self, text: &str) {
        // Buffered output came earlier, so it is flushed first; on a terminal the order is visible.
        let _ = self.out.flush();
        let _ = self.err.write_all(text.as_bytes());
    }

    /// Stores the folders and the configuration file named by flags.
    pub fn set_places(&mut self, overrides: Overrides) {
        self.overrides = overrides;
    }

    /// Returns the folders of this user.
    ///
    /// # Errors
    /// If neither flags nor environment variables determine the folders.
    pub fn places(&self) -> Result<Places, Failure> {
        Ok(Places::resolve(&self.overrides, |name| std::env::var_os(name))?)
    }

    /// Redirects the original descriptors to the log. Short commands do not create a log.
    pub fn divert(&self, create: bool) {
        let log = self.places().ok().and_then(|places| open_log(&places.logs(), create));
        let sink = log.or_else(|| OpenOptions::new().write(true).open("/dev/null").ok());
        if let Some(sink) = sink {
            // If this fails, output of libraries stays visible, and the program continues.
            let _ = rustix::stdio::dup2_stdout(&sink);
            let _ = rustix::stdio::dup2_stderr(&sink);
        }
    }
}

fn colour_is_welcome() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Returns the path of the file for output of libraries.
pub fn log_file(logs: &Path) -> PathBuf {
    logs.join("stray-output.log")
}

fn open_log(logs: &Path, create: bool) -> Option<File> {
    let path = log_file(logs);
    if create {
        make_folders(logs).ok()?;
        if fs::metadata(&path).is_ok_and(|found| found.len() > LOG_LIMIT_BYTES) {
            let _ = fs::rename(&path, path.with_extension("log.old"));
        }
    }
    append_to(&path, create).ok()
}
