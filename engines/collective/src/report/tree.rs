//! The paths of one chunk, as a tree from its source to all nodes that receive it.

use super::ExplainedPlan;
use super::progress::arrivals;
use crate::plan::PieceSend;
use lightbay_core::quantity::grouped;
use lightbay_core::report::{Cell, Column, Phrase, Section, Table, Tone, Unavailable, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of rows of a tree.
const MOST_ROWS: usize = 2000;

/// A send of the chunk with the epoch at which its data is usable.
type Arrival = (PieceSend, u32);

/// Sends of the pieces of a chunk, by piece and by tail; by head if the pieces are reduced.
type ByTail = BTreeMap<(u32, u32), Vec<Arrival>>;

/// Returns the section with the paths of a chunk: every send with its head, indented below the send on which it
/// depends. For pieces that are reduced, the tree goes from the GPU that gets the sum back to the contributors.
pub(super) fn of_chunk(subject: ExplainedPlan<'_>, chunk: u32) -> Result<Section, Unavailable> {
    let pieces: BTreeMap<u32, bool> = subject
        .result
        .pieces
        .iter()
        .filter(|piece| piece.chunk == chunk)
        .map(|piece| (piece.id, piece.adds_up))
        .collect();
    let sends: Vec<Arrival> =
        arrivals(subject).into_iter().filter(|(send, _)| pieces.contains_key(&send.piece)).collect();
    if sends.is_empty() {
        return Err(Unavailable::absent(
            format!("no part of chunk {chunk} is sent"),
            "select a chunk that has a destination",
        ));
    }
    let rows = trees(&pieces, sends);
    let epoch_us = subject.result.time.epoch_us;
    let several = pieces.len() > 1;
    let mut columns = vec![
        Column::words("way", "way"),
        Column::counts("start_epoch", "start"),
        Column::counts("arrival_epoch", "usable"),
        Column::numbers("arrival_us", "usable", Unit::new("µs", 1.0, Some(3))).priority(1),
    ];
    if several {
        columns.push(Column::counts("piece", "piece").priority(2));
    }
    let finish = subject.result.claims.finish_epochs;
    let mut table = Table::new(["send", "sends"], columns);
    for (depth, (send, arrival)) in rows.iter().take(MOST_ROWS) {
        // A reduction is shown from its end: a contributor is below the node that reduces.
        let (node, sign) =
            if pieces.get(&send.piece) == Some(&true) { (send.from, "←") } else { (send.to, "→") };
        let tone = if *arrival == finish { Tone::Answer } else { Tone::Text };
        let mut cells = vec![
            Cell::new(format!("{}{sign} {}", indent(*depth), subject.node(node))).tone(tone),
            Cell::new(send.epoch),
            Cell::new(*arrival),
            Cell::new(f64::from(*arrival) * epoch_us),
        ];
        if several {
            cells.push(Cell::new(send.piece).tone(Tone::Muted));
        }
        table.row(cells);
    }
    let last = rows.iter().map(|(_, (_, arrival))| *arrival).max().unwrap_or(0);
    let sends = match rows.len() {
        many if many > MOST_ROWS => {
            format!("first {} of {} sends", grouped(MOST_ROWS as u64), grouped(many as u64))
        }
        1 => "1 send".to_owned(),
        all => format!("{} sends", grouped(all as u64)),
    };
    let section = Section::new(format!("paths of chunk {chunk}"), table)
        .context(Phrase::new().muted(sends))
        .answer(Phrase::new().muted("until epoch ").answer(grouped(last.into())));
    if rows.len() > MOST_ROWS {
        return Ok(section.remark(format!("The first {MOST_ROWS} of {} sends.", grouped(rows.len() as u64))));
    }
    Ok(section)
}

/// Depth above which the depth is written as a number: deeper indents would push the names out of the column.
pub(super) const DEEPEST: usize = 8;

/// Returns the indentation of a send at a depth of the tree.
fn indent(depth: usize) -> String {
    let number = if depth > DEEPEST { format!("{depth} ") } else { String::new() };
    "  ".repeat(depth.min(DEEPEST)) + &number
}

/// Returns the sends of all pieces in tree order, each with its depth.
fn trees(pieces: &BTreeMap<u32, bool>, sends: Vec<Arrival>) -> Vec<(usize, Arrival)> {
    let mut by_tail = ByTail::new();
    let mut heads: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let ends = |send: &PieceSend| {
        if pieces.get(&send.piece) == Some(&true) { (send.to, send.from) } else { (send.from, send.to) }
    };
    for (send, arrival) in sends {
        let (tail, head) = ends(&send);
        by_tail.entry((send.piece, tail)).or_default().push((send, arrival));
        heads.entry(send.piece).or_default().insert(head);
    }
    for list in by_tail.values_mut() {
        list.sort_by_key(|(send, arrival)| (*arrival, send.epoch, send.to));
    }
    // A tree begins at a node at which no part of its piece arrives; data that circulates through switches has no
    // beginning and is shown from its first transmission.
    let roots: Vec<(u32, u32)> = by_tail
        .keys()
        .filter(|(piece, tail)| heads.get(piece).is_none_or(|heads| !heads.contains(tail)))
        .copied()
        .collect();
    let mut rows = Vec::new();
    for root in roots {
        below(root, &mut by_tail, &mut rows, &ends);
    }
    while let Some(root) = by_tail.keys().next().copied() {
        below(root, &mut by_tail, &mut rows, &ends);
    }
    rows
}

/// Moves the sends of a piece from a node (`root` is the piece and the node), and all sends of the piece after them,
/// from `by_tail` to `rows`.
fn below(
    root: (u32, u32),
    by_tail: &mut ByTail,
    rows: &mut Vec<(usize, Arrival)>,
    ends: &impl Fn(&PieceSend) -> (u32, u32),
) {
    // A stack instead of recursion: a ring of thousands of nodes is as deep as it is long.
    let mut open: Vec<(usize, Arrival)> = Vec::new();
    let mut leave = |node: (u32, u32), depth: usize, open: &mut Vec<(usize, Arrival)>| {
        let next = by_tail.remove(&node).unwrap_or_default();
        open.extend(next.into_iter().rev().map(|arrival| (depth, arrival)));
    };
    leave(root, 0, &mut open);
    while let Some((depth, arrival)) = open.pop() {
        rows.push((depth, arrival));
        leave((arrival.0.piece, ends(&arrival.0).1), depth + 1, &mut open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(piece: u32, from: u32, to: u32, epoch: u32) -> Arrival {
        (PieceSend { piece, from, to, epoch }, epoch + 1)
    }

    fn drawn(pieces: &[(u32, bool)], sends: Vec<Arrival>) -> Vec<(usize, u32, u32)> {
        let rows = trees(&pieces.iter().copied().collect(), sends);
        rows.into_iter().map(|(depth, (send, _))| (depth, send.from, send.to)).collect()
    }

    #[test]
    fn what_is_spread_is_drawn_from_its_source() {
        let sends = vec![send(0, 0, 1, 0), send(0, 1, 2, 1), send(0, 1, 3, 2), send(0, 0, 4, 1)];
        assert_eq!(drawn(&[(0, false)], sends), [(0, 0, 1), (1, 1, 2), (1, 1, 3), (0, 0, 4)]);
    }

    #[test]
    fn what_is_added_up_is_drawn_from_its_end() {
        let sends = vec![send(0, 2, 1, 0), send(0, 3, 1, 0), send(0, 1, 0, 1)];
        assert_eq!(drawn(&[(0, true)], sends), [(0, 1, 0), (1, 2, 1), (1, 3, 1)]);
    }

    #[test]
    fn every_send_is_drawn_once_even_in_a_circle() {
        let sends = vec![send(0, 0, 1, 0), send(0, 1, 0, 1), send(1, 5, 6, 0)];
        assert_eq!(drawn(&[(0, false), (1, false)], sends), [(0, 5, 6), (0, 0, 1), (1, 1, 0)]);
    }

    #[test]
    fn deep_sends_are_indented_no_further_and_tell_their_depth() {
        assert_eq!([indent(0), indent(2), indent(8)], [0, 4, 16].map(|blanks| " ".repeat(blanks)));
        assert_eq!(indent(31), " ".repeat(16) + "31 ");
    }
}
