//! Pane 5: the changes in batches that are safe one after the other, and what the chosen batch does port by port, removals
//! first.

use super::{Explained, other_plan, words};
use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit, Item, PaneDrawn};
use crate::view::present::rows::{columns, from, line, row};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_engines::crossconnect::plan::{Action as Deed, Entry, EntryRef};
use lightbay_engines::crossconnect::rollout::explained::{self, BatchFacts};
use lightbay_engines::crossconnect::scenario::CrossconnectScenario;
use lightbay_widgets::{Column, PaneState as Shown, Piece, Table, TableRow, TableState, Tone, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use std::sync::Arc;

/// Columns that one change takes.
const CHANGE: u16 = 40;

/// Lines of the pop-up about a batch; files list more.
const MOST_LINES: usize = 2000;

/// Data of the pane, refilled when plan or batch change.
#[derive(Debug, Default)]
pub struct ChangesPane {
    key: Option<(u64, u16)>,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    items: Arc<[Item]>,
    state: TableState,
    /// Which batch the lines are of, and for how many rows and columns.
    lines_key: Option<(u64, usize, usize)>,
    lines: Vec<Vec<Piece>>,
}

impl ChangesPane {
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        plan: &Explained,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let batches = &plan.facts.batches;
        let title = title(input, plan, area.width);
        if batches.is_empty() {
            let what = if plan.facts.switches.iter().all(|switch| switch.keep == 0) {
                "no circuits, so nothing changes"
            } else {
                "nothing changes: what is installed is what is wanted"
            };
            return frame(
                input,
                &title,
                Shown::Empty { what, remedy: "edit the target in pane 4" },
                area,
                buf,
            );
        }
        frame(input, &title, Shown::Ready, area, buf);
        let inner = body(area, u16::from(area.height >= 6));
        if inner.is_empty() {
            return;
        }
        let chosen = input.state.selected.map_or(0, |id| id as usize).min(batches.len() - 1);
        if self.key != Some((plan.key, inner.width)) {
            self.key = Some((plan.key, inner.width));
            self.fill(plan, inner.width);
        }
        let theme = &input.app.look.theme;
        self.state.selected = Some(chosen as u32);
        self.state.offset = input.state.offset;
        // The table of batches gets half of the pane, the changes of one batch the rest.
        let wished = batches.len() as u16 + 1;
        let height = if inner.height >= 9 { wished.min((inner.height / 2).max(5)) } else { inner.height };
        let header = inner.height >= 3;
        let table = Table::new(theme, &self.columns, &self.rows).header(header);
        (&table).render(Rect { height, ..inner }, buf, &mut self.state);
        let pane = input.pane;
        out.hits.extend(self.state.hits.iter().map(|hit| Hit {
            rect: hit.rect,
            click: Action::Select { pane, item: Some(hit.id) },
            open: Some(Action::Do(Command::Inspect)),
        }));
        let rest = from(inner, height + 1);
        if rest.height >= 2 {
            self.draw_changes(input, plan, chosen, rest, buf);
        }
        let sentence = sentence(plan, chosen, &batches[chosen]);
        if area.height >= 6 {
            line(theme, &sentence, below(inner), buf);
        }
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(height.saturating_sub(1)).max(1);
        drawn.offset = self.state.offset;
        drawn.sentence = plain(&sentence);
        if input.focused {
            drawn.details = details(plan, chosen);
        }
    }

    fn fill(&mut self, plan: &Explained, width: u16) {
        let batches = &plan.facts.batches;
        let worst = |batch: &BatchFacts| match batch.worst {
            Some((pod, missing, of)) => format!("pod {pod:>2}  {missing} of {of}"),
            None => "none dark".to_owned(),
        };
        let worst_width = batches.iter().map(|batch| worst(batch).len()).max().unwrap_or(0).max(9) as u16;
        self.columns = vec![
            Column::right("batch", 5),
            Column::left("switches", 8).grow().cut(lightbay_widgets::Cut::End),
            Column::right("rem", 5),
            Column::right("add", 5).gap(1),
            Column::right("dark", 5).gap(1).priority(1),
            Column::left("worst pod", worst_width).priority(2),
        ];
        if width < 60 {
            self.columns[0] = Column::right("#", 3);
            self.columns[2] = Column::right("rem", 4).gap(1);
            self.columns[3] = Column::right("add", 4).gap(1);
        }
        self.rows.clear();
        self.rows.extend((0u32..).zip(batches).map(|(id, batch)| {
            TableRow::item(
                id,
                vec![
                    Piece::text((id + 1).to_string()),
                    Piece::text(words::switches(&batch.switches)),
                    Piece::new(batch.removals.to_string(), Tone::Bad).bold(),
                    Piece::new(batch.additions.to_string(), Tone::Good).bold(),
                    Piece::text(batch.dark.to_string()),
                    Piece::new(worst(batch), if batch.worst.is_some() { Tone::Text } else { Tone::Muted }),
                ],
            )
        }));
        let item = |id: u32| Item { id, row: id, place: 0.0 };
        self.items = (0..batches.len() as u32).map(item).collect();
    }

    /// The changes of the batch in columns, from top to bottom.
    fn draw_changes(
        &mut self,
        input: &PaneInput<'_>,
        plan: &Explained,
        chosen: usize,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let theme = &input.app.look.theme;
        let (Some(scenario), Some(changes)) = (plan.scenario(), plan.changes()) else { return };
        let Some(batch) = changes.batches.get(chosen) else { return };
        let rows = usize::from(area.height - 1);
        let across = usize::from((area.width / CHANGE).max(1));
        let places = rows * across;
        if self.lines_key != Some((plan.key, chosen, places)) {
            self.lines_key = Some((plan.key, chosen, places));
            let room = if batch.changes.len() > places { places.saturating_sub(1) } else { places };
            let entries = batch.changes.iter().filter_map(|at| Some((*at, explained::entry(changes, *at)?)));
            self.lines.clear();
            self.lines.extend(entries.take(room).map(|(at, entry)| change(scenario, at, entry)));
            let more = batch.changes.len().saturating_sub(self.lines.len());
            if more > 0 {
                self.lines.push(vec![Piece::muted(format!("and {more} more; i lists them"))]);
            }
        }
        let heading = [
            Piece::answer(format!("batch {}", chosen + 1)),
            Piece::muted(", removals first; (n): port on its OCS side; i: names by vendor"),
        ];
        line(theme, &heading, row(area, 0), buf);
        for (column, lines) in columns(from(area, 1), across as u16, 2).zip(self.lines.chunks(rows.max(1))) {
            for (at, pieces) in (0u16..).zip(lines) {
                line(theme, pieces, row(column, at), buf);
            }
        }
    }
}

