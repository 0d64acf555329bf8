//! Reference values for the pods of one size: the tori of this size and the bounds on any pod. Also throughputs per
//! chip for a list of other sizes.

use super::explained::{Routes, per_chip};
use crate::model::baselines;
use crate::model::pod::CHIPS;
use crate::model::topology::Topology;
use crate::routing::dor;
use crate::throughput::metrics;
use lightbay_core::watch::Unwatched;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Maximum number of cubes for which the panes route the tori; larger tori take too long.
pub const ROUTED_CUBES: usize = 32;

/// A torus with a given number of cubes, as a reference value.
#[derive(Clone, Debug)]
pub struct Torus {
    /// Name, for example `PDTT 4x8x8`.
    pub name: String,
    /// `true` for a doubly twisted torus.
    pub twisted: bool,
    /// Throughput: from a closed form for plain tori; the hop bound for doubly twisted tori, which attain it.
    pub mcf: f64,
    /// Mean number of hops of a route.
    pub avg_hops: f64,
    /// Largest distance between two chips, hops.
    pub diameter: u32,
    /// The torus with its links.
    pub pod: Topology,
    /// Figures of the dimension-order routes with datelines; `None` if the torus is too large or no routes were
    /// requested.
    pub routes: Option<Routes>,
}

impl Torus {
    /// Returns `PT` or `PDTT`.
    pub const fn family(&self) -> &'static str {
        if self.twisted { "PDTT" } else { "PT" }
    }
}

/// The reference values of one size.
#[derive(Clone, Debug)]
pub struct Tori {
    /// Number of cubes.
    pub cubes: usize,
    /// Upper bound on the throughput of every legal pod of this size.
    pub cover: f64,
    /// Upper bound on the throughput of every network of this size and radix.
    pub moore: f64,
    /// The tori of this size, best first.
    pub tori: Vec<Torus>,
}

impl Tori {
    /// Computes the reference values of a size, with routes if requested. Takes milliseconds to seconds.
    pub fn of(cubes: usize, routed: bool) -> Self {
        let nodes = cubes * CHIPS;
        let mut tori = Vec::new();
        if let Some(shape) = baselines::usual_pdtt(cubes) {
            tori.extend(torus(shape, true, routed && cubes <= ROUTED_CUBES));
        }
        tori.extend(torus(baselines::usual_shape(cubes), false, routed && cubes <= ROUTED_CUBES));
        Self { cubes, cover: metrics::cover_bound(nodes).mcf, moore: metrics::moore_bound(nodes), tori }
    }

    /// Returns the doubly twisted torus of this size if `twisted`, otherwise the prismatic torus.
    pub fn torus(&self, twisted: bool) -> Option<&Torus> {
        self.tori.iter().find(|torus| torus.twisted == twisted)
    }

    /// Returns the torus with the highest throughput.
    pub fn best(&self) -> Option<&Torus> {
        self.tori.iter().max_by(|a, b| a.mcf.total_cmp(&b.mcf))
    }
}

/// Name and maximum channel load of each torus of a size with dimension-order routes, best torus first; empty above
/// [`ROUTED_CUBES`]. Computed once for each size.
pub fn largest_loads(cubes: usize) -> Vec<(String, u64)> {
    static KNOWN: Mutex<BTreeMap<usize, Vec<(String, u64)>>> = Mutex::new(BTreeMap::new());
    if cubes > ROUTED_CUBES {
        return Vec::new();
    }
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loads) = known().get(&cubes) {
        return loads.clone();
    }
    let load = |torus: Torus| Some((torus.name, torus.routes?.most));
    let loads: Vec<_> = Tori::of(cubes, true).tori.into_iter().filter_map(load).collect();
    known().insert(cubes, loads.clone());
    loads
}

/// Formats a shape, for example as `4x8x8`.
fn sizes_of(shape: [u16; 3]) -> String {
    format!("{}x{}x{}", shape[0], shape[1], shape[2])
}

fn torus(shape: [u16; 3], twisted: bool, routed: bool) -> Option<Torus> {
    let pod = if twisted { baselines::pdtt(shape) } else { baselines::pt(shape) }.ok()?;
    let hops = metrics::hops(&pod)?;
    let nodes = pod.nodes();
    let mcf = if twisted { metrics::hop_bound(nodes, hops.hop_sum) } else { baselines::pt_mcf(shape) };
    let routes = routed
        .then(|| dor::channels(&pod, shape, twisted, &mut Unwatched::default()).ok())
        .flatten()
        .map(|(claims, loads)| Routes::counted(&pod, &claims, loads));
    let family = if twisted { "PDTT" } else { "PT" };
    Some(Torus {
        name: format!("{family} {}", sizes_of(shape)),
        twisted,
        mcf,
        avg_hops: hops.hop_sum as f64 / (nodes as f64 * (nodes as f64 - 1.0)),
        diameter: hops.diameter,
        pod,
        routes,
    })
}

/// Pod sizes whose throughput per chip is compared, as numbers of cubes.
pub const SIZES: [usize; 13] = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/// One pod size: its number of chips, and throughputs per chip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeRow {
    /// Number of chips.
    pub chips: usize,
    /// Throughput per chip of the doubly twisted torus, if there is one.
    pub pdtt: Option<f64>,
    /// Throughput per chip of the prismatic torus.
    pub pt: f64,
    /// Upper bound on the throughput per chip of any pod.
    pub bound: f64,
}

impl SizeRow {
    fn of(cubes: usize) -> Self {
        let yard = Tori::of(cubes, false);
        let rate = |twisted| yard.torus(twisted).map(|torus| per_chip(cubes, torus.mcf));
        Self {
            chips: cubes * CHIPS,
            pdtt: rate(true),
            pt: rate(false).unwrap_or(f64::NAN),
            bound: per_chip(cubes, yard.cover),
        }
    }
}

/// Returns a row for each size that is compared; the size of `also` cubes is added if it is not among the compared
/// sizes.
pub fn sizes(also: usize) -> Vec<SizeRow> {
    // The rows do not depend on the scenario, so they are computed once per process.
    static USUAL: OnceLock<Vec<SizeRow>> = OnceLock::new();
    let mut rows = USUAL.get_or_init(|| SIZES.into_iter().map(SizeRow::of).collect()).clone();
    if !SIZES.contains(&also) {
        rows.push(SizeRow::of(also));
        rows.sort_unstable_by_key(|row| row.chips);
    }
    rows
}

#[cfg(test)]
mod tests;
