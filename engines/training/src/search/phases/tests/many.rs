//! More than one reconfiguration: what carries, and plans without a proof against values and bounds known from
//! elsewhere.

use super::super::steps::carrying;
use super::*;
use crate::model::samples::stream;
use crate::simulate::evaluate::Lit;
use rand::RngExt;

/// Circuits that stood at every moment of the dark time before `time_s`, looked up moment by moment.
fn stood(plan: &Stepped, delay_s: f64, time_s: f64) -> Vec<u32> {
    let period_s = plan.period_s;
    let state = |time_s: f64| {
        let first_s = plan.from_s[0];
        let within_s = (time_s - first_s).rem_euclid(period_s) + first_s;
        let at = plan.from_s.partition_point(|from_s| *from_s <= within_s);
        &plan.states[at - 1]
    };
    let looks = (0..=4000).map(|look| state(time_s - delay_s * f64::from(look) / 4000.0));
    looks.fold(vec![u32::MAX; plan.states[0].len()], |fewest, state| {
        fewest.iter().zip(state).map(|(a, b)| *a.min(b)).collect()
    })
}

#[test]
fn what_carries_stood_all_through_the_dark_time_also_around_the_end() {
    let mut random = stream(7);
    for case in 0..60 {
        let count = random.random_range(1..6);
        let delay_s = [0.0, 0.05, 0.3, 0.9][case % 4];
        let early_s = if case % 2 == 0 { 0.0 } else { -delay_s * random.random::<f64>() };
        let mut from_s: Vec<f64> = (1..count).map(|_| 0.9 * random.random::<f64>() + 0.01).collect();
        from_s.push(early_s);
        from_s.sort_by(f64::total_cmp);
        let states = (0..count).map(|_| (0..3).map(|_| random.random_range(0..5)).collect()).collect();
        let plan = Stepped { states, from_s, period_s: 1.0 + delay_s };
        let mut lit = Lit::default();
        carrying(&plan.states, &plan.from_s, (delay_s, plan.period_s), &mut lit);
        for pair in lit.times.windows(2).filter(|pair| pair[1] - pair[0] > 1e-3 && pair[1] < plan.period_s) {
            let middle = f64::midpoint(pair[0], pair[1]);
            let at = lit.times.partition_point(|time_s| *time_s <= middle) - 1;
            let own = &lit.circuits[3 * at..3 * at + 3];
            assert_eq!(own, stood(&plan, delay_s, middle), "case {case} at {middle}: {plan:?}");
        }
    }
}

/// The shortest period found with at most `most` reconfigurations, from the best with one, and the bound for any
/// number.
fn shortest(evaluator: &Evaluator, delay_s: f64, most: u32) -> (f64, f64) {
    let (stay, caps) = resting(evaluator);
    let mut task = MoveTask {
        evaluator,
        delay_s,
        caps: &caps,
        aim: Aim::Time,
        known: stay.makespan,
        close: 1e-5 * evaluator.ideal.path.comm,
        boxes: 4_000,
    };
    let watch = &mut Unwatched::default();
    let least_s = least_period::<Stepped, _>(task, watch).unwrap();
    let one = search(task, watch).unwrap().best.map(|best| Stepped::of(&best, delay_s));
    let mut best =
        one.unwrap_or(Stepped { states: vec![stay.x.clone()], from_s: vec![0.0], period_s: stay.makespan });
    task.boxes = 100_000;
    task.known = best.period_s;
    if let Some(found) = search_demand(task, most, watch).unwrap() {
        task.known = found.period_s;
        best = found;
    }
    let found = search_more(task, &best, most, watch).unwrap().unwrap_or(best);
    assert!(found.switchings() <= most, "{} of {most}", found.switchings());
    assert!(least_s <= found.period_s, "bound {least_s} above {}", found.period_s);
    (found.period_s, least_s)
}

#[test]
fn many_switchings_shorten_iterations_whose_first_transfers_come_early() {
    for (name, delay_s, most, known_s) in [
        ("small", 0.025, 1000, 0.351_558),
        ("one_stage_per_pod", 0.025, 1000, 0.350_719),
        ("one_stage_per_pod", 1e-5, 1000, 0.337_891),
        ("one_stage_per_pod", 1e-3, 1000, 0.339_871),
        // One reconfiguration takes 11.333986 s.
        ("mixtral_8x22b", 1.0, 2, 11.333_756),
    ] {
        let evaluator = preset(name, "").within_ports();
        let (found_s, _) = shortest(&evaluator, delay_s, most);
        assert!(found_s <= known_s + 6e-7, "{name} at {delay_s} s: {found_s}, not {known_s}");
    }
}

/// Fewest ports with any number of reconfigurations on demand at the static makespan times `over`.
fn on_demand(evaluator: &Evaluator, delay_s: f64, over: f64, most: u32) -> Option<(u64, u32)> {
    let (stay, _) = resting(evaluator);
    let limit_s = stay.makespan * over * (1.0 + 1e-7);
    let caps = useful_within(&evaluator.network, limit_s);
    let aim = Aim::Ports { limit_s };
    let task = MoveTask { evaluator, delay_s, caps: &caps, aim, known: 1e9, close: 0.5, boxes: 2_000 };
    let found = search_demand(task, most, &mut Unwatched::default()).unwrap()?;
    Some((found.ports(evaluator), found.switchings()))
}

#[test]
fn circuits_on_demand_need_the_fewest_ports() {
    for (name, delay_s, over, ports) in [
        ("small", 1e-3, 1.0, 16),
        ("small", 1e-5, 1.01, 14),
        ("small", 1e-3, 1.01, 16),
        ("one_stage_per_pod", 1e-3, 1.0, 9),
        ("megatron_177b", 1e-3, 1.01, 22),
        ("megatron_177b", 0.025, 1.01, 24),
        ("mixtral_8x22b", 0.025, 1.0, 28),
        ("mixtral_8x22b", 1e-3, 1.01, 18),
    ] {
        let found = on_demand(&preset(name, "").within_ports(), delay_s, over, 100_000).unwrap();
        assert!(found.0 <= ports, "{name} at {delay_s} s, {over}: {found:?}, not {ports}");
    }
}

#[test]
fn few_switchings_are_kept_to() {
    let evaluator = preset("megatron_177b", "").within_ports();
    let mut found = 0;
    for most in [2, 5, 20, 250] {
        if let Some((ports, switchings)) = on_demand(&evaluator, 1e-3, 1.01, most) {
            found += 1;
            assert!(switchings <= most, "{most}: {ports} with {switchings}");
        }
    }
    assert!(found > 0);
}
