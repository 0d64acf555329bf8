//! Topologies that NCCL and RCCL take, as their vendors publish them, and tables of the tuner plug-in.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation should fail the test")]

use lightbay_formats::nccl::tuner::{self, TunerRow};
use lightbay_formats::nccl::{
    ChassisNetwork, GpuLinkSort, GpuLinks, IntraLinks, NcclCpu, NcclGpu, NcclNet, NcclTopology,
    NetworkOptions, PciDevice, PciDistance, PciSort, network, read, write,
};
use lightbay_formats::{Imported, Limits};
use proptest::prelude::*;

macro_rules! resource {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/resources/inputs/collectives/", $name)).as_slice()
    };
}

fn topology(bytes: &[u8]) -> NcclTopology {
    read(bytes, &Limits::default()).unwrap().value
}

fn wrong(text: &str) -> String {
    read(text.as_bytes(), &Limits::default()).unwrap_err().to_string()
}

fn made(bytes: &[u8], intra: Option<IntraLinks>) -> Imported<ChassisNetwork> {
    network(&topology(bytes), &NetworkOptions { intra, ..NetworkOptions::default() }).unwrap()
}

fn count(topology: &NcclTopology, sort: PciSort) -> usize {
    topology.devices.iter().filter(|device| device.sort() == sort).count()
}

#[test]
fn eight_mi100_with_their_links() {
    let found = topology(resource!("rccl_topo_8p6l.xml"));
    assert_eq!((found.version, found.cpus.len(), count(&found, PciSort::Gpu)), (2, 2, 8));
    let made = made(resource!("rccl_topo_8p6l.xml"), None);
    let net = &made.value;
    assert_eq!((net.nodes.len(), net.links.len(), net.ports.len()), (8, 48, 1));
    assert!(net.links.iter().all(|link| link.count == 1 && link.gbyte_per_s == 24.0));
    assert_eq!(net.ports[0].gbyte_per_s, Some(25.0));
    // One direction of PCIe 4.0 with 16 lanes.
    let narrowest = net.ports[0].paths.iter().map(|path| path.gbyte_per_s).fold(f64::INFINITY, f64::min);
    assert!((narrowest - 16.0 * 16.0 / 8.0 * 128.0 / 130.0).abs() < 1e-9, "{narrowest}");
    assert_eq!(made.assumed.len(), 1);
    assert_eq!(made.assumed[0].what, "rate of an Infinity Fabric link of a GPU of gcn 908");
    assert!(made.notes.is_empty(), "{:?}", made.notes);
    // No link may be given beside those of the file.
    let options = NetworkOptions { intra: Some(IntraLinks::Pcie), ..NetworkOptions::default() };
    assert_eq!(network(&found, &options).unwrap_err().path, "intra");
    let options = NetworkOptions { link_gbyte_per_s: Some(30.0), ..NetworkOptions::default() };
    let faster = network(&found, &options).unwrap();
    assert!(faster.value.links.iter().all(|link| link.gbyte_per_s == 30.0) && faster.assumed.is_empty());
}

#[test]
fn links_that_stand_for_several_add_up() {
    let made = made(resource!("rccl_topo_8p1h_n1.xml"), None);
    assert_eq!((made.value.nodes.len(), made.value.links.len(), made.value.ports.len()), (8, 24, 4));
    let first = made.value.links.iter().find(|link| link.count == 4).unwrap();
    assert_eq!(first.gbyte_per_s, 144.0);
    let distances: Vec<PciDistance> = made.value.ports[0].paths.iter().map(|path| path.distance).collect();
    assert!(
        distances.contains(&PciDistance::Bridge) && distances.contains(&PciDistance::Machine),
        "{distances:?}"
    );
}

