//! NICs that have failed, and the NICs that every server has left.

use super::{MAX_NICS, MAX_REGION, MoeRegion, MoeScenario, NoPackets};
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_core::record;
use lightbay_core::record::{Idle, within};
use std::collections::BTreeMap;

/// Name of the parameter.
pub(super) const FAILED: &str = "failed_nics";

record! {
    /// A NIC of the region that has failed.
    #[derive(Copy, Eq)]
    pub struct FailedNic {
        /// Its server, from 0.
        pub server: u32 = within(0..=i64::from(MAX_REGION) - 1),
        /// The NIC, from 0.
        pub nic: u32 = within(0..=i64::from(MAX_NICS) - 1),
    }
}

impl FailedNic {
    /// Reads NICs such as `s3:1, s0:7`; `none` and an empty text give an empty list.
    ///
    /// # Errors
    /// The first part that does not name a NIC.
    pub fn list(text: &str) -> Result<Vec<Self>, Problem> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty() && *part != "none");
        let number = |text: &str, most: u32| text.trim().parse().ok().filter(|number| *number < most);
        let nic = |part: &str| {
            let (server, nic) = part.rsplit_once(':')?;
            let server = server.strip_prefix("server").or_else(|| server.strip_prefix('s')).unwrap_or(server);
            Some(Self { server: number(server, MAX_REGION)?, nic: number(nic, MAX_NICS)? })
        };
        let wrong = |part: &str| {
            let message = format!("'{}' names no NIC", printable(part));
            let remedy = if part.to_lowercase().contains("gpu") {
                "name NICs as SERVER:NIC, such as s3:1; a failed GPU leaves its rank without a place, so replace its server"
            } else {
                "give SERVER:NIC, both from 0, such as s3:1; or none"
            };
            Problem::new(FAILED, message, remedy)
        };
        parts.map(|part| nic(part).ok_or_else(|| wrong(part))).collect()
    }

    /// Returns NICs as a text that [`FailedNic::list`] reads.
    pub fn text(nics: &[Self]) -> String {
        if nics.is_empty() {
            return "none".to_owned();
        }
        nics.iter().map(|failed| format!("s{}:{}", failed.server, failed.nic)).collect::<Vec<_>>().join(", ")
    }
}

impl MoeRegion {
    /// Returns `true` if a NIC of a server has failed.
    pub fn is_failed(&self, server: u32, nic: u32) -> bool {
        self.failed_nics.contains(&FailedNic { server, nic })
    }

    /// Returns the working NICs of a server that are connected to the optical switch.
    pub fn optical_of(&self, server: u32) -> Vec<u32> {
        self.ocs_nics.iter().copied().filter(|nic| !self.is_failed(server, *nic)).collect()
    }

    /// Returns the working NICs of a server that are connected to packet switches.
    pub fn packet_of(&self, server: u32) -> Vec<u32> {
        self.eps_nics.iter().copied().filter(|nic| !self.is_failed(server, *nic)).collect()
    }

    /// Returns the total rate of the working packet-switched NICs of a server, Gb/s.
    pub fn eps_gbps_of(&self, server: u32) -> f64 {
        let fraction = self.packet_of(server).len() as f64 / self.eps_nics.len().max(1) as f64;
        self.eps_gbps() * fraction
    }

    /// Returns the reason why packet switches carry nothing from or to a server; `None` if they can carry bytes.
    pub fn no_packets_at(&self, server: u32) -> Option<NoPackets> {
        let failed = || {
            let all = self.optical_of(server).is_empty();
            self.packet_of(server).is_empty().then_some(NoPackets::Failed { server, all })
        };
        self.no_packets().or_else(failed)
    }

    /// Finds the first server whose bytes packet switches cannot carry, and returns the reason; `None` if packet
    /// switches can carry bytes of every server.
    pub fn first_without_packets(&self) -> Option<NoPackets> {
        (0..self.servers).find_map(|server| self.no_packets_at(server))
    }

    /// Returns a reason that names the first server without a working NIC; `None` if every server has a working NIC.
    pub fn first_cut_off(&self) -> Option<NoPackets> {
        let is_cut_off =
            |server: &u32| self.packet_of(*server).is_empty() && self.optical_of(*server).is_empty();
        (0..self.servers).find(is_cut_off).map(|server| NoPackets::Failed { server, all: true })
    }

    /// Returns the region without failed NICs.
    #[must_use]
    pub fn without_failures(&self) -> Self {
        Self { failed_nics: Vec::new(), ..self.clone() }
    }
}

/// Returns the reason why no bytes leave any server of a scenario; `None` if some bytes do.
pub(super) fn without_traffic(moe: &MoeScenario) -> Option<Idle> {
    let why = "in a region of one server with one replica of the model, where no bytes leave the server";
    let none = moe.region.servers == 1 && moe.replicas() <= 1;
    none.then_some((why.into(), "raise `ep`, `tp` or `cluster_servers`"))
}

impl MoeScenario {
    /// Returns the reason why a NIC carries neither circuits nor packets, so that its failure has no effect; `None` if
    /// the NIC is in use.
    fn unused(&self, nic: u32) -> Option<&'static str> {
        let region = &self.region;
        if without_traffic(self).is_some() {
            return Some("no bytes leave the server");
        }
        if region.ocs_nics.contains(&nic) {
            return (region.servers == 1).then_some("a region of one server has no circuits");
        }
        (region.eps_gbps() <= 0.0).then_some("packet-switched NICs have no rate (eps_total_gbps=0)")
    }

    /// Adds the problems of the list of failed NICs.
    pub(super) fn validate_failures(&self, problems: &mut Problems) {
        let region = &self.region;
        let mut seen: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for (at, failed) in region.failed_nics.iter().enumerate() {
            let path = format!("region.{FAILED}[{at}]");
            let FailedNic { server, nic } = *failed;
            if server >= region.servers {
                let message = format!("names server {server}, which does not exist");
                let remedy = format!("servers of the region are 0 to {}", region.servers.saturating_sub(1));
                problems.add(path, message, remedy);
            } else if nic >= region.nics_per_server {
                let message = format!("names NIC {nic} of server {server}, which does not exist");
                let remedy = format!("NICs are 0 to {}", region.nics_per_server.saturating_sub(1));
                problems.add(path, message, remedy);
            } else if let Some(first) = seen.insert((server, nic), at) {
                problems.add(path, format!("repeats region.{FAILED}[{first}]"), "name it once");
            } else if let Some(why) = self.unused(nic) {
                let message = format!(
                    "names NIC {nic} of server {server}, which carries neither circuits nor packets: {why}"
                );
                problems.add(path, message, "leave it out, because its failure has no effect");
            }
        }
    }
}
