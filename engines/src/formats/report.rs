//! Formats made from the sections of a kind, so that no kind has to declare them: a report in Markdown or as a web
//! page, and tables as comma-separated values.

use super::{Artifact, FormatInfo, Subject, SubjectSort, export_own, own_exporters};
use crate::catalogue::{figure, figure_label, figure_text, metrics, sections};
use crate::subject::{AnyPlan, AnyScenario};
use lightbay_core::clock::Deadline;
use lightbay_core::format::file_stem;
use lightbay_core::param::{Domain, ParamInfo, Params, Setting};
use lightbay_core::plan::Header;
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::quantity;
use lightbay_core::report::section::SectionOf;
use lightbay_core::report::text::Extent;
use lightbay_core::report::{Report, Section, Unavailable};
use lightbay_formats::html;
use lightbay_formats::markdown::{Document, text as safe};
use lightbay_formats::sections as written;
use std::borrow::Cow;

/// Name of the format: a report for a review, in Markdown.
const MARKDOWN: &str = "markdown";
/// Name of the format: the same report as a web page.
const HTML: &str = "html";
/// Name of the format: tables for spreadsheets and scripts.
const CSV: &str = "csv";
/// Name of the format for a picture of a plan; kinds that draw pictures declare this format.
const SVG: &str = "svg";
/// Name of the parameter of [`MARKDOWN`] and [`HTML`] that sets the place of the picture.
const PICTURE: &str = "picture";
/// Value of [`PICTURE`]: the picture is inside the report.
const INLINE: &str = "inline";
/// Value of [`PICTURE`]: the picture is in a separate file in the folder of the report.
const BESIDE: &str = "beside";
/// Value of [`PICTURE`]: there is no picture.
const NO_PICTURE: &str = "none";
/// Suffix that turns the name of a report into the name of its picture.
const PICTURE_ENDING: &str = ".svg";
/// Value of [`TABLE`]: every table is written.
const ALL: &str = "all";
/// Name of the parameter of [`CSV`] that selects the table.
const TABLE: &str = "table";

/// Adds the formats made from the sections of a kind to `own`, the formats that the kind declares. A format that is
/// already in `own` is not added again.
pub(super) fn exporters(kind: &str, own: &mut Vec<FormatInfo>) {
    let infos = sections(kind);
    if infos.is_empty() {
        return;
    }
    let names: Vec<&'static str> = infos.iter().map(|info| info.name).collect();
    if own.iter().all(|format| format.name != MARKDOWN) {
        let info = FormatInfo::new(
            MARKDOWN,
            "Report for a review: the scenario, the figures of the plan and what is proven about them, \
             its picture, and all sections.",
            SubjectSort::Either,
            "md",
        );
        let info = info.leaving_out(&["rows of long tables beyond the first ones"]);
        let has_picture = own.iter().any(|format| format.name == SVG);
        own.push(if has_picture { info.with(vec![picture(&[INLINE, BESIDE, NO_PICTURE])]) } else { info });
        let page = FormatInfo::new(
            HTML,
            "The same report as a self-contained web page with its picture.",
            SubjectSort::Either,
            "html",
        );
        let page = page.leaving_out(&["rows of long tables beyond the first ones"]);
        own.push(if has_picture { page.with(vec![picture(&[INLINE, NO_PICTURE])]) } else { page });
    }
    // A kind with its own tables offers the tables of the sections in addition.
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
        streams: false,
        params: vec![ParamInfo::choice(
            TABLE,
            &choices,
            ALL,
            "Section whose table is written. Several tables need a folder; one table can go to standard output.",
        )],
    });
}

