//! `lightbay export`: writes a scenario or plan in another format.

use super::complete;
use super::console::Console;
use super::documents::ExportDocument;
use super::exit::Exit;
use super::failure::Failure;
use super::source::{Source, sound, stdin_at_most_once};
use super::target::{FileTarget, Target, file_for_json};
use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::param::Setting;
use lightbay_core::problem::{Problems, printable};
use lightbay_engines::{
    AnyFile, AnyPlan, AnyScenario, Artifact, Subject, export_against, exporters, remarks,
};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  lightbay export preset:tiny8 --to instance -o tiny8.instance.json
  lightbay export plan.json --to expanded -o out/           write into a folder
  lightbay export preset:tiny4 --to mps -o tiny4.mps        write a model, and tiny4.mps.names.json
  lightbay export new.json --to changes --against old.json  list the circuits to rewire
  lightbay methods --formats                                list all formats and their parameters";

/// Arguments of `export`.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// Scenario or plan: a file, `-`, preset:NAME or session:NAME/PLAN. A plan must pass `lightbay check`
    #[arg(value_name = "SCENARIO|PLAN", value_parser = Source::parser(), add = ArgValueCompleter::new(complete::source))]
    subject: Source,

    /// Format; `lightbay methods --formats` lists all
    #[arg(long, value_name = "FORMAT", add = ArgValueCompleter::new(complete::format))]
    to: String,

    /// Second scenario or plan, for formats that compare two: a file, `-`, preset:NAME or session:NAME/PLAN
    #[arg(long, value_name = "SCENARIO|PLAN", value_parser = Source::parser(), add = ArgValueCompleter::new(complete::source))]
    against: Option<Source>,

    /// Set a parameter of the format; for a model (mps, lp) also of its method and of the scenario
    #[arg(long, value_name = "NAME=VALUE", add = ArgValueCompleter::new(complete::setting))]
    set: Vec<Setting>,

    /// File to write, or a folder for files with their usual names; `out/` creates the folder [default: standard
    /// output]
    #[arg(short, long, value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long)]
    force: bool,

    /// Print one JSON object with the written files (`lightbay schema export`)
    #[arg(long, requires = "output")]
    json: bool,
}

/// A scenario or plan that was read; a plan has passed its check.
enum Read {
    Scenario(AnyScenario),
    Plan(AnyPlan),
}

impl Read {
    fn of(source: &Source, console: &Console) -> Result<Self, Problems> {
        Ok(match source.read(console)? {
            AnyFile::Scenario(scenario) => Self::Scenario(scenario),
            AnyFile::Plan(file) => Self::Plan(sound(file, &source.to_string())?),
        })
    }

    const fn subject(&self) -> Subject<'_> {
        match self {
            Self::Scenario(scenario) => Subject::Scenario(scenario),
            Self::Plan(plan) => Subject::Plan(plan),
        }
    }
}

/// Writes the export.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    file_for_json(arguments.json, arguments.output.as_deref())?;
    stdin_at_most_once(std::iter::once(&arguments.subject).chain(&arguments.against))?;
    let folder = arguments.output.as_deref().filter(|path| is_folder(path));
    let mut target = match folder {
        Some(_) => None,
        None => Some(Target::prepare(arguments.output.as_deref(), arguments.force, console)?),
    };
    let subject = Read::of(&arguments.subject, console)?;
    let against = arguments.against.as_ref().map(|source| Read::of(source, console)).transpose()?;
    let artifacts = export_against(
        subject.subject(),
        against.as_ref().map(Read::subject),
        &arguments.to,
        &arguments.set,
    )?;
    let remarks = remarks_of(subject.subject(), &arguments.to);
    for remark in remarks.iter().filter(|_| !arguments.json) {
        console.say(remark);
    }
    let mut files = Vec::new();
    let (beside, own): (Vec<&Artifact>, Vec<&Artifact>) =
        artifacts.iter().partition(|artifact| artifact.beside.is_some());
    match (folder, target.as_mut(), own.as_slice()) {
        (Some(folder), _, _) => {
            make(folder)?;
            files = write_all(folder, &artifacts, arguments.force)?;
            for name in files.iter().filter(|_| !arguments.json) {
                writeln!(console.out(), "{name}")?;
            }
        }
        (None, Some(Target::File(file)), [one]) => {
            let mut others = companions(arguments.output.as_deref(), &beside, arguments.force)?;
            let name = arguments.output.as_deref().and_then(Path::file_name).unwrap_or_default();
            file.write(&one.content_as(&name.to_string_lossy()))?;
            for (target, artifact) in &mut others {
                target.write(&artifact.bytes)?;
            }
            files.push(file.to_string());
            files.extend(others.iter().map(|(target, _)| target.to_string()));
        }
        (None, Some(target @ Target::Stdout), [one]) => {
            target.write(&one.bytes, console)?;
            for artifact in beside {
                console.say(&format!(
                    "{} was not written; name a file with -o to get both files",
                    artifact.name
                ));
            }
        }
        (None, _, several) => {
            return Err(Failure::input(
                "output",
                format!("format {} writes {} files", arguments.to, several.len()),
                format!("name a folder with -o {}/", folder_name(arguments.output.as_deref())),
            ));
        }
    }
    if arguments.json {
        console.write_document(&ExportDocument { format: arguments.to.clone(), files, remarks })?;
    }
    Ok(Exit::Done)
}

/// Returns `true` if a path is a folder: an existing one, or a path that ends with `/`.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Makes a missing folder.
fn make(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| {
        let name = printable(&folder.to_string_lossy());
        Failure::input(name, format!("the folder cannot be created: {error}"), "choose another place")
    })
}

/// Returns a name for the folder of several files: the name of the requested file without its extension.
fn folder_name(output: Option<&Path>) -> String {
    let stem = output.filter(|path| path.as_os_str() != "-").map(|path| path.with_extension(""));
    stem.map_or_else(|| "out".to_owned(), |stem| printable(&stem.to_string_lossy()))
}

/// Returns remarks for the user on the file.
fn remarks_of(subject: Subject<'_>, format: &str) -> Vec<String> {
    let formats = exporters(subject.kind());
    formats.iter().find(|info| info.name == format).map_or_else(Vec::new, |info| remarks(subject, info))
}

/// Returns the targets of the files that accompany the file at `path`, checked before any file is written.
fn companions<'a>(
    path: Option<&Path>,
    beside: &[&'a Artifact],
    force: bool,
) -> Result<Vec<(FileTarget, &'a Artifact)>, Failure> {
    let mut targets = Vec::with_capacity(beside.len());
    for artifact in beside {
        let mut name = path.map(|path| path.as_os_str().to_owned()).unwrap_or_default();
        name.push(artifact.beside.unwrap_or_default());
        targets.push((FileTarget::prepare(Path::new(&name), force)?, *artifact));
    }
    Ok(targets)
}

/// Writes every file into a folder; writes nothing if one of the files cannot be written.
fn write_all(folder: &Path, artifacts: &[Artifact], force: bool) -> Result<Vec<String>, Failure> {
    let mut targets = Vec::with_capacity(artifacts.len());
    for artifact in artifacts {
        targets.push(FileTarget::prepare(&folder.join(&artifact.name), force)?);
    }
    for (target, artifact) in targets.iter_mut().zip(artifacts) {
        target.write(&artifact.bytes)?;
    }
    Ok(targets.iter().map(|target| printable(&target.to_string())).collect())
}
