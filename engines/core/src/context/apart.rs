//! Independent pieces of work on threads of their own.
//!
//! Pieces may take long. On the threads that all runs share they would delay the short parallel steps of other runs.
//! A piece cannot use the context of the run from another thread, so it sends what it reports to the thread of the run.
//! That thread makes these reports in the order of the pieces: the reports of a piece at once if all earlier pieces have
//! ended, otherwise afterwards. So a run says and keeps the same for any number of threads.

use super::{Context, Control};
use crate::checked::{Checked, Rejected};
use crate::context::Stop;
use crate::event::{EventBody, Note, Phase, Severity};
use crate::kind::{Depth, Kind};
use crate::method::MethodError;
use crate::plan::Plan;
use crate::run::STACK_BYTES;
use crate::watch::Watch;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// Maximum time between two checkpoints of the thread of the run while it waits for the pieces.
const TICK: Duration = Duration::from_millis(4);

/// A report of a piece, made on the thread of the run.
type Say<K> = Box<dyn for<'c> FnOnce(&mut Context<'c, K>) -> Result<(), MethodError> + Send>;

/// A message of a piece, with the number of the piece.
enum Told<K: Kind> {
    Says(usize, Say<K>),
    Ends(usize, bool),
}

/// A piece of work on another thread.
struct Away<K: Kind> {
    number: usize,
    told: Sender<Told<K>>,
    control: Arc<Control>,
    /// Set when the pieces must end.
    over: Arc<AtomicBool>,
    units: u64,
}

impl<K: Kind> Away<K> {
    fn is_over(&self) -> bool {
        self.control.stand_by();
        self.over.load(Ordering::Relaxed) || self.control.stopping().is_some()
    }

    fn say(&self, say: Say<K>) {
        // The receiver waits until all pieces have ended.
        let _ = self.told.send(Told::Says(self.number, say));
    }
}

enum Place<'w, 'a, K: Kind> {
    /// On the thread of the run.
    Here(&'w mut Context<'a, K>),
    Away(Away<K>),
}

/// A piece of work of a run: checks for stops, and makes reports. See [`Context::spread`].
pub struct Apart<'w, 'a, K: Kind>(Place<'w, 'a, K>);

impl<K: Kind> Apart<'_, '_, K> {
    /// Reports the end of a piece on another thread.
    fn end(self, is_done: bool) {
        if let Place::Away(Away { number, told, units, .. }) = self.0 {
            let count: Say<K> = Box::new(move |cx| {
                cx.count_work(units);
                Ok(())
            });
            let _ = told.send(Told::Says(number, count));
            let _ = told.send(Told::Ends(number, is_done));
        }
    }

    /// Makes a report, such as a phase, a note or an incumbent, on the thread of the run. Reports of all pieces are made
    /// in the order of the pieces.
    ///
    /// # Errors
    /// An error of the report, if it is made at once; an error of a later report ends the run.
    pub fn tell(
        &mut self,
        say: impl for<'c> FnOnce(&mut Context<'c, K>) -> Result<(), MethodError> + Send + 'static,
    ) -> Result<(), MethodError> {
        match &mut self.0 {
            Place::Here(cx) => say(cx),
            Place::Away(away) => {
                away.say(Box::new(say));
                Ok(())
            }
        }
    }
}

impl<K: Kind> Apart<'_, '_, K> {
    /// Reports that a phase begins.
    pub fn phase(&mut self, name: &str, detail: impl Into<String>) {
        let phase = Phase { name: name.to_owned(), detail: detail.into() };
        Watch::<()>::report(self, EventBody::Phase(phase));
    }

    /// Reports a remark for a person.
    pub fn note(&mut self, severity: Severity, text: impl Into<String>) {
        Watch::<()>::report(self, EventBody::Note(Note { severity, text: text.into() }));
    }
}

impl<K: Kind, S> Watch<S> for Apart<'_, '_, K> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        match &mut self.0 {
            Place::Here(cx) => cx.checkpoint(),
            // The thread of the run knows the actual reason.
            Place::Away(away) if away.is_over() => Err(Stop::Requested.into()),
            Place::Away(_) => Ok(()),
        }
    }

    fn report(&mut self, body: EventBody) {
        match &mut self.0 {
            Place::Here(cx) => cx.report(body),
            Place::Away(away) => away.say(Box::new(move |cx| {
                cx.report(body);
                Ok(())
            })),
        }
    }

    fn count(&mut self, units: u64) {
        match &mut self.0 {
            Place::Here(cx) => cx.count_work(units),
            Place::Away(away) => away.units += units,
        }
    }

    fn elapsed_s(&self) -> f64 {
        match &self.0 {
            Place::Here(cx) => cx.elapsed_s(),
            Place::Away(away) => away.control.elapsed().as_secs_f64(),
        }
    }

    fn is_paused(&self) -> bool {
        match &self.0 {
            Place::Here(cx) => cx.control().is_paused(),
            Place::Away(away) => away.control.is_paused(),
        }
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        match &self.0 {
            Place::Here(cx) => Watch::<S>::stop_test(&**cx),
            Place::Away(away) => {
                let (control, over) = (Arc::clone(&away.control), Arc::clone(&away.over));
                Box::new(move || {
                    control.stand_by();
                    over.load(Ordering::Relaxed) || control.stopping().is_some()
                })
            }
        }
    }

    fn threads(&self) -> usize {
        match &self.0 {
            Place::Here(cx) => cx.threads(),
            Place::Away(_) => 1,
        }
    }

    fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Place::Here(cx) => cx.parallel(work),
            Place::Away(_) => work(),
        }
    }
}

