//! Executes a schedule on the whole pod and reports the first error. This module shares no code with the planners.

use super::{Collective, Schedule, Send};
use crate::model::pod::PORTS;
use crate::model::topology::Topology;
use lightbay_core::problem::Problem;

/// Executes a schedule and checks that no arc is used twice in an epoch, that every chip sends only shards that it
/// holds at the beginning of the epoch, and that at the end every chip has the shards that the collective requires.
///
/// # Errors
/// The first error.
pub fn check(pod: &Topology, schedule: &Schedule) -> Result<(), Problem> {
    let copies = schedule.copies(pod)?;
    if schedule.sends.windows(2).any(|pair| pair[0].epoch > pair[1].epoch) {
        return Err(wrong("must list the sends in ascending order of epochs".to_owned()));
    }
    let nodes = pod.nodes();
    let mut state = match schedule.collective {
        Collective::AllGather => State::gathering(nodes),
        Collective::ReduceScatter | Collective::AllReduce => State::reducing(nodes),
        Collective::AllToAll => State::exchanging(nodes),
    };
    let neighbours = pod.neighbours();
    // Epoch of the last use of each arc, plus 1.
    let mut used = vec![0; nodes * PORTS];
    let mut copied = Vec::new();
    let mut reduced = schedule.collective != Collective::AllReduce;
    for epoch in schedule.sends.chunk_by(|a, b| a.epoch == b.epoch) {
        let now = epoch[0].epoch;
        if now >= schedule.epochs {
            return Err(wrong(format!("sends in epoch {now}, but has only {} epochs", schedule.epochs)));
        }
        if !reduced && now >= schedule.epochs / 2 {
            state.finish_reduction()?;
            state = State::gathering(nodes);
            reduced = true;
        }
        copied.clear();
        copied.reserve(epoch.len() * copies);
        for send in epoch {
            schedule.each_copy(pod, send, |copy| copied.push(copy));
        }
        for send in &copied {
            let last =
                used.get_mut(send.arc as usize).ok_or_else(|| wrong(format!("uses arc {}", send.arc)))?;
            if *last == now + 1 {
                return Err(wrong(format!("uses arc {} twice in epoch {now}", send.arc)));
            }
            *last = now + 1;
        }
        state.apply(&copied, &neighbours)?;
    }
    state.finish(schedule.collective)
}

fn wrong(what: String) -> Problem {
    Problem::new("schedule", what, "please report this")
}

/// Shards on all chips.
enum State {
    /// `held[node * nodes + shard]`: `true` if the chip holds the shard.
    Gathering { nodes: usize, held: Vec<bool> },
    /// Number of contributions in each partial sum; `GONE` after the partial sum was sent on.
    Reducing { nodes: usize, parts: Vec<u16> },
    /// Chip that holds the shard of each pair `source * nodes + target`.
    Exchanging { nodes: usize, at: Vec<u32> },
}

const GONE: u16 = u16::MAX;

impl State {
    fn gathering(nodes: usize) -> Self {
        let mut held = vec![false; nodes * nodes];
        (0..nodes).for_each(|node| held[node * nodes + node] = true);
        Self::Gathering { nodes, held }
    }

    fn reducing(nodes: usize) -> Self {
        Self::Reducing { nodes, parts: vec![1; nodes * nodes] }
    }

    fn exchanging(nodes: usize) -> Self {
        Self::Exchanging { nodes, at: (0..nodes * nodes).map(|pair| (pair / nodes) as u32).collect() }
    }

    fn apply(&mut self, sends: &[Send], neighbours: &[[u32; PORTS]]) -> Result<(), Problem> {
        let ends = |send: &Send| {
            let (node, port) = (send.arc as usize / PORTS, send.arc as usize % PORTS);
            (node, neighbours[node][port] as usize)
        };
        let early = |send: &Send| {
            let node = send.arc as usize / PORTS;
            wrong(format!(
                "lets chip {node} send shard {} in epoch {} before the chip has received the shard",
                send.shard, send.epoch
            ))
        };
        match self {
            Self::Gathering { nodes, held } => {
                for send in sends {
                    let shard = send.shard as usize;
                    if shard >= *nodes || !held[ends(send).0 * *nodes + shard] {
                        return Err(early(send));
                    }
                }
                for send in sends {
                    held[ends(send).1 * *nodes + send.shard as usize] = true;
                }
            }
            Self::Reducing { nodes, parts } => {
                let mut moved = Vec::with_capacity(sends.len());
                for send in sends {
                    let shard = send.shard as usize;
                    if shard >= *nodes || parts[ends(send).0 * *nodes + shard] == GONE {
                        return Err(early(send));
                    }
                    moved.push(std::mem::replace(&mut parts[ends(send).0 * *nodes + shard], GONE));
                }
                for (send, more) in sends.iter().zip(moved) {
                    let sum = &mut parts[ends(send).1 * *nodes + send.shard as usize];
                    if *sum == GONE {
                        return Err(wrong(format!(
                            "adds to shard {} at chip {} after the partial sum was sent on",
                            send.shard,
                            ends(send).1
                        )));
                    }
                    *sum += more;
                }
            }
            Self::Exchanging { at, .. } => {
                for send in sends {
                    if at.get(send.shard as usize).is_none_or(|&at| at as usize != ends(send).0) {
                        return Err(early(send));
                    }
                }
                for send in sends {
                    at[send.shard as usize] = ends(send).1 as u32;
                }
            }
        }
        Ok(())
    }

    fn finish_reduction(&self) -> Result<(), Problem> {
        let Self::Reducing { nodes, parts } = self else {
            return Err(wrong("does not reduce before it gathers".to_owned()));
        };
        match (0..*nodes).find(|&node| usize::from(parts[node * nodes + node]) != *nodes) {
            None => Ok(()),
            Some(node) => Err(wrong(format!(
                "ends with {} of {nodes} contributions at chip {node}",
                parts[node * nodes + node]
            ))),
        }
    }

    fn finish(&self, collective: Collective) -> Result<(), Problem> {
        match self {
            Self::Gathering { nodes, held } => match held.iter().position(|held| !held) {
                None => Ok(()),
                Some(at) => {
                    Err(wrong(format!("does not deliver shard {} to chip {}", at % nodes, at / nodes)))
                }
            },
            Self::Reducing { .. } if collective == Collective::AllReduce => {
                Err(wrong("never gathers".to_owned()))
            }
            Self::Reducing { .. } => self.finish_reduction(),
            Self::Exchanging { nodes, at } => {
                match at.iter().enumerate().find(|&(pair, &at)| at as usize != pair % nodes) {
                    None => Ok(()),
                    Some((pair, at)) => Err(wrong(format!(
                        "does not deliver the shard from chip {} to chip {}: the shard ends at chip {at}",
                        pair / nodes,
                        pair % nodes
                    ))),
                }
            }
        }
    }
}
