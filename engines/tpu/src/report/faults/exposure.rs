//! Hops over each switch, shown before a fault sweep: the routes that need another path if the switch fails.

use super::{about, places};
use crate::analysis::loads::{Loads, levels};
use crate::model::pod::{self, SWITCHES};
use crate::model::topology::Topology;
use crate::plan::Routing;
use crate::report::words;
use lightbay_core::problem::counted;
use lightbay_core::quantity::grouped;
use lightbay_core::report::{Cell, Column, Facts, Matrix, Phrase, Section, Table, Unit};
use std::cmp::Reverse;

/// Maximum number of links of a switch in its details.
const LINKS: usize = 16;

/// Maximum number of ranges of hops in a tally of the switches, so that it fits below the picture.
const TALLIED: usize = 2;

/// Fraction by which the hops over switches may differ and still count as even; shades would exaggerate the difference.
const EVEN: f64 = 0.05;

/// Hops over the links of the switches.
pub(in crate::report) struct Exposure {
    /// Number of routes over each optical arc, by switch: arc and load.
    arcs: Vec<Vec<(usize, u32)>>,
    /// Number of arcs that each counted arc represents.
    each: u64,
    /// Number of hops of all routes.
    all: u64,
    /// Links of each switch.
    links: usize,
    /// Switches that have failed in the scenario; no route uses them.
    failed: Vec<u8>,
    is_class: bool,
}

/// Formats a number of hops, with a blank between groups of digits above 9999.
fn spaced(hops: u64) -> String {
    if hops > 9_999 { grouped(hops) } else { hops.to_string() }
}

impl Exposure {
    pub(in crate::report) fn of(pod: &Topology, routing: &Routing, failed: &[u8]) -> Self {
        let loads = Loads::of(pod, routing);
        let totals = loads.totals();
        let mut arcs = vec![Vec::new(); SWITCHES];
        for (arc, load) in totals.iter().enumerate() {
            let (chip, port) = pod::arc_parts(arc % pod::ARC_CLASSES);
            if let Some(of_switch) = pod::switch(chip, port).and_then(|switch| arcs.get_mut(switch)) {
                of_switch.push((arc, *load));
            }
        }
        let all = totals.iter().map(|load| u64::from(*load)).sum::<u64>() * loads.each;
        let links = pod.nodes() / pod::CHIPS;
        Self { arcs, each: loads.each, all, links, failed: failed.to_vec(), is_class: loads.each > 1 }
    }

    /// Returns the number of hops over a switch.
    fn hops(&self, switch: usize) -> u64 {
        let loads = self.arcs.get(switch).into_iter().flatten();
        loads.map(|(_, load)| u64::from(*load)).sum::<u64>() * self.each
    }

    fn share(&self, switch: usize) -> f64 {
        self.hops(switch) as f64 / self.all.max(1) as f64
    }

    fn is_failed(&self, switch: usize) -> bool {
        self.failed.iter().any(|failed| usize::from(*failed) == switch)
    }

    /// Iterates over the working switches.
    fn working(&self) -> impl Iterator<Item = usize> {
        (0..SWITCHES).filter(|switch| !self.is_failed(*switch))
    }

    /// Returns the hops over a switch relative to those over the least used working switch, rounded: 3 is 3 % more.
    fn above_least(&self, switch: usize) -> i64 {
        let least = self.working().map(|switch| self.hops(switch)).min().unwrap_or(0) as f64;
        if least > 0.0 { ((self.hops(switch) as f64 / least - 1.0) * 100.0).round() as i64 } else { 0 }
    }

    fn cell(&self, switch: usize) -> Cell {
        if self.is_failed(switch) { super::failed_cell() } else { Cell::new(self.above_least(switch)) }
    }

    /// The picture of the faces and the list of the switches, most used first. If `asked`, a run will try each switch.
    pub(in crate::report) fn section(&self, asked: bool) -> Section {
        let mut order: Vec<usize> = self.working().collect();
        order.sort_by_key(|switch| Reverse(self.hops(*switch)));
        let most = order.first().copied().unwrap_or(0);
        let least = order.last().copied().unwrap_or(0);
        let is_even = (self.hops(most) as f64) < self.hops(least) as f64 * (1.0 + EVEN);
        let faces = Matrix {
            unit: Unit::COUNT,
            shaded: !is_even,
            cells: places().map(|switch| self.cell(switch)).collect(),
            about: places().map(|switch| about(switch, self.sentence(switch))).collect(),
            ..super::faces("percent_above_least")
        };
        let mut columns = vec![
            Column::counts("ocs", "switch"),
            Column::words("place", "place"),
            Column::counts("hops", "hops"),
        ];
        // Even shares are nearly the same in all rows.
        let share = || Column::numbers("share", "of all hops", Unit::PERCENT.with_decimals(2));
        columns.extend((!is_even).then(share));
        let mut table = Table::new(["switch", "switches"], columns);
        for switch in order {
            let mut cells =
                vec![Cell::new(switch), Cell::new(super::place(switch)), Cell::new(self.hops(switch))];
            cells.extend((!is_even).then(|| Cell::new(self.share(switch))));
            let row = table.row(cells);
            (row.item, row.sentence) = (Some(switch as u32), self.sentence(switch));
        }
        let count = |switch: usize| spaced(self.hops(switch));
        // The digits of the picture are percentages above the least used switch, also in a pane without a legend.
        let answer = match self.above_least(most) {
            0 => Phrase::new().answer(format!("{} to {}", count(least), count(most))).muted(" hops"),
            above => Phrase::new()
                .muted("up to ")
                .answer(format!("{above} %"))
                .muted(format!(" above {} hops", count(least))),
        };
        let legend = Phrase::new().muted(if asked {
            "no failed switch was tried yet; the run routes around each switch after the routes of the pod"
        } else {
            "no fault sweep was requested: tolerated_ocs_faults=1 or with_faults=true starts one"
        });
        let section = Section::empty("Failed switches")
            .context(Phrase::new().muted("hops over each switch, % above the least used"))
            .answer(answer)
            .legend(legend)
            .usual(Some(most as u32))
            .on_screens("exposure", "", faces);
        let section = if is_even { section.on_screens("levels", "", self.tally()) } else { section };
        section.on_screens("switches", "", table)
    }

