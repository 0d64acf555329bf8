//! Circuits for several configurations of a job at once; the objective is the worst NCT over all configurations
//! (docs/methods/training-search.md, section 12).
//!
//! Configurations differ in volumes, speeds and compute, but not in pods, links and ports: all of them use the same
//! circuits, and only the rates are recomputed in each. If only last transfers compete in every configuration, the
//! search over through links is exact, as for one configuration ([`crate::search::allocations`]). For given circuits of
//! the through links, the end of a sink link never grows with the circuits of this link, in any configuration. So, if a
//! sink link determines the worst NCT, the worst NCT falls only if this link gets another circuit. If other transfers
//! compete, circuits are moved between links one at a time.

use super::circuits::{Circuits, Proposal};
use super::reoptimise::best_known;
use crate::programs::circuit_bounds::circuit_bounds;
use crate::scenario::instance::Instance;
use crate::scenario::variants::Variant;
use crate::search::allocations::{self, Split, Vectors};
use crate::search::polish::polish;
use crate::search::repair::PortLimits;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use crate::simulate::windows::Windows;
use lightbay_core::method::MethodError;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::watch::{StopOnly, Watch};

/// The maximum useful circuits of each link are computed for the best known makespan plus this relative margin. As for
/// one configuration, the margin ensures that rounding does not exclude the circuits of the known plan.
const ROOM: f64 = 1e-4;

/// Difference of NCT that counts as zero. NCT is about 1 to 3; this is some ten thousand roundings.
const NONE: f64 = 1e-11;

/// Configurations for which the same circuits are planned.
#[derive(Clone, Debug)]
pub struct Configurations {
    names: Vec<String>,
    evaluators: Vec<Evaluator>,
}

/// The best circuits found for all configurations together.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    /// Circuits per link.
    pub x: Vec<u32>,
    /// The worst NCT over all configurations.
    pub worst_nct: f64,
    /// Lower bound on the worst NCT.
    pub bound: f64,
}

impl Configurations {
    /// Compiles variants of a scenario that was built as `own`.
    ///
    /// # Errors
    /// A variant that cannot be built, that has other pods, ports or links, or in which nothing is communicated.
    pub fn new(variants: &[Variant], own: &Instance) -> Result<Self, MethodError> {
        let refuse = |name: &str, what: &str, remedy: &str| -> MethodError {
            Problems::from(Problem::new("robust", format!("{what} with {name}"), remedy)).into()
        };
        let mut configurations = Self { names: Vec::new(), evaluators: Vec::new() };
        for Variant { name, scenario } in variants {
            let instance = scenario.build()?.instance;
            if instance.pods != own.pods || instance.links != own.links {
                let remedy = "vary parameters that keep the placement, such as seq or bandwidth_gbps";
                return Err(refuse(name, "has other pods, ports or links", remedy));
            }
            let evaluator =
                Evaluator::new(&instance).map_err(|error| MethodError::Failed(error.to_string()))?;
            if evaluator.ideal.path.comm <= 0.0 {
                return Err(refuse(name, "communicates nothing", "leave that configuration out"));
            }
            configurations.names.push(name.clone());
            configurations.evaluators.push(evaluator);
        }
        Ok(configurations)
    }

    /// Returns the NCT of a makespan in the configuration with number `at`.
    fn nct(&self, at: usize, makespan_s: f64) -> f64 {
        let ideal = &self.evaluators[at].ideal;
        // NCT is affine in the makespan, so bounds on makespans give bounds on NCT.
        1.0 + (makespan_s - ideal.makespan()) / ideal.path.comm
    }

