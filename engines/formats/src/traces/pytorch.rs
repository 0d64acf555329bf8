//! Execution traces of PyTorch: the calls of one rank, without times. Only the records of collectives are used.

use super::builder::TraceBuilder;
use super::{RankTrace, TracedCollective, TracedWork, split};
use crate::gz::{self, Limits};
use lightbay_core::problem::{Problem, Problems, counted};
use serde_json::Value;
use std::io::BufRead;

/// Maximum size of the text of a trace, bytes.
const MOST_BYTES: u64 = 256 << 20;

/// Maximum number of ranks of a job.
const MOST_WORLD: u32 = 1 << 20;

/// Reads the trace of a rank. The collectives of the trace run one after another.
///
/// # Errors
/// Text that is not an execution trace of PyTorch, and a trace without collectives.
pub fn read(reader: impl BufRead, limits: &Limits) -> Result<RankTrace, Problems> {
    let value = gz::json(reader, limits, MOST_BYTES)?;
    let Some(nodes) = value.get("nodes").and_then(Value::as_array) else {
        let remedy = "check that this is an execution trace of PyTorch";
        return Err(Problem::new("nodes", "is missing or not a list", remedy).into());
    };
    let mut builder = TraceBuilder::new(false);
    let mut before: Option<u64> = None;
    let (mut other, mut sizeless, mut abridged, mut unequal) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut calls: Vec<(u64, &Value)> = nodes
        .iter()
        .filter(|node| node.get("name").and_then(Value::as_str) == Some("record_param_comms"))
        .filter_map(|node| Some((node.get("id")?.as_u64()?, node)))
        .collect();
    calls.sort_by_key(|(id, _)| *id);
    for (id, node) in calls {
        let values = node.pointer("/inputs/values").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let at = values.iter().position(Value::is_string);
        let Some((at, name)) = at.and_then(|at| Some((at, values[at].as_str()?))) else {
            other += 1;
            continue;
        };
        let Some(kind) = TracedCollective::of_name(name) else {
            // Waits and the start of groups.
            other += u64::from(!["wait", "init"].contains(&name));
            continue;
        };
        let world = values.last().and_then(Value::as_u64).and_then(|size| u32::try_from(size).ok());
        let bytes = tensors(&values[..at]);
        sizeless += u64::from(bytes.is_none() && kind != TracedCollective::Barrier);
        // Groups are pointers, which differ between ranks; those of one size are one group.
        let group = builder.group(&world.map_or_else(String::new, |size| format!("{size} ranks")), None)?;
        let trace = builder.trace();
        trace.world = trace.world.max(world);
        // The rank precedes the name.
        let rank = at.checked_sub(1).and_then(|at| values[at].as_u64());
        trace.rank = trace.rank.or(rank.and_then(|rank| u32::try_from(rank).ok()));
        let deps: Vec<u64> = before.into_iter().collect();
        let size = bytes.filter(|bytes| (0.0..=super::MOST).contains(bytes)).unwrap_or(-1.0);
        builder.push(id, name, TracedWork::Collective { kind, group }, [0.0, 0.0, size], &deps);
        // The split sizes of the input follow the name.
        let splits = values.get(at + 1).and_then(Value::as_array).filter(|list| !list.is_empty());
        if let Some(splits) = splits.filter(|_| kind == TracedCollective::AllToAll && size >= 0.0) {
            match splits.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>() {
                Some(splits) => {
                    let place = format!("split sizes of node {id}");
                    unequal += 1;
                    builder.set_parts(split(&splits, size, world.map(|world| world as usize), &place)?);
                }
                None => abridged += 1,
            }
        }
        before = Some(id);
    }
    if builder.is_empty() {
        let remedy = "record the trace while the job communicates (torch.distributed)";
        return Err(Problem::new("nodes", "have no collectives", remedy).into());
    }
    let calls = nodes.len() - builder.len();
    let trace = builder.trace();
    trace.world = trace.world.filter(|world| *world <= MOST_WORLD);
    if let Some(world) = trace.world {
        let all = format!("{world} ranks");
        let whole = trace.groups.iter_mut().filter(|group| group.name == all);
        whole.for_each(|group| group.ranks = Some((0..world).collect()));
    }
    trace.in_bytes = true;
    trace.notes.push(format!(
        "an execution trace has no times: {} that are not collectives are left out",
        counted(calls as u64, "call", "calls")
    ));
    if other > 0 {
        let what = counted(other, "record", "records");
        trace.notes.push(format!("{what} of communication without a known collective"));
    }
    if abridged > 0 {
        let what = counted(abridged, "all-to-all", "all-to-alls");
        trace
            .notes
            .push(format!("the split sizes of {what} are not whole numbers, so equal parts are assumed"));
    }
    if unequal > 0 {
        let what = counted(unequal, "all-to-all", "all-to-alls");
        trace.notes.push(format!(
            "the split sizes of {what} are assigned to the ranks of the group in ascending order, because an \
             execution trace does not list the ranks"
        ));
    }
    if sizeless > 0 {
        trace.notes.push(format!("{} without sizes", counted(sizeless, "collective", "collectives")));
    }
    builder.finish()
}

