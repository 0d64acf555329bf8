//! Figures of plans as data: what each says, which way it is better, and with that what two plans may be judged by.

use crate::kind::Sense;
use schemars::JsonSchema;
use serde::Serialize;

/// What a figure of a plan says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// An outcome of the plan: plans are judged by it.
    Result,
    /// The outcome that another figure tells already, in another unit: it has a better and a worse side, but is not
    /// counted twice.
    Restated,
    /// A limit that is proven, or how far a plan is from it: it says how much is known, not how good a plan is.
    Bound,
    /// What follows from the scenario and its parameters alone: no plan changes it.
    Input,
    /// What it took to find the plan.
    Effort,
}

impl Role {
    /// Whether plans that differ in such a figure are better and worse.
    pub const fn is_judged(self) -> bool {
        matches!(self, Self::Result | Self::Restated)
    }

    /// Whether it counts when plans are ranked.
    pub const fn counts(self) -> bool {
        matches!(self, Self::Result)
    }

    /// What stands beside a figure that is not judged; nothing for one that is.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Result | Self::Restated => "",
            Self::Bound => "proof",
            Self::Input => "input",
            Self::Effort => "effort",
        }
    }
}

/// A figure that plans of a kind may carry beside their objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MetricInfo {
    /// Name with unit.
    pub name: &'static str,
    /// What it says.
    pub role: Role,
    /// Which way is better, where one way is.
    pub sense: Option<Sense>,
}

impl MetricInfo {
    /// An outcome of which less is better.
    pub const fn cost(name: &'static str) -> Self {
        Self { name, role: Role::Result, sense: Some(Sense::Min) }
    }

    /// An outcome of which more is better.
    pub const fn gain(name: &'static str) -> Self {
        Self { name, role: Role::Result, sense: Some(Sense::Max) }
    }

    /// An outcome of which neither less nor more is better.
    pub const fn neutral(name: &'static str) -> Self {
        Self { name, role: Role::Result, sense: None }
    }

    /// A figure that says what another one says.
    pub const fn restated(name: &'static str, sense: Sense) -> Self {
        Self { name, role: Role::Restated, sense: Some(sense) }
    }

    /// A limit that is proven.
    pub const fn bound(name: &'static str) -> Self {
        Self { name, role: Role::Bound, sense: None }
    }

    /// A figure of the scenario.
    pub const fn input(name: &'static str) -> Self {
        Self { name, role: Role::Input, sense: None }
    }
}
