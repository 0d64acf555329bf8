use super::*;
use crate::model::topology::tests::vector;
use crate::throughput::metrics;
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;

fn run(objective: &GeneralObjective, settings: &AnnealSettings, start: &Topology) -> Vec<GeneralDesign> {
    let streams = Streams::new(11);
    anneal(objective, settings, start, |n| streams.stream(n), &mut Unwatched::default(), |_, _| ()).unwrap()
}

fn objective(cuts: Vec<CircuitCut>) -> GeneralObjective {
    GeneralObjective { metrics: vec![Lengths::hops(), Lengths::two(1, 2)], cuts, mean_share: 0.1 }
}

#[test]
fn designs_are_what_they_are_said_to_be_and_better_than_the_start() {
    let start = vector(3);
    // The metric of a pod that optical links fill first.
    let lengths: Vec<f64> = (0..crate::model::pod::LINK_CLASSES)
        .map(|class| if crate::model::pod::is_optical(class) { 3.0 } else { 1.0 })
        .collect();
    let cut = CircuitCut::new(&start, &crate::throughput::mcf::spread(&start, &lengths)).unwrap();
    for cuts in [Vec::new(), cut.images()] {
        let objective = objective(cuts);
        let settings = AnnealSettings { chains: 7, steps: 400, ..AnnealSettings::default() };
        let found = run(&objective, &settings, &start);
        assert_eq!(found.len(), 7);
        assert!(found.is_sorted_by(|a, b| a.score <= b.score));
        for design in &found {
            let pod = design.topology().unwrap();
            let hops = metrics::hop_bound(192, metrics::hops(&pod).unwrap().hop_sum);
            let two = metrics::two_length(&pod, 1, 2).unwrap();
            let cuts = objective.cuts.iter().map(|cut| cut.bound(&pod)).fold(f64::INFINITY, f64::min);
            let bound = hops.min(two).min(cuts);
            assert!((design.bound / bound - 1.0).abs() < 1e-9, "{} {bound}", design.bound);
            let score = 1.0 / bound + 0.1 * (1.0 / hops + 1.0 / two) / 2.0;
            assert!((design.score / score - 1.0).abs() < 1e-9);
        }
        let hops = metrics::hop_bound(192, metrics::hops(&start).unwrap().hop_sum);
        assert!(found[0].bound > hops.min(metrics::two_length(&start, 1, 2).unwrap()));
    }
}

#[test]
fn the_same_seed_finds_the_same() {
    let settings = AnnealSettings { chains: 3, steps: 60, ..AnnealSettings::default() };
    let [one, other] = [0, 1].map(|_| run(&objective(Vec::new()), &settings, &vector(4)));
    assert_eq!(one, other);
    let streams = Streams::new(12);
    let ask = objective(Vec::new());
    let another =
        anneal(&ask, &settings, &vector(4), |n| streams.stream(n), &mut Unwatched::default(), |_, _| ());
    assert_ne!(one, another.unwrap());
}
