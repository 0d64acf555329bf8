#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::programs::circuit_bounds::useful_within;
use crate::scenario::TrainingScenario;
use crate::scenario::job::PortsPerPod;
use crate::scenario::presets;
use crate::search::allocations::{self, VectorTask};
use crate::search::baselines::Baseline;
use crate::search::circuits::Circuits;
use crate::simulate::evaluate::{Rates, Scratch};
use lightbay_core::watch::Unwatched;

mod many;
mod oracle;

/// The best static circuits, and the most circuits that are worth trying.
fn resting(evaluator: &Evaluator) -> (Circuits, Vec<u32>) {
    let mut scratch = Scratch::default();
    let found = Baseline::ALL.map(|baseline| {
        let x = baseline.allocate(&evaluator.network);
        let makespan = evaluator.makespan(&x, Rates::Best, &mut scratch);
        Circuits { ports: evaluator.network.budget.total(&x), makespan, x }
    });
    let start = found.into_iter().min_by(|a, b| a.makespan.total_cmp(&b.makespan)).unwrap();
    let caps = useful_within(&evaluator.network, start.makespan);
    let proof = allocations::search(
        VectorTask::new(evaluator, Rates::Best, &caps),
        Some(&start),
        &mut Unwatched::default(),
    );
    (proof.unwrap().best.unwrap_or(start), caps)
}

fn preset(name: &str, change: &str) -> Evaluator {
    let mut job = presets::job(name).unwrap().job();
    match change {
        "" => {}
        "200" => job.run.bandwidth_gbps = 200.0,
        "100" => job.run.bandwidth_gbps = 100.0,
        share => {
            let share: f64 = share.parse().unwrap();
            let ports = job.shape().unwrap().ports;
            let ports = ports.iter().map(|ports| (f64::from(*ports) * share) as u32).collect();
            job.ports_per_pod = Some(PortsPerPod::ByPosition(ports));
        }
    }
    Evaluator::new(&TrainingScenario::Job(job).build().unwrap().instance).unwrap()
}

/// Period of one reconfiguration, or of static circuits, and whether it is proven.
fn period(evaluator: &Evaluator, delay_s: f64, boxes: u64) -> (f64, f64, bool) {
    let (stay, caps) = resting(evaluator);
    let task = MoveTask {
        evaluator,
        delay_s,
        caps: &caps,
        aim: Aim::Time,
        known: stay.makespan,
        close: (0.5e-7 * stay.makespan).max(1e-5 * evaluator.ideal.path.comm),
        boxes,
    };
    let proof = search(task, &mut Unwatched::default()).unwrap();
    (stay.makespan, proof.best.map_or(stay.makespan, |best| best.period_s), proof.complete)
}

#[track_caller]
fn assert_period(name: &str, delay_s: f64, expected: f64) {
    let (_, value, complete) = period(&preset(name, ""), delay_s, 200_000);
    assert!(complete, "{name} at {delay_s} s is proven");
    assert!((value - expected).abs() < 6e-7, "{name} at {delay_s} s: {value}, not {expected}");
}

#[test]
fn one_switching_reaches_the_ideal_of_small_jobs() {
    for delay_s in [0.0, 1e-5, 1e-3, 0.025] {
        assert_period("tiny4", delay_s, 0.449_082);
        assert_period("tiny8", delay_s, 0.675_070);
    }
    for delay_s in [0.0, 1e-5, 1e-3] {
        assert_period("small", delay_s, 0.351_051);
    }
}

/// Here the return, too, has to be timed to the last digit.
#[test]
fn one_switching_gains_where_the_dark_time_delays_the_first_transfers() {
    for (name, delay_s, expected) in [
        ("small", 0.025, 0.351_557),
        ("one_stage_per_pod", 0.025, 0.350_831),
        ("mixtral_8x22b", 1.0, 11.333_986),
        ("megatron_177b", 5.7, 12.829_349),
    ] {
        assert_period(name, delay_s, expected);
    }
}

#[test]
fn one_switching_is_proven_where_the_ideal_is_out_of_reach() {
    for delay_s in [0.0, 1e-5, 1e-3] {
        assert_period("one_stage_per_pod", delay_s, 0.340_723);
    }
}

#[test]
fn one_switching_reaches_the_ideal_of_large_jobs_with_mirrors_that_take_25_ms() {
    for (name, expected) in
        [("megatron_177b", 12.801_242), ("mixtral_8x22b", 11.331_479), ("deepseek_671b", 12.045_428)]
    {
        assert_period(name, 0.025, expected);
    }
    assert_period("megatron_177b", 1.0, 12.803_759);
}

