//! Handle of a solver process, with which the program suspends, resumes, kills and always reaps the process.

use rustix::process::{Pid, Signal, kill_process};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus};
use std::time::{Duration, Instant};

/// A solver process. Dropping this value kills and reaps the process.
#[derive(Debug)]
pub(super) struct Helper {
    child: Child,
    ended: Option<ExitStatus>,
}

impl Helper {
    /// Wraps a process that was just started, with its pipes.
    pub(super) fn new(mut child: Child) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let pipes = (child.stdin.take(), child.stdout.take());
        let helper = Self { child, ended: None };
        match pipes {
            (Some(input), Some(output)) => Ok((helper, input, output)),
            _ => Err(io::Error::other("its pipes are missing")),
        }
    }

    /// Suspends the process, so that a paused run uses no processor time.
    pub(super) fn hold(&self) {
        self.send(Signal::STOP);
    }

    /// Resumes the process.
    pub(super) fn release(&self) {
        self.send(Signal::CONT);
    }

    /// Kills the process at once, even if it is suspended.
    pub(super) fn kill(&mut self) {
        // An error means that the process has already ended.
        let _ = self.child.kill();
    }

    /// Returns `true` if the process ends by itself within the time.
    pub(super) fn ends_within(&mut self, time: Duration) -> bool {
        let began = Instant::now();
        while self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
            if self.ended.is_none() {
                if began.elapsed() >= time {
                    return false;
                }
                // The pipes of the process have closed, so it ends within microseconds.
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        true
    }

    /// Waits for the process to end; returns its exit status, or `None` if the system cannot report it.
    pub(super) fn wait(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.wait().ok();
        }
        self.ended
    }

    fn send(&self, signal: Signal) {
        // The process id is not reused until the process has been waited for.
        if self.ended.is_none()
            && let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
        {
            // An error means that the process has already ended; its pipe reports this.
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

/// Describes in words how a process ended.
pub(super) fn words(status: Option<ExitStatus>) -> String {
    match status.map(|status| (status.signal(), status.code())) {
        Some((Some(signal), _)) => {
            let what = match signal {
                4 => "an illegal instruction",
                6 => "its own abort",
                7 | 10 => "an error of the memory bus",
                8 => "an arithmetic fault",
                9 => "a kill, perhaps because memory ran out",
                11 => "an invalid memory access",
                15 => "a request to end",
                _ => return format!("ended by signal {signal}"),
            };
            format!("ended by {what} (signal {signal})")
        }
        Some((None, Some(code))) => format!("ended with exit code {code}"),
        _ => "ended in an unknown way".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn sleeper() -> Helper {
        let child =
            Command::new("sleep").arg("100").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        Helper::new(child).unwrap().0
    }

    /// Returns the letter for the state of a process; `None` if the process does not exist.
    fn state(id: u32) -> Option<char> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        stat[stat.rfind(')')? + 2..].chars().next()
    }

    fn becomes(id: u32, wanted: &[Option<char>]) -> bool {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(30) {
            if wanted.contains(&state(id)) {
                return true;
            }
            std::thread::yield_now();
        }
        false
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_is_held_let_go_and_killed_while_held() {
        let helper = sleeper();
        let id = helper.child.id();
        helper.hold();
        assert!(becomes(id, &[Some('T')]));
        helper.release();
        assert!(becomes(id, &[Some('S'), Some('R')]));
        helper.hold();
        drop(helper);
        assert_eq!(state(id), None, "nothing is left, not even a dead one");
    }

    #[test]
    fn the_end_is_told_in_words() {
        let mut helper = sleeper();
        helper.kill();
        let status = helper.wait();
        assert_eq!(words(status), "ended by a kill, perhaps because memory ran out (signal 9)");
        // Another process may have this id by now, so nothing is sent to it any more.
        helper.hold();
        helper.kill();
        assert_eq!(helper.wait(), status);
    }
}
