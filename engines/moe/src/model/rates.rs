//! Rates of a region, in bytes per ms.

use crate::scenario::MoeScenario;

/// Bytes per ms of one Gb/s.
const GBPS: f64 = 1e9 / 8.0 / 1e3;

/// Rates and sizes of a region. Servers differ if some of their NICs have failed.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionRates {
    /// Number of servers.
    pub servers: usize,
    /// Number of working NICs of every server that are connected to the optical switch.
    pub optical: Vec<u32>,
    /// Number of working NICs of every server that are connected to packet switches.
    pub electrical: Vec<u32>,
    /// NICs of a server, failed ones included.
    pub built: u32,
    /// GPUs of a server.
    pub gpus: u32,
    /// Rate of a circuit, per direction, bytes/ms.
    pub circuit: f64,
    /// Rate of all working packet-switched NICs of every server together, bytes/ms.
    pub eps: Vec<f64>,
    /// Rate of one packet-switched NIC, bytes/ms.
    pub eps_nic: f64,
    /// Rate between the GPUs of a server, per GPU and direction, bytes/ms.
    pub nvlink: f64,
    /// Number of pieces into which the data of an all-to-all is split, so that its steps overlap.
    pub chunks: f64,
}

impl RegionRates {
    /// Returns the rates and sizes of a scenario's region.
    pub fn of(scenario: &MoeScenario) -> Self {
        let region = &scenario.region;
        let servers = 0..region.servers;
        Self {
            servers: region.servers as usize,
            optical: servers.clone().map(|server| region.optical_of(server).len() as u32).collect(),
            electrical: servers.clone().map(|server| region.packet_of(server).len() as u32).collect(),
            built: region.nics_per_server,
            gpus: region.gpus_per_server,
            circuit: region.link_gbps * GBPS,
            eps: servers.map(|server| region.eps_gbps_of(server) * GBPS).collect(),
            eps_nic: region.eps_gbps() * GBPS / region.eps_nics.len().max(1) as f64,
            nvlink: region.nvlink_gbytes_per_s * 1e6,
            chunks: f64::from(region.pipeline_chunks),
        }
    }

    /// Returns the number of working NICs of a server.
    pub fn nics(&self, server: usize) -> f64 {
        f64::from(self.optical[server] + self.electrical[server])
    }

    /// Returns the total rate of the working NICs of a server in the region, bytes/ms.
    pub fn regional(&self, server: usize) -> f64 {
        f64::from(self.optical[server]) * self.circuit + self.eps[server]
    }

    /// Returns the largest total rate that the working NICs of a server have on any of the networks, bytes/ms: on
    /// networks without circuits of a region, every NIC has its link rate.
    pub fn fastest(&self, server: usize) -> f64 {
        self.regional(server).max(self.nics(server) * self.circuit)
    }

    /// Returns the minimum of a rate over all servers: a ring through all servers is as fast as its slowest server.
    pub fn slowest(&self, rate: impl Fn(usize) -> f64) -> f64 {
        (0..self.servers).map(rate).fold(f64::INFINITY, f64::min)
    }

    /// Returns the time until every server has exchanged its bytes at its rate, ms; infinite if a server with bytes has
    /// rate 0.
    pub fn last(&self, bytes: &[f64], rate: impl Fn(usize) -> f64) -> f64 {
        let times = bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0.0);
        times.map(|(server, bytes)| bytes / rate(server)).fold(0.0, f64::max)
    }
}
