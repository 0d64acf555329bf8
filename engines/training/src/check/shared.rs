//! Check of plans for several jobs on the same pods: every job by itself, then the shared pods and figures.

mod joint;

use super::job::{self, shape};
use super::sanity::port_use;
use super::{Claims, Examined, Findings, check_job, code, exact, nics};
use crate::plan::{JobPlan, JobResult, RateControl, TrainingResult};
use crate::scenario::job::{Job, PortsPerPod};
use crate::scenario::shared::SharedPods;
use lightbay_core::checked::{BoundTrust, Figure, Verdict, VerifiedBound, same};
use lightbay_core::kind::Depth;
use std::collections::BTreeSet;

/// A job counts as not slower than on the ports that it brought if its iteration is longer by at most this fraction:
/// `min_ports` may lengthen an iteration by this fraction to use fewer ports. This tolerance relaxes only the promise
/// that no job becomes slower; every makespan must match its schedule to 1e-9.
const SAME_LENGTH: f64 = 1e-7;

/// The shared pods as the checker sees them.
struct Pods {
    /// Ports of every shared pod.
    budget: Vec<u64>,
    /// Index of the shared pod in which the first pod of every job lies.
    first: Vec<usize>,
    /// Ports that every job brought, by its pods.
    own: Vec<Vec<u32>>,
}

/// Checks a plan for several jobs: each job on the ports that it brought and on the ports that the plan allots to it,
/// the ports that are traded, and the totals.
pub(super) fn examine(
    shared: &SharedPods,
    result: &TrainingResult,
    claims: &Claims<'_>,
    depth: Depth,
) -> Examined {
    let mut found = Findings::default();
    let Some(pods) = pods(shared, &mut found) else { return Examined::refused(found) };
    listed(shared, result, claims, &mut found);
    if !found.is_empty() {
        return Examined::refused(found);
    }
    let sums: Vec<bool> =
        result.jobs.iter().zip(&pods.own).map(|(job, own)| account(job, own, &mut found)).collect();
    if sums.iter().all(|right| *right) {
        budgets(&pods, result, &mut found);
    }
    for (((placed, job), own), right) in shared.jobs.iter().zip(&result.jobs).zip(&pods.own).zip(sums) {
        part(&placed.job, own, &job.alone, (&job.name, "alone"), claims, &mut found);
        if right {
            part(&placed.job, &job.ports_per_pod, &job.shared, (&job.name, "shared"), claims, &mut found);
        }
        let (before, after) = (job.alone.makespan_s, job.shared.makespan_s);
        if after > before * (1.0 + SAME_LENGTH) {
            found.add(
                code::WORSE,
                format!(
                    "job '{}' takes {after:.9} s with traded ports, but {before:.9} s on its own ports",
                    job.name
                ),
            );
        }
    }
    let figures = figures(shared, &pods, result, claims, &mut found);
    let mut remarks = Vec::new();
    let (bound, verified) = bound(shared, &pods, result, claims, depth, &mut found, &mut remarks);
    Examined {
        verdict: Verdict { violations: found.finish(), bound, verified, wider: None, remarks },
        figures,
    }
}

/// Port budget of every shared pod, and first pod and ports of every job, recomputed from the scenario. `None`, with
/// `scenario` violations, if the jobs contradict each other or the budget.
fn pods(shared: &SharedPods, found: &mut Findings) -> Option<Pods> {
    let mut fault = |message: String| found.add(code::SCENARIO, message);
    let (mut first, mut own) = (Vec::new(), Vec::new());
    let mut replicas = BTreeSet::new();
    for placed in &shared.jobs {
        match shape(&placed.job) {
            Ok(shape) => {
                replicas.insert(shape.replicas);
                first.push(placed.first_pod as usize);
                own.push(shape.ports);
            }
            Err(why) => fault(format!("job '{}': {why}", placed.name)),
        }
        if placed.weight == 0 {
            fault(format!("job '{}' has weight 0, but must have 1 or more", placed.name));
        }
    }
    if shared.jobs.len() < 2 {
        fault(format!(
            "the number of jobs that share the pods is {}, but must be 2 or more",
            shared.jobs.len()
        ));
    }
    let names: BTreeSet<&str> = shared.jobs.iter().map(|placed| placed.name.as_str()).collect();
    if names.len() < shared.jobs.len() {
        fault("two jobs have the same name".to_owned());
    }
    let rates = shared.jobs.iter().map(|placed| placed.job.run.bandwidth_gbps);
    let (least, most) = rates.fold((f64::INFINITY, 0.0_f64), |(a, b), rate| (a.min(rate), b.max(rate)));
    if most - least > 1e-9 * most {
        fault(format!("jobs of {least} and {most} Gb/s share ports, but all ports must have the same rate"));
    }
    if replicas.len() > 1 {
        let replicas = replicas.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        fault(format!("jobs of {replicas} replicas share pods, but must have equal numbers of replicas"));
    }
    if !found.is_empty() {
        return None;
    }
    let count = first.iter().zip(&own).map(|(first, own)| first + own.len()).max().unwrap_or(0);
    let mut brought = vec![0_u64; count];
    for (first, own) in first.iter().zip(&own) {
        for (sum, own) in brought.iter_mut().skip(*first).zip(own) {
            *sum += u64::from(*own);
        }
    }
    let budget: Vec<u64> = match &shared.ports_per_pod {
        None => brought.clone(),
        Some(PortsPerPod::Same(ports)) => vec![u64::from(*ports); count],
        Some(PortsPerPod::ByPosition(ports)) => ports.iter().copied().map(u64::from).collect(),
    };
    if budget.len() != count || budget.iter().zip(&brought).any(|(budget, brought)| budget < brought) {
        found.add(code::SCENARIO, format!("the shared pods have {budget:?} ports, but the jobs define {brought:?}, and no pod may have fewer"));
        return None;
    }
    Some(Pods { budget, first, own })
}

