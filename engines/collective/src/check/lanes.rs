//! Paths of chunks through cut-through switches. A hop out of such a switch takes longer if the incoming transmission
//! was faster, so each switch is represented once for every pace of arriving chunks: the number of epochs that the
//! slowest transmission of a chunk on its path through switches took so far.

use super::links::CheckedLink;

/// A link out of a GPU, or a link out of a switch for data that arrives at one pace.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkLane<'a> {
    /// Node (or switch at a pace) that the lane leaves.
    pub(super) tail: usize,
    /// Node (or switch at a pace) that the lane enters.
    pub(super) head: usize,
    pub(super) link: &'a CheckedLink,
    /// Epochs from a start until the data is usable at the head.
    pub(super) latency: u64,
    /// Number of epochs by which the start on this lane is later than the earliest start on a lane of the same link, if
    /// both transmissions begin in the same epoch.
    pub(super) shift: u64,
}

/// All lanes, link by link.
#[derive(Debug)]
pub(super) struct Lanes<'a> {
    /// Tail and head of every link in the direction of planning, with the lanes of the link.
    pub(super) links: Vec<(u32, u32, Vec<LinkLane<'a>>)>,
    /// Number of nodes of the lanes; a switch with several paces counts once for each pace.
    pub(super) count: usize,
    is_switch: &'a [bool],
}

impl<'a> Lanes<'a> {
    /// Builds the lanes of links with tails and heads.
    pub(super) fn new(
        links: &[(u32, u32, &'a CheckedLink)],
        is_switch: &'a [bool],
        cuts_through: bool,
    ) -> Self {
        let through = |tail: u32| cuts_through && is_switch[tail as usize];
        // Paces at which chunks arrive at each switch, ascending.
        let mut paces: Vec<Vec<u32>> = vec![Vec::new(); is_switch.len()];
        loop {
            let mut changed = false;
            for &(tail, head, link) in links {
                if !through(head) {
                    continue;
                }
                let before = if through(tail) { paces[tail as usize].clone() } else { vec![0] };
                for pace in before {
                    let pace = pace.max(link.window);
                    if let Err(at) = paces[head as usize].binary_search(&pace) {
                        paces[head as usize].insert(at, pace);
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let mut count = is_switch.len();
        let first_extra: Vec<usize> = paces
            .iter()
            .map(|paces| {
                let first = count;
                count += paces.len().saturating_sub(1);
                first
            })
            .collect();
        let place = |node: u32, at: usize| {
            if at == 0 { node as usize } else { first_extra[node as usize] + at - 1 }
        };
        let lanes = links.iter().map(|&(tail, head, link)| {
            let of_tail: Vec<u32> = if through(tail) && !paces[tail as usize].is_empty() {
                paces[tail as usize].clone()
            } else {
                vec![0]
            };
            let early = |pace: u32| if through(tail) { pace.min(link.window) } else { 0 };
            let first = of_tail.iter().map(|pace| early(*pace)).min().unwrap_or(0);
            let lane = |(at, &pace): (usize, &u32)| {
                let rest = if through(tail) { link.window.saturating_sub(pace) } else { link.window };
                let arrives = paces[head as usize].binary_search(&pace.max(link.window)).unwrap_or(0);
                LinkLane {
                    tail: place(tail, at),
                    head: if through(head) { place(head, arrives) } else { head as usize },
                    link,
                    latency: u64::from(link.delay) + u64::from(rest),
                    shift: u64::from(early(pace) - first),
                }
            };
            (tail, head, of_tail.iter().enumerate().map(lane).collect())
        });
        Self { links: lanes.collect(), count, is_switch }
    }

    /// Returns the lengths of the shortest paths over lanes from a node to every node, or (with `into`) from every node
    /// to this node. Each pace of a switch counts as a node.
    pub(super) fn distances(
        &self,
        node: usize,
        into: bool,
        length: impl Fn(&LinkLane<'_>) -> u64,
    ) -> Vec<u64> {
        let mut best = vec![super::bound::FAR; self.count];
        best[node] = 0;
        // Rounds over all links until nothing changes (Bellman and Ford).
        loop {
            let mut changed = false;
            for lane in self.links.iter().flat_map(|(.., lanes)| lanes) {
                let (near, far) = if into { (lane.head, lane.tail) } else { (lane.tail, lane.head) };
                let reached = best[near] + length(lane);
                if reached < best[far] {
                    best[far] = reached;
                    changed = true;
                }
            }
            if !changed {
                return best;
            }
        }
    }

    /// Returns `true` if a node is a switch.
    pub(super) fn is_switch(&self, node: u32) -> bool {
        self.is_switch[node as usize]
    }
}
