//! Reads a plan file: problems of the envelope are invalid input, problems of the result are violations.

use super::{Limit, Objective, Plan, Provenance, SCHEMA, Status};
use crate::checked::Violation;
use crate::kind::{Kind, Sense};
use crate::param::Params;
use crate::problem::{Problem, Problems};
use crate::read::Fields;
use crate::record::any;
use crate::scenario::{Scenario, check_schema};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A plan as read from a file, before it is checked.
#[derive(Debug)]
pub struct Draft<K: Kind> {
    /// The plan, if its result could be read.
    pub plan: Option<Plan<K>>,
    /// Problems with the form of the result, as violations (`schema`).
    pub violations: Vec<Violation>,
    /// Unknown keys outside the result.
    pub warnings: Vec<Problem>,
}

/// Reads a plan of kind `K`.
///
/// # Errors
/// Every problem of the envelope or the embedded scenario. Problems of `result` are not errors; the returned draft
/// contains them.
pub fn read_draft<K: Kind>(value: &Value) -> Result<Draft<K>, Problems> {
    let mut problems = Problems::new();
    if let Some(Err(problem)) = check_schema(value, SCHEMA) {
        return Err(problem.into());
    }
    let Some(mut fields) = Fields::of(value, "", &mut problems) else {
        return Err(problems);
    };
    fields.skip("schema");
    fields.skip("kind");
    let mut violations = missing(value);
    let name = fields.optional_text("name", &mut problems).unwrap_or_default().to_owned();
    let scenario = fields.required("scenario", &mut problems).and_then(|value| {
        Scenario::<K>::from_value(value)
            .map_err(|inner| {
                for problem in inner.list() {
                    problems.push(problem.clone().under("scenario"));
                }
            })
            .ok()
    });
    let method = fields.text("method", &mut problems).map(str::to_owned);
    let parameters: Params = simple(&mut fields, "parameters", &mut problems).unwrap_or_default();
    let seed = fields.int_or("seed", 0..=i64::MAX, 0, &mut problems).unwrap_or(0) as u64;
    let threads = fields.int_or("threads", 1..=65_536, 1, &mut problems).unwrap_or(1) as usize;
    let status: Option<Status> = simple(&mut fields, "status", &mut problems);
    let limit: Option<Limit> = fields.optional_simple("limit", &mut problems);
    let objective = read_objective(&mut fields, &mut problems);
    let metrics: BTreeMap<String, f64> = fields.optional_simple("metrics", &mut problems).unwrap_or_default();
    let provenance: Provenance = fields.optional_simple("provenance", &mut problems).unwrap_or_default();
    let derived_from = any().read("derived_from", &mut fields, &mut problems);
    let notes = fields.optional("notes").cloned();

    let mut result_problems = Problems::new();
    let result = fields.object("result", &mut problems).and_then(|mut inner| {
        let result = K::read_result(&mut inner, &mut result_problems);
        inner.finish(&mut result_problems);
        result
    });
    let warnings = fields.unknown();

    let (Some(scenario), Some(method), Some(status), Some(objective), true) =
        (scenario, method, status, objective, problems.is_empty())
    else {
        return Err(problems);
    };
    violations
        .extend(result_problems.list().iter().map(|problem| Violation::new("schema", problem.to_string())));
    let plan = result.map(|result| Plan {
        scenario: Arc::new(scenario),
        name,
        method,
        parameters,
        seed,
        threads,
        status,
        limit,
        objective,
        metrics,
        provenance,
        derived_from: derived_from.flatten(),
        notes,
        result,
    });
    Ok(Draft { plan, violations, warnings })
}

/// Required keys with their sub-keys, without which the plan cannot be reproduced.
const NEEDED: [(&str, &[&str]); 2] = [
    ("", &["name", "seed", "threads", "metrics"]),
    ("provenance", &["scenario_sha256", "elapsed_s", "reproducible"]),
];

fn missing(value: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    for (block, keys) in NEEDED {
        let block_value = if block.is_empty() { Some(value) } else { value.get(block) };
        for key in
            keys.iter().filter(|key| block_value.and_then(|block| block.get(key)).is_none_or(Value::is_null))
        {
            let path = if block.is_empty() { (*key).to_owned() } else { format!("{block}.{key}") };
            found.push(Violation::new("envelope", format!("'{path}' is missing")));
        }
    }
    found
}

fn read_objective(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Objective> {
    let all = f64::MIN..=f64::MAX;
    let mut inner = fields.object("objective", problems)?;
    let name = inner.text("name", problems).map(str::to_owned);
    let sense = inner.choice("sense", &[("min", Sense::Min), ("max", Sense::Max)], problems);
    let value = inner.float("value", all.clone(), problems);
    let bound =
        if inner.optional("bound").is_some() { inner.float("bound", all.clone(), problems) } else { None };
    let gap = if inner.optional("gap").is_some() { inner.float("gap", all, problems) } else { None };
    inner.finish(problems);
    Some(Objective { name: name?, sense: sense?, value: value?, bound, gap })
}

fn simple<T: DeserializeOwned>(
    fields: &mut Fields<'_>,
    key: &'static str,
    problems: &mut Problems,
) -> Option<T> {
    fields.required(key, problems)?;
    fields.optional_simple(key, problems)
}
