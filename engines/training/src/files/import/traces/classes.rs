//! Ranks of a pod with equal programs, merged: they execute the same steps at the same time, so their messages form one
//! transfer.
//!
//! Programs are equal if their steps, their dependencies, their sizes and the pods of all their peers are equal.
//! Durations may differ; for every step, the longest duration counts.

use super::knobs::TraceOptions;
use super::placement::TracePods;
use super::program::{self, ProgramFacts, ProgramStep, RankProgram, ReductionContext};
use super::reading::{TraceFile, TraceFiles};
use lightbay_core::problem::{Problem, Problems, few};
use lightbay_formats::traces::{RankTrace, TracedCollective, TracedGroup};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};

/// Maximum number of steps of all classes.
const MOST_STEPS: usize = 12_000_000;

/// A group of ranks of the whole job.
#[derive(Debug)]
pub(super) struct JobGroup {
    pub name: String,
    /// Ranks of the group, ascending; `None` if no file lists them, so that only `users` is known.
    pub ranks: Option<Vec<u32>>,
    /// First rank of the list, if a file lists the ranks.
    pub root: Option<u32>,
    /// Ranks whose traces use the group.
    pub users: Vec<u32>,
}

/// Ranks with one program.
#[derive(Debug)]
pub(super) struct RankClass {
    pub pod: u32,
    pub program: RankProgram,
    pub ranks: Vec<u32>,
    /// For every rank, the number in the job of each group of the program, in the order of the groups of the program.
    pub groups: Vec<Vec<u32>>,
    /// For every rank, peer and tag of the messages, in the order of the program.
    pub messages: Vec<Vec<(u32, i64)>>,
    /// For every rank, the bytes that its all-to-alls send to each rank of their groups, as in [`RankProgram::parts`].
    pub parts: Vec<Vec<(u32, Arc<[f64]>)>>,
    /// Names of the messages and collectives in the first trace, in the order of the program.
    pub names: Vec<Box<str>>,
    /// Node numbers of these messages and collectives in the first trace.
    pub ids: Vec<u64>,
    /// For every group of the program, the number of its pattern (the list of the pods of its ranks); if the ranks of
    /// the group are unknown, the number of the group in the job plus [`GROUP_MARK`].
    unknown: Vec<u32>,
}

/// All classes.
#[derive(Debug, Default)]
pub(super) struct Classes {
    pub list: Vec<RankClass>,
    pub groups: Vec<JobGroup>,
    pub facts: ClassFacts,
}

