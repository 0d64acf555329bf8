//! Local search on the time of the exchange: it adds a circuit, moves one end of a circuit, replaces a circuit by two
//! circuits to servers with free ports, or exchanges the ends of two circuits (docs/methods/moe.md, section 5).
//!
//! Only a move that changes the circuits of the slowest server can shorten the exchange, so no other moves are tried.
//! After a move, the times are computed again only for the servers that the move changes. The best move of a round is
//! made. Moves that keep the time but reduce the sum of the squared times of the servers that they change are also
//! made, so that the search does not end if several servers are equally slow.

use super::circuits::CircuitCounts;
use super::exchange::Exchange;
use super::greedy::{BlockedRule, greedy};
use crate::model::circulant::circulant;
use lightbay_core::random::Streams;
use rand::seq::SliceRandom;

/// Minimum relative difference that counts as an improvement: far above rounding, far below the gain of one more
/// circuit.
const TOLERANCE: f64 = 1e-9;

/// Number of evaluated moves after which no further search from random circuits starts. The limit is on the work and
/// not on the time, so that equal demands give equal circuits.
const DRAWN: u64 = 1000;
/// Maximum number of random starts: with few servers, starts may have no moves, and [`DRAWN`] alone would not end the
/// search.
const MOST_DRAWN: u32 = 100;

/// A move: the circuits that it removes, and the circuits that it adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CircuitMove {
    down: [Option<(usize, usize)>; 2],
    up: [Option<(usize, usize)>; 2],
}

impl CircuitMove {
    fn apply(self, circuits: &mut CircuitCounts) {
        // Removals first, because ports must be free before circuits are added.
        self.down.into_iter().flatten().for_each(|(a, b)| circuits.remove(a, b));
        self.up.into_iter().flatten().for_each(|(a, b)| circuits.add(a, b));
    }

    fn undo(self, circuits: &mut CircuitCounts) {
        // The reverse order of `apply`.
        self.up.into_iter().flatten().for_each(|(a, b)| circuits.remove(a, b));
        self.down.into_iter().flatten().for_each(|(a, b)| circuits.add(a, b));
    }

    /// Returns the servers that the move changes, each once, and their number.
    fn servers(self) -> ([usize; 4], usize) {
        let mut touched = [0; 4];
        let mut count = 0;
        // A move changes at most four servers: the ends of two exchanged circuits.
        for (a, b) in self.down.into_iter().chain(self.up).flatten() {
            for server in [a, b] {
                if !touched[..count].contains(&server) && count < touched.len() {
                    touched[count] = server;
                    count += 1;
                }
            }
        }
        (touched, count)
    }
}

/// Statistics of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwapWork {
    /// Number of moves that were evaluated.
    pub tried: u64,
    /// Number of moves that were made.
    pub made: u64,
}

/// Returns the best circuits that local search finds, starting from the greedy circuits, from a circulant, and from
/// random circuits; `ports` are the working ports of every server.
pub fn swapped(exchange: &Exchange, ports: &[u32], weights: &[f64]) -> (CircuitCounts, SwapWork) {
    // First start: the greedy circuits.
    let mut best = greedy(ports, weights, BlockedRule::Continue);
    let mut work = improve(exchange, &mut best);
    // Second start: a circulant, which is better for even demands than the greedy circuits.
    let mut other = even(ports);
    let more = improve(exchange, &mut other);
    work = SwapWork { tried: work.tried + more.tried, made: work.made + more.made };
    // Only a clear gain replaces the greedy circuits.
    if exchange.time(&other) < exchange.time(&best) * (1.0 - TOLERANCE) {
        best = other;
    }
    drawn(exchange, ports, &mut best, &mut work);
    (best, work)
}

/// Returns a circulant for the largest number of ports of any server, without the circuits for which a server has too
/// few ports.
pub fn even(ports: &[u32]) -> CircuitCounts {
    let degree = ports.iter().copied().max().unwrap_or(0);
    CircuitCounts::of(ports, &circulant(ports.len(), degree))
}

