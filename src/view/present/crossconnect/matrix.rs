//! Pane 2: what the chosen switch keeps, adds and removes, pod by pod or port by port. With room the section of all
//! switches stands beside it.

use super::{ExplainedChange, SWITCHES, chosen_switch, step_through_switches};
use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit, Item, PaneDrawn};
use crate::app::pane::PaneId;
use crate::view::present::rows::{beside, ends, line, row};
use crate::view::present::section::{SectionContent, Selection};
use crate::view::present::{PaneInput, Title, below, body, frame, other_plan, plain};
use lightbay_engines::crossconnect::plan::{Action as Deed, Entry};
use lightbay_engines::crossconnect::report::words;
use lightbay_engines::crossconnect::rollout::explained::{ChangeFacts, Switch, SwitchCell};
use lightbay_engines::crossconnect::scenario::{CrossconnectScenario, Wiring};
use lightbay_widgets::{
    Column, PaneState as Shown, Piece, Sign, SignCell, SignFlag, SignRows, Signs, SignsState, Table,
    TableRow, TableState, Tone,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use std::sync::Arc;

/// Rows from which on the matrix has a legend below it.
const LEGEND: u16 = 12;

/// Blank columns between list and matrix.
const GAP: u16 = 2;

/// Layout of the circuits of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatrixForm {
    /// A row and a column for every pod.
    Pods,
    /// A row for every A port in use.
    Ports,
    /// The same, those that change alone.
    Changed,
}

/// Data of the pane, refilled when plan, switch or form change.
#[derive(Debug, Default)]
pub struct MatrixPane {
    key: Option<(u64, usize, MatrixForm)>,
    list: SectionContent,
    rows: SignRows,
    words: Vec<Vec<Piece>>,
    items: Arc<[Item]>,
    /// The cell pointed at until a person chooses one: the first that changes.
    usual: Option<(usize, usize)>,
    state: SignsState,
    columns: Vec<Column>,
    ports: Vec<TableRow>,
    /// Entries behind each row of ports: as it was and as it will be.
    behind: Vec<[Option<u32>; 2]>,
    table: TableState,
}

