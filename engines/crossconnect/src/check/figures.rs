//! Recomputes sums, objective, bound and metrics.

use super::batches::{self, Dark};
use super::entries::Judged;
use super::program::{Covers, Proof};
use super::states::PairCounts;
use super::{EXACT, Envelope, Findings, code, compare_figure};
use crate::plan::{Action, Changes, Totals};
use crate::scenario::{CrossconnectScenario, Side, Wiring};
use lightbay_core::checked::{BoundTrust, Figure, VerifiedBound};
use lightbay_core::kind::{Depth, Sense};
use lightbay_core::problem::counted;

/// Plans that a bound covers if it was proven for one fixed orientation.
const SAME_ORIENTATION: &str = "plans with the orientation that was chosen first";
/// Plans that a bound on a reduced target covers.
const SAME_CIRCUITS: &str = "plans that set the same target circuits";

/// Checks that objective, bound and metrics of the plan file are finite.
pub(super) fn finite(envelope: &Envelope<'_>, found: &mut Findings) {
    let mut number = |name: &str, value: f64| {
        if !value.is_finite() {
            found.add(code::SCHEMA, format!("'{name}' is {value}, but must be a finite number"));
        }
    };
    number("objective.value", envelope.value);
    number("objective.bound", envelope.bound.unwrap_or(0.0));
    for (name, value) in envelope.metrics {
        number(&format!("metrics.{name}"), *value);
    }
}

/// Checks that every pair of pods has exactly its target circuits. A pair may have fewer circuits only if ports have
/// failed and no switch has free ports at both ends for one more circuit of the pair.
pub(super) fn demand(
    scenario: &CrossconnectScenario,
    switches: &[Vec<Judged>],
    pairs: &PairCounts,
    found: &mut Findings,
) {
    let free = Free::of(scenario, switches);
    for (&(i, j), pair) in pairs.iter().filter(|(_, pair)| pair.new != pair.wanted) {
        if pair.new < pair.wanted && !scenario.failed_ports.is_empty() {
            // Circuits that are given port by port are compared port by port.
            if let Some(ocs) = free.switch_for(i, j).filter(|_| !scenario.is_placed()) {
                found.add(
                    code::DEMAND,
                    format!(
                        "{} and {} get {} circuits, but {} are required, and switch {ocs} has working ports \
                         for one more",
                        scenario.pod_name(i as usize),
                        scenario.pod_name(j as usize),
                        pair.new,
                        pair.wanted
                    ),
                );
            }
            continue;
        }
        found.add(
            code::DEMAND,
            format!(
                "{} and {} get {} circuits, but {} are required",
                scenario.pod_name(i as usize),
                scenario.pod_name(j as usize),
                pair.new,
                pair.wanted
            ),
        );
    }
}

/// Working ports that the new state leaves free.
struct Free {
    /// `ports[switch][pod]`: free ports on side A and on side B; all on side A if ports have no sides.
    ports: Vec<Vec<[i64; 2]>>,
    single_sided: bool,
}

impl Free {
    fn of(scenario: &CrossconnectScenario, switches: &[Vec<Judged>]) -> Self {
        let pods = scenario.pods as usize;
        let there =
            |ocs: usize, pod: usize| [Side::A, Side::B].map(|side| i64::from(scenario.ports(side, pod, ocs)));
        let mut ports: Vec<Vec<[i64; 2]>> =
            (0..switches.len()).map(|ocs| (0..pods).map(|pod| there(ocs, pod)).collect()).collect();
        let mut take = |ocs: usize, side: Side, pod: u32| {
            if let Some(free) = ports.get_mut(ocs).and_then(|row| row.get_mut(pod as usize)) {
                free[usize::from(side == Side::B)] -= 1;
            }
        };
        for port in &scenario.failed_ports {
            take(port.ocs_id as usize, port.side, port.pod);
        }
        for (ocs, switch) in switches.iter().enumerate() {
            for judged in switch.iter().filter(|judged| judged.will_be()) {
                for (side, pod, _) in judged.ends {
                    take(ocs, side, pod);
                }
            }
        }
        Self { ports, single_sided: scenario.wiring == Wiring::SingleSided }
    }

