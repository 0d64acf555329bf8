use super::*;
use crate::model::samples::stream;
use rand::RngExt;

fn random_sinks(seed: u64) -> (Vec<Sink>, f64) {
    let mut random = stream(seed);
    let count = random.random_range(2..=5);
    let equal = random.random::<bool>();
    let shared: u32 = random.random_range(1..=6);
    let mut sinks: Vec<Sink> = (0..count)
        .map(|task| Sink {
            task,
            release: if random.random_range(0..4) == 0 { 0.0 } else { random.random::<f64>() * 0.05 },
            work: 0.001 + random.random::<f64>() * 0.05,
            flows: f64::from(if equal { shared } else { random.random_range(1..=6) }),
            tail: 0.0,
        })
        .collect();
    sort(&mut sinks);
    (sinks, f64::from(random.random_range(1..=12u32)))
}

/// Largest, over all sets of sinks, of the earliest moment at which the set can have sent everything: by
/// max-flow = min-cut the optimum of the linear program over rates.
fn optimum(sinks: &[Sink], circuits: f64) -> f64 {
    let mut worst = 0.0f64;
    for set in 1u32..1 << sinks.len() {
        let members: Vec<&Sink> =
            sinks.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, sink)| sink).collect();
        let mut left: f64 = members.iter().map(|sink| sink.work * sink.flows).sum();
        let mut flows = 0.0;
        for (index, sink) in members.iter().enumerate() {
            flows += sink.flows;
            let speed = f64::min(flows, circuits);
            let next = members.get(index + 1).map_or(f64::INFINITY, |next| next.release);
            if left <= speed * (next - sink.release) {
                worst = worst.max(sink.release + left / speed);
                break;
            }
            left -= speed * (next - sink.release);
        }
    }
    worst
}

#[test]
fn level_first_reaches_the_optimum_of_the_linear_program() {
    let mut scratch = SinkScratch::default();
    let mut gained = 0;
    for seed in 0..3000 {
        let (sinks, circuits) = random_sinks(seed);
        let end = level_first(&sinks, circuits, &mut scratch, None);
        let best = optimum(&sinks, circuits);
        assert!((end - best).abs() <= 1e-13, "seed {seed}: {end}, not {best}: {sinks:?} on {circuits}");
        let bound = quick_bound(&sinks, circuits);
        assert!(bound <= best + 1e-13);
        let fair = fair(&sinks, circuits, &mut scratch, None);
        assert!(fair >= best - 1e-13);
        gained += usize::from(fair > best + 1e-6);
    }
    assert!(gained > 500, "priorities should matter often, they did {gained} times");
}

#[test]
fn stretches_cover_the_work_and_respect_the_link() {
    let mut scratch = SinkScratch::default();
    for seed in 0..500 {
        let (sinks, circuits) = random_sinks(seed);
        for rule in [fair, level_first] {
            let mut stretches = Vec::new();
            let end = rule(&sinks, circuits, &mut scratch, Some(&mut stretches));
            assert!((end - rule(&sinks, circuits, &mut scratch, None)).abs() < 1e-14);
            for (index, sink) in sinks.iter().enumerate() {
                let own: Vec<&Stretch> = stretches.iter().filter(|s| s.sink as usize == index).collect();
                assert_eq!(own[0].start, sink.release);
                assert!(own.windows(2).all(|pair| pair[0].end == pair[1].start));
                let sent: f64 = own.iter().map(|s| s.speed * (s.end - s.start)).sum();
                assert!((sent - sink.work).abs() < 1e-12, "seed {seed}");
                assert!(own.iter().all(|s| s.end > s.start && (0.0..=1.0).contains(&s.speed)));
            }
            for cut in &stretches {
                let middle = f64::midpoint(cut.start, cut.end);
                let load: f64 = stretches
                    .iter()
                    .filter(|s| s.start <= middle && middle < s.end)
                    .map(|s| s.speed * sinks[s.sink as usize].flows)
                    .sum();
                assert!(load <= circuits + 1e-9);
            }
        }
    }
}

#[test]
fn fair_sharing_counts_the_tail_of_each() {
    let sink = |task, release, work, tail| Sink { task, release, work, flows: 1.0, tail };
    let sinks = [sink(0, 0.0, 1.0, 5.0), sink(1, 0.0, 2.0, 0.0)];
    // Both at half speed until 2, then the second alone until 3.
    assert_eq!(fair(&sinks, 1.0, &mut SinkScratch::default(), None), 7.0);
    assert_eq!(level_first(&sinks, 1.0, &mut SinkScratch::default(), None), 3.0);
}
