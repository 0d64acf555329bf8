//! The price of a port is what another solve finds with one port more.

use crate::support::{Asked, circuits};
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;
use lightbay_training::TrainingScenario;
use lightbay_training::analysis::prices::Prices;
use lightbay_training::scenario::job::{Job, ModelChoice, PortsPerPod, RunConfig};
use lightbay_training::simulate::evaluate::{Evaluator, Rates};
use rand::RngExt;

/// Small jobs in which circuits are scarce, with the ports of every pod.
fn jobs() -> impl Iterator<Item = (Job, Vec<u32>)> {
    let mut random = Streams::new(21).stream(0);
    std::iter::from_fn(move || {
        let (tp, pp) = (random.random_range(2..=4), random.random_range(4..=8));
        let replicas = random.random_range(2..=3);
        let mut run = RunConfig::of(tp, pp, tp * pp * replicas, tp * 2, random.random_range(2..=6));
        run.bandwidth_gbps = f64::from(random.random_range(100..=800));
        let pods = pp.div_ceil(2);
        let ports: Vec<u32> = (0..pods).map(|_| random.random_range(3..=6)).collect();
        let job = Job {
            model: Some(ModelChoice::Preset("gpt_7b".to_owned())),
            run,
            pods: None,
            failed_ports: Vec::new(),
            ports_per_pod: Some(PortsPerPod::ByPosition(ports.clone())),
            reverse: random.random(),
            measured: None,
            reconfiguration: None,
        };
        Some((job, ports))
    })
    .filter(|(job, _)| TrainingScenario::Job(job.clone()).build().is_ok())
}

#[test]
fn a_price_is_the_difference_of_two_solves() {
    let solved = |job: &Job| {
        let log = Asked::of(TrainingScenario::Job(job.clone()), "delta-joint").solve();
        let done = log.done().clone();
        (done.value.unwrap(), done.plan.unwrap())
    };
    let mut gains = 0;
    for (case, (job, ports)) in jobs().take(10).enumerate() {
        let (before_s, plan) = solved(&job);
        let instance = TrainingScenario::Job(job.clone()).build().unwrap().instance;
        let evaluator = Evaluator::new(&instance).unwrap();
        let x = circuits(&plan);
        let prices = Prices::new(&evaluator, &x, Rates::Best, &mut Unwatched::default()).unwrap();
        assert!(prices.exact(), "case {case}");
        for position in 0..ports.len() {
            let mut more = ports.clone();
            more[position] += 1;
            let (after_s, _) =
                solved(&Job { ports_per_pod: Some(PortsPerPod::ByPosition(more)), ..job.clone() });
            let price = prices.pods.iter().find(|price| price.pod as usize == position).unwrap();
            let expected_s = before_s - after_s;
            assert!(
                (price.gain_s - expected_s).abs() <= 1e-9 * before_s,
                "case {case}, pod {position}: {} and {expected_s}",
                price.gain_s
            );
            gains += usize::from(expected_s > 1e-6);
        }
    }
    assert!(gains >= 5, "only {gains} ports are worth anything");
}
