//! Imports solutions of other solvers: finds the solution file and its model, and makes the plan.

use super::names::NameFile;
use super::point::{Point, PointNames, WHOLE, beyond, point};
use super::{Question, modelled};
use crate::catalogue::kinds;
use crate::files::{AnyFile, read_value};
use crate::formats::{FormatInfo, ImportReport, Input, Product, SubjectSort, origin};
use lightbay_core::json::WriteError;
use lightbay_core::param::{ParamInfo, Setting};
use lightbay_core::plan::Provenance;
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::read::read_json;
use lightbay_formats::detect;
use lightbay_formats::solutions::{self, Key, SolutionFile};
use lightbay_formats::{Format, Limits};
use lightbay_highs::file;
use lightbay_highs::model::Model;
use serde_json::{Map, Value, json};

/// Name of the importer.
pub(crate) const SOL: &str = "sol";

/// Limits on the part of a file that is read to detect its format.
const LIMITS: Limits = Limits { content_bytes: 256 << 20, line_bytes: 1 << 16, rows: 1_000_000 };

/// Returns the importer, if any method has a model to export.
pub(crate) fn importer() -> Option<FormatInfo> {
    let mut methods: Vec<&'static str> = Vec::new();
    for kind in kinds() {
        methods.extend(modelled(kind.name).iter().map(|one| one.name));
    }
    let first = methods.first()?;
    Some(FormatInfo {
        name: SOL,
        help: "Plan from a solution of an exported model, solved with HiGHS, Gurobi, CPLEX, SCIP, CBC or \
             GLPK. Also pass the file of names that was written with the model, or the scenario or plan \
             from which it was written.",
        of: SubjectSort::Plan,
        leaves_out: &[
            "the bound and the gap of the other solver",
            "the times and the log of the other solver",
        ],
        against: None,
        extension: SOL,
        folder: false,
        streams: false,
        params: vec![
            ParamInfo::choice(
                "method",
                &methods,
                first,
                "Method whose model was solved. Not needed with the file of names, which contains all \
                 settings.",
            )
            .derived(),
        ],
    })
}

/// Origin of the model, and the names of the columns in the model file.
struct ModelSource {
    question: Question,
    names: Option<NameFile>,
}

/// Turns the solution among `inputs` into a plan; returns the plan with a report on the import.
///
/// # Errors
/// Every problem of the files, and every reason why the solution is not a valid plan.
pub(crate) fn import(inputs: &[Input], settings: &[Setting], strict: bool) -> Result<ImportReport, Problems> {
    let (solution, beside) = sorted(inputs)?;
    let asked = asked(beside, settings)?;
    let model = asked.question.model()?;
    // Some solvers list the rows of the model among its columns; if there are only a few names too many, each is
    // reported.
    let limits = Limits { rows: model.columns() + model.rows() + 1000, ..LIMITS };
    let file = solutions::read(solution.bytes.as_slice(), &limits)
        .map_err(|problems| problems.named(&solution.name))?;
    let file = without_constant(file, model.columns())
        .map_err(|problem| Problems::from(problem).named(&solution.name))?;
    let (columns, rows) =
        in_file(&asked, &model).map_err(|problem| Problems::from(problem).named(&beside.name))?;
    let names = PointNames {
        columns: columns.iter().map(String::as_str).collect(),
        rows: rows.iter().map(String::as_str).collect(),
    };
    let point = point(&file, &model, &names, strict).map_err(|problems| problems.named(&solution.name))?;
    let plan = asked
        .question
        .plan(&point.values, provenance(&file, &point, inputs)?)
        .map_err(|problems| problems.named(&solution.name))?;
    let value = plan.header().objective;
    let lines = lines(&file, &model, &point, &asked.question, &value);
    let summary = json!({
        "solver": file.dialect.solver(),
        "status": file.status.as_ref().map(|status| &status.what),
        "claimed_objective": file.objective.as_ref().map(|claimed| claimed.what),
        "model_objective": point.objective,
        "columns": model.columns(),
        "columns_left_out": point.left_out,
        "rounded_by": point.rounded_by,
        "further_points": file.further_points,
        "claimed_bound": file.bound.as_ref().map(|bound| bound.what),
        "lines_passed_over": file.passed_over,
        "method": asked.question.method,
        "parameters": asked.question.params,
        "plan_objective": value.value,
    });
    Ok(ImportReport { product: Product::Plan(plan), lines, summary })
}

/// Returns the solution among the inputs, and the input that names the solved model.
fn sorted(inputs: &[Input]) -> Result<(&Input, &Input), Problems> {
    let mut solution = None;
    let mut beside = None;
    let mut problems = Problems::new();
    for input in inputs {
        let opened = detect::open(input.bytes.as_slice(), &LIMITS)
            .map_err(|problem| Problems::from(problem).named(&input.name))?;
        let place = match opened.format {
            Format::Names | Format::Scenario | Format::Plan => &mut beside,
            // For anything else, the reader of solutions reports the error.
            _ => &mut solution,
        };
        if let Some(before) = place.replace(input) {
            problems.add(
                input.name.clone(),
                format!("is given in addition to {}", before.name),
                "give one solution, and one file of names, scenario or plan",
            );
        }
    }
    problems.into_result(())?;
    match (solution, beside) {
        (Some(solution), Some(beside)) => Ok((solution, beside)),
        (None, _) => {
            Err(Problem::new("", "none of the files is a solution", "add the file that the solver wrote")
                .into())
        }
        (Some(_), None) => Err(Problem::new(
            "",
            "none of the files says which model was solved",
            "add the .names.json file that was written with the model, or the scenario or plan (--set method=METHOD names the model)",
        )
        .into()),
    }
}