/// Counts over all traces.
#[derive(Debug, Default)]
pub(super) struct ClassFacts {
    pub ranks: u64,
    pub program: ProgramFacts,
    pub dangling: u64,
    pub labelled: u64,
    /// Messages and collectives by kind: calls and bytes of the inputs over all ranks.
    pub totals: Vec<(&'static str, u64, f64)>,
    /// `in_bytes`: `true` if sizes are bytes in all traces. `in_elements`: `true` if sizes of some trace are counts of
    /// elements.
    pub in_bytes: bool,
    pub in_elements: bool,
    /// Groups without listed members.
    pub unlisted: u64,
    /// Remarks of the traces, each once, with the number of traces.
    pub notes: Vec<(String, u64)>,
}

/// State that the ranks share while they are read.
#[derive(Default)]
struct SharedClasses {
    classes: Classes,
    by_hash: FxHashMap<u64, Vec<u32>>,
    group_numbers: FxHashMap<TracedGroup, u32>,
    patterns: FxHashMap<Vec<u32>, u32>,
    steps: usize,
}

/// Values of `unknown` from this value on are numbers of groups plus this value; smaller values are numbers of patterns
/// of pods.
const GROUP_MARK: u32 = 1 << 31;

impl Classes {
    /// Reads all traces. If `merge` is false, every rank is a separate class.
    ///
    /// # Errors
    /// Every problem of the files, and more steps than memory allows.
    pub(super) fn read(
        files: &TraceFiles<'_>,
        pods: &TracePods,
        options: &TraceOptions,
        merge: bool,
    ) -> Result<Self, Problems> {
        let mut start = SharedClasses::default();
        start.classes.facts.in_bytes = true;
        let shared = Mutex::new(start);
        let failed: Vec<Problems> = files
            .traces
            .par_iter()
            .filter_map(|file| {
                // After too many steps, the other files are not read.
                if shared.lock().is_ok_and(|shared| shared.steps > MOST_STEPS) {
                    return None;
                }
                file.with(options, |trace| rank(file, trace, files, pods, options, merge, &shared)).err()
            })
            .collect();
        let mut shared = shared.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        one_problem(failed)?;
        for class in &mut shared.classes.list {
            class.sort();
        }
        for group in &mut shared.classes.groups {
            group.users.sort_unstable();
        }
        // Threads finish in any order.
        shared.classes.list.sort_by_key(|class| (class.pod, class.ranks[0]));
        shared.classes.facts.totals.sort_by_key(|(name, ..)| *name);
        shared.classes.facts.notes.sort();
        if files.traces.len() < files.world as usize {
            // Some ranks have no trace. A group without listed members that every traced rank uses has all ranks: if it
            // had only the traced ones, a lost file would change the sizes of the parts.
            let traced = files.traces.len();
            let of_all = |group: &&mut JobGroup| group.ranks.is_none() && group.users.len() == traced;
            let unlisted = shared.classes.groups.iter_mut().filter(of_all);
            unlisted.for_each(|group| group.ranks = Some((0..files.world).collect()));
        }
        let facts = &mut shared.classes.facts;
        facts.unlisted = shared.classes.groups.iter().filter(|group| group.ranks.is_none()).count() as u64;
        Ok(shared.classes)
    }

    /// Members of a group: the listed ranks, or all ranks that use it.
    pub(super) fn members(&self, group: u32) -> &[u32] {
        let group = &self.groups[group as usize];
        group.ranks.as_deref().unwrap_or(&group.users)
    }

    /// Root of the collectives of a group that have one: the first listed rank, or the lowest rank.
    pub(super) fn root(&self, group: u32) -> Option<u32> {
        self.groups[group as usize].root.or_else(|| self.members(group).first().copied())
    }
}

/// Returns the problems of all files as one error; if several files have problems, the path of each problem begins with
/// the name of its file.
fn one_problem(mut failed: Vec<Problems>) -> Result<(), Problems> {
    if failed.len() < 2 {
        return failed.pop().map_or(Ok(()), Err);
    }
    failed.sort_by(|a, b| a.source.cmp(&b.source));
    let mut all = Problems::new();
    for problems in failed {
        for problem in problems.list() {
            let mut problem = problem.clone();
            problem.path = match problem.path.as_str() {
                "" => problems.source.clone(),
                path => format!("{}: {path}", problems.source),
            };
            all.push(problem);
        }
    }
    Err(all)
}

impl RankClass {
    /// Sorts the ranks; the groups, messages and parts of every rank are sorted with the ranks.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.ranks.len()).collect();
        order.sort_by_key(|at| self.ranks[*at]);
        self.ranks = order.iter().map(|at| self.ranks[*at]).collect();
        self.groups = order.iter().map(|at| std::mem::take(&mut self.groups[*at])).collect();
        self.messages = order.iter().map(|at| std::mem::take(&mut self.messages[*at])).collect();
        self.parts = order.iter().map(|at| std::mem::take(&mut self.parts[*at])).collect();
    }
}

/// Returns the members of a group of a trace, if the trace or the file of groups lists them.
fn listed<'t>(group: &'t TracedGroup, files: &'t TraceFiles<'_>) -> Option<&'t [u32]> {
    let in_file = || files.groups.as_ref().and_then(|groups| groups.get(&group.name));
    group.ranks.as_ref().or_else(in_file).map(Vec::as_slice)
}

