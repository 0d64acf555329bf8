//! Hops on virtual channels, and the links that carry the most routes.

use super::{OVERVIEW, STATED, flows, words};
use crate::analysis::loads::{Level, Loads, flows as flows_over, levels};
use crate::analysis::tori::largest_loads;
use crate::model::pod::{self, CHIPS};
use crate::plan::{Expansion, Routing, TpuResult};
use lightbay_core::report::{Cell, Column, Phrase, Section, Table, Tone, Unavailable, Unit};
use std::cmp::Reverse;

pub(super) fn channels(routing: &Routing) -> Section {
    let total = routing.claims.route_hop_sum.max(1) as f64;
    let before = routing.unbalanced.as_ref().map(|unbalanced| &unbalanced.vc_hops);
    let mut columns = vec![
        Column::counts("vc", "channel"),
        Column::counts("hops", "hops"),
        Column::numbers("share", "share", Unit::PERCENT),
    ];
    if before.is_some() {
        columns.push(Column::counts("hops_before_balancing", "before balancing (claimed)"));
    }
    let mut table = Table::new(["channel", "channels"], columns);
    for (vc, &hops) in routing.claims.vc_hops.iter().enumerate() {
        let mut cells = vec![Cell::new(vc), Cell::new(hops), Cell::new(hops as f64 / total)];
        if let Some(before) = before {
            cells.push(before.get(vc).map_or_else(Cell::none, |hops| Cell::new(*hops)));
        }
        table.row(cells);
    }
    let section = Section::new("Hops on virtual channels, all routes", table);
    if routing.routes.is_empty() { section.remark(STATED) } else { section }
}

/// Maximum number of load levels in the table; if there are more different loads, neighbouring loads share a level.
const LEVELS: usize = 12;

/// Fraction by which the maximum load may exceed its lower bound before the title warns.
const UNEVEN: f64 = 0.2;

/// Reference values for the loads of the arcs.
struct Ideal {
    mean: f64,
    /// Lower bound on the maximum load of all routes of the pod: `1 / mcf_upper`.
    least: f64,
}

impl Ideal {
    /// Returns the excess of a load over its lower bound, divided by the bound.
    fn over(&self, load: u32) -> f64 {
        f64::from(load) / self.least - 1.0
    }
}

pub(super) fn hottest(result: &TpuResult, routing: &Routing) -> Result<Section, Unavailable> {
    let topology = result.topology.topology().map_err(Unavailable::failed)?;
    if routing.routes.is_empty() {
        return Err(Unavailable::absent("the plan does not list its routes", "solve with with_routes=true"));
    }
    let loads = Loads::of(&topology, routing);
    let totals = loads.totals();
    let sum: u64 = totals.iter().map(|load| u64::from(*load)).sum();
    let ideal = Ideal { mean: sum as f64 / totals.len().max(1) as f64, least: 1.0 / result.claims.mcf_upper };
    let is_class = routing.expand == Expansion::Translation;
    let most = totals.iter().copied().max().unwrap_or(0);
    let of = if is_class { "384 classes of directed links" } else { "all directed links" };
    let over = format!("  {:+.1} %", ideal.over(most) * 100.0);
    let answer = Phrase::new().muted("max ").answer(most.to_string());
    let answer = if ideal.over(most) > UNEVEN { answer.bad(over) } else { answer.text(over) };
    let answer = answer.muted(" over ideal");
    let unit = if is_class { "classes" } else { "channels" };
    let mut section = Section::empty(format!("Fullest of {of}"));
    let tori = largest_loads(topology.nodes() / CHIPS);
    if !tori.is_empty() {
        let words: Vec<String> = tori.iter().map(|(name, most)| format!("{name} max {most}")).collect();
        let words = words.join(", ");
        section = section
            .legend(Phrase::new().muted("  tori by dimension order: ").text(words.clone()))
            .remark(format!("Tori of this size with dimension-order routes: {words}."));
    }
    Ok(section
        .context(Phrase::new().muted(format!(
            "{} {unit}, mean load {:.1}, ideal max {:.1} (1/MCF)",
            totals.len(),
            ideal.mean,
            ideal.least
        )))
        .answer(answer)
        .on_screens("levels", "", levels_table(&totals, &ideal))
        .block("links", "", fullest(&loads, &totals, &ideal, is_class)))
}

/// Marks a section as an estimate, because the plan has no routes.
pub(super) fn estimated(section: Section) -> Section {
    let context = Phrase::new().with("estimate: one routing pass, no routes yet", Tone::Changed);
    section.context(context).remark(
        "Estimate: the plan has no routes; these routes are computed by a single pass of the route selection.",
    )
}