fn asked(beside: &Input, settings: &[Setting]) -> Result<ModelSource, Problems> {
    let named = |problems: Problems| problems.named(&beside.name);
    let value = read_json(beside.bytes.as_slice()).map_err(|problem| named(problem.into()))?;
    if is_names(&value) {
        let names = NameFile::from_value(&value).map_err(named)?;
        let mut problems = Problems::new();
        for setting in settings {
            problems.add(
                setting.name.clone(),
                format!("is already in {}", beside.name),
                "leave it out, or give the scenario instead of the names",
            );
        }
        problems.into_result(())?;
        return Ok(ModelSource { question: names.question.clone(), names: Some(names) });
    }
    let question = match read_value(&value).map_err(named)? {
        AnyFile::Scenario(scenario) => Question::asked(&scenario, None, settings)?,
        AnyFile::Plan(plan) => {
            let (Some(scenario), Some(header)) = (plan.scenario(), plan.header()) else {
                let problem =
                    Problem::new("result", "cannot be read", "see `lightbay check`, or give a scenario");
                return Err(named(problem.into()));
            };
            Question::asked(&scenario, Some((&header.method, &header.parameters)), settings)?
        }
    };
    Ok(ModelSource { question, names: None })
}

fn is_names(value: &Value) -> bool {
    let schema = value.get("schema").and_then(Value::as_str).unwrap_or_default();
    schema.split_once('/').is_some_and(|(family, _)| family == "lightbay.names")
}

/// Returns the names of columns and rows in the model file: the names in the file of names, or, without such a file,
/// the names that this version of lightbay would write.
fn in_file(asked: &ModelSource, model: &Model) -> Result<(Vec<String>, Vec<String>), Problem> {
    if let Some(names) = &asked.names {
        names.fits(model)?;
        let only = |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect();
        return Ok((only(&names.columns), only(&names.rows)));
    }
    let written = file::write(model, file::ModelFormat::Mps)
        .map_err(|error| Problem::new("", error.to_string(), "give the file of names"))?;
    let only = |names: Vec<file::Name>| names.into_iter().map(|name| name.file).collect();
    Ok((only(written.names.columns), only(written.names.rows)))
}

/// Removes the column that represents the constant of the objective in LP files; the model stores this constant
/// separately.
fn without_constant(mut file: SolutionFile, columns: usize) -> Result<SolutionFile, Problem> {
    let is_constant = |key: &Key| match key {
        Key::Name(name) => name == file::CONSTANT,
        Key::Place(place) => *place == columns,
    };
    let Some(at) = file.entries.iter().position(|entry| is_constant(&entry.key)) else { return Ok(file) };
    let entry = &file.entries[at];
    if (entry.value - 1.0).abs() > WHOLE {
        return Err(match &entry.key {
            Key::Name(name) => Problem::new(
                format!("line {}", entry.line),
                format!("'{name}' is {}, but 1 in the model", entry.value),
                "check that the file is a solution of this model",
            ),
            Key::Place(place) => beyond(entry.line, *place, columns),
        });
    }
    file.entries.remove(at);
    Ok(file)
}

fn provenance(file: &SolutionFile, point: &Point, inputs: &[Input]) -> Result<Provenance, WriteError> {
    let mut other = Map::new();
    other.insert("imported".to_owned(), true.into());
    if let Some(status) = &file.status {
        other.insert("solver_status".to_owned(), status.what.clone().into());
    }
    other.insert("model_objective".to_owned(), point.objective.into());
    let mut provenance = Provenance {
        lightbay_version: env!("CARGO_PKG_VERSION").to_owned(),
        solver: Some(file.dialect.solver().to_owned()),
        reproducible: false,
        not_reproducible_because: Some("read from the solution file of another solver".to_owned()),
        other,
        ..Provenance::default()
    };
    provenance.set_import(&origin(super::SOL, inputs))?;
    Ok(provenance)
}

fn lines(
    file: &SolutionFile,
    model: &Model,
    point: &Point,
    question: &Question,
    value: &lightbay_core::plan::Objective,
) -> Vec<String> {
    let solver = file.dialect.solver();
    let mut lines = Vec::new();
    let status = file.status.as_ref().map_or_else(String::new, |status| format!(", '{}'", status.what));
    lines.push(format!(
        "solution of {solver}{status}: objective {}, computed from its values",
        point.objective
    ));
    let columns = counted(model.columns() as u64, "column", "columns");
    lines.push(match point.left_out {
        0 => format!("{columns} of the model of {}, all in the file", question.method),
        count => format!(
            "{columns} of the model of {}; {count} not in the file and taken as zero, as {solver} leaves out zeros",
            question.method
        ),
    });
    if point.rounded_by > 0.0 {
        lines.push(format!(
            "values of integer columns were off by at most {:.1e} and are rounded",
            point.rounded_by
        ));
    }
    if let Some(bound) = &file.bound {
        lines.push(format!(
            "{solver} claims that no objective is better than {}, which is not verified",
            bound.what
        ));
    }
    if file.passed_over > 0 {
        lines.push(format!(
            "{} of the file ignored: this version does not know the keywords",
            counted(file.passed_over as u64, "line", "lines")
        ));
    }
    if file.further_points > 0 {
        lines.push(format!("the file has {} points; the first one is used", file.further_points + 1));
    }
    lines.push(format!(
        "the plan has {} {} and passed its check; no bound is claimed for it",
        value.name, value.value
    ));
    lines
}
