//! Positions of a torus and the shortest vectors between them. A torus is the grid of all integer positions modulo its
//! periods.

use crate::model::pod::{self, CHIPS, PORTS};
use crate::model::topology::Topology;
use lightbay_core::problem::Problem;

/// Signed steps along X, Y, Z.
pub type Vector = [i16; 3];

/// A torus and its shortest vectors.
#[derive(Clone, Debug)]
pub struct Lattice {
    shape: [i16; 3],
    /// Shift of the position when a step crosses the wrap-around of a dimension; zero for plain wraps.
    twist: [Vector; 3],
    /// Shortest vectors by difference of positions, as ranges of `vectors`.
    starts: Vec<u32>,
    vectors: Vec<Vector>,
    diameter: u64,
}

impl Lattice {
    /// The torus of a job shape. Twisted: crossing the wrap-around of a short dimension also shifts the position by
    /// half of each long dimension.
    ///
    /// # Errors
    /// Sides that are not positive multiples of 4 or are too long for a pod, or not n x n x 2n or n x 2n x 2n in any
    /// order for a twisted torus.
    pub fn new(shape: [u16; 3], twisted: bool) -> Result<Self, Problem> {
        let refuse = |what: &str, remedy: &str| {
            let [x, y, z] = shape;
            Err(Problem::new("job_shape", format!("{x}x{y}x{z} {what}"), remedy))
        };
        if shape.iter().any(|side| *side == 0 || !side.is_multiple_of(4) || *side > 4 * pod::MAX_CUBES as u16)
        {
            let remedy = format!("give three multiples of 4 from 4 to {}", 4 * pod::MAX_CUBES);
            return refuse("is not a shape of a job", &remedy);
        }
        let shape = shape.map(|side| side as i16);
        let (short, long) = (shape[0].min(shape[1]).min(shape[2]), shape[0].max(shape[1]).max(shape[2]));
        let mut twist = [[0; 3]; 3];
        // The twist is half of each long side (TONS baselines; docs/methods/tpu.md, section 2).
        if twisted {
            if long != 2 * short || shape.iter().any(|side| *side != short && *side != long) {
                return refuse(
                    "cannot be twisted",
                    "give n x n x 2n or n x 2n x 2n in any order, or the plain torus (pt)",
                );
            }
            let shift = shape.map(|side| if side == long { short } else { 0 });
            for (axis, twist) in twist.iter_mut().enumerate() {
                if shape[axis] == short {
                    *twist = shift;
                }
            }
        }
        let mut lattice = Self { shape, twist, starts: Vec::new(), vectors: Vec::new(), diameter: 0 };
        // The ring of a twisted short dimension is longer than its side.
        let reach = shape.map(|side| if twisted { long / 2 } else { side / 2 });
        lattice.find_vectors(reach);
        Ok(lattice)
    }

    /// Stores the shortest vectors for every difference.
    fn find_vectors(&mut self, reach: [i16; 3]) {
        // Enumerates all integer vectors in range and keeps the shortest ones for each difference.
        let positions = self.shape.iter().map(|side| *side as usize).product();
        let mut found: Vec<(i16, Vec<Vector>)> = vec![(i16::MAX, Vec::new()); positions];
        for z in -reach[2]..=reach[2] {
            for y in -reach[1]..=reach[1] {
                for x in -reach[0]..=reach[0] {
                    let length = x.abs() + y.abs() + z.abs();
                    let (least, vectors) = &mut found[self.place(self.reduced([x, y, z]))];
                    if length < *least {
                        *least = length;
                        vectors.clear();
                    }
                    if length == *least {
                        vectors.push([x, y, z]);
                    }
                }
            }
        }
        self.starts.push(0);
        for (least, vectors) in found {
            self.vectors.extend(vectors);
            self.starts.push(self.vectors.len() as u32);
            self.diameter = self.diameter.max(least as u64);
        }
    }

    /// Largest distance, hops.
    pub const fn diameter(&self) -> u64 {
        self.diameter
    }

    /// Returns the same position with coordinates of 0 to side - 1.
    pub(super) fn reduced(&self, mut at: Vector) -> Vector {
        // Division with remainder along each axis, with the twist of every wrap.
        for axis in 0..3 {
            let turns = at[axis].div_euclid(self.shape[axis]);
            at[axis] -= turns * self.shape[axis];
            for (coordinate, shift) in at.iter_mut().zip(self.twist[axis]) {
                *coordinate += turns * shift;
            }
        }
        // Twists shift only long dimensions, whose own wraps are plain.
        std::array::from_fn(|axis| at[axis].rem_euclid(self.shape[axis]))
    }

    const fn place(&self, at: Vector) -> usize {
        let [x, y, z] = at;
        x as usize + self.shape[0] as usize * (y as usize + self.shape[1] as usize * z as usize)
    }

    /// Position of a node: cubes are numbered along X, then Y, then Z.
    pub fn position(&self, node: u32) -> Vector {
        let (cube, chip) = pod::parts(node);
        let (a, b) = (self.shape[0] as usize / 4, self.shape[1] as usize / 4);
        let grid = [cube % a, cube / a % b, cube / (a * b)];
        let local = pod::position(chip);
        std::array::from_fn(|axis| 4 * grid[axis] as i16 + i16::from(local[axis]))
    }

    /// Node at a position of 0 to side - 1.
    pub(super) fn node(&self, at: Vector) -> u32 {
        let (a, b) = (self.shape[0] as usize / 4, self.shape[1] as usize / 4);
        let grid = at.map(|coordinate| coordinate as usize / 4);
        pod::node(
            grid[0] + a * (grid[1] + b * grid[2]),
            pod::chip(at.map(|coordinate| (coordinate % 4) as u8)),
        )
    }

    /// Returns `true` if a step along an axis crosses the wrap-around.
    pub fn wraps(&self, node: u32, axis: usize, up: bool) -> bool {
        self.position(node)[axis] == if up { self.shape[axis] - 1 } else { 0 }
    }

    /// All shortest vectors from one node to another.
    pub fn vectors(&self, source: u32, target: u32) -> &[Vector] {
        let (from, to) = (self.position(source), self.position(target));
        let difference = self.place(self.reduced(std::array::from_fn(|axis| to[axis] - from[axis])));
        &self.vectors[self.starts[difference] as usize..self.starts[difference + 1] as usize]
    }

    /// Checks that a pod is wired as this torus.
    ///
    /// # Errors
    /// Another number of chips, or the first link that differs.
    pub fn check(&self, pod: &Topology) -> Result<(), Problem> {
        let positions: usize = self.shape.iter().map(|side| *side as usize).product();
        let [x, y, z] = self.shape;
        if positions != pod.nodes() {
            return Err(Problem::new(
                "job_shape",
                format!("{x}x{y}x{z} has {positions} chips, but the pod has {}", pod.nodes()),
                format!("give a shape of {} cubes", pod.nodes() / CHIPS),
            ));
        }
        // Compares every link, so that the error names the wrong circuit.
        for node in 0..pod.nodes() as u32 {
            for port in 0..PORTS as u8 {
                let mut at = self.position(node);
                at[pod::dimension(port)] += if pod::is_plus(port) { 1 } else { -1 };
                if self.node(self.reduced(at)) != pod.neighbour(node, port) {
                    return Err(Problem::new(
                        "topology",
                        format!("is not a torus {x}x{y}x{z}: port {port} of chip {node} leads elsewhere"),
                        "set routing=at, which routes by allowed turns",
                    ));
                }
            }
        }
        Ok(())
    }
}