/// Returns the bytes of all tensors in a value: `[id, storage, offset, elements, bytes of one element, device]`, in
/// lists or alone.
fn tensors(values: &[Value]) -> Option<f64> {
    let mut sum = None;
    for value in values {
        let Some(list) = value.as_array() else { continue };
        let one = match list.as_slice() {
            [_, _, _, elements, bytes, Value::String(_)] => Some(elements.as_f64()? * bytes.as_f64()?),
            _ => tensors(list),
        };
        sum = match (sum, one) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_collectives_follow_each_other() {
        let node = |id: u32, name: &str, elements: u32| {
            format!(
                "{{\"id\":{id},\"name\":\"record_param_comms\",\"inputs\":{{\"values\":[[[5,6,0,{elements},4,\"cuda:0\"],\
                 [7,8,0,1,2,\"cuda:0\"]],12,99,0,\"{name}\",[],[],2]}}}}"
            )
        };
        let text = format!(
            "{{\"schema\":\"1.0.2-chakra.0.0.4\",\"nodes\":[{},{},{},{{\"id\":1,\"name\":\"aten::add\"}}]}}",
            node(9, "all_gather", 100),
            node(4, "allreduce", 3),
            node(6, "wait", 3)
        );
        let found = read(text.as_bytes(), &Limits::default()).unwrap();
        // In the order of their numbers: 3 x 4 + 2 bytes, then 100 x 4 + 2.
        let sizes: Vec<f64> = found.nodes().iter().map(|node| node.size).collect();
        assert_eq!((sizes, found.world, found.rank), (vec![14.0, 402.0], Some(2), Some(0)));
        assert_eq!((found.deps(0), found.deps(1)), (&[][..], &[0][..]));
        assert_eq!(found.groups[0].name, "2 ranks");
        let split = text.replace("\"allreduce\",[]", "\"all_to_allv\",[1,3]");
        let found = read(split.as_bytes(), &Limits::default()).unwrap();
        assert_eq!((found.parts(0), found.parts(1)), (Some(&[3.5, 10.5][..]), None));
        let note =
            "the split sizes of 1 all-to-all are assigned to the ranks of the group in ascending order";
        assert!(found.notes.iter().any(|said| said.starts_with(note)), "{:?}", found.notes);
        let wrong = text.replace("\"allreduce\",[]", "\"all_to_allv\",[1,3,4]");
        let wrong = read(wrong.as_bytes(), &Limits::default()).unwrap_err().to_string();
        assert!(wrong.contains("split sizes of node 4: has 3 entries, but the group has 2 ranks"), "{wrong}");
        let none = read("{\"nodes\":[]}".as_bytes(), &Limits::default()).unwrap_err().to_string();
        assert!(none.contains("have no collectives"), "{none}");
    }
}
