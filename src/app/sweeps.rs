//! Sweeps of the workbench over one knob with several methods; each point appears when it is solved.

use crate::app::work::Setup;
use lightbay_core::param::{Domain, ParamValue};
use lightbay_core::run::Common;
use lightbay_engines::AnyScenario;
use lightbay_engines::sweep::{Axis, AxisOf, Sweep, SweepRow, Walked};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The suggested values of a knob are its present value times these factors.
const FACTORS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// The suggested values of a knob that is a fraction are its present value times these factors.
const SHARE_FACTORS: [f64; 5] = [0.6, 0.8, 1.0, 1.2, 1.4];

/// Knobs and methods of the sweeps that the pane of sweeps offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaneSweeps {
    /// The knob of each form of the pane; a further form shows the newest sweep over any other knob.
    pub knobs: &'static [&'static str],
    /// The compared methods; empty for the method chosen in the form.
    pub methods: &'static [&'static str],
}

/// Stage in the life of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepState {
    /// Cells are being solved.
    Running,
    /// The sweep was told to stop and has not stopped yet.
    Stopping,
    /// The sweep has ended.
    Ended(Walked),
    /// The sweep could not continue, for this reason.
    Failed(String),
}

impl SweepState {
    /// Returns `true` if the sweep is still active.
    pub const fn is_active(&self) -> bool {
        matches!(self, Self::Running | Self::Stopping)
    }
}

/// A sweep as a session saves it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedSweep {
    /// The request as typed.
    pub command: String,
    /// Identity of the sweep with all settings, see [`Sweep::id`].
    pub id: String,
    /// Rows of the solved cells.
    pub rows: Vec<SweepRow>,
    /// Value of the swept knob in the scenario from which the sweep was started; `None` if the knob has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<ParamValue>,
}

/// The table of a sweep that was read from files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepFile {
    /// Identity of the sweep, see [`Sweep::id`].
    pub id: String,
    /// Names of the swept parameters.
    pub axes: Vec<String>,
    /// Rows of the solved cells, by the names of their columns.
    pub rows: Vec<std::collections::BTreeMap<String, String>>,
}

/// A sweep with its points so far.
#[derive(Clone, Debug)]
pub struct SweepRun {
    /// Number of the request.
    pub key: u64,
    /// The request as typed: knob, values and methods.
    pub command: String,
    /// Knob, values and methods to solve.
    pub sweep: Arc<Sweep>,
    /// Rows of the solved cells, in order.
    pub rows: Vec<SweepRow>,
    /// State of the sweep.
    pub state: SweepState,
    /// Value of the swept knob in the scenario from which the sweep was started.
    pub base: Option<ParamValue>,
    /// The first value of the knob that makes a valid scenario, and the hash of the scenario with this value: this pair
    /// identifies the scenario of the sweep independently of the present value of the knob.
    about: Option<(usize, String)>,
    /// `true` if the sweep belongs to the present scenario, apart from the value of its knob.
    fits_now: bool,
}

impl SweepRun {
    /// Creates a sweep without points that was started from `scenario`.
    pub fn new(key: u64, command: String, sweep: Arc<Sweep>, scenario: &AnyScenario) -> Self {
        let values = sweep.axes().first().map_or(0, |axis| axis.values.len());
        let hash_at = |value: usize| {
            let cell = sweep.cell(value * sweep.method_names().count() + 1);
            Some((value, sweep.scenario(&cell).ok()?.sha256().ok()?))
        };
        let about = (0..values).find_map(hash_at);
        let axis = sweep.axes().first().filter(|axis| axis.turns == AxisOf::Scenario);
        let base = axis.and_then(|axis| scenario.knob(&axis.info.name));
        let (rows, state) = (Vec::new(), SweepState::Running);
        Self { key, command, sweep, rows, state, base, about, fits_now: true }
    }

    /// Returns the knob with its values.
    pub fn axis(&self) -> Option<&Axis> {
        self.sweep.axes().first()
    }

    /// Returns the name of the knob.
    pub fn knob(&self) -> String {
        self.axis().map_or_else(String::new, Axis::label)
    }

    /// Returns the row of a cell, by its number.
    pub fn row(&self, cell: usize) -> Option<&SweepRow> {
        self.rows.iter().find(|row| row.cell == cell)
    }

    /// Returns the number of the cell of a value and a method, both given by index.
    pub fn cell_at(&self, value: usize, method: usize) -> usize {
        value * self.sweep.method_names().count() + method + 1
    }

    /// Returns `true` if the sweep belongs to this scenario, apart from the value of its knob.
    pub fn fits(&self, scenario: &AnyScenario) -> bool {
        let Some((axis, (value, about))) = self.axis().zip(self.about.as_ref()) else { return false };
        let now = match (axis.turns, axis.values.get(*value)) {
            (AxisOf::Method, _) => scenario.sha256().ok(),
            (AxisOf::Scenario, Some(value)) => {
                let there = scenario.with(&axis.info.name, axis.index, value);
                there.ok().and_then(|scenario| scenario.sha256().ok())
            }
            (AxisOf::Scenario, None) => None,
        };
        now.as_ref() == Some(about)
    }
}

/// All sweeps of the session, oldest first. The pane shows those that belong to the present scenario.
#[derive(Clone, Debug, Default)]
pub struct SweepTable {
    list: Vec<SweepRun>,
    /// Saved sweeps that the present settings would solve differently; they return with their settings.
    pub(crate) dormant: Vec<SavedSweep>,
    compared: Option<ComparedPoints>,
}

