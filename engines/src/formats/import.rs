//! Importers: files of other tools become scenarios or plans, with a summary of findings and assumptions.

use super::{FileSource, FormatInfo, Input, SubjectSort};
use crate::files::foreign;
use crate::models;
use crate::subject::name::{NAME, name_of};
use crate::subject::{AnyPlan, AnyScenario, Variants, any_scenario};
use lightbay_core::checked::Checked;
use lightbay_core::format::{ImportedPlan, ImportedScenario, enumerated};
use lightbay_core::json;
use lightbay_core::kind::Depth;
use lightbay_core::listed::Listed as _;
use lightbay_core::param::{Params, Setting};
use lightbay_core::plan::{Objective, Plan, Provenance, Status};
use lightbay_core::problem::{Problem, Problems, printable, suggestion};
use lightbay_core::scenario::{Origin, Scenario, SourceFile};
use lightbay_formats::Format;
use lightbay_formats::detect;
use lightbay_formats::gz::Limits;
use std::sync::Arc;

/// Result of reading files of another tool.
#[derive(Clone, Debug)]
pub enum Product {
    /// A scenario, which can be solved.
    Scenario(AnyScenario),
    /// A plan that passed the checker.
    Plan(AnyPlan),
}

impl Product {
    /// Returns the scenario, or the scenario of the plan.
    pub fn scenario(&self) -> AnyScenario {
        match self {
            Self::Scenario(scenario) => scenario.clone(),
            Self::Plan(plan) => plan.scenario(),
        }
    }

    /// Returns the same scenario or plan under another name.
    fn renamed(&self, name: &str) -> Self {
        match self {
            Self::Scenario(scenario) => Self::Scenario(scenario.renamed(name)),
            Self::Plan(plan) => Self::Plan(plan.renamed(name)),
        }
    }

    /// Returns the scenario or plan as a JSON tree in file order.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn to_value(&self) -> Result<serde_json::Value, json::WriteError> {
        match self {
            Self::Scenario(scenario) => scenario.to_value(),
            Self::Plan(plan) => plan.shared().to_value(),
        }
    }

    /// Returns the scenario or plan as file content.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn to_json(&self) -> Result<Vec<u8>, json::WriteError> {
        match self {
            Self::Scenario(scenario) => scenario.to_json(),
            Self::Plan(plan) => plan.to_json(),
        }
    }
}

/// Result of an import.
#[derive(Clone, Debug)]
pub struct ImportReport {
    /// The scenario or plan.
    pub product: Product,
    /// Findings, omissions and assumptions, as lines for a person.
    pub lines: Vec<String>,
    /// The same findings as data.
    pub summary: serde_json::Value,
}

impl ImportReport {
    /// Makes the report on an imported scenario: adds its origin, and checks that lightbay can read it back.
    ///
    /// # Errors
    /// A scenario that lightbay could not read back.
    fn of<K: Variants>(
        made: ImportedScenario<K>,
        importer: Origin,
        info: &FormatInfo,
    ) -> Result<Self, Problems> {
        let mut scenario = made.scenario;
        let notes = made.notes.into_iter().chain(enumerated(NOT_TAKEN, info.leaves_out)).collect();
        let before = scenario.provenance.take().map(Box::new);
        let origin = Origin { assumed: made.assumed, notes, before, ..importer };
        scenario.provenance = Some(origin);
        // Every command must be able to read the written result.
        Scenario::<K>::from_value(&scenario.to_value()?)?;
        let product = Product::Scenario(any_scenario(scenario));
        Ok(Self { product, lines: made.lines, summary: made.summary })
    }
}

/// Names of the importer of traces and of the importer of tables of pods.
const TRACES: &str = "traces";
const POD_MAP: &str = "pod_map";

/// Heading of the list of parts of the files that the import omits.
const NOT_TAKEN: &str = "not taken over";

/// Describes the importer and its files as the origin of the result.
pub(crate) fn origin(importer: &str, inputs: &[Input]) -> Origin {
    let source = |input: &Input| SourceFile {
        name: input.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
        sha256: json::sha256_hex(&input.bytes),
    };
    let sources = inputs.iter().map(source).collect();
    Origin { importer: importer.to_owned(), sources, ..Origin::default() }
}

/// Describes the importer and its files as [`origin`] does, for files that were streamed.
fn origin_of(importer: &str, sources: &[FileSource]) -> Result<Origin, Problems> {
    let mut origin = Origin { importer: importer.to_owned(), ..Origin::default() };
    for source in sources {
        let name = source.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let sha256 = source.sha256().map_err(|error| unreadable(&error, &source.name))?;
        origin.sources.push(SourceFile { name, sha256 });
    }
    Ok(origin)
}

