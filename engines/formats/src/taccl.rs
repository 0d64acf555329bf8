//! Topologies and sketches of TACCL, topologies of MSCCL, and the inputs and results of the published TE-CCL program,
//! all JSON.
//!
//! In the matrices of TACCL and MSCCL the destination comes first: `links[to][from]`. Times are in µs and costs in µs
//! per megabyte; the files do not define the megabyte: [`Megabyte`] states its size.

mod sketch;
pub mod teccl;
mod topology;

#[cfg(test)]
mod tests;

pub use sketch::{TacclSketch, read_sketch};
pub use topology::{
    Megabyte, MscclSwitch, MscclTopology, TacclTopology, read_msccl, read_taccl, write_msccl, write_taccl,
};

use crate::gz::{self, Limits};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::read::brief;
use serde_json::Value;
use std::io::BufRead;

/// Maximum size of a file, bytes.
const MOST_BYTES: u64 = 32 << 20;
/// Maximum number of GPUs of a node, and maximum number of nodes of a topology.
const MOST_RANKS: usize = 4096;
/// Maximum time, µs, and maximum cost, µs per megabyte.
const MOST_US: f64 = 1e12;

fn json(reader: impl BufRead, limits: &Limits) -> Result<Value, Problem> {
    gz::json(reader, limits, MOST_BYTES)
}

/// Reads a list of finite numbers, 0 or more.
fn numbers(value: &Value, path: &str, problems: &mut Problems) -> Option<Vec<f64>> {
    let list = lightbay_core::read::list_at(value, path, problems)?;
    let found: Vec<f64> = list
        .iter()
        .enumerate()
        .filter_map(|(at, value)| {
            let number = value.as_f64().filter(|number| (0.0..=MOST_US).contains(number));
            if number.is_none() {
                problems.add(
                    format!("{path}[{at}]"),
                    format!("is {}", brief(value)),
                    format!("use a number from 0 to {MOST_US:e}"),
                );
            }
            number
        })
        .collect();
    (found.len() == list.len()).then_some(found)
}

/// Reads a square matrix of finite numbers, 0 or more.
fn matrix(value: &Value, path: &str, problems: &mut Problems) -> Option<Vec<Vec<f64>>> {
    let list = lightbay_core::read::list_at(value, path, problems)?;
    if list.len() > MOST_RANKS {
        problems.add(path, format!("has {} rows", list.len()), format!("use at most {MOST_RANKS}"));
        return None;
    }
    let mut rows = Vec::with_capacity(list.len());
    for (at, value) in list.iter().enumerate() {
        let path = format!("{path}[{at}]");
        let Some(row) = numbers(value, &path, problems) else { continue };
        if row.len() != list.len() {
            let message = format!("has {} entries, but the matrix has {} rows", row.len(), list.len());
            problems.add(path, message, "use a square matrix");
        }
        rows.push(row);
    }
    let square = rows.len() == list.len() && rows.iter().all(|row| row.len() == list.len());
    square.then_some(rows)
}
