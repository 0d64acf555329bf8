//! Circuits of every pair of pods as a matrix, with the ports that each pod uses and has.

use super::super::facts::{Explained, Facts};
use super::{BODY, SMALL};
use lightbay_core::problem::counted;
use lightbay_formats::svg::{Anchor, Area, Drawing, Fill, Stroke};
use std::collections::BTreeMap;

/// Maximum number of pods for which the matrix fits.
const MOST_PODS: usize = 32;
/// Width of the names to the left of the matrix.
const NAMES: f64 = 56.0;
/// Width of the ports to the right of the matrix.
const PORTS: f64 = 96.0;

/// Draws the matrix below the point `at` and returns the y of its lower end.
pub(super) fn draw(
    drawing: &mut Drawing,
    facts: &Facts,
    plan: &Explained,
    at: (f64, f64),
    width: f64,
) -> f64 {
    let pods = &facts.instance().pods;
    if pods.len() > MOST_PODS {
        let words =
            format!("{} pods do not fit into a matrix here; `--to csv` lists all circuits.", pods.len());
        drawing.text((at.0, at.1 + 14.0), BODY, &words);
        return at.1 + 20.0;
    }
    let mut circuits: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    for (link, known) in facts.instance().links.iter().zip(&plan.analysis.links) {
        for pair in [(link.pod_a.index(), link.pod_b.index()), (link.pod_b.index(), link.pod_a.index())] {
            *circuits.entry(pair).or_default() += known.circuits;
        }
    }
    let cell = ((width - NAMES - PORTS) / pods.len().max(1) as f64).min(34.0);
    let font = if cell < 20.0 { SMALL } else { BODY };
    let (left, top) = (at.0 + NAMES, at.1 + 18.0);
    let name = |index: usize| facts.pod(index).chars().take(8).collect::<String>();
    for column in 0..pods.len() {
        // Names that do not fit above the columns are written next to the rows only.
        if cell >= font.width(&name(column)) {
            let x = left + cell * (column as f64 + 0.5);
            drawing.text((x, top - 5.0), font.at(Anchor::Middle), &name(column));
        }
    }
    drawing.text((left + cell * pods.len() as f64 + 10.0, top - 5.0), font, "ports used");
    let free = facts.network().budget.free(&plan.analysis.circuits);
    for (row, pod) in pods.iter().enumerate() {
        let y = top + cell * row as f64;
        let baseline = y + cell / 2.0 + 4.0;
        drawing.text((left - 6.0, baseline), font.at(Anchor::End), &name(row));
        for column in 0..pods.len() {
            let count = circuits.get(&(row, column)).copied();
            let fill = match count {
                _ if row == column => Fill::Light,
                _ => Fill::White,
            };
            let area = Area { x: left + cell * column as f64, y, width: cell, height: cell };
            let about = count.map_or_else(String::new, |count| {
                format!("{} – {}: {}", name(row), name(column), counted(count.into(), "circuit", "circuits"))
            });
            drawing.rectangle(area, fill, Stroke::solid(0.5), &about);
            if let Some(count) = count {
                let middle = (area.x + cell / 2.0, baseline);
                drawing.text(middle, font.bold().at(Anchor::Middle), &count.to_string());
            }
        }
        let x = left + cell * pods.len() as f64 + 10.0;
        let ports = if pod.mirror {
            "mirror".to_owned()
        } else {
            format!("{} of {}", i64::from(pod.ports) - free[row], pod.ports)
        };
        drawing.text((x, baseline), font, &ports);
    }
    top + cell * pods.len() as f64 + 6.0
}
