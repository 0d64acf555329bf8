//! Random instances whose links no job would give: several exchange links at a pod, exchanges between real pods,
//! links that carry a pipeline and an exchange, circuits that cost several ports, links without any traffic.

use super::ask::solve;
use super::reference::Reference;
use lightbay_core::event::{Done, EndStatus, EventBody};
use lightbay_core::random::{Stream, Streams};
use lightbay_core::units::{LinkId, PodId, TaskId};
use lightbay_training::TrainingScenario;
use lightbay_training::scenario::instance::{Edge, GpuSet, Instance, Link, LinkKind, Pod, Task, TaskKind};
use lightbay_training::simulate::evaluate::{Evaluator, Rates, Scratch};
use rand::RngExt;

/// Vectors that brute force goes through.
const MOST: usize = 4_000;

/// Traits that make an instance harder than a job.
#[derive(Clone, Copy, Default)]
struct Odd {
    /// An exchange may run beside a transfer that others wait for.
    tangled: bool,
    /// Work of different length follows transfers of one link.
    uneven: bool,
    /// Transfers of a pod share network cards.
    cards: bool,
}

struct Maker<'r> {
    random: &'r mut Stream,
    odd: Odd,
    instance: Instance,
}

impl Maker<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.random.random_range(0..end)
    }

    fn link(&mut self, a: u32, b: u32, kind: LinkKind, ports: [u32; 2]) {
        let ends = (PodId(a.min(b)), PodId(a.max(b)));
        let links = &mut self.instance.links;
        if a == b || links.iter().any(|link| (link.pod_a, link.pod_b) == ends) {
            return;
        }
        let id = LinkId::from_index(links.len());
        links.push(Link { id, pod_a: ends.0, pod_b: ends.1, kind, ports_a: ports[0], ports_b: ports[1] });
    }

    /// A transfer over a link; with GPUs of its own, so that network cards play no part, unless they are shared.
    fn task(&mut self, link: usize, forward: bool, kind: TaskKind) -> usize {
        let id = self.instance.tasks.len() as u32;
        let link = &self.instance.links[link];
        let (src_pod, dst_pod) = if forward { (link.pod_a, link.pod_b) } else { (link.pod_b, link.pod_a) };
        let flows = self.random.random_range(1..=3);
        let mut gpus = |own: u32, pod: PodId| {
            let first = if self.odd.cards { 8 * pod.0 + self.random.random_range(0..4) } else { own };
            GpuSet::Range { first, count: flows }
        };
        let (src_gpus, dst_gpus) = (gpus(20 * id, src_pod), gpus(20 * id + 10, dst_pod));
        let task = Task {
            id: TaskId(id),
            name: format!("t{id}"),
            kind,
            micro_batch: 0,
            stage: 1,
            replica: 0,
            src_pod,
            dst_pod,
            flows,
            volume_bytes: self.random.random_range(1e8..3e9),
            src_gpus,
            dst_gpus,
            release_s: if self.random.random_bool(0.3) { self.random.random_range(0.0..0.02) } else { 0.0 },
            tail_s: 0.0,
        };
        self.instance.tasks.push(task);
        id as usize
    }

    fn edge(&mut self, pred: usize, succ: usize) {
        let delay_s = if self.random.random_bool(0.3) { 0.0 } else { self.random.random_range(0.0..0.02) };
        self.instance.edges.push(Edge {
            pred: TaskId::from_index(pred),
            succ: TaskId::from_index(succ),
            delay_s,
        });
    }
}

