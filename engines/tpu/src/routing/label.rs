//! Assigns virtual channels to the hops of selected routes. Every assignment that uses only allowed turns is free of
//! deadlock, so the assignment can be chosen to balance the load.

use super::frame::Frame;
use super::turns::Turns;

/// Assigns labels to one route after the other.
///
/// A hop costs the rank of its channel in an order of preference. Without balancing, channels are preferred in the
/// order of their numbers; with balancing, the channel with the fewest hops so far comes first.
#[derive(Clone, Debug)]
pub struct Labeller<'a> {
    turns: &'a Turns,
    balance: bool,
    /// Number of hops on each virtual channel so far.
    pub hops: Vec<u64>,
    /// `cost[hop * vcs + vc]`: cost of the best labels up to this hop. `from`: channel of the previous hop in these
    /// labels.
    cost: Vec<u32>,
    from: Vec<u8>,
    labels: Vec<u8>,
}

/// Cost of labels that the turns do not allow.
const NONE: u32 = u32::MAX;

impl<'a> Labeller<'a> {
    /// A labeller without any routes so far.
    pub fn new(turns: &'a Turns, balance: bool) -> Self {
        let hops = vec![0; turns.vcs()];
        Self { turns, balance, hops, cost: Vec::new(), from: Vec::new(), labels: Vec::new() }
    }

    /// Labels of the route that leaves `source` by these ports; `None` if the turns do not allow the route.
    pub fn label(&mut self, frame: &Frame, source: u32, ports: &[u8]) -> Option<&[u8]> {
        let vcs = self.turns.vcs();
        let mut preference: Vec<usize> = (0..vcs).collect();
        // Prefers the channels with the fewest hops so far; the sort is stable, so equal channels keep their order.
        if self.balance {
            preference.sort_by_key(|vc| self.hops[*vc]);
        }
        let mut price = vec![0; vcs];
        for (place, vc) in preference.iter().enumerate() {
            price[*vc] = place as u32;
        }
        self.cost.clear();
        self.from.clear();
        self.cost.extend_from_slice(&price);
        self.from.resize(vcs, 0);
        let mut arc = Frame::arc(source, *ports.first()?);
        for (hop, &port) in ports.iter().enumerate().skip(1) {
            let class = frame.class(arc);
            // Dynamic program over hops: the cheapest labels that end on each channel. Any labels with allowed turns
            // are safe.
            for (vc, price) in price.iter().enumerate() {
                let ways = (0..vcs)
                    .filter(|before| self.turns.allows(class, port, *before, vc))
                    .map(|before| (self.cost[(hop - 1) * vcs + before], before))
                    .filter(|way| way.0 != NONE)
                    .min();
                self.cost.push(ways.map_or(NONE, |(cost, _)| cost + price));
                self.from.push(ways.map_or(0, |(_, before)| before as u8));
            }
            arc = Frame::arc(frame.head(arc), port);
        }
        let last = (ports.len() - 1) * vcs;
        // Starts at the cheapest end and follows the predecessors.
        let (cost, mut vc) = (0..vcs).map(|vc| (self.cost[last + vc], vc)).min()?;
        if cost == NONE {
            return None;
        }
        self.labels.clear();
        self.labels.resize(ports.len(), 0);
        for hop in (0..ports.len()).rev() {
            self.labels[hop] = vc as u8;
            self.hops[vc] += 1;
            vc = usize::from(self.from[hop * vcs + vc]);
        }
        Some(&self.labels)
    }
}

#[cfg(test)]
mod tests;
