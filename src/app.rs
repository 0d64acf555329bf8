//! The workbench without input and output: its state, and the update that turns an action into a new state and effects.
//!
//! ```text
//! input, events, frames -> Action -> App::update -> Effects -> runtime
//!                                       |
//!                                      App -> view::draw -> Drawn -> Action
//! ```
//!
//! Nothing here reads a clock, a file or a terminal, and nothing depends on particular kinds of scenario: panes come
//! from a table of the view, and each drawn pane describes how its cells are edited.

pub mod action;
pub mod arguments;
pub mod drawn;
pub mod effect;
pub mod hints;
pub mod key;
pub mod keymap;
pub mod layer;
pub mod listing;
pub mod log;
pub mod navigate;
pub mod palette;
pub mod pane;
pub mod plans;
pub mod possible;
mod preview;
mod proven;
pub mod runs;
pub mod script;
pub mod series;
pub mod source;
pub mod start_screen;
pub mod state;
pub mod sweeps;
pub mod table;
mod update;
pub mod work;

pub use action::{Action, Command, Fact};
pub use drawn::Drawn;
pub use effect::{Effect, Effects};
pub use pane::{ItemId, PaneId, PaneInfo, PaneState, SizeClass};
pub use state::{App, AppOptions, Look};
pub use update::{RunProgress, Signs, TABLE_FORMATS, entry_of};

#[cfg(test)]
mod tests;
