//! Schedules of other programs as plans: finds the chunks that each message carries, and the epochs in which the
//! network of a scenario carries the chunks.

use crate::Collective;
use crate::compose::whole_chunks;
use crate::files::places::ChunkPlaces;
use crate::model::task::CollectiveTasks;
use crate::scenario::{CollectiveScenario, CollectiveSort};
use crate::search::given::{GivenSend, GivenStep, in_epochs};
use lightbay_core::format::{ImportedPlan, Input};
use lightbay_core::kind::Kind as _;
use lightbay_core::plan::read_draft;
use lightbay_core::problem::{Problem, Problems, counted, printable};
use lightbay_core::read::read_json;
use lightbay_core::scenario::{Scenario, kind_of};
use lightbay_formats::collective::{BufferSizes, CollectiveOp, Contribution, Wanted};
use lightbay_formats::detect::open;
use lightbay_formats::{Format, Limits};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::json;
use std::sync::Arc;

/// A message of a schedule. Each of its chunks is a sum of contributions of ranks.
#[derive(Clone, Debug, Default)]
pub(super) struct OutsideMessage {
    /// Rank that sends.
    pub(super) from: u32,
    /// Rank that receives.
    pub(super) to: u32,
    /// The chunks, each as the list of the summed contributions.
    pub(super) chunks: Vec<Vec<Contribution>>,
}

/// A step of a schedule.
#[derive(Clone, Debug, Default)]
pub(super) struct OutsideStep {
    /// Steps that must begin before this step.
    pub(super) after: Vec<u32>,
    /// Steps whose messages must arrive before this step begins.
    pub(super) receives: Vec<u32>,
    /// Message that the step sends, if it sends one.
    pub(super) message: Option<OutsideMessage>,
}

/// A schedule that has been executed once, so that the contents of its messages are known.
#[derive(Clone, Debug)]
pub(super) struct OutsideSchedule {
    /// Operation that the schedule implements.
    pub(super) op: CollectiveOp,
    /// Numbers of chunks in the buffers of each rank.
    pub(super) sizes: Vec<BufferSizes>,
    /// Steps of the schedule.
    pub(super) steps: Vec<OutsideStep>,
    /// Remarks on the file that was read, one sentence each.
    pub(super) lines: Vec<String>,
}

/// Returns the scenario and the schedule among the inputs.
pub(super) fn sorted<'i>(
    format: &str,
    inputs: &'i [Input],
) -> Result<(Scenario<Collective>, &'i Input), Problems> {
    let (mut scenario, mut file) = (None, None);
    for input in inputs {
        let opened = open(input.bytes.as_slice(), &Limits::default());
        let again = if opened.is_ok_and(|opened| matches!(opened.format, Format::Scenario | Format::Plan)) {
            let found = scenario_in(input).map_err(|problems| problems.named(&input.name))?;
            scenario.replace(found).map(|_| "scenario")
        } else {
            file.replace(input).map(|_| "schedule")
        };
        if let Some(what) = again {
            let problem =
                Problem::new("", format!("is the second {what}"), "pass one scenario and one schedule");
            return Err(Problems::from(problem).named(&input.name));
        }
    }
    let command = format!("`lightbay import {format} SCENARIO FILE -o plan.json`");
    match (scenario, file) {
        (Some(scenario), Some(file)) => Ok((scenario, file)),
        (None, _) => {
            let message = "none of the files is a scenario, and a schedule does not contain its network";
            Err(Problem::new("", message, format!("add a file of kind {}: {command}", Collective::NAME))
                .into())
        }
        (_, None) => {
            Err(Problem::new("", "none of the files is a schedule", format!("write {command}")).into())
        }
    }
}

