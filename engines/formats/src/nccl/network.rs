//! The GPUs of a machine with their links and ways out, made of its topology.

use super::{GpuLinkSort, NcclGpu, NcclTopology, PciDevice, PciSort};
use crate::imported::Imported;
use lightbay_core::problem::{Problem, printable};
use std::collections::{BTreeMap, HashMap};

/// Rate of one NVLink each way by compute capability, GB/s, as NCCL counts it. A GPU takes the last row that its
/// capability reaches; 86 stands for itself only.
pub const NVLINK_GBYTE_PER_S: [(u32, f64); 6] =
    [(60, 18.0), (70, 20.0), (80, 20.0), (86, 12.0), (90, 20.6), (100, 40.1)];

/// Rate of one link of Infinity Fabric each way by architecture, GB/s, as RCCL counts it.
pub const XGMI_GBYTE_PER_S: [(&str, f64); 8] = [
    ("803", 24.0),
    ("900", 24.0),
    ("906", 24.0),
    ("908", 24.0),
    ("90a", 36.0),
    ("910", 36.0),
    ("940", 48.0),
    ("942", 48.0),
];

/// Links between the GPUs of a machine that its file does not list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntraLinks {
    /// There are none but PCI Express.
    None,
    /// Every GPU has this rate each way to one switch, GB/s.
    Switch(f64),
    /// Every pair of GPUs has this rate each way, GB/s.
    Mesh(f64),
}

/// Choices beside the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NetworkOptions {
    /// Links between GPUs, if the file lists none; a file that lists some must not be given any.
    pub intra: Option<IntraLinks>,
    /// Rate of one NVLink or link of Infinity Fabric each way, GB/s, instead of the table.
    pub link_gbyte_per_s: Option<f64>,
}

/// A GPU, or a switch between GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChassisNode {
    /// Name, for people.
    pub name: String,
    /// `true` if it is a switch.
    pub switch: bool,
    /// Bus id of a GPU.
    pub bus: String,
}

/// Sort of a link of a [`ChassisNetwork`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChassisLinkSort {
    /// NVLink.
    NvLink,
    /// Infinity Fabric.
    Xgmi,
    /// As the options say.
    Given,
}

/// A directed link.
#[derive(Clone, Debug, PartialEq)]
pub struct ChassisLink {
    /// Node that it leaves.
    pub from: u32,
    /// Node that it enters.
    pub to: u32,
    /// Links that it stands for.
    pub count: u32,
    /// Rate of all of them, GB/s.
    pub gbyte_per_s: f64,
    /// Sort.
    pub sort: ChassisLinkSort,
}

/// Distance of a GPU and a network card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PciDistance {
    /// They share a bridge.
    Bridge,
    /// They share a CPU only.
    Cpu,
    /// They belong to different CPUs.
    Machine,
}

/// The way of a GPU to a network card over PCI Express.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PciPath {
    /// The GPU.
    pub gpu: u32,
    /// Rate of its narrowest link, GB/s; links between CPUs are not in the file and are not counted.
    pub gbyte_per_s: f64,
    /// Distance.
    pub distance: PciDistance,
}

/// A port out of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct NicPort {
    /// Name, or bus id if the file has none.
    pub name: String,
    /// Bus id of the card.
    pub bus: String,
    /// Rate, GB/s; missing if the file lists the card only.
    pub gbyte_per_s: Option<f64>,
    /// Latency, µs.
    pub latency_us: f64,
    /// Ways of all GPUs to it, in order of the GPUs.
    pub paths: Vec<PciPath>,
}

/// The GPUs of a machine, in order of rank, device number or place in the file, then its switches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChassisNetwork {
    /// GPUs and switches.
    pub nodes: Vec<ChassisNode>,
    /// Directed links, one for each ordered pair of nodes.
    pub links: Vec<ChassisLink>,
    /// Ports out of the machine.
    pub ports: Vec<NicPort>,
}

