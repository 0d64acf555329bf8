//! Reads topologies of NCCL and RCCL.

use super::{GpuLinkSort, GpuLinks, NcclCpu, NcclGpu, NcclNet, NcclTopology, PciDevice, PciSort};
use crate::gz::{self, Limits};
use crate::imported::Imported;
use crate::xml::{self, Attributes};
use lightbay_core::problem::{Problem, Problems, printable};
use roxmltree::Node;
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

/// Maximum size of a file, bytes: dumps of the largest machines have some hundred kilobytes.
const MOST_BYTES: u64 = 16 << 20;
/// Rate of a NIC for which the file gives no rate, Mb/s.
const UNKNOWN_MBPS: u64 = 10_000;
/// Maximum number of devices.
const MOST_DEVICES: usize = 100_000;

/// Reads a topology, compressed or not.
///
/// # Errors
/// Every problem of the file, with its line, or the actual format of the file.
pub fn read(reader: impl BufRead, limits: &Limits) -> Result<Imported<NcclTopology>, Problems> {
    let text = gz::text(reader, limits, MOST_BYTES)?;
    let document = xml::parse(&text)?;
    let root = document.root_element();
    let (what, remedy) = match root.tag_name().name() {
        "system" => ("", ""),
        "graphs" => {
            ("an NCCL channel dump", "run the job with NCCL_TOPO_DUMP_FILE, not NCCL_GRAPH_DUMP_FILE")
        }
        "topology" | "object" => (
            "a topology of hwloc",
            "run an NCCL program on the machine with NCCL_TOPO_DUMP_FILE=topo.xml and use that file",
        ),
        "algo" => ("an MSCCL schedule", "use an NCCL topology, which begins with <system>"),
        _ => ("XML of an unknown kind", "use an NCCL topology, which begins with <system>"),
    };
    if !what.is_empty() {
        return Err(Problem::new(xml::place(root), format!("this is {what}"), remedy).into());
    }
    let mut reading = Reading::default();
    let version = Attributes::of(root).number_or("version", 1, 0, 1000, &mut reading.problems);
    reading.found.version = version.unwrap_or(1);
    for node in root.children().filter(Node::is_element) {
        reading.cpu(node);
    }
    reading.refuse_equal_ids();
    reading.refuse_second_gpus();
    let mut imported = Imported::new(reading.found);
    for (name, count) in reading.unknown {
        imported.note(format!("{count} elements <{name}> were ignored"));
    }
    reading.problems.into_result(imported)
}

#[derive(Default)]
struct Reading {
    found: NcclTopology,
    problems: Problems,
    /// Position of every device in the file.
    places: Vec<String>,
    unknown: BTreeMap<String, usize>,
}

impl Reading {
    fn left_aside(&mut self, node: Node<'_, '_>) {
        *self.unknown.entry(printable(node.tag_name().name())).or_default() += 1;
    }

    fn cpu(&mut self, node: Node<'_, '_>) {
        if !node.has_tag_name("cpu") {
            self.left_aside(node);
            return;
        }
        let attributes = Attributes::of(node);
        let numa = attributes.number_or("numaid", -1, -1, i32::MAX, &mut self.problems);
        let text = |name| attributes.optional(name).unwrap_or_default().to_owned();
        let cpu = NcclCpu {
            host: text("host_hash"),
            numa: numa.unwrap_or(-1),
            arch: text("arch"),
            vendor: text("vendor"),
            nets: Vec::new(),
        };
        self.found.cpus.push(cpu);
        // The parser limits the depth of the tree.
        let mut open: Vec<(Node<'_, '_>, Option<usize>)> = children(node, None);
        while let Some((node, parent)) = open.pop() {
            match node.tag_name().name() {
                "pci" => {
                    if let Some(at) = self.device(node, parent) {
                        open.extend(children(node, Some(at)));
                    }
                }
                "nic" => open.extend(children(node, parent)),
                "gpu" => {
                    let gpu = self.gpu(node);
                    if parent.is_none() {
                        let remedy = "put the <gpu> into the <pci> of its device";
                        self.problems.add(xml::place(node), "has <gpu> outside a <pci>", remedy);
                    }
                    if let Some(device) = parent.and_then(|at| self.found.devices.get_mut(at)) {
                        device.gpus.push(gpu);
                    }
                }
                "net" => {
                    let Some(net) = self.net(node) else { continue };
                    // A socket interface is attached to the CPU directly.
                    match parent {
                        Some(at) => self.found.devices[at].nets.push(net),
                        None => {
                            if let Some(cpu) = self.found.cpus.last_mut() {
                                cpu.nets.push(net);
                            }
                        }
                    }
                }
                _ => self.left_aside(node),
            }
        }
    }

