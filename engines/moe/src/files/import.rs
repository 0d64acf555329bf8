//! Scenarios from counts of tokens by expert.

use crate::Moe;
use crate::scenario::shapes::{MoeModel, MoeModelChoice, MoeModelPreset};
use crate::scenario::{CountedMatrix, CountedTrace, GateTrace, MAX_EXPERTS, presets};
use lightbay_core::format::{FormatInfo, ImportedScenario, Input, SubjectSort, scenario_name};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::scenario::{Assumed, Scenario};
use lightbay_formats::expert_loads::{ExpertLoads, LoadAxis, LoadFile, LoadOptions, open, together};
use lightbay_formats::gz::Limits;
use serde_json::json;

/// Name of the format.
pub const NAME: &str = "routing_counts";

/// Parameter that selects the planned stage.
const STAGE: &str = "stage";
/// Maximum number of layers in a stage of a log without layer numbers.
const MOST_LAYERS: i64 = 1024;
/// Maximum number of layers that a remark names.
const MOST_NAMED: usize = 12;

/// Returns all formats.
pub fn formats() -> Vec<FormatInfo> {
    let models: Vec<&'static str> = MoeModelPreset::ALL.iter().map(|(name, _)| *name).collect();
    let info = FormatInfo::new(
        NAME,
        "Counts of tokens by expert: CSV, JSON lines, EPLB weights, files of the recorders of SGLang and vLLM, logs of Megatron.",
        SubjectSort::Scenario,
        "csv",
    );
    vec![
        info.leaving_out(&[
            "counts of the first expert of every token",
            "layers without experts",
            "placements of replicas",
        ])
        .with(vec![
            ParamInfo::choice(
                "model",
                &models,
                "mixtral_8x7b",
                "Model that sets widths and parallelism, and the experts if a long table omits some. \
                 Default: mixtral_8x7b.",
            )
            .derived(),
            ParamInfo::choice(
                "axis",
                &["file", "layers", "iterations"],
                "file",
                "Meaning of the rows of a table that has only numbers: layers of one iteration, iterations \
                 of one layer, or as the file states (file).",
            ),
            ParamInfo::int(
                "layers",
                0,
                MOST_LAYERS,
                0,
                "Number of layers in a log whose lines have no layer numbers: consecutive lines are layers 0, 1 and \
                 so on, and after the last layer the next iteration begins. 0: every \
                 line has a layer number.",
            ),
            ParamInfo::int(
                STAGE,
                1,
                MOST_LAYERS,
                1,
                "Stage to plan, if the file has all layers of the model. Default: the stage with the most uneven expert loads.",
            )
            .derived(),
        ]),
    ]
}

/// Creates a scenario from counts.
///
/// # Errors
/// Every problem of the files; with `strict`, every assumption.
pub fn import(inputs: &[Input], params: &Params, strict: bool) -> Result<ImportedScenario<Moe>, Problems> {
    let axis = match params.text("axis") {
        Some("layers") => Some(LoadAxis::Layers),
        Some("iterations") => Some(LoadAxis::Iterations),
        _ => None,
    };
    let layers = Some(params.count("layers") as u32).filter(|layers| *layers > 0);
    let options = LoadOptions { axis, layers };
    let mut files = Vec::new();
    let mut problems = Problems::new();
    for input in inputs {
        match open(input.bytes.as_slice(), &Limits::default(), &options) {
            Ok(found) => files.push(found),
            Err(found) => {
                // With a single file, the caller adds the name of the file.
                for mut problem in found.list().iter().cloned() {
                    if inputs.len() > 1 {
                        let place = if problem.path.is_empty() { "" } else { ": " };
                        problem.path = format!("{}{place}{}", input.name, problem.path);
                    }
                    problems.push(problem);
                }
            }
        }
    }
    problems.into_result(())?;
    let given = params.text("model").and_then(MoeModelPreset::of_word);
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    let read = together(&files, &names, given.map(|model| model.shape().experts))?;
    let mut assumed = Vec::new();
    if given.is_none() && files.iter().any(LoadFile::is_sparse) {
        let (experts, highest) = (read.value.experts, read.value.experts.saturating_sub(1));
        assumed.push(format!("{experts} experts, because the highest number in the file is {highest}; set model= if there are more"));
    }
    let name = names.first().copied().unwrap_or("counts");
    let preset = given.unwrap_or(MoeModelPreset::Mixtral8x7b);
    let stage = params.int(STAGE).and_then(|stage| usize::try_from(stage).ok());
    scenario(name, &read.value, (preset, stage), (read.notes, assumed), strict)
}

