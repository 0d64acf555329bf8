//! Balances the loads of the ranks by local search, from any placement (docs/methods/moe.md, section 11, step 2).
//!
//! There are two moves: two slots of different ranks exchange their experts, or a slot of an expert with several
//! replicas goes to another expert. Threshold accepting (Dueck and Scheuer) on the sum of squared loads accepts moves
//! that increase the sum by less than a decreasing threshold, so it can leave local minima. The best placement is kept.
//! The random stream is fixed. Groups stay on their servers, no expert loses its last slot, and no rank gets a second
//! replica of an expert, which would not balance anything.

use super::PlacementShape;
use crate::model::demand::copies;
use lightbay_core::random::Streams;
use rand::RngExt as _;

/// Load of the busiest rank relative to the mean at which the search ends: 0.05 % above the mean.
const EVEN: f64 = 1.000_5;
/// Maximum number of tried moves. The limit is on the work and not on the time, so that equal loads give equal
/// placements.
const MOST_TRIED: usize = 400_000;
/// Initial and final threshold, relative to the square of the mean load of a rank. The initial threshold accepts
/// exchanges of whole experts; the final threshold accepts only increases by rounding.
const WIDTHS: [f64; 2] = [2e-3, 1e-8];
/// Seed of the random stream; it is fixed, so that equal loads give equal placements.
const SEED: u64 = 0x6261_6c61;

/// A placement with the loads of its ranks.
struct Board<'a> {
    shape: &'a PlacementShape,
    load: &'a [f64],
    slots: Vec<u32>,
    copies: Vec<u32>,
    ranks: Vec<f64>,
}

/// Returns balanced slots: the load of the busiest rank is at most as high as in `slots`, and usually lower.
pub fn balanced(shape: &PlacementShape, load: &[f64], slots: &[u32]) -> Vec<u32> {
    let mean = load.iter().sum::<f64>() / shape.ranks.max(1) as f64;
    // There is nothing to balance.
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
        // Geometric cooling: the threshold falls by the same factor in every step.
        let width = WIDTHS[0] * (WIDTHS[1] / WIDTHS[0]).powf(done) * mean * mean;
        // Every second move involves the busiest rank, whose load is the objective.
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
        // The sum of squares guides the search; the load of the busiest rank decides which placement is best.
        if busiest < best.0 * (1.0 - 1e-12) {
            best = (busiest, board.slots.clone());
        }
    }
    // Sums that were updated move by move have accumulated rounding errors, so the loads of both placements are
    // recomputed before the comparison.
    let (before, after) = (Board::of(shape, load, slots), Board::of(shape, load, &best.1));
    if after.busiest() <= before.busiest() { best.1 } else { slots.to_vec() }
}

/// Returns a lower bound on the load of the busiest rank divided by the mean load of a rank. The busiest rank has at
/// least the mean load. It also has at least the largest load per replica after each redundant slot was given, one by
/// one, to the expert whose load per replica is then the largest. Without redundant slots, the lightest experts that
/// must share a rank with the heaviest expert are added to its load.
pub fn least_imbalance(shape: &PlacementShape, load: &[f64]) -> f64 {
    let mean = load.iter().sum::<f64>() / shape.ranks.max(1) as f64;
    if mean <= 0.0 {
        return 1.0;
    }
    // Giving each replica to the expert with the largest load per replica minimises this largest load.
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
    // Without replicas, the rank of the heaviest expert also holds other experts, at best the lightest ones.
    let others = if shape.slots == shape.experts { shape.slots_per_rank() - 1 } else { 0 };
    let together = share(&counts, most) + beside.iter().take(others).sum::<f64>();
    (together / mean).max(1.0)
}

impl<'a> Board<'a> {
    fn of(shape: &'a PlacementShape, load: &'a [f64], slots: &[u32]) -> Self {
        // Recomputes loads and replicas of the placement.
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

    /// Returns `true` if experts may move from one rank to the other.
    fn is_open(&self, one: usize, other: usize) -> bool {
        // Ranks of a server are consecutive.
        let per_server = (self.shape.ranks / self.shape.servers.max(1)).max(1);
        one != other && (!self.shape.keeps_groups() || one / per_server == other / per_server)
    }

    /// Exchanges the experts of two slots if the rules of the search allow it and the sum of the squared loads grows by
    /// less than `width`.
    fn exchange(&mut self, one: usize, other: usize, width: f64) {
        let (a, b) = (self.rank(one), self.rank(other));
        let (first, second) = (self.slots[one], self.slots[other]);
        // Skips exchanges within a rank, and exchanges that give a rank an expert twice.
        if !self.is_open(a, b) || first == second || self.holds(a, second) || self.holds(b, first) {
            return;
        }
        let less = self.share(first) - self.share(second);
        // Growth of the sum of squares if load d moves from a rank with load A to a rank with load B: (A - d)^2 + (B +
        // d)^2 - A^2 - B^2. This avoids a pass over the ranks.
        let growth = 2.0 * less * (self.ranks[b] - self.ranks[a] + less);
        // Zero growth is an exchange of equal loads: it would change nothing.
        if growth < width && growth != 0.0 {
            self.slots.swap(one, other);
            self.ranks[a] -= less;
            self.ranks[b] += less;
        }
    }

    /// Gives a slot of an expert with several replicas to another expert if the rules of the search allow it and the
    /// sum of the squared loads grows by less than `width`.
    fn give(&mut self, slot: usize, expert: u32, width: f64) {
        let (rank, old) = (self.rank(slot), self.slots[slot]);
        // A group stays on its server, so a replica may come only from a rank of the same server.
        let here = self.slots.iter().position(|known| *known == expert).map_or(rank, |at| self.rank(at));
        let stays = here == rank || self.is_open(here, rank) || !self.shape.keeps_groups();
        // The last slot of an expert is never given away.
        if old == expert || self.copies[old as usize] < 2 || self.holds(rank, expert) || !stays {
            return;
        }
        let squares = |ranks: &[f64]| ranks.iter().map(|load| load * load).sum::<f64>();
        // The shares of all replicas of both experts change on many ranks, so the loads are recomputed; the old loads
        // are stored so that the move can be undone.
        let before = (squares(&self.ranks), self.ranks.clone());
        self.slots[slot] = expert;
        self.copies[old as usize] -= 1;
        self.copies[expert as usize] += 1;
        self.ranks = super::rank_loads(self.shape, self.load, &self.slots);
        // Rejected: restores the previous slots, replicas and loads.
        if squares(&self.ranks) - before.0 >= width {
            self.slots[slot] = old;
            self.copies[old as usize] += 1;
            self.copies[expert as usize] -= 1;
            self.ranks = before.1;
        }
    }
}