    /// Returns a switch that could carry one more circuit of a pair; `None` if no switch could.
    fn switch_for(&self, i: u32, j: u32) -> Option<usize> {
        let fits = |row: &Vec<[i64; 2]>| {
            let (one, other) = (row.get(i as usize), row.get(j as usize));
            one.zip(other).is_some_and(|(one, other)| {
                if self.single_sided {
                    one[0] > 0 && other[0] > 0
                } else {
                    (one[0] > 0 && other[1] > 0) || (one[1] > 0 && other[0] > 0)
                }
            })
        };
        self.ports.iter().position(fits)
    }
}

/// Returns an upper bound on the number of target circuits that the working ports can carry. The bound is the smaller
/// of two sums: over the switches, the circuits that the ports of a switch can carry; over the pods, half of the ends
/// of target circuits that the ports of a pod can carry.
fn most_by_ports(scenario: &CrossconnectScenario, pairs: &PairCounts) -> u64 {
    let empty: Vec<Vec<Judged>> = vec![Vec::new(); scenario.ocs_count as usize];
    let free = Free::of(scenario, &empty);
    let sides = |rows: &mut dyn Iterator<Item = &[i64; 2]>| -> [u64; 2] {
        rows.fold([0, 0], |sum, row| [0, 1].map(|side| sum[side] + row[side].max(0) as u64))
    };
    let on_switches: u64 = free
        .ports
        .iter()
        .map(|row| {
            let [a, b] = sides(&mut row.iter());
            if free.single_sided { a / 2 } else { a.min(b) }
        })
        .sum();
    let ends: u64 = (0..scenario.pods)
        .map(|pod| {
            let [a, b] = sides(&mut free.ports.iter().filter_map(|row| row.get(pod as usize)));
            let wanted: u64 = pairs
                .iter()
                .map(|(&(i, j), pair)| pair.wanted * (u64::from(i == pod) + u64::from(j == pod)))
                .sum();
            wanted.min(a + b)
        })
        .sum();
    on_switches.min(ends / 2)
}

/// Returns the sums that the entries give.
pub(super) fn totals(
    scenario: &CrossconnectScenario,
    switches: &[Vec<Judged>],
    pairs: &PairCounts,
) -> Totals {
    let count = |test: &dyn Fn(&Judged) -> bool| {
        switches.iter().flatten().filter(|judged| test(judged)).count() as u64
    };
    let wanted: u64 = pairs.values().map(|pair| pair.wanted).sum();
    let short: u64 = pairs.values().map(|pair| pair.wanted.saturating_sub(pair.new)).sum();
    // If all ports work, every target circuit must be set; a separate rule checks this.
    let unmet = if scenario.failed_ports.is_empty() { 0 } else { short };
    let least_unmet = || wanted.saturating_sub(most_by_ports(scenario, pairs));
    let action = |action: Action| count(&move |judged| judged.entry.action == action && !judged.is_forced());
    Totals {
        kept_circuits: action(Action::Keep),
        added_circuits: action(Action::Add),
        removed_circuits: action(Action::Remove),
        lower_bound_removed_circuits: pairs.values().map(|pair| pair.old.saturating_sub(pair.wanted)).sum(),
        forced_removed_circuits: (!scenario.failed_ports.is_empty()).then(|| count(&Judged::is_forced)),
        unmet_circuits: (unmet > 0).then_some(unmet),
        lower_bound_unmet_circuits: (unmet > 0).then(least_unmet),
    }
}

/// Compares the totals of the plan with the sums over its entries.
pub(super) fn compare_totals(
    scenario: &CrossconnectScenario,
    claimed: &Totals,
    exact: &Totals,
    found: &mut Findings,
) {
    for (name, claimed, exact) in [
        ("totals.kept_circuits", claimed.kept_circuits, exact.kept_circuits),
        ("totals.added_circuits", claimed.added_circuits, exact.added_circuits),
        ("totals.removed_circuits", claimed.removed_circuits, exact.removed_circuits),
        (
            "totals.lower_bound_removed_circuits",
            claimed.lower_bound_removed_circuits,
            exact.lower_bound_removed_circuits,
        ),
    ] {
        compare_figure(found, code::TOTALS, name, claimed, exact);
    }
    match (claimed.forced_removed_circuits, exact.forced_removed_circuits) {
        (Some(claimed), Some(exact)) => {
            compare_figure(found, code::TOTALS, "totals.forced_removed_circuits", claimed, exact);
        }
        (None, Some(_)) => found.add(
            code::TOTALS,
            format!(
                "'totals.forced_removed_circuits' is missing, but the number of failed ports is {}",
                scenario.failed_ports.len()
            ),
        ),
        (Some(_), None) => {
            found.add(code::TOTALS, "'totals.forced_removed_circuits' is present, but no port failed");
        }
        (None, None) => {}
    }
    for (name, claimed, exact) in [
        ("totals.unmet_circuits", claimed.unmet_circuits, exact.unmet_circuits),
        (
            "totals.lower_bound_unmet_circuits",
            claimed.lower_bound_unmet_circuits,
            exact.lower_bound_unmet_circuits,
        ),
    ] {
        if claimed != exact {
            let shown = |count: Option<u64>| count.map_or("missing".to_owned(), |count| count.to_string());
            found.add(
                code::TOTALS,
                format!("'{name}' is {}, but the entries give {}", shown(claimed), shown(exact)),
            );
        }
    }
}

