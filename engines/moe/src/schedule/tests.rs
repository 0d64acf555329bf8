//! Policies against each other, the optimum against all schedules of a small stage, and reference ratios.

use super::assemble::{fabric_ms, regional};
use super::break_even::DelayStudy;
use super::optimum::optimum;
use super::policies::{SwitchPolicy, SwitchSchedule, schedule};
use super::stage::StageModel;
use crate::plan::{FabricKind, LayerPhase};
use crate::scenario::{MoeScenario, presets};
use crate::search::exchange::RoutingRule;
use crate::search::swap::swapped;

fn preset(name: &str) -> MoeScenario {
    presets::scenario(&format!("moe-{name}")).unwrap()
}

/// A stage with the swapped circuits of every layer.
fn stage(scenario: &MoeScenario) -> StageModel {
    let mut stage = StageModel::of(scenario, RoutingRule::Spill);
    for layer in 0..stage.layers() {
        let demand = stage.demands[layer].clone();
        let exchange = crate::search::exchange::Exchange::of(&demand, &stage.rates, RoutingRule::Spill);
        let (counts, _) = swapped(&exchange, &stage.rates.optical, &demand.both_ways());
        let own = stage.add(counts, Some(layer)).unwrap();
        stage.own.push(own);
    }
    stage
}

const NAMES: [&str; 4] = ["mixtral_8x7b", "mixtral_8x22b", "llama_moe", "qwen_moe"];

fn time(stage: &StageModel, policy: SwitchPolicy) -> f64 {
    let schedule = schedule(stage, policy);
    let plan = regional(stage, &schedule).unwrap();
    let iteration = plan.result.iteration;
    let cost = iteration.all_to_all_ms + iteration.stall_ms;
    assert!((cost - schedule.cost_ms(stage)).abs() < 1e-9 * cost, "{policy:?} {cost}");
    plan.value
}

#[test]
fn reusing_is_never_slower_than_stalling_as_in_the_paper() {
    for name in NAMES {
        for rate in [100.0, 400.0] {
            let mut scenario = preset(name);
            scenario.region.link_gbps = rate;
            let stage = stage(&scenario);
            let (paper, reuse) = (time(&stage, SwitchPolicy::Paper), time(&stage, SwitchPolicy::Reuse));
            assert!(reuse <= paper, "{name} {rate}");
            assert!(
                time(&stage, SwitchPolicy::Best)
                    <= reuse.min(time(&stage, SwitchPolicy::Window)) * (1.0 + 1e-12)
            );
            let best = regional(&stage, &optimum(&stage).unwrap()).unwrap().value;
            assert!(best <= time(&stage, SwitchPolicy::Best) * (1.0 + 1e-12), "{name}");
        }
    }
}

#[test]
fn a_fast_switch_comes_within_three_hundredths_of_the_bound() {
    for name in NAMES {
        let mut scenario = preset(name);
        scenario.cluster.reconfiguration_delay_ms = 0.025;
        let stage = stage(&scenario);
        let bound = fabric_ms(&scenario, FabricKind::Pooled).unwrap();
        let plan = regional(&stage, &schedule(&stage, SwitchPolicy::Window)).unwrap();
        let gradients = plan.result.iteration.data_parallel_ms;
        let ratio = (plan.value - gradients) / bound;
        assert!(ratio < 1.03 && plan.value >= bound, "{name} {ratio}");
    }
}

/// Reference times of an iteration that do not depend on circuits: the fat-tree alone. Traces are drawn again, so hot
/// experts differ from those of the reference.
#[test]
fn iterations_on_a_fat_tree_take_as_long_as_the_specification_says() {
    let wanted = [(24.31, 20.68), (51.26, 43.96), (51.42, 29.18), (36.82, 19.03)];
    for (name, (slow, fast)) in NAMES.into_iter().zip(wanted) {
        for (rate, wanted) in [(100.0, slow), (400.0, fast)] {
            let mut scenario = preset(name);
            scenario.region.link_gbps = rate;
            let mean: f64 = (0..6)
                .map(|at| {
                    let iteration = lightbay_core::param::ParamValue::Int(200 + 100 * at);
                    scenario.set("planned_iteration", None, &iteration).unwrap();
                    fabric_ms(&scenario, FabricKind::FatTree).unwrap() / 6000.0
                })
                .sum();
            assert!((mean / wanted - 1.0).abs() < 0.06, "{name} {rate}: {mean} s, not {wanted} s");
        }
    }
}

#[test]
fn changing_pays_up_to_the_break_even_delay_and_not_beyond() {
    let mut some = 0;
    for name in NAMES {
        let study = DelayStudy::of(&preset(name), || false).unwrap().unwrap();
        let still = study.still().unwrap();
        let Some(delay) = study.break_even_ms() else { continue };
        some += 1;
        let best = |delay: f64| study.time(SwitchPolicy::Exact, delay).unwrap();
        assert!(best(0.99 * delay) < still, "{name} {delay}");
        assert!((best(1.01 * delay) / still - 1.0).abs() < 1e-9, "{name} {delay}");
        assert!(best(1e9) >= still * (1.0 - 1e-9), "{name}");
    }
    assert!(some > 1);
}

