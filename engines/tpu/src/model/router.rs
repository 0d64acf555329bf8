//! Routers of the flit simulator.

use lightbay_core::words;

words! {
    /// Allocator of the simulated routers.
    pub enum Allocator {
        /// Every output serves any request whose input is free, without a crossbar.
        Ideal = "ideal",
        /// A crossbar, matched by wavefronts over the request matrix.
        Wavefront = "wavefront",
        /// A crossbar, matched by grants and accepts with rotating priority.
        Islip = "islip",
    }
}

impl Allocator {
    /// Returns the assumption of a figure on the routers: the allocator, and the speedup of its crossbar.
    pub fn named(self, speedup: u8) -> String {
        match self {
            Self::Ideal => "ideal allocator".to_owned(),
            Self::Wavefront => format!("wavefront allocator, speedup {speedup}"),
            Self::Islip => format!("iSLIP allocator, speedup {speedup}"),
        }
    }
}