/// Returns the layers of the planned stage: all counted layers, or, if the file counts all layers of a model with
/// several stages, the layers of one stage.
fn staged(
    loads: &ExpertLoads,
    layers: Vec<usize>,
    model: MoeModel,
    stage: Option<usize>,
    assumed: &mut Vec<String>,
) -> Result<Vec<usize>, Problem> {
    let is_whole = [layers.len(), loads.layers.len()].contains(&(model.layers as usize));
    if !is_whole || model.pp < 2 {
        return if stage.is_none() {
            Ok(layers)
        } else if is_whole {
            Err(Problem::new(STAGE, "has no effect on a model of one stage", "leave it out"))
        } else {
            let message = format!(
                "has no effect: the file counts {} layers, but the model has {} in {} stages",
                layers.len(),
                model.layers,
                model.pp
            );
            Err(Problem::new(STAGE, message, "leave it out, or give all layers of the model"))
        };
    }
    let stages: Vec<&[usize]> = layers.chunks(layers.len().div_ceil(model.pp as usize)).collect();
    let last = loads.iterations.len().saturating_sub(1);
    let uneven = |stage: &[usize]| -> f64 {
        let share = |layer: &usize| {
            let counts = loads.of_layer(last, *layer);
            let sum: f64 = counts.iter().sum();
            if sum > 0.0 { counts.iter().copied().fold(0.0, f64::max) / sum } else { 0.0 }
        };
        stage.iter().map(share).sum()
    };
    // A stage with fewer layers never limits the pipeline, so only full stages are considered.
    let full = stages.iter().take_while(|stage| stage.len() == stages[0].len()).count();
    let chosen = match stage {
        Some(stage) if (1..=full).contains(&stage) => stage - 1,
        Some(stage) => {
            let message =
                format!("is {stage}, but the model has {full} stages of {} layers", stages[0].len());
            return Err(Problem::new(STAGE, message, format!("give 1 to {full}")));
        }
        None => (0..full).max_by(|a, b| uneven(stages[*a]).total_cmp(&uneven(stages[*b]))).unwrap_or(0),
    };
    let found = stages[chosen].to_vec();
    if stage.is_none() {
        let ends = [found.first(), found.last()].map(|layer| layer.map_or(0, |layer| loads.layers[*layer]));
        assumed.push(format!(
            "stage {} of {full} (layers {} to {}), because its expert loads are the most uneven of these stages; the model has {} layers (stage=)",
            chosen + 1,
            ends[0],
            ends[1],
            layers.len()
        ));
    }
    Ok(found)
}

