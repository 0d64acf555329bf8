//! The optimisation model written out: labels O1, C1 to C8, V1 and V2 of TONS (Table 1), in symmetric form.
//!
//! Columns: one for the throughput, one for each switch and group element (C6: one cube represents all), and one for
//! each detour of a pair over a neighbour of its first chip (C5). Rows: one for each switch (C3) and one for each class
//! of unordered pairs (C4): the direct traffic of a pair, plus the detours of other pairs over this pair, minus the
//! detours of the pair itself, is at most the capacity of the link of the pair. Self links do not occur (C1), and a
//! class of pairs has one row (C2, C7).
//!
//! The model is written as arrays, because it has 170,881 columns for 256 chips: expressing the finished rows in
//! good_lp's algebra alone takes 1.4 times as long as building the whole model from arrays.

use crate::model::group::Group;
use crate::model::pairs::PairClasses;
use crate::model::pod::{CHIPS, ELECTRICAL, ELECTRICAL_LINKS, SWITCHES, electrical, face_chip, node};
use lightbay_core::building::Building;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::model::{Column, Domain, Model};

/// Maximum number of cubes for which the model is built. For C cubes, the model has (288 + 96 C)(64 C - 2) columns of
/// detours: 60,480 for 2 cubes, 170,688 for 4 cubes.
pub const MOST_CUBES: usize = 4;

/// The model of all pods that are symmetric under a group.
#[derive(Clone, Debug)]
pub struct PodProgram {
    model: Model,
    /// `circuits[switch][element]`: column of the circuits that the switch has if its voltage is this element.
    circuits: Vec<Vec<Column>>,
    throughput: Column,
}

/// Properties of the model to be built.
#[derive(Clone, Copy, Debug)]
pub struct PodProgramRequest<'g> {
    /// Symmetry group of the pod, with one element for each cube.
    pub group: &'g Group,
    /// Number of simultaneously failed switches that the pod must survive (C8); 0 omits the row.
    pub tolerated_faults: u8,
    /// `true` if circuits are integer (V1), `false` if they may be fractional.
    pub whole: bool,
}

/// Number of links, whose columns and rows are added one link after another, between two progress reports.
const REPORTED: u64 = 128;

/// Number of rows that are built between two stop checks.
const ROWS_ASKED: usize = 64;

