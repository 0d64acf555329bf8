//! Trees in short form, `lightbay.ccl_trees/1`: those of one root per orbit and the symmetries that make the others, so
//! that a plan for thousands of GPUs stays small. Of an exchange, a tree is the path of data with one destination.

use lightbay_core::problem::Problems;
use lightbay_core::read::{Fields, whole_numbers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Name and version of the form.
pub const FORMAT: &str = "lightbay.ccl_trees/1";

/// Way in which pieces are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactDiscipline {
    /// Every tree sends one piece in each epoch; pieces of an epoch share a link.
    Fluid,
    /// Equal pieces, one at a time on a link, with the start of each.
    WholeChunk,
}

/// A plan of trees in short form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompactPlan {
    /// Always `lightbay.ccl_trees/1`.
    pub format: String,
    /// Way in which pieces are sent.
    pub discipline: CompactDiscipline,
    /// `true` if its data is reduced on the way to the root, `false` if it is spread from there; missing in plans that do
    /// not state it, where the place of the part in the plan decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adds_up: Option<bool>,
    /// Length of an epoch, µs; no latency is left out.
    pub epoch_us: f64,
    /// Data of each root, or of each root for each destination, bytes.
    pub shard_bytes: f64,
    /// Pieces into which the share of each tree is cut (`fluid`), or that data (`whole_chunk`).
    pub pieces_per_tree: u32,
    /// Epochs until everything has arrived.
    pub finish_epochs: u64,
    /// Trees of one root for each orbit.
    pub trees: Vec<CompactTree>,
    /// Symmetries that make the trees of the other roots, as images of all nodes.
    pub generators: Vec<Vec<u32>>,
}

/// A tree of a [`CompactPlan`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompactTree {
    /// GPU whose data it carries.
    pub root: u32,
    /// Share of that data, a fraction such as `13/40`.
    pub share: String,
    /// The one rank that the data is for; none if it is for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dests: Vec<u32>,
    /// Hops from GPU to GPU with the switches between, parents first.
    pub edges: Vec<Vec<u32>>,
    /// Epoch at which each hop of each piece starts (`whole_chunk`): by piece, then hop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Vec<u32>>,
}

impl CompactDiscipline {
    /// Both, with their names in files.
    pub const ALL: [(&'static str, Self); 2] = [("fluid", Self::Fluid), ("whole_chunk", Self::WholeChunk)];
}

/// Largest number of a plan.
const HUGE: f64 = 1e18;
/// Largest id or epoch.
const MOST: i64 = u32::MAX as i64 / 8;

impl CompactPlan {
    /// Returns `true` if each receiver has data of its own at every root.
    pub fn is_exchange(&self) -> bool {
        self.trees.iter().any(|tree| !tree.dests.is_empty())
    }

    /// Reads the keys of a plan in short form. The caller finishes `fields`.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let format = fields.text("format", problems).map(str::to_owned);
        let discipline = fields.choice("discipline", &CompactDiscipline::ALL, problems);
        let adds_up = match fields.optional("adds_up") {
            None => Some(None),
            Some(_) => fields.bool_or("adds_up", false, problems).map(Some),
        };
        let epoch_us = fields.float("epoch_us", 1e-12..=HUGE, problems);
        let shard_bytes = fields.float("shard_bytes", 1e-12..=HUGE, problems);
        let pieces = fields.int("pieces_per_tree", 1..=MOST, problems);
        let finish = fields.int("finish_epochs", 0..=MOST, problems);
        let trees = fields.each("trees", problems, |fields, problems| {
            let root = fields.int("root", 0..=MOST, problems);
            let share = fields.text("share", problems).map(str::to_owned);
            let dests = numbers(fields, "dests", problems);
            let edges = rows(fields, "edges", problems);
            let starts = rows(fields, "starts", problems);
            Some(CompactTree {
                root: root? as u32,
                share: share?,
                dests: dests?,
                edges: edges?,
                starts: starts?,
            })
        });
        let generators = rows(fields, "generators", problems);
        Some(Self {
            format: format?,
            discipline: discipline?,
            adds_up: adds_up?,
            epoch_us: epoch_us?,
            shard_bytes: shard_bytes?,
            pieces_per_tree: pieces? as u32,
            finish_epochs: finish?.unsigned_abs(),
            trees: trees?,
            generators: generators?,
        })
    }
}

/// A list of numbers; none if the key is missing.
fn numbers(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<Vec<u32>> {
    let path = fields.path_of(key);
    fields.optional(key).map_or(Some(Vec::new()), |list| whole_numbers(list, &path, problems))
}

/// Lists of numbers; none if the key is missing.
fn rows(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<Vec<Vec<u32>>> {
    let path = fields.path_of(key);
    match fields.optional(key) {
        None => Some(Vec::new()),
        Some(Value::Array(list)) => {
            let row = |(at, row)| whole_numbers(row, &format!("{path}[{at}]"), problems);
            list.iter().enumerate().map(row).collect()
        }
        Some(_) => {
            problems.add(path, "is no list", "give a list of lists of node ids or epochs");
            None
        }
    }
}
