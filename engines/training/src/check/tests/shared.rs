//! Plans for several jobs: one that passes, and what breaks it.

use crate::check::{Claims, check_plan, code};
use crate::plan::{LinkCircuits, RateControl, TrainingResult};
use crate::scenario::TrainingScenario;
use crate::scenario::job::PortsPerPod;
use crate::scenario::presets;
use crate::scenario::shared::SharedPods;
use crate::search::reallocate::{JobEffort, Team};
use crate::simulate::evaluate::Rates;
use lightbay_core::checked::{BoundTrust, Verdict};
use lightbay_core::kind::Depth;
use lightbay_core::random::Streams;
use lightbay_core::units::LinkId;
use lightbay_core::watch::Unwatched;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

#[derive(Clone)]
struct Whole {
    shared: SharedPods,
    result: TrainingResult,
    makespan_s: f64,
    bound_s: Option<f64>,
    metrics: BTreeMap<String, f64>,
}

impl Whole {
    fn verdict(&self, depth: Depth) -> Verdict {
        let claims = Claims {
            makespan_s: self.makespan_s,
            bound_s: self.bound_s,
            bound_covers: None,
            method: "by-hand",
            metrics: (!self.metrics.is_empty()).then_some(&self.metrics),
            robust: None,
        };
        check_plan(&TrainingScenario::Shared(self.shared.clone()), &self.result, &claims, depth)
    }

    fn codes(&self) -> BTreeSet<&'static str> {
        self.verdict(Depth::Usual).violations.iter().map(|violation| violation.code).collect()
    }
}

/// Two jobs of which the second takes ports of the first.
static GOOD: LazyLock<Whole> = LazyLock::new(|| {
    let Some(TrainingScenario::Shared(shared)) = presets::scenario("megatron_177b_pair") else {
        panic!("a pair is several jobs")
    };
    let (effort, mut watch) = (JobEffort::default(), Unwatched::default());
    let streams = |number| Streams::new(1).stream(number);
    let mut team = Team::new(&shared, Rates::Best).unwrap();
    for member in 0..2 {
        team.plan_alone(member, effort, &streams, &mut watch).unwrap();
    }
    team.restart();
    let ports = team.available(1);
    let trade = team.trade(1, &ports, effort, &streams, &mut watch).unwrap().unwrap();
    team.accept(trade);
    let candidate = team.candidate();
    Whole {
        shared,
        result: candidate.result,
        makespan_s: candidate.value,
        bound_s: None,
        metrics: candidate.metrics,
    }
});

