//! Matches pieces to links by earliest arrival, as TACOS does in time-expanded networks
//! (docs/methods/collective-trees.md, section 11), on the reduced network: whenever a link is free, it starts a piece
//! that its head neither has nor awaits.
//!
//! Every piece thus gets a separate tree, and no rounding of shares unbalances the load: on direct networks with many
//! equal links, all links are busy until shortly before the end. One link represents its class, because the images of a
//! piece use the other links of the class at the same time.

use super::fold::Fold;
use super::timing::PieceTiming;
use super::tree::{ROOT, Tree};
use crate::scenario::network::LinkNetwork;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Order in which pieces that wait for the same link are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchOrder {
    /// Random order.
    Random,
    /// Pieces for GPUs near the root go first; ties are random.
    Near,
    /// Pieces for GPUs far from the root go first; ties are random.
    Far,
}

impl MatchOrder {
    /// All orders.
    pub const ALL: [Self; 3] = [Self::Random, Self::Near, Self::Far];
}

/// Trees of single pieces, with the start of every hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// Number of pieces of every root.
    pub pieces: u32,
    /// Epochs until the last piece has arrived.
    pub finish: u32,
    /// The tree of each piece, root by root.
    pub trees: Vec<Tree>,
    /// Start of each hop, by tree.
    pub starts: Vec<Vec<u32>>,
}

/// Events of the simulation; in each epoch, arrivals are processed before links start pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// A piece has arrived at a node.
    Arrives { piece: u32, node: u32 },
    /// A class of links is free to start a piece.
    Frees { class: u32 },
}

/// A transmission that waits for a free link: its key, a random number, the piece and the link.
type WaitingStart = (i32, u32, u32, u32);

/// Number of events between two stop checks.
const BETWEEN: u32 = 4_096;

/// Returns `true` if a network consists only of GPUs and links between them. Matching then considers every possible
/// hop, because each hop is one link.
pub fn suits(network: &LinkNetwork) -> bool {
    network.gpus().len() == network.node_count()
}

/// Returns trees of `pieces` pieces for each of `roots`, which represent their orbits; `None` if some GPU cannot be
/// reached, or if there are too many epochs.
///
/// # Errors
/// If the run must stop.
pub fn matching<W: Watch>(
    (network, fold): (&LinkNetwork, &Fold),
    roots: &[u32],
    timing: &PieceTiming,
    pieces: u32,
    order: MatchOrder,
    watch: &mut W,
) -> Result<Option<Matching>, MethodError> {
    let classes = fold.class_links().len();
    let mut state = Matcher {
        network,
        fold,
        timing,
        trees: Vec::with_capacity(roots.len() * pieces as usize),
        starts: Vec::new(),
        reached: Vec::new(),
        keys: roots.iter().map(|root| keys(network, *root, order)).collect(),
        pieces,
        waiting: vec![BinaryHeap::new(); classes],
        free: vec![0; classes],
        next: vec![u32::MAX; classes],
        happenings: BinaryHeap::new(),
        // The seed is fixed, so equal input gives equal plans.
        random: 0x9e37_79b9,
    };
    // Every piece is at its root at epoch 0.
    for root in roots {
        for _ in 0..pieces {
            let piece = state.trees.len() as u32;
            state.trees.push(Tree::new(*root));
            state.starts.push(Vec::with_capacity(network.node_count()));
            let mut reached = vec![UNREACHED; network.node_count()];
            reached[*root as usize] = ROOT;
            state.reached.push(reached);
            state.happenings.push(Reverse((0, Happening::Arrives { piece, node: *root })));
        }
    }
    let (mut finish, mut seen) = (0, 0);
    // Events in order of time.
    while let Some(Reverse((time, happening))) = state.happenings.pop() {
        seen += 1;
        if seen % BETWEEN == 0 {
            watch.checkpoint()?;
        }
        match happening {
            Happening::Arrives { piece, node } => {
                finish = finish.max(time);
                state.arrive(time, piece, node);
            }
            Happening::Frees { class } => {
                if state.start_next(time, class).is_none() {
                    return Ok(None);
                }
            }
        }
    }
    let spans = |tree: &Tree| tree.hops().len() + 1 == network.node_count();
    let complete = state.trees.iter().all(spans);
    let Matcher { trees, starts, .. } = state;
    Ok(complete.then_some(Matching { pieces, finish, trees, starts }))
}

