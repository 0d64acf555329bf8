//! A queue between threads whose writers never wait.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A queue of messages.
#[derive(Debug)]
pub struct Inbox<T> {
    queue: Mutex<VecDeque<T>>,
    filled: Condvar,
}

impl<T> Inbox<T> {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self { queue: Mutex::new(VecDeque::new()), filled: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message.
    pub fn put(&self, message: T) {
        self.lock().push_back(message);
        self.filled.notify_one();
    }

    /// Adds a message; if the queue is longer than `limit`, the message replaces an older message for which `same`
    /// holds.
    pub fn put_latest(&self, message: T, limit: usize, same: impl Fn(&T) -> bool) {
        let mut queue = self.lock();
        if queue.len() >= limit
            && let Some(at) = queue.iter().rposition(same)
        {
            queue.remove(at);
        }
        queue.push_back(message);
        drop(queue);
        self.filled.notify_one();
    }

    /// Waits for the next message, at most until `deadline`.
    pub fn take(&self, deadline: Option<Instant>) -> Option<T> {
        let mut queue = self.lock();
        loop {
            if let Some(message) = queue.pop_front() {
                return Some(message);
            }
            queue = match deadline {
                None => self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.checked_duration_since(Instant::now())?;
                    self.filled.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn latest_replaces_its_like_only_when_the_reader_is_slow() {
        let inbox = Inbox::new();
        for number in 0..4 {
            inbox.put_latest(number, 3, |_| true);
        }
        let soon = || Some(Instant::now() + Duration::from_millis(1));
        let taken: Vec<i32> = std::iter::from_fn(|| inbox.take(soon())).collect();
        assert_eq!(taken, [0, 1, 3]);
    }
}
