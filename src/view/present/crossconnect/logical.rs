//! Pane 4: installed and target circuits between pods, and their difference; ports in use per pod. The target of a pair
//! can be edited: the demand-difference bound (a lower bound on removed circuits) is updated at once, the plan as soon
//! as it is found.

use super::{ExplainedChange, changed};
use crate::app::action::Command;
use crate::app::drawn::{CellEditing, Drawn, EditTarget, Item, PaneDrawn};
use crate::app::layer::CellEdit;
use crate::app::pane::ItemId;
use crate::view::present::rows::{beside, ends, from, in_sight, line, row};
use crate::view::present::{PaneInput, Title, below, body, frame, frame_in_sight, other_plan, plain};
use lightbay_core::param::ParamValue;
use lightbay_engines::crossconnect::report::words::circuits;
use lightbay_engines::crossconnect::rollout::explained::{ChangeFacts, Degree};
use lightbay_engines::crossconnect::scenario::{CrossconnectScenario, Wiring};
use lightbay_widgets::{
    Column, PaneState as Shown, Piece, Sign, SignCell, SignFlag, SignMap, SignRows, Signs, SignsState, Table,
    TableRow, TableState, Theme, Tone, number, pieces_width,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// Maximum number of pods for editing targets cell by cell.
const EDITED_PODS: usize = 256;

/// Method that finds the plan of an edit by a short local search from the edited plan.
const EDIT_METHOD: &str = "lumos-lns";
/// Maximum time of the search after an edit, seconds.
const EDIT_LIMIT_S: f64 = 1.0;

/// Number of rows below which differences are listed instead of drawn.
const ROWS: u16 = 7;

/// Minimum number of rows below the matrices in which the pairs that change are listed.
const LISTED: u16 = 4;

/// Key of the state for which the data of the pane was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    plan: u64,
    edit: Option<u64>,
    refused: Option<usize>,
    orientation: bool,
}

/// Data of the pane, refilled when plan or edit change.
#[derive(Debug, Default)]
pub struct LogicalPane {
    key: Option<Key>,
    /// Matrices of installed circuits, target circuits, and their difference.
    sides: [SignRows; 3],
    states: [SignsState; 3],
    items: Arc<[Item]>,
    items_of: usize,
    /// Pairs of pods that differ, with the number of circuits gained, the largest difference first.
    differences: Vec<(usize, usize, i64)>,
    /// Total number of circuits that pairs lose, and total number that pairs gain.
    moved: (u64, u64),
    columns: Vec<Column>,
    degrees: Vec<TableRow>,
    table: TableState,
}

/// Returns the position of a pair of pods among all pairs.
const fn pair_index(pods: usize, a: usize, b: usize) -> usize {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    low * (2 * pods - low - 1) / 2 + (high - low - 1)
}

/// Returns the rules for editing target circuits, the pair with the largest change first. `None` if there are too many
/// pods.
pub fn cell_editing(scenario: &CrossconnectScenario, facts: &ChangeFacts) -> Option<CellEditing> {
    let pods = scenario.pods as usize;
    // Circuits that are given port by port have no counts that could be edited.
    if !(2..=EDITED_PODS).contains(&pods) || scenario.is_placed() {
        return None;
    }
    let pairs = || (0..pods).flat_map(move |a| (a + 1..pods).map(move |b| (a, b)));
    let ports = |table: &[Vec<u32>]| {
        table.iter().map(|row| row.iter().map(|&ports| i64::from(ports)).sum::<i64>()).max().unwrap_or(0)
    };
    let cells = (0..pods).flat_map(|a| (0..pods).filter(move |&b| b != a).map(move |b| (a, b)));
    let mut cells: Vec<(ItemId, usize)> =
        cells.map(|(a, b)| ((a * pods + b) as ItemId, pair_index(pods, a, b))).collect();
    let change = |&(a, b): &(usize, usize)| facts.after[a * pods + b].abs_diff(facts.before[a * pods + b]);
    let most = pairs().rev().max_by_key(change);
    if let Some(at) = most.and_then(|(a, b)| cells.iter().position(|cell| cell.0 as usize == a * pods + b)) {
        cells.swap(0, at);
    }
    Some(CellEditing {
        method: EDIT_METHOD,
        target: EditTarget::Knob {
            name: "circuits",
            keys: pairs().map(|(a, b)| format!("{a}-{b}")).collect(),
        },
        values: pairs().map(|(a, b)| i64::from(scenario.logical_circuits[a][b])).collect(),
        range: (0, ports(&scenario.ports_a) + ports(&scenario.ports_b)),
        names: pairs().map(|(a, b)| format!("pods {a} and {b}")).collect(),
        cells,
        from_plan: true,
        variants: vec![("", vec![("time_limit_s".to_owned(), ParamValue::Float(EDIT_LIMIT_S))])],
    })
}