/// Reads the scenario of a file, or the scenario of the plan in the file.
fn scenario_in(input: &Input) -> Result<Scenario<Collective>, Problems> {
    let value = read_json(input.bytes.as_slice())?;
    let kind = kind_of(&value);
    if kind != Some(Collective::NAME) {
        let message =
            kind.map_or_else(|| "is missing".to_owned(), |kind| format!("is '{}'", printable(kind)));
        let remedy = format!("pass a scenario of kind {}", Collective::NAME);
        return Err(Problem::new("kind", message, remedy).into());
    }
    let schema = value.get("schema").and_then(serde_json::Value::as_str);
    if !schema.is_some_and(|schema| schema.starts_with("lightbay.plan/")) {
        return Scenario::from_value(&value);
    }
    let plan = read_draft::<Collective>(&value)?.plan;
    let unread = || Problem::new("result", "cannot be read", "see `lightbay check`");
    Ok(Scenario::clone(&plan.ok_or_else(unread)?.scenario))
}

/// Maps a schedule onto the network of a scenario, and returns the plan.
///
/// # Errors
/// A scenario for another collective or number of ranks, sums that do not follow one tree to one rank, and ranks
/// without a connection. With `strict`, a schedule that would have to be changed.
pub(super) fn played(
    scenario: Scenario<Collective>,
    outside: &OutsideSchedule,
    strict: bool,
) -> Result<ImportedPlan<Collective>, Problems> {
    let mut lines = outside.lines.clone();
    let mut scenario = scenario;
    // Changes that the scenario requires; with `strict`, any change is an error.
    let mut changed = Vec::new();
    let per_rank = fitting(&scenario.body, outside)?;
    let before = std::mem::replace(&mut scenario.body.demand.chunks_per_rank, per_rank);
    if before != per_rank {
        changed.push(format!(
            "chunks per rank: {per_rank} as in the schedule instead of {before} as in the scenario"
        ));
    }
    scenario.body.validate()?;
    let mut tasks = CollectiveTasks::of(&scenario.body, None)?;
    lines.extend(tasks.remarks.iter().cloned());
    let mut names = ChunkNames::of(&scenario.body, outside, per_rank)?;
    if let Some(relay) = names.relay(outside)? {
        // Every part of a sum travels by itself, as one piece of the plan.
        tasks = tasks.one_by_one();
        names.know_parts(&scenario.body, tasks.copies.as_deref().unwrap_or_default());
        lines.push(format!(
            "ranks such as {relay} pass on parts of sums without adding to them, so each part is a piece of its own"
        ));
    }
    let nodes = scenario.body.demand.rank_nodes(&scenario.body.topology);
    let (mut schedules, mut detours, mut repeated) = (Vec::new(), 0, 0);
    for task in &tasks.tasks {
        let mut steps = Vec::with_capacity(outside.steps.len());
        for step in &outside.steps {
            let send = match &step.message {
                None => None,
                Some(message) => names.send(message, task.adds, &nodes)?,
            };
            steps.push(GivenStep { after: step.after.clone(), receives: step.receives.clone(), send });
        }
        let given = in_epochs(task, &steps).map_err(|message| {
            Problem::new("", message, "use a scenario whose network matches the schedule")
        })?;
        detours += given.detours;
        repeated += given.repeated;
        schedules.push(given.schedule);
    }
    if detours > 0 {
        let sends = counted(detours as u64, "send is", "sends are");
        changed.push(format!(
            "{sends} routed through other GPUs, because no link or chain of switches joins their ends"
        ));
    }
    if repeated > 0 {
        let sends = counted(repeated as u64, "send", "sends");
        changed.push(format!("{sends} omitted: the destination already had the chunk"));
    }
    if strict && !changed.is_empty() {
        let mut problems = Problems::new();
        for line in changed {
            let remedy = "use a scenario that matches the schedule, or leave out --strict";
            problems.add("schedule", format!("would be changed: {line}"), remedy);
        }
        return Err(problems);
    }
    lines.append(&mut changed);
    if tasks.tasks.len() > 1 {
        lines.push("all reductions complete before the first result is spread".to_owned());
    }
    let candidate = whole_chunks(&scenario.body, &tasks, &schedules, None);
    let claims = &candidate.result.claims;
    let replay = claims.replay_us.map(|us| format!(", or {us:.3} us without epochs")).unwrap_or_default();
    lines.push(format!(
        "the plan ends after {} us ({} epochs of {} us){replay}",
        claims.finish_us, claims.finish_epochs, tasks.epoch_us
    ));
    let summary = json!({
        "ranks": nodes.len(),
        "chunks_per_rank": per_rank,
        "sends": candidate.result.sends.len(),
        "detours": detours,
        "repeated": repeated,
        "finish_us": claims.finish_us,
        "replay_us": claims.replay_us,
        "lines": lines,
    });
    Ok(ImportedPlan { scenario: Arc::new(scenario), candidate, lines, summary })
}

