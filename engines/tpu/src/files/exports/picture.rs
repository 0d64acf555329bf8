//! The picture of a pod for a review: circuits between cubes, and the rings of cubes of every switch.

use super::PodSubject;
use crate::model::pod::{CHIPS, SWITCHES, switch_dimension, switch_position};
use crate::model::topology::Topology;
use lightbay_core::problem::counted;
use lightbay_formats::svg::matrix::{Matrix, MatrixEntry};
use lightbay_formats::svg::{Anchor, Area, Drawing, Fill, Font, Stroke};
use std::collections::BTreeMap;

/// Width of the picture.
const WIDTH: f64 = 1120.0;
/// Space around the picture, and between the columns of the dimensions.
const MARGIN: f64 = 30.0;
/// Width of the column of a dimension.
const COLUMN: f64 = (WIDTH - 4.0 * MARGIN) / 3.0;
/// Maximum number of cubes whose circuits fit into the picture.
const MOST_CUBES: usize = 64;
/// Switches of a dimension along one side of a face.
const FACE: usize = 4;

const HEADING: Font = Font::plain(14.0).bold();
const BODY: Font = Font::plain(11.0);
const SMALL: Font = Font::plain(9.0);

/// Draws the picture as SVG.
pub(super) fn svg(subject: &PodSubject<'_>) -> String {
    let mut drawing = Drawing::new(WIDTH, &format!("{}: circuits of the pod", subject.name));
    let mut y = MARGIN + 12.0;
    drawing.text((MARGIN, y), Font::plain(18.0).bold(), subject.name);
    y += 20.0;
    for line in lines(subject) {
        drawing.text((MARGIN, y), BODY, &line);
        y += 15.0;
    }
    y += 18.0;
    let columns = [("X", 0), ("Y", 1), ("Z", 2)];
    let left = |dimension: usize| MARGIN + (COLUMN + MARGIN) * dimension as f64;
    let mut end = y;
    for (name, dimension) in columns {
        let x = left(dimension);
        drawing.text((x, y), HEADING, &format!("Dimension {name}: circuits between cubes"));
        end = end.max(circuits(&mut drawing, subject.pod, dimension, (x, y + 8.0)));
    }
    y = end + 24.0;
    for (name, dimension) in columns {
        let x = left(dimension);
        drawing.text((x, y), HEADING, &format!("Dimension {name}: rings of cubes of each switch"));
        end = switches(&mut drawing, subject, dimension, (x, y + 10.0));
    }
    y = legend(&mut drawing, end + 26.0);
    drawing.into_text(y + MARGIN)
}

/// Returns lines of text with size and throughput of the pod.
fn lines(subject: &PodSubject<'_>) -> Vec<String> {
    let pod = subject.pod;
    let mut lines = vec![format!(
        "{} in {}, joined by {SWITCHES} switches.",
        counted((pod.cubes() * CHIPS) as u64, "chip", "chips"),
        counted(pod.cubes() as u64, "cube", "cubes")
    )];
    if let Some(result) = subject.result {
        let claims = &result.claims;
        lines.push(format!(
            "All ordered pairs of chips get {:.6} flits per cycle each, at the same time; no routing of this \
             pod reaches more than {:.6}.",
            claims.mcf_lower, claims.mcf_upper
        ));
        lines.push(format!(
            "Chips are {:.3} hops apart on average and at most {}.",
            claims.avg_hops, claims.diameter
        ));
    }
    lines
}

/// Draws the matrix of the circuits of a dimension, from the + side of every cube to the − side of every cube; each row
/// adds up to 16 circuits. Returns the y coordinate below the matrix.
fn circuits(drawing: &mut Drawing, pod: &Topology, dimension: usize, at: (f64, f64)) -> f64 {
    let cubes = pod.cubes();
    if cubes > MOST_CUBES {
        let words = format!("{cubes} cubes do not fit into the picture; `--to circuits` lists the circuits.");
        drawing.text((at.0, at.1 + 14.0), BODY, &words);
        return at.1 + 22.0;
    }
    let mut counts: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let carries = |switch: &usize| switch_dimension(*switch) == dimension && !pod.is_failed(*switch);
    for switch in (0..SWITCHES).filter(carries) {
        for cube in 0..cubes {
            *counts.entry((cube, pod.to(switch, cube))).or_default() += 1;
        }
    }
    let mut matrix = Matrix::new((0..cubes).map(|cube| cube.to_string()).collect());
    for ((from, to), count) in counts {
        let fill = match count {
            _ if from == to => Fill::Light,
            16 => Fill::Rising,
            // With more than 16 cubes, cells have no counts, so a shade makes them visible.
            _ if cubes > 16 => Fill::Grey,
            _ => Fill::White,
        };
        let about = format!("+ of cube {from} to − of cube {to}: {}", counted(count, "circuit", "circuits"));
        matrix.set(from, to, MatrixEntry { count, fill, about });
    }
    matrix.draw(drawing, at, COLUMN)
}

