//! Links over time: the transmissions of each link, and how much each link carries.

use super::finish::in_groups;
use super::progress::arrivals;
use super::{ExplainedPlan, OVERVIEW};
use crate::files::occupation::{Transmission, transmissions};
use crate::plan::PieceSend;
use crate::scenario::CollectiveSort;
use lightbay_core::quantity::grouped;
use lightbay_core::report::{
    About, Cell, Column, Lane, Matrix, Phrase, Section, Span, Spans, Table, Tone, Unavailable, Unit, text,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of links in the grid.
const MOST_LINKS: usize = 256;
/// Maximum number of columns in the grid; with more epochs, several epochs share a column.
const MOST_COLUMNS: u32 = 256;
/// Maximum number of transmissions that are drawn as separate intervals, each with a sentence; if there are more,
/// consecutive transmissions of a chunk become one interval without a sentence.
const MOST_SPANS: usize = 20_000;
/// Number of transmissions that a user can select as items; transmissions with this or a larger number cannot be
/// selected.
const MOST_ITEMS: u32 = 1 << 20;

/// Returns, for each link that carries data, both ends, the transmission time in µs and the number of transmissions;
/// the link with the largest time comes first.
pub(super) fn loads(subject: ExplainedPlan<'_>) -> Vec<((u32, u32), f64, usize)> {
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

/// Returns the rate of every link, bytes per µs.
pub(super) fn rates(subject: ExplainedPlan<'_>) -> BTreeMap<(u32, u32), f64> {
    let rate = |link: &crate::scenario::LinkRecord| {
        ((link.from, link.to), 1000.0 * link.capacity_gbyte_per_s / link.beta_scale)
    };
    subject.scenario.topology.links.iter().map(rate).collect()
}

/// Returns `true` if a link crosses a cut that proves a bound: a bound in epochs, or the bound for any chunking.
pub(super) fn binds(subject: ExplainedPlan<'_>, (from, to): (u32, u32)) -> bool {
    let claims = &subject.result.claims;
    let sort = subject.scenario.demand.collective;
    let enters = |inside: &[u32], (from, to): (u32, u32)| {
        let is_in = |node: u32| inside.binary_search(&node).is_ok();
        !inside.is_empty() && !is_in(from) && is_in(to)
    };
    let turned = |backwards: bool| if backwards { (to, from) } else { (from, to) };
    // In a collective that is planned backwards, the cut of the first part is reversed.
    let of_epochs = claims
        .bounds
        .iter()
        .enumerate()
        .any(|(part, bound)| enters(&bound.inside, turned(sort.starts_backwards() && part == 0)));
    // The floor applies to the last part. In a collective whose first part is planned backwards, the last part is
    // planned backwards too, except in an AllReduce.
    let backwards = sort.starts_backwards() && sort != CollectiveSort::AllReduce;
    let floor = claims.floor.as_ref().map(|floor| floor.under_finish(subject.result.time.alpha_threshold));
    of_epochs || floor.is_some_and(|floor| enters(&floor.inside, turned(backwards)))
}

/// A transmission, with the row of its link in the grid and the position of the transmission among the sends of the
/// plan.
struct PlacedSend {
    row: usize,
    number: u32,
    of: Transmission,
}

/// Returns the transmissions on the links in `shown`, each with its row in `shown`, in the order of the sends.
fn placed(subject: ExplainedPlan<'_>, shown: &[(u32, u32)]) -> Vec<PlacedSend> {
    let rows: BTreeMap<(u32, u32), usize> =
        shown.iter().enumerate().map(|(row, ends)| (*ends, row)).collect();
    let all = transmissions(subject.scenario, subject.result).unwrap_or_default();
    let of_row = |(number, of): (u32, Transmission)| {
        Some(PlacedSend { row: *rows.get(&(of.from, of.to))?, number, of })
    };
    (0_u32..).zip(all).filter_map(of_row).collect()
}

/// Returns the section with a grid of links and epochs that shows the fraction of the time in which each link
/// transmits.
pub(super) fn grid(subject: ExplainedPlan<'_>) -> Result<Section, Unavailable> {
    let (finish, epoch_us) = (subject.result.claims.finish_epochs, subject.result.time.epoch_us);
    if finish == 0 || subject.result.sends.is_empty() {
        return Err(Unavailable::absent("nothing is sent", "no data has to move"));
    }
    let step = finish.div_ceil(MOST_COLUMNS);
    let columns = finish.div_ceil(step) as usize;
    let busy = loads(subject);
    let shown: Vec<(u32, u32)> = busy.iter().take(MOST_LINKS).map(|(ends, ..)| *ends).collect();
    let mut shares = vec![0.0f64; shown.len() * columns];
    let mut senders: Vec<Vec<u32>> = vec![Vec::new(); shown.len() * columns];
    let found = placed(subject, &shown);
    let width_us = f64::from(step) * epoch_us;
    for PlacedSend { row, number, of } in &found {
        let (begin_us, end_us) = (of.begins_us, of.ends_us);
        let mut column = (begin_us / width_us) as usize;
        while column < columns && (column as f64) * width_us < end_us {
            let overlap = end_us.min((column + 1) as f64 * width_us) - begin_us.max(column as f64 * width_us);
            shares[row * columns + column] += overlap.max(0.0) / width_us;
            senders[row * columns + column].push(*number);
            column += 1;
        }
    }
    let words = SendWords::of(subject);
    let lanes = lanes(subject, &words, &busy, &found);
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
        about: about(&words, &senders),
        ..Matrix::default()
    };
    let mut chunks = super::progress::chunk_table(subject);
    // The items of this section are transmissions.
    for row in &mut chunks.rows {
        row.item = None;
    }
    let busiest = found.iter().filter(|sent| sent.row == 0);
    let first = busiest.min_by(|a, b| a.of.begins_us.total_cmp(&b.of.begins_us));
    let bound = shown.iter().filter(|ends| binds(subject, **ends)).count();
    let answer = match bound {
        0 => Phrase::new().answer(shown.len().to_string()).muted(" links"),
        1 => Phrase::new().answer("1").muted(" link across the binding cut"),
        _ => Phrase::new().answer(bound.to_string()).muted(" links across the binding cut"),
    };
    let legend = "colour and letter by chunk; columns that are busy in part are low or -; ▌ link across the \
         binding cut; [ ] next transmission; + - zoom";
    let mut section = Section::empty("Occupancy")
        .block("grid", "", matrix)
        .on_screens("links", "", lanes)
        .on_screens("chunks", "", chunks)
        .only_in(&["links"])
        .usual(first.map(|sent| sent.number).filter(|number| *number < MOST_ITEMS))
        .context("links by load")
        .answer(answer)
        .legend(legend);
    if step > 1 {
        section = section.remark(format!("A column is {step} epochs."));
    }
    if busy.len() > MOST_LINKS {
        section = section.remark(format!("The grid shows the {MOST_LINKS} busiest of {} links.", busy.len()));
    }
    Ok(section)
}

/// Returns the transmissions of links as intervals, one row per link, the most loaded link first.
fn lanes(
    subject: ExplainedPlan<'_>,
    words: &SendWords<'_>,
    busy: &[((u32, u32), f64, usize)],
    found: &[PlacedSend],
) -> Spans {
    let finish_us = f64::from(subject.result.claims.finish_epochs) * subject.result.time.epoch_us;
    let rates = rates(subject);
    let mut lanes: Vec<Lane> = busy
        .iter()
        .take(MOST_LINKS)
        .map(|(ends, busy_us, _)| {
            let binding = binds(subject, *ends);
            let share = if finish_us > 0.0 { 100.0 * busy_us / finish_us } else { 0.0 };
            let bytes = busy_us * rates.get(ends).copied().unwrap_or(0.0);
            Lane {
                name: format!("{}{}", if binding { "▌" } else { " " }, subject.link(ends.0, ends.1)),
                words: format!("{share:5.1} {:>8}", megabytes(bytes)),
                tone: if binding { Tone::Answer } else { Tone::Text },
                spans: Vec::new(),
            }
        })
        .collect();
    let mut last_row_end: Vec<Option<(u32, f64)>> = vec![None; lanes.len()];
    for sent in found {
        let (chunk, begin_us, end_us) = (sent.of.chunk, sent.of.begins_us, sent.of.ends_us);
        let lane = &mut lanes[sent.row].spans;
        // If there are very many transmissions, consecutive transmissions of a chunk are one interval.
        let follows = last_row_end[sent.row] == Some((chunk, begin_us));
        last_row_end[sent.row] = Some((chunk, end_us));
        if found.len() > MOST_SPANS && follows {
            if let Some(last) = lane.last_mut() {
                last.end_s = end_us / 1e6;
            }
            continue;
        }
        lane.push(Span {
            name: format!("chunk {chunk}"),
            start_s: begin_us / 1e6,
            end_s: end_us / 1e6,
            series: Some(chunk),
            item: Some(sent.number).filter(|number| *number < MOST_ITEMS),
            sentence: if found.len() > MOST_SPANS {
                Phrase::new()
            } else {
                words.of_send(sent.number).unwrap_or_default()
            },
            ..Span::default()
        });
    }
    Spans {
        lanes,
        end_s: finish_us / 1e6,
        unit: unit_of(finish_us),
        words: "busy %       MB",
        ..Spans::default()
    }
}

/// Returns the unit in which a time is shown: milliseconds from 10 ms, otherwise microseconds.
pub(super) fn unit_of(time_us: f64) -> Unit {
    if time_us < 1e4 { Unit::MICROSECONDS } else { Unit::MILLISECONDS }
}

/// Formats bytes as megabytes: without decimals from 100 MB, with one decimal from 1 MB, with three decimals below.
pub(super) fn megabytes(bytes: f64) -> String {
    match bytes / 1e6 {
        large if large >= 100.0 => format!("{large:.0}"),
        small if small >= 1.0 => format!("{small:.1}"),
        tiny => format!("{tiny:.3}"),
    }
}

/// Text on the sends of a plan: piece, link, start, arrival, and the time at which the head of the link needs the
/// piece.
struct SendWords<'a> {
    subject: ExplainedPlan<'a>,
    known: BTreeMap<(u32, u32, u32, u32), u32>,
    departures: BTreeMap<(u32, u32), BTreeSet<u32>>,
    in_pieces: bool,
}

