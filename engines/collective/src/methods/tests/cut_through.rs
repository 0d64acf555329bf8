//! Switches that cut through with ports of different rates. A chain of hops takes the sum of its latencies and its slowest
//! transmission. Right times are floors (bytes over the capacity of a cut) and schedules that meet them, by hand.

use super::*;
use crate::compose::figure;
use crate::plan::CollectiveResult;
use crate::scenario::CollectiveSort;
use crate::scenario::CollectiveSort::{
    AllGather, AllReduce, AllToAll, Broadcast, Gather, ReduceScatter, Scatter,
};

/// GPUs at a switch, with GB/s into it and out of it.
fn star(rates: &[(f64, f64)], collective: CollectiveSort) -> CollectiveScenario {
    let switch = rates.len() as u32;
    let ports = (0u32..).zip(rates);
    let links: Vec<_> =
        ports.flat_map(|(gpu, (up, down))| [(gpu, switch, *up, 0.7), (switch, gpu, *down, 0.7)]).collect();
    cutting_through(switch + 1, &[switch], &links, collective, rates.len() as f64 * 1e6)
}

fn cutting_through(
    nodes: u32,
    switches: &[u32],
    links: &[(u32, u32, f64, f64)],
    collective: CollectiveSort,
    bytes: f64,
) -> CollectiveScenario {
    let mut scenario = own(nodes, switches, links, &[]);
    scenario.demand = Demand::named(collective, bytes);
    scenario.topology.switch_model.hop = SwitchHop::CutThrough;
    scenario
}

/// Two switches with two GPUs each at 100 GB/s, and 20 GB/s between them.
fn two_switches(collective: CollectiveSort) -> CollectiveScenario {
    let pairs = [(0, 4, 100.0), (1, 4, 100.0), (2, 5, 100.0), (3, 5, 100.0), (4, 5, 20.0)];
    let both = |(a, b, rate): (u32, u32, f64)| [(a, b, rate, 0.7), (b, a, rate, 0.7)];
    let links: Vec<_> = pairs.into_iter().flat_map(both).collect();
    cutting_through(6, &[4, 5], &links, collective, 4e6)
}

/// The plan of `auto` ends in a range, and later than its floors; no link carries more than it can.
fn ends(scenario: &CollectiveScenario, least_us: f64, most_us: f64, least_replay_us: f64) {
    let plan = solved("auto", scenario);
    let plan = plan.plan();
    let (sort, value) = (scenario.demand.collective, plan.objective.value);
    let within = least_us * (1.0 - 1e-9) <= value && value <= most_us * (1.0 + 1e-9);
    assert!(within, "{sort:?} ends at {value}, not from {least_us} to {most_us}");
    let metric = |name: &str| plan.metrics.get(name).copied();
    assert!(metric(figure::BUSIEST).is_none_or(|share| share <= 1.0 + 1e-9), "{sort:?}: {:?}", plan.metrics);
    assert!(metric(figure::FLOOR).unwrap() <= value * (1.0 + 1e-9), "{sort:?}: {:?}", plan.metrics);
    if let Some(replay) = metric(figure::REPLAY) {
        assert!(replay >= least_replay_us - 1e-9, "{sort:?}: a replay of {replay} us");
    }
}

const FAST: (f64, f64) = (100.0, 100.0);

#[test]
fn a_slow_port_is_slow_both_ways() {
    let slow = |sort| star(&[FAST, (10.0, 10.0), FAST], sort);
    ends(&slow(Broadcast), 300.0, 300.0, 301.4);
    ends(&slow(Scatter), 100.0, 100.0, 101.4);
    ends(&slow(AllGather), 200.0, 200.0, 201.4);
    ends(&slow(AllToAll), 200.0, 200.0, 201.4);
    ends(&slow(Gather), 100.0, 110.0, 101.4);
    ends(&slow(ReduceScatter), 200.0, 200.0, 201.4);
    ends(&slow(AllReduce), 300.0, 400.0, 301.4);
}

