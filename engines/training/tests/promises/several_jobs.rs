//! Several jobs on one set of pods: the acceptance figures of reallocation, and what holds whatever the jobs are.

use super::support::{Asked, Log, essence, names, preset, recheck};
use lightbay_core::event::{EndStatus, EventBody, HotStartFate};
use lightbay_core::kind::Kind;
use lightbay_training::plan::{JobPlan, JobResult, TrainingResult};
use lightbay_training::scenario::job::PortsPerPod;
use lightbay_training::scenario::presets;
use lightbay_training::scenario::shared::{PlacedJob, SharedPods};
use lightbay_training::{Training, TrainingScenario};

fn pair(name: &str) -> TrainingScenario {
    presets::scenario(name).unwrap()
}

fn reallocate(body: &TrainingScenario, settings: &str) -> Log {
    Asked::of(body.clone(), "reallocate").set(settings).solve()
}

fn result(log: &Log) -> TrainingResult {
    recheck(log.done().plan.as_ref().unwrap()).plan().result.clone()
}

fn nct(plan: &JobPlan) -> f64 {
    plan.result.nct.unwrap()
}

fn assert_digits(what: &str, value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1.0001e-4, "{what}: {value}, expected {expected}");
}

/// Minimum number of ports of a job alone, NCT of the receiver alone and with the surplus.
type Row = (u64, f64, f64);

/// The reversed job takes what the other can spare, at fair and at joint rates.
fn assert_table(name: &str, fair: Row, joint: Row) {
    for (rates, (ports, before, after)) in [("fair", fair), ("joint", joint)] {
        let log = reallocate(&pair(name), &format!("rates={rates}"));
        let jobs = result(&log).jobs;
        let what = format!("{name} {rates}");
        for job in &jobs {
            assert_eq!(job.alone.result.ports_used, ports, "{what} {}", job.name);
            assert_digits(&format!("{what} {} alone", job.name), nct(&job.alone), before);
        }
        assert_digits(&format!("{what} after"), nct(&jobs[1].shared), after);
        let traded = jobs[1].taken.iter().any(|ports| *ports > 0);
        assert_eq!(traded, after < before, "{what}: {:?}", jobs[1].taken);
    }
}

#[test]
fn surplus_of_megatron_177b() {
    assert_table("megatron_177b_pair", (44, 1.1622, 1.0304), (42, 1.0691, 1.0304));
}

#[test]
fn surplus_of_mixtral_8x22b() {
    assert_table("mixtral_8x22b_pair", (57, 1.1897, 1.1157), (58, 1.1157, 1.1157));
}

#[test]
fn surplus_of_deepseek_671b() {
    assert_table("deepseek_671b_pair", (109, 1.0390, 1.0000), (105, 1.0247, 1.0000));
}

#[test]
fn plans_only_get_better_and_trades_are_said() {
    let log = reallocate(&pair("megatron_177b_pair"), "");
    let plan = recheck(log.done().plan.as_ref().unwrap());
    let metrics = &plan.plan().metrics;
    assert!(metrics["nct"] < metrics["nct_alone"] && metrics["ports_taken"] > 0.0, "{metrics:?}");
    assert!(log.done().bound.unwrap() <= log.done().value.unwrap());
    let values: Vec<f64> = log.incumbents().map(|incumbent| incumbent.value).collect();
    assert!(values.is_sorted_by(|a, b| b <= a), "{values:?}");
    assert!(
        log.0.iter().any(|event| matches!(&event.body, EventBody::Note(note) if note.text.contains("NCT")))
    );
}

#[test]
fn without_trades_everybody_keeps_what_it_brought() {
    let log = reallocate(&pair("small_pair"), "trades=0");
    for JobResult { name, ports_per_pod, given, taken, alone, shared } in result(&log).jobs {
        assert_eq!((given, taken), (vec![0; 4], vec![0; 4]), "{name}");
        assert_eq!(ports_per_pod, [8; 4], "{name}");
        assert_eq!(alone, shared, "{name}");
    }
}

/// A draw from a fixed list of numbers, so that every run looks at the same cases.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

#[test]
fn budgets_hold_and_nobody_is_worse_off() {
    let mut draw = Draw(7);
    let mut traded = 0;
    for case in 0..12 {
        let mut jobs = Vec::new();
        for index in 0..2 + draw.below(2) {
            let mut job = preset(if draw.below(3) == 0 { "tiny8" } else { "tiny4" });
            job.run.seq = [2048, 4096, 8192][draw.below(3) as usize];
            job.reverse = draw.below(2) == 1;
            if draw.below(2) == 1 {
                job.ports_per_pod = Some(PortsPerPod::ByPosition(vec![4, 3 + draw.below(3) as u32]));
            }
            let (weight, first_pod) = (1 + draw.below(4) as u32, draw.below(2).min(index) as u32);
            jobs.push(PlacedJob { name: format!("job{index}"), weight, first_pod, job });
        }
        let mut shared = SharedPods { jobs, ports_per_pod: None };
        let Ok(layout) = shared.layout() else { continue };
        let spare = draw.below(3) as u32;
        let ports = layout.budget.iter().map(|ports| ports + spare).collect();
        shared.ports_per_pod = Some(PortsPerPod::ByPosition(ports));
        let body = TrainingScenario::Shared(shared.clone());
        for rates in ["joint", "fair"] {
            // The checker says no to any plan that breaks a budget or makes a job slower.
            let log = reallocate(&body, &format!("rates={rates}"));
            let jobs = result(&log).jobs;
            let mean = shared.mean(jobs.iter().map(|job| job.shared.makespan_s));
            assert!((log.done().value.unwrap() - mean).abs() < 1e-12, "case {case}");
            let moved: u32 = jobs.iter().flat_map(|job| &job.taken).sum();
            let gained = jobs.iter().any(|job| job.shared.makespan_s < job.alone.makespan_s * (1.0 - 1e-9));
            assert!(moved == 0 || gained, "case {case}: ports moved for nothing");
            traded += usize::from(moved > 0);
        }
    }
    assert!(traded > 3, "only {traded} cases have a trade");
}

