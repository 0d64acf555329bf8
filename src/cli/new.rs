//! `lightbay new`: writes a scenario file from a preset, a kind or plans.

use super::complete;
use super::console::Console;
use super::documents::NewDocument;
use super::exit::Exit;
use super::failure::Failure;
use super::limits::repeated;
use super::source::{Source, stdin_at_most_once};
use super::target::{Target, file_for_json};
use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::param::{ParamInfo, Setting};
use lightbay_core::problem::{Problem, Problems, suggestion};
use lightbay_engines::{
    AnyScenario, Conversion, change, conversion, convert, kind, kinds, name_param, preset, presets,
};
use std::path::{Path, PathBuf};

/// Number of bytes of the longest value that a note repeats.
const LONGEST_VALUE: usize = 40;

/// The value of a parameter that is not given.
const NONE: &str = "none";

const EXAMPLES: &str = "\
Examples:
  lightbay new megatron_177b --set bandwidth_gbps=800 -o job.json
  lightbay new training -o job.json      the first preset of the kind, for you to edit
  lightbay new crossconnect --set from=plan.json --set ocs_count=8 -o switches.json
                                         assign the circuits of a plan to switches
  lightbay new collective --set from=pod.json --set collective=all_to_all -o exchange.json
                                         a collective on the network of a plan
  lightbay new crossconnect --set from=next.json --set installed_from=now.json -o change.json
                                         change from one plan of switches to the next";

/// Arguments of `new`.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// Preset (`lightbay presets` lists all) or kind: training, tpu, crossconnect, moe or collective
    #[arg(value_name = "PRESET|KIND", add = ArgValueCompleter::new(complete::preset_or_kind))]
    from: String,

    /// Change a parameter; NAME[3]=VALUE changes one entry of a list. `lightbay methods` lists the parameters
    #[arg(long, value_name = "NAME=VALUE", add = ArgValueCompleter::new(complete::setting))]
    set: Vec<Setting>,

    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    /// Print one JSON object about the written file (`lightbay schema new`)
    #[arg(long, requires = "output")]
    json: bool,
}

/// Writes the scenario.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    file_for_json(arguments.json, arguments.output.as_deref())?;
    let mut target = Target::prepare(arguments.output.as_deref(), arguments.force, console)?;
    let from_plans = made_from_plans(arguments);
    // A preset or plan provides a descriptive name; a kind does not.
    let example = from_plans.is_none().then(|| example_of(&arguments.from)).flatten();
    let unnamed = example.is_some() && arguments.set.iter().all(|setting| setting.name != name_param().name);
    let (scenario, settings) = match from_plans {
        Some(conversion) => converted(&arguments.from, &conversion, &arguments.set, console)?,
        None => (base(&arguments.from)?, arguments.set.clone()),
    };
    repeated(&settings).into_result(())?;
    let changed = with_knobs(&scenario, &settings).map_err(|problems| problems.named("--set"))?;
    if let Some(preset) = example {
        console.say(&taken_from(preset, &scenario, &changed, &settings));
    }
    let scenario = if unnamed { changed.named_after_content() } else { changed };
    target.write(&scenario.to_json()?, console)?;
    if let (true, Target::File(file)) = (arguments.json, &target) {
        console.write_document(&NewDocument {
            file: file.to_string(),
            kind: scenario.kind().to_owned(),
            name: scenario.name().to_owned(),
            scenario_sha256: scenario.sha256()?,
        })?;
    }
    Ok(Exit::Done)
}

/// Returns the conversion that makes the scenario from plans, if a setting names a plan.
fn made_from_plans(arguments: &Arguments) -> Option<Conversion> {
    let conversion = conversion(&arguments.from)?;
    let asks = |setting: &Setting| {
        conversion.plans.iter().chain(&conversion.own).any(|info| info.name == setting.name)
    };
    arguments.set.iter().any(asks).then_some(conversion)
}

