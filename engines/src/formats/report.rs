//! Formats that every kind has by its sections: a report in Markdown, and tables as comma-separated values.

use super::{Artifact, FormatInfo, Subject, SubjectSort};
use crate::catalogue::{figure, figure_label, figure_text, metrics, sections};
use crate::files::bound_words;
use lightbay_core::clock::Deadline;
use lightbay_core::format::file_stem;
use lightbay_core::param::{Domain, ParamInfo, Params, Setting};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::quantity;
use lightbay_core::report::section::SectionOf;
use lightbay_core::report::text::Extent;
use lightbay_core::report::{Report, Section, Unavailable};
use lightbay_formats::markdown::{Document, text as safe};
use lightbay_formats::sections as written;
use std::borrow::Cow;

/// Report for a review.
const MARKDOWN: &str = "markdown";
/// Tables for spreadsheets and scripts.
const CSV: &str = "csv";
/// Every table.
const ALL: &str = "all";
/// Knob of [`CSV`].
const TABLE: &str = "table";

/// The formats that a kind gets by its sections, but for those that it declares itself.
pub(super) fn exporters(kind: &str, own: &mut Vec<FormatInfo>) {
    let infos = sections(kind);
    if infos.is_empty() {
        return;
    }
    let names: Vec<&'static str> = infos.iter().map(|info| info.name).collect();
    if own.iter().all(|format| format.name != MARKDOWN) {
        own.push(FormatInfo {
            name: MARKDOWN,
            help: "Report for a review: the figures of the plan, what is proven of it, and every section that explains it.",
            of: SubjectSort::Either,
            leaves_out: &["rows of long tables beyond the first ones"],
            against: None,
            extension: "md",
            folder: false,
            params: Vec::new(),
        });
    }
    // Where a kind has tables of its own, those of the sections stand beside them.
    if let Some(format) = own.iter_mut().find(|format| format.name == CSV) {
        add_tables(format, &names);
        return;
    }
    let mut choices = vec![ALL];
    choices.extend(&names);
    own.push(FormatInfo {
        name: CSV,
        help: "Every section of the report as a table, for spreadsheets and scripts.",
        of: SubjectSort::Either,
        leaves_out: &["the figures of the plan", "the bound and the gap", "the parameters"],
        against: None,
        extension: "csv",
        folder: true,
        params: vec![ParamInfo::choice(
            TABLE,
            &choices,
            ALL,
            "Section to write; several tables go into a folder, one can go to standard output.",
        )],
    });
}

