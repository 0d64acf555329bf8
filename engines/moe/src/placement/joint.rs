//! A placement of experts chosen together with the circuits of a region (docs/methods/moe.md, section 11, step 3).
//!
//! From the placement of EPLB with its loads evened out, circuits and placement are improved in turn: circuits by local
//! search for the demand that the placement gives, then slots for the exchange on these circuits, until neither helps. No
//! rank gets more load than the busiest one of EPLB, nor more than [`SLACK`] over the mean where ranks can be as even as
//! that, and groups of experts stay on one server where EPLB keeps them so.

use super::balance::balanced;
use super::eplb::{eplb, groups, of_groups};
use super::{PlacementShape, rank_loads};
use crate::model::demand::{LayerDemand, copies};
use crate::model::rates::RegionRates;
use crate::search::circuits::CircuitCounts;
use crate::search::exchange::{Exchange, RoutingRule};
use crate::search::swap::swapped;

/// Relative difference that counts, as in the search for circuits.
const TOLERANCE: f64 = 1e-9;
/// Load over the mean that leaves room for quicker exchanges: 0.3 % of the computing of experts.
const SLACK: f64 = 1.003;
/// Turns of circuits and placement at most; every turn but the last has made the exchange quicker.
const MOST_TURNS: usize = 12;
/// Moves that are timed in one layer at most.
const MOST_TRIED: u64 = 200_000;
/// Shares of experts that are added up for these moves at most: some seconds of work in a layer of hundreds of experts.
const MOST_SHARES: u64 = 400_000_000;

/// The layer whose experts are placed.
#[derive(Clone, Copy, Debug)]
pub struct PlacedLayer<'a> {
    /// Sizes.
    pub shape: &'a PlacementShape,
    /// Bytes from every rank to every expert, rank by rank.
    pub bytes: &'a [f64],
    /// Rates of the region.
    pub rates: &'a RegionRates,
    /// Use of packet switches.
    pub rule: RoutingRule,
}

/// Slots with their exchange.
struct PlacementBoard<'a> {
    layer: PlacedLayer<'a>,
    /// Bytes from every server to every expert, server by server.
    sent: Vec<f64>,
    /// Bytes to every expert.
    load: Vec<f64>,
    slots: Vec<u32>,
    /// The most that a rank may receive.
    most: f64,
    /// The most of EPLB's own placement, for groups, whose ranks it packs.
    most_packed: f64,
    /// Moves that may be timed.
    most_tried: u64,
    tried: u64,
}

/// Slowest time of a server and the sum of squares over all servers.
type ExchangeTimes = (f64, f64);

