//! Loads and hops after each failed switch, face by face.

mod exposure;

use super::{OVERVIEW, STATED, flows, words};
use crate::analysis::explained::pod_of;
use crate::analysis::loads::{Loads, flows as flows_over, levels, ratio};
use crate::model::pod::{self, SWITCHES};
use crate::plan::{FaultCase, Routing, TpuResult};
use crate::series;
pub(super) use exposure::Exposure;
use lightbay_core::quantity::number;
use lightbay_core::report::{
    About, Cell, Column, Facts, Matrix, Phrase, RunBeside, Section, Table, Tone, Unavailable, Unit,
};
use std::cmp::Reverse;

/// Names of the views of this section: the loads and the saturations, each as a picture of the faces of a cube.
pub(super) const FORMS: &[&str] = &["max_load", "saturation"];

/// Words about a switch that has failed in the scenario.
const FAILED: &str = "  failed in this scenario; no route uses it";

/// Maximum number of load levels in the table; if there are more different loads, neighbouring loads share a level.
const LEVELS: usize = 8;

/// Figures of the pod with one failed switch.
#[derive(Clone, Debug, Default, PartialEq)]
struct Case {
    /// Number of routes over the most loaded arc; `None` if some pair cannot be reached.
    load: Option<u64>,
    /// Mean number of hops of a route; `None` while a running sweep has reported only the load.
    avg_hops: Option<f64>,
    saturation: Option<f64>,
    unreachable: usize,
    /// VC ratio, if the routes are listed.
    ratio: Option<f64>,
    is_listed: bool,
}

/// A sweep over all switches, complete or in progress.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FaultSweep {
    /// The case of each switch; `None` if the case was not routed yet.
    cases: Vec<Option<Case>>,
    /// Maximum channel load without a further failed switch.
    healthy: Option<u64>,
    /// Switches that have failed in the scenario. They have no cases.
    failed: Vec<u8>,
}

impl FaultSweep {
    /// The sweep of a result; `None` if the result has no sweep.
    pub(super) fn of(result: &TpuResult, failed: &[u8]) -> Option<Self> {
        if result.faults.is_empty() {
            return None;
        }
        let mut cases = vec![None; SWITCHES];
        for case in result.faults.iter().filter(|case| !failed.contains(&case.failed_ocs)) {
            if let Some(place) = cases.get_mut(usize::from(case.failed_ocs)) {
                *place = Some(Case::of(case));
            }
        }
        let healthy = result.routing.as_ref().map(|routing| routing.claims.max_channel_load);
        Some(Self { cases, healthy, failed: failed.to_vec() })
    }

    /// The cases that a run has computed so far; `None` if the run has computed no case.
    pub(super) fn of_run(run: &RunBeside, result: Option<&TpuResult>, failed: &[u8]) -> Option<Self> {
        let points = run.points(series::FAULT_LOAD);
        if points.is_empty() {
            return None;
        }
        let mut cases = vec![None; SWITCHES];
        for point in points {
            let switch = point.count as usize;
            let is_failed = failed.iter().any(|failed| usize::from(*failed) == switch);
            if let Some(place) = cases.get_mut(switch).filter(|_| !is_failed) {
                // A missing load means that some pair has no route.
                let load = (point.value > 0.0).then_some(point.value as u64);
                *place = Some(Case { load, ..Case::default() });
            }
        }
        let stated = || Some(result?.routing.as_ref()?.claims.max_channel_load);
        let healthy = run.last(series::ROUTE_MAX_LOAD).map(|load| load as u64).or_else(stated);
        Some(Self { cases, healthy, failed: failed.to_vec() })
    }

    fn known(&self) -> impl DoubleEndedIterator<Item = (usize, &Case)> {
        self.cases.iter().enumerate().filter_map(|(switch, case)| Some((switch, case.as_ref()?)))
    }

