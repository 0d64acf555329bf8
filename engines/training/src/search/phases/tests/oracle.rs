//! The shortest iteration of small jobs with one reconfiguration, from linear programs over all orders of events.
//!
//! Reads the instance only and shares nothing with the search, the simulator and the checker. More circuits never carry
//! less, so that states to which no circuit can be added are enough. Of two states either each carries alone for some
//! time, or circuits that stay carry as much at every time. That leaves two sequences of phases, in each of which the
//! circuits that carry are known, with the return around the end of the iteration or within it. A transfer starts in one
//! phase and ends in one; transfers that share a direction of a link are ordered among themselves too. Every such order is
//! a linear program. Transfers are placed one after the other, and the program of those placed bounds all completions.

use super::*;
use crate::model::samples::{edge, link, pod, stream, task};
use crate::scenario::instance::{Instance, LinkKind};
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::model::{Column, Model};
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Start, Status};
use rand::RngExt;

/// Jobs of the suite, and those whose fewest ports it compares; `LIGHTBAY_ORACLE_JOBS` sets another number for both.
/// 200 jobs and the fewest ports of 100 take minutes.
const JOBS: u64 = 60;
const PORT_JOBS: u64 = 30;
/// Programs are accurate to about this share of a period.
const ACCURACY: f64 = 1e-8;
/// Share of a period by which the search may miss the optimum: its own tolerance, and that of the programs.
const TOLERANCE: f64 = 3e-7;

/// A transfer; work is that of one circuit, seconds.
struct Transfer {
    directed: usize,
    work_s: f64,
    flows: f64,
    release_s: f64,
    tail_s: f64,
    waits_for: Vec<(usize, f64)>,
    /// It may send until the end of the iteration.
    is_open: bool,
}

/// Bounds of the intervals of a directed link, between the start and the end of the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// The next phase begins.
    Phase,
    Start(usize),
    End(usize),
}

/// Where the two instants lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    Stays,
    ReturnAround,
    ReturnWithin,
}

/// A small job.
struct SmallJob {
    transfers: Vec<Transfer>,
    links: usize,
    /// Maximal states.
    states: Vec<Vec<u32>>,
    delay_s: f64,
    /// Unit of time of the programs.
    unit_s: f64,
}

/// A number that depends on columns.
#[derive(Clone, Default)]
struct Sum {
    terms: Vec<(Column, f64)>,
    constant: f64,
}

impl Sum {
    fn of(column: Column) -> Self {
        Self { terms: vec![(column, 1.0)], constant: 0.0 }
    }

    fn plus(mut self, constant: f64) -> Self {
        self.constant += constant;
        self
    }

    fn plus_column(mut self, column: Column) -> Self {
        self.terms.push((column, 1.0));
        self
    }

    fn minus(mut self, other: &Self) -> Self {
        self.terms.extend(other.terms.iter().map(|(column, factor)| (*column, -factor)));
        self.constant -= other.constant;
        self
    }

    /// `self >= 0`.
    fn not_negative(self, model: &mut Model) {
        model.at_least("row", -self.constant, self.terms);
    }
}

impl SmallJob {
    fn new(instance: &Instance, delay_s: f64) -> Self {
        let bytes_s = instance.nic_bandwidth_gbps * 1e9 / 8.0;
        let directed = |src: u32, dst: u32| {
            let found = instance.links.iter().enumerate().find_map(|(at, link)| {
                let (a, b) = (link.pod_a.0, link.pod_b.0);
                let back = ((a, b) == (dst, src)).then_some(2 * at + 1);
                if (a, b) == (src, dst) { Some(2 * at) } else { back }
            });
            found.unwrap()
        };
        let mut transfers: Vec<Transfer> = Vec::new();
        for task in &instance.tasks {
            let id = task.id.index();
            let before = instance.edges.iter().filter(|edge| edge.succ.index() == id);
            let waits_for: Vec<(usize, f64)> = before.map(|edge| (edge.pred.index(), edge.delay_s)).collect();
            assert!(waits_for.iter().all(|(pred, _)| *pred < id), "transfers are in the order of the edges");
            transfers.push(Transfer {
                directed: directed(task.src_pod.0, task.dst_pod.0),
                work_s: task.volume_bytes / bytes_s,
                flows: f64::from(task.flows),
                release_s: task.release_s,
                tail_s: task.tail_s,
                waits_for,
                is_open: task.tail_s == 0.0 && instance.edges.iter().all(|edge| edge.pred.index() != id),
            });
        }
        let serial = transfers.iter().map(|transfer| {
            let waits = transfer.waits_for.iter().map(|(_, wait_s)| wait_s).sum::<f64>();
            transfer.work_s + transfer.release_s + transfer.tail_s + waits
        });
        let unit_s = serial.sum::<f64>() / 100.0;
        Self { transfers, links: instance.links.len(), states: maximal(instance), delay_s, unit_s }
    }

