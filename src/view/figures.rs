//! Objective, gap, loss and ports as numbers and words: one set of rules for header, table, strip and layers.
//!
//! Nothing here knows a kind. The objective's name carries its unit; the figures `comm_ideal_s` and
//! `ideal_makespan_s` are used by name where a plan has them. Which figures else are shown is said by the kind, in
//! [`crate::view::present::figures`].

use crate::app::plans::PlanEntry;
use crate::app::state::App;
use lightbay_core::kind::{ObjectiveInfo, Sense};
use lightbay_sessions::compare::{Change, Verdict};
use lightbay_widgets::number::{self, Num};
use lightbay_widgets::{Piece, Tone};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Figures of a plan by name with unit.
pub type Metrics = BTreeMap<String, f64>;

/// Endings of names that are units.
const UNITS: [(&str, &str); 9] = [
    ("_s", "s"),
    ("_ms", "ms"),
    ("_us", "µs"),
    ("_bytes", "B"),
    ("_gbps", "Gb/s"),
    ("_gbit_s", "Gb/s"),
    ("_gb_s", "GB/s"),
    ("_percent", "%"),
    ("_usd", "USD"),
];

/// A name as it is read: `makespan_s` is `makespan` in `s`.
pub fn quantity(name: &str) -> (Cow<'_, str>, &'static str) {
    let (stem, unit) = UNITS
        .iter()
        // The longest ending wins: `_ms` before `_s`.
        .filter_map(|(ending, unit)| Some((name.strip_suffix(ending)?, *unit)))
        .min_by_key(|(stem, _)| stem.len())
        .unwrap_or((name, ""));
    let stem = match stem {
        "nct" => Cow::Borrowed("NCT"),
        // What a plan is proven to reach is what it is judged by; the other end of its certificate says so.
        "mcf_lower" => Cow::Borrowed("MCF"),
        "mcf_upper" => Cow::Borrowed("MCF upper"),
        "n_mcf" => Cow::Borrowed("n x MCF"),
        "vc_ratio" => Cow::Borrowed("VC ratio"),
        "removed_circuits" => Cow::Borrowed("removed"),
        _ if stem.contains('_') => Cow::Owned(stem.replace('_', " ")),
        _ => Cow::Borrowed(stem),
    };
    (stem, unit)
}

/// Below this a number without unit is shown by its first four digits, not by a fixed number of decimals.
const SMALL: f64 = 0.1;

/// Decimals that keep the first four digits of a small number.
fn small_decimals(value: f64) -> usize {
    (3.0 - value.abs().log10().floor()).clamp(4.0, 12.0) as usize
}

/// How much room a number has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// All decimals.
    Long,
    /// Three.
    Short,
}

/// A value in a unit: seconds with six or three decimals, counts with none.
pub fn in_unit(value: f64, unit: &str, room: Room) -> Num {
    match (unit, room) {
        ("s", Room::Long) => number::seconds6(value),
        ("s", Room::Short) => number::seconds3(value),
        ("ms" | "µs", Room::Long) => number::fixed(value, 3),
        ("ms" | "µs", Room::Short) => number::fixed(value, 1),
        _ if value.fract() == 0.0 => number::fixed(value, 0),
        _ if value.abs() < SMALL => number::fixed(value, small_decimals(value)),
        (_, Room::Long) => number::fixed(value, 4),
        (_, Room::Short) => number::fixed(value, 3),
    }
}

/// What is optimised.
#[derive(Clone, Debug)]
pub struct Goal {
    /// Name without unit.
    pub name: Cow<'static, str>,
    /// Unit; may be empty.
    pub unit: &'static str,
    /// Which way is better.
    pub sense: Sense,
}

impl Goal {
    /// From the description of a kind.
    pub fn of(info: ObjectiveInfo) -> Self {
        let (name, unit) = quantity(info.name);
        Self { name, unit, sense: info.sense }
    }

