//! Scenarios from counts of tokens by expert.

use super::counts::{DenseAxis, ReadCounts, read};
use crate::Moe;
use crate::scenario::shapes::{MoeModel, MoeModelChoice, MoeModelPreset};
use crate::scenario::{CountedMatrix, CountedTrace, GateTrace, MAX_EXPERTS, presets};
use lightbay_core::format::{FormatInfo, ImportedScenario, Input, SubjectSort, file_stem};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::read::read_all;
use lightbay_core::scenario::Scenario;
use serde_json::json;
use std::collections::BTreeSet;

/// Name of the format.
pub const NAME: &str = "routing_counts";

/// Relative difference of the sums of two layers that is rounding.
const ROUNDING: f64 = 1e-6;

/// All formats.
pub fn formats() -> Vec<FormatInfo> {
    let models: Vec<&'static str> = MoeModelPreset::ALL.iter().map(|(name, _)| *name).collect();
    let info = FormatInfo::new(
        NAME,
        "Counts of tokens by expert: CSV, JSON lines, EPLB weights, recorders of SGLang and vLLM, logs of Megatron.",
        SubjectSort::Scenario,
        "csv",
    );
    vec![
        info.leaving_out(&[
            "counts of the first choice of every token",
            "layers without experts",
            "placements of replicas",
        ])
        .with(vec![
            ParamInfo::choice(
                "model",
                &models,
                "mixtral_8x7b",
                "Model whose widths and parallelism are taken.",
            ),
            ParamInfo::choice(
                "axis",
                &["layers", "iterations"],
                "layers",
                "Rows of a table of numbers alone: layers of one iteration, or iterations of one layer.",
            ),
        ]),
    ]
}

/// Makes a scenario of counts.
///
/// # Errors
/// Every problem of the files; with `strict`, everything that has to be assumed.
pub fn import(inputs: &[Input], params: &Params, strict: bool) -> Result<ImportedScenario<Moe>, Problems> {
    let axis = match params.text("axis") {
        Some("iterations") => DenseAxis::Iterations,
        _ => DenseAxis::Layers,
    };
    let mut counts = ReadCounts::default();
    let mut problems = Problems::new();
    for (rank, input) in inputs.iter().enumerate() {
        let found =
            read_all(input.bytes.as_slice()).map_err(Problems::from).and_then(|bytes| read(&bytes, axis));
        match found {
            Ok(found) => {
                counts.shape = found.shape;
                // Several files are those of the ranks, in turn.
                for ((iteration, layer, own), row) in found.rows {
                    let key = (iteration, layer, own + rank as u32);
                    if counts.rows.insert(key, row).is_some() {
                        problems.add(
                            &input.name,
                            "counts a rank that an earlier file has",
                            "give a file per rank",
                        );
                        break;
                    }
                }
            }
            Err(found) => {
                for problem in found.list() {
                    problems.push(problem.clone().under(&input.name));
                }
            }
        }
    }
    problems.into_result(())?;
    let name = inputs.first().map_or("counts", |input| input.name.as_str());
    let preset = params.text("model").and_then(MoeModelPreset::of).unwrap_or(MoeModelPreset::Mixtral8x7b);
    scenario(name, &counts, preset, strict)
}

