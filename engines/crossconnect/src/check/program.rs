//! Lower bound on the number of circuits that any plan removes, from the checker's own integer program
//! (docs/methods/crossconnect.md, section 11).
//!
//! For every switch and pair of pods, the program has a column for kept circuits and a column for new circuits. Over
//! all switches, each pair gets its target circuits, and each port holds at most one circuit. The relaxation bounds all
//! plans: the checker recomputes the bound from the solver's dual prices, and any dual prices give a valid bound.
//! If the bound is then below the claim, branch and bound continues. The program is written as arrays, because writing
//! it in good_lp's algebra takes 1.2 to 1.4 times as long.

use super::entries::Judged;
use crate::plan::Action;
use crate::scenario::{CrossconnectScenario, Side, Wiring};
use lightbay_core::kind::Depth;
use lightbay_highs::algebra::{
    Expression, ObjectiveDirection, ProblemVariables, Variable, constraint, variable,
};
use lightbay_highs::event::{Flow, SolverEvent, SolverListener};
use lightbay_highs::instance::Instance;
use lightbay_highs::model::{Column, Domain, Model, Row};
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Solution, Start, Status};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum amount that rounding in sums may add to a bound, in circuits. Bounds are rounded to whole numbers, so a
/// larger value than necessary does no harm.
const SLIP: f64 = 1e-6;

/// Switch, pod at the A port, pod at the B port (smaller pod first where ports have no sides).
type CircuitPlace = (usize, usize, usize);

/// Outcome of a proof.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proof {
    /// Proven lower bound on the circuits that any plan removes.
    pub bound: u64,
    /// Number of circuits that some plan removes, if it is less than the claimed bound.
    pub counterexample: Option<u64>,
}

/// Plans that a bound covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Covers {
    /// All plans.
    All,
    /// Plans in which each pair of pods has as many circuits as in this plan.
    SameCircuits,
    /// Plans in which each pair of pods has as many circuits of each orientation as in this plan.
    SameOrientation,
}

/// Columns of a pair of pods on a switch.
struct Entry {
    place: CircuitPlace,
    stays: Option<Column>,
    new: Column,
}

/// The integer program, and the positions of its columns.
struct Program {
    model: Model,
    entries: Vec<Entry>,
}

/// Proves that every plan that `covers` describes removes at least `claimed` circuits, or finds such a plan that removes
/// fewer, or returns the best bound within the time limit. If ports have failed, a plan may set fewer circuits than the
/// target, so `Covers::All` is not possible.
pub(super) fn prove(
    scenario: &CrossconnectScenario,
    switches: &[Vec<Judged>],
    covers: Covers,
    claimed: u64,
    depth: Depth,
) -> Proof {
    let Some(program) = Program::of(scenario, switches, covers) else { return Proof::default() };
    let relaxed = program.relaxed(depth).unwrap_or(0);
    if relaxed >= claimed || depth.is_over() {
        return Proof { bound: relaxed, counterexample: None };
    }
    let searched = program.search(&program.point(scenario, switches), claimed, depth);
    Proof { bound: searched.bound.max(relaxed), ..searched }
}

fn whole(bound: f64) -> u64 {
    // A bound below 0, or one that is not a number, counts as 0.
    (bound - SLIP).ceil().max(0.0) as u64
}

/// Counts the circuits for which `counts` returns `true`, by switch and pods.
fn counted(
    scenario: &CrossconnectScenario,
    switches: &[Vec<Judged>],
    counts: impl Fn(&Judged) -> bool,
) -> BTreeMap<CircuitPlace, u32> {
    let mut places = BTreeMap::new();
    for (ocs, switch) in switches.iter().enumerate() {
        for judged in switch.iter().filter(|judged| counts(judged)) {
            let (a, b) = oriented(scenario, judged);
            *places.entry((ocs, a, b)).or_default() += 1;
        }
    }
    places
}

fn oriented(scenario: &CrossconnectScenario, judged: &Judged) -> (usize, usize) {
    let (a, b) = match scenario.wiring {
        Wiring::SingleSided => judged.pair(),
        Wiring::TwoSided | Wiring::CrossWired => (judged.entry.pod_a, judged.entry.pod_b),
    };
    (a as usize, b as usize)
}

