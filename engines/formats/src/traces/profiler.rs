//! Traces of the PyTorch profiler (Kineto): the kernels of one rank with their times.
//!
//! A kernel waits for the previous kernel of its stream, and, for every other stream, for the last kernel that had
//! ended when this kernel began. The time from the latest end of these kernels to the start of this kernel is kept as
//! fixed work, so a replay with unchanged durations reproduces the trace.

use super::builder::TraceBuilder;
use super::groups::are_distinct;
use super::{Lane, RankTrace, TracedCollective, TracedGroup, TracedWork, split};
use crate::gz::{self, Limits, io_problem};
use lightbay_core::problem::{Problem, Problems, counted, printable};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::BufRead;

/// Maximum size of the text of a trace, bytes.
const MOST_BYTES: u64 = 2 << 30;
/// Maximum number of kernels of a trace.
const MOST_KERNELS: usize = super::MOST_NODES / 2;
/// Maximum number of ranks of a job.
const MOST_WORLD: u32 = 1 << 20;
/// Maximum number of kernel names that a remark lists.
const LISTED: usize = 4;

/// A complete event of a GPU.
#[derive(Debug, Deserialize)]
struct ProfilerEvent {
    #[serde(default)]
    ph: String,
    #[serde(default)]
    cat: String,
    #[serde(default)]
    name: String,
    ts: Option<Number>,
    dur: Option<Number>,
    tid: Option<Number>,
    #[serde(default)]
    args: KernelArguments,
}

/// A number, or a text where other events have a number (names of threads).
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Number {
    Float(f64),
    Other(IgnoredAny),
}

impl Number {
    fn get(number: Option<&Self>) -> Option<f64> {
        match number {
            Some(Self::Float(value)) if value.is_finite() => Some(*value),
            _ => None,
        }
    }
}

/// A list of whole numbers, as a list or as a text such as `[0, 1]`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ListText {
    Numbers(Vec<u64>),
    Text(String),
    Other(IgnoredAny),
}

impl ListText {
    /// Returns the numbers; `None` if the list is abridged (PyTorch writes at most 30 entries) or has other content.
    fn get(&self) -> Option<Vec<u64>> {
        let text = match self {
            Self::Numbers(numbers) => return Some(numbers.clone()),
            Self::Text(text) => text,
            Self::Other(_) => return None,
        };
        let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
        if inner.trim().is_empty() {
            return Some(Vec::new());
        }
        inner.split(',').map(|number| number.trim().parse().ok()).collect()
    }
}

/// Arguments of a kernel of NCCL.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct KernelArguments {
    stream: Option<Number>,
    #[serde(rename = "Collective name")]
    collective: Option<String>,
    #[serde(rename = "In msg nelems")]
    sent: Option<Number>,
    dtype: Option<String>,
    #[serde(rename = "Group size")]
    size: Option<Number>,
    #[serde(rename = "Process Group Name")]
    group: Option<String>,
    #[serde(rename = "Process Group Ranks")]
    ranks: Option<ListText>,
    #[serde(rename = "In split size")]
    splits: Option<ListText>,
    #[serde(rename = "Src Rank")]
    from: Option<Number>,
    #[serde(rename = "Dst Rank")]
    to: Option<Number>,
}

