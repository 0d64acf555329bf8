use super::*;
use crate::model::group::Group;
use lightbay_core::watch::Unwatched;

/// Pod with voltage (o² + 3o + 1) mod C over the cyclic group.
fn vector(cubes: usize) -> Topology {
    let voltage = std::array::from_fn(|o| ((o * o + 3 * o + 1) % cubes) as u16);
    Topology::symmetric(Group::abelian(&[cubes]).unwrap(), voltage)
}

/// A torus of cubes (a, b, c): every switch of dimension d steps by one in d, plus the shift of its row.
fn torus(grid: [usize; 3]) -> Topology {
    let group = Group::abelian(&grid).unwrap();
    let step = [1 % grid[0], grid[0] * (1 % grid[1]), grid[0] * grid[1] * (1 % grid[2])];
    Topology::symmetric(group, std::array::from_fn(|o| step[o / 16] as u16))
}

fn certified(pod: &Topology, gap: f64) -> Certificate {
    certify(pod, &FlowSettings { gap, ..FlowSettings::default() }, None, &mut Unwatched::default()).unwrap()
}

fn assert_inside(certificate: &Certificate, [low, high]: [f64; 2]) {
    // The figures are rounded to seven digits.
    let slack = 6e-8;
    let inside = certificate.lower <= high + slack && certificate.upper >= low - slack;
    assert!(inside, "{certificate:?} outside [{low}, {high}]");
    assert!(certificate.lower <= certificate.upper);
}

#[test]
fn evaluator_vectors_have_the_known_flow() {
    for (cubes, gap, interval) in [
        (2, 1e-3, [0.0136364, 0.0136364]),
        (3, 1e-3, [0.0086668, 0.0086697]),
        (4, 1e-3, [0.0052083, 0.0052101]),
        (8, 5e-3, [0.0023425, 0.0023433]),
        (16, 1e-2, [0.0010647, 0.0010651]),
    ] {
        let certificate = certified(&vector(cubes), gap);
        assert!(certificate.gap() <= gap, "{cubes}: {certificate:?}");
        assert_inside(&certificate, interval);
    }
}

#[test]
fn doubly_twisted_tori_have_the_published_flow() {
    for (shape, value) in
        [([4, 4, 8], 0.0136364), ([4, 8, 8], 0.0054348), ([8, 8, 16], 0.0008408), ([8, 16, 16], 0.0003360)]
    {
        let pod = crate::model::baselines::pdtt(shape).unwrap();
        let certificate = certified(&pod, 1e-3);
        assert!(certificate.gap() <= 1e-3, "{shape:?}: {certificate:?}");
        assert_inside(&certificate, [value, value]);
        // Their hops are spread evenly over all links.
        let hops = crate::throughput::metrics::hops(&pod).unwrap();
        let by_hops = crate::throughput::metrics::hop_bound(pod.nodes(), hops.hop_sum);
        assert!((certificate.lower / by_hops - 1.0).abs() < 1e-3, "{shape:?}: {certificate:?} {by_hops}");
    }
}

/// A watch with threads of its own.
struct Threads(rayon::ThreadPool);

impl Watch for Threads {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Ok(())
    }
    fn report(&mut self, _: EventBody) {}
    fn count(&mut self, _: u64) {}
    fn elapsed_s(&self) -> f64 {
        0.0
    }
    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        Box::new(|| false)
    }
    fn threads(&self) -> usize {
        self.0.current_num_threads()
    }
    fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.0.install(work)
    }
}

#[test]
fn any_number_of_threads_finds_the_same_certificate() {
    for pod in [vector(5), vector(2).without_symmetry(), vector(5).without_symmetry()] {
        let found = [1, 2, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let settings = FlowSettings { gap: 1e-2, max_rounds: 12, ..FlowSettings::default() };
            attempt(&pod, &settings, None, &mut Threads(pool))
        });
        let [one, two, three] = found;
        let one = (one.certificate.unwrap(), one.flow.unwrap());
        assert_eq!(one, (two.certificate.unwrap(), two.flow.unwrap()), "{} chips", pod.nodes());
        assert_eq!(one, (three.certificate.unwrap(), three.flow.unwrap()), "{} chips", pod.nodes());
    }
}

#[test]
fn tori_have_the_closed_form() {
    for grid in [[1, 1, 1], [1, 1, 2], [1, 1, 3], [1, 2, 2], [2, 2, 2], [1, 2, 3]] {
        let pod = torus(grid);
        let longest = 4.0 * grid.into_iter().max().unwrap() as f64;
        let exact = 8.0 / (pod.nodes() as f64 * longest);
        let certificate = certified(&pod, 1e-4);
        assert!(certificate.gap() <= 1e-4, "{grid:?}: {certificate:?}");
        assert!(
            certificate.lower <= exact * (1.0 + 1e-9) && certificate.upper >= exact * (1.0 - 1e-9),
            "{grid:?}: {certificate:?} {exact}"
        );
    }
}

