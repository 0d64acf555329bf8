//! The Leighton-Rao linear program: the exact throughput as the minimum over metrics, for small networks.
//!
//! The variables are the distances of all pairs. The program minimises the sum of the link lengths, subject to a sum of
//! all distances of 1 and to the triangle inequalities whose first leg is a link. By induction, these inequalities
//! ensure that every distance is at most the length of any path of links between the same two nodes.

use super::network::Network;
use crate::model::pairs::PairClasses;
use crate::model::pod::{CHIPS, LINK_CLASSES, LINK_OF_ARC, PORTS};
use crate::model::topology::Topology;
use lightbay_core::method::MethodError;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::model::{Column, Model};
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Start, Status};

/// The program of a pod: one distance for each class of unordered pairs (symmetric) or each unordered pair.
pub fn of_pod(pod: &Topology) -> Model {
    let neighbours = pod.neighbours();
    let Some(symmetry) = pod.symmetry() else {
        let place = |one: u32, other: u32| {
            let (low, high) = (one.min(other) as usize, one.max(other) as usize);
            high * (high - 1) / 2 + low
        };
        let nodes = pod.nodes();
        let mut program = MetricProgram::new(&vec![1.0; nodes * (nodes - 1) / 2]);
        // One distance per unordered pair; a link's length is its distance.
        for (node, near) in neighbours.iter().enumerate() {
            for (port, &head) in near.iter().enumerate() {
                if port % 2 == 0 {
                    program.cost(place(node as u32, head), 1.0);
                }
                program.triangles(nodes, node as u32, head, place);
            }
        }
        return program.model;
    };
    let pairs = PairClasses::new(&symmetry.group);
    let weights: Vec<f64> = pairs.count.iter().map(|count| 1.0 / count).collect();
    // Symmetric: one distance per class of pairs under the translations.
    let mut program = MetricProgram::new(&weights);
    let place = |one: u32, other: u32| pairs.row(one, other);
    let mut paid = [false; LINK_CLASSES];
    for chip in 0..CHIPS {
        for (port, &head) in neighbours[chip].iter().enumerate() {
            let link = usize::from(LINK_OF_ARC[PORTS * chip + port]);
            if !std::mem::replace(&mut paid[link], true) {
                program.cost(place(chip as u32, head), 1.0);
            }
            program.triangles(pod.nodes(), chip as u32, head, place);
        }
    }
    program.model
}

/// The linear program of a directed network without symmetry: one distance for each ordered pair of nodes.
pub fn of_network(network: &Network) -> Model {
    let nodes = network.nodes();
    let place = |one: u32, other: u32| one as usize * nodes + other as usize;
    let weights: Vec<f64> =
        (0..nodes * nodes).map(|at| if at / nodes == at % nodes { 0.0 } else { 1.0 }).collect();
    let mut program = MetricProgram::new(&weights);
    for arc in 0..network.arcs() {
        let (tail, head) = (network.tail(arc) as u32, network.head(arc) as u32);
        program.cost(place(tail, head), network.capacity());
        program.triangles(nodes, tail, head, place);
    }
    program.model
}

/// Solves the program by an interior point method and returns the throughput.
///
/// # Errors
/// If the solver fails.
pub fn solve(model: &Model) -> Result<f64, MethodError> {
    // Interior point method without crossover, because only the value is needed.
    let options = Options::new().set("solver", "ipx").set("run_crossover", "off");
    let solution = solve_here(model, &options, &Start::None, &mut NoListener)
        .map_err(|error| MethodError::Failed(error.to_string()))?;
    match (solution.status, solution.objective) {
        (Status::Optimal, Some(value)) => Ok(value),
        (status, _) => {
            Err(MethodError::Failed(format!("the Leighton-Rao program ended with status {status:?}")))
        }
    }
}

struct MetricProgram {
    model: Model,
    distances: Vec<Column>,
}

impl MetricProgram {
    /// Creates a program with one column for each distance; the sum of the distances, each multiplied by its weight, is
    /// 1.
    fn new(weights: &[f64]) -> Self {
        let mut model = Model::new("leighton-rao");
        let distances: Vec<Column> =
            (0..weights.len()).map(|at| model.column(format!("d{at}"), 0.0, f64::INFINITY, 0.0)).collect();
        model.equal("sum", 1.0, distances.iter().copied().zip(weights.iter().copied()));
        Self { model, distances }
    }

    fn cost(&mut self, at: usize, cost: f64) {
        self.model.costs[self.distances[at].index()] += cost;
    }

    /// Adds the triangle inequalities whose first leg is the link from `first` to `over`.
    fn triangles(&mut self, nodes: usize, first: u32, over: u32, place: impl Fn(u32, u32) -> usize) {
        // Triangles whose first leg is a link suffice by induction over the hops of a path.
        for last in (0..nodes as u32).filter(|last| *last != first && *last != over) {
            let terms = [(first, last, 1.0), (first, over, -1.0), (over, last, -1.0)];
            let terms = terms.map(|(one, other, sign)| (self.distances[place(one, other)], sign));
            self.model.at_most(format!("t{first}_{over}_{last}"), 0.0, terms);
        }
    }
}
