//! Pane 6: the commands for the switches in the chosen format, as the exporter writes the files.

use super::{ExplainedChange, SCREENS, chosen_switch, step_through_switches};
use crate::app::drawn::{Item, PaneDrawn};
use crate::view::present::rows::{ends, from, line, row};
use crate::view::present::{PaneInput, Title, below, body, frame, other_plan, plain};
use lightbay_engines::crossconnect::files::exports::{self, File, LineSort};
use lightbay_engines::crossconnect::rollout::caveat::Warning;
use lightbay_engines::crossconnect::scenario::Wiring;
use lightbay_engines::{AnyPlan, FormatInfo};
use lightbay_widgets::{PaneState as Shown, Piece, Tone, number, pieces_width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// The formats that `v` cycles through: the formats of the kind, except the plan file itself.
pub const FORMATS: &[&str] = &exports::NAMES;

/// Number of lines of a file that are kept for the preview: the rows of the tallest screen.
const LINES: usize = 200;

/// Maximum length of a line that is kept, in bytes.
const LINE_BYTES: usize = 400;

/// The displayed part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Name of the file.
    pub name: String,
    /// Number of lines of the file.
    pub lines: usize,
    /// Number of connections that the file removes.
    pub removals: usize,
    /// Number of connections that the file sets.
    pub additions: usize,
    /// The switch of the file, if the file belongs to one switch.
    pub switch: Option<usize>,
    /// `true` for a file of the rollback.
    pub rollback: bool,
    /// First lines of the file, each with its effect on connections (removes, adds or neither).
    pub first: Vec<(LineSort, String)>,
}

/// All files that a format writes.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportPreview {
    /// Description of the format.
    pub format: FormatInfo,
    /// The files that the format writes.
    pub files: Vec<Preview>,
    /// Warnings about the change in a few words each. They need the batches of the change, which take milliseconds, so
    /// they are computed with the files and not in a frame.
    pub warnings: Vec<String>,
}

/// Writes a plan in a format, as `export` does with default options.
///
/// # Errors
/// Error of the exporter.
pub fn write(plan: &AnyPlan, format_at: usize) -> Result<ExportPreview, String> {
    let name = FORMATS.get(format_at).copied().unwrap_or(FORMATS[0]);
    let AnyPlan::Crossconnect(plan) = plan else { return Err("this plan touches no switch".to_owned()) };
    let Some(changes) = plan.plan().result.changes() else {
        return Err("this plan touches no switch".to_owned());
    };
    let warnings = Warning::all(&plan.plan().scenario.body, changes);
    let format = lightbay_engines::exporters(SCREENS.kind)
        .into_iter()
        .find(|info| info.name == name)
        .ok_or_else(|| format!("there is no format '{name}'"))?;
    let files = exports::preview(plan, name)
        .map_err(|problems| problems.list().iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let short = |line: &str| {
        let end = (0..=line.len().min(LINE_BYTES)).rev().find(|&at| line.is_char_boundary(at));
        line[..end.unwrap_or(0)].to_owned()
    };
    let preview = |file: File| Preview {
        switch: file.switch.map(|switch| switch as usize),
        lines: file.script.len(),
        removals: file.removes,
        additions: file.adds,
        rollback: file.rollback,
        first: file.script.lines().take(LINES).map(|(sort, line)| (sort, short(line))).collect(),
        name: file.name,
    };
    Ok(ExportPreview {
        format,
        files: files.into_iter().map(preview).collect(),
        warnings: warnings.into_iter().map(|warning| warning.short).collect(),
    })
}

/// Data of the pane, refilled when plan, format or switch change.
#[derive(Debug, Default)]
pub struct ExportPane {
    key: Option<(u64, u8, usize)>,
    /// Indices of the files of the displayed switch; of all files if no file belongs to a single switch.
    listed: Vec<usize>,
    items: Arc<[Item]>,
}

impl ExportPane {
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        plan: &ExplainedChange,
        files: &ExportPreview,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
    ) {
        let theme = &input.app.look.theme;
        let switch = chosen_switch(input.app, &plan.facts);
        let key = (plan.key, input.state.mode, switch);
        if self.key != Some(key) {
            self.key = Some(key);
            self.fill(plan, files, switch);
        }
        let at = input.state.selected.map_or(0, |id| id as usize).min(self.listed.len().saturating_sub(1));
        let shown = self.listed.get(at).and_then(|file| files.files.get(*file));
        frame(input, &title(input, plan, files), Shown::Ready, area, buf);
        let inner = body(area, u16::from(area.height >= 4));
        if inner.is_empty() {
            return;
        }
        let mut y = 0;
        if inner.height >= 8 {
            y += choose(input, inner, buf);
            y += options(input, files, from(inner, y), buf);
            y += 1;
        }
        if let Some(file) = shown {
            self.draw_file(input, file, at, from(inner, y), buf);
        } else {
            let words = format!("OCS {switch} does not change, so nothing is sent to it");
            line(theme, &[Piece::muted(words)], row(inner, y), buf);
        }
        let sentence = sentence(plan, files, switch, shown);
        if area.height >= 4 {
            line(theme, &sentence, below(inner), buf);
        }
        drawn.items = Arc::clone(&self.items);
        drawn.sentence = plain(&sentence);
        drawn.format = Some(files.format.name);
        step_through_switches(drawn, &plan.facts, switch);
        if input.focused {
            drawn.details =
                shown.map_or_else(Vec::new, |file| file.first.iter().map(|(_, text)| text.clone()).collect());
        }
    }

    fn fill(&mut self, plan: &ExplainedChange, files: &ExportPreview, switch: usize) {
        self.listed.clear();
        let about_switches = files.files.iter().any(|file| file.switch.is_some());
        let crossed = plan.scenario().is_some_and(|scenario| scenario.wiring == Wiring::CrossWired);
        let own = |of: usize| if crossed { of / 2 == switch } else { of == switch };
        let wanted = |file: &Preview| !about_switches || file.switch.is_some_and(own);
        let listed = files.files.iter().enumerate().filter(|(_, file)| wanted(file));
        self.listed.extend(listed.map(|(at, _)| at));
        let item = |id: u32| Item { id, row: id, place: 0.0 };
        self.items = (0..self.listed.len() as u32).map(item).collect();
    }

    /// Draws name, size and first lines of a file.
    fn draw_file(&self, input: &PaneInput<'_>, file: &Preview, at: usize, area: Rect, buf: &mut Buffer) {
        let theme = &input.app.look.theme;
        let mut name = vec![Piece::answer(file.name.clone())];
        if self.listed.len() > 1 {
            name.push(Piece::muted(format!(" {}/{}", at + 1, self.listed.len())));
        }
        let counts = vec![
            Piece::new(format!("−{}", file.removals), Tone::Bad).bold(),
            Piece::new(format!(" +{}", file.additions), Tone::Good).bold(),
            Piece::muted(format!("  {} lines", number::count(file.lines as u64))),
        ];
        ends(theme, &name, &counts, row(area, 0), buf);
        let room = area.height.saturating_sub(1);
        let cut = file.lines > usize::from(room);
        let lines = if cut { room.saturating_sub(1) } else { room };
        for (y, (sort, text)) in (1..=lines).zip(&file.first) {
            let tone = match sort {
                LineSort::Remove => Tone::Bad,
                LineSort::Add => Tone::Good,
                LineSort::Comment => Tone::Muted,
                LineSort::Other => Tone::Text,
            };
            line(theme, &[Piece::new(text.clone(), tone)], row(area, y), buf);
        }
        if cut && room > 0 {
            let more = file.lines.saturating_sub(usize::from(lines).min(file.first.len()));
            let words = format!("and {} more lines", number::count(more as u64));
            line(theme, &[Piece::muted(words)], row(area, room), buf);
        }
    }
}

