//! Links without latency between switches: ensures that no copy of a chunk feeds itself
//! (docs/methods/collective-search.md, section 7).

use super::CopyProgram;
use lightbay_highs::model::Column;
use rustc_hash::{FxHashMap, FxHashSet};

impl CopyProgram<'_> {
    /// Returns the zero-latency links between switches that lie on a cycle of such links.
    pub(super) fn circular_links(&self) -> Vec<u32> {
        let (network, epochs) = (&self.task.network, &self.task.epochs);
        // Links between switches over which a chunk passes in the same epoch.
        let between = |link: &u32| {
            let ends = &network.links()[*link as usize];
            epochs.latency(*link) == 0 && network.is_switch(ends.from) && network.is_switch(ends.to)
        };
        let at_once: Vec<u32> = (0..network.links().len() as u32).filter(between).collect();
        let leads_back = |link: &u32| {
            let ends = &network.links()[*link as usize];
            // Breadth first along the links of `at_once` from the head: there is a cycle if the search reaches the
            // tail.
            let mut reached = FxHashSet::from_iter([ends.to]);
            let mut open = vec![ends.to];
            while let Some(node) = open.pop() {
                for &next in network.out_links(node).iter().filter(|next| at_once.contains(next)) {
                    let head = network.links()[next as usize].to;
                    if reached.insert(head) {
                        open.push(head);
                    }
                }
            }
            reached.contains(&ends.from)
        };
        at_once.iter().copied().filter(leads_back).collect()
    }

    /// Adds columns for the ranks of the switches on such cycles, by epoch, and rows by which a chunk goes only to
    /// switches of a higher rank (Miller, Tucker and Zemlin). Without ranks, starts around a cycle could feed each
    /// other without a source.
    pub(super) fn order_rows(&mut self, at: usize, circular: &[u32]) {
        let network = &self.task.network;
        let chunk = self.folding.chunks[at];
        let switches: FxHashSet<u32> =
            circular.iter().map(|link| network.links()[*link as usize].from).collect();
        let count = switches.len() as f64;
        let mut ranks: FxHashMap<(u32, u32), Column> = FxHashMap::default();
        for &link in circular {
            let (from, to) = (network.links()[link as usize].from, network.links()[link as usize].to);
            for (epoch, start) in self.starts[at][link as usize].iter() {
                // A rank for each switch and epoch, created when a start needs it.
                let mut rank = |node: u32| {
                    let name = || format!("rank {chunk} {node} {epoch}");
                    *ranks
                        .entry((node, epoch))
                        .or_insert_with(|| self.model.column(name(), 0.0, count - 1.0, 0.0))
                };
                let (tail, head) = (rank(from), rank(to));
                let most = self.model.upper[start.index()];
                // Links with several starts need a binary variable that is 1 if the link is used.
                let used = if most > 1.0 {
                    let used = self.model.binary(format!("used {chunk} {link} {epoch}"), 0.0);
                    self.model.at_most(
                        format!("use {chunk} {link} {epoch}"),
                        0.0,
                        [(start, 1.0), (used, -most)],
                    );
                    used
                } else {
                    start
                };
                let name = format!("order {chunk} {link} {epoch}");
                // used = 1 forces rank(head) >= rank(tail) + 1.
                self.model.at_most(name, count - 1.0, [(tail, 1.0), (head, -1.0), (used, count)]);
            }
        }
    }
}