/// The parts of a setup on which the identity of a sweep depends.
#[derive(Clone, Debug)]
struct ComparedPoints {
    sha256: String,
    method: String,
    params: BTreeMap<String, BTreeMap<String, ParamValue>>,
    common: Common,
}

impl SweepTable {
    /// Adds a sweep of the present scenario; it replaces an earlier sweep only if that sweep solves the same cells.
    pub fn insert(&mut self, run: SweepRun) {
        let id = run.sweep.id();
        self.dormant.retain(|saved| saved.id != id);
        self.list.retain(|other| other.sweep.id() != id);
        self.list.push(run);
    }

    /// Returns the newest sweep over a knob that belongs to the present scenario.
    pub fn over(&self, knob: &str) -> Option<&SweepRun> {
        self.fitting().rev().find(|run| run.knob() == knob)
    }

    /// Returns the newest sweep that belongs to the present scenario.
    pub fn newest(&self) -> Option<&SweepRun> {
        self.fitting().next_back()
    }

    /// Returns the newest sweep over a knob that is not in `knobs`, if it belongs to the present scenario.
    pub fn beside(&self, knobs: &[&str]) -> Option<&SweepRun> {
        self.fitting().rev().find(|run| !knobs.contains(&run.knob().as_str()))
    }

    /// Iterates over the sweeps of the present scenario, oldest first.
    fn fitting(&self) -> impl DoubleEndedIterator<Item = &SweepRun> {
        self.list.iter().filter(|run| run.fits_now)
    }

    /// Makes the completed sweep with this identity the newest one, and returns it; `None` if cells are missing or
    /// failed.
    pub fn show_again(&mut self, id: &str) -> Option<&SweepRun> {
        let is_whole = |run: &SweepRun| {
            run.rows.len() == run.sweep.len()
                && !run.rows.iter().any(SweepRow::failed)
                && run.sweep.id() == id
        };
        let at = self.list.iter().position(is_whole)?;
        let run = self.list.remove(at);
        self.list.push(run);
        self.list.last()
    }

    /// Returns all sweeps with at least one point, as a session saves them.
    pub fn saved(&self) -> Vec<SavedSweep> {
        let runs = self.list.iter().filter(|run| !run.rows.is_empty());
        let saved = |run: &SweepRun| SavedSweep {
            command: run.command.clone(),
            id: run.sweep.id(),
            rows: run.rows.clone(),
            base: run.base.clone(),
        };
        self.dormant.iter().cloned().chain(runs.map(saved)).collect()
    }

    /// Returns the sweep with this request number.
    pub fn get_mut(&mut self, key: u64) -> Option<&mut SweepRun> {
        self.list.iter_mut().find(|run| run.key == key)
    }

    /// Returns the active sweep.
    pub fn active(&self) -> Option<&SweepRun> {
        self.list.iter().find(|run| run.state.is_active())
    }

    /// Returns `true` if a sweep is active.
    pub fn is_busy(&self) -> bool {
        self.active().is_some()
    }

    /// Removes all sweeps.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns `true` if the sweeps were last compared with this setup.
    pub fn is_compared_with(&self, setup: &Setup) -> bool {
        self.compared.as_ref().is_some_and(|before| {
            before.sha256 == setup.sha256
                && before.method == setup.method
                && before.common == setup.common
                && before.params == setup.params
        })
    }

    /// Notes which sweeps belong to the scenario of a setup. Returns `true` if a sweep belonged to the scenario before and
    /// does not belong to this one.
    pub fn note_fitting(&mut self, setup: &Setup) -> bool {
        let same_scenario = self.compared.as_ref().is_some_and(|before| before.sha256 == setup.sha256);
        let Setup { sha256, method, params, common, scenario } = setup;
        self.compared = Some(ComparedPoints {
            sha256: sha256.clone(),
            method: method.clone(),
            params: params.clone(),
            common: *common,
        });
        if same_scenario {
            return false;
        }
        let mut is_any_hidden = false;
        for run in &mut self.list {
            let fits = run.fits(scenario);
            is_any_hidden |= run.fits_now && !fits;
            run.fits_now = fits;
        }
        is_any_hidden
    }
}

/// Returns values around the present one, in the form that the user types after the name of the knob; `None` if the
/// present value is not a number.
pub fn suggestion(scenario: &AnyScenario, knob: &str) -> Option<String> {
    let values = suggested(scenario, knob)?;
    Some(values.iter().map(f64::to_string).collect::<Vec<_>>().join(","))
}

/// Returns valid values around the present one, at least two; `None` if the present value is not a number.
pub fn suggested(scenario: &AnyScenario, knob: &str) -> Option<Vec<f64>> {
    let info = scenario.knobs().into_iter().find(|info| info.name == knob)?;
    let present = match scenario.knob(knob)? {
        ParamValue::List(entries) => entries.iter().filter_map(ParamValue::as_f64).reduce(f64::max)?,
        value => value.as_f64()?,
    };
    let whole = !matches!(info.domain, Domain::Float { .. });
    let share = !whole && present < 1.0;
    let mut values: Vec<f64> = (if share { SHARE_FACTORS } else { FACTORS })
        .iter()
        .map(|factor| {
            let value = present * factor;
            if whole { value.round() } else { (value * 1e6).round() / 1e6 }
        })
        .filter(|value| {
            let value = if whole { ParamValue::Int(*value as i64) } else { ParamValue::Float(*value) };
            info.accept(&value).is_ok() && scenario.with(knob, None, &value).is_ok()
        })
        .collect();
    values.dedup();
    (values.len() > 1).then_some(values)
}
