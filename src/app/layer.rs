//! Layers above the panes, such as pop-ups: each layer handles a key or passes it on.

use crate::app::action::Command;
use crate::app::drawn::CellEditing;
use crate::app::effect::ExportJob;
use crate::app::pane::{ItemId, PaneId};
use crate::app::plans::PlanRef;
use std::path::PathBuf;
use std::sync::Arc;
use tui_input::Input;

/// Types of layers, for the action table and drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// The keys and their effects, with a filter.
    Help,
    /// All actions by name, with arguments.
    Palette,
    /// The value of a knob.
    EditKnob,
    /// Entries of the displayed plan, evaluated at every step.
    EditCell,
    /// A question with its answers.
    Confirm,
    /// Two plans side by side.
    Compare,
    /// Format and path of a file to write.
    Export,
    /// The log of events and messages.
    Log,
    /// All runs of the session.
    Runs,
    /// The list of panes.
    Panes,
    /// Text to read: details of an item, the report of a check, a message.
    Text,
    /// Text to search for.
    Search,
}

/// A one-line text with a cursor, and the problem of the text.
#[derive(Clone, Debug, Default)]
pub struct TextField {
    /// Typed text, and position of the cursor.
    pub input: Input,
    /// What is wrong with the text, shown in the line below it; empty if the text is valid.
    pub problem: String,
    /// `true` until the first change: a typed or pasted text then replaces the whole text.
    pub fresh: bool,
}

impl TextField {
    /// Creates a field with a text and the cursor at the end of the text.
    pub fn holding(text: impl Into<String>) -> Self {
        Self { input: Input::new(text.into()), problem: String::new(), fresh: false }
    }

    /// Creates a field with a text that the first typed character replaces; moving the cursor keeps the text.
    pub fn fresh(text: impl Into<String>) -> Self {
        Self { fresh: true, ..Self::holding(text) }
    }

    /// Removes the text if typing replaces it.
    pub fn begin_typing(&mut self) {
        if std::mem::take(&mut self.fresh) {
            self.input = Input::default();
        }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        self.input.value()
    }
}

/// A list with a filter: help, palette.
#[derive(Clone, Debug, Default)]
pub struct Filtered {
    /// Text of the filter.
    pub field: TextField,
    /// Selected line among those that match.
    pub selected: usize,
    /// Index of the first line shown.
    pub offset: usize,
}

/// The value of a knob while it is typed.
#[derive(Clone, Debug)]
pub struct KnobEdit {
    /// Row of the form that is edited.
    pub row: ItemId,
    /// Name of the knob.
    pub name: String,
    /// Text typed so far.
    pub field: TextField,
    /// Names to choose from with the arrows; empty if any text may be typed.
    pub choices: Vec<String>,
}

/// The result of evaluating an edited list for one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// Name of the variant.
    pub variant: &'static str,
    /// The plan, or the reason that the plan is missing.
    pub plan: Result<PlanRef, String>,
}

/// An edit of the displayed plan: the changed entries and their effect.
#[derive(Clone, Debug)]
pub struct CellEdit {
    /// Pane in which the edit started.
    pub pane: PaneId,
    /// Editable cells and rules of the edit, as they were when the edit started.
    pub cells: Arc<CellEditing>,
    /// The list with the changes.
    pub values: Vec<i64>,
    /// Entry that the keys change.
    pub entry: usize,
    /// Number of the newest evaluation requested; older results are dropped.
    pub key: u64,
    /// `true` if the newest evaluation is still under way.
    pub waiting: bool,
    /// `true` if the user accepted the edit before its evaluation ended.
    pub is_accepted: bool,
    /// Results of the evaluation of `values`, best first.
    pub previews: Vec<Preview>,
    /// Reason that the last step was refused; empty if it was accepted.
    pub problem: String,
    /// `true` if the next digit is appended to the entry.
    pub typing: bool,
}

impl CellEdit {
    /// Returns the best plan among the previews.
    pub fn plan(&self) -> Option<&PlanRef> {
        self.previews.iter().find_map(|preview| preview.plan.as_ref().ok())
    }

    /// Returns `true` if anything was changed.
    pub fn is_changed(&self) -> bool {
        self.values != self.cells.values
    }
}

/// A question before a step that cannot be undone.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Text of the question.
    pub text: String,
    /// Explanation of the consequences of the answers.
    pub meaning: String,
    /// The answers, the safe one first.
    pub answers: Vec<&'static str>,
    /// Index of the answer that Enter selects.
    pub chosen: usize,
    /// Steps for the answers after the first, in their order; the last one is the requested step.
    pub then: Vec<Confirmed>,
}

/// Step after any answer except the safe answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Confirmed {
    /// Leave the program.
    Leave,
    /// Overwrite a file.
    Overwrite(ExportJob),
    /// Let the user type the argument of a command in the palette.
    Ask(&'static str),
    /// Execute a command, such as opening another file while a solve runs.
    Run(Command),
    /// Record keys to an existing file.
    Record(PathBuf),
}

