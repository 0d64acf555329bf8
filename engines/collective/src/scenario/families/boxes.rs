//! Chassis of GPUs and their connections: NDv2, DGX1, DGX2, AMD, MI250.

use super::{Builder, permutation};
use crate::scenario::{NodeSort, SwitchHop, Topology};

/// Pairs of GPUs of the hybrid cube mesh with double links.
const CUBE_FAST: [(u32, u32); 8] = [(0, 1), (0, 4), (1, 3), (2, 3), (2, 6), (4, 5), (5, 7), (6, 7)];
/// Pairs with single links.
const CUBE_SLOW: [(u32, u32); 8] = [(0, 2), (0, 3), (1, 2), (1, 5), (3, 7), (4, 6), (4, 7), (5, 6)];
/// Rate of a single NVLink, GB/s.
const NVLINK: f64 = 25.0;

/// Pairs of dies of an AMD chassis with the number of xGMI links, 50 GB/s each.
const XGMI: [(u32, u32, u32); 28] = [
    (0, 1, 4),
    (0, 4, 2),
    (0, 8, 1),
    (1, 5, 1),
    (1, 9, 1),
    (1, 10, 1),
    (2, 3, 4),
    (2, 6, 1),
    (2, 9, 1),
    (2, 10, 1),
    (3, 7, 2),
    (3, 11, 1),
    (4, 5, 4),
    (4, 6, 1),
    (5, 6, 1),
    (5, 7, 1),
    (6, 7, 4),
    (8, 9, 4),
    (8, 12, 2),
    (9, 13, 1),
    (10, 11, 4),
    (10, 14, 1),
    (11, 15, 2),
    (12, 13, 4),
    (12, 14, 1),
    (13, 14, 1),
    (13, 15, 1),
    (14, 15, 4),
];

fn cube_mesh(builder: &mut Builder, group: u32) {
    let first = builder.gpus(group, 8);
    for (pairs, rate) in [(CUBE_FAST, 2.0 * NVLINK), (CUBE_SLOW, NVLINK)] {
        for (a, b) in pairs {
            builder.both_ways(first + a, first + b, rate, 0.7, "nvlink");
        }
    }
}

/// Builds one DGX1.
pub(super) fn dgx1() -> Topology {
    let mut builder = Builder::new();
    cube_mesh(&mut builder, 0);
    let generators = vec![vec![6, 7, 4, 5, 2, 3, 0, 1], vec![2, 3, 0, 1, 6, 7, 4, 5]];
    let notes = "8 GPUs, hybrid cube mesh, 32 directed links";
    builder.finish("dgx1".to_owned(), SwitchHop::StoreAndForward, generators, notes)
}

/// Builds 1, 2 or 4 chassis of Azure NDv2. Two chassis are connected directly, four by a switch.
pub(super) fn ndv2(chassis: u32) -> Topology {
    let mut builder = Builder::new();
    for group in 0..chassis {
        cube_mesh(&mut builder, group);
    }
    let gpus = 8 * chassis;
    match chassis {
        2 => {
            builder.one_way(0, 9, 12.5, 1.3, "infiniband");
            builder.one_way(8, 1, 12.5, 1.3, "infiniband");
        }
        4 => {
            let switch = builder.node("sw32".to_owned(), NodeSort::Switch, None);
            for group in 0..chassis {
                builder.one_way(8 * group, switch, 12.5, 1.3, "infiniband");
                builder.one_way(switch, 8 * group + 1, 12.5, 1.3, "infiniband");
            }
        }
        _ => {}
    }
    let nodes = builder.nodes.len() as u32;
    let rotated = permutation(nodes, |node| if node < gpus { (node + 8) % gpus } else { node });
    let generators = match chassis {
        1 => vec![vec![6, 7, 4, 5, 2, 3, 0, 1], vec![2, 3, 0, 1, 6, 7, 4, 5]],
        _ => vec![rotated],
    };
    let notes = "NDv2: GPU 0 of every chassis sends to GPU 1 of the others";
    builder.finish(format!("ndv2_{chassis}"), SwitchHop::CutThrough, generators, notes)
}