/// Improves random circuits, which are the same in every run, from at most [`MOST_DRAWN`] starts; no start follows
/// after [`DRAWN`] evaluated moves.
fn drawn(exchange: &Exchange, ports: &[u32], best: &mut CircuitCounts, work: &mut SwapWork) {
    let end = work.tried + DRAWN;
    // A fixed stream: equal demands give equal circuits.
    let mut stream = Streams::new(0).stream(0);
    // Every port once, by its server; neighbours in the shuffled order get a circuit (configuration model).
    let degree = ports.iter().copied().max().unwrap_or(0);
    let has = |port: u32| move |(server, count): (usize, &u32)| (port < *count).then_some(server);
    let mut order: Vec<usize> =
        (0..degree).flat_map(|port| ports.iter().enumerate().filter_map(has(port))).collect();
    for _ in 0..MOST_DRAWN {
        if work.tried >= end {
            break;
        }
        order.shuffle(&mut stream);
        let mut other = CircuitCounts::none(ports);
        // A port that is matched with its own server stays dark.
        for pair in order.chunks_exact(2).filter(|pair| pair[0] != pair[1]) {
            other.add(pair[0], pair[1]);
        }
        let more = improve(exchange, &mut other);
        (work.tried, work.made) = (work.tried + more.tried, work.made + more.made);
        if exchange.time(&other) < exchange.time(best) * (1.0 - TOLERANCE) {
            *best = other;
        }
    }
}

/// Improves circuits until no move improves the exchange; returns the statistics of the search.
pub fn improve(exchange: &Exchange, circuits: &mut CircuitCounts) -> SwapWork {
    let mut search = SwapSearch {
        exchange,
        // The times of all servers are stored; a move updates those of its servers.
        times: (0..exchange.servers()).map(|server| exchange.server_time(circuits, server)).collect(),
        circuits,
        work: SwapWork::default(),
    };
    // Every round lowers the time, or keeps it and lowers the sum of squares, so the rounds end.
    while search.round() {}
    search.work
}

struct SwapSearch<'a> {
    exchange: &'a Exchange,
    circuits: &'a mut CircuitCounts,
    times: Vec<f64>,
    work: SwapWork,
}

/// Returns all moves that change the circuits of a server.
fn moves(circuits: &CircuitCounts, slow: usize) -> Vec<CircuitMove> {
    let n = circuits.servers();
    let mut moves = Vec::new();
    // Servers with dark ports.
    let free: Vec<usize> = (0..n).filter(|server| circuits.free(*server) > 0).collect();
    // Add: one more circuit at the slow server.
    if circuits.free(slow) > 0 {
        for &other in free.iter().filter(|other| **other != slow) {
            moves.push(CircuitMove { down: [None; 2], up: [Some((slow, other)), None] });
        }
    }
    // Turn: one end of a circuit moves to a free port.
    for (a, b, _) in circuits.pairs() {
        for &to in free.iter().filter(|to| **to != a && **to != b && [a, b, **to].contains(&slow)) {
            moves.push(CircuitMove { down: [Some((a, b)), None], up: [Some((a, to)), None] });
            moves.push(CircuitMove { down: [Some((a, b)), None], up: [Some((b, to)), None] });
        }
    }
    for (a, b, _) in circuits.pairs() {
        // Split: a-b becomes a-v and b-w; v and w have free ports.
        for &v in free.iter().filter(|v| **v != a && **v != b) {
            for &w in free.iter().filter(|w| **w != a && **w != b) {
                // Both new circuits may end at one server if it has two free ports.
                let enough = v != w || circuits.free(v) > 1;
                if enough && [a, b, v, w].contains(&slow) {
                    moves.push(CircuitMove { down: [Some((a, b)), None], up: [Some((a, v)), Some((b, w))] });
                }
            }
        }
    }
    // Exchange: two circuits a-b and d-e become a-d and b-e, or a-e and b-d; one of them is at the slow server.
    let a = slow;
    for b in (0..n).filter(|b| circuits.between(a, *b) > 0) {
        for (d, e, _) in circuits.pairs() {
            // Two circuits that share a server would make a circuit of a server to itself, or change nothing.
            if [d, e].contains(&a) || [d, e].contains(&b) {
                continue;
            }
            let down = [Some((a, b)), Some((d, e))];
            moves.push(CircuitMove { down, up: [Some((a, d)), Some((b, e))] });
            moves.push(CircuitMove { down, up: [Some((a, e)), Some((b, d))] });
        }
    }
    moves
}

