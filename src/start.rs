//! Checks before `main` whether the caller closed standard output.
//!
//! Rust's runtime opens `/dev/null` for a closed standard stream. After that, a closed stream cannot be distinguished
//! from one that the caller redirected to `/dev/null`, so the descriptor is read before the runtime starts.

use rustix::io::{Errno, fcntl_getfd};
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns `true` if standard output was closed when the process started.
pub fn stdout_was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Reads whether standard output is closed, with one system call and one stored flag, because the standard library is
/// not initialised at this time.
extern "C" fn look() {
    let closed = fcntl_getfd(rustix::stdio::stdout()) == Err(Errno::BADF);
    CLOSED.store(closed, Ordering::Relaxed);
}

// The only unsafe attribute of the program. The system's loader calls the functions listed in this section before
// `main`, and the language has no safe way to add one. It is sound: the entry is a function of the type that the loader
// calls, and `look` needs nothing that the runtime has yet to set up.
#[allow(unsafe_code, reason = "no safe attribute places a function in the section that the loader runs")]
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;
