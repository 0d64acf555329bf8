//! Links over time: the transmissions of each link, and how much each link carries.

use super::finish::in_groups;
use super::progress::arrivals;
use super::{ExplainedPlan, OVERVIEW};
use crate::files::occupation::{Transmission, transmissions};
use crate::scenario::CollectiveSort;
use lightbay_core::quantity::grouped;
use lightbay_core::report::{
    About, Cell, Column, HUES, Lane, Matrix, Phrase, Section, Span, Spans, Table, Tone, Unavailable, Unit,
    text,
};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the part of the time until the finish in which a link is busy. A part below 1 is written at most as 99.99 %,
/// so that 100 % means that the link never waits.
pub(super) fn busy_share(busy_us: f64, finish_us: f64) -> f64 {
    let part = if finish_us > 0.0 { busy_us / finish_us } else { 0.0 };
    if part < 1.0 - 1e-9 { part.min(0.999_94) } else { part }
}

/// Number of links of a network divided by the maximum number of its links that are marked as images of a cut.
const FEW: usize = 4;

/// Maximum number of links in the grid.
const MOST_LINKS: usize = 512;
/// Maximum number of columns in the grid; with more epochs, several epochs share a column.
const MOST_COLUMNS: u32 = 256;
/// Maximum number of transmissions that are drawn as separate intervals; if there are more, consecutive transmissions
/// of a chunk become one interval.
const MOST_SPANS: usize = 20_000;
/// Number of letters of a screen.
const LETTERS: u32 = 62;
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
    // Of equally busy links, those across a cut come first.
    let binding = binding(subject);
    let rank = |ends: &(u32, u32)| (!binding.contains(ends), *ends);
    busy.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| rank(&a.0).cmp(&rank(&b.0))));
    busy
}

/// Returns the rate of every link, bytes per µs.
pub(super) fn rates(subject: ExplainedPlan<'_>) -> BTreeMap<(u32, u32), f64> {
    let rate = |link: &crate::scenario::LinkRecord| {
        ((link.from, link.to), 1000.0 * link.capacity_gbyte_per_s / link.beta_scale)
    };
    subject.scenario.topology.links.iter().map(rate).collect()
}

/// Returns the links across a cut that proves a bound: a bound in epochs, or the bound for any chunking. The images of
/// such a cut under the symmetries of the network prove the same bound if the demand is symmetric; their links are
/// included if these are few, because marks on many links would not distinguish any.
pub(super) fn binding(subject: ExplainedPlan<'_>) -> BTreeSet<(u32, u32)> {
    let topology = &subject.scenario.topology;
    let failed = &subject.scenario.failed_links;
    let links = topology.links.iter().map(|link| (link.from, link.to));
    let links: Vec<(u32, u32)> = links.filter(|(from, to)| !failed.contains(&[*from, *to])).collect();
    let of_cut: BTreeSet<(u32, u32)> = links.iter().copied().filter(|ends| binds(subject, *ends)).collect();
    let demand = &subject.scenario.demand;
    let is_symmetric =
        demand.collective.is_named() && !demand.collective.has_root() && demand.ranks.is_none();
    if !is_symmetric || !failed.is_empty() {
        return of_cut;
    }
    let mut all = of_cut.clone();
    let mut open: Vec<(u32, u32)> = of_cut.iter().copied().collect();
    while let Some((from, to)) = open.pop() {
        for nodes in &topology.symmetry_generators {
            let image = nodes.get(from as usize).zip(nodes.get(to as usize));
            open.extend(image.map(|(from, to)| (*from, *to)).filter(|image| all.insert(*image)));
        }
    }
    if all.len() * FEW > links.len() { of_cut } else { all }
}

