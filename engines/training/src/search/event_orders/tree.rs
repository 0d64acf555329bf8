//! Best-first branch and bound over circuit allocations, then over the order of time points
//! (docs/methods/training-exact.md, section 10). A node is a box of allocations (lower and upper count per link), or
//! one allocation with a partial order of its time points. The upper counts bound a box, because with variable rates
//! more circuits never lengthen an iteration. For the same reason, if the upper counts of a box fit the ports, this
//! single allocation replaces the box. The search then branches on the order of pairs of time points. The search takes
//! the open node with the lowest bound and dives, from child to child, until a child is fathomed or pruned.

use super::node::{self, RelaxedNode};
use super::problem::{END, ORIGIN, Point, Problem};
use super::simplex::Row;
use super::{ProofLimits, distances::Distances, energy, schedule};
use crate::search::circuits::{Circuits, Proposal};
use crate::search::event_orders::cuts::{BranchCandidate, View};
use crate::search::frontier::Open;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use crate::simulate::iteration::Trace;
use lightbay_core::event::{EventBody, SolverStats};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Minimum relative improvement of a plan that the search accepts. This value is half of the 1e-9 up to which
/// `delta-joint` calls a proof complete; the other half covers rounding.
pub const CLOSED: f64 = 5e-10;

/// Constant in the score of a candidate, which is its hidden violation times (constant + smaller tightening of the two
/// children): if a child does not tighten, the hidden violation decides.
const LEAST_TIGHTENING: f64 = 1e-3;

/// A complete search can miss plans that are better than the best plan by at most this relative amount: plans whose
/// improvement is below [`CLOSED`], plus rounding.
const PROOF_LOSS: f64 = 6e-10;

/// Factor that lowers bounds of nodes to account for rounding: 1 minus the tolerance of the simplex, because times are
/// about 1.
const ROUNDED_DOWN: f64 = 1.0 - 1e-11;

/// Number of branching candidates per node for strong branching: each costs two propagations, and they are sorted by
/// the violation that they hide.
const CANDIDATES: usize = 6;

/// Circuits, with the problem of time points on these circuits.
struct PlacedProblem {
    x: Vec<u32>,
    problem: Problem,
}

enum Subproblem {
    /// Box of circuits between a lowest and a highest allocation.
    Box { low: Vec<u32>, high: Vec<u32> },
    /// The circuits and part of the orders are decided. Distances are recomputed from the decisions, so waiting nodes
    /// need little memory.
    Order {
        placed: Arc<PlacedProblem>,
        path: Option<Arc<Decision>>,
        distances: Option<Distances>,
        rows: Arc<Vec<Row>>,
    },
}

/// The decision that one point comes before another, and all earlier decisions.
struct Decision {
    first: Point,
    second: Point,
    before: Option<Arc<Decision>>,
}

impl Decision {
    fn demand(&self, distances: &mut Distances) -> bool {
        let Self { first, second, .. } = self;
        distances.demand(first.moment, second.moment, first.plus - second.plus)
    }
}

impl Drop for Decision {
    // A recursive drop would overflow the stack on long chains.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut decision) = next.and_then(Arc::into_inner) {
            next = decision.before.take();
        }
    }
}

/// An open node of the search.
type Node = Open<Subproblem>;

/// Result of a search.
#[derive(Clone, Debug, Default)]
pub struct Closed {
    /// The best plan, if it is better than the given plan.
    pub best: Option<Circuits>,
    /// Lower bound on the makespan, seconds.
    pub bound: f64,
    /// `true` if every node was fathomed or pruned, so that the bound equals the best makespan up to rounding.
    pub complete: bool,
    /// `true` if a limit ended the search.
    pub stopped: bool,
    /// Number of nodes processed.
    pub nodes: u64,
}

