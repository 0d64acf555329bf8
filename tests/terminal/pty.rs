//! Simulates a user at a terminal: starts the program in a pseudo-terminal, types, and reads the parsed screen.
//!
//! No function waits for a fixed time. Each function waits for a state of the screen, the disk or the process table,
//! with the time limit [`PATIENCE`].
#![allow(dead_code, reason = "each test program and benchmark uses its part")]

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[cfg(target_os = "linux")]
#[path = "pty/process.rs"]
pub mod process;
#[path = "pty/view.rs"]
mod view;

pub use view::View;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_lightbay");

/// Maximum time that a function waits; only a faulty program reaches this limit.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Interval between two checks of states that are not reported by events (files, the process table).
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The Escape key as sent by terminals that distinguish all keys.
pub const ESCAPE: &str = "\x1b[27u";

const FRAME_BEGIN: &[u8] = b"\x1b[?2026h";
const FRAME_END: &[u8] = b"\x1b[?2026l";

/// A folder that only one test uses, with a home folder in it.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Returns the environment variables of the program.
    fn environment(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap_or_default();
        let home = self.home().to_str().unwrap().to_owned();
        [("HOME", home.as_str()), ("PATH", &path), ("TERM", "xterm-256color"), ("LANG", "C.UTF-8")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec()
    }

    /// Returns the command that runs the program without a terminal.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(self.folder.path()).env_clear().envs(self.environment());
        command
    }

    /// Starts the program in a terminal of 120 columns and 40 rows.
    pub fn open(&self, arguments: &[&str]) -> Terminal {
        self.opening(arguments).start()
    }

    /// Returns the options for starting the program in such a terminal, which can still be changed.
    pub fn opening(&self, arguments: &[&str]) -> Opening {
        Opening {
            program: PROGRAM.to_owned(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            folder: self.folder.path().to_owned(),
            environment: self.environment(),
            size: (120, 40),
            watch: None,
        }
    }
}

/// Function that is called with every finished frame, on the thread that reads the output.
pub type Watch = Box<dyn FnMut(&View, Instant) + Send>;

/// Options for starting a program.
pub struct Opening {
    program: String,
    arguments: Vec<String>,
    folder: PathBuf,
    environment: Vec<(String, String)>,
    size: (u16, u16),
    watch: Option<Watch>,
}

