use super::*;
use std::collections::BTreeSet;

/// Returns `true` if all phases are permutations, the most flows between two pods (their own included), and whether
/// each ordered pair of GPUs occurs once.
fn properties(rule: PhaseRule, pods: u32, gpus: u32) -> (bool, u32, bool) {
    let (mut permutations, mut most, mut pairs) = (true, 0, BTreeSet::new());
    for t in 1..=pods * gpus {
        let phase = phase(rule, pods, gpus, t);
        permutations &= phase.iter().collect::<BTreeSet<_>>().len() == phase.len();
        for pod in phase.chunks(gpus as usize) {
            for other in 0..pods {
                most = most.max(pod.iter().filter(|&&to| to / gpus == other).count() as u32);
            }
        }
        pairs.extend((0u32..).zip(phase));
    }
    (permutations, most, pairs.len() == ((pods * gpus) as usize).pow(2))
}

#[test]
fn the_corrected_rule_holds_for_all_sizes() {
    for pods in 1..=12 {
        for gpus in 1..=12 {
            let (permutations, most, once) = properties(PhaseRule::Corrected, pods, gpus);
            assert!(permutations && once, "P={pods} N={gpus}");
            assert_eq!(most, gpus.div_ceil(pods), "P={pods} N={gpus}");
        }
    }
}

#[test]
fn the_printed_rule_fails_exactly_where_it_is_known_to() {
    for pods in 1..=12 {
        for gpus in 1..=12 {
            let (permutations, most, _) = properties(PhaseRule::Printed, pods, gpus);
            let good = pods == gpus || gpus == 1 && pods % 2 == 1;
            assert_eq!(permutations, good, "P={pods} N={gpus}");
            assert!(pods < gpus || most == 1, "P={pods} N={gpus}");
        }
    }
}

#[test]
fn phases_are_the_known_ones() {
    let of = |rule, pods, gpus, t| phase(rule, pods, gpus, t);
    assert_eq!(of(PhaseRule::Corrected, 4, 2, 1), [0, 3, 2, 5, 4, 7, 6, 1]);
    assert_eq!(of(PhaseRule::Corrected, 4, 2, 2), [1, 2, 3, 4, 5, 6, 7, 0]);
    assert_eq!(of(PhaseRule::Corrected, 4, 2, 3), [2, 5, 4, 7, 6, 1, 0, 3]);
    assert_eq!(of(PhaseRule::Corrected, 2, 4, 1), [0, 5, 2, 7, 4, 1, 6, 3]);
    assert_eq!(of(PhaseRule::Printed, 4, 2, 1), [0, 2, 3, 5, 6, 0, 1, 3]);
    assert_eq!(of(PhaseRule::Printed, 2, 4, 1), [0, 4, 0, 4, 5, 1, 5, 1]);
}

#[test]
fn receivers_that_are_hit_twice_are_found() {
    let mut counter = Counter::new(4, 2);
    assert_eq!(counter.count(&phase(PhaseRule::Printed, 4, 2, 1)), (1, true));
    assert_eq!(counter.count(&phase(PhaseRule::Corrected, 4, 2, 1)), (1, false));
    // Two flows stay in each pod, two go to the other one.
    let mut counter = Counter::new(2, 4);
    assert_eq!(counter.count(&phase(PhaseRule::Corrected, 2, 4, 1)), (2, false));
}
