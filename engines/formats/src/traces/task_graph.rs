//! Task graphs of FlexFlow and TopoOpt (`.fbuf`, FlatBuffers): one file contains the work of all GPUs, and the reader
//! returns one trace for each GPU.
//!
//! For an all-reduce, the list `next` contains the nodes that take part. A message runs on a device that represents a
//! pair of nodes; the field `gpu` of this device encodes both nodes.

use super::builder::TraceBuilder;
use super::{Lane, RankTrace, TracedCollective, TracedWork};
use crate::gz::{self, Limits};
use lightbay_core::problem::{Problem, Problems, counted};
use rustc_hash::FxHashMap;
use std::io::BufRead;

/// Maximum size of a file, bytes.
const MOST_BYTES: u64 = 256 << 20;
/// Maximum number of entries of all lists together.
const MOST_ENTRIES: u64 = 16_000_000;
/// Maximum number of GPUs.
const MOST_RANKS: u64 = 1 << 16;
const REMEDY: &str = "check that this is a task graph of FlexFlow or TopoOpt and that it was copied whole";

/// Types of tasks.
const FORWARD: u8 = 0;
const BACKWARD: u8 = 1;
const TRANSFER: u8 = 2;
const UPDATE: u8 = 3;
const BARRIER: u8 = 4;
const MESSAGE: u8 = 5;
const ALL_REDUCE: u8 = 6;
/// Type of a device that is a GPU.
const GPU: u8 = 0;

/// The traces of a file.
#[derive(Debug)]
pub struct TaskGraphTraces {
    /// The traces, one for each GPU.
    pub traces: Vec<RankTrace>,
    /// Rate of a NIC, Gb/s, if the file states it.
    pub nic_gbps: Option<f64>,
}

/// A task.
struct GraphTask {
    sort: u8,
    id: u64,
    device: u64,
    runtime_ms: f64,
    bytes: u64,
    next: Vec<u64>,
}

/// Where a task runs.
enum TaskPlace {
    Rank(u32),
    Pair(u32, u32),
    Ranks(Vec<u32>),
}

/// Reads a file.
///
/// # Errors
/// A file that is damaged or too large, and tasks on devices that do not exist.
pub fn read(reader: impl BufRead, limits: &Limits) -> Result<TaskGraphTraces, Problems> {
    let content = gz::bytes(reader, limits, MOST_BYTES)?;
    let damaged = |what: &str| Problem::new(what, "cannot be decoded", REMEDY);
    let buffer = FlatBuffer { bytes: &content, left: MOST_ENTRIES.into() };
    let root = buffer.root().ok_or_else(|| damaged("root"))?;
    let number = |field| buffer.u32(&root, field).unwrap_or(0);
    let (per_node, nodes, switches) = (number(0).max(1), number(1), number(2));
    let ranks = u64::from(per_node) * u64::from(nodes);
    if nodes == 0 || ranks > MOST_RANKS {
        let message = format!("gives {nodes} nodes with {per_node} GPUs");
        return Err(Problem::new("root", message, format!("at most {MOST_RANKS} GPUs are possible")).into());
    }
    let network = buffer.f32(&root, 5).filter(|rate| rate.is_finite() && *rate > 0.0);
    let devices = devices(&buffer, &root).ok_or_else(|| damaged("devices"))?;
    let tasks = tasks(&buffer, &root).ok_or_else(|| damaged("tasks"))?;
    let graph = TaskPlacement { per_node, nodes, switches, devices };
    let traces = graph.traces(&tasks)?;
    // Bytes per millisecond.
    Ok(TaskGraphTraces { traces, nic_gbps: network.map(|rate| f64::from(rate) * 8e-6) })
}

/// Type, node and `gpu` of each device by its id.
type Devices = FxHashMap<u64, (u8, i32, i32)>;

fn devices(buffer: &FlatBuffer<'_>, root: &FlatTable) -> Option<Devices> {
    let mut found = Devices::default();
    for table in buffer.tables(root, 9)? {
        let sort = buffer.u8(&table, 0).unwrap_or(0);
        let number = |field| buffer.u32(&table, field).unwrap_or(0) as i32;
        found.insert(buffer.u64(&table, 1).unwrap_or(0), (sort, number(2), number(3)));
    }
    Some(found)
}

fn tasks(buffer: &FlatBuffer<'_>, root: &FlatTable) -> Option<Vec<GraphTask>> {
    let task = |table: FlatTable| {
        Some(GraphTask {
            sort: buffer.u8(&table, 0).unwrap_or(0),
            id: buffer.u64(&table, 1).unwrap_or(0),
            device: buffer.u64(&table, 2).unwrap_or(0),
            runtime_ms: buffer.f32(&table, 3).map_or(0.0, f64::from),
            bytes: buffer.u64(&table, 4).unwrap_or(0),
            next: buffer.numbers(&table, 5)?,
        })
    };
    buffer.tables(root, 8)?.into_iter().map(task).collect()
}