fn title(input: &PaneInput<'_>, plan: &ExplainedChange, files: &ExportPreview) -> Title {
    let context = Vec::from_iter(other_plan(input.app, plan.key));
    let value = vec![
        Piece::answer(files.format.name),
        Piece::muted(match files.files.len() {
            1 => "  1 file".to_owned(),
            count => format!("  {count} files"),
        }),
    ];
    Title { context, value }
}

/// Draws the formats in a row, the chosen format in brackets, with whole names only; returns the rows used.
fn choose(input: &PaneInput<'_>, area: Rect, buf: &mut Buffer) -> u16 {
    let theme = &input.app.look.theme;
    let chosen = usize::from(input.state.mode);
    let name = |at: usize| match FORMATS[at] {
        name if at == chosen => Piece::answer(format!("[{name}] ")),
        name => Piece::muted(format!("{name} ")),
    };
    let more = Piece::muted(theme.glyphs.ellipsis);
    // Without room for all names, the chosen one comes first.
    let row = |first: usize| {
        let mut pieces = vec![Piece::muted("v ")];
        pieces.extend((first..FORMATS.len()).map(name));
        while pieces.len() > 2 && pieces_width(&pieces, theme.glyphs) > area.width {
            pieces.truncate(pieces.len() - if pieces.last() == Some(&more) { 2 } else { 1 });
            pieces.push(more.clone());
        }
        pieces
    };
    let pieces = row(0);
    let pieces = if pieces.contains(&name(chosen)) { pieces } else { row(chosen) };
    line(theme, &pieces, area, buf);
    1
}

/// Draws the options of the format with their default values; returns the rows used.
fn options(input: &PaneInput<'_>, files: &ExportPreview, area: Rect, buf: &mut Buffer) -> u16 {
    let theme = &input.app.look.theme;
    let mut pieces = vec![Piece::muted("options ")];
    if files.format.params.is_empty() {
        pieces.push(Piece::muted("none"));
    }
    for param in &files.format.params {
        let value = param.default.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
        pieces.push(Piece::muted(format!("{}=", param.name)));
        pieces.push(Piece::text(format!("{value}  ")));
    }
    line(theme, &pieces, area, buf);
    1
}

fn sentence(
    plan: &ExplainedChange,
    files: &ExportPreview,
    switch: usize,
    shown: Option<&Preview>,
) -> Vec<Piece> {
    let counts = plan.facts.switches.get(switch).cloned().unwrap_or_default();
    let mut pieces = vec![
        Piece::answer(format!("> OCS {switch}")),
        Piece::muted("  circuits "),
        Piece::new(format!("−{}", counts.remove + counts.forced), Tone::Bad).bold(),
        Piece::new(format!(" +{}", counts.add), Tone::Good).bold(),
    ];
    if let Some(file) = shown.filter(|file| file.switch.is_some()) {
        pieces
            .push(Piece::muted(format!("; connections −{} +{} in this file", file.removals, file.additions)));
    }
    let back = files.files.iter().filter(|file| file.rollback).count();
    pieces.push(Piece::muted(format!(
        "; w writes all {} files of {}, {back} of them for the rollback",
        files.files.len(),
        files.format.name
    )));
    for warning in &files.warnings {
        pieces.push(Piece::new(format!("; {warning}"), Tone::Bad));
    }
    pieces
}
