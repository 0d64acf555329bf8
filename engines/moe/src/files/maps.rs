//! Maps between slots and experts, as load balancers and model servers read them.

use crate::Moe;
use crate::plan::MoeResult;
use crate::scenario::MoeScenario;
use lightbay_core::format::{Artifact, FormatInfo, SubjectOf, SubjectSort, file_stem, needs_plan};
use lightbay_core::json;
use lightbay_core::problem::{Problem, Problems};
use serde::Serialize;

/// Name of the format.
pub const NAME: &str = "expert_map";

/// Returns all formats.
pub fn formats() -> Vec<FormatInfo> {
    let info = FormatInfo::new(
        NAME,
        "Maps between slots and experts per layer (physical to logical, logical to physical, replica \
         counts), with the names of EPLB, SGLang and vLLM.",
        SubjectSort::Plan,
        "json",
    );
    vec![info.leaving_out(&["circuits and routes", "times and costs"])]
}

/// Maps of all layers of the stage.
#[derive(Debug, Serialize)]
struct ExpertMaps {
    ranks: u32,
    slots_per_rank: usize,
    layers: Vec<u32>,
    physical_to_logical_map: Vec<Vec<u32>>,
    /// Slots of every expert, padded with -1.
    logical_to_physical_map: Vec<Vec<Vec<i64>>>,
    logical_replica_count: Vec<Vec<u32>>,
}

/// Returns the file with the expert maps of a plan.
///
/// # Errors
/// A scenario.
pub fn export(subject: SubjectOf<'_, Moe>, format: &str) -> Result<Vec<Artifact>, Problems> {
    let SubjectOf::Plan(plan) = subject else { return Err(needs_plan(format).into()) };
    let plan = plan.plan();
    let shape = plan.scenario.body.shape();
    let is_placed = plan.result.layers.iter().all(|layer| layer.placement.is_some());
    if !is_placed && !shape.experts.is_multiple_of(shape.ep.max(1)) {
        let message = format!(
            "{} experts in blocks on {} ranks fill different numbers of slots",
            shape.experts, shape.ep
        );
        return Err(Problem::new("", message, "export a plan of method mfabric-placed or auto").into());
    }
    let maps = maps(&plan.scenario.body, &plan.result);
    let text =
        json::to_pretty(&maps).map_err(|error| Problem::new("", error.to_string(), "please report this"))?;
    Ok(vec![Artifact::new(format!("{}.{NAME}.json", file_stem(subject.name())), text)])
}

fn maps(scenario: &MoeScenario, result: &MoeResult) -> ExpertMaps {
    let shape = scenario.shape();
    let slots: Vec<Vec<u32>> = result
        .layers
        .iter()
        .map(|layer| match &layer.placement {
            Some(placed) => placed.physical_to_logical.clone(),
            None => (0..shape.experts).collect(),
        })
        .collect();
    let counts = |slots: &Vec<u32>| -> Vec<u32> {
        let count = |expert| slots.iter().filter(|known| **known == expert).count() as u32;
        (0..shape.experts).map(count).collect()
    };
    let replicas: Vec<Vec<u32>> = slots.iter().map(counts).collect();
    let most = replicas.iter().flatten().copied().max().unwrap_or(1) as usize;
    let places = |slots: &Vec<u32>| -> Vec<Vec<i64>> {
        let of = |expert: u32| {
            let held = slots.iter().enumerate().filter(move |(_, known)| **known == expert);
            held.map(|(slot, _)| slot as i64).chain(std::iter::repeat(-1)).take(most).collect()
        };
        (0..shape.experts).map(of).collect()
    };
    ExpertMaps {
        ranks: shape.ep,
        slots_per_rank: slots.first().map_or(0, Vec::len) / shape.ep.max(1) as usize,
        layers: result.layers.iter().map(|layer| layer.layer).collect(),
        logical_to_physical_map: slots.iter().map(places).collect(),
        physical_to_logical_map: slots,
        logical_replica_count: replicas,
    }
}
