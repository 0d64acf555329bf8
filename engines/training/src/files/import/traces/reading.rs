//! The files of the import: which are traces, of which rank, and how each is read.

use super::knobs::TraceOptions;
use lightbay_core::format::FileSource;
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_formats::detect::{self, ForeignFile};
use lightbay_formats::traces::groups::{self, Groups};
use lightbay_formats::traces::{RankTrace, profiler, pytorch, rank_of_name, task_graph};
use lightbay_formats::{Format, Limits, chakra, gz};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io::BufReader;

/// Maximum number of files.
const MOST_FILES: usize = 65_536;
/// Limits on the size of one trace. A trace may be large, because its nodes are read one by one.
const LIMITS: Limits = Limits { content_bytes: 4 << 30, line_bytes: 1 << 20, rows: 1_000_000 };
/// Size of the read buffer of a file, bytes.
const BUFFER: usize = 1 << 18;

/// File format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TraceForm {
    Binary,
    Json,
    Profiler,
    Execution,
    TaskGraph,
}

/// A trace. The file is read when the trace is needed; a trace is already in memory if its content had to be read to
/// find its rank.
#[derive(Debug)]
pub(super) struct TraceFile<'a> {
    source: &'a FileSource,
    form: TraceForm,
    read: Option<RankTrace>,
    /// The rank.
    pub rank: u32,
}

impl TraceFile<'_> {
    /// Calls `with` with the trace.
    ///
    /// # Errors
    /// Every problem of the file.
    pub(super) fn with<T>(
        &self,
        options: &TraceOptions,
        with: impl FnOnce(&RankTrace) -> Result<T, Problems>,
    ) -> Result<T, Problems> {
        match &self.read {
            Some(trace) => with(trace),
            None => with(&read(self.source, self.form, options)?),
        }
        .map_err(|problems| problems.named(&self.source.name))
    }
}

/// All files of the import.
#[derive(Debug)]
pub(super) struct TraceFiles<'a> {
    /// Traces by rank, in order.
    pub traces: Vec<TraceFile<'a>>,
    /// Members of groups, if a file lists them.
    pub groups: Option<Groups>,
    /// The table of pods, if there is one.
    pub pods: Option<&'a FileSource>,
    /// Number of ranks: one more than the largest rank that any file names.
    pub world: u32,
    /// Rate of a NIC, Gb/s, if a file states it.
    pub nic_gbps: Option<f64>,
    /// `true` if ranks were numbered in the order of the files.
    pub numbered: bool,
}

/// Determines the type of every file from its content, and groups the files by type.
///
/// # Errors
/// Files of other formats, two traces of one rank, and files that cannot be read.
pub(super) fn sorted<'a>(
    sources: &'a [FileSource],
    options: &TraceOptions,
) -> Result<TraceFiles<'a>, Problems> {
    if sources.len() > MOST_FILES {
        let message = format!("{} are given", counted(sources.len() as u64, "file", "files"));
        return Err(Problem::new("", message, format!("give at most {MOST_FILES}")).into());
    }
    let mut found = Vec::new();
    let (mut members, mut grouped, mut pods) = (None, None, None);
    for source in sources {
        let named = |problem: Problem| Problems::from(problem).named(&source.name);
        let head = source.head(detect::HEAD_BYTES).map_err(|error| named(unreadable(&error)))?;
        let head = detect::unpacked_head(&head).map_err(named)?;
        let format = match detect::detect(&head) {
            Format::OtherJson | Format::ExpertLoads if detect::may_be_groups(&head) => {
                Format::Foreign(ForeignFile::CommunicationGroups)
            }
            format => format,
        };
        let form = match format {
            Format::ChakraBinary | Format::ChakraCollective => TraceForm::Binary,
            Format::ChakraJson => TraceForm::Json,
            Format::ProfilerTrace => TraceForm::Profiler,
            Format::PytorchTrace => TraceForm::Execution,
            Format::Foreign(ForeignFile::TaskGraph) => TraceForm::TaskGraph,
            Format::Foreign(ForeignFile::CommunicationGroups) if members.is_none() => {
                let reader = BufReader::new(source.reader().map_err(|error| named(unreadable(&error)))?);
                let read = groups::read(reader, &LIMITS).map_err(|problems| problems.named(&source.name))?;
                grouped = Some(source.name.as_str()).filter(|_| !read.is_empty());
                members = Some(read);
                continue;
            }
            Format::PodMap if pods.is_none() => {
                pods = Some(source);
                continue;
            }
            Format::Foreign(ForeignFile::CommunicationGroups) | Format::PodMap => {
                let message = format!("is a second file of its kind: {}", format.describe());
                return Err(named(Problem::new("", message, "give one")));
            }
            other => {
                let message = format!("is {}, not a trace", other.describe());
                let remedy = "give traces, their file of groups, and a table of pods";
                return Err(named(Problem::new("", message, remedy)));
            }
        };
        found.push((source, form));
    }
    if found.is_empty() {
        let remedy = "give the traces of the ranks, such as NAME.0.et NAME.1.et";
        return Err(Problem::new("", "no trace is given", remedy).into());
    }
    let is_execution = |(_, form): &(_, TraceForm)| *form == TraceForm::Execution;
    if let Some(name) = grouped.filter(|_| found.iter().all(is_execution)) {
        let message = "has no effect: PyTorch execution traces name groups by numbers that differ between ranks, so \
                       groups of one size are one group with its ranks in ascending order";
        return Err(Problems::from(Problem::new("", message, "leave the file of groups out")).named(name));
    }
    let in_names: Vec<Option<u32>> = found.iter().map(|(source, _)| rank_of_name(&source.name)).collect();
    let streams = |at: usize| found[at].1 == TraceForm::Binary && in_names[at].is_some();
    // Traces whose rank is in their content are read now.
    let read: Result<Vec<ReadFile>, Problems> = (0..found.len())
        .into_par_iter()
        .map(|at| {
            let (source, form) = found[at];
            if streams(at) {
                return Ok(ReadFile { traces: vec![None], nic_gbps: None });
            }
            read_now(source, form, options).map_err(|problems| problems.named(&source.name))
        })
        .collect();
    let read = read?;
    let nic_gbps = read.iter().find_map(|file| file.nic_gbps);
    let mut all = Vec::new();
    for (((source, form), in_name), file) in found.into_iter().zip(in_names).zip(read) {
        let traces = file.traces.into_iter();
        all.extend(traces.map(|trace| FoundTrace { source, form, in_name, trace }));
    }
    let files = numbered(all)?;
    Ok(TraceFiles {
        world: files.world.max(largest(members.as_ref())),
        groups: members,
        pods,
        nic_gbps,
        ..files
    })
}

