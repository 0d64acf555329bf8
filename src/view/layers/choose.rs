//! Lists to choose from: runs, panes, and questions.

use super::{Layers, line, popup};
use crate::app::action::{Action, Command, LayerCommand};
use crate::app::drawn::{Drawn, Hit};
use crate::app::layer::{ListView, Question};
use crate::app::pane::PaneId;
use crate::app::state::App;
use crate::view::figures::{Goal, Room};
use crate::view::shell::{key_of, runs};
use lightbay_widgets::{Column, Confirm, Cut, ListItem, Piece, Table, TableRow, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;

impl Layers {
    pub(super) fn runs(&mut self, app: &App, view: &ListView, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        let Some(work) = &app.work else { return };
        let goal = Goal::of(work.objective);
        let count = app.runs.len();
        let value = [Piece::answer(if count == 1 { "1 run".to_owned() } else { format!("{count} runs") })];
        let height = (count as u16).saturating_add(3).min(area.height);
        let inner = popup(app, "Runs", &value, (116, height), area, buf);
        self.columns.clear();
        self.columns.push(Column::right("#", count.to_string().len() as u16));
        self.columns.push(Column::left("method", 14));
        self.columns.push(Column::left("state", 12).cut(Cut::End));
        self.columns.push(Column::right("clock", 7).priority(2));
        self.columns
            .push(Column::right(format!("best {}", goal.unit.symbol).trim_end().to_owned(), 11).priority(1));
        self.columns.push(Column::left("what it did", 12).cut(Cut::End).priority(3).grow());
        self.rows.clear();
        self.rows.extend(app.runs.iter().enumerate().map(|(index, run)| {
            let word = runs::word(app, run);
            let note: String = runs::note(app, run, &goal, usize::MAX >> 1)
                .iter()
                .map(|piece| piece.text.as_ref())
                .collect();
            TableRow::item(
                index as u32,
                vec![
                    Piece::muted(run.id.to_string()),
                    Piece::text(run.method.clone()),
                    Piece::new(word.word(), word.tone()),
                    Piece::text(number::duration(app.elapsed_s(run))),
                    Piece::answer(runs::best(run, &goal, Room::Long)),
                    Piece::muted(note),
                ],
            )
        }));
        self.table.selected = Some(view.selected as u32);
        self.table.offset = view.offset;
        (&Table::new(&app.look.theme, &self.columns, &self.rows)).render(inner, buf, &mut self.table);
        out.hits.extend(self.table.hits.iter().map(|hit| line(hit.rect, hit.id as usize)));
        out.layer_page = usize::from(inner.height.saturating_sub(1)).max(1);
        out.layer_rows = count;
    }

    pub(super) fn panes(
        &mut self,
        app: &App,
        view: &ListView,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let order = app.focus_order();
        let inner = popup(app, "Panes", &[], (112, order.len() as u16 + 2), area, buf);
        self.items.clear();
        self.items.extend(order.into_iter().enumerate().map(|(index, pane)| {
            let (name, help) = match pane {
                PaneId::Start => ("Start screen", "Which sessions and examples can be opened?"),
                PaneId::Params => ("Parameters", "Which values does the next solve use?"),
                PaneId::Plans => ("Plans", "Which plans exist, and how do they compare?"),
                PaneId::Solve => ("Solve", "How far is the solve, and which runs are active?"),
                PaneId::Kind(_) => app.pane_info(pane).map_or(("", ""), |info| (info.name, info.help)),
            };
            let key = match pane {
                PaneId::Kind(number) if number > 9 => String::new(),
                _ => key_of(app, &Command::Focus(pane)),
            };
            ListItem::new(index as u32, name).detail(help).right(key)
        }));
        self.list(app, view.selected, view.offset, inner, buf, out);
    }

    pub(super) fn confirm(
        &mut self,
        app: &App,
        question: &Question,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let theme = &app.look.theme;
        let meaning = app.keymap.in_words(&question.meaning);
        let widget =
            Confirm::new(theme, &question.text, &question.answers).meaning(&meaning).chosen(question.chosen);
        let width = 68.min(area.width.saturating_sub(2));
        let height = widget.height(width.saturating_sub(4)) + 2;
        let inner = popup(app, "Sure?", &[], (width, height), area, buf);
        (&widget).render(inner, buf, &mut self.hits);
        out.hits.extend(self.hits.iter().map(|hit| {
            let answer = LayerCommand::Answer(hit.id as u8);
            Hit { rect: hit.rect, click: Action::Do(Command::Layer(answer)), open: None }
        }));
        out.layer_page = question.answers.len();
        out.layer_rows = question.answers.len();
    }
}
