//! Hashes of shared scenarios, each computed once.

use super::Scenario;
use crate::json::WriteError;
use crate::kind::Kind;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Number of cached hashes: enough for the scenarios in use and a few earlier ones.
const KEPT: usize = 32;

/// A scenario with its hash. The weak reference prevents the allocation from being reused or changed in place: while it
/// exists, [`Arc::get_mut`] refuses, and [`Arc::make_mut`] moves the scenario to a new allocation.
struct Known {
    scenario: Weak<dyn Any + Send + Sync>,
    sha256: Arc<str>,
}

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// Returns the hash of a shared scenario, as [`Scenario::sha256`] computes it. The hash is needed for every candidate
/// of a run, so it is computed only once as long as the scenario is shared.
///
/// # Errors
/// [`WriteError`] for numbers that are not finite.
pub fn sha256_of<K: Kind>(scenario: &Arc<Scenario<K>>) -> Result<Arc<str>, WriteError> {
    let shared: Arc<dyn Any + Send + Sync> = Arc::clone(scenario) as _;
    let is_it = |known: &Known| std::ptr::addr_eq(known.scenario.as_ptr(), Arc::as_ptr(&shared));
    let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lock().iter().find(|known| is_it(known)) {
        return Ok(Arc::clone(&known.sha256));
    }
    // The hash is computed without holding the lock, because hashing a large scenario takes milliseconds.
    let sha256: Arc<str> = scenario.sha256()?.into();
    let mut known = lock();
    known.retain(|known| known.scenario.strong_count() > 0 && !is_it(known));
    if known.len() == KEPT {
        known.remove(0);
    }
    known.push(Known { scenario: Arc::downgrade(&shared), sha256: Arc::clone(&sha256) });
    Ok(sha256)
}
