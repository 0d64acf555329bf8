//! Chains: paths from GPU to GPU through switches, in which data cannot wait (docs/methods/collective-search.md,
//! section 6).

use crate::model::task::CollectiveTask;

/// Maximum number of links of a chain. A path through three tiers of switches has 6 links; deeper networks would have
/// too many chains to list.
const LONGEST: usize = 8;

/// Chains from every GPU, in flat lists.
#[derive(Clone, Debug)]
pub struct ChainTable {
    /// Range of the chains of every node; empty for switches.
    first: Vec<u32>,
    heads: Vec<u32>,
    /// Range of the links of every chain.
    link_first: Vec<u32>,
    links: Vec<u32>,
    /// Epochs between the start of the chain and the start on each of its links.
    offsets: Vec<u32>,
    durations: Vec<u32>,
    prices: Vec<f64>,
}

impl ChainTable {
    /// Lists all chains of a task's network that visit no switch twice.
    pub fn new(task: &CollectiveTask) -> Self {
        let nodes = task.network.node_count() as u32;
        let mut table = Self {
            first: vec![0],
            heads: Vec::new(),
            link_first: vec![0],
            links: Vec::new(),
            offsets: Vec::new(),
            durations: Vec::new(),
            prices: Vec::new(),
        };
        let mut chain = Vec::new();
        for node in 0..nodes {
            if !task.network.is_switch(node) {
                table.extend(task, node, node, &mut chain);
            }
            table.first.push(table.heads.len() as u32);
        }
        table
    }

    fn extend(&mut self, task: &CollectiveTask, gpu: u32, at: u32, chain: &mut Vec<u32>) {
        for &link in task.network.out_links(at) {
            // Depth first; GPUs end a chain.
            let to = task.network.links()[link as usize].to;
            // The lanes of a switch count as one switch.
            let origin = |link: u32| task.origins[task.network.links()[link as usize].to as usize];
            let passed = chain.iter().any(|before| origin(*before) == task.origins[to as usize]);
            // No immediate return, and no switch is visited twice.
            if to == gpu || passed {
                continue;
            }
            chain.push(link);
            if !task.network.is_switch(to) {
                self.add(task, to, chain);
            } else if chain.len() < LONGEST {
                self.extend(task, gpu, to, chain);
            }
            chain.pop();
        }
    }

    fn add(&mut self, task: &CollectiveTask, head: u32, chain: &[u32]) {
        let (mut offset, mut price) = (0, 0.0);
        // Links start one after the other: offsets are sums of latencies.
        for &link in chain {
            let model = &task.epochs.links[link as usize];
            self.links.push(link);
            self.offsets.push(offset);
            offset += model.latency;
            // The price is a sum over the links of the chain: the epochs for which the chunk occupies the link, divided
            // by the number of chunks that may start in these epochs.
            price += f64::from(model.occupied) / f64::from(model.starts);
        }
        self.heads.push(head);
        self.durations.push(offset);
        self.prices.push(price);
        self.link_first.push(self.links.len() as u32);
    }

    /// Returns the numbers of the chains that leave a node.
    pub fn of(&self, node: u32) -> std::ops::Range<u32> {
        self.first[node as usize]..self.first[node as usize + 1]
    }

    /// Returns the GPU at the end of a chain.
    pub fn head(&self, chain: u32) -> u32 {
        self.heads[chain as usize]
    }

    /// Returns the number of epochs from the start of a chain until the chunk is usable at its end.
    pub fn duration(&self, chain: u32) -> u32 {
        self.durations[chain as usize]
    }

    /// Returns the number of epochs for which a chunk occupies the links of a chain, summed over the links; a link that
    /// allows several starts per epoch counts a fraction of an epoch.
    pub fn price(&self, chain: u32) -> f64 {
        self.prices[chain as usize]
    }

    /// Returns the first link of a chain through one switch, and the number of epochs until its second link starts;
    /// `None` for other chains.
    pub fn pair(&self, chain: u32) -> Option<(u32, u32)> {
        let mut links = self.links(chain);
        let (first, second) = (links.next()?, links.next()?);
        links.next().is_none().then_some((first.0, second.1))
    }

    /// Returns the links of a chain, each with the number of epochs between the start of the chain and the start on the
    /// link.
    pub fn links(&self, chain: u32) -> impl ExactSizeIterator<Item = (u32, u32)> + Clone + '_ {
        let range = self.link_first[chain as usize] as usize..self.link_first[chain as usize + 1] as usize;
        self.links[range.clone()].iter().copied().zip(self.offsets[range].iter().copied())
    }
}
