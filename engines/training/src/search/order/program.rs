//! The linear program of one event order: it chooses event times and the volumes between events.

use super::competition::Competition;
use super::events::EventOrder;
use lightbay_highs::model::{Column, Model, Row};

/// Meaning of a column or row, independent of its number; the meaning identifies columns and rows when a basis is
/// transferred to the program of a neighbouring order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// Column: time of an event.
    Time(super::events::Event),
    /// Column: the end of the iteration.
    Makespan,
    /// Column: volume of a task in an interval.
    Volume(u32, u32),
    /// Row: maximum rate of a task in an interval.
    Rate(u32, u32),
    /// Row: capacity of a resource in an interval.
    Share(u32, u32),
    /// Row: an interval without other rows has a nonnegative length.
    Length(u32),
    /// Row: a task sends its volume.
    Sent(u32),
    /// Row: a task waits for another task.
    After(u32, u32),
    /// Row: the iteration ends after a task.
    Last(u32),
}

/// The program of one order.
#[derive(Clone, Debug)]
pub(super) struct OrderProgram {
    /// The program, to be minimised: times and volumes in the units of the competition.
    pub model: Model,
    /// Time column of every event, in event order.
    pub times: Vec<Column>,
    /// Volume columns with task and interval, task by task.
    pub volumes: Vec<(Column, u32, u32)>,
    /// The volume row of every task.
    pub sent: Vec<Row>,
    /// Rows that contain the length of an interval: row, interval, coefficient of the length.
    pub lengths: Vec<(Row, u32, f64)>,
    /// Meaning of the columns.
    pub columns: Vec<Part>,
    /// Meaning of the rows.
    pub rows: Vec<Part>,
}

impl OrderProgram {
    /// Writes the program of an order.
    pub fn new(competition: &Competition, order: &EventOrder) -> Self {
        let rivals = &competition.rivals;
        let spans = order.spans(competition);
        let mut model = Model::new("event order");
        let mut columns = Vec::new();
        // Times are bounded below by longest paths, which saves rows for uncontended work.
        let mut times = Vec::with_capacity(order.events.len());
        for event in &order.events {
            let rival = &rivals[event.rival() as usize];
            let (word, least) = if event.is_end() {
                ("end", rival.earliest + rival.volume / rival.rate)
            } else {
                ("start", rival.earliest)
            };
            let name = format!("{word} of task {}", rival.task);
            times.push(model.column(name, least, f64::INFINITY, 0.0));
            columns.push(Part::Time(*event));
        }
        let makespan = model.column("makespan", competition.floor, f64::INFINITY, 1.0);
        columns.push(Part::Makespan);
        let mut volumes = Vec::new();
        let mut column_of = vec![Vec::new(); rivals.len()];
        // Volume columns only in intervals in which the task runs: Eq. 12 holds because all other volumes are omitted.
        for (position, rival) in rivals.iter().enumerate() {
            for interval in spans[position].0..spans[position].1 {
                let name = format!("volume of task {} in interval {interval}", rival.task);
                let column = model.column(name, 0.0, f64::INFINITY, 0.0);
                columns.push(Part::Volume(position as u32, interval));
                volumes.push((column, position as u32, interval));
                column_of[position].push(column);
            }
        }
        let mut program = Self {
            model,
            times,
            volumes,
            sent: Vec::with_capacity(rivals.len()),
            lengths: Vec::new(),
            columns,
            rows: Vec::new(),
        };
        // Eq. 11 (volume), 16 (precedence), 18 (end).
        for (position, rival) in rivals.iter().enumerate() {
            let terms = column_of[position].iter().map(|column| (*column, 1.0));
            let row = program.model.equal(format!("volume of task {}", rival.task), rival.volume, terms);
            program.rows.push(Part::Sent(position as u32));
            program.sent.push(row);
            let start = program.times[spans[position].0 as usize];
            for &(ahead, delay) in &rival.after {
                let end = program.times[spans[ahead as usize].1 as usize];
                let name = format!("task {} after task {}", rival.task, rivals[ahead as usize].task);
                program.model.at_least(name, delay, [(start, 1.0), (end, -1.0)]);
                program.rows.push(Part::After(position as u32, ahead));
            }
            if rival.ends {
                let end = program.times[spans[position].1 as usize];
                let name = format!("makespan after task {}", rival.task);
                program.model.at_least(name, rival.tail, [(makespan, 1.0), (end, -1.0)]);
                program.rows.push(Part::Last(position as u32));
            }
        }
        let endless = rivals.iter().any(|rival| !rival.ends);
        let active = |position: u32, interval: u32| {
            let (from, to) = spans[position as usize];
            (from..to).contains(&interval).then(|| column_of[position as usize][(interval - from) as usize])
        };
        let intervals = order.events.len() as u32 - u32::from(!endless);
        // Eq. 9 and 10 in each interval between two neighbouring events; the last one ends with the makespan.
        for interval in 0..intervals {
            let from = program.times[interval as usize];
            let to = program.times.get(interval as usize + 1).copied().unwrap_or(makespan);
            program.interval(competition, interval, [from, to], &active);
        }
        program
    }

    /// Adds the rows of one interval between the columns of two event times.
    fn interval(
        &mut self,
        competition: &Competition,
        interval: u32,
        [from, to]: [Column; 2],
        active: &impl Fn(u32, u32) -> Option<Column>,
    ) {
        let mut used = false;
        let mut limited = vec![false; competition.rivals.len()];
        for (index, resource) in competition.resources.iter().enumerate() {
            let here: Vec<(u32, Column, f64)> = resource
                .users
                .iter()
                .filter_map(|&(position, take)| Some((position, active(position, interval)?, take)))
                .collect();
            let wanted: f64 = here
                .iter()
                .map(|(position, _, take)| competition.rivals[*position as usize].rate * take)
                .sum();
            // Rate rows below cover a single user, and users whose rates fit together.
            if here.len() < 2 || wanted <= resource.capacity {
                continue;
            }
            for &(position, _, take) in &here {
                limited[position as usize] |=
                    competition.rivals[position as usize].rate * take >= resource.capacity;
            }
            let terms = here.iter().map(|(_, column, take)| (*column, -take));
            let name = format!("{} in interval {interval}", resource.name);
            let length = [(to, resource.capacity), (from, -resource.capacity)];
            let row = self.model.at_least(name, 0.0, length.into_iter().chain(terms));
            self.rows.push(Part::Share(index as u32, interval));
            self.lengths.push((row, interval, resource.capacity));
            used = true;
        }
        for (position, rival) in competition.rivals.iter().enumerate() {
            let Some(column) = active(position as u32, interval) else { continue };
            used = true;
            if limited[position] {
                // The resource row already limits the task to full speed.
                continue;
            }
            let name = format!("rate of task {} in interval {interval}", rival.task);
            let row = self.model.at_least(name, 0.0, [(to, rival.rate), (from, -rival.rate), (column, -1.0)]);
            self.rows.push(Part::Rate(position as u32, interval));
            self.lengths.push((row, interval, rival.rate));
        }
        // Without other rows, this row keeps the length of the interval nonnegative (Eq. 14).
        if !used {
            let name = format!("length of interval {interval}");
            let row = self.model.at_least(name, 0.0, [(to, 1.0), (from, -1.0)]);
            self.rows.push(Part::Length(interval));
            self.lengths.push((row, interval, 1.0));
        }
    }
}
