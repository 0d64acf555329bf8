//! Lower bounds on the times of exchanges, for any choice of the circuits of a region, from the checker's own integer
//! program (docs/methods/moe-cost.md, section 5).
//!
//! An exchange can end by time T if some circuits and rates over packet switches carry all bytes by then. With `u =
//! 1/T` this condition is linear: `C_ij B + x_ij >= D_ij u`, for the demand `D` in bytes and the rate `B` of a circuit.
//! The ports of a server limit its circuits `C`, and the total rate of its packet-switched NICs limits its rates `x`.
//! The largest u bounds all plans, including plans with strict routing, in which pairs with circuits send nothing over
//! packet switches. A bound for strict routing alone uses a binary variable for each pair, which is 1 if the pair has
//! circuits.

use super::demand::Dispatch;
use super::fabrics::least_on_circuits;
use super::sizes::Sizes;
use lightbay_core::kind::Depth;
use lightbay_highs::algebra::{Expression, ObjectiveDirection, ProblemVariables, constraint, variable};
use lightbay_highs::event::{Flow, SolverEvent, SolverListener};
use lightbay_highs::instance::Instance;
use lightbay_highs::model::Model;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Status;

/// Maximum relative change of a bound that the tolerances of the solver can cause.
const SLIP: f64 = 1e-6;

/// Returns a lower bound on the time of all exchanges of a micro-batch, for any choice of circuits, ms: the best bound
/// that the solver proves within the time limit. With `is_strict`, pairs with circuits use only circuits.
pub(super) fn exchanges_ms(sizes: &Sizes, demands: &[Dispatch], is_strict: bool, depth: Depth) -> f64 {
    let least = |demand| least_on_circuits(sizes, demand, exchange_ms(sizes, demand, is_strict, depth));
    demands.iter().map(|demand| 4.0 * least(demand)).sum()
}

/// Returns a lower bound on the time of the exchange between the servers in one layer, for any choice of circuits, ms.
fn exchange_ms(sizes: &Sizes, demand: &Dispatch, is_strict: bool, depth: Depth) -> f64 {
    let busiest = demand.busiest().into_iter().enumerate().filter(|(_, bytes)| *bytes > 0.0);
    let least = busiest.map(|(server, bytes)| bytes / sizes.regional(server)).fold(0.0, f64::max);
    if least == 0.0 {
        return 0.0;
    }
    match program(sizes, demand, least, is_strict).and_then(|program| speed(&program, depth)) {
        Some(speed) if speed > 0.0 => least / (speed * (1.0 + SLIP)).min(1.0),
        _ => least,
    }
}

/// Builds the integer program, which maximises a ratio: the time of the exchange if all NICs of a server counted as one
/// NIC, divided by the time on the chosen circuits. `None` if a number of the program is not finite.
fn program(sizes: &Sizes, demand: &Dispatch, least: f64, is_strict: bool) -> Option<Model> {
    let n = demand.servers.len();
    let ports = |server: usize| sizes.nics[server][0];
    let packet = |server: usize| sizes.packets(server) / sizes.link;
    let (mut variables, mut rows) = (ProblemVariables::new(), Vec::new());
    let speed = variables.add(variable().clamp(0.0, 1.0).name("speed"));
    let mut at_server = vec![Expression::default(); n];
    let (mut sent, mut received) = (at_server.clone(), at_server.clone());
    for (one, other) in (0..n).flat_map(|one| (one + 1..n).map(move |other| (one, other))) {
        let (most, rate) = (ports(one).min(ports(other)), packet(one).min(packet(other)));
        let circuits = variable().integer().clamp(0.0, most).name(format!("circuits_{one}_{other}"));
        let circuits = variables.add(circuits);
        at_server[one] += circuits;
        at_server[other] += circuits;
        // Binary: 1 if the pair has no circuits, so that packet switches are its only path.
        let bare = is_strict.then(|| variables.add(variable().binary().name(format!("bare_{one}_{other}"))));
        rows.extend(bare.map(|bare| constraint!(circuits <= most * (1.0 - bare))));
        for (from, to) in [(one, other), (other, one)] {
            let needed = demand.servers[from][to] / (sizes.link * least);
            let packets = variable().clamp(0.0, rate).name(format!("packets_{from}_{to}"));
            let packets = variables.add(packets);
            sent[from] += packets;
            received[to] += packets;
            rows.push(constraint!(circuits + packets >= needed * speed));
            rows.extend(bare.map(|bare| constraint!(packets <= rate * bare)));
        }
    }
    for (server, ((circuits, out), into)) in at_server.into_iter().zip(sent).zip(received).enumerate() {
        rows.push(constraint!(circuits <= ports(server)));
        rows.push(constraint!(out <= packet(server)));
        rows.push(constraint!(into <= packet(server)));
    }
    let program =
        Model::from_good_lp("shortest exchange", &variables, ObjectiveDirection::Maximisation, speed, rows);
    program.ok().map(|program| program.model)
}

/// Returns an upper bound on the objective of the program, within the time limit; `None` if the solver gives no bound.
fn speed(model: &Model, depth: Depth) -> Option<f64> {
    let mut options = Options::new().relative_gap(0.0).set("output_flag", false);
    if let Depth::Exact(deadline) = depth
        && let Some(limit) = deadline.limit()
    {
        options = options.time_limit_s(limit.as_secs_f64());
    }
    let mut instance = Instance::new(model).ok()?;
    instance.apply(&options).ok()?;
    let mut listener = Patience { depth, bound: None };
    let solution = instance.run(&mut listener).ok()?;
    if matches!(solution.status, Status::Infeasible | Status::InfeasibleOrUnbounded) {
        return None;
    }
    let tighter = |one: Option<f64>, other: Option<f64>| match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    tighter(solution.bound, listener.bound)
}

/// Stops the solver at the time limit.
struct Patience {
    depth: Depth,
    /// Best bound reported so far.
    bound: Option<f64>,
}

impl SolverListener for Patience {
    fn event(&mut self, event: &SolverEvent) -> Flow {
        if let SolverEvent::Mip(progress) = event
            && let Some(bound) = progress.bound
        {
            self.bound = Some(self.bound.map_or(bound, |known| known.min(bound)));
        }
        self.tick()
    }

    fn tick(&mut self) -> Flow {
        if self.depth.is_over() { Flow::Stop } else { Flow::Continue }
    }
}
