//! Sinks that share one directed link: pieces between their releases, and the volume that fits into the pieces.
//!
//! If the DAG does not fix the order in which some sinks are released, the model releases them together, no later than
//! the earliest of their actual releases. Earlier releases only shorten the makespan, so the model stays a relaxation.
//! The length of a piece times the circuits of the link is written by its convex hull: one length per circuit count,
//! all but one of which are zero.

use super::build::{Builder, Recipe};
use super::paths::{EQUAL_MS, Paths, keep_largest, ways_to};
use super::sum::Sum;
use crate::simulate::sinks::{self, Sink, SinkScratch, Stretch};

/// Sinks of one directed link.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub link: usize,
    /// The shortest work that follows a sink, milliseconds.
    pub tail: f64,
    /// Groups of sinks that are released together, in the order of release.
    groups: Vec<Vec<Member>>,
    /// Release of each group.
    releases: Vec<Sum>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    task: u32,
    flows: f64,
    /// Volume of the sink, NIC-milliseconds.
    volume: f64,
}

/// Maximum number of sinks of a link for which an order of release is determined, because the test takes quadratic
/// time. If a link has more sinks, all of them share one release.
const SINKS: usize = 64;

/// Maximum number of sinks of a link for which every set of sinks has its own row. Five sinks have 31 sets, so there
/// are at most 31 rows for each circuit count; each further sink would double this number.
const SETS: usize = 5;

impl Share {
    pub fn new(builder: &Builder<'_>, via: usize, sinks: &[u32]) -> Self {
        let network = &builder.ask.evaluator.network;
        let (fast, slow) = (&builder.fast, &builder.slow);
        let tail = sinks.iter().map(|task| 1e3 * network.tail[*task as usize]).fold(f64::INFINITY, f64::min);
        let mut order = sinks.to_vec();
        // Earliest release first: the order in which pieces follow each other.
        order.sort_by(|a, b| fast.start[*a as usize].total_cmp(&fast.start[*b as usize]).then(a.cmp(b)));
        let mut cuts = vec![false; order.len()];
        if order.len() <= SINKS {
            // A cut between two sinks needs all earlier sinks to be released before all later sinks.
            let mut settled_until = order.len();
            let mut first_unsettled = vec![order.len(); order.len()];
            for (later, &second) in order.iter().enumerate() {
                let ways = ways_to(network, second, fast);
                let before = |first: u32| {
                    1e3 * network.release[first as usize] <= fast.start[second as usize] + EQUAL_MS
                        && network.preds.of(first).iter().all(|arc| {
                            let delay = 1e3 * arc.delay;
                            ways[arc.task as usize] >= delay - EQUAL_MS
                                || slow.finish(arc.task) + delay <= fast.start[second as usize] + EQUAL_MS
                        })
                };
                for (at, &first) in order[..later].iter().enumerate() {
                    if !before(first) {
                        first_unsettled[later] = first_unsettled[later].min(at);
                    }
                }
            }
            // A cut is allowed where every later sink is certainly released after every earlier sink (suffix minimum).
            for at in (1..order.len()).rev() {
                settled_until = settled_until.min(first_unsettled[at]);
                cuts[at] = settled_until >= at;
            }
        }
        let mut groups: Vec<Vec<Member>> = Vec::new();
        for (at, &task) in order.iter().enumerate() {
            if at == 0 || cuts[at] {
                groups.push(Vec::new());
            }
            let index = task as usize;
            let volume = 1e3 * network.tau[index] * network.flows[index];
            if let Some(group) = groups.last_mut() {
                group.push(Member { task, flows: network.flows[index], volume });
            }
        }
        Self { link: via / 2, tail, groups, releases: Vec::new() }
    }

    /// Returns `true` if the DAG fixes the order of all releases.
    pub fn in_order(&self) -> bool {
        self.groups.iter().all(|group| group.len() == 1)
    }

    /// Marks the tasks that determine releases: the predecessors of all sinks in groups of several sinks, which have a
    /// common release.
    pub fn need(&self, builder: &Builder<'_>, needed: &mut [bool]) {
        let network = &builder.ask.evaluator.network;
        for member in self.groups.iter().filter(|group| group.len() > 1).flatten() {
            for arc in network.preds.of(member.task) {
                needed[arc.task as usize] = true;
            }
        }
    }

