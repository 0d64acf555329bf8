//! Routing tables, and the network file for BookSim.

use super::fits;
use crate::model::pod::{self, CHIPS, PORTS};
use crate::model::topology::Topology;
use crate::plan::{Expansion, Routing};
use lightbay_core::problem::Problem;
use lightbay_formats::anynet::Anynet;
use std::fmt::Write as _;

/// Upper estimate of the bytes of a row.
const ROW_BYTES: u64 = 28;

/// Writes one row for each hop: `src,dst,hop,router,next,vc`, hops from 0. With `expand`, the table has rows for all
/// sources; otherwise only for the listed sources.
///
/// # Errors
/// Routes that do not belong to the pod, or a table of more than 2 GiB.
pub fn table(pod: &Topology, routing: &Routing, expand: bool) -> Result<String, Problem> {
    let symmetry = match routing.expand {
        Expansion::None => None,
        Expansion::Translation => Some(pod.symmetry().ok_or_else(|| {
            Problem::new("routing.expand", "is 'translation', but the pod has no symmetry", "list all routes")
        })?),
    };
    let copies = if expand && symmetry.is_some() { pod.cubes() } else { 1 };
    let hops: u64 = routing.routes.iter().map(|route| route.ports.len() as u64).sum();
    fits(
        hops * copies as u64 * ROW_BYTES,
        "write only the routes from cube 0 with --set expand=false; translations give the others",
    )?;
    let neighbours = pod.neighbours();
    let mut text = String::from("src,dst,hop,router,next,vc\n");
    for cube in 0..copies {
        let carry = |node: u32| match symmetry {
            Some(symmetry) => {
                let from = node as usize / CHIPS;
                (symmetry.group.times(cube, from) * CHIPS) as u32 + node % CHIPS as u32
            }
            None => node,
        };
        for (index, route) in routing.routes.iter().enumerate() {
            let (source, target) = (carry(route.source), carry(route.target));
            let mut at = source;
            for (hop, (&port, vc)) in route.ports.iter().zip(&route.vcs).enumerate() {
                let next = neighbours
                    .get(at as usize)
                    .and_then(|far| far.get(usize::from(port)))
                    .ok_or_else(|| {
                        Problem::new(
                            format!("routing.routes[{index}]"),
                            "leaves the pod",
                            "route the pod again",
                        )
                    })?;
                let _ = writeln!(text, "{source},{target},{hop},{at},{next},{vc}");
                at = *next;
            }
        }
    }
    Ok(text)
}

/// Returns the pod in the format of BookSim: one router for each chip, with one node, and the links that carry traffic.
pub fn anynet(topology: &Topology, electrical_cycles: u32, optical_cycles: u32) -> Anynet {
    let nodes = topology.nodes() as u32;
    let mut net = Anynet { nodes: (0..nodes).map(|node| (node, (node, 1))).collect(), ..Anynet::default() };
    for node in 0..nodes {
        let (_, chip) = pod::parts(node);
        for port in (0..PORTS as u8).filter(|&port| topology.is_open(node, port)) {
            let latency =
                if pod::electrical(chip, port).is_some() { electrical_cycles } else { optical_cycles };
            net.links.insert((node, topology.neighbour(node, port)), latency);
        }
    }
    net
}
