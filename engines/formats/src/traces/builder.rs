//! Collects the nodes of a trace: numbers of nodes become indices, names of groups become entries of a list.

use super::{Lane, MOST, MOST_NODES, RankTrace, TracedCollective, TracedGroup, TracedNode, TracedWork};
use lightbay_core::problem::{Problem, Problems, printable};
use rustc_hash::FxHashMap;

/// A trace that is being read.
#[derive(Debug, Default)]
pub struct TraceBuilder {
    trace: RankTrace,
    /// Dependencies as numbers of nodes.
    deps: Vec<u64>,
    /// `true` if computations with the name of a collective become collectives.
    promote: bool,
    problems: Problems,
}

/// Facts of a node as a file states them.
#[derive(Clone, Copy, Debug)]
pub struct NodeFacts<'a> {
    /// Number in the file.
    pub id: u64,
    /// Name.
    pub name: &'a str,
    /// Number of the type in Chakra.
    pub sort: u64,
    /// Duration, µs.
    pub micros: f64,
    /// Operations of a computation.
    pub operations: Option<i128>,
    /// Size of the tensor of a computation.
    pub tensor_size: Option<i128>,
    /// Size of a message or collective.
    pub comm_size: Option<i128>,
    /// Number of the collective operation in Chakra.
    pub comm_type: Option<i128>,
    /// Sending rank.
    pub from: Option<i128>,
    /// Receiving rank.
    pub to: Option<i128>,
    /// Number that distinguishes the messages of a pair of ranks.
    pub tag: Option<i128>,
    /// `true` if the node runs on the host.
    pub host: Option<bool>,
    /// Name of the group of ranks.
    pub group: Option<&'a str>,
}

impl NodeFacts<'_> {
    /// Returns a node without work.
    pub const fn new(id: u64, sort: u64) -> Self {
        Self {
            id,
            name: "",
            sort,
            micros: 0.0,
            operations: None,
            tensor_size: None,
            comm_size: None,
            comm_type: None,
            from: None,
            to: None,
            tag: None,
            host: None,
            group: None,
        }
    }
}

impl TraceBuilder {
    /// Creates a builder of an empty trace. With `promote`, computations with the name of a collective become
    /// collectives without a size.
    pub fn new(promote: bool) -> Self {
        Self { promote, ..Self::default() }
    }

    /// Returns the trace so far, so that a reader can set facts that hold for the whole file.
    pub fn trace(&mut self) -> &mut RankTrace {
        &mut self.trace
    }

    /// Returns the number of nodes so far.
    pub fn len(&self) -> usize {
        self.trace.nodes.len()
    }

    /// Returns `true` if there are no nodes yet.
    pub fn is_empty(&self) -> bool {
        self.trace.nodes.is_empty()
    }

    /// Returns the index of a group.
    ///
    /// # Errors
    /// More groups than a trace can have.
    pub fn group(&mut self, name: &str, ranks: Option<&[u32]>) -> Result<u32, Problem> {
        const MOST_GROUPS: usize = 100_000;
        // The groups of a rank are few, and consecutive nodes often use the same one.
        if let Some(at) = self.trace.groups.iter().rposition(|group| group.name == name) {
            return Ok(at as u32);
        }
        if self.trace.groups.len() >= MOST_GROUPS {
            return Err(Problem::new(
                "",
                format!("has more than {MOST_GROUPS} groups"),
                "use a smaller trace",
            ));
        }
        self.trace.groups.push(TracedGroup { name: name.to_owned(), ranks: ranks.map(<[u32]>::to_vec) });
        Ok(self.trace.groups.len() as u32 - 1)
    }

    /// Adds a node with the numbers of the nodes on which it depends.
    ///
    /// # Errors
    /// Too many nodes or dependencies. Other problems are collected for [`Self::finish`].
    pub fn add(&mut self, facts: &NodeFacts<'_>, deps: &[u64]) -> Result<(), Problem> {
        let has_too_many_deps = self.deps.len() + deps.len() > 16 * MOST_NODES;
        if self.trace.nodes.len() >= MOST_NODES || has_too_many_deps {
            let message = if has_too_many_deps {
                format!("has more than {} dependencies", 16 * MOST_NODES)
            } else {
                format!("exceeds the limit of {MOST_NODES} nodes")
            };
            return Err(Problem::new("", message, "use a shorter trace"));
        }
        let place = |field: &str| format!("node {} {field}", facts.id);
        let is_named = facts.sort == 4 && is_collective_name(facts.name);
        self.trace.labelled += u64::from(is_named);
        let work = match facts.sort {
            4 if is_named && self.promote => self.collective(facts, TracedCollective::of_name(facts.name))?,
            4 => TracedWork::Compute(if facts.host == Some(true) { Lane::Host } else { Lane::Gpu }),
            5 | 6 => {
                let peer = if facts.sort == 5 { facts.to } else { facts.from };
                let rank = peer.and_then(|rank| u32::try_from(rank).ok());
                let name = if facts.sort == 5 { "comm_dst" } else { "comm_src" };
                let Some(peer) = rank else {
                    let message = peer.map_or_else(|| "is missing".to_owned(), |rank| format!("is {rank}"));
                    self.problems.add(place(name), message, "give the rank of the other end");
                    return Ok(());
                };
                let tag = facts.tag.unwrap_or(0) as i64;
                if facts.sort == 5 {
                    TracedWork::Send { to: peer, tag }
                } else {
                    TracedWork::Receive { from: peer, tag }
                }
            }
            7 => {
                let numbered = facts.comm_type.map(|number| {
                    u64::try_from(number).ok().and_then(TracedCollective::of_number).ok_or(number)
                });
                match numbered {
                    Some(Err(number)) => {
                        self.problems.add(
                            place("comm_type"),
                            format!("is {number}, which is not a collective"),
                            "give a number from 0 to 9",
                        );
                        return Ok(());
                    }
                    Some(Ok(kind)) => self.collective(facts, Some(kind))?,
                    None => self.collective(facts, TracedCollective::of_name(facts.name))?,
                }
            }
            _ => TracedWork::Nothing,
        };
        let is_compute = matches!(work, TracedWork::Compute(_));
        let stated = if is_compute { facts.tensor_size } else { facts.comm_size };
        let size_name = if is_compute { "tensor_size" } else { "comm_size" };
        let size = self.amount(stated, || place(size_name)).unwrap_or(-1.0);
        let operations = self.amount(facts.operations, || place("num_ops")).unwrap_or(0.0);
        if !(0.0..=1e15).contains(&facts.micros) {
            self.problems.add(place("duration"), format!("is {} us", facts.micros), "check the units");
        }
        self.push(facts.id, facts.name, work, [facts.micros, operations, size], deps);
        Ok(())
    }

