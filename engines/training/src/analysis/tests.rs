#![allow(clippy::unwrap_used, clippy::panic)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{random_dag, random_tail_exact, toy_a, toy_b};
use crate::simulate::schedule;

fn explained(instance: Instance, x: &[u32], rates: Rates) -> Analysis {
    let evaluator = Evaluator::new(&instance).unwrap();
    let trace = evaluator.trace(x, rates, &mut Scratch::default());
    let result = schedule::result(&evaluator, x, rates.control(), &trace);
    Analysis::new(&TrainingScenario::Instance(instance), &result).unwrap()
}

#[test]
fn rates_of_both_rules_stand_side_by_side() {
    let analysis = explained(toy_a(), &[3], Rates::Level);
    let steps = |control| {
        let rates = analysis.rates(0, control);
        let times: Vec<f64> = rates.times_s.iter().map(|time| (time * 3e5).round() / 3e2).collect();
        let nics: Vec<Vec<f64>> = rates
            .tasks
            .iter()
            .map(|task| task.nics.iter().map(|nics| (nics * 1e6).round() / 1e6).collect())
            .collect();
        (times, nics)
    };
    // The example: 10-23.33 ms both at 1.5 NICs under fair sharing; level-first task 1 at 2 and task 0 at 1 until 30
    // ms.
    assert_eq!(
        steps(RateControl::Fair),
        (
            vec![0.0, 10.0, 23.333_333_333_333_332, 33.333_333_333_333_336],
            vec![vec![2.0, 1.5, 0.0], vec![0.0, 1.5, 2.0]]
        )
    );
    assert_eq!(steps(RateControl::Joint), (vec![0.0, 10.0, 30.0], vec![vec![2.0, 1.0], vec![0.0, 2.0]]));
    // Nothing goes the other way.
    assert_eq!(analysis.rates(1, RateControl::Fair), LinkRates::default());
}

#[test]
fn demand_is_what_all_active_flows_would_take() {
    let analysis = explained(toy_a(), &[3], Rates::Fair);
    let demand = &analysis.demand[0];
    let flows: Vec<f64> = demand.steps.iter().map(|step| step.flows).collect();
    assert_eq!(flows, [2.0, 4.0, 2.0]);
    // Four flows on three circuits from 10 to 23.33 ms; each task takes 10/3 ms longer than alone.
    assert!((demand.above_s * 1e3 - 40.0 / 3.0).abs() < 1e-6, "{demand:?}");
    assert!((demand.late_s * 1e3 - 20.0 / 3.0).abs() < 1e-6, "{demand:?}");
    assert!((demand.costs_s * 1e3 - 10.0 / 3.0).abs() < 1e-6, "{demand:?}");
    assert_eq!((demand.peak_flows, demand.circuits), (4, 3));
    assert_eq!(analysis.demand[1], Demand { circuits: 3, ..Demand::default() });
}

#[test]
fn links_that_nothing_critical_needs_are_donors() {
    // Two circuits for C, which could do with one: B ends the iteration at 50 ms, C at 35.
    let analysis = explained(toy_b(), &[1, 2], Rates::Fair);
    let donors: Vec<bool> = analysis.links.iter().map(LinkFacts::donates).collect();
    assert_eq!(donors, [false, true]);
    let bins: Vec<(f64, usize)> =
        slack_bins(&analysis.tasks).iter().map(|bin| (bin.to_s, bin.tasks)).collect();
    // B has none; A would have 10 ms if B ran at ideal speed, and C has 15.
    assert_eq!(bins, [(1e-6, 1), (1e-4, 0), (1e-3, 0), (1e-2, 1), (1e-1, 1)]);
    assert!((analysis.chain.end_s - analysis.second.unwrap().end_s - 0.015).abs() < 1e-12);
}

#[test]
fn demand_rates_and_slack_agree_with_the_plan_on_every_instance() {
    for seed in 0..120 {
        let instance = if seed % 2 == 0 { random_dag(seed) } else { random_tail_exact(seed) };
        let rates = [Rates::Fair, Rates::Level][seed as usize % 3 % 2];
        let x = vec![1 + (seed % 3) as u32; instance.links.len()];
        let analysis = explained(instance, &x, rates);
        let network = &analysis.setting.evaluator.network;
        assert_eq!(slack_bins(&analysis.tasks).iter().map(|bin| bin.tasks).sum::<usize>(), network.tasks());
        let costs: f64 = analysis.demand.iter().map(|demand| demand.costs_s).sum();
        assert!((costs - analysis.chain.costs.sum_s()).abs() < 1e-9, "seed {seed}");
        for direction in 0..network.carried.len() {
            let demand = &analysis.demand[direction];
            let asked: f64 = demand.steps.iter().map(|step| step.flows * (step.to_s - step.from_s)).sum();
            let active: f64 = network.carried[direction]
                .iter()
                .map(|task| network.flows[*task as usize] * analysis.tasks[*task as usize].takes_s())
                .sum();
            assert!((asked - active).abs() < 1e-9, "seed {seed}");
            for control in [RateControl::Fair, RateControl::Joint] {
                let rates = analysis.rates(direction as u32, control);
                let mut sums = vec![0.0; rates.times_s.len().saturating_sub(1)];
                for task in &rates.tasks {
                    let mut sent = 0.0;
                    for (stretch, nics) in task.nics.iter().enumerate() {
                        sums[stretch] += nics;
                        sent += nics * (rates.times_s[stretch + 1] - rates.times_s[stretch]) * network.rate;
                    }
                    let volume = network.volume[task.task as usize];
                    assert!((sent - volume).abs() < 1e-3 * volume, "seed {seed} {control:?}");
                }
                // The circuits are the limit at every moment.
                let limit = f64::from(x[direction / 2]) * (1.0 + 1e-6);
                assert!(sums.iter().all(|sum| *sum <= limit), "seed {seed} {control:?}: {sums:?}");
            }
        }
    }
}