/// A kernel on a stream.
#[derive(Debug)]
struct TimedKernel {
    start: f64,
    end: f64,
    stream: i64,
    /// Communication, with its arguments.
    talks: Option<Box<(String, KernelArguments)>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Distributed {
    rank: Option<u32>,
    world_size: Option<u32>,
    pg_config: Vec<GroupConfig>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GroupConfig {
    pg_name: String,
    ranks: Vec<u32>,
}

/// The parts of a file that are kept while the file is read.
#[derive(Debug, Default)]
struct ProfilerContent {
    distributed: Distributed,
    kernels: Vec<TimedKernel>,
    steps: BTreeSet<String>,
    too_many: bool,
}

/// Reads the trace of a rank.
///
/// # Errors
/// Text that is not a trace of the PyTorch profiler, a trace without kernels, and kernels without times.
pub fn read(reader: impl BufRead, limits: &Limits) -> Result<RankTrace, Problems> {
    let limits = Limits { content_bytes: limits.content_bytes.max(MOST_BYTES), ..*limits };
    let mut unpacked = gz::unpack(reader, &limits)?;
    let mut content = ProfilerContent::default();
    let mut json = serde_json::Deserializer::from_reader(&mut unpacked.reader);
    let read = ProfilerFile(&mut content).deserialize(&mut json).and_then(|()| json.end());
    read.map_err(|error| {
        if error.is_io() {
            return io_problem("", &error.into());
        }
        let place = format!("line {}", error.line());
        Problem::new(place, format!("cannot be read: {error}"), "check that the file was copied whole")
    })?;
    if content.too_many {
        let message = format!("has more than {MOST_KERNELS} kernels");
        return Err(Problem::new("traceEvents", message, "profile fewer steps").into());
    }
    if content.kernels.is_empty() {
        let remedy = "profile with ProfilerActivity.CUDA, so that the trace has events of category 'kernel'";
        return Err(Problem::new("traceEvents", "have no kernels", remedy).into());
    }
    content.kernels.sort_by(|a, b| {
        (a.start, a.stream).partial_cmp(&(b.start, b.stream)).unwrap_or(std::cmp::Ordering::Equal)
    });
    laid(content)
}

/// Returns the trace with the kernels as nodes, in the order of their starts.
fn laid(content: ProfilerContent) -> Result<RankTrace, Problems> {
    let mut builder = TraceBuilder::new(false);
    let Distributed { rank, world_size, pg_config } = content.distributed;
    // A group of all ranks is listed as a vector, so absurd sizes are unknown ones.
    let world = world_size.filter(|world| *world <= MOST_WORLD);
    let configured: BTreeMap<&str, &[u32]> =
        pg_config.iter().map(|group| (group.pg_name.as_str(), group.ranks.as_slice())).collect();
    let mut unsized_kernels: BTreeMap<&str, usize> = BTreeMap::new();
    let mut abridged = 0_u64;
    // The last kernel of every stream: its end and its number.
    let mut last: BTreeMap<i64, (f64, u64)> = BTreeMap::new();
    // All ends of every stream in order, to find the last one before a start.
    let mut ends: BTreeMap<i64, Vec<(f64, u64)>> = BTreeMap::new();
    let mut next = 0_u64;
    let begin = content.kernels.first().map_or(0.0, |kernel| kernel.start);
    for kernel in &content.kernels {
        let mut deps: Vec<u64> = Vec::new();
        let mut ready = begin;
        for (stream, ended) in &ends {
            let found = if *stream == kernel.stream {
                last.get(stream).copied()
            } else {
                let before = ended.partition_point(|(end, _)| *end <= kernel.start);
                before.checked_sub(1).map(|at| ended[at])
            };
            if let Some((end, id)) = found {
                deps.push(id);
                ready = ready.max(end.min(kernel.start));
            }
        }
        let gap = kernel.start - ready;
        if gap > 0.0 {
            builder.push(next, "", TracedWork::Compute(Lane::Free), [gap, 0.0, -1.0], &deps);
            deps = vec![next];
            next += 1;
        }
        let micros = kernel.end - kernel.start;
        let mut parts = Parts::Equal;
        let (name, work, size) = match &kernel.talks {
            None => ("", TracedWork::Compute(Lane::Free), -1.0),
            Some(talks) => {
                let (name, arguments) = &**talks;
                let (work, size) = communication(name, arguments, (rank, world), &configured, &mut builder)?;
                if size < 0.0 {
                    *unsized_kernels.entry(short(name)).or_default() += 1;
                } else if let TracedWork::Collective { kind: TracedCollective::AllToAll, group } = work {
                    parts = arguments.parts(size, kernel.start, &builder.trace().groups[group as usize])?;
                }
                (short(name), work, size)
            }
        };
        builder.push(next, name, work, [micros, 0.0, size], &deps);
        match parts {
            Parts::Equal => {}
            Parts::Listed(parts) => builder.set_parts(parts),
            Parts::Abridged => abridged += 1,
        }
        last.insert(kernel.stream, (kernel.end, next));
        let ended = ends.entry(kernel.stream).or_default();
        // Kernels of a stream end in order; a trace with rounded times may say otherwise.
        let end = ended.last().map_or(kernel.end, |(end, _)| end.max(kernel.end));
        ended.push((end, next));
        next += 1;
    }
    let trace = builder.trace();
    (trace.rank, trace.world, trace.in_bytes) = (rank, world, true);
    if content.steps.len() > 1 {
        let steps = counted(content.steps.len() as u64, "step", "steps");
        trace.notes.push(format!("the trace has {steps} of the profiler; all of them form one iteration"));
    }
    if abridged > 0 {
        trace.notes.push(format!(
            "'In split size' is abridged in {}, so equal parts are assumed",
            counted(abridged, "all-to-all", "all-to-alls")
        ));
    }
    if !unsized_kernels.is_empty() {
        let sum: usize = unsized_kernels.values().sum();
        let names: Vec<String> = unsized_kernels
            .iter()
            .take(LISTED)
            .map(|(name, count)| format!("{} ({count})", printable(name)))
            .collect();
        let more = unsized_kernels.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        trace.notes.push(format!(
            "{} without bytes or peers: {}{more}",
            counted(sum as u64, "communication kernel", "communication kernels"),
            names.join(", ")
        ));
    }
    builder.finish()
}

/// Returns the work and size of a kernel that communicates; a negative size if the trace does not give it.
fn communication(
    name: &str,
    arguments: &KernelArguments,
    (rank, world): (Option<u32>, Option<u32>),
    configured: &BTreeMap<&str, &[u32]>,
    builder: &mut TraceBuilder,
) -> Result<(TracedWork, f64), Problem> {
    let word = arguments.collective.as_deref().unwrap_or(name);
    let elements = Number::get(arguments.sent.as_ref());
    let bytes = elements.zip(arguments.dtype.as_deref().and_then(bytes_of)).map(|(n, bytes)| n * bytes);
    let size = bytes.filter(|bytes| (0.0..=super::MOST).contains(bytes)).unwrap_or(-1.0);
    let peer = |number: &Option<Number>| {
        Number::get(number.as_ref()).filter(|rank| (0.0..4e9).contains(rank)).map(|rank| rank as u32)
    };
    match (word, peer(&arguments.from), peer(&arguments.to)) {
        ("send", _, Some(to)) if Some(to) != rank => return Ok((TracedWork::Send { to, tag: 0 }, size)),
        ("recv", Some(from), _) if Some(from) != rank => {
            return Ok((TracedWork::Receive { from, tag: 0 }, size));
        }
        _ => {}
    }
    let exchanges =
        ["dispatch", "combine"].iter().any(|work| word.contains(work)) && !word.contains("notify");
    let Some(kind) = TracedCollective::of_name(word).or(exchanges.then_some(TracedCollective::AllToAll))
    else {
        // The preparation of an exchange, grouped sends and kernels of unknown peers count as compute of unknown size.
        return Ok((TracedWork::Compute(Lane::Free), -1.0));
    };
    let group = arguments.group.as_deref().unwrap_or_default();
    let listed = arguments.members().map(|mut ranks| {
        if !are_distinct(&ranks) {
            ranks.sort_unstable();
            ranks.dedup();
        }
        ranks
    });
    let ranks = configured.get(group).copied().filter(|ranks| !ranks.is_empty());
    let members = listed.or_else(|| ranks.map(<[u32]>::to_vec));
    let is_whole = world.is_some() && Number::get(arguments.size.as_ref()) == world.map(f64::from);
    let members = members.or_else(|| world.filter(|_| is_whole).map(|world| (0..world).collect()));
    let group = builder.group(group, members.as_deref())?;
    Ok((TracedWork::Collective { kind, group }, size))
}

/// Parts of the input that an all-to-all sends to the ranks of its group.
#[derive(Debug)]
enum Parts {
    /// Equal parts, because the trace has no split sizes.
    Equal,
    /// Bytes for each rank.
    Listed(Vec<f64>),
    /// Unknown parts, because the trace has only some of the split sizes.
    Abridged,
}

impl KernelArguments {
    /// Returns the ranks of the group as listed; `None` if the list is abridged or empty.
    fn members(&self) -> Option<Vec<u32>> {
        let ranks = self.ranks.as_ref()?.get()?;
        let ranks: Vec<u32> = ranks.iter().map(|rank| u32::try_from(*rank).ok()).collect::<Option<_>>()?;
        (!ranks.is_empty()).then_some(ranks)
    }

    /// Returns the parts of an all-to-all with an input of `size` bytes; `start` is the time of the kernel.
    ///
    /// # Errors
    /// Split sizes that do not fit the group or the input.
    fn parts(&self, size: f64, start: f64, group: &TracedGroup) -> Result<Parts, Problem> {
        let Some(list) = &self.splits else { return Ok(Parts::Equal) };
        let Some(splits) = list.get() else { return Ok(Parts::Abridged) };
        if splits.is_empty() {
            return Ok(Parts::Equal);
        }
        let stated = Number::get(self.size.as_ref()).map(|size| size as usize);
        let ranks = group.ranks.as_ref().map(Vec::len).or(stated);
        let place = format!("'In split size' of the kernel at {start} us");
        let parts = split(&splits, size, ranks, &place)?;
        // The split sizes follow the list of this kernel; another kernel may list the ranks of the group differently.
        let (Some(members), Some(ranks)) = (self.members(), &group.ranks) else {
            return Ok(Parts::Listed(parts));
        };
        let part = |rank: &u32| Some(*parts.get(members.iter().position(|member| member == rank)?)?);
        let ordered: Option<Vec<f64>> = ranks.iter().map(part).collect();
        Ok(Parts::Listed(ordered.unwrap_or(parts)))
    }
}

/// Returns the size in bytes of a value of a data type, given by the name of the type in PyTorch.
fn bytes_of(dtype: &str) -> Option<f64> {
    Some(match dtype {
        "Byte" | "Char" | "Bool" | "Float8_e4m3fn" | "Float8_e5m2" | "Float8_e4m3fnuz"
        | "Float8_e5m2fnuz" => 1.0,
        "Half" | "BFloat16" | "Short" => 2.0,
        "Float" | "Int" => 4.0,
        "Double" | "Long" | "ComplexFloat" => 8.0,
        _ => return None,
    })
}

/// Returns `true` for kernels that communicate.
fn is_communication(name: &str) -> bool {
    let parts = ["::internode::", "::intranode::", "::internode_ll::"];
    let works = ["dispatch", "combine", "notify"];
    name.to_ascii_lowercase().contains("nccl")
        || (parts.iter().any(|part| name.contains(part)) && works.iter().any(|work| name.contains(work)))
}

/// Returns the name of a kernel without return type and parameters.
fn short(name: &str) -> &str {
    let name = name.strip_prefix("void ").unwrap_or(name);
    name.split(['(', '<']).next().unwrap_or(name)
}

/// The object of the whole file.
struct ProfilerFile<'c>(&'c mut ProfilerContent);

impl<'de> DeserializeSeed<'de> for ProfilerFile<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ProfilerFile<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trace of the PyTorch profiler")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "distributedInfo" => self.0.distributed = map.next_value()?,
                "traceEvents" => map.next_value_seed(ProfilerEvents(self.0))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        ProfilerEvents(self.0).visit_seq(seq)
    }
}

