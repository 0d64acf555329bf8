//! Check of plans in short form, from topology and plan alone: what holds for the trees of one root and one link of each
//! orbit holds for their images.

use crate::plan::compact::{CompactDiscipline, CompactPlan, CompactTree, FORMAT};
use crate::scenario::{NodeSort, SwitchHop, Topology};
use rustc_hash::{FxHashMap, FxHashSet};

/// Latencies and rates may be off by this share of an epoch or a capacity.
const TOLERANCE: f64 = 1e-6;

/// Returns everything that is wrong with a plan, each with a class word first; nothing if it holds. Every GPU has to
/// receive the data of every GPU.
pub fn violations(topology: &Topology, plan: &CompactPlan) -> Vec<String> {
    let gpus: Vec<u32> = topology.gpus().collect();
    violations_for(topology, plan, &gpus, &gpus, false)
}

/// The same where every GPU of `receivers` has to receive the data of all `sources`. Of a topology that is `turned` round,
/// links into switches are those that leave them in time.
pub fn violations_for(
    topology: &Topology,
    plan: &CompactPlan,
    sources: &[u32],
    receivers: &[u32],
    turned: bool,
) -> Vec<String> {
    let mut found = Vec::new();
    if plan.format != FORMAT {
        found.push(format!("format: '{}' is not {FORMAT}", plan.format));
    }
    if !(plan.epoch_us > 0.0
        && plan.epoch_us.is_finite()
        && plan.shard_bytes > 0.0
        && plan.shard_bytes.is_finite())
        || plan.pieces_per_tree == 0
    {
        found.push("time: epoch, shard and pieces have to be positive".to_owned());
        return found;
    }
    let orbits = match LinkOrbits::of(topology, &plan.generators) {
        Ok(orbits) => orbits,
        Err(why) => {
            found.push(format!("symmetry: {why}"));
            return found;
        }
    };
    let set = |nodes: &[u32]| nodes.iter().copied().collect::<FxHashSet<u32>>();
    let (sources, receivers) = (set(sources), set(receivers));
    for (place, images) in plan.generators.iter().enumerate() {
        let keeps = |nodes: &FxHashSet<u32>| {
            nodes.iter().all(|node| images.get(*node as usize).is_some_and(|image| nodes.contains(image)))
        };
        if !keeps(&sources) || !keeps(&receivers) {
            found.push(format!("symmetry: generators[{place}] maps a rank to a GPU that is none"));
        }
        if plan.generators.iter().take(place).any(|before| before == images) {
            found.push(format!("symmetry: generators[{place}] is listed twice"));
        }
    }
    let uses = FxHashMap::default();
    let mut checker =
        Checker { topology, plan, orbits: &orbits, sources, receivers, turned, found, uses, finish: 0 };
    checker.shares();
    for (place, tree) in plan.trees.iter().enumerate() {
        checker.tree(place, tree);
    }
    checker.loads();
    if checker.finish != plan.finish_epochs {
        let text = format!("claim: it ends after {} epochs, not {}", checker.finish, plan.finish_epochs);
        checker.found.push(text);
    }
    checker.found
}

/// Orbits of links and GPUs under a group that moves all of them.
struct LinkOrbits {
    by_ends: FxHashMap<(u32, u32), u32>,
    /// Orbit of each link.
    links: Vec<u32>,
    /// Orbit of each GPU; switches have none.
    gpus: Vec<u32>,
}

