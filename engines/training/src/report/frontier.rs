//! Minimum number of ports for several iteration times: with static circuits, with one, two and any number of
//! reconfigurations, and the bound for any number.

use super::delays::static_optimum;
use super::limited::Limited;
use crate::analysis::Setting;
use crate::programs::circuit_bounds::useful_within;
use crate::scenario::reconfiguration::{MAX_SWITCHINGS, Reconfiguration, SWITCHES, delay_text};
use crate::search::allocations::VectorTask;
use crate::search::circuits::Circuits;
use crate::search::phases::{self, Aim, MoveTask, MovedCircuits as _, Stepped};
use crate::search::ports;
use crate::simulate::evaluate::Rates;
use lightbay_core::report::text::number;
use lightbay_core::report::{
    Cell, Column, Curve, Curves, Phrase, Point, Section, Table, Tone, Unavailable, Unit,
};

/// Maximum number of boxes of one search, which takes seconds on the largest built-in jobs.
const BOXES: u64 = 30_000;

/// Maximum number of schedules of circuits on demand that are evaluated, in ascending order of their bounds; the
/// evaluation takes seconds on the largest built-in jobs.
const ON_DEMAND: u64 = 300;

/// Target times as fractions above the time of the best static circuits. Ports decrease fast near 0 and hardly above
/// 0.1.
const OVER: [f64; 7] = [0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1];

/// A target time for the iteration, with the ports that are needed to reach it.
struct Target {
    limit_s: f64,
    /// Smallest known number of ports with static circuits, and `true` if a smaller number is impossible; `None` if
    /// static circuits do not reach the target.
    stays: Option<(u64, bool)>,
    /// Smallest known number of ports with at most one reconfiguration; `None` if no plan is known.
    moves: Option<u64>,
    /// Lower bound on the ports with at most one reconfiguration; `None` if no number of ports suffices (proven).
    at_least: Option<u64>,
    /// Smallest known number of ports with at most two reconfigurations; `None` if no plan is known.
    two: Option<u64>,
    /// Smallest known number of ports with any number of reconfigurations; `None` if no plan is known.
    any: Option<u64>,
    /// Lower bound on the ports with any number of reconfigurations; `None` if the search would take too long.
    any_at_least: Option<u64>,
}

/// Builds the section on the minimum number of ports for several iteration times.
///
/// # Errors A scenario in which transfers other than the last transfers compete, no allocation that fits the ports, or
/// too little time.
pub(super) fn section(
    setting: &Setting,
    group: Reconfiguration,
    mut limited: Limited,
) -> Result<Section, Unavailable> {
    let evaluator = &setting.evaluator;
    let best = static_optimum(setting, &mut limited)?;
    let ideal_s = evaluator.ideal.makespan();
    let mut limits_s: Vec<f64> = OVER.iter().map(|over| best.makespan * (1.0 + over)).collect();
    if ideal_s < best.makespan * (1.0 - ports::TOLERANCE) {
        limits_s.insert(0, ideal_s);
    }
    let mut targets = Vec::new();
    for limit_s in limits_s {
        targets.push(target(setting, group, &best, limit_s, limited)?);
    }
    // Ports that suffice for a shorter iteration suffice for a longer one.
    for at in 1..targets.len() {
        let least = |own: Option<u64>, before: Option<u64>| [own, before].into_iter().flatten().min();
        let Target { moves, two, any, .. } = targets[at - 1];
        let own = &mut targets[at];
        (own.moves, own.two, own.any) = (least(own.moves, moves), least(own.two, two), least(own.any, any));
    }
    let seconds = |value| number(value, Unit::SECONDS);
    let text = format!(
        "Each reconfiguration takes {}, and every iteration returns to its initial circuits. The search for plans with more than one reconfiguration is heuristic; `bound, any R` holds for all of them. An iteration takes {} s with static circuits and {} s on an ideal network.",
        delay_text(group.delay_s),
        seconds(best.makespan),
        seconds(ideal_s)
    );
    Ok(Section::new("Ports over time", table(setting, &targets, best.makespan))
        .context(
            Phrase::new().muted(format!("dark time {}, R reconfigurations", delay_text(group.delay_s))),
        )
        .legend(slider(group.delay_s).muted("   O: dark time; letters: kinds of switches"))
        .on_screens("curves", "", curves(&targets))
        .remark(text)
        .remark("On screens, letters mark kinds of switches: p plzt, s silicon_photonics, r rotor, m mems, t mems_with_transceivers.")
        .remark(
            "Ports are counted pod by pod at the moment with the most ports in use. Free ports are a saving only if they are not installed, or are lent to another job.",
        ))
}

