//! Collectives, the groups in which they run, and their cost: bytes on a ring, time from a bus bandwidth or from
//! latency and bandwidth.

use serde::Serialize;

/// Operation of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CollectiveKind {
    /// Every rank gets the sum; the size is the input of one rank.
    AllReduce,
    /// Every rank gets all parts; the size is the gathered output.
    AllGather,
    /// Every rank gets one part of the sum; the size is the input of one rank.
    ReduceScatter,
    /// Every rank sends a part to every rank; the size is the input of one rank.
    AllToAll,
    /// One rank sends to all; the size is the message.
    Broadcast,
    /// One rank gets the sum; the size is the input of one rank.
    Reduce,
    /// An all-reduce and an all-to-all of the same size.
    AllReduceAllToAll,
}

impl CollectiveKind {
    /// All collectives with their names in SimAI text.
    pub const SIMAI: [(&'static str, Self); 6] = [
        ("ALLREDUCE", Self::AllReduce),
        ("ALLGATHER", Self::AllGather),
        ("REDUCESCATTER", Self::ReduceScatter),
        ("ALLTOALL", Self::AllToAll),
        ("BROADCAST", Self::Broadcast),
        ("ALLREDUCEALLTOALL", Self::AllReduceAllToAll),
    ];

    /// Returns the name in SimAI's spelling, also for collectives that SimAI does not have.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "ALLREDUCE",
            Self::AllGather => "ALLGATHER",
            Self::ReduceScatter => "REDUCESCATTER",
            Self::AllToAll => "ALLTOALL",
            Self::Broadcast => "BROADCAST",
            Self::Reduce => "REDUCE",
            Self::AllReduceAllToAll => "ALLREDUCEALLTOALL",
        }
    }

    /// Returns the bytes over the link of one rank divided by the size of the call, as nccl-tests defines bus
    /// bandwidth.
    pub fn bus_factor(self, ranks: u64) -> f64 {
        let part = (ranks.saturating_sub(1)) as f64 / ranks.max(1) as f64;
        match self {
            Self::AllReduce => 2.0 * part,
            Self::AllGather | Self::ReduceScatter | Self::AllToAll => part,
            Self::Broadcast | Self::Reduce if ranks > 1 => 1.0,
            Self::Broadcast | Self::Reduce => 0.0,
            Self::AllReduceAllToAll => 3.0 * part,
        }
    }

    /// Returns the number of latency steps of the default algorithm: a ring, or consecutive messages for an all-to-all.
    pub const fn latency_steps(self, ranks: u64) -> u64 {
        let steps = ranks.saturating_sub(1);
        match self {
            Self::AllReduce => 2 * steps,
            Self::AllReduceAllToAll => 3 * steps,
            _ => steps,
        }
    }

    /// Returns the bytes that one rank sends to its successor on a ring: 2(n-1)/n of the size for an all-reduce,
    /// (n-1)/n for a reduce-scatter or an all-gather, the size itself for a broadcast or a reduce. A size that is not a
    /// multiple of n is padded to n equal parts, as collective libraries do. `None` for collectives that do not run on
    /// a ring (all-to-all) and on overflow.
    pub fn ring_bytes(self, bytes: u64, ranks: u64) -> Option<u64> {
        if ranks <= 1 {
            return Some(0);
        }
        let part = bytes.div_ceil(ranks);
        match self {
            Self::AllReduce => part.checked_mul(ranks - 1)?.checked_mul(2),
            Self::AllGather | Self::ReduceScatter => part.checked_mul(ranks - 1),
            Self::Broadcast | Self::Reduce => Some(bytes),
            Self::AllToAll | Self::AllReduceAllToAll => None,
        }
    }
}

/// The group of ranks in which a collective runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Tensor-parallel group.
    Tp,
    /// Expert-parallel group.
    Ep,
    /// Data-parallel group.
    Dp,
    /// Data-parallel group of the ranks that hold the same experts: DP x TP / (EP x expert TP) ranks.
    DpEp,
}

impl Group {
    /// Returns the common abbreviation of the group.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tp => "TP",
            Self::Ep => "EP",
            Self::Dp => "DP",
            Self::DpEp => "DP_EP",
        }
    }
}

/// Calls of one kind and size in one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct AicbCollective {
    /// Operation of the collective.
    pub kind: CollectiveKind,
    /// Group of ranks that take part.
    pub group: Group,
    /// Number of ranks in the group.
    pub ranks: u64,
    /// Size of one call per rank, in the sense of [`CollectiveKind`].
    pub bytes: u64,
    /// Number of calls per iteration.
    pub calls: u64,
}

impl AicbCollective {
    /// Returns the time of all calls at a bus bandwidth, seconds (nccl-tests): bytes x factor / bandwidth.
    pub fn seconds_on_bus(&self, bus_bytes_per_s: f64) -> f64 {
        let sent = self.bytes as f64 * self.kind.bus_factor(self.ranks);
        self.calls as f64 * sent / bus_bytes_per_s
    }

    /// Returns the time of all calls in the alpha-beta model, seconds: a latency per step, and the bytes divided by the
    /// link's bandwidth.
    pub fn seconds_alpha_beta(&self, alpha_s: f64, link_bytes_per_s: f64) -> f64 {
        let latency = self.kind.latency_steps(self.ranks) as f64 * alpha_s;
        self.calls as f64 * latency + self.seconds_on_bus(link_bytes_per_s)
    }

    /// Returns the bytes of all calls together, as stated in the file (not the bytes on the links).
    pub const fn total_bytes(&self) -> Option<u64> {
        self.bytes.checked_mul(self.calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_bytes_by_hand() {
        use CollectiveKind::{AllGather, AllReduce, AllToAll, Broadcast, ReduceScatter};
        // 8 ranks, 800 bytes: parts of 100.
        assert_eq!(AllReduce.ring_bytes(800, 8), Some(1400));
        assert_eq!(ReduceScatter.ring_bytes(800, 8), Some(700));
        assert_eq!(AllGather.ring_bytes(800, 8), Some(700));
        assert_eq!(Broadcast.ring_bytes(800, 8), Some(800));
        assert_eq!(AllToAll.ring_bytes(800, 8), None);
        // 801 bytes are padded to parts of 101.
        assert_eq!(ReduceScatter.ring_bytes(801, 8), Some(707));
        assert_eq!(AllReduce.ring_bytes(801, 1), Some(0));
        assert_eq!(AllReduce.ring_bytes(u64::MAX, 2), None);
        // The reduce-scatter of the 177B sample over 8 replicas.
        assert_eq!(ReduceScatter.ring_bytes(16_271_278_080, 8), Some(14_237_368_320));
    }

    #[test]
    fn times_by_hand() {
        let call = AicbCollective {
            kind: CollectiveKind::AllReduce,
            group: Group::Tp,
            ranks: 4,
            bytes: 1_000_000,
            calls: 3,
        };
        // 2 x 3/4 MB at 1.5 GB/s is 1 ms, three times.
        assert!((call.seconds_on_bus(1.5e9) - 3e-3).abs() < 1e-12);
        // Six steps of 10 us each on top.
        assert!((call.seconds_alpha_beta(1e-5, 1.5e9) - (3e-3 + 1.8e-4)).abs() < 1e-12);
        let alone = AicbCollective { ranks: 1, ..call };
        assert_eq!(alone.seconds_alpha_beta(1e-5, 1.5e9), 0.0);
    }
}
