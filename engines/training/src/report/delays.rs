//! Gain of one reconfiguration within an iteration for switches of each kind, and the break-even dark time.

use super::limited::Limited;
use crate::analysis::Setting;
use crate::scenario::reconfiguration::{Reconfiguration, SWITCHES, delay_text};
use crate::search::allocations::{self, VectorTask};
use crate::search::circuits::Circuits;
use crate::search::phases::{self, Aim, MoveTask, MovedCircuits, Moving};
use crate::simulate::evaluate::{Evaluator, Rates};
use lightbay_core::context::Stop;
use lightbay_core::event::EventBody;
use lightbay_core::method::MethodError;
use lightbay_core::report::text::number;
use lightbay_core::report::{
    Cell, Column, Curve, Curves, Line, Mark, Phrase, Point, Section, Table, Tone, Unavailable, Unit,
};
use lightbay_core::watch::Watch;

/// Maximum number of boxes of one search, which takes seconds on the largest built-in jobs.
const BOXES: u64 = 10_000;
/// Minimum fraction of the makespan that counts as a gain: ten times the gap at which a plan counts as proven.
const GAIN: f64 = 1e-6;
/// The bisection ends after this number of searches that neither found a gain nor proved that there is none.
const OPEN_PROOFS: u32 = 3;
/// Dark times of the curve, seconds: from a switch of 10 ns to one whose transceivers must be brought up again.
const STOPS: [f64; 20] = [
    1e-8, 1e-7, 1e-6, 7e-6, 1e-5, 1e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0,
    5.7, 6.0,
];
/// The bisection of the break-even dark time ends when its interval has at most this relative width.
const NARROW: f64 = 0.01;

/// Builds the section on the gain of one reconfiguration.
///
/// # Errors
/// A scenario in which transfers other than the last transfers compete, no allocation that fits the ports, or too
/// little time.
pub(super) fn section(
    setting: &Setting,
    group: Reconfiguration,
    mut limited: Limited,
) -> Result<Section, Unavailable> {
    let evaluator = &setting.evaluator;
    let stay_s = static_optimum(setting, &mut limited)?.makespan;
    let question = DarkTimeStudy { evaluator, caps: &setting.circuit_bounds, stay_s, limited };
    let columns = vec![
        Column::words("switch", "switch"),
        Column::numbers("delay_s", "dark time", Unit::new("ms", 1e3, None)),
        Column::numbers("makespan_s", "one reconfiguration", Unit::SECONDS),
        Column::numbers("bound_s", "at least", Unit::SECONDS),
        Column::numbers("nct", "NCT", Unit::RATIO.with_decimals(4)),
        Column::numbers("gain_s", "gain", Unit::MILLISECONDS),
    ];
    let mut table = Table::new(["switch", "switches"], columns);
    for (name, delay_s) in SWITCHES {
        let (best_s, bound_s) = question.best(delay_s)?;
        table.row(vec![
            Cell::new(name),
            Cell::new(delay_s),
            Cell::new(best_s).tone(Tone::Answer),
            Cell::new(bound_s),
            evaluator.ideal.nct(best_s).map_or_else(Cell::none, Cell::new),
            Cell::new(stay_s - best_s),
        ]);
    }
    let seconds = |value| number(value, Unit::SECONDS);
    let even = match question.break_even()? {
        None => "One reconfiguration does not shorten the iteration, even with a dark time of 0.".to_owned(),
        Some((gains_s, none_s)) => format!(
            "One reconfiguration shortens the iteration for dark times up to {} s, but not for {} s or more (proven).",
            seconds(gains_s),
            seconds(none_s)
        ),
    };
    let stays = format!("An iteration with static circuits takes {} s.", seconds(stay_s));
    let curves = curves(&question, group)?;
    // On screens, every dark time has a unit that suits it.
    let mut shown = table.clone();
    shown.columns[1] = Column::words("dark_time", "dark time");
    for (row, (_, delay_s)) in shown.rows.iter_mut().zip(SWITCHES) {
        row.cells[1] = Cell::new(delay_text(delay_s));
    }
    let section = Section::new("Reconfiguration delays", table)
        .only_written()
        .on_screens("times", "", shown)
        .context(Phrase::new().muted(format!("dark time {}", delay_text(group.delay_s))))
        .legend("< > change the dark time and update the plan")
        .on_screens("curves", "", curves);
    Ok(section.remark(format!("{stays} {even}")).remark(
        "Every iteration has one reconfiguration and returns to its initial circuits. Only the dark time of the switch in the last row includes the bring-up of transceivers and NICs.",
    ))
}