/// One chain of transfers over pipeline links, and exchanges that hang on it.
fn instance(random: &mut Stream, odd: Odd) -> Instance {
    let (real, mirrors) = (random.random_range(2..=4u32), random.random_range(0..=2u32));
    let pods = (0..real + mirrors)
        .map(|id| Pod { id: PodId(id), name: format!("p{id}"), ports: 0, mirror: id >= real })
        .collect();
    let empty = Instance {
        nic_bandwidth_gbps: 400.0,
        pods,
        links: vec![],
        tasks: vec![],
        edges: vec![],
        provenance: None,
        reconfiguration: None,
    };
    let mut maker = Maker { random, odd, instance: empty };
    for pod in 1..real {
        maker.link(pod - 1, pod, LinkKind::Mixed, [1, 1]);
    }
    let pipeline = maker.instance.links.len();
    for _ in 0..maker.random.random_range(1..=4) {
        let a = maker.random.random_range(0..real);
        let b = maker.random.random_range(0..real + mirrors);
        let costs = [maker.random.random_range(1..=2), maker.random.random_range(1..=2)];
        let costs = if b >= real { [costs[0], 0] } else { costs };
        maker.link(a, b, LinkKind::Dp, costs);
    }
    let mut last_on = vec![None; 2 * maker.instance.links.len()];
    let mut chain: Vec<usize> = Vec::new();
    for _ in 0..maker.random.random_range(2..=6) {
        let (link, forward) = (maker.below(pipeline), maker.random.random_bool(0.5));
        let task = maker.task(link, forward, TaskKind::PpFwd);
        if let Some(&before) = chain.last() {
            maker.edge(before, task);
        }
        chain.push(task);
        last_on[2 * link + usize::from(forward)] = Some(task);
    }
    let links = maker.instance.links.len();
    let tails: Vec<f64> = (0..2 * links)
        .map(|via| if via % 3 == 0 { maker.random.random_range(0.0..0.01) } else { 0.0 })
        .collect();
    for _ in 0..maker.random.random_range(2..=7) {
        let (link, forward) = (maker.below(links), maker.random.random_bool(0.7));
        let via = 2 * link + usize::from(forward);
        let task = maker.task(link, forward, TaskKind::Dp);
        let uneven = odd.uneven && maker.random.random_bool(0.8);
        maker.instance.tasks[task].tail_s =
            if uneven { maker.random.random_range(0.0..0.1) } else { tails[via] };
        let after = match last_on[via] {
            Some(last) if !odd.tangled => Some(last),
            _ => maker.random.random_bool(0.8).then(|| chain[maker.below(chain.len())]),
        };
        if let Some(pred) = after {
            maker.edge(pred, task);
        }
    }
    let mut instance = maker.instance;
    for pod in 0..real as usize {
        let here = |link: &Link| {
            [(link.pod_a, link.ports_a), (link.pod_b, link.ports_b)]
                .into_iter()
                .filter(|(at, _)| at.index() == pod)
                .map(|(_, cost)| cost)
                .sum::<u32>()
        };
        let least: u32 = instance.links.iter().map(here).sum();
        instance.pods[pod].ports = least + random.random_range(0..=8);
    }
    instance
}

/// Instances that are small enough for brute force, with all their vectors.
fn instances(seed: u64, odd: Odd, count: usize) -> Vec<(Instance, Vec<Vec<u32>>)> {
    let mut random = Streams::new(seed).stream(0);
    std::iter::from_fn(|| Some(instance(&mut random, odd)))
        .filter_map(|instance| {
            let reference = Reference::new(&instance);
            let vectors = reference.vectors(&reference.no_caps());
            (2..MOST).contains(&vectors.len()).then_some(())?;
            Some((instance.clone(), vectors))
        })
        .take(count)
        .collect()
}

fn body(instance: &Instance) -> TrainingScenario {
    TrainingScenario::Instance(instance.clone())
}

/// Bounds and incumbents on the way enclose the optimum.
fn assert_encloses(said: &[EventBody], optimum: f64, what: &str) {
    let near = 1e-9 * optimum;
    for body in said {
        match body {
            EventBody::Bound(bound) => assert!(bound.value <= optimum + near, "{what}: {bound:?}, {optimum}"),
            EventBody::Incumbent(found) => {
                assert!(found.value >= optimum - near, "{what}: {}, {optimum}", found.value);
            }
            _ => {}
        }
    }
}

fn assert_is(done: &Done, optimum: f64, what: &str) {
    assert_eq!(done.status, EndStatus::Optimal, "{what}: {}", done.message);
    let value = done.value.unwrap();
    assert!((value - optimum).abs() <= 1e-9 * optimum, "{what}: {value}, brute force {optimum}");
}

