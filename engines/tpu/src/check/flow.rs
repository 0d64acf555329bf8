//! The throughput again, by column generation of the checker's own.
//!
//! A master program mixes shortest path flows; its value is a flow that exists. Its prices are lengths, and lengths
//! bound every flow. Both ends are compared with those that the plan claims: the lower one is confirmed as soon as a
//! flow that large is found.

use super::group::Symmetric;
use super::wiring::{CHIPS, ELECTRICAL, PORTS, SWITCHES, Wiring, coordinates};
use super::{Findings, SOLVED, code};
use crate::plan::TpuResult;
use lightbay_highs::error::Error;
use lightbay_highs::event::Unwatched;
use lightbay_highs::instance::Instance;
use lightbay_highs::model::{Model, Row};
use lightbay_highs::options::Options;
use lightbay_highs::solution::Status;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rounds after which the claims that are still open stay claims.
const ROUNDS: usize = 250;
/// Chips up to which pods without symmetry are recomputed.
const LARGEST_GENERAL: usize = 512;
/// Both directions of a link.
const CAPACITY: f64 = 2.0;

/// Recomputes the throughput and compares both ends of the claim with it.
pub(super) fn check(
    wiring: &Wiring,
    group: Option<Symmetric>,
    result: &TpuResult,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) {
    if group.is_none() && wiring.nodes() > LARGEST_GENERAL {
        remarks.push(format!(
            "the throughput is not computed again: {} chips without symmetry are more than {LARGEST_GENERAL}",
            wiring.nodes()
        ));
        return;
    }
    let network = Network::of(wiring, group);
    let (lower, upper) = (result.claims.mcf_lower, result.claims.mcf_upper);
    let start = match (&result.certificates.class_lengths, group) {
        (Some(lengths), Some(_)) if lengths.len() == network.classes => lengths.clone(),
        _ => vec![1.0; network.classes],
    };
    match network.interval(&start, (lower, upper)) {
        Err(error) => remarks.push(format!("the throughput could not be computed again: {error}")),
        Ok((own_lower, own_upper)) => {
            if lower > own_upper * (1.0 + SOLVED) {
                found.add(code::MCF, format!("'mcf_lower' is {lower}, no flow is above {own_upper}"));
            } else if own_lower >= lower * (1.0 - SOLVED) {
                remarks.push(format!("a flow of {own_lower} was found again: 'mcf_lower' is confirmed"));
            } else {
                remarks.push(format!(
                    "'mcf_lower' {lower} is claimed: a flow of {own_lower} was found, at most {own_upper} exists"
                ));
            }
            if upper < own_lower * (1.0 - SOLVED) {
                found.add(code::MCF, format!("'mcf_upper' is {upper}, a flow of {own_lower} exists"));
            }
        }
    }
}

/// Links in classes of equal length, and the sources that share a column.
struct Network<'w> {
    wiring: &'w Wiring,
    /// Class of the link at every port of every chip.
    class: Vec<[usize; PORTS]>,
    classes: usize,
    groups: Vec<Vec<usize>>,
}

/// What one group of sources sends along shortest paths.
struct Tree {
    distances: f64,
    loads: Vec<f64>,
}

impl<'w> Network<'w> {
    fn of(wiring: &'w Wiring, group: Option<Symmetric>) -> Self {
        let nodes = wiring.nodes();
        if group.is_some() {
            let mut cube = vec![[0; PORTS]; CHIPS];
            let mut next = 0;
            for axis in 0..3 {
                for chip in (0..CHIPS).filter(|&chip| coordinates(chip)[axis] < 3) {
                    cube[chip][2 * axis] = next;
                    cube[chip + 4_usize.pow(axis as u32)][2 * axis + 1] = next;
                    next += 1;
                }
            }
            for (chip, ports) in cube.iter_mut().enumerate() {
                for (port, class) in ports.iter_mut().enumerate() {
                    if let Some(switch) = wiring.switch[chip][port] {
                        *class = ELECTRICAL + usize::from(switch);
                    }
                }
            }
            return Self {
                wiring,
                class: (0..nodes).map(|node| cube[node % CHIPS]).collect(),
                classes: ELECTRICAL + SWITCHES,
                groups: (0..CHIPS).map(|source| vec![source]).collect(),
            };
        }
        let mut class = vec![[0; PORTS]; nodes];
        for node in 0..nodes {
            for axis in 0..3 {
                class[node][2 * axis] = 3 * node + axis;
                class[wiring.next[node][2 * axis] as usize][2 * axis + 1] = 3 * node + axis;
            }
        }
        let groups = (0..wiring.cubes).map(|cube| (CHIPS * cube..CHIPS * (cube + 1)).collect()).collect();
        Self { wiring, class, classes: 3 * nodes, groups }
    }