#[test]
fn a_plan_begins_where_another_ended() {
    let body = pair("megatron_177b_pair");
    let first = reallocate(&body, "");
    let mut asked = Asked::of(body.clone(), "reallocate");
    asked.hot_start = first.done().plan.clone();
    let again = asked.solve();
    let fate = |log: &Log| {
        log.0.iter().find_map(|event| match &event.body {
            EventBody::HotStart(report) => Some((report.fate, report.after)),
            _ => None,
        })
    };
    let value = first.done().value.unwrap();
    let (what, after) = fate(&again).unwrap();
    assert!(what == HotStartFate::Accepted && (after.unwrap() - value).abs() < 1e-9, "{after:?}");
    assert!(again.done().value.unwrap() <= value + 1e-9);

    let TrainingScenario::Shared(mut changed) = body else { panic!("a pair is several jobs") };
    changed.jobs[1].name = "another".to_owned();
    for placed in &mut changed.jobs {
        placed.job.run.bandwidth_gbps = 800.0;
    }
    let changed = TrainingScenario::Shared(changed);
    let plan = recheck(first.done().plan.as_ref().unwrap());
    let from = &plan.plan().scenario.body;
    let carried = Training::carry(&plan.plan().result, from, &changed).unwrap();
    assert!(
        carried.repairs.iter().any(|repair| repair.contains("'another' is new")),
        "{:?}",
        carried.repairs
    );
    assert_eq!(carried.candidate.result.jobs.len(), 2);
    let single = TrainingScenario::Job(preset("megatron_177b"));
    assert!(Training::carry(&plan.plan().result, from, &single).unwrap_err().contains("several jobs"));

    let mut asked = Asked::of(changed, "reallocate");
    asked.hot_start = first.done().plan.clone();
    let log = asked.solve();
    assert_eq!(fate(&log).map(|(fate, _)| fate), Some(HotStartFate::Repaired));
    recheck(log.done().plan.as_ref().unwrap());
}

#[test]
fn one_method_for_several_jobs_and_the_others_for_one() {
    let invalid = |asked: &Asked| {
        let log = asked.solve();
        let EventBody::Done(done) = &log.0.last().unwrap().body else { panic!("not done") };
        assert_eq!(done.status, EndStatus::Invalid, "{}", asked.method);
        done.message.clone()
    };
    for method in names() {
        let said = invalid(&Asked::of(pair("tiny4_pair"), method).set("topology=1,1,1"));
        assert!(said.contains("plan them with the method `reallocate`"), "{method}: {said}");
    }
    let said = invalid(&Asked::new("tiny4", "reallocate"));
    assert!(said.contains("give at least two jobs as `jobs`"), "{said}");
    assert_eq!(Training::suited_method(&pair("tiny4_pair")), "reallocate");
    assert_eq!(Training::suited_method(&TrainingScenario::Job(preset("tiny4"))), "auto");
}

#[test]
fn all_circuits_of_all_jobs_go_to_the_switches_together() {
    let log = reallocate(&pair("small_pair"), "");
    let plan = recheck(log.done().plan.as_ref().unwrap());
    let matrix = Training::circuits(plan.plan()).unwrap();
    // Four pods in each of four replicas, 8 ports of each job in every pod.
    assert_eq!((matrix.pods.len(), matrix.ports_per_pod[0]), (16, 16));
    let total: u64 = matrix.ports_used().iter().sum();
    assert_eq!(total, 4 * plan.plan().result.ports_used);
    assert!(
        matrix.ports_used().iter().zip(&matrix.ports_per_pod).all(|(used, has)| *used <= u64::from(*has))
    );
    let traffic = Training::traffic(plan.plan()).unwrap();
    let bytes: f64 = traffic.entries.iter().map(|(_, _, bytes)| bytes).sum();
    let alone = lightbay_training::files::handover::traffic(&TrainingScenario::Job(preset("small"))).unwrap();
    let of_one: f64 = alone.entries.iter().map(|(_, _, bytes)| bytes).sum();
    assert!((bytes - 2.0 * of_one).abs() <= 1e-9 * bytes);
}

#[test]
fn a_limit_ends_it_with_the_best_plan_so_far() {
    let mut asked = Asked::of(pair("deepseek_671b_pair"), "reallocate");
    asked.time_limit_s = Some(1e-9);
    let log = asked.solve();
    if let Some(plan) = &log.done().plan {
        recheck(plan);
    }
    let one = Asked::of(pair("small_pair"), "reallocate").solve_on(1);
    let two = Asked::of(pair("small_pair"), "reallocate").solve_on(2);
    let plans = [&one, &two].map(|log| essence(log.done().plan.as_ref().unwrap()));
    assert!(plans[0] == plans[1], "threads change the plan");
}