/// The list of events.
struct ProfilerEvents<'c>(&'c mut ProfilerContent);

impl<'de> DeserializeSeed<'de> for ProfilerEvents<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ProfilerEvents<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(event) = seq.next_element::<ProfilerEvent>()? {
            if event.name.starts_with("ProfilerStep#") {
                self.0.steps.insert(event.name);
                continue;
            }
            if event.ph != "X" || event.cat != "kernel" {
                continue;
            }
            let times = Number::get(event.ts.as_ref()).zip(Number::get(event.dur.as_ref()));
            let Some((start, dur)) = times.filter(|(_, dur)| (0.0..=1e15).contains(dur)) else { continue };
            if self.0.kernels.len() >= MOST_KERNELS {
                self.0.too_many = true;
                continue;
            }
            let stream = Number::get(event.args.stream.as_ref()).or(Number::get(event.tid.as_ref()));
            let talks = is_communication(&event.name).then(|| Box::new((event.name, event.args)));
            let stream = stream.unwrap_or(0.0) as i64;
            self.0.kernels.push(TimedKernel { start, end: start + dur, stream, talks });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> RankTrace {
        read(text.as_bytes(), &Limits::default()).unwrap()
    }

    #[test]
    fn kernels_wait_for_what_had_ended_and_keep_their_gaps() {
        let kernel = |name: &str, stream: u32, ts: u32, dur: u32, more: &str| {
            format!(
                "{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"{name}\",\"ts\":{ts},\"dur\":{dur},\"args\":{{\"stream\":{stream}{more}}}}}"
            )
        };
        let sum = ",\"Collective name\":\"allreduce\",\"In msg nelems\":10,\"dtype\":\"BFloat16\",\"Group size\":2,\
                   \"Process Group Name\":\"7\",\"Process Group Ranks\":\"[0, 4]\"";
        let events = [
            kernel("gemm", 7, 100, 10, ""),
            kernel("ncclDevKernel_AllReduce_Sum", 40, 112, 30, sum),
            kernel("gemm", 7, 110, 5, ""),
            kernel("adam", 7, 145, 5, ""),
        ];
        let text = format!(
            "{{\"distributedInfo\":{{\"rank\":4,\"world_size\":8}},\"traceEvents\":[{}]}}",
            events.join(",")
        );
        let found = trace(&text);
        assert_eq!((found.rank, found.world, found.nodes().len()), (Some(4), Some(8), 6));
        // gemm; gemm after it; a gap of 2 us; the all-reduce of 20 bytes; a gap of 3 us; the optimizer.
        let works: Vec<(f64, f64)> = found.nodes().iter().map(|node| (node.micros, node.size)).collect();
        assert_eq!(works, [(10.0, -1.0), (5.0, -1.0), (2.0, -1.0), (30.0, 20.0), (3.0, -1.0), (5.0, -1.0)]);
        assert_eq!((found.deps(1), found.deps(2), found.deps(3)), (&[0][..], &[0][..], &[2][..]));
        assert_eq!((found.deps(4), found.deps(5)), (&[1, 3][..], &[4][..]));
        assert_eq!(found.groups[0].ranks.as_deref(), Some(&[0, 4][..]));
        assert_eq!(found.name(3), "ncclDevKernel_AllReduce_Sum");
    }

