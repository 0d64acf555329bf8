//! PCI Express as a network between the GPUs of a host: its bridges and CPUs become switches.

use super::network::{ChassisLink, ChassisLinkSort, ChassisNetwork, ChassisNode, GpuPlace};
use super::ports::above;
use super::{NcclTopology, PciDevice};
use std::collections::BTreeMap;

/// Rates of links as in NCCL's model: with the entry `(r, x)`, a link whose lanes have a transfer rate of `r` GT/s has
/// a rate of `lanes * x / 80` GB/s.
const LANE: [(f64, f64); 6] =
    [(2.5, 15.0), (5.0, 30.0), (8.0, 60.0), (16.0, 120.0), (32.0, 240.0), (64.0, 480.0)];

/// Returns the rate of the link above a device in each direction as in NCCL's model, GB/s; a lane rate that the file
/// does not contain is that of PCIe 3.0, a missing number of lanes is 16.
pub(super) fn gbyte_per_s(device: &PciDevice) -> f64 {
    let rate = device.lane_gt_per_s.unwrap_or(8.0);
    let lane = LANE.iter().rev().find(|(known, _)| *known <= rate).map_or(15.0, |(_, lane)| *lane);
    f64::from(device.lanes.unwrap_or(16)) * lane / 80.0
}

/// Connects all GPUs of some hosts over their bridges and CPUs. A bridge with only one path through it becomes part of
/// that path. The CPUs of a host become one node, because the file does not contain the rate between them.
pub(super) fn join(topology: &NcclTopology, gpus: &[GpuPlace], hosts: &[usize], made: &mut ChassisNetwork) {
    let devices = &topology.devices;
    for host in hosts {
        let own: Vec<(u32, &GpuPlace)> = (0..).zip(gpus).filter(|(_, gpu)| gpu.host == *host).collect();
        // Paths that end at each device: paths from the bridges below it, and from its own GPUs.
        let mut below: BTreeMap<usize, Vec<UpwardWay>> = BTreeMap::new();
        let mut root = Vec::new();
        for (number, gpu) in &own {
            below
                .entry(gpu.device)
                .or_default()
                .push(UpwardWay { node: *number, gbyte_per_s: f64::INFINITY });
            for parent in above(devices, gpu.device) {
                below.entry(parent).or_default();
            }
        }
        // Parents precede their children, so in reverse order everything below a device is known.
        let order: Vec<usize> = below.keys().rev().copied().collect();
        for at in order {
            let ways = below.remove(&at).unwrap_or_default();
            let upward = gbyte_per_s(&devices[at]);
            let way = if let [one] = ways[..] {
                UpwardWay { gbyte_per_s: one.gbyte_per_s.min(upward), ..one }
            } else {
                let node = add_switch(made, format!("pcie {}", devices[at].bus), *host);
                for way in ways {
                    // Parts of a device are connected inside the device at the rate of its link.
                    let rate = if way.gbyte_per_s.is_finite() { way.gbyte_per_s } else { upward };
                    add_ways(made, way.node, node, rate);
                }
                UpwardWay { node, gbyte_per_s: upward }
            };
            match devices[at].parent.filter(|parent| *parent < at) {
                Some(parent) => below.entry(parent).or_default().push(way),
                None => root.push(way),
            }
        }
        if root.len() > 1 {
            let node = add_switch(made, "cpu".to_owned(), *host);
            for way in root {
                add_ways(made, way.node, node, way.gbyte_per_s);
            }
        }
    }
}

/// A path from a GPU towards the CPU: the node at which it begins, and the rate of its slowest link.
#[derive(Clone, Copy)]
struct UpwardWay {
    node: u32,
    gbyte_per_s: f64,
}

fn add_switch(made: &mut ChassisNetwork, name: String, host: usize) -> u32 {
    made.nodes.push(ChassisNode { name, switch: true, bus: String::new(), host: Some(host) });
    made.nodes.len() as u32 - 1
}

fn add_ways(made: &mut ChassisNetwork, node: u32, switch: u32, gbyte_per_s: f64) {
    for (from, to) in [(node, switch), (switch, node)] {
        made.links.push(ChassisLink { from, to, count: 1, gbyte_per_s, sort: ChassisLinkSort::Pcie });
    }
}
