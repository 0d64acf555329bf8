//! Plans that the methods assemble pass, figures and claims about limits included.

use super::support::Case;
use crate::check::code;
use crate::plan::{CrossconnectResult, PhaseRule};
use crate::rollout::assemble;
use crate::rollout::phases;
use crate::scenario::{CrossconnectScenario, Rollout, Wiring};
use crate::testing::{self, Sample};
use lightbay_core::kind::Candidate;
use proptest::prelude::*;

fn case(scenario: CrossconnectScenario, candidate: Candidate<CrossconnectResult>) -> Case {
    let Candidate { value, metrics, result } = candidate;
    Case { scenario, result, value, bound: None, bound_covers: None, metrics, filled: false }
}

prop_compose! {
    fn rollouts()(max_dark_per_pod in 0u32..4, share in 0u32..5) -> Rollout {
        Rollout { max_dark_per_pod, min_pair_share: f64::from(share) / 4.0 }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn assembled_plans_pass(
        wiring in prop_oneof![Just(Wiring::TwoSided), Just(Wiring::CrossWired), Just(Wiring::SingleSided)],
        pods in 2u32..7,
        ocs_count in 1u32..5,
        most_ports in 1u32..4,
        failed_ports in 0usize..4,
        rollout in rollouts(),
        seed in any::<u64>(),
    ) {
        let sample = Sample { wiring, pods, ocs_count, most_ports, failed_ports, batches: 1, seed };
        let (mut scenario, changes) = testing::random(sample);
        scenario.rollout = rollout;
        let candidate = assemble::candidate(&scenario, &assemble::target(&scenario, &changes));
        let limits = ["dark_limit_kept", "pair_share_kept"];
        let said = limits.map(|name| (name, candidate.metrics.get(name).copied()));
        let sound = case(scenario, candidate);
        sound.assert_passes();
        // What the plan says about its limits is compared.
        for (name, kept) in said.into_iter().filter_map(|(name, kept)| Some((name, kept?))) {
            sound.with(|case| case.metric(name, 1.0 - kept)).assert_codes(&[code::ROLLOUT]);
        }
        // No metric may be missing, none wrong, and none that nobody knows be there.
        for name in sound.metrics.keys() {
            let silent = sound.with(|case| {
                case.metrics.remove(name);
            });
            prop_assert!(!silent.codes().is_empty(), "without {name}");
            let wrong = sound.with(|case| *case.metrics.get_mut(name).unwrap() += 1e-6);
            prop_assert!(!wrong.codes().is_empty(), "{name}");
        }
        sound.with(|case| case.metric("beauty", 1.0)).assert_codes(&[code::METRICS]);
    }
}

#[test]
fn orders_of_both_rules_pass() {
    let mut scenario = Case::example().scenario;
    for (pods, gpus) in (1..=6).flat_map(|pods| (1..=6).map(move |gpus| (pods, gpus))) {
        scenario.pods = pods;
        for (_, rule) in PhaseRule::ALL {
            let mut order = phases::empty(rule, gpus);
            let mut counter = phases::Counter::new(pods, gpus);
            for t in 1..=pods * gpus {
                let phase = phases::phase(rule, pods, gpus, t);
                let (flows, contended) = counter.count(&phase);
                order.max_flows_per_pod_pair = order.max_flows_per_pod_pair.max(flows);
                order.contended_phases += u32::from(contended);
                order.phases.push(phase);
            }
            case(scenario.clone(), assemble::order(&scenario, order)).assert_passes();
        }
    }
}