impl<'a> SendWords<'a> {
    fn of(subject: ExplainedPlan<'a>) -> Self {
        let known = arrivals(subject).into_iter().map(|(send, arrival)| (key(&send), arrival)).collect();
        let mut departures: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
        for send in &subject.result.sends {
            departures.entry((send.piece, send.from)).or_default().insert(send.epoch);
        }
        let chunks = subject.scenario.demand.expand(&subject.scenario.topology).len();
        Self { subject, known, departures, in_pieces: subject.result.pieces.len() > chunks }
    }

    fn of_send(&self, number: u32) -> Option<Phrase> {
        let subject = self.subject;
        let send = subject.result.sends.get(number as usize)?;
        let arrival = self.known.get(&key(send))?;
        let piece = subject.result.pieces.get(send.piece as usize)?;
        let onward = self.departures.get(&(send.piece, send.to));
        let needed = match onward.and_then(|epochs| epochs.range(arrival..).next()) {
            Some(epoch) => format!("forwarded in epoch {epoch}"),
            None if *arrival == subject.result.claims.finish_epochs => "the last delivery".to_owned(),
            None => "not forwarded".to_owned(),
        };
        let part = if self.in_pieces { format!(" piece {}", piece.id) } else { String::new() };
        let time_us = f64::from(*arrival) * subject.result.time.epoch_us;
        let unit = unit_of(time_us);
        let time = text::number(time_us / 1e6, unit);
        Some(
            Phrase::new()
                .answer(format!("> chunk {}{part}", piece.chunk))
                .muted("  ")
                .text(subject.link(send.from, send.to))
                .muted("  usable at ")
                .text(format!("{time} {}", unit.symbol))
                .muted(format!("  epochs {} to {arrival}  {needed}", send.epoch)),
        )
    }
}

