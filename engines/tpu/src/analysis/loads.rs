//! Loads of channels: number of routes by arc and virtual channel.

use crate::model::pod::{self, ARC_CLASSES, CHIPS, PORTS};
use crate::model::topology::Topology;
use crate::plan::{Expansion, Route, Routing};

/// Number of routes over every channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loads {
    /// `vc[v][arc]`: by virtual channel, then by arc class of a cube (symmetric routes) or by arc of the pod.
    pub vc: Vec<Vec<u32>>,
    /// Number of cubes that one entry represents: all cubes for symmetric routes, otherwise one.
    pub each: u64,
}

/// Distribution of the loads (numbers of routes) of the channels that have the same virtual channel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadFigures {
    /// Number of channels.
    pub channels: usize,
    /// Number of channels without any route.
    pub idle: usize,
    /// The 10th, 50th, 90th and 99th percentile of the loads.
    pub percentiles: [u32; 4],
    /// Load of the most loaded channel.
    pub most: u32,
    /// Mean load of a channel.
    pub mean: f64,
}

impl LoadFigures {
    /// Computes the figures of a list of loads, with one load for each channel.
    pub fn of(loads: &[u32]) -> Self {
        let mut sorted = loads.to_vec();
        sorted.sort_unstable();
        let Some(&most) = sorted.last() else { return Self::default() };
        let sum: u64 = sorted.iter().map(|&load| u64::from(load)).sum();
        // Nearest rank.
        let rank = |percent: usize| sorted[(percent * sorted.len()).div_ceil(100).max(1) - 1];
        Self {
            channels: sorted.len(),
            idle: sorted.iter().take_while(|&&load| load == 0).count(),
            percentiles: [rank(10), rank(50), rank(90), rank(99)],
            most,
            mean: sum as f64 / sorted.len() as f64,
        }
    }

    /// Load of the most loaded channel divided by the mean load.
    pub fn crest(&self) -> Option<f64> {
        (self.mean > 0.0).then(|| f64::from(self.most) / self.mean)
    }
}

/// Returns node, out port and virtual channel of every hop of a route.
pub fn arcs<'a>(pod: &'a Topology, route: &'a Route) -> impl Iterator<Item = (u32, u8, u8)> + 'a {
    route.ports.iter().zip(&route.vcs).scan(route.source, |node, (&port, &vc)| {
        let here = *node;
        *node = pod.neighbour(here, port);
        Some((here, port, vc))
    })
}

impl Loads {
    /// Counts the routes of a plan on every channel.
    pub fn of(pod: &Topology, routing: &Routing) -> Self {
        let symmetric = routing.expand == Expansion::Translation;
        let arcs_in_all = if symmetric { ARC_CLASSES } else { PORTS * pod.nodes() };
        let channels = usize::from(routing.vc_count).max(1);
        let mut vc = vec![vec![0u32; arcs_in_all]; channels];
        for route in &routing.routes {
            for (node, port, label) in arcs(pod, route) {
                let node = if symmetric { node as usize % CHIPS } else { node as usize };
                if let Some(count) = vc
                    .get_mut(usize::from(label))
                    .and_then(|loads| loads.get_mut(PORTS * node + usize::from(port)))
                {
                    *count += 1;
                }
            }
        }
        Self { vc, each: if symmetric { pod.cubes() as u64 } else { 1 } }
    }

    /// Loads that a plan states itself. If there is one entry for each arc class, the loads belong to symmetric routes.
    pub fn stated(loads: &[Vec<u32>], cubes: usize) -> Self {
        let symmetric = loads.iter().all(|vc| vc.len() == ARC_CLASSES) && cubes > 0;
        Self { vc: loads.to_vec(), each: if symmetric { cubes as u64 } else { 1 } }
    }

    /// Number of hops on each virtual channel, over the whole pod.
    #[cfg(test)]
    pub fn hops(&self) -> Vec<u64> {
        let sum = |loads: &Vec<u32>| loads.iter().map(|&load| u64::from(load)).sum::<u64>() * self.each;
        self.vc.iter().map(sum).collect()
    }