fn unreadable(error: &std::io::Error, name: &str) -> Problems {
    let message = format!("cannot be read: {error}");
    Problems::from(Problem::new("", message, "check the name, the file and its permissions")).named(name)
}

/// All importers: the importers of the kinds, and the importer of solutions of other solvers.
pub fn importers() -> Vec<FormatInfo> {
    let mut formats = all_kinds!(K => K::importers()).concat();
    formats.extend(models::importer());
    formats
}

/// Returns the format of files by their content. If one of the files is a scenario or plan, the other files belong to
/// it.
///
/// # Errors
/// Files that cannot be read, files of a format that cannot be imported, or of several formats.
pub fn recognised(sources: &[FileSource]) -> Result<&'static str, Problems> {
    let head = |source: &FileSource| {
        let bytes = source.head(detect::HEAD_BYTES).map_err(|error| unreadable(&error, &source.name))?;
        Ok(Input { name: source.name.clone(), bytes })
    };
    let inputs: Vec<Input> = sources.iter().map(head).collect::<Result<_, Problems>>()?;
    recognised_heads(&inputs)
}

fn recognised_heads(inputs: &[Input]) -> Result<&'static str, Problems> {
    let of = |input: &Input| {
        let opened = detect::open(input.bytes.as_slice(), &Limits::default());
        opened.ok().map(|opened| opened.format).and_then(Format::importer)
    };
    let mut found: Vec<(&'static str, &Input)> =
        inputs.iter().filter_map(|input| Some((of(input)?, input))).collect();
    // Next to traces, lists of ranks in any order are groups.
    if found.iter().any(|(format, _)| *format == TRACES) {
        let head = |input: &Input| detect::unpacked_head(&input.bytes).unwrap_or_default();
        found.retain(|(format, input)| *format == TRACES || !detect::may_be_groups(&head(input)));
    }
    found.dedup_by_key(|(format, _)| *format);
    // A table of pods also belongs to traces.
    let of_traces = |(format, _): &(&str, &Input)| [TRACES, POD_MAP].contains(format);
    if found.iter().any(|(format, _)| *format == TRACES) && found.iter().all(of_traces) {
        return Ok(TRACES);
    }
    match found.as_slice() {
        [(format, _)] => Ok(format),
        [(one, first), (other, second), ..] => {
            let message = format!("is of format {one}, but {} is of format {other}", printable(&second.name));
            let remedy = "import them one after the other, or put the format before the files";
            Err(Problems::from(Problem::new("", message, remedy)).named(&first.name))
        }
        [] => {
            let mut problems = Problems::new();
            for input in inputs {
                let problem = foreign::told(&input.bytes, &input.name)
                    .unwrap_or_else(|| foreign::no_import(&input.bytes));
                // The caller names the file if there is only one.
                let name = if inputs.len() > 1 { input.name.as_str() } else { "" };
                problems.add(name, problem.message, problem.remedy);
            }
            Err(problems)
        }
    }
}

/// Turns files of another tool into a scenario or plan.
///
/// # Errors
/// An unknown format, settings that are not valid for it, or every problem of the files. With `strict`, every
/// assumption is a problem too. The setting `name` sets the name of the resulting scenario or plan.
pub fn import(
    format: &str,
    inputs: &[Input],
    settings: &[Setting],
    strict: bool,
) -> Result<ImportReport, Problems> {
    import_files(format, Files::InMemory(inputs), settings, strict)
}

/// As [`import`], for files that need not fit in memory: if the format streams ([`FormatInfo::streams`]), the files are
/// read one after the other. Otherwise each file may have at most `most` bytes.
///
/// # Errors
/// As [`import`]; also files that cannot be read or are too large.
pub fn import_sources(
    format: &str,
    sources: &[FileSource],
    settings: &[Setting],
    strict: bool,
    most: u64,
) -> Result<ImportReport, Problems> {
    if importers().iter().any(|info| info.name == format && info.streams) {
        return import_files(format, Files::Streamed(sources), settings, strict);
    }
    let mut inputs = Vec::with_capacity(sources.len());
    for source in sources {
        let input = source.load(most).map_err(|error| unreadable(&error, &source.name))?;
        if input.bytes.len() as u64 > most {
            let message = format!("is larger than {} MiB", most >> 20);
            let remedy = "check that this is the file you meant";
            return Err(Problems::from(Problem::new("", message, remedy)).named(&source.name));
        }
        inputs.push(input);
    }
    import_files(format, Files::InMemory(&inputs), settings, strict)
}

