//! Watches of work within other work: what they pass on, and what they keep to themselves.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use lightbay_core::context::Stop;
use lightbay_core::event::{EventBody, Note, Severity};
use lightbay_core::method::MethodError;
use lightbay_core::watch::{StopOnly, StopTest, Watch};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A run that counts what reaches it; its solutions are numbers.
#[derive(Default)]
struct Run {
    stopped: bool,
    units: u64,
    told: u32,
}

impl Watch<u32> for Run {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        if self.stopped { Err(Stop::Time.into()) } else { Ok(()) }
    }

    fn report(&mut self, _body: EventBody) {
        self.told += 1;
    }

    fn count(&mut self, units: u64) {
        self.units += units;
    }

    fn found(&mut self, _solution: u32, _source: &str) -> Result<(), MethodError> {
        self.told += 1;
        Ok(())
    }

    fn bound(&mut self, _bound: f64) {
        self.told += 1;
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        let stopped = self.stopped;
        Box::new(move || stopped)
    }
}

fn tell(watch: &mut impl Watch<u32>) {
    watch.report(EventBody::Note(Note { severity: Severity::Info, text: "half done".to_owned() }));
    watch.found(7, "here").unwrap();
    watch.bound(1.0);
    watch.count(3);
}

#[test]
fn stops_and_work_pass_but_nothing_that_is_told() {
    let mut run = Run::default();
    tell(&mut run);
    assert_eq!((run.told, run.units), (3, 3));
    tell(&mut StopOnly(&mut run));
    assert_eq!((run.told, run.units), (3, 6));
    assert!(StopOnly(&mut run).checkpoint().is_ok() && !StopOnly(&mut run).stop_test()());
    run.stopped = true;
    assert!(matches!(StopOnly(&mut run).checkpoint(), Err(MethodError::Stopped(Stop::Time))));
    assert!(StopOnly(&mut run).stop_test()());
}

#[test]
fn a_stop_test_ends_work_on_every_thread_and_counts_for_each() {
    let flag = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&flag);
    let mut one = StopTest::new(move || asked.load(Ordering::Relaxed));
    let mut other = StopTest::from(Watch::<()>::stop_test(&one));
    Watch::<()>::count(&mut one, 2);
    Watch::<()>::count(&mut other, 5);
    assert_eq!((one.units, other.units), (2, 5));
    assert!(Watch::<()>::checkpoint(&mut one).is_ok() && Watch::<()>::checkpoint(&mut other).is_ok());
    flag.store(true, Ordering::Relaxed);
    assert!(one.is_over() && other.is_over());
    let stopped = Watch::<()>::checkpoint(&mut other);
    assert!(matches!(stopped, Err(MethodError::Stopped(Stop::Requested))));
}
