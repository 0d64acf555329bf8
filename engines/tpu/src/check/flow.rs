//! Recomputes the throughput with the checker's own column generation.
//!
//! A master program (a linear program) combines shortest-path flows, so its value is an achievable flow: the lower end
//! of an interval. The dual prices of the program are link lengths that bound every flow: the upper end. For a pod,
//! both ends are compared with the claims of the plan. For the network of all possible circuits, the upper end bounds
//! all pods of the size.

use super::group::Symmetric;
use super::network::{CAPACITY, CheckedNetwork};
use super::wiring::Wiring;
use super::{EXACT, Findings, SOLVED, code};
use crate::plan::TpuResult;
use lightbay_core::kind::Depth;
use lightbay_core::watch::StopTest;
use lightbay_highs::error::Error;
use lightbay_highs::instance::Instance;
use lightbay_highs::listener::RunListener;
use lightbay_highs::model::{Column, Model, Row};
use lightbay_highs::options::Options;
use lightbay_highs::solution::Status;

/// Maximum number of rounds; claims that are still undecided after them stay unverified.
const ROUNDS: usize = 250;
/// Number of rounds before the first program is solved. Lengths in these rounds grow with the load; the resulting
/// columns are more diverse than columns from the prices of a small program.
const SEEDS: usize = 12;
/// Weight of the best lengths so far in the lengths of a round (dual stabilisation); the remaining weight is on the
/// prices of the program, because prices alone change too much from round to round.
const SHARE: f64 = 0.7;
/// Number of chips up to which pods without symmetry are recomputed.
const LARGEST_GENERAL: usize = 512;
/// Relative width below which an interval counts as closed: about the tolerance of the solver.
const CLOSED: f64 = 1e-7;

/// Interval that contains the maximum flow of a network.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowInterval {
    /// Lower end of the interval: a flow of this rate exists, in flits per cycle and ordered pair.
    pub lower: f64,
    /// Upper end of the interval: no flow is larger.
    pub upper: f64,
    /// `true` if the computation was stopped.
    pub stopped: bool,
}

/// Recomputes the throughput and compares it with both ends of the claim and the bound over all pods.
pub(super) fn check(
    wiring: &Wiring,
    group: Option<Symmetric>,
    result: &TpuResult,
    bound: Option<f64>,
    depth: Depth,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) {
    if group.is_none() && wiring.nodes() > LARGEST_GENERAL {
        remarks.push(format!(
            "mcf_lower is not verified: without symmetry, the checker recomputes flows of at most \
             {LARGEST_GENERAL} chips, but the pod has {}",
            wiring.nodes()
        ));
        return;
    }
    let network = CheckedNetwork::of(wiring, group);
    let (lower, upper) = (result.claims.mcf_lower, result.claims.mcf_upper);
    let certificates = &result.certificates;
    let classes = certificates.class_lengths.as_deref().map(|lengths| network.spread(wiring, lengths));
    let mut start = [classes, certificates.link_lengths.clone()].into_iter().flatten();
    let start = start.rfind(|lengths| lengths.len() == network.classes);
    let start = start.unwrap_or_else(|| vec![1.0; network.classes]);
    // A bound on all pods is also a bound on this pod.
    let most = bound.map_or(upper, |bound| bound.min(upper));
    let settled = |known: &FlowInterval| {
        (known.lower >= lower || known.upper < lower * (1.0 - EXACT))
            && (known.upper <= most * (1.0 + EXACT) || known.lower > most * (1.0 + EXACT))
    };
    let own = match interval(&network, &start, &StopTest::new(move || depth.is_over()), &settled) {
        Ok(own) => own,
        Err(error) => {
            remarks.push(format!("mcf_lower is not verified: the flow could not be recomputed: {error}"));
            return;
        }
    };
    if lower > own.upper * (1.0 + EXACT) {
        found.add(code::MCF, format!("'mcf_lower' is {lower}, but no flow is above {}", own.upper));
    } else if own.lower >= lower * (1.0 - EXACT) {
        remarks.push(format!("the checker recomputed a flow of {}: 'mcf_lower' is confirmed", own.lower));
    } else if own.lower >= lower * (1.0 - SOLVED) {
        remarks.push(format!(
            "the checker recomputed a flow of {}: 'mcf_lower' {lower} is confirmed to the tolerance of the solver",
            own.lower
        ));
    } else {
        let within = if own.stopped { " within its time limit" } else { "" };
        remarks.push(format!(
            "'mcf_lower' {lower} is only claimed: the largest flow that the checker found{within} is {}, and no \
             flow exceeds {}",
            own.lower, own.upper
        ));
    }
    if own.lower > upper * (1.0 + EXACT) {
        found.add(code::MCF, format!("'mcf_upper' is {upper}, but a flow of {} exists", own.lower));
    }
    if let Some(bound) = bound
        && own.lower > bound * (1.0 + EXACT)
    {
        found.add(
            code::BOUND,
            format!("the bound over all pods is {bound}, but this pod carries a flow of {}", own.lower),
        );
    }
}

