//! Boxes of GPUs, each GPU connected to the NVSwitch of its box; fabrics of switches connect the boxes.

use super::{Builder, permutation};
use crate::scenario::{NodeSort, SwitchHop, Topology};

/// Number of GPUs of a box.
const BOX: u32 = 8;

/// Rates and latencies of boxes with rails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RailBoxes {
    /// Name of the machine.
    pub name: &'static str,
    /// Rate between a GPU and its NVSwitch, GB/s.
    pub nvswitch_gbyte_per_s: f64,
    /// Rate between a GPU and its rail switch, GB/s.
    pub nic_gbyte_per_s: f64,
    /// Latency to the NVSwitch, µs.
    pub nvswitch_alpha_us: f64,
    /// Latency to the rail switch, µs.
    pub nic_alpha_us: f64,
}

/// Boxes of H800.
pub(crate) const H800: RailBoxes = RailBoxes {
    name: "h800",
    nvswitch_gbyte_per_s: 180.0,
    nic_gbyte_per_s: 45.5,
    nvswitch_alpha_us: 0.35,
    nic_alpha_us: 5.0,
};

/// Boxes with the full rate of H100.
pub(crate) const H100: RailBoxes =
    RailBoxes { name: "h100", nvswitch_gbyte_per_s: 450.0, nic_gbyte_per_s: 50.0, ..H800 };

fn boxes_of_gpus(builder: &mut Builder, boxes: u32, gbyte_per_s: f64, alpha_us: f64) {
    for group in 0..boxes {
        builder.gpus(group, BOX);
    }
    for group in 0..boxes {
        let switch = builder.node(format!("c{group}.nvswitch"), NodeSort::Switch, Some(group));
        for gpu in BOX * group..BOX * (group + 1) {
            builder.both_ways(gpu, switch, gbyte_per_s, alpha_us, "nvlink");
        }
    }
}

/// Builds A100 boxes. If there are several boxes, every GPU has a NIC; one fabric switch serves the GPUs with even
/// numbers, another one the GPUs with odd numbers.
pub(super) fn a100(boxes: u32) -> Topology {
    let mut builder = Builder::new();
    boxes_of_gpus(&mut builder, boxes, 300.0, 0.35);
    let (gpus, nics) = (BOX * boxes, (BOX + 1) * boxes);
    if boxes > 1 {
        for gpu in 0..gpus {
            let group = gpu / BOX;
            let nic = builder.node(format!("c{group}.nic{}", gpu % BOX), NodeSort::Switch, Some(group));
            builder.both_ways(gpu, nic, 25.0, 0.1, "pcie");
        }
        let fabrics =
            ["even", "odd"].map(|name| builder.node(format!("fabric.{name}"), NodeSort::Switch, None));
        for gpu in 0..gpus {
            builder.both_ways(nics + gpu, fabrics[(gpu % 2) as usize], 25.0, 1.3, "infiniband");
        }
    }
    let nodes = builder.nodes.len() as u32;
    let fabric = nics + gpus;
    let of_box = |node: u32, moved: &dyn Fn(u32) -> u32| match node {
        node if node < gpus => moved(node),
        node if node < nics => node,
        node => nics + moved(node - nics),
    };
    // A shift by one position within the box swaps even and odd GPUs.
    let turned = permutation(nodes, |node| match node {
        node if boxes > 1 && node >= fabric => fabric + (node - fabric + 1) % 2,
        node => of_box(node, &|gpu| gpu / BOX * BOX + (gpu + 1) % BOX),
    });
    let rotated = permutation(nodes, |node| match node {
        node if node >= gpus && node < nics => gpus + (node - gpus + 1) % boxes,
        node if boxes > 1 && node >= fabric => node,
        node => of_box(node, &|gpu| (gpu + BOX) % gpus),
    });
    let generators = if boxes > 1 { vec![turned, rotated] } else { vec![turned] };
    let notes = "A100: latencies are assumed";
    builder.finish(format!("a100_{boxes}x{BOX}"), SwitchHop::StoreAndForward, generators, notes)
}

/// Builds boxes; if there are several boxes, the GPUs with the same position in their box share a rail switch.
pub(crate) fn rails(boxes: u32, machine: RailBoxes) -> Topology {
    let mut builder = Builder::new();
    boxes_of_gpus(&mut builder, boxes, machine.nvswitch_gbyte_per_s, machine.nvswitch_alpha_us);
    let (gpus, nvswitches) = (BOX * boxes, (BOX + 1) * boxes);
    if boxes > 1 {
        for rail in 0..BOX {
            let switch = builder.node(format!("rail{rail}"), NodeSort::Switch, None);
            for group in 0..boxes {
                let gpu = BOX * group + rail;
                builder.both_ways(gpu, switch, machine.nic_gbyte_per_s, machine.nic_alpha_us, "ethernet");
            }
        }
    }
    let nodes = builder.nodes.len() as u32;
    let turned = permutation(nodes, |node| match node {
        node if node < gpus => node / BOX * BOX + (node + 1) % BOX,
        node if node < nvswitches => node,
        node => nvswitches + (node - nvswitches + 1) % BOX,
    });
    let rotated = permutation(nodes, |node| match node {
        node if node < gpus => (node + BOX) % gpus,
        node if node < nvswitches => gpus + (node - gpus + 1) % boxes,
        node => node,
    });
    let generators = if boxes > 1 { vec![turned, rotated] } else { vec![turned] };
    let notes = "rails: latencies are assumed";
    let name = format!("{}_{boxes}x{BOX}_rails", machine.name);
    builder.finish(name, SwitchHop::StoreAndForward, generators, notes)
}