/// Expert in every slot of the placement; also the number of moves that were timed.
pub fn joint(layer: PlacedLayer<'_>) -> (Vec<u32>, u64) {
    let mut board = PlacementBoard::of(layer);
    let mut best = board.slots.clone();
    let mut time = f64::INFINITY;
    // Block coordinate descent: circuits for the placement, then the placement for the circuits.
    for _ in 0..MOST_TURNS {
        let demand = board.demand();
        let exchange = Exchange::of(&demand, layer.rates, layer.rule);
        // Circuits for the demand that the placement gives now.
        let (circuits, _) = swapped(&exchange, layer.rates.optical, &demand.both_ways());
        let found = exchange.time(&circuits);
        // The last change of slots has not paid: the placement before it is the answer.
        if found >= time * (1.0 - TOLERANCE) {
            break;
        }
        time = found;
        best.clone_from(&board.slots);
        // Groups: exchange whole groups, then even out the ranks inside each server.
        if layer.shape.keeps_groups() {
            board.exchange_groups(&circuits);
            // Inside a server experts change places without any effect on the exchange between servers.
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
        // Rounding must not forbid the placement that the search begins with.
        let most_packed = busiest(&packed) * (1.0 + 1e-12);
        // The search begins with the even placement.
        let slots = balanced(layer.shape, &load, &packed);
        let mean = load.iter().sum::<f64>() / ranks.max(1) as f64;
        // The slack counts only as far as EPLB itself is less even.
        let most = (busiest(&slots) * (1.0 + 1e-12)).max((SLACK * mean).min(most_packed));
        // One timed move adds up a share for each slot and server.
        let shares = (slots.len() * servers).max(1) as u64;
        let most_tried = MOST_TRIED.min(MOST_SHARES / shares);
        Self { layer, sent, load, slots, most, most_packed, most_tried, tried: 0 }
    }

    /// Bytes between the servers.
    fn demand(&self) -> LayerDemand {
        let PlacementShape { experts, servers, .. } = *self.layer.shape;
        let copies = copies(experts, &self.slots);
        let per_server = self.layer.shape.slots_per_server().max(1);
        let mut bytes = vec![0.0; servers * servers];
        // Every slot receives its part of the bytes for its expert.
        for (slot, expert) in self.slots.iter().enumerate() {
            let (to, expert) = (slot / per_server, *expert as usize);
            let share = 1.0 / f64::from(copies[expert]);
            for from in 0..servers {
                bytes[from * servers + to] += self.sent[from * experts + expert] * share;
            }
        }
        LayerDemand { servers, bytes, busiest_gpu: 0.0, busiest_rail: 0.0 }
    }

    /// Time of the exchange on circuits.
    fn timed(&mut self, circuits: &CircuitCounts) -> ExchangeTimes {
        // Every timing is counted, so the limit holds for all kinds of moves.
        self.tried += 1;
        let exchange = Exchange::of(&self.demand(), self.layer.rates, self.layer.rule);
        // A pair without a path gets a large time whose square is still finite.
        let times = (0..exchange.servers()).map(|server| exchange.server_time(circuits, server).min(1e150));
        times.fold((0.0, 0.0), |(most, squares), time| (most.max(time), squares + time * time))
    }

    /// Returns `true` if the rank of a slot has an expert already: a second copy of it there would change nothing.
    fn holds(&self, slot: usize, expert: u32) -> bool {
        let each = self.layer.shape.slots_per_rank().max(1);
        self.slots[slot / each * each..][..each].contains(&expert)
    }

    fn is_balanced(&self) -> bool {
        let loads = rank_loads(self.layer.shape, &self.load, &self.slots);
        // Groups that change servers are packed there as EPLB does; what is left is evened out afterwards.
        let most = if self.layer.shape.keeps_groups() { self.most_packed } else { self.most };
        // A move that makes a rank too busy is not even timed.
        loads.iter().all(|load| *load <= most)
    }

    /// Exchanges the experts of two slots wherever that makes the exchange quicker; says whether it did.
    fn exchange_slots(&mut self, circuits: &CircuitCounts) -> bool {
        let per_server = self.layer.shape.slots_per_server().max(1);
        let mut now = self.timed(circuits);
        let mut changed = false;
        for one in 0..self.slots.len() {
            // Only slots of later servers: pairs once, and none inside a server, whose exchange changes nothing between
            // servers.
            for other in (one / per_server + 1) * per_server..self.slots.len() {
                if self.tried >= self.most_tried {
                    return false;
                }
                let (first, second) = (self.slots[one], self.slots[other]);
                // Two copies of an expert on one rank even out nothing.
                if first == second || self.holds(one, second) || self.holds(other, first) {
                    continue;
                }
                // The move is made, timed and taken back unless it pays.
                self.slots.swap(one, other);
                match self.better(circuits, now) {
                    Some(found) => (now, changed) = (found, true),
                    None => self.slots.swap(one, other),
                }
            }
        }
        changed
    }

    /// Gives the slot of an expert with several to another one wherever that makes the exchange quicker; says whether it
    /// did.
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

    /// Exchanges groups of experts between servers; what is inside a server is placed as EPLB does.
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
            // Packing decides all slots of a server, so a refused exchange needs them back.
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

    /// The time of the slots as they are, if they are allowed and better than `now`: quicker, or as quick and calmer.
    fn better(&mut self, circuits: &CircuitCounts, now: ExchangeTimes) -> Option<ExchangeTimes> {
        // The limit of loads costs less than a timing.
        if !self.is_balanced() {
            return None;
        }
        let found = self.timed(circuits);
        // Quicker, or as quick with calmer servers: the rule of the search for circuits.
        let quicker = found.0 < now.0 * (1.0 - TOLERANCE);
        let calmer = found.0 <= now.0 * (1.0 + TOLERANCE) && found.1 < now.1 * (1.0 - TOLERANCE);
        (quicker || calmer).then_some(found)
    }
}
