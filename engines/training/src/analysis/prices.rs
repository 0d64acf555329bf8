//! Prices of ports and circuits: the time by which an iteration would be shorter with one more port in a pod, or longer
//! with one circuit fewer on a link.
//!
//! A price is the difference between the makespans of two best plans, one before and one after the change of ports or
//! circuits, both under the rate rule of the analysed plan. If only transfers at the end of the iteration compete, the
//! search over circuits proves both plans optimal, so the price is exact. In other cases, or if there are too many
//! circuit allocations to search, circuits are moved between links one at a time, and the price is an estimate. The
//! search starts from the plan, and is skipped if a bound shows that nothing can be gained.
//!
//! In a job whose replicas are planned as one, a pod represents the corresponding pods of all replicas: one more port
//! means one more port in this pod of every replica, and one circuit fewer means one circuit fewer in every replica. A
//! circuit that fails in a single replica costs as much as one circuit fewer in every replica, because the slowest
//! replica decides when gradients are exchanged.

use crate::analysis::Setting;
use crate::search::allocations;
use crate::search::circuits::{Circuits, Proposal};
use crate::search::reoptimise::{BestKnown, best};
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_core::method::MethodError;
use lightbay_core::watch::{StopOnly, Unwatched, Watch};

/// Maximum number of further ports to try in a pod in which a single further port gains nothing.
pub const MORE_PORTS: u32 = 4;

/// Prices of all ports and circuits of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// Rate rule under which the plans were compared.
    pub rates: Rates,
    /// Makespan of the plan's circuits under `rates`, seconds.
    pub plan_makespan_s: f64,
    /// Makespan of the best circuits for the present ports, seconds: the reference for gains and losses.
    pub best_makespan_s: f64,
    /// `true` if the best circuits for the present ports are proven optimal.
    pub proven: bool,
    /// Communication on the critical path of the ideal network, seconds: the unit of NCT.
    pub comm_ideal_s: f64,
    /// Real pods, those with the largest gain first.
    pub pods: Vec<PortPrice>,
    /// Links: first links with a single circuit, which they cannot lose, then the other links from the largest loss to
    /// the smallest.
    pub links: Vec<CircuitPrice>,
}

/// Price of one more port in a pod.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortPrice {
    /// Index of the pod.
    pub pod: u32,
    /// Ports of the pod.
    pub ports: u32,
    /// Ports that the plan leaves free in the pod.
    pub free: i64,
    /// Time by which the iteration is shorter with one more port, seconds.
    pub gain_s: f64,
    /// `true` if both plans that `gain_s` compares are proven optimal.
    pub exact: bool,
    /// Minimum number of further ports that shorten the iteration, and the gain in seconds; `None` if [`MORE_PORTS`]
    /// ports do not shorten it.
    pub first: Option<(u32, f64)>,
}

/// Price of one circuit fewer on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CircuitPrice {
    /// Index of the link.
    pub link: u32,
    /// Number of circuits of the link in the plan.
    pub circuits: u32,
    /// Cost of losing one circuit; `None` if the link has a single circuit, which it cannot lose.
    pub loss: Option<Loss>,
}

/// Cost of one circuit fewer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Increase of the best iteration time with one circuit fewer on this link, seconds.
    pub replanned_s: f64,
    /// Increase of the iteration time if all other circuits stay unchanged, seconds.
    pub kept_s: f64,
    /// `true` if both plans that `replanned_s` compares are proven optimal.
    pub exact: bool,
}

