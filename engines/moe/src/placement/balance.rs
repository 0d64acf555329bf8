//! Loads of the ranks evened out by local search, from any placement (docs/methods/moe.md, section 11, step 2).
//!
//! Two moves: two slots of different ranks exchange their experts, and a slot of an expert with several copies goes to
//! another expert. Threshold accepting (Dueck and Scheuer) on the sum of squares of the loads takes moves that let the
//! sum grow by less than a falling width, which leaves local minima, and the best placement seen is kept. The random
//! stream is fixed. Groups stay on their servers, no expert loses its last slot, and no rank gets a second copy of an
//! expert, which would balance nothing.

use super::PlacementShape;
use crate::model::demand::copies;
use lightbay_core::random::Streams;
use rand::RngExt as _;

/// Load of the busiest rank relative to the mean that is even enough to end the search: 0.05 % of computing.
const EVEN: f64 = 1.000_5;
/// Moves that are tried at most: a bound on the work, not on the time, so that equal loads give equal placements.
const MOST_TRIED: usize = 400_000;
/// Width of the threshold at the beginning and at the end, relative to the square of the mean load of a rank: exchanges
/// of whole experts at first, and of nothing but rounding at last.
const WIDTHS: [f64; 2] = [2e-3, 1e-8];
/// Seed of the random stream: equal loads, equal placements.
const SEED: u64 = 0x6261_6c61;

/// A placement with the loads of its ranks.
struct Board<'a> {
    shape: &'a PlacementShape,
    load: &'a [f64],
    slots: Vec<u32>,
    copies: Vec<u32>,
    ranks: Vec<f64>,
}

/// Slots in which the busiest rank has no more load than in `slots`, mostly less.
pub fn balanced(shape: &PlacementShape, load: &[f64], slots: &[u32]) -> Vec<u32> {
    let mean = load.iter().sum::<f64>() / shape.ranks.max(1) as f64;
    // Nothing to even out.
    if shape.ranks < 2 || mean <= 0.0 || shape.slots_per_rank() == 0 {
        return slots.to_vec();
    }
    let mut board = Board::of(shape, load, slots);
    let mut best = (board.busiest(), board.slots.clone());
    let mut rng = Streams::new(SEED).stream(0);
    let each = shape.slots_per_rank();
    for step in 0..MOST_TRIED {
        if best.0 <= EVEN * mean {
            break;
        }
        let done = step as f64 / MOST_TRIED as f64;
        // Geometric: the width falls by the same factor in every step.
        let width = WIDTHS[0] * (WIDTHS[1] / WIDTHS[0]).powf(done) * mean * mean;
        // One end of every second move is on the busiest rank, whose load is what counts.
        let one = if step.is_multiple_of(2) {
            board.busiest_rank() * each + rng.random_range(0..each)
        } else {
            rng.random_range(0..shape.slots)
        };
        // 90 % of moves exchange two slots; the rest give a slot to another expert, which changes more at once.
        if rng.random_bool(0.9) {
            board.exchange(one, rng.random_range(0..shape.slots), width);
        } else {
            board.give(one, rng.random_range(0..shape.experts as u32), width);
        }
        let busiest = board.busiest();
        // The squares steer, the busiest rank decides.
        if busiest < best.0 * (1.0 - 1e-12) {
            best = (busiest, board.slots.clone());
        }
    }
    // Sums that were updated move by move have accumulated rounding, so both are summed again before the comparison.
    let (before, after) = (Board::of(shape, load, slots), Board::of(shape, load, &best.1));
    if after.busiest() <= before.busiest() { best.1 } else { slots.to_vec() }
}

/// Load of the busiest rank relative to the mean that no placement beats: no rank has less than the mean, nor less than
/// a copy of the expert whose copies are the heaviest, when copies are given to the heaviest each time; without copies its
/// rank holds other experts beside it.
pub fn least_imbalance(shape: &PlacementShape, load: &[f64]) -> f64 {
    let mean = load.iter().sum::<f64>() / shape.ranks.max(1) as f64;
    if mean <= 0.0 {
        return 1.0;
    }
    // Copies for the heaviest share each time make the largest share as small as it can be.
    let mut counts = vec![1.0; load.len()];
    let share = |counts: &[f64], expert: usize| load[expert] / counts[expert];
    let heaviest = |counts: &[f64]| {
        (0..load.len()).max_by(|a, b| share(counts, *a).total_cmp(&share(counts, *b))).unwrap_or(0)
    };
    for _ in shape.experts..shape.slots {
        let at = heaviest(&counts);
        counts[at] += 1.0;
    }
    let most = heaviest(&counts);
    let mut beside: Vec<f64> =
        (0..load.len()).filter(|expert| *expert != most).map(|expert| load[expert]).collect();
    beside.sort_by(f64::total_cmp);
    // Without copies the rank of the heaviest expert holds others beside it, the lightest ones at best.
    let others = if shape.slots == shape.experts { shape.slots_per_rank() - 1 } else { 0 };
    let together = share(&counts, most) + beside.iter().take(others).sum::<f64>();
    (together / mean).max(1.0)
}

