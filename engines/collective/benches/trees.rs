//! Floors of AllGather and how near to them schedules of trees come, by network and size, with the seconds it takes.
//! Prints figures; give names of networks as arguments to run only those.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)] // figures are the point

use lightbay_collective::check::compact::violations;
use lightbay_collective::floors::floor::network_floor;
use lightbay_collective::floors::latency::{LatencyQuestion, latency_floor};
use lightbay_collective::scenario::network::LinkNetwork;
use lightbay_collective::scenario::presets;
use lightbay_collective::trees::compact::compact;
use lightbay_collective::trees::library::{TreeEffort, TreeLibrary};
use lightbay_core::watch::Unwatched;
use std::time::Instant;

/// Networks with the finish of AllGather of 1 GB, 64 MB and 1 MB that the prototype reached, µs.
const NETWORKS: [(&str, [f64; 3]); 13] = [
    ("dgx1", [5835.1, 375.05, 7.34]),
    ("ndv2x2", [40022.0, 2568.8, 42.97]),
    ("ndv2x4", [60040.3, 3857.5, 64.18]),
    ("dgx2x2", [7758.4, 500.0, 10.71]),
    ("amdx1", [2924.1, 194.1, 6.59]),
    ("amdx2", [2904.3, 204.8, 23.1]),
    ("mi250x2", [2870.1, 202.3, 17.7]),
    ("torus4x4x4", [3295.4, 224.3, 7.50]),
    ("a100x2", [2888.7, 188.1, 6.11]),
    ("a100x4", [3754.3, 243.8, 7.31]),
    ("h800x64", [4456.5, 314.7, 35.4]),
    ("h100x128", [2498.7, 177.0, 24.8]),
    ("torus16x16x16", [f64::INFINITY; 3]),
];

fn seconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = Instant::now();
    let result = work();
    (result, began.elapsed().as_secs_f64())
}

/// Largest resident memory so far, MB.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, prototype) in NETWORKS {
        if !wanted.is_empty() && !wanted.iter().any(|word| word == name) {
            continue;
        }
        let topology = presets::scenario(&format!("{name}-allgather-1gb")).unwrap().topology;
        let network = LinkNetwork::of(&topology).unwrap();
        let gpus = network.gpus();
        let n = gpus.len() as f64;
        let shards: Vec<i128> =
            (0..network.node_count() as u32).map(|node| i128::from(!network.is_switch(node))).collect();
        let (floor, floor_s) = seconds(|| network_floor(&network, &shards, gpus, true).unwrap().unwrap());
        let sources: Vec<(u32, f64)> = gpus.iter().map(|gpu| (*gpu, 1.0)).collect();
        let question =
            LatencyQuestion { network: &network, sources: &sources, destinations: gpus, copies: true };
        let (latency, latency_s) = seconds(|| latency_floor(&question, std::slice::from_ref(&floor.cut)));
        let mut watch = Unwatched::default();
        let (library, trees_s) = seconds(|| {
            let library = TreeLibrary::new(&network, gpus, gpus, floor.rate.as_f64());
            assert!(library.prepare(&mut watch).unwrap());
            library
        });
        println!("figure: floor_{name}_s: {floor_s:.4}");
        println!("figure: trees_{name}_s: {trees_s:.3}");
        println!(
            "{name}: rate {}, floor {floor_s:.4} s, with latency {latency_s:.3} s; {:.6} of it by {} trees in {} sets, {trees_s:.3} s",
            floor.rate,
            library.rate() / floor.rate.as_f64(),
            library.variants()[0].trees.iter().map(Vec::len).sum::<usize>(),
            library.variants().len(),
        );
        for (bytes, prototype) in [1e9, 64e6, 1e6].into_iter().zip(prototype) {
            let shard = bytes / n;
            let bound = latency.at(shard).0;
            let (plan, plan_s) =
                seconds(|| library.plan(shard, bound, &TreeEffort::default(), &mut watch).unwrap().unwrap());
            let (compact, _) = seconds(|| compact(&network, &library, &plan, shard, 0.0).unwrap());
            let (found, check_s) = seconds(|| violations(&topology, &compact));
            assert!(found.is_empty(), "{found:?}");
            println!("figure: gap_{name}_{bytes:.0e}: {:.5}", plan.finish_us / bound - 1.0);
            println!(
                "  {bytes:.0e}: {:.2} us, floor {bound:.2} ({:+.2} %), prototype {prototype:.2} ({:+.2} %), {:?} of set {}, {plan_s:.3} s, checked {check_s:.3} s",
                plan.finish_us,
                100.0 * (plan.finish_us / bound - 1.0),
                100.0 * (plan.finish_us / prototype - 1.0),
                plan.sort,
                plan.variant,
            );
        }
        let began = Instant::now();
        let effort = TreeEffort { run_hops: 30_000, all_hops: 300_000, ..TreeEffort::default() };
        for step in 0..21 {
            let shard = 1e3 * 2_f64.powi(step) / n;
            library.plan(shard, latency.at(shard).0, &effort, &mut watch).unwrap().unwrap();
        }
        println!("figure: frontier_{name}_s: {:.3}", began.elapsed().as_secs_f64());
        println!("  21 sizes in {:.3} s; {:.0} MB at most", began.elapsed().as_secs_f64(), peak_mb());
    }
}
