//! Drawing of pods and circuits: a row with mirrors below if the pods form a chain, else a circle.

use super::super::facts::{Explained, Facts, link_word};
use super::{BODY, SMALL};
use lightbay_core::problem::counted;
use lightbay_formats::svg::{Anchor, Area, Drawing, Fill, Stroke};
use std::f64::consts::TAU;

/// If there are more links than this, none is labelled.
const MOST_LABELS: usize = 48;
/// Radius of a pod.
const RADIUS: f64 = 22.0;

/// Draws the topology below the point `at` and returns the y of its lower end.
pub(super) fn draw(
    drawing: &mut Drawing,
    facts: &Facts,
    plan: &Explained,
    at: (f64, f64),
    width: f64,
) -> f64 {
    let (places, bottom) = chain(facts, at, width).unwrap_or_else(|| circle(facts, at, width));
    let links = &facts.instance().links;
    let mut labels = Vec::new();
    for (index, (link, known)) in links.iter().zip(&plan.analysis.links).enumerate() {
        let (Some(&a), Some(&b)) = (places.get(link.pod_a.index()), places.get(link.pod_b.index())) else {
            continue;
        };
        drawing.line(a, b, Stroke::solid((1.0 + f64::from(known.circuits)).min(14.0) * 0.7));
        let middle = (f64::midpoint(a.0, b.0), f64::midpoint(a.1, b.1));
        labels.push((middle, known.circuits.to_string(), index));
    }
    if links.len() <= MOST_LABELS {
        for (middle, text, index) in labels {
            let font = BODY.bold().at(Anchor::Middle);
            let box_width = font.width(&text) + 8.0;
            let area =
                Area { x: middle.0 - box_width / 2.0, y: middle.1 - 8.0, width: box_width, height: 16.0 };
            let [from, to] = facts.ends(index);
            let count = counted(plan.analysis.circuits[index].into(), "circuit", "circuits");
            let about = format!("{from} – {to}: {count}, {}", link_word(links[index].kind));
            drawing.rectangle(area, Fill::White, Stroke::solid(0.6), &about);
            drawing.text((middle.0, middle.1 + 4.0), font, &text);
        }
    }
    let free = facts.network().budget.free(&plan.analysis.circuits);
    for (index, (pod, &centre)) in facts.instance().pods.iter().zip(&places).enumerate() {
        let stroke = if pod.mirror { Stroke::dashed(1.0) } else { Stroke::solid(1.6) };
        let used = i64::from(pod.ports) - free[index];
        let about = if pod.mirror {
            format!("{}: neighbours at the same position in other replicas", facts.pod(index))
        } else {
            format!("{}: {used} of {} ports", facts.pod(index), pod.ports)
        };
        drawing.circle(centre, RADIUS, Fill::White, stroke, &about);
        let lift = if pod.mirror { 4.0 } else { 0.0 };
        let name: String = facts.pod(index).chars().take(8).collect();
        drawing.text((centre.0, centre.1 + lift), BODY.bold().at(Anchor::Middle), &name);
        if !pod.mirror {
            let ports = format!("{used}/{}", pod.ports);
            drawing.text((centre.0, centre.1 + 12.0), SMALL.at(Anchor::Middle), &ports);
        }
    }
    let ink = "Circle: pod, ports used / ports available. Line: number of circuits.";
    drawing.text((at.0, bottom + 14.0), SMALL, ink);
    bottom + 14.0
}

/// Places real pods in a row, each with its mirror below. Returns the positions of all pods, and the y of the lower
/// end; `None` if the row is too wide, if a link joins real pods that are not neighbours in the row, or if a mirror
/// does not have exactly one real pod of its own.
fn chain(facts: &Facts, at: (f64, f64), width: f64) -> Option<(Vec<(f64, f64)>, f64)> {
    let instance = facts.instance();
    let mut column = vec![None; instance.pods.len()];
    let real = instance.pods.iter().enumerate().filter(|(_, pod)| !pod.mirror);
    let mut count = 0;
    for (index, _) in real {
        column[index] = Some(count);
        count += 1;
    }
    if count as f64 * 3.0 * RADIUS > width {
        return None;
    }
    let mut taken = vec![false; count];
    for link in &instance.links {
        let (a, b) = (link.pod_a.index(), link.pod_b.index());
        let mirror = |pod: usize| instance.pods.get(pod).is_some_and(|pod| pod.mirror);
        match (mirror(a), mirror(b)) {
            (false, false) if column[a]?.abs_diff(column[b]?) == 1 => {}
            (false, true) | (true, false) => {
                let (pod, image) = if mirror(b) { (a, b) } else { (b, a) };
                let place = column[pod]?;
                // One mirror below a pod, one pod above a mirror.
                if taken[place] || column[image].is_some() {
                    return None;
                }
                taken[place] = true;
                column[image] = Some(place);
            }
            _ => return None,
        }
    }
    let step = (width / count.max(1) as f64).min(170.0);
    let places = column.iter().enumerate().map(|(index, place)| {
        let y = at.1 + RADIUS + 10.0 + if instance.pods[index].mirror { 110.0 } else { 0.0 };
        (*place).map(|place| (at.0 + step * (place as f64 + 0.5), y))
    });
    let places: Vec<(f64, f64)> = places.collect::<Option<_>>()?;
    let deepest = places.iter().map(|place| place.1).fold(at.1, f64::max);
    Some((places, deepest + RADIUS + 6.0))
}

fn circle(facts: &Facts, at: (f64, f64), width: f64) -> (Vec<(f64, f64)>, f64) {
    let count = facts.instance().pods.len().max(1);
    // Wide enough to keep the pods apart, if there is room.
    let radius = (count as f64 * 2.6 * RADIUS / TAU).clamp(90.0, width / 2.0 - RADIUS - 4.0);
    let centre = (at.0 + width / 2.0, at.1 + radius + RADIUS + 6.0);
    let place = |index: usize| {
        let angle = TAU * (index as f64 / count as f64 - 0.25);
        (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
    };
    ((0..count).map(place).collect(), centre.1 + radius + RADIUS + 8.0)
}