impl MatrixPane {
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
        let chosen = chosen_switch(input.app, facts);
        let form = match input.mode() {
            "ports" => MatrixForm::Ports,
            "changed ports" => MatrixForm::Changed,
            _ => MatrixForm::Pods,
        };
        if self.key != Some((plan.key, chosen, form)) {
            self.key = Some((plan.key, chosen, form));
            self.fill(plan, chosen, form);
        }
        let switch = facts.switches.get(chosen);
        let title = Self::title(input, plan, chosen, switch, area.width);
        frame(input, &title, Shown::Ready, area, buf);
        let inner = body(area, u16::from(area.height >= 4));
        if inner.is_empty() {
            return;
        }
        let theme = &input.app.look.theme;
        let selected = self.selected(input, facts);
        let wished = match form {
            MatrixForm::Pods => Signs::new(theme, &self.rows, facts.pods).words(&self.words).wished(),
            _ => self.columns.iter().map(|column| column.width + column.gap).sum::<u16>() + 4,
        };
        if let Some(switches) = &plan.switches {
            self.list.fill(switches, &[], "");
        }
        let (least, most) = self.list.widths();
        // Large matrices scroll: a good part of them is enough beside the list.
        let needed = wished.min(inner.width.saturating_sub(least + GAP).max(48));
        let room = inner.width.saturating_sub(needed + GAP);
        let (left, right) = if !input.large || room < least {
            (Rect::ZERO, inner)
        } else {
            beside(inner, room.min(most), GAP)
        };
        if !left.is_empty() {
            let list = PaneInput { pane: SWITCHES, state: input.app.pane(SWITCHES).clone(), ..input.clone() };
            self.list.draw(&list, Selection::of(chosen as u32), left, buf, out);
        }
        // The legend has a row where all pods are in sight with it, or would not be without it either.
        let all = facts.pods as u16 + 1;
        let room = right.height > all || right.height < all && right.height >= LEGEND;
        let legend = room && form == MatrixForm::Pods && !right.is_empty();
        let cells = Rect { height: right.height - u16::from(legend), ..right };
        if form == MatrixForm::Pods {
            self.draw_pods(input, facts, selected, cells, buf, out);
            if legend {
                let place = row(right, self.state.rows_shown as u16 + 1);
                line(theme, &legend_pieces(plan.scenario().map(|of| of.wiring)), place, buf);
            }
        } else {
            self.draw_ports(input, cells, buf, out);
        }
        let sentence = self.sentence(plan, chosen, form, selected);
        if area.height >= 4 {
            let hint = ", . switch";
            let hint: &[Piece] = if inner.width >= 100 { &[Piece::muted(hint)] } else { &[] };
            ends(theme, &sentence, hint, below(inner), buf);
        }
        drawn.sentence = plain(&sentence);
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(cells.height.saturating_sub(1)).max(1);
        drawn.offset = if form == MatrixForm::Pods { self.state.row_offset } else { self.table.offset };
        drawn.column = self.state.column_offset;
        step_through_switches(drawn, facts, chosen);
        if input.focused {
            drawn.details = details(plan, chosen, selected);
        }
    }

    fn title(
        input: &PaneInput<'_>,
        plan: &ExplainedChange,
        chosen: usize,
        switch: Option<&Switch>,
        width: u16,
    ) -> Title {
        let mut context = Vec::from_iter(other_plan(input.app, plan.key));
        if input.state.mode > 0 {
            context.push(Piece::muted(format!("  {}", input.mode())));
        }
        if plan.facts.green_field {
            context.push(Piece::muted("  green field"));
        }
        let switch = switch.cloned().unwrap_or_default();
        if width < 46 {
            let value = vec![
                Piece::answer(format!("OCS {chosen}")),
                Piece::new(format!(" −{}", switch.remove + switch.forced), Tone::Bad).bold(),
                Piece::new(format!(" +{}", switch.add), Tone::Good).bold(),
            ];
            return Title { context, value };
        }
        let mut value = vec![
            Piece::answer(format!("OCS {chosen}")),
            Piece::muted("   keep "),
            Piece::text(switch.keep.to_string()),
            Piece::muted("  add "),
            Piece::new(switch.add.to_string(), Tone::Good).bold(),
            Piece::muted("  remove "),
            Piece::new(switch.remove.to_string(), Tone::Bad).bold(),
        ];
        if switch.forced > 0 {
            value.push(Piece::muted("  lost "));
            value.push(Piece::new(switch.forced.to_string(), Tone::Changed).bold());
        }
        Title { context, value }
    }

    /// The cell or row of ports that is chosen: what was chosen on another switch leads to the nearest in its row.
    fn selected(&self, input: &PaneInput<'_>, facts: &ChangeFacts) -> Option<(usize, usize)> {
        let pods = facts.pods.max(1);
        let Some(id) = input.state.selected.map(|id| id as usize) else { return self.usual };
        let (row, column) = (id / pods, id % pods);
        if self.items.iter().any(|item| item.id as usize == id) {
            return Some((row, column));
        }
        let in_row = self.items.iter().find(|item| item.id as usize / pods == row);
        in_row.map(|item| (item.id as usize / pods, item.id as usize % pods)).or(self.usual)
    }

    fn draw_pods(
        &mut self,
        input: &PaneInput<'_>,
        facts: &ChangeFacts,
        selected: Option<(usize, usize)>,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        self.state.selected = selected;
        self.state.row_offset = input.state.offset;
        self.state.column_offset = input.state.column;
        let signs = Signs::new(&input.app.look.theme, &self.rows, facts.pods).words(&self.words);
        (&signs).render(area, buf, &mut self.state);
        let pods = facts.pods as u32;
        out.hits.extend(self.state.hits.iter().map(|hit| Hit {
            rect: hit.rect,
            click: Action::Select { pane: PaneId::Kind(2), item: Some(hit.id * pods + hit.part) },
            open: Some(Action::Do(Command::Inspect)),
        }));
    }

    fn draw_ports(&mut self, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        // Rows carry their own number: pods do not matter here.
        let chosen = input.state.selected.filter(|id| (*id as usize) < self.ports.len());
        self.table.selected = chosen.or(Some(0));
        let table = Table::new(&input.app.look.theme, &self.columns, &self.ports);
        (&table).render(area, buf, &mut self.table);
        if self.ports.is_empty() && area.height > 2 {
            let words = [Piece::muted("  nothing changes on this switch")];
            line(&input.app.look.theme, &words, row(area, 2), buf);
        }
        out.hits.extend(self.table.hits.iter().map(|hit| Hit {
            rect: hit.rect,
            click: Action::Select { pane: PaneId::Kind(2), item: Some(hit.id) },
            open: Some(Action::Do(Command::Inspect)),
        }));
    }

    fn fill(&mut self, plan: &ExplainedChange, chosen: usize, form: MatrixForm) {
        let none = Switch::default();
        let switch = plan.facts.switches.get(chosen).unwrap_or(&none);
        self.fill_pods(plan, switch);
        if form != MatrixForm::Pods {
            self.fill_ports(plan, chosen, form);
        }
    }

    fn fill_pods(&mut self, plan: &ExplainedChange, switch: &Switch) {
        let pods = plan.facts.pods;
        self.rows.clear();
        self.words.clear();
        self.usual = None;
        let mut items = Vec::with_capacity(switch.cells.len());
        for pod in 0..pods as u32 {
            let cells = switch.of_pod(pod);
            for cell in cells {
                self.rows.push(SignCell { column: cell.b, sign: sign(cell), flag: SignFlag::Plain });
                let id = pod * pods as u32 + cell.b;
                items.push(Item { id, row: pod, place: cell.b as f32 });
                if self.usual.is_none() && cell.add + cell.remove > 0 {
                    self.usual = Some((pod as usize, cell.b as usize));
                }
            }
            self.rows.end_row();
            self.words.push(row_words(cells));
        }
        let first = items.first().map(|item: &Item| (item.row as usize, item.id as usize % pods.max(1)));
        self.usual = self.usual.or(first);
        self.items = items.into();
    }

    fn fill_ports(&mut self, plan: &ExplainedChange, chosen: usize, form: MatrixForm) {
        self.ports.clear();
        self.behind.clear();
        let (Some(scenario), Some(changes)) = (plan.scenario(), plan.changes()) else { return };
        let (a, b) = words::sides(scenario.wiring);
        let end = |side: char| format!("{side} port");
        self.columns = vec![
            Column::left(end(a), 8),
            Column::right("port", 5).gap(1),
            Column::left("", 1),
            Column::left(end(b), 8),
            Column::right("port", 5).gap(1),
            Column::left("was", 8).priority(1),
            Column::right("port", 5).gap(1).priority(2),
            Column::left("", 8).priority(3),
        ];
        let entries = changes.ocs.get(chosen).map_or(&[][..], |ocs| ocs.cross_connects.as_slice());
        let same = |(_, one): &(u32, &Entry), (_, other): &(u32, &Entry)| {
            (one.pod_a, one.port_a_index) == (other.pod_a, other.port_a_index)
        };
        let numbered: Vec<(u32, &Entry)> = (0u32..).zip(entries).collect();
        for port in numbered.chunk_by(same) {
            let find = |deed: Deed| port.iter().find(|(_, entry)| entry.action == deed);
            let (keep, add, remove) = (find(Deed::Keep), find(Deed::Add), find(Deed::Remove));
            if form == MatrixForm::Changed && add.is_none() && remove.is_none() {
                continue;
            }
            let Some((_, first)) = port.first() else { continue };
            let now = keep.or(add).map(|(_, entry)| *entry);
            let old = remove.map(|(_, entry)| *entry);
            let tone = match (keep, add) {
                (Some(_), _) => Tone::Muted,
                (None, Some(_)) => Tone::Good,
                (None, None) => Tone::Bad,
            };
            let word = match (keep, add, remove) {
                (Some(_), _, _) => "keep",
                (None, Some(_), Some(_)) => "move",
                (None, Some(_), None) => "add",
                _ => "remove",
            };
            let far = |entry: Option<&Entry>, tone: Tone| match entry {
                Some(entry) => [
                    Piece::new(words::port(b, entry.pod_b, entry.port_b_index), tone),
                    Piece::muted(entry.switch_port_b.to_string()),
                ],
                None => [Piece::new("dark", Tone::Muted), Piece::muted("")],
            };
            let [to, to_panel] = far(now, tone);
            let [from, from_panel] = match old {
                Some(old) => far(Some(old), Tone::Bad),
                None => [Piece::muted(""), Piece::muted("")],
            };
            let id = self.ports.len() as u32;
            self.behind.push([remove.map(|(at, _)| *at), keep.or(add).map(|(at, _)| *at)]);
            self.ports.push(TableRow::item(
                id,
                vec![
                    Piece::text(words::port(a, first.pod_a, first.port_a_index)),
                    Piece::muted(first.switch_port_a.to_string()),
                    Piece::new("→", tone),
                    to,
                    to_panel,
                    from,
                    from_panel,
                    Piece::new(word, tone),
                ],
            ));
        }
        self.items = (0..self.ports.len() as u32).map(|id| Item { id, row: id, place: 0.0 }).collect();
        self.usual = None;
    }

    fn sentence(
        &self,
        plan: &ExplainedChange,
        chosen: usize,
        form: MatrixForm,
        selected: Option<(usize, usize)>,
    ) -> Vec<Piece> {
        let none = || vec![Piece::muted("no circuit on this switch")];
        let (Some(scenario), Some(changes)) = (plan.scenario(), plan.changes()) else { return none() };
        let entries = changes.ocs.get(chosen).map_or(&[][..], |ocs| ocs.cross_connects.as_slice());
        if form != MatrixForm::Pods {
            let Some(at) = self.table.selected.and_then(|id| self.behind.get(id as usize)) else {
                return none();
            };
            let mut pieces = vec![Piece::answer("> ")];
            for entry in at.iter().flatten().filter_map(|at| entries.get(*at as usize)) {
                let text = words::entry(scenario, entry);
                pieces.push(Piece::new(format!("{text}  "), tone(entry.action)));
            }
            return pieces;
        }
        let Some((pod, _)) = selected else { return none() };
        sentence_of_pod(scenario, entries, pod as u32)
    }
}