/// The master program over the columns so far.
struct Master<'n> {
    network: &'n CheckedNetwork,
    instance: Instance,
    /// Number of columns before the first flow column.
    fixed: usize,
    /// For every flow column: its group of sources, and its load on each link class.
    columns: Vec<(usize, Vec<f64>)>,
    /// Unit of the loads, chosen so that entries are near 1 and the program is well scaled.
    unit: f64,
}

impl<'n> Master<'n> {
    /// Builds the program without flow columns. Columns: the minimised factor `t` by which the capacities of all links
    /// are multiplied, then, for each class of possible circuits, its fraction of its switch times `t`. Rows: link
    /// classes, switches, groups of sources.
    fn new(network: &'n CheckedNetwork, unit: f64) -> Result<Self, Error> {
        let mut model = Model::new("throughput");
        let t = model.column("t", 0.0, f64::INFINITY, 1.0);
        let whole = network.whole();
        let sizes: Vec<Column> = (whole..network.classes)
            .map(|class| model.column(format!("size{class}"), 0.0, f64::INFINITY, 0.0))
            .collect();
        for class in 0..network.classes {
            let size = class.checked_sub(whole).map_or(t, |at| sizes[at]);
            model.at_most(format!("class{class}"), 0.0, [(size, -CAPACITY)]);
        }
        for (switch, range) in network.shared.iter().enumerate() {
            let mut terms: Vec<(Column, f64)> =
                range.clone().map(|class| (sizes[class - whole], 1.0)).collect();
            terms.push((t, -1.0));
            model.equal(format!("switch{switch}"), 0.0, terms);
        }
        for group in 0..network.groups.len() {
            model.equal(format!("group{group}"), 1.0, []);
        }
        let mut instance = Instance::new(&model)?;
        instance.apply(
            &Options::new()
                .set("output_flag", false)
                .set("presolve", "off")
                .set("solver", "simplex")
                .set("simplex_strategy", 4),
        )?;
        Ok(Self { network, instance, fixed: 1 + sizes.len(), columns: Vec::new(), unit })
    }

    fn add(&mut self, trees: Vec<super::network::Tree>) -> Result<(), Error> {
        let first = self.network.classes + self.network.shared.len();
        let mut added = Vec::with_capacity(trees.len());
        for (group, tree) in trees.into_iter().enumerate() {
            let loads = tree.loads.iter().enumerate().filter(|(_, load)| **load > 0.0);
            let mut entries: Vec<(Row, f64)> =
                loads.map(|(class, load)| (Row(class as u32), load / self.unit)).collect();
            entries.push((Row((first + group) as u32), 1.0));
            added.push((0.0, entries));
            self.columns.push((group, tree.loads));
        }
        self.instance.add_columns("flow", 0.0, f64::INFINITY, &added)?;
        Ok(())
    }

