//! A placement of experts chosen together with the circuits of a region.
//!
//! From the placement of EPLB, circuits and placement are improved in turn: circuits by local search for the demand
//! that the placement gives, then slots for the exchange on these circuits, until neither helps. No rank gets more load
//! than the busiest one of EPLB, and groups of experts stay on one server where EPLB keeps them so.

use super::eplb::{eplb, groups, of_groups};
use super::{PlacementShape, rank_loads};
use crate::model::demand::{LayerDemand, copies};
use crate::model::rates::RegionRates;
use crate::search::circuits::CircuitCounts;
use crate::search::exchange::{Exchange, RoutingRule};
use crate::search::swap::swapped;

/// Relative difference that counts.
const TOLERANCE: f64 = 1e-9;
/// Turns of circuits and placement at most.
const MOST_TURNS: usize = 12;
/// Moves that are timed in one layer at most.
const MOST_TRIED: u64 = 200_000;

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
    tried: u64,
}

/// Slowest time of a server and the sum of squares over all servers.
type ExchangeTimes = (f64, f64);

/// Expert in every slot of the placement; also the number of moves that were timed.
pub fn joint(layer: PlacedLayer<'_>) -> (Vec<u32>, u64) {
    let mut board = PlacementBoard::of(layer);
    let mut best = board.slots.clone();
    let mut time = f64::INFINITY;
    for _ in 0..MOST_TURNS {
        let demand = board.demand();
        let exchange = Exchange::of(&demand, layer.rates, layer.rule);
        let (circuits, _) = swapped(&exchange, layer.rates.optical, &demand.both_ways());
        let found = exchange.time(&circuits);
        if found >= time * (1.0 - TOLERANCE) {
            break;
        }
        time = found;
        best.clone_from(&board.slots);
        if layer.shape.keeps_groups() {
            board.exchange_groups(&circuits);
        } else {
            while board.exchange_slots(&circuits) || board.copy_others(&circuits) {}
        }
    }
    (best, board.tried)
}

impl<'a> PlacementBoard<'a> {
    fn of(layer: PlacedLayer<'a>) -> Self {
        let PlacementShape { experts, servers, ranks, .. } = *layer.shape;
        let per_server = (ranks / servers.max(1)).max(1);
        let mut sent = vec![0.0; servers * experts];
        let mut load = vec![0.0; experts];
        for (rank, row) in layer.bytes.chunks(experts.max(1)).enumerate() {
            let start = rank / per_server * experts;
            for ((sum, all), bytes) in sent[start..start + experts].iter_mut().zip(&mut load).zip(row) {
                *sum += bytes;
                *all += bytes;
            }
        }
        let slots = eplb(&load, layer.shape);
        let most = rank_loads(layer.shape, &load, &slots).into_iter().fold(0.0, f64::max);
        Self { layer, sent, load, slots, most: most * (1.0 + 1e-12), tried: 0 }
    }

    /// Bytes between the servers.
    fn demand(&self) -> LayerDemand {
        let PlacementShape { experts, servers, .. } = *self.layer.shape;
        let copies = copies(experts, &self.slots);
        let per_server = self.layer.shape.slots_per_server().max(1);
        let mut bytes = vec![0.0; servers * servers];
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
        self.tried += 1;
        let exchange = Exchange::of(&self.demand(), self.layer.rates, self.layer.rule);
        let times = (0..exchange.servers()).map(|server| exchange.server_time(circuits, server).min(1e150));
        times.fold((0.0, 0.0), |(most, squares), time| (most.max(time), squares + time * time))
    }

    fn is_balanced(&self) -> bool {
        let loads = rank_loads(self.layer.shape, &self.load, &self.slots);
        loads.iter().all(|load| *load <= self.most)
    }

    /// Exchanges the experts of two slots wherever that makes the exchange quicker; says whether it did.
    fn exchange_slots(&mut self, circuits: &CircuitCounts) -> bool {
        let per_server = self.layer.shape.slots_per_server().max(1);
        let mut now = self.timed(circuits);
        let mut changed = false;
        for one in 0..self.slots.len() {
            for other in (one / per_server + 1) * per_server..self.slots.len() {
                if self.tried >= MOST_TRIED {
                    return false;
                }
                if self.slots[one] == self.slots[other] {
                    continue;
                }
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
                let has_others = self.slots.iter().filter(|known| **known == old).count() > 1;
                if self.tried >= MOST_TRIED || !has_others {
                    break;
                }
                if expert == old {
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
        let pairs = |held: &[Vec<usize>]| -> Vec<[(usize, usize); 2]> {
            let all = |server: usize| (0..held[server].len()).map(move |at| (server, at));
            let servers = 0..held.len();
            servers
                .flat_map(|one| (one + 1..held.len()).map(move |other| (one, other)))
                .flat_map(|(one, other)| all(one).flat_map(move |a| all(other).map(move |b| [a, b])))
                .collect()
        };
        for [(one, a), (other, b)] in pairs(&held) {
            if self.tried >= MOST_TRIED {
                return;
            }
            let before = self.slots.clone();
            let swap = |held: &mut Vec<Vec<usize>>| {
                let (first, second) = (held[one][a], held[other][b]);
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
        if !self.is_balanced() {
            return None;
        }
        let found = self.timed(circuits);
        let quicker = found.0 < now.0 * (1.0 - TOLERANCE);
        let calmer = found.0 <= now.0 * (1.0 + TOLERANCE) && found.1 < now.1 * (1.0 - TOLERANCE);
        (quicker || calmer).then_some(found)
    }
}