fn rank(
    file: &TraceFile<'_>,
    trace: &RankTrace,
    files: &TraceFiles<'_>,
    pods: &TracePods,
    options: &TraceOptions,
    merge: bool,
    shared: &Mutex<SharedClasses>,
) -> Result<(), Problems> {
    let usual = if trace.in_elements { 2.0 } else { 1.0 };
    let elem_bytes = options.elem_bytes.unwrap_or(usual);
    let context = ReductionContext { elem_bytes, pods: &pods.of, options };
    let all = files.traces.len();
    let size = |group: u32| listed(&trace.groups[group as usize], files).map_or(all, <[u32]>::len);
    let mut program = program::program(trace, context, size)?;
    for &group in &program.groups {
        let members = listed(&trace.groups[group as usize], files);
        if let Some(members) = members.filter(|members| !members.contains(&file.rank)) {
            let message = format!(
                "is used by rank {}, but consists of ranks {}",
                file.rank,
                few(&members.iter().map(u32::to_string).collect::<Vec<_>>())
            );
            let name = format!("group '{}'", trace.groups[group as usize].name);
            return Err(Problem::new(name, message, "give the file of groups of this run").into());
        }
    }
    let mut shared = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let shared = &mut *shared;
    if shared.steps > MOST_STEPS {
        return Ok(());
    }
    shared.count(trace, &program);
    let own: Vec<u32> = program
        .groups
        .iter()
        .map(|group| &trace.groups[*group as usize])
        .map(|group| shared.group(group, listed(group, files), file.rank))
        .collect();
    let unknown: Vec<u32> = own.iter().map(|group| shared.pattern(*group, pods)).collect();
    let messages = std::mem::take(&mut program.messages);
    let mut parts = std::mem::take(&mut program.parts);
    by_rank(&mut parts, &program, |group| {
        listed(&trace.groups[program.groups[group as usize] as usize], files)
    });
    program.groups.clear();
    let nodes = std::mem::take(&mut program.nodes);
    let pod = pods.of[file.rank as usize];
    let hash = hash_of(pod, &program, &unknown);
    let classes = &mut shared.classes.list;
    let same = |at: &&u32| {
        let class = &classes[**at as usize];
        class.pod == pod
            && class.program.items == program.items
            && class.program.pred_ends == program.pred_ends
            && class.program.preds == program.preds
            && class.unknown == unknown
    };
    let known = shared.by_hash.get(&hash).filter(|_| merge).and_then(|list| list.iter().find(same)).copied();
    if let Some(known) = known {
        let class = &mut classes[known as usize];
        for (longest, seconds) in class.program.seconds.iter_mut().zip(&program.seconds) {
            *longest = longest.max(*seconds);
        }
        class.ranks.push(file.rank);
        class.groups.push(own);
        class.messages.push(messages);
        class.parts.push(parts);
        return Ok(());
    }
    shared.steps += program.items.len() + program.preds.len() / 4;
    if shared.steps > MOST_STEPS {
        let unlisted = shared.classes.groups.iter().any(|group| group.ranks.is_none());
        let remedy = if unlisted {
            "give the file of groups too, so that more ranks have equal programs"
        } else {
            "give shorter traces, or fewer ranks"
        };
        let message = format!("have more than {MOST_STEPS} steps after ranks with equal programs are merged");
        return Err(Problem::new("traces", message, remedy).into());
    }
    shared.by_hash.entry(hash).or_default().push(classes.len() as u32);
    classes.push(RankClass {
        pod,
        ranks: vec![file.rank],
        groups: vec![own],
        messages: vec![messages],
        parts: vec![parts],
        names: nodes.iter().map(|node| trace.name(*node as usize).into()).collect(),
        ids: nodes.iter().map(|node| trace.nodes()[*node as usize].id).collect(),
        program,
        unknown,
    });
    Ok(())
}

/// Orders the parts of all-to-alls by rank; a trace has them in the order in which the ranks of the group are listed.
fn by_rank<'t>(
    parts: &mut [(u32, Arc<[f64]>)],
    program: &RankProgram,
    listed: impl Fn(u32) -> Option<&'t [u32]>,
) {
    if parts.is_empty() {
        return;
    }
    let steps = program.items.iter().filter(|item| !matches!(item, ProgramStep::Compute(_)));
    let group = |step: &ProgramStep| match step {
        ProgramStep::Collective { group, .. } => Some(*group),
        _ => None,
    };
    let groups: Vec<Option<u32>> = steps.map(group).collect();
    for (number, bytes) in parts {
        let members = groups.get(*number as usize).copied().flatten().and_then(&listed);
        // Lists of another length are refused later.
        let Some(members) = members.filter(|members| members.len() == bytes.len()) else { continue };
        let mut ordered: Vec<(u32, f64)> = members.iter().copied().zip(bytes.iter().copied()).collect();
        ordered.sort_by_key(|(rank, _)| *rank);
        *bytes = ordered.into_iter().map(|(_, bytes)| bytes).collect();
    }
}

