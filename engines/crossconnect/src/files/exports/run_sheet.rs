//! `run_sheet`: the change step by step for the operators: switches, ports with the names at both ends, commands, links
//! down per pod and pair of pods, remaining capacity, verification and rollback.

use super::port_list::ends;
use super::{File, NAMES, Subject, changed, csv, formats, whole, write};
use crate::plan::{Action, Changes};
use crate::rollout::caveat;
use crate::rollout::steps::{LiveAround, Step, steps};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_formats::html;
use lightbay_formats::markdown::{Document, text as safe};

/// Name of the format.
pub(super) const NAME: &str = "run_sheet";
/// Description of the format.
pub(super) const HELP: &str = "The run sheet of a change: for each step the switches, ports and names, commands, links down, capacity left, how to verify it and how to roll it back.";
/// Parts of the plan that the run sheet omits.
pub(super) const LEAVES_OUT: &[&str] = &["circuits that stay", "the bound of the removals"];

/// Name of the parameter for the commands.
const COMMANDS: &str = "commands";
/// Value for a run sheet without commands.
const NONE: &str = "none";
/// Name and values of the parameter that chooses the form of the run sheet.
const FORM: &str = "form";
const FORMS: [&str; 2] = ["markdown", "html"];
/// Maximum number of pairs of pods that a step lists.
const MOST_PAIRS: usize = 40;

pub(super) fn params() -> Vec<ParamInfo> {
    let mut choices = vec![NONE];
    choices.extend(NAMES.iter().filter(|name| **name != csv::NAME));
    vec![
        ParamInfo::choice(
            COMMANDS,
            &choices,
            NONE,
            "Format of the commands that are listed for every step and switch, with the default settings of the format; none: no commands.",
        ),
        ParamInfo::choice(FORM, &FORMS, FORMS[0], "Form of the file: Markdown, or a single web page."),
    ]
}

/// Returns the run sheet, and the extension of its file name.
///
/// # Errors
/// A plan that changes nothing, or an order of phases.
pub(super) fn text(subject: &Subject<'_>, params: &Params) -> Result<(String, &'static str), Problems> {
    let changes = changed(subject.result)?;
    if changes.batches.is_empty() {
        let remedy = "export a plan that changes circuits";
        return Err(Problem::new("", "the plan changes no circuit, so there is no step", remedy).into());
    }
    let commands = params.text(COMMANDS).filter(|format| *format != NONE);
    let files = commands.map(|format| files(subject, format)).transpose()?.unwrap_or_default();
    let mut document = Document::new();
    head(&mut document, subject, changes);
    let all = steps(subject.scenario, changes);
    for (number, step) in (1..).zip(&all) {
        one(&mut document, subject, (number, all.len()), step, &files);
        after(&mut document, subject, (number, all.len()), step, commands);
    }
    let text = document.into_text();
    Ok(match params.text(FORM) {
        Some("html") => (html::page(&format!("Run sheet of {}", subject.name), &text), "html"),
        _ => (text, "md"),
    })
}

/// Returns the files with the commands.
fn files(subject: &Subject<'_>, format: &str) -> Result<Vec<File>, Problems> {
    let infos = formats();
    let knobs = infos.iter().find(|info| info.name == format).map_or(&[][..], |info| &info.params);
    write(format, subject, &Params::resolve(knobs, std::iter::empty())?)
}

fn head(document: &mut Document, subject: &Subject<'_>, changes: &Changes) {
    document.heading(1, &safe(&format!("Run sheet of {}", subject.name)));
    let totals = changes.totals;
    let all = steps(subject.scenario, changes);
    let switches: std::collections::BTreeSet<u32> =
        all.iter().flat_map(|step| step.switches.keys().copied()).collect();
    document.paragraph(&format!(
        "{} on {}: {} down, {} up, {} stay.",
        counted(all.len() as u64, "step", "steps"),
        counted(switches.len() as u64, "switch", "switches"),
        counted(totals.removed_circuits + totals.forced_removed_circuits.unwrap_or(0), "circuit", "circuits"),
        totals.added_circuits,
        totals.kept_circuits
    ));
    let scenario = subject.scenario;
    let remarks =
        [caveat::unmet(scenario, changes), caveat::cut_off(scenario, changes), caveat::strays(scenario)];
    for remark in remarks.into_iter().flatten() {
        document.paragraph(&safe(&remark));
    }
    let rows: Vec<Vec<String>> = (1..)
        .zip(&all)
        .map(|(number, step): (usize, &Step)| {
            let [down, up] = step.counts();
            let worst = step.worst_pod().map_or_else(
                || "none".to_owned(),
                |(pod, live)| format!("{} {}", scenario.pod_name(pod as usize), left(live)),
            );
            vec![
                number.to_string(),
                safe(&names(subject, step)),
                down.to_string(),
                up.to_string(),
                safe(&worst),
                step.cut().count().to_string(),
            ]
        })
        .collect();
    let columns = [">step", "switches", ">down", ">up", "fewest circuits left", ">pairs without a circuit"];
    document.table(&columns, &rows);
}

