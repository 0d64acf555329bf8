//! The GPUs of a machine with their links and external ports, from its topology.

use super::ports::{self, NicPort};
use super::{GpuLinkSort, NcclGpu, NcclTopology, PciSort, pcie};
use crate::imported::Imported;
use lightbay_core::problem::{Problem, few, printable};
use std::collections::{BTreeMap, HashMap};

/// Rate of one NVLink in each direction by compute capability, GB/s, as in NCCL's model. The row of a GPU is the last
/// row whose capability is at most the capability of the GPU; the row of 86 applies only to capability 86.
pub const NVLINK_GBYTE_PER_S: [(u32, f64); 6] =
    [(60, 18.0), (70, 20.0), (80, 20.0), (86, 12.0), (90, 20.6), (100, 40.1)];

/// Rate of one Infinity Fabric link in each direction by architecture, GB/s, as in RCCL's model.
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

/// Assumption on the links between the GPUs of a machine whose file lists no links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntraLinks {
    /// GPUs have no direct links: they communicate over PCI Express.
    Pcie,
    /// Every GPU has this rate in each direction to one switch, GB/s.
    Switch(f64),
    /// Every pair of GPUs has this rate in each direction, GB/s.
    Mesh(f64),
}

/// Options in addition to the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NetworkOptions {
    /// Links between GPUs, if the file lists none; must be missing if the file lists some.
    pub intra: Option<IntraLinks>,
    /// Rate of one NVLink or Infinity Fabric link in each direction, GB/s; replaces the table.
    pub link_gbyte_per_s: Option<f64>,
}

/// A GPU, or a switch between GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChassisNode {
    /// Name, for people.
    pub name: String,
    /// `true` if the node is a switch.
    pub switch: bool,
    /// Bus id of a GPU.
    pub bus: String,
    /// Index of the node's host, from 0 in order of the file; none for a switch of several hosts.
    pub host: Option<usize>,
}

/// Type of a link of a [`ChassisNetwork`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChassisLinkSort {
    /// NVLink.
    NvLink,
    /// Infinity Fabric.
    Xgmi,
    /// PCI Express.
    Pcie,
    /// A link that the options define.
    Given,
}

/// A directed link of a [`ChassisNetwork`].
#[derive(Clone, Debug, PartialEq)]
pub struct ChassisLink {
    /// Index of the node from which the link leads.
    pub from: u32,
    /// Index of the node to which the link leads.
    pub to: u32,
    /// Number of physical links that this link represents.
    pub count: u32,
    /// Total rate of the physical links, GB/s.
    pub gbyte_per_s: f64,
    /// Type of the link.
    pub sort: ChassisLinkSort,
}

/// Network of a machine: its GPUs, ordered by rank, device number or position in the file, then its switches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChassisNetwork {
    /// GPUs and switches.
    pub nodes: Vec<ChassisNode>,
    /// Directed links, one for each ordered pair of nodes.
    pub links: Vec<ChassisLink>,
    /// External ports of the machine.
    pub ports: Vec<NicPort>,
}

/// Makes the network of a machine. Each assumption contains the name of the parameter that sets the assumed value:
/// `intra=` or `link_gbyte_per_s=`.
///
/// # Errors
/// A machine without GPUs, links between GPUs that are neither in the file nor in the options, and invalid rates.
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
            return Err(Problem::new(name, format!("is {rate} GB/s"), "use a rate above 0 and up to 1e6"));
        }
    }
    let gpus = ordered(topology);
    if gpus.is_empty() {
        let message = "has no <gpu> and no device of class GPU";
        return Err(Problem::new("", message, "dump the topology on a machine with GPUs"));
    }
    let mut made = Imported::new(ChassisNetwork::default());
    for (number, gpu) in gpus.iter().enumerate() {
        let bus = topology.devices[gpu.device].bus.clone();
        let node = ChassisNode { name: format!("g{number}"), switch: false, bus, host: Some(gpu.host) };
        made.value.nodes.push(node);
    }
    let listed = gpus.iter().any(|gpu| gpu.entry(topology).is_some_and(|entry| !entry.links.is_empty()));
    match options.intra {
        _ if listed => {
            if options.intra.is_some() {
                let message = "is set, but the file lists links between GPUs";
                return Err(Problem::new("intra", message, "leave it out"));
            }
            own_links(topology, &gpus, options, &mut made);
            fewer_links(topology, &gpus, &mut made);
            join_islands(topology, &gpus, &mut made)?;
        }
        None if gpus.len() > 1 => {
            let message = "the file lists no links between GPUs";
            let remedy = "set the links: intra=nvswitch:300 (GB/s of each GPU), intra=mesh:50 (of each pair) or \
                 intra=pcie (only PCI Express, with the rates of the file)";
            return Err(Problem::new("intra", message, remedy));
        }
        _ if options.link_gbyte_per_s.is_some() => {
            let message = "is set, but the file lists no links to which it would apply";
            return Err(Problem::new("link_gbyte_per_s", message, "omit it, and set the rate in intra="));
        }
        None => {}
        Some(IntraLinks::Pcie) => {
            join_islands(topology, &gpus, &mut made)?;
        }
        Some(intra) => given_links(intra, gpus.len(), &mut made.value),
    }
    ports::add(topology, &gpus, &mut made);
    Ok(made)
}