impl LogicalPane {
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        plan: &ExplainedChange,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let facts = &plan.facts;
        let edit = input.app.cell_edit().filter(|edit| edit.pane == input.pane);
        let orientation = input.mode() == "orientation";
        let key = Key {
            plan: plan.key,
            edit: edit.map(|edit| edit.key),
            refused: edit.filter(|edit| !edit.problem.is_empty()).map(|edit| edit.entry),
            orientation,
        };
        if self.key != Some(key) {
            self.key = Some(key);
            self.fill(facts, edit);
            if orientation {
                self.fill_degrees(plan);
            }
        }
        frame(input, &self.title(input, plan), Shown::Ready, area, buf);
        let inner = body(area, u16::from(area.height >= 4));
        if inner.is_empty() {
            return;
        }
        let theme = &input.app.look.theme;
        let pods = facts.pods.max(1);
        let selected = self.selected(input, edit, pods);
        if orientation {
            self.table.selected = selected.map(|(pod, _)| pod as u32);
            (&Table::new(theme, &self.columns, &self.degrees)).render(inner, buf, &mut self.table);
        } else if inner.height < ROWS && edit.is_none() {
            changed::list(theme, facts, &self.differences, None, inner, buf);
        } else {
            let (used, unnamed) = self.draw_sides(input, facts, selected, edit.is_some(), inner, buf, out);
            if !unnamed.is_empty() {
                let mut title = self.title(input, plan);
                title.context.push(Piece::muted(unnamed));
                frame(input, &title, Shown::Ready, area, buf);
            }
            let below = from(inner, used + 1);
            if below.height >= LISTED && edit.is_none() {
                line(theme, &[Piece::muted("pairs that change, most first")], row(below, 0), buf);
                changed::list(theme, facts, &self.differences, selected, from(below, 1), buf);
            }
        }
        let sentence = sentence(input, plan, selected, edit, orientation);
        if area.height >= 4 {
            let state = &self.states[2];
            let rows = (state.row_offset, state.rows_shown, pods);
            let part = in_sight(rows, (state.column_offset, state.columns_shown, pods));
            let part = part.filter(|_| !orientation);
            let mark = part.as_ref().map(|part| Piece::muted(part.to_string()));
            let mark = Vec::from_iter(mark);
            let [long, mark_long] = [&sentence, &mark].map(|words| pieces_width(words, theme.glyphs));
            let fits = long + 2 + mark_long <= inner.width;
            ends(theme, &sentence, if fits { &mark } else { &[] }, below(inner), buf);
            // The title names hidden rows instead of a sentence that is cut.
            if let Some(part) = part.filter(|_| !fits) {
                frame_in_sight(input, &self.title(input, plan), &part.brief(), Shown::Ready, area, buf);
            }
        }
        drawn.items = Arc::clone(&self.items);
        drawn.chosen = selected.map(|(a, b)| (a * pods + b) as ItemId);
        drawn.page = usize::from(inner.height.saturating_sub(1)).max(1);
        (drawn.offset, drawn.column) = if orientation {
            (self.table.offset, 0)
        } else {
            (self.states[2].row_offset, self.states[2].column_offset)
        };
        drawn.sentence = plain(&sentence);
        drawn.edit.clone_from(&plan.editing);
        if input.focused {
            drawn.details = details(plan, &self.differences);
        }
    }

    fn title(&self, input: &PaneInput<'_>, plan: &ExplainedChange) -> Title {
        let mut context = Vec::from_iter(other_plan(input.app, plan.key));
        if input.state.mode > 0 {
            context.push(Piece::muted(format!("  {}", input.mode())));
        }
        let (lost, gained) = self.moved;
        let value = if plan.facts.green_field {
            vec![Piece::answer(gained.to_string()), Piece::muted(" circuits are new")]
        } else if lost == gained {
            vec![Piece::answer(lost.to_string()), Piece::muted(" circuits move")]
        } else {
            vec![
                Piece::new(format!("−{lost}"), Tone::Bad).bold(),
                Piece::new(format!(" +{gained}"), Tone::Good).bold(),
                Piece::muted(" circuits"),
            ]
        };
        Title { context, value }
    }

    fn selected(
        &self,
        input: &PaneInput<'_>,
        edit: Option<&CellEdit>,
        pods: usize,
    ) -> Option<(usize, usize)> {
        let at = |id: ItemId| (id as usize / pods, id as usize % pods);
        let chosen = match edit {
            // During an edit the chosen cell stays, even if the cell of the opposite direction has the same entry.
            Some(edit) => {
                let own = input.state.selected.filter(|id| edit.cells.entry(*id) == Some(edit.entry));
                own.or_else(|| edit.cells.cells.iter().find(|cell| cell.1 == edit.entry).map(|cell| cell.0))
            }
            None => input.state.selected,
        };
        let chosen = chosen.map(at).filter(|(a, b)| *a < pods && *b < pods);
        chosen.or_else(|| self.differences.first().map(|&(a, b, _)| (a, b)))
    }

    fn fill(&mut self, facts: &ChangeFacts, edit: Option<&CellEdit>) {
        let pods = facts.pods;
        let wanted = |a: usize, b: usize| match edit {
            // The digits update immediately while keys are pressed.
            Some(edit) if a != b => edit.values.get(pair_index(pods, a, b)).copied().unwrap_or_default(),
            _ => i64::from(facts.after[a * pods + b]),
        };
        let most = facts.before.iter().chain(&facts.after).copied().max().unwrap_or(1).max(1);
        let count = |value: u32| match value {
            0 => Sign::None,
            value => Sign::Count(value, Theme::heat_level(f64::from(value.min(most)) / f64::from(most))),
        };
        for side in &mut self.sides {
            side.clear();
        }
        self.differences.clear();
        self.moved = (0, 0);
        for a in 0..pods {
            for b in 0..pods {
                let before = facts.before[a * pods + b];
                let after = wanted(a, b);
                let difference = after - i64::from(before);
                let flag = match edit {
                    Some(edit) if a != b => {
                        let entry = pair_index(pods, a, b);
                        if !edit.problem.is_empty() && edit.entry == entry {
                            SignFlag::Refused
                        } else if edit.values.get(entry) != edit.cells.values.get(entry) {
                            SignFlag::Edited
                        } else {
                            SignFlag::Plain
                        }
                    }
                    _ => SignFlag::Plain,
                };
                let amount = difference.unsigned_abs().min(u64::from(u32::MAX)) as u32;
                let change = match difference {
                    0 => Sign::None,
                    1.. => Sign::Add(amount),
                    _ => Sign::Remove(amount),
                };
                let signs = [count(before), count(after.clamp(0, i64::from(u32::MAX)) as u32), change];
                for (at, (side, sign)) in self.sides.iter_mut().zip(signs).enumerate() {
                    let sign = if a == b { Sign::Never } else { sign };
                    let flag = if at == 0 { SignFlag::Plain } else { flag };
                    if sign != Sign::None || flag != SignFlag::Plain {
                        side.push(SignCell { column: b as u32, sign, flag });
                    }
                }
                if a < b && difference != 0 {
                    self.differences.push((a, b, difference));
                    let side = if difference > 0 { &mut self.moved.1 } else { &mut self.moved.0 };
                    *side += difference.unsigned_abs();
                }
            }
            self.sides.iter_mut().for_each(SignRows::end_row);
        }
        self.differences.sort_by_key(|&(a, b, difference)| (std::cmp::Reverse(difference.abs()), a, b));
        if self.items_of != pods {
            self.items_of = pods;
            let cells = (0..pods).flat_map(|a| (0..pods).filter(move |&b| b != a).map(move |b| (a, b)));
            let item = |(a, b): (usize, usize)| Item {
                id: (a * pods + b) as ItemId,
                row: a as u32,
                place: b as f32,
            };
            self.items = cells.map(item).collect();
        }
    }

    fn fill_degrees(&mut self, plan: &ExplainedChange) {
        let facts = &plan.facts;
        let single = plan.scenario().is_some_and(|scenario| scenario.wiring == Wiring::SingleSided);
        self.columns = vec![
            Column::left("pod", 8).grow(),
            Column::right("wanted", 6),
            Column::right(if single { "ports" } else { "out A" }, 9),
            Column::right("was", 5).gap(1).priority(2),
        ];
        if !single {
            self.columns.push(Column::right("in B", 9));
            self.columns.push(Column::right("was", 5).gap(1).priority(2));
        }
        self.columns.push(Column::right("unused", 6).priority(1));
        self.degrees.clear();
        self.degrees.extend((0..facts.pods).map(|pod| {
            let (now, old, ports) = (facts.degrees_after[pod], facts.degrees_before[pod], facts.ports[pod]);
            let wanted: u64 = facts.after[pod * facts.pods..(pod + 1) * facts.pods]
                .iter()
                .map(|&count| u64::from(count))
                .sum();
            let used = |of: fn(&Degree) -> u32| {
                let tone = if of(&now) > of(&ports) { Tone::Bad } else { Tone::Text };
                Piece::new(format!("{}/{}", of(&now), of(&ports)), tone)
            };
            let was = |of: fn(&Degree) -> u32| {
                let tone = if of(&now) == of(&old) { Tone::Muted } else { Tone::Changed };
                Piece::new(of(&old).to_string(), tone)
            };
            let name = plan.scenario().map_or_else(|| pod.to_string(), |scenario| scenario.pod_name(pod));
            let mut cells = vec![
                Piece::text(name),
                Piece::answer(wanted.to_string()),
                used(|degree| degree.out),
                was(|degree| degree.out),
            ];
            if !single {
                cells.push(used(|degree| degree.into));
                cells.push(was(|degree| degree.into));
            }
            let dark = (ports.out + ports.into).saturating_sub(now.out + now.into);
            cells.push(if dark > 0 { Piece::text(dark.to_string()) } else { Piece::new("·", Tone::Faint) });
            TableRow::item(pod as u32, cells)
        }));
    }

    /// Draws the matrices of installed, target and difference side by side as far as they fit; the difference is always
    /// drawn. Returns the number of rows used, and the names of the drawn matrices if they have no names above them.
    #[expect(clippy::too_many_arguments, reason = "the pane draws all of these values")]
    fn draw_sides(
        &mut self,
        input: &PaneInput<'_>,
        facts: &ChangeFacts,
        selected: Option<(usize, usize)>,
        editing: bool,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) -> (u16, String) {
        const NAMES: [&str; 3] = ["before", "wanted", "wanted minus before"];
        const GAP: u16 = 3;
        let theme = &input.app.look.theme;
        let widths_of = |tall: u16, tight: bool| {
            let side = |rows| Signs::new(theme, rows, facts.pods).tight(tight).tall(tall).wished();
            self.sides.each_ref().map(side)
        };
        // Two rows for each pod, if all three matrices then fit.
        let is_roomy = usize::from(area.height) > 2 * facts.pods
            && widths_of(2, true).iter().sum::<u16>() + 2 * GAP <= area.width;
        let tall = if is_roomy { 2 } else { 1 };
        // Numbers of several digits touch each other only if not even the difference has room for gaps.
        let loose = widths_of(tall, false);
        let fits = |widths: &[u16]| widths.iter().map(|width| width + GAP).sum::<u16>() <= area.width + GAP;
        let shown = if is_roomy { 0 } else { (0..2).find(|at| fits(&loose[*at..])).unwrap_or(2) };
        let tight = !fits(&loose[shown..]);
        let widths = if tight { widths_of(tall, true) } else { loose };
        let hides = shown == 2 && (widths[2] > area.width || facts.pods >= usize::from(area.height));
        let map = self.map_place(theme, facts.pods, area).filter(|_| hides);
        let area = map.map_or(area, |(matrix, _)| matrix);
        // The names get a row if all pods still fit below it, or if the pods do not fit even without it.
        let all = facts.pods as u16 + 1;
        let names = u16::from(area.height > all || area.height < all && area.height >= 14);
        let mut rest = area;
        let pods = facts.pods as u32;
        for at in shown..3 {
            let last = at == 2;
            let width = if last { rest.width } else { widths[at] };
            let (place, right) = beside(rest, width, GAP);
            rest = right;
            if names > 0 {
                let tone = if last { Tone::Answer } else { Tone::Muted };
                line(theme, &[Piece::text("   "), Piece::new(NAMES[at], tone)], row(place, 0), buf);
            }
            let place = Rect { y: place.y + names, height: place.height - names, ..place };
            let state = &mut self.states[at];
            state.selected = selected;
            state.row_offset = input.state.offset;
            state.column_offset = input.state.column;
            let signs = Signs::new(theme, &self.sides[at], facts.pods)
                .tight(tight)
                .tall(tall)
                .editing(editing)
                .empty_hits(pods <= 64);
            (&signs).render(place, buf, state);
            let between = state.hits.iter().filter(|hit| hit.id != hit.part);
            out.hits.extend(between.map(|hit| input.hit(hit.rect, hit.id * pods + hit.part, Command::Edit)));
        }
        if let Some((_, place)) = map {
            self.draw_map(theme, facts.pods, place, buf);
        }
        let unnamed = if names > 0 { Vec::new() } else { NAMES[shown..].to_vec() };
        (names + 1 + facts.pods as u16 * tall, unnamed.join(", "))
    }

    /// Returns the places of the matrix and of a small picture of all pairs at its right, if both fit.
    fn map_place(&self, theme: &Theme, pods: usize, area: Rect) -> Option<(Rect, Rect)> {
        /// Minimum number of columns of the matrix next to the picture.
        const LEAST: u16 = 40;
        /// Minimum number of columns of the picture; a smaller matrix is readable without it.
        const WIDE: u16 = 26;
        const GAP: u16 = 3;
        let (width, height) = self.map(theme, pods).size();
        let fits = u32::from(width) + u32::from(GAP + LEAST) <= u32::from(area.width) && height < area.height;
        (width >= WIDE && fits).then(|| beside(area, area.width - width - GAP, GAP))
    }

    fn map<'a>(&'a self, theme: &'a Theme, pods: usize) -> SignMap<'a> {
        SignMap::new(theme, &self.sides[2], pods.min(usize::from(u16::MAX)) as u16)
    }

    /// Draws the difference of all pairs as a small picture, with the part that the matrix shows and its cursor.
    fn draw_map(&self, theme: &Theme, pods: usize, place: Rect, buf: &mut Buffer) {
        let more = Piece::new(format!("{} more", theme.glyphs.square), Tone::Good);
        let fewer = Piece::new(format!("  {} fewer", theme.glyphs.square), Tone::Bad);
        line(theme, &[Piece::muted("all pairs: "), more, fewer], row(place, 0), buf);
        let (map, place) = (self.map(theme, pods), from(place, 1));
        map.render(place, buf);
        if !theme.shades() {
            return;
        }
        let state = &self.states[2];
        // A row of the screen may show two rows of cells.
        let per = pods.div_ceil(usize::from(map.size().1).max(1));
        let [rows, columns] = [
            (state.row_offset, state.row_offset + state.rows_shown),
            (state.column_offset, state.column_offset + state.columns_shown),
        ]
        .map(|(from, to)| from..to.min(pods));
        let at = |row: usize, column: usize| (place.x + column as u16, place.y + (row / per) as u16);
        let seen = rows.step_by(per).flat_map(|row| columns.clone().map(move |column| (row, column)));
        for cell in seen.map(|(row, column)| at(row, column)) {
            if Some(buf[cell].bg) == theme.track().bg {
                buf[cell].bg = theme.style(Tone::Rule).fg.unwrap_or_default();
            }
        }
        if let Some((row, column)) = state.selected {
            buf[at(row, column)].set_style(theme.cursor());
        }
    }
}

