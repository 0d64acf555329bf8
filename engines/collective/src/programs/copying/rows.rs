//! Rows for presence, forwarding, switches, windows of links, and buffers (docs/methods/collective-search.md, section
//! 7).

use super::{CopyBeginning, CopyEnd, CopyProgram};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::model::Column;
use rustc_hash::FxHashMap;

impl CopyProgram<'_> {
    pub(super) fn add_rows<W: Watch>(
        &mut self,
        beginning: &CopyBeginning,
        end: CopyEnd,
        buffer_limit: Option<u32>,
        watch: &mut W,
    ) -> Result<(), MethodError> {
        let mut drops = Vec::new();
        let circular = self.circular_links();
        for at in 0..self.folding.chunks.len() {
            watch.checkpoint()?;
            let dropped = self.drop_columns(at, beginning, buffer_limit);
            self.presence_rows(at, &dropped);
            drops.push(dropped);
            self.forward_rows(at, beginning);
            self.once_rows(at);
            self.order_rows(at, &circular);
            self.pace_rows(at);
            if end == CopyEnd::Delivered {
                self.demand(at, beginning);
            }
        }
        self.window_rows(beginning);
        if let Some(limit) = buffer_limit {
            self.buffer_rows(limit, &drops);
        }
        Ok(())
    }

    /// Returns the starts of a chunk that arrive at a node at the beginning of an epoch, not earlier.
    fn arrivals(&self, at: usize, node: u32, epoch: u32) -> impl Iterator<Item = Column> + '_ {
        self.task.network.in_links(node).iter().filter_map(move |&link| {
            let start = epoch.checked_sub(self.task.epochs.latency(link))?;
            self.starts[at][link as usize].at(start)
        })
    }

    /// Adds columns for dropping, after an epoch, a chunk that a GPU holds for other GPUs; returns the columns by node
    /// and epoch.
    fn drop_columns(
        &mut self,
        at: usize,
        beginning: &CopyBeginning,
        buffer_limit: Option<u32>,
    ) -> FxHashMap<(u32, u32), Column> {
        let mut dropped = FxHashMap::default();
        // Without a buffer limit nothing is dropped.
        if buffer_limit.is_none() {
            return dropped;
        }
        let task = self.task;
        let chunk = self.folding.chunks[at];
        for &node in task.network.gpus() {
            // Chunks of the GPU itself, and chunks that it needs, do not occupy its buffer.
            let wanted = task.chunks.dests(chunk as usize).any(|dest| dest == node);
            if wanted || beginning.holds(at, node) {
                continue;
            }
            let span = self.presence[at][node as usize];
            for (epoch, _) in span.iter() {
                let name = format!("drop {chunk} {node} {epoch}");
                dropped.insert((node, epoch), self.model.binary(name, 0.0));
            }
        }
        dropped
    }

    /// Adds the rows `B[k] = B[k-1] - X[k-1] + arrivals`, with the presence `B` of a chunk at a GPU and its dropping
    /// `X`. Presence is at most 1, so at most one reception helps. If chunks may be dropped, a plan still must not
    /// deliver a chunk twice, so a row limits the total number of receptions.
    fn presence_rows(&mut self, at: usize, dropped: &FxHashMap<(u32, u32), Column>) {
        let task = self.task;
        let chunk = self.folding.chunks[at];
        for &node in task.network.gpus() {
            let span = self.presence[at][node as usize];
            let mut received = Vec::new();
            let mut may_drop = false;
            // Presence is integral if starts are: no binary is needed.
            for (epoch, here) in span.iter() {
                let arrivals: Vec<Column> = self.arrivals(at, node, epoch).collect();
                let before = epoch.checked_sub(1).and_then(|before| span.at(before));
                let drop = epoch.checked_sub(1).and_then(|before| dropped.get(&(node, before)).copied());
                let mut terms = vec![(here, 1.0)];
                terms.extend(before.map(|before| (before, -1.0)));
                terms.extend(drop.map(|drop| (drop, 1.0)));
                terms.extend(arrivals.iter().map(|arrival| (*arrival, -1.0)));
                // B[k] - B[k-1] + X[k-1] - arrivals = 0.
                self.model.equal(format!("presence {chunk} {node} {epoch}"), 0.0, terms);
                if let Some(&drop) = dropped.get(&(node, epoch)) {
                    may_drop = true;
                    let name = format!("drop what is present {chunk} {node} {epoch}");
                    // Only a chunk that is present can be dropped.
                    self.model.at_most(name, 0.0, [(drop, 1.0), (here, -1.0)]);
                }
                received.extend(arrivals);
            }
            if may_drop {
                let terms: Vec<_> = received.into_iter().map(|arrival| (arrival, 1.0)).collect();
                self.model.at_most(format!("receive once {chunk} {node}"), 1.0, terms);
            }
        }
    }

    /// Adds rows by which GPUs send only chunks that are present, and switches send only chunks that arrive in the
    /// epoch of the start.
    fn forward_rows(&mut self, at: usize, beginning: &CopyBeginning) {
        let task = self.task;
        let chunk = self.folding.chunks[at];
        for node in 0..task.network.node_count() as u32 {
            // A node that holds the chunk may send it from the beginning and needs no row.
            if beginning.holds(at, node) {
                continue;
            }
            if !task.network.is_switch(node) {
                for &link in task.network.out_links(node) {
                    let span = self.starts[at][link as usize];
                    for (epoch, start) in span.iter() {
                        let name = format!("forward {chunk} {link} {epoch}");
                        // Without a presence column, the chunk cannot be at the node, so the start is 0.
                        let there = self.presence[at][node as usize].at(epoch);
                        let most = self.model.upper[start.index()].max(1.0);
                        let terms = [(start, 1.0)].into_iter().chain(there.map(|there| (there, -most)));
                        self.model.at_most(name, 0.0, terms);
                    }
                }
                continue;
            }
            // Starts by epoch, all links out of the switch.
            let mut departures: FxHashMap<u32, Vec<Column>> = FxHashMap::default();
            for &link in task.network.out_links(node) {
                for (epoch, start) in self.starts[at][link as usize].iter() {
                    departures.entry(epoch).or_default().push(start);
                }
            }
            let mut epochs: Vec<u32> = departures.keys().copied().collect();
            epochs.sort_unstable();
            for epoch in epochs {
                let arrivals: Vec<(Column, f64)> =
                    self.arrivals(at, node, epoch).map(|arrival| (arrival, -1.0)).collect();
                let leaving = departures.remove(&epoch).unwrap_or_default();
                let name = format!("switch {chunk} {node} {epoch}");
                if task.switch_copies {
                    // A copying switch: every link may carry an arriving chunk.
                    for start in leaving {
                        let terms = arrivals.iter().copied().chain([(start, 1.0)]);
                        self.model.at_most(name.clone(), 0.0, terms);
                    }
                } else {
                    // Without copies: departures do not exceed arrivals.
                    let terms = leaving.into_iter().map(|start| (start, 1.0)).chain(arrivals);
                    self.model.at_most(name, 0.0, terms);
                }
            }
        }
    }

    /// Adds rows by which a chunk with one destination leaves every GPU at most once.
    fn once_rows(&mut self, at: usize) {
        let task = self.task;
        let chunk = self.folding.chunks[at];
        // Chunks with several destinations may leave over several links.
        if task.chunks.dests(chunk as usize).nth(1).is_some() {
            return;
        }
        for &node in task.network.gpus() {
            let links = task.network.out_links(node).iter();
            let terms: Vec<_> = links
                .flat_map(|link| self.starts[at][*link as usize].iter().map(|(_, start)| (start, 1.0)))
                .collect();
            if terms.len() > 1 {
                self.model.at_most(format!("leave once {chunk} {node}"), 1.0, terms);
            }
        }
    }

    /// Adds rows by which a chunk arrives at a switch at only one pace in an epoch, because plans do not distinguish
    /// arrivals of different pace.
    fn pace_rows(&mut self, at: usize) {
        let task = self.task;
        let chunk = self.folding.chunks[at];
        let count = task.real.node_count();
        // With a single pace, arrivals cannot differ.
        if !task.has_lanes() {
            return;
        }
        for node in (0..count as u32).filter(|node| task.network.is_switch(*node)) {
            let more = (count as u32..).zip(&task.origins[count..]).filter(|(_, origin)| **origin == node);
            let nodes: Vec<u32> = std::iter::once(node).chain(more.map(|(node, _)| node)).collect();
            // Nodes of one switch, one node for each pace.
            for epoch in 0..=self.epochs {
                let of_node = |node: &u32| self.arrivals(at, *node, epoch).collect::<Vec<_>>();
                let mut paces: Vec<Vec<Column>> = nodes.iter().map(of_node).collect();
                paces.retain(|columns| !columns.is_empty());
                if paces.len() < 2 {
                    continue;
                }
                // Every arrival has one of the paces.
                let taken: Vec<(Column, f64)> = paces
                    .iter()
                    .map(|_| (self.model.binary(format!("pace {chunk} {node} {epoch}"), 0.0), 1.0))
                    .collect();
                for (columns, (pace, _)) in paces.iter().zip(&taken) {
                    let most: f64 = columns.iter().map(|column| self.model.upper[column.index()]).sum();
                    let terms = columns.iter().map(|column| (*column, 1.0)).chain([(*pace, -most)]);
                    self.model.at_most(format!("at a pace {chunk} {node} {epoch}"), 0.0, terms);
                }
                self.model.at_most(format!("one pace {chunk} {node} {epoch}"), 1.0, taken);
            }
        }
    }

    /// Requires that every destination has its chunks at the end.
    fn demand(&mut self, at: usize, beginning: &CopyBeginning) {
        let chunk = self.folding.chunks[at];
        for dest in self.task.chunks.dests(chunk as usize) {
            if beginning.holds(at, dest) {
                continue;
            }
            match self.present(at, dest, self.epochs) {
                // A bound fixes presence at the end, so no row is needed.
                Some(column) => self.model.lower[column.index()] = 1.0,
                // No column: the chunk cannot be at the destination in time.
                None => {
                    // An empty row that cannot hold: the model is infeasible, and the solver reports it at once.
                    self.model.at_least(format!("deliver {chunk} {dest}"), 1.0, []);
                }
            }
        }
    }

    /// Adds rows that limit the starts of all chunks in every window of a link. One link of every orbit has rows; a
    /// start of a representative chunk counts once for each image of the link in that orbit.
    fn window_rows(&mut self, beginning: &CopyBeginning) {
        // The lanes of a link share its capacity; their starts count in the epochs in which the link transmits.
        let links = self.task.real.links().len();
        let mut terms: Vec<Vec<(u32, Column, f64)>> = vec![Vec::new(); links];
        for spans in &self.starts {
            for (link, span) in spans.iter().enumerate() {
                // One link of every orbit has rows; a start counts once for each of its images on that link.
                let (first, images) = self.folding.links[link];
                let model = &self.task.epochs.links[first as usize];
                let starts = span.iter();
                terms[model.carrier as usize]
                    .extend(starts.map(|(epoch, column)| (epoch - model.shift, column, f64::from(images))));
            }
        }
        for (link, mut terms) in terms.into_iter().enumerate() {
            // In order of epochs, so that windows slide over the list.
            terms.sort_unstable_by_key(|(epoch, column, _)| (*epoch, *column));
            let model = &self.task.epochs.links[link];
            let ends = &self.task.real.links()[link];
            let (window, room) = (i64::from(model.occupied), f64::from(model.starts));
            let Some(last) = terms.last().map(|(epoch, ..)| i64::from(*epoch)) else { continue };
            // Windows that reach back before the first epoch also count earlier starts.
            let earlier = &beginning.before[link];
            // Sliding window: both ends only move forward.
            let first = if earlier.is_empty() { 0 } else { 1 - window };
            let (mut from, mut to, mut previous) = (0, 0, None);
            for begin in first..=(last - window + 1).max(first) {
                while from < terms.len() && i64::from(terms[from].0) < begin {
                    from += 1;
                }
                to = to.max(from);
                while to < terms.len() && i64::from(terms[to].0) < begin + window {
                    to += 1;
                }
                // Starts of the previous round that still occupy the link.
                let gone = earlier.iter().filter(|back| -i64::from(**back) >= begin).count() as f64;
                let within = &terms[from..to];
                let most: f64 =
                    within.iter().map(|(_, column, count)| count * self.model.upper[column.index()]).sum();
                // A limit that cannot be exceeded, or that another row implies, needs no row.
                if most + gone <= room || previous == Some((from, to, gone.to_bits())) {
                    continue;
                }
                previous = Some((from, to, gone.to_bits()));
                let name = format!("window {}->{} {begin}", ends.from, ends.to);
                let row = within.iter().map(|(_, column, count)| (*column, *count));
                self.model.at_most(name, room - gone, row);
            }
        }
    }

    /// Adds rows that limit the chunks that GPUs hold for other GPUs; one GPU of every orbit has rows.
    fn buffer_rows(&mut self, limit: u32, drops: &[FxHashMap<(u32, u32), Column>]) {
        let mut held: FxHashMap<(u32, u32), Vec<(Column, f64)>> = FxHashMap::default();
        for (at, dropped) in drops.iter().enumerate() {
            for &(node, epoch) in dropped.keys() {
                let (first, images) = self.folding.nodes[node as usize];
                if let Some(there) = self.present(at, node, epoch) {
                    held.entry((first, epoch)).or_default().push((there, f64::from(images)));
                }
            }
        }
        let mut rows: Vec<_> = held.into_iter().collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        for ((node, epoch), mut terms) in rows {
            terms.sort_unstable_by_key(|(column, _)| *column);
            self.model.at_most(format!("buffer {node} {epoch}"), f64::from(limit), terms);
        }
    }
}
