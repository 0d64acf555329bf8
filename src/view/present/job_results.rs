//! Results of helper threads by key: requested during drawing, kept for a while, and never computed on the event loop.

use crate::app::drawn::{JobKey, JobResult, ViewJob};
use std::sync::Arc;

/// Outcome of a job: shared data, or the reason that the data is missing.
pub type Made<T> = Result<Arc<T>, String>;

/// Stored results of one type of job.
///
/// Every frame that needs a missing result requests it. The helpers do not repeat active work, and a job that was
/// dropped for a newer one is requested again when it is needed.
#[derive(Debug)]
pub struct JobResults<K, T> {
    /// Type of the jobs; unique within a kind.
    sort: u64,
    /// The results, the most recently used one at the end.
    made: Vec<(K, Made<T>)>,
    keep: usize,
}

impl<K: Clone + PartialEq + Send + Sync + 'static, T: Send + Sync + 'static> JobResults<K, T> {
    /// Creates a store for at most `keep` results of jobs of the type `sort`.
    pub const fn new(sort: u64, keep: usize) -> Self {
        Self { sort, made: Vec::new(), keep }
    }

    /// Returns the result for a key if it is stored; requests the job `job` with the work `work` otherwise.
    pub fn look(
        &mut self,
        key: &K,
        job: JobKey,
        jobs: &mut Vec<ViewJob>,
        work: impl Fn() -> Result<T, String> + Send + Sync + 'static,
    ) -> Option<Made<T>> {
        if let Some(made) = self.known(key) {
            return Some(made);
        }
        let key = key.clone();
        let job = JobKey { variant: self.sort, ..job };
        if !jobs.iter().any(|other| other.key == job) {
            let work = move || Box::new((key.clone(), guarded(&work).map(Arc::new))) as JobResult;
            jobs.push(ViewJob { key: job, work: Arc::new(work) });
        }
        None
    }

    /// Returns the result for a key if it is stored.
    pub fn known(&mut self, key: &K) -> Option<Made<T>> {
        let at = self.made.iter().position(|(known, _)| known == key)?;
        let used = self.made.remove(at);
        let made = used.1.clone();
        self.made.push(used);
        Some(made)
    }

    /// Returns the result that was made or used most recently.
    pub fn newest(&self) -> Option<Arc<T>> {
        self.made.last().and_then(|(_, made)| made.as_ref().ok().cloned())
    }

    /// Stores a result of a helper thread.
    ///
    /// # Errors
    /// Returns the result if it belongs to another type of job.
    pub fn accept(&mut self, job: JobKey, result: JobResult) -> Result<(), JobResult> {
        if job.variant != self.sort {
            return Err(result);
        }
        let (key, made) = *result.downcast::<(K, Made<T>)>()?;
        self.made.retain(|(known, _)| *known != key);
        self.made.push((key, made));
        if self.made.len() > self.keep {
            drop(self.made.remove(0));
        }
        Ok(())
    }
}

/// Does the work of a pane. A panic becomes an error, so that the pane shows a failure instead of waiting forever.
fn guarded<T>(work: impl Fn() -> Result<T, String>) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(format!(
            "this computation crashed: {}; the log has details",
            text.as_deref().unwrap_or("no message")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::pane::PaneId;

    const JOB: JobKey = JobKey { pane: PaneId::Kind(1), plan: 0, size: (0, 0), variant: 0 };

    fn ask(results: &mut JobResults<u32, u32>, key: u32) -> (Option<Made<u32>>, Vec<ViewJob>) {
        let mut jobs = Vec::new();
        let job = JobKey { plan: u64::from(key), ..JOB };
        let made = results
            .look(&key, job, &mut jobs, move || if key == 0 { Err("zero".to_owned()) } else { Ok(key * 2) });
        (made, jobs)
    }

    fn done(results: &mut JobResults<u32, u32>, key: u32) {
        let (made, jobs) = ask(results, key);
        assert!(made.is_none());
        results.accept(jobs[0].key, (jobs[0].work)()).unwrap();
    }

    #[test]
    fn a_result_is_asked_for_until_it_is_there() {
        let mut results = JobResults::new(7, 2);
        assert_eq!(ask(&mut results, 3).1.len(), 1);
        assert_eq!(ask(&mut results, 3).1[0].key.variant, 7, "a job that was dropped comes back");
        done(&mut results, 3);
        done(&mut results, 0);
        let (made, jobs) = ask(&mut results, 3);
        assert_eq!((made.unwrap().map(|two| *two), jobs.len()), (Ok(6), 0));
        assert_eq!(ask(&mut results, 0).0.unwrap(), Err("zero".to_owned()));
    }

    #[test]
    fn work_that_panics_is_a_result_with_its_message() {
        let mut results = JobResults::<u32, u32>::new(3, 2);
        let mut jobs = Vec::new();
        let work = || -> Result<u32, String> { panic!("no circuits") };
        assert!(results.look(&1, JOB, &mut jobs, work).is_none());
        results.accept(jobs[0].key, (jobs[0].work)()).unwrap();
        let why = results.known(&1).unwrap().unwrap_err();
        assert!(why.contains("no circuits"), "{why}");
    }

    #[test]
    fn what_was_not_used_for_longest_goes() {
        let mut results = JobResults::new(0, 2);
        done(&mut results, 1);
        done(&mut results, 2);
        assert!(results.known(&1).is_some());
        done(&mut results, 3);
        assert!(results.known(&2).is_none() && results.known(&1).is_some());
    }

    #[test]
    fn results_of_others_are_given_back() {
        let (mut one, mut other) = (JobResults::<u32, u32>::new(1, 2), JobResults::<u32, String>::new(2, 2));
        let (_, jobs) = ask(&mut one, 5);
        let result = other.accept(jobs[0].key, (jobs[0].work)());
        one.accept(jobs[0].key, result.unwrap_err()).unwrap();
        assert!(one.known(&5).is_some());
    }
}
