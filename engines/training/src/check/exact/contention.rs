//! Transfers that can overlap on a link or a NIC, by reachability in the graph.

use crate::check::case::{Case, Work};
use crate::check::nics::NicGroup;
use crate::check::walk::work_after;

/// Contention of transfers for links.
pub(super) struct Contention {
    /// Directed link of every task.
    pub directed: Vec<usize>,
    /// Per directed link, the transfers that no other transfer follows.
    pub sinks: Vec<Vec<usize>>,
    /// Per link, the number of circuits above which another circuit changes nothing.
    pub useful: Vec<u32>,
    /// `true` if transfers compete only for directed links (not for NICs), and only with other sinks of the same
    /// directed link that have no work after them.
    pub exact: bool,
}

impl Contention {
    /// Derives the contention of a case; `None` if the reachability matrix would need more than `visits` operations on
    /// words.
    pub fn of(case: &Case<'_>, nics: &[NicGroup], visits: usize) -> Option<Self> {
        let tasks = case.net.tasks.len();
        let words = tasks.div_ceil(64);
        if case.dag.nodes().len().saturating_mul(words.max(1)) > visits.min(100_000_000) {
            return None;
        }
        let before = ancestors(case, words);
        let ordered = |a: usize, b: usize| has(&before[a], b) || has(&before[b], a);
        let mut followed = vec![false; tasks];
        for ancestors in &before {
            for (task, followed) in followed.iter_mut().enumerate() {
                *followed |= has(ancestors, task);
            }
        }
        let directed = case.directed_links();
        let mut users = vec![Vec::new(); 2 * case.net.links.len()];
        let mut sinks = vec![Vec::new(); 2 * case.net.links.len()];
        for (task, directed) in directed.iter().enumerate() {
            users[*directed].push(task);
            if !followed[task] {
                sinks[*directed].push(task);
            }
        }
        let rest_s = work_after(&case.dag);
        let node_of = case.dag.transfers(tasks);
        let understood = |users: &Vec<usize>, sinks: &Vec<usize>| {
            let trailing = sinks.len() > 1 && sinks.iter().any(|task| rest_s[node_of[*task]] > 0.0);
            let met = pairs(users).any(|(a, b)| (followed[a] || followed[b]) && !ordered(a, b));
            !trailing && !met && sinks.len() <= super::MOST_TOGETHER
        };
        let free_nics = nics.iter().all(|group| {
            let members: Vec<usize> = group.members.iter().map(|(task, _)| *task).collect();
            group.members.iter().all(|(_, flows)| *flows == 1) && pairs(&members).all(|(a, b)| ordered(a, b))
        });
        let exact = free_nics && users.iter().zip(&sinks).all(|(users, sinks)| understood(users, sinks));
        let flows = |task: &usize| case.net.tasks[*task].flows;
        let useful = (0..case.net.links.len())
            .map(|link| {
                let largest = (0..2).flat_map(|side| &users[2 * link + side]).map(flows).max().unwrap_or(1);
                let together =
                    |side: usize| sinks[2 * link + side].iter().map(flows).fold(0, u32::saturating_add);
                largest.max(together(0)).max(together(1))
            })
            .collect();
        Some(Self { directed, sinks, useful, exact })
    }
}

fn pairs(tasks: &[usize]) -> impl Iterator<Item = (usize, usize)> + '_ {
    tasks.iter().enumerate().flat_map(|(index, a)| tasks[index + 1..].iter().map(|b| (*a, *b)))
}

fn has(set: &[u64], task: usize) -> bool {
    set[task / 64] >> (task % 64) & 1 == 1
}

/// For every task the set of tasks that come before it.
fn ancestors(case: &Case<'_>, words: usize) -> Vec<Vec<u64>> {
    let mut of_task = vec![Vec::new(); case.net.tasks.len()];
    let mut of_node: Vec<Vec<u64>> = Vec::with_capacity(case.dag.nodes().len());
    for (index, node) in case.dag.nodes().iter().enumerate() {
        let mut set = vec![0_u64; words];
        for (pred, _) in case.dag.preds(index) {
            for (word, more) in set.iter_mut().zip(&of_node[*pred]) {
                *word |= more;
            }
            if let Work::Transfer(task) = case.dag.nodes()[*pred].work {
                set[task / 64] |= 1 << (task % 64);
            }
        }
        if let Work::Transfer(task) = node.work {
            of_task[task].clone_from(&set);
        }
        of_node.push(set);
    }
    of_task
}
