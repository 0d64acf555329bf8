//! Bounds that the prices of a plan prove.

use super::support::Case;
use crate::check::code;
use crate::model::task::Task;
use crate::plan::{BoundPrices, PRICE_UNITS};
use crate::programs::bound::whole;
use crate::rollout::assemble;
use crate::scenario::{Family, Placed, presets};
use crate::search::decimate::{self, DecimationSettings};
use crate::search::scaling::Scaling;
use crate::search::start::{Tries, halved};
use lightbay_core::checked::BoundTrust;
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;
use rand::RngExt;

/// A good plan of a random scenario with prices, and the bound that they prove.
fn priced(seed: u64) -> (Case, f64) {
    let mut scenario = presets::random(8, 6, Family { changed_percent: 30, instance_seed: seed });
    let first = scenario.installed.ocs[0].cross_connects[0];
    if scenario.logical_circuits[first.pod_a as usize][first.pod_b as usize] > 0 {
        scenario.pinned.push(Placed { ocs_id: 0, circuit: first });
    }
    let task = Task::of(&scenario);
    let mut watch = Unwatched::default();
    let (prices, bound) = Scaling::new(&task, &mut watch).unwrap().proof(&mut watch).unwrap();
    let start = halved(&task, Tries::default(), Streams::new(1), &mut watch, |_, _, _| Ok(()));
    let start = start.unwrap_or_else(|_| task.installed.clone());
    let settings = DecimationSettings { patience: 5, ..DecimationSettings::default() };
    let plan =
        decimate::search(&task, &start, 0, settings, Streams::new(1), &mut watch, &mut |_, _, _| Ok(()));
    let candidate = assemble::candidate(&scenario, &task.assignment(&plan.unwrap()));
    let mut case = Case {
        scenario,
        result: candidate.result,
        value: candidate.value,
        bound: Some(whole(bound) as f64),
        bound_covers: None,
        metrics: candidate.metrics,
        filled: false,
    };
    case.changes().prices = Some(prices);
    (case, whole(bound) as f64)
}

fn prices(case: &mut Case) -> &mut BoundPrices {
    case.changes().prices.as_mut().unwrap()
}

#[test]
fn prices_prove_more_than_counting_without_a_program() {
    let mut beyond = 0;
    for seed in 1..8 {
        let (case, bound) = priced(seed);
        case.assert_passes();
        let verdict = case.verdict();
        let counted = case.metrics["lower_bound_removed_circuits"];
        assert_eq!(verdict.verified.unwrap().value, bound.max(counted), "seed {seed}");
        assert_eq!(verdict.bound, BoundTrust::Verified);
        beyond += u32::from(bound > counted);
        // One more than the prices prove is only a claim.
        if bound + 1.0 <= case.value {
            let more = case.with(|case| case.bound = Some(bound.max(counted) + 1.0));
            assert_eq!(more.verdict().bound, BoundTrust::Claimed);
        }
    }
    assert!(beyond > 0, "an example in which prices prove more");
}

#[test]
fn changed_prices_never_prove_more_than_a_plan_removes() {
    let stream = &mut Streams::new(1).stream(0);
    for seed in 1..8 {
        let (case, _) = priced(seed);
        for _ in 0..20 {
            let mut forged = case.with(|case| case.bound = None);
            let all = prices(&mut forged);
            let ports = all.ports_a.iter_mut().chain(&mut all.ports_b).flatten();
            for price in all.pairs.iter_mut().chain(ports) {
                if stream.random_bool(0.3) {
                    *price += stream.random_range(-PRICE_UNITS..=PRICE_UNITS);
                }
            }
            let verdict = forged.verdict();
            assert_eq!(verdict.violations, Vec::new());
            assert!(verdict.verified.unwrap().value <= forged.value);
        }
    }
}

#[test]
fn prices_that_can_prove_nothing_are_refused() {
    let (case, _) = priced(2);
    case.with(|case| _ = prices(case).pairs.pop()).assert_codes(&[code::BOUND]);
    case.with(|case| prices(case).ports_a[1].push(0)).assert_codes(&[code::BOUND]);
    case.with(|case| _ = prices(case).ports_b.pop()).assert_codes(&[code::BOUND]);
    // With one port more, a port of pod 0 may stay free.
    let (scenario, changes) = crate::testing::example();
    let mut spare = Case::of((scenario, changes));
    let zero = vec![vec![0; 2]; 4];
    let prices = BoundPrices { pairs: vec![0; 6], ports_a: zero.clone(), ports_b: zero };
    spare.changes().prices = Some(prices);
    spare.assert_passes();
    spare.scenario.ports_a[0][0] = 2;
    // The panel has other numbers now, which is another violation.
    let codes = |pod: usize| spare.with(|case| prices_of_pod(case, pod)).codes();
    assert!(!codes(1).contains(code::BOUND));
    assert!(codes(0).contains(code::BOUND));
}

/// Raises the price of an A port of a pod on the second switch.
fn prices_of_pod(case: &mut Case, pod: usize) {
    prices(case).ports_a[pod][1] = 1;
}