/// Place of a GPU in the file: its device, its position among the entries of the device, and its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GpuPlace {
    pub(super) device: usize,
    entry: usize,
    pub(super) host: usize,
}

impl GpuPlace {
    fn entry(self, topology: &NcclTopology) -> Option<&NcclGpu> {
        topology.devices[self.device].gpus.get(self.entry)
    }

    /// Returns the name of the GPU in messages: `rank 2 (host 0x3a52, 0004:01:00.0)`.
    fn words(self, topology: &NcclTopology, number: usize) -> String {
        let device = &topology.devices[self.device];
        let host = topology.cpus.get(device.cpu).map_or("", |cpu| cpu.host.as_str());
        let host = if host.is_empty() { String::new() } else { format!("host {}, ", printable(host)) };
        format!("rank {number} ({host}{})", printable(&device.bus))
    }
}

/// Returns the GPUs, by rank if all have a rank, else by number, else in file order.
fn ordered(topology: &NcclTopology) -> Vec<GpuPlace> {
    let mut hosts: Vec<&str> = Vec::new();
    let mut gpus: Vec<GpuPlace> = Vec::new();
    for (at, device) in topology.devices.iter().enumerate() {
        if device.sort() != PciSort::Gpu {
            continue;
        }
        let name = topology.cpus.get(device.cpu).map_or("", |cpu| cpu.host.as_str());
        let host = hosts.iter().position(|known| *known == name).unwrap_or_else(|| {
            hosts.push(name);
            hosts.len() - 1
        });
        // A device of class GPU is a GPU even without an entry.
        gpus.extend((0..device.gpus.len().max(1)).map(|entry| GpuPlace { device: at, entry, host }));
    }
    let by = |field: fn(&NcclGpu) -> Option<u32>| -> Option<BTreeMap<u32, GpuPlace>> {
        let keys = gpus.iter().map(|gpu| Some((field(gpu.entry(topology)?)?, *gpu)));
        let keys: BTreeMap<u32, GpuPlace> = keys.collect::<Option<_>>()?;
        (keys.len() == gpus.len()).then_some(keys)
    };
    if let Some(keys) = by(|gpu| gpu.rank).or_else(|| by(|gpu| gpu.dev)) {
        gpus = keys.into_values().collect();
    }
    gpus
}

/// Connects GPUs without links in the file over PCI Express.
fn join_islands(
    topology: &NcclTopology,
    gpus: &[GpuPlace],
    made: &mut Imported<ChassisNetwork>,
) -> Result<(), Problem> {
    let before = islands(&made.value, gpus.len());
    let apart = |islands: &[usize], host: usize| {
        let mut own = gpus.iter().zip(islands).filter(|(gpu, _)| gpu.host == host).map(|(_, island)| *island);
        own.next().is_some_and(|first| own.any(|other| other != first))
    };
    let count = gpus.iter().map(|gpu| gpu.host + 1).max().unwrap_or(0);
    let hosts: Vec<usize> = (0..count).filter(|host| apart(&before, *host)).collect();
    let first = made.value.links.len();
    pcie::join(topology, gpus, &hosts, &mut made.value);
    let joined = &made.value.links[first..];
    let rates = joined.iter().map(|link| link.gbyte_per_s);
    let (low, high) =
        rates.fold((f64::INFINITY, 0.0_f64), |(low, high), rate| (low.min(rate), high.max(rate)));
    if !joined.is_empty() {
        let range = if low < high { format!("{low} to {high}") } else { low.to_string() };
        let what = match islands_in_words(&before) {
            Some(groups) => format!("path between GPUs without links ({groups})"),
            None => "path between the GPUs".to_owned(),
        };
        let value = format!(
            "PCI Express to the CPU, {range} GB/s in each direction as in NCCL's model; the CPUs \
                 of a host count as one"
        );
        made.assume(what, value, "link_speed and link_width of the file");
    }
    let after = islands(&made.value, gpus.len());
    let lost = after.iter().position(|island| *island != after[0]);
    lost.map_or(Ok(()), |lost| {
        let (one, other) = (gpus[0].words(topology, 0), gpus[lost].words(topology, lost));
        let message = format!(
            "no links lead from {one} to {other}: these GPUs are in different hosts, which are connected through \
             their NICs"
        );
        let remedy = "use the dump of one host; the network between hosts is not in the file";
        Err(Problem::new("", message, remedy))
    })
}

