use super::*;
use crate::scenario::presets;
use lightbay_core::watch::Unwatched;

fn floor(name: &str, collective: CollectiveSort, shard_bytes: f64) -> CollectiveFloor {
    let network =
        LinkNetwork::of(&presets::scenario(&format!("{name}-allgather-1gb")).unwrap().topology).unwrap();
    let root = Some(network.gpus()[0]);
    let question = FloorQuestion { network: &network, collective, ranks: network.gpus(), root, shard_bytes };
    collective_floor(&question, &mut Unwatched::default()).unwrap().unwrap()
}

#[test]
fn the_binding_cut_is_named_by_its_smaller_side() {
    let found = floor("ndv2x2", CollectiveSort::AllGather, 62.5e6);
    assert!((found.floor_us - 40_000.0).abs() < 1e-6 && found.achievable);
    assert_eq!(found.binding_cut.as_deref(), Some("into {group 0} (8 GPUs)"));
    let found = floor("torus4x4x4", CollectiveSort::AllGather, 1e6);
    assert!(found.binding_cut.unwrap().ends_with("(1 GPU)"));
}

#[test]
fn summing_takes_what_spreading_takes_on_links_turned_round() {
    for name in ["ndv2x2", "dgx2x2", "amdx2"] {
        let gathered = floor(name, CollectiveSort::AllGather, 1e6);
        let summed = floor(name, CollectiveSort::ReduceScatter, 1e6);
        assert!((gathered.floor_us - summed.floor_us).abs() < 1e-6, "{name}");
        assert!(gathered.achievable && summed.achievable);
    }
}

/// The interval is closed on DGX1, NDv2 and the torus, and open by some percents on DGX2 and AMD.
#[test]
fn the_interval_of_all_reduce_is_closed_where_both_halves_are_needed() {
    for name in ["dgx1", "ndv2x2", "ndv2x4", "torus4x4x4"] {
        let found = floor(name, CollectiveSort::AllReduce, 1e6);
        assert!((found.upper_us.unwrap() / found.floor_us - 1.0).abs() < 1e-9, "{name}: {found:?}");
        assert!(found.achievable);
    }
    for (name, least, most) in [("dgx2x2", 0.04, 0.06), ("amdx1", 0.06, 0.13), ("amdx2", 0.06, 0.13)] {
        let found = floor(name, CollectiveSort::AllReduce, 1e6);
        let open = found.upper_us.unwrap() / found.floor_us - 1.0;
        assert!((least..most).contains(&open) && !found.achievable, "{name}: {open}");
    }
}

#[test]
fn one_root_sends_or_receives_at_the_rate_of_a_flow() {
    // GPU 0 of the first chassis reaches GPU 1 of the second over one link of 12.5 GB/s.
    let broadcast = floor("ndv2x2", CollectiveSort::Broadcast, 1e6);
    assert!((broadcast.floor_us - 80.0).abs() < 1e-9);
    // Eight shards cross that link.
    let scattered = floor("ndv2x2", CollectiveSort::Scatter, 1e6);
    let gathered = floor("ndv2x2", CollectiveSort::Gather, 1e6);
    assert!((scattered.floor_us - 640.0).abs() < 1e-9 && scattered.achievable);
    assert!((gathered.floor_us - 640.0).abs() < 1e-9 && gathered.achievable);
}