#[test]
fn the_proven_optimum_is_that_of_brute_force() {
    let (mut shapes, mut mixed, mut shared_pods) = (0, 0, 0);
    for (index, (instance, vectors)) in instances(11, Odd::default(), 150).into_iter().enumerate() {
        let evaluator = Evaluator::new(&instance).unwrap();
        assert!(evaluator.exact(Rates::Best), "{index}: {:?}", evaluator.contention.loose);
        let reference = Reference::new(&instance);
        let makespans: Vec<f64> = vectors.iter().map(|x| reference.makespan(x)).collect();
        let optimum = makespans.iter().copied().fold(f64::INFINITY, f64::min);
        let fewest = vectors.iter().zip(&makespans).filter(|(_, end)| **end <= optimum * (1.0 + 1e-7));
        let fewest = fewest.map(|(x, _)| reference.ports(x)).min().unwrap();
        for listed in ["100000", "1"] {
            let what = format!("instance {index}, at most {listed} listed");
            let settings =
                [("listed_vectors", listed), ("min_ports", "true"), ("generations", "3"), ("islands", "1")];
            let (done, said) = solve(body(&instance), "delta-joint", &settings);
            assert_encloses(&said, optimum, &what);
            let value = done.value.unwrap();
            assert_eq!(done.status, EndStatus::Optimal, "{what}: {}", done.message);
            // The second goal may give up a hair.
            assert!(
                value <= optimum * (1.0 + 1.1e-7) && value >= optimum * (1.0 - 1e-9),
                "{what}: {value}, {optimum}"
            );
            let ports = done.plan.as_ref().unwrap().header().metrics["total_ports"];
            let said_so =
                |text: &EventBody| matches!(text, EventBody::Note(n) if n.text.contains("fewer ports may"));
            if said.iter().any(said_so) {
                assert!(ports >= f64::from(fewest), "{what}");
            } else {
                assert_eq!(ports, f64::from(fewest), "{what}: {:?}", done.plan);
            }
        }
        let carries = |link: usize, kind| {
            let ends = |task: &Task| {
                let link = &instance.links[link];
                [(link.pod_a, link.pod_b), (link.pod_b, link.pod_a)].contains(&(task.src_pod, task.dst_pod))
            };
            instance.tasks.iter().any(|task| task.kind == kind && ends(task))
        };
        let both = |link: &usize| carries(*link, TaskKind::PpFwd) && carries(*link, TaskKind::Dp);
        mixed += usize::from((0..instance.links.len()).any(|link| both(&link)));
        let exchanges_at = |pod: &Pod| {
            let at = instance.links.iter().filter(|link| [link.pod_a, link.pod_b].contains(&pod.id));
            !pod.mirror && at.filter(|link| carries(link.id.index(), TaskKind::Dp)).count() > 1
        };
        shared_pods += usize::from(instance.pods.iter().any(exchanges_at));
        shapes += usize::from(vectors.len() > 20);
    }
    assert!(shapes > 60 && mixed > 30 && shared_pods > 60, "{shapes} {mixed} {shared_pods}");
}

#[test]
fn the_fair_optimum_is_that_of_brute_force() {
    let mut scratch = Scratch::default();
    let uneven = Odd { uneven: true, ..Odd::default() };
    let everything = Odd { tangled: true, uneven: true, cards: true };
    let mut simulated = 0;
    for (index, (instance, vectors)) in [(12, uneven), (14, everything)]
        .into_iter()
        .flat_map(|(seed, odd)| instances(seed, odd, 60))
        .enumerate()
    {
        let evaluator = Evaluator::new(&instance).unwrap();
        simulated += usize::from(!evaluator.exact(Rates::Fair));
        let fair = vectors.iter().map(|x| evaluator.makespan(x, Rates::Fair, &mut scratch));
        let optimum = fair.fold(f64::INFINITY, f64::min);
        for listed in ["100000", "1"] {
            let what = format!("instance {index}, at most {listed} listed");
            let settings = [("listed_vectors", listed), ("generations", "3"), ("islands", "1")];
            let (done, said) = solve(body(&instance), "delta-topo", &settings);
            assert_is(&done, optimum, &what);
            assert_encloses(&said, optimum, &what);
        }
    }
    assert!(simulated > 30, "{simulated}");
}

