//! Objective, gap, loss and ports as numbers and words: one set of rules for the header, the table of plans, the solve
//! strip and pop-ups.
//!
//! This module does not depend on kinds: each kind declares the names, units and places of its figures
//! ([`MetricInfo`]).

use crate::app::state::App;
use lightbay_core::kind::{ObjectiveInfo, Sense};
use lightbay_core::metric::{Figures, InHeader, MetricInfo, Relation};
use lightbay_core::plan::{OPTIMAL_GAP, gap};
pub use lightbay_core::quantity::open_percent;
use lightbay_core::quantity::safe_bound;
use lightbay_core::report::Unit;
use lightbay_core::standing::Standing;
use lightbay_engines::metrics;
use lightbay_sessions::compare::{MetricChange, Verdict};
use lightbay_widgets::number::{self, Num};
use lightbay_widgets::{Piece, Tone};
use std::collections::BTreeMap;

/// Figures of a plan; the key is the name of the figure with its unit.
pub type Metrics = BTreeMap<String, f64>;

/// Below this value, a number without unit is shown with four significant digits, not with a fixed number of decimals.
const SMALL: f64 = 0.1;

/// Returns the number of decimals that keeps four significant digits of a small number.
fn small_decimals(value: f64) -> usize {
    (3.0 - value.abs().log10().floor()).clamp(4.0, 12.0) as usize
}

/// Available room for a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// There is room for all decimals.
    Long,
    /// There is room for half of the decimals of the unit, or for three if the unit does not define them.
    Short,
}

/// Formats a value in its unit, with the decimals of the unit, or half of them if room is short.
pub fn in_unit(value: f64, unit: Unit, room: Room) -> Num {
    let scaled = value * unit.scale;
    let decimals = decimals(scaled, unit, room);
    number::fixed(unit.bounds.map_or(scaled, |sense| safe_bound(scaled, decimals, sense)), decimals)
}

/// Returns the number of decimals of a number in its unit.
fn decimals(scaled: f64, unit: Unit, room: Room) -> usize {
    match (unit.decimals, room) {
        (None, _) if scaled.fract() == 0.0 => 0,
        (None, _) if scaled.abs() < SMALL => small_decimals(scaled),
        (None, Room::Long) => 4,
        (None, Room::Short) => 3,
        (Some(decimals), Room::Long) => usize::from(decimals),
        (Some(decimals), Room::Short) => usize::from(decimals).div_ceil(2),
    }
}

/// Formats a value in its unit, as text followed by the unit.
pub fn with_unit(value: f64, unit: Unit, room: Room) -> String {
    let number = in_unit(value, unit, room);
    if unit.symbol.is_empty() { number.into() } else { format!("{number} {}", unit.symbol) }
}

/// The objective as it is displayed.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// Name of the objective for people.
    pub name: &'static str,
    /// Unit of values.
    pub unit: Unit,
    /// Direction in which values get better.
    pub sense: Sense,
}

impl Goal {
    /// Returns the objective that a kind describes, as it is displayed.
    pub const fn of(info: ObjectiveInfo) -> Self {
        Self { name: info.label, unit: info.unit, sense: info.sense }
    }

    /// Formats a value without unit.
    pub fn value(&self, value: f64, room: Room) -> Num {
        in_unit(value, self.unit, room)
    }

    /// Formats a bound without unit, rounded to the safe side.
    pub fn bound(&self, bound: f64, room: Room) -> Num {
        in_unit(bound, self.unit.bounding(self.sense), room)
    }

    /// Formats a bound on a value without unit; a bound that the value meets has the digits of the value.
    pub fn bound_on(&self, value: f64, bound: f64, room: Room) -> Num {
        if gap(value, bound) <= OPTIMAL_GAP { self.value(value, room) } else { self.bound(bound, room) }
    }

    /// Formats a value with unit.
    pub fn with_unit(&self, value: f64, room: Room) -> String {
        with_unit(value, self.unit, room)
    }

    /// Returns the heading of a column: `makespan s`.
    pub fn column(&self) -> String {
        format!("{} {}", self.name, self.unit.symbol).trim_end().to_owned()
    }

    /// Formats a difference; a difference of seconds is in milliseconds.
    pub fn difference(&self, value: f64) -> String {
        if self.unit == Unit::SECONDS {
            with_unit(value, Unit::MILLISECONDS.with_decimals(2), Room::Long)
        } else {
            with_unit(value, self.unit, Room::Short)
        }
    }
}

/// The figures of the displayed plan: a plan of the table, or the preview of an edit.
#[derive(Clone, Debug)]
pub struct Headline {
    /// Name of the plan: `6 delta-level`, `edit of 6`.
    pub name: String,
    /// Objective value of the plan.
    pub value: f64,
    /// Figures of the plan.
    pub metrics: Metrics,
    /// The known bounds on the plan, and who confirmed them.
    pub standing: Standing,
    /// Figures that the plan's kind declares.
    pub declared: &'static [MetricInfo],
    /// `true` if the plan is the preview of an edit.
    pub preview: bool,
}

