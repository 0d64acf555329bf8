//! Sketches of TACCL: what a user already knows about a good schedule.

use super::{MOST_RANKS, json};
use crate::gz::Limits;
use lightbay_core::problem::Problems;
use lightbay_core::read::{Fields, brief, list_at, whole_numbers};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::BufRead;

/// A sketch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TacclSketch {
    /// Number of nodes.
    pub nodes: u32,
    /// Strategy inside a node: `none`, `switch`, `minmax` and others.
    pub intra_strategy: String,
    /// GPUs that are connected to each switch inside a node.
    pub switches: Vec<Vec<u32>>,
    /// Strategy of each switch, such as `uc-min`.
    pub switch_strategies: Vec<String>,
    /// Strategy between nodes, such as `relay`.
    pub inter_strategy: String,
    /// GPUs that send to other nodes, each with the GPUs to which it sends, by their numbers in their nodes.
    pub connections: BTreeMap<u32, Vec<u32>>,
    /// GPUs that send to other nodes, each with the GPUs for which it sends.
    pub senders: BTreeMap<u32, Vec<u32>>,
    /// `true` if sends of one GPU to other nodes are ordered.
    pub ordered: bool,
    /// Symmetries, each as an offset and the size of a group of GPUs: the symmetry adds the offset to the numbers of
    /// the GPUs, modulo the size, within each group.
    pub symmetry_offsets: Vec<[u32; 2]>,
    /// Number of chunks into which the input of a rank is divided.
    pub chunks: u32,
}

/// Reads a sketch. Unknown keys are problems, so that nothing is lost without notice.
///
/// # Errors
/// Every problem of the file, by the path of its key.
pub fn read_sketch(reader: impl BufRead, limits: &Limits) -> Result<TacclSketch, Problems> {
    let value = json(reader, limits)?;
    let mut problems = Problems::new();
    let found = sketch(&value, &mut problems);
    match found {
        Some(found) if problems.is_empty() => Ok(found),
        _ => Err(problems),
    }
}

fn sketch(value: &Value, problems: &mut Problems) -> Option<TacclSketch> {
    let mut fields = Fields::of(value, "", problems)?;
    let nodes = fields.int("nnodes", 1..=MOST_RANKS as i64, problems);
    let mut found = TacclSketch { nodes: 1, chunks: 1, ..TacclSketch::default() };
    if let Some(mut inner) = fields.object("intranode_sketch", problems) {
        found.intra_strategy = inner.text("strategy", problems).unwrap_or_default().to_owned();
        if let Some(value) = inner.optional("switches") {
            let path = inner.path_of("switches");
            for (at, value) in list_at(value, &path, problems).into_iter().flatten().enumerate() {
                found.switches.extend(whole_numbers(value, &format!("{path}[{at}]"), problems));
            }
        }
        if let Some(value) = inner.optional("switch_hyperedge_strategy") {
            let path = inner.path_of("switch_hyperedge_strategy");
            for (at, value) in list_at(value, &path, problems).into_iter().flatten().enumerate() {
                match value.as_str() {
                    Some(text) => found.switch_strategies.push(text.to_owned()),
                    None => {
                        problems.add(format!("{path}[{at}]"), format!("is {}", brief(value)), "give text");
                    }
                }
            }
        }
        inner.finish(problems);
    }
    if let Some(mut inner) = fields.object("internode_sketch", problems) {
        found.inter_strategy = inner.text("strategy", problems).unwrap_or_default().to_owned();
        let path = |key: &str| format!("internode_sketch.{key}");
        if let Some(value) = inner.optional("internode_conn") {
            found.connections = by_gpu(value, &path("internode_conn"), problems);
        }
        if let Some(value) = inner.optional("gpus_to_sender_rev_map") {
            found.senders = by_gpu(value, &path("gpus_to_sender_rev_map"), problems);
        }
        found.ordered = inner.bool_or("enforce_ordering", false, problems).unwrap_or(false);
        inner.finish(problems);
    }
    if let Some(value) = fields.optional("symmetry_offsets") {
        for (at, value) in list_at(value, "symmetry_offsets", problems).into_iter().flatten().enumerate() {
            let path = format!("symmetry_offsets[{at}]");
            let pair: Option<Vec<u32>> = whole_numbers(value, &path, problems);
            match pair.as_deref() {
                Some([offset, size]) if *offset > 0 && *size > 0 && size.is_multiple_of(*offset) => {
                    found.symmetry_offsets.push([*offset, *size]);
                }
                Some(pair) => {
                    let remedy = "write an offset and the size of its group, a multiple of the offset";
                    problems.add(path, format!("is {pair:?}"), remedy);
                }
                None => {}
            }
        }
    }
    if let Some(mut inner) = fields.optional_object("hyperparameters", problems) {
        found.chunks = inner.int_or("input_chunkup", 1..=1 << 20, 1, problems).unwrap_or(1) as u32;
        inner.finish(problems);
    }
    fields.finish(problems);
    found.nodes = nodes? as u32;
    Some(found)
}

/// Reads an object whose keys are GPUs and whose values are lists of GPUs.
fn by_gpu(value: &Value, path: &str, problems: &mut Problems) -> BTreeMap<u32, Vec<u32>> {
    let mut found = BTreeMap::new();
    let Some(map) = value.as_object() else {
        problems.add(path, format!("is {}", brief(value)), "use an object of lists");
        return found;
    };
    for (key, value) in map {
        let path = format!("{path}.{key}");
        let gpu = key.parse::<u32>().ok().filter(|gpu| (*gpu as usize) < MOST_RANKS);
        if gpu.is_none() {
            problems.add(&*path, "is not a GPU", "use the number of the GPU in the node as its name");
        }
        if let Some((gpu, list)) = gpu.zip(whole_numbers(value, &path, problems)) {
            found.insert(gpu, list);
        }
    }
    found
}
