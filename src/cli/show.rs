//! `lightbay show`: summarises a scenario or plan. The sections of a scenario or plan come from its kind.

use super::complete;
use super::console::Console;
use super::documents::ShowDocument;
use super::exit::Exit;
use super::failure::Failure;
use super::quantity;
use super::source::Source;
use super::table::TextTable;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::checked::{BoundTrust, VerifiedBound};
use lightbay_core::kind::Depth;
use lightbay_core::param::ParamValue;
use lightbay_core::plan::Header;
use lightbay_core::problem::{counted, printable};
use lightbay_core::report::json;
use lightbay_core::standing::Standing;
use lightbay_engines::{AnyFile, AnyPlan, AnyScenario, figure_label, figure_text, methods, metric, metrics};
use sections::Sections;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::io::Write as _;

mod sections;

/// Schema name of a flat row.
pub const ROW_SCHEMA: &str = "lightbay.row/1";

/// Arguments of `show`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  lightbay show preset:megatron_177b\n  lightbay show plan.json --json | jq .training.links\n  lightbay show preset:tpu-256\n  lightbay show preset:crossconnect-16-16-25"
)]
pub struct Arguments {
    /// Scenario or plan to show: a file, `-`, preset:NAME or session:NAME/PLAN
    #[arg(value_name = "FILE", value_parser = Source::parser(), add = ArgValueCompleter::new(complete::source))]
    file: Source,

    /// Compute all sections, even those that take more than a second
    #[arg(long, conflicts_with = "section")]
    thorough: bool,

    /// Print one section with all of its rows; for an unknown name, the error message lists all sections
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::section))]
    section: Option<String>,

    /// With --section: print the details of one row, such as the changes of batch 2 in section batches
    #[arg(long, value_name = "NUMBER", requires = "section")]
    item: Option<u32>,

    /// Print one JSON object: {"schema", "what", "kind", "name", "scenario_sha256", "provenance", "plan", "violations",
    /// "claimed", "bound_trust", "verified_bound", "bounds"} and an object named after the kind with its sections; with
    /// `--section` that section alone
    #[arg(long)]
    json: bool,

    /// Print one flat JSON object on one line: method, status, value, bound, gap, all figures, parameters of the method
    /// (`param.NAME`) and of the scenario (`scenario.NAME`)
    #[arg(long, conflicts_with_all = ["json", "section", "thorough"])]
    row: bool,
}

/// A scenario or plan to show, of any kind.
struct Shown {
    scenario: AnyScenario,
    header: Option<Header>,
    plan: Option<AnyPlan>,
    violations: usize,
    bound: BoundTrust,
    standing: Option<Standing>,
    verified: Option<VerifiedBound>,
}

/// Prints the summary or section.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let shown = read(&arguments.file, console)?;
    if arguments.row {
        let mut line = serde_json::to_vec(&row(&shown, &arguments.file.to_string())?)?;
        line.push(b'\n');
        console.out().write_all(&line)?;
        warn(&shown, arguments, console);
        return Ok(Exit::Done);
    }
    let report = match &shown.plan {
        Some(plan) => plan.report(),
        None => shown.scenario.report(),
    };
    let is_plan = shown.plan.is_some();
    let sections = Sections::new(shown.scenario.kind(), report, is_plan, arguments.thorough)
        .map_err(|problems| problems.named(arguments.file.to_string()))?;
    if arguments.thorough && sections.slow().is_empty() {
        return Err(Failure::input(
            "--thorough",
            "has no effect here: every section of this file is computed within a second".to_owned(),
            "leave it out",
        ));
    }
    let failed = match (&arguments.section, arguments.json) {
        (Some(name), json) => {
            let section = sections.one(name, arguments.item)?;
            if json {
                console.write_json(&json::section(&section))?;
            } else {
                write!(console.out(), "{}", sections::whole(&section))?;
            }
            Vec::new()
        }
        (None, true) => {
            let (value, failed) = sections.json();
            console.write_document(&document(&shown, value)?)?;
            failed
        }
        (None, false) => {
            let (text, failed) = sections.text();
            write!(console.out(), "{}{text}", head(&shown)?)?;
            failed
        }
    };
    for why in failed {
        console.warn(&why);
    }
    warn(&shown, arguments, console);
    Ok(Exit::Done)
}

