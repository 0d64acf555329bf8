//! The program's own log: rotating files in the state folder. The run log is in the session.

use std::path::Path;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

/// Days that are kept.
const KEPT: usize = 7;

/// Starts logging below `folder`; `LIGHTBAY_LOG` chooses what (`info` if unset). The guard writes the rest when it
/// is dropped. Without a writable folder nothing is logged.
pub fn start(folder: &Path) -> Option<WorkerGuard> {
    std::fs::create_dir_all(folder).ok()?;
    let appender = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .max_log_files(KEPT)
        .filename_prefix("lightbay")
        .filename_suffix("log")
        .build(folder)
        .ok()?;
    let (writer, guard) = tracing_appender::non_blocking(appender);
    let filter = EnvFilter::try_from_env("LIGHTBAY_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let subscriber =
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(writer).finish();
    // Only the first subscriber of a process counts; tests start several workbenches.
    tracing::subscriber::set_global_default(subscriber).ok()?;
    Some(guard)
}
