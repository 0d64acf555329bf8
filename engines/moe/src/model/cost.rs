//! Cost of the parts of a network. Only ports in use count.

use crate::plan::{CostPlan, FabricKind};
use crate::scenario::{MoeScenario, PriceList, PriceRow};

/// Parts of the cost of a network, in the order of [`server_parts`].
pub const PARTS: [&str; 2] = ["NICs, transceivers and cables", "switch ports"];

/// Cost of NICs with their transceivers and cables, and of switch ports, $.
type PartsUsd = [f64; PARTS.len()];

/// Returns the cost of a NIC that is connected to three tiers of packet switches: six transceivers, three fibres and
/// five ports; with copper cables, one cable takes the place of the first fibre and of the two transceivers at its
/// ends.
fn packet_switched(row: &PriceRow, prices: &PriceList) -> PartsUsd {
    let ports = 5.0 * row.eps_port_usd;
    let cables = if prices.copper_links {
        4.0 * row.transceiver_usd + 2.0 * prices.fibre_usd + prices.copper_cable_usd
    } else {
        6.0 * row.transceiver_usd + 3.0 * prices.fibre_usd
    };
    [row.nic_usd + cables, ports]
}

/// Returns the cost of a NIC that is connected to an optical port.
const fn optical(row: &PriceRow, prices: &PriceList, port: f64) -> PartsUsd {
    [row.nic_usd + row.transceiver_usd + prices.fibre_usd, port]
}

/// Returns the cost of the parts of one server; `None` if the rate has no prices. `pooled` is a bound and not a
/// network; its cost is the cost of the regional network.
pub fn server_parts(scenario: &MoeScenario, fabric: FabricKind) -> Option<PartsUsd> {
    let (region, prices) = (&scenario.region, &scenario.prices);
    let row = prices.of_rate(region.link_gbps)?;
    let nics = f64::from(region.nics_per_server);
    let packets = packet_switched(row, prices);
    Some(match fabric {
        FabricKind::FatTree | FabricKind::Rail => packets.map(|part| nics * part),
        FabricKind::Topoopt => optical(row, prices, 2.0 * row.patch_port_usd).map(|part| nics * part),
        FabricKind::Mfabric | FabricKind::Pooled => {
            let circuits = optical(row, prices, row.ocs_port_usd);
            let counts = [region.eps_nics.len() as f64, region.ocs_nics.len() as f64];
            std::array::from_fn(|at| counts[0] * packets[at] + counts[1] * circuits[at])
        }
    })
}

/// Returns the cost of one server, $; `None` if the rate has no prices.
pub fn server_usd(scenario: &MoeScenario, fabric: FabricKind) -> Option<f64> {
    Some(server_parts(scenario, fabric)?.iter().sum())
}

/// Returns cost and performance per dollar of a network on which an iteration takes `iteration_ms`; `None` if the rate
/// has no prices.
pub fn cost(
    scenario: &MoeScenario,
    fabric: FabricKind,
    iteration_ms: f64,
    fat_tree_ms: f64,
) -> Option<CostPlan> {
    let servers = f64::from(scenario.cluster.servers);
    let server = server_usd(scenario, fabric)?;
    let fat_tree = server_usd(scenario, FabricKind::FatTree)? * servers;
    let cluster = server * servers;
    // If the network costs nothing, the performance per dollar is undefined, so the ratio uses the times alone.
    let by_cost = if cluster > 0.0 { fat_tree / cluster } else { 1.0 };
    Some(CostPlan {
        server_usd: server,
        cluster_usd: cluster,
        fat_tree_usd: fat_tree,
        fat_tree_ms,
        performance_per_dollar: fat_tree_ms / iteration_ms * by_cost,
    })
}
