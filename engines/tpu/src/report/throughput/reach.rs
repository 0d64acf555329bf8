//! Chips within a number of hops of a chip: of a pod, of the tori of its size, and of any network of degree 6. The faster
//! a curve rises, the fewer hops a flow takes and the more flows the links carry.

use crate::analysis::Yardsticks;
use crate::model::baselines;
use crate::model::pod::{CHIPS, PORTS};
use crate::model::topology::Topology;
use crate::plan::TpuResult;
use lightbay_core::report::{Curve, Curves, Point, Tone, Unit};

/// Maximum number of chips of a pod without symmetry, for which every chip is a source.
const SOURCES: usize = 2048;

/// The curves of the pod of a plan, of the tori and of the Moore bound; the switches `failed` carry no hops of the pod.
pub(super) fn curves(
    result: Option<&TpuResult>,
    yardsticks: &Yardsticks,
    failed: &[u8],
    nodes: usize,
) -> Curves {
    let pod = result.and_then(|result| result.topology.topology().ok()).map(|pod| pod.failing(failed));
    let pod = pod.and_then(|pod| match pod.symmetry() {
        Some(_) => Some(reach(&pod, CHIPS)),
        None if pod.nodes() <= SOURCES => Some(reach(&pod, pod.nodes())),
        None => None,
    });
    // Every chip of a torus has the same distances.
    let pt = yardsticks.pt.and_then(|torus| Some(reach(&baselines::pt(torus.shape).ok()?, 1)));
    let pdtt = yardsticks.pdtt.and_then(|torus| Some(reach(&baselines::pdtt(torus.shape).ok()?, 1)));
    let curve = |(name, tone, reach): (&str, Tone, Option<Vec<f64>>)| {
        let point = |(hops, chips): (usize, f64)| Point { at: hops as f64, value: chips };
        Some(Curve {
            name: name.to_lowercase(),
            label: name.to_owned(),
            unit: Unit::new("chips", 1.0, Some(0)),
            points: reach?.into_iter().enumerate().map(point).collect(),
            tone,
            steps: false,
        })
    };
    let all = [
        ("Pod", Tone::Answer, pod),
        ("PDTT", Tone::Text, pdtt),
        ("PT", Tone::Muted, pt),
        ("Moore bound", Tone::Good, Some(moore(nodes))),
    ];
    Curves {
        axis: "hops",
        axis_label: "hops",
        axis_unit: Unit::COUNT,
        curves: all.into_iter().filter_map(curve).collect(),
        ..Curves::default()
    }
}

/// Returns the mean number of chips within 0, 1, 2 and more hops of the first `sources` chips.
fn reach(pod: &Topology, sources: usize) -> Vec<f64> {
    let (neighbours, mut at_distance) = (pod.neighbours(), Vec::new());
    for source in 0..sources as u32 {
        let mut is_known = vec![false; pod.nodes()];
        is_known[source as usize] = true;
        let (mut level, mut hops) = (vec![source], 0);
        while !level.is_empty() {
            at_distance.resize(at_distance.len().max(hops + 1), 0);
            at_distance[hops] += level.len();
            let mut next = Vec::new();
            for &node in &level {
                for port in (0..PORTS).filter(|port| pod.is_open(node, *port as u8)) {
                    let near = neighbours[node as usize][port];
                    if !std::mem::replace(&mut is_known[near as usize], true) {
                        next.push(near);
                    }
                }
            }
            (level, hops) = (next, hops + 1);
        }
    }
    let mut within = 0;
    let sum = |count: usize| {
        within += count;
        within as f64 / sources as f64
    };
    at_distance.into_iter().map(sum).collect()
}

/// Returns the maximum number of nodes within 0, 1, 2 and more hops of a node in any network of degree 6.
fn moore(nodes: usize) -> Vec<f64> {
    let (mut within, mut level, mut all) = (1, PORTS, vec![1.0]);
    while within < nodes {
        within = (within + level).min(nodes);
        level = level.saturating_mul(PORTS - 1);
        all.push(within as f64);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torus_and_the_moore_bound_reach_all_chips() {
        let pod = baselines::pt([4, 4, 8]).unwrap();
        let one = reach(&pod, 1);
        assert_eq!((one[..2].to_vec(), one.len(), one.last()), (vec![1.0, 7.0], 9, Some(&128.0)));
        assert_eq!(one, reach(&pod, CHIPS));
        assert_eq!(moore(128), [1.0, 7.0, 37.0, 128.0]);
        let drawn = curves(None, &Yardsticks::of(2, None), &[], 128);
        assert_eq!(
            drawn.curves.iter().map(|curve| curve.label.as_str()).collect::<Vec<_>>(),
            ["PDTT", "PT", "Moore bound"]
        );
    }
}