/// A move with its result: the time of the slowest server after the move, and the change of the sum of squared times.
/// The sum is over the servers that the move changes.
#[derive(Clone, Copy)]
struct Tried {
    change: CircuitMove,
    time: f64,
    squares: f64,
}

impl SwapSearch<'_> {
    /// Makes the best move; returns `true` if there was one.
    fn round(&mut self) -> bool {
        // The slowest server; ties go to the last one.
        let Some((slowest, &time)) = self.times.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)) else {
            return false;
        };
        if time <= 0.0 {
            return false;
        }
        // Best improvement: all moves are timed, the best one is made.
        let mut best: Option<Tried> = None;
        for change in moves(self.circuits, slowest) {
            self.attempt(change, time, &mut best);
        }
        let Some(best) = best else { return false };
        best.change.apply(self.circuits);
        let (touched, count) = best.change.servers();
        for &server in &touched[..count] {
            // Only the times of the servers of the move change.
            self.times[server] = self.exchange.server_time(self.circuits, server);
        }
        self.work.made += 1;
        true
    }

    /// Evaluates a move, and stores the move in `best` if its result is better than the best result so far.
    fn attempt(&mut self, change: CircuitMove, now: f64, best: &mut Option<Tried>) {
        self.work.tried += 1;
        // Later moves must beat the best one so far.
        let limit = best.map_or(now, |best| best.time) * (1.0 + TOLERANCE);
        change.apply(self.circuits);
        let (touched, count) = change.servers();
        let touched = &touched[..count];
        // Cheap test first: one pass for each changed server instead of a Newton iteration.
        let done = !limit.is_finite()
            || touched.iter().all(|server| self.exchange.is_done(self.circuits, *server, limit));
        if done {
            // Exact times of the changed servers.
            let (mut time, mut squares) = (0.0_f64, 0.0);
            for &server in touched {
                let took = self.exchange.server_time(self.circuits, server);
                time = time.max(took);
                // Times are limited to 1e150, so that the squares of infinite times are finite.
                squares += took.min(1e150).powi(2) - self.times[server].min(1e150).powi(2);
            }
            // The other servers keep their times.
            for (server, took) in self.times.iter().enumerate() {
                if !touched.contains(&server) {
                    time = time.max(*took);
                }
            }
            let tried = Tried { change, time, squares };
            // Any finite time is a gain over an infinite one: an infinite time stays infinite if it is reduced by the
            // tolerance.
            let quicker = time < now * (1.0 - TOLERANCE);
            // Ties of several slowest servers: the sum of squares falls if one of them gets faster.
            let calmer = time <= now && squares < -TOLERANCE * now.min(1e150).powi(2);
            if (quicker || calmer) && best.is_none_or(|best| tried.before(&best)) {
                *best = Some(tried);
            }
        }
        change.undo(self.circuits);
    }
}

impl Tried {
    /// Returns `true` if the result of a move is better: a shorter time, or the same time with a smaller sum of squared
    /// times.
    fn before(&self, other: &Self) -> bool {
        // The time first; within the tolerance, the sum of squares decides.
        if self.time < other.time * (1.0 - TOLERANCE) {
            return true;
        }
        self.time <= other.time * (1.0 + TOLERANCE) && self.squares < other.squares
    }
}
