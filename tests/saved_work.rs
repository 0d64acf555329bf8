//! Tests of the saved work of the whole program: after a kill at any time, after the loss of the terminal, when opened
//! again, and when opened twice.
#![cfg(unix)]
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "saved_work/killed.rs"]
mod killed;
#[path = "terminal/pty.rs"]
mod pty;
#[path = "saved_work/reopened.rs"]
mod reopened;
#[path = "saved_work/witness.rs"]
mod witness;

use lightbay_core::param::{ParamValue, Params};
use lightbay_sessions::Store;
use pty::{Place, sessions_of};

/// Any date.
const DATE: &str = "2026-01-01T00:00:00Z";

/// Name of the session that [`endless`] makes.
const SESSION: &str = "deepseek_671b";

/// Makes a session without runs, for a scenario whose search takes longer than any test.
fn endless(place: &Place) {
    let scenario = lightbay_engines::preset(SESSION).unwrap();
    let store = Store::at(sessions_of(place));
    let mut session = store.create(SESSION, scenario.kind(), &scenario.to_value().unwrap(), DATE).unwrap();
    let mut params = Params::default();
    for (name, value) in [("generations", 1_000_000), ("stall_generations", 1_000_000), ("population", 400)] {
        params.set(name.to_owned(), ParamValue::Int(value));
    }
    let mut file = session.file().clone();
    file.method = Some("delta-fast".to_owned());
    file.parameters.insert("delta-fast".to_owned(), params);
    session.save(file).unwrap();
}