impl Headline {
    /// Returns the figures of the displayed plan.
    pub fn of(app: &App) -> Option<Self> {
        let entry = app.plans.shown()?;
        let standing = app.standing_of_shown()?;
        let declared = metrics(app.work.as_ref().map_or("", |work| work.kind));
        let preview = app.cell_edit().filter(|edit| edit.is_changed()).and_then(|edit| edit.plan());
        Some(match preview {
            Some(plan) => {
                let header = plan.0.header();
                Self {
                    name: format!("edit of {}", entry.number),
                    value: header.objective.value,
                    metrics: header.metrics,
                    standing,
                    declared,
                    preview: true,
                }
            }
            None => Self {
                name: format!("{} {}", entry.number, entry.method),
                value: entry.value,
                metrics: entry.metrics.clone(),
                standing,
                declared,
                preview: false,
            },
        })
    }

    /// Returns the name of the plan without its method: `6`, `edit of 6`.
    pub fn short_name(&self) -> &str {
        if self.preview { &self.name } else { self.name.split(' ').next().unwrap_or_default() }
    }

    /// Returns the gap between the value and the bound; `None` without a bound.
    pub fn gap(&self) -> Option<Gap> {
        Gap::of(self.value, self.bound()?, self.declared, &self.metrics)
    }

    /// Returns the bound for display.
    pub fn bound(&self) -> Option<f64> {
        Some(self.standing.leading()?.value)
    }

    /// Returns the figures that the header shows before the gap (if `early` is true) or after the gap, each with its
    /// description, its display settings and its text.
    pub fn in_header(&self, early: bool) -> impl Iterator<Item = (&'static MetricInfo, InHeader, String)> {
        let figures = Figures { value: self.value, bound: self.bound(), metrics: &self.metrics };
        self.declared.iter().filter_map(move |info| {
            let place = info.header.filter(|place| place.early == early)?;
            Some((info, place, header_text(info, place, &figures)?))
        })
    }
}

/// Formats a figure for the header: `42/48`, `0.21 %`.
fn header_text(info: &MetricInfo, place: InHeader, figures: &Figures<'_>) -> Option<String> {
    let value = info.of(figures)?;
    let text = if info.unit == Unit::PERCENT {
        format!("{} %", open_percent(value.max(0.0), 2))
    } else if info.unit == Unit::COUNT && info.out_of.is_none() && value >= 0.0 {
        number::count(value as u64).into()
    } else {
        with_unit(value, info.unit, Room::Long)
    };
    let all = info.out_of.and_then(|all| all(figures)).map(|all| in_unit(all, info.unit, Room::Long));
    let text = all.map_or_else(|| text.clone(), |all| format!("{text}/{all}"));
    Some(if place.warning { format!("! {text}") } else { text })
}

/// A gap, relative to the objective and to the reference part of the objective (the figure that the kind declares as
/// yardstick).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// The gap as a fraction of the reference part of the objective, with the name of this part, if the plan has it.
    pub second: Option<(f64, &'static str)>,
    /// The gap as a fraction of the objective value.
    pub share: f64,
}

impl Gap {
    /// Computes the gap |value - bound| as a fraction of the objective value and of the reference part of the
    /// objective.
    pub fn of(value: f64, bound: f64, declared: &[MetricInfo], metrics: &Metrics) -> Option<Self> {
        if !value.is_finite() || !bound.is_finite() {
            return None;
        }
        let second = yardstick(declared, metrics).map(|(part, name)| ((value - bound).abs() / part, name));
        Some(Self { second, share: lightbay_core::plan::gap(value, bound) })
    }

    /// Formats the gap as in files, as a fraction of the value: `0.07 %`.
    pub fn words(self) -> String {
        lightbay_core::quantity::gap(self.share)
    }

    /// Formats the gap as a fraction of the reference part of the objective: `2.1 % of ideal comm.`; `None` if the plan
    /// does not have this part.
    pub fn second(self) -> Option<String> {
        self.second.map(|(share, name)| format!("{} % {name}", open_percent(share, 1)))
    }
}

/// Returns the value and the name of the reference part of the objective (differences are also shown as a percentage of
/// this part); `None` if the plan does not have this part or its value is 0.
pub fn yardstick(declared: &[MetricInfo], metrics: &Metrics) -> Option<(f64, &'static str)> {
    declared.iter().find_map(|info| match info.relation {
        Some(Relation::Yardstick(name)) => Some((*metrics.get(info.name).filter(|part| **part > 0.0)?, name)),
        _ => None,
    })
}

/// Returns the objective of the ideal network, if the plan has it.
pub fn ideal_objective(declared: &[MetricInfo], metrics: &Metrics) -> Option<f64> {
    let info = declared.iter().find(|info| info.relation == Some(Relation::IdealObjective))?;
    metrics.get(info.name).copied()
}

