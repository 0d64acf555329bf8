//! The file of names of a model: the meaning of each column, and the scenario and method of the model.

use super::Question;
use crate::subject::AnyScenario;
use lightbay_core::json;
use lightbay_core::param::Params;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::read::{Fields, brief};
use lightbay_core::scenario::check_schema;
use lightbay_highs::file::{CONSTANT, Name, NameMap};
use lightbay_highs::model::{Model, Size};
use serde_json::{Map, Value, json};

/// The schema name that this version writes and reads.
pub const SCHEMA: &str = "lightbay.names/1";

/// Description of the column that represents the constant of the objective; no other column has this description.
const CONSTANT_WORDS: &str = "constant of the objective, fixed at 1";

/// Everything that is needed to make a plan from a solution of the model.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NameFile {
    /// Origin of the model: scenario, method and parameters.
    pub question: Question,
    /// Format of the model file.
    pub format: String,
    /// Version of lightbay that wrote the file.
    pub version: String,
    /// Name in the model file and description, column by column.
    pub columns: Vec<(String, String)>,
    /// Name in the model file and description, row by row.
    pub rows: Vec<(String, String)>,
    /// `true` if the file has an additional column for the constant of the objective.
    pub constant: bool,
}

impl NameFile {
    pub fn of(question: &Question, format: &str, names: &NameMap) -> Self {
        let pairs = |names: &[Name]| -> Vec<(String, String)> {
            names.iter().map(|name| (name.file.clone(), name.words.clone())).collect()
        };
        Self {
            question: question.clone(),
            format: format.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            columns: pairs(&names.columns),
            rows: pairs(&names.rows),
            constant: names.constant,
        }
    }

    pub fn to_value(&self, size: Size) -> Result<Value, Problem> {
        let object = |pairs: &[(String, String)]| -> Map<String, Value> {
            pairs.iter().map(|(name, words)| (name.clone(), words.clone().into())).collect()
        };
        let mut columns = object(&self.columns);
        if self.constant {
            columns.insert(CONSTANT.to_owned(), CONSTANT_WORDS.into());
        }
        let scenario = &self.question.scenario;
        Ok(json!({
            "schema": SCHEMA,
            "kind": scenario.kind(),
            "format": self.format,
            "method": self.question.method,
            "parameters": json::to_value(&self.question.params)?,
            "lightbay_version": self.version,
            "scenario_sha256": scenario.sha256()?,
            "size": json::to_value(&size)?,
            "scenario": scenario.to_value()?,
            "columns": columns,
            "rows": object(&self.rows),
        }))
    }

    /// Reads a file of names.
    ///
    /// # Errors
    /// Every problem found.
    pub fn from_value(value: &Value) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        if let Some(Err(problem)) = check_schema(value, SCHEMA) {
            return Err(problem.into());
        }
        let Some(mut fields) = Fields::of(value, "", &mut problems) else { return Err(problems) };
        fields.skip("schema");
        fields.skip("kind");
        fields.skip("size");
        let format = fields.text("format", &mut problems);
        let method = fields.text("method", &mut problems);
        let version = fields.text("lightbay_version", &mut problems);
        let sha256 = fields.text("scenario_sha256", &mut problems);
        let params = fields.required("parameters", &mut problems).and_then(|params| {
            serde_json::from_value::<Params>(params.clone())
                .map_err(|error| {
                    problems.add("parameters", format!("cannot be read: {error}"), "export the model again");
                })
                .ok()
        });
        let mut columns = pairs("columns", fields.required("columns", &mut problems), &mut problems);
        let rows = pairs("rows", fields.required("rows", &mut problems), &mut problems);
        let scenario = fields.required("scenario", &mut problems);
        let constant = columns.pop_if(|(name, _)| name == CONSTANT).is_some();
        fields.finish(&mut problems);
        let scenario = scenario.and_then(|scenario| match AnyScenario::from_value(scenario) {
            Ok(scenario) => Some(scenario),
            Err(wrong) => {
                for problem in wrong.list() {
                    problems.push(problem.clone().under("scenario"));
                }
                None
            }
        });
        if let (Some(scenario), Some(claimed)) = (&scenario, sha256)
            && scenario.sha256().is_ok_and(|sha256| sha256 != claimed)
        {
            problems.add(
                "scenario_sha256",
                "does not match the scenario in the file",
                "the scenario was changed after the model was written; export the model again",
            );
        }
        match (scenario, method, params, format, version) {
            (Some(scenario), Some(method), Some(params), Some(format), Some(version))
                if problems.is_empty() =>
            {
                Ok(Self {
                    question: Question { scenario, method: method.to_owned(), params },
                    format: format.to_owned(),
                    version: version.to_owned(),
                    columns,
                    rows,
                    constant,
                })
            }
            _ => Err(problems),
        }
    }

    /// Checks that the names were written for `model`.
    ///
    /// # Errors
    /// The first difference.
    pub fn fits(&self, model: &Model) -> Result<(), Problem> {
        for (what, here, there) in
            [("columns", &self.columns, &model.column_names), ("rows", &self.rows, &model.row_names)]
        {
            let different = here.iter().zip(there).find(|((_, words), name)| words != *name);
            let message = match different {
                Some(((name, words), now)) => {
                    format!(
                        "'{name}' is '{words}' in the file and '{now}' in the model as this version builds it"
                    )
                }
                None if here.len() != there.len() => {
                    format!(
                        "has {} {what}, but the model as this version builds it has {}",
                        here.len(),
                        there.len()
                    )
                }
                None => continue,
            };
            let remedy = format!(
                "lightbay {} wrote the names, but this is version {}; export the model again and solve the \
                 new file",
                self.version,
                env!("CARGO_PKG_VERSION")
            );
            return Err(Problem::new(what, message, remedy));
        }
        Ok(())
    }
}

/// Reads a JSON object whose values are all texts.
fn pairs(key: &str, value: Option<&Value>, problems: &mut Problems) -> Vec<(String, String)> {
    let Some(value) = value else { return Vec::new() };
    let Value::Object(map) = value else {
        problems.add(key, format!("is {}", brief(value)), "give an object { … }");
        return Vec::new();
    };
    let mut list = Vec::with_capacity(map.len());
    for (name, words) in map {
        match words {
            Value::String(words) => list.push((name.clone(), words.clone())),
            other => {
                problems.add(format!("{key}.{name}"), format!("is {}", brief(other)), "give text in quotes");
            }
        }
    }
    list
}
