//! Lower bounds (floors) of an AllReduce from partitions of the ranks: the data that must cross between the parts in
//! every schedule.

use crate::scenario::network::{LinkNetwork, NetworkLink};

/// Returns lower bounds of an AllReduce for one byte of data per rank, µs, each with `true` if it follows from the
/// partition into groups and `false` if it follows from the partition into single GPUs. Each byte needs `2(m-1)`
/// transfers between the `m` parts of a partition.
pub(super) fn partition_floors(network: &LinkNetwork, ranks: &[u32]) -> Vec<(f64, bool)> {
    let mut floors = Vec::new();
    // Parts are single GPUs, then groups.
    for (groups, parts) in [false, true].into_iter().zip(partitions(network, ranks)) {
        let count = parts.iter().copied().max().map_or(0, |part| part + 1);
        // Switches outside all parts may copy or reduce for several parts at once.
        let loose = (0..network.node_count()).any(|node| parts[node] == OUTSIDE);
        let crossing = |enters: bool| -> f64 {
            let counted = |link: &&NetworkLink| {
                let (from, to) = (parts[link.from as usize], parts[link.to as usize]);
                from != to && if enters { to != OUTSIDE } else { from != OUTSIDE }
            };
            network.links().iter().filter(counted).map(|link| link.capacity_gbyte_per_s).sum()
        };
        // Reducing takes m - 1 transfers, and spreading takes m - 1.
        let needed = 2.0 * f64::from(count.max(1) - 1);
        let time_us = |rate: f64| if rate > 0.0 { needed / (1000.0 * rate) } else { f64::INFINITY };
        // Links into the parts give a bound if nothing outside reduces. The bound of the links out of the parts is used
        // only if, in addition, nothing outside copies.
        if !(loose && network.switch_reduces()) {
            floors.push((time_us(crossing(true)), groups));
            if !(loose && network.switch_copies()) {
                floors.push((time_us(crossing(false)), groups));
            }
        }
    }
    floors
}

/// Part number of nodes outside all parts.
const OUTSIDE: i32 = -1;

/// Returns the partition of the ranks into single GPUs and, if every GPU is in one of at least two groups, the
/// partition into groups. A partition is a list with the part number of each node. If some GPU is not a rank, returns
/// an empty list, because such a GPU could reduce data on the way.
fn partitions(network: &LinkNetwork, ranks: &[u32]) -> Vec<Vec<i32>> {
    if ranks.len() != network.gpus().len() {
        return Vec::new();
    }
    // Every GPU is a part; switches are outside.
    let mut single = vec![OUTSIDE; network.node_count()];
    for (part, gpu) in (0..).zip(network.gpus()) {
        single[*gpu as usize] = part;
    }
    let mut partitions = vec![single];
    let groups: Option<Vec<u32>> =
        network.gpus().iter().map(|gpu| network.nodes()[*gpu as usize].group).collect();
    if let Some(mut groups) = groups {
        // Groups that contain all GPUs.
        groups.sort_unstable();
        groups.dedup();
        if groups.len() > 1 {
            let part = |group: u32| groups.binary_search(&group).map_or(OUTSIDE, |part| part as i32);
            partitions.push(network.nodes().iter().map(|node| node.group.map_or(OUTSIDE, part)).collect());
        }
    }
    partitions
}
