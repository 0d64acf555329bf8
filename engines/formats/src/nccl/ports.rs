//! External ports of a machine, and the paths of its GPUs to them over PCI Express.

use super::network::{ChassisNetwork, GpuPlace};
use super::{NcclTopology, PciDevice, PciSort};
use crate::imported::Imported;

/// Distance between a GPU and a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PciDistance {
    /// GPU and NIC share a bridge.
    Bridge,
    /// GPU and NIC share only a CPU.
    Cpu,
    /// GPU and NIC belong to different CPUs.
    Machine,
}

/// The path of a GPU to a NIC over PCI Express.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PciPath {
    /// Index of the GPU.
    pub gpu: u32,
    /// Rate of the slowest link of the path, GB/s; links between CPUs are not in the file and do not count.
    pub gbyte_per_s: f64,
    /// Distance between GPU and NIC.
    pub distance: PciDistance,
}

/// An external port of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct NicPort {
    /// Name of the port, or bus id if the file has no name.
    pub name: String,
    /// Bus id of the card; empty for a socket interface.
    pub bus: String,
    /// Rate of the port, GB/s; missing if the file lists only the card.
    pub gbyte_per_s: Option<f64>,
    /// Latency of the port, µs.
    pub latency_us: f64,
    /// Paths of all GPUs to the port, in order of the GPUs.
    pub paths: Vec<PciPath>,
}

/// Adds the ports of all NICs, with the paths to them.
pub(super) fn add(topology: &NcclTopology, gpus: &[GpuPlace], made: &mut Imported<ChassisNetwork>) {
    let devices = &topology.devices;
    let (mut unknown, mut bare) = (0, 0);
    let rates: Vec<f64> = devices
        .iter()
        .map(|device| {
            unknown += usize::from(device.lane_gt_per_s.is_none() || device.lanes.is_none());
            gbyte_per_s(device)
        })
        .collect();
    for (at, card) in devices.iter().enumerate().filter(|(_, device)| device.sort() == PciSort::Nic) {
        let paths: Vec<PciPath> = (0..)
            .zip(gpus)
            .map(|(gpu, place)| path(devices, &rates, (gpu, place.device), Some(at), card.cpu))
            .collect();
        if card.nets.is_empty() {
            bare += 1;
            let (name, bus) = (card.bus.clone(), card.bus.clone());
            made.value.ports.push(NicPort { name, bus, gbyte_per_s: None, latency_us: 0.0, paths });
            continue;
        }
        for net in &card.nets {
            made.value.ports.push(NicPort {
                name: if net.name.is_empty() { card.bus.clone() } else { net.name.clone() },
                bus: card.bus.clone(),
                gbyte_per_s: Some(net.speed_mbps as f64 / 8000.0),
                latency_us: net.latency_us,
                paths: paths.clone(),
            });
        }
    }
    for (cpu, of) in topology.cpus.iter().enumerate() {
        for net in &of.nets {
            let ways = (0..).zip(gpus);
            let paths = ways.map(|(gpu, place)| path(devices, &rates, (gpu, place.device), None, cpu));
            made.value.ports.push(NicPort {
                name: net.name.clone(),
                bus: String::new(),
                gbyte_per_s: Some(net.speed_mbps as f64 / 8000.0),
                latency_us: net.latency_us,
                paths: paths.collect(),
            });
        }
    }
    if bare > 0 {
        made.note(format!("{bare} NICs have no <net>, so their rates are unknown"));
    }
    if unknown > 0 {
        made.assume(
            format!("PCI link of {unknown} devices"),
            "PCIe 3.0 (8 GT/s) and 16 lanes where the file lacks the speed or the width",
            "link_speed and link_width of the file",
        );
    }
}

/// Returns the rate of the link above a device in each direction, after the line coding, GB/s.
fn gbyte_per_s(device: &PciDevice) -> f64 {
    let rate = device.lane_gt_per_s.unwrap_or(8.0);
    // Up to PCIe 2.0, a byte takes 10 bits; from PCIe 3.0, 16 bytes take 130 bits.
    let coding = if rate >= 8.0 { 128.0 / 130.0 } else { 0.8 };
    rate * f64::from(device.lanes.unwrap_or(16)) / 8.0 * coding
}

/// Returns the indices of a device and of everything above it, up to the CPU.
pub(super) fn above(devices: &[PciDevice], mut at: usize) -> Vec<usize> {
    let mut chain = vec![at];
    while let Some(parent) = devices[at].parent.filter(|parent| *parent < at) {
        chain.push(parent);
        at = parent;
    }
    chain
}

/// Returns the path of a GPU, given by its device, to a card or to a CPU.
fn path(
    devices: &[PciDevice],
    rates: &[f64],
    (gpu, from): (u32, usize),
    to: Option<usize>,
    cpu: usize,
) -> PciPath {
    let own = above(devices, from);
    let other = to.map_or_else(Vec::new, |to| above(devices, to));
    let shared = own.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let links = own[..own.len() - shared].iter().chain(&other[..other.len() - shared]);
    let gbyte_per_s = links.map(|at| rates[*at]).fold(f64::INFINITY, f64::min);
    let distance = if shared > 0 {
        PciDistance::Bridge
    } else if devices[from].cpu == cpu {
        PciDistance::Cpu
    } else {
        PciDistance::Machine
    };
    PciPath { gpu, gbyte_per_s, distance }
}