/// Checks that every job of the scenario is listed once, in order, and that no fields of single-job plans are set.
fn listed(shared: &SharedPods, result: &TrainingResult, claims: &Claims<'_>, found: &mut Findings) {
    let names: Vec<&str> = shared.jobs.iter().map(|placed| placed.name.as_str()).collect();
    let given: Vec<&str> = result.jobs.iter().map(|job| job.name.as_str()).collect();
    if names != given {
        found.add(code::JOBS, format!("the plan lists jobs {given:?}, but the scenario has {names:?}"));
    }
    if !result.topology.is_empty() {
        found.add(
            code::TOPOLOGY,
            "'topology' is not empty, but each of the several jobs has its own topology",
        );
    }
    if !result.tasks.is_empty() {
        found.add(code::TASK, "'tasks' is not empty, but each of the several jobs has its own tasks");
    }
    for job in &result.jobs {
        if [&job.alone, &job.shared].iter().any(|plan| plan.result.rate_control != result.rate_control) {
            found.add(code::JOBS, format!("job '{}' has another rate control than the plan", job.name));
        }
    }
    let figures = [
        ("objective.value", claims.makespan_s),
        ("objective.bound", claims.bound_s.unwrap_or(0.0)),
        ("ideal_makespan_s", result.ideal_makespan_s),
        ("nct", result.nct.unwrap_or(0.0)),
    ];
    let metrics = claims.metrics.into_iter().flatten().map(|(name, value)| (name.as_str(), *value));
    for (name, value) in figures.into_iter().chain(metrics).filter(|(_, value)| !value.is_finite()) {
        found.add(code::SCHEMA, format!("'{name}' is {value}, but must be a finite number"));
    }
}

/// Checks, for each pod of a job, that the ports that the job may use are the ports that it brought, minus the ports
/// that it gave, plus the ports that it took, and that it does not both give and take. Returns `true` if it finds no
/// violation.
fn account(job: &JobResult, own: &[u32], found: &mut Findings) -> bool {
    let lengths = [job.ports_per_pod.len(), job.given.len(), job.taken.len()];
    if lengths.iter().any(|length| *length != own.len()) {
        let (name, pods) = (&job.name, own.len());
        found.add(
            code::TRADED,
            format!("job '{name}' covers {pods} pods, but its lists 'ports_per_pod', 'given' and 'taken' have {lengths:?} entries"),
        );
        return false;
    }
    let before = found.count();
    for (pod, (&own, &ports)) in own.iter().zip(&job.ports_per_pod).enumerate() {
        let (given, taken) = (job.given[pod], job.taken[pod]);
        let name = &job.name;
        if given > 0 && taken > 0 {
            let text = format!("job '{name}' gives {given} ports of its pod {pod}, but also takes {taken}");
            found.add(code::TRADED, text);
        }
        let left = i64::from(own) - i64::from(given) + i64::from(taken);
        if i64::from(ports) != left {
            let text = format!(
                "job '{name}' may use {ports} ports of its pod {pod}, but {own} own - {given} given + {taken} taken ports are {left}"
            );
            found.add(code::TRADED, text);
        }
    }
    before == found.count()
}

