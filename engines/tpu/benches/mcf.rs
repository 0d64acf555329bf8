//! Running time of a certified flow, by size: pods of the evaluator's vectors and of random voltages.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)] // a table is the point; a failed unwrap ends it

use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;
use lightbay_tpu::model::group::Group;
use lightbay_tpu::model::topology::Topology;
use lightbay_tpu::throughput::mcf::{FlowSettings, certify};
use lightbay_tpu::throughput::metrics::{hop_bound, hops};
use rand::RngExt;
use std::time::Instant;

/// The best of some random pods by the first bound: nearer to designed pods than the first one drawn.
fn random(cubes: usize) -> Topology {
    let group = Group::most_square(cubes);
    let mut stream = Streams::new(7).stream(cubes as u64);
    let pods = (0..20).map(|_| {
        let voltage = std::array::from_fn(|_| stream.random_range(0..cubes) as u16);
        Topology::symmetric(group.clone(), voltage)
    });
    let bound = |pod: &Topology| hops(pod).map_or(0.0, |hops| hop_bound(pod.nodes(), hops.hop_sum));
    pods.max_by(|one, other| bound(one).total_cmp(&bound(other))).unwrap()
}

/// Seconds that this thread worked.
fn cpu_s() -> f64 {
    let words = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    words.split(' ').next().and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

fn main() {
    let wanted: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    for (cubes, gap) in [(2, 1e-3), (4, 1e-3), (8, 1e-3), (16, 1e-3), (32, 5e-3), (64, 5e-3), (128, 5e-3)] {
        let nodes = 64 * cubes;
        if !wanted.is_empty() && !wanted.contains(&nodes) {
            continue;
        }
        let pod = random(cubes);
        let (began, cpu) = (Instant::now(), cpu_s());
        let settings = FlowSettings { gap, ..FlowSettings::default() };
        let found = certify(&pod, &settings, None, &mut Unwatched::default()).unwrap();
        let seconds = began.elapsed().as_secs_f64();
        let cpu = cpu_s() - cpu;
        println!("figure: mcf_{nodes}_s: {seconds:.3}");
        println!(
            "{nodes} chips: [{:.7}, {:.7}], gap {:.2e} of {gap:.0e}, {} rounds, {seconds:.3} s ({cpu:.3} s of the processor)",
            found.lower,
            found.upper,
            found.gap(),
            found.rounds
        );
    }
}
