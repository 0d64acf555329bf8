//! What one port more and one circuit less would change.

use super::super::facts::{Explained, Facts};
use super::ms;
use crate::analysis::prices::{MORE_PORTS, Prices, quick};
use crate::plan::RateControl;
use crate::simulate::evaluate::Rates;
use lightbay_core::watch::Unwatched;
use lightbay_formats::markdown::{Document, text as safe};

/// Both tables, where their searches are short.
pub(super) fn write(document: &mut Document, facts: &Facts, plan: &Explained) {
    let setting = facts.setting();
    let rates = match plan.analysis.rate_control {
        RateControl::Fair => Rates::Fair,
        RateControl::Joint => Rates::Best,
    };
    if plan.analysis.tasks.is_empty() || !quick(setting) {
        return;
    }
    let Ok(prices) =
        Prices::new(&setting.evaluator, &plan.analysis.circuits, rates, &mut Unwatched::default())
    else {
        return;
    };
    document.heading(2, "What a port and a circuit are worth");
    let nct = |seconds: f64| prices.nct(seconds).map_or_else(|| "–".to_owned(), |nct| format!("{nct:.4}"));
    let rows: Vec<Vec<String>> = prices
        .pods
        .iter()
        .map(|price| {
            let later = match price.first {
                Some((1, _)) => String::new(),
                Some((more, gain_s)) => format!("{more} more: {} ms", ms(gain_s)),
                None => format!("nor do {MORE_PORTS} more"),
            };
            vec![
                safe(facts.pod(price.pod as usize)),
                price.ports.to_string(),
                price.free.to_string(),
                ms(price.gain_s),
                nct(price.gain_s),
                later,
            ]
        })
        .collect();
    document.table(
        &["pod", ">ports", ">free", ">one port more gains ms", ">NCT", "if one more gains nothing"],
        &rows,
    );
    let rows: Vec<Vec<String>> = prices
        .links
        .iter()
        .map(|price| {
            let [a, b] = facts.ends(price.link as usize).map(safe);
            let (longer, in_nct) = match price.loss {
                Some(loss) => (ms(loss.replanned_s), nct(loss.replanned_s)),
                None => ("needs this one".to_owned(), "–".to_owned()),
            };
            vec![format!("{a} – {b}"), price.circuits.to_string(), longer, in_nct]
        })
        .collect();
    document.table(&["pods", ">circuits", ">best plan with one less: ms longer", ">NCT"], &rows);
    let proof = if prices.exact() {
        "Every figure is the difference of two proven optima."
    } else {
        "Not every figure is the difference of two proven optima."
    };
    document.paragraph(proof);
}