/// Checks every shared pod: it has all ports that its jobs may use; the jobs take at least as many ports as jobs give;
/// and all further ports that they take are spare ports, which no job brought.
fn budgets(pods: &Pods, result: &TrainingResult, found: &mut Findings) {
    for (pod, &budget) in pods.budget.iter().enumerate() {
        let (mut allotted, mut brought, mut given, mut taken) = (0, 0, 0, 0);
        for ((job, first), own) in result.jobs.iter().zip(&pods.first).zip(&pods.own) {
            let Some(at) = pod.checked_sub(*first).filter(|at| *at < own.len()) else { continue };
            allotted += u64::from(job.ports_per_pod[at]);
            brought += u64::from(own[at]);
            given += u64::from(job.given[at]);
            taken += u64::from(job.taken[at]);
        }
        if allotted > budget {
            let text = format!("shared pod {pod} has {budget} ports, but the jobs may use {allotted}");
            found.add(code::PORTS, text);
        }
        let spare = budget.saturating_sub(brought);
        if taken > given + spare || given > taken {
            let text = format!(
                "shared pod {pod}: jobs take {taken} ports, but must take {given} to {}: jobs give {given}, and {spare} are spare",
                given + spare
            );
            found.add(code::TRADED, text);
        }
    }
}

/// Checks one job on one set of ports, independently of the other jobs.
fn part(
    job: &Job,
    ports: &[u32],
    plan: &JobPlan,
    (name, which): (&str, &str),
    claims: &Claims<'_>,
    found: &mut Findings,
) {
    let own =
        Claims { makespan_s: plan.makespan_s, bound_s: None, bound_covers: None, metrics: None, ..*claims };
    let verdict = check_job(&with_ports(job, ports), &plan.result, &own, Depth::Usual);
    for violation in verdict.violations {
        found.add(violation.code, format!("job '{name}', {which}: {}", violation.message));
    }
}

fn with_ports(job: &Job, ports: &[u32]) -> Job {
    Job { ports_per_pod: Some(PortsPerPod::ByPosition(ports.to_vec())), ..job.clone() }
}

/// Weighted mean of one figure over all jobs; `None` if a job has no such figure.
fn mean(
    shared: &SharedPods,
    result: &TrainingResult,
    figure: impl Fn(&JobResult) -> Option<f64>,
) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (placed, job) in shared.jobs.iter().zip(&result.jobs) {
        sum += f64::from(placed.weight) * figure(job)?;
        weights += f64::from(placed.weight);
    }
    Some(sum / weights)
}

/// Checks the claimed sums and means over all jobs. Returns the figures that the envelope must have.
fn figures(
    shared: &SharedPods,
    pods: &Pods,
    result: &TrainingResult,
    claims: &Claims<'_>,
    found: &mut Findings,
) -> Vec<Figure> {
    let of = |figure: &dyn Fn(&JobResult) -> Option<f64>| mean(shared, result, figure);
    let value = of(&|job| Some(job.shared.makespan_s)).unwrap_or(f64::NAN);
    if !same(claims.makespan_s, value) {
        let text = format!(
            "the objective is {:.9}, but the weighted mean makespan of the jobs is {value:.9} s",
            claims.makespan_s
        );
        found.add(code::MAKESPAN, text);
    }
    let ports: u64 = result.jobs.iter().map(|job| job.shared.result.ports_used).sum();
    if result.ports_used != ports {
        let text = format!("'ports_used' is {}, but the jobs use {ports} ports", result.ports_used);
        found.add(code::PORTS_CLAIM, text);
    }
    let ideal = of(&|job| Some(job.shared.result.ideal_makespan_s)).unwrap_or(f64::NAN);
    if !same(result.ideal_makespan_s, ideal) {
        let text = format!(
            "'ideal_makespan_s' is {:.9}, but the weighted mean of the ideal makespans is {ideal:.9}",
            result.ideal_makespan_s
        );
        found.add(code::NCT, text);
    }
    let nct = of(&|job| job.shared.result.nct);
    let agrees = match (result.nct, nct) {
        (Some(claimed), Some(right)) => same(claimed, right),
        (claimed, right) => claimed.is_none() && right.is_none(),
    };
    if !agrees {
        found.add(
            code::NCT,
            format!("'nct' is {:?}, but the weighted mean NCT of the jobs is {nct:?}", result.nct),
        );
    }
    let capacity: u64 = pods.budget.iter().sum();
    let taken: u64 = result.jobs.iter().flat_map(|job| &job.taken).copied().map(u64::from).sum();
    let expected = [
        ("total_ports", code::PORTS_CLAIM, Some(ports as f64)),
        ("port_ratio", code::PORTS_CLAIM, (capacity > 0).then(|| ports as f64 / capacity as f64)),
        ("ports_taken", code::PORTS_CLAIM, Some(taken as f64)),
        ("makespan_alone_s", code::MAKESPAN, of(&|job| Some(job.alone.makespan_s))),
        ("ideal_makespan_s", code::NCT, Some(ideal)),
        ("nct", code::NCT, nct),
        ("nct_alone", code::NCT, of(&|job| job.alone.result.nct)),
    ];
    let figure = |(name, code, right): (_, _, Option<f64>)| Some(Figure::exactly(name, code, right?));
    expected.into_iter().filter_map(figure).collect()
}