/// Returns one more than the largest rank in the groups; 0 without groups.
fn largest(groups: Option<&Groups>) -> u32 {
    groups.into_iter().flat_map(Groups::values).flatten().max().map_or(0, |rank| rank + 1)
}

/// Traces of a file; `None` for a trace that is read later.
struct ReadFile {
    traces: Vec<Option<RankTrace>>,
    nic_gbps: Option<f64>,
}

/// A trace of a file.
struct FoundTrace<'a> {
    source: &'a FileSource,
    form: TraceForm,
    in_name: Option<u32>,
    trace: Option<RankTrace>,
}

fn read_now(source: &FileSource, form: TraceForm, options: &TraceOptions) -> Result<ReadFile, Problems> {
    if form != TraceForm::TaskGraph {
        return Ok(ReadFile { traces: vec![Some(read(source, form, options)?)], nic_gbps: None });
    }
    let reader = BufReader::new(source.reader().map_err(|error| unreadable(&error))?);
    let read = task_graph::read(reader, &LIMITS)?;
    Ok(ReadFile { traces: read.traces.into_iter().map(Some).collect(), nic_gbps: read.nic_gbps })
}

fn numbered(found: Vec<FoundTrace<'_>>) -> Result<TraceFiles<'_>, Problems> {
    let stated: Vec<Option<u32>> =
        found.iter().map(|one| one.trace.as_ref().and_then(|trace| trace.rank).or(one.in_name)).collect();
    let numbered = stated.iter().all(Option::is_none) && stated.len() > 1;
    let mut by_rank: BTreeMap<u32, TraceFile<'_>> = BTreeMap::new();
    let mut world = 1;
    let mut problems = Problems::new();
    for (at, (FoundTrace { source, form, trace, .. }, rank)) in found.into_iter().zip(&stated).enumerate() {
        let rank = match rank {
            Some(rank) => *rank,
            None if numbered || stated.len() == 1 => at as u32,
            None => {
                problems.add(
                    source.name.as_str(),
                    "does not state its rank",
                    "name the files NAME.RANK.et, such as run.0.et",
                );
                continue;
            }
        };
        if rank >= crate::scenario::limits::MAX_GPUS {
            problems.add(
                source.name.as_str(),
                format!("is of rank {rank}, but the maximum is {}", crate::scenario::limits::MAX_GPUS - 1),
                "check the rank in the name of the file and in the trace",
            );
            continue;
        }
        world = world.max(rank + 1).max(trace.as_ref().and_then(|trace| trace.world).unwrap_or(0));
        let listed = trace.iter().flat_map(|trace| &trace.groups).filter_map(|group| group.ranks.as_ref());
        world = world.max(listed.flatten().max().map_or(0, |rank| rank.saturating_add(1)));
        if let Some(other) = by_rank.get(&rank) {
            problems.add(
                source.name.as_str(),
                format!("is of rank {rank}, as is {}", other.source.name),
                "give one trace for each rank",
            );
            continue;
        }
        by_rank.insert(rank, TraceFile { source, form, read: trace, rank });
    }
    if world > crate::scenario::limits::MAX_GPUS {
        let most = crate::scenario::limits::MAX_GPUS;
        let message = format!("the files name {world} ranks, but the maximum is {most}");
        problems.add("", message, "check the ranks of the traces and of the groups");
    }
    let traces = by_rank.into_values().collect();
    problems.into_result(TraceFiles { traces, groups: None, pods: None, nic_gbps: None, world, numbered })
}

fn read(source: &FileSource, form: TraceForm, options: &TraceOptions) -> Result<RankTrace, Problems> {
    let stream = source.reader().map_err(|error| unreadable(&error))?;
    let reader = BufReader::with_capacity(BUFFER, stream);
    match form {
        TraceForm::Binary => chakra::read_stream(gz::unpack(reader, &LIMITS)?.reader, options.promote),
        TraceForm::Json => chakra::read_json(reader, &LIMITS, options.promote),
        TraceForm::Profiler => profiler::read(reader, &LIMITS),
        TraceForm::Execution => pytorch::read(reader, &LIMITS),
        // A file of all ranks, read at once.
        TraceForm::TaskGraph => Err(Problem::new("", "is not the trace of one rank", "give it alone").into()),
    }
}

pub(super) fn unreadable(error: &std::io::Error) -> Problem {
    Problem::new("", format!("cannot be read: {error}"), "check the name, the file and its permissions")
}
