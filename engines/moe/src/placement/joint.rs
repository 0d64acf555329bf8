//! Chooses the placement of experts together with the circuits of a region (docs/methods/moe.md, section 11, step 3).
//!
//! It starts from the placement of EPLB with balanced loads and improves circuits and placement in turn while a turn
//! shortens the exchange: circuits by local search for the demand of the placement, then the placement by moves of
//! experts that shorten the exchange on these circuits. No rank gets more load than the busiest rank of EPLB, nor more
//! than [`SLACK`] times the mean if such a balance is possible. Groups of experts stay on one server if EPLB keeps them
//! there.

use super::balance::balanced;
use super::eplb::{eplb, groups, of_groups};
use super::{PlacementShape, rank_loads};
use crate::model::demand::{LayerDemand, copies};
use crate::model::rates::RegionRates;
use crate::search::circuits::CircuitCounts;
use crate::search::exchange::{Exchange, RoutingRule};
use crate::search::swap::swapped;

/// Minimum relative difference that counts as an improvement, as in the search for circuits.
const TOLERANCE: f64 = 1e-9;
/// Maximum load of a rank relative to the mean; 0.3 % above the mean leaves room for shorter exchanges.
const SLACK: f64 = 1.003;
/// Maximum number of rounds of circuits and placement; every round except the last shortens the exchange.
const MOST_TURNS: usize = 12;
/// Maximum number of moves in one layer for which the time of the exchange is computed.
const MOST_TRIED: u64 = 200_000;
/// Maximum number of expert shares that are summed for these moves: a few seconds of work in a layer of hundreds of
/// experts.
const MOST_SHARES: u64 = 400_000_000;

/// The layer whose experts are placed.
#[derive(Clone, Copy, Debug)]
pub struct PlacedLayer<'a> {
    /// Sizes of the placement.
    pub shape: &'a PlacementShape,
    /// Bytes from every rank to every expert, rank by rank.
    pub bytes: &'a [f64],
    /// Rates of the region.
    pub rates: &'a RegionRates,
    /// Use of packet switches by pairs with circuits.
    pub rule: RoutingRule,
}

/// A placement of experts in slots during the search, with the bytes that the all-to-all sends to each expert.
struct PlacementBoard<'a> {
    layer: PlacedLayer<'a>,
    /// Bytes from every server to every expert, server by server.
    sent: Vec<f64>,
    /// Bytes to every expert.
    load: Vec<f64>,
    slots: Vec<u32>,
    /// Maximum bytes that a rank may receive.
    most: f64,
    /// Maximum bytes of a rank in EPLB's own placement. This is the limit for moves of groups, because EPLB packs the
    /// ranks after such a move.
    most_packed: f64,
    /// Maximum number of moves for which the time of the exchange is computed.
    most_tried: u64,
    tried: u64,
}

/// Time of the slowest server in an exchange, and the sum of squared times over all servers.
type ExchangeTimes = (f64, f64);

/// Returns the expert in every slot of the placement, and the number of moves for which the time of the exchange was
/// computed.
pub fn joint(layer: PlacedLayer<'_>) -> (Vec<u32>, u64) {
    let mut board = PlacementBoard::of(layer);
    let mut best = board.slots.clone();
    let mut time = f64::INFINITY;
    // Block coordinate descent: circuits for the placement, then the placement for the circuits.
    for _ in 0..MOST_TURNS {
        let demand = board.demand();
        let exchange = Exchange::of(&demand, layer.rates, layer.rule);
        // Circuits for the demand that the placement gives now.
        let (circuits, _) = swapped(&exchange, &layer.rates.optical, &demand.both_ways());
        let found = exchange.time(&circuits);
        // The last change of slots did not shorten the exchange, so the placement before it is the result.
        if found >= time * (1.0 - TOLERANCE) {
            break;
        }
        time = found;
        best.clone_from(&board.slots);
        // Groups: exchange whole groups, then balance the ranks inside each server.
        if layer.shape.keeps_groups() {
            board.exchange_groups(&circuits);
            // Exchanging experts inside a server does not affect the exchange between servers.
            board.slots = balanced(layer.shape, &board.load, &board.slots);
        } else {
            // First improvement, until a pass changes nothing or the moves are used up.
            while board.exchange_slots(&circuits) || board.copy_others(&circuits) {}
        }
    }
    (best, board.tried)
}