fn taken<T>(place: &Mutex<Option<T>>) -> Option<T> {
    // A piece that panics ends the run.
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl<'a, K: Kind> Context<'a, K> {
    /// Returns a piece of work on the thread of the run, whose reports are made at once.
    pub const fn here(&mut self) -> Apart<'_, 'a, K> {
        Apart(Place::Here(self))
    }

    /// Does independent pieces of work on as many threads as the run may use, and returns their results in the order of the pieces.
    /// Pieces begin in that order, so the longest ones should come first. Meanwhile, the thread of the run makes the
    /// reports of the pieces, in the order of the pieces, and its checkpoints. With one thread or one piece, all work is
    /// done on the thread of the run.
    ///
    /// # Errors
    /// The error of the first piece that fails, or of its reports; or the reason to stop. If the run must stop, the
    /// reports of all pieces are still made; a piece that changes its item in place also keeps what it has done.
    pub fn spread<T: Send, R: Send>(
        &mut self,
        items: Vec<T>,
        work: impl Fn(T, &mut Apart<'_, 'a, K>) -> Result<R, MethodError> + Sync,
    ) -> Result<Vec<R>, MethodError> {
        let count = items.len();
        if self.threads <= 1 || count <= 1 {
            return items.into_iter().map(|item| work(item, &mut self.here())).collect();
        }
        let items: Vec<Mutex<Option<T>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
        let results: Vec<Mutex<Option<Result<R, MethodError>>>> =
            (0..count).map(|_| Mutex::new(None)).collect();
        let (next, over) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
        let (told, heard) = channel();
        let control = Arc::clone(&self.control);
        let listened = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for worker in 0..self.threads.min(count) {
                let (told, control, over) = (told.clone(), Arc::clone(&control), Arc::clone(&over));
                let (items, results, next, work) = (&items, &results, &next, &work);
                let pieces = move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(item) = items.get(number).and_then(taken) else { break };
                        let (told, control) = (told.clone(), Arc::clone(&control));
                        let away = Away { number, told, control, over: Arc::clone(&over), units: 0 };
                        let mut apart = Apart(Place::Away(away));
                        let ended = catch_unwind(AssertUnwindSafe(|| work(item, &mut apart)));
                        let result = ended.unwrap_or_else(|panic| {
                            // The thread of the run continues the panic.
                            over.store(true, Ordering::Relaxed);
                            resume_unwind(panic)
                        });
                        if result.is_err() {
                            // No further piece begins.
                            next.store(items.len(), Ordering::Relaxed);
                        }
                        apart.end(result.is_ok());
                        *results[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                    }
                };
                let builder = Builder::new().name(format!("lb-piece-{worker}")).stack_size(STACK_BYTES);
                match builder.spawn_scoped(scope, pieces) {
                    Ok(thread) => threads.push(thread),
                    Err(error) if threads.is_empty() => {
                        return Err(MethodError::Failed(format!("a thread cannot be started: {error}")));
                    }
                    // The threads that have begun do all pieces.
                    Err(_) => break,
                }
            }
            // The channel closes when the last thread ends.
            drop(told);
            let listened = self.listen(&heard, count, &over);
            for thread in threads {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
            listened
        });
        listened?;
        results.iter().filter_map(taken).collect()
    }

    /// Checks a plan. A checker that uses parallel iterators gets the threads of the run.
    pub(super) fn verified(&self, plan: Plan<K>) -> Result<Checked<K>, Rejected<K>> {
        let check = || Checked::verify(plan, Depth::Usual);
        if self.threads > 1 { self.pool.install(check) } else { check() }
    }

    /// Makes the reports of `count` pieces until all pieces have ended or were abandoned. Sets `over` if the pieces must
    /// end.
    fn listen(
        &mut self,
        heard: &Receiver<Told<K>>,
        count: usize,
        over: &AtomicBool,
    ) -> Result<(), MethodError> {
        let mut waiting: Vec<VecDeque<Say<K>>> = (0..count).map(|_| VecDeque::new()).collect();
        let mut ended = vec![None; count];
        let (mut first, mut stopped) = (0, None);
        loop {
            match heard.recv_timeout(TICK) {
                Ok(Told::Says(number, say)) => waiting[number].push_back(say),
                Ok(Told::Ends(number, is_done)) => ended[number] = Some(is_done),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Reports of the first piece that has not ended, and of pieces that follow ended ones.
            while stopped.is_none() && first < count {
                while stopped.is_none()
                    && let Some(say) = waiting[first].pop_front()
                {
                    stopped = say(self).err();
                }
                match ended[first] {
                    Some(true) => first += 1,
                    _ => break,
                }
            }
            if stopped.is_none() {
                stopped = self.checkpoint().err();
            }
            if stopped.is_some() {
                over.store(true, Ordering::Relaxed);
            }
        }
        if stopped.is_none() && ended.iter().any(|ended| *ended != Some(true)) {
            // Pieces notice a stop on their own.
            stopped = self.checkpoint().err();
        }
        match stopped {
            None => Ok(()),
            Some(MethodError::Stopped(why)) => {
                // What the pieces found before the stop is kept.
                let mut says = waiting.into_iter().skip(first).flatten();
                says.try_for_each(|say| say(self))?;
                Err(why.into())
            }
            Some(error) => Err(error),
        }
    }
}
