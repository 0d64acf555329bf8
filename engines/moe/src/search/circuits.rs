//! Circuits by pair of servers (docs/methods/moe.md, section 2).

/// Numbers of circuits of every pair of servers, the same in both directions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CircuitCounts {
    servers: usize,
    ports: Vec<u16>,
    counts: Vec<u16>,
    used: Vec<u16>,
}

impl CircuitCounts {
    /// Creates counts without circuits, for servers with the given numbers of ports.
    pub fn none(ports: &[u32]) -> Self {
        let servers = ports.len();
        let ports = ports.iter().map(|ports| u16::try_from(*ports).unwrap_or(u16::MAX)).collect();
        // Symmetric: both entries of a pair are kept equal, and `used` is the row sum.
        Self { servers, ports, counts: vec![0; servers * servers], used: vec![0; servers] }
    }

    /// Builds the circuits from rows; circuits beyond the ports of a server are left out.
    pub fn of(ports: &[u32], rows: &[u16]) -> Self {
        let servers = ports.len();
        let mut circuits = Self::none(ports);
        for a in 0..servers {
            for b in a + 1..servers {
                // One circuit at a time, so that the ports at both ends limit every pair.
                for _ in 0..rows.get(a * servers + b).copied().unwrap_or(0) {
                    if circuits.free(a) > 0 && circuits.free(b) > 0 {
                        circuits.add(a, b);
                    }
                }
            }
        }
        circuits
    }

    /// Returns the number of servers.
    pub const fn servers(&self) -> usize {
        self.servers
    }

    /// Returns the number of circuits of a pair.
    pub fn between(&self, a: usize, b: usize) -> u16 {
        self.counts[a * self.servers + b]
    }

    /// Returns the number of circuits between a server and every other server.
    pub fn row(&self, server: usize) -> &[u16] {
        &self.counts[server * self.servers..(server + 1) * self.servers]
    }

    /// Returns the number of ports of a server that hold no circuit.
    pub fn free(&self, server: usize) -> u16 {
        self.ports[server] - self.used[server]
    }

    /// Returns the number of circuits of all pairs.
    pub fn total(&self) -> u32 {
        // Every circuit uses a port at both of its ends.
        self.used.iter().map(|used| u32::from(*used)).sum::<u32>() / 2
    }

    /// Returns the pairs with circuits (smaller server first) and the number of circuits of each pair.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, u16)> + '_ {
        let all = (0..self.servers).flat_map(move |a| (a + 1..self.servers).map(move |b| (a, b)));
        all.map(|(a, b)| (a, b, self.between(a, b))).filter(|(_, _, count)| *count > 0)
    }

    /// Adds one circuit of a pair; it carries both directions and uses one port at each end.
    pub fn add(&mut self, a: usize, b: usize) {
        self.counts[a * self.servers + b] += 1;
        self.counts[b * self.servers + a] += 1;
        self.used[a] += 1;
        self.used[b] += 1;
    }

    /// Removes one circuit of a pair.
    pub fn remove(&mut self, a: usize, b: usize) {
        self.counts[a * self.servers + b] -= 1;
        self.counts[b * self.servers + a] -= 1;
        self.used[a] -= 1;
        self.used[b] -= 1;
    }
}
