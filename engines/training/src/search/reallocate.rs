//! Several jobs on one set of pods: which job has spare ports, and which job gains most from them (DELTA Fig. 10 and
//! beyond; docs/methods/training-search.md, section 12).
//!
//! Every job brings ports of its own to the pods in which it lies. It is first planned on these ports, with the fewest
//! ports that keep its makespan. Ports left in a pod may go to another job in that pod. Among the jobs that would get
//! faster with these ports, the job with the largest gain in weighted NCT per port gets these ports first, again with
//! the minimum number of ports that keeps its new makespan. This repeats until no job gains. No job ever gives ports
//! that it needs.

mod carry;
mod ledger;
mod solve;

pub use carry::carry;
pub use ledger::{Account, settle};
pub use solve::{JobEffort, ScheduledCircuits, Solved, best, fewest};

use crate::plan::{JobPlan, JobResult, TrainingResult};
use crate::programs::circuit_bounds::useful_within;
use crate::scenario::instance::Instance;
use crate::scenario::shared::SharedPods;
use crate::search::allocations::VectorTask;
use crate::search::baselines::Baseline;
use crate::search::circuits::{Circuits, Proposal};
use crate::search::ports::{self, TOLERANCE};
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use crate::simulate::schedule;
use lightbay_core::kind::Candidate;
use lightbay_core::method::MethodError;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::random::Stream;
use lightbay_core::watch::Watch;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Relative difference below which gains count as equal. This difference is slightly above the rounding of a sum of
/// makespans, because smaller differences depend on the order of additions.
const SAME_GAIN: f64 = 1e-9;

/// One of the jobs that share pods, with its ports and plans.
#[derive(Clone, Debug)]
pub struct Member {
    /// Name of the job.
    pub name: String,
    /// Weight of the NCT of the job.
    pub weight: f64,
    /// Shared pod in which the first pod of the job lies.
    pub first: usize,
    /// Ports that the job brought, by its pod positions.
    pub own: Vec<u32>,
    /// Instance of the job alone.
    pub instance: Arc<Instance>,
    /// Evaluator of the job on the ports that it brought.
    pub evaluator: Arc<Evaluator>,
    /// Plan of the job on the ports that it brought.
    pub alone: ScheduledCircuits,
    /// Plan of the job with the ports that other jobs left.
    pub now: ScheduledCircuits,
}

impl Member {
    /// Ports that `plan` uses, by the pod positions of the job.
    pub fn used(&self, plan: &ScheduledCircuits) -> Vec<u32> {
        self.evaluator.network.budget.used(&plan.found.x)
    }

    /// A difference of makespans in NCT, or in seconds if the job hardly communicates.
    fn in_nct(&self, seconds: f64) -> f64 {
        self.evaluator.ideal.in_nct(seconds).unwrap_or(seconds)
    }
}

/// All jobs with their plans and the ports of the shared pods.
#[derive(Clone, Debug)]
pub struct Team {
    /// The jobs, in scenario order.
    pub members: Vec<Member>,
    /// Optical ports of every shared pod.
    pub budget: Vec<u32>,
    /// Rates at which the jobs are planned.
    pub rates: Rates,
}

/// A trade that makes a job faster.
#[derive(Clone, Debug)]
pub struct Trade {
    /// Index of the job.
    pub member: usize,
    /// The faster plan of the job.
    pub plan: ScheduledCircuits,
    /// Additional ports over all pods of the job; may be negative.
    pub ports: i64,
    /// Weighted gain in NCT per additional port (the total gain if the trade needs no additional port).
    pub gain_per_port: f64,
}

impl Team {
    /// Plans every job by the best baseline on the ports that it brought.
    ///
    /// # Errors
    /// All problems of the jobs.
    pub fn new(shared: &SharedPods, rates: Rates) -> Result<Self, Problems> {
        let layout = shared.layout()?;
        let mut members = Vec::with_capacity(shared.jobs.len());
        for (index, (placed, shape)) in shared.jobs.iter().zip(&layout.shapes).enumerate() {
            let path = format!("jobs[{index}]");
            let Some(alone) = shared.alone(index, &shape.ports) else { continue };
            let instance = alone.build().map_err(|problems| under(&problems, &path))?.instance;
            let evaluator = Evaluator::new(&instance)
                .map_err(|error| Problem::new(path, error.to_string(), "change the job"))?;
            let start = ScheduledCircuits::from(baseline(&evaluator, rates));
            members.push(Member {
                name: placed.name.clone(),
                weight: f64::from(placed.weight),
                first: placed.first_pod as usize,
                own: shape.ports.clone(),
                instance: Arc::new(instance),
                evaluator: Arc::new(evaluator),
                alone: start.clone(),
                now: start,
            });
        }
        Ok(Self { members, budget: layout.budget, rates })
    }