/// Curve of the iteration time against the dark time, with marks for kinds of switches and the scenario's dark time.
fn curves(question: &DarkTimeStudy<'_>, group: Reconfiguration) -> Result<Curves, Unavailable> {
    let mark = |at: f64, name: &str| Mark { at, name: name.to_owned() };
    let mut marks: Vec<Mark> = SWITCHES.iter().map(|(name, delay_s)| mark(*delay_s, name)).collect();
    match marks.iter_mut().find(|mark| mark.at == group.delay_s) {
        Some(own) => own.name.push_str(", now"),
        None if group.delay_s > 0.0 => marks.push(mark(group.delay_s, "now")),
        None => {}
    }
    // A name is drawn as far as the next mark.
    marks.sort_by(|a, b| a.at.total_cmp(&b.at));
    let line =
        |name: &str, label: &str, value: f64| Line { name: name.to_owned(), label: label.to_owned(), value };
    let points = question.over(&STOPS)?.into_iter().map(|(at, value)| Point { at, value }).collect();
    Ok(Curves {
        axis: "delay_s",
        axis_label: "dark time",
        axis_unit: Unit::SECONDS,
        axis_is_log: true,
        curves: vec![Curve {
            name: "makespan_s".to_owned(),
            label: "one reconfiguration".to_owned(),
            unit: Unit::SECONDS,
            points,
            tone: Tone::Answer,
            steps: false,
        }],
        lines: vec![
            line("ideal_s", "ideal", question.evaluator.ideal.makespan()),
            line("static_s", "static circuits", question.stay_s),
        ],
        marks,
        ..Curves::default()
    })
}

/// Computes the best static circuits.
///
/// # Errors
/// A scenario in which transfers other than the last transfers compete, no allocation that fits the ports, or too
/// little time.
pub(super) fn static_optimum(setting: &Setting, limited: &mut Limited) -> Result<Circuits, Unavailable> {
    let evaluator = &setting.evaluator;
    if let Some(reason) = evaluator.contention.loose.first() {
        return Err(Unavailable::absent(
            format!("the scenario is not tail-exact: {reason}"),
            "in a job, try virtual_stages=1 and dp_buckets=1",
        ));
    }
    let fixed = VectorTask::new(evaluator, Rates::Best, &setting.circuit_bounds);
    let proof = allocations::search(fixed, None, limited).map_err(|error| limited.why(error))?;
    proof.best.ok_or_else(|| Unavailable::failed("no circuit allocation fits the ports"))
}

/// The scenario, with circuits that may change once per iteration.
struct DarkTimeStudy<'a> {
    evaluator: &'a Evaluator,
    caps: &'a [u32],
    stay_s: f64,
    limited: Limited,
}

