//! Safe functions around the C interface of HiGHS: the only module of the crate with unsafe code.
//!
//! Rules that only this module must follow:
//! - an instance never leaves the thread that made it (HiGHS keeps a task scheduler per thread);
//! - every array has the length that HiGHS expects before its address is passed;
//! - callbacks never unwind into C++, and write the stop flag every time, because HiGHS keeps the last value;
//! - the hook of a run is removed from the instance before the hook is freed.

#![allow(unsafe_code, reason = "the interface of HiGHS is a C interface")]

use crate::error::Error;
use crate::model::Model;
use highs_sys as sys;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;

mod change;
mod file;
mod listen;
mod options;

pub use file::Subsystem;
pub use listen::{Callback, Figures, Listener};
use listen::{Hook, HookAddress, trampoline};
pub use options::OptionInfo;

/// Result of the call that runs the solver.
pub struct Returned {
    pub status: i32,
    /// Message of a panic in the listener, if there was one.
    pub panic: Option<String>,
    /// Log text from other threads, which the listener did not receive during the run.
    pub elsewhere: Vec<String>,
}

thread_local! {
    /// The thread count with which the HiGHS scheduler of this thread was last used.
    static SCHEDULED: Cell<Option<i32>> = const { Cell::new(None) };
}

/// A HiGHS instance behind its C interface.
pub struct Highs {
    ptr: NonNull<c_void>,
    /// Address of the listener; freed after the instance, because fields are dropped after `drop` has run.
    slot: Box<HookAddress>,
    not_send: PhantomData<*mut ()>,
}

impl Drop for Highs {
    fn drop(&mut self) {
        // SAFETY: the instance was made by Highs_create on this thread and is destroyed once.
        unsafe { sys::Highs_destroy(self.ptr.as_ptr()) };
    }
}

/// Checks that a call succeeded; a warning counts as success.
fn fine(status: i32, what: &str) -> Result<(), Error> {
    if status == sys::STATUS_ERROR { Err(Error::solver(what, "")) } else { Ok(()) }
}

fn count(length: usize) -> Result<i32, Error> {
    i32::try_from(length)
        .map_err(|_| Error::Model(format!("{length} entries exceed the 32-bit integers of the solver")))
}

/// Converts positions to signed integers for HiGHS, checked for overflow.
fn signed(positions: &[u32]) -> Result<*const i32, Error> {
    if positions.iter().any(|position| i32::try_from(*position).is_err()) {
        return Err(Error::Model("a position exceeds the 32-bit integers of the solver".to_owned()));
    }
    // Below 2^31, both types have the same representation.
    Ok(positions.as_ptr().cast())
}

fn text(name: &str) -> Result<CString, Error> {
    CString::new(name).map_err(|_| Error::Model(format!("'{}' has a zero byte", name.escape_debug())))
}

impl Highs {
    /// Creates an instance without a model.
    pub fn new() -> Result<Self, Error> {
        // SAFETY: no requirements; null if memory ran out.
        let ptr = unsafe { sys::Highs_create() };
        let ptr = NonNull::new(ptr).ok_or_else(|| Error::solver("make an instance", "no memory"))?;
        let highs = Self { ptr, slot: Box::default(), not_send: PhantomData };
        let slot: *const HookAddress = &raw const *highs.slot;
        // SAFETY: the slot is on the heap, stays there, and is freed after the instance; `trampoline` has the
        // signature HiGHS calls and does not unwind.
        let status = unsafe { sys::Highs_setCallback(highs.at(), Some(trampoline), slot.cast_mut().cast()) };
        fine(status, "take a callback")?;
        Ok(highs)
    }

    fn at(&self) -> *mut c_void {
        self.ptr.as_ptr()
    }