    /// Refuses devices of one host with equal ids. Equal ids of bridges are harmless, because bridges are only paths to
    /// the CPU.
    fn refuse_equal_ids(&mut self) {
        let mut known: HashMap<(&str, &str), usize> = HashMap::new();
        for (at, device) in self.found.devices.iter().enumerate() {
            let host = self.found.cpus.get(device.cpu).map_or("", |cpu| cpu.host.as_str());
            let before = *known.entry((host, &device.bus)).or_insert(at);
            let bridges = [before, at].iter().all(|at| self.found.devices[*at].sort() == PciSort::Bridge);
            if before != at && !bridges {
                let message = format!(
                    "busid of <pci> is '{}', which also occurs at {}",
                    printable(&device.bus),
                    self.places[before]
                );
                let remedy = "give the devices of a host different busids; devices of other hosts must have another \
                     host_hash";
                self.problems.add(self.places[at].clone(), message, remedy);
            }
        }
    }

    /// Refuses a device with several GPUs, unless each of these GPUs is a different numbered part of the device.
    fn refuse_second_gpus(&mut self) {
        for (device, place) in self.found.devices.iter().zip(&self.places) {
            let mut parts: Vec<Option<u32>> = device.gpus.iter().map(|gpu| gpu.part).collect();
            parts.sort_unstable();
            if parts.len() > 1 && (parts[0].is_none() || parts.windows(2).any(|pair| pair[0] == pair[1])) {
                let message = "has a second <gpu> of one device";
                let remedy = "omit one <gpu>, or number the parts of a device differently in mlopart";
                self.problems.add(place.clone(), message, remedy);
            }
        }
    }

    fn device(&mut self, node: Node<'_, '_>, parent: Option<usize>) -> Option<usize> {
        let attributes = Attributes::of(node);
        let bus = attributes.text("busid", &mut self.problems)?.to_ascii_lowercase();
        if self.found.devices.len() >= MOST_DEVICES {
            let message = format!("exceeds the maximum of {MOST_DEVICES} devices");
            self.problems.add(xml::place(node), message, "no machine has this number of devices");
            return None;
        }
        let class = self.class(&attributes, "class");
        let lanes =
            attributes.number_or("link_width", 0, 0, 64, &mut self.problems).filter(|lanes| *lanes > 0);
        let lane_gt_per_s = self.rate(&attributes);
        let cpu = self.found.cpus.len().saturating_sub(1);
        let device = PciDevice { bus, cpu, parent, class, lane_gt_per_s, lanes, ..PciDevice::default() };
        self.found.devices.push(device);
        self.places.push(xml::place(node));
        Some(self.found.devices.len() - 1)
    }

    fn class(&mut self, attributes: &Attributes<'_, '_>, name: &str) -> Option<u32> {
        let text = attributes.optional(name)?;
        let digits = text.trim().strip_prefix("0x").unwrap_or(text.trim());
        let class = u32::from_str_radix(digits, 16).ok().filter(|class| *class <= 0xff_ffff);
        if class.is_none() {
            let message = format!("is '{}'", printable(text));
            attributes.problem(name, message, "use a class such as 0x030200", &mut self.problems);
        }
        class
    }

