//! Writes execution plans: thread blocks refer to channels and remote buffers by indices into lists of their GPU.

use super::{ChannelSort, ExecutionPlan, PlanGpu, PlanOperation, PlanProtocol, Span};
use crate::collective::Buffer;
use serde_json::{Map, Value, json};

/// Default number of threads per block in executors.
const THREADS: u32 = 1024;
/// Alignment of buffers, bytes.
const ALIGNMENT: u32 = 16;

/// Writes a plan as JSON.
pub fn write(plan: &ExecutionPlan) -> String {
    let protocol = match plan.protocol {
        PlanProtocol::Simple => "Simple",
        PlanProtocol::LowLatency => "LL",
    };
    let gpus: Vec<Value> = plan.gpus.iter().enumerate().map(|(id, gpu)| written(id, gpu)).collect();
    let value = json!({
        "name": plan.name,
        "collective": plan.collective.name().replace('_', ""),
        "protocol": protocol,
        "inplace": plan.in_place,
        "reuse_resources": false,
        "gpus": gpus,
        "num_threads_per_block": THREADS,
        "use_double_scratch_buffer": plan.protocol == PlanProtocol::LowLatency,
        "buffer_alignment": ALIGNMENT,
        "min_message_size": plan.min_bytes,
        "max_message_size": plan.max_bytes,
    });
    // Names come from files of other people, so characters that could hide content are escaped.
    let line = lightbay_core::json::to_line(&value).unwrap_or_else(|_| value.to_string());
    format!("{line}\n")
}

/// A remote buffer (rank and buffer), and the type of channel that reaches it.
type RemoteBuffer = (u32, Buffer, ChannelSort);

/// Lists the remote buffers that operations use.
fn remotes<'a>(operations: impl Iterator<Item = &'a PlanOperation>) -> Vec<RemoteBuffer> {
    let mut found = Vec::new();
    for operation in operations {
        let sort = operation.sort.unwrap_or(ChannelSort::Memory);
        for span in operation.sources.iter().chain(&operation.destinations) {
            if let Some(rank) = span.rank {
                found.push((rank, span.buffer, sort));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn written(id: usize, gpu: &PlanGpu) -> Value {
    let all = remotes(gpu.blocks.iter().flatten());
    let mut channels = Vec::new();
    for (name, sort) in ChannelSort::ALL {
        let peers: Vec<u32> =
            gpu.channels.iter().filter(|channel| channel.sort == sort).map(|channel| channel.peer).collect();
        if !peers.is_empty() {
            channels.push(json!({"channel_type": name, "connected_to": peers}));
        }
    }
    let buffers: Vec<Value> = all
        .iter()
        .map(|(rank, buffer, sort)| {
            json!({"rank": rank, "type": buffer.letter().to_string(), "access_channel_types": [sort.name()]})
        })
        .collect();
    let blocks: Vec<Value> = gpu
        .blocks
        .iter()
        .enumerate()
        .map(|(number, block)| written_block(number, block, gpu, &all))
        .collect();
    json!({
        "id": id,
        "input_chunks": gpu.input_chunks,
        "output_chunks": gpu.output_chunks,
        "scratch_chunks": gpu.scratch_chunks,
        "threadblocks": blocks,
        "channels": channels,
        "remote_buffers": buffers,
        "semaphores": [],
    })
}

fn written_block(number: usize, block: &[PlanOperation], gpu: &PlanGpu, all: &[RemoteBuffer]) -> Value {
    let own = remotes(block.iter());
    let (mut channels, mut references) = (Vec::new(), Vec::new());
    let mut used = [Vec::new(), Vec::new()];
    for (used, (name, sort)) in used.iter_mut().zip(ChannelSort::ALL) {
        let of_sort = |operation: &&PlanOperation| operation.sort == Some(sort);
        *used = block
            .iter()
            .filter(of_sort)
            .flat_map(|operation| operation.channels.clone())
            .collect::<Vec<u32>>();
        used.sort_unstable();
        used.dedup();
        if !used.is_empty() {
            // Channels are numbered separately for each type.
            let place = |channel: &u32| {
                gpu.channels[..*channel as usize].iter().filter(|other| other.sort == sort).count()
            };
            let ids: Vec<usize> = used.iter().map(place).collect();
            channels.push(json!({"channel_type": name, "channel_ids": ids}));
        }
        let ids: Vec<usize> = own
            .iter()
            .filter(|remote| remote.2 == sort)
            .filter_map(|remote| all.iter().position(|known| known == remote))
            .collect();
        if !ids.is_empty() {
            references.push(json!({"access_channel_type": name, "remote_buffer_ids": ids}));
        }
    }
    let of_sort = |sort: ChannelSort| if sort == ChannelSort::Memory { &used[0] } else { &used[1] };
    let span = |span: &Span, sort: ChannelSort| match span.rank {
        None => json!({"type": span.buffer.letter().to_string(), "index": span.index, "size": span.size}),
        Some(rank) => {
            let mut same = own.iter().filter(|remote| remote.2 == sort);
            let id = same.position(|remote| *remote == (rank, span.buffer, sort)).unwrap_or_default();
            json!({"buffer_id": id, "index": span.index, "size": span.size})
        }
    };
    let operation = |operation: &PlanOperation| {
        let sort = operation.sort.unwrap_or(ChannelSort::Memory);
        let mut map = Map::new();
        map.insert("name".to_owned(), operation.action.name().into());
        for (key, spans) in [("src_buff", &operation.sources), ("dst_buff", &operation.destinations)] {
            if !spans.is_empty() {
                map.insert(key.to_owned(), spans.iter().map(|one| span(one, sort)).collect());
            }
        }
        if !operation.channels.is_empty() {
            let used = of_sort(sort);
            let ids = operation.channels.iter().filter_map(|id| used.iter().position(|known| known == id));
            map.insert("channel_ids".to_owned(), ids.collect::<Vec<usize>>().into());
        }
        if let Some(sort) = operation.sort {
            map.insert("channel_type".to_owned(), sort.name().into());
        }
        if operation.action.reduces() {
            map.insert("reduce_op".to_owned(), "sum".into());
        }
        if let Some((number, blocks)) = operation.barrier {
            map.insert("barrier_id".to_owned(), number.into());
            map.insert("num_threadblocks".to_owned(), blocks.into());
        }
        Value::Object(map)
    };
    json!({
        "id": number,
        "ops": block.iter().map(operation).collect::<Vec<Value>>(),
        "channels": channels,
        "remote_buffer_refs": references,
    })
}
