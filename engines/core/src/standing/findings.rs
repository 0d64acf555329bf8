//! Findings of a checker on a plan. The session file stores these findings, so that the bounds on the plan are known
//! when the session is opened, before the plan is read and checked again.

use super::{Prover, Standing};
use crate::checked::{BoundTrust, VerifiedBound};
use crate::kind::Kind;
use crate::plan::{Header, gap};
use serde::{Deserialize, Serialize};

/// Version of this program; findings of other versions are not used.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Findings of a checker on a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Findings {
    /// Version of the program.
    pub version: String,
    /// Hash of the scenario that the bounds belong to.
    pub scenario_sha256: String,
    /// Value of the plan.
    pub value: f64,
    /// `true` if the checker also ran its slow checks.
    pub is_exact: bool,
    /// `true` if the checker confirmed the bound that the method claims.
    pub is_confirmed: bool,
    /// Bounds that the checker proved.
    pub bounds: Vec<FoundBound>,
}

/// A bound that a checker proved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundBound {
    /// Value of the bound.
    pub value: f64,
    /// The covered plans; `None` if the bound covers all plans of the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covers: Option<String>,
}

impl Standing {
    /// Returns the findings of the checker on the plan. `scenario_sha256` is the hash of the scenario of the plan;
    /// `None` if the checker proved no bound and ran no slow checks.
    pub fn findings(&self, scenario_sha256: &str) -> Option<Findings> {
        let verified = self.bounds.iter().filter(|bound| bound.is_verified());
        let bounds: Vec<FoundBound> =
            verified.map(|bound| FoundBound { value: bound.value, covers: bound.covers.clone() }).collect();
        let is_claim = |bound: &super::KnownBound| matches!(bound.by, Prover::Method(_));
        let is_confirmed = self.has_claim && !self.bounds.iter().chain(&self.refuted).any(is_claim);
        (self.is_exact || !bounds.is_empty()).then(|| Findings {
            version: VERSION.to_owned(),
            scenario_sha256: scenario_sha256.to_owned(),
            value: self.value,
            is_exact: self.is_exact,
            is_confirmed,
            bounds,
        })
    }

    /// Derives the known bounds on a plan from its envelope and its stored findings, without reading the result.
    /// Findings of another version of the program, on another scenario or for another value of the plan are ignored:
    /// the plan then has only the bound that it claims.
    pub fn saved<K: Kind>(header: &Header, findings: Option<&Findings>) -> Self {
        let fits = |found: &&Findings| {
            found.version == VERSION
                && found.scenario_sha256 == header.provenance.scenario_sha256
                && found.value == header.objective.value
        };
        let Some(found) = findings.filter(fits) else {
            return Self::of::<K>(header, BoundTrust::Claimed, [], false);
        };
        let verified = |bound: &FoundBound| VerifiedBound {
            value: bound.value,
            covers: bound.covers.clone(),
            gap: gap(found.value, bound.value),
        };
        let bounds: Vec<VerifiedBound> = found.bounds.iter().map(verified).collect();
        let trust = if found.is_confirmed { BoundTrust::Verified } else { BoundTrust::Claimed };
        Self::of::<K>(header, trust, &bounds, found.is_exact)
    }

    /// Removes the verified bounds, for a plan that cannot be read any more.
    #[must_use]
    pub fn forgotten(mut self) -> Self {
        self.is_exact = false;
        self.bounds.retain(|bound| !bound.is_verified());
        self
    }
}
