//! Pane 5: what remains if one switch fails, face by face, and how the cases are spread.

use super::case_routes::CaseRoutes;
use super::{Explained, awaited, words};
use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit, Item, PaneDrawn};
use crate::app::runs::Run;
use crate::view::present::rows::{beside, ends, from, line, row};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_core::param::ParamValue;
use lightbay_engines::tpu::analysis::loads::{Level, levels};
use lightbay_engines::tpu::model::pod::SWITCHES;
use lightbay_engines::tpu::series;
use lightbay_widgets::{
    Label, Meter, PaneState as Shown, Part, Piece, Theme, Tile, TileFlag, Tiles, TilesState, Tone, number,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// One failed switch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// Routes over the fullest arc; `None` if some pair cannot be reached.
    pub load: Option<u64>,
    /// Mean hops, where the whole case is known.
    pub avg_hops: Option<f64>,
    /// Flits per cycle and node at which the pod saturates, if it was simulated.
    pub saturation: Option<f64>,
    /// Pairs that cannot be reached.
    pub unreachable: Vec<(u32, u32)>,
    /// How even the virtual channels are, where the routes are known.
    pub ratio: Option<f64>,
}

/// A sweep over all switches, complete or on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// By switch; `None` for what was not routed yet.
    pub cases: Vec<Option<Case>>,
    /// The fullest arc without any fault.
    pub healthy: Option<u64>,
    /// Whether the plan holds the routes of the cases.
    pub with_routes: bool,
}

impl Sweep {
    /// The sweep of a plan; `None` if it has none.
    pub fn of_plan(plan: &Explained) -> Option<Self> {
        let facts = &plan.facts;
        if facts.faults.is_empty() {
            return None;
        }
        let mut cases = vec![None; SWITCHES];
        for (case, ratio) in facts.faults.iter().zip(plan.fault_ratios.iter().chain(std::iter::repeat(&None)))
        {
            if let Some(slot) = cases.get_mut(usize::from(case.failed_ocs)) {
                *slot = Some(Case {
                    load: case.max_channel_load,
                    avg_hops: Some(case.avg_hops),
                    saturation: case.saturation_flits_per_cycle_per_node,
                    unreachable: case.unreachable.clone(),
                    ratio: *ratio,
                });
            }
        }
        let healthy = facts.most_routes();
        Some(Self { cases, healthy, with_routes: plan.fault_ratios.iter().any(Option::is_some) })
    }

    /// What a run has routed so far: points of its series by switch.
    pub fn of_run(run: &Run, healthy: Option<u64>) -> Option<Self> {
        let series = run.named.get(series::FAULT_LOAD)?;
        let mut cases = vec![None; SWITCHES];
        for point in series.points() {
            if let Some(slot) = cases.get_mut(point.count as usize) {
                // A load of nothing says that some pair has no route.
                let load = (point.value > 0.0).then_some(point.value as u64);
                *slot = Some(Case { load, ..Case::default() });
            }
        }
        let last = run.named.get(series::ROUTE_MAX_LOAD).and_then(crate::app::series::Series::last);
        let healthy = last.map(|point| point.value as u64).or(healthy);
        Some(Self { cases, healthy, with_routes: false })
    }

    /// Cases in which every pair has a route, and cases that are known.
    pub fn routed(&self) -> (usize, usize) {
        let known = self.cases.iter().flatten();
        (known.clone().filter(|case| case.load.is_some()).count(), known.count())
    }

    /// The fullest arc of any case, with its switch.
    pub fn worst(&self) -> Option<(usize, u64)> {
        let loads =
            self.cases.iter().enumerate().filter_map(|(switch, case)| Some((switch, case.as_ref()?.load?)));
        loads.rev().max_by_key(|(_, load)| *load)
    }

    /// The cases by load, fullest first.
    pub fn tally(&self, most: usize) -> Vec<Level> {
        let loads: Vec<u32> =
            self.cases.iter().flatten().filter_map(|case| u32::try_from(case.load?).ok()).collect();
        levels(&loads, most)
    }