    /// Ports that the plans of all other jobs leave, by the pod positions of one job.
    pub fn available(&self, member: usize) -> Vec<u32> {
        self.left_by_others(member, |other| other.used(&other.now))
    }

    /// Maximum number of ports that a job could have: all other jobs keep one circuit on each of their links.
    pub fn widest(&self, member: usize) -> Vec<u32> {
        self.left_by_others(member, |other| {
            let budget = &other.evaluator.network.budget;
            budget.used(&vec![1; budget.links()])
        })
    }

    /// Ports available to a job: the ports of the pods minus the ports that `used` returns for every other job.
    fn left_by_others(&self, member: usize, used: impl Fn(&Member) -> Vec<u32>) -> Vec<u32> {
        // Negative differences become 0, because a transferred plan may still overfill a pod.
        let mut left = self.budget.clone();
        for (_, other) in self.members.iter().enumerate().filter(|(index, _)| *index != member) {
            for (left, used) in left.iter_mut().skip(other.first).zip(used(other)) {
                *left = left.saturating_sub(used);
            }
        }
        let asked = &self.members[member];
        left.into_iter().skip(asked.first).take(asked.own.len()).collect()
    }

    /// Returns `true` if all plans together fit the pods.
    pub fn fits(&self) -> bool {
        let mut used = vec![0_u64; self.budget.len()];
        for member in &self.members {
            for (used, takes) in used.iter_mut().skip(member.first).zip(member.used(&member.now)) {
                *used += u64::from(takes);
            }
        }
        used.iter().zip(&self.budget).all(|(used, budget)| *used <= u64::from(*budget))
    }

