#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::scenario::TrainingScenario;
use crate::scenario::presets;
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;

fn pair(name: &str) -> SharedPods {
    match presets::scenario(name) {
        Some(TrainingScenario::Shared(shared)) => shared,
        other => panic!("{name} is {other:?}"),
    }
}

fn streams(number: u64) -> Stream {
    Streams::new(1).stream(number)
}

/// Every job alone, then trades until nobody gains; the trades in order.
fn traded(shared: &SharedPods, rates: Rates) -> (Team, Vec<Trade>) {
    let (effort, mut watch) = (JobEffort::default(), Unwatched::default());
    let mut team = Team::new(shared, rates).unwrap();
    for member in 0..team.members.len() {
        team.plan_alone(member, effort, &streams, &mut watch).unwrap();
    }
    team.restart();
    let mut done = Vec::new();
    loop {
        let offers: Vec<Trade> = (0..team.members.len())
            .filter_map(|member| {
                let ports = team.available(member);
                team.trade(member, &ports, effort, &streams, &mut watch).unwrap()
            })
            .collect();
        let Some(trade) = best_trade(offers) else { return (team, done) };
        team.accept(trade.clone());
        done.push(trade);
    }
}

#[test]
fn what_one_job_spares_is_open_to_the_other() {
    let shared = pair("tiny4_pair");
    let (team, _) = traded(&shared, Rates::Best);
    // Two pods of 4 GPUs each; both jobs bring 4 ports to each pod.
    assert_eq!(team.budget, [8, 8]);
    for (index, member) in team.members.iter().enumerate() {
        let other = &team.members[1 - index];
        let left: Vec<u32> =
            other.used(&other.now).iter().zip(&team.budget).map(|(used, budget)| budget - used).collect();
        assert_eq!(team.available(index), left);
        // The other keeps a through circuit (1) and a ring circuit (1) in each pod: with two replicas a ring costs 1.
        assert_eq!(team.widest(index), [6, 6], "{}", member.name);
    }
}

#[test]
fn of_equal_gains_the_job_listed_last_takes() {
    let (team, trades) = traded(&pair("megatron_177b_pair"), Rates::Best);
    assert!(!trades.is_empty(), "the pair has ports to trade");
    assert_eq!(trades[0].member, 1);
    assert!(team.fits());
}

#[test]
fn one_job_could_give_what_it_does_not_need() {
    let built = presets::scenario("megatron_177b").unwrap().build().unwrap();
    let evaluator = Evaluator::new(&built.instance).unwrap();
    let solved =
        best(&evaluator, Rates::Best, &[], JobEffort::default(), &streams, &mut Unwatched::default())
            .unwrap();
    let found = solved.kept.found;
    let spared =
        surplus(&evaluator, Rates::Best, &found.x, found.makespan, &mut Unwatched::default()).unwrap();
    assert_eq!(spared.ports, [16, 16, 16]);
    assert_eq!(spared.needed.iter().sum::<u32>(), 42);
    assert_eq!(spared.used, evaluator.network.budget.used(&found.x));
}
