//! Families of networks: commercial machines and regular graphs, with their symmetries.

mod boxes;
mod fabrics;
mod grids;

#[cfg(test)]
mod tests;

use super::{LinkRecord, NodeRecord, NodeSort, SwitchHop, SwitchModel, Topology};
use lightbay_core::problem::Problem;
use lightbay_core::record::{any, index};
use lightbay_core::{record, words};

words! {
    /// Type of a family of networks.
    pub enum FamilySort {
        /// NDv2: chassis of 8 GPUs in a hybrid cube mesh; InfiniBand leads from GPU 0 of every chassis to GPU 1 of the
        /// others.
        Ndv2 = "ndv2",
        /// One chassis of 8 GPUs in a hybrid cube mesh.
        Dgx1 = "dgx1",
        /// Chassis of 16 GPUs, each GPU connected to the switch of its chassis; two chassis are joined by 8 links in
        /// each direction.
        Dgx2 = "dgx2",
        /// Chassis of 16 dies with xGMI links, connected by a tree of switches.
        Amd = "amd",
        /// Chassis of 16 dies with xGMI links, every die connected to one fabric switch.
        Mi250 = "mi250",
        /// Boxes of 8 GPUs; each GPU is connected to the NVSwitch of its box and, over a NIC, to one of two fabric
        /// switches.
        A100 = "a100",
        /// Boxes of 8 H800 GPUs, each connected to the NVSwitch of its box; GPUs with the same position in their box
        /// share a rail switch.
        H800 = "h800",
        /// Boxes as in `h800`, with the rates of H100.
        H100 = "h100",
        /// A ring in both directions.
        Ring = "ring",
        /// A grid without wrap-around.
        Mesh = "mesh",
        /// A grid with wrap-around.
        Torus = "torus",
    }
}

record! {
    /// A member of a family of networks.
    #[derive(Eq)]
    pub struct NetworkFamily {
        /// Type of the family.
        pub network: FamilySort = any(),
        /// Number of chassis or boxes, or nodes along each dimension.
        pub size: Vec<u32> = index(),
    }
}

impl FamilySort {
    /// Returns the default size of a member of the family.
    pub fn usual_size(self) -> Vec<u32> {
        match self {
            Self::Dgx1 => vec![1],
            Self::Ring => vec![8],
            Self::Mesh | Self::Torus => vec![4, 4],
            _ => vec![2],
        }
    }

    /// Returns a text that states the valid sizes.
    const fn sizes(self) -> &'static str {
        match self {
            Self::Ndv2 | Self::Dgx1 => "1, 2 or 4 chassis (dgx1: 1)",
            Self::Dgx2 => "1 or 2 chassis",
            Self::Amd | Self::Mi250 => "1 to 64 chassis",
            Self::A100 | Self::H800 | Self::H100 => "1 to 1024 boxes",
            Self::Ring => "3 to 16384 nodes",
            Self::Mesh | Self::Torus => "up to 4 dimensions of 2 to 128, at most 16384 nodes",
        }
    }
}

impl NetworkFamily {
    /// Builds the topology of the member.
    ///
    /// # Errors
    /// A size that the family does not have.
    pub fn topology(&self) -> Result<Topology, Problem> {
        let nodes = self.size.iter().try_fold(1u32, |nodes, &n| nodes.checked_mul(n)).unwrap_or(u32::MAX);
        let single = |most: u32| (self.size.len() == 1 && (1..=most).contains(&nodes)).then_some(nodes);
        let dimensions =
            self.size.len() <= 4 && self.size.iter().all(|n| (2..=128).contains(n)) && nodes <= 16_384;
        let made = match self.network {
            FamilySort::Ndv2 => single(4).filter(|chassis| *chassis != 3).map(boxes::ndv2),
            FamilySort::Dgx1 => single(1).map(|_| boxes::dgx1()),
            FamilySort::Dgx2 => single(2).map(boxes::dgx2),
            FamilySort::Amd => single(64).map(boxes::amd),
            FamilySort::Mi250 => single(64).map(boxes::mi250),
            FamilySort::A100 => single(1024).map(fabrics::a100),
            FamilySort::H800 => single(1024).map(|boxes| fabrics::rails(boxes, fabrics::H800)),
            FamilySort::H100 => single(1024).map(|boxes| fabrics::rails(boxes, fabrics::H100)),
            FamilySort::Ring => single(16_384).filter(|nodes| *nodes >= 3).map(grids::ring),
            FamilySort::Mesh => (dimensions && !self.size.is_empty()).then(|| grids::grid(&self.size, false)),
            FamilySort::Torus => (dimensions && !self.size.is_empty()).then(|| grids::grid(&self.size, true)),
        };
        made.ok_or_else(|| {
            let size = self.size.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
            Problem::new(
                "network_size",
                format!("'{size}' is not a size of {}", self.network.word()),
                format!("give {}", self.network.sizes()),
            )
        })
    }
}

/// A topology under construction.
struct Builder {
    nodes: Vec<NodeRecord>,
    links: Vec<LinkRecord>,
}

impl Builder {
    const fn new() -> Self {
        Self { nodes: Vec::new(), links: Vec::new() }
    }

    fn node(&mut self, name: String, kind: NodeSort, group: Option<u32>) -> u32 {
        let id = self.nodes.len() as u32;
        self.nodes.push(NodeRecord { id, name, kind, group });
        id
    }

    /// Adds `count` GPUs of a group and returns the first id. The name of a GPU consists of its group and its id, such
    /// as `c0.g5`.
    fn gpus(&mut self, group: u32, count: u32) -> u32 {
        let first = self.nodes.len() as u32;
        for index in 0..count {
            self.node(format!("c{group}.g{}", first + index), NodeSort::Gpu, Some(group));
        }
        first
    }

    fn one_way(&mut self, from: u32, to: u32, gbyte_per_s: f64, alpha_us: f64, kind: &str) {
        self.links.push(LinkRecord::new(from, to, gbyte_per_s, alpha_us, kind));
    }

    fn both_ways(&mut self, a: u32, b: u32, gbyte_per_s: f64, alpha_us: f64, kind: &str) {
        self.one_way(a, b, gbyte_per_s, alpha_us, kind);
        self.one_way(b, a, gbyte_per_s, alpha_us, kind);
    }

    fn finish(self, name: String, hop: SwitchHop, generators: Vec<Vec<u32>>, notes: &str) -> Topology {
        Topology {
            name,
            nodes: self.nodes,
            links: self.links,
            switch_model: SwitchModel { copy: true, hop, reduce: false },
            symmetry_generators: generators,
            notes: notes.to_owned(),
        }
    }
}

/// Returns the permutation of the numbers below `nodes` that `image` gives.
fn permutation(nodes: u32, image: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..nodes).map(image).collect()
}
