//! The only reader of the terminal: a thread that waits for bytes and ends at the end of input.

use crate::runtime::decode::{Awaited, Decoder, TerminalInput};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::thread::JoinHandle;
use tokio::sync::mpsc;

/// Time for which the decoder waits for further bytes after a single Escape.
const ESCAPE_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 30_000_000 };
/// Time for which the decoder waits for the next byte of a sequence. Connections with longer pauses inside a reply are
/// rare, and a longer wait would block input after a sequence that never ends.
const REST_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 950_000_000 };

/// Maximum number of inputs that wait for the loop.
const CAPACITY: usize = 1024;

/// Message of the reader to the loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// A key, paste, mouse event or reply of the terminal.
    Input(TerminalInput),
    /// The terminal is closed: the read returned zero bytes or a permanent error.
    End,
}

/// The reader of the terminal. Dropping this value ends the thread.
#[derive(Debug)]
pub struct InputReader {
    /// Messages to the loop.
    pub inputs: mpsc::Receiver<Read>,
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl InputReader {
    /// Starts reading.
    ///
    /// # Errors
    /// If there is no thread or no descriptor left.
    pub fn start(tty: File) -> io::Result<Self> {
        let (sender, inputs) = mpsc::channel(CAPACITY);
        let (stopped, stop) = io::pipe()?;
        let thread = std::thread::Builder::new()
            .name("lb-input".to_owned())
            .spawn(move || read_all(&tty, &stopped, &sender))?;
        Ok(Self { inputs, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for InputReader {
    fn drop(&mut self) {
        // Closing the pipe wakes the thread; closing the channel releases it if the channel is full.
        self.stop = None;
        self.inputs.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_all(tty: &File, stopped: &PipeReader, sender: &mpsc::Sender<Read>) {
    let mut decoder = Decoder::default();
    let mut bytes = [0_u8; 4096];
    let mut inputs = Vec::new();
    loop {
        let wait = decoder.waiting().map(|waiting| match waiting {
            Awaited::Escape => &ESCAPE_WAIT,
            Awaited::Rest => &REST_WAIT,
        });
        let mut fds =
            [PollFd::new(tty, PollFlags::IN), PollFd::from_borrowed_fd(stopped.as_fd(), PollFlags::IN)];
        match poll(&mut fds, wait) {
            Ok(0) => decoder.time_out(&mut inputs),
            Ok(_) if !fds[1].revents().is_empty() => return,
            Ok(_) => match rustix::io::read(tty, &mut bytes) {
                Ok(0) => {
                    let _ = sender.blocking_send(Read::End);
                    return;
                }
                Ok(count) => decoder.feed(&bytes[..count], &mut inputs),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => {
                    let _ = sender.blocking_send(Read::End);
                    return;
                }
            },
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => {
                let _ = sender.blocking_send(Read::End);
                return;
            }
        }
        for input in inputs.drain(..) {
            if sender.blocking_send(Read::Input(input)).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::key::Key;
    use std::io::Write;
    use std::os::fd::OwnedFd;

    fn file_of(pipe: impl Into<OwnedFd>) -> File {
        File::from(pipe.into())
    }

    #[test]
    fn the_end_of_the_terminal_is_told_once_and_ends_the_thread() {
        let (from, mut to) = io::pipe().unwrap();
        let mut reader = InputReader::start(file_of(from)).unwrap();
        to.write_all(b"r\x1b").unwrap();
        assert_eq!(reader.inputs.blocking_recv(), Some(Read::Input(TerminalInput::Key(Key::char('r')))));
        let escape = Key::plain(crate::app::key::Code::Esc);
        assert_eq!(reader.inputs.blocking_recv(), Some(Read::Input(TerminalInput::Key(escape))));
        drop(to);
        assert_eq!(reader.inputs.blocking_recv(), Some(Read::End));
        assert_eq!(reader.inputs.blocking_recv(), None);
    }

    #[test]
    fn dropping_the_reader_ends_its_thread_while_nothing_is_typed() {
        let (from, _to) = io::pipe().unwrap();
        let reader = InputReader::start(file_of(from)).unwrap();
        drop(reader);
    }
}