#[test]
fn few_ports_and_slow_nics_gain_more() {
    for (name, change, stay_nct, nct) in [
        ("tiny4", "0.75", 1.222, 1.0),
        ("tiny4", "0.5", 3.062, 1.198),
        ("tiny4", "200", 1.053, 1.0),
        ("tiny4", "100", 1.164, 1.0),
        ("small", "0.75", 1.653, 1.043),
        ("small", "0.5", 3.284, 1.465),
        ("one_stage_per_pod", "0.75", 2.977, 1.491),
        ("megatron_177b", "0.75", 1.331, 1.049),
        ("megatron_177b", "0.5", 2.385, 1.573),
    ] {
        let evaluator = preset(name, change);
        let (stay, value, complete) = period(&evaluator, 1e-3, 200_000);
        let nct_of = |makespan| evaluator.ideal.nct(makespan).unwrap();
        assert!((nct_of(stay) - stay_nct).abs() < 6e-4, "{name} {change}: static {}", nct_of(stay));
        assert!((nct_of(value) - nct).abs() < 6e-4, "{name} {change}: {}", nct_of(value));
        assert!(complete, "{name} {change}");
    }
}

/// Whether two states and two instants allow a period, from the definitions alone: what stood all through the dark
/// time carries, and last transfers fit if every set of them does.
fn allows(evaluator: &Evaluator, found: &Moving, delay_s: f64, period_s: f64) -> bool {
    let network = &evaluator.network;
    let (go, back) = (found.go_s, found.back_s.min(period_s));
    if go >= back {
        return false;
    }
    let state = |time: f64, link: usize| {
        let time = time.rem_euclid(period_s);
        if time >= go && time < back { found.second[link] } else { found.first[link] }
    };
    let mut marks = vec![0.0, go, back, (go + delay_s) % period_s, (back + delay_s) % period_s, period_s];
    marks.retain(|mark| (0.0..=period_s).contains(mark));
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    let lit = |from: f64, to: f64, link: usize| {
        let middle = f64::midpoint(from, to);
        // Changes between here and the dark time before it are at the instants, so a few moments show every state.
        let mut looks = vec![middle, middle - delay_s];
        for periods in 0..=(delay_s / period_s).ceil() as i32 + 1 {
            for instant in [go, back, 0.0] {
                let instant = instant - f64::from(periods) * period_s;
                looks.extend([instant, instant - 1e-12 * period_s]);
            }
        }
        looks.retain(|look| *look <= middle && *look >= middle - delay_s);
        looks.into_iter().map(|look| state(look, link)).min().unwrap()
    };
    let mut finish = vec![0.0; network.tasks()];
    let mut release = vec![0.0; network.tasks()];
    for &task in &network.order {
        let index = task as usize;
        let ready = network.preds.of(task).iter().map(|arc| finish[arc.task as usize] + arc.delay);
        release[index] = ready.fold(network.release[index], f64::max);
        if network.is_sink(task) {
            continue;
        }
        let mut left = network.tau[index];
        finish[index] = f64::INFINITY;
        for pair in marks.windows(2) {
            let (from, to) = (pair[0].max(release[index]), pair[1]);
            if from >= to {
                continue;
            }
            let speed =
                (f64::from(lit(pair[0], pair[1], network.link_of(task))) / network.flows[index]).min(1.0);
            if left <= speed * (to - from) * (1.0 + 1e-12) {
                finish[index] = from + left / speed;
                break;
            }
            left -= speed * (to - from);
        }
        if finish[index] + network.tail[index] > period_s {
            return false;
        }
    }
    network.carried.iter().enumerate().all(|(via, tasks)| {
        let sinks: Vec<usize> =
            tasks.iter().filter(|task| network.is_sink(**task)).map(|task| *task as usize).collect();
        (1_usize..1 << sinks.len()).all(|set| {
            let within: Vec<usize> =
                (0..sinks.len()).filter(|at| set >> at & 1 == 1).map(|at| sinks[at]).collect();
            let end = period_s - within.iter().map(|task| network.tail[*task]).fold(0.0, f64::max);
            let mut cuts = marks.clone();
            cuts.extend(within.iter().map(|task| release[*task]));
            cuts.push(end);
            cuts.retain(|cut| *cut <= end);
            cuts.sort_by(f64::total_cmp);
            let fits: f64 = cuts
                .windows(2)
                .filter(|pair| pair[1] > pair[0])
                .map(|pair| {
                    let middle = f64::midpoint(pair[0], pair[1]);
                    let open = within.iter().filter(|task| release[**task] <= middle);
                    let flows: f64 = open.map(|task| network.flows[*task]).sum();
                    let at = marks.partition_point(|mark| *mark <= middle);
                    let carries = lit(marks[at - 1], marks[at], via / 2);
                    f64::from(carries).min(flows) * (pair[1] - pair[0])
                })
                .sum();
            let work: f64 = within.iter().map(|task| network.tau[*task] * network.flows[*task]).sum();
            work <= fits * (1.0 + 1e-12)
        })
    })
}

