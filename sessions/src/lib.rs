//! Saved work: sessions on disk, written while runs continue, read back after a quit or a kill.
//!
//! | module | content |
//! |---|---|
//! | [`places`] | the folders of this user |
//! | [`store`], [`lock`] | list, create, open, remove sessions; one writer each |
//! | [`book`] | session-wide plan numbers, shared by screen, log and disk |
//! | [`writer`] | the thread that saves all events of runs |
//! | [`log`], [`replay`] | the run log, line by line and as a whole |
//! | [`resume`] | recent sessions, and the choice of the session to reopen |
//! | [`compare`] | comparisons of plans, as JSON, Markdown or CSV |
//! | [`atomic`] | writing a file: the old content or the new, never a mixture |
//! | [`append`] | a file that grows by complete lines |
//! | `private` | files inside a session: readable by the owner only, never links |
//!
//! This crate reads only envelopes: scenarios and results stay raw JSON, and every reader must validate and check them.
//!
//! Example of a workbench:
//!
//! ```no_run
//! use lightbay_core::clock::{Clock, SystemClock};
//! use lightbay_sessions::{Overrides, Places, ReplayLimits, SessionError, SessionWriter, Store};
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), SessionError> {
//! let places = Places::resolve(&Overrides::default(), |name| std::env::var_os(name))?;
//! let store = Store::at(places.sessions());
//! let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
//! // For a new session: store.create("megatron_177b", "training", &scenario, &clock.date())
//! let session = store.open("megatron_177b", &clock.date())?;
//! let replay = session.replay(ReplayLimits::default())?;
//! let book = Arc::new(session.book(&replay));
//! let first_run = session.next_run(&replay);
//! if session.read_only().is_none() {
//!     let notify = Box::new(|status: &_| drop(status));
//!     let writer = SessionWriter::start(&session, book, clock, notify)?;
//!     let sink = writer.sink(); // an EventSink: pass it every event, in addition to the sink of the screen
//!     // … on quit, hang-up or termination:
//!     if let Err(message) = writer.close() {
//!         // show the message to the user
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Plan numbers: call [`PlanBook::assign`] with an incumbent's run and number, and [`PlanBook::conclude`] for the plan
//! of `Done`. This plan is the run's last plan with its final status, so it gets the number of the last plan; if an
//! earlier run ended with an equal plan, it gets the number of the earlier plan and is not stored again. The writer
//! uses the same book, so the order of the calls does not matter.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod append;
pub mod atomic;
pub mod book;
pub mod compare;
mod error;
pub mod lock;
pub mod log;
pub mod places;
mod private;
pub mod replay;
pub mod resume;
pub mod store;
mod thin;
#[cfg(test)]
mod toy;
pub mod writer;

pub use append::LineFile;
pub use atomic::{Overwrite, atomic_write, atomic_write_with, own_write, remove_abandoned};
pub use book::{FinalPlan, PlanBook, PlanId};
pub use error::SessionError;
pub use lock::LockHolder;
pub use log::{Follower, LogLine, LogRecord};
pub use places::{Overrides, Places};
pub use private::{append_to, make_folders};
pub use replay::{Replay, ReplayLimits, RunHistory};
pub use resume::{RecentEntry, RecentPlan};
pub use store::{Access, PackedSession, PlanEntry, PlanStamps, Session, SessionFile, SessionSummary, Store};
pub use writer::{Ending, NewSession, SaveState, SaveStatus, SessionPlace, SessionSink, SessionWriter};
