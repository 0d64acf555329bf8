//! The relaxation of the optimisation model: circuits may be fractional, so every switch divides one unit among its
//! allowed group elements. The optimum of the relaxation bounds all pods of the size, symmetric or not: the average of
//! any pod over the translations is feasible, and averaging cannot lower a concave function.
//!
//! The relaxation is solved like the flow of a given pod, by column generation on lengths of the electrical links and
//! of every possible circuit. Any lengths prove a bound: the total length of the electrical links and of the longest
//! circuit of every switch, divided by the sum of the distances in the network of all possible circuits.

use crate::model::group::Group;
use crate::model::pod::{
    CHIPS, ELECTRICAL, ELECTRICAL_LINKS, SWITCHES, arc_parts, electrical, face_chip, node,
};
use crate::throughput::mcf::columns::stop_of;
use crate::throughput::mcf::master::Trouble;
use crate::throughput::mcf::network::Network;
use crate::throughput::mcf::sweep::{Sweep, sweep};
use crate::throughput::mcf::weights::Weights;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::instance::Instance;
use lightbay_highs::listener::RunListener;
use lightbay_highs::model::{Column, Model, Row};
use lightbay_highs::options::Options;
use lightbay_highs::solution::Status;

/// Number of sweeps by multiplicative weights before the first program, because columns from the prices of a program
/// alone are very similar.
const SEEDS: u32 = 12;

/// Weights of the best metric in the lengths of the next two sweeps: one sweep near the best metric, one near the
/// prices of the program.
const MIXES: [f64; 2] = [0.7, 0.3];

/// Result of the relaxation.
#[derive(Clone, Debug)]
pub struct Relaxed {
    /// Upper bound on the throughput of every pod with the allowed elements.
    pub upper: f64,
    /// Achievable throughput with fractional circuits.
    pub lower: f64,
    /// `shares[switch][element]`: fraction of the switch for each element of the group.
    pub shares: Vec<Vec<f64>>,
    /// Number of sweeps made.
    pub rounds: u32,
}

/// Limits of the relaxation.
#[derive(Clone, Copy, Debug)]
pub struct RelaxationSettings {
    /// Relative gap between the upper bound and the achievable throughput at which the computation stops.
    pub gap: f64,
    /// Maximum number of sweeps, regardless of the gap.
    pub max_rounds: u32,
}

/// Allowed group elements of each switch.
pub type Allowed = Vec<Vec<u16>>;

/// Every element is allowed for every switch.
pub fn all(group: &Group) -> Allowed {
    vec![(0..group.order() as u16).collect(); SWITCHES]
}

/// The network of all possible circuits and its classes: electrical links, then the circuits of each switch.
#[derive(Clone, Debug)]
struct Space {
    network: Network,
    /// First class of each switch, followed by the number of classes.
    first: Vec<usize>,
}

impl Space {
    fn new(group: &Group, allowed: &Allowed) -> Self {
        let mut first = vec![ELECTRICAL_LINKS];
        for elements in allowed {
            first.push(first[first.len() - 1] + elements.len());
        }
        let mut arcs = Vec::new();
        // All allowed circuits exist at the same time; a class contains one circuit of a switch in all cubes.
        for cube in 0..group.order() {
            for (class, (chip, axis)) in ELECTRICAL.iter().enumerate() {
                let (low, _) = arc_parts(6 * usize::from(*chip) + 2 * usize::from(*axis));
                if let Some(high) = electrical(low, 2 * axis) {
                    let (low, high) = (node(cube, low), node(cube, high));
                    arcs.push((low, high, class as u32));
                    arcs.push((high, low, class as u32));
                }
            }
            for (switch, elements) in allowed.iter().enumerate() {
                for (at, element) in elements.iter().enumerate() {
                    let far = group.times(cube, usize::from(*element));
                    let (plus, minus) =
                        (node(cube, face_chip(switch, true)), node(far, face_chip(switch, false)));
                    let class = (first[switch] + at) as u32;
                    arcs.push((plus, minus, class));
                    arcs.push((minus, plus, class));
                }
            }
        }
        let classes = first[SWITCHES];
        let network = Network::new(CHIPS * group.order(), &arcs, classes, 2.0).of_sources(CHIPS);
        Self { network, first }
    }

    fn circuits(&self, switch: usize) -> std::ops::Range<usize> {
        self.first[switch]..self.first[switch + 1]
    }

    /// Returns twice the sum of the lengths of the electrical links of a cube and of the longest circuit of every
    /// switch.
    fn cost(&self, length: impl Fn(usize) -> f64) -> f64 {
        let electrical: f64 = (0..ELECTRICAL_LINKS).map(&length).sum();
        let optical: f64 =
            // Weak duality: a switch has one unit, so it costs at most as much as its longest circuit.
            (0..SWITCHES).map(|switch| self.circuits(switch).map(&length).fold(0.0, f64::max)).sum();
        2.0 * (electrical + optical)
    }
}

