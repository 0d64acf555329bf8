//! Columns for amounts that can arrive in time, and their constraints (docs/methods/collective-search.md, section 8).

use super::FluidProgram;
use crate::model::distances::FAR;
use crate::programs::spans::ColumnSpan;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::model::Column;

impl FluidProgram<'_> {
    pub(super) fn add_columns<W: Watch>(&mut self, watch: &mut W) -> Result<(), MethodError> {
        let (network, distances) = (&self.task.network, &self.links.distances);
        for source in &self.sources {
            watch.checkpoint()?;
            let node = source.node;
            let earliest = distances.from(network, node);
            let mut needed = vec![FAR; network.node_count()];
            // Distance to the nearest destination of this source.
            for dest in source.wanted.keys() {
                for (best, way) in needed.iter_mut().zip(distances.to(network, *dest)) {
                    *best = (*best).min(*way);
                }
            }
            let last_of =
                // Last epoch in which a step of `more` epochs to the node `tail` may begin so that the data still
                // reaches a destination.
                |tail: u32, more: u32| self.epochs.checked_sub(needed[tail as usize].saturating_add(more));
            let mut flows = vec![ColumnSpan::default(); network.links().len()];
            for (id, ends) in (0u32..).zip(network.links()) {
                let link = &self.links.links[id as usize];
                // No amount returns to the source.
                let last = last_of(ends.to, link.latency).filter(|_| ends.to != node);
                let first = earliest[ends.from as usize];
                let Some(last) = last.filter(|last| *last >= first) else { continue };
                let first_column = Column(self.model.columns() as u32);
                for epoch in first..=last {
                    // No upper bounds: the rows of the links limit the amounts.
                    let upper = if link.is_up(epoch) { f64::INFINITY } else { 0.0 };
                    let name = format!("flow {node} {}->{} {epoch}", ends.from, ends.to);
                    self.model.column(name, 0.0, upper, 0.0);
                }
                flows[id as usize] = ColumnSpan::new(first, first_column, last - first + 1);
            }
            self.flows.push(flows);
            let mut waiting = vec![ColumnSpan::default(); network.node_count()];
            // Waiting at the source has no column, because its data may leave in any epoch.
            for &gpu in network.gpus().iter().filter(|gpu| **gpu != node) {
                let first = earliest[gpu as usize];
                let Some(last) = last_of(gpu, 1).filter(|last| *last >= first) else { continue };
                let first_column = Column(self.model.columns() as u32);
                for epoch in first..=last {
                    self.model.column(format!("wait {node} {gpu} {epoch}"), 0.0, f64::INFINITY, 0.0);
                }
                waiting[gpu as usize] = ColumnSpan::new(first, first_column, last - first + 1);
            }
            self.waiting.push(waiting);
        }
        Ok(())
    }

    pub(super) fn add_rows<W: Watch>(&mut self, watch: &mut W) -> Result<(), MethodError> {
        for at in 0..self.sources.len() {
            watch.checkpoint()?;
            // One equation for each node and epoch.
            for node in 0..self.task.network.node_count() as u32 {
                // The amount that leaves the source follows from the other rows.
                if node != self.sources[at].node {
                    self.conserve(at, node);
                }
            }
        }
        self.limit_links();
        Ok(())
    }

    /// Adds rows that conserve data: all data that waits or arrives at a node in an epoch keeps waiting or leaves; at
    /// the end, all data that a destination needs must be at the destination. No data waits at switches.
    fn conserve(&mut self, at: usize, node: u32) {
        let network = &self.task.network;
        let source = &self.sources[at];
        let first = self.links.distances.from(network, source.node)[node as usize];
        let wanted = source.wanted.get(&node).map_or(0, Vec::len) as f64;
        let waiting = self.waiting[at][node as usize];
        // Starts at the first epoch at which data of the source can be at the node.
        for epoch in first.min(self.epochs)..=self.epochs {
            let mut terms: Vec<(Column, f64)> = Vec::new();
            for &link in network.in_links(node) {
                let start = epoch.checked_sub(self.links.links[link as usize].latency);
                terms.extend(
                    start
                        .and_then(|start| self.flows[at][link as usize].at(start))
                        .map(|arrival| (arrival, 1.0)),
                );
            }
            // Amounts that leave in this epoch.
            for &link in network.out_links(node) {
                terms.extend(self.flows[at][link as usize].at(epoch).map(|leaving| (leaving, -1.0)));
            }
            terms.extend(
                // Amounts that waited since the previous epoch, or wait further.
                epoch.checked_sub(1).and_then(|before| waiting.at(before)).map(|before| (before, 1.0)),
            );
            terms.extend(waiting.at(epoch).map(|further| (further, -1.0)));
            // At the end, a destination has kept all the data that it needs.
            let kept = if epoch == self.epochs { wanted } else { 0.0 };
            if !terms.is_empty() || kept > 0.0 {
                self.model.equal(format!("keep {} {node} {epoch}", source.node), kept, terms);
            }
        }
    }

    /// Adds rows that limit the amounts of all sources on a link in an epoch. One link of every orbit has rows; a
    /// representative source counts once for each image of the link in that orbit.
    fn limit_links(&mut self) {
        let mut terms: Vec<Vec<(u32, Column, f64)>> = vec![Vec::new(); self.links.links.len()];
        for flows in &self.flows {
            for (link, span) in flows.iter().enumerate() {
                let (first, images) = self.folding.links[link];
                // The flows of all images of a link count in the rows of the first link of its orbit.
                terms[first as usize]
                    .extend(span.iter().map(|(epoch, column)| (epoch, column, f64::from(images))));
            }
        }
        for (link, mut terms) in terms.into_iter().enumerate() {
            terms.sort_unstable_by_key(|(epoch, column, _)| (*epoch, *column));
            let ends = &self.task.network.links()[link];
            // One row for each link and epoch.
            for of_epoch in terms.chunk_by(|a, b| a.0 == b.0) {
                let name = format!("carry {}->{} {}", ends.from, ends.to, of_epoch[0].0);
                let row = of_epoch.iter().map(|(_, column, images)| (*column, *images));
                self.model.at_most(name, self.links.links[link].per_epoch, row);
            }
        }
    }
}
