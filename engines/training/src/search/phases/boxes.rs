//! Boxes of schedules with one reconfiguration: ranges of circuits in both states and of both instants.

use super::Moving;
use crate::simulate::evaluate::Lit;

/// Position of the return relative to the end of the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnSide {
    /// The dark time of the return spans the end of the iteration. The second instant is given relative to this end,
    /// from minus the dark time to 0.
    Around,
    /// Both instants and their dark times lie within the iteration.
    Within,
}

/// A range of times, seconds.
pub(super) type Instants = [f64; 2];

/// A box of schedules with one reconfiguration.
#[derive(Clone, Debug)]
pub(super) struct MoveBox {
    pub order: ReturnSide,
    /// Minimum and maximum number of circuits of every decided link in the first and in the second state.
    pub low: [Vec<u32>; 2],
    pub high: [Vec<u32>; 2],
    /// Instants of the reconfiguration and of the return; `order` gives the position of the return.
    pub instants: [Instants; 2],
}

impl MoveBox {
    /// Returns `true` if only instants are undecided.
    pub fn is_pair(&self) -> bool {
        self.low == self.high
    }

    /// Maximum number of carrying circuits of each link, at every moment and over all schedules of the box, given the
    /// maximum circuits of the two states. For a box with a single schedule, this number is exact. `period_s` matters
    /// only for returns before the end.
    pub fn lit(&self, delay_s: f64, states: [&[u32]; 2], period_s: f64, out: &mut Lit) {
        let [[go_first, go_last], [back_first, back_last]] = self.instants;
        let second_from = go_first + delay_s;
        // The first state carries from `first_from` until the reconfiguration, and again from `again_from`.
        let (first_from, second_until, again_from) = match self.order {
            ReturnSide::Around if back_last >= 0.0 => {
                ((back_first + delay_s).max(0.0), f64::INFINITY, f64::INFINITY)
            }
            ReturnSide::Around => ((back_first + delay_s).max(0.0), period_s + back_last, f64::INFINITY),
            ReturnSide::Within => (0.0, back_last, back_first + delay_s),
        };
        let mut moments = [0.0, first_from, go_last, second_from, second_until, again_from];
        moments.sort_unstable_by(f64::total_cmp);
        out.times.clear();
        out.circuits.clear();
        for moment in moments {
            if !(0.0..f64::INFINITY).contains(&moment) || out.times.last() == Some(&moment) {
                continue;
            }
            let first = (moment >= first_from && moment < go_last) || moment >= again_from;
            let second = moment >= second_from && moment < second_until;
            out.times.push(moment);
            out.circuits.extend(states[0].iter().zip(states[1]).map(|(&a, &b)| match (first, second) {
                (true, true) => a.max(b),
                (true, false) => a,
                (false, true) => b,
                (false, false) => a.min(b),
            }));
        }
    }
}

/// Returns the carrying circuits of every link, for the whole iteration of a schedule.
pub(super) fn lit_of(moving: &Moving, delay_s: f64) -> Lit {
    let around = moving.back_s + delay_s > moving.period_s;
    let back = if around { (moving.back_s - moving.period_s).min(0.0) } else { moving.back_s };
    let point = MoveBox {
        order: if around { ReturnSide::Around } else { ReturnSide::Within },
        low: Default::default(),
        high: Default::default(),
        instants: [[moving.go_s; 2], [back; 2]],
    };
    let mut lit = Lit::default();
    point.lit(delay_s, [&moving.first, &moving.second], moving.period_s, &mut lit);
    lit
}