/// Builds 1 or 2 chassis of DGX2.
pub(super) fn dgx2(chassis: u32) -> Topology {
    let mut builder = Builder::new();
    for group in 0..chassis {
        builder.gpus(group, 16);
    }
    for group in 0..chassis {
        let switch = builder.node(format!("c{group}.sw"), NodeSort::Switch, Some(group));
        for gpu in 16 * group..16 * (group + 1) {
            builder.both_ways(gpu, switch, 125.0, 0.35, "nvlink");
        }
    }
    if chassis == 2 {
        for (from, to) in [(0, 16), (16, 0)] {
            for pair in 0..8 {
                builder.one_way(from + 2 * pair + 1, to + 2 * pair, 12.5, 2.6, "infiniband");
            }
        }
    }
    let (gpus, nodes) = (16 * chassis, builder.nodes.len() as u32);
    let step = if chassis == 1 { 1 } else { 2 };
    let shifted = |node: u32| if node < gpus { node / 16 * 16 + (node + step) % 16 } else { node };
    let swapped =
        |node: u32| if node < gpus { (node + 16) % gpus } else { gpus + (node - gpus + 1) % chassis };
    let mut generators = vec![permutation(nodes, shifted)];
    if chassis == 2 {
        generators.push(permutation(nodes, swapped));
    }
    let notes = "DGX2: GPU 2m+1 of a chassis sends to GPU 2m of the other";
    builder.finish(format!("dgx2_{chassis}"), SwitchHop::CutThrough, generators, notes)
}

fn dies(builder: &mut Builder, chassis: u32) {
    for group in 0..chassis {
        let first = builder.gpus(group, 16);
        for (a, b, lanes) in XGMI {
            builder.both_ways(first + a, first + b, 50.0 * f64::from(lanes), 0.7, "xgmi");
        }
    }
}

/// Returns the image of a die under the half turn of a chassis, which preserves all xGMI links.
const fn half_turn(die: u32) -> u32 {
    const IMAGES: [u32; 16] = [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12];
    IMAGES[(die % 16) as usize]
}

/// Builds chassis of 16 AMD dies. Several chassis are connected by a switch for every pair of dies and one core switch.
pub(super) fn amd(chassis: u32) -> Topology {
    let mut builder = Builder::new();
    dies(&mut builder, chassis);
    let gpus = 16 * chassis;
    if chassis > 1 {
        for group in 0..chassis {
            for pair in 0..8 {
                let switch = builder.node(format!("c{group}.sw{pair}"), NodeSort::Switch, Some(group));
                for die in [0, 1] {
                    builder.both_ways(16 * group + 2 * pair + die, switch, 25.0, 1.3, "pcie");
                }
            }
        }
        let core = builder.node("core".to_owned(), NodeSort::Switch, None);
        for switch in gpus..core {
            builder.both_ways(switch, core, 25.0, 1.3, "ethernet");
        }
    }
    let (nodes, small) = (builder.nodes.len() as u32, gpus + 8 * chassis);
    let turned = |node: u32| match node {
        node if node < gpus => node / 16 * 16 + half_turn(node),
        // A half turn maps the pair of dies 2p, 2p+1 to the pair of the adjacent switch.
        node if node < small => gpus + ((node - gpus) ^ 1),
        node => node,
    };
    let rotated = |node: u32| match node {
        node if node < gpus => (node + 16) % gpus,
        node if node < small => gpus + (node - gpus + 8) % (8 * chassis),
        node => node,
    };
    let flipped = |node: u32| match node {
        node if node < gpus => node / 16 * 16 + (node + 8) % 16,
        node if node < small => gpus + ((node - gpus) ^ 4),
        node => node,
    };
    let mut generators = vec![permutation(nodes, turned), permutation(nodes, flipped)];
    if chassis > 1 {
        generators.push(permutation(nodes, rotated));
    }
    let notes = "AMD: latencies are not published; 0.7 and 1.3 us are assumed";
    builder.finish(format!("amd_{chassis}"), SwitchHop::CutThrough, generators, notes)
}

/// Builds chassis of 16 dies; if there are several chassis, every die is connected to one fabric switch.
pub(super) fn mi250(chassis: u32) -> Topology {
    let mut builder = Builder::new();
    dies(&mut builder, chassis);
    let gpus = 16 * chassis;
    if chassis > 1 {
        let fabric = builder.node("fabric".to_owned(), NodeSort::Switch, None);
        for die in 0..gpus {
            builder.both_ways(die, fabric, 16.0, 1.3, "infiniband");
        }
    }
    let nodes = builder.nodes.len() as u32;
    let turned = |node: u32| if node < gpus { node / 16 * 16 + half_turn(node) } else { node };
    let rotated = |node: u32| if node < gpus { (node + 16) % gpus } else { node };
    let flipped = |node: u32| if node < gpus { node / 16 * 16 + (node + 8) % 16 } else { node };
    let mut generators = vec![permutation(nodes, turned), permutation(nodes, flipped)];
    if chassis > 1 {
        generators.push(permutation(nodes, rotated));
    }
    let notes = "MI250: latencies are assumed";
    builder.finish(format!("mi250_{chassis}"), SwitchHop::StoreAndForward, generators, notes)
}
