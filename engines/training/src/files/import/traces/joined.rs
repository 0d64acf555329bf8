//! The parts of messages and collectives on different ranks, joined: the n-th collective of a group on each of its
//! ranks is one collective, and the k-th send from a to b with a tag matches the k-th receive.

use super::classes::{Classes, RankClass};
use super::knobs::TraceOptions;
use super::program::ProgramStep;
use lightbay_core::problem::{Problems, counted, printable};
use lightbay_formats::traces::TracedCollective;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Work that several classes do together.
#[derive(Clone, Debug)]
pub(super) struct JointStep {
    /// Parts of the work: class, and number among the messages and collectives of the class.
    pub parts: Vec<(u32, u32)>,
    pub work: JointWork,
    /// Bytes of the message, or of the input of each rank.
    pub bytes: f64,
    /// Bytes of each rank with a trace, by rank, if the work is an all-to-all whose ranks send different totals or list
    /// their parts; otherwise empty.
    pub sent: Vec<SentBytes>,
}

impl JointStep {
    /// Returns `true` for all-to-alls.
    pub(super) const fn is_exchange(&self) -> bool {
        matches!(self.work, JointWork::Collective(TracedCollective::AllToAll, _))
    }
}

/// Bytes that a rank sends in an all-to-all.
#[derive(Clone, Debug)]
pub(super) struct SentBytes {
    pub rank: u32,
    pub total: f64,
    /// Bytes for each rank of the group, in the order of the group; `None` for equal parts.
    pub parts: Option<Arc<[f64]>>,
}

