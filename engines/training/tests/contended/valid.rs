//! Bounds hold, plans are plans, and both meet where the search says so.

use super::brute::optimum;
use super::family::{Family, TWO_LINKS, solve};
use lightbay_training::simulate::evaluate::{Evaluator, Rates, Scratch};

const TINY: Family = Family { tasks: (2, 4), links: 1, circuits: 2, edges: 0.35, ..TWO_LINKS };

#[test]
fn tiny_instances_are_solved_as_by_brute_force() {
    let mut contended = 0;
    for seed in 0..200 {
        let family = match seed % 4 {
            0 => TINY,
            1 => Family { circuits: 1, delay_s: 0.001, ..TINY },
            2 => Family { both_ways: true, circuits: 3, ..TINY },
            _ => Family { links: 2, both_ways: true, circuits: 1, ..TINY },
        };
        let instance = family.instance(seed);
        let x = family.even();
        let network = Evaluator::new(&instance).unwrap().network;
        let expected = optimum(&network, &x);
        let solved = solve(&instance, &x, &x, 10_000);
        assert!(solved.closed.complete, "seed {seed}");
        assert!(
            (solved.best - expected).abs() <= 1e-8 * expected,
            "seed {seed}: {} and {expected}",
            solved.best
        );
        assert!(solved.closed.bound <= expected * (1.0 + 1e-9), "seed {seed}");
        contended += usize::from(solved.plain < expected * (1.0 - 1e-6));
    }
    assert!(contended > 20, "only {contended} instances test anything");
}

#[test]
fn shared_cards_leave_a_valid_bound() {
    let mut closed = 0;
    for seed in 0..60 {
        let family = Family { cards: 0.7, both_ways: seed % 2 == 0, links: 1 + seed as u32 % 2, ..TINY };
        let instance = family.instance(seed);
        let x = family.even();
        let expected = optimum(&Evaluator::new(&instance).unwrap().network, &x);
        let solved = solve(&instance, &x, &x, 10_000);
        assert!(solved.closed.bound <= expected * (1.0 + 1e-9), "seed {seed}");
        assert!(solved.best >= expected * (1.0 - 1e-8), "seed {seed}");
        closed += usize::from(solved.closed.complete);
        if solved.closed.complete {
            assert!((solved.best - expected).abs() <= 1e-8 * expected, "seed {seed}");
        }
    }
    assert!(closed == 60, "{closed}");
}

#[test]
fn no_plan_beats_the_bound_and_circuits_never_hurt() {
    for seed in 0..60 {
        let family = Family { both_ways: seed % 3 == 0, links: 2 + seed as u32 % 2, ..TWO_LINKS };
        let instance = family.instance(seed);
        let evaluator = Evaluator::new(&instance).unwrap();
        let mut scratch = Scratch::default();
        let mut before = f64::INFINITY;
        for circuits in 1..=4 {
            let x = vec![circuits; family.links as usize];
            let mut wide = instance.clone();
            wide.pods.iter_mut().for_each(|pod| pod.ports = 8);
            let solved = solve(&wide, &x, &x, 300);
            let bound = solved.closed.bound;
            assert!(bound >= solved.plain * (1.0 - 1e-9), "seed {seed}: looser than the relaxation");
            for rates in [Rates::Fair, Rates::Level] {
                assert!(bound <= evaluator.makespan(&x, rates, &mut scratch), "seed {seed}");
            }
            // More circuits can only shorten, so the bound of more holds for fewer.
            assert!(bound <= before * (1.0 + 1e-9), "seed {seed}: {bound} above {before}");
            before = solved.best;
        }
    }
}

/// Every split of the ports, each solved alone, against the search over circuits and orders together.
#[test]
fn circuits_are_chosen_as_by_going_through_all() {
    for seed in 0..30 {
        let family = Family {
            tasks: (6, 10),
            links: 3,
            both_ways: seed % 2 == 0,
            free: true,
            circuits: 2,
            delay_s: 0.002,
            ..TWO_LINKS
        };
        let instance = family.instance(seed);
        let budget = Evaluator::new(&instance).unwrap().network.budget;
        let mut expected = f64::INFINITY;
        for code in 0..64u32 {
            let x = [1 + code % 4, 1 + code / 4 % 4, 1 + code / 16];
            if budget.fits(&x) {
                let alone = solve(&instance, &x, &x, 10_000);
                assert!(alone.closed.complete, "seed {seed}");
                expected = expected.min(alone.best);
            }
        }
        let together = solve(&instance, &family.even(), &[4, 4, 4], 10_000);
        assert!(together.closed.complete, "seed {seed}");
        let apart = (together.best - expected).abs();
        assert!(apart <= 1e-8 * expected, "seed {seed}: {} and {expected}", together.best);
    }
}
