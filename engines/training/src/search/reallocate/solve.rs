//! The best circuits of one job on given ports, and the fewest ports that keep the makespan of these circuits.

use crate::programs::circuit_bounds::useful_within;
use crate::search::allocations::{self, VectorTask};
use crate::search::baselines::Baseline;
use crate::search::circuits::{Circuits, Proposal};
use crate::search::event_orders;
use crate::search::ga;
use crate::search::ports;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use crate::simulate::iteration::Trace;
use lightbay_core::event::EventBody;
use lightbay_core::method::MethodError;
use lightbay_core::random::Stream;
use lightbay_core::watch::Watch;
use std::sync::Arc;

/// Limits of the search for one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobEffort {
    /// Maximum number of circuit allocations to list and sort by bound.
    pub listed: u64,
    /// Maximum number of boxes of allocations to evaluate if allocations cannot be listed.
    pub boxes: u64,
    /// Maximum number of orders of competing transfers to evaluate if transfers compete before the end of the
    /// iteration.
    pub orders: u64,
}

impl Default for JobEffort {
    fn default() -> Self {
        Self { listed: allocations::LISTED, boxes: allocations::BOXES, orders: 2_000 }
    }
}

/// Number of generations without improvement after which the genetic search ends and the proof begins. As in `auto`,
/// the proof that follows finds what a longer search would find.
const STALL: u32 = 25;

/// Circuits with their schedule.
#[derive(Clone, Debug)]
pub struct ScheduledCircuits {
    /// The circuits with their makespan and ports.
    pub found: Circuits,
    /// The schedule, if the search itself chose its rates; `None` if a simulation of the circuits gives the schedule.
    pub trace: Option<Arc<Trace>>,
}

impl From<Circuits> for ScheduledCircuits {
    fn from(found: Circuits) -> Self {
        Self { found, trace: None }
    }
}

/// The best circuits found for given ports.
#[derive(Clone, Debug)]
pub struct Solved {
    /// The best circuits, with their schedule.
    pub kept: ScheduledCircuits,
    /// Lower bound on the makespan on these ports and at these rates, seconds.
    pub bound: f64,
    /// Maximum number of circuits that the search tries on each link.
    pub caps: Vec<u32>,
}

/// Searches for the best circuits for the ports of `evaluator`; `seeds` that fit are tried in addition to the
/// baselines.
///
/// # Errors
/// The reason to stop.
pub fn best<W: Watch<Proposal>>(
    evaluator: &Evaluator,
    rates: Rates,
    seeds: &[Vec<u32>],
    effort: JobEffort,
    streams: &dyn Fn(u64) -> Stream,
    watch: &mut W,
) -> Result<Solved, MethodError> {
    let network = &evaluator.network;
    let mut scratch = Scratch::default();
    let mut fair_s = f64::INFINITY;
    let mut tried: Vec<Vec<u32>> = Vec::new();
    // Fair makespans set the caps, as at the start of every method; joint makespans are never longer.
    for baseline in Baseline::ALL {
        watch.checkpoint()?;
        let x = baseline.allocate(network);
        fair_s = fair_s.min(evaluator.makespan(&x, Rates::Fair, &mut scratch));
        tried.push(x);
    }
    tried.extend(seeds.iter().filter(|x| network.budget.fits(x)).cloned());
    // Incumbent: the best of baselines and seeds, so that the result is never worse than any of them.
    let mut first: Option<Circuits> = None;
    for x in &tried {
        let makespan = evaluator.makespan(x, rates, &mut scratch);
        let found = Circuits { ports: network.budget.total(x), makespan, x: x.clone() };
        if first.as_ref().is_none_or(|first| found.better_than(first)) {
            first = Some(found);
        }
    }
    watch.count(tried.len() as u64);
    let Some(first) = first else { return Err(MethodError::Failed("no circuits fit the pods".to_owned())) };
    let caps = useful_within(network, fair_s);
    let mut search = JobSearch { evaluator, rates, caps: &caps, effort, streams, tried: &tried };
    // If rates are fair or the path model is exact, the search over circuits suffices. Otherwise transfers with
    // successors compete too, so their orders are searched as well.
    let (kept, bound) = if rates != Rates::Fair && !evaluator.exact(rates) {
        search.contended(first, watch)?
    } else {
        search.proving(first, watch)?
    };
    Ok(Solved { bound: bound.min(kept.found.makespan), kept, caps })
}

/// Minimises the ports of the found circuits while their makespan is kept.
///
/// # Errors
/// The reason to stop.
pub fn fewest<W: Watch<Proposal>>(
    evaluator: &Evaluator,
    rates: Rates,
    solved: Solved,
    effort: JobEffort,
    watch: &mut W,
) -> Result<Solved, MethodError> {
    let task = VectorTask { listed: effort.listed, ..VectorTask::new(evaluator, rates, &solved.caps) };
    let fewest = ports::fewest(task, &solved.kept.found, &mut LastSchedule::of(watch))?.found;
    if fewest.x == solved.kept.found.x {
        return Ok(solved);
    }
    Ok(Solved { kept: fewest.into(), ..solved })
}