fn target(
    setting: &Setting,
    group: Reconfiguration,
    best: &Circuits,
    limit_s: f64,
    mut limited: Limited,
) -> Result<Target, Unavailable> {
    let evaluator = &setting.evaluator;
    let mut caps = useful_within(&evaluator.network, limit_s.max(best.makespan));
    for (cap, own) in caps.iter_mut().zip(&best.x) {
        *cap = (*cap).max(*own);
    }
    let mut stays = None;
    if best.makespan <= limit_s * (1.0 + ports::TOLERANCE) {
        let from = Circuits { makespan: limit_s, ..best.clone() };
        let task = VectorTask::new(evaluator, Rates::Best, &caps);
        let fewest = ports::fewest(task, &from, &mut limited).map_err(|error| limited.why(error))?;
        stays = Some((fewest.found.ports, fewest.proven));
    }
    let known = stays.map_or(evaluator.network.budget.capacity() + 1, |(ports, _)| ports);
    let task = MoveTask {
        evaluator,
        delay_s: group.delay_s,
        caps: &caps,
        aim: Aim::Ports { limit_s: limit_s * (1.0 + ports::TOLERANCE) },
        known: known as f64,
        // Numbers of ports are integers, so a distance of 0.5 proves the minimum.
        close: 0.5,
        boxes: BOXES,
    };
    let proof = phases::search(task, &mut limited).map_err(|error| limited.why(error))?;
    let found = proof.best.as_ref().map(|best| best.ports(evaluator));
    let moves = found.or(stays.map(|(ports, _)| ports));
    let at_least = if proof.complete { moves } else { Some(proof.bound.ceil() as u64) };
    let any_at_least =
        phases::least_ports::<Stepped, _>(task, limit_s * (1.0 + ports::TOLERANCE), &mut limited)
            .map_err(|error| limited.why(error))?;
    let mut two = moves;
    if moves.is_none_or(|moves| any_at_least.is_none_or(|any| moves > any)) {
        let task = MoveTask { known: moves.unwrap_or(known) as f64, ..task };
        let found = phases::search_two(task, proof.best.as_ref(), &mut limited);
        let found = found.map_err(|error| limited.why(error))?;
        two = found.map(|found| found.ports(evaluator)).or(moves);
    }
    let mut any = two;
    if two.is_none_or(|two| any_at_least.is_none_or(|any| two > any)) {
        let task = MoveTask { known: two.unwrap_or(known) as f64, boxes: ON_DEMAND, ..task };
        let found = phases::search_demand(task, MAX_SWITCHINGS, &mut limited);
        let found = found.map_err(|error| limited.why(error))?;
        any = found.map(|found| found.ports(evaluator)).or(two);
    }
    Ok(Target { limit_s, stays, moves, at_least, two, any, any_at_least })
}

fn table(setting: &Setting, targets: &[Target], stay_s: f64) -> Table {
    let columns = vec![
        Column::numbers("target_s", "iteration", Unit::SECONDS),
        Column::counts("static_ports", "static"),
        Column::counts("moving_ports", "R = 1"),
        Column::counts("at_least", "bound"),
        Column::counts("two_ports", "R = 2"),
        Column::counts("any_ports", "any R"),
        Column::counts("any_at_least", "bound, any R"),
        Column::numbers("saved", "saved", Unit::PERCENT),
        Column::numbers("over", "over static", Unit::PERCENT).priority(2),
        Column::numbers("nct", "NCT", Unit::RATIO.with_decimals(4)).priority(1),
    ];
    let mut table = Table::new(["target", "targets"], columns);
    let count = |ports: Option<u64>| ports.map_or_else(Cell::none, Cell::new);
    for target in targets {
        let stays = match target.stays {
            Some((ports, false)) => Cell::new(ports).note("not proven minimal"),
            stays => count(stays.map(|(ports, _)| ports)),
        };
        let saved = target.stays.zip(target.any);
        let saved = saved.map(|((stay, _), moves)| 1.0 - moves as f64 / stay.max(1) as f64);
        let row = table.row(vec![
            Cell::new(target.limit_s),
            stays,
            count(target.moves).tone(Tone::Answer),
            count(target.at_least),
            count(target.two),
            count(target.any),
            count(target.any_at_least),
            saved.map_or_else(Cell::none, Cell::new),
            Cell::new(target.limit_s / stay_s - 1.0),
            setting.evaluator.ideal.nct(target.limit_s).map_or_else(Cell::none, Cell::new),
        ]);
        row.sentence = sentence(target, stay_s);
    }
    table
}