#[test]
fn a_slow_way_down_is_slow() {
    let down = |sort| star(&[FAST, (100.0, 10.0), FAST], sort);
    ends(&down(Broadcast), 300.0, 300.0, 301.4);
    ends(&down(Scatter), 100.0, 100.0, 101.4);
    ends(&down(AllGather), 200.0, 200.0, 201.4);
    ends(&down(AllToAll), 200.0, 200.0, 201.4);
    ends(&down(ReduceScatter), 100.0, 110.0, 101.4);
    ends(&down(AllReduce), 300.0, 310.0, 300.0);
    ends(&down(Gather), 20.0, 20.0, 21.4);
}

#[test]
fn a_fast_port_after_a_slow_one_adds_nothing() {
    let up = |sort| star(&[FAST, (10.0, 100.0), FAST], sort);
    ends(&up(Broadcast), 30.0, 30.0, 31.4);
    ends(&up(Scatter), 20.0, 20.0, 21.4);
    ends(&up(Gather), 100.0, 110.0, 101.4);
    ends(&up(AllGather), 100.0, 110.0, 101.4);
    ends(&up(AllToAll), 200.0, 200.0, 201.4);
    ends(&up(ReduceScatter), 200.0, 200.0, 201.4);
    ends(&up(AllReduce), 300.0, 310.0, 300.0);
}

#[test]
fn equal_ports_stay_as_they_are() {
    let even = |sort| star(&[FAST, FAST, FAST], sort);
    ends(&even(Broadcast), 30.0, 30.0, 31.4);
    for sort in [Scatter, Gather, AllGather, AllToAll, ReduceScatter] {
        ends(&even(sort), 20.0, 20.0, 21.4);
    }
    ends(&even(AllReduce), 40.0, 40.0, 40.0);
}

#[test]
fn switches_that_store_pay_every_hop() {
    let stored = |mut scenario: CollectiveScenario, replay_us: f64, finish_us: f64| {
        scenario.topology.switch_model.hop = SwitchHop::StoreAndForward;
        let plan = solved("construct", &scenario);
        let claims = &plan.plan().result.claims;
        assert!((claims.finish_us - finish_us).abs() < 1e-6, "{}", claims.finish_us);
        assert!((claims.replay_us.unwrap() - replay_us).abs() < 1e-6, "{:?}", claims.replay_us);
    };
    stored(star(&[FAST, (10.0, 10.0), FAST], Broadcast), 331.4, 330.0);
    stored(two_switches(Broadcast), 282.1, 280.0);
}

/// Sums over ports that store: 2 or 3 MB leave the slow GPU at 10 GB/s and cross a fast link last, so 200 or 300 us, two
/// latencies, and less than 0.05 us for pieces and epochs; AllReduce is two of them.
#[test]
fn sums_through_switches_that_store_pay_both_latencies() {
    let four = [FAST, (50.0, 50.0), (25.0, 25.0), (10.0, 10.0)];
    for (rates, sum_us) in [(&[FAST, (10.0, 10.0), FAST][..], 201.4), (&four, 301.4)] {
        for (sort, times) in [(ReduceScatter, 1.0), (AllReduce, 2.0)] {
            let mut scenario = star(rates, sort);
            scenario.topology.switch_model.hop = SwitchHop::StoreAndForward;
            ends(&scenario, times * sum_us, times * (sum_us + 0.05), times * sum_us);
        }
    }
}

/// 64 MiB on eight GPUs without a switch; the floor is 746.667 us.
#[test]
fn sums_without_switches_end_near_their_floor() {
    let finish = solved("trees", &preset("ndv2x1-allreduce-64mb")).plan().objective.value;
    assert!((746.666..748.115).contains(&finish), "{finish}");
}

#[test]
fn a_slow_link_between_switches_is_paid_once() {
    ends(&two_switches(Broadcast), 200.0, 200.0, 202.1);
    ends(&two_switches(Scatter), 100.0, 100.0, 102.1);
    ends(&two_switches(Gather), 100.0, 110.0, 102.1);
    ends(&two_switches(AllGather), 100.0, 110.0, 102.1);
    ends(&two_switches(AllToAll), 200.0, 200.0, 202.1);
    ends(&two_switches(ReduceScatter), 100.0, 110.0, 102.1);
    ends(&two_switches(AllReduce), 200.0, 220.0, 202.1);
}

