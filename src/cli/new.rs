//! `lightbay new`: writes a scenario file from a preset, or of a kind.

use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use super::target::Target;
use clap::{Args, ValueHint};
use lightbay_core::param::Setting;
use lightbay_core::problem::{Problem, Problems, suggestion};
use lightbay_engines::{AnyScenario, apply, kind, kinds, preset, presets};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lightbay new megatron_177b --set bandwidth_gbps=800 -o job.json
  lightbay new training -o job.json      the first preset of the kind, to be edited";

/// Arguments of `new`.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// A preset as `lightbay presets` lists it, or a kind
    #[arg(value_name = "PRESET|KIND")]
    from: String,

    /// Change a knob; for one entry of a list NAME[3]=VALUE. `lightbay methods` lists the knobs
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<Setting>,

    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

/// Writes the scenario.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let mut target = Target::prepare(arguments.output.as_deref(), arguments.force)?;
    let scenario = base(&arguments.from)?;
    let scenario = with_knobs(&scenario, &arguments.set).map_err(|problems| problems.named("--set"))?;
    target.write(&scenario.to_json()?, console)?;
    Ok(Exit::Done)
}

fn base(from: &str) -> Result<AnyScenario, Problem> {
    let name = from.strip_prefix("preset:").unwrap_or(from);
    let all = presets();
    // The first preset of a kind is its example.
    let name = match kind(name) {
        Some(kind) => all.iter().find(|preset| preset.kind == kind.name).map_or(name, |preset| preset.name),
        None => name,
    };
    preset(name).map_err(|_| {
        let names: Vec<&str> =
            all.iter().map(|preset| preset.name).chain(kinds().iter().map(|kind| kind.name)).collect();
        Problem::new("", format!("'{from}' is neither a preset nor a kind"), suggestion(name, &names))
    })
}

/// Changes knobs of the scenario; parameters of methods have no place in a scenario file.
fn with_knobs(scenario: &AnyScenario, settings: &[Setting]) -> Result<AnyScenario, Problems> {
    let (changed, params) = apply(scenario, scenario.suited_method(), settings)?;
    let mut problems = Problems::new();
    for (name, _) in params {
        problems.add(name, "is a parameter of a method, not of the scenario", "give it to `lightbay solve`");
    }
    problems.into_result(changed)
}
