//! Chunks and deliveries over time, and every send.

use super::finish::in_groups;
use super::occupancy::{unit_of, unit_of_bytes};
use super::{ExplainedPlan, OVERVIEW};
use crate::check::send_times;
use crate::plan::PieceSend;
use crate::scenario::CollectiveSort;
use lightbay_core::quantity::grouped;
use lightbay_core::report::{
    About, Cell, Column, Curve, Curves, Mark, Matrix, Phrase, Point, Section, Table, Tone, Unit,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of chunks, and of destinations, in the matrix of arrivals.
const MOST_ARRIVALS: usize = 64;

const MICROSECONDS: Unit = Unit::new("µs", 1.0, Some(3));

/// Returns every send with the epoch at which its data is usable.
pub(super) fn arrivals(subject: ExplainedPlan<'_>) -> Vec<(PieceSend, u32)> {
    let Some(times) = send_times(subject.scenario, subject.result) else { return Vec::new() };
    subject.result.sends.iter().copied().zip(times.arrivals).collect()
}

/// Returns the deliveries to destinations: piece, node and epoch. A reduction is delivered when it is complete.
fn delivered(subject: ExplainedPlan<'_>) -> Vec<(u32, u32, u32)> {
    let chunks = subject.scenario.demand.expand(&subject.scenario.topology);
    let gathers = subject.scenario.demand.collective == CollectiveSort::Gather;
    let mut first: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (send, arrival) in arrivals(subject) {
        let piece = &subject.result.pieces[send.piece as usize];
        let chunk = piece.chunk as usize;
        let collects = piece.adds_up || gathers;
        let wanted = if collects {
            chunks.source(chunk) == send.to
        } else {
            match &piece.dests {
                Some(dests) => dests.contains(&send.to),
                None => chunks.dests(chunk).any(|dest| dest == send.to),
            }
        };
        if wanted {
            let known = first.entry((send.piece, send.to)).or_insert(arrival);
            *known = if piece.adds_up { arrival.max(*known) } else { arrival.min(*known) };
        }
    }
    first.into_iter().map(|((piece, node), epoch)| (piece, node, epoch)).collect()
}

/// Returns the section with the first and last delivery of every chunk; chunks that end last come first.
pub(super) fn chunks(subject: ExplainedPlan<'_>) -> Section {
    let table = chunk_table(subject);
    let last = table.rows.iter().filter(|row| !row.mark.is_empty()).count();
    let section = Section::new("Chunks", table);
    let section = section.answer(Phrase::new().answer(format!("{} end last", grouped(last as u64))));
    let section = section.legend("finish: last delivery of the chunk; slack: from it to the end");
    match arrival_matrix(subject) {
        Some(matrix) => {
            let heading = format!("{} until a GPU has the chunk", matrix.unit.symbol);
            section.on_screens("arrivals", heading, matrix)
        }
        None => section,
    }
}

/// Returns the time at which each destination has the whole chunk, by chunk and destination; `None` if there are too
/// many of them.
fn arrival_matrix(subject: ExplainedPlan<'_>) -> Option<Matrix> {
    let list = subject.scenario.demand.expand(&subject.scenario.topology);
    let mut last: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (piece, node, epoch) in delivered(subject) {
        let known = last.entry((subject.result.pieces[piece as usize].chunk, node)).or_default();
        *known = epoch.max(*known);
    }
    let chunks: BTreeSet<u32> = last.keys().map(|(chunk, _)| *chunk).collect();
    let dests: BTreeSet<u32> = last.keys().map(|(_, node)| *node).collect();
    if chunks.is_empty() || chunks.len() > MOST_ARRIVALS || dests.len() > MOST_ARRIVALS {
        return None;
    }
    let finish = subject.result.claims.finish_epochs;
    let epoch_us = subject.result.time.epoch_us;
    let finish_us = f64::from(finish) * epoch_us;
    let unit = unit_of(finish_us);
    // A decimal only for times below 100, so that columns stay narrow.
    let decimals = u8::from(finish_us * 1e-6 * unit.scale < 100.0);
    let cell = |at: (u32, u32)| match last.get(&at) {
        Some(epoch) => {
            let tone = if *epoch == finish { Tone::Answer } else { Tone::Text };
            Cell::new(f64::from(*epoch) * epoch_us / 1e6).tone(tone)
        }
        None => Cell::new("·").tone(Tone::Muted),
    };
    let cells: Vec<Cell> =
        chunks.iter().flat_map(|chunk| dests.iter().map(move |node| (*chunk, *node))).map(cell).collect();
    let name = |chunk: &u32| format!("{chunk} of {}", subject.node(list.source(*chunk as usize)));
    Some(Matrix {
        name: "arrival_s",
        unit: unit.with_decimals(decimals),
        rows: chunks.iter().map(name).collect(),
        columns: dests.iter().map(|node| subject.node(*node)).collect(),
        // The items of the section are chunks, so cells cannot be selected.
        about: vec![About::default(); cells.len()],
        cells,
        shaded: true,
        ..Matrix::default()
    })
}

/// Returns the table of chunks.
pub(super) fn chunk_table(subject: ExplainedPlan<'_>) -> Table {
    let list = subject.scenario.demand.expand(&subject.scenario.topology);
    let epoch_us = subject.result.time.epoch_us;
    let mut spans: BTreeMap<u32, (u32, u32, usize)> = BTreeMap::new();
    for (piece, _, epoch) in delivered(subject) {
        let chunk = subject.result.pieces[piece as usize].chunk;
        let span = spans.entry(chunk).or_insert((epoch, epoch, 0));
        *span = (span.0.min(epoch), span.1.max(epoch), span.2 + 1);
    }
    let mut columns = vec![Column::counts("chunk", "chunk"), Column::words("source", "of")];
    // A chunk for one destination is known by it; the number of its deliveries says nothing.
    let is_single = !subject.scenario.demand.collective.starts_backwards()
        && (0..list.len()).all(|chunk| list.dests(chunk).count() == 1);
    columns.push(if is_single {
        Column::words("dest", "to")
    } else {
        Column::counts("deliveries", "deliveries").priority(1)
    });
    columns.extend([
        Column::counts("first_epoch", "first epoch").priority(4),
        Column::counts("last_epoch", "last epoch").priority(3),
        Column::numbers("finish_us", "finish", MICROSECONDS),
        Column::counts("slack_epochs", "slack epochs").priority(5),
        Column::numbers("slack_us", "slack", MICROSECONDS),
    ]);
    let finish = subject.result.claims.finish_epochs;
    let mut rows: Vec<(u32, (u32, u32, usize))> = spans.into_iter().collect();
    rows.sort_by_key(|(chunk, span)| (std::cmp::Reverse(span.1), *chunk));
    // The bar is a time, because epochs of two plans may have different lengths.
    let mut table = Table::new(["chunk", "chunks"], columns).overview(OVERVIEW).bar(5);
    for (chunk, (first, last, count)) in rows {
        let tone = if last == finish { Tone::Answer } else { Tone::Text };
        let dest = list.dests(chunk as usize).next().filter(|_| is_single);
        let row = table.row(vec![
            Cell::new(chunk),
            Cell::new(subject.node(list.source(chunk as usize))),
            dest.map_or_else(|| Cell::new(count), |dest| Cell::new(subject.node(dest))),
            Cell::new(first),
            Cell::new(last).tone(tone),
            Cell::new(f64::from(last) * epoch_us),
            Cell::new(finish.saturating_sub(last)),
            Cell::new(f64::from(finish.saturating_sub(last)) * epoch_us),
        ]);
        row.item = Some(chunk);
        row.sentence = Phrase::new()
            .answer(format!("> chunk {chunk}"))
            .muted(" of ")
            .text(subject.node(list.source(chunk as usize)))
            .text(dest.map_or_else(String::new, |dest| format!(" to {}", subject.node(dest))))
            .text(format!("  finish {} µs", in_groups(f64::from(last) * epoch_us)))
            .muted(format!("  slack {} µs", in_groups(f64::from(finish.saturating_sub(last)) * epoch_us)))
            .muted(match count {
                1 => format!("  1 delivery in epoch {}", grouped(last.into())),
                _ if first == last => {
                    format!("  {} deliveries in epoch {}", grouped(count as u64), grouped(last.into()))
                }
                _ => {
                    let [first, last] = [first, last].map(|epoch| grouped(epoch.into()));
                    format!("  {} deliveries in epochs {first} to {last}", grouped(count as u64))
                }
            });
        if last == finish {
            row.mark = "*";
        }
    }
    table
}

/// Returns the section with the number of deliveries until each time.
pub(super) fn deliveries(subject: ExplainedPlan<'_>) -> Section {
    let epoch_us = subject.result.time.epoch_us;
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for (_, _, epoch) in delivered(subject) {
        *counts.entry(epoch).or_default() += 1;
    }
    let columns =
        vec![Column::numbers("time_us", "time", MICROSECONDS), Column::counts("deliveries", "deliveries")];
    let mut table = Table::new(["point", "points"], columns).overview(OVERVIEW);
    let mut done = 0;
    let mut points = vec![Point { at: 0.0, value: 0.0 }];
    for (epoch, count) in counts {
        done += count;
        let at = f64::from(epoch) * epoch_us;
        table.row(vec![Cell::new(at), Cell::new(done)]);
        points.push(Point { at, value: done as f64 });
    }
    // Deliveries of a chunk in pieces are counted by piece.
    let pieces = subject.result.time.pieces_per_chunk;
    let what = if pieces > 1 { "pieces" } else { "deliveries" };
    let curve = Curve {
        name: "deliveries".to_owned(),
        label: what.to_owned(),
        unit: Unit::COUNT,
        points,
        tone: Tone::Answer,
        steps: true,
    };
    let section = Section::empty("Deliveries")
        .block("curve", "Curve", until_finish(subject, curve))
        .block("points", "Points", table);
    let count = Phrase::new().answer(format!("{} deliveries", grouped(done as u64)));
    if pieces == 1 {
        return section.answer(count);
    }
    section.answer(count.muted(" of pieces")).context(format!("{pieces} pieces of a chunk"))
}

/// Returns a curve over the time until the finish, with a mark at the lower bound on the finish.
pub(super) fn until_finish(subject: ExplainedPlan<'_>, curve: Curve) -> Curves {
    let (claims, time) = (&subject.result.claims, &subject.result.time);
    let floor = claims.floor.as_ref().map(|floor| floor.under_finish(time.alpha_threshold).floor_us);
    let bound = floor.or(claims.lower_bound_epochs.map(|epochs| f64::from(epochs) * time.epoch_us));
    Curves {
        axis: "time_us",
        axis_label: "time",
        axis_unit: MICROSECONDS,
        axis_range: Some((0.0, claims.finish_us)),
        marks: Vec::from_iter(bound.map(|at| Mark { at, name: "bound".to_owned() })),
        curves: vec![curve],
        ..Curves::default()
    }
}

/// Returns the section with every send in order of time.
pub(super) fn sends(subject: ExplainedPlan<'_>) -> Section {
    let largest = subject.result.pieces.iter().map(|piece| piece.size_bytes).fold(0.0, f64::max);
    let columns = vec![
        Column::counts("epoch", "epoch"),
        Column::numbers("start_us", "start", MICROSECONDS),
        Column::words("from", "from"),
        Column::words("to", "to"),
        Column::counts("chunk", "chunk"),
        Column::numbers("bytes", "carries", unit_of_bytes(largest)),
        Column::counts("arrival_epoch", "usable in epoch"),
        Column::numbers("arrival_us", "usable", MICROSECONDS).priority(1),
    ];
    let epoch_us = subject.result.time.epoch_us;
    let mut table = Table::new(["send", "sends"], columns).overview(OVERVIEW).bar(7);
    for (send, arrival) in arrivals(subject) {
        let piece = &subject.result.pieces[send.piece as usize];
        // Rows are separate items, because several transmissions carry one chunk.
        table.row(vec![
            Cell::new(send.epoch),
            Cell::new(f64::from(send.epoch) * epoch_us),
            Cell::new(subject.node(send.from)),
            Cell::new(subject.node(send.to)),
            Cell::new(piece.chunk),
            Cell::new(piece.size_bytes),
            Cell::new(arrival),
            Cell::new(f64::from(arrival) * epoch_us),
        ]);
    }
    Section::new("Sends", table)
}