    /// Reads the transfer rate of a lane: `16 GT/s`, `16.0 GT/s PCIe`, empty or `Unknown speed`.
    fn rate(&mut self, attributes: &Attributes<'_, '_>) -> Option<f64> {
        let text = attributes.optional("link_speed")?.trim();
        if text.is_empty() || text.to_ascii_lowercase().starts_with("unknown") {
            return None;
        }
        let mut words = text.split_whitespace();
        let rate = words.next().and_then(|word| word.parse::<f64>().ok());
        let rate = rate.filter(|rate| (0.1..=1024.0).contains(rate) && words.next() == Some("GT/s"));
        if rate.is_none() {
            let message = format!("is '{}'", printable(text));
            attributes.problem(
                "link_speed",
                message,
                "use a rate such as '16.0 GT/s PCIe'",
                &mut self.problems,
            );
        }
        rate
    }

    fn gpu(&mut self, node: Node<'_, '_>) -> NcclGpu {
        let attributes = Attributes::of(node);
        let mut number = |name: &str, high: u32| match attributes.optional(name) {
            None => None,
            // An unused GPU has rank -1, and an undivided GPU has part -1.
            Some(text) if ["rank", "mlopart"].contains(&name) && text.trim() == "-1" => None,
            Some(_) => attributes.number(name, 0, high, &mut self.problems),
        };
        let (dev, sm, rank) = (number("dev", 1 << 20), number("sm", 10_000), number("rank", 1 << 24));
        let part = number("mlopart", 1 << 10);
        let gcn = attributes.optional("gcn").map(str::to_owned);
        let mut links = Vec::new();
        for child in node.children().filter(Node::is_element) {
            let sort = match child.tag_name().name() {
                "nvlink" => GpuLinkSort::NvLink,
                "xgmi" => GpuLinkSort::Xgmi,
                _ => {
                    self.left_aside(child);
                    continue;
                }
            };
            let attributes = Attributes::of(child);
            let target = attributes.text("target", &mut self.problems).map(str::to_ascii_lowercase);
            let count = attributes.number("count", 1, 1024, &mut self.problems);
            let target_class = self.class(&attributes, "tclass");
            if let Some((target, count)) = target.zip(count) {
                links.push(GpuLinks { sort, target, count, target_class });
            }
        }
        NcclGpu { dev, sm, gcn, rank, part, links }
    }

    fn net(&mut self, node: Node<'_, '_>) -> Option<NcclNet> {
        let attributes = Attributes::of(node);
        let problems = &mut self.problems;
        let dev = attributes.number_or("dev", 0, 0, 1 << 20, problems);
        let speed = attributes.number("speed", i64::from(i32::MIN), 100_000_000, problems);
        let port = attributes.number_or("port", 0, 0, 1 << 20, problems);
        let latency = attributes.number_or("latency", 0.0, 0.0, 1e9, problems);
        let direct = attributes.flag("gdr", Some(false), problems);
        Some(NcclNet {
            name: attributes.optional("name").unwrap_or_default().to_owned(),
            dev: dev?,
            // NCCL uses this rate if the interface does not know its speed.
            speed_mbps: speed.map(|speed| if speed > 0 { speed.unsigned_abs() } else { UNKNOWN_MBPS })?,
            port: port?,
            latency_us: latency?,
            gpu_direct: direct?,
        })
    }
}

/// Returns the elements inside `node` in reverse order, so that they can be popped from the end in order.
fn children<'a, 'd>(node: Node<'a, 'd>, owner: Option<usize>) -> Vec<(Node<'a, 'd>, Option<usize>)> {
    let mut found: Vec<_> = node.children().filter(Node::is_element).map(|child| (child, owner)).collect();
    found.reverse();
    found
}