/// Solves the relaxation with the allowed elements.
///
/// # Errors
/// The reason to stop, or a failure of the solver.
pub fn relax<W: Watch>(
    group: &Group,
    allowed: &Allowed,
    settings: RelaxationSettings,
    watch: &mut W,
    mut on: impl FnMut(&mut W, f64, f64),
) -> Result<Relaxed, MethodError> {
    let space = Space::new(group, allowed);
    let outcome = RelaxedProgram::run(&space, group.order(), allowed, settings, watch, &mut on);
    outcome.map_err(|trouble| match stop_of(trouble) {
        Err(stopped) => stopped,
        Ok(words) => MethodError::Failed(words),
    })
}

struct RelaxedProgram<'s> {
    space: &'s Space,
    instance: Instance,
    unit: f64,
    /// Group of sources of each flow column.
    groups: Vec<u32>,
    loads: Vec<Vec<f64>>,
}

impl<'s> RelaxedProgram<'s> {
    /// Builds the program without flow columns. Columns: `t`, then for each possible circuit its fraction of the switch
    /// times `t`, then one column for each flow. Rows: link classes, switches, groups of sources.
    fn new(space: &'s Space, unit: f64) -> Result<Self, Trouble> {
        let mut model = Model::new("relaxation");
        let t = model.column("t", 0.0, f64::INFINITY, 1.0);
        let classes = space.network.class_count();
        let sizes: Vec<Column> = (ELECTRICAL_LINKS..classes)
            .map(|class| model.column(format!("size{class}"), 0.0, f64::INFINITY, 0.0))
            .collect();
        // Capacities, times `t`: electrical links 1 each, circuits their fraction of the switch; the factor 2 counts both
        // directions.
        for class in 0..classes {
            let size = if class < ELECTRICAL_LINKS { t } else { sizes[class - ELECTRICAL_LINKS] };
            model.at_most(format!("class{class}"), 0.0, [(size, -2.0)]);
        }
        // A switch divides one unit among its circuits (C3, with V1 relaxed).
        for switch in 0..SWITCHES {
            let mut terms: Vec<(Column, f64)> =
                space.circuits(switch).map(|class| (sizes[class - ELECTRICAL_LINKS], 1.0)).collect();
            terms.push((t, -1.0));
            model.equal(format!("switch{switch}"), 0.0, terms);
        }
        for group in 0..space.network.groups() {
            model.equal(format!("group{group}"), 1.0, []);
        }
        // Primal simplex (strategy 4) from the last basis, which presolve would lose.
        let mut instance = Instance::new(&model)?;
        let options = Options::new()
            .set("output_flag", false)
            .set("solver", "simplex")
            .set("presolve", "off")
            .set("simplex_strategy", 4);
        instance.apply(&options)?;
        Ok(Self { space, instance, unit, groups: Vec::new(), loads: Vec::new() })
    }

    fn add(&mut self, swept: &Sweep) -> Result<(), Trouble> {
        let classes = self.space.network.class_count();
        let mut added = Vec::new();
        for (group, loads) in swept.loads.chunks(classes).enumerate() {
            let mut entries: Vec<(Row, f64)> = loads
                .iter()
                .enumerate()
                .filter(|(_, load)| **load != 0.0)
                .map(|(class, load)| (Row(class as u32), load / self.unit))
                .collect();
            entries.push((Row((classes + SWITCHES + group) as u32), 1.0));
            added.push((0.0, entries));
            self.groups.push(group as u32);
            self.loads.push(loads.to_vec());
        }
        self.instance.add_columns("flow", 0.0, f64::INFINITY, &added)?;
        Ok(())
    }