/// State of a running search.
pub struct TreeSearch<'a, W: Watch<Proposal>> {
    evaluator: &'a Evaluator,
    settings: ProofLimits,
    watch: &'a mut W,
    open: BinaryHeap<Node>,
    best: Circuits,
    improved: bool,
    /// Minimum bound of the nodes that were given up although no plan with that makespan was found.
    loose: f64,
    /// Bound reported so far.
    told: f64,
    nodes: u64,
    pruned: u64,
    number: u64,
    scratch: Scratch,
    seen: Option<Arc<PlacedProblem>>,
}

impl<'a, W: Watch<Proposal>> TreeSearch<'a, W> {
    /// Creates a search for a plan better than `best` with at most `caps` circuits per link; `floor` is a lower bound
    /// on the makespan.
    pub fn new(
        evaluator: &'a Evaluator,
        caps: &[u32],
        best: Circuits,
        floor: f64,
        settings: ProofLimits,
        watch: &'a mut W,
    ) -> Self {
        let mut search = Self {
            evaluator,
            settings,
            watch,
            open: BinaryHeap::new(),
            best,
            improved: false,
            loose: f64::INFINITY,
            told: floor,
            nodes: 0,
            pruned: 0,
            number: 0,
            scratch: Scratch::default(),
            seen: None,
        };
        let links = evaluator.network.links();
        let low = vec![1; links];
        // Matrices grow with the square of the time points: above this size only the relaxation is used.
        let few = evaluator.contention.count() <= settings.jobs;
        if !few {
            search.loose = floor;
        } else if evaluator.network.budget.fits(&low) {
            let high = (0..links).map(|link| caps[link].max(1)).collect();
            // A single open box of all allocations is the root.
            search.push(floor, 0, Subproblem::Box { low, high });
        }
        search
    }

    /// Returns the makespan below which the search accepts a plan, seconds.
    fn target(&self) -> f64 {
        // Plans within CLOSED of the best one are not accepted, so ties do not prolong the search.
        self.best.makespan * (1.0 - CLOSED)
    }

    fn push(&mut self, bound: f64, depth: u32, part: Subproblem) {
        self.number += 1;
        self.open.push(Node { bound, depth, number: self.number, part });
    }