#[test]
fn where_transfers_meet_before_the_end_nothing_false_is_claimed() {
    let mut scratch = Scratch::default();
    let tangled = Odd { tangled: true, ..Odd::default() };
    let everything = Odd { uneven: true, cards: true, ..tangled };
    let (mut claimed, mut open) = (0, 0);
    for (index, (instance, vectors)) in [(13, tangled), (15, everything)]
        .into_iter()
        .flat_map(|(seed, odd)| instances(seed, odd, 80))
        .enumerate()
    {
        let evaluator = Evaluator::new(&instance).unwrap();
        let known = vectors.iter().map(|x| evaluator.makespan(x, Rates::Best, &mut scratch));
        let known = known.fold(f64::INFINITY, f64::min);
        // Leaving out what meets before the end gives a bound for every vector.
        let reference = Reference::new(&instance);
        let relaxed = vectors.iter().map(|x| reference.quick_bound(x)).fold(f64::INFINITY, f64::min);
        // The rules of the simulation are known not to be the best there is.
        let status = assert_honest(&instance, known, relaxed, relaxed, &format!("instance {index}"));
        let cards = !evaluator.network.nic_groups.is_empty();
        assert!(cards || status == EndStatus::Optimal, "instance {index}: {status:?}");
        claimed += usize::from(status == EndStatus::Optimal);
        open += usize::from(status == EndStatus::Heuristic);
    }
    assert!(claimed > 80, "{claimed} claimed, {open} open");
}

/// Only the last transfers meet, but what follows them differs: serving the longest first is no longer exact.
#[test]
fn where_tails_differ_nothing_false_is_claimed() {
    let uneven = Odd { uneven: true, ..Odd::default() };
    for (index, (instance, vectors)) in instances(16, uneven, 200).into_iter().enumerate() {
        let reference = Reference::new(&instance);
        let optimum =
            vectors.iter().map(|x| reference.makespan_with_any_tails(x)).fold(f64::INFINITY, f64::min);
        let relaxed = vectors.iter().map(|x| reference.quick_bound(x)).fold(f64::INFINITY, f64::min);
        let status = assert_honest(&instance, optimum, optimum, relaxed, &format!("instance {index}"));
        assert_eq!(status, EndStatus::Optimal, "instance {index}");
    }
}

/// Two ways to the same end where both are exact.
#[test]
fn deadlines_and_cuts_agree() {
    for (instance, vectors) in instances(17, Odd::default(), 10) {
        let reference = Reference::new(&instance);
        for x in vectors.iter().step_by(1 + vectors.len() / 20) {
            let (cut, deadline) = (reference.makespan(x), reference.makespan_with_any_tails(x));
            assert!((cut - deadline).abs() <= 1e-9 * cut, "{x:?}: {cut} and {deadline}");
        }
    }
}

/// Solves and compares with a plan that exists, an end that nothing can beat, and a bound that ought to be met.
fn assert_honest(instance: &Instance, known: f64, least: f64, relaxed: f64, what: &str) -> EndStatus {
    let settings = [("generations", "30"), ("islands", "1")];
    let (done, said) = solve(body(instance), "delta-joint", &settings);
    assert!(
        matches!(done.status, EndStatus::Optimal | EndStatus::Heuristic),
        "{what}: {:?}",
        done.violations
    );
    let (value, bound) = (done.value.unwrap(), done.bound.unwrap());
    assert!(bound <= known * (1.0 + 1e-9), "{what}: bound {bound}, a plan reaches {known}");
    assert!(value >= least * (1.0 - 1e-9), "{what}: {value} cannot be, {least}");
    assert!(bound >= relaxed * (1.0 - 1e-9), "{what}: bound {bound} is weaker than {relaxed}");
    if done.status == EndStatus::Optimal {
        assert!((value - bound).abs() <= 1e-9 * value, "{what}");
    }
    assert_encloses(&said, if least < known { value } else { known }, what);
    done.status
}