#[test]
fn files_of_clouds_list_no_links_between_gpus() {
    for (bytes, cpus, devices, gpus, nics, nets) in [
        (resource!("azure_ndv2-topo.xml"), 2, 9, 8, 1, 0),
        (resource!("azure_ndv4-topo.xml"), 4, 20, 8, 8, 0),
        (resource!("aws_p4d-24xl-topo.xml"), 2, 16, 8, 4, 0),
        (resource!("aws_p5.48xl-topo.xml"), 1, 48, 8, 32, 32),
    ] {
        let found = topology(bytes);
        let sorts = (count(&found, PciSort::Gpu), count(&found, PciSort::Nic));
        assert_eq!((found.cpus.len(), found.devices.len(), sorts), (cpus, devices, (gpus, nics)));
        assert_eq!(found.devices.iter().map(|device| device.nets.len()).sum::<usize>(), nets);
        let problem = network(&found, &NetworkOptions::default()).unwrap_err();
        assert!(problem.remedy.contains("intra=nvswitch:300"), "{problem}");
        let switched = made(bytes, Some(IntraLinks::Switch(300.0)));
        assert_eq!((switched.value.nodes.len(), switched.value.links.len()), (9, 16));
        assert!(switched.value.nodes[8].switch);
        assert_eq!(made(bytes, Some(IntraLinks::Mesh(50.0))).value.links.len(), 56);
        let over_pcie = made(bytes, Some(IntraLinks::Pcie)).value.links;
        assert!(
            over_pcie.len() >= 16 && over_pcie.iter().all(|link| link.gbyte_per_s <= 48.0),
            "{over_pcie:?}"
        );
        assert_eq!(switched.value.ports.len(), nics);
        assert_eq!(switched.notes.len(), usize::from(nets == 0), "{:?}", switched.notes);
    }
    let ports = made(resource!("aws_p5.48xl-topo.xml"), Some(IntraLinks::Pcie)).value.ports;
    assert_eq!(ports[0].gbyte_per_s, Some(12.5));
    // Eight lanes of PCIe 4.0 above the card are the narrowest link.
    assert!((ports[0].paths[0].gbyte_per_s - 16.0 * 128.0 / 130.0).abs() < 1e-9);
    assert_eq!(ports[0].paths[0].distance, PciDistance::Bridge);
}

#[test]
fn switches_take_all_links() {
    let gpu = |bus: &str, dev: u32, links: &str| {
        format!(
            "<pci busid=\"{bus}\" class=\"0x030200\" link_speed=\"Unknown speed\" link_width=\"\"><gpu dev=\"{dev}\" sm=\"90\">{links}</gpu></pci>"
        )
    };
    let switch = "<nvlink target=\"FFFF:FF:FF.0\" count=\"18\" tclass=\"0x068000\"/>";
    let text = format!("<system><cpu>{}{}</cpu></system>", gpu("0:1", 1, switch), gpu("0:0", 0, switch));
    // An empty width is no number.
    assert!(wrong(&text).contains("link_width of <pci> is ''"));
    let text = text.replace("link_width=\"\"", "link_width=\"0\"");
    let made = made(text.as_bytes(), None);
    assert_eq!(made.value.nodes[0].bus, "0:0");
    assert_eq!(made.value.links.len(), 4);
    assert!(made.value.links.iter().all(|link| (link.gbyte_per_s - 370.8).abs() < 1e-9));
    assert!(made.assumed.iter().any(|assumed| assumed.what == "PCI link of 2 devices"));
    let gone = text.replace("FFFF:FF:FF.0\" count=\"18\" tclass=\"0x068000\"", "9:9\" count=\"2\"");
    let lost = network_of(&gone);
    assert!(lost.notes[0].contains("4 links lead to no GPU"), "{:?}", lost.notes);
    // A GPU whose other ports are gone.
    let lame = switch.replace("18", "2");
    let three = gpu("0:0", 0, switch) + &gpu("0:1", 1, &lame) + &gpu("0:2", 2, switch);
    let three = format!("<system><cpu>{three}</cpu></system>").replace("link_width=\"\"", "link_width=\"0\"");
    let told = network_of(&three).notes;
    assert!(told.contains(&"rank 1 (0:1) lists 2 links, but the other GPUs list 18".to_owned()), "{told:?}");
}

/// Rates of the links that enter a GPU, and the number of switches and links.
fn shape(net: &ChassisNetwork, gpu: u32) -> (f64, usize, usize) {
    let rate = net.links.iter().filter(|link| link.to == gpu).map(|link| link.gbyte_per_s).sum();
    (rate, net.nodes.iter().filter(|node| node.switch).count(), net.links.len())
}