/// Adds the remarks on target circuits that are not set.
pub(super) fn unmet(exact: &Totals, pairs: &PairCounts, remarks: &mut Vec<String>) {
    if let (Some(unmet), Some(least)) = (exact.unmet_circuits, exact.lower_bound_unmet_circuits) {
        let wanted: u64 = pairs.values().map(|pair| pair.wanted).sum();
        let word = if unmet == least {
            "counting working ports proves that no plan sets more"
        } else {
            "counting working ports proves only that"
        };
        let rest = if unmet == least { String::new() } else { format!(" {least} cannot be set") };
        remarks.push(format!("{unmet} of {wanted} target circuits are not set: {word}{rest}"));
    }
}

/// Checks that the objective is the number of circuits that the plan removes; removals that failed ports force do not
/// count.
pub(super) fn objective(exact: &Totals, envelope: &Envelope<'_>, found: &mut Findings) {
    if (envelope.value - exact.removed_circuits as f64).abs() > EXACT {
        found.add(
            code::REMOVED,
            format!(
                "the objective is {}, but the entries remove {}, not counting removals forced by failed ports",
                envelope.value,
                counted(exact.removed_circuits, "circuit", "circuits")
            ),
        );
    }
}

/// Returns the metrics that a plan must have. If the batches cannot be followed, the counts of dark circuits are not
/// recomputed, and the counts in the plan are accepted unchecked.
pub(super) fn metrics(
    scenario: &CrossconnectScenario,
    exact: &Totals,
    changes: &Changes,
    dark: Option<&Dark>,
    envelope: &Envelope<'_>,
) -> Vec<Figure> {
    let count = |name: &'static str, count: u64| Figure::exactly(name, code::METRICS, count as f64);
    let mut figures = vec![
        count("kept_circuits", exact.kept_circuits),
        count("added_circuits", exact.added_circuits),
        count("lower_bound_removed_circuits", exact.lower_bound_removed_circuits),
        count("batches", changes.batches.len() as u64),
    ];
    figures.extend(exact.forced_removed_circuits.map(|forced| count("forced_removed_circuits", forced)));
    figures.extend(exact.unmet_circuits.map(|unmet| count("unmet_circuits", unmet)));
    figures.extend(exact.lower_bound_unmet_circuits.map(|least| count("lower_bound_unmet_circuits", least)));
    figures.extend(
        scenario
            .predicted_makespan_s
            .filter(|_| exact.unmet_circuits.is_none())
            .map(|predicted| Figure::exactly("predicted_makespan_s", code::METRICS, predicted)),
    );
    if let Some(dark) = dark {
        figures.push(count("max_dark_circuits", dark.max_circuits));
        figures.push(count("max_dark_per_pod", dark.max_per_pod));
        figures.push(Figure::exactly("least_pair_share", code::METRICS, dark.least_pair_share));
        figures.extend(batches::limits(scenario, dark));
    } else {
        const OF_BATCHES: [&str; 5] = [
            "max_dark_circuits",
            "max_dark_per_pod",
            "least_pair_share",
            "dark_limit_kept",
            "pair_share_kept",
        ];
        let claimed = |name: &'static str| Some((name, *envelope.metrics.get(name)?));
        let claimed = OF_BATCHES.into_iter().filter_map(claimed);
        figures.extend(claimed.map(|(name, value)| Figure::exactly(name, code::METRICS, value)));
    }
    figures
}