#[test]
fn four_rates_at_one_switch() {
    let four = |sort| star(&[FAST, (50.0, 50.0), (25.0, 25.0), (10.0, 10.0)], sort);
    ends(&four(ReduceScatter), 300.0, 300.0, 301.4);
    ends(&four(Gather), 100.0, 120.0, 101.4);
    ends(&four(AllToAll), 300.0, 300.0, 301.4);
    ends(&four(AllReduce), 400.0, 600.0, 401.4);
}

/// 2 of 18 links of 20.6 GB/s for one of four GPUs.
#[test]
fn a_gpu_with_fewer_links_is_waited_for() {
    let (whole, lame) = ((370.8, 370.8), (41.2, 41.2));
    let ports = |sort| star(&[whole, whole, lame, whole], sort);
    let us = |bytes: f64| bytes / 41_200.0;
    ends(&ports(Broadcast), us(4e6), us(4e6), us(4e6) + 1.4);
    ends(&ports(AllGather), us(3e6), us(3e6), us(3e6) + 1.4);
    ends(&ports(AllToAll), us(3e6), us(3e6), us(3e6) + 1.4);
    ends(&ports(ReduceScatter), us(3e6), 83.604, us(3e6) + 1.4);
    ends(&ports(AllReduce), us(4e6), 156.42, 97.087);
}

/// One of eight GPUs with an 18th of the rate of the others.
#[test]
fn stragglers_behind_a_switch_are_waited_for() {
    let mut rates = [(450.0, 450.0); 8];
    rates[1] = (450.0, 25.0);
    let eight = |sort| star(&rates, sort);
    ends(&eight(Broadcast), 320.0, 320.0, 321.4);
    ends(&eight(AllGather), 280.0, 280.0, 281.4);
    ends(&eight(AllToAll), 280.0, 280.0, 281.4);
    ends(&eight(Scatter), 40.0, 40.0, 41.4);
    ends(&eight(ReduceScatter), 40.0, f64::INFINITY, 40.0);
    ends(&eight(AllReduce), 320.0, f64::INFINITY, 320.0);
}

/// The way down of one GPU slows no gather on another one: 7 MB enter it at 450 GB/s.
#[test]
fn a_straggler_slows_no_gather_elsewhere() {
    let mut scenario = preset("h100x1-allgather-8mb");
    scenario.demand = Demand::named(Gather, 8e6);
    for (name, text) in [("switch_hop", "cut_through"), ("stragglers", "8-1:1:18")] {
        scenario.set(name, None, &lightbay_core::param::ParamValue::Text(text.to_owned())).unwrap();
    }
    ends(&scenario, 15.55, 16.7, 15.55);
}

/// The exact methods keep to the same rule.
#[test]
fn programs_and_rounds_pay_slow_ports() {
    for method in ["teccl-milp", "teccl-astar", "construct", "ring", "shortest-path"] {
        let scenario = star(&[FAST, (10.0, 10.0), FAST], AllGather);
        let plan = solved(method, &scenario);
        let claims = &plan.plan().result.claims;
        assert!(claims.finish_us >= 200.0 - 1e-9, "{method}: {}", claims.finish_us);
        assert!(claims.replay_us.unwrap() >= 201.4 - 1e-9, "{method}: {:?}", claims.replay_us);
    }
    let halves = star(&[FAST, (10.0, 10.0), FAST], AllReduce);
    assert!((solved("teccl-milp", &halves).plan().objective.value - 400.0).abs() < 1e-6);
}

/// A plan by hand, as hops out of switches once took nothing.
#[test]
fn a_hop_that_takes_nothing_is_refused() {
    let scenario = star(&[FAST, (10.0, 10.0), FAST], Broadcast);
    let mut result: CollectiveResult = solved("construct", &scenario).plan().result.clone();
    let send = |from, to, epoch| PieceSend { piece: 0, from, to, epoch };
    result.sends = vec![send(0, 3, 0), send(3, 1, 1), send(3, 2, 1)];
    (result.claims.finish_epochs, result.claims.finish_us) = (1, 30.0);
    let candidate = lightbay_core::kind::Candidate {
        value: 30.0,
        metrics: crate::compose::figures_of(&result, &scenario),
        result,
    };
    let envelope = crate::check::ScheduleEnvelope {
        value: candidate.value,
        bound: None,
        bound_covers: None,
        metrics: &candidate.metrics,
    };
    let told = crate::check::check(&scenario, &candidate.result, &envelope).violations;
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|one| one.contains("from 3 to 1 arrives at 300 us")), "{told:?}");
}