    /// A value without unit.
    pub fn value(&self, value: f64, room: Room) -> Num {
        in_unit(value, self.unit, room)
    }

    /// A value with unit.
    pub fn with_unit(&self, value: f64, room: Room) -> String {
        let value = self.value(value, room);
        if self.unit.is_empty() { value.into() } else { format!("{value} {}", self.unit) }
    }

    /// `makespan s`: the head of a column.
    pub fn column(&self) -> String {
        if self.unit.is_empty() { self.name.to_string() } else { format!("{} {}", self.name, self.unit) }
    }

    /// A difference: of seconds in milliseconds.
    pub fn difference(&self, value: f64) -> String {
        match self.unit {
            "s" => format!("{} ms", number::millis(value, 2)),
            "" => in_unit(value, "", Room::Short).into(),
            unit => format!("{} {unit}", number::fixed(value, 3)),
        }
    }
}

/// The plan on the screen in numbers: of the table, or the preview of an edit.
#[derive(Clone, Debug)]
pub struct Headline {
    /// `6 delta-level`, `edit of 6`.
    pub name: String,
    /// Objective value.
    pub value: f64,
    /// Figures.
    pub metrics: Metrics,
    /// Best bound that holds for every plan of the scenario.
    pub bound: Option<f64>,
    /// Whether it is the preview of an edit.
    pub preview: bool,
}

impl Headline {
    /// Of what panes show now.
    pub fn of(app: &App) -> Option<Self> {
        let entry = app.plans.shown()?;
        let bound = bound_for(app, entry);
        let preview = app.cell_edit().filter(|edit| edit.is_changed()).and_then(|edit| edit.plan());
        Some(match preview {
            Some(plan) => {
                let header = plan.0.header();
                Self {
                    name: format!("edit of {}", entry.number),
                    value: header.objective.value,
                    metrics: header.metrics,
                    bound,
                    preview: true,
                }
            }
            None => Self {
                name: format!("{} {}", entry.number, entry.method),
                value: entry.value,
                metrics: entry.metrics.clone(),
                bound,
                preview: false,
            },
        })
    }

    /// How far the value is from the bound.
    pub fn gap(&self) -> Option<Gap> {
        Gap::of(self.value, self.bound?, &self.metrics)
    }
}

/// The best bound that holds for every plan of the scenario of `entry`, see [`App::bound_of`].
pub fn bound_for(app: &App, entry: &PlanEntry) -> Option<f64> {
    app.bound_of(entry)
}

/// A gap: of the objective, as everywhere, and beside it the same seconds in units of communication.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// In units of the communication time of the ideal network, if the plan knows it.
    pub nct: Option<f64>,
    /// As a share of the value.
    pub share: f64,
}

impl Gap {
    /// |value - bound| in both units.
    pub fn of(value: f64, bound: f64, metrics: &Metrics) -> Option<Self> {
        if !value.is_finite() || !bound.is_finite() {
            return None;
        }
        let nct = metrics
            .get("comm_ideal_s")
            .filter(|ideal| **ideal > 0.0)
            .map(|ideal| (value - bound).abs() / ideal);
        Some(Self { nct, share: lightbay_core::plan::gap(value, bound) })
    }

    /// `0.07 %`: what files call the gap, the share of the value.
    pub fn words(self) -> String {
        format!("{} %", open_percent(self.share, if self.share < 0.0995 { 2 } else { 1 }))
    }

    /// `2.1 % of ideal comm.`: the same difference beside the communication time of the ideal network; `None` if the plan
    /// does not know it.
    pub fn second(self) -> Option<String> {
        self.nct.map(|nct| format!("{} % of ideal comm.", open_percent(nct, 1)))
    }
}

/// A gap in per cent. One that is not closed never reads as zero: that is said only of what is proven.
pub fn open_percent(share: f64, decimals: usize) -> String {
    let least = 0.5 * 10f64.powi(-(decimals as i32)) / 100.0;
    if share > lightbay_core::plan::OPTIMAL_GAP && share < least {
        format!("<{}", number::fixed(least * 200.0, decimals))
    } else {
        number::percent(share, decimals).into()
    }
}

