//! Proof that no plan with any number of reconfigurations has a shorter period than a given period. The proof uses
//! circuits that carry early in an iteration: because of the dark time, they occupy ports at the end of the previous
//! iteration.
//!
//! Let `t` be a moment before the dark time is over. A circuit that carries at or before `t` has been set since the
//! last `delay - t` seconds of the previous iteration, where `delay` is the dark time. The search branches on the
//! circuits of some links, the decided links. The circuits that the decided links use until `t` occupy ports in these
//! seconds, so the last transfers have fewer circuits. The search branches on boxes of these circuits; a box is
//! fathomed if the iteration does not end in time even if all other links get as many circuits as the ports allow.
//! Several moments `t` are tried, and the proof for a single one of these moments is enough.

use super::timeline::CircuitTimeline;
use super::{Ground, Outcome, first_transfer_s};
use crate::check::exact::Ask;
use crate::check::exact::contention::Contention;

/// Number of moments to try.
const MOMENTS: u32 = 6;
/// Maximum number of boxes per moment.
const MOST_BOXES: usize = 20_000;

/// Tries to show that no plan with any number of reconfigurations has this period.
pub(in crate::check::exact) fn none_at_all_within(
    ask: &Ask<'_>,
    contention: &Contention,
    delay_s: f64,
    period_s: f64,
) -> Outcome {
    let ground = Ground::new(ask.case, contention, delay_s, period_s);
    let ready_s = first_transfer_s(ask.case);
    if delay_s <= ready_s {
        return Outcome::Open;
    }
    for moment in 1..=MOMENTS {
        let share = f64::from(moment) / f64::from(MOMENTS + 1);
        match none_from(ask, &ground, ready_s + share * (delay_s - ready_s)) {
            Outcome::Open => {}
            found => return found,
        }
    }
    Outcome::Open
}

/// Tries the proof with the circuits that carry until the moment `until_s`.
fn none_from(ask: &Ask<'_>, ground: &Ground<'_>, until_s: f64) -> Outcome {
    let most: Vec<u32> = ground.decided.iter().map(|link| ground.contention.useful[*link]).collect();
    let none = vec![0; most.len()];
    let last_s = ground.period_s - (ground.delay_s - until_s);
    let Some(widest) = ground.most(&none, &most) else { return Outcome::Open };
    if last_s <= until_s {
        return Outcome::Open;
    }
    let mut open = vec![(none, most)];
    let mut boxes = 0;
    while let Some((low, high)) = open.pop() {
        boxes += 1;
        if ask.depth.is_over() {
            return Outcome::OutOfTime;
        }
        if boxes > MOST_BOXES {
            return Outcome::Open;
        }
        // Circuits that do not fit the ports belong to no plan.
        let Some(own) = ground.most(&low, &high) else { continue };
        let (mut start, mut end) = (widest.clone(), own.clone());
        for link in &ground.decided {
            (start[*link], end[*link]) = (own[*link], widest[*link]);
        }
        let line = CircuitTimeline::of(&[(0.0, &start), (until_s, &widest), (last_s, &end)]);
        if ground.end_on(&line) > ground.period_s {
            continue;
        }
        let Some(link) = (0..low.len()).max_by_key(|link| high[*link] - low[*link]) else {
            return Outcome::Open;
        };
        if low[link] == high[link] {
            return Outcome::Open;
        }
        let middle = u32::midpoint(low[link], high[link]);
        let (mut lower, mut upper) = ((low.clone(), high.clone()), (low, high));
        lower.1[link] = middle;
        upper.0[link] = middle + 1;
        open.extend([lower, upper]);
    }
    Outcome::Proven { boxes }
}