/// Returns `true` if a link crosses a cut that a proof of a bound names.
fn binds(subject: ExplainedPlan<'_>, (from, to): (u32, u32)) -> bool {
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
    let (busy, binding) = (loads(subject), binding(subject));
    let colours = SpanColours::of(subject);
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
            // Rounding errors of times are no transmissions.
            if overlap > 1e-9 * width_us {
                shares[row * columns + column] += overlap / width_us;
                senders[row * columns + column].push(*number);
            }
            column += 1;
        }
    }
    // With many transmissions, a screen describes cells and intervals by their figures.
    let words = (found.len() <= MOST_SPANS).then(|| SendWords::of(subject));
    let lanes = lanes(subject, (words.as_ref(), &colours), (&busy, &binding), &found);
    let name = |ends: &(u32, u32)| {
        let mark = if binding.contains(ends) { "▌" } else { " " };
        format!("{mark}{}", subject.link(ends.0, ends.1))
    };
    let matrix = Matrix {
        name: "busy_share",
        unit: Unit::PERCENT.with_decimals(0),
        rows: shown.iter().map(name).collect(),
        columns: (0..columns as u32).map(|column| (column * step).to_string()).collect(),
        cells: shares.iter().map(|share| busy_cell(*share)).collect(),
        symmetric: false,
        shaded: true,
        about: words.map_or_else(Vec::new, |words| about(&words, &senders)),
        ..Matrix::default()
    };
    let busiest = found.iter().filter(|sent| sent.row == 0);
    let first = busiest.min_by(|a, b| a.of.begins_us.total_cmp(&b.of.begins_us));
    let answer = match binding.len() {
        0 => Phrase::new().answer(grouped(busy.len() as u64)).muted(" links"),
        count => across(count),
    };
    let links = match busy.len() {
        many if many > MOST_LINKS => format!("{MOST_LINKS} busiest of {many} links"),
        _ => "links by load".to_owned(),
    };
    let mark = if binding.is_empty() { "" } else { "; ▌ link across a binding cut" };
    let of_grid = match step {
        1 => "columns: epochs".to_owned(),
        _ => format!("columns: {step} epochs each, named by the first"),
    };
    let section = Section::empty("Occupancy").block("grid", "", matrix).on_screens("links", "", lanes);
    let section = match chunk_rows(subject) {
        Some(chunks) => section.on_screens("chunks", "", chunks),
        None => section,
    };
    let section = section
        .only_in(&["links"])
        .usual(first.map(|sent| sent.number).filter(|number| *number < MOST_ITEMS))
        .context(links)
        .answer(answer)
        .legend(format!(
            "{}; low or -: busy in part{mark}; [ ] next transmission; + - zoom",
            colours.in_words()
        ))
        .legend_in("grid", format!("{of_grid}; cells: busy %{mark}"));
    Ok(if step > 1 { section.remark(format!("A column of the grid is {step} epochs.")) } else { section })
}

/// Returns the table of chunks without items, because the items of this section are transmissions; `None` for more
/// chunks than letters, whose rows would take the place of links.
fn chunk_rows(subject: ExplainedPlan<'_>) -> Option<Table> {
    let mut chunks = super::progress::chunk_table(subject);
    for row in &mut chunks.rows {
        row.item = None;
    }
    (chunks.rows.len() <= LETTERS as usize).then_some(chunks)
}

/// Numbers of the intervals of chunks, which screens show by colour and letter.
struct SpanColours {
    /// Number of each chunk.
    of_chunk: Vec<u32>,
    /// The objects that share a number.
    words: String,
}

impl SpanColours {
    /// Numbers the chunks; the chunks of a source share a number if there are more chunks than letters.
    fn of(subject: ExplainedPlan<'_>) -> Self {
        let chunks = subject.scenario.demand.expand(&subject.scenario.topology);
        let count = chunks.len() as u32;
        if count <= LETTERS {
            return Self { of_chunk: (0..count).collect(), words: "chunk".to_owned() };
        }
        let sources = (0..chunks.len()).map(|chunk| chunks.source(chunk));
        let ranks: BTreeSet<u32> = sources.clone().collect();
        let ranks: Vec<u32> = ranks.into_iter().collect();
        let share = (ranks.len() as u32).div_ceil(LETTERS);
        let number = |source: u32| ranks.binary_search(&source).map_or(0, |rank| rank as u32 / share);
        let words = if share == 1 { "source".to_owned() } else { format!("group of {share} sources") };
        Self { of_chunk: sources.map(number).collect(), words }
    }

    /// Returns what colours and letters show.
    fn in_words(&self) -> String {
        let words = &self.words;
        if self.of_chunk.iter().all(|number| *number < HUES) {
            return format!("colour and letter by {words}");
        }
        format!("letter by {words}; in colour: that of the selected transmission")
    }
}