impl Prices {
    /// Computes the prices for the plan with the circuits `x`, which must fit the ports.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn new<W: Watch<Proposal>>(
        evaluator: &Evaluator,
        x: &[u32],
        rates: Rates,
        watch: &mut W,
    ) -> Result<Self, MethodError> {
        let watch = &mut StopOnly(watch);
        let mut scratch = Scratch::default();
        let budget = &evaluator.network.budget;
        let found = |x: Vec<u32>, scratch: &mut Scratch| Circuits {
            makespan: evaluator.makespan(&x, rates, scratch),
            ports: budget.total(&x),
            x,
        };
        let plan = found(x.to_vec(), &mut scratch);
        let mut base = best(evaluator, rates, None, plan.clone(), watch)?;
        // Prices of circuits come first: where nothing is proven, these searches may find a better reference plan.
        let mut fewer = Vec::with_capacity(x.len());
        for (link, &circuits) in x.iter().enumerate() {
            watch.checkpoint()?;
            if circuits < 2 {
                fewer.push(None);
                continue;
            }
            let mut less = x.to_vec();
            less[link] -= 1;
            let kept = found(less, &mut scratch);
            let known = if base.found.x[link] < circuits { base.found.clone() } else { kept.clone() };
            // A plan that is best among all allocations is also best in every subset of allocations that contains it.
            let replanned = if known.makespan <= base.found.makespan {
                BestKnown { found: known, proven: base.proven }
            } else {
                best(evaluator, rates, Some((link, circuits - 1)), known, watch)?
            };
            if replanned.found.makespan < base.found.makespan {
                base.found = replanned.found.clone();
            }
            fewer.push(Some((kept.makespan, replanned)));
        }
        let loss = |(kept_s, replanned): (f64, BestKnown)| Loss {
            replanned_s: (replanned.found.makespan - base.found.makespan).max(0.0),
            kept_s: kept_s - plan.makespan,
            exact: base.proven && replanned.proven,
        };
        let mut links: Vec<CircuitPrice> = (0..)
            .zip(x)
            .zip(fewer)
            .map(|((link, &circuits), fewer)| CircuitPrice { link, circuits, loss: fewer.map(loss) })
            .collect();
        let price = |price: &CircuitPrice| price.loss.map_or(f64::INFINITY, |loss| loss.replanned_s);
        links.sort_by(|a, b| price(b).total_cmp(&price(a)).then(a.link.cmp(&b.link)));

        let free = budget.free(x);
        let mut pods = Vec::new();
        for (pod, &free) in free.iter().enumerate() {
            let Some(ports) = budget.ports(pod) else { continue };
            let with = |more: u32, watch: &mut StopOnly<'_, W>| -> Result<(f64, bool), MethodError> {
                watch.checkpoint()?;
                let mut richer = evaluator.clone();
                richer.network.budget = budget.with_ports(pod, ports.saturating_add(more));
                let richer = best(&richer, rates, None, base.found.clone(), watch)?;
                Ok(((base.found.makespan - richer.found.makespan).max(0.0), base.proven && richer.proven))
            };
            let (gain_s, exact) = with(1, watch)?;
            let mut first = (gain_s > 0.0).then_some((1, gain_s));
            if first.is_none() && with(MORE_PORTS, watch)?.0 > 0.0 {
                for more in 2..=MORE_PORTS {
                    let (gain_s, _) = with(more, watch)?;
                    if gain_s > 0.0 {
                        first = Some((more, gain_s));
                        break;
                    }
                }
            }
            pods.push(PortPrice { pod: pod as u32, ports, free, gain_s, exact, first });
        }
        let later = |price: &PortPrice| price.first.map_or(0.0, |(ports, gain_s)| gain_s / f64::from(ports));
        pods.sort_by(|a, b| {
            b.gain_s.total_cmp(&a.gain_s).then(later(b).total_cmp(&later(a))).then(a.pod.cmp(&b.pod))
        });
        Ok(Self {
            rates,
            plan_makespan_s: plan.makespan,
            best_makespan_s: base.found.makespan,
            proven: base.proven,
            comm_ideal_s: evaluator.ideal.path.comm,
            pods,
            links,
        })
    }

    /// Converts a difference of makespans, in seconds, to a difference of NCT; `None` if the ideal communication time
    /// is 0.
    pub fn nct(&self, seconds: f64) -> Option<f64> {
        (self.comm_ideal_s > 0.0).then(|| seconds / self.comm_ideal_s)
    }

    /// Returns `true` if all prices are exact.
    pub fn exact(&self) -> bool {
        self.pods.iter().all(|pod| pod.exact)
            && self.links.iter().filter_map(|link| link.loss).all(|loss| loss.exact)
    }
}

/// Prices count as quick to compute if the number of circuit allocations evaluated for all prices, times the number of
/// tasks, is at most this number.
const QUICK: u64 = 60_000_000;

/// Returns `true` if all prices can be proven by listing circuit allocations, in less than a second.
pub fn quick(setting: &Setting) -> bool {
    let evaluator = &setting.evaluator;
    let network = &evaluator.network;
    let searches = network.budget.pods() * 2 + network.links() + 1;
    let mut task = allocations::VectorTask::new(evaluator, Rates::Best, &setting.circuit_bounds);
    task.listed = QUICK / (network.tasks() * searches).max(1) as u64;
    let few = || allocations::can_list(task, &mut Unwatched::default()).unwrap_or(false);
    evaluator.exact(Rates::Best) && evaluator.exact(Rates::Fair) && few()
}

#[cfg(test)]
mod tests;