fn sentence(
    input: &PaneInput<'_>,
    plan: &ExplainedChange,
    selected: Option<(usize, usize)>,
    edit: Option<&CellEdit>,
    orientation: bool,
) -> Vec<Piece> {
    let facts = &plan.facts;
    let pods = facts.pods;
    let Some((a, b)) = selected else {
        return vec![Piece::muted("target and installed circuits are the same")];
    };
    if let Some(edit) = edit {
        return edited(input, facts, (a, b), edit);
    }
    let name =
        |pod: usize| plan.scenario().map_or_else(|| pod.to_string(), |scenario| scenario.pod_name(pod));
    if orientation {
        let (now, old) = (facts.degrees_after[a], facts.degrees_before[a]);
        return vec![
            Piece::answer(format!("> {}", name(a))),
            Piece::muted("  A ports "),
            Piece::text(format!("{} ", now.out)),
            Piece::muted(format!("(was {})  B ports ", old.out)),
            Piece::text(format!("{} ", now.into)),
            Piece::muted(format!("(was {})", old.into)),
        ];
    }
    let at = a * pods + b;
    let (before, after) = (facts.before[at], facts.after[at]);
    let mut pieces = vec![Piece::answer(format!("> {} and {}", name(a), name(b)))];
    // The difference stays on a narrow pane.
    match i64::from(after) - i64::from(before) {
        0 => {}
        difference @ 1.. => pieces.push(Piece::new(format!("  +{difference}"), Tone::Good).bold()),
        difference => pieces.push(Piece::new(format!("  −{}", -difference), Tone::Bad).bold()),
    }
    pieces.extend([
        Piece::muted("  before "),
        Piece::text(before.to_string()),
        Piece::muted("  wanted "),
        Piece::answer(after.to_string()),
    ]);
    if plan.editing.is_some() {
        pieces.push(Piece::muted("  e edits the target"));
    } else {
        pieces.push(Piece::muted(format!("  :set circuits={a}-{b}:{after} changes the target")));
    }
    pieces
}