fn hash_of(pod: u32, program: &RankProgram, unknown: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    (pod, &program.items, &program.pred_ends, &program.preds, unknown).hash(&mut hasher);
    hasher.finish()
}

impl SharedClasses {
    /// Returns the number of a group in the job, and adds `rank` to the users of the group.
    fn group(&mut self, group: &TracedGroup, members: Option<&[u32]>, rank: u32) -> u32 {
        let ascending = members.map(|members| {
            let mut ranks = members.to_vec();
            ranks.sort_unstable();
            ranks
        });
        let key = TracedGroup { name: group.name.clone(), ranks: ascending };
        let groups = &mut self.classes.groups;
        let number = *self.group_numbers.entry(key).or_insert_with_key(|key| {
            let (name, ranks) = (key.name.clone(), key.ranks.clone());
            groups.push(JobGroup { name, ranks, root: None, users: Vec::new() });
            groups.len() as u32 - 1
        });
        // The lowest, because threads finish in any order and traces may list the ranks differently.
        let root = &mut groups[number as usize].root;
        *root = root.iter().chain(members.and_then(<[u32]>::first)).min().copied();
        groups[number as usize].users.push(rank);
        number
    }

    /// Returns the number of a group's pattern, which is the list of the pods of its ranks; for a group with unknown
    /// ranks, the number of the group plus [`GROUP_MARK`].
    fn pattern(&mut self, group: u32, pods: &TracePods) -> u32 {
        let Some(ranks) = &self.classes.groups[group as usize].ranks else { return group | GROUP_MARK };
        let mut places: Vec<u32> =
            ranks.iter().map(|rank| pods.of.get(*rank as usize).copied().unwrap_or(u32::MAX)).collect();
        places.sort_unstable();
        let next = self.patterns.len() as u32;
        *self.patterns.entry(places).or_insert(next)
    }

    fn count(&mut self, trace: &RankTrace, program: &RankProgram) {
        let facts = &mut self.classes.facts;
        facts.ranks += 1;
        let (sum, own) = (&mut facts.program, &program.facts);
        sum.nodes += own.nodes;
        sum.computes += own.computes;
        sum.untimed += own.untimed;
        sum.empty += own.empty;
        sum.sizeless += own.sizeless;
        sum.gathers += own.gathers;
        sum.seconds += own.seconds;
        facts.dangling += trace.dangling;
        facts.labelled += trace.labelled;
        facts.in_bytes &= trace.in_bytes;
        facts.in_elements |= trace.in_elements;
        for note in &trace.notes {
            match facts.notes.iter_mut().find(|(known, _)| known == note) {
                Some((_, count)) => *count += 1,
                None => facts.notes.push((note.clone(), 1)),
            }
        }
        for item in &program.items {
            let (name, bytes) = match item {
                ProgramStep::Compute(_) => continue,
                ProgramStep::Message { sends: true, bytes, .. } => ("send", f64::from_bits(*bytes)),
                ProgramStep::Message { sends: false, bytes, .. } => ("receive", f64::from_bits(*bytes)),
                ProgramStep::Collective { kind: TracedCollective::Barrier, .. } => ("barrier", 0.0),
                ProgramStep::Collective { kind, bytes, .. } => (kind.name(), f64::from_bits(*bytes)),
            };
            match facts.totals.iter_mut().find(|(known, ..)| *known == name) {
                Some(total) => (total.1, total.2) = (total.1 + 1, total.2 + bytes),
                None => facts.totals.push((name, 1, bytes)),
            }
        }
    }
}
