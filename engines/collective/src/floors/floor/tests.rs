use super::*;
use crate::floors::latency::{LatencyQuestion, latency_floor};
use crate::scenario::network::{NetworkLink, NetworkNode};
use crate::scenario::{NodeSort, presets};

/// Networks with the rate per shard of their AllGather floor and the floors of 1 GB, 64 MB and 1 MB with latencies, µs.
const ALL_GATHER: [(&str, [i128; 2], [f64; 3]); 12] = [
    ("dgx1", [150, 7], [5834.0, 374.03, 6.53]),
    ("ndv2x2", [25, 16], [40002.7, 2562.7, 42.70]),
    ("ndv2x4", [25, 48], [60004.0, 3844.0, 64.00]),
    ("dgx2x2", [125, 31], [7750.7, 496.7, 8.45]),
    ("amdx1", [150, 7], [2917.7, 187.7, 3.97]),
    ("amdx2", [65, 6], [2886.0, 186.0, 9.08]),
    ("mi250x2", [166, 15], [2825.0, 182.0, 6.21]),
    ("torus4x4x4", [100, 21], [3282.3, 211.0, 6.05]),
    ("a100x2", [65, 3], [2885.3, 185.3, 5.91]),
    ("a100x4", [25, 3], [3753.4, 243.4, 7.16]),
    ("h800x64", [451, 1022], [4428.5, 289.9, 14.9]),
    ("h100x128", [50, 127], [2491.1, 169.4, 13.1]),
];

fn network(name: &str) -> LinkNetwork {
    LinkNetwork::of(&presets::scenario(&format!("{name}-allgather-1gb")).unwrap().topology).unwrap()
}

#[test]
fn published_machines_have_the_rates_of_their_cuts() {
    for (name, [numerator, denominator], floors) in ALL_GATHER {
        let network = network(name);
        let shards: Vec<i128> =
            (0..network.node_count() as u32).map(|node| i128::from(!network.is_switch(node))).collect();
        let floor = network_floor(&network, &shards, network.gpus(), true).unwrap().unwrap();
        assert_eq!(floor.rate, Rational::new(numerator, denominator).unwrap(), "{name}");
        let sources: Vec<(u32, f64)> = network.gpus().iter().map(|gpu| (*gpu, 1.0)).collect();
        let question = LatencyQuestion {
            network: &network,
            sources: &sources,
            destinations: network.gpus(),
            copies: true,
        };
        let latency = latency_floor(&question, &[floor.cut]);
        for (bytes, wanted) in [1e9, 64e6, 1e6].into_iter().zip(floors) {
            let found = latency.at(bytes / network.gpus().len() as f64).0;
            assert!((found - wanted).abs() <= 0.051, "{name}, {bytes} bytes: {found}, not {wanted}");
        }
    }
}

/// Chain of three GPUs with a microsecond per link: two for tiny shards, one beside the time of the cut otherwise.
#[test]
fn latencies_count_before_and_behind_a_cut_but_not_beside_it() {
    let node = |id: u32| NetworkNode { name: format!("g{id}"), kind: NodeSort::Gpu, group: None };
    let link = |from, to| NetworkLink {
        from,
        to,
        capacity: Rational::ONE,
        capacity_gbyte_per_s: 1.0,
        alpha_us: 1.0,
        up_us: Vec::new(),
    };
    let links = vec![link(0, 1), link(1, 0), link(1, 2), link(2, 1)];
    let network = LinkNetwork::from_parts((0..3).map(node).collect(), links);
    let sources = [(0, 1.0), (1, 1.0), (2, 1.0)];
    let question =
        LatencyQuestion { network: &network, sources: &sources, destinations: &[0, 1, 2], copies: true };
    let floor = latency_floor(&question, &[]);
    assert!((floor.at(1e6).0 - 2001.0).abs() < 1e-9);
    assert!((floor.at(1e-6).0 - 2.0).abs() < 1e-6);
    assert_eq!(floor.at(0.0), (2.0, None));
}
