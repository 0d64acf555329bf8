//! Files of NCCL and RCCL: the topology of a machine as NCCL and RCCL write and read it, and the table that the example
//! tuner plug-in of NCCL reads.

mod network;
mod pcie;
mod ports;
mod read;
pub mod tuner;

pub use network::{
    ChassisLink, ChassisLinkSort, ChassisNetwork, ChassisNode, IntraLinks, NetworkOptions, network,
};
pub use ports::{NicPort, PciDistance, PciPath};
pub use read::read;

use crate::graph::xml;
use std::fmt::Write as _;

/// A machine as `NCCL_TOPO_DUMP_FILE` describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NcclTopology {
    /// Version of the format.
    pub version: u32,
    /// CPUs, each a NUMA node.
    pub cpus: Vec<NcclCpu>,
    /// Devices of the PCI trees, parents before children.
    pub devices: Vec<PciDevice>,
}

/// A CPU in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NcclCpu {
    /// Hash of the host to which the CPU belongs; empty if the file has one host and does not state its hash. Bus ids
    /// are unique within a host.
    pub host: String,
    /// NUMA node; -1 if unknown.
    pub numa: i32,
    /// Architecture, such as `x86_64`.
    pub arch: String,
    /// Vendor, such as `AuthenticAMD`.
    pub vendor: String,
    /// Ports that are attached to the CPU directly, such as socket interfaces.
    pub nets: Vec<NcclNet>,
}

/// A device on PCI Express.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PciDevice {
    /// Bus id in lower case.
    pub bus: String,
    /// Index of the device's CPU in [`NcclTopology::cpus`].
    pub cpu: usize,
    /// Index of the bridge above the device in [`NcclTopology::devices`]; missing if the CPU is directly above the
    /// device.
    pub parent: Option<usize>,
    /// PCI class, such as 0x030200; missing in some files.
    pub class: Option<u32>,
    /// Rate of a lane of the link to the device above, GT/s; missing if the file does not contain it.
    pub lane_gt_per_s: Option<f64>,
    /// Number of lanes of that link; missing if the file does not contain it.
    pub lanes: Option<u32>,
    /// GPU entries of the device: one, or one for each part into which it is divided.
    pub gpus: Vec<NcclGpu>,
    /// Ports of the device, if the device is a NIC.
    pub nets: Vec<NcclNet>,
}

/// Type of a PCI device, by class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PciSort {
    /// Bridge or switch.
    Bridge,
    /// GPU or accelerator.
    Gpu,
    /// Network card (NIC).
    Nic,
    /// Anything else.
    Other,
}

impl PciDevice {
    /// Returns the type of the device: GPUs and NICs by their entries, all other devices by class.
    pub fn sort(&self) -> PciSort {
        if !self.gpus.is_empty() {
            return PciSort::Gpu;
        }
        if !self.nets.is_empty() {
            return PciSort::Nic;
        }
        match self.class {
            Some(0x03_0000 | 0x03_0200 | 0x03_8000 | 0x12_0000) => PciSort::Gpu,
            Some(0x02_0000 | 0x02_0700) => PciSort::Nic,
            Some(0x06_0400) | None => PciSort::Bridge,
            Some(_) => PciSort::Other,
        }
    }
}

/// A GPU in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NcclGpu {
    /// Device number of the GPU.
    pub dev: Option<u32>,
    /// Compute capability times ten.
    pub sm: Option<u32>,
    /// Architecture of AMD's GPUs, such as `908` or `gfx942`.
    pub gcn: Option<String>,
    /// Rank of the GPU.
    pub rank: Option<u32>,
    /// Number of the GPU's part of the device (`mlopart`), if the device is divided.
    pub part: Option<u32>,
    /// Links to other GPUs and to switches.
    pub links: Vec<GpuLinks>,
}

/// Type of a direct link of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GpuLinkSort {
    /// NVLink.
    NvLink,
    /// Infinity Fabric.
    Xgmi,
}

/// Links from a GPU to one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuLinks {
    /// Type of the links.
    pub sort: GpuLinkSort,
    /// Bus id of the target in lower case.
    pub target: String,
    /// Number of links in each direction.
    pub count: u32,
    /// PCI class of the target.
    pub target_class: Option<u32>,
}

