//! Prices of the parts of a network.

use super::MAX_RATE;
use lightbay_core::record;
use lightbay_core::record::{any, within};

/// Source of the built-in prices.
pub const RECONSTRUCTED: &str = "reconstructed: the copy of the paper that was used lacks the price table; the values reproduce \
                                 the published cost ratios, but were not compared with the printed table; check \
                                 them before quoting an amount";

record! {
    /// Prices of the parts, $.
    pub struct PriceList {
        /// Source of the prices.
        pub note: String = any(),
        /// Parts by rate.
        pub rates: Vec<PriceRow> = any(),
        /// A fibre of mean length.
        pub fibre_usd: f64 = within(0.0..=1e9),
        /// A copper cable between a server and its first packet switch.
        pub copper_cable_usd: f64 = within(0.0..=1e9),
        /// If true, copper cables connect servers and packet switches.
        pub copper_links: bool = any().or(false),
    }
}

record! {
    /// Prices of the parts of one rate, $.
    #[derive(Copy)]
    pub struct PriceRow {
        /// The rate.
        pub link_gbps: f64 = within(1e-3..=MAX_RATE),
        /// A transceiver.
        pub transceiver_usd: f64 = within(0.0..=1e9),
        /// A NIC.
        pub nic_usd: f64 = within(0.0..=1e9),
        /// A port of a packet switch.
        pub eps_port_usd: f64 = within(0.0..=1e9),
        /// A port of an optical circuit switch.
        pub ocs_port_usd: f64 = within(0.0..=1e9),
        /// A port of a patch panel.
        pub patch_port_usd: f64 = within(0.0..=1e9),
    }
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
    /// Returns the prices of a rate, if there are any.
    pub fn of_rate(&self, link_gbps: f64) -> Option<&PriceRow> {
        self.rates.iter().find(|row| row.link_gbps == link_gbps)
    }
}