    /// Solves the program. Returns the value of the combined flow and the prices of the link classes. The value is
    /// recomputed from the loads, because the value of the solver is only accurate to its tolerance. `None` if the run
    /// stops or if the solver has no solution.
    fn solve(&mut self, stop: &StopTest) -> Result<Option<(f64, Vec<f64>)>, Error> {
        let solution = self.instance.run(&mut RunListener::new(&mut stop.clone()))?;
        let Some(values) = solution.values.filter(|_| solution.status == Status::Optimal) else {
            return Ok(None);
        };
        let shares: Vec<f64> = values[self.fixed..].iter().map(|share| share.max(0.0)).collect();
        let mut sums = vec![0.0; self.network.groups.len()];
        for (share, (group, _)) in shares.iter().zip(&self.columns) {
            sums[*group] += share;
        }
        let mut loads = vec![0.0; self.network.classes];
        for (share, (group, column)) in shares.iter().zip(&self.columns).filter(|(share, _)| **share > 0.0) {
            for (load, more) in loads.iter_mut().zip(column) {
                *load += share / sums[*group] * more;
            }
        }
        let prices = solution.row_duals[..self.network.classes].iter().map(|dual| (-dual).max(0.0)).collect();
        Ok(Some((1.0 / self.network.fullest(&loads), prices)))
    }
}

/// Computes an achievable flow and an upper bound on all flows, and narrows the interval between them until `settled`
/// returns `true`, the flow meets the bound, the run stops, or [`ROUNDS`] rounds are done.
pub(super) fn interval(
    network: &CheckedNetwork,
    start: &[f64],
    stop: &StopTest,
    settled: &dyn Fn(&FlowInterval) -> bool,
) -> Result<FlowInterval, Error> {
    let mut known = FlowInterval { lower: 0.0, upper: f64::INFINITY, stopped: false };
    let mut lengths = normalised(network, start.to_vec());
    let mut best = lengths.clone();
    let mut program: Option<Master<'_>> = None;
    for round in 0..ROUNDS {
        let Some(trees) = network.trees(&lengths, &|| stop.is_over()) else { break };
        let distances = trees.iter().map(|tree| tree.distances).sum::<f64>();
        let bound = network.cost(&lengths) / distances;
        if bound < known.upper {
            known.upper = bound;
            best.clone_from(&lengths);
        }
        let master = match &mut program {
            Some(master) => master,
            None => program.insert(Master::new(network, 1.0 / bound)?),
        };
        let sent = trees.iter().fold(vec![0.0; network.classes], |mut sum: Vec<f64>, tree| {
            sum.iter_mut().zip(&tree.loads).for_each(|(sum, load)| *sum += load);
            sum
        });
        master.add(trees)?;
        if round < SEEDS {
            let fullest = sent.iter().copied().fold(0.0, f64::max);
            let grown =
                lengths.iter().zip(&sent).map(|(length, load)| length * (1.0 + load / fullest)).collect();
            lengths = normalised(network, grown);
            continue;
        }
        let Some((lower, prices)) = master.solve(stop)? else { break };
        known.lower = known.lower.max(lower);
        if settled(&known) || known.upper <= known.lower * (1.0 + CLOSED) {
            return Ok(known);
        }
        let prices = normalised(network, prices);
        let mixed =
            best.iter().zip(&prices).map(|(best, price)| SHARE * best + (1.0 - SHARE) * price).collect();
        lengths = normalised(network, mixed);
    }
    known.stopped = stop.is_over();
    Ok(known)
}

/// Raises every length to at least a millionth of the mean length, and scales all lengths so that
/// [`CheckedNetwork::cost`] returns 1.
fn normalised(network: &CheckedNetwork, mut lengths: Vec<f64>) -> Vec<f64> {
    let sum: f64 = lengths.iter().map(|length| length.max(0.0)).sum();
    let mean = sum / lengths.len() as f64;
    for length in &mut lengths {
        *length = if mean > 0.0 { length.max(1e-6 * mean) } else { 1.0 };
    }
    let cost = network.cost(&lengths);
    for length in &mut lengths {
        *length /= cost;
    }
    lengths
}