/// A port of a NIC.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NcclNet {
    /// Name of the port.
    pub name: String,
    /// Device number of the port.
    pub dev: u32,
    /// Rate of the port, Mb/s.
    pub speed_mbps: u64,
    /// Number of the port on its card.
    pub port: u32,
    /// Latency of the port, µs.
    pub latency_us: f64,
    /// `true` if the port accesses the memory of GPUs directly.
    pub gpu_direct: bool,
}

/// Writes a topology in the form that NCCL reads from `NCCL_TOPO_FILE`.
pub fn write(topology: &NcclTopology) -> String {
    let mut text = format!("<system version=\"{}\">\n", topology.version);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); topology.devices.len()];
    for (at, device) in topology.devices.iter().enumerate() {
        if let Some(list) = device.parent.and_then(|parent| children.get_mut(parent)) {
            list.push(at);
        }
    }
    for (number, cpu) in topology.cpus.iter().enumerate() {
        let (arch, vendor) = (xml(&cpu.arch), xml(&cpu.vendor));
        text.push_str("  <cpu");
        if !cpu.host.is_empty() {
            let _ = write!(text, " host_hash=\"{}\"", xml(&cpu.host));
        }
        let _ = writeln!(text, " numaid=\"{}\" arch=\"{arch}\" vendor=\"{vendor}\">", cpu.numa);
        // Devices that are still open, innermost last: the number of each, and how many of its children are written.
        let roots = topology.devices.iter().enumerate();
        let roots = roots.filter(|(_, device)| device.cpu == number && device.parent.is_none());
        for (root, _) in roots {
            let mut open: Vec<(usize, usize)> = Vec::new();
            write_device(&mut text, &topology.devices[root], 2);
            open.push((root, 0));
            while let Some((at, done)) = open.pop() {
                if let Some(child) = children[at].get(done).copied() {
                    open.push((at, done + 1));
                    write_device(&mut text, &topology.devices[child], open.len() + 2);
                    open.push((child, 0));
                } else {
                    let _ = writeln!(text, "{}</pci>", "  ".repeat(open.len() + 2));
                }
            }
        }
        write_nets(&mut text, &cpu.nets, "    ");
        text.push_str("  </cpu>\n");
    }
    text.push_str("</system>\n");
    text
}

fn write_device(text: &mut String, device: &PciDevice, depth: usize) {
    let indent = "  ".repeat(depth);
    let _ = write!(text, "{indent}<pci busid=\"{}\"", xml(&device.bus));
    if let Some(class) = device.class {
        let _ = write!(text, " class=\"{class:#08x}\"");
    }
    let speed = device.lane_gt_per_s.map_or_else(String::new, |rate| format!("{rate} GT/s PCIe"));
    let _ = write!(text, " link_speed=\"{speed}\"");
    if let Some(lanes) = device.lanes {
        let _ = write!(text, " link_width=\"{lanes}\"");
    }
    text.push_str(">\n");
    for gpu in &device.gpus {
        let _ = write!(text, "{indent}  <gpu");
        for (name, value) in [("dev", gpu.dev), ("sm", gpu.sm), ("rank", gpu.rank), ("mlopart", gpu.part)] {
            if let Some(value) = value {
                let _ = write!(text, " {name}=\"{value}\"");
            }
        }
        if let Some(gcn) = &gpu.gcn {
            let _ = write!(text, " gcn=\"{}\"", xml(gcn));
        }
        text.push_str(">\n");
        for link in &gpu.links {
            let name = if link.sort == GpuLinkSort::NvLink { "nvlink" } else { "xgmi" };
            let target = xml(&link.target);
            let _ = write!(text, "{indent}    <{name} target=\"{target}\" count=\"{}\"", link.count);
            if let Some(class) = link.target_class {
                let _ = write!(text, " tclass=\"{class:#08x}\"");
            }
            text.push_str("/>\n");
        }
        let _ = writeln!(text, "{indent}  </gpu>");
    }
    write_nets(text, &device.nets, &format!("{indent}  "));
}

fn write_nets(text: &mut String, nets: &[NcclNet], indent: &str) {
    if !nets.is_empty() {
        let _ = writeln!(text, "{indent}<nic>");
        for net in nets {
            let _ = writeln!(
                text,
                "{indent}  <net name=\"{}\" dev=\"{}\" speed=\"{}\" port=\"{}\" latency=\"{}\" gdr=\"{}\"/>",
                xml(&net.name),
                net.dev,
                net.speed_mbps,
                net.port,
                net.latency_us,
                u8::from(net.gpu_direct)
            );
        }
        let _ = writeln!(text, "{indent}</nic>");
    }
}
