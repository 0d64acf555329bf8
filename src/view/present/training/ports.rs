//! Pane 3: circuits from pod to pod, free ports of each pod, and the use of each link. Cells can be edited.

use super::explained::Explained;
use super::{Choice, JobFacts, links, pieces};
use crate::app::action::Command;
use crate::app::drawn::{CellEditing, Drawn, EditTarget, Item, PaneDrawn};
use crate::app::pane::ItemId;
use crate::view::present::rows::{ends, in_sight, wrapped};
use crate::view::present::{PaneInput, Title, below, body, frame, labels, plain};
use lightbay_core::param::ParamValue;
use lightbay_engines::training::scenario::instance::LinkKind;
use lightbay_widgets::{
    CellFlag, Column, Label, Matrix, MatrixCell, MatrixState, PaneState as Shown, Piece, RowSum, Sentence,
    Table, TableRow, TableState, Theme, Tone, number,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use std::sync::Arc;

/// Factor of the row in an item's id: the items are cells, with the id row times this factor plus column.
const STRIDE: ItemId = 4096;

/// Width from which on the table of links has full headings and all columns.
const WIDE: u16 = 68;

/// Key of the state for which the data of the pane was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Key {
    plan: u64,
    baseline: Option<u64>,
    mode: u8,
    /// `true` during an edit; edits change the cells, so the cells are filled again when an edit ends.
    editing: bool,
}

/// Data of the pane, refilled when plan, baseline or form change.
#[derive(Debug, Default)]
pub struct PortsPane {
    key: Option<Key>,
    rows: Vec<Label>,
    columns: Vec<Label>,
    cells: Vec<MatrixCell>,
    /// Index of the link of each cell.
    link_of: Vec<Option<u32>>,
    sums: Vec<RowSum>,
    /// The cell that is shown until the user chooses a cell: the cell of the link with the least slack.
    usual: Option<(usize, usize)>,
    items: Arc<[Item]>,
    editing: Option<Arc<CellEditing>>,
    table_rows: Vec<TableRow>,
    state: MatrixState,
    table: TableState,
}

impl PortsPane {
    /// Fills in the data for the plan, the baseline and the form.
    pub fn prepare(&mut self, input: &PaneInput<'_>, facts: &Explained, baseline: Option<&Explained>) {
        let editing = input.app.cell_edit().is_some();
        let key = Key { plan: facts.key, baseline: baseline.map(|b| b.key), mode: input.state.mode, editing };
        if self.key != Some(key) {
            self.key = Some(key);
            self.fill(facts, baseline, input.mode());
        }
    }

    /// Draws the prepared data.
    #[expect(clippy::too_many_arguments, reason = "the pane draws all of these values")]
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        facts: &JobFacts,
        choice: Choice,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let theme = &input.app.look.theme;
        self.flag_cells(input, facts);
        let used: u32 = self.sums.iter().map(|sum| sum.used).sum();
        let limit: u32 = self.sums.iter().map(|sum| sum.limit).sum();
        let mut context = facts.title();
        if input.state.mode > 0 {
            context.push(Piece::muted(input.mode()));
        }
        let title = Title { context, value: vec![Piece::answer(format!("{used} of {limit} used"))] };
        frame(input, &title, Shown::Ready, area, buf);

        let selected = self.selected(input, choice);
        let link = selected.and_then(|(row, column)| self.link_at(row, column));
        let sentence = Self::sentence(input, facts, link);
        // Rows that matrix and table do not use are for the sentence.
        let spare = area.height.saturating_sub(self.rows() - 1).max(1);
        let sentence_rows = Sentence::new(theme, &sentence).rows(body(area, 0).width, spare.min(3));
        let inner = body(area, sentence_rows);
        let matrix_rows = (self.rows.len() as u16 + 1).min(inner.height);
        let spare = inner.height - matrix_rows;
        // The table needs a heading, a blank row and at least one row.
        let table_rows = if spare >= 4 { (self.table_rows.len() as u16 + 1).min(spare - 1) } else { 0 };
        // The table is right below the matrix.
        let upper = if table_rows > 0 { Rect { height: matrix_rows, ..inner } } else { inner };

