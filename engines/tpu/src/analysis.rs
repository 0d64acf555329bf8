//! Figures of plans and of pod sizes for display: loads of the routes of a plan, and reference values of tori and
//! bounds.

pub mod estimate;
pub mod explained;
pub mod loads;
pub mod sides;
pub mod tori;

use crate::model::baselines;
use crate::model::pod::CHIPS;
use crate::throughput::metrics::{self, CoverBound, Hops};
use std::sync::{Arc, Mutex, PoisonError};

/// Reference values of a torus with a given number of cubes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TorusFigures {
    /// Chips along X, Y, Z.
    pub shape: [u16; 3],
    /// Hop distances between the chips of the torus.
    pub hops: Hops,
    /// Throughput of the torus, flits per cycle and ordered pair of chips.
    pub mcf: f64,
}

/// Reference values for pods with a given number of cubes.
#[derive(Clone, Debug, PartialEq)]
pub struct Yardsticks {
    /// Upper bound on the throughput of every pod of this size.
    pub cover: CoverBound,
    /// Moore bound on every network with the same number of nodes and links per node, flits per cycle and ordered pair.
    pub moore: f64,
    /// The prismatic torus of this size.
    pub pt: Option<TorusFigures>,
    /// The doubly twisted torus, if the size has one.
    pub pdtt: Option<TorusFigures>,
}

/// Entry of the cache: number of cubes and requested shape of the plain torus, with the reference values.
type KeptYardsticks = (usize, Option<[u16; 3]>, Arc<Yardsticks>);

impl Yardsticks {
    /// Returns the same values as [`Self::of`], but from a cache of one entry, because a report that is shown during a
    /// run needs the values again at every update.
    pub fn known(cubes: usize, shape: Option<[u16; 3]>) -> Arc<Self> {
        static LAST: Mutex<Option<KeptYardsticks>> = Mutex::new(None);
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, known)) = last.as_ref().filter(|last| (last.0, last.1) == (cubes, shape)) {
            return Arc::clone(known);
        }
        let made = Arc::new(Self::of(cubes, shape));
        *last = Some((cubes, shape, Arc::clone(&made)));
        made
    }

    /// Computes the reference values of pods of `cubes` cubes. The plain torus has the given shape, or the default
    /// shape of the size if `shape` is `None`.
    pub fn of(cubes: usize, shape: Option<[u16; 3]>) -> Self {
        let nodes = CHIPS * cubes;
        let pt = shape.unwrap_or_else(|| baselines::usual_shape(cubes));
        let pdtt = shape.filter(|shape| baselines::is_pdtt(*shape)).or_else(|| baselines::usual_pdtt(cubes));
        let plain = baselines::pt(pt).ok().as_ref().and_then(metrics::hops);
        let twisted = pdtt.and_then(|shape| metrics::hops(&baselines::pdtt(shape).ok()?));
        Self {
            cover: metrics::cover_bound(nodes),
            moore: metrics::moore_bound(nodes),
            pt: plain.map(|hops| TorusFigures { shape: pt, hops, mcf: baselines::pt_mcf(pt) }),
            // Shortest paths load all links of a doubly twisted torus equally, so it attains the hop bound.
            pdtt: pdtt.zip(twisted).map(|(shape, hops)| TorusFigures {
                shape,
                hops,
                mcf: metrics::hop_bound(nodes, hops.hop_sum),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::loads::Loads;
    use crate::plan::{Expansion, Route, Routing, RoutingClaims};

    #[test]
    fn yardsticks_are_those_of_the_size() {
        let of = Yardsticks::of(4, None);
        let (pt, pdtt) = (of.pt.unwrap(), of.pdtt.unwrap());
        assert_eq!((pt.shape, pdtt.shape), ([4, 8, 8], [4, 8, 8]));
        assert!((pt.mcf - 0.00390625).abs() < 1e-12);
        assert!((pdtt.mcf - 0.0054348).abs() < 1e-7);
        assert!(pt.mcf < pdtt.mcf && pdtt.mcf < of.cover.mcf && of.cover.mcf < of.moore);
        assert_eq!(Yardsticks::of(4, Some([4, 4, 16])).pt.unwrap().shape, [4, 4, 16]);
        assert_eq!(Yardsticks::of(3, None).pdtt, None);
    }

    #[test]
    fn loads_are_counted_along_routes() {
        let pod = baselines::pt([4, 4, 8]).unwrap();
        let route = |source, target, ports: &[u8]| Route {
            source,
            target,
            ports: ports.to_vec(),
            vcs: vec![0; ports.len()],
        };
        let mut routing = Routing {
            vc_count: 1,
            expand: Expansion::Translation,
            claims: RoutingClaims { max_channel_load: 2, vc_hops: vec![6], route_hop_sum: 6 },
            // Chip 48 is the last in Z: its plus Z port leads to cube 1.
            routes: vec![route(48, 64, &[4]), route(32, 64, &[4, 4])],
            unbalanced: None,
        };
        let loads = Loads::of(&pod, &routing).totals();
        assert_eq!((loads[6 * 48 + 4], loads[6 * 32 + 4], loads.iter().sum::<u32>()), (2, 1, 3));
        routing.expand = Expansion::None;
        assert_eq!(Loads::of(&pod, &routing).totals().len(), 768);
    }
}