fn sign(cell: &SwitchCell) -> Sign {
    match (cell.add, cell.remove) {
        (0, 0) => Sign::Keep(cell.keep),
        (0, remove) => Sign::Remove(remove),
        (add, _) => Sign::Add(add),
    }
}

const fn tone(action: Deed) -> Tone {
    match action {
        Deed::Keep => Tone::Muted,
        Deed::Add => Tone::Good,
        Deed::Remove => Tone::Bad,
    }
}

/// `→ 11 was  1`: what a row says.
fn row_words(cells: &[SwitchCell]) -> Vec<Piece> {
    let ends = |of: fn(&SwitchCell) -> u32| cells.iter().filter(move |cell| of(cell) > 0);
    let count = |of: fn(&SwitchCell) -> u32| cells.iter().map(of).sum::<u32>();
    let (keep, add, remove) = (count(|cell| cell.keep), count(|cell| cell.add), count(|cell| cell.remove));
    // With several circuits of a pod numbers say more than names.
    if keep + add.max(remove) > 1 {
        let mut pieces = vec![Piece::muted(format!("{keep:>3}"))];
        if add > 0 {
            pieces.push(Piece::new(format!(" +{add}"), Tone::Good).bold());
        }
        if remove > 0 {
            pieces.push(Piece::new(format!(" −{remove}"), Tone::Bad).bold());
        }
        return pieces;
    }
    let (added, removed, kept) =
        (ends(|cell| cell.add).next(), ends(|cell| cell.remove).next(), ends(|cell| cell.keep).next());
    match (kept, added, removed) {
        (Some(kept), _, _) => vec![Piece::muted(format!("→ {:>2}", kept.b))],
        (None, Some(added), Some(removed)) => vec![
            Piece::muted("→ "),
            Piece::answer(format!("{:>2}", added.b)),
            Piece::muted(format!(" was {:>2}", removed.b)),
        ],
        (None, Some(added), None) => {
            vec![Piece::muted("→ "), Piece::answer(format!("{:>2}", added.b)), Piece::muted(" new")]
        }
        (None, None, Some(removed)) => {
            vec![Piece::muted("dark"), Piece::muted(format!(" was {:>2}", removed.b))]
        }
        (None, None, None) => Vec::new(),
    }
}