/// Draws the 16 switches of a dimension by their position on the face. Returns the y coordinate below them.
fn switches(drawing: &mut Drawing, subject: &PodSubject<'_>, dimension: usize, at: (f64, f64)) -> f64 {
    let (width, height) = (COLUMN / FACE as f64, 40.0);
    for switch in (0..SWITCHES).filter(|switch| switch_dimension(*switch) == dimension) {
        let [u, v] = switch_position(switch).map(f64::from);
        let area = Area { x: at.0 + width * u, y: at.1 + height * v, width, height };
        let rings = rings(subject.pod.state(switch));
        let failed = subject.pod.is_failed(switch);
        let alone = rings.keys().all(|length| *length == 1);
        let fill = match (failed, alone) {
            (true, _) => Fill::Falling,
            (false, true) => Fill::Light,
            (false, false) => Fill::White,
        };
        let words = if failed { "failed".to_owned() } else { words(&rings) };
        drawing.rectangle(area, fill, Stroke::solid(0.5), &format!("OCS {switch}: {words}"));
        drawing.text((area.x + 5.0, area.y + 12.0), SMALL, &format!("OCS {switch}"));
        let middle = (area.x + width / 2.0, area.y + 29.0);
        let font = if BODY.bold().width(&words) > width - 6.0 { SMALL } else { BODY.bold() };
        drawing.text(middle, font.at(Anchor::Middle), &words);
    }
    at.1 + height * FACE as f64
}

/// Rings of cubes that a switch forms: number of rings by length.
fn rings(state: &[u16]) -> BTreeMap<usize, usize> {
    let mut seen = vec![false; state.len()];
    let mut rings = BTreeMap::new();
    for first in 0..state.len() {
        let (mut length, mut at) = (0, first);
        while !seen[at] {
            seen[at] = true;
            length += 1;
            at = usize::from(state[at]);
        }
        if length > 0 {
            *rings.entry(length).or_default() += 1;
        }
    }
    rings
}

/// Describes the rings of the two largest lengths, the longest first: `2 of 4` for two rings of four cubes each.
fn words(rings: &BTreeMap<usize, usize>) -> String {
    let some: Vec<String> =
        rings.iter().rev().take(2).map(|(length, count)| format!("{count} of {length}")).collect();
    let more = if rings.len() > some.len() { ", …" } else { "" };
    format!("{}{more}", some.join(", "))
}

fn legend(drawing: &mut Drawing, y: f64) -> f64 {
    let lines = [
        "Circuits: a row is the cube at whose + side circuits begin, a column the cube at whose − side they end.",
        "Grey on the diagonal: a cube joined to itself. Hatched: all 16 circuits of a side lead to one cube.",
        "Switches: by position on the face of a cube, u to the right and v downwards. “2 of 4”: the circuits join the cubes in 2 rings of 4.",
    ];
    for (at, line) in lines.iter().enumerate() {
        drawing.text((MARGIN, y + 15.0 * at as f64), BODY, line);
    }
    y + 15.0 * (lines.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_the_cycles_of_a_switch() {
        assert_eq!(words(&rings(&[1, 0, 3, 2])), "2 of 2");
        assert_eq!(words(&rings(&[0, 1, 2])), "3 of 1");
        assert_eq!(words(&rings(&[1, 2, 0, 3])), "1 of 3, 1 of 1");
        assert_eq!(words(&rings(&[0, 2, 1, 4, 5, 3])), "1 of 3, 1 of 2, …");
    }
}
