#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::model::network::Network;
use crate::model::samples::{random_tail_exact, stream};

#[test]
fn random_and_repaired_vectors_are_feasible() {
    let mut scratch = RepairScratch::default();
    let mut different = std::collections::BTreeSet::new();
    for seed in 0..300 {
        let network = Network::new(&random_tail_exact(seed)).unwrap();
        let budget = &network.budget;
        let caps: Vec<u32> = (0..budget.links()).map(|link| budget.limit(link).min(4)).collect();
        let limits = PortLimits { budget, caps: &caps };
        let mut random = stream(seed);
        let mut x = vec![1; caps.len()];
        limits.random(&mut x, &mut random, &mut scratch);
        assert!(budget.fits(&x) && x.iter().zip(&caps).all(|(circuits, cap)| circuits <= cap));
        different.insert(x.clone());
        let mut many: Vec<u32> = x.iter().map(|circuits| circuits * 3).collect();
        assert!(limits.repair(&mut many, &mut random, &mut scratch));
        assert!(budget.fits(&many) && many.iter().zip(&caps).all(|(circuits, cap)| circuits <= cap));
        let kept = many.clone();
        assert!(limits.repair(&mut many, &mut random, &mut scratch));
        assert_eq!(many, kept, "a feasible vector is left alone");
        limits.fill(&mut many, &mut Vec::new());
        assert!(budget.fits(&many));
        let free = budget.free(&many);
        assert!((0..many.len()).all(|link| many[link] == caps[link] || budget.room(link, &free) < 1));
    }
    assert!(different.len() > 100);
}

#[test]
fn a_pod_with_too_few_ports_cannot_be_repaired() {
    let mut instance = crate::model::samples::toy_b();
    instance.pods[1].ports = 1;
    let network = Network::new(&instance).unwrap();
    let limits = PortLimits { budget: &network.budget, caps: &[2, 2] };
    assert!(!limits.repair(&mut [2, 2], &mut stream(1), &mut RepairScratch::default()));
}
