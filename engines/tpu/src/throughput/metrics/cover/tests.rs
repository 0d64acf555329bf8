use super::*;
use crate::model::topology::tests::vector;
use crate::throughput::metrics;

#[test]
fn the_table_of_cover_and_moore_bounds_comes_out() {
    let table = [
        (128, 3.0512, 0.015484, 0.017699),
        (192, 3.2984, 0.009524, 0.011194),
        (256, 3.5520, 0.006624, 0.007576),
        (384, 3.8701, 0.004048, 0.004601),
        (512, 4.0592, 0.002893, 0.003304),
        (768, 4.3302, 0.0018065, 0.0021127),
        (1024, 4.5787, 0.0012810, 0.0015186),
        (1536, 4.8984, 0.0007980, 0.0009215),
        (2048, 5.0801, 0.0005770, 0.0006614),
        (4096, 5.6087, 0.0002612, 0.0003107),
        (8192, 6.1004, 0.0001201, 0.0001386),
    ];
    for (nodes, avg_hops, mcf, moore) in table {
        let bound = cover_bound(nodes);
        assert!((bound.avg_hops - avg_hops).abs() < 6e-5, "{nodes}: {bound:?}");
        // The last digit printed.
        let digit = if nodes < 768 { 1e-6 } else { 1e-7 };
        assert!((bound.mcf - mcf).abs() < 0.6 * digit, "{nodes}: {bound:?}");
        assert!((moore_bound(nodes) - moore).abs() < 0.6 * digit, "{nodes}: {}", moore_bound(nodes));
    }
}

#[test]
fn no_pod_beats_the_bounds() {
    for cubes in 1..12 {
        let pod = vector(cubes);
        let Some(hops) = metrics::hops(&pod) else { continue };
        let (nodes, by_hops) = (pod.nodes(), metrics::hop_bound(pod.nodes(), hops.hop_sum));
        assert!(by_hops <= cover_bound(nodes).mcf && cover_bound(nodes).mcf <= moore_bound(nodes));
        let known =
            [(1, 1), (2, 3), (1, 2), (1, 3)].into_iter().filter_map(|(a, b)| metrics::two_length(&pod, a, b));
        assert!(known.fold(f64::INFINITY, f64::min) <= tight_cover_bound(nodes));
        assert!(tight_cover_bound(nodes) <= cover_bound(nodes).mcf);
    }
}