impl<'a> PlacementBoard<'a> {
    fn of(layer: PlacedLayer<'a>) -> Self {
        let PlacementShape { experts, servers, ranks, .. } = *layer.shape;
        let per_server = (ranks / servers.max(1)).max(1);
        // Only the sums by server matter for the exchange.
        let mut sent = vec![0.0; servers * experts];
        let mut load = vec![0.0; experts];
        for (rank, row) in layer.bytes.chunks(experts.max(1)).enumerate() {
            let start = rank / per_server * experts;
            for ((sum, all), bytes) in sent[start..start + experts].iter_mut().zip(&mut load).zip(row) {
                *sum += bytes;
                *all += bytes;
            }
        }
        let busiest = |slots: &[u32]| rank_loads(layer.shape, &load, slots).into_iter().fold(0.0, f64::max);
        let packed = eplb(&load, layer.shape);
        // Rounding must not forbid the initial placement.
        let most_packed = busiest(&packed) * (1.0 + 1e-12);
        // The search starts from the balanced placement.
        let slots = balanced(layer.shape, &load, &packed);
        let mean = load.iter().sum::<f64>() / ranks.max(1) as f64;
        // The slack never raises the limit above the load of EPLB.
        let most = (busiest(&slots) * (1.0 + 1e-12)).max((SLACK * mean).min(most_packed));
        // Timing a move sums one share per slot and server.
        let shares = (slots.len() * servers).max(1) as u64;
        let most_tried = MOST_TRIED.min(MOST_SHARES / shares);
        Self { layer, sent, load, slots, most, most_packed, most_tried, tried: 0 }
    }

    /// Returns the bytes between the servers.
    fn demand(&self) -> LayerDemand {
        let PlacementShape { experts, servers, .. } = *self.layer.shape;
        let copies = copies(experts, &self.slots);
        let per_server = self.layer.shape.slots_per_server().max(1);
        let mut bytes = vec![0.0; servers * servers];
        // Every slot receives its fraction of the bytes for its expert.
        for (slot, expert) in self.slots.iter().enumerate() {
            let (to, expert) = (slot / per_server, *expert as usize);
            let share = 1.0 / f64::from(copies[expert]);
            for from in 0..servers {
                bytes[from * servers + to] += self.sent[from * experts + expert] * share;
            }
        }
        LayerDemand { servers, bytes, busiest_gpu: Vec::new(), busiest_rail: Vec::new() }
    }

    /// Returns the time of the exchange between the servers on given circuits.
    fn timed(&mut self, circuits: &CircuitCounts) -> ExchangeTimes {
        // Every timing counts towards the limit, whatever the kind of the move.
        self.tried += 1;
        let exchange = Exchange::of(&self.demand(), self.layer.rates, self.layer.rule);
        // A pair without a path gets a large time whose square is still finite.
        let times = (0..exchange.servers()).map(|server| exchange.server_time(circuits, server).min(1e150));
        times.fold((0.0, 0.0), |(most, squares), time| (most.max(time), squares + time * time))
    }

    /// Returns `true` if the rank of a slot already has an expert; a second replica there would change nothing.
    fn holds(&self, slot: usize, expert: u32) -> bool {
        let each = self.layer.shape.slots_per_rank().max(1);
        self.slots[slot / each * each..][..each].contains(&expert)
    }

    fn is_balanced(&self) -> bool {
        let loads = rank_loads(self.layer.shape, &self.load, &self.slots);
        // Groups that move to another server are packed there as in EPLB; the loads are balanced afterwards.
        let most = if self.layer.shape.keeps_groups() { self.most_packed } else { self.most };
        // A move that makes a rank too busy is not even timed.
        loads.iter().all(|load| *load <= most)
    }

