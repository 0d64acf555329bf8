//! Reading execution plans.

use super::{
    ChannelSort, ExecutionPlan, MOST_BARRIERS, MOST_CHANNELS, MOST_CHANNELS_OF_OPERATION, MOST_OPERATIONS,
    PlanAction, PlanChannel, PlanGpu, PlanOperation, PlanProtocol, Span,
};
use crate::collective::{Buffer, CollectiveOp};
use crate::gz::{self, Limits};
use crate::imported::Imported;
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_core::read::{Fields, brief, list_at, whole_numbers};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::BufRead;

/// Maximum size of a file, bytes.
const MOST_BYTES: u64 = 64 << 20;
/// Maximum number of ranks, and maximum number of chunks of a buffer.
const MOST_RANKS: i64 = 1 << 12;
const MOST_CHUNKS: i64 = 1 << 20;

/// Names of operations of the format that lightbay does not execute.
const OTHERS: [&str; 14] = [
    "ppkt",
    "rppkt",
    "respkt",
    "cpkt",
    "upkt",
    "repkt",
    "recpkt",
    "recspkt",
    "glres",
    "gstore",
    "gstorepkt",
    "pipeline",
    "sem_acquire",
    "sem_release",
];

/// Reads a plan of operations that move, reduce, signal and wait; checks the limits of the executor.
///
/// # Errors
/// Every problem of the file, by the path of its key, including every operation on packets, multicasts or pipelines.
pub fn read(reader: impl BufRead, limits: &Limits) -> Result<Imported<ExecutionPlan>, Problems> {
    let value = gz::json(reader, limits, MOST_BYTES)?;
    let mut problems = Problems::new();
    let found = plan(&value, &mut problems);
    match found {
        Some(found) if problems.is_empty() => Ok(found),
        _ => Err(problems),
    }
}

fn plan(value: &Value, problems: &mut Problems) -> Option<Imported<ExecutionPlan>> {
    let mut fields = Fields::of(value, "", problems)?;
    let name = fields.text("name", problems).map(str::to_owned);
    let word = fields.text("collective", problems).map(str::to_owned);
    let collective = word.as_deref().and_then(CollectiveOp::of);
    if let (Some(word), None) = (&word, collective) {
        let known: Vec<&str> = CollectiveOp::NAMES.iter().map(|(name, _)| *name).collect();
        let remedy = format!("use one of {}", known.join(", "));
        problems.add("collective", format!("is '{}'", printable(word)), remedy);
    }
    let protocols = [("Simple", PlanProtocol::Simple), ("LL", PlanProtocol::LowLatency)];
    let protocol = fields.choice("protocol", &protocols, problems);
    let in_place = fields.required("inplace", problems).and_then(Value::as_bool);
    for key in ["reuse_resources", "num_threads_per_block", "use_double_scratch_buffer", "buffer_alignment"] {
        fields.skip(key);
    }
    let bytes = |value: Option<&Value>, usual: u64| value.map_or(Some(usual), Value::as_u64);
    let min_bytes = bytes(fields.optional("min_message_size"), 0);
    let max_bytes = bytes(fields.optional("max_message_size"), u64::MAX);
    for (key, number) in [("min_message_size", min_bytes), ("max_message_size", max_bytes)] {
        if number.is_none() {
            problems.add(key, "is not a number of bytes", "use an integer from 0 to 2^64 - 1");
        }
    }
    let list = fields.list("gpus", problems)?;
    fields.finish(problems);
    if list.len() as i64 > MOST_RANKS {
        problems.add("gpus", format!("has {} entries", list.len()), format!("use at most {MOST_RANKS}"));
        return None;
    }
    let mut others: BTreeMap<String, u64> = BTreeMap::new();
    let mut gpus = Vec::with_capacity(list.len());
    for (rank, value) in list.iter().enumerate() {
        gpus.extend(gpu(rank, list.len(), value, &mut others, problems));
    }
    if !others.is_empty() {
        let named: Vec<String> = others.iter().map(|(name, count)| format!("{count} x {name}")).collect();
        problems.add(
            "gpus",
            format!("have operations that lightbay does not support: {}", named.join(", ")),
            "use a plan of puts, gets, copies, sums, signals and waits (protocol Simple, without pipelines \
             and switches)",
        );
    }
    let plan = ExecutionPlan {
        name: name?,
        collective: collective?,
        protocol: protocol?,
        in_place: in_place?,
        min_bytes: min_bytes?,
        max_bytes: max_bytes?,
        gpus,
    };
    Some(Imported::new(plan))
}