/// Prints warnings about the plan.
fn warn(shown: &Shown, arguments: &Arguments, console: &mut Console) {
    if let Some(caveat) = shown.plan.as_ref().and_then(AnyPlan::caveat) {
        console.warn(&caveat);
    }
    if shown.violations > 0 {
        console.warn(&format!(
            "the plan breaks {}; see `lightbay check {}`",
            counted(shown.violations as u64, "rule", "rules"),
            arguments.file
        ));
    }
}

/// Returns the text on a plan that precedes the figures of its kind; this text has the same form for all kinds.
pub fn summary(plan: &AnyPlan) -> Result<String, Failure> {
    let (header, checked) = (plan.header(), plan.shared());
    let shown = Shown {
        scenario: plan.scenario(),
        standing: Some(plan.standing()),
        verified: checked.verified_bound().cloned(),
        header: Some(header),
        plan: Some(plan.clone()),
        violations: 0,
        bound: plan.bound_trust(),
    };
    head(&shown)
}

fn read(source: &Source, console: &Console) -> Result<Shown, Failure> {
    match source.read(console)? {
        AnyFile::Scenario(scenario) => Ok(Shown {
            scenario,
            header: None,
            plan: None,
            violations: 0,
            bound: BoundTrust::None,
            standing: None,
            verified: None,
        }),
        AnyFile::Plan(file) => {
            let Some(scenario) = file.scenario() else {
                return Err(Failure::input(
                    source.to_string(),
                    "the result of the plan cannot be read",
                    "see `lightbay check`",
                ));
            };
            let report = file.check(Depth::Usual);
            Ok(Shown {
                scenario,
                standing: report.standing(),
                verified: report.verified,
                header: report.header,
                plan: report.plan,
                violations: report.violations.len(),
                bound: report.bound,
            })
        }
    }
}

fn head(shown: &Shown) -> Result<String, Failure> {
    let scenario = &shown.scenario;
    let mut table = TextTable::new(&["", ""]);
    let mut row = |name: &str, value: String| table.row([format!("{name:<16}"), value]);
    let title = match &shown.header {
        None => format!("{} scenario '{}'\n", scenario.kind(), printable(scenario.name())),
        Some(header) => {
            let unchecked = match shown.violations {
                0 => String::new(),
                count => format!(
                    ", which breaks {}: its figures are not confirmed",
                    counted(count as u64, "rule", "rules")
                ),
            };
            format!("{} plan '{}'{unchecked}\n", scenario.kind(), printable(&header.name))
        }
    };
    if let Some(header) = &shown.header {
        let objective = &header.objective;
        row("  method", printable(&header.method));
        // A plan that breaks a rule has no standing.
        let status = shown.standing.as_ref().map_or_else(
            || format!("{}, not confirmed", header.status.word().replace('_', " ")),
            Standing::status,
        );
        row("  status", status);
        // Marks unverified figures, which are listed among verified ones.
        let claimed = shown.plan.as_ref().map(AnyPlan::claimed).unwrap_or_default();
        let figure = |name: &str, value: f64| {
            let mark = if claimed.contains(&name) { ", claimed" } else { "" };
            format!("{}{mark}", figure_text(&header.kind, name, value))
        };
        row(
            &format!("  {}", figure_label(&header.kind, &objective.name)),
            figure(&objective.name, objective.value),
        );
        if let Some(standing) = &shown.standing {
            row("  bound", standing.words(false));
        }
        // Figures that the kind declares are in the order of the kind.
        let declared = metrics(&header.kind).iter().map(|info| info.name);
        let known = declared.filter_map(|name| Some((name, *header.metrics.get(name)?)));
        let unknown = header.metrics.iter().filter(|(name, _)| metric(&header.kind, name).is_none());
        for (name, value) in known.chain(unknown.map(|(name, value)| (name.as_str(), *value))) {
            row(&format!("  {}", figure_label(&header.kind, name)), figure(name, value));
        }
        row("  parameters", parameters(header));
        row(
            "  found",
            format!(
                "after {}, seed {}, {}",
                quantity::elapsed(header.provenance.elapsed_s),
                header.seed,
                counted(header.threads as u64, "thread", "threads")
            ),
        );
        if let Some(why) = &header.provenance.not_reproducible_because {
            row("  not reproducible", printable(why));
        }
    }
    row("  scenario", scenario.sha256()?);
    let mut text = format!("{title}{table}");
    for line in scenario.origin_lines(shown.header.as_ref()) {
        let _ = writeln!(text, "  {}", printable(&line));
    }
    Ok(text)
}

