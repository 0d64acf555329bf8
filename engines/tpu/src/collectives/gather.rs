//! All-gather by flooding: in every epoch each link carries a shard that its receiver lacks, rarest origin first.

use super::{Collective, Schedule, Send, gather_bound};
use crate::model::pod::{CHIPS, PORTS};
use crate::model::topology::Topology;
use crate::plan::Expansion;
use lightbay_core::method::MethodError;
use lightbay_core::problem::Problem;
use lightbay_core::random::{Stream, Streams};
use lightbay_core::watch::Watch;
use rand::Rng;

/// Maximum number of floodings, each with another random order; the first schedule that meets the bound ends the
/// search.
const ATTEMPTS: u64 = 24;
/// Maximum number of chips of a pod without symmetry, because a schedule has one entry for every pair.
const MOST_WITHOUT_SYMMETRY: usize = 4096;

/// An all-gather, with the minimum of `ceil((n - 1) / 6)` epochs if the flooding attains it. Symmetric pods get a
/// symmetric schedule.
///
/// # Errors
/// A pod that is not connected or too large, or the reason to stop.
pub fn all_gather(pod: &Topology, seed: u64, watch: &mut impl Watch) -> Result<Schedule, MethodError> {
    let flood = Flood::new(pod)?;
    let bound = gather_bound(pod.nodes());
    let mut best: Option<Schedule> = None;
    for attempt in 0..ATTEMPTS {
        let limit = best.as_ref().map_or(u32::MAX, |best| best.epochs);
        let random = Streams::new(seed).stream(attempt);
        if let Some(found) = flood.run(random, limit, watch)? {
            best = Some(found);
        }
        if best.as_ref().is_some_and(|best| best.epochs <= bound) {
            break;
        }
    }
    best.ok_or_else(|| invalid("is not connected: some chips receive nothing", "connect all chips"))
}

fn invalid(what: impl Into<String>, remedy: &str) -> MethodError {
    MethodError::Invalid(Problem::new("topology", what, remedy).into())
}

/// A pod prepared for the flooding: a symmetric pod is represented by its first cube, any other pod by all its cubes.
struct Flood {
    /// Number of represented chips.
    locals: usize,
    /// Number of copies of the represented chips that make up the pod. The shard of chip `m` in copy `d` has the number
    /// `locals * d + m`.
    copies: usize,
    /// For every represented arc: the represented chip of its receiver, and the group element that leads from the copy
    /// of the sender to the copy of the receiver. Every copy numbers the other copies relative to itself (its frame);
    /// the element converts these numbers from the frame of the sender to the frame of the receiver.
    heads: Vec<(u32, u32)>,
    /// `moved[g * copies + d]`: number of copy `d` in the frame of copy `g`.
    moved: Vec<u32>,
    expand: Expansion,
}

/// A set of shards for each represented chip, as bits.
#[derive(Clone)]
struct Sets {
    words: Vec<u64>,
    width: usize,
}

impl Sets {
    fn new(rows: usize, bits: usize) -> Self {
        let width = bits.div_ceil(64);
        Self { words: vec![0; rows * width], width }
    }

    fn has(&self, row: usize, bit: usize) -> bool {
        self.words[row * self.width + bit / 64] >> (bit % 64) & 1 == 1
    }

    fn put(&mut self, row: usize, bit: usize) {
        self.words[row * self.width + bit / 64] |= 1 << (bit % 64);
    }
}