/// Lists to whose entries the operations of a thread block refer: channels and buffers.
struct BlockTables<'a> {
    /// Remote buffers of the GPU.
    remotes: &'a [(u32, Buffer)],
    /// Channels of the thread block, by their positions among the channels of the GPU.
    channels: [Vec<u32>; 2],
    /// Remote buffers of the thread block, by type of channel.
    references: [Vec<u32>; 2],
}

const fn place(sort: ChannelSort) -> usize {
    match sort {
        ChannelSort::Memory => 0,
        ChannelSort::Port => 1,
    }
}

fn buffer(letter: &str) -> Option<Buffer> {
    Buffer::ALL.iter().find(|(name, _)| *name == letter).map(|(_, buffer)| *buffer)
}

fn gpu(
    rank: usize,
    ranks: usize,
    value: &Value,
    others: &mut BTreeMap<String, u64>,
    problems: &mut Problems,
) -> Option<PlanGpu> {
    let path = format!("gpus[{rank}]");
    let mut fields = Fields::of(value, &path, problems)?;
    if fields.int("id", 0..=MOST_RANKS, problems).is_some_and(|id| id as usize != rank) {
        problems.add(format!("{path}.id"), "differs from its position in the list", format!("give {rank}"));
    }
    let mut chunks = |key: &'static str| fields.int(key, 0..=MOST_CHUNKS, problems).map(|n| n as u32);
    let (input, output, scratch) =
        (chunks("input_chunks"), chunks("output_chunks"), chunks("scratch_chunks"));
    let mut gpu = PlanGpu {
        input_chunks: input?,
        output_chunks: output?,
        scratch_chunks: scratch?,
        channels: Vec::new(),
        blocks: Vec::new(),
    };
    let groups = fields.each("channels", problems, |fields, problems| {
        let sort = fields.choice("channel_type", &ChannelSort::ALL, problems);
        let path = fields.path_of("connected_to");
        let value = fields.required("connected_to", problems)?;
        let peers: Vec<u32> = whole_numbers(value, &path, problems)?;
        if let Some(peer) = peers.iter().find(|peer| **peer as usize >= ranks) {
            problems.add(
                path,
                format!("has rank {peer}"),
                format!("there are {ranks} ranks, numbered from 0"),
            );
        }
        Some((sort?, peers))
    });
    let mut counts = [0u32; 2];
    for (_, sort) in ChannelSort::ALL {
        for (_, peers) in groups.iter().flatten().filter(|(of, _)| *of == sort) {
            counts[place(sort)] += peers.len() as u32;
            gpu.channels.extend(peers.iter().map(|peer| PlanChannel { sort, peer: *peer }));
        }
    }
    let remotes = fields.each("remote_buffers", problems, |fields, problems| {
        let rank = fields.int("rank", 0..=ranks as i64 - 1, problems);
        let letters = Buffer::ALL;
        let buffer = fields.choice("type", &letters, problems);
        fields.skip("access_channel_types");
        Some((rank? as u32, buffer?))
    })?;
    fields.skip("semaphores");
    let list = fields.list("threadblocks", problems)?;
    fields.finish(problems);
    for (number, value) in list.iter().enumerate() {
        let path = format!("{path}.threadblocks[{number}]");
        let Some(mut fields) = Fields::of(value, &path, problems) else { continue };
        if fields.int("id", 0..=MOST_CHUNKS, problems).is_some_and(|id| id as usize != number) {
            problems.add(
                format!("{path}.id"),
                "differs from its position in the list",
                format!("give {number}"),
            );
        }
        let mut tables =
            BlockTables { remotes: &remotes, channels: Default::default(), references: Default::default() };
        lists(&mut fields, "channels", "channel_type", "channel_ids", &mut tables.channels, problems);
        lists(
            &mut fields,
            "remote_buffer_refs",
            "access_channel_type",
            "remote_buffer_ids",
            &mut tables.references,
            problems,
        );
        for (_, sort) in ChannelSort::ALL {
            let own = &mut tables.channels[place(sort)];
            if own.len() > MOST_CHANNELS {
                let message = format!("has {} channels of type {}", own.len(), sort.name());
                problems.add(&*path, message, format!("use at most {MOST_CHANNELS}"));
            }
            if let Some(id) = own.iter().find(|id| **id >= counts[place(sort)]) {
                let message = format!("has channel {id} of type {}", sort.name());
                problems.add(
                    &*path,
                    message,
                    format!("the GPU has {} channels of this type, numbered from 0", counts[place(sort)]),
                );
                own.clear();
            }
            // Memory channels come first in the list of the GPU.
            let before = if sort == ChannelSort::Port { counts[0] } else { 0 };
            for id in own.iter_mut() {
                *id += before;
            }
        }
        let Some(operations) = fields.list("ops", problems) else { continue };
        fields.finish(problems);
        if operations.len() > MOST_OPERATIONS {
            let message = format!("has {} operations", operations.len());
            problems.add(&*path, message, format!("use at most {MOST_OPERATIONS}"));
        }
        let read = |(at, value): (usize, &Value)| {
            let path = format!("{path}.ops[{at}]");
            operation(value, &path, &tables, others, problems)
        };
        gpu.blocks.push(operations.iter().enumerate().filter_map(read).collect());
    }
    Some(gpu)
}

