//! Cost of the parts of a network. Only ports in use count.

use crate::plan::{CostPlan, FabricKind};
use crate::scenario::{MoeScenario, PriceList, PriceRow};

/// Returns the cost of a NIC that is connected to three tiers of packet switches, $: six transceivers, three fibres and
/// five ports; with copper cables, one cable takes the place of the first fibre and of the two transceivers at its
/// ends.
fn packet_switched(row: &PriceRow, prices: &PriceList) -> f64 {
    let ports = 5.0 * row.eps_port_usd;
    if prices.copper_links {
        row.nic_usd + 4.0 * row.transceiver_usd + 2.0 * prices.fibre_usd + ports + prices.copper_cable_usd
    } else {
        row.nic_usd + 6.0 * row.transceiver_usd + 3.0 * prices.fibre_usd + ports
    }
}

/// Returns the cost of a NIC that is connected to an optical port, $.
fn optical(row: &PriceRow, prices: &PriceList, port: f64) -> f64 {
    row.nic_usd + row.transceiver_usd + prices.fibre_usd + port
}

/// Returns the cost of the parts of one server, $; `None` if the rate has no prices. `pooled` is a bound and not a
/// network; its cost is the cost of the regional network.
pub fn server_usd(scenario: &MoeScenario, fabric: FabricKind) -> Option<f64> {
    let (region, prices) = (&scenario.region, &scenario.prices);
    let row = prices.of_rate(region.link_gbps)?;
    let nics = f64::from(region.nics_per_server);
    Some(match fabric {
        FabricKind::FatTree | FabricKind::Rail => nics * packet_switched(row, prices),
        FabricKind::Topoopt => nics * optical(row, prices, 2.0 * row.patch_port_usd),
        FabricKind::Mfabric | FabricKind::Pooled => {
            region.eps_nics.len() as f64 * packet_switched(row, prices)
                + region.ocs_nics.len() as f64 * optical(row, prices, row.ocs_port_usd)
        }
    })
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