#[test]
fn hosts_of_one_nvlink_domain_meet_in_its_switch() {
    let text = std::str::from_utf8(resource!("hosts.xml")).unwrap();
    let made = network_of(text);
    for (gpu, rate) in [(0, 721.8), (1, 721.8), (2, 360.9), (3, 721.8), (4, 721.8), (5, 721.8)] {
        let (found, switches, links) = shape(&made.value, gpu);
        assert!((found - rate).abs() < 1e-9 && (switches, links) == (1, 12), "{gpu}: {found}");
    }
    let hosts: Vec<Option<usize>> = made.value.nodes.iter().map(|node| node.host).collect();
    assert_eq!(hosts, [Some(0), Some(0), Some(1), Some(1), Some(2), Some(2), None]);
    let told = "rank 2 (host 0x3a52, 0004:01:00.0) lists 9 links, but the other GPUs list 18";
    assert!(made.notes.iter().any(|note| note == told), "{:?}", made.notes);
    // The same id twice on one host is a mistake of the file.
    let told = wrong(&text.replace("0x3a52", "0x3a51"));
    for part in
        ["line 7: busid of <pci> is '0004:01:00.0', which also occurs at line 3", "line 8", "host_hash"]
    {
        assert!(told.contains(part), "{part} is missing in {told}");
    }
}

#[test]
fn socket_interfaces_hang_at_the_cpu() {
    let made = network_of(std::str::from_utf8(resource!("socket-nics.xml")).unwrap());
    for gpu in 0..4 {
        let (rate, switches, links) = shape(&made.value, gpu);
        assert!((rate - 370.8).abs() < 1e-9 && (switches, links) == (1, 8), "{rate}");
    }
    // Two of 10 Gb/s, and one that does not know its rate, for which NCCL takes the same.
    let rates: Vec<Option<f64>> = made.value.ports.iter().map(|port| port.gbyte_per_s).collect();
    assert_eq!(rates, [Some(1.25); 3]);
    assert_eq!(made.value.ports[2].name, "tun0");
    assert_eq!(made.value.ports[2].paths[0].distance, PciDistance::Machine);
    assert_eq!(made.value.ports[2].paths[2].distance, PciDistance::Cpu);
}

#[test]
fn parts_of_a_device_share_its_links() {
    let text = std::str::from_utf8(resource!("halves.xml")).unwrap();
    let made = network_of(text);
    for gpu in 0..4 {
        let (rate, switches, links) = shape(&made.value, gpu);
        assert!((rate - 360.9).abs() < 1e-9 && (switches, links) == (1, 8), "{rate}");
    }
    assert!(
        made.notes.iter().any(|note| note.starts_with("4 GPUs are halves of 2 devices")),
        "{:?}",
        made.notes
    );
    assert!(
        made.notes.iter().any(|note| note.contains("which have 2618 GB/s in NCCL's model")),
        "{:?}",
        made.notes
    );
    for twice in [
        text.replace(" mlopart=\"0\"", "").replace(" mlopart=\"1\"", ""),
        text.replace("mlopart=\"1\"", "mlopart=\"0\""),
    ] {
        let told = wrong(&twice);
        assert!(
            told.contains("line 3: has a second <gpu> of one device") && told.contains("line 7"),
            "{told}"
        );
    }
    // A given rate is that of a link of the whole device, too.
    let options = NetworkOptions { link_gbyte_per_s: Some(50.0), ..NetworkOptions::default() };
    let given = network(&topology(text.as_bytes()), &options).unwrap();
    assert_eq!(shape(&given.value, 3).0, 450.0);
}

#[test]
fn bridges_of_two_cpus_may_have_equal_ids() {
    let made = network_of(std::str::from_utf8(resource!("same-bridges.xml")).unwrap());
    assert_eq!(shape(&made.value, 0), (24.0, 0, 2));
}

#[test]
fn islands_meet_over_pci_express() {
    let text = std::str::from_utf8(resource!("islands.xml")).unwrap();
    let made = network_of(text);
    // 12 x 20.6 from the other of the pair, 16 lanes x 120 / 80 from the CPU.
    let (rate, switches, links) = shape(&made.value, 0);
    assert!((rate - 247.2 - 24.0).abs() < 1e-9 && (switches, links) == (1, 4 + 8), "{rate}");
    let way = made.assumed.iter().find(|assumed| assumed.what.starts_with("path between")).unwrap();
    assert_eq!(way.what, "path between GPUs without links (ranks 0 1, ranks 2 3)");
    assert!(way.value.contains("24 GB/s in each direction"), "{}", way.value);
    // GPUs below one bridge share its link to the CPU.
    let bridge = |text: &str| {
        text.replace("    <pci busid=\"0000:1b", "    <pci busid=\"0000:01:00.0\" class=\"0x060400\" link_speed=\"8.0 GT/s PCIe\" link_width=\"16\"><pci busid=\"0000:1b")
    };
    let text = bridge(text).replacen(
        "</gpu></pci>\n    <pci busid=\"0000:3d",
        "</gpu></pci></pci>\n    <pci busid=\"0000:3d",
        1,
    );
    let made = network_of(&text);
    let upward: Vec<f64> = made
        .value
        .links
        .iter()
        .filter(|link| link.to == 5 && link.from == 4)
        .map(|link| link.gbyte_per_s)
        .collect();
    assert_eq!((upward, shape(&made.value, 0).1), (vec![12.0], 2));
    // Hosts that nothing joins are named with their GPUs.
    let apart = text.replace("<system version=\"1\">", "<system version=\"1\"><cpu host_hash=\"0x9\" numaid=\"0\"><pci busid=\"0000:77:00.0\" class=\"0x030200\"><gpu dev=\"9\" sm=\"90\" rank=\"9\"/></pci></cpu>");
    let told = network(&topology(apart.as_bytes()), &NetworkOptions::default()).unwrap_err().to_string();
    assert!(
        told.contains("no links lead from rank 0 (0000:1b:00.0) to rank 4 (host 0x9, 0000:77:00.0)"),
        "{told}"
    );
}