/// Returns the texts on the sends, by cell of the grid.
fn about(words: &SendWords<'_>, senders: &[Vec<u32>]) -> Vec<About> {
    let cell = |(at, numbers): (usize, &Vec<u32>)| -> About {
        let mut all = numbers.iter().filter_map(|number| words.of_send(*number));
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

/// Returns the fields that identify a send.
const fn key(send: &PieceSend) -> (u32, u32, u32, u32) {
    (send.piece, send.from, send.to, send.epoch)
}

/// Returns the section with the load of each link, the most loaded link first.
pub(super) fn links(subject: ExplainedPlan<'_>) -> Section {
    let columns = vec![
        Column::words("from", "from"),
        Column::words("to", "to"),
        Column::counts("sends", "sends").priority(2),
        Column::numbers("busy_us", "busy time", Unit::new("µs", 1.0, Some(3))).priority(3),
        Column::numbers("busy_share", "busy", Unit::PERCENT),
        Column::words("binding", "cut").priority(1),
    ];
    let finish_us = subject.result.claims.finish_us;
    let busy = loads(subject);
    let used: BTreeSet<(u32, u32)> = busy.iter().map(|(ends, ..)| *ends).collect();
    let mut table = Table::new(["link", "links"], columns).overview(OVERVIEW).bar(4);
    let mut row = |ends: (u32, u32), busy_us: f64, sends: usize| {
        let binding = binds(subject, ends);
        let share = if finish_us > 0.0 { busy_us / finish_us } else { 0.0 };
        let row = table.row(vec![
            Cell::new(subject.node(ends.0)),
            Cell::new(subject.node(ends.1)),
            Cell::new(sends),
            Cell::new(busy_us),
            Cell::new(share),
            if binding { Cell::new("yes").tone(Tone::Answer) } else { Cell::none() },
        ]);
        let link = subject.link(ends.0, ends.1);
        row.sentence =
            of_link(&link, share, busy_us, (sends, ""), if binding { "across the binding cut" } else { "" });
    };
    let most = busy.first().map_or(0.0, |(_, busy_us, _)| *busy_us);
    for (ends, busy_us, sends) in busy {
        row(ends, busy_us, sends);
    }
    for link in &subject.scenario.topology.links {
        if !used.contains(&(link.from, link.to)) {
            row((link.from, link.to), 0.0, 0);
        }
    }
    busiest(Section::new("Links", table), most, finish_us)
}

/// Adds the load of the busiest link to the title of a section on links, and explains the columns.
pub(super) fn busiest(section: Section, most_us: f64, finish_us: f64) -> Section {
    let share = if finish_us > 0.0 { most_us / finish_us } else { 0.0 };
    let share = format!("{} %", text::number(share, Unit::PERCENT.with_decimals(1)));
    section
        .answer(Phrase::new().muted("busiest ").answer(share))
        .legend("busy: part of the time until the finish; cut: crosses the cut that gives the bound")
}

/// Returns a sentence on the load of a link; `sends` is the number of its transmissions with a word after it.
pub(super) fn of_link(name: &str, share: f64, busy_us: f64, sends: (usize, &str), note: &str) -> Phrase {
    let (count, word) = (grouped(sends.0 as u64), if sends.0 == 1 { "send" } else { "sends" });
    let note = if note.is_empty() { String::new() } else { format!("  {note}") };
    Phrase::new()
        .answer(format!("> {name}"))
        .text(format!("  busy {} %", text::number(share, Unit::PERCENT)))
        .muted(format!("  {} µs  {count} {word}{}{note}", in_groups(busy_us), sends.1))
}