/// Returns the parameter that sets the place of the picture in a report, for kinds that draw pictures.
fn picture(places: &[&'static str]) -> ParamInfo {
    ParamInfo::choice(
        PICTURE,
        places,
        INLINE,
        "Where to put the picture (as format svg draws it): inside the report, in a separate file, or \
         nowhere.",
    )
}

/// Adds `names`, the names of sections, to the tables that a format can write.
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

/// Name of the table of changes, for kinds that declare a format `csv` with such a table.
const CHANGES: &str = "changes";

/// Writes a subject in a format of this module; returns `None` for any other format, and for a table that the kind
/// writes itself.
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
        MARKDOWN if !is_own => {
            Some(markdown(subject, params, settings.iter().any(|setting| setting.name == PICTURE)))
        }
        HTML if !is_own => {
            let asked = settings.iter().any(|setting| setting.name == PICTURE);
            Some(markdown(subject, params, asked).map(|files| files.into_iter().map(page).collect()))
        }
        CSV => {
            let table = params.text(TABLE).unwrap_or(ALL);
            let is_section = sections(subject.kind()).iter().any(|info| info.name == table);
            if is_own && !is_section {
                return None;
            }
            if let Some(other) = settings.iter().find(|setting| setting.name != TABLE) {
                let why = format!("has no effect on table={table}, only on table=changes");
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

/// Computes the sections of a subject: name and content.
fn all(subject: Subject<'_>, report: &dyn Report) -> Result<Vec<(&'static str, Section)>, Problems> {
    let is_plan = matches!(subject, Subject::Plan(_));
    let mut found = Vec::new();
    for info in sections(subject.kind()).iter().filter(|info| is_plan || info.of == SectionOf::Scenario) {
        match report.section(info.name, Deadline::NEVER) {
            Ok(section) => found.push((info.name, section.written())),
            Err(Unavailable::Absent { .. }) => {}
            Err(why) => {
                let what = format!("section {} cannot be computed: {why}", info.name);
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
            why => Problem::new(TABLE, why.to_string(), "run `lightbay check` on the plan"),
        })?;
        vec![(name, section.written())]
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

/// Writes the reports of a subject: one report, and a further report for each part of a plan that is reviewed
/// separately.
fn markdown(subject: Subject<'_>, params: &Params, asked: bool) -> Result<Vec<Artifact>, Problems> {
    let Subject::Plan(plan) = subject else { return review(subject, params, asked) };
    let mut files = Vec::new();
    for part in plan.reviewed()? {
        files.extend(review(Subject::Plan(&part), params, asked)?);
    }
    Ok(files)
}

/// Converts a report in Markdown to a web page.
fn page(report: Artifact) -> Artifact {
    let name = report.name.strip_suffix(".md").unwrap_or(&report.name);
    let text = html::page(name, &String::from_utf8_lossy(&report.bytes));
    Artifact::new(format!("{name}.html"), text)
}

/// Writes one report, and its picture if the picture is a separate file. `asked` is `true` if the user set the place of
/// the picture.
fn review(subject: Subject<'_>, params: &Params, asked: bool) -> Result<Vec<Artifact>, Problems> {
    let report = report(&subject)?;
    let name = format!("{}.md", stem(subject));
    let beside = format!("{name}{PICTURE_ENDING}");
    let mut document = Document::new();
    let about = match subject {
        Subject::Scenario(scenario) => {
            document.heading(1, &format!("{}: {} scenario", safe(scenario.name()), scenario.kind()));
            scenario.name().to_owned()
        }
        Subject::Plan(plan) => {
            let header = plan.header();
            document.heading(1, &format!("{}: {} plan", safe(&header.name), safe(&header.kind)));
            if let Some(caveat) = plan.caveat() {
                document.paragraph(&format!("**Warning:** {}.", safe(&caveat)));
            }
            let verdict: Vec<String> = plan.verdict()?.iter().map(|sentence| safe(sentence)).collect();
            if verdict.is_empty() {
                document.paragraph(&safe(&plan.standing().sentence()));
            } else {
                document.paragraph(&verdict.join("\n"));
            }
            header.name
        }
    };
    let place = params.text(PICTURE).filter(|place| *place != NO_PICTURE);
    let drawn = match place.map(|_| drawn(subject)) {
        Some(Err(problems)) if asked => return Err(problems),
        Some(Ok(drawn)) => drawn,
        Some(Err(_)) | None => None,
    };
    let mut pictures = Vec::new();
    if let Some(drawn) = drawn {
        let about = format!("picture of {about}");
        if place == Some(BESIDE) {
            document.picture(&about, &beside);
            pictures.push(Artifact::beside(beside.clone(), drawn, PICTURE_ENDING));
        } else {
            document.embedded_picture(&about, "image/svg+xml", &drawn);
        }
    }
    if let Subject::Plan(plan) = subject {
        figures(&mut document, plan);
    }
    match subject {
        Subject::Scenario(scenario) => question(&mut document, scenario, None),
        Subject::Plan(plan) => question(&mut document, &plan.scenario(), Some(&plan.header())),
    }
    for (_, section) in all(subject, &*report)? {
        written::markdown(&mut document, &section, Extent::Overview);
    }
    let mut file = Artifact::new(name, document.into_text());
    file.speaks_of = (!pictures.is_empty()).then_some(beside);
    Ok(std::iter::once(file).chain(pictures).collect())
}

/// Draws the picture of a subject; `None` for a plan that is drawn in parts, because each part has its own picture.
fn drawn(subject: Subject<'_>) -> Result<Option<Vec<u8>>, Problems> {
    let own = own_exporters(subject.kind());
    let Some(info) = own.iter().find(|format| format.name == SVG) else { return Ok(None) };
    if info.of == SubjectSort::Plan && matches!(subject, Subject::Scenario(_)) {
        let problem =
            Problem::new(PICTURE, "has no effect: only plans are drawn", "leave it out, or report a plan");
        return Err(problem.into());
    }
    let files = export_own(subject, None, SVG, &info.values(&[])?)?;
    Ok(<[Artifact; 1]>::try_from(files).ok().map(|[file]| file.bytes))
}

/// Maximum number of characters of a value that are shown.
const MOST_VALUE: usize = 80;

/// Writes the knobs of a scenario with their values, and the parameters of the method.
fn question(document: &mut Document, scenario: &AnyScenario, plan: Option<&Header>) {
    document.heading(2, "What was asked");
    let shown = |text: String| {
        let cut = text.chars().count() > MOST_VALUE;
        let kept: String = text.chars().take(MOST_VALUE).collect();
        safe(&if cut { format!("{kept}…") } else { kept })
    };
    let rows: Vec<Vec<String>> = scenario
        .knobs()
        .iter()
        .filter_map(|info| {
            let value = scenario.knob(&info.name)?;
            let unit = if info.unit.is_empty() { String::new() } else { format!(" {}", info.unit) };
            let assumed = scenario.assumed_of(&info.name).map(|assumed| format!(" ({assumed})"));
            let help = format!("{}{}", info.help, assumed.unwrap_or_default());
            Some(vec![format!("`{}`", info.name), shown(format!("{value}{unit}")), safe(&help)])
        })
        .collect();
    if !rows.is_empty() {
        document.table(&["parameter", ">value", "what it is"], &rows);
    }
    let origin: Vec<String> = scenario.origin_lines(plan).iter().map(|line| safe(line)).collect();
    if !origin.is_empty() {
        document.paragraph("Origin:");
        document.list(&origin);
    }
    let Some(header) = plan else { return };
    let given: Vec<String> =
        header.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let method = format!("Method `{}`", safe(&header.method));
    document.paragraph(&if given.is_empty() {
        format!("{method}, without parameters.")
    } else {
        format!("{method} with {}.", safe(&given.join(", ")))
    });
}

/// Writes objective, bound and metrics of a plan, and its origin.
fn figures(document: &mut Document, plan: &AnyPlan) {
    let header = plan.header();
    let claimed = plan.claimed();
    let standing = plan.standing();
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
        format!("Status: {}.", safe(&standing.status())),
        format!("Bound: {}.", safe(&standing.words(false))),
    ];
    points.extend(plan.remarks().iter().map(|remark| safe(remark)));
    points.push(format!(
        "Found by `{}` with seed {} on {} after {}, lightbay {}.",
        safe(&header.method),
        header.seed,
        counted(header.threads as u64, "thread", "threads"),
        quantity::elapsed(header.provenance.elapsed_s),
        safe(&header.provenance.lightbay_version)
    ));
    points.push(match &header.provenance.not_reproducible_because {
        None => "The same inputs give the same plan again.".to_owned(),
        Some(why) => format!("The plan is not reproducible: {}.", safe(why)),
    });
    points.push(
        "`lightbay check PLAN --exact` verifies the plan again, with code that shares nothing with the search.".to_owned(),
    );
    points.push(format!("SHA-256 of the scenario: `{}`.", safe(&header.provenance.scenario_sha256)));
    document.list(&points);
}