/// Two switches with two GPUs each at some rates, and a fast link between them.
fn fast_between(ports: [f64; 4], between: f64, collective: CollectiveSort) -> CollectiveScenario {
    let pairs = [(0, 4, ports[0]), (1, 4, ports[1]), (2, 5, ports[2]), (3, 5, ports[3]), (4, 5, between)];
    let both = |(a, b, rate): (u32, u32, f64)| [(a, b, rate, 0.7), (b, a, rate, 0.7)];
    let links: Vec<_> = pairs.into_iter().flat_map(both).collect();
    cutting_through(6, &[4, 5], &links, collective, 4e6)
}

/// Played backwards, a fast link between slow ones transmits as late as forwards: where its last byte is there.
#[test]
fn a_fast_link_between_slow_ones_plays_backwards() {
    // Every GPU sends and receives 3 MB at 10 GB/s.
    let even = |sort| fast_between([10.0; 4], 100.0, sort);
    ends(&even(ReduceScatter), 300.0, 300.0, 301.4);
    ends(&even(Gather), 300.0, 300.0, 301.4);
    ends(&even(AllReduce), 400.0, 600.0, 401.4);
}

/// The same where it stands between fast hops as well, so that what it carries slides by different times.
#[test]
fn a_link_between_fast_and_slow_ones_plays_backwards() {
    let mixed = |sort| fast_between([10.0, 100.0, 10.0, 100.0], 50.0, sort);
    ends(&mixed(ReduceScatter), 300.0, 400.0, 301.4);
    ends(&mixed(Gather), 300.0, 320.0, 301.4);
    ends(&mixed(AllReduce), 400.0, 800.0, 401.4);
}

/// Random networks of unequal ports, with up to three switches in a row: every plan passes the exact check, and none ends
/// below its floor. `LIGHTBAY_RANDOM_PORTS` sets the number of networks, `LIGHTBAY_RANDOM_FIRST` the number of the first.
#[test]
fn plans_of_random_ports_pass() {
    use lightbay_core::random::Streams;
    use rand::RngExt;
    let rates = [100.0, 50.0, 25.0, 10.0];
    let sorts = [Broadcast, Scatter, Gather, AllGather, AllToAll, ReduceScatter, AllReduce];
    let number = |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let first = number("LIGHTBAY_RANDOM_FIRST", 0);
    for case in first..first + number("LIGHTBAY_RANDOM_PORTS", 42) {
        let mut stream = Streams::new(7).stream(case);
        let mut draw = |below: u32| stream.random_range(0..below);
        let (gpus, switches) = (3 + draw(3), 1 + draw(3));
        let mut links = Vec::new();
        let mut both = |from: u32, to: u32, draw: &mut dyn FnMut(u32) -> u32| {
            for (from, to) in [(from, to), (to, from)] {
                links.push((from, to, rates[draw(4) as usize], 0.7 * f64::from(draw(2))));
            }
        };
        for gpu in 0..gpus {
            both(gpu, gpus + gpu % switches, &mut draw);
        }
        for switch in 1..switches {
            both(gpus + switch - 1, gpus + switch, &mut draw);
        }
        let switches: Vec<u32> = (gpus..gpus + switches).collect();
        let sort = sorts[case as usize % sorts.len()];
        let nodes = gpus + switches.len() as u32;
        let mut scenario = cutting_through(nodes, &switches, &links, sort, 1e6 * f64::from(gpus));
        scenario.topology.switch_model.copy = draw(3) > 0;
        scenario.topology.switch_model.reduce = draw(3) == 0;
        scenario.time.alpha_threshold = if draw(2) == 0 { 0.0 } else { 0.1 };
        let runs: [(&str, &[(&str, &str)]); 3] =
            [("construct", &[]), ("ring", &[]), ("auto", &[("programs_s", "0")])];
        for (method, params) in runs {
            let ended = Ask::of(&all(), method, scenario.clone()).typed(params).run();
            let done = &ended.done;
            assert!(done.plan.is_some(), "case {case}, {method}, {:?}: {done:?}", scenario.topology.links);
            let plan = downcast::<Collective>(done.plan.as_ref().unwrap()).unwrap();
            let exact = Checked::verify(plan.plan().clone(), Depth::EXACT);
            assert!(
                exact.is_ok(),
                "case {case}, {method}: {:?}",
                exact.map(|_| ()).map_err(|e| e.violations)
            );
        }
    }
}