    /// Writes the releases of the groups.
    pub fn releases(&mut self, builder: &mut Builder<'_>, paths: &mut Paths) {
        let network = &builder.ask.evaluator.network;
        let mut last: Option<Sum> = None;
        for group in &self.groups {
            let release = if let [only] = group[..] {
                paths.one(builder, only.task)
            } else {
                // A relaxed release: the earliest release of any member, and the paths common to all of them.
                let starts = group.iter().map(|member| builder.fast.start[member.task as usize]);
                let mut sums = vec![Sum::of(starts.fold(f64::INFINITY, f64::min))];
                let ways: Vec<Vec<f64>> =
                    group.iter().map(|member| ways_to(network, member.task, &builder.fast)).collect();
                let mut common: Vec<u32> = group
                    .iter()
                    .flat_map(|member| network.preds.of(member.task).iter().map(|arc| arc.task))
                    .collect();
                common.sort_unstable();
                common.dedup();
                for task in common {
                    // If paths lead from a task to all members, every member starts at least the shortest of these
                    // paths after the task.
                    let way = ways.iter().map(|way| way[task as usize]).fold(f64::INFINITY, f64::min);
                    if way < 0.0 {
                        continue;
                    }
                    let mut after = builder.duration(task);
                    after.constant += way;
                    for start in &paths.starts[task as usize] {
                        keep_largest(&mut sums, start.plus(&after, 1.0), builder);
                    }
                }
                if let Some(last) = &last {
                    keep_largest(&mut sums, last.clone(), builder);
                }
                if let [only] = &sums[..] {
                    only.clone()
                } else {
                    // The smallest of the latest starts of the members bounds their common release.
                    let late = |task: u32| builder.slow.start[task as usize];
                    let first =
                        group.iter().map(|member| member.task).min_by(|a, b| late(*a).total_cmp(&late(*b)));
                    let task = first.unwrap_or(group[0].task);
                    let name =
                        format!("first start of {} tasks, including task {}", group.len(), group[0].task);
                    builder.start_column(name, task, sums)
                }
            };
            last = Some(release.clone());
            self.releases.push(release);
        }
    }

    /// Returns the ends of single sinks as sums; they are needed if tails differ, because the pieces contain only the
    /// shortest tail.
    // Each sink with a longer tail bounds the makespan by its own paths.
    pub fn ends_alone(&self, builder: &mut Builder<'_>, paths: &Paths) -> Vec<Sum> {
        let network = &builder.ask.evaluator.network;
        let mut ends = Vec::new();
        for member in self.groups.iter().flatten() {
            let tail = 1e3 * network.tail[member.task as usize];
            if tail <= self.tail && self.in_order() {
                continue;
            }
            let mut after = builder.duration(member.task);
            after.constant += tail;
            for start in &paths.starts[member.task as usize] {
                keep_largest(&mut ends, start.plus(&after, 1.0), builder);
            }
        }
        ends
    }

    /// The length of a piece; the last piece ends with the last sink.
    fn length(&self, piece: usize, builder: &Builder<'_>) -> Sum {
        let mut length = if let Some(next) = self.releases.get(piece + 1) {
            next.clone()
        } else {
            let mut end = builder.makespan.clone();
            end.constant -= self.tail;
            end
        };
        length.add(&self.releases[piece], -1.0);
        length
    }

    /// Writes the columns and rows of the pieces.
    pub fn write(&self, builder: &mut Builder<'_>, number: usize) {
        let count: usize = self.groups.iter().map(Vec::len).sum();
        // Few sinks: a row per set (Hall's condition) needs no volume columns.
        if builder.sums() > 0 && count <= SETS {
            self.write_sets(builder, number);
        } else {
            self.write_sent(builder, number);
        }
    }