impl LinkOrbits {
    fn of(topology: &Topology, generators: &[Vec<u32>]) -> Result<Self, String> {
        let count = topology.nodes.len();
        let by_ends: FxHashMap<(u32, u32), u32> =
            topology.links.iter().enumerate().map(|(id, link)| ((link.from, link.to), id as u32)).collect();
        let image = |images: &[u32], link: usize| {
            let link = &topology.links[link];
            by_ends.get(&(images[link.from as usize], images[link.to as usize])).copied()
        };
        for (place, images) in generators.iter().enumerate() {
            let distinct: FxHashSet<u32> =
                images.iter().copied().filter(|image| (*image as usize) < count).collect();
            if images.len() != count || distinct.len() != count {
                return Err(format!("generators[{place}] is no permutation of the nodes"));
            }
            if (0..count).any(|node| topology.nodes[node].kind != topology.nodes[images[node] as usize].kind)
            {
                return Err(format!("generators[{place}] maps a GPU to a switch"));
            }
            for (id, link) in topology.links.iter().enumerate() {
                let alike = image(images, id).map(|other| &topology.links[other as usize]).filter(|other| {
                    let rate = |capacity: f64, scale: f64| capacity / scale;
                    rate(other.capacity_gbyte_per_s, other.beta_scale)
                        == rate(link.capacity_gbyte_per_s, link.beta_scale)
                        && other.alpha_us * other.alpha_scale == link.alpha_us * link.alpha_scale
                });
                if alike.is_none() {
                    return Err(format!(
                        "generators[{place}] maps link {}->{} to no equal one",
                        link.from, link.to
                    ));
                }
            }
        }
        let elements = group(topology, generators)?;
        let mut links = vec![u32::MAX; topology.links.len()];
        for link in 0..topology.links.len() {
            if links[link] != u32::MAX {
                continue;
            }
            for (element, images) in elements.iter().enumerate() {
                match image(images, link).map(|other| &mut links[other as usize]) {
                    Some(orbit) if *orbit == u32::MAX => *orbit = link as u32,
                    _ => return Err(format!("element {element} of the group keeps a link in place")),
                }
            }
        }
        let mut gpus = vec![u32::MAX; count];
        for node in (0..count).filter(|node| topology.nodes[*node].kind == NodeSort::Gpu) {
            if gpus[node] == u32::MAX {
                for images in &elements {
                    let orbit = &mut gpus[images[node] as usize];
                    if *orbit != u32::MAX {
                        return Err("an element of the group keeps a GPU in place".to_owned());
                    }
                    *orbit = node as u32;
                }
            }
        }
        Ok(Self { by_ends, links, gpus })
    }
}

/// All products of generators, as long as each is known by the image of the first GPU.
fn group(topology: &Topology, generators: &[Vec<u32>]) -> Result<Vec<Vec<u32>>, String> {
    let mut elements: Vec<Vec<u32>> = vec![(0..topology.nodes.len() as u32).collect()];
    let Some(first) = topology.nodes.iter().position(|node| node.kind == NodeSort::Gpu) else {
        return Ok(elements);
    };
    let mut known: FxHashMap<u32, usize> = FxHashMap::default();
    known.insert(first as u32, 0);
    let mut at = 0;
    while at < elements.len() {
        for generator in generators {
            let product: Vec<u32> = elements[at].iter().map(|node| generator[*node as usize]).collect();
            if let Some(&same) = known.get(&product[first]) {
                if elements[same] != product {
                    return Err("an element of the group keeps a GPU in place".to_owned());
                }
            } else {
                known.insert(product[first], elements.len());
                elements.push(product);
            }
        }
        at += 1;
    }
    Ok(elements)
}

struct Checker<'c> {
    topology: &'c Topology,
    plan: &'c CompactPlan,
    orbits: &'c LinkOrbits,
    /// GPUs with data.
    sources: FxHashSet<u32>,
    /// GPUs that receive all of it.
    receivers: FxHashSet<u32>,
    turned: bool,
    found: Vec<String>,
    /// By orbit of links: starts of whole pieces, or shares.
    uses: FxHashMap<u32, (Vec<u64>, f64)>,
    finish: u64,
}