/// Operation of the classes.
#[derive(Clone, Debug)]
pub(super) enum JointWork {
    /// Messages from rank to rank.
    Messages(Vec<(u32, u32)>),
    /// One collective on each of these groups.
    Collective(TracedCollective, Vec<u32>),
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct JoinedSteps {
    pub joints: Vec<JointStep>,
    /// Index in `joints` of each message and collective, by class.
    pub of: Vec<Vec<u32>>,
    /// Ranks that take part but have no trace.
    pub missing: Vec<u32>,
}

/// Result of joining.
#[derive(Debug)]
pub(super) enum Joining {
    JoinedSteps(JoinedSteps),
    /// Two steps of one class belong to the same message or collective, so the ranks of this class cannot be merged.
    Conflict,
}

/// Sets of parts that belong together.
struct PartSets(Vec<u32>);

impl PartSets {
    fn find(&mut self, mut at: u32) -> u32 {
        while self.0[at as usize] != at {
            let up = self.0[self.0[at as usize] as usize];
            self.0[at as usize] = up;
            at = up;
        }
        at
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// Returns the messages and collectives of a class. The second element of each pair is the number of earlier
/// collectives of the same group in the class, and 0 for a message.
fn communications(class: &RankClass) -> impl Iterator<Item = (ProgramStep, u32)> {
    let mut seen: Vec<u32> = vec![0; class.groups[0].len()];
    class.program.items.iter().filter(|item| !matches!(item, ProgramStep::Compute(_))).map(move |item| {
        let ProgramStep::Collective { group, .. } = item else { return (*item, 0) };
        let count = &mut seen[*group as usize];
        *count += 1;
        (*item, *count - 1)
    })
}

/// Joins all classes.
///
/// # Errors
/// Ranks that disagree on a collective or message, and missing ranks.
pub(super) fn join(classes: &Classes, options: &TraceOptions) -> Result<Joining, Problems> {
    let mut problems = Problems::new();
    let mut bases = Vec::with_capacity(classes.list.len());
    let mut total = 0_u32;
    for class in &classes.list {
        bases.push(total);
        total += class.names.len() as u32;
    }
    let mut sets = PartSets((0..total).collect());
    let has_trace: rustc_hash::FxHashSet<u32> =
        classes.list.iter().flat_map(|class| class.ranks.iter().copied()).collect();
    let mut missing: Vec<u32> = Vec::new();
    join_groups(classes, &bases, &mut sets, &mut problems);
    join_messages(classes, &bases, &has_trace, &mut sets, &mut missing, &mut problems);
    let used = classes.groups.iter().filter(|group| !group.users.is_empty());
    missing.extend(
        used.filter_map(|group| group.ranks.as_ref()).flatten().filter(|rank| !has_trace.contains(rank)),
    );
    missing.sort_unstable();
    missing.dedup();
    if !missing.is_empty() && !options.ready {
        let shown: Vec<String> = missing.iter().take(8).map(u32::to_string).collect();
        let more = if missing.len() > 8 { ", …" } else { "" };
        problems.add(
            "missing_ranks",
            format!(
                "{} no trace: {}{more}",
                if missing.len() == 1 {
                    "one rank has".to_owned()
                } else {
                    format!("{} ranks have", missing.len())
                },
                shown.join(", ")
            ),
            "give their traces, or set missing_ranks=ready, so that nothing waits for them",
        );
    }
    problems.into_result(())?;
    collected(classes, &bases, &mut sets, missing)
}

fn join_groups(classes: &Classes, bases: &[u32], sets: &mut PartSets, problems: &mut Problems) {
    // The first part of each collective of each group, and the rank it is from.
    let mut first: Vec<Vec<u32>> = vec![Vec::new(); classes.groups.len()];
    let mut counts: Vec<Option<(u32, u32)>> = vec![None; classes.groups.len()];
    for (class, base) in classes.list.iter().zip(bases) {
        let steps: Vec<(u32, u32, u32)> = (*base..)
            .zip(communications(class))
            .filter_map(|(part, (item, occurrence))| match item {
                ProgramStep::Collective { group, .. } => Some((part, group, occurrence)),
                _ => None,
            })
            .collect();
        let mut number = vec![0_u32; class.groups[0].len()];
        for (_, group, _) in &steps {
            number[*group as usize] += 1;
        }
        for (rank, groups) in class.ranks.iter().zip(&class.groups) {
            for (local, group) in groups.iter().enumerate() {
                let own = number[local];
                match counts[*group as usize] {
                    None => counts[*group as usize] = Some((*rank, own)),
                    Some((_, other)) if other == own => {}
                    Some((first, other)) => problems.add(
                        format!("group '{}'", printable(&classes.groups[*group as usize].name)),
                        format!(
                            "has {} on rank {first}, but {own} on rank {rank}",
                            counted(other.into(), "collective", "collectives")
                        ),
                        "give traces of the same iterations for all ranks",
                    ),
                }
            }
            for (part, local, occurrence) in &steps {
                let parts = &mut first[groups[*local as usize] as usize];
                match parts.get(*occurrence as usize) {
                    Some(known) => sets.join(*known, *part),
                    None => parts.push(*part),
                }
            }
        }
    }
}

/// The parts (sends and receives) of all messages that one rank sends to another rank with one tag.
type MessageEnds = [Vec<u32>; 2];

fn join_messages(
    classes: &Classes,
    bases: &[u32],
    has_trace: &rustc_hash::FxHashSet<u32>,
    sets: &mut PartSets,
    missing: &mut Vec<u32>,
    problems: &mut Problems,
) {
    let mut pairs: FxHashMap<(u32, u32, i64), MessageEnds> = FxHashMap::default();
    for (class, base) in classes.list.iter().zip(bases) {
        let steps: Vec<(u32, bool)> = (*base..)
            .zip(communications(class))
            .filter_map(|(part, (item, _))| match item {
                ProgramStep::Message { sends, .. } => Some((part, sends)),
                _ => None,
            })
            .collect();
        for (rank, messages) in class.ranks.iter().zip(&class.messages) {
            for ((part, sends), (peer, tag)) in steps.iter().zip(messages) {
                let pair = if *sends { (*rank, *peer, *tag) } else { (*peer, *rank, *tag) };
                pairs.entry(pair).or_default()[usize::from(!sends)].push(*part);
                if !has_trace.contains(peer) {
                    missing.push(*peer);
                }
            }
        }
    }
    let mut unmatched: Vec<(u32, u32, i64, usize, usize)> = Vec::new();
    for ((from, to, tag), [sends, receives]) in &pairs {
        for (send, receive) in sends.iter().zip(receives) {
            sets.join(*send, *receive);
        }
        let both = has_trace.contains(from) && has_trace.contains(to);
        if both && sends.len() != receives.len() {
            unmatched.push((*from, *to, *tag, sends.len(), receives.len()));
        }
    }
    unmatched.sort_unstable();
    for (from, to, tag, sends, receives) in unmatched {
        problems.add(
            format!("messages from rank {from} to rank {to} with tag {tag}"),
            format!(
                "are {}, but {}",
                counted(sends as u64, "send", "sends"),
                counted(receives as u64, "receive", "receives")
            ),
            "give the traces of one run",
        );
    }
}

/// Converts each set of parts to one message or collective.
fn collected(
    classes: &Classes,
    bases: &[u32],
    sets: &mut PartSets,
    missing: Vec<u32>,
) -> Result<Joining, Problems> {
    let mut problems = Problems::new();
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let mut joined = JoinedSteps { missing, ..JoinedSteps::default() };
    for (at, (class, base)) in (0_u32..).zip(classes.list.iter().zip(bases)) {
        let mut of = Vec::with_capacity(class.names.len());
        let mut message = 0;
        for (number, (item, _)) in (0_u32..).zip(communications(class)) {
            let root = sets.find(base + number);
            let next = joined.joints.len() as u32;
            let joint = *numbers.entry(root).or_insert(next);
            of.push(joint);
            let (bytes, fresh) = match item {
                ProgramStep::Message { bytes, .. } => (bytes, JointWork::Messages(Vec::new())),
                ProgramStep::Collective { kind, bytes, .. } => {
                    (bytes, JointWork::Collective(kind, Vec::new()))
                }
                ProgramStep::Compute(_) => continue,
            };
            if joint == next {
                joined.joints.push(JointStep {
                    parts: Vec::new(),
                    work: fresh,
                    bytes: f64::from_bits(bytes),
                    sent: Vec::new(),
                });
            }
            let own = &mut joined.joints[joint as usize];
            let is_exchange = own.is_exchange();
            if is_exchange {
                own.sent.extend(class.ranks.iter().zip(&class.parts).map(|(rank, parts)| {
                    SentBytes {
                        rank: *rank,
                        total: f64::from_bits(bytes),
                        parts: parts
                            .binary_search_by_key(&number, |(own, _)| *own)
                            .ok()
                            .map(|at| Arc::clone(&parts[at].1)),
                    }
                }));
            }
            // Parts are added class by class.
            if own.parts.last().is_some_and(|(class, _)| *class == at) {
                return Ok(Joining::Conflict);
            }
            own.parts.push((at, number));
            // The ranks of an all-to-all may send different totals.
            let agrees = (is_exchange || own.bytes.to_bits() == bytes)
                && match (&mut own.work, item) {
                    (JointWork::Messages(pairs), ProgramStep::Message { sends, .. }) => {
                        let peers = class.messages.iter().map(|messages| messages[message].0);
                        let ends = class.ranks.iter().copied().zip(peers);
                        pairs
                            .extend(ends.map(|(rank, peer)| if sends { (rank, peer) } else { (peer, rank) }));
                        message += 1;
                        true
                    }
                    (JointWork::Collective(known, groups), ProgramStep::Collective { kind, group, .. }) => {
                        groups.extend(class.groups.iter().map(|own| own[group as usize]));
                        *known == kind
                    }
                    _ => false,
                };
            if !agrees {
                problems.push(disagreement(classes, &own.parts));
            }
        }
        joined.of.push(of);
    }
    for joint in &mut joined.joints {
        match &mut joint.work {
            JointWork::Messages(pairs) => {
                pairs.sort_unstable();
                pairs.dedup();
            }
            JointWork::Collective(_, groups) => {
                groups.sort_unstable();
                groups.dedup();
            }
        }
        let is_even = |own: &SentBytes| own.parts.is_none() && own.total.to_bits() == joint.bytes.to_bits();
        if joint.sent.iter().all(is_even) {
            joint.sent = Vec::new();
        }
        joint.sent.sort_unstable_by_key(|own| own.rank);
        if let JointWork::Collective(_, groups) = &joint.work {
            for group in groups {
                check_parts(classes, *group, &joint.sent, &mut problems);
            }
        }
    }
    problems.into_result(Joining::JoinedSteps(joined))
}

/// Refuses lists of parts whose length is not the number of ranks of the group.
fn check_parts(classes: &Classes, group: u32, sent: &[SentBytes], problems: &mut Problems) {
    let members = classes.members(group);
    for rank in members {
        let own = sent.binary_search_by_key(rank, |own| own.rank).ok().map(|at| &sent[at]);
        let Some(parts) = own.and_then(|own| own.parts.as_ref()) else { continue };
        if parts.len() != members.len() {
            problems.add(
                format!("group '{}'", printable(&classes.groups[group as usize].name)),
                format!(
                    "has {} ranks, but rank {rank} gives {} split sizes in an all-to-all",
                    members.len(),
                    parts.len()
                ),
                "give the file of groups of this run, or traces with one split size for each rank",
            );
        }
    }
}

/// Returns the problem of two parts of one message or collective that differ.
fn disagreement(classes: &Classes, parts: &[(u32, u32)]) -> lightbay_core::problem::Problem {
    let words = |(class, number): &(u32, u32)| {
        let class = &classes.list[*class as usize];
        let item = communications(class).nth(*number as usize).map(|(item, _)| item);
        let what = match item {
            Some(ProgramStep::Collective { kind, bytes, .. }) => {
                format!("{} of {} bytes", kind.name(), f64::from_bits(bytes))
            }
            Some(ProgramStep::Message { sends, bytes, .. }) => {
                format!("a {} of {} bytes", if sends { "send" } else { "receive" }, f64::from_bits(bytes))
            }
            _ => String::new(),
        };
        format!("rank {} has {what} (node {})", class.ranks[0], class.ids[*number as usize])
    };
    let first = parts.first().map(words).unwrap_or_default();
    let last = parts.last().map(words).unwrap_or_default();
    let message = format!("do not agree: {first}, {last}");
    lightbay_core::problem::Problem::new("ranks", message, "give the traces of one run")
}
