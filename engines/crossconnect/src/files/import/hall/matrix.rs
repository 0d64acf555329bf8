//! Matrices of target circuits: names of the pods in the header and in the first column.

use super::HallFile;
use lightbay_core::problem::{Problem, Problems, counted, printable};
use std::collections::{BTreeMap, HashMap};

/// Maximum number of circuits of a pair of pods.
const MOST: u32 = 1 << 20;

/// Target circuits by the names of pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Matrix {
    pub pods: Vec<String>,
    /// `circuits[i][j]`: target circuits between pods i and j, symmetric.
    pub circuits: Vec<Vec<u32>>,
}

impl Matrix {
    /// Builds a matrix from single pairs; other pairs have no circuits.
    pub fn of(pods: Vec<String>, pairs: &HashMap<(usize, usize), u32>) -> Self {
        let mut circuits = vec![vec![0; pods.len()]; pods.len()];
        for (&(i, j), &count) in pairs {
            circuits[i][j] = count;
            circuits[j][i] = count;
        }
        Self { pods, circuits }
    }
}

/// Reads a matrix. The number of a pair may be given in one direction only, or in both directions with the same value.
pub(super) fn read(file: &HallFile<'_>) -> Result<Matrix, Problems> {
    let mut problems = Problems::new();
    let (header, lines) = file.rows();
    let pods = header[1..].to_vec();
    let mut at: HashMap<&str, usize> = HashMap::new();
    for (position, name) in pods.iter().enumerate() {
        if at.insert(name, position).is_some() {
            problems.add("line 1", format!("names {} twice", printable(name)), "name every pod once");
        }
    }
    let mut cells: BTreeMap<(usize, usize), (u32, usize)> = BTreeMap::new();
    let mut seen = HashMap::new();
    for (number, line) in lines {
        let place = format!("line {number}");
        let name = line.first().map_or("", String::as_str);
        let Some(&row) = at.get(name) else {
            problems.add(
                place,
                format!("is the row of '{}', which the header does not name", printable(name)),
                "begin every row with a name from the header",
            );
            continue;
        };
        if let Some(first) = seen.insert(row, number) {
            problems.add(
                place.clone(),
                format!("is a second row of {}, after line {first}", printable(name)),
                "give one row for every pod",
            );
        }
        if line.len() > header.len() {
            problems.add(
                place.clone(),
                format!("has {} fields, but the header has {}", line.len(), header.len()),
                "give one number for each pod of the header",
            );
            continue;
        }
        for (column, text) in line[1..].iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            let count = text.parse::<u32>().ok().filter(|&count| count <= MOST);
            match count {
                Some(0) if row == column => {}
                Some(count) if row == column => problems.add(
                    place.clone(),
                    format!(
                        "gives {} from {} to itself",
                        counted(count.into(), "circuit", "circuits"),
                        printable(name)
                    ),
                    "give 0 or nothing: a pod has no circuit to itself",
                ),
                Some(count) => {
                    cells.insert((row, column), (count, number));
                }
                None => problems.add(
                    place.clone(),
                    format!("has '{}' in column {}", printable(text), printable(&pods[column])),
                    format!("give a whole number from 0 to {MOST}"),
                ),
            }
        }
    }
    let mut pairs = HashMap::new();
    for (&(i, j), &(count, line)) in &cells {
        if let Some(&(back, other)) = cells.get(&(j, i)).filter(|&&(back, _)| i < j && back != count) {
            problems.push(Problem::new(
                format!("line {line}"),
                format!(
                    "gives {} from {} to {}, but line {other} gives {back} in the reverse direction",
                    counted(count.into(), "circuit", "circuits"),
                    printable(&pods[i]),
                    printable(&pods[j])
                ),
                "give the same number in both, or leave one half empty: circuits are duplex",
            ));
        }
        pairs.insert((i.min(j), i.max(j)), count);
    }
    problems.into_result(Matrix::of(pods.clone(), &pairs))
}