/// Table of links by load, highest first, with the mean and the lower bound.
fn levels_table(totals: &[u32], ideal: &Ideal) -> Table {
    let levels = levels(totals, LEVELS);
    let inside = |level: &Level, value: f64| {
        f64::from(level.load.0) - 0.5 <= value && value < f64::from(level.load.1) + 0.5
    };
    let place_of = |value: f64| levels.iter().position(|level| inside(level, value));
    let (mean_at, least_at) = (place_of(ideal.mean), place_of(ideal.least));
    let columns = vec![
        Column::words("load", "load"),
        Column::counts("electrical", "electrical").priority(3),
        Column::counts("optical", "optical").priority(2),
        Column::words("holds", ""),
        Column::counts("links", "links"),
    ];
    let mut table = Table::new(["level", "levels"], columns).bar(4);
    for (at, level) in levels.iter().enumerate() {
        let (low, high) = level.load;
        let places = [("max", Some(0)), ("mean", mean_at), ("ideal", least_at)];
        let words: Vec<&str> =
            places.iter().filter(|place| place.1 == Some(at)).map(|place| place.0).collect();
        table.row(vec![
            Cell::new(if low == high { low.to_string() } else { format!("{low}-{high}") }),
            Cell::new(level.electrical),
            Cell::new(level.optical),
            Cell::new(words.join(", ")).tone(Tone::Muted),
            Cell::new(level.electrical + level.optical).tone(if at == 0 { Tone::Answer } else { Tone::Text }),
        ]);
    }
    table
}

/// Table of every link, the most loaded first.
fn fullest(loads: &Loads, totals: &[u32], ideal: &Ideal, is_class: bool) -> Table {
    let mut order: Vec<(usize, u32)> = totals.iter().copied().enumerate().collect();
    order.sort_by_key(|&(arc, load)| (Reverse(load), arc));
    let mut columns = vec![
        Column::counts("arc", "arc").priority(5),
        Column::words("chip", "chip"),
        Column::words("port", "port"),
        Column::words("link", "link").priority(4),
        Column::counts("ocs", "OCS").priority(1),
        Column::counts("routes", "load"),
        Column::numbers("over_ideal", "over ideal", Unit::PERCENT.with_decimals(1).signed()).priority(1),
    ];
    columns.extend(
        (0..loads.vc.len()).map(|vc| Column::counts(format!("vc{vc}"), format!("vc{vc}")).priority(3)),
    );
    let mut table = Table::new(["link", "links"], columns).overview(OVERVIEW);
    for (arc, load) in order {
        let class = arc % pod::ARC_CLASSES;
        let (chip, port) = pod::arc_parts(class);
        let cube = if is_class { String::new() } else { format!(" of cube {}", arc / pod::ARC_CLASSES) };
        let switch = pod::switch(chip, port);
        let by_vc = || loads.vc.iter().map(|loads| loads.get(arc).copied().unwrap_or(0));
        let mut cells = vec![
            Cell::new(arc),
            Cell::new(format!("{}{cube}", words::chip(chip))),
            Cell::new(words::port(port)),
            Cell::new(if switch.is_some() { "optical" } else { "electrical" }),
            switch.map_or_else(Cell::none, Cell::new),
            Cell::new(load).tone(Tone::Answer),
            Cell::new(ideal.over(load)),
        ];
        cells.extend(by_vc().map(|load| Cell::new(load).tone(Tone::Muted)));
        let mut sentence = Phrase::new()
            .answer(format!("> {}", words::arc_of(arc, is_class)))
            .muted(format!("  {}  load ", words::carrier(class)))
            .answer(load.to_string())
            .text(format!("  {:+.1} % over ideal", ideal.over(load) * 100.0));
        for (vc, load) in by_vc().enumerate() {
            sentence = sentence.muted(format!("  vc{vc} ")).text(load.to_string());
        }
        let row = table.row(cells);
        (row.item, row.sentence) = (Some(arc as u32), sentence);
    }
    table
}

/// Section with the routes over a link, which is given by its number.
pub(super) fn over(result: &TpuResult, routing: &Routing, arc: u32) -> Result<Section, Unavailable> {
    let topology = result.topology.topology().map_err(Unavailable::failed)?;
    let flows = flows_over(&topology, routing, arc as usize);
    if flows.is_empty() {
        return Err(Unavailable::absent(
            format!("no route of the plan uses link {arc}"),
            "name another link",
        ));
    }
    let is_class = routing.expand == Expansion::Translation;
    let name = words::arc_of(arc as usize, is_class);
    let image = if is_class { "from cube 0 over this link of any cube" } else { "" };
    let answer = Phrase::new().answer(flows.len().to_string());
    Ok(Section::new(format!("flows on {name}"), flows::table(&flows))
        .context(Phrase::new().muted(image))
        .answer(answer))
}
