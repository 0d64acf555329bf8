//! The number of epochs to test next (docs/methods/collective-search.md, section 10).

/// If the known finish exceeds the smallest number that is still to be tested by more than this, the number in the
/// middle is tested. For smaller differences, testing one number after the other needs fewer problems for most
/// schedules, and models with few epochs are small.
const BISECT_ABOVE: u32 = 8;

/// Numbers of epochs between a bound and a known finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// Proven lower bound on the number of epochs of every schedule.
    proven: u32,
    /// Smallest number that is still to be tested.
    next: u32,
    /// Known finish.
    known: u32,
}

/// Next step on a ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LadderStep {
    /// Test whether a schedule with this number of epochs exists.
    Ask(u32),
    /// No number is left to test.
    Done,
}

impl Ladder {
    /// Creates the ladder of the numbers of epochs from `bound` to `known - 1`.
    pub const fn new(bound: u32, known: u32) -> Self {
        Self { proven: bound, next: bound, known }
    }

    /// Returns the next step: a test of the smallest number that is left, or of the middle number if many are left.
    pub const fn next_step(&self) -> LadderStep {
        if self.next >= self.known {
            LadderStep::Done
        // Bisection while the interval is long.
        } else if self.known - self.next > BISECT_ABOVE {
            LadderStep::Ask(self.next.midpoint(self.known))
        } else {
            LadderStep::Ask(self.next)
        }
    }

    /// Records that a schedule of `epochs` epochs exists.
    pub fn reach(&mut self, epochs: u32) {
        self.known = self.known.min(epochs);
    }

    /// Records that no schedule of `epochs` epochs exists, and therefore no schedule of fewer epochs.
    pub fn exclude(&mut self, epochs: u32) {
        // A schedule with fewer epochs would also be a schedule with this number of epochs.
        self.proven = self.proven.max(epochs + 1);
        self.next = self.next.max(epochs + 1);
    }

    /// Records that it is unknown whether a schedule of `epochs` epochs exists; smaller numbers are not tested any
    /// more.
    pub fn leave_open(&mut self, epochs: u32) {
        // Nothing is proven, so the bound stays.
        self.next = self.next.max(epochs + 1);
    }

    /// Returns the proven lower bound on the number of epochs of every schedule.
    pub fn proven(&self) -> u32 {
        self.proven.min(self.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn answers_lead_to_the_fewest_epochs(bound in 0u32..60, gap in 0u32..60, least in 0u32..60) {
            let known = bound + gap;
            let least = (bound + least).min(known);
            let mut ladder = Ladder::new(bound, known);
            let mut asked = 0;
            while let LadderStep::Ask(epochs) = ladder.next_step() {
                prop_assert!((bound..known).contains(&epochs));
                if epochs >= least { ladder.reach(epochs) } else { ladder.exclude(epochs) }
                asked += 1;
                prop_assert!(asked <= 16);
            }
            prop_assert_eq!((ladder.proven(), ladder.known), (least, least));
        }
    }

    #[test]
    fn an_open_question_proves_nothing() {
        let mut ladder = Ladder::new(4, 7);
        assert_eq!(ladder.next_step(), LadderStep::Ask(4));
        ladder.exclude(4);
        assert_eq!(ladder.next_step(), LadderStep::Ask(5));
        ladder.leave_open(5);
        assert_eq!(ladder.next_step(), LadderStep::Ask(6));
        ladder.reach(6);
        assert_eq!((ladder.next_step(), ladder.proven()), (LadderStep::Done, 5));
    }
}
