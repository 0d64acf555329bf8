//! Voltages that move together: designs that are invariant under symmetries of the cube.
//!
//! If a symmetry of the cube together with an automorphism of the group maps a design onto itself, switches that the
//! symmetry maps to each other carry the same load. This leaves fewer voltages to choose, and fewer classes of links
//! that could be overloaded.

use crate::model::group::Group;
use crate::model::pod::{CHIPS, SWITCHES};
use crate::throughput::metrics::cuts::CubeSymmetry;
use lightbay_core::random::Stream;
use rand::RngExt;

/// One voltage to choose, and the switches that follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    /// Elements that may be chosen.
    pub choices: Vec<u16>,
    /// Each switch of the tie, and its voltage for every element that may be chosen.
    pub switches: Vec<(usize, Vec<u16>)>,
}

/// All ties of the designs of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ties {
    ties: Vec<Tie>,
    /// One chip of each orbit of the symmetries, and the size of the orbit.
    sources: Vec<(u8, u8)>,
}

impl Ties {
    /// One tie for each switch, so that every voltage is chosen independently.
    pub fn free(group: &Group) -> Self {
        let all: Vec<u16> = (0..group.order() as u16).collect();
        let alone = |switch| Tie { choices: all.clone(), switches: vec![(switch, all.clone())] };
        let sources = (0..CHIPS as u8).map(|chip| (chip, 1)).collect();
        Self { ties: (0..SWITCHES).map(alone).collect(), sources }
    }

    /// Designs that each symmetry, followed by its automorphism, maps onto themselves.
    pub fn new(group: &Group, symmetries: &[(CubeSymmetry, Vec<u16>)]) -> Self {
        let order = group.order();
        let mut seen = [false; SWITCHES];
        let mut ties = Vec::new();
        for first in 0..SWITCHES {
            if seen[first] {
                continue;
            }
            seen[first] = true;
            // Element of each switch of the orbit, by the element of the first switch; elements with contradictions are
            // excluded.
            let mut orbit: Vec<(usize, Vec<u16>)> = vec![(first, (0..order as u16).collect())];
            let mut fits = vec![true; order];
            let mut at = 0;
            // Breadth-first over the orbit of the first switch under the symmetries.
            while at < orbit.len() {
                for (symmetry, automorphism) in symmetries {
                    let (switch, voltage) = &orbit[at];
                    let (to, reversed) = symmetry.switch(*switch);
                    let there: Vec<u16> = voltage
                        .iter()
                        .map(|&voltage| {
                            let voltage = usize::from(voltage);
                            automorphism[if reversed { group.inverse(voltage) } else { voltage }]
                        })
                        .collect();
                    // A switch that is reached twice must get the same element both times; other elements are excluded.
                    if let Some((_, known)) = orbit.iter().find(|(switch, _)| *switch == to) {
                        for element in 0..order {
                            fits[element] &= known[element] == there[element];
                        }
                    } else {
                        seen[to] = true;
                        orbit.push((to, there));
                    }
                }
                at += 1;
            }
            let choices = (0..order as u16).filter(|&element| fits[usize::from(element)]).collect();
            ties.push(Tie { choices, switches: orbit });
        }
        Self { ties, sources: orbits(symmetries) }
    }

    /// Returns the base-2 logarithm of the number of designs.
    pub fn bits(&self) -> f64 {
        // Independent choices multiply, so their logarithms add up.
        self.ties.iter().map(|tie| (tie.choices.len() as f64).log2()).sum()
    }

    /// Expected number of pairs of tied switches with the same voltage in a random design; such switches join the same
    /// cubes twice.
    pub fn coincidences(&self) -> f64 {
        let of_tie = |tie: &Tie| -> f64 {
            let alike = |choice: u16| {
                let voltages: Vec<u16> =
                    tie.switches.iter().map(|(_, voltage)| voltage[usize::from(choice)]).collect();
                let later = |at: usize| voltages[at + 1..].iter().filter(|&&v| v == voltages[at]).count();
                (0..voltages.len()).map(later).sum::<usize>()
            };
            tie.choices.iter().map(|&choice| alike(choice) as f64).sum::<f64>()
                / tie.choices.len().max(1) as f64
        };
        self.ties.iter().map(of_tie).sum()
    }

    /// Representative chips of a cube, each with the number of chips that it represents: every chip has the same
    /// distances as its representative.
    pub fn sources(&self) -> &[(u8, u8)] {
        &self.sources
    }

    /// Returns all ties.
    pub fn all(&self) -> &[Tie] {
        &self.ties
    }
}

/// One chip of each orbit, and the size of the orbit.
fn orbits(symmetries: &[(CubeSymmetry, Vec<u16>)]) -> Vec<(u8, u8)> {
    let mut seen = [false; CHIPS];
    let mut sources = Vec::new();
    for first in 0..CHIPS as u8 {
        // Orbit by closure.
        let mut orbit = vec![first];
        let mut at = 0;
        while at < orbit.len() {
            for (symmetry, _) in symmetries {
                let image = symmetry.chip(orbit[at]);
                if !orbit.contains(&image) {
                    orbit.push(image);
                }
            }
            at += 1;
        }
        if !seen[usize::from(first)] {
            sources.push((first, orbit.len() as u8));
        }
        for chip in orbit {
            seen[usize::from(chip)] = true;
        }
    }
    sources
}