    /// Plans one job on the ports that it brought: first for the shortest makespan, then for the fewest ports that keep
    /// this makespan. The search also starts from the earlier plan of the job on these ports.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn plan_alone<W: Watch<Proposal>>(
        &mut self,
        member: usize,
        effort: JobEffort,
        streams: &dyn Fn(u64) -> Stream,
        watch: &mut W,
    ) -> Result<(), MethodError> {
        let rates = self.rates;
        let asked = &mut self.members[member];
        // The present plan is one of the seeds, so the result is never longer.
        let seeds = [asked.alone.found.x.clone()];
        // First the shortest makespan, then the fewest ports that keep it (Eq. 4), because other jobs can use the saved
        // ports.
        let solved = best(&asked.evaluator, rates, &seeds, effort, streams, watch)?;
        asked.alone = fewest(&asked.evaluator, rates, solved, effort, watch)?.kept;
        Ok(())
    }

    /// Prepares the trading of ports, after every job was planned on the ports that it brought. Replaces the present
    /// plan of a job by its plan on the ports that it brought if the present plan is not better. If the present plans
    /// together do not fit the pods, replaces all of them.
    pub fn restart(&mut self) {
        for member in &mut self.members {
            // A plan that does not improve on the plan without trade gives its ports back.
            if member.now.found.makespan >= member.alone.found.makespan * (1.0 - TOLERANCE) {
                member.now = member.alone.clone();
            }
        }
        // A changed budget can remove traded ports; then all jobs start from their plans alone again.
        if !self.fits() {
            for member in &mut self.members {
                member.now = member.alone.clone();
            }
        }
    }

    /// Lower bound on the makespan of one job for any sharing of ports, seconds.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn bound<W: Watch<Proposal>>(
        &self,
        member: usize,
        effort: JobEffort,
        streams: &dyn Fn(u64) -> Stream,
        watch: &mut W,
    ) -> Result<f64, MethodError> {
        let asked = &self.members[member];
        // Relaxation: with one circuit per link, all other jobs leave at least as many ports as in any plan.
        let evaluator = asked.evaluator.with_ports(&self.widest(member));
        let seeds = [asked.now.found.x.clone()];
        let solved = best(&evaluator, self.rates, &seeds, effort, streams, watch)?;
        // Rounding must not raise a bound above a plan.
        Ok(solved.bound.min(asked.now.found.makespan) * (1.0 - 1e-12))
    }

    /// Returns the trade in which a job gets a faster plan on these ports; `None` if the best plan found is not faster
    /// than the present plan by more than twice [`TOLERANCE`].
    ///
    /// # Errors
    /// The reason to stop.
    pub fn trade<W: Watch<Proposal>>(
        &self,
        member: usize,
        ports: &[u32],
        effort: JobEffort,
        streams: &dyn Fn(u64) -> Stream,
        watch: &mut W,
    ) -> Result<Option<Trade>, MethodError> {
        let asked = &self.members[member];
        let evaluator = asked.evaluator.with_ports(ports);
        let seeds = [asked.now.found.x.clone()];
        let solved = best(&evaluator, self.rates, &seeds, effort, streams, watch)?;
        // A trade must gain more than the reduction to the fewest ports may lose again within its tolerance.
        let limit = asked.now.found.makespan * (1.0 - 2.0 * TOLERANCE);
        if solved.kept.found.makespan >= limit {
            return Ok(None);
        }
        // Use the fewest ports that keep the gain, so that other jobs can gain too.
        let plan = fewest(&evaluator, self.rates, solved, effort, watch)?.kept;
        let gain = asked.weight * asked.in_nct(asked.now.found.makespan - plan.found.makespan);
        // A faster plan may also free ports; the gain is then divided by 1.
        let ports = plan.found.ports as i64 - asked.now.found.ports as i64;
        Ok(Some(Trade { member, gain_per_port: gain / ports.max(1) as f64, plan, ports }))
    }

    /// Accepts a trade: the job gets its faster plan.
    pub fn accept(&mut self, trade: Trade) {
        self.members[trade.member].now = trade.plan;
    }

    /// Mean makespan of the jobs by weight, seconds.
    pub fn value(&self) -> f64 {
        self.mean(|member| Some(member.now.found.makespan)).unwrap_or(f64::NAN)
    }

    /// Total number of ports that the plans of all jobs use.
    pub fn ports(&self) -> u64 {
        self.members.iter().map(|member| member.now.found.ports).sum()
    }

    /// Mean of a figure over the jobs, weighted by their NCT weights; `None` if a job has no such figure.
    pub fn mean(&self, figure: impl Fn(&Member) -> Option<f64>) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for member in &self.members {
            sum += member.weight * figure(member)?;
            weights += member.weight;
        }
        Some(sum / weights)
    }

    /// Returns the ports that every job gives and takes.
    pub fn accounts(&self) -> Vec<Account> {
        let used: Vec<Vec<u32>> = self.members.iter().map(|member| member.used(&member.now)).collect();
        let own: Vec<(usize, &[u32])> =
            self.members.iter().map(|member| (member.first, member.own.as_slice())).collect();
        settle(&self.budget, &own, &used)
    }

    /// The plan of all jobs, ready for the checker.
    pub fn candidate(&self) -> Candidate<TrainingResult> {
        let control = self.rates.control();
        let planned = |member: &Member, plan: &ScheduledCircuits| {
            let evaluator = &member.evaluator;
            let x = &plan.found.x;
            let trace = plan
                .trace
                .clone()
                .unwrap_or_else(|| Arc::new(evaluator.trace(x, self.rates, &mut Scratch::default())));
            let result = schedule::result(evaluator, x, control, &trace);
            JobPlan { makespan_s: trace.makespan, result }
        };
        let jobs: Vec<JobResult> = self
            .members
            .iter()
            .zip(self.accounts())
            .map(|(member, account)| JobResult {
                name: member.name.clone(),
                ports_per_pod: account.ports_per_pod,
                given: account.given,
                taken: account.taken,
                alone: planned(member, &member.alone),
                shared: planned(member, &member.now),
            })
            .collect();
        let mean = |figure: &dyn Fn(&JobResult) -> Option<f64>| -> Option<f64> {
            let (mut sum, mut weights) = (0.0, 0.0);
            for (job, member) in jobs.iter().zip(&self.members) {
                sum += member.weight * figure(job)?;
                weights += member.weight;
            }
            Some(sum / weights)
        };
        let value = mean(&|job| Some(job.shared.makespan_s)).unwrap_or(f64::NAN);
        let ideal_makespan_s = mean(&|job| Some(job.shared.result.ideal_makespan_s)).unwrap_or(f64::NAN);
        let nct = mean(&|job| job.shared.result.nct);
        let ports_used: u64 = jobs.iter().map(|job| job.shared.result.ports_used).sum();
        let taken: u32 = jobs.iter().flat_map(|job| &job.taken).sum();
        let capacity: u64 = self.budget.iter().copied().map(u64::from).sum();
        let mut metrics = BTreeMap::new();
        let mut put = |name: &str, figure: Option<f64>| {
            metrics.extend(figure.map(|figure| (name.to_owned(), figure)));
        };
        put("total_ports", Some(ports_used as f64));
        put("port_ratio", (capacity > 0).then(|| ports_used as f64 / capacity as f64));
        put("ports_taken", Some(f64::from(taken)));
        put("ideal_makespan_s", Some(ideal_makespan_s));
        put("makespan_alone_s", mean(&|job| Some(job.alone.makespan_s)));
        put("nct", nct);
        put("nct_alone", mean(&|job| job.alone.result.nct));
        let result = TrainingResult {
            rate_control: control,
            topology: Vec::new(),
            ports_used,
            ideal_makespan_s,
            nct,
            tasks: Vec::new(),
            jobs,
            phases: None,
        };
        Candidate { value, metrics, result }
    }
}

