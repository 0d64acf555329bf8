//! One node of the search: the linear program of the decided orders, tightened by cutting planes.

use super::cuts::{BranchCandidate, Shortage, View};
use super::distances::Distances;
use super::problem::{END, ORIGIN, Problem};
use super::rates::Service;
use super::simplex::{Dictionary, PivotEnd, Row};
use super::{energy, joint, rates};
use crate::search::circuits::Proposal;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Capacity violations below this count as rounding, in units of time of a resource. The limit is twice the tolerance
/// of the simplex (`FEASIBLE` of `simplex.rs`), so that a satisfied row is not found violated.
pub const SHORT: f64 = 2e-11;

/// Shortfalls of distances below this count as rounding. This is the tolerance of the simplex: rows that the simplex
/// satisfies fall short by at most this amount.
const APART: f64 = 1e-11;

/// Maximum number of rounds of cutting planes at a node. [`PATIENCE`] ends rounds in which the bound hardly rises, this
/// limit ends rounds in which it rises steadily but slowly.
const ROUNDS: usize = 40;

/// Number of rounds in a row with less progress than [`LEAST_PROGRESS`] after which the node branches: one weak round
/// may precede a strong one.
const PATIENCE: usize = 3;
/// Minimum rise of the bound in a round: smaller rises come only from rounding and weak rows.
const LEAST_PROGRESS: f64 = 1e-7;

/// Violated distances are added as rows only while the program has fewer rows than this. The dictionary is dense: its
/// memory and the work of a pivot grow with its rows.
const MOST_ROWS: usize = 3_000;

/// Maximum number of pivots between two rounds. The dual simplex may stop at any pivot: its value is a valid bound.
const PIVOTS: usize = 4_000;

/// Maximum number of rows of one resource per round. Rows of a resource overlap in the tasks that they cover, so the
/// most violated rows make most of the other rows redundant.
const ROWS_AT_ONCE: usize = 4;

/// Result of relaxing a node.
pub enum RelaxedNode {
    /// The node contains no plan that ends before the limit.
    Empty,
    /// Windows that are feasible for every resource and are the best windows of the node, with rates if rates were
    /// found.
    Settled { bound: f64, times: Vec<f64>, services: Option<Vec<Service>> },
    /// Branching is needed; candidates in decreasing order of hidden violation.
    Open { bound: f64, times: Vec<f64>, rows: Vec<Row>, questions: Vec<BranchCandidate> },
}

/// Tightens `distances` and solves the linear program with `rows`. Then adds violated rows and solves again, in rounds.
/// All plans of the node that end before `limit` (in units of time) satisfy the added rows.
pub fn relax<W: Watch<Proposal>>(
    problem: &Problem,
    distances: &mut Distances,
    rows: Vec<Row>,
    limit: f64,
    watch: &mut W,
) -> Result<RelaxedNode, MethodError> {
    watch.checkpoint()?;
    // Only plans that end before `limit` are of interest, so `limit` is the upper bound of the end time point.
    if !distances.demand(END, ORIGIN, -limit) || !energy::propagate(problem, distances, 3, watch)? {
        return Ok(RelaxedNode::Empty);
    }
    let moments = problem.moments();
    // The origin is not a variable: its column stays at 0 because no row contains it. Closed distances from and to the
    // origin are the bounds of the time points.
    let lower: Vec<f64> = (0..moments as u32).map(|at| distances.least(ORIGIN, at)).collect();
    let upper: Vec<f64> = (0..moments as u32).map(|at| -distances.least(at, ORIGIN)).collect();
    let mut program = Dictionary::new(lower, END);
    for row in rows {
        program.add(row);
    }
    let mut times = Vec::new();
    // Cutting planes: solve, separate violated rows, add them, until the node is fathomed or no violated row is found.
    let mut shortages: Vec<Shortage> = Vec::new();
    let (mut bound, mut slow) = (0.0f64, 0);
    let mut questions = Vec::new();
    let mut settled = None;
    let mut round = 0;
    while round < ROUNDS {
        let mut pivots = 0;
        loop {
            watch.checkpoint()?;
            match program.optimise(64) {
                PivotEnd::Infeasible => return Ok(RelaxedNode::Empty),
                PivotEnd::Optimal => break,
                PivotEnd::Unfinished => {
                    pivots += 64;
                    if pivots >= PIVOTS {
                        break;
                    }
                }
            }
        }
        // Bound from the original rows (weak duality): it is valid in spite of rounding in pivots.
        let reached = program.safe_bound(&upper);
        if reached >= limit {
            return Ok(RelaxedNode::Empty);
        }
        slow = if reached > bound + LEAST_PROGRESS { 0 } else { slow + 1 };
        bound = bound.max(reached);
        program.values_into(&mut times);
        // Distances are implied rows, which are added only if the times violate them (lazy constraints).
        if program.rows() < MOST_ROWS && apart(distances, &times, &mut program) {
            continue;
        }
        round += 1;
        let view = View { problem, distances, times: &times };
        shortages.clear();
        let mut added = false;
        questions.clear();
        // Most violated rows of each resource first.
        for resource in &problem.resources {
            let from = shortages.len();
            view.shortages(resource, SHORT, &mut shortages);
            let found = &mut shortages[from..];
            found.sort_by(|a, b| b.seen.total_cmp(&a.seen));
            for shortage in found.iter().filter(|shortage| shortage.seen > SHORT).take(ROWS_AT_ONCE) {
                program.add(shortage.row.clone());
                added = true;
            }
        }
        // No single stretch is violated: continue with exact separation by flows, then by the joint program.
        if shortages.is_empty() {
            let served = serve(view, watch, &mut shortages)?;
            for shortage in shortages.iter().filter(|shortage| shortage.seen > SHORT) {
                program.add(shortage.row.clone());
                added = true;
            }
            if shortages.is_empty() {
                settled = Some(served);
                break;
            }
        }
        // Branch when rows no longer move the bound: PATIENCE rounds without progress, or the round limit.
        let ask = !added || slow >= PATIENCE || round == ROUNDS;
        if ask {
            let mut open = false;
            for shortage in &shortages {
                open |= !shortage.questions.is_empty();
            }
            if open || !added {
                break;
            }
        }
    }
    if let Some(services) = settled {
        return Ok(RelaxedNode::Settled { bound, times, services });
    }
    // Ranks the candidates by hidden violation. The tight rows are passed to the children, which begin at the same
    // vertex.
    rank(&shortages, &mut questions);
    let rows = program.tight().map(|at| program.row(at).clone()).collect();
    Ok(RelaxedNode::Open { bound, times, rows, questions })
}