    /// The failed switch with the highest maximum channel load; the first such switch if several are equal.
    fn worst(&self) -> Option<(usize, u64)> {
        let loads = self.known().filter_map(|(switch, case)| Some((switch, case.load?)));
        loads.rev().max_by_key(|(_, load)| *load)
    }

    fn saturations(&self) -> impl Iterator<Item = f64> {
        self.known().filter_map(|(_, case)| case.saturation)
    }

    /// The section; saturations assume `routers`.
    pub(super) fn section(&self, routers: &str) -> Section {
        let known = self.known().count();
        let routed = self.known().filter(|(_, case)| case.load.is_some()).count();
        let of = format!("{routed}/{}", SWITCHES - self.failed.len());
        let is_cut = routed < known;
        let answer =
            if is_cut { Phrase::new().bad(format!("! {of}")).muted(" routed  ") } else { Phrase::new() };
        let answer = match self.worst() {
            Some((_, worst)) => answer.muted("worst ").answer(worst.to_string()),
            None => answer,
        };
        let answer = match self.saturations().reduce(f64::min) {
            Some(lowest) => answer.muted(format!("  lowest saturation {lowest:.2}, {routers}")),
            None => answer,
        };
        let answer = if is_cut { answer } else { answer.muted(format!("  {of} routed")) };
        // Without the routes of the cases, their loads cannot be recounted.
        let claimed = if self.known().all(|(_, case)| case.is_listed) { "" } else { " (claimed)" };
        let context = match self.healthy {
            Some(healthy) => format!("loads{claimed} minus {healthy}, the max load without failures"),
            None => format!("max load with one failed OCS{claimed}"),
        };
        let section = Section::empty("Failed switches")
            .context(Phrase::new().muted(context))
            .answer(answer)
            .usual(self.worst().map(|(switch, _)| switch as u32));
        // Without simulations, the loads are the only view.
        let section = if self.saturations().next().is_some() {
            let section = section.on_screens("max_load", "", self.by_load());
            section.on_screens("saturation", "", self.by_saturation())
        } else {
            section.on_screens("loads", "", self.by_load())
        };
        let section = section
            .on_screens("levels", "", self.levels())
            .on_screens("switches", "", self.table_on_screens())
            .block("cases", "", self.table())
            .only_written();
        if claimed.is_empty() { section } else { section.remark(STATED) }
    }

    /// Matrix of the switches by their positions on the faces of a cube; `cell` creates the cell of each switch.
    fn faces(&self, name: &'static str, unit: Unit, cell: impl Fn(&Case) -> Cell) -> Matrix {
        let case = |switch: usize| self.cases.get(switch).and_then(Option::as_ref);
        let is_failed = |switch: usize| self.failed.iter().any(|failed| usize::from(*failed) == switch);
        let cell = |switch: usize| match case(switch) {
            Some(case) => cell(case),
            None if is_failed(switch) => failed_cell(),
            None => Cell::new("·").tone(Tone::Muted),
        };
        let about = |switch: usize| match case(switch) {
            None if is_failed(switch) => about(switch, named(switch).muted(FAILED)),
            case => about(switch, sentence(switch, case)),
        };
        Matrix {
            unit,
            cells: places().map(cell).collect(),
            about: places().map(about).collect(),
            ..faces(name)
        }
    }

    fn by_load(&self) -> Matrix {
        // Cells show differences without a sign, because there is little space between cells in small panes.
        self.faces("load_above_healthy", Unit::COUNT, |case| match (case.load, self.healthy) {
            (None, _) => Cell::new("!").tone(Tone::Bad),
            (Some(load), Some(healthy)) => Cell::new(load as i64 - healthy as i64),
            (Some(load), None) => Cell::new(load),
        })
    }

