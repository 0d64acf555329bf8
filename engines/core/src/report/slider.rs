//! Parameters that two keys change on a screen while the plan is recomputed.

use super::curves::Mark;

/// Position of a slider on its logarithmic scale.
#[derive(Clone, Debug, PartialEq)]
pub struct SliderPlace {
    /// Name of the parameter for people: `delay`.
    pub label: &'static str,
    /// The present value, with its name.
    pub now: Mark,
    /// Smallest and largest value.
    pub ends: (f64, f64),
    /// Named values on the scale.
    pub ticks: Vec<Mark>,
    /// The value at which the answer of the section changes, with its name, and what it is: `break-even`.
    pub turn: Option<(Mark, &'static str)>,
}

/// A parameter of the scenario that two keys change on a screen, in steps of 1, 2 and 5 times powers of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliderInfo {
    /// Name of the parameter.
    pub knob: &'static str,
    /// Exponents of the powers of ten between which the parameter moves, in the unit of the parameter.
    pub powers: (i8, i8),
    /// Further steps, such as values that have a name. The pair `(n, e)` is the value n x 10^e.
    pub named: &'static [(u16, i8)],
}

impl SliderInfo {
    /// Returns the next step above a value, or below it; `None` at the end.
    pub fn next(&self, value: f64, up: bool) -> Option<f64> {
        /// Relative distance within which a value counts as equal to a step.
        const NEAR: f64 = 1e-9;
        let (first, last) = self.powers;
        let of_power = |power: i8| [1, 2, 5].map(|digit| (digit, power));
        // Parsed from decimal text, so that a step equals the number that is written.
        let step = |(digits, power): (u16, i8)| format!("{digits}e{power}").parse::<f64>().ok();
        let regular = (first..last).flat_map(of_power).chain([(1, last)]);
        let steps = regular.chain(self.named.iter().copied()).filter_map(step);
        if up {
            steps.filter(|step| *step > value * (1.0 + NEAR)).min_by(f64::total_cmp)
        } else {
            steps.filter(|step| *step < value * (1.0 - NEAR)).max_by(f64::total_cmp)
        }
    }
}