/// Schedules reduce in switches where all ports are equal, and say where they do not.
#[test]
fn switches_that_do_not_reduce_are_reported() {
    use lightbay_core::kind::Kind;
    let caveat = |rates: &[(f64, f64)], method: &str, collective, reduce| {
        let mut scenario = star(rates, collective);
        scenario.topology.switch_model.reduce = reduce;
        let plan = solved(method, &scenario);
        Collective::caveat(plan.plan()).unwrap_or_default()
    };
    let slow = [FAST, (10.0, 10.0), FAST];
    // `auto` reduces in switches in epochs that take all ports as equal.
    for method in ["construct", "ring", "trees"] {
        for collective in [ReduceScatter, AllReduce] {
            let told = caveat(&slow, method, collective, true);
            assert!(told.contains("GPUs do all reductions"), "{method}: {told}");
        }
        for (rates, collective, reduce) in
            [(&[FAST; 3], ReduceScatter, true), (&slow, ReduceScatter, false), (&slow, AllGather, true)]
        {
            let told = caveat(rates, method, collective, reduce);
            assert!(!told.contains("reduce"), "{method} {collective:?}: {told}");
        }
    }
}

/// What a model of the reversed network rules out proves nothing where transmissions slide: no bound in epochs but that
/// of paths and cuts is claimed.
#[test]
fn programs_on_reversed_networks_prove_nothing_where_links_slide() {
    let mut scenario = star(&[FAST, (10.0, 10.0), FAST], ReduceScatter);
    scenario.topology.switch_model.reduce = true;
    let plan = solved("teccl-milp", &scenario);
    let (objective, claims) = (&plan.plan().objective, &plan.plan().result.claims);
    let by_cuts = f64::from(claims.lower_bound_epochs.unwrap()) * plan.plan().result.time.epoch_us;
    assert!(objective.bound.is_none_or(|bound| bound <= by_cuts * (1.0 + 1e-9)), "{objective:?}");
}

/// Two switches in a row, where two parts of one sum cross between them at once: 0 sends by way of both switches to 1, and 3
/// to 2. A replay that lets a part leave for a GPU first would find the rest going round in a circle.
#[test]
fn parts_that_cross_between_switches_are_replayed() {
    let links = [
        (0, 4, 25.0, 0.0),
        (4, 0, 25.0, 0.0),
        (1, 5, 50.0, 0.0),
        (5, 1, 100.0, 0.0),
        (2, 4, 100.0, 0.0),
        (4, 2, 50.0, 0.0),
        (3, 5, 25.0, 0.0),
        (5, 3, 25.0, 0.0),
        (4, 5, 100.0, 0.7),
        (5, 4, 100.0, 0.7),
    ];
    for collective in [ReduceScatter, AllReduce, Gather] {
        let mut scenario = cutting_through(6, &[4, 5], &links, collective, 4e6);
        for (copy, reduce) in [(false, false), (true, false), (false, true), (true, true)] {
            scenario.topology.switch_model.copy = copy;
            scenario.topology.switch_model.reduce = reduce;
            for method in ["construct", "auto"] {
                let plan = solved(method, &scenario);
                let claims = &plan.plan().result.claims;
                // 3 MB leave GPU 0 at 25 GB/s; of a Gather one shard does.
                let least_us = if collective == Gather { 40.0 } else { 120.0 };
                assert!(claims.finish_us >= least_us * (1.0 - 1e-9), "{method}: {}", claims.finish_us);
            }
        }
    }
}
