//! The slider of the reconfiguration delay, with the delay up to which changing circuits shortens the iteration.

use super::DELAYS;
use crate::scenario::{DELAY_PROFILES, MoeScenario};
use crate::schedule::break_even::DelayStudy;
use lightbay_core::clock::Deadline;
use lightbay_core::report::{Mark, SliderPlace};

/// Maximum number of servers for which the break-even delay is computed with the timeline.
const MOST_SERVERS: u32 = 8;

/// Returns a delay as text, in the unit that needs the fewest digits: `7 µs`, `46.75 ms`, `5.67 s`.
pub(super) fn words(delay_ms: f64) -> String {
    let (value, unit) = match delay_ms {
        long if long >= 1e3 => (long / 1e3, "s"),
        short if short > 0.0 && short < 1.0 => (short * 1e3, "µs"),
        usual => (usual, "ms"),
    };
    // Three decimals, without zeros at the end.
    let text = format!("{value:.3}");
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Returns the slider at the delay of a scenario.
pub(super) fn slider(scenario: &MoeScenario, break_even_ms: Option<f64>) -> SliderPlace {
    let mark = |at: f64| Mark { at, name: words(at) };
    let ends = (10_f64.powi(DELAYS.0.into()), 10_f64.powi(DELAYS.1.into()));
    let named = DELAY_PROFILES.iter().map(|(_, delay)| *delay);
    // The ends first, then delays of switches that exist, then powers of ten where there is room.
    let powers = (DELAYS.0 + 1..DELAYS.1).map(|power| 10_f64.powi(power.into()));
    let ticks = [ends.0, ends.1].into_iter().chain(named).chain(powers).map(mark).collect();
    SliderPlace {
        label: "delay",
        now: mark(scenario.cluster.reconfiguration_delay_ms),
        ends,
        ticks,
        turn: break_even_ms.map(|at| (mark(at), "break-even")),
    }
}

/// Returns the slider of a scenario with its break-even delay, unless the region has too many servers.
pub(super) fn with_break_even(scenario: &MoeScenario, deadline: Deadline) -> SliderPlace {
    let few = scenario.region.servers <= MOST_SERVERS;
    let study = few.then(|| DelayStudy::of(scenario, || deadline.is_over()).ok().flatten()).flatten();
    slider(scenario, study.and_then(|study| study.break_even_ms()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_have_the_unit_with_the_fewest_digits() {
        let all = [0.007, 0.0005, 1.0, 46.75, 123.3704, 5670.0, 1e4, 0.0];
        let text = ["7 µs", "0.5 µs", "1 ms", "46.75 ms", "123.37 ms", "5.67 s", "10 s", "0 ms"];
        assert_eq!(all.map(words), text);
    }
}