/// Returns the plans that the claimed bound covers: all plans, or all plans with the orientation of this plan. Any
/// other text in `bound_covers` is a violation.
pub(super) fn covers(envelope: &Envelope<'_>, found: &mut Findings) -> Covers {
    match envelope.bound_covers {
        None => Covers::All,
        Some(SAME_CIRCUITS) => Covers::SameCircuits,
        Some(SAME_ORIENTATION) => Covers::SameOrientation,
        Some(other) => {
            found.add(
                code::BOUND,
                format!(
                    "the bound covers '{other}', but this kind supports only '{SAME_CIRCUITS}' and '{SAME_ORIENTATION}'"
                ),
            );
            Covers::All
        }
    }
}

/// Lower bounds on the removals by counting the circuits of each pair of pods, and by the prices that the plan states.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedBound {
    /// Bound for all plans.
    pub all: u64,
    /// Bound for the plans in which each pair of pods has as many circuits as in this plan, at least `all`.
    pub same_circuits: u64,
    /// `true` if failed ports reduce the target: other plans may set other target circuits.
    pub is_reduced: bool,
    /// `true` if the prices of the plan prove more than counting.
    pub by_prices: bool,
}

/// Trust in the claimed bound, the verified bound, and the counting bound on all plans.
pub(super) type JudgedBound = (BoundTrust, [VerifiedBound; 2]);

/// Returns the trust in the claimed bound, the verified bound, and the counting bound on all plans. The checker always verifies the counting bound
/// (circuits that each pair of pods must remove); at the exact depth, the checker also solves an integer program. A
/// claimed bound above the removals of some plan is a violation.
pub(super) fn bound(
    counting: CountedBound,
    envelope: &Envelope<'_>,
    prove: impl FnOnce(Covers, u64) -> Proof,
    depth: Depth,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) -> JudgedBound {
    let covers = covers(envelope, found);
    let counted = if covers == Covers::All { counting.all } else { counting.same_circuits };
    let verified = |bound: u64, covers: Covers| {
        let covers = match covers {
            Covers::All => None,
            Covers::SameCircuits => Some(SAME_CIRCUITS),
            Covers::SameOrientation => Some(SAME_ORIENTATION),
        };
        VerifiedBound::of(Sense::Min, envelope.value, bound as f64, covers)
    };
    let on_all = verified(counting.all, Covers::All);
    let by_counting = if counting.same_circuits > counting.all {
        verified(counting.same_circuits, Covers::SameCircuits)
    } else {
        on_all.clone()
    };
    if let Some(claimed) = envelope.bound
        && claimed > envelope.value * (1.0 + EXACT)
    {
        found.add(code::BOUND, format!("the bound {claimed} is above the objective {}", envelope.value));
    }
    let target = envelope.bound.unwrap_or(envelope.value);
    let trust = |confirmed: bool| match envelope.bound {
        None => BoundTrust::None,
        Some(_) if confirmed => BoundTrust::Verified,
        Some(_) => BoundTrust::Claimed,
    };
    if target <= counted as f64 * (1.0 + EXACT) || !found.is_empty() {
        return (trust(target <= counted as f64 * (1.0 + EXACT)), [by_counting, on_all]);
    }
    if !depth.is_exact() {
        if let Some(claimed) = envelope.bound {
            let by = if counting.by_prices {
                "the prices of the plan prove"
            } else {
                "counting pairs of pods proves"
            };
            remarks.push(format!(
                "the bound {claimed} is claimed by {}; {by} {counted} (--exact may prove more)",
                envelope.method
            ));
        }
        return (trust(false), [by_counting, on_all]);
    }
    // The program needs the number of circuits of every pair of pods.
    let proven = if covers == Covers::All && counting.is_reduced { Covers::SameCircuits } else { covers };
    // The number of removed circuits is whole.
    let proof = prove(proven, target.ceil().max(0.0) as u64);
    if let (Some(removed), Some(claimed), Covers::All) = (proof.counterexample, envelope.bound, proven) {
        found.add(
            code::BOUND,
            format!("the bound is {claimed}, but a plan that removes {removed} circuits exists"),
        );
    }
    let confirmed = proven == covers && target <= proof.bound as f64 * (1.0 + EXACT);
    if !confirmed && let Some(claimed) = envelope.bound {
        let within = depth.not_within("the bound").map_or_else(String::new, |words| format!("{words}: "));
        remarks.push(format!(
            "{within}the bound {claimed} is claimed by {}; the checker's own integer program proves only {}",
            envelope.method,
            proof.bound.max(counted)
        ));
    }
    if proof.bound > counted {
        return (trust(confirmed), [verified(proof.bound, proven), on_all]);
    }
    (trust(confirmed), [by_counting, on_all])
}
