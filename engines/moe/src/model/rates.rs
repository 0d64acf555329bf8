//! Rates of a region, in bytes per ms.

use crate::scenario::MoeScenario;

/// Bytes per ms of one Gb/s.
const GBPS: f64 = 1e9 / 8.0 / 1e3;

/// Rates and sizes of a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegionRates {
    /// Servers.
    pub servers: usize,
    /// Number of NICs per server connected to the optical switch.
    pub optical: u32,
    /// NICs of a server that are connected to packet switches.
    pub electrical: u32,
    /// GPUs of a server.
    pub gpus: u32,
    /// Rate of a circuit, per direction, bytes/ms.
    pub circuit: f64,
    /// Rate of all packet-switched NICs of a server together, bytes/ms.
    pub eps: f64,
    /// Rate between the GPUs of a server, per GPU and direction, bytes/ms.
    pub nvlink: f64,
    /// Number of pieces of an all-to-all, whose steps overlap.
    pub chunks: f64,
}

impl RegionRates {
    /// The rates of a scenario's region.
    pub fn of(scenario: &MoeScenario) -> Self {
        let region = &scenario.region;
        Self {
            servers: region.servers as usize,
            optical: region.ocs_nics.len() as u32,
            electrical: region.eps_nics.len() as u32,
            gpus: region.gpus_per_server,
            circuit: region.link_gbps * GBPS,
            eps: region.eps_gbps() * GBPS,
            nvlink: region.nvlink_gbytes_per_s * 1e6,
            chunks: f64::from(region.pipeline_chunks),
        }
    }

    /// NICs of a server.
    pub fn nics(&self) -> f64 {
        f64::from(self.optical + self.electrical)
    }

    /// Total rate of the NICs of a server in the region, bytes/ms.
    pub fn regional(&self) -> f64 {
        f64::from(self.optical) * self.circuit + self.eps
    }

    /// Maximum total rate of the NICs of a server on any of the networks, bytes/ms: without circuits of a region every
    /// NIC has its link rate.
    pub fn fastest(&self) -> f64 {
        self.regional().max(self.nics() * self.circuit)
    }
}
