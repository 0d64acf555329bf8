//! Pieces of chunks: the destinations of each piece, and a check that the pieces cover the chunks.

use super::{Findings, code};
use crate::plan::{CollectiveResult, Discipline};
use crate::scenario::{ChunkList, CollectiveScenario, CollectiveSort};
use std::collections::{BTreeMap, BTreeSet};

/// Relative tolerance for sums of sizes, as a fraction of a chunk.
const ROUNDING: f64 = 1e-9;

/// Placeholder for the destination of chunks that no node needs.
const NOBODY: u32 = u32::MAX;

/// A piece, as the checker recomputes it.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Node at which the piece begins; if the piece is reduced, the node at which it ends.
    pub(super) root: u32,
    /// Nodes at which the piece ends; if the piece is reduced, the nodes at which parts of it begin.
    pub(super) ends: Vec<u32>,
    /// `true` if the piece is reduced.
    pub(super) adds_up: bool,
    /// Chunk to which the piece belongs.
    pub(super) chunk: u32,
}

/// All pieces, by id.
#[derive(Debug)]
pub(super) struct PieceParts {
    pub(super) parts: Vec<Part>,
}

impl PieceParts {
    pub(super) fn of(
        scenario: &CollectiveScenario,
        chunks: &ChunkList,
        result: &CollectiveResult,
        found: &mut Findings,
    ) -> Option<Self> {
        let sort = scenario.demand.collective;
        let bytes = scenario.demand.chunk_size(&scenario.topology);
        // Byte ranges that each destination gets of a chunk, separately for reducing and spreading; the ranges of a
        // chunk that no node needs have the destination NOBODY.
        let mut got: BTreeMap<(u32, bool, u32), Vec<(f64, f64)>> = BTreeMap::new();
        let mut parts = Vec::with_capacity(result.pieces.len());
        for (index, piece) in result.pieces.iter().enumerate() {
            if piece.id as usize != index {
                found.add_with(code::PIECE, || {
                    format!("pieces[{index}] has id {}, must have id {index}", piece.id)
                });
            }
            if piece.chunk as usize >= chunks.len() {
                found.add_with(code::PIECE, || {
                    format!("pieces[{index}] is part of chunk {}, which does not exist", piece.chunk)
                });
                continue;
            }
            let may_add = sort.reduces();
            let may_spread = sort != CollectiveSort::ReduceScatter;
            if (piece.adds_up && !may_add) || (!piece.adds_up && !may_spread) {
                found.add_with(code::PIECE, || {
                    format!(
                        "pieces[{index}] has adds_up {}, which {} does not allow",
                        piece.adds_up,
                        sort.label()
                    )
                });
            }
            let chunk = piece.chunk as usize;
            let wanted: BTreeSet<u32> = chunks.dests(chunk).collect();
            let ends: Vec<u32> = match &piece.dests {
                None => wanted.iter().copied().collect(),
                Some(dests) => dests.clone(),
            };
            let range = (piece.offset_bytes, piece.offset_bytes + piece.size_bytes);
            if wanted.is_empty() {
                got.entry((piece.chunk, piece.adds_up, NOBODY)).or_default().push(range);
            } else if ends.is_empty() {
                found.add_with(code::PIECE, || format!("pieces[{index}] has no destination"));
            }
            for end in &ends {
                if !wanted.contains(end) {
                    found.add_with(code::PIECE, || {
                        format!("pieces[{index}] is for node {end}, which does not need its chunk")
                    });
                }
                got.entry((piece.chunk, piece.adds_up, *end)).or_default().push(range);
            }
            let equal = result.time.piece_bytes(bytes);
            let turn = (piece.offset_bytes / equal).round();
            let whole = (piece.offset_bytes - turn * equal).abs() <= bytes * ROUNDING
                && (piece.size_bytes - equal).abs() <= equal * ROUNDING;
            if result.time.discipline == Discipline::WholeChunk && !whole {
                found.add_with(code::PIECE, || {
                    format!("pieces[{index}] is not a whole piece of {equal} bytes")
                });
            }
            if piece.size_bytes <= 0.0 {
                found.add_with(code::PIECE, || format!("pieces[{index}] is empty"));
            }
            // Gather sends data in the reverse direction of the list of chunks: from each rank to the root.
            let (root, ends) = match (sort, ends.as_slice()) {
                (CollectiveSort::Gather, [rank]) => (*rank, vec![chunks.source(chunk)]),
                _ => (chunks.source(chunk), ends),
            };
            parts.push(Part { root, ends, adds_up: piece.adds_up, chunk: piece.chunk });
        }
        let directions: &[bool] = match sort {
            CollectiveSort::ReduceScatter => &[true],
            CollectiveSort::AllReduce => &[true, false],
            _ => &[false],
        };
        for chunk in 0..chunks.len() {
            for dest in chunks.dests(chunk) {
                for &adds_up in directions {
                    let ranges = got.remove(&(chunk as u32, adds_up, dest)).unwrap_or_default();
                    tile(chunk, &format!("node {dest}"), ranges, bytes, found);
                }
            }
        }
        for ((chunk, ..), ranges) in got.into_iter().filter(|((.., dest), _)| *dest == NOBODY) {
            tile(chunk as usize, "nobody", ranges, bytes, found);
        }
        found.is_empty().then_some(Self { parts })
    }
}

/// Checks that ranges follow each other from the first byte to the last.
fn tile(chunk: usize, dest: &str, mut ranges: Vec<(f64, f64)>, bytes: f64, found: &mut Findings) {
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut end = 0.0;
    for (from, to) in ranges {
        if (from - end).abs() > bytes * ROUNDING {
            found.add_with(code::PIECE, || {
                format!("pieces of chunk {chunk} for {dest} leave a gap or overlap at byte {end}")
            });
            return;
        }
        end = to;
    }
    if (end - bytes).abs() > bytes * ROUNDING {
        found.add_with(code::PIECE, || {
            format!("pieces of chunk {chunk} for {dest} end at byte {end}, but the chunk has {bytes}")
        });
    }
}