struct TaskPlacement {
    per_node: u32,
    nodes: u32,
    switches: u32,
    devices: Devices,
}

impl TaskPlacement {
    fn rank(&self, node: i32, gpu: i32) -> Option<u32> {
        let node = u32::try_from(node).ok().filter(|node| *node < self.nodes)?;
        // The `gpu` of a device counts over all nodes or within one.
        let gpu = u32::try_from(gpu).ok()? % self.per_node;
        Some(node * self.per_node + gpu)
    }

    fn place(&self, task: &GraphTask) -> Option<TaskPlace> {
        if task.sort == ALL_REDUCE {
            let rank = |node: &u64| self.rank(i32::try_from(*node).ok()?, 0);
            let mut ranks: Vec<u32> = task.next.iter().map(rank).collect::<Option<_>>()?;
            ranks.sort_unstable();
            ranks.dedup();
            return Some(TaskPlace::Ranks(ranks));
        }
        let (sort, node, gpu) = *self.devices.get(&task.device)?;
        if matches!(task.sort, TRANSFER | MESSAGE) && sort != GPU {
            let all = self.nodes.checked_add(self.switches)? as i32;
            let (from, to) = (gpu.checked_div(all)?, gpu.checked_rem(all)?);
            return Some(TaskPlace::Pair(self.rank(from, 0)?, self.rank(to, 0)?));
        }
        self.rank(node, gpu).map(TaskPlace::Rank)
    }

    fn traces(&self, tasks: &[GraphTask]) -> Result<Vec<RankTrace>, Problems> {
        let mut problems = Problems::new();
        let mut places = Vec::with_capacity(tasks.len());
        for task in tasks {
            let known = (FORWARD..=ALL_REDUCE).contains(&task.sort);
            match self.place(task).filter(|_| known) {
                Some(place) => places.push(place),
                None if !known => problems.add(
                    format!("task {}", task.id),
                    format!("is of type {}, which is not known", task.sort),
                    "types 0 to 6 are known",
                ),
                None => {
                    problems.add(format!("task {}", task.id), "runs on a device that does not exist", REMEDY);
                }
            }
            if !(0.0..=1e12).contains(&task.runtime_ms) {
                let message = format!("takes {} ms", task.runtime_ms);
                problems.add(format!("task {}", task.id), message, "give a time from 0 to 1e12 ms");
            }
        }
        problems.into_result(())?;
        self.laid(tasks, &places)
    }

    fn laid(&self, tasks: &[GraphTask], places: &[TaskPlace]) -> Result<Vec<RankTrace>, Problems> {
        let number: FxHashMap<u64, usize> =
            tasks.iter().enumerate().map(|(at, task)| (task.id, at)).collect();
        let mut preds: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
        for (at, task) in tasks.iter().enumerate().filter(|(_, task)| task.sort != ALL_REDUCE) {
            for next in &task.next {
                if let Some(next) = number.get(next) {
                    preds[*next].push(at);
                }
            }
        }
        let is_at = |at: usize, rank: u32| match &places[at] {
            TaskPlace::Rank(own) => *own == rank,
            TaskPlace::Pair(from, to) => *from == rank || *to == rank,
            TaskPlace::Ranks(ranks) => ranks.binary_search(&rank).is_ok(),
        };
        let mut builders: Vec<TraceBuilder> =
            (0..self.nodes * self.per_node).map(|_| TraceBuilder::new(false)).collect();
        let mut apart = 0_u64;
        for (at, (task, place)) in tasks.iter().zip(places).enumerate() {
            let here: Vec<u32> = match place {
                TaskPlace::Rank(rank) => vec![*rank],
                TaskPlace::Pair(from, to) if from == to => vec![*from],
                TaskPlace::Pair(from, to) => vec![*from, *to],
                TaskPlace::Ranks(ranks) => ranks.clone(),
            };
            apart +=
                preds[at].iter().filter(|pred| !here.iter().any(|rank| is_at(**pred, *rank))).count() as u64;
            let amounts = [task.runtime_ms * 1e3, 0.0, task.bytes as f64];
            for rank in &here {
                let own = preds[at].iter().filter(|pred| is_at(**pred, *rank));
                let deps: Vec<u64> = own.map(|pred| tasks[*pred].id).collect();
                let builder = &mut builders[*rank as usize];
                let tag = at as i64;
                let (name, work) = match place {
                    TaskPlace::Ranks(ranks) => {
                        let name = ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
                        let group = builder.group(&name, Some(ranks))?;
                        ("all-reduce", TracedWork::Collective { kind: TracedCollective::AllReduce, group })
                    }
                    TaskPlace::Pair(from, to) if from != to && from == rank => {
                        ("message", TracedWork::Send { to: *to, tag })
                    }
                    TaskPlace::Pair(from, to) if from != to => {
                        ("message", TracedWork::Receive { from: *from, tag })
                    }
                    _ if matches!(task.sort, FORWARD | BACKWARD | UPDATE) => {
                        ("", TracedWork::Compute(Lane::Gpu))
                    }
                    _ if task.sort == BARRIER => ("", TracedWork::Nothing),
                    _ => ("", TracedWork::Compute(Lane::Free)),
                };
                builder.push(task.id, name, work, amounts, &deps);
            }
        }
        let mut traces = Vec::with_capacity(builders.len());
        for (rank, mut builder) in (0..).zip(builders) {
            let trace = builder.trace();
            (trace.rank, trace.world, trace.in_bytes) = (Some(rank), Some(self.nodes * self.per_node), true);
            if rank == 0 && apart > 0 {
                trace.notes.push(format!(
                    "{} between tasks of different nodes without a message: left out",
                    counted(apart, "dependency", "dependencies")
                ));
            }
            traces.push(builder.finish()?);
        }
        Ok(traces)
    }
}