    /// Swaps the experts of two slots wherever that shortens the exchange between the servers; returns `false` if
    /// nothing changed or if the limit on timed moves is reached.
    fn exchange_slots(&mut self, circuits: &CircuitCounts) -> bool {
        let per_server = self.layer.shape.slots_per_server().max(1);
        let mut now = self.timed(circuits);
        let mut changed = false;
        for one in 0..self.slots.len() {
            // Only slots of later servers: each pair once, and no pairs inside a server, because those do not affect
            // the exchange.
            for other in (one / per_server + 1) * per_server..self.slots.len() {
                if self.tried >= self.most_tried {
                    return false;
                }
                let (first, second) = (self.slots[one], self.slots[other]);
                // Two replicas of an expert on one rank do not balance anything.
                if first == second || self.holds(one, second) || self.holds(other, first) {
                    continue;
                }
                // The move is made, timed and undone unless it shortens the exchange.
                self.slots.swap(one, other);
                match self.better(circuits, now) {
                    Some(found) => (now, changed) = (found, true),
                    None => self.slots.swap(one, other),
                }
            }
        }
        changed
    }

    /// Gives a slot of an expert with several slots to another expert wherever that shortens the exchange; returns
    /// `true` if it changed anything.
    fn copy_others(&mut self, circuits: &CircuitCounts) -> bool {
        let mut now = self.timed(circuits);
        let mut changed = false;
        for slot in 0..self.slots.len() {
            for expert in 0..self.layer.shape.experts as u32 {
                let old = self.slots[slot];
                // The last slot of an expert stays.
                let has_others = self.slots.iter().filter(|known| **known == old).count() > 1;
                if self.tried >= self.most_tried || !has_others {
                    break;
                }
                if expert == old || self.holds(slot, expert) {
                    continue;
                }
                self.slots[slot] = expert;
                match self.better(circuits, now) {
                    Some(found) => (now, changed) = (found, true),
                    None => self.slots[slot] = old,
                }
            }
        }
        changed
    }

    /// Swaps groups of experts between servers wherever that shortens the exchange between the servers; inside a
    /// server, experts are placed as in EPLB.
    fn exchange_groups(&mut self, circuits: &CircuitCounts) {
        let shape = self.layer.shape;
        let mut held = groups(&self.load, shape);
        let mut now = self.timed(circuits);
        // Pairs of groups of different servers, listed before the first exchange: positions stay, contents change.
        let pairs = |held: &[Vec<usize>]| -> Vec<[(usize, usize); 2]> {
            let all = |server: usize| (0..held[server].len()).map(move |at| (server, at));
            let servers = 0..held.len();
            servers
                .flat_map(|one| (one + 1..held.len()).map(move |other| (one, other)))
                .flat_map(|(one, other)| all(one).flat_map(move |a| all(other).map(move |b| [a, b])))
                .collect()
        };
        for [(one, a), (other, b)] in pairs(&held) {
            if self.tried >= self.most_tried {
                return;
            }
            // Packing may change all slots of a server, so the slots are saved to undo a refused exchange.
            let before = self.slots.clone();
            let swap = |held: &mut Vec<Vec<usize>>| {
                let (first, second) = (held[one][a], held[other][b]);
                // Exchanging is its own inverse.
                (held[one][a], held[other][b]) = (second, first);
            };
            swap(&mut held);
            self.slots = of_groups(&self.load, shape, &held);
            if let Some(found) = self.better(circuits, now) {
                now = found;
            } else {
                swap(&mut held);
                self.slots = before;
            }
        }
    }

    /// Returns the times of the present slots if the slots are allowed and the times are better than `now`: a shorter
    /// exchange, or the same time with a smaller sum of squared times. Otherwise returns `None`.
    fn better(&mut self, circuits: &CircuitCounts, now: ExchangeTimes) -> Option<ExchangeTimes> {
        // Checking the limit of loads costs less than a timing.
        if !self.is_balanced() {
            return None;
        }
        let found = self.timed(circuits);
        // A shorter exchange, or the same time with a smaller sum of squares, as in the search for circuits.
        let quicker = found.0 < now.0 * (1.0 - TOLERANCE);
        let calmer = found.0 <= now.0 * (1.0 + TOLERANCE) && found.1 < now.1 * (1.0 - TOLERANCE);
        (quicker || calmer).then_some(found)
    }
}
