//! Reads the nodes of a network: a list of nodes, or only the number of GPUs.

use super::{MAX_NODES, NodeRecord, NodeSort};
use lightbay_core::problem::Problems;
use lightbay_core::read::int_at;
use lightbay_core::record::{FieldType, NumberRange, Place};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

/// Reads nodes as listed; a node without a name is named after its id. A number N is read as N GPUs.
pub(super) fn nodes(value: &Value, place: &Place<'_>, problems: &mut Problems) -> Option<Vec<NodeRecord>> {
    let mut nodes = if value.is_number() {
        let count = int_at(value, place, 1..=MAX_NODES as i64, problems)?;
        let gpu = |id| NodeRecord { id, name: String::new(), kind: NodeSort::Gpu, group: None };
        (0..count as u32).map(gpu).collect()
    } else {
        Vec::<NodeRecord>::read(value, place, NumberRange::Any, problems)?
    };
    for node in nodes.iter_mut().filter(|node| node.name.is_empty()) {
        let letter = if node.kind == NodeSort::Gpu { "g" } else { "sw" };
        node.name = format!("{letter}{}", node.id);
    }
    Some(nodes)
}

pub(super) fn nodes_schema(generator: &mut SchemaGenerator) -> Schema {
    let node = generator.subschema_for::<NodeRecord>();
    json_schema!({ "anyOf": [
        { "type": "array", "items": node },
        { "type": "integer", "minimum": 1, "maximum": MAX_NODES },
    ] })
}