/// Returns the number of the island of each GPU: the smallest index of a node that the GPU reaches over links.
fn islands(network: &ChassisNetwork, gpus: usize) -> Vec<usize> {
    let mut island: Vec<usize> = (0..network.nodes.len()).collect();
    let root = |island: &[usize], mut at: usize| {
        while island[at] != at {
            at = island[at];
        }
        at
    };
    for link in &network.links {
        let (a, b) = (root(&island, link.from as usize), root(&island, link.to as usize));
        island[a.max(b)] = a.min(b);
    }
    (0..gpus).map(|gpu| root(&island, gpu)).collect()
}

/// Lists the islands in words, such as `ranks 0 1 and ranks 2 3`, if there are few islands and some contain several
/// GPUs.
fn islands_in_words(island: &[usize]) -> Option<String> {
    let mut groups: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (rank, of) in island.iter().enumerate() {
        groups.entry(*of).or_default().push(rank.to_string());
    }
    let words: Vec<String> = groups.values().map(|group| format!("ranks {}", group.join(" "))).collect();
    (words.len() < island.len() && words.len() <= 8).then(|| words.join(", "))
}

/// Adds the links that the file lists.
fn own_links(
    topology: &NcclTopology,
    gpus: &[GpuPlace],
    options: &NetworkOptions,
    made: &mut Imported<ChassisNetwork>,
) {
    const SWITCH_CLASS: u32 = 0x06_8000;
    // Targets are given by bus id; on a divided device, the first part is used.
    let mut places: HashMap<(usize, &str), u32> = HashMap::new();
    for (number, gpu) in (0..).zip(gpus) {
        places.entry((gpu.host, topology.devices[gpu.device].bus.as_str())).or_insert(number);
    }
    let mut counts: BTreeMap<(u32, u32), (u32, f64, GpuLinkSort)> = BTreeMap::new();
    let mut elsewhere = 0;
    let mut rates: BTreeMap<String, f64> = BTreeMap::new();
    let switch = gpus.len() as u32;
    for (number, at) in (0..).zip(gpus) {
        let Some(gpu) = at.entry(topology) else { continue };
        let parts = topology.devices[at.device].gpus.len() as f64;
        for link in &gpu.links {
            let to_switch = link.target.starts_with("ffff:ff")
                || link.target.starts_with("fffffff:")
                || link.target_class == Some(SWITCH_CLASS);
            let place = || places.get(&(at.host, link.target.as_str())).copied();
            let target = if to_switch { Some(switch) } else { place() };
            let Some(target) = target.filter(|target| *target != number) else {
                elsewhere += link.count;
                continue;
            };
            let (rate, why) = rate(link.sort, Some(gpu), options);
            rates.insert(why, rate);
            let mut add = |from, to| {
                let entry = counts.entry((from, to)).or_insert((0, 0.0, link.sort));
                entry.0 += link.count;
                entry.1 += f64::from(link.count) * rate / parts;
            };
            add(number, target);
            // The file has no entries of switches, so the reverse direction is added here.
            if to_switch {
                add(target, number);
            }
        }
    }
    if counts.keys().any(|(from, to)| *from == switch || *to == switch) {
        let host = gpus.iter().all(|gpu| gpu.host == 0).then_some(0);
        made.value.nodes.push(ChassisNode {
            name: "nvswitch".to_owned(),
            switch: true,
            bus: String::new(),
            host,
        });
    }
    made.notes.extend(divided(topology, gpus));
    for ((from, to), (count, gbyte_per_s, sort)) in &counts {
        let sort = if *sort == GpuLinkSort::NvLink { ChassisLinkSort::NvLink } else { ChassisLinkSort::Xgmi };
        let link = ChassisLink { from: *from, to: *to, count: *count, gbyte_per_s: *gbyte_per_s, sort };
        made.value.links.push(link);
    }
    let one_way: Vec<String> = counts
        .iter()
        .filter(|((from, to), entry)| counts.get(&(*to, *from)).is_none_or(|back| back.0 != entry.0))
        .map(|((from, to), _)| format!("g{from} to g{to}"))
        .collect();
    if !one_way.is_empty() {
        made.note(format!(
            "links that are not listed equally at both ends, so each direction is imported as listed: {}",
            few(&one_way)
        ));
    }
    if elsewhere > 0 {
        made.note(format!("{elsewhere} links lead to no GPU of the file and were ignored"));
    }
    if options.link_gbyte_per_s.is_none() {
        for (why, rate) in rates {
            made.assume(
                format!("rate of {why}"),
                format!("{rate} GB/s in each direction"),
                "link_gbyte_per_s=",
            );
        }
    }
}