/// Makes the network of a machine. What is assumed carries the name of the knob that sets it: `intra=` or
/// `link_gbyte_per_s=`.
///
/// # Errors
/// A machine without GPUs, links between GPUs that are neither in the file nor given, and rates that are no rates.
pub fn network(
    topology: &NcclTopology,
    options: &NetworkOptions,
) -> Result<Imported<ChassisNetwork>, Problem> {
    let given = match options.intra {
        Some(IntraLinks::Switch(rate) | IntraLinks::Mesh(rate)) => Some(("intra", rate)),
        _ => None,
    };
    let rates = given.into_iter().chain(options.link_gbyte_per_s.map(|rate| ("link_gbyte_per_s", rate)));
    for (name, rate) in rates {
        if !(rate.is_finite() && rate > 0.0 && rate <= 1e6) {
            return Err(Problem::new(name, format!("is {rate} GB/s"), "give a rate above 0 and up to 1e6"));
        }
    }
    let gpus = ordered(topology);
    if gpus.is_empty() {
        let message = "has no <gpu> and no device of the class of a GPU";
        return Err(Problem::new("", message, "dump the topology on a machine with GPUs"));
    }
    let mut made = Imported::new(ChassisNetwork::default());
    for (number, at) in gpus.iter().enumerate() {
        let bus = topology.devices[*at].bus.clone();
        made.value.nodes.push(ChassisNode { name: format!("g{number}"), switch: false, bus });
    }
    let listed = gpus.iter().any(|at| links_of(&topology.devices[*at]).next().is_some());
    match options.intra {
        _ if listed => {
            if options.intra.is_some() {
                let message = "is given, and the file lists links between GPUs";
                return Err(Problem::new("intra", message, "leave it out"));
            }
            own_links(topology, &gpus, options, &mut made);
            fewer_links(topology, &gpus, &mut made);
        }
        None if gpus.len() > 1 => {
            let message = "the file lists no links between GPUs";
            let remedy = "say what there is: intra=nvswitch:300 (GB/s of each GPU), intra=mesh:50 (of each pair) \
                          or intra=none";
            return Err(Problem::new("intra", message, remedy));
        }
        _ if options.link_gbyte_per_s.is_some() => {
            let message = "is given, and the file lists no links that it would be the rate of";
            return Err(Problem::new(
                "link_gbyte_per_s",
                message,
                "leave it out, and say the rate in intra=",
            ));
        }
        None | Some(IntraLinks::None) => {}
        Some(intra) => given_links(intra, gpus.len(), &mut made.value),
    }
    ports(topology, &gpus, &mut made);
    Ok(made)
}

/// Places of the GPUs, by rank if all have one, else by number, else as they stand.
fn ordered(topology: &NcclTopology) -> Vec<usize> {
    let mut gpus: Vec<usize> =
        (0..topology.devices.len()).filter(|at| topology.devices[*at].sort() == PciSort::Gpu).collect();
    let by = |field: fn(&NcclGpu) -> Option<u32>| -> Option<BTreeMap<u32, usize>> {
        let keys = gpus.iter().map(|at| Some((field(topology.devices[*at].gpu.as_ref()?)?, *at)));
        let keys: BTreeMap<u32, usize> = keys.collect::<Option<_>>()?;
        (keys.len() == gpus.len()).then_some(keys)
    };
    if let Some(keys) = by(|gpu| gpu.rank).or_else(|| by(|gpu| gpu.dev)) {
        gpus = keys.into_values().collect();
    }
    gpus
}

fn links_of(device: &PciDevice) -> impl Iterator<Item = &super::GpuLinks> {
    device.gpu.iter().flat_map(|gpu| &gpu.links)
}