    /// A flow that exists and a bound on all, until both claims are settled: a flow reaches the lower one or the
    /// bound falls below it, and the bound reaches the upper one or a flow goes beyond it.
    fn interval(&self, start: &[f64], claims: (f64, f64)) -> Result<(f64, f64), Error> {
        let mut model = Model::new("throughput");
        let t = model.column("t", 0.0, f64::INFINITY, 1.0);
        for class in 0..self.classes {
            model.at_most(format!("class{class}"), 0.0, [(t, -CAPACITY)]);
        }
        for group in 0..self.groups.len() {
            model.equal(format!("group{group}"), 1.0, []);
        }
        let mut program = Instance::new(&model)?;
        program.apply(&Options::new().set("output_flag", false).set("presolve", "off"))?;
        let (mut lower, mut upper) = (0.0_f64, f64::INFINITY);
        let mut lengths = normalised(start.to_vec());
        let mut best = lengths.clone();
        // Entries near 1 keep the program well scaled.
        let mut unit = 1.0;
        for round in 0..ROUNDS {
            let trees = self.trees(&lengths);
            let bound = 1.0 / trees.iter().map(|tree| tree.distances).sum::<f64>();
            if bound < upper {
                upper = bound;
                best.clone_from(&lengths);
            }
            if round == 0 {
                unit = trees
                    .iter()
                    .flat_map(|tree| &tree.loads)
                    .fold(0.0_f64, |most, load| most.max(*load))
                    .max(1.0);
            }
            let columns: Vec<(f64, Vec<(Row, f64)>)> = trees
                .iter()
                .enumerate()
                .map(|(group, tree)| {
                    let mut entries: Vec<(Row, f64)> = tree
                        .loads
                        .iter()
                        .enumerate()
                        .filter(|(_, load)| **load > 0.0)
                        .map(|(class, load)| (Row(class as u32), load / unit))
                        .collect();
                    entries.push((Row((self.classes + group) as u32), 1.0));
                    (0.0, entries)
                })
                .collect();
            program.add_columns("flow", 0.0, f64::INFINITY, &columns)?;
            let solution = program.run(&mut Unwatched)?;
            let Some(values) = solution.values.filter(|_| solution.status == Status::Optimal) else { break };
            lower = lower.max(1.0 / (values[0] * unit));
            let least = claims.0 * (1.0 - SOLVED);
            let (most, beyond) = (claims.1 * (1.0 + SOLVED), lower * (1.0 - SOLVED) > claims.1);
            if (lower >= least || upper < least) && (upper <= most || beyond) {
                break;
            }
            let prices = solution.row_duals[..self.classes].iter().map(|dual| (-dual).max(0.0)).collect();
            let prices = normalised(prices);
            lengths =
                normalised(best.iter().zip(&prices).map(|(best, price)| 0.5 * (best + price)).collect());
        }
        Ok((lower, upper))
    }

    fn trees(&self, lengths: &[f64]) -> Vec<Tree> {
        let longest = lengths.iter().copied().fold(0.0, f64::max);
        let grow = |sources: &Vec<usize>| {
            let mut tree = Tree { distances: 0.0, loads: vec![0.0; self.classes] };
            for &source in sources {
                self.grow(source, lengths, 1e-12 * longest, &mut tree);
            }
            tree
        };
        self.groups.iter().map(grow).collect()
    }

    /// One unit from a source to every other chip along all shortest paths, split equally at every chip.
    fn grow(&self, source: usize, lengths: &[f64], tie: f64, tree: &mut Tree) {
        let nodes = self.wiring.nodes();
        let mut distance = vec![f64::INFINITY; nodes];
        let mut settled = Vec::with_capacity(nodes);
        let mut done = vec![false; nodes];
        distance[source] = 0.0;
        let mut queue = BinaryHeap::from([Reverse((0_u64, source))]);
        while let Some(Reverse((_, node))) = queue.pop() {
            if std::mem::replace(&mut done[node], true) {
                continue;
            }
            settled.push(node);
            for (port, &next) in self.wiring.next[node].iter().enumerate() {
                let (next, there) = (next as usize, distance[node] + lengths[self.class[node][port]]);
                if there < distance[next] {
                    distance[next] = there;
                    queue.push(Reverse((there.to_bits(), next)));
                }
            }
        }
        let mut amount = vec![1.0; nodes];
        for &node in settled.iter().rev().filter(|&&node| node != source) {
            tree.distances += distance[node];
            // The far end of port p comes in by the link at p; links are alike in both directions.
            let before = |port: &usize| {
                let far = self.wiring.next[node][*port] as usize;
                distance[far] + lengths[self.class[node][*port]] <= distance[node] + tie
            };
            let ports: Vec<usize> = (0..PORTS).filter(before).collect();
            let share = amount[node] / ports.len().max(1) as f64;
            for port in ports {
                tree.loads[self.class[node][port]] += share;
                amount[self.wiring.next[node][port] as usize] += share;
            }
        }
    }
}

/// Lengths whose sum over both directions of all classes is 1, none shorter than a millionth of the mean.
fn normalised(mut lengths: Vec<f64>) -> Vec<f64> {
    let sum: f64 = lengths.iter().map(|length| length.max(0.0)).sum();
    let mean = sum / lengths.len() as f64;
    if mean <= 0.0 {
        return vec![1.0 / (CAPACITY * lengths.len() as f64); lengths.len()];
    }
    for length in &mut lengths {
        *length = length.max(1e-6 * mean);
    }
    let sum: f64 = lengths.iter().sum();
    lengths.iter().map(|length| length / (CAPACITY * sum)).collect()
}
