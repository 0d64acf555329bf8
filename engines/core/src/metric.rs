//! Figures of plans as data: meaning, unit, direction of improvement, and where each is shown.

use crate::kind::Sense;
use crate::report::Unit;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Role of a figure of a plan: outcome, proof, input or effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// An outcome of the plan: plans are judged by it.
    Result,
    /// An outcome that restates another figure in another unit: it has a direction of improvement, but is not counted
    /// twice.
    Restated,
    /// A proven limit, or the distance of a plan from a proven limit. The figure measures the proof, not the quality of
    /// the plan.
    Bound,
    /// A figure that follows from the scenario and its parameters alone: no plan changes it.
    Input,
    /// The effort spent on finding the plan.
    Effort,
}

impl Role {
    /// Returns `true` if a difference in the figure makes one plan better than the other.
    pub const fn is_judged(self) -> bool {
        matches!(self, Self::Result | Self::Restated)
    }

    /// Returns `true` if the figure counts when plans are ranked.
    pub const fn counts(self) -> bool {
        matches!(self, Self::Result)
    }

    /// Returns the word that is shown next to a figure by which plans are not judged; empty for other figures.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Result | Self::Restated => "",
            Self::Bound => "proof",
            Self::Input => "input",
            Self::Effort => "effort",
        }
    }
}

/// Objective, bound and metrics of a plan, from which derived figures are computed.
#[derive(Clone, Copy, Debug)]
pub struct Figures<'a> {
    /// Objective value of the plan.
    pub value: f64,
    /// Best known bound on the objective.
    pub bound: Option<f64>,
    /// Metrics of the plan, by name with unit.
    pub metrics: &'a BTreeMap<String, f64>,
}

impl Figures<'_> {
    /// Returns the metric called `name`.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).copied()
    }
}

/// Function that computes a figure that is not stored in files, because it follows from the others.
pub type Derivation = fn(&Figures<'_>) -> Option<f64>;

/// Place of a figure in the header of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InHeader {
    /// Text before the value, instead of its label.
    pub title: Option<&'static str>,
    /// Order in which figures are dropped when space is short: higher values first, 0 never.
    pub priority: u8,
    /// `true`: before the gap; `false`: after the gap.
    pub early: bool,
    /// If true, the figure is shown as a warning.
    pub warning: bool,
}

/// Column of a figure in a table of plans, shown as soon as one plan has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InTable {
    /// Heading, a few letters.
    pub title: &'static str,
    /// Width in characters; 0: as wide as the numbers need.
    pub width: u16,
    /// Order in which figures are dropped when space is short: higher values first, 0 never.
    pub priority: u8,
    /// Value of the figure on a network of unlimited capacity, for comparison.
    pub ideal: Option<f64>,
}

/// Row of a figure where two plans are compared below the table of plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InComparison {
    /// Name, at most ten characters.
    pub title: &'static str,
    /// Numbers of decimals: the first number if there is room, the second if space is short.
    pub decimals: [u8; 2],
}

/// A figure that plans of a kind have in addition to the objective; it is stored in the plan or derived from stored
/// figures.
#[derive(Clone, Copy, Debug)]
pub struct MetricInfo {
    /// Name with unit, as in files.
    pub name: &'static str,
    /// Name of the figure for people.
    pub label: &'static str,
    /// Unit of the number.
    pub unit: Unit,
    /// Role of the figure.
    pub role: Role,
    /// Direction in which the figure gets better, if there is one.
    pub sense: Option<Sense>,
    /// Definition, in one sentence.
    pub definition: &'static str,
    /// Derivation from other figures; `None` for figures stored in files.
    pub derivation: Option<Derivation>,
    /// The total that the figure is a part of, such as the number of existing ports; `None` for most.
    pub out_of: Option<Derivation>,
    /// Place in the header of the screen, if the figure has one.
    pub header: Option<InHeader>,
    /// Column in tables of plans, if the figure has one.
    pub table: Option<InTable>,
    /// Row in comparisons of two plans, if the figure has one.
    pub comparison: Option<InComparison>,
    /// Relation of the figure to the objective; `None` for most figures.
    pub relation: Option<Relation>,
}

/// Relation of a figure to the objective of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The objective of an ideal network, which no plan can beat: it has its own row in tables of plans.
    IdealObjective,
    /// A part of the objective; differences of objectives are also expressed as a percentage of this figure, followed
    /// by the given words: `2.1 % of ideal comm.`
    Yardstick(&'static str),
}

impl MetricInfo {
    const fn new(
        name: &'static str,
        label: &'static str,
        unit: Unit,
        role: Role,
        sense: Option<Sense>,
        definition: &'static str,
    ) -> Self {
        Self {
            name,
            label,
            unit,
            role,
            sense,
            definition,
            derivation: None,
            out_of: None,
            header: None,
            table: None,
            comparison: None,
            relation: None,
        }
    }

