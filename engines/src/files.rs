//! Reading scenario and plan files of any kind, and checking plans.

use crate::envelope;
use crate::subject::{AnyDraft, AnyPlan, AnyScenario, Variants, unknown_kind};
use lightbay_core::checked::{BoundTrust, Checked, VerifiedBound, Violation};
use lightbay_core::kind::Depth;
use lightbay_core::plan::{self, Draft, Header};
use lightbay_core::problem::{Problem, Problems, suggestion};
use lightbay_core::read::Content;
use lightbay_core::scenario;
use lightbay_core::standing::Standing;
use serde_json::Value;
use std::io::Read;
use std::sync::Arc;

pub use lightbay_core::kind::EXACT_LIMIT;

pub(crate) mod foreign;

/// A scenario or plan that was read from a file.
#[derive(Debug)]
pub enum AnyFile {
    /// A scenario.
    Scenario(AnyScenario),
    /// A plan, not yet checked.
    Plan(PlanFile),
}

/// A plan with the figures that its file claims.
#[derive(Debug)]
pub struct PlanFile {
    draft: AnyDraft,
}

/// Result of checking a plan file.
#[derive(Debug)]
pub struct CheckReport {
    /// Rules that the plan breaks; empty if the plan passed the check.
    pub violations: Vec<Violation>,
    /// Source of the bound: derived by the checker, claimed by the method, or none.
    pub bound: BoundTrust,
    /// The bound that the checker itself proved.
    pub verified: Option<VerifiedBound>,
    /// Further remarks of the checker, one sentence each.
    pub remarks: Vec<String>,
    /// Problems of unknown keys in the file, apart from keys in the result.
    pub warnings: Vec<Problem>,
    /// Everything but scenario and result, if the result could be read.
    pub header: Option<Header>,
    /// The checked plan, if it breaks no rule.
    pub plan: Option<AnyPlan>,
}

impl CheckReport {
    /// Returns the bounds on the plan, if the plan passed the check.
    pub fn standing(&self) -> Option<Standing> {
        Some(self.plan.as_ref()?.standing())
    }
}

impl PlanFile {
    /// Returns everything but scenario and result, if the result could be read.
    pub fn header(&self) -> Option<Header> {
        each_kind!(&self.draft, AnyDraft, draft => draft.plan.as_ref().map(plan::Plan::header))
    }

    /// Returns the scenario that the plan is for, if the result could be read.
    pub fn scenario(&self) -> Option<AnyScenario> {
        fn of<K: Variants>(draft: &Draft<K>) -> Option<AnyScenario> {
            draft.plan.as_ref().map(|plan| K::scenario(Arc::clone(&plan.scenario)))
        }
        each_kind!(&self.draft, AnyDraft, draft => of(draft))
    }

    /// Runs the independent checker, and returns its findings.
    pub fn check(self, depth: Depth) -> CheckReport {
        each_kind!(self.draft, AnyDraft, draft => check(*draft, depth))
    }
}

fn check<K: Variants>(draft: Draft<K>, depth: Depth) -> CheckReport {
    let mut report = CheckReport {
        violations: draft.violations,
        bound: BoundTrust::None,
        verified: None,
        remarks: Vec::new(),
        warnings: draft.warnings,
        header: draft.plan.as_ref().map(plan::Plan::header),
        plan: None,
    };
    if let Some(plan) = draft.plan {
        report.violations.extend(envelope::violations(&plan));
        match Checked::verify(plan, depth) {
            Ok(checked) => {
                report.violations.extend(envelope::unfounded(&checked));
                report.bound = checked.bound_trust();
                report.verified = checked.verified_bound().cloned();
                report.remarks = checked.remarks().to_vec();
                if report.violations.is_empty() {
                    report.plan = Some(K::plan(Arc::new(checked)));
                }
            }
            Err(rejected) => report.violations.extend(rejected.violations),
        }
    }
    report
}

/// Reads a scenario or plan; gzip is recognised by its magic bytes.
///
/// # Errors
/// Every problem of the file; the problems name the file as `source`.
pub fn read_file(stream: impl Read, source: &str) -> Result<AnyFile, Problems> {
    read_content(stream, source).map_err(|problems| problems.named(source))
}

fn read_content(stream: impl Read, source: &str) -> Result<AnyFile, Problems> {
    let content = Content::take(stream)?;
    let foreign = foreign::told(content.bytes(), source);
    let value = match (content.json(), foreign) {
        (Ok(value), Some(foreign)) if !is_ours(&value) => return Err(foreign.into()),
        (Ok(value), _) => value,
        (Err(_), Some(foreign)) => return Err(foreign.into()),
        (Err(problem), None) => return Err(problem.into()),
    };
    drop(content);
    read_value(&value)
}

fn is_ours(value: &Value) -> bool {
    value.get("schema").and_then(Value::as_str).is_some_and(|schema| schema.starts_with("lightbay."))
}

/// Reads a scenario or plan from a JSON tree.
///
/// # Errors
/// Every problem found.
pub fn read_value(value: &Value) -> Result<AnyFile, Problems> {
    let schema = value.get("schema").and_then(Value::as_str);
    let family = schema.and_then(|schema| schema.split_once('/')).map(|(family, _)| family);
    match family {
        Some("lightbay.plan") => {
            if let Some(Err(problem)) = scenario::check_schema(value, plan::SCHEMA) {
                return Err(problem.into());
            }
            let kind = scenario::kind_of(value);
            named_kind!(kind.unwrap_or_default(), K => read_plan::<K>(value), Err(unknown_kind(kind).into()))
        }
        Some("lightbay.scenario") => {
            if let Some(Err(problem)) = scenario::check_schema(value, scenario::SCHEMA) {
                return Err(problem.into());
            }
            AnyScenario::from_value(value).map(AnyFile::Scenario)
        }
        _ => Err(not_ours(value, schema).into()),
    }
}

fn read_plan<K: Variants>(value: &Value) -> Result<AnyFile, Problems> {
    let draft = plan::read_draft::<K>(value)?;
    Ok(AnyFile::Plan(PlanFile { draft: K::draft(Box::new(draft)) }))
}

fn not_ours(value: &Value, schema: Option<&str>) -> Problem {
    let ours = [scenario::SCHEMA, plan::SCHEMA];
    if !value.is_object() {
        return Problem::new(
            "",
            format!("holds {}", lightbay_core::read::brief(value)),
            "a scenario or plan is an object; files of other tools are read by `lightbay import`",
        );
    }
    match schema {
        None => Problem::new(
            "schema",
            "is missing",
            format!(
                "write \"{}\" or \"{}\"; files of other tools are read by `lightbay import`",
                ours[0], ours[1]
            ),
        ),
        Some(schema) => Problem::new("schema", format!("is '{schema}'"), suggestion(schema, &ours)),
    }
}