/// Returns as text the parameters that differ from the defaults of the method.
fn parameters(header: &Header) -> String {
    let known = methods(&header.kind);
    let infos = known.iter().find(|method| method.name == header.method).map(|method| &method.params);
    let usual = |name: &str, value: &ParamValue| {
        let info = infos.and_then(|infos| infos.iter().find(|info| info.name == name));
        info.is_some_and(|info| info.default.as_ref() == Some(value))
    };
    let set: Vec<String> = header
        .parameters
        .iter()
        .filter(|(name, value)| !usual(name, value))
        .map(|(name, value)| printable(&format!("{name}={value}")))
        .collect();
    match (set.is_empty(), header.parameters.iter().next().is_some()) {
        (true, false) => "none".to_owned(),
        (true, true) => "all default".to_owned(),
        (false, _) => set.join(" "),
    }
}

/// Returns the figures and settings of a scenario or plan as one flat object.
fn row(shown: &Shown, file: &str) -> Result<Map<String, Value>, Failure> {
    let scenario = &shown.scenario;
    let mut row = Map::new();
    let mut put = |name: &str, value: Value| row.insert(name.to_owned(), value);
    put("schema", ROW_SCHEMA.into());
    put("file", file.into());
    put("kind", scenario.kind().into());
    put("name", scenario.name().into());
    put("scenario_sha256", scenario.sha256()?.into());
    if let Some(header) = &shown.header {
        put("method", header.method.clone().into());
        put("status", header.status.word().into());
        put("violations", shown.violations.into());
        put("objective", header.objective.name.clone().into());
        put("value", header.objective.value.into());
        let bound = shown.standing.as_ref().and_then(Standing::leading);
        put("bound", bound.map_or(Value::Null, |bound| bound.value.into()));
        put("gap", bound.map_or(Value::Null, |bound| bound.gap.into()));
        put("bound_trust", serde_json::to_value(shown.bound)?);
        for (name, value) in &header.metrics {
            put(name, (*value).into());
        }
        put("seed", header.seed.into());
        put("threads", header.threads.into());
        put("elapsed_s", header.provenance.elapsed_s.into());
        for (name, value) in header.parameters.iter() {
            put(&format!("param.{name}"), flat(value)?);
        }
    }
    for info in scenario.every_knob() {
        if let Some(value) = scenario.knob(&info.name) {
            put(&format!("scenario.{}", info.name), flat(&value)?);
        }
    }
    Ok(row)
}

/// Returns a parameter as a scalar: a list becomes a text as on the command line.
fn flat(value: &ParamValue) -> Result<Value, Failure> {
    Ok(match value {
        ParamValue::List(_) => value.to_string().into(),
        scalar => serde_json::to_value(scalar)?,
    })
}

fn document(shown: &Shown, sections: Value) -> Result<ShowDocument, Failure> {
    let scenario = &shown.scenario;
    Ok(ShowDocument {
        what: if shown.header.is_some() { "plan" } else { "scenario" },
        kind: scenario.kind(),
        name: scenario.name().to_owned(),
        scenario_sha256: scenario.sha256()?,
        provenance: scenario.provenance().cloned(),
        plan: shown.header.clone(),
        violations: shown.violations,
        claimed: shown.plan.iter().flat_map(AnyPlan::claimed).map(str::to_owned).collect(),
        bound_trust: shown.header.as_ref().map(|_| shown.bound),
        verified_bound: shown.verified.clone(),
        bounds: shown.standing.as_ref().map(|standing| standing.bounds().to_vec()),
        sections: Map::from_iter([(scenario.kind().to_owned(), sections)]),
    })
}