/// `42/48`: ports used and there, if the plan knows them.
pub fn ports(metrics: &Metrics) -> Option<String> {
    let used = metrics.get("total_ports")?;
    let all = metrics.get("port_ratio").filter(|ratio| **ratio > 0.0).map(|ratio| used / ratio);
    Some(match all {
        Some(all) => format!("{}/{}", number::fixed(*used, 0), number::fixed(all.round(), 0)),
        None => number::fixed(*used, 0).into(),
    })
}

/// A percentage with sign: two decimals below one, else one.
pub fn percent(percent: f64) -> Num {
    number::signed(percent, if percent.abs() < 1.0 { 2 } else { 1 })
}

/// What a verdict looks like.
pub const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::Tie => Tone::Muted,
        Verdict::Different => Tone::Text,
    }
}

/// The per cent of a change with sign and unit, or `tie`.
pub fn change(change: &Change) -> Piece {
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
    fn names_carry_their_units() {
        let cases = [
            ("makespan_s", "makespan", "s"),
            ("iteration_ms", "iteration", "ms"),
            ("removed_circuits", "removed", ""),
            ("kept_circuits", "kept circuits", ""),
            ("nct", "NCT", ""),
            ("mcf_lower", "MCF", ""),
            ("total_ports", "total ports", ""),
        ];
        for (name, stem, unit) in cases {
            let (found, found_unit) = quantity(name);
            assert_eq!((found.as_ref(), found_unit), (stem, unit), "{name}");
        }
    }

    #[test]
    fn values_have_the_decimals_of_their_unit() {
        let goal = |name| Goal::of(ObjectiveInfo { name, sense: Sense::Min });
        assert_eq!(goal("makespan_s").with_unit(12.829_851_9, Room::Long), "12.829852 s");
        assert_eq!(goal("makespan_s").with_unit(12.829_851_9, Room::Short), "12.830 s");
        assert_eq!(goal("removed_circuits").with_unit(17.0, Room::Long), "17");
        assert_eq!(goal("mcf_lower").with_unit(0.006_326_4, Room::Long), "0.006326");
        assert_eq!(goal("mcf_lower").with_unit(0.000_108_73, Room::Short), "0.0001087");
        assert_eq!(goal("mcf_lower").difference(-0.000_891_5), "-0.0008915");
        assert_eq!(goal("makespan_s").difference(0.028_61), "28.61 ms");
    }

    #[test]
    fn the_gap_is_of_the_objective_and_communication_stands_beside() {
        let metrics = Metrics::from([("comm_ideal_s".to_owned(), 0.4146)]);
        let gap = Gap::of(12.829_852, 12.821_14, &metrics).unwrap();
        assert_eq!(gap.words(), "0.07 %");
        assert_eq!(gap.second().unwrap(), "2.1 % of ideal comm.");
        let plain = Gap::of(100.0, 95.0, &Metrics::new()).unwrap();
        assert_eq!((plain.words(), plain.second()), ("5.00 %".to_owned(), None));
        assert_eq!(Gap::of(f64::NAN, 1.0, &metrics), None);
        let almost = Gap::of(12.821_15, 12.821_14, &metrics).unwrap();
        assert_eq!(almost.words(), "<0.01 %");
        assert_eq!(almost.second().unwrap(), "<0.1 % of ideal comm.");
        let closed = Gap::of(12.821_14, 12.821_14, &metrics).unwrap();
        assert_eq!(closed.words(), "0.00 %");
    }

    #[test]
    fn ports_are_used_of_all() {
        let metrics = Metrics::from([("total_ports".to_owned(), 42.0), ("port_ratio".to_owned(), 0.875)]);
        assert_eq!(ports(&metrics).unwrap(), "42/48");
        assert_eq!(ports(&Metrics::new()), None);
    }
}