/// Returns `true` if every chunk has one destination, which identifies it among the chunks of its rank.
fn to_one(sort: CollectiveSort) -> bool {
    matches!(sort, CollectiveSort::AllToAll | CollectiveSort::Scatter)
}

/// Returns the collective of a scenario, and the number of chunks of every rank, if the buffers of a custom collective
/// match it.
fn custom(scenario: &CollectiveScenario, sizes: &[BufferSizes]) -> Option<(CollectiveSort, u32)> {
    let BufferSizes { input, output, .. } = *sizes.first()?;
    let sort = scenario.demand.collective;
    // The programs of a gather could be read in the same way, but a plan of a gather is made backwards.
    let fits = sort == CollectiveSort::Scatter
        && u32::try_from(sizes.len()).ok()?.checked_mul(output) == Some(input)
        && scenario.demand.rank_nodes(&scenario.topology).len() == sizes.len();
    fits.then_some((sort, output))
}

/// Returns the content of the outputs that a custom collective must have for a scenario.
pub(super) fn wanted(op: CollectiveOp, scenario: &CollectiveScenario, sizes: &[BufferSizes]) -> Vec<Wanted> {
    let Some((_, chunks)) = custom(scenario, sizes).filter(|_| op == CollectiveOp::Custom) else {
        return Vec::new();
    };
    let mut scenario = scenario.clone();
    scenario.demand.chunks_per_rank = chunks;
    ChunkPlaces::of(&scenario, 1).wanted()
}

/// Returns the number of chunks of every rank, or of every pair of ranks, if the schedule matches the scenario.
fn fitting(scenario: &CollectiveScenario, outside: &OutsideSchedule) -> Result<u32, Problems> {
    let mut problems = Problems::new();
    let ranks = outside.sizes.len();
    let asked = scenario.demand.rank_nodes(&scenario.topology).len();
    if ranks != asked {
        problems.add(
            "",
            format!("the schedule has {ranks} ranks, but the scenario has {asked}"),
            "use a scenario with the same number of ranks, or list the ranks of the schedule in `ranks`",
        );
    }
    let BufferSizes { input, output, .. } = outside.sizes.first().copied().unwrap_or_default();
    let part =
        |chunks: u32| (ranks > 0).then(|| chunks / ranks as u32).filter(|part| part * ranks as u32 == chunks);
    let found = match outside.op {
        CollectiveOp::AllGather => Some((CollectiveSort::AllGather, Some(input))),
        CollectiveOp::ReduceScatter => Some((CollectiveSort::ReduceScatter, Some(output))),
        CollectiveOp::AllReduce => Some((CollectiveSort::AllReduce, part(input))),
        CollectiveOp::AllToAll => Some((CollectiveSort::AllToAll, part(input))),
        CollectiveOp::Broadcast => Some((CollectiveSort::Broadcast, Some(input))),
        CollectiveOp::Custom => custom(scenario, &outside.sizes).map(|(sort, chunks)| (sort, Some(chunks))),
    };
    let Some((sort, per_rank)) = found else {
        let message = "is a custom collective: the file does not contain the destinations of the data, and its \
             buffers do not match a scatter of the scenario";
        problems.add(
            "coll",
            message,
            "use the scenario of the schedule, or a schedule of a named collective",
        );
        return Err(problems);
    };
    let collective = scenario.demand.collective;
    if collective != sort {
        let message =
            format!("the schedule is for {}, but the scenario is for {}", sort.label(), collective.label());
        let remedy = format!("use a scenario with collective={}", sort.word());
        problems.add("demand.collective", message, remedy);
    } else if !scenario.demand.copy && !to_one(sort) {
        let message = "is false, but ranks that forward a received chunk keep a copy of it";
        problems.add("demand.copy", message, "use a scenario with copy=true");
    }
    let per_rank = per_rank.filter(|chunks| (1..=1 << 16).contains(chunks));
    if per_rank.is_none() {
        let message = format!("has {input} input and {output} output chunks for {ranks} ranks");
        problems.add(
            "",
            message,
            "use a schedule with a multiple of the number of ranks, 1 to 65536 chunks per rank",
        );
    }
    problems.into_result(per_rank.unwrap_or(1))
}