/// Adds a note on GPUs that list fewer links than most others: ports may have failed, or the file may be incomplete.
fn fewer_links(topology: &NcclTopology, gpus: &[GpuPlace], made: &mut Imported<ChassisNetwork>) {
    let listed = |gpu: &GpuPlace| {
        gpu.entry(topology).map_or(0, |entry| entry.links.iter().map(|link| link.count).sum::<u32>())
    };
    let counts: Vec<u32> = gpus.iter().map(listed).collect();
    let gpus_with = |count: u32| counts.iter().filter(|other| **other == count).count();
    let Some(usual) = counts.iter().copied().max_by_key(|count| (gpus_with(*count), *count)) else { return };
    for (number, (gpu, count)) in
        gpus.iter().zip(&counts).enumerate().filter(|(_, (_, count))| **count < usual)
    {
        let others = if gpus_with(usual) + 1 == counts.len() { "the other GPUs" } else { "most other GPUs" };
        let words = gpu.words(topology, number);
        made.note(format!("{words} lists {count} links, but {others} list {usual}"));
    }
}

/// Returns the remark on devices that are divided into several GPUs, if there are any.
fn divided(topology: &NcclTopology, gpus: &[GpuPlace]) -> Option<String> {
    let parts = gpus.iter().filter(|gpu| topology.devices[gpu.device].gpus.len() > 1);
    let (mut devices, count): (Vec<usize>, usize) =
        (parts.clone().map(|gpu| gpu.device).collect(), parts.count());
    devices.sort_unstable();
    devices.dedup();
    let halves = devices.iter().all(|at| topology.devices[*at].gpus.len() == 2);
    let word = if halves { "halves" } else { "parts" };
    (count > 0).then(|| {
        format!(
            "{count} GPUs are {word} of {} devices and share their links evenly; the import omits the links \
             between {word} of a device, which have {PART_GBYTE_PER_S} GB/s in NCCL's model",
            devices.len()
        )
    })
}

/// Rate between the parts of a device in NCCL's model, GB/s.
const PART_GBYTE_PER_S: u32 = 2618;

/// Returns the rate of one link in each direction, GB/s, and a description of the link; the description is empty if the
/// options set the rate.
fn rate(sort: GpuLinkSort, gpu: Option<&NcclGpu>, options: &NetworkOptions) -> (f64, String) {
    if let Some(rate) = options.link_gbyte_per_s {
        return (rate, String::new());
    }
    if sort == GpuLinkSort::NvLink {
        let Some(sm) = gpu.and_then(|gpu| gpu.sm) else {
            return (20.0, "an NVLink of a GPU without sm".to_owned());
        };
        let row = NVLINK_GBYTE_PER_S.iter().rev().find(|(own, _)| *own == sm || (*own < sm && *own != 86));
        let rate = row.map_or(18.0, |(_, rate)| *rate);
        return (rate, format!("an NVLink of a GPU of sm {sm}"));
    }
    let Some(name) = gpu.and_then(|gpu| gpu.gcn.as_deref()) else {
        return (24.0, "an Infinity Fabric link of a GPU without gcn".to_owned());
    };
    let short = name.trim().strip_prefix("gfx").unwrap_or(name.trim());
    let row = XGMI_GBYTE_PER_S.iter().find(|(own, _)| *own == short);
    let what = format!("an Infinity Fabric link of a GPU of gcn {}", printable(name));
    row.map_or_else(
        || (48.0, format!("{what}, which is not in RCCL's table of rates")),
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
        IntraLinks::Pcie => {}
        IntraLinks::Switch(rate) => {
            for gpu in 0..gpus {
                link(gpu, gpus, rate);
                link(gpus, gpu, rate);
            }
            let host = made.nodes.iter().all(|node| node.host == Some(0)).then_some(0);
            let name = "nvswitch".to_owned();
            made.nodes.push(ChassisNode { name, switch: true, bus: String::new(), host });
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