    /// Passes a model to HiGHS. The caller has checked the lengths of its arrays and the range of its entries.
    pub fn pass(&mut self, model: &Model) -> Result<(), Error> {
        let (columns, rows) = (model.columns(), model.rows());
        for (what, length) in [
            ("lower bounds", model.lower.len()),
            ("upper bounds", model.upper.len()),
            ("domains", model.domains.len()),
        ] {
            Error::length(what, length, columns)?;
        }
        Error::length("row bounds", model.row_upper.len(), rows)?;
        Error::length("row starts", model.starts.len(), rows)?;
        Error::length("entries", model.indices.len(), model.values.len())?;
        let domains: Vec<i32> = model.domains.iter().map(|domain| *domain as i32).collect();
        let integrality = if model.is_mip() { domains.as_ptr() } else { ptr::null() };
        let sense =
            if model.maximise { sys::OBJECTIVE_SENSE_MAXIMIZE } else { sys::OBJECTIVE_SENSE_MINIMIZE };
        let none = crate::model::Quadratic::default();
        let quadratic = model.quadratic.as_ref().unwrap_or(&none);
        if model.quadratic.is_some() {
            Error::length("starts of the quadratic part", quadratic.starts.len(), columns)?;
        }
        Error::length("quadratic entries", quadratic.indices.len(), quadratic.values.len())?;
        // SAFETY: the lengths were checked above; HiGHS copies everything during the call and checks the
        // positions against the size of the model.
        let status = unsafe {
            sys::Highs_passModel(
                self.at(),
                count(columns)?,
                count(rows)?,
                count(model.values.len())?,
                count(quadratic.values.len())?,
                sys::MATRIX_FORMAT_ROW_WISE,
                sys::kHighsHessianFormatTriangular,
                sense,
                model.offset,
                model.costs.as_ptr(),
                model.lower.as_ptr(),
                model.upper.as_ptr(),
                model.row_lower.as_ptr(),
                model.row_upper.as_ptr(),
                signed(&model.starts)?,
                signed(&model.indices)?,
                model.values.as_ptr(),
                signed(&quadratic.starts)?,
                signed(&quadratic.indices)?,
                quadratic.values.as_ptr(),
                integrality,
            )
        };
        fine(status, "take the model")
    }

    /// Sets the point from which the next run starts: one value per column.
    pub fn set_solution(&mut self, values: &[f64]) -> Result<(), Error> {
        Error::length("start", values.len(), self.columns())?;
        // SAFETY: one value per column; null marks an array that is not given.
        let status = unsafe {
            sys::Highs_setSolution(self.at(), values.as_ptr(), ptr::null(), ptr::null(), ptr::null())
        };
        fine(status, "take the start")
    }

    /// Sets the values of some columns from which the next run starts.
    pub fn set_sparse_solution(&mut self, columns: &[u32], values: &[f64]) -> Result<(), Error> {
        Error::length("start", values.len(), columns.len())?;
        // SAFETY: both arrays have the length that is passed; HiGHS checks the positions.
        let status = unsafe {
            sys::Highs_setSparseSolution(self.at(), count(columns.len())?, signed(columns)?, values.as_ptr())
        };
        fine(status, "take the start")
    }

    /// Returns the number of columns that HiGHS has.
    pub fn columns(&self) -> usize {
        // SAFETY: the instance is alive.
        usize::try_from(unsafe { sys::Highs_getNumCol(self.at()) }).unwrap_or_default()
    }

    /// Returns the number of rows that HiGHS has.
    pub fn rows(&self) -> usize {
        // SAFETY: the instance is alive.
        usize::try_from(unsafe { sys::Highs_getNumRow(self.at()) }).unwrap_or_default()
    }

    /// Runs with a listener. Clocks are reset first, because otherwise the time limit counts from the first run.
    ///
    /// `offers` is `true` if the listener may offer points, which only a tree search can use; otherwise HiGHS allocates
    /// no memory for such points.
    pub fn run(
        &mut self,
        threads: i32,
        offers: bool,
        listener: &mut dyn Listener,
    ) -> Result<Returned, Error> {
        let other = SCHEDULED.with(|scheduled| {
            let last = scheduled.replace(Some(threads));
            threads != 0 && last.is_some_and(|last| last != threads)
        });
        let hook = Hook {
            thread: thread::current().id(),
            elsewhere: Mutex::default(),
            listener: RefCell::new(listener),
            panic: RefCell::default(),
            stop: Cell::new(false),
        };
        let user: *const Hook<'_> = &raw const hook;
        let mut started = sys::STATUS_OK;
        // SAFETY: the hook outlives the run and is taken out of the slot below, before it is freed. The scheduler and
        // the instance belong to this thread, and no run is active on it.
        let status = unsafe {
            if other {
                sys::Highs_resetGlobalScheduler(1);
            }
            for kind in [
                sys::kHighsCallbackLogging,
                sys::kHighsCallbackSimplexInterrupt,
                sys::kHighsCallbackIpmInterrupt,
                sys::kHighsCallbackMipImprovingSolution,
                sys::kHighsCallbackMipLogging,
                sys::kHighsCallbackMipInterrupt,
            ] {
                started = started.min(sys::Highs_startCallback(self.at(), kind));
            }
            let offering = sys::kHighsCallbackCallbackMipUserSolution;
            started = started.min(if offers {
                sys::Highs_startCallback(self.at(), offering)
            } else {
                sys::Highs_stopCallback(self.at(), offering)
            });
            sys::Highs_zeroAllClocks(self.at());
            self.slot.store(user.cast_mut().cast(), Ordering::Release);
            let status = sys::Highs_run(self.at());
            self.slot.store(ptr::null_mut(), Ordering::Release);
            status
        };
        fine(started, "start its callbacks")?;
        let Hook { elsewhere, panic, .. } = hook;
        let elsewhere = elsewhere.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(Returned { status, panic: panic.into_inner(), elsewhere })
    }

