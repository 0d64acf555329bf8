//! Running times of orientation and halving, by pods and switches: a quarter of the circuits changed.
#![allow(missing_docs, clippy::unwrap_used)] // a failed unwrap ends the benchmark

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;
use lightbay_crossconnect::model::task::Task;
use lightbay_crossconnect::scenario::Family;
use lightbay_crossconnect::scenario::presets;
use lightbay_crossconnect::search::start::{Tries, halved};
use std::hint::black_box;

fn halving(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("halving");
    group.sample_size(10);
    for (pods, ocs) in [(16, 16), (64, 16), (256, 64)] {
        let family = Family { changed_percent: 25, instance_seed: 1 };
        let task = Task::of(&presets::random(pods, ocs, family));
        group.bench_function(format!("{pods} pods, {ocs} switches"), |bencher| {
            bencher.iter_batched(
                || task.clone(),
                |task| {
                    let mut watch = Unwatched::default();
                    let found =
                        halved(&task, Tries::default(), Streams::new(1), &mut watch, |_, _, _| Ok(()))
                            .unwrap();
                    black_box(found)
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, halving);
criterion_main!(benches);
