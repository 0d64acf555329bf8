use super::*;
use crate::model::topology::Topology;
use crate::throughput::metrics;
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;

fn objective(group: &Group, cuts: Vec<LinearCut>) -> Objective {
    Objective {
        group: group.clone(),
        ties: Ties::free(group),
        metrics: vec![Lengths::hops(), Lengths::two(1, 2)],
        cuts,
        mean_share: 0.1,
    }
}

fn run(objective: &Objective, settings: &AnnealSettings, starts: &[[u16; SWITCHES]]) -> Vec<Design> {
    let streams = Streams::new(11);
    anneal(objective, settings, starts, |n| streams.stream(n), &mut Unwatched::default(), |_, _| ()).unwrap()
}

#[test]
fn chains_come_to_designs_that_are_what_they_are_said_to_be() {
    let group = Group::abelian(&[2, 2]).unwrap();
    let objective = objective(&group, Vec::new());
    let settings = AnnealSettings { chains: 6, steps: 1500, ..AnnealSettings::default() };
    let found = run(&objective, &settings, &[]);
    assert_eq!(found.len(), 6);
    assert!(found.is_sorted_by(|a, b| a.score <= b.score));
    for design in &found {
        let pod = Topology::symmetric(group.clone(), design.voltage);
        let hops = metrics::hop_bound(256, metrics::hops(&pod).unwrap().hop_sum);
        let two = metrics::two_length(&pod, 1, 2).unwrap();
        assert!((design.bound / hops.min(two) - 1.0).abs() < 1e-12);
        let score = 1.0 / hops.min(two) + 0.1 * (1.0 / hops + 1.0 / two) / 2.0;
        assert!((design.score / score - 1.0).abs() < 1e-12);
    }
    // Random pods have a hop bound of about 0.0060.
    assert!(found[0].bound > 0.0062, "{}", found[0].bound);
}

#[test]
fn threads_do_not_change_what_chains_find() {
    /// Gives closures a pool of its own.
    struct Pool(rayon::ThreadPool);
    impl Watch for Pool {
        fn checkpoint(&mut self) -> Result<(), MethodError> {
            Ok(())
        }
        fn report(&mut self, _body: lightbay_core::event::EventBody) {}
        fn count(&mut self, _units: u64) {}
        fn elapsed_s(&self) -> f64 {
            0.0
        }
        fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
            Box::new(|| false)
        }
        fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
            self.0.install(work)
        }
    }
    let group = Group::most_square(18);
    let objective = objective(&group, Vec::new());
    let settings = AnnealSettings { chains: 5, steps: 120, exchanges: 6, ..AnnealSettings::default() };
    let with = |threads| {
        let streams = Streams::new(2);
        let mut pool = Pool(rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
        anneal(&objective, &settings, &[], |n| streams.stream(n), &mut pool, |_, _| ()).unwrap()
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn a_start_is_never_made_worse_and_the_bound_counts_cuts() {
    let group = Group::abelian(&[5]).unwrap();
    let start: [u16; SWITCHES] = std::array::from_fn(|o| (o * o % 5) as u16);
    let pod = Topology::symmetric(group.clone(), start);
    let mut lengths = vec![1.0; crate::model::pod::LINK_CLASSES];
    lengths[150] = 2.5;
    let cut = LinearCut::new(&pod, &lengths).unwrap();
    let objective = objective(&group, cut.images(&group));
    let still = AnnealSettings { chains: 1, steps: 0, ..AnnealSettings::default() };
    let first = run(&objective, &still, &[start])[0];
    assert_eq!(first.voltage, start);
    assert!(first.bound <= cut.bound(&start) * (1.0 + 1e-12));
    let settings = AnnealSettings { chains: 3, steps: 400, ..AnnealSettings::default() };
    let found = run(&objective, &settings, &[start]);
    assert!(found.iter().all(|design| design.score <= first.score));
    let best = found[0];
    let least = objective.cuts.iter().map(|cut| cut.bound(&best.voltage)).fold(f64::INFINITY, f64::min);
    assert!(best.bound <= least * (1.0 + 1e-12));
}

#[test]
fn a_stop_is_passed_on() {
    struct Impatient(u32);
    impl Watch for Impatient {
        fn checkpoint(&mut self) -> Result<(), MethodError> {
            self.0 += 1;
            if self.0 > 3 { Err(lightbay_core::context::Stop::Time.into()) } else { Ok(()) }
        }
        fn report(&mut self, _body: lightbay_core::event::EventBody) {}
        fn count(&mut self, _units: u64) {}
        fn elapsed_s(&self) -> f64 {
            0.0
        }
        fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
            Box::new(|| false)
        }
    }
    let group = Group::most_square(32);
    let settings = AnnealSettings { steps: u64::MAX / 2, ..AnnealSettings::default() };
    let streams = Streams::new(1);
    let ended = anneal(
        &objective(&group, Vec::new()),
        &settings,
        &[],
        |n| streams.stream(n),
        &mut Impatient(0),
        |_, _| (),
    );
    assert!(matches!(ended, Err(MethodError::Stopped(_))));
}
