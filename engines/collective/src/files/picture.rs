//! The picture of a schedule for a review: when every link is busy.

use super::OTHER_SIZES;
use super::occupation::{Transmission, advice, binds, rates, totals, transmissions_on};
use crate::plan::CollectiveResult;
use crate::scenario::CollectiveScenario;
use lightbay_core::format::{FormatInfo, SubjectSort};
use lightbay_core::problem::{Problems, counted};
use lightbay_formats::svg::{Anchor, Area, Drawing, Fill, Font, Stroke};
use std::collections::BTreeMap;

/// Name of the format.
pub const NAME: &str = "svg";

/// Width of the picture.
const WIDTH: f64 = 1120.0;
/// Margin around the picture.
const MARGIN: f64 = 30.0;
/// Width of the column for the names of links.
const NAMES: f64 = 150.0;
/// Height of a row.
const ROW: f64 = 12.0;
/// Maximum number of links in the picture.
const MOST_LINKS: usize = 64;
/// Two transmissions are drawn as one interval if the gap between them is narrower than this, in units of the picture.
const GAP: f64 = 0.4;
/// Number of marks on the time axis.
const MARKS: u32 = 8;

const BODY: Font = Font::plain(11.0);
const SMALL: Font = Font::plain(9.0);

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    FormatInfo::new(
        NAME,
        "Picture for a review: the most loaded links, and when each one is busy.",
        SubjectSort::Plan,
        "svg",
    )
    .leaving_out(&[
        "links beyond the busiest 64",
        OTHER_SIZES,
        "which chunk is where",
        "what proves the bound",
    ])
}

/// Returns the content of the file.
///
/// # Errors
/// Sends without a link, or that start before their data has arrived, and trees that cannot be followed.
pub fn svg(name: &str, scenario: &CollectiveScenario, result: &CollectiveResult) -> Result<String, Problems> {
    let (totals, rates) = (totals(scenario, result)?, rates(scenario));
    let used = totals.len();
    let busy_us = |ends: &(u32, u32)| totals[ends] / rates.get(ends).copied().unwrap_or(f64::INFINITY);
    let mut busiest: Vec<(u32, u32)> = totals.keys().copied().collect();
    busiest.sort_by(|a, b| busy_us(b).total_cmp(&busy_us(a)).then(a.cmp(b)));
    busiest.truncate(MOST_LINKS);
    let rows = transmissions_on(scenario, result, &busiest)?;
    let mut drawing = Drawing::new(WIDTH, &format!("{name}: links over time"));
    let mut y = MARGIN + 12.0;
    drawing.text((MARGIN, y), Font::plain(18.0).bold(), name);
    y += 20.0;
    for line in lines(scenario, result, &totals, used) {
        drawing.text((MARGIN, y), BODY, &line);
        y += 15.0;
    }
    y += 12.0;
    let last = rows.iter().flatten().map(|one| one.ends_us.max(one.usable_us)).fold(0.0, f64::max);
    let end_us = result.claims.finish_us.max(last).max(f64::MIN_POSITIVE);
    let left = MARGIN + NAMES;
    let scale = (WIDTH - MARGIN - left) / end_us;
    let bottom = y + ROW * busiest.len() as f64;
    for mark in 0..=MARKS {
        let time_us = end_us * f64::from(mark) / f64::from(MARKS);
        let x = left + time_us * scale;
        drawing.line((x, y), (x, bottom + 4.0), Stroke::faint(0.5));
        drawing.text((x, bottom + 15.0), SMALL.at(Anchor::Middle), &format!("{time_us:.1} µs"));
    }
    for (ends, row) in busiest.iter().zip(&rows) {
        let marked = binds(scenario, result, *ends);
        let words = format!("{}→{}", node(scenario, ends.0), node(scenario, ends.1));
        let font = if marked { SMALL.bold() } else { SMALL };
        drawing.text((left - 6.0, y + ROW - 3.0), font.at(Anchor::End), &words);
        for (from_us, to_us, count, adds_up) in blocks(row, GAP / scale) {
            let area = Area {
                x: left + from_us * scale,
                y: y + 1.5,
                width: ((to_us - from_us) * scale).max(0.3),
                height: ROW - 3.0,
            };
            let fill = if adds_up { Fill::Rising } else { Fill::Grey };
            let pieces = counted(count, "piece", "pieces");
            let about = format!("{words}: {pieces} from {from_us:.3} to {to_us:.3} µs");
            drawing.rectangle(area, fill, Stroke::solid(0.4), &about);
        }
        y += ROW;
    }
    let finish = left + result.claims.finish_us * scale;
    drawing.line((finish, y - ROW * busiest.len() as f64), (finish, bottom + 4.0), Stroke::dashed(1.0));
    Ok(drawing.into_text(bottom + 22.0 + MARGIN))
}

fn node(scenario: &CollectiveScenario, id: u32) -> &str {
    scenario.topology.nodes.get(id as usize).map_or("", |node| node.name.as_str())
}

/// Returns the lines of text on the finish, the bound, and the rows.
fn lines(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    totals: &BTreeMap<(u32, u32), f64>,
    used: usize,
) -> Vec<String> {
    let claims = &result.claims;
    let mut lines = vec![format!(
        "{} among {}: the last delivery is after {:.3} µs, {:.3} GB/s.",
        scenario.demand.collective.label(),
        counted(scenario.demand.rank_nodes(&scenario.topology).len() as u64, "rank", "ranks"),
        claims.finish_us,
        claims.algbw_gbyte_per_s
    )];
    if let Some(bound) = claims.lower_bound_epochs {
        let bound_us = f64::from(bound) * result.time.epoch_us;
        lines.push(format!(
            "No schedule with these chunks and this epoch length ends before {bound_us:.3} µs."
        ));
    }
    lines.extend(advice(scenario, result, totals).map(|text| {
        let mut letters = text.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        format!("{first}{}.", letters.as_str())
    }));
    let rows = if used > MOST_LINKS {
        format!("Rows are the {MOST_LINKS} busiest of the {used} links that carry data")
    } else {
        "Rows are the links that carry data, the busiest first".to_owned()
    };
    lines.push(format!(
        "{rows}; names of links across the binding cut are bold; hatched pieces are reduced; the dashed \
         line is the finish."
    ));
    lines
}

/// Returns the intervals in which a link transmits, each joined from adjacent transmissions: begin and end in µs, the
/// number of transmissions, and `true` if their data is reduced.
fn blocks(row: &[Transmission], gap_us: f64) -> Vec<(f64, f64, u64, bool)> {
    let mut blocks: Vec<(f64, f64, u64, bool)> = Vec::new();
    for one in row {
        match blocks.last_mut() {
            Some((_, end, count, adds)) if *adds == one.adds_up && one.begins_us - *end < gap_us => {
                *end = one.ends_us;
                *count += 1;
            }
            _ => blocks.push((one.begins_us, one.ends_us, 1, one.adds_up)),
        }
    }
    blocks
}