    /// Searches until all nodes are closed or a limit is reached.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn run(mut self) -> Result<Closed, MethodError> {
        // Invariant: every plan better than the target lies in an open node, so the minimum open bound holds for all
        // plans.
        while let Some(node) = self.open.pop() {
            let mut next = Some(node);
            // Dive: the child that was just created is processed before the nodes of the queue.
            while let Some(node) = next.take() {
                self.watch.checkpoint()?;
                self.take_offer()?;
                let nodes =
                    self.watch.live("orders").map_or(self.settings.nodes, |nodes| nodes.max(0) as u64);
                // The bound is the minimum over the queue and the current node.
                let least = self.open.peek().map_or(node.bound, |top| top.bound.min(node.bound));
                self.tell(least);
                // Pruned: no plan of the node is better than the target.
                if node.bound >= self.target() {
                    self.pruned += 1;
                    continue;
                }
                if self.nodes >= nodes {
                    self.open.push(node);
                    return Ok(self.end(true));
                }
                self.nodes += 1;
                self.watch.count(1);
                next = match node.part {
                    Subproblem::Box { low, high } => self.circuits(node.bound, node.depth, low, high)?,
                    Subproblem::Order { placed, path, distances, rows } => {
                        // Waiting nodes store only decisions; their distances are replayed.
                        let Some(distances) = distances.or_else(|| replay(&placed.problem, path.as_ref()))
                        else {
                            self.pruned += 1;
                            continue;
                        };
                        self.order(node.bound, node.depth, placed, path, distances, rows)?
                    }
                };
            }
        }
        Ok(self.end(false))
    }

    fn end(mut self, stopped: bool) -> Closed {
        let least = self.open.peek().map_or(f64::INFINITY, |top| top.bound);
        self.tell(least);
        // The search is complete if no node was given up because of size, rounding or limits.
        let complete = !stopped && self.loose >= self.target();
        self.report(least);
        Closed {
            bound: self.told,
            best: self.improved.then_some(self.best),
            complete,
            stopped,
            nodes: self.nodes,
        }
    }

    /// Reports the bound that holds if no open node has a bound below `least`.
    fn tell(&mut self, least: f64) {
        // `loose` is the minimum bound of nodes given up without a plan; PROOF_LOSS covers the plans between target and
        // best.
        let bound = least.min(self.loose).min(self.best.makespan * (1.0 - PROOF_LOSS));
        if bound > self.told {
            self.told = bound;
            self.watch.bound(bound);
        }
        if self.nodes % 64 == 1 {
            self.report(least);
        }
    }

    fn report(&mut self, least: f64) {
        self.watch.report(EventBody::Solver(SolverStats {
            unit: "nodes".to_owned(),
            stage: "orders".to_owned(),
            done: self.nodes,
            open: Some(self.open.len() as u64),
            pruned: Some(self.pruned),
            next_bound: least.is_finite().then_some(least),
            ..SolverStats::default()
        }));
    }

    fn take_offer(&mut self) -> Result<(), MethodError> {
        if let Some(offer) = self.watch.offered() {
            let x = offer.circuits.x;
            let makespan = self.evaluator.makespan(&x, Rates::Best, &mut self.scratch);
            let taken = self.keep(x, makespan, None, "offer")?;
            self.watch.judged(makespan, taken);
        }
        Ok(())
    }

    fn keep(
        &mut self,
        x: Vec<u32>,
        makespan: f64,
        trace: Option<Trace>,
        source: &str,
    ) -> Result<bool, MethodError> {
        // Only strict improvements are reported, because schedules of equal length would flood the run.
        if makespan >= self.best.makespan {
            return Ok(false);
        }
        let ports = self.evaluator.network.budget.total(&x);
        self.best = Circuits { x, makespan, ports };
        self.improved = true;
        self.watch.found(Proposal { circuits: self.best.clone(), schedule: trace.map(Arc::new) }, source)?;
        Ok(true)
    }

    /// Processes a box of circuits: bounds it, then splits or closes it.
    fn circuits(
        &mut self,
        bound: f64,
        depth: u32,
        low: Vec<u32>,
        mut high: Vec<u32>,
    ) -> Result<Option<Node>, MethodError> {
        let budget = &self.evaluator.network.budget;
        // Each upper count is limited by the ports that remain while all other links have their minimum.
        let free = budget.free(&low);
        for (link, most) in high.iter_mut().enumerate() {
            let room = u32::try_from(budget.room(link, &free).max(0)).unwrap_or(u32::MAX);
            *most = (*most).min(low[link].saturating_add(room));
        }
        let free = budget.free(&high);
        // Only links at an overfull pod must be split; the others keep their highest count.
        let contested = |link: usize| budget.ends(link).iter().any(|end| free[end.pod as usize] < 0);
        let widest = (0..high.len())
            .filter(|link| high[*link] > low[*link] && contested(*link))
            .max_by_key(|link| (high[*link] - low[*link], std::cmp::Reverse(*link)));
        // Bound the box by its largest allocation: more circuits never lengthen an iteration.
        let bound = bound.max(self.evaluator.bound(&high, &mut self.scratch));
        if bound >= self.target() {
            self.pruned += 1;
            return Ok(None);
        }
        // The next box often has the same upper corner, so its problem is reused.
        let placed = match &self.seen {
            Some(placed) if placed.x == high => Arc::clone(placed),
            _ => {
                let problem = Problem::new(&self.evaluator.network, &high, self.watch)?;
                Arc::new(PlacedProblem { problem, x: high.clone() })
            }
        };
        self.seen = Some(Arc::clone(&placed));
        // The upper corner fits, so it dominates the box, and its orders are searched next.
        let Some(link) = widest else {
            let makespan = self.evaluator.makespan(&high, Rates::Best, &mut self.scratch);
            self.keep(high, makespan, None, "circuits")?;
            self.number += 1;
            let part = Subproblem::Order { placed, path: None, distances: None, rows: Arc::new(Vec::new()) };
            return Ok(Some(Node { bound, depth: depth + 1, number: self.number, part }));
        };
        // The highest allocation does not fit the ports, but its relaxation bounds all allocations of the box, because
        // more circuits never lengthen an iteration.
        let mut distances = placed.problem.distances.clone();
        let limit = self.target() / placed.problem.unit;
        let relaxed = node::relax(&placed.problem, &mut distances, Vec::new(), limit, self.watch)?;
        let bound = match relaxed {
            RelaxedNode::Empty => {
                self.pruned += 1;
                return Ok(None);
            }
            RelaxedNode::Settled { bound: units, .. } | RelaxedNode::Open { bound: units, .. } => {
                bound.max(units * placed.problem.unit * ROUNDED_DOWN)
            }
        };
        // Bisection of the widest contested link.
        let middle = u32::midpoint(low[link], high[link]);
        let (mut left, mut right) = (high.clone(), low.clone());
        left[link] = middle;
        right[link] = middle + 1;
        // The lower half contains the lowest allocation, which fits; the upper half may not fit.
        if self.evaluator.network.budget.fits(&right) {
            self.push(bound, depth + 1, Subproblem::Box { low: right, high });
        }
        self.push(bound, depth + 1, Subproblem::Box { low, high: left });
        Ok(None)
    }

    /// Processes a node whose circuits are decided.
    fn order(
        &mut self,
        bound: f64,
        depth: u32,
        placed: Arc<PlacedProblem>,
        mut path: Option<Arc<Decision>>,
        mut distances: Distances,
        rows: Arc<Vec<Row>>,
    ) -> Result<Option<Node>, MethodError> {
        let problem = &placed.problem;
        let mut rows = Arc::unwrap_or_clone(rows);
        loop {
            // The incumbent may have improved since the node was created.
            let limit = self.target() / problem.unit;
            match node::relax(problem, &mut distances, rows, limit, self.watch)? {
                RelaxedNode::Empty => {
                    self.pruned += 1;
                    return Ok(None);
                }
                // Fathomed by optimality: the windows are feasible for every resource, and their rates give a plan.
                RelaxedNode::Settled { bound: units, times, services } => {
                    let reached = bound.max(units * problem.unit * ROUNDED_DOWN);
                    if let Some(services) = services {
                        let view = View { problem, distances: &distances, times: &times };
                        let trace = schedule::trace(&self.evaluator.network, view, &services);
                        // The schedule may stretch all transfers by a factor to fit the rates, so its makespan may
                        // exceed the bound. The node is closed, and `loose` keeps its bound.
                        self.keep(placed.x.clone(), trace.makespan, Some(trace), "order")?;
                    }
                    self.loose =
                        self.loose.min(if reached >= self.target() { f64::INFINITY } else { reached });
                    return Ok(None);
                }
                RelaxedNode::Open { bound: units, times, rows: tight, questions } => {
                    let bound = bound.max(units * problem.unit * ROUNDED_DOWN);
                    // The relaxation bounds the end of every plan of the node from below, so this bound can be added as
                    // a distance.
                    if !distances.demand(ORIGIN, END, units) {
                        return Ok(None);
                    }
                    let Some(tried) = self.try_out(problem, &distances, &questions)? else {
                        // Without a branching candidate, no open order hides a violation, so branching cannot raise the
                        // bound. The node is given up, and `loose` keeps its bound.
                        self.loose = self.loose.min(bound);
                        return Ok(None);
                    };
                    // Strong branching outcome.
                    match tried {
                        StrongBranch::Neither => {
                            self.pruned += 1;
                            return Ok(None);
                        }
                        StrongBranch::One(forced, first, second) => {
                            // Forced order: no child is created; the node is relaxed again with this order.
                            path = Some(Arc::new(Decision { first, second, before: path }));
                            distances = forced;
                            rows = tight;
                        }
                        StrongBranch::Both(sides, BranchCandidate { first, second, .. }) => {
                            let view = View { problem, distances: &distances, times: &times };
                            let forward = view.at(first) <= view.at(second);
                            let [yes, no] = *sides;
                            let decided = |first, second| {
                                Some(Arc::new(Decision { first, second, before: path.clone() }))
                            };
                            let (yes, no) = ((yes, decided(first, second)), (no, decided(second, first)));
                            // Dives into the order that the relaxed times suggest; the other child waits in the queue.
                            let (near, far) = if forward { (yes, no) } else { (no, yes) };
                            let rows = Arc::new(tight);
                            let mut part = |distances: &Distances, path| {
                                // The bound of a child is at least what its closed distances give.
                                let least = distances.least(ORIGIN, END) * problem.unit * ROUNDED_DOWN;
                                self.number += 1;
                                Node {
                                    bound: bound.max(least),
                                    depth: depth + 1,
                                    number: self.number,
                                    part: Subproblem::Order {
                                        placed: Arc::clone(&placed),
                                        path,
                                        distances: None,
                                        rows: Arc::clone(&rows),
                                    },
                                }
                            };
                            // The far child waits in the queue without its matrix.
                            let far = part(&far.0, far.1);
                            let mut next = part(&near.0, near.1);
                            if let Subproblem::Order { distances, .. } = &mut next.part {
                                *distances = Some(near.0);
                            }
                            self.open.push(far);
                            return Ok(Some(next));
                        }
                    }
                }
            }
        }
    }

    /// Chooses a branching candidate by strong branching: propagates both orders of the candidates with the largest
    /// hidden violation. If an order of a candidate is infeasible, returns this result at once. `None` without
    /// candidates.
    fn try_out(
        &mut self,
        problem: &Problem,
        distances: &Distances,
        questions: &[BranchCandidate],
    ) -> Result<Option<StrongBranch>, MethodError> {
        // Strong branching over the candidates with the largest hidden violation.
        let mut chosen: Option<(f64, Box<[Distances; 2]>, BranchCandidate)> = None;
        for question in questions.iter().take(CANDIDATES) {
            self.watch.checkpoint()?;
            let BranchCandidate { first, second, hides } = *question;
            let mut answer = |from: Point, to: Point| {
                // Two rounds of propagation suffice here, because the relaxation of the child propagates with more
                // rounds.
                let mut side = distances.clone();
                let sound = side.demand(from.moment, to.moment, from.plus - to.plus)
                    && energy::propagate(problem, &mut side, 2, self.watch)?;
                Ok::<_, MethodError>(sound.then_some(side))
            };
            // If one order is infeasible, the other order is fixed; no node is created.
            let yes = answer(first, second)?;
            let no = answer(second, first)?;
            match (yes, no) {
                (None, None) => return Ok(Some(StrongBranch::Neither)),
                (Some(only), None) => return Ok(Some(StrongBranch::One(only, first, second))),
                (None, Some(only)) => return Ok(Some(StrongBranch::One(only, second, first))),
                (Some(yes), Some(no)) => {
                    // Score: hidden violation times the smaller tightening of the two children.
                    let told = distances.narrowed(&yes).min(distances.narrowed(&no));
                    let score = hides * (LEAST_TIGHTENING + told);
                    if chosen.as_ref().is_none_or(|chosen| score > chosen.0) {
                        chosen = Some((score, Box::new([yes, no]), *question));
                    }
                }
            }
        }
        Ok(chosen.map(|(_, sides, question)| StrongBranch::Both(sides, question)))
    }
}

/// Recomputes the distances of a node by repeating the decisions that lead to the node; `None` if the decisions
/// contradict each other.
fn replay(problem: &Problem, path: Option<&Arc<Decision>>) -> Option<Distances> {
    let mut distances = problem.distances.clone();
    // Decisions are few and each update is O(n^2), so replaying is cheaper than keeping matrices.
    let mut next = path;
    while let Some(decision) = next {
        if !decision.demand(&mut distances) {
            return None;
        }
        next = decision.before.as_ref();
    }
    Some(distances)
}

enum StrongBranch {
    /// Both orders are infeasible.
    Neither,
    /// Only one order is feasible: the first point before the second.
    One(Distances, Point, Point),
    /// Both orders are feasible: first before second, and second before first.
    Both(Box<[Distances; 2]>, BranchCandidate),
}