    fn by_saturation(&self) -> Matrix {
        let mut faces = self.faces("saturation", Unit::FLITS.with_decimals(2), |case| {
            case.saturation.map_or_else(Cell::none, Cell::new)
        });
        let lowest = self.saturations().reduce(f64::min);
        for cell in faces.cells.iter_mut().filter(|cell| lowest.is_some() && cell.value.as_f64() == lowest) {
            cell.tone = Tone::Bad;
        }
        // A lower saturation is worse, so shading by amount would suggest the opposite.
        faces.shaded = false;
        faces
    }

    /// Table of the load levels of the cases, highest first, with the number of cases of each level.
    fn levels(&self) -> Table {
        let mut loads: Vec<u32> =
            self.known().filter_map(|(_, case)| u32::try_from(case.load?).ok()).collect();
        let levels = levels(&loads, LEVELS);
        loads.sort_unstable();
        let median = loads.len().checked_sub(1).and_then(|last| loads.get(last / 2)).copied();
        let columns = vec![
            Column::words("max_channel_load", "max load"),
            Column::numbers("above_healthy", "above", Unit::PERCENT.with_decimals(1).signed()).priority(1),
            Column::words("holds", "").priority(2),
            Column::counts("cases", "cases"),
        ];
        let mut table = Table::new(["level", "levels"], columns).bar(3);
        for level in levels {
            let (low, high) = level.load;
            let name = if low == high { low.to_string() } else { format!("{low}-{high}") };
            let above = self.healthy.filter(|healthy| *healthy > 0);
            let above = above.map(|healthy| f64::from(high) / healthy as f64 - 1.0);
            let is_median = median.is_some_and(|median| (low..=high).contains(&median));
            table.row(vec![
                Cell::new(name),
                above.map_or_else(Cell::none, Cell::new),
                Cell::new(if is_median { "median" } else { "" }).tone(Tone::Muted),
                Cell::new(level.electrical + level.optical),
            ]);
        }
        if let Some(healthy) = self.healthy {
            let no_fault = Cell::new("no fault").tone(Tone::Muted);
            table.row(vec![Cell::new(healthy.to_string()), Cell::new(""), no_fault, Cell::new("")]);
        }
        table
    }

    /// The cases: first the cases with unreachable pairs, then the other cases by decreasing load.
    fn ordered(&self) -> Vec<(usize, &Case)> {
        let mut order: Vec<(usize, &Case)> = self.known().collect();
        order.sort_by_key(|(switch, case)| (case.load.is_some(), Reverse(case.load), *switch));
        order
    }

    /// Table of all cases without the columns that are empty in every case.
    fn table_on_screens(&self) -> Table {
        let order = self.ordered();
        let mut columns = vec![
            Column::counts("failed_ocs", "switch"),
            Column::words("place", "place"),
            Column::counts("max_channel_load", "max load"),
        ];
        let has_hops = order.iter().any(|(_, case)| case.avg_hops.is_some());
        let is_simulated = self.saturations().next().is_some();
        let is_cut = order.iter().any(|(_, case)| case.unreachable > 0);
        if has_hops {
            columns.push(Column::numbers("avg_hops", "hops", Unit::RATIO));
        }
        if is_simulated {
            columns.push(Column::numbers("saturation", "saturates", Unit::RATIO.with_decimals(2)));
        }
        if is_cut {
            columns.push(Column::counts("unreachable", "no route"));
        }
        let mut table = Table::new(["switch", "switches"], columns);
        let known = |value: Option<f64>| value.map_or_else(Cell::none, Cell::new);
        for (switch, case) in order {
            let load = case.load.map_or_else(Cell::none, Cell::new);
            let mut cells = vec![Cell::new(switch), Cell::new(place(switch)), load];
            if has_hops {
                cells.push(known(case.avg_hops));
            }
            if is_simulated {
                cells.push(known(case.saturation));
            }
            if is_cut {
                let tone = if case.unreachable > 0 { Tone::Bad } else { Tone::Muted };
                cells.push(Cell::new(case.unreachable).tone(tone));
            }
            let row = table.row(cells);
            (row.item, row.sentence) = (Some(switch as u32), sentence(switch, Some(case)));
        }
        table
    }

