//! Gain of one port more in a pod, and cost of one circuit less on a link.

use super::{failed, link_name, pod_name};
use crate::analysis::Setting;
use crate::analysis::prices::{MORE_PORTS, Prices};
use crate::scenario::instance::Instance;
use crate::search::watch::Unwatched;
use crate::simulate::evaluate::Rates;
use lightbay_core::report::{Cell, Column, Facts, Section, Table, Tone, Unavailable, Unit};

/// Rows of each table that an overview shows.
const OVERVIEW: usize = 5;

pub(super) fn section(
    instance: &Instance,
    setting: &Setting,
    circuits: &[u32],
    rates: Rates,
) -> Result<Section, Unavailable> {
    let prices =
        Prices::new(&setting.evaluator, circuits, rates, &mut Unwatched::default()).map_err(failed)?;
    let proof = if prices.exact() {
        "Every figure is the difference of two proven optima."
    } else {
        "Not every figure is the difference of two proven optima: some are estimates."
    };
    Ok(Section::empty("Sensitivity")
        .remark(proof)
        .block("base", "Sensitivity", base(&prices))
        .block("one_port_more", "One port more", pods(instance, &prices))
        .block("one_circuit_less", "One circuit less", links(instance, &prices)))
}

/// The plans that gains and losses are counted from.
fn base(prices: &Prices) -> Facts {
    let mut facts = Facts::new();
    facts.add("rates", "rates", if prices.rates == Rates::Fair { "max-min fair" } else { "scheduled" });
    facts.number("plan_makespan_s", "this plan", Unit::SECONDS, prices.plan_makespan_s);
    facts.number("best_makespan_s", "best plan with these ports", Unit::SECONDS, prices.best_makespan_s);
    facts.add("best_is_proven", "proven best", prices.proven);
    facts
}

fn pods(instance: &Instance, prices: &Prices) -> Table {
    let columns = vec![
        Column::words("pod", "pod"),
        Column::counts("ports", "ports"),
        Column::counts("free", "free"),
        Column::numbers("gain_s", "gains", Unit::MILLISECONDS),
        Column::numbers("gain_nct", "of NCT", Unit::RATIO),
        Column::counts("first_gain_ports", "first gain with ports"),
        Column::numbers("first_gain_s", "then gains", Unit::MILLISECONDS),
        Column::words("exact", "proven"),
    ];
    let mut table = Table::new(["pod", "pods"], columns).overview(OVERVIEW);
    for price in &prices.pods {
        let [first, then] = match price.first {
            Some((ports, gain_s)) => [Cell::new(ports), Cell::new(gain_s)],
            None => [Cell::none(), Cell::none()],
        };
        let nct = prices.nct(price.gain_s).map_or_else(Cell::none, Cell::new);
        let row = table.row(vec![
            Cell::new(pod_name(instance, price.pod as usize)),
            Cell::new(price.ports),
            Cell::new(price.free),
            Cell::new(price.gain_s).tone(Tone::Answer),
            nct,
            first,
            then,
            Cell::new(price.exact),
        ]);
        row.item = Some(price.pod);
        if price.first.is_none() {
            row.sentence = format!("{MORE_PORTS} ports more gain nothing");
        }
    }
    table
}

fn links(instance: &Instance, prices: &Prices) -> Table {
    let columns = vec![
        Column::words("link", "pods"),
        Column::counts("circuits", "circuits"),
        Column::numbers("loss_s", "best other plan loses", Unit::MILLISECONDS),
        Column::numbers("loss_nct", "of NCT", Unit::RATIO),
        Column::numbers("loss_rest_kept_s", "others fixed loses", Unit::MILLISECONDS),
        Column::words("exact", "proven"),
    ];
    let mut table = Table::new(["link", "links"], columns).overview(OVERVIEW);
    for price in &prices.links {
        let cells = match price.loss {
            Some(loss) => [
                Cell::new(loss.replanned_s).tone(Tone::Answer),
                prices.nct(loss.replanned_s).map_or_else(Cell::none, Cell::new),
                Cell::new(loss.kept_s),
                Cell::new(loss.exact),
            ],
            None => [Cell::none().note("cut off").tone(Tone::Bad), Cell::none(), Cell::none(), Cell::none()],
        };
        let mut row = vec![Cell::new(link_name(instance, price.link as usize)), Cell::new(price.circuits)];
        row.extend(cells);
        table.row(row).item = Some(price.link);
    }
    table
}
