//! Annealing by Kempe chains: circuits change places between two switches, and what that costs decides.
//!
//! Every step moves one circuit that sits where it was not installed, with the chain that follows, half of the time to
//! a switch where its pair lacks an installed circuit. Only such steps can gain anything, and steps that cost nothing
//! carry the search over plateaus. The orientation stays.

use crate::assignment::Assignment;
use crate::board::Board;
use crate::task::Task;
use crate::watch::Watch;
use lightbay_core::method::MethodError;
use lightbay_core::random::Stream;
use rand::RngExt;

#[cfg(test)]
mod tests;

/// How long and how hot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Steps.
    pub steps: u64,
    /// Temperature at the beginning, in removed circuits.
    pub hot: f64,
    /// Temperature at the end.
    pub cold: f64,
}

/// Steps between two questions whether to go on.
const STEPS_PER_QUESTION: u64 = 256;
/// Moves of circuits between two questions.
const MOVES_PER_QUESTION: usize = 1 << 14;

/// Anneals from an assignment of the task that fits, and hands every better one to `found` (removed circuits and a
/// closure that makes the assignment). Returns the best.
///
/// # Errors
/// The reason to stop, or what `found` returns.
pub fn anneal<W: Watch>(
    task: &Task,
    start: &Assignment,
    settings: Settings,
    stream: &mut Stream,
    watch: &mut W,
    mut found: impl FnMut(&mut W, u64, &Assignment) -> Result<(), MethodError>,
) -> Result<Assignment, MethodError> {
    let mut board = Board::of(task, start);
    let mut best = (board.removed(), start.clone());
    let lost: Vec<(u32, u32, u32)> =
        board.installed_cells().map(|(ocs, cell)| (ocs, cell.a, cell.b)).collect();
    let mut by_pair = rustc_hash::FxHashMap::<[u32; 2], Vec<u32>>::default();
    for circuit in 0..board.circuits() as u32 {
        by_pair.entry(board.ends_of(circuit)).or_default().push(circuit);
    }
    if board.circuits() == 0 || task.ocs_count < 2 || lost.is_empty() {
        return Ok(best.1);
    }
    let (ocs_count, circuits) = (task.ocs_count as u32, board.circuits() as u32);
    let cooling = (settings.cold / settings.hot).max(f64::MIN_POSITIVE).ln();
    let mut temperature = settings.hot;
    let (mut since, mut unsaved) = (0, false);
    for step in 0..settings.steps {
        if step % STEPS_PER_QUESTION == 0 || since > MOVES_PER_QUESTION {
            since = 0;
            watch.checkpoint()?;
            temperature = settings.hot * (cooling * step as f64 / settings.steps as f64).exp();
        }
        let (circuit, to) = if stream.random_bool(0.5) {
            let (ocs, a, b) = lost[stream.random_range(0..lost.len())];
            if !board.is_lacking(ocs, a, b) {
                continue;
            }
            let Some(pair) = by_pair.get(&[a, b]) else { continue };
            (pair[stream.random_range(0..pair.len())], ocs)
        } else {
            (stream.random_range(0..circuits), stream.random_range(0..ocs_count))
        };
        if board.ocs_of(circuit) == Some(to) || !board.is_extra(circuit) {
            continue;
        }
        let before = board.removed();
        // The uniform number first: a chain that gets dearer than it allows for good is not worth following. What
        // later moves may win back is at most what lacks on both switches, so this cuts a few chains too many.
        let uphill = (-temperature * (1.0 - stream.random::<f64>()).ln()).floor() as i64;
        let fits = board.shift(circuit, to, i64::MAX, Some(stream));
        since += board.moves();
        if !fits || board.removed() - before > uphill {
            board.undo();
            continue;
        }
        board.settle();
        if board.removed() < best.0 {
            best.0 = board.removed();
            unsaved = true;
        }
        if unsaved && board.removed() == best.0 {
            best.1 = board.assignment();
            unsaved = false;
            found(watch, best.0 as u64, &best.1)?;
        }
    }
    watch.count(settings.steps);
    Ok(best.1)
}