impl Program {
    /// Builds the program; returns `None` if good_lp's problem cannot be converted to a model, which does not happen
    /// for valid scenarios.
    fn of(scenario: &CrossconnectScenario, switches: &[Vec<Judged>], covers: Covers) -> Option<Self> {
        let single = scenario.wiring == Wiring::SingleSided;
        let mut down: BTreeMap<(Side, usize, usize), u32> = BTreeMap::new();
        for port in scenario.failed_ports.iter().collect::<BTreeSet<_>>() {
            *down.entry((port.side, port.pod as usize, port.ocs_id as usize)).or_default() += 1;
        }
        let healthy = |side: Side, pod: usize, ocs: usize| {
            let table = if side == Side::A { &scenario.ports_a } else { &scenario.ports_b };
            let all = table.get(pod).and_then(|row| row.get(ocs)).copied().unwrap_or(0);
            all.saturating_sub(down.get(&(side, pod, ocs)).copied().unwrap_or(0))
        };
        let far = if single { Side::A } else { Side::B };
        // Every plan removes the circuits at failed ports, so the program does not count them as installed.
        let old = counted(scenario, switches, |judged| judged.was() && !judged.at_failed_port);
        let mut pinned: BTreeMap<CircuitPlace, u32> = BTreeMap::new();
        for pin in &scenario.pinned {
            let (a, b) = (pin.circuit.pod_a as usize, pin.circuit.pod_b as usize);
            let (a, b) = if single { (a.min(b), a.max(b)) } else { (a, b) };
            *pinned.entry((pin.ocs_id as usize, a, b)).or_default() += 1;
        }
        let mut variables = ProblemVariables::new();
        // The objective: installed circuits minus kept circuits.
        let mut removed = Expression::from(old.values().map(|&count| f64::from(count)).sum::<f64>());
        let mut entries = Vec::new();
        let mut by_pair: BTreeMap<(usize, usize), Expression> = BTreeMap::new();
        let mut by_port: BTreeMap<(Side, usize, usize), Expression> = BTreeMap::new();
        let rows = scenario.logical_circuits.iter().enumerate();
        let wanted = rows.flat_map(|(a, row)| row.iter().enumerate().map(move |(b, &count)| (a, b, count)));
        let wanted: Vec<_> =
            wanted.filter(|&(a, b, count)| count > 0 && if single { a < b } else { a != b }).collect();
        for (ocs, &(a, b, wanted)) in
            (0..switches.len()).flat_map(|ocs| wanted.iter().map(move |pair| (ocs, pair)))
        {
            let most = wanted.min(healthy(Side::A, a, ocs)).min(healthy(far, b, ocs));
            if most == 0 {
                continue;
            }
            let place = (ocs, a, b);
            let there = old.get(&place).copied().unwrap_or(0).min(most);
            let least = pinned.get(&place).copied().unwrap_or(0).min(there);
            let stays = (there > 0).then(|| {
                let stays = variable().integer().clamp(least, there).name(format!("stays_{ocs}_{a}_{b}"));
                variables.add(stays)
            });
            let new = variable().integer().clamp(0, most).name(format!("new_{ocs}_{a}_{b}"));
            let new = variables.add(new);
            if let Some(stays) = stays {
                removed -= stays;
            }
            let pair = match covers {
                Covers::All | Covers::SameCircuits => (a.min(b), a.max(b)),
                Covers::SameOrientation => (a, b),
            };
            for circuits in stays.into_iter().chain([new]) {
                *by_pair.entry(pair).or_default() += circuits;
                *by_port.entry((Side::A, ocs, a)).or_default() += circuits;
                *by_port.entry((far, ocs, b)).or_default() += circuits;
            }
            entries.push((place, stays, new));
        }
        let after = counted(scenario, switches, Judged::will_be);
        let mut same: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        for ((_, a, b), count) in after {
            *same.entry((a, b)).or_default() += count;
        }
        let mut rows = Vec::with_capacity(by_pair.len() + by_port.len());
        for ((a, b), circuits) in by_pair {
            let wanted = match covers {
                Covers::All => scenario.logical_circuits[a][b],
                Covers::SameCircuits => {
                    let back = if single { None } else { same.get(&(b, a)) };
                    same.get(&(a, b)).copied().unwrap_or(0) + back.copied().unwrap_or(0)
                }
                Covers::SameOrientation => same.get(&(a, b)).copied().unwrap_or(0),
            };
            rows.push(constraint!(circuits == wanted).set_name(format!("pair_{a}_{b}")));
        }
        for ((side, ocs, pod), circuits) in by_port {
            let letter = if side == Side::A { "a" } else { "b" };
            let row = constraint!(circuits <= healthy(side, pod, ocs));
            rows.push(row.set_name(format!("ports_{letter}_{ocs}_{pod}")));
        }
        let name = "removed circuits";
        let program =
            Model::from_good_lp(name, &variables, ObjectiveDirection::Minimisation, removed, rows).ok()?;
        let entry = |(place, stays, new): (CircuitPlace, Option<Variable>, Variable)| {
            let stays = stays.and_then(|stays| program.column(stays));
            Some(Entry { place, stays, new: program.column(new)? })
        };
        Some(Self { entries: entries.into_iter().filter_map(entry).collect(), model: program.model })
    }