/// Chunks of a scenario, by the identifiers that a schedule uses for them.
struct ChunkNames {
    sort: CollectiveSort,
    per_rank: u32,
    ranks: u32,
    /// Id of each chunk. The key consists of the rank that owns the chunk, the destination rank (the owner again,
    /// except in an AllToAll or Scatter) and the number of the chunk among the chunks of the owner.
    known: FxHashMap<(u32, u32, u32), u32>,
    /// Id of the piece with the part of each chunk, by chunk and rank that has the part, if the parts of sums travel by
    /// themselves; otherwise empty.
    parts: FxHashMap<(u32, u32), u32>,
    /// For each chunk of a buffer that is reduced: the rank that collects the result, and the number of the chunk at
    /// this rank.
    roots: Vec<(u32, u32)>,
}

impl ChunkNames {
    fn of(scenario: &CollectiveScenario, outside: &OutsideSchedule, per_rank: u32) -> Result<Self, Problems> {
        let demand = &scenario.demand;
        let nodes = demand.rank_nodes(&scenario.topology);
        let rank_of: FxHashMap<u32, u32> = nodes.iter().copied().zip(0..).collect();
        let rank = |node: u32| rank_of.get(&node).copied().unwrap_or(u32::MAX);
        let chunks = demand.expand(&scenario.topology);
        let sort = demand.collective;
        let known = (0..chunks.len()).map(|chunk| {
            let source = rank(chunks.source(chunk));
            let to_one = to_one(sort).then(|| chunks.dests(chunk).next()).flatten();
            ((source, to_one.map_or(source, rank), chunks.local(chunk)), chunk as u32)
        });
        let mut names = Self {
            sort,
            per_rank,
            ranks: nodes.len() as u32,
            known: known.collect(),
            parts: FxHashMap::default(),
            roots: Vec::new(),
        };
        if sort.reduces() {
            names.roots = names.tree_roots(outside)?;
        }
        Ok(names)
    }