    /// The switch that a person chose, else that of the fullest arc.
    pub fn chosen(&self, input: &PaneInput<'_>) -> Option<usize> {
        let selected = input.state.selected.map(|id| id as usize).filter(|switch| *switch < SWITCHES);
        selected.or_else(|| self.worst().map(|worst| worst.0))
    }

    /// Saturation throughputs by switch, of the cases that were simulated.
    pub fn saturations(&self) -> impl Iterator<Item = (usize, f64)> {
        self.cases.iter().enumerate().filter_map(|(switch, case)| Some((switch, case.as_ref()?.saturation?)))
    }

    fn median(&self) -> Option<u64> {
        let mut loads: Vec<u64> = self.cases.iter().flatten().filter_map(|case| case.load).collect();
        loads.sort_unstable();
        loads.get(loads.len().checked_sub(1)? / 2).copied()
    }
}

/// Whether the run that works now ends with a sweep.
fn asked_for(input: &PaneInput<'_>) -> bool {
    let Some(run) = input.app.runs.newest().into_iter().find(|run| run.state.is_active()) else {
        return false;
    };
    let given = run.started.as_ref().is_some_and(|started| started.parameters.bool("with_faults"));
    let tolerated = input.app.work.as_ref().and_then(|work| work.now.scenario.knob("tolerated_ocs_faults"));
    given || tolerated.and_then(|faults| faults.as_i64()).is_some_and(|faults| faults > 0)
}

/// Whether a solve with the parameters as they are now ends with a sweep.
fn wanted_now(input: &PaneInput<'_>) -> bool {
    let app = input.app;
    let on = |name: &str| app.setting(name).is_some_and(|value| value == ParamValue::Bool(true));
    let tolerated = app.setting("tolerated_ocs_faults").and_then(|faults| faults.as_i64());
    on("with_faults") || on("fault_saturation") || tolerated.is_some_and(|faults| faults > 0)
}

/// Data of the pane.
#[derive(Debug, Default)]
pub struct FaultPane {
    tiles: Vec<Tile>,
    rows: Vec<Label>,
    groups: Vec<Vec<Piece>>,
    items: Arc<[Item]>,
    state: TilesState,
}