struct JobSearch<'a> {
    evaluator: &'a Evaluator,
    rates: Rates,
    caps: &'a [u32],
    effort: JobEffort,
    streams: &'a dyn Fn(u64) -> Stream,
    tried: &'a [Vec<u32>],
}

impl JobSearch<'_> {
    fn task(&self) -> VectorTask<'_> {
        let JobEffort { listed, boxes, .. } = self.effort;
        VectorTask { listed, boxes, ..VectorTask::new(self.evaluator, self.rates, self.caps) }
    }

    /// Plans a job for which the search over allocations is exact, or whose rates are fair. Returns the plan and a
    /// lower bound on the makespan.
    fn proving<W: Watch<Proposal>>(
        &mut self,
        mut best: Circuits,
        watch: &mut W,
    ) -> Result<(ScheduledCircuits, f64), MethodError> {
        // If allocations can be listed, no genetic search is needed.
        if !allocations::can_list(self.task(), &mut LastSchedule::of(watch))? {
            self.evolve(&mut best, None, watch)?;
        }
        // Search with a proof (docs/methods/training-search.md, section 7): its bound holds even if it ends early.
        let proof = allocations::search(self.task(), Some(&best), &mut LastSchedule::of(watch))?;
        Ok((proof.best.unwrap_or(best).into(), proof.bound))
    }

    /// Plans a job at scheduled rates whose transfers compete before the end of the iteration. Returns the plan and a
    /// lower bound on the makespan.
    fn contended<W: Watch<Proposal>>(
        &mut self,
        mut best: Circuits,
        watch: &mut W,
    ) -> Result<(ScheduledCircuits, f64), MethodError> {
        // Relaxed bound first: it is the target of the genetic search and the lower bound of the tree search.
        let JobEffort { listed, boxes, orders } = self.effort;
        let relaxed = VectorTask { listed, boxes, ..VectorTask::relaxed(self.evaluator, self.caps) };
        let floor = allocations::search(relaxed, None, &mut LastSchedule::of(watch))?.bound * (1.0 - 1e-12);
        self.evolve(&mut best, Some(floor), watch)?;
        let settings = event_orders::ProofLimits { nodes: orders, ..event_orders::ProofLimits::default() };
        let mut aside = LastSchedule::of(watch);
        let search = event_orders::TreeSearch::new(
            self.evaluator,
            self.caps,
            best.clone(),
            floor,
            settings,
            &mut aside,
        );
        let closed = search.run()?;
        // Both bounds are valid, so the larger bound is used.
        let bound = closed.bound.max(floor);
        let found = closed.best.unwrap_or(best);
        // The schedule belongs to the circuits that the tree found last.
        let trace = aside.scheduled.filter(|(of, _)| *of == found).map(|(_, trace)| trace);
        Ok((ScheduledCircuits { found, trace }, bound))
    }

    fn evolve<W: Watch<Proposal>>(
        &self,
        best: &mut Circuits,
        target: Option<f64>,
        watch: &mut W,
    ) -> Result<(), MethodError> {
        let within = |x: &Vec<u32>| -> Vec<u32> {
            x.iter().zip(self.caps).map(|(circuits, cap)| *circuits.min(cap)).collect()
        };
        // Reducing a seed to the caps keeps it within the ports.
        let seeds: Vec<Vec<u32>> = self.tried.iter().map(within).collect();
        let settings = ga::GaSettings { stall_generations: STALL, ..ga::GaSettings::default() };
        let task = ga::GaTask { evaluator: self.evaluator, rates: self.rates, caps: self.caps, target };
        let evolved = ga::evolve(task, &settings, &seeds, self.streams, &mut LastSchedule::of(watch))?.best;
        if evolved.better_than(best) {
            *best = evolved;
        }
        Ok(())
    }
}

/// Watches the search for one job, whose plans and bounds do not apply to all jobs.
struct LastSchedule<'w, W: Watch<Proposal>> {
    watch: &'w mut W,
    /// The last schedule whose rates the search itself chose.
    scheduled: Option<(Circuits, Arc<Trace>)>,
}

impl<'w, W: Watch<Proposal>> LastSchedule<'w, W> {
    fn of(watch: &'w mut W) -> Self {
        Self { watch, scheduled: None }
    }
}

impl<W: Watch<Proposal>> Watch<Proposal> for LastSchedule<'_, W> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.watch.checkpoint()
    }

    fn found(&mut self, proposal: Proposal, _source: &str) -> Result<(), MethodError> {
        if let Some(trace) = proposal.schedule {
            self.scheduled = Some((proposal.circuits, trace));
        }
        Ok(())
    }

    fn report(&mut self, body: EventBody) {
        self.watch.report(body);
    }

    fn count(&mut self, evaluations: u64) {
        self.watch.count(evaluations);
    }

    fn elapsed_s(&self) -> f64 {
        self.watch.elapsed_s()
    }

    fn threads(&self) -> usize {
        self.watch.threads()
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        self.watch.stop_test()
    }

    fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.watch.parallel(work)
    }
}
