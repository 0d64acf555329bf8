#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{edge, random_dag, stream};
use crate::scenario::TrainingScenario;
use crate::scenario::presets;
use crate::search::baselines::Baseline;
use lightbay_core::watch::Unwatched;
use rand::RngExt;

fn served(configurations: &Configurations, seed: &[u32]) -> Served {
    let mut heard = f64::INFINITY;
    let served = configurations
        .search(&[seed.to_vec()], 100_000, &mut Unwatched::default(), |_, x, nct| {
            assert!(nct < heard, "only what is better is heard of");
            assert!((configurations.worst(x) - nct).abs() < 1e-9);
            heard = nct;
            Ok(())
        })
        .unwrap();
    assert!((heard - served.worst_nct).abs() < 1e-15);
    served
}

fn of(preset: &str, text: &str) -> (Configurations, Vec<u32>, Evaluator) {
    let scenario = TrainingScenario::Job(presets::job(preset).unwrap().job());
    let own = scenario.build().unwrap().instance;
    let evaluator = Evaluator::new(&own).unwrap();
    let seed = Baseline::ALL[0].allocate(&evaluator.network);
    (Configurations::new(&scenario.variants(text).unwrap(), &own).unwrap(), seed, evaluator)
}

/// The least worst NCT by looking at all vectors.
fn brute(configurations: &Configurations) -> f64 {
    let budget = &configurations.evaluators[0].network.budget;
    let most: Vec<u32> = (0..budget.links()).map(|link| budget.limit(link)).collect();
    let mut x = vec![1; most.len()];
    let mut best = f64::INFINITY;
    loop {
        if budget.fits(&x) {
            best = best.min(configurations.worst(&x));
        }
        let Some(at) = (0..x.len()).rposition(|link| x[link] < most[link]) else { return best };
        x[at] += 1;
        x[at + 1..].fill(1);
    }
}

#[test]
fn the_search_finds_the_best_of_all_vectors() {
    for text in ["seq=1024,4096,16384", "bandwidth_gbps=100,1600", "seq=512,16384;bandwidth_gbps=100,800"] {
        for preset in ["tiny8", "small"] {
            let (configurations, seed, _) = of(preset, text);
            let served = served(&configurations, &seed);
            let best = brute(&configurations);
            assert!(
                (served.worst_nct - best).abs() < 1e-9,
                "{preset} {text}: {} and {best}",
                served.worst_nct
            );
            assert!((served.bound - served.worst_nct).abs() < 1e-9);
        }
    }
}

#[test]
fn one_configuration_is_the_plain_problem() {
    let (configurations, seed, evaluator) = of("small", "seq=4096");
    let served = served(&configurations, &seed);
    // The joint optimum of the preset (reference value).
    assert!((served.worst_nct - 1.1281).abs() < 5e-5, "{}", served.worst_nct);
    assert!(evaluator.network.budget.fits(&served.x));
}

#[test]
fn circuits_for_all_are_never_worse_in_the_worst_case_than_those_for_one() {
    let (configurations, seed, evaluator) = of("small", "seq=512,16384");
    let served = served(&configurations, &seed);
    let (own, proven) = best_known(
        &evaluator,
        Rates::Best,
        Circuits {
            x: seed.clone(),
            makespan: evaluator.makespan(&seed, Rates::Best, &mut Scratch::default()),
            ports: 0,
        },
        &mut StopOnly(&mut Unwatched::default()),
    )
    .unwrap();
    assert!(proven);
    assert!(served.worst_nct <= configurations.worst(&own.x) + 1e-12);
    let mut fewer = served.x.clone();
    configurations.fewest(&mut fewer, served.worst_nct * (1.0 + 1e-7), &mut Unwatched::default()).unwrap();
    assert!(evaluator.network.budget.total(&fewer) <= evaluator.network.budget.total(&served.x));
    assert!(configurations.worst(&fewer) <= served.worst_nct * (1.0 + 1e-7));
}

#[test]
fn where_anything_competes_a_bound_still_holds() {
    for seed in 0..10 {
        // The same pods and links with other delays.
        let own = random_dag(seed);
        let mut random = stream(1000 + seed);
        let mut other = own.clone();
        for link in &mut other.edges {
            *link = edge(link.pred.0, link.succ.0, link.delay_s * random.random_range(0.1..3.0));
        }
        let variants: Vec<Variant> = [own.clone(), other]
            .into_iter()
            .map(|instance| Variant {
                name: "delays".to_owned(),
                scenario: TrainingScenario::Instance(instance),
            })
            .collect();
        let configurations = Configurations::new(&variants, &own).unwrap();
        let start = Baseline::ALL[1].allocate(&configurations.evaluators[0].network);
        let served = served(&configurations, &start);
        assert!(served.bound <= brute(&configurations) + 1e-9, "seed {seed}");
        assert!(served.worst_nct <= configurations.worst(&start) + 1e-12);
    }
}

#[test]
fn other_pods_are_refused() {
    let scenario = TrainingScenario::Job(presets::job("small").unwrap().job());
    let own = scenario.build().unwrap().instance;
    let variants = scenario.variants("ports_per_pod=7").unwrap();
    let refused = Configurations::new(&variants, &own).unwrap_err().to_string();
    assert!(refused.contains("has other pods, ports or links with ports_per_pod=7"), "{refused}");
}