fn scenario(
    name: &str,
    counts: &ReadCounts,
    preset: MoeModelPreset,
    strict: bool,
) -> Result<ImportedScenario<Moe>, Problems> {
    let experts = counts.rows.values().map(Vec::len).max().unwrap_or(0) as u32;
    let mut problems = Problems::new();
    for ((iteration, layer, _), row) in &counts.rows {
        // A long table may leave out experts without tokens at the end; other shapes have all.
        if row.len() as u32 != experts && !counts.shape.contains("each line") {
            let message = format!(
                "layer {layer} of iteration {iteration} has {} experts, others have {experts}",
                row.len()
            );
            problems.add("", message, "give every layer as many counts");
        }
    }
    if experts > MAX_EXPERTS {
        problems.add("", format!("has {experts} experts"), format!("give at most {MAX_EXPERTS}"));
    }
    problems.into_result(())?;
    let mut lines = vec![format!("found: {}, {experts} experts", counts.shape)];
    let mut assumed = Vec::new();
    let sum = |layer: u32, iteration: u32| -> f64 {
        let of = counts.rows.iter().filter(|((i, l, _), _)| (*i, *l) == (iteration, layer));
        of.flat_map(|(_, row)| row).sum()
    };
    let iterations: BTreeSet<u32> = counts.rows.keys().map(|(iteration, ..)| *iteration).collect();
    let all: BTreeSet<u32> = counts.rows.keys().map(|(_, layer, _)| *layer).collect();
    let (layers, dense): (Vec<u32>, Vec<u32>) =
        all.into_iter().partition(|layer| iterations.iter().any(|iteration| sum(*layer, *iteration) > 0.0));
    if !dense.is_empty() {
        lines.push(format!(
            "left out: {} layers without tokens, which have no experts: {dense:?}",
            dense.len()
        ));
    }
    let Some((&first, &last)) = layers.first().zip(iterations.last()) else {
        return Err(Problem::new("", "counts no token at all", "give counts of a run").into());
    };
    for layer in &layers {
        let (here, there) = (sum(*layer, last), sum(first, last));
        if (here - there).abs() > ROUNDING * there {
            lines.push(format!(
                "layer {layer} counts {here} tokens, layer {first} {there}: shares are taken, not sums"
            ));
        }
    }
    let ranks: BTreeSet<u32> = counts.rows.keys().map(|(.., rank)| *rank).collect();
    let shape = shaped(preset.shape(), experts, ranks.len() as u32, layers.len() as u32);
    if ranks.len() == 1 {
        assumed.push("every rank sends the same: the counts are sums over all ranks".to_owned());
    } else if ranks.len() as u32 != shape.ep {
        let message =
            format!("counts {} ranks, of which {experts} experts cannot make {}", ranks.len(), shape.ep);
        return Err(Problem::new("", message, "give a number of ranks that divides the experts").into());
    }
    assumed.push(format!(
        "widths, sequence and tensor-parallel GPUs of {} (model=), {} ranks, {} layers in a stage",
        preset.word(),
        shape.ep,
        layers.len()
    ));
    let mut matrices = Vec::new();
    for &iteration in &iterations {
        for (place, &layer) in layers.iter().enumerate() {
            let of = counts.rows.iter().filter(|((i, l, _), _)| (*i, *l) == (iteration, layer));
            let mut tokens: Vec<Vec<f64>> = of.map(|(_, row)| row.clone()).collect();
            for row in &mut tokens {
                row.resize(experts as usize, 0.0);
            }
            if !tokens.is_empty() {
                matrices.push(CountedMatrix { iteration, layer: place as u32, tokens });
            }
        }
    }
    if strict {
        let mut problems = Problems::new();
        for text in &assumed {
            problems.add("", format!("is not in the file: {text}"), "leave strict out to take it");
        }
        problems.into_result(())?;
    }
    let summary = json!({
        "shape": counts.shape,
        "experts": experts,
        "layers": layers.len(),
        "dense_layers": dense,
        "iterations": iterations.len(),
        "ranks": ranks.len(),
        "assumed": assumed,
    });
    lines.extend(assumed.iter().map(|text| format!("assumed: {text}")));
    lines.extend(busiest(&matrices, last));
    let replica = shape.ep * shape.tp * shape.pp;
    let servers = replica.div_ceil(8);
    let mut body = presets::of(MoeModelChoice::of(shape), servers.max(128 / servers.max(1) * servers));
    body.trace = GateTrace::Counts(CountedTrace { iteration: last, counts: matrices });
    body.validate()?;
    let scenario = Scenario { name: file_stem(name), body };
    Ok(ImportedScenario { scenario, lines, summary })
}

/// The model with as many experts, ranks and layers as were counted. Ranks that were not counted are as many as the
/// model has, or fewer where the experts cannot be shared so.
fn shaped(model: MoeModel, experts: u32, ranks: u32, layers: u32) -> MoeModel {
    let wanted = if ranks > 1 { ranks } else { model.ep };
    let whole =
        |ep: &u32| experts.is_multiple_of(*ep) && ((ep * model.tp).is_multiple_of(8) || ep * model.tp <= 8);
    let ep = (1..=wanted.min(experts.max(1))).rev().find(whole).unwrap_or(1);
    MoeModel { experts, ep, layers: layers * model.pp, top_k: model.top_k.min(experts.max(1)), ..model }
}

/// Unevenness of the counts of the planned iteration, a line for a layer.
fn busiest(matrices: &[CountedMatrix], iteration: u32) -> Vec<String> {
    let of = matrices.iter().filter(|matrix| matrix.iteration == iteration);
    let text = |matrix: &CountedMatrix| {
        let experts = matrix.tokens.first().map_or(0, Vec::len);
        let load = |expert: usize| matrix.tokens.iter().filter_map(|row| row.get(expert)).sum::<f64>();
        let most = (0..experts).map(load).fold(0.0, f64::max);
        let mean = (0..experts).map(load).sum::<f64>() / experts.max(1) as f64;
        format!("layer {}: the busiest expert has {:.3} times the mean", matrix.layer, most / mean)
    };
    of.map(text).collect()
}