/// Returns the edit in words: the target, the demand-difference bound before and after the edit, and the objective of
/// the plan found.
fn edited(input: &PaneInput<'_>, facts: &ChangeFacts, (a, b): (usize, usize), edit: &CellEdit) -> Vec<Piece> {
    let pods = facts.pods;
    let value =
        |values: &[i64], a: usize, b: usize| values.get(pair_index(pods, a, b)).copied().unwrap_or_default();
    let degree = |pod: usize| -> i64 {
        (0..pods).filter(|&other| other != pod).map(|other| value(&edit.values, pod, other)).sum()
    };
    let ports = |pod: usize| i64::from(facts.ports[pod].out) + i64::from(facts.ports[pod].into);
    let above = [a, b].into_iter().find(|pod| degree(*pod) > ports(*pod));
    let above = above.map(|pod| format!("pod {pod} needs {} of {} ports", degree(pod), ports(pod)));
    if !edit.problem.is_empty() {
        let remedy = |words| format!("{words}: press - or raise ports_a");
        let words = above.map_or_else(|| edit.problem.clone(), remedy);
        return vec![Piece::new(format!("! {words}"), Tone::Bad)];
    }
    let (old, new) = (value(&edit.cells.values, a, b), value(&edit.values, a, b));
    let mut pieces = vec![Piece::answer(format!("> pods {a} and {b}")), Piece::muted("  wanted ")];
    if old != new {
        pieces.push(Piece::text(format!("{old} → ")));
    }
    pieces.push(Piece::new(new.to_string(), Tone::Changed).bold());
    let bound = |values: &[i64]| facts.counting_bound(|a, b| value(values, a, b));
    let (was, now) = (bound(&edit.cells.values), bound(&edit.values));
    pieces.push(Piece::muted("  demand-difference bound "));
    if was != now {
        pieces.push(Piece::text(format!("{was} → ")));
    }
    pieces.push(Piece::answer(now.to_string()));
    pieces.extend(above.map(|words| Piece::new(format!("  {words}"), Tone::Bad)));
    if let Some(plan) = edit.plan().filter(|_| edit.is_changed()) {
        pieces.push(Piece::muted("  removed "));
        pieces.push(Piece::answer(number::fixed(plan.0.header().objective.value, 0)));
    }
    if edit.waiting {
        pieces.push(Piece::muted("  …"));
    }
    if !input.app.cell_edit().is_some_and(CellEdit::is_changed) {
        pieces.push(Piece::muted("  + - or digits change it"));
    }
    pieces
}

fn details(plan: &ExplainedChange, differences: &[(usize, usize, i64)]) -> Vec<String> {
    let facts = &plan.facts;
    let mut lines = vec![format!("{} of pods whose target and installed circuits differ", {
        let count = differences.len();
        if count == 1 { "1 pair".to_owned() } else { format!("{count} pairs") }
    })];
    lines.extend(differences.iter().take(500).map(|&(a, b, difference)| {
        let at = a * facts.pods + b;
        format!(
            "  pods {a} and {b}: {} before, {} target, {difference:+}",
            circuits(facts.before[at].into()),
            facts.after[at]
        )
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_numbered_row_by_row() {
        let mut at = 0;
        for a in 0..7 {
            for b in a + 1..7 {
                assert_eq!((pair_index(7, a, b), pair_index(7, b, a)), (at, at));
                at += 1;
            }
        }
    }
}