#[test]
fn machines_without_links_have_pci_express() {
    let bytes = resource!("pcie-only.xml");
    let problem = network(&topology(bytes), &NetworkOptions::default()).unwrap_err();
    assert!(problem.remedy.contains("intra=pcie"), "{problem}");
    let net = made(bytes, Some(IntraLinks::Pcie)).value;
    assert_eq!(shape(&net, 0), (24.0, 1, 8));
    assert_eq!(shape(&made(bytes, Some(IntraLinks::Mesh(24.0))).value, 0), (72.0, 0, 12));
    assert_eq!(shape(&made(bytes, Some(IntraLinks::Switch(24.0))).value, 0), (24.0, 1, 8));
}

fn network_of(text: &str) -> Imported<ChassisNetwork> {
    network(&topology(text.as_bytes()), &NetworkOptions::default()).unwrap()
}

#[test]
fn what_is_no_topology_or_a_bad_one_is_named() {
    assert!(wrong("<graphs version=\"1\"/>").contains("NCCL_TOPO_DUMP_FILE"));
    assert!(wrong("<topology version=\"2.0\"><object type=\"Machine\"/></topology>").contains("hwloc"));
    let hwloc = "<?xml version=\"1.0\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology version=\"2.0\"/>";
    assert!(wrong(hwloc).contains("document type"));
    let text = "<system version=\"1\">\n<cpu numaid=\"x\">\n<pci busid=\"a\" class=\"0xzz\" link_speed=\"NaN GT/s\">\n\
        <gpu dev=\"-4\"><nvlink target=\"b\" count=\"0\"/></gpu>\n<nic><net speed=\"inf\" latency=\"NaN\"/></nic></pci>\n\
        <pci busid=\"A\"/>\n<pci/><gpu/></cpu></system>";
    let told = wrong(text);
    for part in [
        "line 2: numaid of <cpu> is 'x'",
        "line 3: class of <pci> is '0xzz'",
        "line 3: link_speed of <pci> is 'NaN GT/s'",
        "line 4: dev of <gpu> is '-4'",
        "line 4: count of <nvlink> is '0'",
        "line 5: speed of <net> is 'inf'",
        "line 5: latency of <net> is 'NaN'",
        "line 6: busid of <pci> is 'a', which also occurs at line 3",
        "line 7: busid of <pci> is missing",
        "line 7: has <gpu> outside a <pci>",
    ] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
    let deep =
        format!("<system><cpu>{}{}</cpu></system>", "<pci busid=\"0\">".repeat(99), "</pci>".repeat(99));
    assert!(wrong(&deep).contains("nested more than"));
    let flood = std::io::Read::take(std::io::repeat(b' '), 100 << 20);
    let told = read(std::io::BufReader::new(flood), &Limits::default()).unwrap_err().to_string();
    assert!(told.contains("cannot be read"), "{told}");
    let none = topology(b"<system version=\"1\"><cpu/></system>");
    assert!(network(&none, &NetworkOptions::default()).unwrap_err().message.contains("no <gpu>"));
    let nan = NetworkOptions { link_gbyte_per_s: Some(f64::NAN), ..NetworkOptions::default() };
    assert_eq!(network(&none, &nan).unwrap_err().path, "link_gbyte_per_s");
}

fn row(collective: &str, min_bytes: u64, max_bytes: u64) -> TunerRow {
    TunerRow {
        collective: collective.to_owned(),
        min_bytes,
        max_bytes,
        algorithm: "ring".to_owned(),
        protocol: "ll128".to_owned(),
        channels: 8,
        nodes: None,
        ranks: Some(16),
    }
}

