//! List schedules: equal pieces are sent along their trees as soon as links are free; the piece with the longest
//! remaining path goes first (docs/methods/collective-trees.md, section 11). The schedule is built by events in order
//! of time.

use super::fold::Fold;
use super::timing::PieceTiming;
use super::tree::{ROOT, Tree};
use crate::model::passing::Passage;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Order in which pieces that wait for the same link are sent: by the longest remaining path, reduced by an amount that
/// grows with the position among the pieces of the tree.
///
/// With a pace of 0, pieces of the deepest trees go first, and links at the ends of paths fill gaps; with a pace of 1,
/// piece `j` of `n` counts as arriving later by `j / n` of the busiest link's total time, as in a periodic schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListOrder {
    /// Fraction of the busiest link's time over which the pieces of a tree are spread.
    pub pace: f64,
}

impl ListOrder {
    /// Orders to try.
    pub const ALL: [Self; 5] =
        [Self { pace: 0.0 }, Self { pace: 0.02 }, Self { pace: 0.1 }, Self { pace: 0.4 }, Self { pace: 1.0 }];
}

/// Pieces that follow a tree of a representative.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'t> {
    /// The tree.
    pub tree: &'t Tree,
    /// Number of pieces.
    pub pieces: u32,
}

/// Start of every hop of every piece. Images under the fold start at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListSchedule {
    /// Epochs until the last piece has arrived.
    pub finish: u32,
    /// Start of each hop: by batch, then piece, then hop.
    pub starts: Vec<Vec<u32>>,
}

/// A path over links that several hops share.
#[derive(Debug)]
struct HopChain {
    /// For each link: orbit, epochs after the start of the hop, epochs for which it is occupied.
    links: Vec<(u32, u32, u32)>,
    takes: u32,
    waiting: BinaryHeap<Reverse<Turn>>,
}

/// A hop of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WaitingHop {
    piece: u32,
    batch: u32,
    hop: u32,
}

/// Position of a hop among the hops that wait for the same links: key, time at which the hop began to wait, and the hop
/// itself.
type Turn = (i64, u32, WaitingHop);

/// A tree with the data for scheduling its hops.
struct Prepared {
    chains: Vec<u32>,
    tails: Vec<u32>,
    /// Children of each hop; the last entry has the hops that leave the root.
    children: Vec<Vec<u32>>,
    /// If switches copy: for each hop, the other hops from the same GPU that share its first link or more, each with
    /// the number of shared links.
    siblings: Vec<Vec<(u32, u32)>>,
    /// Number of epochs by which each piece of the tree counts as later than the piece before.
    pace: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Arrives(WaitingHop),
    Frees(u32),
}

/// Marker for a hop that has not started.
const UNSTARTED: u32 = u32::MAX;