    /// Table of all cases.
    fn table(&self) -> Table {
        let columns = vec![
            Column::counts("failed_ocs", "switch"),
            Column::words("place", "place"),
            Column::counts("max_channel_load", "max channel load"),
            Column::numbers("avg_hops", "hops", Unit::RATIO),
            Column::numbers(
                "saturation_flits_per_cycle_per_node",
                "saturation",
                Unit::FLITS.with_decimals(2),
            )
            .priority(3),
            Column::counts("unreachable", "unreachable pairs").priority(2),
            Column::words("checked", "checked").priority(1),
        ];
        let mut table = Table::new(["switch", "switches"], columns).overview(OVERVIEW);
        for (switch, case) in self.ordered() {
            let known = |value: Option<f64>| value.map_or_else(Cell::none, Cell::new);
            let row = table.row(vec![
                Cell::new(switch),
                Cell::new(place(switch)),
                case.load.map_or_else(Cell::none, Cell::new),
                known(case.avg_hops),
                known(case.saturation),
                Cell::new(case.unreachable).tone(if case.unreachable > 0 { Tone::Bad } else { Tone::Text }),
                Cell::new(case.is_listed),
            ]);
            (row.item, row.sentence) = (Some(switch as u32), sentence(switch, Some(case)));
        }
        table
    }
}

/// Iterates over the switches in the order of the cells of [`faces`].
fn places() -> impl Iterator<Item = usize> {
    (0..4).flat_map(|v| (0..12).map(move |column| column / 4 * 16 + column % 4 + v * 4))
}

/// Matrix of the switches by their positions on the faces of a cube, without cells.
fn faces(name: &'static str) -> Matrix {
    Matrix {
        name,
        rows: vec![String::new(); 4],
        columns: vec![String::new(); 12],
        groups: (0..3).map(|axis| format!("{}  {}", words::axis(axis), words::face(axis))).collect(),
        shaded: true,
        ..Matrix::default()
    }
}

fn about(switch: usize, sentence: Phrase) -> About {
    About { item: Some(switch as u32), sentence, details: Vec::new() }
}

/// Name of the place of a switch: `X face 1,2`.
fn place(switch: usize) -> String {
    let [u, v] = pod::switch_position(switch);
    format!("{} face {u},{v}", words::axis(pod::switch_dimension(switch)))
}

impl Case {
    fn of(case: &FaultCase) -> Self {
        Self {
            load: case.max_channel_load,
            avg_hops: Some(case.avg_hops),
            saturation: case.saturation_flits_per_cycle_per_node,
            unreachable: case.unreachable.len(),
            ratio: case.routing.as_ref().and_then(|routing| ratio(&routing.claims.vc_hops)),
            is_listed: is_listed(case.routing.as_ref()),
        }
    }
}

/// Returns `true` if a plan lists the routes, so that the checker counted them.
fn is_listed(routing: Option<&Routing>) -> bool {
    routing.is_some_and(|routing| !routing.routes.is_empty())
}

/// Returns the cell of a switch that has failed in the scenario.
fn failed_cell() -> Cell {
    Cell::new("-").tone(Tone::Muted)
}

/// Returns the start of a sentence about a switch.
fn named(switch: usize) -> Phrase {
    Phrase::new().answer(format!("> {}", words::switch(switch)))
}

fn sentence(switch: usize, case: Option<&Case>) -> Phrase {
    let Some(case) = case else { return named(switch).muted("  not routed yet") };
    let phrase = named(switch).answer(" out");
    let mut phrase = match case.load {
        Some(load) => phrase.muted("  max load ").answer(load.to_string()),
        None if case.unreachable > 0 => phrase.bad(format!("  ! {} pairs without a route", case.unreachable)),
        None => phrase.bad("  ! some pair has no route"),
    };
    if let Some(hops) = case.avg_hops {
        phrase = phrase.muted("  avg hops ").text(format!("{hops:.3}"));
    }
    if let Some(ratio) = case.ratio {
        phrase = phrase.muted("  VC ").text(format!("{ratio:.3}"));
    }
    if let Some(rate) = case.saturation {
        phrase = phrase.muted("  saturates at ").text(format!("{rate:.2}"));
    }
    phrase
}