/// A table: its position, and the positions of its fields.
struct FlatTable {
    at: usize,
    fields: usize,
    count: usize,
}

/// A FlatBuffer whose offsets are checked.
struct FlatBuffer<'b> {
    bytes: &'b [u8],
    /// Number of list entries that may still be read.
    left: std::cell::Cell<u64>,
}

impl FlatBuffer<'_> {
    fn get<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn root(&self) -> Option<FlatTable> {
        self.table(u32::from_le_bytes(self.get(0)?) as usize)
    }

    fn table(&self, at: usize) -> Option<FlatTable> {
        let fields = i64::try_from(at).ok()? - i64::from(i32::from_le_bytes(self.get(at)?));
        let fields = usize::try_from(fields).ok()?;
        let size = u16::from_le_bytes(self.get(fields)?);
        let count = usize::from(size).checked_sub(4)? / 2;
        Some(FlatTable { at, fields, count })
    }

    /// Returns the position of a field; `None` if the field is absent, which means zero.
    fn field(&self, table: &FlatTable, field: usize) -> Option<usize> {
        if field >= table.count {
            return None;
        }
        let offset = u16::from_le_bytes(self.get(table.fields.checked_add(4 + 2 * field)?)?);
        (offset > 0).then(|| table.at + usize::from(offset))
    }

    fn u8(&self, table: &FlatTable, field: usize) -> Option<u8> {
        Some(self.get::<1>(self.field(table, field)?)?[0])
    }

    fn u32(&self, table: &FlatTable, field: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.get(self.field(table, field)?)?))
    }

    fn u64(&self, table: &FlatTable, field: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.get(self.field(table, field)?)?))
    }

    fn f32(&self, table: &FlatTable, field: usize) -> Option<f32> {
        Some(f32::from_le_bytes(self.get(self.field(table, field)?)?))
    }

    /// Returns the start and length of a list; length 0 if the field is absent.
    fn list(&self, table: &FlatTable, field: usize, width: usize) -> Option<(usize, usize)> {
        let Some(at) = self.field(table, field) else { return Some((0, 0)) };
        let start = at.checked_add(u32::from_le_bytes(self.get(at)?) as usize)?;
        let count = u32::from_le_bytes(self.get(start)?) as usize;
        // Lists may overlap, so a small file could name the same entries again and again.
        self.left.set(self.left.get().checked_sub(count as u64)?);
        let end = start.checked_add(4)?.checked_add(count.checked_mul(width)?)?;
        (end <= self.bytes.len()).then_some((start + 4, count))
    }

    fn tables(&self, table: &FlatTable, field: usize) -> Option<Vec<FlatTable>> {
        let (start, count) = self.list(table, field, 4)?;
        let table = |entry: usize| {
            let at = start + 4 * entry;
            self.table(at.checked_add(u32::from_le_bytes(self.get(at)?) as usize)?)
        };
        (0..count).map(table).collect()
    }

    fn numbers(&self, table: &FlatTable, field: usize) -> Option<Vec<u64>> {
        let (start, count) = self.list(table, field, 8)?;
        (0..count).map(|entry| Some(u64::from_le_bytes(self.get(start + 8 * entry)?))).collect()
    }
}