impl FaultPane {
    #[expect(clippy::too_many_arguments, reason = "a pane is drawn from all that it shows")]
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        sweep: Option<&Sweep>,
        routes: Option<&CaseRoutes>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let Some(sweep) = sweep else {
            let awaited = asked_for(input).then(|| awaited(input, "the sweep over 48 switches")).flatten();
            let state = match &awaited {
                Some(awaited) => Shown::Waiting(awaited),
                None if wanted_now(input) => Shown::Empty {
                    what: "the plan has no fault sweep",
                    remedy: "it is asked for now, and was not, or its run was stopped before it; press r",
                },
                None => Shown::Empty {
                    what: "no fault sweep was asked for",
                    remedy: "set tolerated_ocs_faults=1 or with_faults=true and press r",
                },
            };
            return frame(input, &Title { context: Vec::new(), value: Vec::new() }, state, area, buf);
        };
        let theme = &input.app.look.theme;
        let (routed, known) = sweep.routed();
        let mut value = vec![
            if routed < known {
                Piece::new(format!("! {routed}/{SWITCHES}"), Tone::Bad).bold()
            } else {
                Piece::answer(format!("{routed}/{SWITCHES}"))
            },
            Piece::muted(if area.width >= 50 { " routed" } else { "" }),
        ];
        let saturation = input.mode() == "saturation";
        let lowest = sweep.saturations().map(|(_, rate)| rate).reduce(f64::min);
        if let Some(lowest) = lowest.filter(|_| saturation) {
            value.extend([Piece::muted("  lowest "), Piece::answer(number::fixed(lowest, 2))]);
        } else if let Some((_, worst)) = sweep.worst().filter(|_| !saturation) {
            value.extend([Piece::muted("  worst "), Piece::answer(number::count(worst))]);
        }
        let context = match (saturation, sweep.healthy) {
            (true, _) => "saturation with one OCS out".to_owned(),
            (false, Some(healthy)) => format!("max load above {healthy}"),
            (false, None) => "max load with one OCS out".to_owned(),
        };
        // Without the routes of the cases nobody can count their loads again.
        let counted = sweep.with_routes || area.width < 72;
        let context = if counted { context } else { format!("{context}, claimed") };
        let context = if area.width >= 50 { context } else { String::new() };
        frame(input, &Title { context: vec![Piece::muted(context)], value }, Shown::Ready, area, buf);
        let inner = body(area, u16::from(area.height >= 7));
        if inner.is_empty() {
            return;
        }
        self.fill(sweep, saturation);
        let selected = sweep.chosen(input);
        self.state.selected = selected.map(|switch| (switch % 16 / 4, switch / 16 * 4 + switch % 4));
        let tiles = Tiles::new(theme, &self.rows, 12, &self.tiles);
        let tiles = tiles.groups(&self.groups).headings(inner.height > 4);
        let height = (4 + tiles.heading_rows()).min(inner.height);
        let (left, right) = if inner.width >= 64 && inner.height < 11 {
            beside(inner, 42, 3)
        } else {
            (inner, from(inner, height + 1))
        };
        let faces = Rect { height, ..left };
        (&tiles).render(faces, buf, &mut self.state);
        Self::draw_tally(input, sweep, right, buf);
        let pane = input.pane;
        out.hits.extend(self.state.hits.iter().map(|hit| Hit {
            rect: hit.rect,
            click: Action::Select { pane, item: Some(hit.part / 4 * 16 + hit.part % 4 + hit.id * 4) },
            open: Some(Action::Do(Command::Inspect)),
        }));
        let sentence = Self::sentence(sweep, selected);
        if area.height >= 7 {
            line(theme, &sentence, below(inner), buf);
        }
        drawn.items = Arc::clone(&self.items);
        drawn.page = 4;
        drawn.sentence = plain(&sentence);
        drawn.details = Self::details(sweep, selected, routes);
    }

    fn fill(&mut self, sweep: &Sweep, saturation: bool) {
        if self.items.is_empty() {
            let mut items: Vec<Item> = (0..SWITCHES as u32)
                .map(|id| Item { id, row: id % 16 / 4, place: (id / 16 * 4 + id % 4) as f32 })
                .collect();
            items.sort_by(|a, b| a.row.cmp(&b.row).then(a.place.total_cmp(&b.place)));
            self.items = items.into();
            self.rows.extend((0..4).map(|_| Label::from("")));
            self.groups.extend((0..3).map(|dimension| {
                let axes = words::face(dimension);
                vec![Piece::answer(words::axis(dimension)), Piece::muted(format!("  {axes}"))]
            }));
        }
        let loads = || sweep.cases.iter().flatten().filter_map(|case| case.load);
        let low = sweep.healthy.into_iter().chain(loads()).min().unwrap_or(0);
        let high = loads().max().unwrap_or(low);
        let span = (high - low).max(1) as f64;
        let (least, most) =
            sweep.saturations().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, rate)| {
                (low.min(rate), high.max(rate))
            });
        self.tiles.clear();
        for v in 0..4 {
            for column in 0..12 {
                let switch = column / 4 * 16 + column % 4 + v * 4;
                let case = sweep.cases.get(switch).and_then(Option::as_ref);
                self.tiles.push(match case {
                    None => Tile { text: "·".into(), tone: Tone::Rule, flag: TileFlag::Plain },
                    Some(case) => {
                        let heat = |load: u64| Tone::Heat(Theme::heat_level((load - low) as f64 / span));
                        let text = match (saturation, case.saturation, case.load) {
                            (true, Some(rate), _) => number::fixed(rate, 2).to_string(),
                            (true, None, _) => "-".to_owned(),
                            (false, _, None) => "!".to_owned(),
                            (false, _, Some(load)) => match sweep.healthy {
                                Some(healthy) => number::signed(load as f64 - healthy as f64, 0).to_string(),
                                None => load.to_string(),
                            },
                        };
                        let flag = if case.load.is_none() { TileFlag::Bad } else { TileFlag::Plain };
                        let tone = match case.saturation.filter(|_| saturation) {
                            // The shade is of the number in the cell: the lower the hotter.
                            Some(rate) => {
                                Tone::Heat(Theme::heat_level((most - rate) / (most - least).max(1e-9)))
                            }
                            None if saturation => Tone::Rule,
                            None => case.load.filter(|load| *load >= low).map_or(Tone::Bad, heat),
                        };
                        Tile { text: text.into(), tone, flag }
                    }
                });
            }
        }
    }

    fn draw_tally(input: &PaneInput<'_>, sweep: &Sweep, area: Rect, buf: &mut Buffer) {
        let theme = &input.app.look.theme;
        if area.is_empty() {
            return;
        }
        let spare = u16::from(sweep.healthy.is_some() && area.height >= 2);
        let tally = sweep.tally(usize::from(area.height - spare).clamp(1, 8));
        let most = tally.iter().map(|level| level.electrical + level.optical).max().unwrap_or(1);
        let median = sweep.median();
        for (at, level) in tally.iter().enumerate() {
            let strip = row(area, at as u16);
            let name = match level.load {
                (low, high) if low == high => low.to_string(),
                (low, high) => format!("{low}-{high}"),
            };
            let count = level.electrical + level.optical;
            let (label, rest) = beside(strip, 10, 1);
            line(theme, &[Piece::text(format!("{name:>9}"))], label, buf);
            let (bar, words) = beside(rest, rest.width.saturating_sub(20), 1);
            (&Meter::new(theme, &[Part::new(count as f64, Tone::Muted, '#')], most as f64)).render(bar, buf);
            let holds = median
                .is_some_and(|median| (u64::from(level.load.0)..=u64::from(level.load.1)).contains(&median));
            let mut right = Vec::new();
            if let Some(healthy) = sweep.healthy.filter(|healthy| *healthy > 0) {
                let share = f64::from(level.load.1) / healthy as f64 - 1.0;
                right.push(Piece::muted(format!("{} %", number::signed(share * 100.0, 1))));
            }
            if holds {
                right.insert(0, Piece::muted(if right.is_empty() { "median" } else { "median " }));
            }
            ends(theme, &[Piece::text(count.to_string())], &right, words, buf);
        }
        if let Some(healthy) = sweep.healthy.filter(|_| spare > 0) {
            let words = [Piece::text(format!("{healthy:>9}  ")), Piece::muted("no fault")];
            line(theme, &words, row(area, tally.len() as u16), buf);
        }
    }

    fn sentence(sweep: &Sweep, selected: Option<usize>) -> Vec<Piece> {
        let Some(switch) = selected else { return vec![Piece::muted("no case routed yet")] };
        let mut pieces = vec![Piece::answer(format!("> {} out", words::switch(switch)))];
        match sweep.cases.get(switch).and_then(Option::as_ref) {
            None => pieces.push(Piece::muted("  not routed yet")),
            Some(case) => {
                match case.load {
                    Some(load) => {
                        pieces.push(Piece::muted("  max load "));
                        pieces.push(Piece::answer(number::count(load)));
                    }
                    None => pieces.push(
                        Piece::new(
                            format!("  ! {} pairs without a route", case.unreachable.len()),
                            Tone::Bad,
                        )
                        .bold(),
                    ),
                }
                if let Some(hops) = case.avg_hops {
                    pieces.push(Piece::muted("  avg hops "));
                    pieces.push(Piece::text(number::fixed(hops, 3)));
                }
                if let Some(ratio) = case.ratio {
                    pieces.push(Piece::muted("  VC "));
                    pieces.push(Piece::text(number::fixed(ratio, 3)));
                }
                if let Some(rate) = case.saturation {
                    pieces.push(Piece::muted("  saturates at "));
                    pieces.push(Piece::text(number::fixed(rate, 2)));
                }
            }
        }
        pieces
    }

    fn details(sweep: &Sweep, selected: Option<usize>, routes: Option<&CaseRoutes>) -> Vec<String> {
        let Some(switch) = selected else { return Vec::new() };
        let mut lines = vec![plain(&Self::sentence(sweep, selected))];
        if let Some(case) = sweep.cases.get(switch).and_then(Option::as_ref) {
            let pair = |(from, to): &(u32, u32)| {
                format!("  no route from {} to {}", words::node(*from), words::node(*to))
            };
            lines.extend(case.unreachable.iter().map(pair));
            lines.push(String::new());
            match routes {
                Some(routes) => lines.extend(routes.lines()),
                None if sweep.with_routes && case.load.is_some() => {
                    lines.push("counting the routes of this case; close and open again in a moment".to_owned());
                }
                None => lines.push(
                    "the routes of this case are not in the plan; set with_faults=true and press r to have them"
                        .to_owned(),
                ),
            }
        }
        lines.push(String::new());
        lines.push("all cases, by load:".to_owned());
        let mut cases: Vec<(usize, &Case)> = sweep
            .cases
            .iter()
            .enumerate()
            .filter_map(|(switch, case)| Some((switch, case.as_ref()?)))
            .collect();
        cases.sort_by_key(|(switch, case)| (std::cmp::Reverse(case.load.unwrap_or(u64::MAX)), *switch));
        lines.extend(cases.into_iter().map(|(switch, case)| {
            let load = case.load.map_or_else(|| "not all pairs".to_owned(), |load| load.to_string());
            let hops = case.avg_hops.map_or_else(String::new, |hops| format!("  avg hops {hops:.3}"));
            format!("  {:<12} {load}{hops}", words::switch(switch))
        }));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::runs::RunState;
    use crate::app::series::Point;
    use lightbay_core::event::RunId;

    fn sweep(loads: &[Option<u64>]) -> Sweep {
        let mut cases = vec![None; SWITCHES];
        for (slot, load) in cases.iter_mut().zip(loads) {
            *slot = Some(Case { load: *load, ..Case::default() });
        }
        Sweep { cases, healthy: Some(162), with_routes: false }
    }

    #[test]
    fn a_sweep_counts_what_is_routed_and_finds_the_worst() {
        let sweep = sweep(&[Some(164), Some(166), None, Some(165), Some(165), Some(166)]);
        assert_eq!(sweep.routed(), (5, 6));
        assert_eq!(sweep.worst(), Some((1, 166)), "the first of equals");
        assert_eq!(sweep.median(), Some(165));
        let tally: Vec<((u32, u32), usize)> =
            sweep.tally(8).iter().map(|level| (level.load, level.electrical + level.optical)).collect();
        assert_eq!(tally, [((166, 166), 2), ((165, 165), 2), ((164, 164), 1)]);
    }

    #[test]
    fn a_run_fills_its_sweep_case_by_case() {
        let mut run = Run::new(RunId(1), "tons-fast", "sha", RunState::Running);
        assert_eq!(Sweep::of_run(&run, None), None);
        for (switch, load) in [(0.0, 164.0), (9.0, 166.0), (10.0, 0.0)] {
            let series = run.named.entry(series::FAULT_LOAD.to_owned()).or_default();
            series.push(Point { at_s: 1.0, count: switch, value: load });
        }
        let sweep = Sweep::of_run(&run, Some(162)).unwrap();
        assert_eq!((sweep.routed(), sweep.worst(), sweep.healthy), ((2, 3), Some((9, 166)), Some(162)));
        assert_eq!(sweep.cases[10].as_ref().unwrap().load, None);
        assert_eq!(sweep.cases[11], None);
    }
}