#[test]
fn no_schedule_of_random_small_jobs_beats_the_bound() {
    use crate::model::samples::{random_tail_exact, stream};
    use rand::RngExt;
    let (mut gained, mut tried) = (0, 0);
    for seed in 0..40 {
        let evaluator = Evaluator::new(&random_tail_exact(seed)).unwrap();
        let (stay, caps) = resting(&evaluator);
        let budget = &evaluator.network.budget;
        let mut random = stream(1000 + seed);
        for delay_s in [0.0, 0.004, 0.02] {
            let task = MoveTask {
                evaluator: &evaluator,
                delay_s,
                caps: &caps,
                aim: Aim::Time,
                known: stay.makespan,
                close: 1e-6 * stay.makespan,
                boxes: 4_000,
            };
            let proof = search(task, &mut Unwatched::default()).unwrap();
            let bound = proof.bound.min(stay.makespan) * (1.0 - 1e-6);
            if let Some(best) = &proof.best {
                gained += 1;
                assert!(
                    allows(&evaluator, best, delay_s, best.period_s * (1.0 + 1e-9)),
                    "{seed} {delay_s} {best:?}"
                );
            }
            for _ in 0..400 {
                let near = proof.best.as_ref().filter(|_| random.random::<bool>());
                let mut state = |known: Option<&Vec<u32>>| -> Vec<u32> {
                    (0..budget.links())
                        .map(|link| match known {
                            Some(known) if random.random::<bool>() => known[link],
                            _ => random.random_range(0..=budget.limit(link)),
                        })
                        .collect()
                };
                let (first, second) =
                    (state(near.map(|best| &best.first)), state(near.map(|best| &best.second)));
                let mut times = [random.random::<f64>() * bound, random.random::<f64>() * bound];
                times.sort_by(f64::total_cmp);
                if let Some(best) = near {
                    times = [best.go_s * (0.98 + 0.04 * random.random::<f64>()), bound];
                }
                let fits = |state: &Vec<u32>| budget.free(state).iter().all(|free| *free >= 0);
                if !fits(&first) || !fits(&second) {
                    continue;
                }
                tried += 1;
                let other = Moving { first, second, go_s: times[0], back_s: times[1], period_s: bound };
                assert!(!allows(&evaluator, &other, delay_s, bound), "{seed} {delay_s}: {bound} {other:?}");
            }
        }
    }
    assert!(gained > 20 && tried > 5_000, "{gained} gained, {tried} tried");
}

/// Fewest ports with one reconfiguration, or with static circuits, at the static makespan.
fn fewest(evaluator: &Evaluator, delay_s: f64, over: f64, boxes: u64) -> (u64, u64, bool) {
    let (stay, _) = resting(evaluator);
    let target = Circuits { makespan: stay.makespan * over, ..stay };
    let caps = useful_within(&evaluator.network, target.makespan);
    let fixed = VectorTask::new(evaluator, Rates::Best, &caps);
    let stay = crate::search::ports::fewest(fixed, &target, &mut Unwatched::default()).unwrap();
    let task = MoveTask {
        evaluator,
        delay_s,
        caps: &caps,
        aim: Aim::Ports { limit_s: target.makespan * (1.0 + 1e-7) },
        known: stay.found.ports as f64,
        close: 0.5,
        boxes,
    };
    let proof = search(task, &mut Unwatched::default()).unwrap();
    let ports = proof.best.as_ref().map_or(stay.found.ports, |best| best.ports(evaluator));
    (stay.found.ports, ports, proof.complete)
}

#[test]
fn one_switching_needs_the_fewest_ports_at_the_same_makespan() {
    for (name, delay_s, over, stay, ports) in [
        ("tiny4", 1e-3, 1.0, 7, 5),
        ("tiny4", 0.025, 1.0, 7, 5),
        ("tiny8", 0.025, 1.01, 7, 5),
        ("small", 1e-3, 1.0, 28, 18),
        ("small", 0.025, 1.0, 28, 22),
        ("one_stage_per_pod", 1e-3, 1.0, 15, 9),
        ("one_stage_per_pod", 0.025, 1.0, 15, 12),
        ("megatron_177b", 1e-3, 1.0, 42, 29),
        ("megatron_177b", 0.025, 1.0, 42, 30),
    ] {
        let found = fewest(&preset(name, ""), delay_s, over, 100_000);
        assert_eq!(found, (stay, ports, true), "{name} at {delay_s} s");
    }
}