/// Checks a claimed bound: no job can be faster than if the other jobs kept only one circuit on each link.
fn bound(
    shared: &SharedPods,
    pods: &Pods,
    result: &TrainingResult,
    claims: &Claims<'_>,
    depth: Depth,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) -> (BoundTrust, Option<VerifiedBound>) {
    const NONE: (BoundTrust, Option<VerifiedBound>) = (BoundTrust::None, None);
    let rates = result.rate_control;
    exact::covers(rates, claims, found);
    let Some(bound_s) = claims.bound_s else { return NONE };
    if exact::exceeds(bound_s, claims.makespan_s) {
        let text = format!("bound {bound_s:.9} s is above the objective, {:.9} s", claims.makespan_s);
        found.add(code::BOUND, text);
    }
    if !found.is_empty() {
        return NONE;
    }
    let mut needed = vec![0_u64; pods.budget.len()];
    let mut fewest: Vec<Vec<u64>> = Vec::new();
    for ((placed, first), own) in shared.jobs.iter().zip(&pods.first).zip(&pods.own) {
        let Some(case) = job::case(&placed.job, found) else { return NONE };
        let least = port_use(&case.net, &vec![1; case.net.links.len()]);
        fewest.push(least.into_iter().take(own.len()).collect());
        for (needed, least) in needed.iter_mut().skip(*first).zip(&fewest[fewest.len() - 1]) {
            *needed += least;
        }
    }
    // The best plan at fair rates does not refute a bound on all plans.
    let rates = if claims.bound_covers.is_some() { rates } else { RateControl::Joint };
    let (mut floor_s, mut weights) = (0.0, 0.0);
    let mut covers = None;
    let mut members = Vec::new();
    for ((placed, first), least) in shared.jobs.iter().zip(&pods.first).zip(&fewest) {
        let open = pods.budget.iter().zip(&needed).skip(*first).zip(least);
        let ports: Vec<u32> = open
            .map(|((budget, needed), least)| {
                let others = needed.saturating_sub(*least);
                u32::try_from(budget.saturating_sub(others)).unwrap_or(u32::MAX)
            })
            .collect();
        let Some(case) = job::case(&with_ports(&placed.job, &ports), found) else { return NONE };
        let cards = nics::nic_groups(&case);
        let ask = exact::Ask { case: &case, nics: &cards, rates, depth };
        let floor = exact::floor(&ask, remarks);
        floor_s += f64::from(placed.weight) * floor.value_s;
        weights += f64::from(placed.weight);
        covers = covers.or(floor.covers);
        members.push(joint::JointMember { weight: f64::from(placed.weight), first: *first, case });
    }
    let mut floor = exact::Floor { value_s: floor_s / weights, covers };
    if depth.is_exact() && exact::exceeds(bound_s, floor.value_s) {
        // No job may become slower than it is alone.
        let limits_s: Vec<f64> =
            result.jobs.iter().map(|job| job.alone.makespan_s * (1.0 + SAME_LENGTH)).collect();
        let Some(joint) = joint::optimum(&members, &pods.budget, rates, &limits_s, depth) else {
            remarks.push(format!(
                "bound {bound_s:.9} s was not examined, because the jobs can divide their ports in too many ways"
            ));
            return exact::judge(&floor, claims, remarks);
        };
        floor.value_s = floor.value_s.max(joint.least_s / weights);
        floor.covers = rates.bound_covers();
        if let Some(best) = joint.reached.filter(|best| exact::exceeds(bound_s, best.sum_s / weights)) {
            let text = format!(
                "bound {bound_s:.9} s is wrong: circuits {:?} of the jobs allow a weighted mean makespan of {:.9} s",
                best.circuits,
                best.sum_s / weights
            );
            found.add(code::BOUND, text);
            return NONE;
        }
    }
    exact::judge(&floor, claims, remarks)
}
