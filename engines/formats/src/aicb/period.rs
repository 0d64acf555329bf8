//! Boundaries of the micro-batches in a SimAI text.
//!
//! The generator repeats the layers of the stage once per micro-batch; each repetition starts with a row
//! `embedding_layer`. Rows before the first repetition occur once per iteration (gradients, norms), and so do rows
//! after the last one (loss, optimizer).

use std::ops::Range;

use super::simai_text::{SimaiRow, SimaiText};
use lightbay_core::problem::counted;

/// The three parts of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    /// Rows that occur once per iteration, before the layers.
    pub prologue: Range<usize>,
    /// The repeated rows of all micro-batches.
    pub middle: Range<usize>,
    /// Rows that occur once per iteration, after the layers.
    pub epilogue: Range<usize>,
    /// Number of repetitions of the layers in `middle`.
    pub micro_batches: u64,
    /// Reason why the file is imported as one micro-batch; empty if the file contains several micro-batches.
    pub note: String,
    /// `true` if the import as one micro-batch may be wrong, because the header or the rows state several
    /// micro-batches.
    pub doubtful: bool,
}

impl Period {
    /// Returns the number of rows of one micro-batch.
    pub fn rows(&self) -> usize {
        self.middle.len() / usize::try_from(self.micro_batches).unwrap_or(usize::MAX).max(1)
    }
}

const START: &str = "embedding_layer";
/// Names of the rows of loss and optimizer.
const EPILOGUE: [&str; 3] = ["cross_entropy", "optimizer", "loss"];

/// Splits a file into its parts.
pub fn find(file: &SimaiText) -> Period {
    let rows = &file.rows;
    let start_name = file.names.iter().position(|name| name == START).map(|index| index as u32);
    let starts: Vec<usize> = (0..rows.len()).filter(|&i| Some(rows[i].name) == start_name).collect();
    let first = starts.first().copied().unwrap_or(0);
    let after_last_start = starts.last().map_or(0, |last| last + 1);
    let closing = (after_last_start..rows.len())
        .find(|&i| EPILOGUE.iter().any(|word| file.name(&rows[i]).starts_with(word)))
        .unwrap_or(rows.len());
    let announced = file.header.micro_batches.unwrap_or(1);

    let one = |note: String| Period {
        prologue: 0..first,
        middle: first..closing,
        epilogue: closing..rows.len(),
        micro_batches: 1,
        doubtful: !note.is_empty() && (announced > 1 || starts.len() > 1),
        note,
    };
    if announced == 1 && starts.len() == 1 {
        return one(String::new());
    }
    if starts.is_empty() {
        return one(format!("the file has no row '{START}', so it counts as one micro-batch"));
    }
    if starts.len() as u64 != announced {
        return one(format!(
            "'{START}' occurs {}, but the header says ga {announced}, so the file counts as one micro-batch",
            counted(starts.len() as u64, "time", "times")
        ));
    }
    let length = starts[1] - starts[0];
    let end = first + length * starts.len();
    if end > closing {
        return one(format!(
            "the last micro-batch has fewer rows than the first ({length}), so the file counts as one \
             micro-batch"
        ));
    }
    let model = &rows[first..first + length];
    for (number, chunk) in rows[first..end].chunks(length).enumerate().skip(1) {
        if let Some(at) = model.iter().zip(chunk).position(|(a, b)| !same_work(a, b)) {
            return one(format!(
                "row {} of micro-batch {} differs from the first micro-batch, so the file counts as one \
                 micro-batch",
                at + 1,
                number + 1
            ));
        }
    }
    let mut in_model = vec![false; file.names.len()];
    for row in model {
        in_model[row.name as usize] = true;
    }
    if rows[end..closing].iter().any(|row| in_model[row.name as usize]) {
        return one(format!(
            "rows of layers follow after {} micro-batches of {length} rows, so the file counts as one micro-batch",
            starts.len()
        ));
    }
    Period {
        prologue: 0..first,
        middle: first..end,
        epilogue: end..rows.len(),
        micro_batches: announced,
        note: String::new(),
        doubtful: false,
    }
}

/// Returns `true` if both rows are the same layer with the same collectives; the times may differ.
fn same_work(a: &SimaiRow, b: &SimaiRow) -> bool {
    a.name == b.name
        && a.cells
            .iter()
            .zip(&b.cells)
            .all(|(x, y)| x.collective == y.collective && x.written_bytes == y.written_bytes)
}