impl Opening {
    pub fn size(mut self, width: u16, height: u16) -> Self {
        self.size = (width, height);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts another program, with the same arguments, folder and environment.
    pub fn program(mut self, program: &str) -> Self {
        program.clone_into(&mut self.program);
        self
    }

    pub fn watch(mut self, watch: impl FnMut(&View, Instant) + Send + 'static) -> Self {
        self.watch = Some(Box::new(watch));
        self
    }

    pub fn start(self) -> Terminal {
        let (width, height) = self.size;
        let pair = native_pty_system().openpty(pty_size(width, height)).unwrap();
        let mode_before = mode(pair.master.as_ref());
        let mut command = CommandBuilder::new(&self.program);
        command.args(&self.arguments);
        command.cwd(&self.folder);
        command.env_clear();
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        let reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let began = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        // The terminal ends when the program's own descriptors are gone.
        drop(pair.slave);
        let shared = Arc::new(Shared::new(width, height));
        let thread = std::thread::spawn({
            let (shared, watch) = (Arc::clone(&shared), self.watch);
            move || read_all(reader, &shared, watch)
        });
        let line = Line { master: pair.master, writer, thread };
        Terminal { shared, child, line: Some(line), mode_before, began }
    }
}

struct State {
    parser: vt100::Parser,
    bytes: Vec<u8>,
    /// Times at which bytes arrived, each with the total number of bytes received by then.
    arrivals: Vec<(Instant, usize)>,
    frames: usize,
    in_frame: bool,
    first_frame: Option<Instant>,
    ended: bool,
    closing: bool,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn new(width: u16, height: u16) -> Self {
        let state = State {
            parser: vt100::Parser::new(cells(height), cells(width), 0),
            bytes: Vec::new(),
            arrivals: Vec::new(),
            frames: 0,
            in_frame: false,
            first_frame: None,
            ended: false,
            closing: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

const fn pty_size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

/// Returns the input and output modes of the terminal, as a text that can be compared.
fn mode(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios())
}

fn read_all(mut reader: Box<dyn Read + Send>, shared: &Shared, mut watch: Option<Watch>) {
    let mut chunk = vec![0; 1 << 16];
    loop {
        let read = reader.read(&mut chunk).unwrap_or(0);
        let mut state = shared.state();
        if read == 0 || state.closing {
            state.ended = true;
            shared.changed.notify_all();
            return;
        }
        state.take(&chunk[..read], &mut watch);
        shared.changed.notify_all();
    }
}

impl State {
    fn take(&mut self, new: &[u8], watch: &mut Option<Watch>) {
        let now = Instant::now();
        // A mark may have been cut in two by the chunks.
        let mut from = self.bytes.len().saturating_sub(FRAME_END.len() - 1);
        let mut shown = self.bytes.len();
        self.bytes.extend_from_slice(new);
        self.arrivals.push((now, self.bytes.len()));
        while let Some(end) = find(&self.bytes[from..], FRAME_END).map(|at| from + at + FRAME_END.len()) {
            from = end;
            if end <= shown {
                continue;
            }
            self.parser.process(&self.bytes[shown..end]);
            shown = end;
            self.frames += 1;
            self.first_frame.get_or_insert(now);
            if let Some(watch) = watch {
                watch(&View::of(self.parser.screen()), now);
            }
        }
        self.parser.process(&self.bytes[shown..]);
        let last = |mark: &[u8]| self.bytes.windows(mark.len()).rposition(|window| window == mark);
        self.in_frame = last(FRAME_BEGIN) > last(FRAME_END);
    }
}

fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    bytes.windows(mark.len()).position(|window| window == mark)
}

/// The controlling end of the pseudo-terminal, which is closed when the value is dropped.
struct Line {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    thread: JoinHandle<()>,
}

/// A program in a terminal.
pub struct Terminal {
    shared: Arc<Shared>,
    child: Box<dyn Child + Send + Sync>,
    line: Option<Line>,
    mode_before: String,
    pub began: Instant,
}

/// State of a program and its terminal after the end of the program.
#[derive(Debug)]
pub struct Ended {
    pub code: u32,
    /// Content of the terminal after the end of the program.
    pub view: View,
    /// `true` if the terminal has the input and output modes that it had before.
    pub restored: bool,
}

impl Ended {
    /// Asserts that the program restored the terminal.
    #[track_caller]
    pub fn tidy(self) -> Self {
        let view = &self.view;
        assert!(self.restored, "the terminal is not in the mode in which it was:\n{}", view.text());
        assert!(!view.alternate, "the alternate screen is still there:\n{}", view.text());
        assert!(!view.cursor_hidden && !view.brackets_paste && !view.reports_mouse, "{view:?}");
        self
    }
}

impl Terminal {
    // Typing -----------------------------------------------------------------------------------------------

    /// Sends bytes as a keyboard would.
    pub fn keys(&mut self, keys: &str) {
        let line = self.line.as_mut().unwrap();
        line.writer.write_all(keys.as_bytes()).unwrap();
        line.writer.flush().unwrap();
    }

    /// Presses Escape, as a byte sequence that cannot be the beginning of another key.
    pub fn escape(&mut self) {
        self.keys(ESCAPE);
    }

    /// Types a command in the palette and executes it.
    pub fn command(&mut self, command: &str) {
        self.keys(&format!(":{command}\r"));
    }

