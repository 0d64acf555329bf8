//! Records which plans the header showed, and when it first showed each plan, independently of the saved session.

use super::pty::View;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A plan that the header showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    pub at: Instant,
    /// Number of the plan in the session.
    pub number: u64,
    /// Makespan of the plan, with the six decimals that the header shows.
    pub value: f64,
}

/// Records the plans that the header shows.
#[derive(Clone, Default)]
pub struct Witness {
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Witness {
    /// Records the plan in the header of a frame; called with every finished frame.
    pub fn look(&self, view: &View, at: Instant) {
        let Some((number, value)) = plan_of(&view.rows[0]) else { return };
        let mut seen = self.seen.lock().unwrap();
        if !seen.iter().any(|seen| (seen.number, seen.value) == (number, value)) {
            seen.push(Seen { at, number, value });
        }
    }

    /// Returns all recorded plans, in order.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// Returns number and makespan of the plan in a header such as ` lightbay NAME plan 2 delta-fast makespan 12.061849 s
/// …`.
pub fn plan_of(header: &str) -> Option<(u64, f64)> {
    let mut words = header.split_whitespace();
    words.find(|word| *word == "plan")?;
    let number = words.next()?.parse().ok()?;
    let decimals = |word: &&str| word.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 6);
    Some((number, words.find(decimals)?.parse().ok()?))
}

#[test]
fn headers_are_understood() {
    let header =
        " lightbay  megatron_177b   plan 2 delta-joint   makespan 12.829852 s   NCT 1.0691   DONE 00:00";
    assert_eq!(plan_of(header), Some((2, 12.829_852)));
    let header = " lightbay  megatron_177b *  plan 12 delta-joint stale  9.500000 s  NCT 1.0691";
    assert_eq!(plan_of(header), Some((12, 9.5)));
    assert_eq!(plan_of(" lightbay  tiny4   no plan yet, r solves      IDLE"), None);
}