    /// Returns, for every chunk of the buffer, the rank at which the chunk is reduced and the number of the chunk at
    /// that rank.
    fn tree_roots(&self, outside: &OutsideSchedule) -> Result<Vec<(u32, u32)>, Problems> {
        let all = self.ranks * self.per_rank;
        let mut senders: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); all as usize];
        for message in outside.steps.iter().filter_map(|step| step.message.as_ref()) {
            for sum in message.chunks.iter().filter(|sum| self.is_part(sum)) {
                let chunk = sum.first().map_or(0, |first| first.chunk);
                if let Some(senders) = senders.get_mut(chunk as usize) {
                    senders.insert(message.from);
                }
            }
        }
        let mut problems = Problems::new();
        let mut of_rank = vec![0; self.ranks as usize];
        let mut roots = Vec::with_capacity(all as usize);
        for (chunk, senders) in (0..all).zip(&senders) {
            let mut silent = (0..self.ranks).filter(|rank| !senders.contains(rank));
            let (root, other) = (silent.next(), silent.next());
            let fits = |root: u32| self.sort == CollectiveSort::AllReduce || root == chunk / self.per_rank;
            match (root, other) {
                (Some(root), None) if fits(root) => {
                    roots.push((root, of_rank[root as usize]));
                    of_rank[root as usize] += 1;
                }
                _ => problems.add(
                    format!("chunk {chunk}"),
                    "is not reduced along one tree to one rank (in a ReduceScatter, to the rank that owns \
                     the chunk)",
                    "use a schedule in which each rank sends its part of a sum once, such as a ring",
                ),
            }
        }
        if problems.is_empty()
            && let Some(rank) = of_rank.iter().position(|count| *count != self.per_rank)
        {
            let message = format!("rank {rank} reduces {} of the {all} chunks", of_rank[rank]);
            problems.add("", message, "use a schedule in which every rank reduces the same number of chunks");
        }
        problems.into_result(roots)
    }

    /// Returns a rank that passes on a part of a sum without adding its own part; `None` if every rank adds its part to
    /// the parts that it receives.
    ///
    /// # Errors
    /// Such a rank, if the schedule reduces other parts on the way, or spreads the results afterwards.
    fn relay(&self, outside: &OutsideSchedule) -> Result<Option<u32>, Problem> {
        if !self.sort.reduces() {
            return Ok(None);
        }
        let messages = outside.steps.iter().filter_map(|step| step.message.as_ref());
        let sums = messages.flat_map(|message| message.chunks.iter().map(|sum| (message.from, sum)));
        let sums: Vec<(u32, &Vec<Contribution>)> = sums.filter(|(_, sum)| self.is_part(sum)).collect();
        let own = |from: u32, sum: &[Contribution]| sum.iter().any(|part| part.rank == from);
        let Some((relay, sum)) = sums.iter().find(|(from, sum)| !sum.is_empty() && !own(*from, sum)) else {
            return Ok(None);
        };
        if self.sort == CollectiveSort::ReduceScatter && sums.iter().all(|(_, sum)| sum.len() <= 1) {
            return Ok(Some(*relay));
        }
        let message = format!(
            "rank {relay} passes on a part of the sum of chunk {} without adding its own part; a plan can hold this \
             only for a ReduceScatter in which no rank on the way reduces",
            sum[0].chunk
        );
        let remedy = "use a schedule in which each rank adds its part to the parts that it receives and sends \
                      the sum once";
        Err(Problem::new("schedule", message, remedy))
    }

    /// Names the pieces that each hold the part of one rank; `copies` has the chunk and the node of each.
    fn know_parts(&mut self, scenario: &CollectiveScenario, copies: &[(u32, u32)]) {
        let nodes = scenario.demand.rank_nodes(&scenario.topology);
        let rank_of: FxHashMap<u32, u32> = nodes.into_iter().zip(0..).collect();
        let named = (0..)
            .zip(copies)
            .filter_map(|(piece, (chunk, node))| Some(((*chunk, rank_of.get(node).copied()?), piece)));
        self.parts = named.collect();
    }

    /// Returns `true` for a partial sum that another rank reduces further.
    fn is_part(&self, sum: &[Contribution]) -> bool {
        self.sort == CollectiveSort::ReduceScatter || (sum.len() as u32) < self.ranks
    }

    /// Returns a send of those chunks of a message that are partial sums (with `adds`) or complete sums (without
    /// `adds`); `None` if the message has no such chunk.
    fn send(
        &self,
        message: &OutsideMessage,
        adds: bool,
        nodes: &[u32],
    ) -> Result<Option<GivenSend>, Problem> {
        let mut chunks = Vec::with_capacity(message.chunks.len());
        for sum in &message.chunks {
            let Some(first) = sum.first() else { continue };
            let key = if self.sort.reduces() {
                if self.is_part(sum) != adds {
                    continue;
                }
                self.roots.get(first.chunk as usize).map(|(root, local)| (*root, *root, *local))
            } else if sum.len() > 1 {
                let what =
                    format!("reduces chunks of {} ranks, although the collective does not reduce", sum.len());
                return Err(Problem::new("", what, "use a schedule that matches its collective"));
            } else if to_one(self.sort) {
                Some((first.rank, first.chunk / self.per_rank, first.chunk % self.per_rank))
            } else {
                Some((first.rank, first.rank, first.chunk))
            };
            // Data that a rank keeps for itself is not a chunk.
            let chunk = key.and_then(|key| self.known.get(&key)).copied();
            if self.parts.is_empty() {
                chunks.extend(chunk);
            } else {
                chunks.extend(chunk.and_then(|chunk| self.parts.get(&(chunk, first.rank))));
            }
        }
        let node = |rank: u32| nodes.get(rank as usize).copied().unwrap_or(0);
        let send = GivenSend { from: node(message.from), to: node(message.to), chunks };
        Ok((!send.chunks.is_empty()).then_some(send))
    }
}

#[cfg(test)]
mod tests;
