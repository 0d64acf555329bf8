//! Callbacks of HiGHS as safe calls of a [`Listener`].

use highs_sys as sys;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread::{self, ThreadId};

/// Figures of a tree search as HiGHS gives them, with placeholders for unknown values.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub primal: f64,
    pub dual: f64,
    pub nodes: i64,
    pub lp_iterations: i64,
}

/// Message of a callback of HiGHS, borrowed for the duration of the call.
pub enum Callback<'a> {
    /// A piece of the log: one or more lines, or a part of a line.
    Text(&'a str),
    Simplex(i32),
    Ipm(i32),
    /// A better point: its objective, its values for the columns of the original model, and the figures of the search.
    Improving(f64, &'a [f64], Figures),
    MipLine(Figures),
    MipCheck(Figures),
}

/// Listener to HiGHS, called on the thread that runs it.
pub trait Listener {
    /// Handles a message and returns `true` to stop; HiGHS stops the next time it checks.
    fn hear(&mut self, heard: Callback<'_>) -> bool;
    /// May write a point into `slot`, one value per column; returns `true` if HiGHS shall try it.
    fn offer(&mut self, figures: Figures, slot: &mut [f64]) -> bool;
}

/// Address of the hook of the current run; null between runs. HiGHS stores this address for the lifetime of the
/// instance, so callbacks are registered only once. They are registered before there is a model: at registration, HiGHS
/// allocates memory for one offered point with the current number of columns, and it copies this memory at every
/// callback.
pub(super) type HookAddress = AtomicPtr<c_void>;

/// Listener of one run, and its state between calls.
pub(super) struct Hook<'l> {
    pub(super) thread: ThreadId,
    pub(super) elsewhere: Mutex<Vec<String>>,
    // The fields from here on are accessed only on `thread`.
    pub(super) listener: RefCell<&'l mut dyn Listener>,
    pub(super) panic: RefCell<Option<String>>,
    pub(super) stop: Cell<bool>,
}

/// Receives a callback of HiGHS.
///
/// # Safety
/// `user` is the slot of the instance and outlives the instance; the slot holds null or the hook of the current run,
/// and the hook outlives the run. `message` is null or a terminated string. `out` and `inp` point to structures of the
/// version of HiGHS this crate is built with; for a log line, HiGHS does not fill them.
pub(super) unsafe extern "C" fn trampoline(
    kind: c_int,
    message: *const c_char,
    out: *const sys::HighsCallbackDataOut,
    inp: *mut sys::HighsCallbackDataIn,
    user: *mut c_void,
) {
    let logging = kind == sys::kHighsCallbackLogging;
    // SAFETY: see above. Other threads access only the thread id and the mutex.
    let hook = unsafe { (*user.cast::<HookAddress>()).load(Ordering::Acquire).cast::<Hook<'_>>().as_ref() };
    let Some(hook) = hook else {
        if !logging && !inp.is_null() {
            // SAFETY: not a log line, so the structure is filled and belongs to this call.
            unsafe { (*inp).user_interrupt = 0 };
        }
        return;
    };
    if thread::current().id() != hook.thread {
        if logging && !message.is_null() {
            // SAFETY: a terminated string, valid during the call.
            let line = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
            if let Ok(mut lines) = hook.elsewhere.lock() {
                lines.push(line);
            }
        }
        return;
    }
    if hook.panic.borrow().is_none() {
        // SAFETY: the pointers are those HiGHS passed for this kind.
        let heard = catch_unwind(AssertUnwindSafe(|| unsafe { hear(hook, kind, message, out, inp) }));
        match heard {
            Ok(stop) => hook.stop.set(hook.stop.get() || stop),
            Err(payload) => {
                let words = payload
                    .downcast_ref::<&str>()
                    .map(|words| (*words).to_owned())
                    .or_else(|| payload.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "no message".to_owned());
                *hook.panic.borrow_mut() = Some(words);
                hook.stop.set(true);
                // The drop of a panic payload may panic, and must not unwind from here.
                std::mem::forget(payload);
            }
        }
    }
    if !logging && !inp.is_null() {
        let asks = matches!(
            kind,
            sys::kHighsCallbackSimplexInterrupt
                | sys::kHighsCallbackIpmInterrupt
                | sys::kHighsCallbackMipInterrupt
        );
        // SAFETY: not a log line, so the structure is filled and belongs to this call.
        unsafe { (*inp).user_interrupt = c_int::from(asks && hook.stop.get()) };
    }
}

/// Passes one call of HiGHS to the listener and returns `true` if the run must stop.
///
/// # Safety
/// As for `trampoline`, on the thread of the hook.
unsafe fn hear(
    hook: &Hook<'_>,
    kind: c_int,
    message: *const c_char,
    out: *const sys::HighsCallbackDataOut,
    inp: *mut sys::HighsCallbackDataIn,
) -> bool {
    let mut listener = hook.listener.borrow_mut();
    let mut stop = false;
    if let Ok(mut lines) = hook.elsewhere.try_lock() {
        for line in lines.drain(..) {
            stop |= listener.hear(Callback::Text(&line));
        }
    }
    if kind == sys::kHighsCallbackLogging {
        if message.is_null() {
            return stop;
        }
        // SAFETY: a terminated string, valid during the call.
        let line = unsafe { CStr::from_ptr(message) }.to_string_lossy();
        return listener.hear(Callback::Text(&line)) || stop;
    }
    if out.is_null() {
        return stop;
    }
    // SAFETY: not a log line, so the structure is filled.
    let out = unsafe { &*out };
    let figures = Figures {
        primal: out.mip_primal_bound,
        dual: out.mip_dual_bound,
        nodes: out.mip_node_count,
        lp_iterations: out.mip_total_lp_iterations,
    };
    stop |= match kind {
        sys::kHighsCallbackSimplexInterrupt => listener.hear(Callback::Simplex(out.simplex_iteration_count)),
        sys::kHighsCallbackIpmInterrupt => listener.hear(Callback::Ipm(out.ipm_iteration_count)),
        sys::kHighsCallbackMipLogging => listener.hear(Callback::MipLine(figures)),
        sys::kHighsCallbackMipInterrupt => listener.hear(Callback::MipCheck(figures)),
        sys::kHighsCallbackMipImprovingSolution => {
            let size = usize::try_from(out.mip_solution_size).unwrap_or_default();
            if out.mip_solution.is_null() || size == 0 {
                return stop;
            }
            // SAFETY: HiGHS gives address and length of a vector that is valid during the call.
            let values = unsafe { std::slice::from_raw_parts(out.mip_solution, size) };
            listener.hear(Callback::Improving(out.objective_function_value, values, figures))
        }
        sys::kHighsCallbackCallbackMipUserSolution if !inp.is_null() => {
            // SAFETY: HiGHS filled the structure and gives address and length of its own vector, which nothing else
            // accesses during the call. HiGHS uses only the values written into that vector.
            unsafe {
                let size = usize::try_from((*inp).user_solution_size).unwrap_or_default();
                if !(*inp).user_solution.is_null() && size > 0 {
                    let slot = std::slice::from_raw_parts_mut((*inp).user_solution, size);
                    (*inp).user_has_solution = c_int::from(listener.offer(figures, slot));
                }
            }
            false
        }
        _ => false,
    };
    stop
}
