//! Tasks that can ever compete for a link or a NIC, and the test whether all competition is among last transfers.
//!
//! Two tasks are contended if they share a directed link or a NIC group and no path of the DAG orders them. A task with
//! several flows on one NIC is contended too. All other tasks always run alone. A scenario is *tail-exact* if neither
//! tasks nor flows of one task can compete for a NIC, every contended task is a sink (a task without successors), and
//! equal work (tails) follows the contended sinks of each directed link. Start times then follow from a longest path,
//! and only the sinks of each directed link share capacity.

use crate::model::network::Network;
use std::fmt;

/// Reason that a scenario is not tail-exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loose {
    /// Two unordered tasks share the NIC of a GPU (or one task uses a NIC with several flows).
    SharedNic {
        /// A task of the NIC group.
        task: u32,
        /// Another task of the NIC group, or the same task if it uses a NIC with several flows.
        other: u32,
    },
    /// A task with successors shares a directed link with a task that may run at the same time.
    ContendedBeforeTail {
        /// The link.
        link: u32,
        /// The task with successors.
        task: u32,
        /// The task that shares the link.
        other: u32,
    },
    /// Contended sinks of one directed link have tails of different length.
    UnequalTails {
        /// The link.
        link: u32,
    },
}

impl fmt::Display for Loose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SharedNic { task, other } if task == other => {
                write!(f, "task {task} sends or receives several flows on one NIC")
            }
            Self::SharedNic { task, other } => {
                write!(f, "tasks {task} and {other} may use the NIC of one GPU at the same time")
            }
            Self::ContendedBeforeTail { link, task, other } => write!(
                f,
                "task {task}, for which other tasks wait, may share link {link} with task {other} at the same time"
            ),
            Self::UnequalTails { link } => {
                write!(f, "work of different length follows the last transfers of link {link}")
            }
        }
    }
}

/// Contention of the tasks of a network.
#[derive(Clone, Debug)]
pub struct Contention {
    /// `true` if a task can compete with another task, or if its own flows compete for a NIC.
    pub contended: Vec<bool>,
    /// `true` if a task can compete for a NIC with another task, or if its own flows compete for a NIC.
    pub nic_contended: Vec<bool>,
    /// One reason for every directed link and NIC group that breaks tail-exactness; empty if tail-exact.
    pub loose: Vec<Loose>,
    /// Per link, `true` if it carries only sinks, so that its circuit count delays no other task.
    pub leaf: Vec<bool>,
}

impl Contention {
    /// Determines the contention of the tasks of a network.
    pub fn new(network: &Network) -> Self {
        let n = network.tasks();
        let mut contended = vec![false; n];
        let mut nic_contended = vec![false; n];
        let mut loose = Vec::new();
        // Tasks of a NIC group are contended if they are unordered, or if a task has several flows on a NIC.
        for group in &network.nic_groups {
            let mut example = None;
            for (index, &(u, weight)) in group.members.iter().enumerate() {
                // Several flows on one NIC share it among themselves.
                if weight > 1.0 {
                    nic_contended[u as usize] = true;
                    example.get_or_insert((u, u));
                }
                for &(v, _) in &group.members[index + 1..] {
                    // Unordered: they can run at the same time.
                    if !network.precedence.before(u, v) {
                        nic_contended[u as usize] = true;
                        nic_contended[v as usize] = true;
                        example.get_or_insert((u, v));
                    }
                }
            }
            // One example per group is enough for the user.
            if let Some((task, other)) = example {
                loose.push(Loose::SharedNic { task, other });
            }
        }
        for (via, tasks) in network.carried.iter().enumerate() {
            // A chain never competes with itself.
            // Its tasks are ordered one after the other.
            if network.precedence.is_chain(tasks) {
                continue;
            }
            let link = via as u32 / 2;
            let mut example = None;
            for (index, &u) in tasks.iter().enumerate() {
                // Pairs in topological order: not `before` means unordered.
                for &v in &tasks[index + 1..] {
                    if network.precedence.before(u, v) {
                        continue;
                    }
                    contended[u as usize] = true;
                    contended[v as usize] = true;
                    // The example names the task with successors first, because this task makes the scenario not
                    // tail-exact.
                    if let Some(&inner) = [u, v].iter().find(|task| !network.is_sink(**task)) {
                        example.get_or_insert((inner, if inner == u { v } else { u }));
                    }
                }
            }
            if let Some((task, other)) = example {
                loose.push(Loose::ContendedBeforeTail { link, task, other });
            }
            // A longer tail violates the common deadline that level-first needs.
            let mut tails = tasks
                .iter()
                .filter(|t| contended[**t as usize] && network.is_sink(**t))
                .map(|t| network.tail[*t as usize]);
            // Tails are compared exactly: equal tails result from equal sums.
            if let Some(first) = tails.next()
                && tails.any(|tail| tail != first)
            {
                loose.push(Loose::UnequalTails { link });
            }
        }
        // Competition for either resource makes a task contended.
        for (flag, nic) in contended.iter_mut().zip(&nic_contended) {
            *flag |= nic;
        }
        let leaf = network
            // A leaf link carries only sinks, so its circuits delay no other task.
            .carried
            .chunks(2)
            .map(|pair| pair.iter().flatten().all(|task| network.is_sink(*task)))
            .collect();
        Self { contended, nic_contended, loose, leaf }
    }

    /// Returns `true` if the joint optimum of fixed circuits follows from a longest path and the tails alone.
    pub fn tail_exact(&self) -> bool {
        self.loose.is_empty()
    }

    /// Returns `true` if only sinks compete, and only for links; their tails may differ.
    pub fn sinks_only(&self) -> bool {
        self.loose.iter().all(|reason| matches!(reason, Loose::UnequalTails { .. }))
    }

    /// Number of contended tasks.
    pub fn count(&self) -> usize {
        self.contended.iter().filter(|flag| **flag).count()
    }
}

#[cfg(test)]
mod tests;