#[test]
fn both_ends_are_certificates_that_hold_on_their_own() {
    let pod = vector(4);
    let mut watch = Unwatched::default();
    let attempt = attempt(&pod, &FlowSettings::default(), None, &mut watch);
    let (certificate, flow) = (attempt.certificate.unwrap(), attempt.flow.unwrap());
    let lengths = certificate.class_lengths.unwrap();
    assert!((upper_of_lengths(&pod, &lengths) / certificate.upper - 1.0).abs() < 1e-9);
    // The loads of the flow's trees, computed again.
    let network = Network::pod(&pod, 1);
    let mut loads = vec![0.0; LINK_CLASSES];
    for tree in &flow.trees {
        let swept = sweep::sweep(&network, &tree.lengths, &mut watch).unwrap();
        for (of_source, share) in swept.loads.chunks(LINK_CLASSES).zip(&tree.shares) {
            for (sum, load) in loads.iter_mut().zip(of_source) {
                *sum += share * load;
            }
        }
    }
    for source in 0..64 {
        let shares: f64 = flow.trees.iter().map(|tree| tree.shares[source]).sum();
        assert!((shares - 1.0).abs() < 1e-12);
    }
    let fullest = loads.into_iter().fold(0.0, f64::max);
    assert!(flow.value * fullest <= 2.0 && flow.value * fullest > 2.0 * (1.0 - 1e-9));
    assert_eq!(flow.value, certificate.lower);
}

#[test]
fn a_pod_without_its_symmetry_carries_the_same() {
    let pod = vector(2);
    let states: Vec<Vec<u16>> =
        (0..crate::model::pod::SWITCHES).map(|switch| pod.state(switch).to_vec()).collect();
    let general = Topology::general(&states).unwrap();
    let (symmetric, general) = (certified(&pod, 1e-4), certified(&general, 1e-4));
    assert!(general.gap() <= 1e-4, "{general:?}");
    assert!(
        general.lower <= symmetric.upper * (1.0 + 1e-9) && symmetric.lower <= general.upper * (1.0 + 1e-9)
    );
}

#[test]
fn any_lengths_give_a_bound() {
    let pod = vector(3);
    let known = certified(&pod, 1e-3);
    for optical in [1.0, 2.0, 3.7] {
        let lengths: Vec<f64> = (0..LINK_CLASSES)
            .map(|class| if crate::model::pod::is_optical(class) { optical } else { 1.0 })
            .collect();
        assert!(upper_of_lengths(&pod, &lengths) >= known.lower);
    }
    assert_eq!(upper_of_lengths(&pod, &[1.0]), f64::INFINITY);
}

#[test]
fn without_a_solver_the_interval_is_wider_and_still_holds() {
    for (pod, width) in [(torus([1, 1, 2]), 0.005), (vector(4), 0.09)] {
        let settings = FlowSettings { solver: false, max_rounds: 300, ..FlowSettings::default() };
        let wide = certify(&pod, &settings, None, &mut Unwatched::default()).unwrap();
        let close = certified(&pod, 1e-3);
        assert!(wide.gap() <= width, "{wide:?}");
        assert!(wide.lower <= close.upper && wide.upper >= close.lower, "{wide:?} {close:?}");
    }
}

#[test]
fn a_stopped_run_keeps_its_interval() {
    struct Impatient(u32);
    impl Watch for Impatient {
        fn checkpoint(&mut self) -> Result<(), MethodError> {
            Ok(())
        }
        fn report(&mut self, _: EventBody) {
            self.0 += 1;
        }
        fn count(&mut self, _: u64) {}
        fn elapsed_s(&self) -> f64 {
            0.0
        }
        fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
            Box::new(|| false)
        }
    }
    let mut listening = Impatient(0);
    certify(&vector(3), &FlowSettings::default(), None, &mut listening).unwrap();
    assert!(listening.0 > 4 && listening.0.is_multiple_of(2), "{}", listening.0);
    struct Stopping(u32);
    impl Watch for Stopping {
        fn checkpoint(&mut self) -> Result<(), MethodError> {
            if self.0 == 0 { Err(lightbay_core::context::Stop::Requested.into()) } else { Ok(()) }
        }
        fn report(&mut self, _: EventBody) {
            self.0 = self.0.saturating_sub(1);
        }
        fn count(&mut self, _: u64) {}
        fn elapsed_s(&self) -> f64 {
            0.0
        }
        fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
            Box::new(|| false)
        }
    }
    let stopped = attempt(&vector(3), &FlowSettings::default(), None, &mut Stopping(4));
    assert!(matches!(stopped.stopped, Some(MethodError::Stopped(_))));
    let certificate = stopped.certificate.unwrap();
    assert!(certificate.rounds >= 2 && certificate.lower > 0.5 * certificate.upper, "{certificate:?}");
    assert_eq!(stopped.flow.unwrap().value, certificate.lower);
}

#[test]
fn the_exact_program_agrees() {
    let exact = |pod: &Topology| leighton_rao::solve(&leighton_rao::of_pod(pod)).unwrap();
    let states = vec![vec![0]; crate::model::pod::SWITCHES];
    let twisted = crate::model::baselines::pdtt([4, 4, 8]).unwrap();
    // Voltages without any pattern: the digits of π.
    let digits = b"314159265358979323846264338327950288419716939937";
    let random = std::array::from_fn(|o| u16::from(digits[o] % 2));
    let random = Topology::symmetric(Group::abelian(&[2]).unwrap(), random);
    for pod in [torus([1, 1, 1]), Topology::general(&states).unwrap(), vector(2), twisted, random] {
        let (value, certificate) = (exact(&pod), certified(&pod, 1e-4));
        let slack = 1e-6;
        assert!(
            value >= certificate.lower * (1.0 - slack) && value <= certificate.upper * (1.0 + slack),
            "{value} {certificate:?}"
        );
    }
}