        self.state.selected = selected;
        self.state.row_offset = input.state.offset;
        self.state.column_offset = input.state.column;
        let editing = input.app.cell_edit().is_some_and(|edit| edit.pane == input.pane);
        Matrix::new(theme, &self.rows, &self.columns, &self.cells).sums(&self.sums).editing(editing).render(
            upper,
            buf,
            &mut self.state,
        );
        if table_rows > 0 {
            let lower = Rect { y: inner.y + matrix_rows + 1, height: table_rows, ..inner };
            self.table.selected = link;
            Table::new(theme, &columns(lower.width), &self.table_rows).render(lower, buf, &mut self.table);
        }
        let rows = (self.state.row_offset, usize::from(upper.height.saturating_sub(1)), self.rows.len());
        let links = (self.table.offset, usize::from(table_rows).saturating_sub(1), self.table_rows.len());
        let hidden = in_sight(rows, (0, 0, 0)).or_else(|| in_sight(links, (0, 0, 0)));
        let hidden = hidden.map(|part| Piece::muted(part.to_string()));
        if sentence_rows > 1 {
            wrapped(theme, &sentence, Rect { height: sentence_rows, ..below(inner) }, buf);
        } else {
            ends(theme, &sentence, &Vec::from_iter(hidden), below(inner), buf);
        }
        self.report(input, (drawn, out), upper, &sentence, facts, link);
        drawn.chosen = selected.map(|(row, column)| row as ItemId * STRIDE + column as ItemId);
    }

    /// Returns the number of rows that the pane can use: title, matrix, table and sentence.
    pub fn rows(&self) -> u16 {
        (self.rows.len() + self.table_rows.len()) as u16 + 5
    }

    fn link_at(&self, row: usize, column: usize) -> Option<u32> {
        self.link_of.get(row * self.columns.len() + column).copied().flatten()
    }

    /// Returns the link of an item of the pane.
    pub fn link_of(&self, item: ItemId) -> Option<u32> {
        self.link_at((item / STRIDE) as usize, (item % STRIDE) as usize)
    }

    /// Returns the first cell of a link.
    fn cell_of(&self, link: u32) -> Option<(usize, usize)> {
        let at = self.link_of.iter().position(|known| *known == Some(link))?;
        Some((at / self.columns.len(), at % self.columns.len()))
    }

    /// Returns the chosen cell, or the cell of the link that was chosen in another pane, or of the link that delays the
    /// critical path.
    fn selected(&self, input: &PaneInput<'_>, choice: Choice) -> Option<(usize, usize)> {
        let edited = input.app.cell_edit().filter(|edit| edit.pane == input.pane).and_then(|edit| {
            edit.cells.cells.iter().find(|(_, entry)| *entry == edit.entry).map(|(id, _)| *id)
        });
        let chosen = match input.app.cell_edit() {
            // During an edit the chosen cell stays, even if the cell of the opposite direction has the same entry.
            Some(edit) if edit.pane == input.pane => {
                input.state.selected.filter(|id| edit.cells.entry(*id) == Some(edit.entry)).or(edited)
            }
            _ => input.state.selected,
        };
        let at = |id: ItemId| ((id / STRIDE) as usize, (id % STRIDE) as usize);
        let inside = |(row, column): &(usize, usize)| *row < self.rows.len() && *column < self.columns.len();
        let own = chosen.map(at).filter(inside);
        let link =
            choice.way.filter(|_| choice.by_person && input.app.cell_edit().is_none()).map(|way| way / 2);
        match own {
            Some((row, column)) if link.is_none() || self.link_at(row, column) == link => own,
            _ => {
                let of_choice = || choice.way.and_then(|way| self.cell_of(way / 2));
                link.and_then(|link| self.cell_of(link)).or(own).or_else(of_choice).or(self.usual)
            }
        }
    }

    fn fill(&mut self, facts: &Explained, baseline: Option<&Explained>, mode: &str) {
        let analysis = &facts.analysis;
        let instance = &analysis.setting.instance;
        let baseline = baseline.filter(|other| other.analysis.circuits.len() == analysis.circuits.len());
        let real: Vec<usize> = (0..instance.pods.len()).filter(|pod| !instance.pods[*pod].mirror).collect();
        let mirrors = real.len() < instance.pods.len();
        let place = |pod: usize| real.iter().position(|known| *known == pod);
        self.rows.clear();
        self.rows.extend(real.iter().map(|pod| Label::from(instance.pods[*pod].name.clone())));
        self.columns.clone_from(&self.rows);
        if mirrors {
            self.columns.push(links::RING.into());
        }
        let width = self.columns.len();
        self.cells.clear();
        self.cells.resize(self.rows.len() * width, MatrixCell::default());
        self.link_of.clear();
        self.link_of.resize(self.cells.len(), None);
        let most = analysis.circuits.iter().copied().max().unwrap_or(1).max(1);
        for (index, link) in instance.links.iter().enumerate() {
            let used = &analysis.links[index];
            let value = match mode {
                "useful circuits" => used.bound as i32,
                "busy, per cent" => (used.busy * 100.0).round() as i32,
                "flows at peak" => used.peak_flows as i32,
                _ => used.circuits as i32,
            };
            let difference = match baseline {
                Some(other) if mode == "circuits" => {
                    used.circuits as i32 - other.analysis.circuits[index] as i32
                }
                _ => 0,
            };
            let share = match mode {
                "busy, per cent" => used.busy,
                _ => f64::from(value) / f64::from(most),
            };
            let heat = Some(Theme::heat_level(share.min(1.0)));
            let cell = MatrixCell { value: Some(value), difference, heat, flag: CellFlag::Plan };
            let ends = [link.pod_a.index(), link.pod_b.index()];
            for (from, to) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                let (Some(row), column) = (place(from), place(to).unwrap_or(real.len())) else { continue };
                if column < width {
                    self.cells[row * width + column] = cell;
                    self.link_of[row * width + column] = Some(index as u32);
                }
            }
        }
        let budget = &analysis.setting.evaluator.network.budget;
        let free = budget.free(&analysis.circuits);
        self.sums.clear();
        self.sums.extend(real.iter().map(|pod| {
            let limit = instance.pods[*pod].ports;
            RowSum { used: (i64::from(limit) - free[*pod]).max(0) as u32, limit }
        }));
        let mut items = Vec::new();
        for row in 0..self.rows.len() {
            for column in 0..width {
                if self.link_at(row, column).is_some() {
                    let id = row as ItemId * STRIDE + column as ItemId;
                    items.push(Item { id, row: row as u32, place: column as f32 });
                }
            }
        }
        let slack = |item: &&Item| {
            let (row, column) = ((item.id / STRIDE) as usize, (item.id % STRIDE) as usize);
            self.link_at(row, column).map_or(f64::INFINITY, |link| analysis.links[link as usize].slack_s)
        };
        let tightest = items.iter().min_by(|a, b| slack(a).total_cmp(&slack(b)));
        self.usual = tightest.map(|item| ((item.id / STRIDE) as usize, (item.id % STRIDE) as usize));
        self.items = items.into();
        self.fill_table(facts, baseline);
        // No method can evaluate the circuits of one of several jobs.
        self.editing = facts.job.is_none().then(|| Arc::new(self.cell_editing(facts)));
    }

    fn fill_table(&mut self, facts: &Explained, baseline: Option<&Explained>) {
        let analysis = &facts.analysis;
        let instance = &analysis.setting.instance;
        self.table_rows.clear();
        for (index, link) in instance.links.iter().enumerate() {
            let used = &analysis.links[index];
            let kind = match link.kind {
                LinkKind::Pp => "pp",
                LinkKind::Dp => "dp",
                LinkKind::Mixed => "mixed",
            };
            let difference = baseline.map_or_else(
                || Piece::muted("-"),
                |other| {
                    let difference = i64::from(used.circuits) - i64::from(other.analysis.circuits[index]);
                    if difference == 0 { Piece::muted("0") } else { Piece::text(format!("{difference:+}")) }
                },
            );
            let waits = used.peak_flows > used.circuits && used.holds_up;
            let peak = format!("{}/{}{}", used.peak_flows, used.circuits, if waits { "!" } else { "" });
            self.table_rows.push(TableRow::item(
                index as u32,
                vec![
                    Piece::text(format!("{index} {} {kind}", links::link(instance, index))),
                    Piece::answer(used.circuits.to_string()),
                    Piece::muted(used.bound.to_string()),
                    difference,
                    Piece::muted(format!("{} %", number::percent(used.busy, 1).as_str())),
                    Piece::new(peak, if waits { Tone::Bad } else { Tone::Text }),
                    Piece::text(number::millis(used.slack_s, 1).as_str().to_owned()),
                ],
            ));
        }
    }

    fn cell_editing(&self, facts: &Explained) -> CellEditing {
        let analysis = &facts.analysis;
        let instance = &analysis.setting.instance;
        let width = self.columns.len();
        let cells = (0..self.link_of.len())
            .filter_map(|at| {
                let link = self.link_of[at]?;
                Some(((at / width) as ItemId * STRIDE + (at % width) as ItemId, link as usize))
            })
            .collect();
        let most = analysis.circuits.iter().copied().max().unwrap_or(1);
        let ports = instance.pods.iter().filter(|pod| !pod.mirror).map(|pod| pod.ports).max().unwrap_or(most);
        let rates = |name: &str| vec![("rates".to_owned(), ParamValue::Text(name.to_owned()))];
        CellEditing {
            method: "simulate",
            target: EditTarget::Param("topology"),
            values: analysis.circuits.iter().map(|circuits| i64::from(*circuits)).collect(),
            range: (1, i64::from(ports.max(most))),
            names: (0..instance.links.len()).map(|link| links::link(instance, link)).collect(),
            cells,
            from_plan: false,
            variants: vec![("sched.", rates("level")), ("fair", rates("fair"))],
        }
    }

    /// Marks the cells that the edit changed or refused; after every key, the digits and the used ports are updated at
    /// once, without waiting for the evaluation.
    fn flag_cells(&mut self, input: &PaneInput<'_>, facts: &Explained) {
        let edit = input.app.cell_edit().filter(|edit| edit.pane == input.pane);
        if let Some(edit) = edit {
            let setting = &facts.analysis.setting;
            let x: Vec<u32> =
                edit.values.iter().map(|value| u32::try_from(*value).unwrap_or(u32::MAX)).collect();
            let free = setting.evaluator.network.budget.free(&x);
            let real = setting.instance.pods.iter().zip(&free).filter(|(pod, _)| !pod.mirror);
            for (sum, (pod, free)) in self.sums.iter_mut().zip(real) {
                sum.used = (i64::from(pod.ports) - free).clamp(0, i64::from(u32::MAX)) as u32;
            }
        }
        for (at, cell) in self.cells.iter_mut().enumerate() {
            let Some(link) = self.link_of.get(at).copied().flatten() else { continue };
            let link = link as usize;
            cell.flag = match edit {
                Some(edit) if !edit.problem.is_empty() && edit.entry == link => CellFlag::Refused,
                Some(edit) if edit.values.get(link) != edit.cells.values.get(link) => CellFlag::Edited,
                _ => CellFlag::Plan,
            };
            // The digits follow the keys at once; everything else is updated when the evaluation is ready.
            if let Some(edit) = edit
                && input.state.mode == 0
                && let Some(value) = edit.values.get(link)
            {
                cell.value = Some(*value as i32);
            }
        }
    }

    fn sentence(input: &PaneInput<'_>, facts: &Explained, link: Option<u32>) -> Vec<Piece> {
        let Some(link) = link else { return vec![Piece::muted("no circuits between these pods")] };
        let analysis = &facts.analysis;
        let used = &analysis.links[link as usize];
        let name = links::link(&analysis.setting.instance, link as usize);
        if let Some(edit) = input.app.cell_edit().filter(|edit| edit.pane == input.pane) {
            if !edit.problem.is_empty() {
                return vec![Piece::new(format!("! {}", edit.problem), Tone::Bad)];
            }
            let count = u32::try_from(edit.values[link as usize]).unwrap_or(0);
            let mut line = vec![Piece::answer(format!("> {name}  {}", pieces::circuits(count)))];
            for preview in &edit.previews {
                match &preview.plan {
                    Ok(plan) => {
                        let value = plan.0.header().objective.value;
                        line.push(Piece::muted(format!("  {} ", preview.variant)));
                        line.push(Piece::answer(format!("{} s", number::seconds6(value).as_str())));
                        let change = value - facts_value(input, analysis.makespan_s);
                        let tone = if change < 0.0 { Tone::Good } else { Tone::Bad };
                        let tone = if change.abs() < 1e-9 { Tone::Muted } else { tone };
                        line.push(Piece::new(
                            format!(" {} ms", number::signed(change * 1e3, 3).as_str()),
                            tone,
                        ));
                    }
                    Err(why) => line.push(Piece::new(format!("  {}: {why}", preview.variant), Tone::Bad)),
                }
            }
            if edit.waiting {
                line.push(Piece::muted("   …"));
            }
            return line;
        }
        // The verdict comes first, because a narrow pane omits the figures.
        let mut line = vec![Piece::answer(format!("> {name}  {}", pieces::circuits(used.circuits)))];
        if used.holds_up {
            line.push(Piece::new(format!("  ! {}", cause(facts, link)), Tone::Bad));
            line.push(Piece::muted(" on the critical path"));
        } else if used.donates() {
            line.push(Piece::new("  spare circuits", Tone::Good));
        }
        line.extend([
            Piece::muted(format!("  slack {} ms", number::millis(used.slack_s, 1).as_str())),
            Piece::muted(format!("  max useful {}", used.bound)),
            Piece::muted(format!("  busy {} %", number::percent(used.busy, 1).as_str())),
            Piece::muted(format!("  peak {} flows", used.peak_flows)),
        ]);
        line
    }

    fn report(
        &self,
        input: &PaneInput<'_>,
        (drawn, out): (&mut PaneDrawn, &mut Drawn),
        inner: Rect,
        sentence: &[Piece],
        facts: &Explained,
        link: Option<u32>,
    ) {
        drawn.items = Arc::clone(&self.items);
        drawn.labels = labels(input, &self.items, |id| {
            Some(links::link(&facts.analysis.setting.instance, self.link_of(id)? as usize))
        });
        drawn.page = usize::from(inner.height.saturating_sub(1));
        drawn.offset = self.state.row_offset;
        drawn.column = self.state.column_offset;
        drawn.sentence = plain(sentence);
        drawn.edit.clone_from(&self.editing);
        if let Some(link) = link {
            let network = &facts.analysis.setting.evaluator.network;
            drawn.details = [2 * link, 2 * link + 1]
                .into_iter()
                .flat_map(|direction| network.carried[direction as usize].iter())
                .map(|task| plain(&pieces::timing(facts, *task)))
                .collect();
        }
        out.hits.extend(
            self.state.hits.iter().map(|hit| input.hit(hit.rect, hit.id * STRIDE + hit.part, Command::Edit)),
        );
    }
}