fn title(input: &PaneInput<'_>, plan: &Explained, width: u16) -> Title {
    let batches = &plan.facts.batches;
    let context = Vec::from_iter(other_plan(input.app, plan));
    let most = batches.iter().filter_map(|batch| batch.worst).map(|(_, missing, _)| missing).max();
    let mut value = vec![Piece::answer(match batches.len() {
        1 => "1 batch".to_owned(),
        count => format!("{count} batches"),
    })];
    for warning in &plan.warnings {
        value.push(Piece::new(format!(", {}", warning.short), Tone::Bad));
    }
    // Warnings go first where there is no room for both.
    if !plan.warnings.is_empty() && width < 100 {
        return Title { context, value };
    }
    if let Some(most) = most {
        value.push(Piece::muted(if width < 60 { ", at worst " } else { ", a pod misses at most " }));
        value.push(Piece::answer(most.to_string()));
        if width < 60 {
            value.push(Piece::muted(" dark"));
        }
    } else if !batches.is_empty() {
        value.push(Piece::muted(", no pod misses any"));
    }
    let limit = plan.scenario().map_or(0, |scenario| scenario.rollout.max_dark_per_pod);
    if limit > 0 {
        let broken = most.is_some_and(|most| most > u64::from(limit));
        value.push(if broken {
            Piece::new(format!(" above the limit of {limit}"), Tone::Bad)
        } else {
            Piece::muted(if width < 60 { String::new() } else { format!(", limit {limit}") })
        });
    }
    Title { context, value }
}

/// `− OCS 4  A 0 (1) → B 1 (18)`.
fn change(scenario: &CrossconnectScenario, at: EntryRef, entry: &Entry) -> Vec<Piece> {
    let (a, b) = words::sides(scenario.wiring);
    let (sign, tone) = if entry.action == Deed::Remove { ("−", Tone::Bad) } else { ("+", Tone::Good) };
    vec![
        Piece::new(format!("{sign} "), tone).bold(),
        Piece::muted(format!("OCS {:<3} ", at.ocs_id)),
        Piece::text(words::port(a, entry.pod_a, entry.port_a_index)),
        Piece::muted(format!(" ({})", entry.switch_port_a)),
        Piece::new(" → ", tone),
        Piece::text(words::port(b, entry.pod_b, entry.port_b_index)),
        Piece::muted(format!(" ({})", entry.switch_port_b)),
    ]
}

fn sentence(plan: &Explained, chosen: usize, batch: &BatchFacts) -> Vec<Piece> {
    let mut pieces = vec![
        Piece::answer(format!("> batch {}", chosen + 1)),
        Piece::muted("  takes down "),
        Piece::new(batch.removals.to_string(), Tone::Bad).bold(),
        Piece::muted(", then sets up "),
        Piece::new(batch.additions.to_string(), Tone::Good).bold(),
        Piece::muted(format!("; {} dark meanwhile", words::circuits(batch.dark))),
    ];
    if let Some((pod, missing, of)) = batch.worst {
        let name =
            plan.scenario().map_or_else(|| pod.to_string(), |scenario| scenario.pod_name(pod as usize));
        pieces.push(Piece::muted(format!(", {name} misses {missing} of {of}")));
    }
    pieces
}

fn details(plan: &Explained, chosen: usize) -> Vec<String> {
    let (Some(scenario), Some(changes)) = (plan.scenario(), plan.changes()) else { return Vec::new() };
    let Some(batch) = changes.batches.get(chosen) else { return Vec::new() };
    let mut lines = vec![plain(&sentence(plan, chosen, &plan.facts.batches[chosen]))];
    lines.extend(plan.warnings.iter().map(|warning| warning.text.clone()));
    let first = batch.changes.first().map_or(0, |at| at.ocs_id);
    lines.push(format!("Ports, as on OCS {first}:"));
    lines.extend(words::port_legend(scenario, first));
    let entries = batch.changes.iter().filter_map(|at| Some((at, explained::entry(changes, *at)?)));
    lines.extend(
        entries
            .take(MOST_LINES)
            .map(|(at, entry)| format!("OCS {:<3} {}", at.ocs_id, words::entry(scenario, entry))),
    );
    let rest = batch.changes.len().saturating_sub(MOST_LINES);
    if rest > 0 {
        lines.push(format!("and {} more; export csv lists all", number::count(rest as u64)));
    }
    lines
}