impl DarkTimeStudy<'_> {
    fn task(&self, delay_s: f64, known: f64) -> MoveTask<'_> {
        let close = 0.1 * GAIN * self.stay_s;
        MoveTask {
            evaluator: self.evaluator,
            delay_s,
            caps: self.caps,
            aim: Aim::Time,
            known,
            close,
            boxes: BOXES,
        }
    }

    /// The shortest known iteration time, which is at most the time with static circuits, and the lower bound on the
    /// iteration time.
    fn best(&self, delay_s: f64) -> Result<(f64, f64), Unavailable> {
        if delay_s >= self.stay_s {
            return Ok((self.stay_s, self.stay_s));
        }
        let found = phases::search(self.task(delay_s, self.stay_s), &mut self.limited.clone());
        let proof = found.map_err(|error| self.limited.why(error))?;
        Ok((proof.best.map_or(self.stay_s, |best| best.period_s), proof.bound.min(self.stay_s)))
    }

    /// The shortest known iteration time at every dark time of an ascending list. A plan is also valid for every
    /// shorter dark time, so the iteration never gets shorter as the dark time grows. Between two dark times with equal
    /// iteration times, no search runs, because all iteration times between them are equal too.
    fn over(&self, delays_s: &[f64]) -> Result<Vec<(f64, f64)>, Unavailable> {
        let mut known: Vec<Option<f64>> = vec![None; delays_s.len()];
        let mut open = vec![(0, delays_s.len().saturating_sub(1))];
        while let Some((first, last)) = open.pop() {
            for at in [first, last] {
                if known[at].is_none() {
                    known[at] = Some(self.best(delays_s[at])?.0);
                }
            }
            let (Some(early_s), Some(late_s)) = (known[first], known[last]) else { continue };
            if late_s - early_s <= 0.1 * GAIN * self.stay_s {
                known[(first + 1).min(last)..last].fill(Some(late_s));
            } else if last > first + 1 {
                let middle = usize::midpoint(first, last);
                open.extend([(first, middle), (middle, last)]);
            }
        }
        // A plan for a longer dark time is also valid for a shorter one, so a search that gave up gets the smallest
        // time found for any longer dark time.
        let mut least_s = f64::INFINITY;
        for known in known.iter_mut().rev() {
            least_s = known.unwrap_or(f64::INFINITY).min(least_s);
            *known = Some(least_s);
        }
        Ok(delays_s.iter().copied().zip(known.into_iter().flatten()).collect())
    }

    /// Returns `true` if one reconfiguration gains at this dark time; `None` if the search finds no gain, but does not
    /// prove that there is none.
    fn gains(&self, delay_s: f64) -> Result<Option<bool>, Unavailable> {
        let mut watch = Once { limited: self.limited, found: false };
        match phases::search(self.task(delay_s, self.stay_s * (1.0 - GAIN)), &mut watch) {
            _ if watch.found => Ok(Some(true)),
            Ok(proof) => Ok(proof.complete.then_some(false)),
            Err(error) => Err(self.limited.why(error)),
        }
    }

    /// The largest dark time with a known gain, and the smallest dark time for which it is proven that there is no
    /// gain; `None` if no gain is known even without a dark time. A plan is also valid for every shorter dark time, so
    /// a single break-even dark time exists. A search without a result counts as no gain in the first bisection and as
    /// no proof in the second.
    fn break_even(&self) -> Result<Option<(f64, f64)>, Unavailable> {
        if self.gains(0.0)? != Some(true) {
            return Ok(None);
        }
        // Circuits with a dark time of at least an iteration never carry traffic.
        let (mut gains_s, mut open_s, mut none_s) = (0.0, self.stay_s, self.stay_s);
        while open_s - gains_s > NARROW * open_s {
            let middle_s = f64::midpoint(gains_s, open_s);
            match self.gains(middle_s)? {
                Some(true) => gains_s = middle_s,
                Some(false) => (open_s, none_s) = (middle_s, middle_s),
                None => open_s = middle_s,
            }
        }
        let mut left = OPEN_PROOFS;
        while none_s - open_s > NARROW * none_s && left > 0 {
            let middle_s = f64::midpoint(open_s, none_s);
            if self.gains(middle_s)? == Some(false) {
                none_s = middle_s;
            } else {
                open_s = middle_s;
                left -= 1;
            }
        }
        Ok(Some((gains_s, none_s)))
    }
}

impl<S: MovedCircuits> Watch<S> for Limited {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        if self.0.is_over() { Err(Stop::Time.into()) } else { Ok(()) }
    }

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, _units: u64) {}
}

/// A watch that ends a search at its first plan.
struct Once {
    limited: Limited,
    found: bool,
}

impl Watch<Moving> for Once {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Watch::<Moving>::checkpoint(&mut self.limited)
    }

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, _units: u64) {}

    fn found(&mut self, _found: Moving, _source: &str) -> Result<(), MethodError> {
        self.found = true;
        Err(Stop::Proven.into())
    }
}