fn import_files(
    format: &str,
    files: Files<'_>,
    settings: &[Setting],
    strict: bool,
) -> Result<ImportReport, Problems> {
    let formats = importers();
    let Some(info) = formats.iter().find(|info| info.name == format) else {
        let names: Vec<&str> = formats.iter().map(|info| info.name).collect();
        return Err(Problem::new(
            "",
            format!("import format '{format}' does not exist"),
            suggestion(format, &names),
        )
        .into());
    };
    let (names, settings): (Vec<Setting>, Vec<Setting>) =
        settings.iter().cloned().partition(|setting| setting.name == NAME);
    let mut imported = match files {
        Files::InMemory(inputs) if format == models::SOL => models::import(inputs, &settings, strict)?,
        Files::InMemory(inputs) => own(info, inputs, &info.values(&settings)?, strict)?,
        Files::Streamed(sources) => streamed(info, sources, &info.values(&settings)?, strict)?,
    };
    imported.lines.extend(enumerated(NOT_TAKEN, info.leaves_out));
    if let Some(setting) = names.last() {
        imported.product = imported.product.renamed(&name_of(setting)?);
    }
    Ok(imported)
}

/// The files of an import.
#[derive(Clone, Copy)]
enum Files<'a> {
    InMemory(&'a [Input]),
    Streamed(&'a [FileSource]),
}

/// Imports files of a format that streams.
fn streamed(
    info: &FormatInfo,
    sources: &[FileSource],
    params: &Params,
    strict: bool,
) -> Result<ImportReport, Problems> {
    fn of<K: Variants>(
        info: &FormatInfo,
        sources: &[FileSource],
        params: &Params,
        strict: bool,
    ) -> Option<Result<ImportReport, Problems>> {
        K::importers().iter().any(|known| known.name == info.name).then(|| {
            let made = K::import_streamed(info.name, sources, params, strict)?;
            ImportReport::of(made, origin_of(info.name, sources)?, info)
        })
    }
    let unread =
        || Err(Problem::new("", format!("no kind reads '{}'", info.name), "choose another format").into());
    all_kinds!(K => of::<K>(info, sources, params, strict))
        .into_iter()
        .flatten()
        .next()
        .unwrap_or_else(unread)
}

/// Runs the checker on a plan from files.
fn checked<K: Variants>(
    made: ImportedPlan<K>,
    format: &str,
    inputs: &[Input],
    params: &Params,
) -> Result<ImportReport, Problems> {
    let sha = made.scenario.sha256();
    let mut provenance = Provenance {
        lightbay_version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario_sha256: sha.map_err(|error| Problem::new("", error.to_string(), "correct the scenario"))?,
        reproducible: false,
        not_reproducible_because: Some("read from a file of another tool".to_owned()),
        ..Provenance::default()
    };
    provenance.set_import(&Origin { notes: made.lines.clone(), ..origin(format, inputs) })?;
    let plan = Plan {
        name: made.scenario.name.clone(),
        scenario: made.scenario,
        method: format.to_owned(),
        parameters: params.clone(),
        seed: 1,
        threads: 1,
        status: Status::Heuristic,
        limit: None,
        objective: Objective::of::<K>(made.candidate.value, None),
        metrics: made.candidate.metrics,
        provenance,
        derived_from: None,
        notes: None,
        result: made.candidate.result,
    };
    let plan = Checked::verify(plan, Depth::Usual).map_err(|rejected| {
        let mut problems = Problems::new();
        for violation in rejected.violations {
            problems.add(
                "",
                format!("the plan is invalid for this scenario: {violation}"),
                "give another scenario",
            );
        }
        problems
    })?;
    let product = Product::Plan(K::plan(Arc::new(plan)));
    Ok(ImportReport { product, lines: made.lines, summary: made.summary })
}

/// Imports files of a format that a kind declares.
fn own(info: &FormatInfo, inputs: &[Input], params: &Params, strict: bool) -> Result<ImportReport, Problems> {
    fn of<K: Variants>(
        info: &FormatInfo,
        inputs: &[Input],
        params: &Params,
        strict: bool,
    ) -> Option<Result<ImportReport, Problems>> {
        let name = info.name;
        let of = K::importers().iter().find(|known| known.name == name).map(|known| known.of)?;
        Some(if of == SubjectSort::Plan {
            K::import_plan(name, inputs, params, strict).and_then(|made| checked(made, name, inputs, params))
        } else {
            K::import(name, inputs, params, strict)
                .and_then(|made| ImportReport::of(made, origin(name, inputs), info))
        })
    }
    let unread = || {
        Err(Problem::new("", format!("no kind imports the format '{}'", info.name), "choose another format")
            .into())
    };
    all_kinds!(K => of::<K>(info, inputs, params, strict)).into_iter().flatten().next().unwrap_or_else(unread)
}
