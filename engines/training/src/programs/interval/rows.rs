//! The rows of the interval model (Eq. 5-18).

use super::Writer;
use lightbay_core::method::MethodError;
use lightbay_highs::model::Column;

impl Writer<'_> {
    /// The window of a task; empty for tasks without intervals.
    pub(super) fn window(&self, task: usize) -> std::ops::RangeInclusive<u32> {
        let windows = self.ask.windows;
        windows.first[task].max(1)..=windows.last[task]
    }

    pub(super) fn active(&self, task: usize, interval: u32) -> Column {
        self.columns.active(task, self.ask.windows.first[task], interval)
    }

    pub(super) fn volume(&self, task: usize, interval: u32) -> Column {
        self.columns.volume(task, self.ask.windows.first[task], interval)
    }

    pub(super) fn begins(&self, task: usize, interval: u32) -> Column {
        self.columns.begins(task, self.ask.windows.first[task], interval)
    }

    /// Columns of the events at the beginning and the end of an interval (1-based).
    fn ends(&self, interval: u32) -> (Column, Column) {
        (self.columns.events[interval as usize - 1], self.columns.events[interval as usize])
    }

    /// The large constant of Eq. 8, which no interval exceeds.
    fn longest_or_limit(&self, interval: u32) -> f64 {
        if self.ask.form.tighten { self.longest(interval) } else { self.limit }
    }

    /// Adds the rows of ports (Eq. 5) and of the parts of circuit counts (Eq. 7).
    pub(super) fn circuits(&mut self) -> Result<(), MethodError> {
        let names = self.ask.scope.names;
        let budget = &self.ask.scope.evaluator.network.budget;
        for pod in 0..budget.pods() {
            let Some(ports) = budget.ports(pod) else { continue };
            let links = budget.links_at(pod).iter();
            let terms: Vec<_> =
                links.map(|&(link, cost)| (self.columns.circuits[link as usize], f64::from(cost))).collect();
            if !terms.is_empty() {
                self.at_most(format!("ports of pod {}", names.pods[pod]), f64::from(ports), &terms)?;
            }
        }
        for link in 0..budget.links() {
            let parts = self.columns.parts[link].clone();
            let mut terms = vec![(self.columns.circuits[link], 1.0)];
            terms.extend(parts.iter().map(|&(count, part)| (part, -f64::from(count))));
            self.equal(format!("circuits {} as a sum of parts", names.links[link]), 0.0, &terms)?;
            // With cuts a part represents one count of circuits, so exactly one is chosen; without cuts, parts are the
            // bits of Eq. 7 and add up.
            if self.ask.form.cuts {
                let terms: Vec<_> = parts.iter().map(|&(_, part)| (part, 1.0)).collect();
                self.equal(format!("one count {}", names.links[link]), 1.0, &terms)?;
            }
        }
        Ok(())
    }

    /// Adds the rows of lengths of intervals times circuits (Eq. 8), and of the capacity of circuits (Eq. 9) and NICs
    /// (Eq. 10).
    pub(super) fn capacities(&mut self) -> Result<(), MethodError> {
        let network = &self.ask.scope.evaluator.network;
        for link in 0..network.links() {
            for interval in 1..=self.ask.windows.intervals {
                if let Some(first) = self.columns.lengths[link][interval as usize - 1] {
                    self.length_rows(link, interval, first)?;
                }
            }
        }
        // Eq. 9 with the product columns of Eq. 8.
        for (via, tasks) in network.carried.iter().enumerate() {
            for interval in 1..=self.ask.windows.intervals {
                let Some(first) = self.columns.lengths[via / 2][interval as usize - 1] else { continue };
                let users: Vec<u32> = tasks.iter().copied().filter(|t| self.used(&[*t], interval)).collect();
                if users.is_empty() {
                    continue;
                }
                let mut terms: Vec<_> =
                    users.iter().map(|task| (self.volume(*task as usize, interval), 1.0)).collect();
                for (place, &(count, _)) in self.columns.parts[via / 2].iter().enumerate() {
                    terms.push((Column(first.0 + place as u32), -f64::from(count)));
                }
                let name = format!("capacity {} in interval {interval}", self.ask.scope.names.via(via));
                self.at_most(name, 0.0, &terms)?;
            }
        }
        // Eq. 10 for a task that is alone on its NICs: at most full speed.
        for task in 0..network.tasks() {
            for interval in self.window(task) {
                let (begin, end) = self.ends(interval);
                let share = 1.0 / network.flows[task];
                let terms = [(self.volume(task, interval), share), (begin, 1.0), (end, -1.0)];
                let name = format!("rate of {} in interval {interval}", self.ask.scope.names.tasks[task]);
                self.at_most(name, 0.0, &terms)?;
            }
        }
        for (group, nics) in network.nic_groups.iter().enumerate() {
            for interval in 1..=self.ask.windows.intervals {
                let members = nics.members.iter().filter(|(task, _)| self.used(&[*task], interval));
                let mut terms: Vec<_> = members
                    .map(|&(task, weight)| {
                        (self.volume(task as usize, interval), weight / network.flows[task as usize])
                    })
                    .collect();
                // The row above covers a single task with one flow per NIC.
                let alone = matches!(nics.members[..], [(_, weight)] if weight <= 1.0);
                if terms.is_empty() || alone {
                    continue;
                }
                let (begin, end) = self.ends(interval);
                terms.extend([(begin, 1.0), (end, -1.0)]);
                self.at_most(format!("shared NICs {group} in interval {interval}"), 0.0, &terms)?;
            }
        }
        Ok(())
    }

    /// Adds rows for the product of the length of an interval and a part of the circuits.
    fn length_rows(&mut self, link: usize, interval: u32, first: Column) -> Result<(), MethodError> {
        let (begin, end) = self.ends(interval);
        let most = self.longest_or_limit(interval);
        let parts = self.columns.parts[link].clone();
        let name = &self.ask.scope.names.links[link];
        // Eq. 8 by its convex hull: the length is split among the counts, and only the chosen count has a positive
        // length. This needs no large constant beyond the longest interval.
        if self.ask.form.cuts {
            let mut terms = vec![(begin, 1.0), (end, -1.0)];
            for (place, &(count, part)) in parts.iter().enumerate() {
                let length = Column(first.0 + place as u32);
                terms.push((length, 1.0));
                let row = format!("interval {interval} only with {count} circuits {name}");
                self.at_most(row, 0.0, &[(length, 1.0), (part, -most)])?;
            }
            self.equal(format!("length of interval {interval} split by circuits {name}"), 0.0, &terms)?;
            return Ok(());
        }
        // Eq. 8 as printed: the product of a bit and a length, by three rows with a large constant.
        for (place, &(count, part)) in parts.iter().enumerate() {
            let length = Column(first.0 + place as u32);
            let row = |what: &str| format!("interval {interval} with {count} circuits {name}, {what}");
            self.at_most(row("zero without these circuits"), 0.0, &[(length, 1.0), (part, -most)])?;
            self.at_most(row("at most its length"), 0.0, &[(length, 1.0), (begin, 1.0), (end, -1.0)])?;
            let terms = [(length, 1.0), (begin, 1.0), (end, -1.0), (part, -most)];
            self.at_least(row("full length with these circuits"), -most, &terms)?;
        }
        Ok(())
    }

    /// Adds the rows of volumes (Eq. 11, 12) and of activity without interruption (Eq. 13).
    pub(super) fn activities(&mut self) -> Result<(), MethodError> {
        // Eq. 11: the volumes of a task add up to its whole volume.
        for task in 0..self.tau.len() {
            if !self.ask.windows.counts(task) {
                continue;
            }
            let name = &self.ask.scope.names.tasks[task];
            let volume = self.ask.scope.evaluator.network.flows[task] * self.tau[task];
            let terms: Vec<_> = self.window(task).map(|k| (self.volume(task, k), 1.0)).collect();
            self.equal(format!("volume of {name}"), volume, &terms)?;
            // DELTA Eq. 12 in its tightest form.
            for interval in self.window(task) {
                let most = self.most_volume(task, interval);
                let terms = [(self.volume(task, interval), 1.0), (self.active(task, interval), -most)];
                self.at_most(format!("{name} sends in interval {interval} only if active"), 0.0, &terms)?;
            }
            // Eq. 13: one begin for each task, so that it is active in consecutive intervals.
            for interval in self.window(task) {
                let mut terms = vec![(self.begins(task, interval), 1.0), (self.active(task, interval), -1.0)];
                if interval > self.ask.windows.first[task] {
                    terms.push((self.active(task, interval - 1), 1.0));
                }
                self.at_least(format!("{name} begins if first active in interval {interval}"), 0.0, &terms)?;
            }
            let terms: Vec<_> = self.window(task).map(|k| (self.begins(task, k), 1.0)).collect();
            self.equal(format!("{name} begins once"), 1.0, &terms)?;
        }
        Ok(())
    }

    /// Adds the rows of the order of events (Eq. 14), of starts before and finishes after all activity of a task (Eq.
    /// 15), of the DAG (Eq. 16) and of the end of the iteration (Eq. 18).
    pub(super) fn times(&mut self) -> Result<(), MethodError> {
        let network = &self.ask.scope.evaluator.network;
        // Eq. 14: lengths are not negative.
        for interval in 1..=self.ask.windows.intervals {
            let (begin, end) = self.ends(interval);
            self.at_least(format!("length of interval {interval}"), 0.0, &[(end, 1.0), (begin, -1.0)])?;
        }
        let tighten = self.ask.form.tighten;
        for task in 0..network.tasks() {
            let name = &self.ask.scope.names.tasks[task];
            let (start, finish) = (self.columns.start[task], self.columns.finish[task]);
            let (last_start, first_finish) = if tighten {
                (self.model.upper[start.index()], self.model.lower[finish.index()])
            } else {
                (self.limit, 0.0)
            };
            // Eq. 15.
            for interval in self.window(task) {
                let (begin, end) = self.ends(interval);
                let active = self.active(task, interval);
                // Large constants are as small as the windows of task and event allow, because large ones weaken the
                // bound.
                let most = (last_start - self.earliest[interval as usize - 1]).max(0.0);
                let terms = [(start, 1.0), (begin, -1.0), (active, most)];
                self.at_most(format!("{name} starts before interval {interval}"), most, &terms)?;
                let most = (self.latest[interval as usize] - first_finish).max(0.0);
                let terms = [(finish, 1.0), (end, -1.0), (active, -most)];
                self.at_least(format!("{name} finishes after interval {interval}"), -most, &terms)?;
            }
            if tighten && !self.ask.form.cuts {
                let terms = [(finish, 1.0), (start, -1.0)];
                self.at_least(format!("duration of {name}"), self.tau[task], &terms)?;
            }
            // Releases and Eq. 16.
            let release = network.release[task] / self.unit;
            self.at_least(format!("release of {name}"), release, &[(start, 1.0)])?;
            for arc in network.preds.of(task as u32) {
                let before = self.columns.finish[arc.task as usize];
                let row = format!("{name} after {}", self.ask.scope.names.tasks[arc.task as usize]);
                self.at_least(row, arc.delay / self.unit, &[(start, 1.0), (before, -1.0)])?;
            }
            // Eq. 18, with the tail.
            let tail = network.tail[task] / self.unit;
            let terms = [(self.columns.end, 1.0), (finish, -1.0)];
            self.at_least(format!("end after {name}"), tail, &terms)?;
        }
        Ok(())
    }

    /// Adds the rows of equal volumes per flow of active tasks on a directed link (Eq. 17).
    pub(super) fn fairness(&mut self) -> Result<(), MethodError> {
        let network = &self.ask.scope.evaluator.network;
        // Eq. 17, linearised with the largest volume per flow that fits the interval.
        for (via, tasks) in network.carried.iter().enumerate() {
            for &task in tasks {
                let task = task as usize;
                for interval in self.window(task) {
                    let Some(per_flow) = self.columns.per_flow[via][interval as usize - 1] else { continue };
                    let most = self.most_per_flow(tasks, interval);
                    let (active, volume) = (self.active(task, interval), self.volume(task, interval));
                    let share = 1.0 / network.flows[task];
                    let name = &self.ask.scope.names.tasks[task];
                    let row = |side| format!("{name} at the fair share in interval {interval}, {side}");
                    let terms = [(volume, share), (per_flow, -1.0), (active, most)];
                    self.at_most(row("not above"), most, &terms)?;
                    let terms = [(per_flow, 1.0), (volume, -share), (active, most)];
                    self.at_most(row("not below"), most, &terms)?;
                }
            }
        }
        Ok(())
    }
}