impl PodProgram {
    /// Builds the model, as part of a run that may stop it.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn new<W: Watch>(ask: PodProgramRequest<'_>, watch: &mut W) -> Result<Self, MethodError> {
        // One row for each class of unordered pairs: C2 and C7 hold by construction.
        let PodProgramRequest { group, .. } = ask;
        let order = group.order();
        let pairs = PairClasses::new(group);
        let mut model = Model::new("tons");
        model.maximise = true;
        // C8: to survive the tolerated faults, the traffic over the cut around one cube must need the links of more
        // than `tolerated_faults` switches; each switch contributes at most two links to the cut.
        let outside = (pairs.nodes - CHIPS) as f64;
        let least = if ask.tolerated_faults > 0 && outside > 0.0 {
            f64::from(ask.tolerated_faults + 1) / (32.0 * outside)
        } else {
            0.0
        };
        let throughput = model.column("lambda", least, f64::INFINITY, 1.0);
        let domain = if ask.whole { Domain::Integer } else { Domain::Continuous };
        let circuits: Vec<Vec<Column>> = (0..SWITCHES)
            .map(|switch| {
                let name = |element: usize| format!("m_{switch}_{element}");
                (0..order).map(|element| model.column_of(domain, name(element), 0.0, 1.0, 0.0)).collect()
            })
            .collect();
        let mut room = vec![0.0; pairs.count.len()];
        let mut terms: Vec<Vec<(Column, f64)>> = vec![vec![(throughput, 1.0)]; pairs.count.len()];
        // C5: the first leg of a detour is a link that can exist, in either direction.
        // All possible links that leave cube 0.
        let mut links: Vec<(u32, u32)> = Vec::new();
        for (chip, axis) in ELECTRICAL {
            if let Some(high) = electrical(chip, 2 * axis) {
                let (low, high) = (node(0, chip), node(0, high));
                room[pairs.row(low, high)] = 1.0;
                links.extend([(low, high), (high, low)]);
            }
        }
        debug_assert_eq!(links.len(), 2 * ELECTRICAL_LINKS);
        // A circuit adds capacity to the class of pairs that contains its two chips.
        for (switch, columns) in circuits.iter().enumerate() {
            for (element, column) in columns.iter().enumerate() {
                let (plus, minus) = (face_chip(switch, true), face_chip(switch, false));
                let forth = (node(0, plus), node(element, minus));
                terms[pairs.row(forth.0, forth.1)].push((*column, -1.0));
                links.extend([forth, (node(0, minus), node(group.inverse(element), plus))]);
            }
        }
        let mut building = Building::new(watch, "links", Some(links.len() as u64), REPORTED);
        for (link, (first, over)) in links.iter().copied().enumerate() {
            building.at(link as u64)?;
            // C4: a detour of (first, last) over `over` loads both legs and relieves the pair itself.
            for last in (0..pairs.nodes as u32).filter(|last| *last != first && *last != over) {
                let detour = model.column(format!("y_{first}_{last}_{over}"), 0.0, f64::INFINITY, 0.0);
                for (row, sign) in [
                    (pairs.row(first, over), 1.0),
                    (pairs.row(over, last), 1.0),
                    (pairs.row(first, last), -1.0),
                ] {
                    terms[row].push((detour, sign * pairs.count[row]));
                }
            }
        }
        // C3.
        for (switch, columns) in circuits.iter().enumerate() {
            model.equal(format!("switch_{switch}"), 1.0, columns.iter().map(|column| (*column, 1.0)));
        }
        for (row, terms) in terms.into_iter().enumerate() {
            if row.is_multiple_of(ROWS_ASKED) {
                building.at(links.len() as u64)?;
            }
            model.at_most(format!("pair_{row}"), room[row], terms);
        }
        Ok(Self { model, circuits, throughput })
    }

    /// Returns the model for a solver.
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// Minimum throughput for surviving the tolerated faults (C8), in flits per cycle and ordered pair of chips.
    pub fn least_throughput(&self) -> f64 {
        self.model.lower[self.throughput.index()]
    }

    /// Returns the model with every switch fixed to its voltage; the optimum is the throughput of the pod with these
    /// voltages.
    #[must_use]
    pub fn fixed(&self, voltage: &[u16; SWITCHES]) -> Model {
        // Used by checks: the value of the model with a fixed design is the throughput of the design.
        let mut model = self.model.clone();
        for (column, value) in self.design(voltage) {
            model.domains[column as usize] = Domain::Continuous;
            model.lower[column as usize] = value;
            model.upper[column as usize] = value;
        }
        model
    }

    /// The value (0 or 1) of every circuit column if the switches have these voltages.
    pub fn design(&self, voltage: &[u16; SWITCHES]) -> Vec<(u32, f64)> {
        let of_switch = |(columns, g): (&Vec<Column>, &u16)| {
            let g = usize::from(*g);
            columns
                .iter()
                .enumerate()
                .map(move |(element, column)| (column.0, f64::from(u8::from(element == g))))
                .collect::<Vec<_>>()
        };
        self.circuits.iter().zip(voltage).flat_map(of_switch).collect()
    }

    /// For each switch, the group element with the largest fractional value at a point.
    pub fn voltages(&self, values: &[f64]) -> [u16; SWITCHES] {
        std::array::from_fn(|switch| {
            let share = |element: &usize| values[self.circuits[switch][*element].index()];
            let best =
                (0..self.circuits[switch].len()).max_by(|one, other| share(one).total_cmp(&share(other)));
            best.unwrap_or(0) as u16
        })
    }
}
