//! Pop-ups for typing a text: the value of a knob, the path of a file.

use super::{Layers, field, popup, top};
use crate::app::TABLE_FORMATS;
use crate::app::drawn::Drawn;
use crate::app::layer::{ExportEdit, KnobEdit};
use crate::app::state::App;
use crate::view::shell::params_shown;
use lightbay_engines::models::is_model;
use lightbay_widgets::{ListItem, Piece, Sentence, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

impl Layers {
    pub(super) fn knob(&mut self, app: &App, edit: &KnobEdit, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        let Some(row) = app.work.as_ref().and_then(|work| work.row(edit.row)) else { return };
        let theme = &app.look.theme;
        let now = params_shown(&row.info, row.value.as_ref());
        let mut value = vec![Piece::muted("now "), Piece::answer(now)];
        if !row.info.unit.is_empty() {
            value.push(Piece::muted(format!(" {}", row.info.unit)));
        }
        let choices = edit.choices.len() as u16;
        let title = format!("Edit {}", row.name);
        let inner = popup(app, &title, &value, (72, 6 + choices), area, buf);
        let (input, rest) = top(inner, 1);
        field(app, &edit.field, "=", "", input, buf);
        let (help, rest) = top(rest, 3);
        // Errors are shown in full, other text as far as it fits.
        let mut words = if edit.field.problem.is_empty() {
            let valid = row.info.valid();
            let valid = if choices == 0 { format!("  {valid}") } else { String::new() };
            vec![Piece::text(row.info.help.to_string()), Piece::muted(valid)]
        } else {
            vec![Piece::new("! ", Tone::Bad).bold(), Piece::new(edit.field.problem.clone(), Tone::Bad)]
        };
        if let Some(was) = &row.was {
            let was = params_shown(&row.info, was.as_ref());
            words.push(Piece::new(format!("  * the last solve had {was}"), Tone::Changed));
        }
        (&Sentence::new(theme, &words).wrap(true)).render(help, buf);
        if choices == 0 || rest.is_empty() {
            return;
        }
        let method = row.name == "method";
        self.items.clear();
        self.items.extend(edit.choices.iter().enumerate().map(|(index, choice)| {
            let help = if method {
                app.work.as_ref().and_then(|work| work.method(choice)).map(|info| info.help)
            } else {
                None
            };
            ListItem::new(index as u32, choice.clone()).detail(help.unwrap_or(""))
        }));
        let selected = edit.choices.iter().position(|choice| choice == edit.field.text());
        self.list(app, selected.unwrap_or(usize::MAX >> 1), 0, rest, buf, out);
    }

    pub(super) fn export(
        &mut self,
        app: &App,
        edit: &ExportEdit,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let theme = &app.look.theme;
        let title = match (&edit.table, edit.plan) {
            (Some(_), _) => "Write the comparison".to_owned(),
            (None, Some(number)) => format!("Write plan {number}"),
            (None, None) => "Write the scenario".to_owned(),
        };
        let formats = edit.formats.len() as u16;
        let width = area.width.saturating_sub(4).clamp(78, 116);
        let inner = popup(app, &title, &[], (width, 6 + formats), area, buf);
        let (input, rest) = top(inner, 2);
        let kind = app.work.as_ref().map_or("", |work| work.kind);
        let known = lightbay_engines::exporters(kind);
        let chosen = edit.formats.get(edit.format);
        let folder =
            edit.table.is_none() && known.iter().any(|info| info.folder && Some(&info.name) == chosen);
        let hint = if folder {
            "a folder for all files, relative to where lightbay was started"
        } else {
            "a file, relative to where lightbay was started"
        };
        field(app, &edit.path, "to", hint, input, buf);
        let (note, rest) = top(rest, 1);
        let folder = app.options.folder.display().to_string();
        let words =
            [Piece::muted("in "), Piece::text(folder), Piece::muted("  asks before it overwrites a file")];
        (&Sentence::new(theme, &words)).render(note, buf);
        self.items.clear();
        self.items.extend(edit.formats.iter().enumerate().map(|(index, format)| {
            if edit.table.is_some() {
                let about = TABLE_FORMATS.iter().find(|(name, ..)| name == format);
                return ListItem::new(index as u32, *format).detail(about.map_or("", |(_, about, _)| *about));
            }
            let help = known.iter().find(|info| info.name == *format).map_or("", |info| info.help);
            let method = is_model(format).then(|| app.model_method(edit.plan)).flatten();
            let detail = match (method, app.second_plan(edit.plan, format)) {
                (Some(method), _) => {
                    format!("Model of {}; a second file names rows and columns", method.name)
                }
                (None, Some(number)) => format!("Compared with plan {number}, the baseline. {help}"),
                (None, None) => help.to_owned(),
            };
            ListItem::new(index as u32, *format).detail(detail)
        }));
        let body = top(rest, 1).1;
        let body = if body.height < formats { rest } else { body };
        self.list(app, edit.format, 0, body, buf, out);
    }
}
