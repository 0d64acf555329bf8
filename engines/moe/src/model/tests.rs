//! Reference numbers: times of computing, costs, fabrics.

use super::cost::server_usd;
use super::times::LayerTimes;
use crate::plan::FabricKind;
use crate::scenario::presets;
use crate::scenario::{MoeModelPreset, MoeScenario};

fn preset(name: &str) -> MoeScenario {
    presets::scenario(&format!("moe-{name}")).unwrap()
}

const NAMES: [&str; 4] = ["mixtral_8x7b", "mixtral_8x22b", "llama_moe", "qwen_moe"];

#[track_caller]
fn near(value: f64, wanted: f64, digits: f64) {
    assert!((value - wanted).abs() <= 0.5 * digits + 1e-12, "{value} is not {wanted}");
}

#[test]
fn presets_compute_for_as_long_as_the_specification_says() {
    let wanted = [(10.28, 61.67), (19.82, 105.72), (58.73, 23.68), (17.62, 48.46)];
    for (name, (attention, expert)) in NAMES.into_iter().zip(wanted) {
        let times = LayerTimes::of(&preset(name));
        near(times.attention_ms, attention, 0.01);
        near(times.expert_ms, expert, 0.01);
        assert!(times.gate_ms < 0.1, "{name} {}", times.gate_ms);
    }
}

/// The testbed needed 122 ms for experts at micro-batch 16.
#[test]
fn the_rate_of_computing_is_that_of_the_testbed() {
    let mut scenario = preset("mixtral_8x7b");
    scenario.set("micro_batch", None, &lightbay_core::param::ParamValue::Int(16)).unwrap();
    near(LayerTimes::of(&scenario).expert_ms, 123.3, 0.1);
}

#[test]
fn measured_times_take_the_place_of_closed_forms() {
    let mut scenario = preset("llama_moe");
    scenario.measured.expert_ms = Some(7.5);
    let times = LayerTimes::of(&scenario);
    assert_eq!(times.expert_ms, 7.5);
    near(times.attention_ms, 58.73, 0.01);
}

#[test]
fn ranks_send_as_many_bytes_as_the_specification_says() {
    let bytes = NAMES.map(|name| {
        let shape = MoeModelPreset::of_word(name).unwrap().shape();
        shape.copies() * shape.token_bytes()
    });
    for (bytes, wanted) in bytes.into_iter().zip([536.9e6, 1610.6e6, 1073.7e6, 536.9e6]) {
        near(bytes, wanted, 0.1e6);
    }
}

#[test]
fn costs_are_those_of_the_specification() {
    let wanted = [
        (100.0, 21256.0, 13996.0, 9016.0, 1.519),
        (200.0, 38664.0, 21594.0, 13344.0, 1.790),
        (400.0, 90824.0, 39674.0, 20064.0, 2.289),
        (800.0, 144_736.0, 62086.0, 31976.0, 2.331),
    ];
    let mut scenario = preset("mixtral_8x7b");
    for (rate, fat_tree, mfabric, topoopt, ratio) in wanted {
        scenario.region.link_gbps = rate;
        let cost = |fabric| server_usd(&scenario, fabric).unwrap();
        assert_eq!(cost(FabricKind::FatTree), fat_tree);
        assert_eq!(cost(FabricKind::Mfabric), mfabric);
        assert_eq!(cost(FabricKind::Topoopt), topoopt);
        near(fat_tree / mfabric, ratio, 0.001);
    }
    scenario.region.link_gbps = 400.0;
    scenario.prices.copper_links = true;
    let cost = |fabric| server_usd(&scenario, fabric).unwrap();
    near(cost(FabricKind::FatTree) / cost(FabricKind::Mfabric), 2.168, 0.001);
    scenario.region.link_gbps = 300.0;
    assert_eq!(server_usd(&scenario, FabricKind::Rail), None);
}

#[test]
fn costs_without_fibre_are_those_of_the_specification() {
    let mut scenario = preset("mixtral_8x7b");
    scenario.prices.fibre_usd = 0.0;
    for (rate, ratio) in [(100.0, 1.448), (200.0, 1.771), (400.0, 2.303), (800.0, 2.341)] {
        scenario.region.link_gbps = rate;
        let cost = |fabric| server_usd(&scenario, fabric).unwrap();
        near(cost(FabricKind::FatTree) / cost(FabricKind::Mfabric), ratio, 0.001);
    }
}