/// Returns the number of links across binding cuts in words; a narrow title shows `2 binding`.
pub(super) fn across(links: usize) -> Phrase {
    let word = if links == 1 { " link" } else { " links" };
    Phrase::new().answer(format!("{} binding", grouped(links as u64))).muted(word)
}

/// Returns a cell of a grid with the busy part of its time, rounded so that rounding errors of times have no shade.
pub(super) fn busy_cell(share: f64) -> Cell {
    let share = (share.min(1.0) * 1e3).round() / 1e3;
    if share > 0.0 { Cell::new(share) } else { Cell::none() }
}

/// A link by its ends, its busy time in µs, and the number of its transmissions.
type LinkLoad = ((u32, u32), f64, usize);

/// Returns the transmissions of links as intervals, one row per link, the most loaded link first.
fn lanes(
    subject: ExplainedPlan<'_>,
    (words, colours): (Option<&SendWords<'_>>, &SpanColours),
    (busy, binding): (&[LinkLoad], &BTreeSet<(u32, u32)>),
    found: &[PlacedSend],
) -> Spans {
    let finish_us = f64::from(subject.result.claims.finish_epochs) * subject.result.time.epoch_us;
    let rates = rates(subject);
    let bytes_of = |(ends, busy_us, _): &LinkLoad| busy_us * rates.get(ends).copied().unwrap_or(0.0);
    let is_small = busy.iter().all(|load| bytes_of(load) < 1e6);
    let amount = |bytes: f64| megabytes(if is_small { 1e3 * bytes } else { bytes });
    let mut lanes: Vec<Lane> = busy
        .iter()
        .take(MOST_LINKS)
        .map(|load| {
            let (ends, busy_us, _) = load;
            let binding = binding.contains(ends);
            let share = busy_share(*busy_us, finish_us);
            let bytes = bytes_of(load);
            Lane {
                name: format!("{}{}", if binding { "▌" } else { " " }, subject.link(ends.0, ends.1)),
                words: format!("{:>6} {:>8}", text::number(share, Unit::PERCENT), amount(bytes)),
                tone: if binding { Tone::Answer } else { Tone::Text },
                spans: Vec::new(),
            }
        })
        .collect();
    // If there are very many transmissions, consecutive transmissions of a chunk are one interval. Each interval has its
    // row, its first transmission, its end and the number of its transmissions.
    let mut intervals: Vec<(&PlacedSend, f64, usize)> = Vec::new();
    let mut last: Vec<Option<usize>> = vec![None; lanes.len()];
    for sent in found {
        let (begin_us, end_us) = (sent.of.begins_us, sent.of.ends_us);
        let before = last[sent.row].and_then(|at| intervals.get_mut(at)).filter(|_| found.len() > MOST_SPANS);
        match before {
            Some((first, end, count)) if first.of.chunk == sent.of.chunk && *end == begin_us => {
                (*end, *count) = (end_us, *count + 1);
            }
            _ => {
                last[sent.row] = Some(intervals.len());
                intervals.push((sent, end_us, 1));
            }
        }
    }
    for (first, end_us, count) in intervals {
        let more = if count > 1 { format!(", {} sends", grouped(count as u64)) } else { String::new() };
        lanes[first.row].spans.push(Span {
            name: format!("chunk {}{more}", first.of.chunk),
            start_s: first.of.begins_us / 1e6,
            end_s: end_us / 1e6,
            series: colours.of_chunk.get(first.of.chunk as usize).copied(),
            item: Some(first.number).filter(|number| *number < MOST_ITEMS),
            sentence: words.and_then(|words| words.of_send(first.number)).unwrap_or_default(),
            ..Span::default()
        });
    }
    Spans {
        lanes,
        end_s: finish_us / 1e6,
        unit: unit_of(finish_us),
        words: if is_small { "busy %       KB" } else { "busy %       MB" },
        ..Spans::default()
    }
}

/// Returns the unit in which a time is shown: milliseconds from 10 ms, otherwise microseconds.
pub(super) fn unit_of(time_us: f64) -> Unit {
    if time_us < 1e4 { Unit::MICROSECONDS } else { Unit::MILLISECONDS }
}

/// Returns the unit in which amounts of data are shown: megabytes if the largest has at least 0.1 MB, else kilobytes.
pub(super) const fn unit_of_bytes(largest: f64) -> Unit {
    if largest < 1e5 { Unit::new("KB", 1e-3, Some(3)) } else { Unit::new("MB", 1e-6, Some(3)) }
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
    /// Epoch of the arrival of every send.
    arrivals: Vec<u32>,
    /// Piece, node and epoch of every start, in this order.
    departures: Vec<(u32, u32, u32)>,
    in_pieces: bool,
}

impl<'a> SendWords<'a> {
    fn of(subject: ExplainedPlan<'a>) -> Self {
        let arrivals = arrivals(subject).into_iter().map(|(_, arrival)| arrival).collect();
        let sends = subject.result.sends.iter();
        let mut departures: Vec<_> = sends.map(|send| (send.piece, send.from, send.epoch)).collect();
        departures.sort_unstable();
        let chunks = subject.scenario.demand.expand(&subject.scenario.topology).len();
        Self { subject, arrivals, departures, in_pieces: subject.result.pieces.len() > chunks }
    }

    fn of_send(&self, number: u32) -> Option<Phrase> {
        let subject = self.subject;
        let send = subject.result.sends.get(number as usize)?;
        let arrival = self.arrivals.get(number as usize)?;
        let piece = subject.result.pieces.get(send.piece as usize)?;
        let next = self.departures.partition_point(|start| *start < (send.piece, send.to, *arrival));
        let onward = self.departures.get(next).filter(|start| (start.0, start.1) == (send.piece, send.to));
        let needed = match onward {
            // A row does not end before the number.
            Some((.., epoch)) => format!("forwarded in epoch\u{a0}{}", grouped((*epoch).into())),
            None if *arrival == subject.result.claims.finish_epochs => "the last delivery".to_owned(),
            None => "not forwarded".to_owned(),
        };
        let part = if self.in_pieces { format!(" piece {}", piece.id) } else { String::new() };
        let time_us = f64::from(*arrival) * subject.result.time.epoch_us;
        let unit = unit_of(time_us);
        let time = text::number(time_us / 1e6, unit);
        let [from, to] = [send.epoch, *arrival].map(|epoch| grouped(epoch.into()));
        Some(
            Phrase::new()
                .answer(format!("> chunk {}{part}", piece.chunk))
                .muted("  ")
                .text(subject.link(send.from, send.to))
                .muted("  usable at ")
                .text(format!("{time} {}", unit.symbol))
                .muted(format!("  epochs {from} to {to}  {needed}")),
        )
    }
}

/// Returns the texts on the sends, by cell of the grid.
fn about(words: &SendWords<'_>, senders: &[Vec<u32>]) -> Vec<About> {
    let cell = |(at, numbers): (usize, &Vec<u32>)| -> About {
        let mut all = numbers.iter().filter_map(|number| words.of_send(*number));
        let Some(first) = all.next() else { return About::default() };
        let details =
            std::iter::once(first.to_string()).chain(all.map(|phrase| phrase.to_string())).collect();
        let sentence = match numbers.len() - 1 {
            0 => first,
            more => first.muted(format!("  and {} more", grouped(more as u64))),
        };
        About { item: Some(at as u32), sentence, details }
    };
    senders.iter().enumerate().map(cell).collect()
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
    let (busy, binding) = (loads(subject), binding(subject));
    let used: BTreeSet<(u32, u32)> = busy.iter().map(|(ends, ..)| *ends).collect();
    let mut table = Table::new(["link", "links"], columns).overview(OVERVIEW).bar(4);
    let mut row = |ends: (u32, u32), busy_us: f64, sends: usize| {
        let binding = binding.contains(&ends);
        let share = busy_share(busy_us, finish_us);
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
            of_link(&link, share, busy_us, (sends, ""), if binding { "across a binding cut" } else { "" });
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
    let share = format!("{} %", text::number(busy_share(most_us, finish_us), Unit::PERCENT));
    section
        .answer(Phrase::new().muted("busiest ").answer(share))
        .legend("busy: part of the time until the finish; cut: crosses a cut that gives the bound")
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
