//! The methods of kind `training`, one file each.

use crate::kind::Training;
use crate::plan::TrainingResult;
use crate::scenario::TrainingScenario;
use lightbay_core::kind::Carried;
use lightbay_core::method::Method;
use std::sync::Arc;

/// All methods, in the order in which they are listed.
pub fn all() -> Vec<Arc<dyn Method<Training>>> {
    Vec::new()
}

/// Makes a plan fit a changed scenario: its circuits, repaired, under its own rate control.
///
/// # Errors
/// One sentence that says why it cannot.
pub fn carry(
    _result: &TrainingResult,
    _from: &TrainingScenario,
    _to: &TrainingScenario,
) -> Result<Carried<TrainingResult>, String> {
    Err("no method yet".to_owned())
}
