//! Circuits and ports that fail.

use super::Ends;
use crate::search::circuits::Proposal;
use crate::simulate::evaluate::{Evaluator, Scratch};
use lightbay_core::method::MethodError;
use lightbay_core::watch::{StopOnly, Watch};

/// Maximum number of combinations of failed circuits that are evaluated.
const CHOICES: usize = 5_000;

/// Effect of one failed circuit of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CircuitFailure {
    /// Index of the link.
    pub link: u32,
    /// Circuits of the link before the failure.
    pub circuits: u32,
    /// Makespans after the failure; `None` if the failed circuit was the only circuit of the link, so that the pods of
    /// the link are cut off from each other.
    pub ends: Option<Ends>,
}

/// Effect of a failed port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortCase {
    /// The link that loses a circuit; `None` if no circuit used the port.
    pub link: Option<u32>,
    /// Makespans after the failure; `None` if the circuit at the port was the only circuit of its link, so that the
    /// pods of the link are cut off from each other.
    pub ends: Option<Ends>,
}

/// Effect of one failed port of a pod. The circuit that uses the port, if any, fails too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortFailure {
    /// Index of the pod.
    pub pod: u32,
    /// Ports of the pod that no circuit uses.
    pub free: i64,
    /// The port whose failure costs least.
    pub best: PortCase,
    /// The port whose failure costs most.
    pub worst: PortCase,
}

/// Effect of several circuits that fail at the same time: results over all combinations of this number of circuits.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// Number of circuits that fail.
    pub circuits: u32,
    /// Number of combinations of links that lose a circuit; a link can occur several times in a combination.
    pub choices: usize,
    /// Number of combinations that cut pods off from each other.
    pub cut_off: usize,
    /// The combination that costs least at scheduled rates, among combinations that leave the pods connected.
    pub best: Option<(Vec<u32>, Ends)>,
    /// The combination that costs most at scheduled rates, among combinations that leave the pods connected.
    pub worst: Option<(Vec<u32>, Ends)>,
}

/// Evaluates single failures: of one circuit on each link, and of one port in each real pod.
pub(super) fn single<W: Watch<Proposal>>(
    evaluator: &Evaluator,
    x: &[u32],
    planned: Ends,
    watch: &mut StopOnly<'_, W>,
) -> Result<(Vec<CircuitFailure>, Vec<PortFailure>), MethodError> {
    let mut scratch = Scratch::default();
    let mut circuits = Vec::with_capacity(x.len());
    for (link, &had) in x.iter().enumerate() {
        watch.checkpoint()?;
        watch.count(1);
        let ends = (had > 1).then(|| {
            let mut left = x.to_vec();
            left[link] -= 1;
            Ends::of(evaluator, &left, &mut scratch)
        });
        circuits.push(CircuitFailure { link: link as u32, circuits: had, ends });
    }
    let budget = &evaluator.network.budget;
    let free = budget.free(x);
    let mut ports = Vec::new();
    for (pod, &free) in free.iter().enumerate().filter(|(pod, _)| budget.ports(*pod).is_some()) {
        // A failure that cuts pods off is worse than any delay.
        let cost =
            |case: &PortCase| case.ends.map_or((f64::INFINITY, 0.0), |ends| (ends.joint_s, ends.fair_s));
        let order = |a: &PortCase, b: &PortCase| {
            let (a, b) = (cost(a), cost(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        };
        let unused = PortCase { link: None, ends: Some(planned) };
        let mut cases: Vec<PortCase> = budget
            .links_at(pod)
            .iter()
            .map(|&(link, _)| PortCase { link: Some(link), ends: circuits[link as usize].ends })
            .collect();
        if free > 0 || cases.is_empty() {
            cases.insert(0, unused);
        }
        let best = cases.iter().copied().min_by(order).unwrap_or(unused);
        let worst = cases.iter().copied().max_by(order).unwrap_or(unused);
        ports.push(PortFailure { pod: pod as u32, free, best, worst });
    }
    Ok((circuits, ports))
}

/// Evaluates all combinations of `count` failed circuits; `None` if there are too many to evaluate.
pub(super) fn together<W: Watch<Proposal>>(
    evaluator: &Evaluator,
    x: &[u32],
    count: u32,
    watch: &mut StopOnly<'_, W>,
) -> Result<Option<Together>, MethodError> {
    let links = x.len();
    // Combinations with repetition: binomial coefficient (links + count - 1 choose count).
    let mut choices = 1_usize;
    for step in 0..count as usize {
        choices = choices.saturating_mul(links + step) / (step + 1);
    }
    if choices == 0 || choices > CHOICES {
        return Ok(None);
    }
    let mut cases = Together { circuits: count, choices, cut_off: 0, best: None, worst: None };
    let mut scratch = Scratch::default();
    let mut chosen = vec![0_usize; count as usize];
    loop {
        watch.checkpoint()?;
        watch.count(1);
        let mut left = x.to_vec();
        for &link in &chosen {
            left[link] = left[link].saturating_sub(1);
        }
        if left.contains(&0) {
            cases.cut_off += 1;
        } else {
            let ends = Ends::of(evaluator, &left, &mut scratch);
            let names = || chosen.iter().map(|&link| link as u32).collect();
            if cases.best.as_ref().is_none_or(|(_, best)| ends.joint_s < best.joint_s) {
                cases.best = Some((names(), ends));
            }
            if cases.worst.as_ref().is_none_or(|(_, worst)| ends.joint_s > worst.joint_s) {
                cases.worst = Some((names(), ends));
            }
        }
        // The next combination, with its links in ascending order.
        let Some(at) = chosen.iter().rposition(|&link| link + 1 < links) else { return Ok(Some(cases)) };
        let next = chosen[at] + 1;
        chosen[at..].fill(next);
    }
}