/// Fewest ports at the static makespan: with two reconfigurations, and the bound for any number.
fn fewest_of_more(evaluator: &Evaluator, delay_s: f64, over: f64, one: u64) -> (u64, Option<u64>) {
    let (stay, _) = resting(evaluator);
    let limit_s = stay.makespan * over * (1.0 + 1e-7);
    let caps = useful_within(&evaluator.network, limit_s);
    let task = MoveTask {
        evaluator,
        delay_s,
        caps: &caps,
        aim: Aim::Ports { limit_s },
        known: one as f64,
        close: 0.5,
        boxes: 1_000_000,
    };
    let two = search_two(task, None, &mut Unwatched::default()).unwrap();
    let least = least_ports::<Stepped, _>(task, limit_s, &mut Unwatched::default()).unwrap();
    (two.map_or(one, |two| two.ports(evaluator)), least)
}

#[test]
fn two_switchings_need_fewer_ports_and_none_fewer_than_the_bound_for_any_number() {
    for (name, delay_s, over, one, two, bound) in [
        ("tiny4", 0.025, 1.0, 5, 5, 5),
        ("small", 1e-3, 1.0, 18, 18, 16),
        ("small", 1e-3, 1.01, 18, 16, 14),
        ("one_stage_per_pod", 0.025, 1.0, 12, 12, 9),
        ("megatron_177b", 0.025, 1.0, 30, 26, 26),
        ("megatron_177b", 0.025, 1.01, 24, 24, 22),
    ] {
        let found = fewest_of_more(&preset(name, ""), delay_s, over, one);
        assert_eq!(found, (two, Some(bound)), "{name} at {delay_s} s, target times {over}");
    }
}

/// All ways to give pods `total` ports of their own at most.
fn port_vectors(own: &[u32], total: u32) -> Vec<Vec<u32>> {
    let Some((last, rest)) = own.split_last() else {
        return if total == 0 { vec![Vec::new()] } else { Vec::new() };
    };
    let mut all = Vec::new();
    for ports in 0..=total.min(*last) {
        for mut vector in port_vectors(rest, total - ports) {
            vector.push(ports);
            all.push(vector);
        }
    }
    all
}

/// One more port never makes a plan worse, so that vectors with one port less than the fewest are enough.
#[test]
fn no_ports_of_pods_with_one_less_than_the_fewest_reach_the_target() {
    use crate::model::samples::random_tail_exact;
    let (mut moved, mut tried) = (0, 0);
    for seed in 0..SEEDS {
        let instance = random_tail_exact(seed);
        let evaluator = Evaluator::new(&instance).unwrap();
        let (stay, _) = resting(&evaluator);
        let target = Circuits { makespan: stay.makespan * 1.02, ..stay };
        let limit_s = target.makespan * (1.0 + 1e-7);
        let caps = useful_within(&evaluator.network, target.makespan);
        let fixed = VectorTask::new(&evaluator, Rates::Best, &caps);
        let stay = crate::search::ports::fewest(fixed, &target, &mut Unwatched::default()).unwrap().found;
        for delay_s in [0.0, 0.005] {
            let task = MoveTask {
                evaluator: &evaluator,
                delay_s,
                caps: &caps,
                aim: Aim::Ports { limit_s },
                known: stay.ports as f64,
                close: 0.5,
                boxes: 20_000,
            };
            let proof = search(task, &mut Unwatched::default()).unwrap();
            if !proof.complete {
                continue;
            }
            let fewest = proof.best.as_ref().map_or(stay.ports, |best| best.ports(&evaluator));
            moved += u32::from(fewest < stay.ports);
            let least = least_ports::<Stepped, _>(task, limit_s, &mut Unwatched::default()).unwrap();
            assert!(least.is_none_or(|least| least <= fewest), "{seed} {delay_s}: {least:?} {fewest}");
            let real: Vec<usize> =
                (0..instance.pods.len()).filter(|pod| !instance.pods[*pod].mirror).collect();
            let own: Vec<u32> = real.iter().map(|pod| instance.pods[*pod].ports).collect();
            for vector in port_vectors(&own, fewest as u32 - 1) {
                let mut fewer = instance.clone();
                for (pod, ports) in real.iter().zip(&vector) {
                    fewer.pods[*pod].ports = *ports;
                }
                let Ok(evaluator) = Evaluator::new(&fewer) else { continue };
                let task = MoveTask {
                    evaluator: &evaluator,
                    aim: Aim::Time,
                    known: limit_s * (1.0 + 1e-6),
                    close: 1e-7 * limit_s,
                    boxes: 4_000,
                    ..task
                };
                tried += 1;
                let best = search(task, &mut Unwatched::default()).unwrap().best;
                assert!(
                    best.as_ref().is_none_or(|best| best.period_s > limit_s),
                    "{seed} {delay_s}: {vector:?} of {fewest} ports suffice: {best:?}"
                );
            }
        }
    }
    assert!(moved > 2 && tried > 50, "{moved} moved, {tried} tried");
}

/// Random jobs of the test above.
const SEEDS: u64 = 12;
