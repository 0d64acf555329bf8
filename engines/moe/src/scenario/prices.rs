//! Prices of the parts of a network.

use schemars::JsonSchema;
use serde::Serialize;

/// Source of the built-in prices.
pub const RECONSTRUCTED: &str = "reconstructed: the table of the paper was lost in the copy at hand; the values reproduce \
                                 the published ratios of cost, but were not checked against a printed table, so check \
                                 them before quoting an amount";

/// Prices of the parts, $.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PriceList {
    /// Source of the prices.
    pub note: String,
    /// Parts by rate.
    pub rates: Vec<PriceRow>,
    /// A fibre of the mean length.
    pub fibre_usd: f64,
    /// A copper cable between a server and its first packet switch.
    pub copper_cable_usd: f64,
    /// Servers are joined to packet switches by copper cables, not by fibres.
    pub copper_links: bool,
}

/// Prices of the parts of one rate, $.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PriceRow {
    /// The rate.
    pub link_gbps: f64,
    /// A transceiver.
    pub transceiver_usd: f64,
    /// A NIC.
    pub nic_usd: f64,
    /// A port of a packet switch.
    pub eps_port_usd: f64,
    /// A port of an optical circuit switch.
    pub ocs_port_usd: f64,
    /// A port of a patch panel.
    pub patch_port_usd: f64,
}

impl Default for PriceList {
    fn default() -> Self {
        let row = |link_gbps, transceiver_usd, nic_usd, eps_port_usd| PriceRow {
            link_gbps,
            transceiver_usd,
            nic_usd,
            eps_port_usd,
            ocs_port_usd: 520.0,
            patch_port_usd: 100.0,
        };
        Self {
            note: RECONSTRUCTED.to_owned(),
            rates: vec![
                row(100.0, 99.0, 678.0, 187.0),
                row(200.0, 239.0, 1079.0, 374.0),
                row(400.0, 659.0, 1499.0, 1090.0),
                row(800.0, 1399.0, 2248.0, 1400.0),
            ],
            fibre_usd: 150.0,
            copper_cable_usd: 150.0,
            copper_links: false,
        }
    }
}

impl PriceList {
    /// Prices of a rate.
    pub fn of_rate(&self, link_gbps: f64) -> Option<&PriceRow> {
        self.rates.iter().find(|row| row.link_gbps == link_gbps)
    }
}
