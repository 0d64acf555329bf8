//! The best circuits for one exchange, by an integer program (docs/methods/moe.md, section 6).
//!
//! An exchange can end by time T if some circuits, and some rates over packet switches, carry all bytes by then. With
//! `u = 1/T`, this condition is linear in circuits, rates and `u` together: `x_ij + C_ij B >= D_ij u`, for the demand
//! `D` in bytes and the rate `B` of a circuit. The rates `x` of each row and column sum to at most the rate of the
//! packet-switched NICs of a server, and the circuits `C` fit the ports. One program that maximises `u` therefore finds
//! the shortest time, without a bisection on T.

use super::circuits::CircuitCounts;
use super::exchange::{Exchange, RoutingRule};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::algebra::{Expression, ObjectiveDirection, ProblemVariables, constraint, variable};
use lightbay_highs::error::Error;
use lightbay_highs::instance::Instance;
use lightbay_highs::listener::RunListener;
use lightbay_highs::model::{Column, Model};
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Start, Status};

/// Outcome of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactCircuits {
    /// The best circuits.
    pub circuits: CircuitCounts,
    /// Time of the exchange on the best circuits, ms.
    pub time: f64,
    /// Lower bound on the time with any circuits, ms.
    pub bound: f64,
    /// `true` if branch and bound finished.
    pub proven: bool,
}

/// Relative gap at which branch and bound ends: below the precision of plans, above the tolerance of the simplex
/// method.
const GAP: f64 = 1e-7;

/// Relative slack in a bound for the tolerances of the solver.
const SLIP: f64 = 1e-6;

/// The program of an exchange, with the columns of its circuits.
pub struct CircuitProgram {
    /// The model of the program; its column `speed` is `u` times `reference`.
    pub model: Model,
    columns: Vec<(usize, usize, Column)>,
    reference: f64,
}

impl CircuitProgram {
    /// Builds the program for times between `least`, a lower bound, and `best`, the time to improve.
    ///
    /// # Errors
    /// A number of the program is not finite.
    pub fn new(exchange: &Exchange, ports: &[u32], best: f64, least: f64) -> Result<Self, Error> {
        let n = exchange.servers();
        let degree = |server: usize| f64::from(ports[server]);
        // Rates are in units of one circuit, so that all coefficients are near 1.
        let eps = |server| exchange.eps_rate(server) / exchange.circuit_rate();
        // `u` is 1 at the known time and at most best / least for any circuits.
        let fastest = if least > 0.0 { best / least } else { 1.0 };
        let scale = best * exchange.circuit_rate();
        let (mut variables, mut rows) = (ProblemVariables::new(), Vec::new());
        // The objective: u = best / T.
        let speed = variables.add(variable().clamp(0.0, fastest.max(1.0) * (1.0 + SLIP)).name("speed"));
        let mut pairs = Vec::new();
        let mut at_server = vec![Expression::default(); n];
        let (mut sent, mut received) = (at_server.clone(), at_server.clone());
        for (a, b) in (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))) {
            // A pair needs circuits only if one of its directions has bytes.
            let bytes = [exchange.sent(a)[b], exchange.sent(b)[a]];
            if bytes == [0.0; 2] {
                continue;
            }
            // A pair has at most as many circuits and packets as the server with fewer working NICs allows.
            let most = degree(a).min(degree(b));
            let packets = eps(a).min(eps(b));
            let circuits = variable().integer().clamp(0.0, most).name(format!("circuits_{a}_{b}"));
            let circuits = variables.add(circuits);
            pairs.push((a, b, circuits));
            at_server[a] += circuits;
            at_server[b] += circuits;
            // Strict routing: y = 1 if the pair has circuits, C <= alpha y.
            let is_strict = exchange.rule() == RoutingRule::Strict;
            let direct =
                is_strict.then(|| variables.add(variable().binary().name(format!("direct_{a}_{b}"))));
            rows.extend(direct.map(|direct| constraint!(circuits <= most * direct)));
            for (from, to, bytes) in [(a, b, bytes[0]), (b, a, bytes[1])] {
                if bytes == 0.0 {
                    continue;
                }
                let spill = variables.add(variable().clamp(0.0, packets).name(format!("spill_{from}_{to}")));
                sent[from] += spill;
                received[to] += spill;
                // x + C >= D u: a pair must carry its bytes by time T = 1/u. Pairs with circuits do not spill if
                // strict.
                rows.push(constraint!(spill + circuits >= bytes / scale * speed));
                rows.extend(direct.map(|direct| constraint!(spill <= packets * (1.0 - direct))));
            }
        }
        // Ports of a server; rates that it sends and receives over packet switches.
        let servers = at_server.into_iter().enumerate();
        rows.extend(servers.map(|(server, circuits)| constraint!(circuits <= degree(server))));
        let packets = sent.into_iter().enumerate().chain(received.into_iter().enumerate());
        rows.extend(packets.map(|(server, spill)| constraint!(spill <= eps(server))));
        let name = "circuits of a region";
        let program = Model::from_good_lp(name, &variables, ObjectiveDirection::Maximisation, speed, rows)?;
        let column = |(a, b, circuits)| Some((a, b, program.column(circuits)?));
        Ok(Self {
            columns: pairs.into_iter().filter_map(column).collect(),
            model: program.model,
            reference: best,
        })
    }

    /// Returns the circuits of a solution of the program.
    fn circuits(&self, values: &[f64], ports: &[u32]) -> CircuitCounts {
        let mut circuits = CircuitCounts::none(ports);
        for (a, b, column) in &self.columns {
            // Values are whole up to the tolerance of the solver; circuits beyond the ports are dropped rather than
            // trusted.
            let count = values.get(column.index()).map_or(0.0, |value| value.round());
            for _ in 0..count.clamp(0.0, f64::from(ports[*a])) as u32 {
                if circuits.free(*a) > 0 && circuits.free(*b) > 0 {
                    circuits.add(*a, *b);
                }
            }
        }
        circuits
    }
}