/// Returns the schedule of all batches. All pieces are at their roots from the beginning. If switches copy, a piece
/// that enters a switch leaves it at once over all free links that its tree needs.
pub fn list_schedule(
    fold: &Fold,
    timing: &PieceTiming,
    batches: &[Batch<'_>],
    order: ListOrder,
    copies: bool,
) -> ListSchedule {
    let mut state = State {
        chains: Vec::new(),
        by_first: vec![Vec::new(); fold.class_links().len()],
        free: vec![0; fold.class_links().len()],
        next: vec![u32::MAX; fold.class_links().len()],
        happenings: BinaryHeap::new(),
    };
    // Hops over the same links share a chain.
    let mut known: FxHashMap<Vec<(u32, u32, u32)>, u32> = FxHashMap::default();
    let mut prepared: Vec<Prepared> =
        batches.iter().map(|batch| state.prepare(fold, timing, batch.tree, copies, &mut known)).collect();
    // Load of the busiest link. The pace of a tree is `order.pace` times this load divided by the number of pieces.
    let mut busy = vec![0.0; fold.class_links().len()];
    for batch in batches {
        for &link in batch.tree.links() {
            busy[fold.classes()[link as usize] as usize] +=
                f64::from(batch.pieces) * f64::from(timing.occupies[link as usize]);
        }
    }
    let busiest = busy.into_iter().fold(0.0, f64::max);
    for (prepared, batch) in prepared.iter_mut().zip(batches) {
        prepared.pace = order.pace * busiest / f64::from(batch.pieces.max(1));
    }
    let mut starts: Vec<Vec<u32>> = batches
        .iter()
        .map(|batch| vec![UNSTARTED; batch.pieces as usize * batch.tree.hops().len()])
        .collect();
    // All pieces are at their roots at epoch 0.
    for (place, batch) in batches.iter().enumerate() {
        for piece in 0..batch.pieces {
            state.arrive(0, &prepared[place], WaitingHop { piece, batch: place as u32, hop: ROOT });
        }
    }
    let mut finish = 0;
    // Event loop: arrivals, and links that become free.
    while let Some(Reverse((time, happening))) = state.happenings.pop() {
        match happening {
            Happening::Arrives(hop) => {
                finish = finish.max(time);
                state.arrive(time, &prepared[hop.batch as usize], hop);
            }
            Happening::Frees(class) => state.dispatch(time, class, &prepared, &mut starts),
        }
    }
    ListSchedule { finish, starts }
}

/// State of the links while time passes.
struct State {
    chains: Vec<HopChain>,
    by_first: Vec<Vec<u32>>,
    /// First epoch at which each orbit of links is free.
    free: Vec<u32>,
    /// Next epoch at which each orbit of links is processed.
    next: Vec<u32>,
    happenings: BinaryHeap<Reverse<(u32, Happening)>>,
}

impl State {
    fn prepare(
        &mut self,
        fold: &Fold,
        timing: &PieceTiming,
        tree: &Tree,
        copies: bool,
        known: &mut FxHashMap<Vec<(u32, u32, u32)>, u32>,
    ) -> Prepared {
        let hops = tree.hops();
        let mut chains = Vec::with_capacity(hops.len());
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); hops.len() + 1];
        for (place, hop) in hops.iter().enumerate() {
            let passages = timing.passages(tree.links_of(hop));
            // Links in the order in which data crosses them: a switch passes data on at once.
            let takes = passages.last().map_or(0, |last| last.arrives);
            let occupied = |(link, passage): (&u32, &Passage)| {
                let link = *link as usize;
                (fold.classes()[link], passage.transmits, timing.occupies[link])
            };
            let links: Vec<_> = tree.links_of(hop).iter().zip(&passages).map(occupied).collect();
            let chain = *known.entry(links.clone()).or_insert_with(|| {
                let chain = self.chains.len() as u32;
                if let Some(first) = links.first() {
                    self.by_first[first.0 as usize].push(chain);
                }
                self.chains.push(HopChain { links, takes, waiting: BinaryHeap::new() });
                chain
            });
            chains.push(chain);
            let parent = if hop.parent == ROOT { hops.len() } else { hop.parent as usize };
            children[parent].push(place as u32);
        }
        let mut tails = vec![0; hops.len()];
        // Longest remaining path from each hop, from the leaves up.
        for place in (0..hops.len()).rev() {
            let rest = children[place].iter().map(|child| tails[*child as usize]).max().unwrap_or(0);
            tails[place] = rest + self.chains[chains[place] as usize].takes;
        }
        // Hops of one GPU that share first links can start together.
        let mut siblings = vec![Vec::new(); hops.len()];
        if copies {
            let links = |hop: u32| tree.links_of(&hops[hop as usize]);
            let shared = |one: u32, two: u32| {
                let both = links(one).iter().zip(links(two));
                both.take_while(|(one, two)| one == two).count() as u32
            };
            for family in &children {
                for &hop in family {
                    let others = family
                        .iter()
                        .filter(|other| **other != hop)
                        .map(|other| (*other, shared(hop, *other)));
                    siblings[hop as usize] = others.filter(|(_, shared)| *shared > 0).collect();
                }
            }
        }
        Prepared { chains, tails, children, siblings, pace: 0.0 }
    }

    /// Records that a piece has crossed a hop (or, with [`ROOT`], is at its root), so that the next hops wait for their
    /// links.
    fn arrive(&mut self, time: u32, prepared: &Prepared, arrived: WaitingHop) {
        let place = if arrived.hop == ROOT { prepared.chains.len() } else { arrived.hop as usize };
        for &hop in &prepared.children[place] {
            let chain = prepared.chains[hop as usize];
            // The key of a waiting piece is its number times `pace`, minus the longest remaining path; the smallest key
            // goes first.
            let later = (f64::from(arrived.piece) * prepared.pace) as i64;
            let key = later - i64::from(prepared.tails[hop as usize]);
            self.chains[chain as usize].waiting.push(Reverse((key, time, WaitingHop { hop, ..arrived })));
            let earliest = self.earliest(chain).max(time);
            if let Some(&(first, ..)) = self.chains[chain as usize].links.first() {
                self.look(first, earliest);
            }
        }
    }

    /// Returns the first epoch at which a piece can start on a chain so that it finds every link of the chain free.
    fn earliest(&self, chain: u32) -> u32 {
        let links = self.chains[chain as usize].links.iter();
        // Each link must be free when the piece reaches it.
        links.map(|(class, offset, _)| self.free[*class as usize].saturating_sub(*offset)).max().unwrap_or(0)
    }

    /// Plans an event that processes a class of links at an epoch, unless an earlier event for this class is planned.
    fn look(&mut self, class: u32, time: u32) {
        if time < self.next[class as usize] {
            self.next[class as usize] = time;
            self.happenings.push(Reverse((time, Happening::Frees(class))));
        }
    }

    /// Of the hops that wait for a class of links, starts the first hop whose links are all free when the piece reaches
    /// them.
    fn dispatch(&mut self, time: u32, class: u32, prepared: &[Prepared], starts: &mut [Vec<u32>]) {
        // A newer event for this class is scheduled.
        if self.next[class as usize] != time {
            return;
        }
        self.next[class as usize] = u32::MAX;
        let place = |hop: WaitingHop| {
            hop.piece as usize * prepared[hop.batch as usize].chains.len() + hop.hop as usize
        };
        // The best hop over all chains that begin with this link.
        let mut best: Option<(Reverse<Turn>, u32)> = None;
        for at in 0..self.by_first[class as usize].len() {
            let chain = self.by_first[class as usize][at];
            let waiting = &mut self.chains[chain as usize].waiting;
            // Hops that started together with another hop remain in the heap.
            while let Some(Reverse((_, _, hop))) = waiting.peek() {
                if starts[hop.batch as usize][place(*hop)] == UNSTARTED {
                    break;
                }
                waiting.pop();
            }
            let Some(&top) = waiting.peek() else { continue };
            if best.as_ref().is_none_or(|best| top > best.0) && self.earliest(chain) <= time {
                best = Some((top, chain));
            }
        }
        let started = best.is_some();
        if let Some((Reverse((_, _, hop)), chain)) = best {
            self.chains[chain as usize].waiting.pop();
            self.start(time, hop, chain, 0);
            starts[hop.batch as usize][place(hop)] = time;
            self.start_copies(time, hop, prepared, starts);
        }
        // The next event: the time at which some chain can start.
        let waiting = self.by_first[class as usize].iter();
        let waiting = waiting.filter(|chain| !self.chains[**chain as usize].waiting.is_empty());
        if let Some(next) = waiting.map(|chain| self.earliest(*chain)).min() {
            self.look(class, next.max(time + u32::from(!started)));
        }
    }

    /// Occupies the links of a chain from position `from` for a hop that starts now.
    fn start(&mut self, time: u32, hop: WaitingHop, chain: u32, from: usize) {
        let chain = &self.chains[chain as usize];
        for &(class, offset, occupies) in &chain.links[from..] {
            // A link is occupied from the time at which the piece crosses it.
            self.free[class as usize] = time + offset + occupies;
        }
        self.happenings.push(Reverse((time + chain.takes, Happening::Arrives(hop))));
    }

    /// After a hop has started, starts the other hops of the same piece that can share its first links and whose other
    /// links are free.
    fn start_copies(&mut self, time: u32, hop: WaitingHop, prepared: &[Prepared], starts: &mut [Vec<u32>]) {
        let tree = &prepared[hop.batch as usize];
        let place = |other: u32| hop.piece as usize * tree.chains.len() + other as usize;
        // Hops of the same piece that leave the same GPU.
        for &(other, shared) in &tree.siblings[hop.hop as usize] {
            if starts[hop.batch as usize][place(other)] != UNSTARTED {
                continue;
            }
            let chain = tree.chains[other as usize];
            let rest = &self.chains[chain as usize].links[shared as usize..];
            // Links after the shared ones must be free.
            let free = |(class, offset, _): &(u32, u32, u32)| self.free[*class as usize] <= time + offset;
            if !rest.is_empty() && rest.iter().all(free) {
                starts[hop.batch as usize][place(other)] = time;
                self.start(time, WaitingHop { hop: other, ..hop }, chain, shared as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests;