    /// The trace of an all-to-all of 40 bytes among four ranks; `more` holds further arguments.
    fn all_to_all(more: &str) -> Result<RankTrace, String> {
        let text = format!(
            "{{\"traceEvents\":[{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_SendRecv\",\
             \"ts\":5,\"dur\":1,\"args\":{{\"stream\":7,\"Collective name\":\"all_to_allv\",\
             \"In msg nelems\":20,\"dtype\":\"BFloat16\",\"Group size\":4{more}}}}}]}}"
        );
        read(text.as_bytes(), &Limits::default()).map_err(|problems| problems.to_string())
    }

    #[test]
    fn split_sizes_are_the_parts_of_an_all_to_all() {
        let parts = |more: &str| all_to_all(more).unwrap().parts(0).map(<[f64]>::to_vec);
        assert_eq!(parts(""), None);
        assert_eq!(parts(",\"In split size\":\"[]\""), None);
        let listed = Some(vec![10.0, 4.0, 6.0, 20.0]);
        assert_eq!(parts(",\"In split size\":\"[5, 2, 3, 10]\""), listed);
        assert_eq!(parts(",\"In split size\":[5, 2, 3, 10]"), listed);
        // Rows of a tensor of two columns, for ranks in another order.
        let rows = ",\"In split size\":\"[10, 2, 4, 4]\",\"Process Group Ranks\":\"[3, 1, 0, 2]\"";
        assert_eq!(parts(rows), Some(vec![20.0, 4.0, 8.0, 8.0]));
        assert_eq!(all_to_all(rows).unwrap().groups[0].ranks.as_deref(), Some(&[3, 1, 0, 2][..]));
        let said = |more: &str| all_to_all(more).unwrap_err();
        let short = said(",\"In split size\":\"[5, 15]\"");
        assert!(short.contains("'In split size' of the kernel at 5 us"), "{short}");
        assert!(short.contains("has 2 entries, but the group has 4 ranks"), "{short}");
        let zeros = said(",\"In split size\":\"[0, 0, 0, 0]\"");
        assert!(zeros.contains("has only zeros, but the input has 40 bytes"), "{zeros}");
        let abridged = all_to_all(",\"In split size\":\"[5, ..., 10]\"").unwrap();
        assert_eq!(abridged.parts(0), None);
        let note = &abridged.notes[0];
        assert!(note.contains("abridged in 1 all-to-all, so equal parts are assumed"), "{note}");
    }

    #[test]
    fn damaged_traces_are_named() {
        let said = |text: &str| read(text.as_bytes(), &Limits::default()).unwrap_err().to_string();
        assert!(said("{\"traceEvents\": []}").contains("have no kernels"));
        assert!(said("{\"traceEvents\": [").contains("line 1: cannot be read"));
        assert!(said("7").contains("cannot be read"));
    }
}
