//! Best joint plan of several jobs, by enumerating how they can divide the ports of the shared pods.
//!
//! Every circuit allocation of a job has a makespan and a port use per pod. Allocations of all jobs are compatible if
//! every pod has enough ports for them. A depth-first search over the jobs, fastest allocations first, finds the
//! minimum weighted mean. A branch is pruned if even the fastest allocations of the remaining jobs cannot beat the best
//! combination.

use crate::check::case::Case;
use crate::check::exact::{Ask, Valued, allocations};
use crate::check::nics::nic_groups;
use crate::plan::RateControl;
use lightbay_core::kind::Depth;

/// Number of evaluated pairs of allocations after which a search is given up.
const MOST_STEPS: u64 = 30_000_000;
/// Number of steps between two checks of the time limit.
const STRIDE: u64 = 4096;

/// A job, with the maximum number of ports that the other jobs can leave to it.
pub(super) struct JointMember {
    /// Weight of the makespan of the job.
    pub weight: f64,
    /// Shared pod in which the first pod of the job lies.
    pub first: usize,
    pub case: Case<'static>,
}

/// Joint optimum of all jobs.
pub(super) struct Optimum {
    /// Lower bound on the weighted sum of makespans.
    pub least_s: f64,
    /// The best known combination within the limits, if any.
    pub reached: Option<JointBest>,
}

/// Optimum over all jobs, where no job may take longer than its limit; `None` if there are too many allocations.
pub(super) fn optimum(
    members: &[JointMember],
    budget: &[u64],
    rates: RateControl,
    limits_s: &[f64],
    depth: Depth,
) -> Option<Optimum> {
    let choices = members.iter().map(|member| {
        let nics = nic_groups(&member.case);
        let all = allocations(&Ask { case: &member.case, nics: &nics, rates, depth })?;
        Some(Choices { weight: member.weight, first: member.first, all })
    });
    let choices = choices.collect::<Option<Vec<Choices>>>()?;
    let least = best(&choices, budget, depth, |_, choice| choice.least_s)?;
    let within = |job: usize, choice: &Valued| {
        if choice.reached_s <= limits_s[job] { choice.reached_s } else { f64::INFINITY }
    };
    Some(Optimum { least_s: least.sum_s, reached: best(&choices, budget, depth, within) })
}

/// Circuit allocations of one job, on its shared pods.
struct Choices {
    weight: f64,
    first: usize,
    all: Vec<Valued>,
}

/// A compatible combination of allocations of all jobs.
pub(super) struct JointBest {
    /// Weighted sum of the makespans.
    pub sum_s: f64,
    /// Circuits of every job.
    pub circuits: Vec<Vec<u32>>,
}

/// Minimum weighted sum of the makespans, with one allocation for each job; `None` if the search is given up or no
/// combination of allocations fits the ports.
fn best(
    jobs: &[Choices],
    budget: &[u64],
    depth: Depth,
    makespan_s: impl Fn(usize, &Valued) -> f64,
) -> Option<JointBest> {
    let value = |job: usize, at: usize| jobs[job].weight * makespan_s(job, &jobs[job].all[at]);
    let orders: Vec<Vec<usize>> = (0..jobs.len())
        .map(|job| {
            let mut order: Vec<usize> =
                (0..jobs[job].all.len()).filter(|at| value(job, *at).is_finite()).collect();
            order.sort_by(|a, b| value(job, *a).total_cmp(&value(job, *b)));
            order
        })
        .collect();
    let mut rest = vec![0.0; jobs.len() + 1];
    for job in (0..jobs.len()).rev() {
        rest[job] = rest[job + 1] + value(job, *orders[job].first()?);
    }
    let mut search = JointSearch {
        jobs,
        orders: &orders,
        value: &value,
        rest: &rest,
        depth,
        steps: 0,
        left: budget.to_vec(),
        chosen: Vec::new(),
        best_s: f64::INFINITY,
        best: None,
    };
    if !search.extend(0.0) {
        return None;
    }
    let (sum_s, chosen) = (search.best_s, search.best?);
    let circuits = jobs.iter().zip(&chosen).map(|(job, at)| job.all[*at].circuits.clone()).collect();
    Some(JointBest { sum_s, circuits })
}

struct JointSearch<'a> {
    jobs: &'a [Choices],
    /// Allocations of every job, fastest first.
    orders: &'a [Vec<usize>],
    value: &'a dyn Fn(usize, usize) -> f64,
    /// For each index, the minimum weighted sum of the makespans of the jobs from this index on.
    rest: &'a [f64],
    depth: Depth,
    steps: u64,
    left: Vec<u64>,
    chosen: Vec<usize>,
    best_s: f64,
    best: Option<Vec<usize>>,
}

impl JointSearch<'_> {
    /// Extends a combination, which has an allocation for each of the first jobs, by all allocations of the remaining
    /// jobs that can improve the best combination; returns `false` if the search is given up.
    fn extend(&mut self, sum_s: f64) -> bool {
        let job = self.chosen.len();
        if job == self.jobs.len() {
            // Only better combinations reach this point.
            self.best_s = sum_s;
            self.best = Some(self.chosen.clone());
            return true;
        }
        for &at in &self.orders[job] {
            self.steps += 1;
            let late = self.steps.is_multiple_of(STRIDE) && self.depth.is_over();
            if self.steps > MOST_STEPS || late {
                return false;
            }
            let with_s = sum_s + (self.value)(job, at);
            if with_s + self.rest[job + 1] >= self.best_s {
                break;
            }
            let choice = &self.jobs[job];
            let used = &choice.all[at].ports;
            let open = &mut self.left[choice.first..];
            if used.iter().zip(open.iter()).any(|(used, left)| used > left) {
                continue;
            }
            open.iter_mut().zip(used).for_each(|(left, used)| *left -= used);
            self.chosen.push(at);
            let going_on = self.extend(with_s);
            self.chosen.pop();
            self.left[choice.first..].iter_mut().zip(used).for_each(|(left, used)| *left += used);
            if !going_on {
                return false;
            }
        }
        true
    }
}
