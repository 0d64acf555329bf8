//! Gain of one port more in a pod, and cost of one circuit fewer on a link.

use super::limited::Limited;
use super::{link_name, pod_name};
use crate::analysis::Setting;
use crate::analysis::prices::{CircuitPrice, MORE_PORTS, PortPrice, Prices};
use crate::scenario::instance::Instance;
use crate::simulate::evaluate::Rates;
use lightbay_core::problem::counted;
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Column, Facts, Phrase, Section, Table, Tone, Unavailable, Unit};

/// Number of rows of each table that an overview shows.
const OVERVIEW: usize = 5;

pub(super) fn section(
    instance: &Instance,
    setting: &Setting,
    circuits: &[u32],
    rates: Rates,
    mut limited: Limited,
) -> Result<Section, Unavailable> {
    let prices =
        Prices::new(&setting.evaluator, circuits, rates, &mut limited).map_err(|error| limited.why(error))?;
    let proof = if prices.exact() {
        "Every figure is the difference of two proven optima."
    } else {
        "Some figures are estimates; the others are differences of two proven optima."
    };
    let context = if prices.exact() {
        "against the proven best plan"
    } else {
        "estimates: the best plan is not proven optimal"
    };
    Ok(Section::empty("Sensitivity")
        .context(Phrase::new().muted(context))
        .answer(answer(instance, &prices))
        .remark(proof)
        .block("one_port_more", "One port more", pods(instance, &prices))
        .block("one_circuit_less", "One circuit fewer, the others re-planned", links(instance, &prices))
        .block("base", "Counted from", base(&prices)))
}

/// Formats a difference of times in milliseconds.
fn ms(seconds: f64) -> String {
    format!("{} ms", number(seconds, Unit::MILLISECONDS))
}

/// Sentence on the port that gains most.
fn answer(instance: &Instance, prices: &Prices) -> Phrase {
    match prices.pods.first() {
        Some(price) if price.gain_s > 0.0 => Phrase::new()
            .muted("gain ")
            .answer(ms(price.gain_s))
            .muted(format!(" with a port in {}", pod_name(instance, price.pod as usize))),
        Some(_) => Phrase::new().muted("no single port helps"),
        None => Phrase::new(),
    }
}

/// One sentence on a pod.
fn on_pod(instance: &Instance, price: &PortPrice) -> Phrase {
    let mut phrase = Phrase::new()
        .answer(format!("> {}", pod_name(instance, price.pod as usize)))
        .muted("  one more port gains ")
        .answer(ms(price.gain_s))
        .muted(if price.exact { " (proven)" } else { " (estimate)" });
    match price.first {
        Some((ports, gain_s)) if ports > 1 => {
            phrase = phrase.text(format!("; {ports} more ports gain {}", ms(gain_s)));
        }
        None => phrase = phrase.muted(format!("; {MORE_PORTS} more ports gain nothing")),
        Some(_) => {}
    }
    if price.free > 0 {
        phrase = phrase.muted(format!("; {} of its {} ports are free", price.free, price.ports));
    }
    phrase
}

/// One sentence on a link.
fn on_link(instance: &Instance, price: &CircuitPrice) -> Phrase {
    let circuits = counted(u64::from(price.circuits), "circuit", "circuits");
    let phrase = Phrase::new()
        .answer(format!("> {}", link_name(instance, price.link as usize)))
        .text(format!("  {circuits}"));
    match price.loss {
        Some(loss) => phrase
            .muted("; one fewer adds ")
            .answer(ms(loss.replanned_s))
            .muted(if loss.exact { " (proven), " } else { " (estimate), " })
            .text(ms(loss.kept_s))
            .muted(" with the others fixed"),
        None => phrase.bad("; without it the pods are cut off from each other"),
    }
}

/// Makespans of the plans with which gains and losses are compared.
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
        Column::counts("free", "free").priority(2),
        Column::numbers("gain_s", "gains", Unit::MILLISECONDS),
        Column::numbers("gain_nct", "NCT", Unit::RATIO).priority(3),
        Column::counts("first_gain_ports", "first gain at").priority(5),
        Column::numbers("first_gain_s", "then gains", Unit::MILLISECONDS).priority(4),
        Column::words("exact", "proven").priority(6),
    ];
    let mut table = Table::new(["pod", "pods"], columns).overview(OVERVIEW).bar(3);
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
            Cell::new(price.gain_s).tone(if price.gain_s > 0.0 { Tone::Good } else { Tone::Text }),
            nct,
            first,
            then,
            Cell::new(price.exact),
        ]);
        row.sentence = on_pod(instance, price);
    }
    table
}

fn links(instance: &Instance, prices: &Prices) -> Table {
    let columns = vec![
        Column::words("link", "pods"),
        Column::counts("circuits", "circuits"),
        Column::numbers("loss_s", "adds", Unit::MILLISECONDS.signed()),
        Column::numbers("loss_nct", "NCT", Unit::RATIO.signed()).priority(3),
        Column::numbers("loss_rest_kept_s", "others fixed", Unit::MILLISECONDS.signed()).priority(2),
        Column::words("exact", "proven").priority(6),
    ];
    let mut table = Table::new(["link", "links"], columns).overview(OVERVIEW).bar(2);
    for price in &prices.links {
        let cells = match price.loss {
            Some(loss) => [
                Cell::new(loss.replanned_s).tone(if loss.replanned_s > 0.0 { Tone::Bad } else { Tone::Text }),
                prices.nct(loss.replanned_s).map_or_else(Cell::none, Cell::new),
                Cell::new(loss.kept_s),
                Cell::new(loss.exact),
            ],
            None => [Cell::none().note("cut off").tone(Tone::Bad), Cell::none(), Cell::none(), Cell::none()],
        };
        let mut row = vec![Cell::new(link_name(instance, price.link as usize)), Cell::new(price.circuits)];
        row.extend(cells);
        table.row(row).sentence = on_link(instance, price);
    }
    table
}