fn legend_pieces(wiring: Option<Wiring>) -> Vec<Piece> {
    let axes = match wiring {
        Some(Wiring::SingleSided) => "   any two ports",
        _ => "   A pod down, B across",
    };
    vec![
        Piece::muted("● keep  "),
        Piece::new("+", Tone::Good).bold(),
        Piece::muted(" add  "),
        Piece::new("−", Tone::Bad).bold(),
        Piece::muted(" remove"),
        Piece::muted(axes),
    ]
}

/// `> A pod 3, index 0 port 4: remove B 11.0 (12) add B 1.0 (2)`.
fn sentence_of_pod(scenario: &CrossconnectScenario, entries: &[Entry], pod: u32) -> Vec<Piece> {
    let (a, b) = words::sides(scenario.wiring);
    let mut pieces = vec![Piece::answer(format!("> {a} {}", scenario.pod_name(pod as usize)))];
    let mut panel = None;
    for entry in entries.iter().filter(|entry| entry.pod_a == pod).take(12) {
        if panel != Some(entry.switch_port_a) {
            panel = Some(entry.switch_port_a);
            pieces
                .push(Piece::muted(format!(", index {} port {}:", entry.port_a_index, entry.switch_port_a)));
        }
        let far = words::port(b, entry.pod_b, entry.port_b_index);
        pieces.push(Piece::new(format!(" {} {far}", entry.action.word()), tone(entry.action)));
        pieces.push(Piece::muted(format!(" ({})", entry.switch_port_b)));
    }
    pieces
}

fn details(plan: &ExplainedChange, chosen: usize, selected: Option<(usize, usize)>) -> Vec<String> {
    /// Lines of a pop-up; files list more.
    const MOST: usize = 500;
    let (Some(scenario), Some(changes)) = (plan.scenario(), plan.changes()) else { return Vec::new() };
    let entries = changes.ocs.get(chosen).map_or(&[][..], |ocs| ocs.cross_connects.as_slice());
    let wanted = |entry: &&Entry| match selected {
        Some((pod, _)) => entry.pod_a == pod as u32 || entry.pod_b == pod as u32,
        None => true,
    };
    let all = entries.iter().filter(wanted);
    let mut lines = vec![format!("OCS {chosen}")];
    lines.extend(words::port_legend(scenario, chosen as u32));
    lines.extend(all.clone().take(MOST).map(|entry| words::entry(scenario, entry)));
    let rest = all.count().saturating_sub(MOST);
    if rest > 0 {
        lines.push(format!("and {rest} more; export csv lists all"));
    }
    lines
}