    /// Returns the point of the program that represents the plan.
    fn point(&self, scenario: &CrossconnectScenario, switches: &[Vec<Judged>]) -> Vec<f64> {
        let kept = counted(scenario, switches, |judged| judged.entry.action == Action::Keep);
        let added = counted(scenario, switches, |judged| judged.entry.action == Action::Add);
        let mut point = vec![0.0; self.model.columns()];
        for entry in &self.entries {
            let of = |counts: &BTreeMap<CircuitPlace, u32>| {
                f64::from(counts.get(&entry.place).copied().unwrap_or(0))
            };
            if let Some(stays) = entry.stays {
                point[stays.index()] = of(&kept);
            }
            point[entry.new.index()] = of(&added);
        }
        point
    }

    /// Returns the bound of the relaxation; `None` if the time limit was reached first.
    fn relaxed(&self, depth: Depth) -> Option<u64> {
        let mut model = self.model.clone();
        model.domains.fill(Domain::Continuous);
        let mut listener = Listener { depth, claimed: u64::MAX, bound: f64::NEG_INFINITY };
        let solution = solved(&model, Options::new(), &Start::None, &mut listener)?;
        (solution.row_duals.len() == model.rows()).then(|| whole(weighed(&model, &solution.row_duals)))
    }

    /// Runs branch and bound from a point until the claim is proven or refuted; returns the outcome of the proof.
    fn search(&self, start: &[f64], claimed: u64, depth: Depth) -> Proof {
        let start = match self.model.first_broken(start, SLIP) {
            None => Start::Full(start.to_vec()),
            Some(_) => Start::None,
        };
        // The number of removed circuits is an integer, so improvements below 1 are impossible.
        let options = Options::new().set("mip_abs_gap", 1.0 - 1e-4).set("mip_rel_gap", 0.0);
        let mut listener = Listener { depth, claimed, bound: f64::NEG_INFINITY };
        let Some(solution) = solved(&self.model, options, &start, &mut listener) else {
            return Proof { bound: whole(listener.bound), counterexample: None };
        };
        let bound = solution.bound.map_or(listener.bound, |bound| bound.max(listener.bound));
        let counterexample = solution.values.and_then(|point| {
            let point: Vec<f64> = point.iter().map(|value| value.round()).collect();
            let removed = self.model.objective(&point).round() as u64;
            (self.model.first_broken(&point, SLIP).is_none() && removed < claimed).then_some(removed)
        });
        Proof { bound: whole(bound), counterexample }
    }
}

fn solved(model: &Model, options: Options, start: &Start, listener: &mut Listener) -> Option<Solution> {
    let limit = match listener.depth {
        Depth::Exact(deadline) => deadline.limit(),
        Depth::Usual => None,
    };
    let options = match limit {
        Some(limit) => options.time_limit_s(limit.as_secs_f64()),
        None => options,
    };
    let mut instance = Instance::new(model).ok()?;
    instance.apply(&options.set("output_flag", false)).ok()?;
    instance.start(start).ok()?;
    let solution = instance.run(listener).ok()?;
    (!matches!(solution.status, Status::Infeasible | Status::InfeasibleOrUnbounded)).then_some(solution)
}

/// Returns the Lagrangian bound from dual prices of the rows, valid for any prices: each row takes the bound that its
/// price selects, each column the bound that is cheaper at its reduced cost.
fn weighed(model: &Model, prices: &[f64]) -> f64 {
    let mut costs = model.costs.clone();
    let mut bound = model.offset;
    for (row, &price) in prices.iter().enumerate() {
        let end = if price > 0.0 { model.row_lower[row] } else { model.row_upper[row] };
        if price == 0.0 || !end.is_finite() {
            continue;
        }
        bound += price * end;
        for (column, value) in model.terms(Row(row as u32)) {
            costs[column.index()] -= price * value;
        }
    }
    let ends = model.lower.iter().zip(&model.upper);
    bound + costs.iter().zip(ends).map(|(cost, (lower, upper))| (cost * lower).min(cost * upper)).sum::<f64>()
}

/// Stops the solver when the time limit is reached or the claim is decided.
struct Listener {
    depth: Depth,
    claimed: u64,
    /// Best bound reported so far.
    bound: f64,
}

impl SolverListener for Listener {
    fn event(&mut self, event: &SolverEvent) -> Flow {
        if let SolverEvent::Mip(progress) = event {
            self.bound = progress.bound.map_or(self.bound, |bound| bound.max(self.bound));
            let refuted = progress.incumbent.is_some_and(|removed| removed < self.claimed as f64 - 0.5);
            if refuted || whole(self.bound) >= self.claimed {
                return Flow::Stop;
            }
        }
        self.tick()
    }

    fn tick(&mut self) -> Flow {
        if self.depth.is_over() { Flow::Stop } else { Flow::Continue }
    }
}