    /// Adds one row for every set of sinks and every circuit count that may be too small for the set.
    fn write_sets(&self, builder: &mut Builder<'_>, number: usize) {
        let (low, high) = (builder.range.low[self.link], builder.range.high[self.link]);
        let members: Vec<(usize, Member)> = self
            .groups
            .iter()
            .enumerate()
            .flat_map(|(group, members)| members.iter().map(move |member| (group, *member)))
            .collect();
        let lengths: Vec<Sum> = (0..self.groups.len()).map(|piece| self.length(piece, builder)).collect();
        // Rows for sets whose volume may not fit: circuits, the speed of the set in each piece, and its volume.
        let mut rows: Vec<(u32, Vec<f64>, f64)> = Vec::new();
        for circuits in low..=high {
            for set in 1u32..1 << members.len() {
                let inside = || members.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
                let volume: f64 = inside().map(|(_, (_, member))| member.volume).sum();
                // Speed of a set in a piece: the flows of released members, at most the circuits.
                let speeds: Vec<f64> = (0..self.groups.len())
                    .map(|piece| {
                        let there = inside().filter(|(_, (group, _))| *group <= piece);
                        there.map(|(_, (_, member))| member.flows).sum::<f64>().min(f64::from(circuits))
                    })
                    .collect();
                let mut sent = Sum::default();
                for (length, speed) in lengths.iter().zip(&speeds) {
                    sent.add(length, *speed);
                }
                // Sets whose volume fits for all lengths need no row.
                if sent.least(&builder.model) < volume - EQUAL_MS {
                    rows.push((circuits, speeds, volume));
                }
            }
        }
        // Circuit counts with rows have separate lengths; the counts between them share lengths.
        let mut buckets: Vec<(u32, u32)> = Vec::new();
        for circuits in low..=high {
            let alone = |circuits: u32| rows.iter().any(|row| row.0 == circuits);
            match buckets.last_mut() {
                Some((_, to)) if !alone(*to) && !alone(circuits) => *to = circuits,
                _ => buckets.push((circuits, circuits)),
            }
        }
        if rows.is_empty() {
            return;
        }
        let pieces = self.pieces(builder, number, &buckets, &lengths);
        let link = builder.link_name(self.link);
        for (row, (circuits, speeds, volume)) in rows.into_iter().enumerate() {
            let bucket = buckets.iter().position(|(from, _)| *from == circuits).unwrap_or(0);
            // Row: sum of speed * length >= volume if the count is chosen; both sides are 0 otherwise.
            let mut sum = Sum::default().plus(&self.chosen(builder, buckets[bucket]), -volume);
            for (piece, speed) in speeds.iter().enumerate() {
                sum.add(&pieces[piece][bucket], *speed);
            }
            sum.at_least_zero(&mut builder.model, || {
                format!("time for the volume of some last transfers on {link} with {circuits} circuits (row {row})")
            });
        }
    }

    /// Writes the volume that every sink sends in every piece.
    fn write_sent(&self, builder: &mut Builder<'_>, number: usize) {
        let (low, high) = (builder.range.low[self.link], builder.range.high[self.link]);
        let buckets: Vec<(u32, u32)> = (low..=high).map(|circuits| (circuits, circuits)).collect();
        let lengths: Vec<Sum> = (0..self.groups.len()).map(|piece| self.length(piece, builder)).collect();
        let pieces = self.pieces(builder, number, &buckets, &lengths);
        let link = builder.link_name(self.link);
        // Capacity of a piece: circuits times length, in disaggregated lengths.
        let mut room: Vec<Sum> = pieces
            .iter()
            .map(|piece| {
                let mut room = Sum::default();
                for (length, circuits) in piece.iter().zip(low..=high) {
                    room.add(length, f64::from(circuits));
                }
                room
            })
            .collect();
        let mut sink = 0;
        for (group, members) in self.groups.iter().enumerate() {
            for member in members {
                let mut all = Sum::of(-member.volume);
                let task = member.task;
                for piece in group..self.groups.len() {
                    let name = format!("sent by task {task} in piece {piece}");
                    let column = builder.model.column(name, 0.0, member.volume, 0.0);
                    builder.recipes.push(Recipe::Sent { share: number, sink, piece });
                    let sent = Sum::column(column);
                    all.add(&sent, 1.0);
                    room[piece].add(&sent, -1.0);
                    // Full speed of the sink in the piece.
                    let fastest = Sum::default().plus(&sent, -1.0).plus(&lengths[piece], member.flows);
                    fastest.at_least_zero(&mut builder.model, || {
                        format!("NICs of task {task} in piece {piece}")
                    });
                }
                all.equal_zero(&mut builder.model, || format!("volume of task {task}"));
                sink += 1;
            }
        }
        for (piece, room) in room.into_iter().enumerate() {
            room.at_least_zero(&mut builder.model, || format!("circuits {link} in piece {piece}"));
        }
    }

    /// Sum that is 1 if the circuit count of the link is in the range `from..=to`, otherwise 0.
    fn chosen(&self, builder: &Builder<'_>, (from, to): (u32, u32)) -> Sum {
        builder.reaches(self.link, from).plus(&builder.reaches(self.link, to + 1), -1.0)
    }