#[test]
fn a_tuner_table_has_touching_ranges_of_known_words() {
    let rows =
        [row("allgather", 0, 65535), row("allreduce", 0, u64::MAX), row("allgather", 65536, 4_294_967_295)];
    let text = tuner::write(&rows).unwrap();
    assert!(text.starts_with("allgather,0,65535,ring,ll128,8,-1,16\n"));
    assert_eq!(tuner::read(&text).unwrap(), rows);
    let bad = [
        TunerRow { algorithm: "Ring".into(), ..row("alltoall", 9, 3) },
        row("reduce", 0, 10),
        row("reduce", 12, 99),
    ];
    let told = tuner::write(&bad).unwrap_err().to_string();
    for part in [
        "rows[0].collective: is 'alltoall'",
        "rows[0].algorithm: is 'Ring'",
        "rows[0].min_bytes: is 9, above max_bytes 3",
        "rows[1].max_bytes: is 10, but the next range of reduce begins at 12",
        "rows[2].max_bytes: is 99 in the last range of reduce; use at least 4294967295",
    ] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
    let told = tuner::read("collective,min_bytes\nallreduce,0,NaN,ring,simple,1,-1,-1\n# fine\nallreduce,0,1,ring,simple,1,-1,-1,-1,x").unwrap_err();
    let paths: Vec<&str> = told.list().iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["line 1", "line 2", "line 4"]);
}

fn any_device() -> impl Strategy<Value = (PciDevice, bool)> {
    let link = (any::<bool>(), "[0-9a-f]{1,4}", 1..9_u32, proptest::option::of(0..0x00ff_ffff_u32)).prop_map(
        |(nvlink, target, count, target_class)| {
            let sort = if nvlink { GpuLinkSort::NvLink } else { GpuLinkSort::Xgmi };
            GpuLinks { sort, target, count, target_class }
        },
    );
    let some = || proptest::option::of(0..99_u32);
    let gpu = (
        some(),
        some(),
        some(),
        proptest::option::of("[0-9a-z]{1,5}"),
        proptest::collection::vec(link, 0..3),
    )
        .prop_map(|(dev, sm, rank, gcn, links)| NcclGpu { dev, sm, gcn, rank, part: None, links });
    let net = ("[a-z<&\"]{0,5}", 0..9_u32, 1..400_000_u64, 0..3_u32, 0..1000_u32, any::<bool>()).prop_map(
        |(name, dev, speed_mbps, port, latency, gpu_direct)| NcclNet {
            name,
            dev,
            speed_mbps,
            port,
            latency_us: f64::from(latency) / 8.0,
            gpu_direct,
        },
    );
    let rate = proptest::option::of(prop::sample::select(vec![2.5, 8.0, 16.0, 32.0]));
    let class = proptest::option::of(0..0x00ff_ffff_u32);
    let lanes = proptest::option::of(1..=16_u32);
    let parts = (proptest::option::of(gpu), proptest::collection::vec(net, 0..3));
    (class, rate, lanes, parts, any::<bool>()).prop_map(
        |(class, lane_gt_per_s, lanes, (gpu, nets), inside)| {
            let gpus = gpu.into_iter().collect();
            (PciDevice { class, lane_gt_per_s, lanes, gpus, nets, ..PciDevice::default() }, inside)
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_reads_back(devices in proptest::collection::vec(any_device(), 0..12), cpus in 1..3_usize) {
        let cpu = |at: usize| NcclCpu {
            host: "0x\"7".into(),
            numa: at as i32,
            arch: "x<86".into(),
            vendor: "\"V\"".into(),
            nets: Vec::new(),
        };
        let mut found = NcclTopology { version: 2, cpus: (0..cpus).map(cpu).collect(), devices: Vec::new() };
        let many = devices.len();
        for (at, (mut device, inside)) in devices.into_iter().enumerate() {
            device.bus = format!("{at:x}");
            device.cpu = at * cpus / many;
            let above = found.devices.last().map(|last| last.cpu);
            device.parent = (inside && above == Some(device.cpu)).then(|| at - 1);
            found.devices.push(device);
        }
        prop_assert_eq!(topology(write(&found).as_bytes()), found.clone());
        let options = NetworkOptions::default();
        if let Ok(made) = network(&found, &options) {
            prop_assert!(made.value.links.iter().all(|link| link.gbyte_per_s > 0.0));
        }
    }
}