/// Returns the case of one failed switch: unreachable pairs, the most loaded channel and the routes over it.
pub(super) fn detail(result: &TpuResult, switch: u32) -> Result<Section, Unavailable> {
    let case = result.faults.iter().find(|case| u32::from(case.failed_ocs) == switch).ok_or_else(|| {
        Unavailable::absent(format!("switch {switch} was not tried"), "name a switch that was tried")
    })?;
    let mut facts = Facts::new();
    let title = format!("{} out", words::switch(switch as usize));
    let section = Section::empty(title);
    let section = if case.unreachable.is_empty() {
        section
    } else {
        let columns = vec![Column::words("source", "no route from"), Column::words("target", "to")];
        let mut pairs = Table::new(["pair", "pairs"], columns);
        for (from, to) in &case.unreachable {
            pairs.row(vec![Cell::new(words::node(*from)), Cell::new(words::node(*to))]);
        }
        section.block("unreachable", "", pairs)
    };
    let Some(routing) = case.routing.as_ref().filter(|routing| !routing.routes.is_empty()) else {
        facts.add("routes", "routes", Cell::new("not in the plan").tone(Tone::Muted));
        facts.sentence("needs with_faults=true");
        return Ok(section.block("figures", "", facts));
    };
    let (pod, _) = pod_of(&result.topology).map_err(Unavailable::failed)?;
    let loads = Loads::of(&pod, routing);
    let totals = loads.totals();
    let fullest = (0..totals.len()).rev().max_by_key(|arc| totals.get(*arc)).unwrap_or(0);
    let by_vc: Vec<String> = loads
        .vc
        .iter()
        .enumerate()
        .map(|(vc, loads)| format!("vc{vc} {}", loads.get(fullest).copied().unwrap_or(0)))
        .collect();
    let is_class = loads.each > 1;
    facts.add("fullest", "fullest channel", words::arc_of(fullest, is_class));
    facts.sentence(format!("over {}", words::carrier(fullest % pod::ARC_CLASSES)));
    facts.add("load", "load", number(f64::from(totals.get(fullest).copied().unwrap_or(0))));
    facts.sentence(by_vc.join(", "));
    let over = flows_over(&pod, routing, fullest);
    let (source, image) = if is_class {
        (" from cube 0", " of any cube; every other cube has as many routes")
    } else {
        ("", "")
    };
    let mut by_hops: Vec<usize> = Vec::new();
    for route in &routing.routes {
        let hops = route.ports.len();
        by_hops.resize(by_hops.len().max(hops + 1), 0);
        by_hops[hops] += 1;
    }
    let columns = vec![Column::counts("hops", "hops"), Column::counts("routes", "routes")];
    let mut hops = Table::new(["length", "lengths"], columns);
    for (length, count) in by_hops.iter().enumerate().filter(|(_, count)| **count > 0) {
        hops.row(vec![Cell::new(length), Cell::new(*count)]);
    }
    let from = if is_class { ", from one cube" } else { "" };
    Ok(section
        .block("figures", "", facts)
        .block(
            "flows",
            format!("{} routes{source} over this channel{image}", over.len()),
            flows::table(&over),
        )
        .block("hops", format!("All routes by hops{from}"), hops))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::baselines;
    use crate::plan::{Certificates, Claims, TopologyRecord};
    use crate::routing::{RoutingSettings, route};
    use lightbay_core::event::RunId;
    use lightbay_core::report::json;
    use lightbay_core::report::session::RunPoint;
    use lightbay_core::watch::Unwatched;

    fn sweep(loads: &[Option<u64>]) -> FaultSweep {
        let mut cases = vec![None; SWITCHES];
        for (place, load) in cases.iter_mut().zip(loads) {
            *place = Some(Case { load: *load, ..Case::default() });
        }
        FaultSweep { cases, healthy: Some(162), failed: vec![47] }
    }

    #[test]
    fn a_sweep_counts_what_is_routed_and_finds_the_worst() {
        let sweep = sweep(&[Some(164), Some(166), None, Some(165), Some(165), Some(166)]);
        assert_eq!(sweep.worst(), Some((1, 166)), "the first of equals");
        let section = sweep.section("ideal allocator");
        assert_eq!(section.answer.to_string(), "! 5/47 routed  worst 166");
        assert_eq!(section.usual, Some(1));
        let rows = json::section(&section);
        assert_eq!(rows.as_array().map(Vec::len), Some(6), "screens alone show the faces");
        let levels: Vec<String> =
            sweep.levels().rows.iter().map(|row| format!("{:?}", row.cells[3].value)).collect();
        assert_eq!(levels[..3], ["Int(2)", "Int(2)", "Int(1)"]);
        assert_eq!(sweep.levels().rows[1].cells[2].value, "median".into());
    }

    #[test]
    fn a_run_fills_its_sweep_case_by_case() {
        let point = |count: f64, value: f64| RunPoint { at_s: 1.0, count, value };
        let mut run = RunBeside {
            id: RunId(1),
            method: "tons-fast".to_owned(),
            state: "RUNNING",
            is_active: true,
            elapsed_s: 1.0,
            ..RunBeside::default()
        };
        assert_eq!(FaultSweep::of_run(&run, None, &[]), None);
        let tried = vec![point(0.0, 164.0), point(9.0, 166.0), point(10.0, 0.0)];
        run.series.insert(series::FAULT_LOAD.to_owned(), tried);
        run.series.insert(series::ROUTE_MAX_LOAD.to_owned(), vec![point(0.0, 162.0)]);
        let sweep = FaultSweep::of_run(&run, None, &[]).unwrap();
        assert_eq!((sweep.known().count(), sweep.worst(), sweep.healthy), (3, Some((9, 166)), Some(162)));
        assert_eq!(sweep.cases[10].as_ref().unwrap().load, None);
        assert_eq!(sweep.cases[11], None);
    }

    #[test]
    fn the_fullest_channel_of_a_case_is_that_of_the_claims_and_its_routes_are_all_there() {
        let pod = baselines::pdtt([4, 4, 8]).unwrap();
        let settings = RoutingSettings { failed: vec![7], passes: 1, ..RoutingSettings::default() };
        let routing = route(&pod, &settings, &mut Unwatched::default()).unwrap().routing;
        let (stated, listed) = (routing.claims.clone(), routing.routes.len());
        let case = FaultCase {
            failed_ocs: 7,
            max_channel_load: Some(stated.max_channel_load),
            avg_hops: 3.0,
            saturation_flits_per_cycle_per_node: None,
            unreachable: Vec::new(),
            routing: Some(routing),
        };
        let claims = Claims { hop_sum: 1, diameter: 1, avg_hops: 1.0, mcf_lower: 0.01, mcf_upper: 0.02 };
        let result = TpuResult {
            topology: TopologyRecord::of(&pod),
            claims,
            certificates: Certificates::default(),
            routing: None,
            faults: vec![case],
            simulation: None,
        };
        let whole = json::section(&detail(&result, 7).unwrap());
        assert_eq!(whole["figures"]["load"], stated.max_channel_load.to_string());
        assert_eq!(whole["flows"].as_array().map_or(0, Vec::len) as u64, stated.max_channel_load);
        let by_hops = whole["hops"].as_array().unwrap().iter();
        assert_eq!(by_hops.map(|row| row["routes"].as_u64().unwrap()).sum::<u64>(), listed as u64);
        assert!(detail(&result, 8).is_err());
    }
}
