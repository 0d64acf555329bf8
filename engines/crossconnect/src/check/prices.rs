//! Lower bound on the circuits that any plan removes, from the prices that a plan states
//! (docs/methods/crossconnect.md, section 11), in whole numbers.
//!
//! Let `p` be the price of a pair plus the prices of an A and a B port on a switch. In every plan, the circuits of each
//! pair are given, and each port carries at most one circuit (exactly one if its pod needs all ports). So the sum of all
//! prices, each times the circuits of its pair or the ports of its pod, is at most the sum of `p` over the circuits of
//! the plan if the prices of ports that may stay free are at most 0. A circuit that stays counts `p + 1`, a new one
//! `p`; the bound allows each cell its best case.

use super::{Findings, code};
use crate::plan::{BoundPrices, PRICE_UNITS};
use crate::scenario::{CrossconnectScenario, Side, Wiring};
use std::collections::BTreeMap;

/// Ports and circuits that no pinned circuit takes.
struct Unpinned {
    /// `ports[side][pod][switch]`.
    ports: [Vec<Vec<i128>>; 2],
    /// Target circuits by pair of pods, the smaller pod first.
    wanted: BTreeMap<(usize, usize), i128>,
    /// Installed circuits by pair (pod at the A port first), then switch.
    installed: BTreeMap<(usize, usize), Vec<i128>>,
}

impl Unpinned {
    fn of(scenario: &CrossconnectScenario) -> Self {
        let (pods, switches) = (scenario.pods as usize, scenario.ocs_count as usize);
        let table = |side: Side| -> Vec<Vec<i128>> {
            let row = |pod| (0..switches).map(|ocs| i128::from(scenario.ports(side, pod, ocs))).collect();
            (0..pods).map(row).collect()
        };
        let mut free = Self {
            ports: [table(Side::A), table(Side::B)],
            wanted: BTreeMap::new(),
            installed: BTreeMap::new(),
        };
        for (i, row) in scenario.logical_circuits.iter().enumerate() {
            for (j, &circuits) in row.iter().enumerate().skip(i + 1) {
                free.wanted.insert((i, j), i128::from(circuits));
            }
        }
        let listed = scenario.installed.ocs.iter();
        let installed =
            listed.flat_map(|ocs| ocs.cross_connects.iter().map(move |circuit| (ocs.ocs_id, *circuit, 1)));
        let pinned = scenario.pinned.iter().map(|pin| (pin.ocs_id, pin.circuit, -1));
        for (ocs, circuit, count) in installed.chain(pinned) {
            let (a, b, ocs) = (circuit.pod_a as usize, circuit.pod_b as usize, ocs as usize);
            free.installed.entry((a, b)).or_insert_with(|| vec![0; switches])[ocs] += count;
            // A pinned circuit takes its two ports and one of the target circuits of its pair.
            if count < 0 {
                free.ports[0][a][ocs] -= 1;
                free.ports[1][b][ocs] -= 1;
                free.wanted.entry((a.min(b), a.max(b))).and_modify(|wanted| *wanted -= 1);
            }
        }
        free.wanted.retain(|_, circuits| *circuits > 0);
        free
    }

    /// Returns `true` if the target circuits of a pod need all of its ports.
    fn is_full(&self, pod: usize) -> bool {
        let needed = self.wanted.iter().filter(|((i, j), _)| *i == pod || *j == pod);
        let ports = self.ports.iter().flat_map(|side| &side[pod]);
        needed.map(|(_, circuits)| circuits).sum::<i128>() == ports.sum::<i128>()
    }
}

/// Returns a sentence on why the prices cannot prove a bound; `None` if they can.
fn flaw(scenario: &CrossconnectScenario, free: &Unpinned, prices: &BoundPrices) -> Option<String> {
    if scenario.wiring == Wiring::SingleSided || scenario.is_placed() || !scenario.failed_ports.is_empty() {
        let text =
            "prove nothing for ports without sides, for failed ports, or for circuits given port by port";
        return Some(text.to_owned());
    }
    if prices.pairs.len() != free.wanted.len() {
        let (stated, pairs) = (prices.pairs.len(), free.wanted.len());
        return Some(format!("state {stated} pairs of pods, but {pairs} have target circuits"));
    }
    for (name, side, table) in [("ports_a", 0, &prices.ports_a), ("ports_b", 1, &prices.ports_b)] {
        let ports = &free.ports[side];
        let sizes = |table: &[Vec<i64>]| table.iter().map(Vec::len).collect::<Vec<_>>();
        if sizes(table) != ports.iter().map(Vec::len).collect::<Vec<_>>() {
            return Some(format!("must have one row for each pod and one entry for each switch in '{name}'"));
        }
        let paid = |pod: &usize| table[*pod].iter().any(|price| *price > 0);
        if let Some(pod) = (0..ports.len()).filter(paid).find(|pod| !free.is_full(*pod)) {
            let pod = scenario.pod_name(pod);
            return Some(format!(
                "are positive in '{name}' for {pod}, whose target circuits leave ports free"
            ));
        }
    }
    None
}

/// Returns the bound that prices prove for all plans; `None`, with a violation, if they cannot prove any.
pub(super) fn bound(
    scenario: &CrossconnectScenario,
    prices: &BoundPrices,
    found: &mut Findings,
) -> Option<u64> {
    let free = Unpinned::of(scenario);
    if let Some(flaw) = flaw(scenario, &free, prices) {
        found.add(code::BOUND, format!("the prices {flaw}"));
        return None;
    }
    let unit = i128::from(PRICE_UNITS);
    let mut sum = free.installed.values().flatten().sum::<i128>() * unit;
    for (ports, table) in free.ports.iter().zip([&prices.ports_a, &prices.ports_b]) {
        let cells = ports.iter().flatten().zip(table.iter().flatten());
        sum += cells.map(|(ports, price)| ports * i128::from(*price)).sum::<i128>();
    }
    for ((&(i, j), &wanted), &pair) in free.wanted.iter().zip(&prices.pairs) {
        sum += wanted * i128::from(pair);
        for (a, b) in [(i, j), (j, i)] {
            let installed = free.installed.get(&(a, b));
            for ocs in 0..scenario.ocs_count as usize {
                let most = wanted.min(free.ports[0][a][ocs]).min(free.ports[1][b][ocs]).max(0);
                let stays = installed.map_or(0, |installed| installed[ocs]).clamp(0, most);
                let price = i128::from(pair)
                    + i128::from(prices.ports_a[a][ocs])
                    + i128::from(prices.ports_b[b][ocs]);
                sum -= stays * (price + unit).max(0) + (most - stays) * price.max(0);
            }
        }
    }
    // Removed circuits are whole, so the bound is rounded up.
    u64::try_from(sum.div_euclid(unit) + i128::from(sum.rem_euclid(unit) > 0)).ok().or(Some(0))
}