    /// The shortest period below `limit_s`, or `limit_s`.
    fn shortest(&self, limit_s: f64) -> f64 {
        let mut best = limit_s / self.unit_s;
        for state in &self.states {
            best = best.min(self.best_of(Course::Stays, std::slice::from_ref(state), best));
        }
        let mut pairs = Vec::new();
        for first in &self.states {
            for second in self.states.iter().filter(|second| *second != first) {
                let both = |join: fn(u32, u32) -> u32| -> Vec<u32> {
                    first.iter().zip(second).map(|(a, b)| join(*a, *b)).collect()
                };
                // No reconfiguration of the two carries more than both at once.
                let least = self.best_of(Course::Stays, &[both(u32::max)], best);
                let common = both(u32::min);
                if least < best {
                    pairs.push((least, first, second, common));
                }
            }
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (least, first, second, common) in pairs {
            if least >= best {
                break;
            }
            let around = [&common, first, &common, second, &common].map(Clone::clone);
            best = self.best_of(Course::ReturnAround, &around, best);
            let within = [first, &common, second, &common, first].map(Clone::clone);
            best = self.best_of(Course::ReturnWithin, &within, best);
        }
        best * self.unit_s
    }

    /// The shortest period of a sequence of phases below `best`, or `best`.
    fn best_of(&self, course: Course, phases: &[Vec<u32>], mut best: f64) -> f64 {
        let mut orders = vec![vec![Mark::Phase; phases.len() - 1]; 2 * self.links];
        self.place(0, course, phases, &mut orders, &mut best);
        best
    }

    fn place(
        &self,
        next: usize,
        course: Course,
        phases: &[Vec<u32>],
        orders: &mut Vec<Vec<Mark>>,
        best: &mut f64,
    ) {
        if next > 0 {
            let Some(value) = self.program(next, course, phases, orders, *best) else { return };
            if value >= *best * (1.0 - 0.1 * ACCURACY) {
                return;
            }
            if next == self.transfers.len() {
                *best = value;
                return;
            }
        }
        let transfer = &self.transfers[next];
        let phase_at = |marks: &[Mark]| marks.iter().filter(|mark| **mark == Mark::Phase).count();
        let earliest = transfer.waits_for.iter().map(|(pred, _)| {
            let marks = &orders[self.transfers[*pred].directed];
            let end = marks.iter().position(|mark| *mark == Mark::End(*pred));
            end.map_or(0, |end| phase_at(&marks[..end]))
        });
        let earliest = earliest.max().unwrap_or(0);
        let marks = orders[transfer.directed].clone();
        for start in 0..=marks.len() {
            let first = phase_at(&marks[..start]);
            if first < earliest {
                continue;
            }
            let ends = if transfer.is_open { marks.len()..=marks.len() } else { start..=marks.len() };
            for end in ends {
                let sends =
                    (first..=phase_at(&marks[..end])).any(|phase| phases[phase][transfer.directed / 2] > 0);
                if !sends {
                    continue;
                }
                let mut own = marks.clone();
                if !transfer.is_open {
                    own.insert(end, Mark::End(next));
                }
                own.insert(start, Mark::Start(next));
                orders[transfer.directed] = own;
                self.place(next + 1, course, phases, orders, best);
            }
        }
        orders[transfer.directed] = marks;
    }

    /// The least period of the first `placed` transfers in these orders, up to `best`.
    fn program(
        &self,
        placed: usize,
        course: Course,
        phases: &[Vec<u32>],
        orders: &[Vec<Mark>],
        best: f64,
    ) -> Option<f64> {
        let delay = self.delay_s / self.unit_s;
        let mut model = Model::new("order");
        let period = model.column("period", 0.0, best, 1.0);
        let mut instant = || Sum::of(model.column("instant", 0.0, best, 0.0));
        let end = Sum::of(period);
        let cuts = match course {
            Course::Stays => vec![],
            Course::ReturnAround => {
                // The return is over at `back`; it began a dark time before, in the iteration before.
                let (back, go) = (instant(), instant());
                let begins = back.clone().plus_column(period).plus(-delay);
                vec![back, go.clone(), go.plus(delay), begins]
            }
            Course::ReturnWithin => {
                let (go, back) = (instant(), instant());
                vec![go.clone(), go.plus(delay), back.clone(), back.plus(delay)]
            }
        };
        let own: Vec<[Column; 2]> = (0..placed)
            .map(|at| {
                let release = self.transfers[at].release_s / self.unit_s;
                [model.column("start", release, best.max(release), 0.0), model.column("end", 0.0, best, 0.0)]
            })
            .collect();
        let mut done: Vec<Vec<(Column, f64)>> = vec![Vec::new(); placed];
        let ascend = |points: &[Sum], model: &mut Model| {
            for pair in points.windows(2) {
                pair[1].clone().minus(&pair[0]).not_negative(model);
            }
        };
        let all = std::iter::once(Sum::default()).chain(cuts.iter().cloned()).chain([end.clone()]);
        ascend(&all.collect::<Vec<Sum>>(), &mut model);
        for (directed, marks) in orders.iter().enumerate() {
            if marks.len() == cuts.len() {
                continue;
            }
            let mut next_cut = cuts.iter();
            let mut points = vec![Sum::default()];
            for mark in marks {
                points.push(match mark {
                    Mark::Phase => next_cut.next().unwrap().clone(),
                    Mark::Start(at) => Sum::of(own[*at][0]),
                    Mark::End(at) => Sum::of(own[*at][1]),
                });
            }
            points.push(end.clone());
            ascend(&points, &mut model);
            let (mut phase, mut active): (usize, Vec<usize>) = (0, Vec::new());
            for (at, pair) in points.windows(2).enumerate() {
                if at > 0 {
                    match marks[at - 1] {
                        Mark::Phase => phase += 1,
                        Mark::Start(one) => active.push(one),
                        Mark::End(one) => active.retain(|other| *other != one),
                    }
                }
                let carries = f64::from(phases[phase][directed / 2]);
                if carries == 0.0 || active.is_empty() {
                    continue;
                }
                let length = pair[1].clone().minus(&pair[0]);
                let room = |rate: f64| Sum {
                    terms: length.terms.iter().map(|(column, factor)| (*column, rate * factor)).collect(),
                    constant: rate * length.constant,
                };
                let sent: Vec<Column> =
                    active.iter().map(|_| model.column("sent", 0.0, f64::INFINITY, 0.0)).collect();
                for (one, sent) in active.iter().zip(&sent) {
                    done[*one].push((*sent, 1.0));
                    let rate = self.transfers[*one].flows.min(carries);
                    room(rate).minus(&Sum::of(*sent)).not_negative(&mut model);
                }
                if sent.len() > 1 {
                    let together =
                        Sum { terms: sent.iter().map(|sent| (*sent, 1.0)).collect(), constant: 0.0 };
                    room(carries).minus(&together).not_negative(&mut model);
                }
            }
        }
        for (at, done) in done.into_iter().enumerate() {
            let transfer = &self.transfers[at];
            model.at_least("work", transfer.work_s / self.unit_s, done);
            for (pred, wait_s) in &transfer.waits_for {
                let ready = Sum::of(own[*pred][1]).plus(wait_s / self.unit_s);
                Sum::of(own[at][0]).minus(&ready).not_negative(&mut model);
            }
            let last = if transfer.is_open { own[at][0] } else { own[at][1] };
            end.clone().minus(&Sum::of(last).plus(transfer.tail_s / self.unit_s)).not_negative(&mut model);
        }
        let solution = solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap();
        match solution.status {
            Status::Optimal => solution.objective,
            Status::Infeasible | Status::InfeasibleOrUnbounded => None,
            other => panic!("{other:?}"),
        }
    }
}

/// States to which no circuit can be added.
fn maximal(instance: &Instance) -> Vec<Vec<u32>> {
    let fits = |state: &[u32]| {
        instance.pods.iter().filter(|pod| !pod.mirror).all(|pod| {
            let ends = instance.links.iter().zip(state).map(|(link, circuits)| {
                let at_a = if link.pod_a == pod.id { link.ports_a } else { 0 };
                let at_b = if link.pod_b == pod.id { link.ports_b } else { 0 };
                circuits * (at_a + at_b)
            });
            ends.sum::<u32>() <= pod.ports
        })
    };
    let most = instance.pods.iter().map(|pod| pod.ports).max().unwrap_or(0);
    let mut all: Vec<Vec<u32>> = vec![Vec::new()];
    for _ in &instance.links {
        let longer = |state: &Vec<u32>| -> Vec<Vec<u32>> {
            (0..=most).map(|circuits| [state.as_slice(), &[circuits]].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    let full = |state: &&Vec<u32>| {
        (0..state.len()).all(|link| {
            let mut more = (*state).clone();
            more[link] += 1;
            !fits(&more)
        })
    };
    all.iter().filter(|state| fits(state)).filter(full).cloned().collect()
}

/// Two pods with a link, and a mirror behind the first, at times behind both: a transfer there or back, perhaps another one
/// after it, and one or two last transfers.
fn small_job(seed: u64) -> (Instance, f64) {
    let mut random = stream(50_000 + seed);
    let mut between = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
    let ordered = if between(0.0, 1.0) < 0.4 { 2 } else { 1 };
    let sinks = if between(0.0, 1.0) < 0.5 { 2 } else { 1 };
    let mirrors = if sinks == 2 && between(0.0, 1.0) < 0.5 { 2 } else { 1 };
    let tail_s = if between(0.0, 1.0) < 0.2 { between(0.0, 0.01) } else { 0.0 };
    let (mut tasks, mut edges) = (Vec::new(), Vec::new());
    for id in 0..ordered {
        let flows = between(1.0, 3.99) as u32;
        let (src, dst) = if id % 2 == 0 { (0, 1) } else { (1, 0) };
        let release_s = if id == 0 { between(0.0, 0.02) } else { 0.0 };
        tasks.push(task(id, src, dst, flows, between(0.5e9, 1.5e9), release_s));
        if id > 0 {
            edges.push(edge(id - 1, id, between(0.0, 0.02)));
        }
    }
    for at in 0..sinks {
        let id = ordered + at;
        let from = at % mirrors;
        let flows = between(1.0, 3.99) as u32;
        let mut sink = task(id, from, 2 + from, flows, between(0.5e9, 2e9), between(0.0, 0.01));
        sink.tail_s = tail_s;
        tasks.push(sink);
        if at == 0 && between(0.0, 1.0) < 0.7 {
            edges.push(edge(between(0.0, f64::from(ordered) - 0.01) as u32, id, between(0.0, 0.02)));
        }
    }
    let mut links = vec![link(0, 0, 1, LinkKind::Pp, 1, 1)];
    let mut pods = vec![pod(0, between(2.0, 4.99) as u32, false), pod(1, between(2.0, 4.99) as u32, false)];
    for mirror in 0..mirrors {
        links.push(link(1 + mirror, mirror, 2 + mirror, LinkKind::Dp, 1, 0));
        pods.push(pod(2 + mirror, 0, true));
    }
    let delay_s = [0.0, 0.002, 0.005, 0.01, 0.02, 0.04][seed as usize % 6];
    let instance = Instance {
        nic_bandwidth_gbps: 400.0,
        pods,
        links,
        tasks,
        edges,
        provenance: None,
        reconfiguration: None,
    };
    (instance, delay_s)
}

/// Compares jobs; returns how many gain by a reconfiguration.
fn compared(jobs: std::ops::Range<u64>) -> u32 {
    let mut gained = 0;
    for seed in jobs {
        let (instance, delay_s) = small_job(seed);
        let evaluator = Evaluator::new(&instance).unwrap();
        assert!(evaluator.contention.loose.is_empty(), "{seed}");
        let (stay, caps) = resting(&evaluator);
        let task = MoveTask {
            evaluator: &evaluator,
            delay_s,
            caps: &caps,
            aim: Aim::Time,
            known: stay.makespan,
            close: 1e-7 * stay.makespan,
            boxes: 20_000,
        };
        let proof = search(task, &mut Unwatched::default()).unwrap();
        let value = proof.best.map_or(stay.makespan, |best| best.period_s);
        let bound = proof.bound.min(stay.makespan);
        let least = SmallJob::new(&instance, delay_s).shortest(f64::INFINITY);
        gained += u32::from(least < stay.makespan * (1.0 - 1e-6));
        assert!(
            (value - least).abs() <= TOLERANCE * least && bound <= least * (1.0 + ACCURACY),
            "{seed}, {delay_s} s: {value} by the search, bound {bound}, {least} by programs: {instance:?}"
        );
    }
    gained
}

#[test]
fn random_small_jobs_take_what_programs_over_all_orders_of_events_take() {
    let gained = compared(0..jobs(JOBS));
    assert!(gained > 2, "{gained} gained");
}

/// Number of jobs to compare.
fn jobs(usual: u64) -> u64 {
    std::env::var("LIGHTBAY_ORACLE_JOBS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Fewest ports of small jobs at 2 % over the static makespan: programs for every way to give the pods one port less find
/// no plan in time, and those for the ports of the plan do. One port more never hurts, so that this is all.
fn compared_ports(jobs: std::ops::Range<u64>) -> u32 {
    let mut saved = 0;
    for seed in jobs {
        let (instance, delay_s) = small_job(seed);
        let evaluator = Evaluator::new(&instance).unwrap();
        let (stay, _) = resting(&evaluator);
        let target = Circuits { makespan: stay.makespan * 1.02, ..stay };
        let limit_s = target.makespan * (1.0 + 1e-7);
        let caps = useful_within(&evaluator.network, target.makespan);
        let fixed = VectorTask::new(&evaluator, Rates::Best, &caps);
        let stay = crate::search::ports::fewest(fixed, &target, &mut Unwatched::default()).unwrap().found;
        let task = MoveTask {
            evaluator: &evaluator,
            delay_s,
            caps: &caps,
            aim: Aim::Ports { limit_s },
            known: stay.ports as f64,
            close: 0.5,
            boxes: 20_000,
        };
        let proof = search(task, &mut Unwatched::default()).unwrap();
        assert!(proof.complete, "{seed}");
        let budget = &evaluator.network.budget;
        let mut peaks = budget.used(&stay.x);
        if let Some(best) = &proof.best {
            saved += 1;
            let [first, second] = [&best.first, &best.second].map(|state| budget.used(state));
            peaks = first.into_iter().zip(second).map(|(first, second)| first.max(second)).collect();
        }
        let with = |ports: &[u32]| {
            let mut other = instance.clone();
            for (pod, ports) in other.pods.iter_mut().zip(ports) {
                pod.ports = *ports;
            }
            SmallJob::new(&other, delay_s).shortest(limit_s * (1.0 + 1e-6))
        };
        assert!(with(&peaks[..2]) <= limit_s * (1.0 + ACCURACY), "{seed}: {peaks:?} do not suffice");
        let own: Vec<u32> = instance.pods[..2].iter().map(|pod| pod.ports).collect();
        for vector in port_vectors(&own, peaks[..2].iter().sum::<u32>() - 1) {
            let least_s = with(&vector);
            assert!(least_s > limit_s, "{seed}: {vector:?} suffice for {least_s}, search {peaks:?}");
        }
    }
    saved
}

#[test]
fn random_small_jobs_need_the_ports_that_programs_for_all_ports_of_pods_need() {
    let saved = compared_ports(0..jobs(PORT_JOBS));
    assert!(saved > 2, "{saved} saved");
}
