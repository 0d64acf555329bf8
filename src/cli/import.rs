//! `lightbay import`: makes a scenario or plan from files of other tools, with a summary of findings and assumptions.

use super::complete;
use super::console::Console;
use super::documents::ImportDocument;
use super::exit::Exit;
use super::failure::Failure;
use super::source::{Source, stdin_at_most_once};
use super::target::Target;
use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::param::Setting;
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_core::read::MAX_UNPACKED_BYTES;
use lightbay_engines::{FileSource, Input, Product, import_sources, importers, preset, recognised};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lightbay import rccl_topo.xml -o machine.json
  lightbay import aicb workload.txt --set gpus_per_pod=8 -o job.json
  lightbay import aicb workload.csv.gz --strict --json
  lightbay import sol tiny4.sol tiny4.mps.names.json -o plan.json
  lightbay import msccl preset:amdx2-allgather-1gb schedule.xml -o plan.json
  lightbay import polatis_tl1 switches.json ocs-0.txt ocs-1.txt -o installed.json
  lightbay methods --formats                         list all formats and their parameters";

/// Arguments of `import`.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, override_usage = "lightbay import [OPTIONS] [FORMAT] <FILE>...")]
pub struct Arguments {
    /// Files to read, plain or compressed with gzip; `-` is standard input. `msccl`, `mscclpp`, `pod_map` and the formats
    /// of switches also need the scenario, or a plan for it; `sol` needs the scenario, a plan or the file of names. A format
    /// (`lightbay methods --formats` lists all) may precede the files; otherwise lightbay detects it from their content
    #[arg(value_name = "FILE", required = true, value_parser = Source::parser(), add = ArgValueCompleter::new(complete::import))]
    words: Vec<Source>,

    /// Set a parameter of the format
    #[arg(long, value_name = "NAME=VALUE", add = ArgValueCompleter::new(complete::setting))]
    set: Vec<Setting>,

    /// Fail if the import has to assume a value
    #[arg(long)]
    strict: bool,

    /// Print one JSON object: {"schema", "summary", "scenario", "plan"}; scenario and plan are null if -o is given
    #[arg(long)]
    json: bool,

    /// File to write; the summary then goes to standard output [default: the result to standard output]
    #[arg(short, long, value_name = "SCENARIO|PLAN", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

/// Executes the command: imports the files, and writes the result and the summary.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let (format, files) = named_format(&arguments.words);
    stdin_at_most_once(files)?;
    if files.is_empty() {
        let problem = Problem::new("FILE", "is missing", "give the files of the other tool after the format");
        return Err(Failure::Input(vec![problem.into()]));
    }
    let mut target = Target::prepare(arguments.output.as_deref(), arguments.force, console)?;
    let sources = sources(files)?;
    let imported = format
        .map_or_else(|| recognised(&sources).map(str::to_owned), Ok)
        .and_then(|format| {
            import_sources(&format, &sources, &arguments.set, arguments.strict, MAX_UNPACKED_BYTES)
        })
        .map_err(|problems| {
            // Problems of the whole import do not name a file; if there is only one file, its name is added, unless the
            // place of every problem begins with it.
            let names = |file: &str| problems.list().iter().all(|problem| problem.path.starts_with(file));
            match (problems.source.is_empty(), sources.as_slice()) {
                (true, [one]) if !names(&one.name) => problems.named(&one.name),
                _ => problems,
            }
        })?;
    let to_file = matches!(target, Target::File(_));
    if to_file {
        target.write(&imported.product.to_json()?, console)?;
    }
    if arguments.json {
        let made = if to_file { None } else { Some(imported.product.to_value()?) };
        let (scenario, plan) = match imported.product {
            Product::Scenario(_) => (made, None),
            Product::Plan(_) => (None, made),
        };
        console.write_document(&ImportDocument { summary: imported.summary, scenario, plan })?;
        return Ok(Exit::Done);
    }
    for line in &imported.lines {
        if to_file {
            writeln!(console.out(), "{}", printable(line))?;
        } else {
            console.say_raw(&format!("{}\n", printable(line)));
        }
    }
    if !to_file {
        target.write(&imported.product.to_json()?, console)?;
    }
    Ok(Exit::Done)
}

/// Returns the format, if one is named, and the files. The first word is a format if it is the name of a format, or if
/// further words follow and no file has this name; otherwise the format is detected from the content.
fn named_format(words: &[Source]) -> (Option<String>, &[Source]) {
    let name = match words.first() {
        Some(Source::File(path)) => path.to_str().filter(|name| {
            let is_format = importers().iter().any(|info| info.name == *name);
            is_format || (words.len() > 1 && !name.contains(['.', '/']) && !path.exists())
        }),
        _ => None,
    };
    name.map_or((None, words), |name| (Some(name.to_owned()), &words[1..]))
}

/// Returns the files with their names and functions that open them, because engines do not access files.
fn sources(files: &[Source]) -> Result<Vec<FileSource>, Failure> {
    let mut wrong = Vec::new();
    let mut sources = Vec::new();
    for source in files {
        match openable(source) {
            Ok(found) => sources.push(found),
            Err(problem) => wrong.push(Problems::from(problem).named(source.to_string())),
        }
    }
    if wrong.is_empty() { Ok(sources) } else { Err(Failure::Input(wrong)) }
}

/// Returns the name of a file in messages and settings.
fn file_name(source: &Source) -> String {
    match source {
        Source::File(path) => path.to_string_lossy().into_owned(),
        other => other.to_string(),
    }
}

fn openable(source: &Source) -> Result<FileSource, Problem> {
    let name = file_name(source);
    match source {
        Source::Stdin => {
            let mut bytes = Vec::new();
            let read = io::stdin().lock().take(MAX_UNPACKED_BYTES + 1).read_to_end(&mut bytes);
            read.map_err(|error| unreadable(&error))?;
            Ok(FileSource::of(&Input { name, bytes }))
        }
        Source::File(path) => {
            let path = path.clone();
            // A missing file is reported before any other is read.
            File::open(&path).map_err(|error| unreadable(&error))?;
            Ok(FileSource::new(name, move || Ok(Box::new(File::open(&path)?))))
        }
        Source::Preset(preset_name) => {
            let json = preset(preset_name)?.to_json();
            let bytes = json.map_err(|error| Problem::new("", error.to_string(), "choose another preset"))?;
            Ok(FileSource::of(&Input { name, bytes }))
        }
        Source::Session(_) => Err(Problem::new("", "is not a file", "give a file of the other tool")),
    }
}

fn unreadable(error: &io::Error) -> Problem {
    let message = format!("cannot be read: {error}");
    Problem::new("", message, "check the name, the file and its permissions")
}