/// Width of the names of links in a wide table, next to which the numbers follow.
const LINK: u16 = 24;

/// Returns the larger cause of the losses of the critical tasks of a link, in the words of the critical path.
fn cause(facts: &Explained, link: u32) -> &'static str {
    let via = &facts.analysis.setting.evaluator.network.via;
    let own = facts.analysis.chain.tasks.iter().filter(|on| via[on.task as usize] / 2 == link);
    let (too_few_s, contention_s) = own.fold((0.0, 0.0), |(few, contention), on| {
        (few + on.loses.too_few_s, contention + on.loses.contention_s)
    });
    if contention_s > too_few_s { "contention delay" } else { "capacity loss" }
}

/// Returns the columns of the table of links; narrow panes shorten the headings rather than lose a column.
fn columns(width: u16) -> [Column; 7] {
    let wide = width >= WIDE;
    let (circuits, most) =
        if wide { (("circuits", 8), ("max useful", 10)) } else { (("circ.", 5), ("max", 3)) };
    [
        Column::left("link", if wide { LINK } else { 12 }),
        Column::right(circuits.0, circuits.1).gap(1),
        Column::right(most.0, most.1).priority(3),
        Column::right("B", 3).priority(4),
        Column::right("busy", 6).priority(2),
        Column::right("peak", 6).priority(1),
        Column::right("slack ms", 8).gap(1),
    ]
}

/// Returns the makespan of the original plan of an edit; the displayed plan is then already the preview.
fn facts_value(input: &PaneInput<'_>, shown: f64) -> f64 {
    input.app.plans.shown().map_or(shown, |entry| entry.value)
}
