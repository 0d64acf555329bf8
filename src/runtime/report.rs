//! Reports for developers: written after a crash and on SIGUSR1.

use std::backtrace::Backtrace;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

/// Maximum number of actions in a report.
const ACTIONS: usize = 30;

static LAST: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// Records an action for the report.
pub fn note(action: String) {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.len() == ACTIONS {
        last.pop_front();
    }
    last.push_back(action);
}

/// Path of the newest report.
static NEWEST: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Returns the path of the newest report of this process.
pub fn last() -> Option<PathBuf> {
    NEWEST.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Installs a panic hook that releases the terminal before it prints anything, and writes a report. A panic on another
/// thread also gets a report; it is shown as a failed run or task and does not change the terminal.
pub fn install_hook(shell: ThreadId, folder: PathBuf, version: &'static str, err: Option<File>) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let text = format!("{info}\n\n{}", Backtrace::force_capture());
        if std::thread::current().id() != shell {
            tracing::error!("{info}");
            if let Err(error) = write(&folder, "crash", version, &text) {
                tracing::error!("the report could not be written: {error}");
            }
            return;
        }
        super::terminal::restore();
        let written = write(&folder, "crash", version, &text);
        before(info);
        // At this time, standard error is redirected to the log.
        if let Some(mut err) = err.as_ref() {
            use std::io::Write as _;
            let place = written.map_or_else(|error| error.to_string(), |path| path.display().to_string());
            let _ =
                writeln!(err, "lightbay crashed; everything found so far is saved. {info}\nreport: {place}");
        }
    }));
}

/// Writes a report and returns its path.
///
/// # Errors
/// If the report cannot be written.
pub fn write(folder: &Path, sort: &str, version: &str, text: &str) -> std::io::Result<PathBuf> {
    let now = jiff::Timestamp::now();
    let mut report = format!(
        "lightbay {version}\n{now}\n{} {}\n\n{text}\n\nLast actions:\n",
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    for action in LAST.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = writeln!(report, "  {action}");
    }
    let path = folder.join(format!("{sort}-{}.txt", now.as_second()));
    lightbay_sessions::own_write(&path, report.as_bytes()).map_err(std::io::Error::other)?;
    *NEWEST.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.clone());
    Ok(path)
}