/// Links that the file lists.
fn own_links(
    topology: &NcclTopology,
    gpus: &[usize],
    options: &NetworkOptions,
    made: &mut Imported<ChassisNetwork>,
) {
    const SWITCH_CLASS: u32 = 0x06_8000;
    let places: HashMap<&str, u32> =
        (0..).zip(gpus).map(|(number, at)| (topology.devices[*at].bus.as_str(), number)).collect();
    let mut counts: BTreeMap<(u32, u32), (u32, f64, GpuLinkSort)> = BTreeMap::new();
    let mut elsewhere = 0;
    let mut rates: BTreeMap<String, f64> = BTreeMap::new();
    let switch = gpus.len() as u32;
    for (number, at) in (0..).zip(gpus) {
        for link in links_of(&topology.devices[*at]) {
            let to_switch = link.target.starts_with("ffff:ff") || link.target_class == Some(SWITCH_CLASS);
            let target = if to_switch { Some(switch) } else { places.get(link.target.as_str()).copied() };
            let Some(target) = target.filter(|target| *target != number) else {
                elsewhere += link.count;
                continue;
            };
            let gpu = topology.devices[*at].gpu.as_ref();
            let (rate, why) = rate(link.sort, gpu, options);
            rates.insert(why, rate);
            let mut add = |from, to| {
                let entry = counts.entry((from, to)).or_insert((0, 0.0, link.sort));
                entry.0 += link.count;
                entry.1 += f64::from(link.count) * rate;
            };
            add(number, target);
            // A switch has no entry of its own for the way back.
            if to_switch {
                add(target, number);
            }
        }
    }
    if counts.keys().any(|(from, to)| *from == switch || *to == switch) {
        let node = ChassisNode { name: "nvswitch".to_owned(), switch: true, bus: String::new() };
        made.value.nodes.push(node);
    }
    for ((from, to), (count, gbyte_per_s, sort)) in &counts {
        let sort = if *sort == GpuLinkSort::NvLink { ChassisLinkSort::NvLink } else { ChassisLinkSort::Xgmi };
        let link = ChassisLink { from: *from, to: *to, count: *count, gbyte_per_s: *gbyte_per_s, sort };
        made.value.links.push(link);
    }
    let one_way: Vec<String> = counts
        .iter()
        .filter(|((from, to), entry)| counts.get(&(*to, *from)).is_none_or(|back| back.0 != entry.0))
        .map(|((from, to), _)| format!("g{from} to g{to}"))
        .take(4)
        .collect();
    if !one_way.is_empty() {
        made.note(format!("links that are not listed alike at both ends: {}", one_way.join(", ")));
    }
    if elsewhere > 0 {
        made.note(format!("{elsewhere} links lead to no GPU of the file and were left aside"));
    }
    if options.link_gbyte_per_s.is_none() {
        for (why, rate) in rates {
            made.assume(format!("rate of {why}"), format!("{rate} GB/s each way"), "link_gbyte_per_s=");
        }
    }
}

/// Notes GPUs that list fewer links than most others: ports that are lame, or a file that is not whole.
fn fewer_links(topology: &NcclTopology, gpus: &[usize], made: &mut Imported<ChassisNetwork>) {
    let listed = |at: &usize| links_of(&topology.devices[*at]).map(|link| link.count).sum::<u32>();
    let counts: Vec<u32> = gpus.iter().map(listed).collect();
    let gpus_with = |count: u32| counts.iter().filter(|other| **other == count).count();
    let Some(usual) = counts.iter().copied().max_by_key(|count| (gpus_with(*count), *count)) else { return };
    for (number, (at, count)) in
        gpus.iter().zip(&counts).enumerate().filter(|(_, (_, count))| **count < usual)
    {
        let bus = printable(&topology.devices[*at].bus);
        let others = if gpus_with(usual) + 1 == counts.len() { "the others" } else { "most others" };
        made.note(format!("GPU {number} ({bus}) lists {count} links and {others} {usual}"));
    }
}