/// Reads lists of numbers by type of channel.
fn lists(
    fields: &mut Fields<'_>,
    key: &'static str,
    sort_key: &'static str,
    ids_key: &'static str,
    into: &mut [Vec<u32>; 2],
    problems: &mut Problems,
) {
    let found = fields.each(key, problems, |fields, problems| {
        let sort = fields.choice(sort_key, &ChannelSort::ALL, problems);
        let path = fields.path_of(ids_key);
        let ids: Option<Vec<u32>> =
            fields.required(ids_key, problems).and_then(|value| whole_numbers(value, &path, problems));
        Some((sort?, ids?))
    });
    for (sort, ids) in found.into_iter().flatten() {
        into[place(sort)].extend(ids);
    }
}

fn operation(
    value: &Value,
    path: &str,
    tables: &BlockTables<'_>,
    others: &mut BTreeMap<String, u64>,
    problems: &mut Problems,
) -> Option<PlanOperation> {
    let mut fields = Fields::of(value, path, problems)?;
    let name = fields.text("name", problems)?;
    if OTHERS.contains(&name) {
        *others.entry(name.to_owned()).or_default() += 1;
        return None;
    }
    let Some((_, action)) = PlanAction::ALL.iter().find(|(known, _)| *known == name) else {
        let message = format!("is '{}'", printable(name));
        problems.add(format!("{path}.name"), message, "use an operation that executors support");
        return None;
    };
    let action = *action;
    let sort = if fields.has("channel_type") {
        Some(fields.choice("channel_type", &ChannelSort::ALL, problems)?)
    } else {
        None
    };
    let mut resolve = Resolve { path, tables, sort: sort.unwrap_or(ChannelSort::Memory) };
    let sources = resolve.spans(fields.optional("src_buff"), "src_buff", problems);
    let destinations = resolve.spans(fields.optional("dst_buff"), "dst_buff", problems);
    let mut channels = Vec::new();
    if let Some(value) = fields.optional("channel_ids") {
        let ids: Vec<u32> = whole_numbers(value, &format!("{path}.channel_ids"), problems)?;
        let own = &tables.channels[place(resolve.sort)];
        for id in ids {
            match own.get(id as usize) {
                Some(channel) => channels.push(*channel),
                None => problems.add(
                    format!("{path}.channel_ids"),
                    format!("has {id}"),
                    format!(
                        "the thread block has {} channels of type {}, numbered from 0",
                        own.len(),
                        resolve.sort.name()
                    ),
                ),
            }
        }
    }
    if channels.len() > MOST_CHANNELS_OF_OPERATION {
        let message = format!("has {} entries", channels.len());
        problems.add(
            format!("{path}.channel_ids"),
            message,
            format!("use at most {MOST_CHANNELS_OF_OPERATION}"),
        );
    }
    let barrier = if action == PlanAction::Barrier {
        let number = fields.int("barrier_id", 0..=i64::from(MOST_BARRIERS) - 1, problems);
        let blocks = fields.int("num_threadblocks", 1..=MOST_CHUNKS, problems);
        Some((number? as u32, blocks? as u32))
    } else {
        None
    };
    if let Some(reduction) = fields.optional("reduce_op")
        && reduction.as_str() != Some("sum")
    {
        problems.add(format!("{path}.reduce_op"), format!("is {}", brief(reduction)), "give sum");
    }
    fields.finish(problems);
    let found = PlanOperation { action, sources, destinations, sort, channels, barrier };
    if let Some(problem) = shape(&found, path) {
        problems.push(problem);
        return None;
    }
    Some(found)
}