    /// Number of switches with each number of hops, the largest number first.
    fn tally(&self) -> Table {
        let columns = vec![Column::words("hops", "hops"), Column::counts("switches", "switches")];
        let mut table = Table::new(["level", "levels"], columns);
        let hops: Vec<u32> =
            self.working().filter_map(|switch| u32::try_from(self.hops(switch)).ok()).collect();
        for level in levels(&hops, TALLIED) {
            let (low, high) = level.load;
            let count = |hops: u32| spaced(u64::from(hops));
            let name = if low == high { count(low) } else { format!("{} to {}", count(low), count(high)) };
            table.row(vec![Cell::new(name), Cell::new(level.electrical + level.optical)]);
        }
        table
    }

    fn sentence(&self, switch: usize) -> Phrase {
        if self.is_failed(switch) {
            return super::named(switch).muted(super::FAILED);
        }
        super::named(switch).text(format!("  {} hops", spaced(self.hops(switch)))).muted(format!(
            " over {}  {:.2} % of all",
            counted(self.links as u64, "link", "links"),
            self.share(switch) * 100.0
        ))
    }

    /// The links of a switch, most loaded first.
    pub(in crate::report) fn detail(&self, switch: usize) -> Section {
        let mut facts = Facts::new();
        facts.add("links", "links", self.links);
        facts.add("hops", "hops", self.hops(switch));
        facts.number("share", "of all hops", Unit::PERCENT.with_decimals(2), self.share(switch));
        let columns = vec![Column::words("link", "most loaded links"), Column::counts("routes", "routes")];
        let mut table = Table::new(["link", "links"], columns);
        let mut arcs = self.arcs.get(switch).cloned().unwrap_or_default();
        arcs.sort_by_key(|(arc, load)| (Reverse(*load), *arc));
        for (arc, load) in arcs.into_iter().take(LINKS) {
            table.row(vec![Cell::new(words::arc_of(arc, self.is_class)), Cell::new(load)]);
        }
        // The sentence about the switch has its figures.
        Section::empty(words::switch(switch))
            .block("figures", "", facts)
            .only_written()
            .block("arcs", "", table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::presets;
    use lightbay_core::report::Body;

    #[test]
    fn every_optical_hop_is_counted_at_one_switch() {
        let scenario = presets::scenario("pt-4x4x8").unwrap();
        let pod = scenario.named_topology().unwrap().unwrap();
        let routing =
            crate::analysis::estimate::routing(&pod, &scenario, lightbay_core::clock::Deadline::NEVER)
                .unwrap()
                .routing;
        let exposure = Exposure::of(&pod, &routing, &[]);
        let over: u64 = (0..SWITCHES).map(|switch| exposure.hops(switch)).sum();
        let loads = Loads::of(&pod, &routing);
        let optical = |(arc, _): &(usize, &u32)| crate::analysis::loads::is_optical(*arc);
        let totals = loads.totals();
        let expected: u64 = totals.iter().enumerate().filter(optical).map(|(_, load)| u64::from(*load)).sum();
        assert_eq!(over, expected * loads.each);
        let section = exposure.section(false);
        let most = section.usual.unwrap() as usize;
        assert!((0..SWITCHES).all(|switch| exposure.hops(switch) <= exposure.hops(most)));
        // A failed switch carries no hops, but it is not the least used one.
        let arcs = [vec![Vec::new()], exposure.arcs[1..].to_vec()].concat();
        let exposure = Exposure { arcs, failed: vec![0], ..exposure };
        assert_eq!(exposure.cell(0), super::super::failed_cell());
        assert_eq!(exposure.working().map(|switch| exposure.above_least(switch)).min(), Some(0));
    }

    #[test]
    fn even_switches_have_no_column_of_shares() {
        let columns = |most: u32| {
            let hops = |switch: usize| vec![(0, if switch == 0 { most } else { 100 })];
            let arcs = (0..SWITCHES).map(hops).collect();
            let exposure = Exposure { arcs, each: 1, all: 4_800, links: 1, failed: vec![], is_class: false };
            let section = exposure.section(false);
            let Body::Table(table) = &section.blocks.last().unwrap().body else { panic!("a table") };
            (section.answer.to_string(), table.columns.len(), table.rows[0].cells.len())
        };
        assert_eq!(columns(103), ("up to 3 % above 100 hops".to_owned(), 3, 3));
        assert_eq!(columns(200), ("up to 100 % above 100 hops".to_owned(), 4, 4));
        assert_eq!(columns(100).0, "100 to 100 hops");
    }
}
