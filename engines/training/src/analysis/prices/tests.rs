#![allow(clippy::unwrap_used, clippy::panic)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{link, pod, random_dag, random_tail_exact, task, tiny4};
use crate::scenario::instance::{Instance, LinkKind};
use lightbay_core::context::Stop;
use lightbay_core::watch::Unwatched;

fn priced(instance: &Instance, x: &[u32], rates: Rates) -> Prices {
    Prices::new(&Evaluator::new(instance).unwrap(), x, rates, &mut Unwatched::default()).unwrap()
}

/// One transfer of 1 GB in `flows` flows over a single link between pods with so many ports.
fn one_transfer(flows: u32, ports: [u32; 2]) -> Instance {
    Instance {
        nic_bandwidth_gbps: 400.0,
        pods: vec![pod(0, ports[0], false), pod(1, ports[1], false)],
        links: vec![link(0, 0, 1, LinkKind::Mixed, 1, 1)],
        tasks: vec![task(0, 0, 1, flows, 1e9, 0.0)],
        edges: vec![],
        provenance: None,
        reconfiguration: None,
    }
}

#[test]
fn a_transfer_is_worth_what_its_length_says() {
    // 1 GB at 50 GB/s per circuit: 10 ms on 2 circuits, 6.667 on 3, 20 on 1; pod 1 has a port to spare.
    let prices = priced(&one_transfer(4, [2, 3]), &[2], Rates::Best);
    assert!(prices.proven && prices.exact());
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a}, not {b}");
    near(prices.best_makespan_s, 0.01);
    assert_eq!(prices.pods.iter().map(|price| price.pod).collect::<Vec<_>>(), [0, 1]);
    near(prices.pods[0].gain_s, 0.01 - 1.0 / 150.0);
    assert_eq!((prices.pods[0].free, prices.pods[0].first.unwrap().0), (0, 1));
    assert_eq!((prices.pods[1].gain_s, prices.pods[1].free, prices.pods[1].first), (0.0, 1, None));
    let loss = prices.links[0].loss.unwrap();
    near(loss.replanned_s, 0.01);
    near(loss.kept_s, 0.01);
    near(prices.nct(prices.comm_ideal_s).unwrap(), 1.0);
}

#[test]
fn a_link_with_one_circuit_may_not_lose_it_and_leads() {
    let prices = priced(&tiny4(), &[1, 3, 3], Rates::Best);
    assert_eq!((prices.links[0].link, prices.links[0].loss), (0, None));
    assert!(prices.links[1..].iter().all(|price| price.loss.unwrap().replanned_s >= 0.0));
    // Both pods must have a port more for another circuit between them, so one in the first pod serves its exchange.
    let better = |pod: &PortPrice| pod.gain_s > 0.0;
    assert_eq!(prices.pods.iter().filter(|pod| better(pod)).count(), 1, "{:?}", prices.pods);
    assert!(better(&prices.pods[0]));
}

#[test]
fn two_ports_are_looked_for_where_one_serves_nothing() {
    // A circuit costs two ports in the first pod.
    let mut instance = one_transfer(4, [4, 9]);
    instance.links[0].ports_a = 2;
    let prices = priced(&instance, &[2], Rates::Best);
    let first = prices.pods.iter().find(|price| price.pod == 0).unwrap();
    assert_eq!(first.gain_s, 0.0);
    let (ports, gain_s) = first.first.unwrap();
    assert_eq!(ports, 2);
    assert!((gain_s - (0.01 - 1.0 / 150.0)).abs() < 1e-12);
    assert_eq!(prices.pods[0].pod, 0, "a gain with two ports comes before none");
}

/// The best vector by looking at all.
fn brute(evaluator: &Evaluator, rates: Rates, most: &[u32]) -> f64 {
    let mut scratch = Scratch::default();
    let mut best = f64::INFINITY;
    let mut x = vec![1; most.len()];
    loop {
        if evaluator.network.budget.fits(&x) {
            best = best.min(evaluator.makespan(&x, rates, &mut scratch));
        }
        let Some(at) = (0..x.len()).rposition(|link| x[link] < most[link]) else { return best };
        x[at] += 1;
        x[at + 1..].fill(1);
    }
}

#[test]
fn prices_are_the_differences_of_the_best_of_all_vectors() {
    let mut gains = 0;
    for seed in 0..60 {
        let instance = random_tail_exact(seed);
        let evaluator = Evaluator::new(&instance).unwrap();
        let budget = &evaluator.network.budget;
        let limits = |evaluator: &Evaluator| -> Vec<u32> {
            let budget = &evaluator.network.budget;
            (0..budget.links()).map(|link| budget.limit(link)).collect()
        };
        let x = crate::search::baselines::Baseline::ALL[0].allocate(&evaluator.network);
        let prices = priced(&instance, &x, Rates::Best);
        let best = brute(&evaluator, Rates::Best, &limits(&evaluator));
        let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * best, "seed {seed}: {a}, not {b}");
        assert!(prices.exact());
        near(prices.best_makespan_s, best);
        for price in &prices.pods {
            let mut richer = evaluator.clone();
            richer.network.budget = budget.with_ports(price.pod as usize, price.ports + 1);
            near(price.gain_s, best - brute(&richer, Rates::Best, &limits(&richer)));
            gains += usize::from(price.gain_s > 0.0);
        }
        for price in &prices.links {
            let Some(loss) = price.loss else { continue };
            let mut most = limits(&evaluator);
            most[price.link as usize] = price.circuits - 1;
            near(loss.replanned_s, brute(&evaluator, Rates::Best, &most) - best);
        }
    }
    assert!(gains > 20, "{gains}");
}

#[test]
fn estimates_are_never_negative_and_say_what_they_are() {
    let mut estimates = 0;
    for seed in 0..30 {
        let instance = random_dag(seed);
        let evaluator = Evaluator::new(&instance).unwrap();
        let x = crate::search::baselines::Baseline::ALL[0].allocate(&evaluator.network);
        for rates in [Rates::Best, Rates::Fair] {
            let prices = priced(&instance, &x, rates);
            estimates += usize::from(!prices.exact());
            assert!(prices.best_makespan_s <= prices.plan_makespan_s);
            assert!(prices.pods.iter().all(|price| price.gain_s >= 0.0));
            let losses = prices.links.iter().filter_map(|price| price.loss);
            assert!(losses.into_iter().all(|loss| loss.replanned_s >= 0.0));
        }
    }
    assert!(estimates > 20, "{estimates}");
}

#[test]
fn prices_can_be_stopped() {
    struct Impatient(u32);
    impl Watch<Proposal> for Impatient {
        fn checkpoint(&mut self) -> Result<(), MethodError> {
            self.0 += 1;
            if self.0 > 3 { Err(Stop::Requested.into()) } else { Ok(()) }
        }
        fn found(&mut self, _: Proposal, _: &str) -> Result<(), MethodError> {
            panic!("what prices find is nobody's plan")
        }
        fn report(&mut self, _: lightbay_core::event::EventBody) {}
        fn count(&mut self, _: u64) {}
    }
    let evaluator = Evaluator::new(&tiny4()).unwrap();
    let stopped = Prices::new(&evaluator, &[1, 3, 3], Rates::Best, &mut Impatient(0));
    assert!(matches!(stopped, Err(MethodError::Stopped(Stop::Requested))));
}