fn scenario(
    name: &str,
    loads: &ExpertLoads,
    (preset, stage): (MoeModelPreset, Option<usize>),
    (mut lines, mut assumed): (Vec<String>, Vec<String>),
    strict: bool,
) -> Result<ImportedScenario<Moe>, Problems> {
    let experts = loads.experts;
    if experts > MAX_EXPERTS {
        return Err(Problem::new(
            "",
            format!("has {experts} experts"),
            format!("give at most {MAX_EXPERTS}"),
        )
        .into());
    }
    let mut iterations = Vec::new();
    for &iteration in &loads.iterations {
        let Ok(number) = u32::try_from(iteration) else {
            let message = format!("has iteration {iteration}");
            return Err(
                Problem::new("", message, format!("number the iterations from 0 to {}", u32::MAX)).into()
            );
        };
        iterations.push(number);
    }
    // A layer that has no tokens in any iteration has no experts.
    let is_used = |layer: &usize| {
        (0..iterations.len()).any(|at| loads.of_layer(at, *layer).iter().any(|tokens| *tokens > 0.0))
    };
    let (layers, dense): (Vec<usize>, Vec<usize>) = (0..loads.layers.len()).partition(is_used);
    let Some((&planned, _)) = iterations.last().zip(layers.first()) else {
        return Err(Problem::new("", "counts no tokens", "give counts of a run").into());
    };
    let mut numbers: Vec<String> = loads.layers.iter().map(u32::to_string).collect();
    if numbers.len() > MOST_NAMED {
        numbers.splice(MOST_NAMED - 1..numbers.len() - 1, ["…".to_owned()]);
    }
    lines.push("methods use the shares of the tokens, not their totals".to_owned());
    let notes = lines.clone();
    lines.insert(
        0,
        format!(
            "found: {}, {} ({}), {}",
            counted(iterations.len() as u64, "iteration", "iterations"),
            counted(loads.layers.len() as u64, "layer", "layers"),
            numbers.join(", "),
            counted(u64::from(experts), "expert", "experts"),
        ),
    );
    let ranks = loads.ranks.unwrap_or(1);
    let layers = staged(loads, layers, preset.shape(), stage, &mut assumed)?;
    let shape = shaped(preset.shape(), experts, ranks, layers.len() as u32);
    if ranks == 1 {
        assumed.push(
            "every rank sends the same shares, because the counts are totals over all ranks".to_owned(),
        );
    } else if ranks != shape.ep {
        let message =
            format!("has counts of {ranks} ranks, but {experts} experts allow only {} ranks", shape.ep);
        return Err(Problem::new("", message, "give a number of ranks that divides the experts").into());
    }
    assumed.push(format!(
        "widths, sequence length and tensor-parallel GPUs of the model {} (model=), with {} and {} in a \
         stage",
        preset.word(),
        counted(shape.ep.into(), "rank", "ranks"),
        counted(layers.len() as u64, "layer", "layers")
    ));
    let mut matrices = Vec::new();
    for (at, &iteration) in iterations.iter().enumerate() {
        for (place, &layer) in layers.iter().enumerate() {
            let tokens = (0..ranks).map(|rank| loads.row(at, layer, rank as usize).to_vec()).collect();
            matrices.push(CountedMatrix { iteration, layer: place as u32, tokens });
        }
    }
    let numbers: Vec<u32> = layers.iter().map(|layer| loads.layers[*layer]).collect();
    let uneven = busiest(&matrices, planned, &numbers);
    let replica = shape.ep * shape.tp * shape.pp;
    let servers = replica.div_ceil(8);
    let mut body = presets::of(MoeModelChoice::of(shape), servers.max(128 / servers.max(1) * servers));
    body.trace = GateTrace::Counts(CountedTrace { iteration: planned, counts: matrices });
    body.validate()?;
    if let Some((layer, reason)) = body.impossible_load() {
        assumed.push(format!(
            "the counts are tokens of this model (model=), although layer {}: {reason}; name the model of the counts, or \
             set top_k to its number of experts per token",
            numbers[layer]
        ));
    }
    if strict {
        let mut problems = Problems::new();
        for text in &assumed {
            problems.add("", format!("is not in the file: {text}"), "leave out --strict to accept it");
        }
        problems.into_result(())?;
    }
    let summary = json!({
        "experts": experts,
        "layers": layers.len(),
        "dense_layers": dense.iter().map(|layer| loads.layers[*layer]).collect::<Vec<_>>(),
        "iterations": iterations.len(),
        "ranks": ranks,
        "assumed": assumed,
    });
    lines.extend(assumed.iter().map(|text| format!("assumed: {text}")));
    lines.extend(uneven);
    let scenario = Scenario::new(scenario_name(name, NAME), body);
    let assumed = assumed.into_iter().map(assumption).collect();
    Ok(ImportedScenario { scenario, lines, summary, assumed, notes })
}

/// Converts a text to an assumption of the import. If the text contains `(model=)`, the user can replace the assumption
/// by setting `model=`.
pub(super) fn assumption(text: String) -> Assumed {
    let set_with = if text.contains("(model=)") { "model=" } else { "" };
    Assumed { set_with: set_with.to_owned(), ..Assumed::fact(text) }
}

/// Returns the model with the counted numbers of experts, ranks and layers. If ranks were not counted, the model
/// determines their number; a smaller number is used if the ranks must divide the experts and fill whole servers.
fn shaped(model: MoeModel, experts: u32, ranks: u32, layers: u32) -> MoeModel {
    let wanted = if ranks > 1 { ranks } else { model.ep };
    let whole =
        |ep: &u32| experts.is_multiple_of(*ep) && ((ep * model.tp).is_multiple_of(8) || ep * model.tp <= 8);
    let ep = (1..=wanted.min(experts.max(1))).rev().find(whole).unwrap_or(1);
    MoeModel { experts, ep, layers: layers * model.pp, top_k: model.top_k.min(experts.max(1)), ..model }
}

/// Returns lines, one per layer, that state how uneven the counts of the planned iteration are. `numbers` are the layer
/// numbers of the file.
fn busiest(matrices: &[CountedMatrix], iteration: u32, numbers: &[u32]) -> Vec<String> {
    let of = matrices.iter().filter(|matrix| matrix.iteration == iteration).zip(numbers);
    let text = |(matrix, number): (&CountedMatrix, &u32)| {
        let experts = matrix.tokens.first().map_or(0, Vec::len);
        let load = |expert: usize| matrix.tokens.iter().filter_map(|row| row.get(expert)).sum::<f64>();
        let most = (0..experts).map(load).fold(0.0, f64::max);
        let mean = (0..experts).map(load).sum::<f64>() / experts.max(1) as f64;
        if mean == 0.0 {
            return format!("layer {number}: counts no tokens in iteration {iteration}");
        }
        format!("layer {number}: the busiest expert has {:.3} times the mean load", most / mean)
    };
    of.map(text).collect()
}