/// Maximum number of draws for one automorphism. If one draw in ten succeeds, all 60 fail with probability 0.9^60 = 0.2 %.
const TRIES: usize = 60;

/// A random automorphism of order `wanted` of a group, if one is found within the number of tries.
pub fn automorphism(group: &Group, wanted: usize, random: &mut Stream) -> Option<Vec<u16>> {
    let orders: Vec<usize> = (0..group.order()).map(|element| order_of(group, element)).collect();
    let generators = generators(group, &orders);
    let identity: Vec<u16> = (0..group.order() as u16).collect();
    for _ in 0..TRIES {
        let Some(map) = draw(group, &generators, &orders, random) else { continue };
        let turns = turns(&map);
        // A power of a map whose order is a multiple of `wanted` has exactly that order.
        if turns.is_multiple_of(wanted) {
            return Some((0..turns / wanted).fold(identity, |power, _| {
                power.iter().map(|&element| map[usize::from(element)]).collect()
            }));
        }
    }
    None
}

/// A random automorphism, if one is found within the number of tries.
pub(super) fn any_automorphism(group: &Group, random: &mut Stream) -> Option<Vec<u16>> {
    let orders: Vec<usize> = (0..group.order()).map(|element| order_of(group, element)).collect();
    let generators = generators(group, &orders);
    (0..TRIES).find_map(|_| draw(group, &generators, &orders, random))
}

/// Returns the order of an automorphism: the smallest n ≥ 1 for which n applications give the identity.
pub(super) fn turns(map: &[u16]) -> usize {
    let (mut power, mut turns) = (map.to_vec(), 1);
    while power.iter().enumerate().any(|(element, &image)| element != usize::from(image)) {
        power = power.iter().map(|&element| map[usize::from(element)]).collect();
        turns += 1;
    }
    turns
}

/// Returns the order of an element: the smallest n ≥ 1 for which its n-th power is the identity.
pub(super) fn order_of(group: &Group, element: usize) -> usize {
    let (mut at, mut turns) = (element, 1);
    while at != 0 {
        at = group.times(at, element);
        turns += 1;
    }
    turns
}

/// Draws an image for one generator after another. Draws the image again until the subgroup of the generators so far is
/// mapped one to one; `None` if this fails too often.
fn draw(group: &Group, generators: &[usize], orders: &[usize], random: &mut Stream) -> Option<Vec<u16>> {
    let mut images = Vec::new();
    let mut map = None;
    for &generator in generators {
        // An automorphism preserves the orders of elements, so only elements of the same order are drawn.
        let same: Vec<usize> = (0..group.order()).filter(|&e| orders[e] == orders[generator]).collect();
        let mut found = None;
        for _ in 0..TRIES {
            images.push(same[random.random_range(0..same.len())]);
            found = homomorphism(group, &generators[..images.len()], &images);
            if found.is_some() {
                break;
            }
            images.pop();
        }
        map = Some(found?);
    }
    map.or_else(|| Some(vec![0]))
}

/// Generators of the group, chosen greedily: each is an element that enlarges the generated subgroup the most.
fn generators(group: &Group, orders: &[usize]) -> Vec<usize> {
    let mut generators: Vec<usize> = Vec::new();
    let mut inside = generated(group, &generators);
    // Greedy: each generator adds as many elements as possible, so few images have to be drawn.
    while inside.contains(&false) {
        let outside = (0..group.order()).filter(|&element| !inside[element]);
        let sizes = outside.map(|element| {
            generators.push(element);
            let size = generated(group, &generators).iter().filter(|&&inside| inside).count();
            generators.pop();
            // Ties are broken by the smallest order, because elements of small order have the simplest relations.
            (size, std::cmp::Reverse((orders[element], element)))
        });
        if let Some((_, std::cmp::Reverse((_, best)))) = sizes.collect::<Vec<_>>().into_iter().max() {
            generators.push(best);
        }
        inside = generated(group, &generators);
    }
    generators
}

/// Returns, for each element of the group, `true` if the given elements generate it.
fn generated(group: &Group, generators: &[usize]) -> Vec<bool> {
    let mut inside = vec![false; group.order()];
    inside[0] = true;
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        for &generator in generators {
            let next = group.times(at, generator);
            if !inside[next] {
                inside[next] = true;
                open.push(next);
            }
        }
    }
    inside
}

/// The one-to-one homomorphism with these images of the generators, if there is one; elements that are not
/// generated have no image (`u16::MAX`).
fn homomorphism(group: &Group, generators: &[usize], images: &[usize]) -> Option<Vec<u16>> {
    let order = group.order();
    let mut map = vec![u16::MAX; order];
    let mut hit = vec![false; order];
    // Extends the images along products (Cayley graph search); a contradiction or a repeated image ends it.
    (map[0], hit[0]) = (0, true);
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        for (&generator, &image) in generators.iter().zip(images) {
            let next = group.times(at, generator);
            let there = group.times(usize::from(map[at]), image);
            if map[next] == u16::MAX {
                if std::mem::replace(&mut hit[there], true) {
                    return None;
                }
                map[next] = there as u16;
                open.push(next);
            } else if usize::from(map[next]) != there {
                return None;
            }
        }
    }
    Some(map)
}

#[cfg(test)]
mod tests;