/// Marker for a node at which a piece neither is nor will arrive. [`ROOT`] marks its root.
const UNREACHED: u32 = u32::MAX - 1;

/// Returns the key of every node: the node with the smallest key is served first.
fn keys(network: &LinkNetwork, root: u32, order: MatchOrder) -> Vec<i32> {
    let mut keys = vec![0; network.node_count()];
    if order == MatchOrder::Random {
        return keys;
    }
    let step = if order == MatchOrder::Near { 1 } else { -1 };
    let mut seen = vec![false; network.node_count()];
    // Breadth first from the root: keys are numbers of hops, or their negatives.
    let mut queue = VecDeque::from([root]);
    seen[root as usize] = true;
    while let Some(node) = queue.pop_front() {
        for &link in network.out_links(node) {
            let head = network.links()[link as usize].to;
            if !std::mem::replace(&mut seen[head as usize], true) {
                keys[head as usize] = keys[node as usize] + step;
                queue.push_back(head);
            }
        }
    }
    keys
}

/// State during the simulation.
struct Matcher<'n> {
    network: &'n LinkNetwork,
    fold: &'n Fold,
    timing: &'n PieceTiming,
    trees: Vec<Tree>,
    starts: Vec<Vec<u32>>,
    /// Hop that brings each piece to each node.
    reached: Vec<Vec<u32>>,
    /// Key of each node, by root.
    keys: Vec<Vec<i32>>,
    pieces: u32,
    /// Transmissions that wait for a free link, by link class; a transmission is skipped if its piece has reached the
    /// far end of the link over another link.
    waiting: Vec<BinaryHeap<Reverse<WaitingStart>>>,
    /// First epoch at which each class is free.
    free: Vec<u32>,
    /// Next epoch at which each class is processed.
    next: Vec<u32>,
    happenings: BinaryHeap<Reverse<(u32, Happening)>>,
    random: u32,
}

impl Matcher<'_> {
    /// Returns the next number of a xorshift generator: ties need no better generator, and a fixed seed makes plans
    /// reproducible.
    fn random(&mut self) -> u32 {
        let mut next = self.random;
        next ^= next << 13;
        next ^= next >> 17;
        next ^= next << 5;
        self.random = next;
        next
    }

    /// Plans an event that processes a class of links at an epoch, unless an earlier event for this class is planned.
    fn look(&mut self, class: u32, time: u32) {
        if time < self.next[class as usize] {
            self.next[class as usize] = time;
            self.happenings.push(Reverse((time, Happening::Frees { class })));
        }
    }

    /// Records that a piece is at a node, so that the links out of the node may send the piece to nodes that do not
    /// await this piece.
    fn arrive(&mut self, time: u32, piece: u32, node: u32) {
        let network = self.network;
        for &link in network.out_links(node) {
            let head = network.links()[link as usize].to;
            // The node already has or awaits the piece: no second tree edge into it.
            if self.reached[piece as usize][head as usize] != UNREACHED {
                continue;
            }
            let class = self.fold.classes()[link as usize];
            let key = self.keys[(piece / self.pieces) as usize][head as usize];
            let tie = self.random();
            self.waiting[class as usize].push(Reverse((key, tie, piece, link)));
            self.look(class, time.max(self.free[class as usize]));
        }
    }

    /// Starts the first piece that waits for a class; `None` if an epoch number overflows.
    fn start_next(&mut self, time: u32, class: u32) -> Option<()> {
        let place = class as usize;
        // A newer event for this class is scheduled.
        if self.next[place] != time {
            return Some(());
        }
        self.next[place] = u32::MAX;
        // Drops stale starts when they reach the top of the heap.
        while let Some(Reverse((_, _, piece, link))) = self.waiting[place].pop() {
            let ends = &self.network.links()[link as usize];
            let reached = &mut self.reached[piece as usize];
            if reached[ends.to as usize] != UNREACHED {
                continue;
            }
            let parent = reached[ends.from as usize];
            // The piece gets its tree edge when it starts.
            reached[ends.to as usize] = self.trees[piece as usize].add(parent, ends.from, ends.to, &[link]);
            self.starts[piece as usize].push(time);
            self.free[place] = time.checked_add(self.timing.occupies[link as usize])?;
            let arrival = self.free[place].checked_add(self.timing.delays[link as usize])?;
            self.happenings.push(Reverse((arrival, Happening::Arrives { piece, node: ends.to })));
            break;
        }
        if !self.waiting[place].is_empty() {
            self.look(class, self.free[place].max(time + 1));
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
