//! Links by epochs.

use super::progress::arrivals;
use super::{ExplainedPlan, OVERVIEW};
use crate::check::send_times;
use crate::plan::PieceSend;
use lightbay_core::report::{About, Cell, Column, Matrix, Phrase, Section, Table, Tone, Unavailable, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// Links that the grid shows.
const MOST_LINKS: usize = 256;
/// Columns that the grid shows: more epochs share one.
const MOST_COLUMNS: u32 = 256;

/// Bytes of each link that carries something, by link, the fullest first.
fn loads(subject: ExplainedPlan<'_>) -> Vec<((u32, u32), f64, usize)> {
    let mut loads: BTreeMap<(u32, u32), (f64, usize)> = BTreeMap::new();
    for send in &subject.result.sends {
        let load = loads.entry((send.from, send.to)).or_default();
        load.0 += subject.result.pieces[send.piece as usize].size_bytes;
        load.1 += 1;
    }
    let rates: BTreeMap<(u32, u32), f64> = rates(subject);
    let busy_us = |(ends, (bytes, sends)): ((u32, u32), (f64, usize))| {
        let rate = rates.get(&ends).copied().unwrap_or(f64::INFINITY);
        (ends, bytes / rate, sends)
    };
    let mut busy: Vec<_> = loads.into_iter().map(busy_us).collect();
    busy.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    busy
}

/// Bytes per µs of every link.
fn rates(subject: ExplainedPlan<'_>) -> BTreeMap<(u32, u32), f64> {
    let rate = |link: &crate::scenario::LinkRecord| {
        ((link.from, link.to), 1000.0 * link.capacity_gbyte_per_s / link.beta_scale)
    };
    subject.scenario.topology.links.iter().map(rate).collect()
}

/// Returns `true` if a link enters a cut that binds a bound.
fn binds(subject: ExplainedPlan<'_>, (from, to): (u32, u32)) -> bool {
    let claims = subject.result.claims.bounds.iter();
    let backwards = subject.scenario.demand.collective.starts_backwards();
    claims.enumerate().any(|(part, bound)| {
        let is_in = |node: u32| bound.inside.binary_search(&node).is_ok();
        // The first part of a collective that is planned backwards has its cut reversed.
        let (from, to) = if backwards && part == 0 { (to, from) } else { (from, to) };
        !bound.inside.is_empty() && !is_in(from) && is_in(to)
    })
}

/// Share of each link that is transmitting, by epochs.
pub(super) fn grid(subject: ExplainedPlan<'_>) -> Result<Section, Unavailable> {
    let (finish, epoch_us) = (subject.result.claims.finish_epochs, subject.result.time.epoch_us);
    if finish == 0 || subject.result.sends.is_empty() {
        return Err(Unavailable::absent("nothing is sent", "nothing is to be done"));
    }
    let step = finish.div_ceil(MOST_COLUMNS);
    let columns = finish.div_ceil(step) as usize;
    let busy = loads(subject);
    let shown: Vec<(u32, u32)> = busy.iter().take(MOST_LINKS).map(|(ends, ..)| *ends).collect();
    let rows: BTreeMap<(u32, u32), usize> =
        shown.iter().enumerate().map(|(row, ends)| (*ends, row)).collect();
    let rates = rates(subject);
    let mut shares = vec![0.0f64; shown.len() * columns];
    let mut senders: Vec<Vec<u32>> = vec![Vec::new(); shown.len() * columns];
    // Transmissions of a link end where the next one begins, so none is counted twice.
    let mut free_us: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    let times = send_times(subject.scenario, subject.result).unwrap_or_default();
    for (number, (send, begin)) in (0u32..).zip(subject.result.sends.iter().zip(times.begins)) {
        let ends = (send.from, send.to);
        let (Some(row), Some(rate)) = (rows.get(&ends), rates.get(&ends)) else { continue };
        let free = free_us.entry(ends).or_default();
        let begin = free.max(f64::from(begin) * epoch_us);
        let end = begin + subject.result.pieces[send.piece as usize].size_bytes / rate;
        *free = end;
        let width_us = f64::from(step) * epoch_us;
        let mut column = (begin / width_us) as usize;
        while column < columns && (column as f64) * width_us < end {
            let overlap = end.min((column + 1) as f64 * width_us) - begin.max(column as f64 * width_us);
            shares[row * columns + column] += overlap.max(0.0) / width_us;
            senders[row * columns + column].push(number);
            column += 1;
        }
    }
    let name = |ends: &(u32, u32)| {
        let mark = if binds(subject, *ends) { "▌" } else { "" };
        format!("{mark}{}", subject.link(ends.0, ends.1))
    };
    let cell = |share: &f64| if *share > 0.0 { Cell::new(share.min(1.0)) } else { Cell::none() };
    let matrix = Matrix {
        name: "busy_share",
        unit: Unit::PERCENT.with_decimals(0),
        rows: shown.iter().map(name).collect(),
        columns: (0..columns as u32).map(|column| (column * step).to_string()).collect(),
        cells: shares.iter().map(cell).collect(),
        symmetric: false,
        shaded: true,
        about: about(subject, &senders),
        ..Matrix::default()
    };
    let mut section = Section::new("Occupancy", matrix)
        .legend("share of the epochs in which the link transmits; ▌ links into the binding cut");
    if step > 1 {
        section = section.remark(format!("A column is {step} epochs."));
    }
    if busy.len() > MOST_LINKS {
        section = section.remark(format!("The {MOST_LINKS} busiest of {} links.", busy.len()));
    }
    Ok(section)
}

/// Sends by cell of the grid, in words: piece, link, start, arrival, and when the piece is needed where it arrives.
fn about(subject: ExplainedPlan<'_>, senders: &[Vec<u32>]) -> Vec<About> {
    let known: BTreeMap<(u32, u32, u32, u32), u32> =
        arrivals(subject).into_iter().map(|(send, arrival)| (key(&send), arrival)).collect();
    let mut departures: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
    for send in &subject.result.sends {
        departures.entry((send.piece, send.from)).or_default().insert(send.epoch);
    }
    let in_pieces =
        subject.result.pieces.len() > subject.scenario.demand.expand(&subject.scenario.topology).len();
    let words = |number: &u32| -> Option<Phrase> {
        let send = subject.result.sends.get(*number as usize)?;
        let arrival = known.get(&key(send))?;
        let piece = subject.result.pieces.get(send.piece as usize)?;
        let onward = departures.get(&(send.piece, send.to));
        let needed = match onward.and_then(|epochs| epochs.range(arrival..).next()) {
            Some(epoch) => format!("needed by {epoch} to go on"),
            None => "goes no further".to_owned(),
        };
        let part = if in_pieces { format!(" (piece {})", piece.id) } else { String::new() };
        Some(
            Phrase::new()
                .answer(format!("> chunk {}{part}", piece.chunk))
                .muted("  ")
                .text(subject.link(send.from, send.to))
                .muted("  starts ")
                .text(send.epoch.to_string())
                .muted("  usable ")
                .text(arrival.to_string())
                .muted(format!("  {needed}")),
        )
    };
    let cell = |(at, numbers): (usize, &Vec<u32>)| -> About {
        let mut all = numbers.iter().filter_map(&words);
        let Some(first) = all.next() else { return About::default() };
        let rest: Vec<String> = all.map(|phrase| phrase.to_string()).collect();
        let sentence = if rest.is_empty() {
            first.clone()
        } else {
            first.clone().muted(format!("  and {} more", rest.len()))
        };
        let details = std::iter::once(first.to_string()).chain(rest).collect();
        About { item: Some(at as u32), sentence, details }
    };
    senders.iter().enumerate().map(cell).collect()
}

/// The fields of a send, by which it is found again.
const fn key(send: &PieceSend) -> (u32, u32, u32, u32) {
    (send.piece, send.from, send.to, send.epoch)
}

/// Load of each link, the busiest first.
pub(super) fn links(subject: ExplainedPlan<'_>) -> Section {
    let columns = vec![
        Column::words("from", "from"),
        Column::words("to", "to"),
        Column::counts("sends", "sends"),
        Column::numbers("busy_us", "busy", Unit::new("µs", 1.0, Some(3))),
        Column::numbers("busy_share", "of the time", Unit::PERCENT),
        Column::words("binding", "binding cut").priority(1),
    ];
    let finish_us = subject.result.claims.finish_us;
    let busy = loads(subject);
    let used: BTreeSet<(u32, u32)> = busy.iter().map(|(ends, ..)| *ends).collect();
    let mut table = Table::new(["link", "links"], columns).overview(OVERVIEW).bar(4);
    let mut row = |ends: (u32, u32), busy_us: f64, sends: usize| {
        let binding = binds(subject, ends);
        table.row(vec![
            Cell::new(subject.node(ends.0)),
            Cell::new(subject.node(ends.1)),
            Cell::new(sends),
            Cell::new(busy_us),
            Cell::new(if finish_us > 0.0 { busy_us / finish_us } else { 0.0 }),
            if binding { Cell::new("yes").tone(Tone::Answer) } else { Cell::none() },
        ]);
    };
    for (ends, busy_us, sends) in busy {
        row(ends, busy_us, sends);
    }
    for link in &subject.scenario.topology.links {
        if !used.contains(&(link.from, link.to)) {
            row((link.from, link.to), 0.0, 0);
        }
    }
    Section::new("Links", table)
}