fn names(subject: &Subject<'_>, step: &Step) -> String {
    let names: Vec<String> = step.switches.keys().map(|ocs| subject.scenario.ocs_name(*ocs)).collect();
    names.join(", ")
}

/// Formats the circuits that are live during a step, such as `6 of 8 (75 %)`.
fn left(live: LiveAround) -> String {
    format!("{} of {} ({:.0} %)", live.during, live.before, 100.0 * live.share())
}

/// Writes the ports, names and commands of a step, and the links that are down during the step.
fn one(
    document: &mut Document,
    subject: &Subject<'_>,
    (number, count): (usize, usize),
    step: &Step,
    files: &[File],
) {
    let scenario = subject.scenario;
    document.heading(2, &format!("Step {number} of {count}"));
    let mut rows = Vec::new();
    for (ocs, entries) in &step.switches {
        for entry in entries {
            let [a, b] = ends(scenario, *ocs, entry);
            let word = if entry.action == Action::Remove { "take down" } else { "set up" };
            rows.push(vec![safe(&scenario.ocs_name(*ocs)), word.to_owned(), safe(&a), safe(&b)]);
        }
    }
    document.table(&["switch", "what", "from", "to"], &rows);
    for file in files.iter().filter(|file| file.batch == number && !file.rollback && file.beside.is_none()) {
        document.heading(3, &safe(&file.name));
        document.code(file.text());
    }
    document.heading(3, "Circuits in service during the step");
    document.paragraph(&format!("{} of all circuits stay in service.", left(step.all)));
    let mut pods: Vec<_> = step.pods.iter().filter(|(_, live)| live.during < live.before).collect();
    if pods.is_empty() {
        document.paragraph("No pod loses a circuit during this step.");
        return;
    }
    pods.sort_by(|a, b| a.1.share().total_cmp(&b.1.share()));
    let pods: Vec<Vec<String>> =
        pods.iter().map(|(pod, live)| figures(&scenario.pod_name(**pod as usize), **live)).collect();
    let columns = |what| [what, ">down", ">left", ">capacity left", ">afterwards"];
    document.table(&columns("pod"), &pods);
    let mut pairs: Vec<_> = step.pairs.iter().filter(|(_, live)| live.during < live.before).collect();
    pairs.sort_by(|a, b| a.1.share().total_cmp(&b.1.share()));
    let rest = pairs.len().saturating_sub(MOST_PAIRS);
    let pairs: Vec<Vec<String>> = pairs
        .iter()
        .take(MOST_PAIRS)
        .map(|((a, b), live)| {
            let name = format!("{} and {}", scenario.pod_name(*a as usize), scenario.pod_name(*b as usize));
            figures(&name, **live)
        })
        .collect();
    document.table(&columns("pair of pods"), &pairs);
    if rest > 0 {
        document.paragraph(&format!(
            "{}; the pairs above keep the smallest fractions.",
            counted(rest as u64, "more pair loses a circuit", "more pairs lose a circuit")
        ));
    }
}

fn figures(name: &str, live: LiveAround) -> Vec<String> {
    vec![
        safe(name),
        (live.before - live.during.min(live.before)).to_string(),
        live.during.to_string(),
        format!("{:.0} %", 100.0 * live.share()),
        live.after.to_string(),
    ]
}

/// Writes how to verify a step and how to roll the step back.
fn after(
    document: &mut Document,
    subject: &Subject<'_>,
    (number, count): (usize, usize),
    step: &Step,
    commands: Option<&str>,
) {
    let format = commands.unwrap_or("FORMAT");
    let verify = format!(
        "Verify: save the state of every switch in a file named after the switch and run `lightbay import \
         {format} PLAN FILES… -o now.json`: it prints \"step {number} of {count} done\" and names the ports \
         that differ. Changed in this step: {}.",
        safe(&names(subject, step))
    );
    let back = if number == 1 {
        "the state before the change".to_owned()
    } else {
        format!("the state after step {}", number - 1)
    };
    let steps_back = count - number + 1;
    let file = match (commands.and_then(whole), count) {
        (None, _) => {
            "the files named rollback that an export in the format of the switches writes".to_owned()
        }
        (Some(_), 1) => "the files named rollback".to_owned(),
        (Some(_), _) => {
            format!("the files named rollback-{steps_back:0width$}", width = count.to_string().len())
        }
    };
    document.list(&[
        verify,
        format!("To roll back, return to {back} with {file}; undo the steps one by one, the last one first."),
    ]);
}