/// A file to write.
#[derive(Clone, Debug)]
pub struct ExportEdit {
    /// Plan to write; `None` writes the scenario.
    pub plan: Option<u64>,
    /// Comparison to write in place of a plan.
    pub table: Option<CompareView>,
    /// Formats to choose from, by name.
    pub formats: Vec<&'static str>,
    /// Index of the chosen format.
    pub format: usize,
    /// Path as typed.
    pub path: TextField,
    /// `true` if the user typed the path, so that a change of format does not change the path.
    pub typed: bool,
}

/// Two plans side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Number of the judged plan.
    pub plan: u64,
    /// Number of the reference plan.
    pub against: u64,
}

/// The comparison of plans as a layer. Several pairs have the same reference; they are shown side by side first, then
/// one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompareView {
    /// Pairs to compare.
    pub pairs: Vec<Pair>,
    /// Index of the view: with several pairs, 0 shows all of them and a larger index shows one pair.
    pub at: usize,
    /// Index of the first row shown.
    pub offset: usize,
    /// `true` if figures that are equal in all plans are left out.
    pub differing: bool,
}

impl CompareView {
    /// Creates the view of these pairs.
    pub const fn new(pairs: Vec<Pair>) -> Self {
        Self { pairs, at: 0, offset: 0, differing: false }
    }

    /// Returns the number of views to step through.
    pub const fn views(&self) -> usize {
        if self.pairs.len() > 1 { self.pairs.len() + 1 } else { 1 }
    }

    /// Returns the pairs of the present view.
    pub fn shown(&self) -> &[Pair] {
        match self.at.checked_sub(1) {
            Some(at) if self.pairs.len() > 1 => self.pairs.get(at..=at).unwrap_or_default(),
            _ => &self.pairs,
        }
    }

    /// Returns the pair of the present view; `None` if the view shows several pairs.
    pub fn pair(&self) -> Option<Pair> {
        match self.shown() {
            [pair] => Some(*pair),
            _ => None,
        }
    }
}

/// A text to read as a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextView {
    /// Subject of the text.
    pub title: String,
    /// Lines of the text.
    pub lines: Vec<String>,
    /// Index of the first line shown.
    pub offset: usize,
}

/// A list to choose from or scroll through, as a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListView {
    /// Selected line, counted from the top (runs, panes) or from the newest line (log).
    pub selected: usize,
    /// Index of the first line shown.
    pub offset: usize,
}

/// A layer above the panes.
#[derive(Clone, Debug)]
pub enum Layer {
    /// See [`LayerKind::Help`].
    Help(Filtered),
    /// See [`LayerKind::Palette`].
    Palette(Filtered),
    /// See [`LayerKind::EditKnob`].
    EditKnob(KnobEdit),
    /// See [`LayerKind::EditCell`].
    EditCell(CellEdit),
    /// See [`LayerKind::Confirm`].
    Confirm(Question),
    /// See [`LayerKind::Compare`].
    Compare(CompareView),
    /// See [`LayerKind::Export`].
    Export(ExportEdit),
    /// See [`LayerKind::Log`].
    Log(ListView),
    /// See [`LayerKind::Runs`].
    Runs(ListView),
    /// See [`LayerKind::Panes`].
    Panes(ListView),
    /// See [`LayerKind::Text`].
    Text(TextView),
    /// See [`LayerKind::Search`].
    Search(TextField),
}

impl Layer {
    /// Returns the type of the layer.
    pub const fn kind(&self) -> LayerKind {
        match self {
            Self::Help(_) => LayerKind::Help,
            Self::Palette(_) => LayerKind::Palette,
            Self::EditKnob(_) => LayerKind::EditKnob,
            Self::EditCell(_) => LayerKind::EditCell,
            Self::Confirm(_) => LayerKind::Confirm,
            Self::Compare(_) => LayerKind::Compare,
            Self::Export(_) => LayerKind::Export,
            Self::Log(_) => LayerKind::Log,
            Self::Runs(_) => LayerKind::Runs,
            Self::Panes(_) => LayerKind::Panes,
            Self::Text(_) => LayerKind::Text,
            Self::Search(_) => LayerKind::Search,
        }
    }

    /// Returns the text field for typed characters, if the layer has one.
    pub const fn field(&mut self) -> Option<&mut TextField> {
        match self {
            Self::Help(list) | Self::Palette(list) => Some(&mut list.field),
            Self::EditKnob(edit) => Some(&mut edit.field),
            Self::Export(edit) => Some(&mut edit.path),
            Self::Search(field) => Some(field),
            _ => None,
        }
    }
}

impl LayerKind {
    /// Returns `true` if the layer has a text field.
    pub const fn types(self) -> bool {
        matches!(self, Self::Help | Self::Palette | Self::EditKnob | Self::Export | Self::Search)
    }

    /// Returns `true` if the panes below stay visible and receive the keys that the layer does not handle.
    pub const fn is_transparent(self) -> bool {
        matches!(self, Self::EditCell | Self::Search)
    }
}