impl Flood {
    fn new(pod: &Topology) -> Result<Self, MethodError> {
        let nodes = pod.nodes();
        let Some(symmetry) = pod.symmetry() else {
            if nodes > MOST_WITHOUT_SYMMETRY {
                return Err(invalid(
                    format!(
                        "has {nodes} chips and no symmetry, so its schedule would have {} sends",
                        nodes * (nodes - 1)
                    ),
                    "use a symmetric pod or at most 4096 chips",
                ));
            }
            let heads = pod.neighbours().into_iter().flatten().map(|head| (head, 0)).collect();
            return Ok(Self { locals: nodes, copies: 1, heads, moved: vec![0], expand: Expansion::None });
        };
        let copies = pod.cubes();
        let mut heads = Vec::with_capacity(CHIPS * PORTS);
        for chip in 0..CHIPS as u32 {
            for port in 0..PORTS as u8 {
                let head = pod.neighbour(chip, port);
                heads.push((head % CHIPS as u32, head / CHIPS as u32));
            }
        }
        let seen_from = |at: usize| {
            let group = &symmetry.group;
            group.times(group.inverse(at / copies), at % copies) as u32
        };
        let moved = (0..copies * copies).map(seen_from).collect();
        Ok(Self { locals: CHIPS, copies, heads, moved, expand: Expansion::Translation })
    }

    /// Returns the schedule of one flooding; `None` if the flooding would take `limit` epochs or more, or if an epoch
    /// sends nothing.
    fn run(
        &self,
        mut random: Stream,
        limit: u32,
        watch: &mut impl Watch,
    ) -> Result<Option<Schedule>, MethodError> {
        let shards = self.locals * self.copies;
        let mut held = Sets::new(self.locals, shards);
        for chip in 0..self.locals {
            held.put(chip, chip);
        }
        // Number of represented chips that hold a shard of an origin; equal for all copies of the origin.
        let mut holders = vec![1u32; self.locals];
        let mut order: Vec<u32> = (0..self.heads.len() as u32).collect();
        let mut origins: Vec<u32> = (0..self.locals as u32).collect();
        let mut sends = Vec::with_capacity(self.locals * (shards - 1));
        let mut epoch = 0;
        while sends.len() < self.locals * (shards - 1) {
            watch.checkpoint()?;
            if epoch + 1 >= limit {
                return Ok(None);
            }
            shuffle(&mut order, &mut random);
            shuffle(&mut origins, &mut random);
            // The sort is stable, so that origins of equal rarity stay in random order.
            origins.sort_by_key(|&origin| holders[origin as usize]);
            let before = sends.len();
            // Shards sent in this epoch count as received, but cannot be forwarded yet.
            let mut known = held.clone();
            for (index, &arc) in order.iter().enumerate() {
                if index % 256 == 255 && shards > 1024 {
                    watch.checkpoint()?;
                }
                if let Some(shard) = self.choose(arc, &held, &known, &origins, random.next_u32() as usize) {
                    let (head, element) = self.heads[arc as usize];
                    known.put(head as usize, self.seen(element, shard));
                    holders[shard % self.locals] += 1;
                    sends.push(Send { epoch, arc, shard: shard as u32 });
                }
            }
            if sends.len() == before {
                return Ok(None);
            }
            held = known;
            epoch += 1;
        }
        Ok(Some(Schedule { collective: Collective::AllGather, epochs: epoch, expand: self.expand, sends }))
    }

    /// The number of a shard in the frame of the receiver.
    fn seen(&self, element: u32, shard: usize) -> usize {
        let (copy, chip) = (shard / self.locals, shard % self.locals);
        self.moved[element as usize * self.copies + copy] as usize * self.locals + chip
    }

    /// Returns the shard that an arc sends: of the shards that the tail of the arc holds and the head lacks, the shard
    /// with the rarest origin.
    fn choose(&self, arc: u32, held: &Sets, known: &Sets, origins: &[u32], first: usize) -> Option<usize> {
        let tail = arc as usize / PORTS;
        let (head, element) = self.heads[arc as usize];
        for &origin in origins {
            for turn in 0..self.copies {
                let copy = (first + turn) % self.copies;
                let shard = copy * self.locals + origin as usize;
                if held.has(tail, shard) && !known.has(head as usize, self.seen(element, shard)) {
                    return Some(shard);
                }
            }
        }
        None
    }
}

/// Shuffles a list uniformly.
fn shuffle(list: &mut [u32], random: &mut Stream) {
    for last in (1..list.len()).rev() {
        let pick = (u64::from(random.next_u32()) * (last as u64 + 1)) >> 32;
        list.swap(last, pick as usize);
    }
}
