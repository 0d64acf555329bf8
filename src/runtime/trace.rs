//! The program's own log: rotating files in the state folder. The run log is in the session.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;

/// Number of days whose logs are kept.
const KEPT: usize = 7;

/// Starts logging below `folder`; `LIGHTBAY_LOG` selects what is logged (default: `info`). The guard flushes the log
/// when it is dropped. Without a writable folder nothing is logged.
pub fn start(folder: &Path) -> Option<WorkerGuard> {
    lightbay_sessions::make_folders(folder).ok()?;
    // The files of the appender follow the umask; the folder restricts them to their owner.
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).ok()?;
    let appender = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .max_log_files(KEPT)
        .filename_prefix("lightbay")
        .filename_suffix("log")
        .build(folder)
        .ok()?;
    let (writer, guard) = tracing_appender::non_blocking(appender);
    let wanted = std::env::var("LIGHTBAY_LOG").ok().and_then(|text| text.parse::<Targets>().ok());
    let filter = wanted.unwrap_or_else(|| Targets::new().with_default(tracing::Level::INFO));
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
    let subscriber = tracing_subscriber::registry().with(filter).with(lines);
    // Only the first subscriber of a process is active; tests start several workbenches.
    tracing::subscriber::set_global_default(subscriber).ok()?;
    Some(guard)
}