    /// Presses and releases the left button on a cell, counted from 0.
    pub fn click(&mut self, (column, row): (usize, usize)) {
        let (column, row) = (column + 1, row + 1);
        self.keys(&format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
    }

    pub fn resize(&self, width: u16, height: u16) {
        let mut state = self.shared.state();
        state.parser.screen_mut().set_size(cells(height), cells(width));
        self.line.as_ref().unwrap().master.resize(pty_size(width, height)).unwrap();
    }

    /// Writes text on the screen, as another program would.
    pub fn scribble(&self, text: &str) {
        self.shared.state().parser.process(text.as_bytes());
    }

    // Looking ----------------------------------------------------------------------------------------------

    pub fn view(&self) -> View {
        View::of(self.shared.state().parser.screen())
    }

    /// Waits until `enough` returns `true` for a finished frame.
    #[track_caller]
    pub fn until(&self, what: &str, mut enough: impl FnMut(&View) -> bool) -> View {
        let limit = Instant::now() + PATIENCE;
        let mut state = self.shared.state();
        loop {
            let view = View::of(state.parser.screen());
            if !state.in_frame && enough(&view) {
                return view;
            }
            let left = limit.saturating_duration_since(Instant::now());
            if left.is_zero() || state.ended {
                let how = if state.ended { "ended" } else { "waited in vain" };
                // The reader must not fail with us.
                drop(state);
                panic!("{how} without {what}:\n{}", view.text());
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits until all texts are on the screen.
    #[track_caller]
    pub fn until_shown(&self, texts: &[&str]) -> View {
        self.until(&format!("{texts:?}"), |view| texts.iter().all(|text| view.has(text)))
    }

    #[track_caller]
    pub fn until_gone(&self, text: &str) -> View {
        self.until(&format!("'{text}' going away"), |view| !view.has(text))
    }

    /// Waits for a time while the program runs; returns `true` if the program has ended.
    pub fn pass(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.shared.state();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || state.ended {
                return state.ended;
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits until the program has written nothing for this time.
    #[track_caller]
    pub fn until_quiet(&self, time: Duration) {
        let limit = Instant::now() + PATIENCE;
        loop {
            let before = self.bytes();
            self.pass(time);
            if self.bytes() == before {
                return;
            }
            assert!(Instant::now() < limit, "it never falls silent:\n{}", self.view().text());
        }
    }

    /// Returns the number of bytes written so far.
    pub fn bytes(&self) -> usize {
        self.shared.state().bytes.len()
    }

    /// Returns the bytes written after the first `from` bytes.
    pub fn written(&self, from: usize) -> Vec<u8> {
        self.shared.state().bytes[from..].to_vec()
    }

    /// Returns the times at which bytes were written, each with the number of bytes written by then.
    pub fn arrivals(&self) -> Vec<(Instant, usize)> {
        self.shared.state().arrivals.clone()
    }

    /// Returns the number of frames finished so far.
    pub fn frames(&self) -> usize {
        self.shared.state().frames
    }

    /// Returns the time at which the first frame was finished.
    #[track_caller]
    pub fn first_frame(&self) -> Instant {
        let limit = Instant::now() + PATIENCE;
        let mut state = self.shared.state();
        loop {
            if let Some(at) = state.first_frame {
                return at;
            }
            let left = limit.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !state.ended, "no frame");
            state = self.shared.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits until more than `frames` frames are finished, and returns the time of the newest bytes.
    #[track_caller]
    pub fn next_frame(&self, frames: usize) -> Instant {
        let limit = Instant::now() + PATIENCE;
        let mut state = self.shared.state();
        while state.frames <= frames {
            let left = limit.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !state.ended, "no frame");
            state = self.shared.changed.wait_timeout(state, left).unwrap().0;
        }
        state.arrivals.last().unwrap().0
    }

    // The process ------------------------------------------------------------------------------------------

    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.process_id().unwrap()).unwrap()).unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Returns `true` if the terminal has the input and output modes that it had before the program started.
    pub fn is_restored(&self) -> bool {
        mode(self.line.as_ref().unwrap().master.as_ref()) == self.mode_before
    }

    /// Closes the terminal, as a closed window or a lost connection does.
    pub fn close(&mut self) {
        self.shared.state().closing = true;
        // Something has to be written so that the reader looks up.
        self.keys("\x0c");
        let line = self.line.take().unwrap();
        line.thread.join().unwrap();
        drop((line.writer, line.master));
    }

    /// Waits for the end of the program.
    #[track_caller]
    pub fn end(mut self) -> Ended {
        let limit = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < limit, "it does not end:\n{}", self.view().text());
            std::thread::sleep(LOOK_EVERY);
        };
        let mut restored = true;
        if let Some(line) = self.line.take() {
            line.thread.join().unwrap();
            restored = mode(line.master.as_ref()) == self.mode_before;
        }
        Ended { code: status.exit_code(), view: self.view(), restored }
    }

    /// Kills the program at once, as `kill -9` does, and returns the time of the kill.
    pub fn kill(mut self) -> Instant {
        self.signal(Signal::KILL);
        let at = Instant::now();
        self.child.wait().unwrap();
        at
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Also after a failed test: nothing may go on working.
        if let Ok(None) = self.child.try_wait() {
            let _ = kill_process(self.pid(), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Waits until `look` returns a value, for states outside the screen.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let limit = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < limit, "waited in vain for {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Returns the folder of the sessions of a place.
pub fn sessions_of(place: &Place) -> PathBuf {
    place.home().join(".local/share/lightbay/sessions")
}

/// Copies a folder with everything in it.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