    /// Returns the name of every configuration and the NCT of the circuits `x` in it.
    pub fn each<'s>(&'s self, x: &'s [u32]) -> impl Iterator<Item = (&'s str, f64)> + 's {
        let mut scratch = Scratch::default();
        self.names.iter().zip(0..).map(move |(name, at)| {
            (name.as_str(), self.nct(at, self.evaluators[at].makespan(x, Rates::Best, &mut scratch)))
        })
    }

    /// Mean makespan of circuits over all configurations, seconds.
    pub fn mean_makespan_s(&self, x: &[u32]) -> f64 {
        let mut scratch = Scratch::default();
        let all_s: f64 =
            self.evaluators.iter().map(|evaluator| evaluator.makespan(x, Rates::Best, &mut scratch)).sum();
        all_s / self.evaluators.len().max(1) as f64
    }

    /// The worst NCT of circuits over all configurations.
    pub fn worst(&self, x: &[u32]) -> f64 {
        self.each(x).map(|(_, nct)| nct).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Searches for the circuits with the smallest worst NCT. Starts from `seeds`, which fit; `improved` is called with
    /// every improvement.
    ///
    /// # Errors
    /// The reason to stop, also from `improved`.
    pub fn search<W: Watch<Proposal>>(
        &self,
        seeds: &[Vec<u32>],
        listed: u64,
        watch: &mut W,
        mut improved: impl FnMut(&mut W, &[u32], f64) -> Result<(), MethodError>,
    ) -> Result<Served, MethodError> {
        let mut served = Served { x: Vec::new(), worst_nct: f64::INFINITY, bound: 1.0 };
        let mut offer = |served: &mut Served, x: &[u32], nct: f64, watch: &mut W| {
            if nct < served.worst_nct {
                (served.x, served.worst_nct) = (x.to_vec(), nct);
                improved(watch, x, nct)?;
            }
            Ok::<(), MethodError>(())
        };
        // Seeds first: the caps and lists shrink with the best known worst NCT.
        for x in seeds {
            watch.checkpoint()?;
            watch.count(1);
            offer(&mut served, x, self.worst(x), watch)?;
        }
        // The best circuits of one configuration are a good start for all, and give the minimum NCT of that
        // configuration.
        let mut scratch = Scratch::default();
        for (at, evaluator) in self.evaluators.iter().enumerate() {
            let budget = &evaluator.network.budget;
            let known = Circuits {
                makespan: evaluator.makespan(&served.x, Rates::Best, &mut scratch),
                ports: budget.total(&served.x),
                x: served.x.clone(),
            };
            let (alone, proven) = best_known(evaluator, Rates::Best, known, &mut StopOnly(watch))?;
            // Minimax bound: no circuits are better in the worst case than the best ones of any single configuration.
            if proven {
                served.bound = served.bound.max(self.nct(at, alone.makespan));
            }
            offer(&mut served, &alone.x, self.worst(&alone.x), watch)?;
        }
        // A plan at the bound is optimal; nothing is left to search.
        if served.worst_nct <= served.bound + NONE {
            return Ok(served);
        }
        let caps = self.caps(served.worst_nct);
        // Exact only if all configurations have the same decided links, so that they share one list.
        if let Some(splits) = self.splits(&caps, listed)
            && allocations::can_list(splits[0].task, watch)?
        {
            return self.listed(&splits, served, watch, offer);
        }
        // Without a common list, climb by single exchanges, evaluated by the worst configuration.
        let limits = PortLimits { budget: &self.evaluators[0].network.budget, caps: &caps };
        let (mut x, from) = (served.x.clone(), served.worst_nct);
        let mut stopped = Ok(());
        let nct = polish(limits, &mut x, from, &mut |x: &[u32]| {
            stopped = watch.checkpoint();
            watch.count(1);
            stopped.is_ok().then(|| self.worst(x))
        });
        offer(&mut served, &x, nct, watch)?;
        stopped.map(|()| served)
    }

    /// Maximum number of circuits of every link that can help to get below a worst NCT.
    fn caps(&self, worst_nct: f64) -> Vec<u32> {
        // A link needs the largest cap of any configuration.
        let mut caps = vec![1; self.evaluators[0].network.links()];
        for evaluator in &self.evaluators {
            let ideal = &evaluator.ideal;
            let limit_s = ideal.makespan() + (worst_nct - 1.0).max(0.0) * ideal.path.comm;
            let windows = Windows::new(&evaluator.network, limit_s * (1.0 + ROOM));
            for (cap, useful) in caps.iter_mut().zip(circuit_bounds(&evaluator.network, &windows)) {
                *cap = useful.max(*cap);
            }
        }
        caps
    }

    /// The searches of all configurations, if they are exact and have the same decided links.
    fn splits<'s>(&'s self, caps: &'s [u32], listed: u64) -> Option<Vec<Split<'s>>> {
        let split = |evaluator: &'s Evaluator| {
            let task = allocations::VectorTask {
                listed,
                ..allocations::VectorTask::new(evaluator, Rates::Best, caps)
            };
            evaluator.exact(Rates::Best).then(|| Split::new(task))
        };
        let splits: Vec<Split<'s>> = self.evaluators.iter().map(split).collect::<Option<_>>()?;
        let first = splits.first()?;
        // Through links depend on the graph; configurations with another pipeline order could have other through links.
        let same = splits.iter().all(|split| split.decided == first.decided && split.leaves == first.leaves);
        same.then_some(splits)
    }

    /// Evaluates the allocations of through links in ascending order of their bounds, until a bound reaches the best
    /// worst NCT.
    fn listed<W: Watch<Proposal>>(
        &self,
        splits: &[Split<'_>],
        mut served: Served,
        watch: &mut W,
        mut offer: impl FnMut(&mut Served, &[u32], f64, &mut W) -> Result<(), MethodError>,
    ) -> Result<Served, MethodError> {
        let mut tables = Vec::with_capacity(splits.len());
        for split in splits {
            match Vectors::list(split, split.task, watch)? {
                Some(vectors) => tables.push(vectors),
                None => return Ok(served),
            }
        }
        // Bound of an allocation: the largest of its bounds over the configurations.
        let mut bounds = vec![f64::NEG_INFINITY; tables[0].len()];
        for (at, vectors) in tables.iter().enumerate() {
            for &(bound, index) in vectors.by_bound() {
                let worst = &mut bounds[index as usize];
                *worst = worst.max(self.nct(at, bound));
            }
        }
        let mut order: Vec<u32> = (0..bounds.len() as u32).collect();
        order.sort_by(|a, b| bounds[*a as usize].total_cmp(&bounds[*b as usize]).then(a.cmp(b)));
        let mut scratches = vec![Scratch::default(); splits.len()];
        let mut x = vec![1; served.x.len()];
        for index in order {
            watch.checkpoint()?;
            let bound = bounds[index as usize];
            // As in the search for one configuration: bounds ascend, so the rest cannot be better.
            if bound >= served.worst_nct {
                break;
            }
            served.bound = served.bound.max(bound);
            tables[0].load(index, &splits[0], &mut x);
            watch.count(1);
            let nct = self.complete(splits, &mut x, &mut scratches);
            offer(&mut served, &x, nct, watch)?;
        }
        served.bound = served.worst_nct;
        Ok(served)
    }

    /// Chooses the circuits of the sink links in `x` so that the worst NCT is as small as possible with the decided
    /// circuits of `x`, and returns this NCT. At the call, every sink link of `x` must have one circuit.
    fn complete(&self, splits: &[Split<'_>], x: &mut [u32], scratches: &mut [Scratch]) -> f64 {
        // Start times are computed once per configuration, because leaves do not change them.
        let mut worst = f64::NEG_INFINITY;
        for (at, (evaluator, scratch)) in self.evaluators.iter().zip(scratches.iter_mut()).enumerate() {
            let mut end_s = evaluator.model.start(x, &mut scratch.model);
            for &link in &splits[at].decided {
                let circuits = x[link as usize];
                end_s = end_s.max(evaluator.model.link_end(link, circuits, Rates::Best, &mut scratch.model));
            }
            worst = worst.max(self.nct(at, end_s));
        }
        let mut of_link = |link: u32, circuits: u32| {
            let ends = self.evaluators.iter().zip(scratches.iter_mut()).enumerate();
            ends.map(|(at, (evaluator, scratch))| {
                self.nct(at, evaluator.model.link_end(link, circuits, Rates::Best, &mut scratch.model))
            })
            .fold(f64::NEG_INFINITY, f64::max)
        };
        let budget = &self.evaluators[0].network.budget;
        let caps = splits[0].task.caps;
        // Greedy completion as for one configuration: the worst leaf must get the next circuit in any better
        // completion.
        let mut free = budget.free(x);
        let mut open: Vec<(f64, u32)> =
            splits[0].leaves.iter().map(|&link| (of_link(link, x[link as usize]), link)).collect();
        while let Some(at) =
            (0..open.len()).max_by(|&a, &b| open[a].0.total_cmp(&open[b].0).then(open[b].1.cmp(&open[a].1)))
        {
            let link = open[at].1 as usize;
            if x[link] < caps[link] && budget.room(link, &free) >= 1 {
                x[link] += 1;
                budget.take(link, 1, &mut free);
                open[at].0 = of_link(open[at].1, x[link]);
            } else {
                // The end of a leaf that cannot get another circuit is final; the other leaves may still use the
                // remaining ports.
                worst = worst.max(open[at].0);
                open.swap_remove(at);
            }
        }
        worst
    }

    /// Removes circuits while the worst NCT stays within `limit`.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn fewest<W: Watch<Proposal>>(
        &self,
        x: &mut [u32],
        limit: f64,
        watch: &mut W,
    ) -> Result<(), MethodError> {
        let budget = &self.evaluators[0].network.budget;
        let mut links: Vec<usize> = (0..x.len()).collect();
        links.sort_by_key(|&link| std::cmp::Reverse(budget.cost(link)));
        // Passes over all links, those whose circuits need most ports first, until no circuit can be dropped.
        loop {
            let before = x.to_vec();
            for &link in &links {
                while x[link] > 1 {
                    watch.checkpoint()?;
                    watch.count(1);
                    x[link] -= 1;
                    if self.worst(x) > limit {
                        x[link] += 1;
                        break;
                    }
                }
            }
            if before == x {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
