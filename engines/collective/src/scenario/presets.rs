//! Built-in scenarios: published benchmark cases and regular networks, named NETWORK-COLLECTIVE-SIZE.

use super::families::{FamilySort, NetworkFamily};
use super::{CollectiveScenario, CollectiveSort, Demand, TimeRule, Topology};
use lightbay_core::listed::Preset;

/// The listed scenarios, smallest first; other combinations of network, collective and size can be named in the same
/// way.
pub const PRESETS: &[Preset] = &[
    Preset::new("dgx1-allgather-200kb", "8 GPUs in a hybrid cube mesh, AllGather of 200 KB"),
    Preset::new("dgx1-alltoall-200kb", "8 GPUs in a hybrid cube mesh, AllToAll of 200 KB"),
    Preset::new("ring8-allgather-1mb", "a ring of 8 GPUs in both directions, AllGather of 1 MB"),
    Preset::new("mesh4x4-allgather-1mb", "a grid of 16 GPUs, AllGather of 1 MB"),
    Preset::new("torus4x4-alltoall-1mb", "a torus of 16 GPUs, AllToAll of 1 MB"),
    Preset::new("ndv2x1-allreduce-64mb", "one NDv2 chassis of 8 GPUs, AllReduce of 64 MB"),
    Preset::new(
        "ndv2x2-allgather-1gb",
        "2 NDv2 chassis connected by one link in each direction, AllGather of 1 GB",
    ),
    Preset::new(
        "ndv2x2-alltoall-1gb",
        "2 NDv2 chassis connected by one link in each direction, AllToAll of 1 GB",
    ),
    Preset::new("ndv2x4-allgather-1gb", "4 NDv2 chassis at a switch, AllGather of 1 GB"),
    Preset::new("dgx2x1-allgather-1mb", "one DGX2 chassis of 16 GPUs at a switch, AllGather of 1 MB"),
    Preset::new(
        "dgx2x2-allgather-1gb",
        "2 DGX2 chassis connected by 8 links in each direction, AllGather of 1 GB",
    ),
    Preset::new(
        "dgx2x2-alltoall-1gb",
        "2 DGX2 chassis connected by 8 links in each direction, AllToAll of 1 GB",
    ),
    Preset::new("amdx1-allgather-1mb", "one AMD chassis of 16 dies, AllGather of 1 MB"),
    Preset::new("amdx2-allgather-1gb", "2 AMD chassis of 16 dies, AllGather of 1 GB"),
    Preset::new("mi250x2-allgather-1gb", "2 MI250 chassis of 16 dies at a fabric switch, AllGather of 1 GB"),
    Preset::new("a100x2-allgather-1gb", "2 boxes of 8 A100, AllGather of 1 GB"),
    Preset::new("a100x4-allgather-1gb", "4 boxes of 8 A100, AllGather of 1 GB"),
    Preset::new("torus4x4x4-allgather-6.4mb", "a torus of 64 GPUs, AllGather of 6.4 MB"),
    Preset::new("h800x64-allgather-1gb", "64 boxes of 8 H800 at 8 rails, AllGather of 1 GB"),
];

/// Families of networks, by the part of the name before the size.
const NETWORKS: [(&str, FamilySort); 11] = [
    ("ndv2x", FamilySort::Ndv2),
    ("dgx1", FamilySort::Dgx1),
    ("dgx2x", FamilySort::Dgx2),
    ("amdx", FamilySort::Amd),
    ("mi250x", FamilySort::Mi250),
    ("a100x", FamilySort::A100),
    ("h800x", FamilySort::H800),
    ("h100x", FamilySort::H100),
    ("ring", FamilySort::Ring),
    ("mesh", FamilySort::Mesh),
    ("torus", FamilySort::Torus),
];

/// Collectives, by their names in presets.
const COLLECTIVES: [(&str, CollectiveSort); 7] = [
    ("allgather", CollectiveSort::AllGather),
    ("reducescatter", CollectiveSort::ReduceScatter),
    ("allreduce", CollectiveSort::AllReduce),
    ("alltoall", CollectiveSort::AllToAll),
    ("broadcast", CollectiveSort::Broadcast),
    ("scatter", CollectiveSort::Scatter),
    ("gather", CollectiveSort::Gather),
];

/// Returns the scenario called `name`; `None` if the name is unknown.
pub fn scenario(name: &str) -> Option<CollectiveScenario> {
    let mut parts = name.split('-');
    let (network, collective, size) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let (_, collective) = COLLECTIVES.iter().find(|(word, _)| *word == collective)?;
    let (word, sort) = NETWORKS.iter().find(|(word, _)| network.starts_with(word))?;
    let size_of_network: Vec<u32> = match &network[word.len()..] {
        "" if *sort == FamilySort::Dgx1 => vec![1],
        numbers => numbers.split('x').map(|number| number.parse().ok()).collect::<Option<_>>()?,
    };
    let family = NetworkFamily { network: *sort, size: size_of_network };
    let topology = family.topology().ok()?;
    let made = of(topology, Some(family), Demand::named(*collective, bytes(size)?));
    made.validate().ok().map(|()| made)
}

/// Creates a scenario with the default epochs.
pub fn of(topology: Topology, family: Option<NetworkFamily>, demand: Demand) -> CollectiveScenario {
    CollectiveScenario {
        topology,
        demand,
        time: TimeRule::default(),
        failed_links: Vec::new(),
        buffer_limit_chunks: None,
        family,
        derived_from: None,
    }
}

/// Parses a size such as `1gb` or `6.4mb`, in powers of ten, into bytes; `None` for any other text.
pub fn bytes(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        _ => return None,
    };
    let bytes = digits.parse::<f64>().ok()? * factor;
    (bytes.is_finite() && bytes > 0.0).then_some(bytes)
}