/// Returns the first problem of an operation.
fn shape(operation: &PlanOperation, path: &str) -> Option<Problem> {
    let (sources, destinations) = (operation.sources.len(), operation.destinations.len());
    let action = operation.action;
    let fits = match action {
        _ if action.reduces() => sources >= 2 && destinations >= 1,
        _ if action.moves() => sources >= 1 && sources == destinations,
        _ => sources == 0 && destinations == 0,
    };
    if !fits {
        let message = format!("'{}' has {sources} sources and {destinations} destinations", action.name());
        let remedy =
            "use two or more sources for sums, and as many sources as destinations for other transfers";
        return Some(Problem::new(path, message, remedy));
    }
    let mut spans = operation.sources.iter().chain(&operation.destinations);
    let size = operation.sources.first().map_or(0, |span| span.size);
    let sized = if action.reduces() {
        spans.all(|span| span.size == size)
    } else {
        operation.sources.iter().zip(&operation.destinations).all(|(from, to)| from.size == to.size)
    };
    if !sized {
        let message = format!("'{}' has chunks of different sizes", action.name());
        return Some(Problem::new(path, message, "use the same size for all chunks"));
    }
    let needs = (action.signals() || action.waits()) && operation.channels.is_empty();
    needs.then(|| Problem::new(path, format!("'{}' has no channel", action.name()), "give channel_ids"))
}

struct Resolve<'a> {
    path: &'a str,
    tables: &'a BlockTables<'a>,
    sort: ChannelSort,
}

impl Resolve<'_> {
    fn spans(&mut self, value: Option<&Value>, key: &str, problems: &mut Problems) -> Vec<Span> {
        let path = format!("{}.{key}", self.path);
        let Some(list) = value.and_then(|value| list_at(value, &path, problems)) else { return Vec::new() };
        let one = |(at, value): (usize, &Value)| self.span(value, &format!("{path}[{at}]"), problems);
        list.iter().enumerate().filter_map(one).collect()
    }

    fn span(&self, value: &Value, path: &str, problems: &mut Problems) -> Option<Span> {
        let mut fields = Fields::of(value, path, problems)?;
        let index = fields.int("index", 0..=MOST_CHUNKS, problems);
        let size = fields.int("size", 0..=MOST_CHUNKS, problems);
        let remote = match fields.optional("buffer_id") {
            None => None,
            Some(value) => {
                let own = &self.tables.references[place(self.sort)];
                let known = value
                    .as_u64()
                    .and_then(|id| own.get(usize::try_from(id).ok()?))
                    .and_then(|id| self.tables.remotes.get(*id as usize));
                let Some(known) = known else {
                    let message = format!("is {}", brief(value));
                    let remedy = format!(
                        "the thread block refers to {} remote buffers over {} channels, numbered from 0",
                        own.len(),
                        self.sort.name()
                    );
                    problems.add(format!("{path}.buffer_id"), message, remedy);
                    return None;
                };
                Some(*known)
            }
        };
        let (rank, buffer) = match remote {
            Some((rank, buffer)) => (Some(rank), Some(buffer)),
            None => (None, fields.text("type", problems).and_then(buffer)),
        };
        if buffer.is_none() {
            problems.add(format!("{path}.type"), "is not a buffer", "use i, o or s, or buffer_id");
        }
        fields.finish(problems);
        Some(Span { rank, buffer: buffer?, index: index? as u32, size: size? as u32 })
    }
}