/// The ports for one target.
fn sentence(target: &Target, stay_s: f64) -> Phrase {
    let over = number(target.limit_s / stay_s - 1.0, Unit::PERCENT);
    let seconds = number(target.limit_s, Unit::SECONDS);
    let phrase = Phrase::new().answer(format!("{seconds} s")).muted(format!(" ({over} % over static)  "));
    let known = |ports: Option<u64>| ports.map_or_else(|| "no plan".to_owned(), |ports| ports.to_string());
    let one = match (target.moves, target.at_least) {
        (None, None) => "R = 1: impossible".to_owned(),
        (moves, at_least) if moves == at_least => format!("R = 1: {} (proven)", known(moves)),
        (moves, at_least) => {
            format!("R = 1: {}, bound {}", known(moves), at_least.unwrap_or_default())
        }
    };
    phrase.text(format!(
        "static: {}  {one}  any R: {}",
        known(target.stays.map(|(ports, _)| ports)),
        known(target.any)
    ))
}

/// Dark times on a logarithmic line from 10 ns to 6 s: a letter for every kind of switch at its dark time, and `O` at
/// the dark time `delay_s`.
fn slider(delay_s: f64) -> Phrase {
    const FROM_S: f64 = 1e-8;
    const TO_S: f64 = 6.0;
    const CELLS: usize = 44;
    let place = |delay_s: f64| {
        let share = (delay_s.clamp(FROM_S, TO_S) / FROM_S).log10() / (TO_S / FROM_S).log10();
        (share * (CELLS - 1) as f64).round() as usize
    };
    let mut line = ['-'; CELLS];
    for (name, own_s) in SWITCHES {
        // Both kinds with mirrors begin with the same letter.
        let letter = if own_s >= 1.0 { 't' } else { name.chars().next().unwrap_or('-') };
        // Close kinds keep their letters in order.
        let free = (place(own_s)..CELLS).find(|at| line[*at] == '-');
        if let Some(at) = free {
            line[at] = letter;
        }
    }
    let at = place(delay_s);
    let (before, after): (String, String) = (line[..at].iter().collect(), line[at + 1..].iter().collect());
    Phrase::new().muted(format!("< 10 ns {before}")).answer("O").muted(format!("{after} 6 s >"))
}

fn curves(targets: &[Target]) -> Curves {
    let curve = |name: &str, label: &str, tone, ports: &dyn Fn(&Target) -> Option<u64>| Curve {
        name: name.to_owned(),
        label: label.to_owned(),
        unit: Unit::new("ports", 1.0, Some(0)),
        points: targets
            .iter()
            .filter_map(|target| Some(Point { at: target.limit_s, value: ports(target)? as f64 }))
            .collect(),
        tone,
        steps: true,
    };
    Curves {
        axis: "target_s",
        axis_label: "iteration",
        axis_unit: Unit::SECONDS,
        curves: vec![
            curve("static_ports", "static", Tone::Muted, &|target| target.stays.map(|(ports, _)| ports)),
            curve("moving_ports", "R = 1", Tone::Answer, &|target| target.moves),
            curve("two_ports", "R = 2", Tone::Muted, &|target| target.two),
            curve("any_ports", "any R", Tone::Text, &|target| target.any),
            curve("any_at_least", "bound, any R", Tone::Good, &|target| target.any_at_least),
        ],
        ..Curves::default()
    }
}

#[cfg(test)]
mod tests {
    use super::slider;

    #[test]
    fn the_slider_marks_the_kinds_of_switches_and_the_present_dark_time() {
        let line = |delay_s: f64| slider(delay_s).to_string();
        // 8.778 decades on 44 cells, 43 steps: 7 us is 2.845 decades above 10 ns (step 14), 10 us 3 (15), 1 ms 5 (24),
        // 25 ms 6.398 (31), 5.7 s 8.756 (43).
        assert_eq!(line(1e-3), "< 10 ns p-------------sr--------O------m-----------t 6 s >");
        assert_eq!(line(0.0), line(1e-8));
        assert!(line(1e-8).starts_with("< 10 ns O---"));
        assert!(line(3600.0).ends_with("-O 6 s >"));
        let lengths: Vec<usize> = [0.0, 7e-6, 1e-5, 0.025, 5.7, 6.0].map(|own| line(own).len()).to_vec();
        assert!(lengths.iter().all(|own| *own == lengths[0]), "{lengths:?}");
    }
}
