//! Times of the metrics that searches evaluate by the million.
#![allow(missing_docs)] // criterion's macros

use criterion::{Criterion, criterion_group, criterion_main};
use lightbay_tpu::model::group::Group;
use lightbay_tpu::model::pod::SWITCHES;
use lightbay_tpu::throughput::metrics::Lengths;
use lightbay_tpu::throughput::metrics::wavefront::Wavefront;
use std::hint::black_box;

/// Pods of a size side by side, each wired by another rule.
fn pods(cubes: usize) -> Wavefront {
    let group = Group::most_square(cubes);
    let mut wavefront = Wavefront::new(cubes, Wavefront::best_pods(cubes));
    for which in 0..wavefront.pods() {
        for switch in 0..SWITCHES {
            wavefront.set(which, switch, &group, (switch * switch + (3 + which) * switch + 1) % cubes);
        }
    }
    wavefront
}

fn metrics(c: &mut Criterion) {
    for cubes in [2, 4, 8, 16, 24, 32, 64, 128] {
        let mut wavefront = pods(cubes);
        let together = wavefront.pods();
        for (name, lengths) in [("hops", Lengths::hops()), ("two lengths 1 2", Lengths::two(1, 2))] {
            c.bench_function(&format!("{name}, {} chips, {together} pods at once", 64 * cubes), |b| {
                b.iter(|| black_box(wavefront.run(&lengths, 0)).len());
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(std::time::Duration::from_millis(300)).measurement_time(std::time::Duration::from_secs(1));
    targets = metrics
}
criterion_main!(benches);