    /// Returns, for every piece, one length for each range of circuit counts in `buckets`. All lengths of a piece are
    /// zero except the length for the range that contains the chosen count.
    fn pieces(
        &self,
        builder: &mut Builder<'_>,
        number: usize,
        buckets: &[(u32, u32)],
        lengths: &[Sum],
    ) -> Vec<Vec<Sum>> {
        let link = builder.link_name(self.link);
        let mut pieces = Vec::new();
        for (piece, length) in lengths.iter().enumerate() {
            let (least, most) = (length.least(&builder.model).max(0.0), length.greatest(&builder.model));
            // Releases are in order, so no piece has a negative length.
            if length.least(&builder.model) < 0.0 {
                length.at_least_zero(&mut builder.model, || {
                    format!("length of piece {piece} of {link} not negative")
                });
            }
            if buckets.len() == 1 {
                pieces.push(vec![length.clone()]);
                continue;
            }
            // Disaggregation (convex hull of count times length): the lengths of the buckets add up to the length.
            let mut whole = Sum::default().plus(length, -1.0);
            let mut parts = Vec::new();
            for &(from, to) in buckets {
                let words = if from == to { format!("{from}") } else { format!("{from} to {to}") };
                let name = format!("length of piece {piece} of {link} with {words} circuits");
                let part = Sum::column(builder.model.column(name, 0.0, most.max(0.0), 0.0));
                builder.recipes.push(Recipe::Piece { share: number, piece, from, to });
                let chosen = self.chosen(builder, (from, to));
                let longest = Sum::default().plus(&chosen, most.max(0.0)).plus(&part, -1.0);
                longest.at_least_zero(&mut builder.model, || {
                    format!("piece {piece} of {link} only with {words} circuits")
                });
                // Lower bound on the chosen length, a cut of the reduced form only.
                if builder.sums() > 0 && least > 0.0 {
                    let shortest = part.plus(&chosen, -least);
                    shortest.at_least_zero(&mut builder.model, || {
                        format!("minimum length of piece {piece} of {link} with {words} circuits")
                    });
                }
                whole.add(&part, 1.0);
                parts.push(part);
            }
            whole.equal_zero(&mut builder.model, || format!("length of piece {piece} of {link}"));
            pieces.push(parts);
        }
        pieces
    }

    /// Releases of the groups at a point, milliseconds.
    fn released(&self, point: &[f64]) -> Vec<f64> {
        self.releases.iter().map(|release| release.at(point)).collect()
    }

    /// Schedules the sinks on `circuits` circuits with the releases of a point. The result has the end of the last
    /// sink, including the shortest tail, and the volumes over time.
    pub fn serve(&self, circuits: u32, point: &[f64]) -> Served {
        let releases = self.released(point);
        let mut served = Served { releases, ..Served::default() };
        // Sinks are served level-first, as in the path model.
        let mut sinks = Vec::new();
        for (group, members) in self.groups.iter().enumerate() {
            for member in members {
                sinks.push(Sink {
                    task: sinks.len() as u32,
                    release: served.releases[group],
                    work: member.volume / member.flows,
                    flows: member.flows,
                    tail: 0.0,
                });
            }
        }
        served.flows = sinks.iter().map(|sink| sink.flows).collect();
        sinks::sort(&mut sinks);
        let mut record = Vec::new();
        let end =
            sinks::level_first(&sinks, f64::from(circuits), &mut SinkScratch::default(), Some(&mut record));
        for stretch in &mut record {
            stretch.sink = sinks[stretch.sink as usize].task;
        }
        served.stretches = record;
        served.end = end + self.tail;
        served.tail = self.tail;
        served
    }
}

/// Schedule of the sinks that share a link, at a point of the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Served {
    pub end: f64,
    tail: f64,
    releases: Vec<f64>,
    flows: Vec<f64>,
    stretches: Vec<Stretch>,
}

impl Served {
    /// Start and end of a piece, milliseconds.
    fn piece(&self, piece: usize, makespan: f64) -> (f64, f64) {
        (self.releases[piece], self.releases.get(piece + 1).copied().unwrap_or(makespan - self.tail))
    }

    /// Length of a piece, milliseconds.
    pub fn length(&self, piece: usize, makespan: f64) -> f64 {
        let (from, to) = self.piece(piece, makespan);
        (to - from).max(0.0)
    }

    /// Returns the volume that a sink sends in a piece, NIC-milliseconds.
    pub fn sent(&self, sink: usize, piece: usize, makespan: f64) -> f64 {
        let (from, to) = self.piece(piece, makespan);
        let overlap = |stretch: &Stretch| (stretch.end.min(to) - stretch.start.max(from)).max(0.0);
        let own = self.stretches.iter().filter(|stretch| stretch.sink as usize == sink);
        own.map(|stretch| stretch.speed * self.flows[sink] * overlap(stretch)).sum()
    }
}