    /// Returns the model status as the number that HiGHS uses for it.
    pub fn model_status(&self) -> i32 {
        // SAFETY: the instance is alive.
        unsafe { sys::Highs_getModelStatus(self.at()) }
    }

    /// Returns an integer figure of the last run.
    pub fn int_info(&self, name: &CStr) -> Option<i32> {
        let mut value = 0;
        // SAFETY: a terminated name and a place to write to; the type is checked by HiGHS.
        let status = unsafe { sys::Highs_getIntInfoValue(self.at(), name.as_ptr(), &raw mut value) };
        (status == sys::STATUS_OK).then_some(value)
    }

    /// Returns a 64-bit integer figure of the last run.
    pub fn long_info(&self, name: &CStr) -> Option<i64> {
        let mut value = 0;
        // SAFETY: as above.
        let status = unsafe { sys::Highs_getInt64InfoValue(self.at(), name.as_ptr(), &raw mut value) };
        (status == sys::STATUS_OK).then_some(value)
    }

    /// Returns a figure of the last run.
    pub fn float_info(&self, name: &CStr) -> Option<f64> {
        let mut value = 0.0;
        // SAFETY: as above.
        let status = unsafe { sys::Highs_getDoubleInfoValue(self.at(), name.as_ptr(), &raw mut value) };
        (status == sys::STATUS_OK).then_some(value)
    }

    /// Returns the values of columns, reduced costs, values of rows, and duals of rows.
    pub fn solution(&self) -> Result<[Vec<f64>; 4], Error> {
        let (columns, rows) = (self.columns(), self.rows());
        let mut arrays = [vec![0.0; columns], vec![0.0; columns], vec![0.0; rows], vec![0.0; rows]];
        let [values, costs, activities, duals] = &mut arrays;
        // SAFETY: HiGHS writes one value per column into the first two arrays and one value per row into the other two
        // arrays.
        let status = unsafe {
            sys::Highs_getSolution(
                self.at(),
                values.as_mut_ptr(),
                costs.as_mut_ptr(),
                activities.as_mut_ptr(),
                duals.as_mut_ptr(),
            )
        };
        fine(status, "give its solution")?;
        Ok(arrays)
    }

    /// Returns the statuses of columns and rows in the basis.
    pub fn basis(&self) -> Result<(Vec<i32>, Vec<i32>), Error> {
        let (mut columns, mut rows) = (vec![0; self.columns()], vec![0; self.rows()]);
        // SAFETY: HiGHS writes one status per column and row.
        let status = unsafe { sys::Highs_getBasis(self.at(), columns.as_mut_ptr(), rows.as_mut_ptr()) };
        fine(status, "give its basis")?;
        Ok((columns, rows))
    }

    /// Sets a basis.
    pub fn set_basis(&mut self, columns: &[i32], rows: &[i32]) -> Result<(), Error> {
        Error::length("columns of the basis", columns.len(), self.columns())?;
        Error::length("rows of the basis", rows.len(), self.rows())?;
        // SAFETY: one status per column and row.
        fine(unsafe { sys::Highs_setBasis(self.at(), columns.as_ptr(), rows.as_ptr()) }, "take the basis")
    }
}

/// Returns the version of HiGHS.
pub fn version() -> String {
    // SAFETY: the function has no arguments and returns a constant text.
    let text = unsafe { CStr::from_ptr(sys::Highs_version()) };
    text.to_string_lossy().into_owned()
}