/// Rate of one link, and the words for it.
fn rate(sort: GpuLinkSort, gpu: Option<&NcclGpu>, options: &NetworkOptions) -> (f64, String) {
    if let Some(rate) = options.link_gbyte_per_s {
        return (rate, String::new());
    }
    if sort == GpuLinkSort::NvLink {
        let Some(sm) = gpu.and_then(|gpu| gpu.sm) else {
            return (20.0, "an NVLink of a GPU whose sm is not given".to_owned());
        };
        let row = NVLINK_GBYTE_PER_S.iter().rev().find(|(own, _)| *own == sm || (*own < sm && *own != 86));
        let rate = row.map_or(18.0, |(_, rate)| *rate);
        return (rate, format!("an NVLink of a GPU of sm {sm}"));
    }
    let Some(name) = gpu.and_then(|gpu| gpu.gcn.as_deref()) else {
        return (24.0, "a link of Infinity Fabric of a GPU whose gcn is not given".to_owned());
    };
    let short = name.trim().strip_prefix("gfx").unwrap_or(name.trim());
    let row = XGMI_GBYTE_PER_S.iter().find(|(own, _)| *own == short);
    let what = format!("a link of Infinity Fabric of a GPU of gcn {}", printable(name));
    row.map_or_else(
        || (48.0, format!("{what}, which the table does not have")),
        |(_, rate)| (*rate, what.clone()),
    )
}

fn given_links(intra: IntraLinks, gpus: usize, made: &mut ChassisNetwork) {
    let gpus = gpus as u32;
    let mut link = |from, to, gbyte_per_s| {
        let sort = ChassisLinkSort::Given;
        made.links.push(ChassisLink { from, to, count: 1, gbyte_per_s, sort });
    };
    match intra {
        IntraLinks::None => {}
        IntraLinks::Switch(rate) => {
            for gpu in 0..gpus {
                link(gpu, gpus, rate);
                link(gpus, gpu, rate);
            }
            let node = ChassisNode { name: "nvswitch".to_owned(), switch: true, bus: String::new() };
            made.nodes.push(node);
        }
        IntraLinks::Mesh(rate) => {
            for from in 0..gpus {
                for to in (0..gpus).filter(|to| *to != from) {
                    link(from, to, rate);
                }
            }
        }
    }
}

/// Ports of all network cards, with the ways to them.
fn ports(topology: &NcclTopology, gpus: &[usize], made: &mut Imported<ChassisNetwork>) {
    let devices = &topology.devices;
    let (mut unknown, mut bare) = (0, 0);
    let rates: Vec<f64> = devices
        .iter()
        .map(|device| {
            unknown += usize::from(device.lane_gt_per_s.is_none() || device.lanes.is_none());
            pci_gbyte_per_s(device)
        })
        .collect();
    for (at, card) in devices.iter().enumerate().filter(|(_, device)| device.sort() == PciSort::Nic) {
        let paths: Vec<PciPath> =
            (0..).zip(gpus).map(|(gpu, place)| path(devices, &rates, gpu, *place, at)).collect();
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
    if bare > 0 {
        made.note(format!("{bare} network cards have no <net>, so that their rates are not known"));
    }
    if unknown > 0 {
        made.assume(
            format!("PCI link of {unknown} devices"),
            "PCIe 3.0 (8 GT/s) and 16 lanes where the file does not say",
            "link_speed and link_width of the file",
        );
    }
}

/// Rate of the link above a device each way, GB/s.
pub fn pci_gbyte_per_s(device: &PciDevice) -> f64 {
    let rate = device.lane_gt_per_s.unwrap_or(8.0);
    // Up to PCIe 2.0 a byte takes 10 bits, from 3.0 on 16 bytes take 130.
    let coding = if rate >= 8.0 { 128.0 / 130.0 } else { 0.8 };
    rate * f64::from(device.lanes.unwrap_or(16)) / 8.0 * coding
}

fn path(devices: &[PciDevice], rates: &[f64], gpu: u32, from: usize, to: usize) -> PciPath {
    let above = |mut at: usize| {
        let mut chain = vec![at];
        while let Some(parent) = devices[at].parent.filter(|parent| *parent < at) {
            chain.push(parent);
            at = parent;
        }
        chain
    };
    let (own, other) = (above(from), above(to));
    let shared = own.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let links = own[..own.len() - shared].iter().chain(&other[..other.len() - shared]);
    let gbyte_per_s = links.map(|at| rates[*at]).fold(f64::INFINITY, f64::min);
    let distance = if shared > 0 {
        PciDistance::Bridge
    } else if devices[from].cpu == devices[to].cpu {
        PciDistance::Cpu
    } else {
        PciDistance::Machine
    };
    PciPath { gpu, gbyte_per_s, distance }
}