/// Computes rates for all resources within windows that satisfy all single stretches; capacity violations go to
/// `shortages`. `None` if some rates could not be found.
fn serve<W: Watch<Proposal>>(
    view: View<'_>,
    watch: &mut W,
    shortages: &mut Vec<Shortage>,
) -> Result<Option<Vec<Service>>, MethodError> {
    let problem = view.problem;
    let mut services = Vec::new();
    // Maximum flow per resource: exact separation of sets of stretches.
    for resource in &problem.resources {
        let (service, full) = rates::serve(view, resource);
        if service.stretch > 1.0 + SHORT && !full.is_empty() {
            shortages.push(view.shortage(resource, &full));
        }
        services.push(service);
    }
    if !shortages.is_empty() {
        return Ok(None);
    }
    let mut all = Vec::new();
    let mut found = true;
    // The flow serves a component of one resource; a component of several resources needs joint rates.
    for component in &problem.components {
        if let [only] = component[..] {
            all.push(std::mem::take(&mut services[only as usize]));
            continue;
        }
        let resources: Vec<_> = component.iter().map(|at| &problem.resources[*at as usize]).collect();
        match joint::serve(view, &resources, watch)? {
            Some((service, shortage)) => {
                let lacks = service.stretch > 1.0 + SHORT;
                all.push(service);
                shortages.extend(shortage.filter(|_| lacks));
            }
            None => found = false,
        }
    }
    Ok(found.then_some(all))
}

/// Adds the most violated distance of every time point. Returns `true` if a distance was violated.
fn apart(distances: &Distances, times: &[f64], program: &mut Dictionary) -> bool {
    let mut any = false;
    // One row per time point and round keeps the program small.
    for to in 1..times.len() {
        let mut worst = (APART, 0);
        for from in 1..times.len() {
            let lacking = distances.least(from as u32, to as u32) - (times[to] - times[from]);
            if lacking > worst.0 {
                worst = (lacking, from);
            }
        }
        if worst.1 > 0 {
            let least = distances.least(worst.1 as u32, to as u32);
            program.add(Row { terms: vec![(to as u32, 1.0), (worst.1 as u32, -1.0)], constant: -least });
            any = true;
        }
    }
    any
}

/// Fills `questions` with all branching candidates, each once, sorted by hidden violation.
fn rank(shortages: &[Shortage], questions: &mut Vec<BranchCandidate>) {
    questions.clear();
    for shortage in shortages {
        // If several capacity violations have the same branching candidate, their hidden violations are added.
        for question in &shortage.questions {
            let hides = question.hides.min(shortage.short.max(0.0));
            let same = questions.iter_mut().find(|other| {
                let key = (other.first.moment, other.second.moment);
                let swapped = (question.second.moment, question.first.moment);
                (key == (question.first.moment, question.second.moment) || key == swapped)
                    && (other.second.plus - other.first.plus).abs()
                        == (question.second.plus - question.first.plus).abs()
            });
            match same {
                Some(other) => other.hides += hides,
                None => questions.push(BranchCandidate { hides, ..*question }),
            }
        }
    }
    // A candidate without hidden violation cannot move the bound.
    questions.retain(|question| question.hides > 0.0);
    questions.sort_by(|a, b| {
        b.hides
            .total_cmp(&a.hides)
            .then(a.first.moment.cmp(&b.first.moment))
            .then(a.second.moment.cmp(&b.second.moment))
    });
}