/// Returns the trade to accept: the trade with the largest gain per port. Of trades with equal gains, returns the last
/// one.
pub fn best_trade(trades: Vec<Trade>) -> Option<Trade> {
    let mut chosen: Option<Trade> = None;
    for trade in trades {
        // Ties go to the later job.
        let least = |chosen: &Trade| chosen.gain_per_port * (1.0 - SAME_GAIN);
        if chosen.as_ref().is_none_or(|chosen| trade.gain_per_port >= least(chosen)) {
            chosen = Some(trade);
        }
    }
    chosen
}

/// Ports that one job does not need.
#[derive(Clone, Debug, PartialEq)]
pub struct Surplus {
    /// The plan with the fewest ports found.
    pub fewest: Circuits,
    /// Ports of the real pods, in their order.
    pub ports: Vec<u32>,
    /// Ports of each pod that the given plan uses.
    pub used: Vec<u32>,
    /// Ports of each pod that the plan with the fewest ports uses.
    pub needed: Vec<u32>,
    /// `true` if no plan with fewer ports keeps the makespan.
    pub proven: bool,
}

/// Computes the ports that a job needs to keep the makespan (seconds) of a plan with circuits `x`.
///
/// # Errors
/// The reason to stop.
pub fn surplus(
    evaluator: &Evaluator,
    rates: Rates,
    x: &[u32],
    makespan: f64,
    watch: &mut impl Watch<Proposal>,
) -> Result<Surplus, MethodError> {
    let budget = &evaluator.network.budget;
    let plan = Circuits { x: x.to_vec(), makespan, ports: budget.total(x) };
    // Circuits above the useful number for this makespan are never needed. Caps contain the plan, so that its own
    // circuits stay feasible.
    let mut caps = useful_within(&evaluator.network, makespan);
    for (cap, circuits) in caps.iter_mut().zip(x) {
        *cap = (*cap).max(*circuits);
    }
    let fewest = ports::fewest(VectorTask::new(evaluator, rates, &caps), &plan, watch)?;
    Ok(Surplus {
        ports: (0..budget.pods()).filter_map(|pod| budget.ports(pod)).collect(),
        used: budget.used(x),
        needed: budget.used(&fewest.found.x),
        proven: fewest.proven,
        fewest: fewest.found,
    })
}

/// Returns the best baseline at the given rates.
fn baseline(evaluator: &Evaluator, rates: Rates) -> Circuits {
    let mut scratch = Scratch::default();
    let judge = |baseline: Baseline| {
        let x = baseline.allocate(&evaluator.network);
        let makespan = evaluator.makespan(&x, rates, &mut scratch);
        Circuits { ports: evaluator.network.budget.total(&x), makespan, x }
    };
    let [first, second, third] = Baseline::ALL.map(judge);
    let better = |a: Circuits, b: Circuits| if b.better_than(&a) { b } else { a };
    better(better(first, second), third)
}

fn under(problems: &Problems, path: &str) -> Problems {
    let mut all = Problems::new();
    for problem in problems.list() {
        all.push(problem.clone().under(path));
    }
    all
}

#[cfg(test)]
mod tests;