    /// Number of routes over every arc, summed over the virtual channels.
    pub fn totals(&self) -> Vec<u32> {
        let arcs = self.vc.first().map_or(0, Vec::len);
        (0..arcs).map(|arc| self.vc.iter().filter_map(|loads| loads.get(arc)).sum()).collect()
    }

    /// Number of channels (arc classes or arcs) of one virtual channel.
    pub fn channels(&self) -> usize {
        self.vc.first().map_or(0, Vec::len)
    }

    /// The highest load of a channel of any virtual channel.
    pub fn most(&self) -> u32 {
        self.vc.iter().flatten().copied().max().unwrap_or(0)
    }
}

/// VC ratio: hops on the least used virtual channel divided by hops on the most used one. 1: all are used equally; 0:
/// at least one is unused. `None` without hops.
pub fn ratio(hops: &[u64]) -> Option<f64> {
    let (least, most) = (hops.iter().min()?, hops.iter().max()?);
    (*most > 0).then(|| *least as f64 / *most as f64)
}

/// VC ratio below which the virtual channels count as unevenly used.
pub const UNEVEN: f64 = 0.9;

/// Arcs (or arc classes) whose loads are equal or lie in one range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Smallest and largest load of the range.
    pub load: (u32, u32),
    /// Number of arcs inside cubes.
    pub electrical: usize,
    /// Number of arcs over switches.
    pub optical: usize,
}

/// Groups the arcs into at most `most` levels of load, highest first. If there are at most `most` different loads,
/// every load is its own level.
pub fn levels(totals: &[u32], most: usize) -> Vec<Level> {
    let mut counts = std::collections::BTreeMap::<u32, (usize, usize)>::new();
    for (arc, &load) in totals.iter().enumerate() {
        let count = counts.entry(load).or_default();
        if is_optical(arc) { count.1 += 1 } else { count.0 += 1 }
    }
    let (Some((&low, _)), Some((&high, _))) = (counts.first_key_value(), counts.last_key_value()) else {
        return Vec::new();
    };
    let most = most.max(1) as u32;
    let width = if counts.len() <= most as usize { 1 } else { (high - low + 1).div_ceil(most).max(1) };
    let mut levels: Vec<Level> = Vec::new();
    for (&load, &(electrical, optical)) in counts.iter().rev() {
        let top = high - (high - load) / width * width;
        let bottom = (top + 1).saturating_sub(width).max(low);
        match levels.last_mut() {
            Some(level) if width > 1 && level.load.0 == bottom => {
                level.electrical += electrical;
                level.optical += optical;
            }
            _ => {
                let load = if width > 1 { (bottom, top) } else { (load, load) };
                levels.push(Level { load, electrical, optical });
            }
        }
    }
    levels
}

/// Returns `true` for an arc (by class or by number) that crosses a switch.
pub fn is_optical(arc: usize) -> bool {
    pod::is_optical(usize::from(pod::LINK_OF_ARC[arc % ARC_CLASSES]))
}

/// A route that uses a given arc, as a row of the list of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutedFlow {
    /// First chip of the route.
    pub source: u32,
    /// Last chip of the route.
    pub target: u32,
    /// Number of hops before the arc.
    pub before: u16,
    /// Number of hops of the whole route.
    pub hops: u16,
    /// Virtual channel that the route uses on the arc.
    pub vc: u8,
}

/// The routes over an arc, in the order of the plan. For symmetric routes, the routes over an arc class: the routes of
/// cube 0 and their images.
pub fn flows(pod: &Topology, routing: &Routing, arc: usize) -> Vec<RoutedFlow> {
    let symmetric = routing.expand == Expansion::Translation;
    let mut flows = Vec::new();
    for route in &routing.routes {
        for (before, (node, port, vc)) in (0..).zip(arcs(pod, route)) {
            let node = if symmetric { node as usize % CHIPS } else { node as usize };
            if PORTS * node + usize::from(port) == arc {
                let hops = route.ports.len() as u16;
                flows.push(RoutedFlow { source: route.source, target: route.target, before, hops, vc });
            }
        }
    }
    flows
}

#[cfg(test)]
mod tests;