#[track_caller]
fn broken(expected: &[&'static str], change: impl FnOnce(&mut Whole)) {
    let mut plan = GOOD.clone();
    change(&mut plan);
    let expected: BTreeSet<&str> = expected.iter().copied().collect();
    assert_eq!(plan.codes(), expected, "{:#?}", plan.verdict(Depth::Usual).violations);
}

/// A pod at which the second job takes a port.
fn taken_at() -> usize {
    GOOD.result.jobs[1].taken.iter().position(|ports| *ports > 0).unwrap()
}

#[test]
fn a_plan_of_ours_passes() {
    broken(&[], |_| {});
    let bytes = serde_json::to_value(&GOOD.result).unwrap();
    assert_eq!(bytes["topology"], serde_json::json!([]));
}

#[test]
fn jobs_missing_or_out_of_order() {
    broken(&[code::JOBS], |plan| {
        plan.result.jobs.pop();
    });
    broken(&[code::JOBS], |plan| plan.result.jobs.swap(0, 1));
    broken(&[code::JOBS], |plan| plan.result.jobs[0].name = "another".to_owned());
    broken(&[code::JOBS], |plan| plan.result.rate_control = RateControl::Fair);
    // A job that itself lists jobs.
    broken(&[code::JOBS], |plan| {
        let inner = plan.result.jobs[1].clone();
        plan.result.jobs[0].shared.result.jobs.push(inner);
    });
    broken(&[code::TOPOLOGY], |plan| {
        plan.result.topology.push(LinkCircuits { link: LinkId(0), circuits: 1 });
    });
    broken(&[code::TASK], |plan| {
        let task = plan.result.jobs[0].shared.result.tasks[0].clone();
        plan.result.tasks.push(task);
    });
}

#[test]
fn ports_that_do_not_add_up() {
    let pod = taken_at();
    broken(&[code::TRADED, code::PORTS_CLAIM], |plan| plan.result.jobs[1].taken[pod] -= 1);
    broken(&[code::TRADED], |plan| plan.result.jobs[0].given[pod] -= 1);
    broken(&[code::TRADED], |plan| plan.result.jobs[0].given.truncate(1));
    broken(&[code::TRADED], |plan| {
        // More is given than taken.
        plan.result.jobs[0].given[pod] += 1;
        plan.result.jobs[0].ports_per_pod[pod] -= 1;
    });
    broken(&[code::TRADED, code::PORTS, code::PORTS_CLAIM], |plan| {
        // More is taken than given.
        plan.result.jobs[1].taken[pod] += 1;
        plan.result.jobs[1].ports_per_pod[pod] += 1;
    });
    broken(&[code::PORTS_CLAIM], |plan| plan.result.ports_used += 1);
    broken(&[code::PORTS_CLAIM], |plan| {
        plan.metrics.insert("ports_taken".to_owned(), 0.0);
    });
}

#[test]
fn circuits_beyond_the_allotted_ports() {
    broken(&[code::PORTS, code::PORTS_CLAIM], |plan| {
        plan.result.jobs[0].shared.result.topology[0].circuits += 9;
    });
    // What was taken is needed: without it the circuits do not fit.
    let pod = taken_at();
    broken(&[code::PORTS, code::PORTS_CLAIM], |plan| {
        let back = plan.result.jobs[1].taken[pod];
        plan.result.jobs[1].taken[pod] = 0;
        plan.result.jobs[1].ports_per_pod[pod] -= back;
        plan.result.jobs[0].ports_per_pod[pod] += plan.result.jobs[0].given[pod];
        plan.result.jobs[0].given[pod] = 0;
    });
}

#[test]
fn figures_that_are_not_those_of_the_jobs() {
    broken(&[code::MAKESPAN], |plan| plan.makespan_s *= 0.99);
    broken(&[code::SCHEMA], |plan| plan.makespan_s = f64::NAN);
    broken(&[code::NCT], |plan| plan.result.nct = Some(1.0));
    broken(&[code::NCT], |plan| plan.result.nct = None);
    broken(&[code::NCT], |plan| plan.result.ideal_makespan_s *= 0.9);
    for (name, code) in [
        ("nct", code::NCT),
        ("nct_alone", code::NCT),
        ("ideal_makespan_s", code::NCT),
        ("makespan_alone_s", code::MAKESPAN),
        ("total_ports", code::PORTS_CLAIM),
        ("port_ratio", code::PORTS_CLAIM),
    ] {
        broken(&[code], |plan| *plan.metrics.get_mut(name).unwrap() *= 1.01);
    }
    // Weights are part of the question.
    broken(&[code::MAKESPAN, code::NCT], |plan| plan.shared.jobs[1].weight = 9);
}

#[test]
fn a_job_that_is_slower_than_alone() {
    // A baseline is slower than the best plan alone, and fits what the job brought.
    let baselines = Team::new(&GOOD.shared, Rates::Best).unwrap().candidate();
    let mut plan = GOOD.clone();
    plan.metrics.clear();
    for (job, baseline) in plan.result.jobs.iter_mut().zip(baselines.result.jobs) {
        job.given.fill(0);
        job.taken.fill(0);
        job.ports_per_pod.clone_from(&baseline.ports_per_pod);
        job.shared = baseline.shared;
    }
    assert_eq!(plan.codes(), BTreeSet::from([code::WORSE, code::MAKESPAN, code::NCT, code::PORTS_CLAIM]));
    broken(&[code::MAKESPAN], |plan| plan.result.jobs[0].alone.makespan_s *= 1.01);
}

#[test]
fn pods_that_contradict_the_jobs() {
    broken(&[code::SCENARIO], |plan| plan.shared.ports_per_pod = Some(PortsPerPod::Same(1)));
    broken(&[code::SCENARIO], |plan| plan.shared.jobs[1].weight = 0);
    broken(&[code::SCENARIO], |plan| plan.shared.jobs[1].job.run.bandwidth_gbps = 800.0);
    broken(&[code::SCENARIO], |plan| plan.shared.jobs[1].job.run.gpus = 192);
    broken(&[code::SCENARIO], |plan| plan.shared.jobs[1].name = plan.shared.jobs[0].name.clone());
    broken(&[code::SCENARIO], |plan| {
        plan.shared.jobs.pop();
    });
}

#[test]
fn bounds_are_confirmed_doubted_or_refused() {
    let with = |bound_s: f64| {
        let mut plan = GOOD.clone();
        plan.bound_s = Some(bound_s);
        plan
    };
    let ideal = GOOD.result.ideal_makespan_s;
    assert_eq!(with(ideal * 0.9).verdict(Depth::Usual).bound, BoundTrust::Verified);
    let doubted = with(GOOD.makespan_s).verdict(Depth::EXACT);
    assert_eq!((doubted.violations, doubted.bound), (Vec::new(), BoundTrust::Claimed));
    let said = |words: &str| doubted.remarks.iter().any(|remark| remark.contains(words));
    assert!(said("the checker itself proves") && said("was not examined"), "{:?}", doubted.remarks);
    assert_eq!(with(GOOD.makespan_s * 1.01).codes(), BTreeSet::from([code::BOUND]));
}

/// Baselines of a small pair, which trades would improve: a bound raised to their value is false.
#[test]
fn a_bound_raised_to_the_value_of_a_plan_that_can_be_beaten_is_refused() {
    let Some(TrainingScenario::Shared(shared)) = presets::scenario("tiny4_pair") else {
        panic!("a pair is several jobs")
    };
    let verdict = |team: &Team, bound_s: Option<f64>| {
        let candidate = team.candidate();
        let plan = Whole {
            shared: shared.clone(),
            result: candidate.result,
            makespan_s: candidate.value,
            bound_s: Some(bound_s.unwrap_or(candidate.value)),
            metrics: candidate.metrics,
        };
        plan.verdict(Depth::EXACT)
    };
    let mut team = Team::new(&shared, Rates::Best).unwrap();
    let found = verdict(&team, None);
    assert!(found.violations[0].message.contains("is wrong: circuits"), "{found:?}");
    // So it is of the best plans of each job on its own ports.
    let (effort, mut watch) = (JobEffort::default(), Unwatched::default());
    let streams = |number| Streams::new(1).stream(number);
    for member in 0..2 {
        team.plan_alone(member, effort, &streams, &mut watch).unwrap();
    }
    team.restart();
    let found = verdict(&team, None);
    let message = &found.violations[0].message;
    assert!(
        message
            .contains("[[2, 3, 2], [1, 2, 3]] of the jobs allow a weighted mean makespan of 0.449753140 s"),
        "{message}"
    );
    // What is true is confirmed, and what is false by a little refused.
    let found = verdict(&team, Some(0.449_753));
    assert_eq!((found.violations, found.bound), (Vec::new(), BoundTrust::Verified));
    assert_eq!(verdict(&team, Some(0.449_754)).violations.len(), 1);
}
