//! The selection with the smallest maximum load, as an integer program (docs/methods/tpu-routes.md, section 7, step 4):
//! one 0/1 column for each candidate route, one route for each pair, and the load of every class is at most the
//! minimised load. The program is only for small pods, because it lists all candidates.

use super::frame::Frame;
use super::path::LONGER;
use super::select::{SelectedRoutes, Ways};
use super::steps::{FAR, Reach};
use crate::model::pod::PORTS;
use lightbay_core::event::{EventBody, Note, Severity};
use lightbay_core::method::MethodError;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::watch::{StopTest, Watch};
use lightbay_highs::instance;
use lightbay_highs::listener::RunListener;
use lightbay_highs::model::{Column, Model};
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Solution, Start, Status};

/// Maximum number of columns: their routes alone take tens of megabytes.
const MOST_ROUTES: usize = 400_000;

/// Time limit of the solver, s. This limit is an estimate, not a measured value; if the limit is too short, the routes
/// by prices remain.
pub const TIME_LIMIT_S: f64 = 120.0;

/// Result of the program.
#[derive(Clone, Debug)]
pub struct Exact {
    /// The best known selection; the given selection if no better selection was found.
    pub selection: SelectedRoutes,
    /// Lower bound on the maximum load of every selection from these candidates.
    pub floor: u32,
}

/// Candidate routes of all pairs.
struct Candidates {
    /// `source * nodes + target` of every pair.
    flows: Vec<usize>,
    /// Routes of a pair, as ranges of `routes`.
    starts: Vec<usize>,
    routes: Vec<Box<[u8]>>,
}

/// Lists the routes of one pair.
struct Lister<'a> {
    ways: Ways<'a>,
    reach: &'a Reach,
    source: u32,
    longest: usize,
    /// Nodes on the walk from the current state to the target, in reverse order.
    nodes: Vec<u32>,
    ports: Vec<u8>,
}

impl Lister<'_> {
    /// Extends the walks backwards by the arc `arc`, for all virtual channels in the bit mask `lanes` at once, and adds
    /// the complete routes to `routes`.
    fn descend(&mut self, arc: u32, lanes: u32, routes: &mut Vec<Box<[u8]>>) {
        let Ways { frame, steps, .. } = self.ways;
        let tail = Frame::tail(arc);
        // Depth-first search backwards; a node that is already on the path would close a cycle.
        if self.nodes.contains(&tail) || routes.len() > MOST_ROUTES {
            return;
        }
        self.ports.push(Frame::port(arc));
        if tail == self.source {
            routes.push(self.ports.iter().rev().copied().collect());
        } else {
            self.nodes.push(tail);
            // Collects the virtual channels of each input port, so that the search visits a node once for all virtual
            // channels.
            let mut before = [0u32; PORTS];
            for vc in (0..steps.vcs()).filter(|vc| lanes >> vc & 1 == 1) {
                for state in steps.before(frame, steps.state(arc, vc)) {
                    let hops = self.reach.hops[state as usize];
                    // Follows only states from which the source can still be reached within the length limit.
                    if hops != FAR && usize::from(hops) + self.ports.len() <= self.longest {
                        // An arc arrives at the port opposite to its departure port.
                        let port = Frame::port(steps.arc(state)) ^ 1;
                        before[usize::from(port)] |= 1 << steps.vc(state);
                    }
                }
            }
            for (port, lanes) in (0..).zip(before) {
                if lanes != 0 {
                    self.descend(frame.into(tail, port), lanes, routes);
                }
            }
            self.nodes.pop();
        }
        self.ports.pop();
    }
}

/// Adds all allowed routes of a pair that have at most `longest` hops and pass no node twice.
pub(super) fn list(
    ways: Ways<'_>,
    reach: &Reach,
    (source, target): (u32, u32),
    longest: usize,
    routes: &mut Vec<Box<[u8]>>,
) {
    let Ways { frame, steps, .. } = ways;
    let ports = Vec::with_capacity(longest);
    // Lists the walks into the target that are within the length limit.
    let mut lister = Lister { ways, reach, source, longest, nodes: vec![target], ports };
    for port in 0..PORTS as u8 {
        let arc = frame.into(target, port);
        let is_near = |vc: &usize| {
            let hops = reach.hops[steps.state(arc, *vc) as usize];
            hops != FAR && usize::from(hops) <= longest
        };
        let lanes = (0..steps.vcs()).filter(is_near).map(|vc| 1 << vc).sum();
        if lanes != 0 {
            lister.descend(arc, lanes, routes);
        }
    }
}