    /// Adds a node whose work is known. `amounts` contains the duration in µs, the number of operations and the size.
    pub fn push(&mut self, id: u64, name: &str, work: TracedWork, amounts: [f64; 3], deps: &[u64]) {
        let [micros, operations, size] = amounts;
        self.deps.extend_from_slice(deps);
        let keeps_name = !matches!(work, TracedWork::Compute(_) | TracedWork::Nothing);
        // Long names are those of kernels with their template arguments.
        let end = name.char_indices().nth(80).map_or(name.len(), |(end, _)| end);
        if keeps_name && self.trace.names.len() < u32::MAX as usize - 400 {
            self.trace.names.push_str(&name[..end]);
        }
        self.trace.nodes.push(TracedNode {
            id,
            work,
            micros,
            operations,
            size,
            deps_end: self.deps.len() as u32,
            name_end: self.trace.names.len() as u32,
        });
    }

    /// Sets the sizes of the parts that the last node, an all-to-all, sends to the ranks of its group.
    pub(super) fn set_parts(&mut self, parts: Vec<f64>) {
        if let Some(node) = self.trace.nodes.len().checked_sub(1) {
            self.trace.parts.insert(node as u32, parts);
        }
    }

    fn collective(
        &mut self,
        facts: &NodeFacts<'_>,
        kind: Option<TracedCollective>,
    ) -> Result<TracedWork, Problem> {
        let group = self.group(facts.group.unwrap_or_default(), None)?;
        let Some(kind) = kind else {
            self.problems.add(
                format!("node {}", facts.id),
                format!("'{}' is a collective of an unknown kind", printable(facts.name)),
                "set its comm_type",
            );
            return Ok(TracedWork::Nothing);
        };
        Ok(TracedWork::Collective { kind, group })
    }

    /// Returns a size or count; adds a problem if the value is negative or above [`MOST`].
    fn amount(&mut self, value: Option<i128>, place: impl Fn() -> String) -> Option<f64> {
        let value = value?;
        if !(0..=MOST as i128).contains(&value) {
            self.problems.add(place(), format!("is {value}"), format!("give a number from 0 to {MOST:e}"));
            return None;
        }
        Some(value as f64)
    }

    /// Returns the trace with dependencies as indices. Dependencies on nodes that do not exist are counted and left
    /// out.
    ///
    /// # Errors
    /// Every problem of the nodes, and two nodes with one number.
    pub fn finish(mut self) -> Result<RankTrace, Problems> {
        let index = self.index();
        let mut kept: Vec<u32> = Vec::with_capacity(self.deps.len());
        let mut start = 0;
        for at in 0..self.trace.nodes.len() {
            let end = self.trace.nodes[at].deps_end as usize;
            let first = kept.len();
            for dep in &self.deps[start..end] {
                match index.get(dep) {
                    Some(&node) if !kept[first..].contains(&node) => kept.push(node),
                    Some(_) => {}
                    None => self.trace.dangling += 1,
                }
            }
            start = end;
            self.trace.nodes[at].deps_end = kept.len() as u32;
        }
        self.trace.deps = kept;
        self.problems.into_result(self.trace)
    }

    fn index(&mut self) -> FxHashMap<u64, u32> {
        let nodes = &self.trace.nodes;
        let mut index = FxHashMap::with_capacity_and_hasher(nodes.len(), rustc_hash::FxBuildHasher);
        for (at, node) in nodes.iter().enumerate() {
            if index.insert(node.id, at as u32).is_some() {
                self.problems.add(
                    format!("node {}", node.id),
                    "is a second node with this number",
                    "give every node a different number",
                );
            }
        }
        index
    }
}

/// Returns `true` if a name is one under which profilers and PyTorch record communication.
fn is_collective_name(name: &str) -> bool {
    let begins = |word: &str| name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    (begins("nccl") || begins("c10d::")) && TracedCollective::of_name(name).is_some()
}
