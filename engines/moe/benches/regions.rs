//! Running time of circuits by local search, of a placement of experts, and of whole clusters.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)] // a table is the point; a failed unwrap ends it

use lightbay_core::param::ParamValue;
use lightbay_core::random::Streams;
use lightbay_core::testing::Ask;
use lightbay_moe::methods::all;
use lightbay_moe::model::demand::LayerDemand;
use lightbay_moe::model::rates::RegionRates;
use lightbay_moe::plan::FabricKind;
use lightbay_moe::scenario::presets;
use lightbay_moe::scenario::trace::sample::Normal;
use lightbay_moe::schedule::assemble::fabric_ms;
use lightbay_moe::schedule::break_even::DelayStudy;
use lightbay_moe::schedule::policies::SwitchPolicy;
use lightbay_moe::search::exchange::{Exchange, RoutingRule};
use lightbay_moe::search::swap::swapped;
use std::hint::black_box;
use std::time::Instant;

/// Layers that times are means over.
const LAYERS: u64 = 20;

/// Demand with Dirichlet rows.
fn demand(servers: usize, number: u64) -> LayerDemand {
    let mut normal = Normal::new(Streams::new(7).stream(number));
    let mut bytes = vec![0.0; servers * servers];
    for row in bytes.chunks_mut(servers) {
        normal.dirichlet(std::iter::repeat_n(1.0, servers), &mut *row);
        for share in row {
            *share *= 2e9;
        }
    }
    LayerDemand { servers, bytes, busiest_gpu: Vec::new(), busiest_rail: Vec::new() }
}

fn circuits(servers: usize) {
    let mut scenario = presets::scenario("moe-mixtral_8x22b").unwrap();
    scenario.region.servers = servers as u32;
    let rates = RegionRates::of(&scenario);
    let demands: Vec<LayerDemand> = (0..LAYERS).map(|number| demand(servers, number)).collect();
    let began = Instant::now();
    let mut tried = 0;
    for demand in &demands {
        let exchange = Exchange::of(demand, &rates, RoutingRule::Spill);
        let (counts, work) = swapped(&exchange, &rates.optical, &demand.both_ways());
        tried += work.tried;
        black_box(counts);
    }
    let ms = began.elapsed().as_secs_f64() * 1e3 / LAYERS as f64;
    let goal = match servers {
        8 => " (goal under 1; prototype 10 to 20)",
        16 => " (goal under 20; prototype 700)",
        _ => "",
    };
    println!("figure: circuits of a layer by local search, {servers} servers, ms: {ms:.3}{goal}");
    println!("{servers} servers: {} moves timed", tried / LAYERS);
}

fn clusters() {
    for servers in [128, 1024, 4096] {
        let mut scenario = presets::scenario("moe-mixtral_8x22b").unwrap();
        scenario.cluster.servers = servers;
        scenario.validate().unwrap();
        let began = Instant::now();
        let done = Ask::of(&all(), "auto", scenario).run().done;
        assert!(done.plan.is_some(), "{}", done.message);
        let goal = if servers == 4096 { " (goal under 10)" } else { "" };
        println!("figure: plan of {servers} servers, s: {:.3}{goal}", began.elapsed().as_secs_f64());
    }
}

/// Iterations that ratios are means over.
const ITERATIONS: [u32; 6] = [200, 300, 400, 500, 600, 700];

/// Time of an iteration relative to a fat-tree, and the delay up to which changing circuits pays, by model and rate.
fn ratios() {
    for model in ["mixtral_8x7b", "mixtral_8x22b", "llama_moe", "qwen_moe"] {
        for rate in [100.0, 400.0] {
            let mut sums = [0.0; 6];
            for iteration in ITERATIONS {
                let mut scenario = presets::scenario(&format!("moe-{model}")).unwrap();
                scenario.region.link_gbps = rate;
                let iteration = ParamValue::Int(i64::from(iteration));
                scenario.set("planned_iteration", None, &iteration).unwrap();
                let study = DelayStudy::of(&scenario, || false).unwrap().unwrap();
                let tree = fabric_ms(&scenario, FabricKind::FatTree).unwrap();
                let of = |policy, delay| study.time(policy, delay).unwrap() / tree;
                let found = [
                    tree / 1e3,
                    fabric_ms(&scenario, FabricKind::Pooled).unwrap() / tree,
                    of(SwitchPolicy::Paper, 25.0),
                    of(SwitchPolicy::Reuse, 25.0),
                    of(SwitchPolicy::Window, 0.025),
                    study.break_even_ms().unwrap_or(0.0),
                ];
                for (sum, value) in sums.iter_mut().zip(found) {
                    *sum += value / ITERATIONS.len() as f64;
                }
            }
            let names =
                ["fat-tree, s", "pooled", "paper", "reuse", "switch of 25 us", "break-even delay, ms"];
            for (name, value) in names.iter().zip(sums) {
                println!("figure: {model} at {rate} Gb/s, {name}: {value:.3}");
            }
        }
    }
}

fn main() {
    for servers in [4, 8, 16, 32] {
        circuits(servers);
    }
    clusters();
    ratios();
}