impl Candidates {
    fn new(ways: Ways<'_>, slack: u16, watch: &mut impl Watch) -> Result<Self, MethodError> {
        let Ways { frame, steps, reaches } = ways;
        let mut candidates = Self { flows: Vec::new(), starts: vec![0], routes: Vec::new() };
        for (source, reach) in (0..).zip(reaches) {
            watch.checkpoint()?;
            for target in (0..frame.nodes() as u32).filter(|target| *target != source) {
                let shortest = reach.to(frame, steps, target);
                if shortest == FAR {
                    continue;
                }
                let before = candidates.routes.len();
                // If all of these walks pass a node twice, only longer routes remain. An allowed walk without repeated
                // nodes is a route.
                for longer in (slack..=slack + LONGER).step_by(2) {
                    let longest = usize::from(shortest + longer);
                    list(ways, reach, (source, target), longest, &mut candidates.routes);
                    if candidates.routes.len() > before {
                        break;
                    }
                }
                if candidates.routes.len() > MOST_ROUTES {
                    return Err(MethodError::Invalid(Problems::one(Problem::new(
                        "route_selection",
                        format!("the exact selection would choose among more than {MOST_ROUTES} routes"),
                        "set route_selection=prices or slack_hops=0",
                    ))));
                }
                candidates.flows.push(source as usize * frame.nodes() + target as usize);
                candidates.starts.push(candidates.routes.len());
            }
        }
        Ok(candidates)
    }

    fn of(&self, pair: usize) -> &[Box<[u8]>] {
        &self.routes[self.starts[pair]..self.starts[pair + 1]]
    }
}

/// Improves a selection by the program, and computes a lower bound on the maximum load.
///
/// # Errors
/// Too many candidates, a failure of the solver, or a stop requested by the watch.
pub fn improve(
    ways: Ways<'_>,
    slack: u16,
    start: &SelectedRoutes,
    time_limit_s: f64,
    watch: &mut impl Watch,
) -> Result<Exact, MethodError> {
    let candidates = Candidates::new(ways, slack, watch)?;
    let nodes = ways.frame.nodes();
    let mut model = Model::new("routes");
    // The minimised load, with the load of the known selection as upper bound.
    let load = model.integer("load", 0.0, f64::from(start.max_load()), 1.0);
    // Rows: number of routes over a class minus the minimised load.
    let mut uses: Vec<Vec<(Column, f64)>> = vec![vec![(load, -1.0)]; ways.frame.classes()];
    let mut point = vec![f64::from(start.max_load())];
    for (pair, &flow) in candidates.flows.iter().enumerate() {
        let (source, target) = ((flow / nodes) as u32, (flow % nodes) as u32);
        let mut choice = Vec::new();
        for (number, ports) in candidates.of(pair).iter().enumerate() {
            // One column for each candidate route; the solution chooses one route for each pair.
            let column = model.binary(format!("route_{source}_{target}_{number}"), 0.0);
            choice.push((column, 1.0));
            point.push(f64::from(u8::from(&**ports == start.route(source, target))));
            ways.frame.follow(source, ports, |arc| uses[ways.frame.class(arc)].push((column, 1.0)));
        }
        // Exactly one route for each pair.
        model.equal(format!("pair_{source}_{target}"), 1.0, choice);
    }
    for (class, terms) in uses.into_iter().enumerate() {
        model.at_most(format!("class_{class}"), 0.0, terms);
    }
    watch.checkpoint()?;
    let size = model.size();
    watch.report(EventBody::Note(Note {
        severity: Severity::Info,
        text: format!(
            "exact route selection: {} routes of {} pairs",
            size.columns - 1,
            candidates.flows.len()
        ),
    }));
    // Loads are integers, so the gap is closed completely.
    let options = Options::new().relative_gap(0.0).time_limit_s(time_limit_s);
    // The selection by prices is a start of the solver if it is among the candidates.
    let start_point =
        if model.first_broken(&point, 1e-6).is_none() { Start::Full(point) } else { Start::None };
    let mut stop = StopTest::from(watch.stop_test());
    let mut listener = RunListener::new(&mut stop);
    let solution = instance::solve_here(&model, &options, &start_point, &mut listener)
        .map_err(|error| MethodError::Failed(error.to_string()))?;
    // A stopped solver returns its best point so far, which the caller may still report.
    let floor = floor_of(&solution, start.max_load());
    let mut selection = start.clone();
    if let Some(values) = &solution.values {
        // Column 0 is the load.
        let mut at = 1;
        for (pair, &flow) in candidates.flows.iter().enumerate() {
            let routes = candidates.of(pair);
            let chosen = values[at..at + routes.len()].iter().position(|value| *value > 0.5);
            at += routes.len();
            if let Some(chosen) = chosen {
                selection.replace(ways.frame, flow, &routes[chosen]);
            }
        }
    }
    // Ties keep the given selection.
    if selection.rank() > start.rank() {
        selection = start.clone();
    }
    Ok(Exact { selection, floor })
}

/// Returns the lower bound that a solution proves for the maximum load. A lower bound on an integer minimum may be
/// rounded up.
fn floor_of(solution: &Solution, known: u32) -> u32 {
    match (solution.status, solution.bound) {
        // Proven optimal: the bound is the objective.
        (Status::Optimal, _) => solution.objective.map_or(known, |load| load.round() as u32),
        (_, Some(bound)) if bound.is_finite() => (bound - 1e-6).ceil().max(0.0) as u32,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
