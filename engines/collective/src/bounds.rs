//! Bounds on the finish of schedules of whole chunks in epochs: paths, cuts with heads and tails, and metrics
//! (docs/methods/collective.md, section 4).

mod cuts;
mod fluid;
mod metric;
mod sets;

use crate::model::task::CollectiveTask;
use crate::scenario::network::LinkNetwork;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

pub use cuts::cut_bound;
pub use fluid::fluid_bound;

/// Path, cut or metric from which a bound follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundReason {
    /// No rank needs data.
    Nothing,
    /// The shortest path of one chunk from its source to a destination.
    Path {
        /// Node at which the chunk starts.
        from: u32,
        /// Node that needs the chunk.
        to: u32,
    },
    /// The links into a set of nodes.
    Cut {
        /// The set, ascending.
        inside: Vec<u32>,
        /// Chunks that must cross into the set.
        items: u64,
        /// Earliest epoch at which the first of these chunks can cross.
        head: u32,
        /// Number of epochs from the start of the last transmission into the set to the delivery of its chunk.
        tail: u32,
    },
    /// The capacity of all links together, compared with the capacity that the chunks need.
    Metric {
        /// `true` if each link is weighted by the number of epochs for which a chunk occupies it, `false` if each link
        /// counts as one hop.
        weighed: bool,
    },
}

/// Lower bound on the finish of a task, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpochBound {
    /// Lower bound on the number of epochs of every schedule of whole chunks.
    pub epochs: u32,
    /// Path, cut or metric that gives the bound.
    pub reason: BoundReason,
}

impl EpochBound {
    fn raise(&mut self, epochs: u32, reason: impl FnOnce() -> BoundReason) {
        if epochs > self.epochs {
            (self.epochs, self.reason) = (epochs, reason());
        }
    }

    /// Returns the reason of the bound in words, such as `cut into group 1, 8 chunks, head 10, tail 42`.
    pub fn words(&self, task: &CollectiveTask) -> String {
        let name = |node: u32| task.real.nodes()[node as usize].name.clone();
        let into = if task.backwards { "out of" } else { "into" };
        match &self.reason {
            BoundReason::Nothing => "nothing is wanted".to_owned(),
            BoundReason::Path { from, to } if task.backwards => {
                format!("path {}->{}", name(*to), name(*from))
            }
            BoundReason::Path { from, to } => format!("path {}->{}", name(*from), name(*to)),
            BoundReason::Cut { inside, items, head, tail } => {
                let set = set_name(&task.real, inside);
                format!("cut {into} {set}, {items} chunks, head {head}, tail {tail}")
            }
            BoundReason::Metric { weighed: false } => "hops of all chunks against all links".to_owned(),
            BoundReason::Metric { weighed: true } => "epochs of all chunks on all links".to_owned(),
        }
    }
}

/// Returns the name of a set of nodes: its only GPU, "all but" the only GPU that it lacks, its groups if it has exactly
/// the GPUs of these groups, or otherwise a list of its first nodes.
pub fn set_name(network: &LinkNetwork, inside: &[u32]) -> String {
    let name = |node: u32| network.nodes()[node as usize].name.clone();
    let is_in = |node: u32| inside.binary_search(&node).is_ok();
    let mut gpus = inside.iter().copied().filter(|node| !network.is_switch(*node));
    if let (Some(only), None) = (gpus.next(), gpus.next()) {
        return name(only);
    }
    let outside: Vec<u32> = network.gpus().iter().copied().filter(|gpu| !is_in(*gpu)).collect();
    if let [only] = outside[..] {
        return format!("all but {}", name(only));
    }
    let groups = network.group_count();
    let mut whole = Vec::new();
    let mut covered = 0;
    for group in 0..groups as u32 {
        let members: Vec<u32> = network
            .gpus()
            .iter()
            .copied()
            .filter(|gpu| network.nodes()[*gpu as usize].group == Some(group))
            .collect();
        if !members.is_empty() && members.iter().all(|gpu| is_in(*gpu)) {
            whole.push(group);
            covered += members.len();
        }
    }
    let gpus = inside.iter().filter(|node| !network.is_switch(**node)).count();
    match whole[..] {
        [only] if covered == gpus => format!("group {only}"),
        [..] if !whole.is_empty() && covered == gpus => {
            let names: Vec<String> = whole.iter().map(u32::to_string).collect();
            format!("groups {}", names.join(", "))
        }
        _ => {
            let names: Vec<String> = inside.iter().take(6).map(|node| name(*node)).collect();
            let rest = inside.len() - names.len();
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!("{{{}{more}}}", names.join(", "))
        }
    }
}

/// Returns the sets of nodes whose cuts are tried as bounds of a task, each with ascending nodes; the sets whose cuts
/// most often give the bound come first.
pub(crate) fn candidates(task: &CollectiveTask) -> Vec<Vec<u32>> {
    sets::candidates(task)
}

/// Computes the lower bounds on the finish of a task from paths, cuts and metrics, and returns the largest of them.
///
/// # Errors
/// If the run must stop.
pub fn bound<W: Watch<S>, S>(task: &CollectiveTask, watch: &mut W) -> Result<EpochBound, MethodError> {
    let mut best = EpochBound { epochs: 0, reason: BoundReason::Nothing };
    // Path bound: a chunk arrives at a destination no earlier than over its shortest path.
    let sources = sets::sources(task);
    for &(source, chunk_begin, chunk_end) in &sources {
        let row = task.distances.from(&task.network, source);
        for chunk in chunk_begin..chunk_end {
            for dest in task.chunks.dests(chunk) {
                // Of equal bounds, the first reason is kept, so that equal runs report the same reason.
                best.raise(row[dest as usize], || BoundReason::Path { from: source, to: dest });
            }
        }
        watch.checkpoint()?;
    }
    cuts::raise(task, &mut best, watch)?;
    metric::raise(task, &mut best, watch)?;
    Ok(best)
}