impl Checker<'_> {
    fn piece_bytes(&self) -> f64 {
        self.plan.shard_bytes / f64::from(self.plan.pieces_per_tree)
    }

    fn rate(&self, link: u32) -> f64 {
        let link = &self.topology.links[link as usize];
        link.capacity_gbyte_per_s / link.beta_scale
    }

    /// Epochs that a whole piece occupies a link, and how many may start in them.
    fn window(&self, link: u32) -> (u64, u64) {
        let starts = 1000.0 * self.rate(link) * self.plan.epoch_us / self.piece_bytes();
        let epochs = (1.0 / starts - TOLERANCE).ceil().max(1.0);
        (epochs as u64, (epochs * starts + TOLERANCE).floor() as u64)
    }

    /// Epochs until a piece can go on from the end of a link.
    fn takes(&self, link: u32) -> u64 {
        let record = &self.topology.links[link as usize];
        let alpha = record.alpha_us * record.alpha_scale;
        let latency =
            if alpha > 0.0 { (alpha / self.plan.epoch_us - TOLERANCE).ceil().max(0.0) as u64 } else { 0 };
        let tail = if self.turned { record.to } else { record.from };
        let leaves_switch = self.topology.nodes[tail as usize].kind == NodeSort::Switch;
        if leaves_switch && self.topology.switch_model.hop == SwitchHop::CutThrough {
            return latency;
        }
        latency + if self.plan.discipline == CompactDiscipline::Fluid { 1 } else { self.window(link).0 }
    }

    /// Shares of a root add up to one, and every orbit of GPUs has one root.
    fn shares(&mut self) {
        let mut sums: FxHashMap<u32, Option<(u128, u128)>> = FxHashMap::default();
        for tree in &self.plan.trees {
            let part = fraction(&tree.share);
            let sum = sums.entry(tree.root).or_insert(Some((0, 1)));
            *sum = sum.zip(part).and_then(|((a, b), (c, d))| {
                let top = a.checked_mul(d)?.checked_add(c.checked_mul(b)?)?;
                let bottom = b.checked_mul(d)?;
                let divisor = divisor(top, bottom);
                Some((top / divisor, bottom / divisor))
            });
        }
        let mut roots: Vec<(u32, Option<(u128, u128)>)> = sums.into_iter().collect();
        roots.sort_unstable();
        let mut seen = FxHashSet::default();
        for (root, sum) in roots {
            if sum != Some((1, 1)) {
                self.found.push(format!("demand: the shares of root {root} do not add up to one"));
            }
            match self.orbits.gpus.get(root as usize) {
                Some(&orbit) if orbit != u32::MAX && self.sources.contains(&root) => {
                    if !seen.insert(orbit) {
                        self.found.push(format!("demand: root {root} is the image of another root"));
                    }
                }
                _ => self.found.push(format!("demand: root {root} is no GPU with data")),
            }
        }
        let orbits: FxHashSet<u32> =
            self.sources.iter().filter_map(|gpu| self.orbits.gpus.get(*gpu as usize)).copied().collect();
        if seen.len() != orbits.len() {
            let text = format!("demand: {} of {} orbits of GPUs have a root", seen.len(), orbits.len());
            self.found.push(text);
        }
    }

    /// A tree spans, its hops follow each other in place and time; its uses of links are noted.
    fn tree(&mut self, place: usize, tree: &CompactTree) {
        let nodes = &self.topology.nodes;
        let is = |node: u32, sort: NodeSort| nodes.get(node as usize).is_some_and(|node| node.kind == sort);
        let mut hops: Vec<(u32, u32, Vec<u32>)> = Vec::new();
        let mut reached: FxHashMap<u32, Option<usize>> = FxHashMap::default();
        reached.insert(tree.root, None);
        for edge in &tree.edges {
            let links: Option<Vec<u32>> =
                edge.windows(2).map(|ends| self.orbits.by_ends.get(&(ends[0], ends[1])).copied()).collect();
            let (Some(links), Some(&from), Some(&to)) = (links, edge.first(), edge.last()) else {
                self.found.push(format!("link: trees[{place}] takes {edge:?}, where a link is missing"));
                return;
            };
            let through = edge.get(1..edge.len().saturating_sub(1)).unwrap_or_default();
            let apart = through.iter().collect::<FxHashSet<_>>().len() == through.len();
            let sorts = is(from, NodeSort::Gpu)
                && is(to, NodeSort::Gpu)
                && apart
                && through.iter().all(|node| is(*node, NodeSort::Switch));
            if links.is_empty() || !sorts {
                self.found.push(format!("link: trees[{place}] takes {edge:?}, which is no way between GPUs"));
                return;
            }
            if !reached.contains_key(&from) {
                self.found.push(format!("causality: trees[{place}] leaves GPU {from} before it reaches it"));
                return;
            }
            if reached.insert(to, Some(hops.len())).is_some() {
                self.found.push(format!("useless: trees[{place}] reaches GPU {to} twice"));
                return;
            }
            hops.push((from, to, links));
        }
        let missed = self.receivers.iter().filter(|gpu| !reached.contains_key(gpu)).count();
        if missed > 0 {
            let all = self.receivers.len();
            self.found.push(format!("demand: trees[{place}] reaches {} of {all} GPUs", all - missed));
            return;
        }
        match self.plan.discipline {
            CompactDiscipline::Fluid => self.fluid(place, tree, &hops, &reached),
            CompactDiscipline::WholeChunk => self.whole(place, tree, &hops, &reached),
        }
    }

    fn fluid(
        &mut self,
        place: usize,
        tree: &CompactTree,
        hops: &[(u32, u32, Vec<u32>)],
        reached: &FxHashMap<u32, Option<usize>>,
    ) {
        let share = fraction(&tree.share).map_or(0.0, |(top, bottom)| top as f64 / bottom as f64);
        if !tree.starts.is_empty() {
            self.found
                .push(format!("format: trees[{place}] has starts, which the periodic form does not have"));
        }
        let mut ends: Vec<u64> = Vec::with_capacity(hops.len());
        for (from, _, links) in hops {
            let start = reached.get(from).copied().flatten().map_or(0, |hop| ends[hop]);
            ends.push(start + links.iter().map(|link| self.takes(*link)).sum::<u64>());
            for link in links {
                self.uses.entry(self.orbits.links[*link as usize]).or_default().1 += share;
            }
        }
        let last = u64::from(self.plan.pieces_per_tree) - 1;
        self.finish = self.finish.max(ends.into_iter().max().map_or(0, |end| end + last));
    }

    fn whole(
        &mut self,
        place: usize,
        tree: &CompactTree,
        hops: &[(u32, u32, Vec<u32>)],
        reached: &FxHashMap<u32, Option<usize>>,
    ) {
        let pieces = u128::from(self.plan.pieces_per_tree);
        let counted =
            fraction(&tree.share).and_then(|(top, bottom)| top.checked_mul(pieces).map(|top| (top, bottom)));
        let fits = counted.is_some_and(|(top, bottom)| top == tree.starts.len() as u128 * bottom);
        if !fits || tree.starts.iter().any(|starts| starts.len() != hops.len()) {
            self.found.push(format!("format: trees[{place}] has not one start for every hop of its pieces"));
            return;
        }
        let copies = self.topology.switch_model.copy;
        let mut sent: FxHashSet<(u32, u64)> = FxHashSet::default();
        for (piece, starts) in tree.starts.iter().enumerate() {
            sent.clear();
            let mut ends: Vec<u64> = Vec::with_capacity(hops.len());
            for ((from, to, links), &start) in hops.iter().zip(starts) {
                let mut time = u64::from(start);
                let there =
                    reached.get(from).copied().flatten().map_or(Some(0), |hop| ends.get(hop).copied());
                if there.is_none_or(|there| there > time) {
                    let text = format!(
                        "causality: piece {piece} of trees[{place}] leaves {from} for {to} too early"
                    );
                    self.found.push(text);
                }
                for &link in links {
                    if sent.insert((link, time)) || !copies {
                        self.uses.entry(self.orbits.links[link as usize]).or_default().0.push(time);
                    }
                    time += self.takes(link);
                }
                ends.push(time);
                self.finish = self.finish.max(time);
            }
        }
    }

    /// No link carries more than it can.
    fn loads(&mut self) {
        let mut uses: Vec<(u32, (Vec<u64>, f64))> = std::mem::take(&mut self.uses).into_iter().collect();
        uses.sort_by_key(|(link, _)| *link);
        for (link, (mut starts, share)) in uses {
            let record = &self.topology.links[link as usize];
            let (epochs, most) = self.window(link);
            starts.sort_unstable();
            let over =
                (most as usize..starts.len()).find(|at| starts[*at] < starts[*at - most as usize] + epochs);
            if most == 0 && !starts.is_empty() || over.is_some() {
                let at = over.map_or(0, |at| starts[at]);
                let text =
                    format!("capacity: link {}->{} starts too much at epoch {at}", record.from, record.to);
                self.found.push(text);
            }
            let room = 1000.0 * self.rate(link) * self.plan.epoch_us;
            if share * self.piece_bytes() > room * (1.0 + TOLERANCE) {
                let text =
                    format!("capacity: link {}->{} has more than an epoch carries", record.from, record.to);
                self.found.push(text);
            }
        }
    }
}

/// A fraction written as `13/40`.
fn fraction(text: &str) -> Option<(u128, u128)> {
    let (top, bottom) = text.split_once('/')?;
    let (top, bottom) = (top.parse().ok()?, bottom.parse().ok()?);
    (bottom > 0).then_some((top, bottom))
}

const fn divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    if a == 0 { 1 } else { a }
}

#[cfg(test)]
mod tests;