    /// Creates a figure of role [`Role::Result`] for which less is better.
    pub const fn cost(name: &'static str, label: &'static str, unit: Unit, definition: &'static str) -> Self {
        Self::new(name, label, unit, Role::Result, Some(Sense::Min), definition)
    }

    /// Creates a figure of role [`Role::Result`] for which more is better.
    pub const fn gain(name: &'static str, label: &'static str, unit: Unit, definition: &'static str) -> Self {
        Self::new(name, label, unit, Role::Result, Some(Sense::Max), definition)
    }

    /// Creates a figure of role [`Role::Result`] without a direction of improvement.
    pub const fn neutral(
        name: &'static str,
        label: &'static str,
        unit: Unit,
        definition: &'static str,
    ) -> Self {
        Self::new(name, label, unit, Role::Result, None, definition)
    }

    /// Creates a figure of role [`Role::Restated`], which restates another figure in another unit.
    pub const fn restated(
        name: &'static str,
        label: &'static str,
        unit: Unit,
        sense: Sense,
        definition: &'static str,
    ) -> Self {
        Self::new(name, label, unit, Role::Restated, Some(sense), definition)
    }

    /// Creates a figure of role [`Role::Bound`]: a proven limit.
    pub const fn bound(
        name: &'static str,
        label: &'static str,
        unit: Unit,
        definition: &'static str,
    ) -> Self {
        Self::new(name, label, unit, Role::Bound, None, definition)
    }

    /// Creates a figure of role [`Role::Input`], which follows from the scenario alone.
    pub const fn input(
        name: &'static str,
        label: &'static str,
        unit: Unit,
        definition: &'static str,
    ) -> Self {
        Self::new(name, label, unit, Role::Input, None, definition)
    }

    /// Makes the figure a derived figure, which is not stored in files.
    #[must_use]
    pub const fn derived(self, from: Derivation) -> Self {
        Self { derivation: Some(from), ..self }
    }

    /// Sets the total that the figure is a part of: `42/48`.
    #[must_use]
    pub const fn out_of(self, all: Derivation) -> Self {
        Self { out_of: Some(all), ..self }
    }

    /// Places the figure in the header before the gap.
    #[must_use]
    pub const fn early_in_header(self, priority: u8) -> Self {
        Self { header: Some(InHeader { title: None, priority, early: true, warning: false }), ..self }
    }

    /// Places the figure in the header after the gap.
    #[must_use]
    pub const fn in_header(self, priority: u8) -> Self {
        Self { header: Some(InHeader { title: None, priority, early: false, warning: false }), ..self }
    }

    /// Places the figure in the header after the gap, as a warning.
    #[must_use]
    pub const fn warning_in_header(self, priority: u8) -> Self {
        Self { header: Some(InHeader { title: None, priority, early: false, warning: true }), ..self }
    }

    /// Sets the text that the header shows before the value of the figure, instead of its label. Has no effect on a
    /// figure without a place in the header.
    #[must_use]
    pub const fn titled(self, title: &'static str) -> Self {
        let Some(header) = self.header else { return self };
        Self { header: Some(InHeader { title: Some(title), ..header }), ..self }
    }

    /// Adds a column to tables of plans.
    #[must_use]
    pub const fn in_table(self, title: &'static str, width: u16, priority: u8) -> Self {
        Self { table: Some(InTable { title, width, priority, ideal: None }), ..self }
    }

    /// Sets the value of the figure on a network of unlimited capacity, which tables of plans show for comparison.
    #[must_use]
    pub const fn ideal(self, ideal: f64) -> Self {
        let Some(table) = self.table else { return self };
        Self { table: Some(InTable { ideal: Some(ideal), ..table }), ..self }
    }

    /// Adds a row to comparisons.
    #[must_use]
    pub const fn in_comparison(self, title: &'static str, decimals: [u8; 2]) -> Self {
        Self { comparison: Some(InComparison { title, decimals }), ..self }
    }

    /// Sets the relation of the figure to the objective.
    #[must_use]
    pub const fn relation(self, relation: Relation) -> Self {
        Self { relation: Some(relation), ..self }
    }

    /// Returns `true` if plan files contain the figure.
    pub const fn is_carried(&self) -> bool {
        self.derivation.is_none()
    }

    /// Formats a value with its unit.
    pub fn with_unit(&self, value: f64) -> String {
        crate::quantity::with_unit(value, self.unit)
    }

    /// Formats name and value as one phrase: `ports 42`.
    pub fn phrase(&self, value: f64) -> String {
        format!("{} {}", self.label, self.with_unit(value))
    }

    /// Returns the value of this figure for a plan with the given `figures`.
    pub fn of(&self, figures: &Figures<'_>) -> Option<f64> {
        match self.derivation {
            Some(derive) => derive(figures),
            None => figures.get(self.name),
        }
    }
}