/// Largest percentage that is worth its digits; a larger one says that the other value is near 0.
const MOST_PERCENT: f64 = 9_999.0;

/// Formats a signed percentage: two decimals below 1 %, else one; none above 9999.
pub fn percent(percent: f64) -> Num {
    if percent.abs() > MOST_PERCENT {
        return Num::of(format_args!("{}", if percent > 0.0 { ">9999" } else { "<-9999" }));
    }
    number::signed(percent, if percent.abs() < 1.0 { 2 } else { 1 })
}

/// Returns the tone (meaning of a colour) in which a verdict is drawn.
pub const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::Tie => Tone::Muted,
        Verdict::Different => Tone::Text,
    }
}

/// Returns the signed percentage of a change, or `tie`.
pub fn change(change: &MetricChange) -> Piece {
    let tone = tone(change.verdict);
    match (change.verdict, change.percent) {
        (Verdict::Tie, _) => Piece::new("tie", tone),
        (_, Some(value)) => Piece::new(format!("{} %", percent(value)), tone).bold(),
        (_, None) => Piece::new(number::signed(change.difference, 3), tone).bold(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_decimals_of_their_unit() {
        let goal = |kind| Goal::of(lightbay_engines::kind(kind).unwrap().objective);
        assert_eq!(goal("training").with_unit(12.829_851_9, Room::Long), "12.829852 s");
        assert_eq!(goal("training").with_unit(12.829_851_9, Room::Short), "12.830 s");
        assert_eq!(goal("crossconnect").with_unit(17.0, Room::Long), "17");
        assert_eq!(goal("tpu").with_unit(0.006_326_4, Room::Long), "0.006326");
        assert_eq!(goal("tpu").with_unit(0.000_108_73, Room::Short), "0.0001087");
        assert_eq!(goal("tpu").difference(-0.000_891_5), "-0.0008915");
        assert_eq!(goal("training").difference(0.028_61), "28.61 ms");
    }

    #[test]
    fn the_gap_is_of_the_objective_and_communication_stands_beside() {
        let metrics = Metrics::from([("comm_ideal_s".to_owned(), 0.4146)]);
        let declared = lightbay_engines::metrics("training");
        let gap = Gap::of(12.829_852, 12.821_14, declared, &metrics).unwrap();
        assert_eq!(gap.words(), "0.07 %");
        assert_eq!(gap.second().unwrap(), "2.1 % of ideal comm.");
        let plain = Gap::of(100.0, 95.0, declared, &Metrics::new()).unwrap();
        assert_eq!((plain.words(), plain.second()), ("5.00 %".to_owned(), None));
        assert_eq!(Gap::of(f64::NAN, 1.0, declared, &metrics), None);
        let almost = Gap::of(12.821_15, 12.821_14, declared, &metrics).unwrap();
        assert_eq!(almost.words(), "<0.01 %");
        assert_eq!(almost.second().unwrap(), "<0.1 % of ideal comm.");
        let closed = Gap::of(12.821_14, 12.821_14, declared, &metrics).unwrap();
        assert_eq!(closed.words(), "0.00 %");
    }

    fn header(kind: &str, value: f64, metrics: &[(&str, f64)]) -> Vec<(&'static str, String)> {
        let metrics = metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let declared = lightbay_engines::metrics(kind);
        let standing = Standing::unproven(lightbay_engines::kind(kind).unwrap().objective, value, "");
        let headline = Headline { name: String::new(), value, metrics, standing, declared, preview: false };
        let all: Vec<_> = headline.in_header(true).chain(headline.in_header(false)).collect();
        all.into_iter().map(|(info, place, text)| (place.title.unwrap_or(info.label), text)).collect()
    }

    #[test]
    fn ports_are_used_of_all() {
        let all = header("training", 12.8, &[("total_ports", 42.0), ("port_ratio", 0.875)]);
        assert_eq!(all, [("ports", "42/48".to_owned())]);
        assert_eq!(header("training", 12.8, &[("total_ports", 42.0)]), [("ports", "42".to_owned())]);
    }

    #[test]
    fn routes_that_lose_much_stand_in_the_header() {
        let said = |load: f64| header("tpu", 0.006332, &[("max_channel_load", load)]);
        assert_eq!((said(161.0), said(197.0)), (Vec::new(), Vec::new()));
        assert_eq!(said(338.0), [("routes", "! 2.14 x ideal load".to_owned())]);
    }

    #[test]
    fn what_is_certified_is_never_wider_than_it_is() {
        let said = |upper: f64| header("tpu", 0.01, &[("mcf_upper", upper)]);
        assert_eq!(said(0.010021), [("certified to", "0.21 %".to_owned())]);
        assert_eq!(said(0.0100000101), [("certified to", "<0.01 %".to_owned())]);
    }
}
