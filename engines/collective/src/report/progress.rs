//! Chunks and deliveries over time, and every send.

use super::{ExplainedPlan, OVERVIEW};
use crate::check::send_times;
use crate::plan::PieceSend;
use crate::scenario::CollectiveSort;
use lightbay_core::report::{Cell, Column, Curve, Curves, Point, Section, Table, Tone, Unit};
use std::collections::BTreeMap;

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
    let decides = "latest-ending chunks first; the bar is the epoch of the last delivery; slack is the \
         time from that delivery to the finish";
    Section::new("Chunks", chunk_table(subject)).legend(decides)
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
    let columns = vec![
        Column::counts("chunk", "chunk"),
        Column::words("source", "of"),
        Column::counts("deliveries", "deliveries"),
        Column::counts("first_epoch", "first epoch"),
        Column::counts("last_epoch", "last epoch"),
        Column::numbers("finish_us", "finish", MICROSECONDS),
        Column::counts("slack_epochs", "slack epochs"),
    ];
    let finish = subject.result.claims.finish_epochs;
    let mut rows: Vec<(u32, (u32, u32, usize))> = spans.into_iter().collect();
    rows.sort_by_key(|(chunk, span)| (std::cmp::Reverse(span.1), *chunk));
    // The bar is a time, because epochs of two plans may have different lengths.
    let mut table = Table::new(["chunk", "chunks"], columns).overview(OVERVIEW).bar(5);
    for (chunk, (first, last, count)) in rows {
        let tone = if last == finish { Tone::Answer } else { Tone::Text };
        let row = table.row(vec![
            Cell::new(chunk),
            Cell::new(subject.node(list.source(chunk as usize))),
            Cell::new(count),
            Cell::new(first),
            Cell::new(last).tone(tone),
            Cell::new(f64::from(last) * epoch_us),
            Cell::new(finish.saturating_sub(last)),
        ]);
        row.item = Some(chunk);
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
    let mut done = 0;
    let points: Vec<Point> = counts
        .into_iter()
        .map(|(epoch, count)| {
            done += count;
            Point { at: f64::from(epoch) * epoch_us, value: done as f64 }
        })
        .collect();
    let columns =
        vec![Column::numbers("time_us", "time", MICROSECONDS), Column::counts("deliveries", "deliveries")];
    let mut table = Table::new(["point", "points"], columns).overview(OVERVIEW);
    for point in &points {
        table.row(vec![Cell::new(point.at), Cell::new(point.value as usize)]);
    }
    let curve = Curve {
        name: "deliveries".to_owned(),
        label: "deliveries".to_owned(),
        unit: Unit::COUNT,
        points,
        tone: Tone::Answer,
        steps: true,
    };
    let curves = Curves {
        axis: "time_us",
        axis_label: "time",
        axis_unit: MICROSECONDS,
        axis_range: None,
        axis_is_log: false,
        values_are_log: false,
        curves: vec![curve],
        ..Curves::default()
    };
    Section::empty("Deliveries").block("curve", "Curve", curves).block("points", "Points", table)
}

/// Returns the section with every send in order of time.
pub(super) fn sends(subject: ExplainedPlan<'_>) -> Section {
    let columns = vec![
        Column::counts("epoch", "epoch"),
        Column::numbers("start_us", "start", MICROSECONDS),
        Column::words("from", "from"),
        Column::words("to", "to"),
        Column::counts("chunk", "chunk"),
        Column::counts("arrival_epoch", "usable in epoch"),
    ];
    let epoch_us = subject.result.time.epoch_us;
    let mut table = Table::new(["send", "sends"], columns).overview(OVERVIEW);
    for (send, arrival) in arrivals(subject) {
        // Rows are separate items, because several transmissions carry one chunk.
        table.row(vec![
            Cell::new(send.epoch),
            Cell::new(f64::from(send.epoch) * epoch_us),
            Cell::new(subject.node(send.from)),
            Cell::new(subject.node(send.to)),
            Cell::new(subject.result.pieces[send.piece as usize].chunk),
            Cell::new(arrival),
        ]);
    }
    Section::new("Sends", table)
}