/// All schedules of a stage of two layers.
#[test]
fn the_optimum_is_the_best_of_all_schedules() {
    for delay in [0.0, 0.4, 3.0, 25.0] {
        let mut scenario = preset("small");
        scenario.cluster.reconfiguration_delay_ms = delay;
        let stage = stage(&scenario);
        assert_eq!((stage.layers(), stage.candidates.len()), (2, 2));
        let best = (0..256_usize)
            .map(|code| {
                let pick = |bit: usize| code >> bit & 1;
                let used = vec![[pick(0), pick(1), pick(2), pick(3)], [pick(4), pick(5), pick(6), pick(7)]];
                SwitchSchedule { used, always: false, free: false }.cost_ms(&stage)
            })
            .fold(f64::INFINITY, f64::min);
        let found = optimum(&stage).unwrap().cost_ms(&stage);
        assert!((found - best).abs() <= 1e-12 * best, "{delay}: {found} {best}");
    }
}

#[test]
fn circuits_are_not_set_before_their_demand_is_known() {
    let stage = stage(&preset("small"));
    assert_eq!(stage.window(LayerPhase::A2a1, 0, stage.own[1]), None);
    assert_eq!(stage.window(LayerPhase::A2a1, 1, stage.own[1]).unwrap().phase, None);
    let earlier = stage.window(LayerPhase::A2a1, 1, stage.own[0]).unwrap();
    assert_eq!(earlier.phase, Some(LayerPhase::AttentionFwd));
    assert_eq!(stage.window(LayerPhase::A2a3, 1, stage.own[1]).unwrap().phase, None);
}

/// Two servers of two GPUs with a NIC each; every rank sends 3 GB to every other one. By hand, at 50 GB/s: each NIC of a
/// fat-tree carries 6 GB in 120 ms. A NIC at the optical switch and one of 25 GB/s in the region give 160 ms, and 6 GB of
/// the evenly loaded NIC take 60 ms more to its GPU and as long from it at 100 GB/s.
#[test]
fn no_network_is_quicker_than_the_bound() {
    use crate::model::demand::LayerDemand;
    use crate::model::fabrics::{all_to_all, least_on_circuits_ms};
    use crate::model::rates::RegionRates;
    let mut scenario = preset("mixtral_8x7b");
    scenario.region = crate::scenario::MoeRegion::usual(2, 2, 1);
    scenario.region.gpus_per_server = 2;
    scenario.region.eps_total_gbps = Some(200.0);
    scenario.region.nvlink_gbytes_per_s = 100.0;
    scenario.region.pipeline_chunks = 1;
    let rates = RegionRates::of(&scenario);
    let demand = LayerDemand {
        servers: 2,
        bytes: vec![0.0, 12e9, 12e9, 0.0],
        busiest_gpu: vec![6e9; 2],
        busiest_rail: vec![6e9; 2],
    };
    let time = |fabric| all_to_all(fabric, &demand, &rates).unwrap().all_to_all_ms;
    assert!((time(FabricKind::FatTree) - 120.0).abs() < 1e-9);
    assert!((time(FabricKind::Pooled) - 120.0).abs() < 1e-9);
    assert!((least_on_circuits_ms(&demand, &rates, 0.0) - 280.0).abs() < 1e-9);
    assert!((least_on_circuits_ms(&demand, &rates, 200.0) - 320.0).abs() < 1e-9);
    // A server with a port and 12 GB for each of three others: at 50 GB/s a circuit carries 12 GB of the 36, and the packet
    // switches at 25 GB/s the other 24 in 960 ms; all NICs as one would take 480.
    let mut few = vec![0.0; 16];
    for other in 1..4 {
        (few[other], few[4 * other]) = (12e9, 12e9);
    }
    let few = LayerDemand { servers: 4, bytes: few, busiest_gpu: vec![6e9; 4], busiest_rail: vec![6e9; 4] };
    scenario.region.servers = 4;
    let rates = RegionRates::of(&scenario);
    let hops = 2.0 * 36e9 / 2.0 / 1e8;
    assert!((least_on_circuits_ms(&few, &rates, 0.0) - 960.0 - hops).abs() < 1e-6);
    // On the presets as well, also where packet switches of the region are slower or faster than their links.
    for name in NAMES {
        for (rate, eps) in [(400.0, None), (100.0, Some(50.0)), (400.0, Some(0.0)), (100.0, Some(1600.0))] {
            let mut scenario = preset(name);
            (scenario.region.link_gbps, scenario.region.eps_total_gbps) = (rate, eps);
            let least = fabric_ms(&scenario, FabricKind::Pooled).unwrap();
            for fabric in [FabricKind::FatTree, FabricKind::Rail, FabricKind::Topoopt] {
                let time = fabric_ms(&scenario, fabric).unwrap();
                assert!(time >= least * (1.0 - 1e-12), "{name} {rate} {eps:?}: {fabric:?} {time} {least}");
            }
        }
    }
}