/// Adds sections to the tables that a format of a kind can write.
fn add_tables(format: &mut FormatInfo, names: &[&'static str]) {
    let known = format.params.iter_mut().find(|param| param.name == TABLE);
    if let Some(Domain::Choice { names: choices }) = known.map(|param| &mut param.domain) {
        choices.extend(names.iter().map(|name| Cow::Borrowed(*name)));
        return;
    }
    let mut choices = vec![CHANGES];
    choices.extend(names);
    format.params.push(ParamInfo::choice(
        TABLE,
        &choices,
        CHANGES,
        "Table to write: the changes to make, or a section of the report.",
    ));
}

/// The own table of a kind whose format `csv` lists changes.
const CHANGES: &str = "changes";

/// Writes a format of this module; `None` for any other format, or a table that the kind writes itself.
pub(super) fn export(
    subject: Subject<'_>,
    own: &[FormatInfo],
    format: &str,
    params: &Params,
    settings: &[Setting],
) -> Option<Result<Vec<Artifact>, Problems>> {
    if sections(subject.kind()).is_empty() {
        return None;
    }
    let is_own = own.iter().any(|known| known.name == format);
    match format {
        MARKDOWN if !is_own => Some(markdown(subject)),
        CSV => {
            let table = params.text(TABLE).unwrap_or(ALL);
            let is_section = sections(subject.kind()).iter().any(|info| info.name == table);
            if is_own && !is_section {
                return None;
            }
            if let Some(other) = settings.iter().find(|setting| setting.name != TABLE) {
                let why = format!("has no effect on table={table}: it is about the changes to make");
                return Some(Err(Problem::new(other.name.clone(), why, "leave it out").into()));
            }
            Some(csv(subject, table))
        }
        _ => None,
    }
}

fn report<'a>(subject: &'a Subject<'_>) -> Result<Box<dyn Report + 'a>, Problems> {
    match subject {
        Subject::Scenario(scenario) => scenario.report(),
        Subject::Plan(plan) => plan.report(),
    }
}

fn stem(subject: Subject<'_>) -> String {
    match subject {
        Subject::Scenario(scenario) => file_stem(scenario.name()),
        Subject::Plan(plan) => file_stem(&plan.header().name),
    }
}

/// The sections that a subject has: name and content.
fn all(subject: Subject<'_>, report: &dyn Report) -> Result<Vec<(&'static str, Section)>, Problems> {
    let is_plan = matches!(subject, Subject::Plan(_));
    let mut found = Vec::new();
    for info in sections(subject.kind()).iter().filter(|info| is_plan || info.of == SectionOf::Scenario) {
        match report.section(info.name, Deadline::NEVER) {
            Ok(section) => found.push((info.name, section)),
            Err(Unavailable::Absent { .. }) => {}
            Err(Unavailable::Failed(why)) => {
                let what = format!("section {} cannot be worked out: {why}", info.name);
                return Err(Problem::new("", what, "run `lightbay check` on the plan").into());
            }
        }
    }
    Ok(found)
}

fn csv(subject: Subject<'_>, table: &str) -> Result<Vec<Artifact>, Problems> {
    let report = report(&subject)?;
    let stem = stem(subject);
    let found = if table == ALL {
        all(subject, &*report)?
    } else {
        let name =
            sections(subject.kind()).iter().find(|info| info.name == table).map_or("", |info| info.name);
        let section = report.section(name, Deadline::NEVER).map_err(|why| match why {
            Unavailable::Absent { because, remedy } => Problem::new(TABLE, because, remedy),
            Unavailable::Failed(why) => Problem::new(TABLE, why, "run `lightbay check` on the plan"),
        })?;
        vec![(name, section)]
    };
    let mut files = Vec::new();
    for (name, section) in &found {
        for block in &section.blocks {
            let part =
                if block.name.is_empty() { (*name).to_owned() } else { format!("{name}.{}", block.name) };
            files.push(Artifact::new(format!("{stem}.{part}.csv"), written::csv(block)));
        }
    }
    Ok(files)
}

fn markdown(subject: Subject<'_>) -> Result<Vec<Artifact>, Problems> {
    let report = report(&subject)?;
    let mut document = Document::new();
    match subject {
        Subject::Scenario(scenario) => {
            document.heading(1, &format!("{}: {} scenario", safe(scenario.name()), scenario.kind()));
        }
        Subject::Plan(plan) => {
            let header = plan.header();
            document.heading(1, &format!("{}: {} plan", safe(&header.name), safe(&header.kind)));
            if let Some(caveat) = plan.caveat() {
                document.paragraph(&format!("**Warning:** {}.", safe(&caveat)));
            }
            figures(&mut document, plan);
        }
    }
    for (_, section) in all(subject, &*report)? {
        written::markdown(&mut document, &section, Extent::Overview);
    }
    let name = format!("{}.md", stem(subject));
    Ok(vec![Artifact::new(name, document.into_text())])
}

/// Objective, bound and metrics of a plan, and how it was found.
fn figures(document: &mut Document, plan: &crate::subject::AnyPlan) {
    let header = plan.header();
    let claimed = plan.claimed();
    let checked = plan.shared();
    let trust = |name: &str| if claimed.contains(&name) { "claimed by the method" } else { "checked" };
    let objective = &header.objective;
    let row = |name: &str, value: f64| {
        let definition = figure(&header.kind, name).map_or("", |figure| figure.definition);
        vec![
            safe(&figure_label(&header.kind, name)),
            figure_text(&header.kind, name, value),
            trust(name).to_owned(),
            safe(definition),
        ]
    };
    let mut rows = vec![row(&objective.name, objective.value)];
    let known =
        metrics(&header.kind).iter().filter_map(|info| Some((info.name, *header.metrics.get(info.name)?)));
    rows.extend(known.map(|(name, value)| row(name, value)));
    document.heading(2, "Figures");
    document.table(&["figure", ">value", "", "definition"], &rows);
    let mut points = vec![
        format!("Status: {}.", header.status.word().replace('_', " ")),
        format!("{}.", safe(&bound_words(&header, plan.bound_trust(), checked.verified_bound(), false))),
    ];
    points.push(format!(
        "Found by `{}` with seed {} after {}.",
        safe(&header.method),
        header.seed,
        quantity::elapsed(header.provenance.elapsed_s)
    ));
    if let Some(why) = &header.provenance.not_reproducible_because {
        points.push(format!("The same inputs need not give the same plan: {}.", safe(why)));
    }
    points.push(
        "`lightbay check PLAN --exact` verifies the plan again, with code that shares nothing with the search.".to_owned(),
    );
    points.push(format!("SHA-256 of the scenario: `{}`.", safe(&header.provenance.scenario_sha256)));
    document.list(&points);
}