/// Makes the scenario from plans; also returns the remaining settings, to be applied to it.
fn converted(
    kind: &str,
    conversion: &Conversion,
    settings: &[Setting],
    console: &mut Console,
) -> Result<(AnyScenario, Vec<Setting>), Failure> {
    let is_of = |infos: &[ParamInfo], setting: &Setting| infos.iter().any(|info| info.name == setting.name);
    let (mut sources, mut own, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for setting in settings {
        if !is_of(&conversion.plans, setting) {
            let list = if is_of(&conversion.own, setting) || is_of(&conversion.early, setting) {
                &mut own
            } else {
                &mut rest
            };
            list.push(setting.clone());
        } else if setting.index.is_some() || sources.iter().any(|(name, _)| *name == setting.name) {
            let remedy = format!("write {}=PLAN once", setting.name);
            return Err(Failure::input(setting.to_string(), "gives a second plan, or has an index", remedy));
        } else {
            sources.push((setting.name.clone(), Source::of(setting.text.clone().into())));
        }
    }
    stdin_at_most_once(sources.iter().map(|(_, source)| source))?;
    let mut plans = Vec::with_capacity(sources.len());
    for (name, source) in sources {
        plans.push((name, source.plan(console)?));
    }
    let converted = convert(kind, &plans, &own).map_err(|problems| problems.named("--set"))?;
    for note in &converted.notes {
        console.say(note);
    }
    Ok((converted.scenario, rest))
}

/// Returns the name of the example of a kind, which is its first preset.
fn example_of(from: &str) -> Option<&'static str> {
    let kind = kind(from.strip_prefix("preset:").unwrap_or(from))?;
    presets().into_iter().find(|preset| preset.kind == kind.name).map(|preset| preset.name)
}

/// States the values that a scenario has from a preset: those that are neither set nor follow from a set value. Long
/// lists are left to the file.
fn taken_from(preset: &str, example: &AnyScenario, scenario: &AnyScenario, settings: &[Setting]) -> String {
    let is_set = |info: &ParamInfo| settings.iter().any(|setting| setting.name == info.name);
    let values = scenario.knobs().into_iter().filter(|info| !is_set(info)).filter_map(|info| {
        let value =
            scenario.knob(&info.name).filter(|value| example.knob(&info.name).as_ref() == Some(value))?;
        let text = value.to_string();
        let text = if text.len() > LONGEST_VALUE { "…" } else { &text };
        (text != NONE).then(|| format!("{}={text}", info.name))
    });
    format!("assumed, as in preset:{preset}: {}", values.collect::<Vec<_>>().join(" "))
}

fn base(from: &str) -> Result<AnyScenario, Problem> {
    let name = from.strip_prefix("preset:").unwrap_or(from);
    let all = presets();
    let name = example_of(name).unwrap_or(name);
    preset(name).map_err(|_| {
        let what = format!("'{from}' is neither a preset nor a kind");
        if from.starts_with("session:") || Path::new(from).exists() {
            let remedy = format!(
                "name a preset or a kind; to change a saved scenario, use `lightbay solve {from} --set NAME=VALUE`"
            );
            return Problem::new("", what, remedy);
        }
        let names: Vec<&str> =
            all.iter().map(|preset| preset.name).chain(kinds().iter().map(|kind| kind.name)).collect();
        Problem::new("", what, suggestion(name, &names))
    })
}

/// Changes knobs of the scenario; a setting of a method's parameter is refused, because a scenario file cannot contain
/// it.
fn with_knobs(scenario: &AnyScenario, settings: &[Setting]) -> Result<AnyScenario, Problems> {
    let (changed, params) = change(scenario, settings)?;
    let mut problems = Problems::new();
    for (name, _) in params {
        problems.add(name, "is a parameter of a method, not of the scenario", "give it to `lightbay solve`");
    }
    problems.into_result(changed)
}
