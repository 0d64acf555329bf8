//! Pod maps: tables of the ranks that each pod holds, read together with a job.

use crate::Training;
use crate::scenario::TrainingScenario;
use crate::scenario::job::{Job, PodMap, PodRange};
use lightbay_core::cells;
use lightbay_core::format::{FormatInfo, ImportedScenario, Input, SubjectSort};
use lightbay_core::kind::Kind as _;
use lightbay_core::plan::read_draft;
use lightbay_core::problem::{Problem, Problems, counted, printable};
use lightbay_core::read::read_json;
use lightbay_core::scenario::{Scenario, kind_of};
use lightbay_formats::detect::unpacked_head;
use lightbay_formats::{Limits, gz};
use serde_json::json;

/// Name of the importer.
pub(crate) const POD_MAP: &str = "pod_map";
/// Columns of the table.
const COLUMNS: [&str; 3] = ["rank_first", "rank_last", "pod"];
/// Maximum size of a table, in bytes.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// Returns the description of the importer.
pub(crate) fn format() -> FormatInfo {
    FormatInfo::new(
        POD_MAP,
        "Pods of a job by rank: a table with the columns rank_first, rank_last and pod. Also pass the scenario or plan with the job.",
        SubjectSort::Scenario,
        "csv",
    )
}

/// Returns the job among the files, with the pods of the table as its placement.
///
/// # Errors
/// Every problem of the files and of the job.
pub(crate) fn scenario(inputs: &[Input], strict: bool) -> Result<ImportedScenario<Training>, Problems> {
    if strict {
        let message =
            "has no effect, because files of format pod_map contain everything that the import needs";
        return Err(Problem::new("--strict", message, "leave it out").into());
    }
    let is_json = |input: &&Input| {
        let head = unpacked_head(&input.bytes).unwrap_or_default();
        head.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
    };
    let (jobs, tables): (Vec<&Input>, Vec<&Input>) = inputs.iter().partition(is_json);
    let ([job], [table]) = (jobs.as_slice(), tables.as_slice()) else {
        let given = format!(
            "{} and {} are given",
            counted(jobs.len() as u64, "job", "jobs"),
            counted(tables.len() as u64, "table", "tables")
        );
        return Err(Problem::new("", given, "give one scenario and one table of its pods").into());
    };
    let mut scenario = job_in(job).map_err(|problems| problems.named(&job.name))?;
    let ranges = rows(&table.bytes).map_err(|problems| problems.named(&table.name))?;
    let TrainingScenario::Job(body) = &mut scenario.body else {
        let problem = Problem::new("", "the scenario is not a single job", "give a scenario with `job`");
        return Err(Problems::from(problem).named(&job.name));
    };
    let replaced = set(body, ranges);
    let (shape, gpus) = (body.shape(), body.run.gpus);
    // Validates the whole job, because the pods may cause problems elsewhere in the job.
    scenario.body.validate()?;
    let shape = shape?;
    let (pods, groups) = match (&shape.places, &shape.names) {
        (Some(places), _) => (places.names.len(), places.groups.len()),
        (None, Some(copies)) => (copies.iter().map(Vec::len).sum(), copies.len()),
        (None, None) => (0, 1),
    };
    let alike = match (&shape.places, groups) {
        (Some(_), 1) => "all replicas have the same pods".to_owned(),
        (Some(_), _) => format!("replicas have different pods or ports, so {groups} groups are planned"),
        (None, 1) => "all replicas have the same pods".to_owned(),
        (None, _) => {
            format!("one of {groups} copies is planned, because all copies have the same pods and ports")
        }
    };
    let mut lines = vec![format!("{} for {} GPUs", counted(pods as u64, "pod", "pods"), gpus), alike];
    lines.extend(replaced);
    let summary = json!({ "pods": pods, "groups": groups, "alike": shape.places.is_none() });
    Ok(ImportedScenario { scenario, lines, summary, assumed: Vec::new(), notes: Vec::new() })
}

/// Replaces the placement of a job; returns a sentence on what the job had before.
fn set(job: &mut Job, ranges: Vec<PodRange>) -> Option<String> {
    let had = [
        ("pods", job.pods.is_some()),
        ("gpus_per_pod", job.run.gpus_per_pod.is_some()),
        ("gpus_per_pod_per_replica", job.run.gpus_per_pod_per_replica > 0),
        ("reverse", job.reverse),
    ];
    let names: Vec<&str> = had.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
    job.pods = Some(PodMap::Ranges(ranges));
    (job.run.gpus_per_pod, job.run.gpus_per_pod_per_replica) = (None, 0);
    job.reverse = false;
    (!names.is_empty()).then(|| format!("the table replaces '{}' of the scenario", names.join("', '")))
}

/// The scenario in a file, or the scenario of the plan in a file.
fn job_in(input: &Input) -> Result<Scenario<Training>, Problems> {
    let value = read_json(input.bytes.as_slice())?;
    if kind_of(&value) != Some(Training::NAME) {
        let kind = kind_of(&value)
            .map_or_else(|| "is missing".to_owned(), |kind| format!("is '{}'", printable(kind)));
        return Err(Problem::new("kind", kind, "give a scenario of kind training").into());
    }
    if value.get("result").is_none() {
        return Scenario::from_value(&value);
    }
    let unread = || Problem::new("result", "cannot be read", "see `lightbay check`");
    Ok(Scenario::clone(&read_draft::<Training>(&value)?.plan.ok_or_else(unread)?.scenario))
}

pub(super) fn rows(bytes: &[u8]) -> Result<Vec<PodRange>, Problems> {
    if bytes.len() > MAX_BYTES {
        let message = format!("has {} bytes, but the maximum is {MAX_BYTES}", bytes.len());
        return Err(Problem::new("", message, "give ranges of ranks instead of single ranks").into());
    }
    let text = gz::text(bytes, &Limits::default(), MAX_BYTES as u64)?;
    let mut lines = (1..)
        .zip(text.trim_start_matches('\u{feff}').lines())
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let fields = |line: &str| -> Vec<String> {
        cells::fields(line).iter().map(|field| field.trim().to_owned()).collect()
    };
    let header = lines.next().map(|(_, line)| fields(line)).unwrap_or_default();
    if header.iter().map(|name| name.to_ascii_lowercase()).ne(COLUMNS.map(str::to_owned)) {
        return Err(Problem::new(
            "line 1",
            format!("has the columns '{}'", printable(&header.join(","))),
            format!("give {}", COLUMNS.join(",")),
        )
        .into());
    }
    let mut problems = Problems::new();
    let mut ranges = Vec::new();
    for (number, line) in lines {
        let row = fields(line);
        let [first, last, pod] = row.as_slice() else {
            let message = format!("has {}", counted(row.len() as u64, "field", "fields"));
            problems.add(format!("line {number}"), message, "give three");
            continue;
        };
        match (first.parse(), last.parse()) {
            (Ok(rank_first), Ok(rank_last)) => {
                ranges.push(PodRange { rank_first, rank_last, pod: pod.clone() });
            }
            _ => problems.add(
                format!("line {number}"),
                format!("has the ranks '{}' and '{}'", printable(first), printable(last)),
                "give whole numbers, 0 or more",
            ),
        }
    }
    if ranges.is_empty() && problems.is_empty() {
        problems.add("", "has no rows", "give a row for each range of ranks");
    }
    problems.into_result(ranges)
}