impl<'a> Board<'a> {
    fn of(shape: &'a PlacementShape, load: &'a [f64], slots: &[u32]) -> Self {
        // Sums and copies of the placement from scratch.
        let copies = copies(shape.experts, slots);
        let ranks = super::rank_loads(shape, load, slots);
        Self { shape, load, slots: slots.to_vec(), copies, ranks }
    }

    fn rank(&self, slot: usize) -> usize {
        slot / self.shape.slots_per_rank()
    }

    fn busiest(&self) -> f64 {
        self.ranks.iter().copied().fold(0.0, f64::max)
    }

    fn busiest_rank(&self) -> usize {
        (0..self.ranks.len()).max_by(|a, b| self.ranks[*a].total_cmp(&self.ranks[*b])).unwrap_or(0)
    }

    fn share(&self, expert: u32) -> f64 {
        self.load[expert as usize] / f64::from(self.copies[expert as usize])
    }

    fn holds(&self, rank: usize, expert: u32) -> bool {
        let each = self.shape.slots_per_rank();
        self.slots[rank * each..(rank + 1) * each].contains(&expert)
    }

    /// Returns `true` if experts may go from one rank to the other.
    fn is_open(&self, one: usize, other: usize) -> bool {
        // Ranks of a server follow each other.
        let per_server = (self.shape.ranks / self.shape.servers.max(1)).max(1);
        one != other && (!self.shape.keeps_groups() || one / per_server == other / per_server)
    }

    /// Exchanges the experts of two slots unless that makes the squares grow by `width` or more.
    fn exchange(&mut self, one: usize, other: usize, width: f64) {
        let (a, b) = (self.rank(one), self.rank(other));
        let (first, second) = (self.slots[one], self.slots[other]);
        // Not within a rank, and no expert twice on a rank.
        if !self.is_open(a, b) || first == second || self.holds(a, second) || self.holds(b, first) {
            return;
        }
        let less = self.share(first) - self.share(second);
        // Growth of the sum of squares when d goes from A to B: (A - d)^2 + (B + d)^2 - A^2 - B^2. No pass over the
        // ranks.
        let growth = 2.0 * less * (self.ranks[b] - self.ranks[a] + less);
        // Zero growth is an exchange of equal loads: it would change nothing.
        if growth < width && growth != 0.0 {
            self.slots.swap(one, other);
            self.ranks[a] -= less;
            self.ranks[b] += less;
        }
    }

    /// Gives the slot of an expert with several copies to another one unless that makes the squares grow by `width` or
    /// more.
    fn give(&mut self, slot: usize, expert: u32, width: f64) {
        let (rank, old) = (self.rank(slot), self.slots[slot]);
        // A group stays on its server: a copy may come only from a rank of the same server.
        let here = self.slots.iter().position(|known| *known == expert).map_or(rank, |at| self.rank(at));
        let stays = here == rank || self.is_open(here, rank) || !self.shape.keeps_groups();
        // The last slot of an expert is never given away.
        if old == expert || self.copies[old as usize] < 2 || self.holds(rank, expert) || !stays {
            return;
        }
        let squares = |ranks: &[f64]| ranks.iter().map(|load| load * load).sum::<f64>();
        // Shares of all copies of both experts change, on many ranks: the loads are added up again, and kept to go
        // back.
        let before = (squares(&self.ranks), self.ranks.clone());
        self.slots[slot] = expert;
        self.copies[old as usize] -= 1;
        self.copies[expert as usize] += 1;
        self.ranks = super::rank_loads(self.shape, self.load, &self.slots);
        // Refused: back to the slots, copies and loads before.
        if squares(&self.ranks) - before.0 >= width {
            self.slots[slot] = old;
            self.copies[old as usize] += 1;
            self.copies[expert as usize] -= 1;
            self.ranks = before.1;
        }
    }
}