    fn run<W: Watch>(
        space: &'s Space,
        cubes: usize,
        allowed: &Allowed,
        settings: RelaxationSettings,
        watch: &mut W,
        on: &mut impl FnMut(&mut W, f64, f64),
    ) -> Result<Relaxed, Trouble> {
        let classes = space.network.class_count();
        // Relative capacities of classes: every switch starts with equal fractions for all its allowed circuits.
        let even = |class: usize| {
            let switch = space.first.partition_point(|first| *first <= class);
            if switch == 0 { 1.0 } else { 1.0 / allowed[switch - 1].len() as f64 }
        };
        let mut weights = Weights::with_room((0..classes).map(even).collect());
        let mut queue = vec![vec![1; classes]];
        let mut program: Option<Self> = None;
        let mut best = (f64::INFINITY, vec![1; classes]);
        let mut found =
            Relaxed { upper: f64::INFINITY, lower: 0.0, shares: vec![vec![0.0; cubes]; SWITCHES], rounds: 0 };
        // Before the first program is solved, the fractions are equal, which is feasible for the relaxation.
        for (switch, elements) in allowed.iter().enumerate() {
            for element in elements {
                found.shares[switch][usize::from(*element)] = 1.0 / elements.len() as f64;
            }
        }
        // Column generation as for the flow of a given pod, with the capacities as additional columns.
        loop {
            for lengths in std::mem::take(&mut queue) {
                let swept = sweep(&space.network, &lengths, watch).map_err(Trouble::Run)?;
                found.rounds += 1;
                // Some chip cannot be reached: the allowed circuits do not connect the pod.
                let Some(distance) = swept.distance else {
                    return Ok(Relaxed { upper: 0.0, ..found });
                };
                let bound = space.cost(|class| f64::from(lengths[class])) / distance as f64 * (1.0 + 1e-12);
                if bound < best.0 {
                    best = (bound, lengths);
                    found.upper = bound;
                }
                // Initial columns by multiplicative weights, one sweep at a time.
                if found.rounds < SEEDS {
                    queue.push(weights.next(&swept));
                }
                let current = match &mut program {
                    Some(program) => program,
                    None => program.insert(Self::new(space, 1.0 / bound)?),
                };
                current.add(&swept)?;
            }
            if !queue.is_empty() {
                continue;
            }
            let Some(current) = &mut program else { return Ok(found) };
            let prices = current.solve(&mut found, allowed, watch)?;
            on(watch, found.lower, found.upper);
            if found.upper <= found.lower * (1.0 + settings.gap) || found.rounds >= settings.max_rounds {
                return Ok(found);
            }
            // Both lengths are scaled to equal total cost before they are mixed.
            let own = space.cost(|class| f64::from(best.1[class]));
            let theirs = space.cost(|class| prices[class]).max(f64::MIN_POSITIVE);
            queue = MIXES
                .iter()
                .map(|share| {
                    let mix = |class: usize| {
                        share * f64::from(best.1[class]) / own + (1.0 - share) * prices[class] / theirs
                    };
                    Network::whole(&(0..classes).map(mix).collect::<Vec<f64>>())
                })
                .collect();
        }
    }

    /// Solves the program. Stores the fraction of each switch per group element, and the flow that these fractions
    /// carry, in `found`, if this flow is larger than the flow in `found`, and returns the prices of the link classes.
    fn solve<W: Watch>(
        &mut self,
        found: &mut Relaxed,
        allowed: &Allowed,
        watch: &mut W,
    ) -> Result<Vec<f64>, Trouble> {
        let mut listener = RunListener::new(watch);
        let solution = self.instance.run(&mut listener)?;
        listener.finish().map_err(Trouble::Run)?;
        let Some(values) = solution.values.filter(|_| solution.status == Status::Optimal) else {
            return Err(Trouble::Solver(format!("the relaxation ended with status {:?}", solution.status)));
        };
        let classes = self.space.network.class_count();
        let optical = classes - ELECTRICAL_LINKS;
        // The lower end is recomputed from the loads: fractions of circuits in proportion to their loads are a feasible
        // division of a switch. The values of the columns are scaled to a sum of 1 in each group and give the loads.
        let mut sums = vec![0.0; self.space.network.groups()];
        for (value, group) in values[1 + optical..].iter().zip(&self.groups) {
            sums[*group as usize] += value.max(0.0);
        }
        let mut loads = vec![0.0; classes];
        for ((value, group), column) in values[1 + optical..].iter().zip(&self.groups).zip(&self.loads) {
            let share = value.max(0.0) / sums[*group as usize];
            if share > 0.0 {
                for (load, more) in loads.iter_mut().zip(column) {
                    *load += share * more;
                }
            }
        }
        let electrical = loads[..ELECTRICAL_LINKS].iter().copied().fold(0.0, f64::max);
        // A switch with fractional circuits carries the sum of its loads.
        let switches = (0..SWITCHES).map(|switch| loads[self.space.circuits(switch)].iter().sum::<f64>());
        let fullest = switches.fold(electrical, f64::max);
        let lower = 2.0 / fullest * (1.0 - 1e-11);
        if lower > found.lower {
            found.lower = lower;
            for (switch, elements) in allowed.iter().enumerate() {
                let sizes = &loads[self.space.circuits(switch)];
                let sum: f64 = sizes.iter().sum();
                for (element, size) in elements.iter().zip(sizes) {
                    found.shares[switch][usize::from(*element)] = size / sum.max(f64::MIN_POSITIVE);
                }
            }
        }
        Ok(solution.row_duals[..classes].iter().map(|dual| (-dual).max(0.0)).collect())
    }
}