/// Returns the best circuits that are found for an exchange between servers with `ports` working ports, and a bound.
/// Branch and bound starts from the `known` circuits and uses at most `nodes` nodes.
///
/// # Errors
/// Errors of the watch; [`MethodError::Failed`] if the solver fails.
pub fn best_circuits(
    exchange: &Exchange,
    known: &CircuitCounts,
    ports: &[u32],
    nodes: u32,
    watch: &mut impl Watch,
) -> Result<ExactCircuits, MethodError> {
    // If the known circuits meet the bound for all circuits, no program is needed.
    let (time, least) = (exchange.time(known), exchange.pooled_time(ports));
    let found =
        |circuits: CircuitCounts, time, bound, proven| ExactCircuits { circuits, time, bound, proven };
    // The time equals the bound up to rounding, or a pair has no path, which `u` cannot express.
    if time <= least * (1.0 + 1e-12) || !time.is_finite() {
        return Ok(found(known.clone(), time, least, time.is_finite()));
    }
    let failed = |error: Error| MethodError::Failed(error.to_string());
    let program = CircuitProgram::new(exchange, ports, time, least).map_err(failed)?;
    let mut instance = Instance::new(&program.model).map_err(failed)?;
    // The known circuits are the first incumbent; the solver completes rates and `u`.
    let limit = i32::try_from(nodes).unwrap_or(i32::MAX);
    instance.apply(&Options::new().relative_gap(GAP).set("mip_max_nodes", limit)).map_err(failed)?;
    let start = program.columns.iter().map(|(a, b, column)| (column.0, f64::from(known.between(*a, *b))));
    instance.start(&Start::Partial(start.collect())).map_err(failed)?;
    let mut listener = RunListener::new(watch);
    let solution = instance.run(&mut listener);
    listener.finish()?;
    let solution = solution.map_err(failed)?;
    let mut best = found(known.clone(), time, least, solution.status == Status::Optimal);
    if let Some(values) = &solution.values {
        // The circuits of the solver's point are timed again with the exact formula.
        let circuits = program.circuits(values, ports);
        let time = exchange.time(&circuits);
        if time < best.time {
            (best.circuits, best.time) = (circuits, time);
        }
    }
    // u <= bound means T >= reference / bound; the slack covers rows that hold only up to the tolerance.
    if let Some(speed) = solution.bound.filter(|speed| *speed > 0.0) {
        best.bound = (program.reference / (speed * (1.0 + SLIP))).clamp(least, best.time);
    }
    Ok(best)
}
