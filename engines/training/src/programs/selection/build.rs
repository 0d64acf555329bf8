//! Columns and rows of the selection model.

use super::paths::{Extreme, Paths, keep_largest};
use super::range::Range;
use super::share::Share;
use super::sum::Sum;
use super::{Goal, SelectionRequest, Writing};
use crate::simulate::evaluate::{Rates, Scratch};
use lightbay_highs::model::{Column, Model};
use rustc_hash::FxHashMap;

/// Rule that computes the value of a column from circuits.
#[derive(Clone, Debug)]
pub(super) enum Recipe {
    /// 1 if the link has at least this number of circuits.
    Reach { link: u32, circuits: u32 },
    /// Duration of tasks of one type, minus the minimum of this duration.
    Duration { link: u32, flows: f64, work: f64, base: f64 },
    /// The largest of several sums, minus the minimum of this largest sum.
    Largest { sums: Vec<Sum>, base: f64 },
    /// The end of the iteration, minus its earliest possible time.
    Makespan,
    /// Length of a piece of a share (a set of sinks that share a link) if the link has from..=to circuits, otherwise 0.
    Piece { share: usize, piece: usize, from: u32, to: u32 },
    /// Volume that a sink of a share sends in a piece, NIC-milliseconds.
    Sent { share: usize, sink: usize, piece: usize },
}

/// A model under construction.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    pub ask: SelectionRequest<'a>,
    pub range: Range,
    /// Schedule at the maximum number of circuits of the range.
    pub fast: Extreme,
    /// Schedule at the minimum number of circuits of the range.
    pub slow: Extreme,
    pub model: Model,
    pub recipes: Vec<Recipe>,
    /// Position of the first count column of each link.
    pub reach: Vec<u32>,
    pub makespan: Sum,
    /// Minimum possible makespan, milliseconds.
    pub least: f64,
    pub ends: Vec<Sum>,
    pub shares: Vec<Share>,
    durations: FxHashMap<(usize, u64, u64), Sum>,
}

/// In the reduced form, a start that is the maximum of at most this many sums gets no column. A limit of two saves most
/// start columns of chains; every further sum would multiply the rows of the successors.
const SUMS: usize = 2;

impl<'a> Builder<'a> {
    pub fn new(ask: SelectionRequest<'a>, range: Range) -> Self {
        let network = &ask.evaluator.network;
        let fast = Extreme::new(network, &range.high);
        // Longest paths at the maximum and at the minimum number of circuits bound every start and finish from below
        // and above.
        let slow = Extreme::new(network, &range.low);
        let mut builder = Self {
            ask,
            fast,
            slow,
            model: Model::new("duration selection"),
            recipes: Vec::new(),
            reach: Vec::new(),
            makespan: Sum::default(),
            least: 0.0,
            ends: Vec::new(),
            shares: Vec::new(),
            durations: FxHashMap::default(),
            range,
        };
        builder.circuits();
        builder.ends();
        builder
    }

    /// Returns the maximum number of sums of a start that gets no column; 0 in the full form, in which every start has
    /// a column.
    pub fn sums(&self) -> usize {
        match self.ask.writing {
            Writing::Full => 0,
            Writing::Reduced => SUMS,
        }
    }

    pub fn limit_ms(&self) -> f64 {
        1e3 * self.ask.limit_s
    }

    /// Returns the name of a time column. In the reduced form, `excess` is added to the name, because the column has
    /// the excess of the time over its minimum.
    pub fn named(&self, name: String, excess: &str) -> String {
        match self.ask.writing {
            Writing::Full => name,
            Writing::Reduced => format!("{excess} of {name}"),
        }
    }

    /// Adds a column with these bounds, and returns its value as a sum.
    pub fn shifted(&mut self, name: String, least: f64, most: f64) -> (Column, Sum) {
        // Shifted columns begin at 0; their minimum becomes a constant of the sums that contain them.
        let base = if self.sums() == 0 { 0.0 } else { least };
        let column = self.model.column(name, least - base, most - base, 0.0);
        let mut value = Sum::column(column);
        value.constant = base;
        (column, value)
    }

    /// Names of the pods of a link.
    pub fn link_name(&self, link: usize) -> String {
        let instance = self.ask.instance;
        let pod = |id: lightbay_core::units::PodId| {
            instance.pods.get(id.index()).map_or_else(|| id.to_string(), |pod| pod.name.clone())
        };
        let link = &instance.links[link];
        format!("{}-{}", pod(link.pod_a), pod(link.pod_b))
    }

    /// Adds the columns of the unary circuit counts of every link, and the port rows of the pods.
    fn circuits(&mut self) {
        let budget = &self.ask.evaluator.network.budget;
        for link in 0..self.range.low.len() {
            self.reach.push(self.model.columns() as u32);
            let cost = match self.ask.goal {
                Goal::Makespan => 0.0,
                Goal::Ports => budget.cost(link) as f64,
            };
            self.model.offset += cost * f64::from(self.range.low[link]);
            // Incremental (unary) encoding: z_v implies z_(v-1), so the count is a plain sum of binaries.
            let name = self.link_name(link);
            for circuits in self.range.low[link] + 1..=self.range.high[link] {
                let column = self.model.binary(format!("at least {circuits} circuits {name}"), cost);
                self.recipes.push(Recipe::Reach { link: link as u32, circuits });
                if circuits > self.range.low[link] + 1 {
                    let row = format!("{circuits} circuits {name} imply {}", circuits - 1);
                    self.model.at_least(row, 0.0, [(Column(column.0 - 1), 1.0), (column, -1.0)]);
                }
            }
        }
        // Port rows are needed only where the maximum number of circuits of the range exceeds the ports of the pod.
        for pod in 0..budget.pods() {
            let Some(ports) = budget.ports(pod) else { continue };
            let mut used = Sum::default();
            let mut most = 0;
            for &(link, cost) in budget.links_at(pod) {
                used.add(&self.circuits_of(link as usize), f64::from(cost));
                most += u64::from(cost) * u64::from(self.range.high[link as usize]);
            }
            if most <= u64::from(ports) || used.terms.is_empty() {
                continue;
            }
            let name = self.ask.instance.pods.get(pod).map_or_else(String::new, |pod| pod.name.clone());
            let free = Sum::of(f64::from(ports)).plus(&used, -1.0);
            free.at_least_zero(&mut self.model, || format!("ports of {name}"));
        }
    }

    /// Sum that gives the number of circuits of a link.
    fn circuits_of(&self, link: usize) -> Sum {
        let mut sum = Sum::of(f64::from(self.range.low[link]));
        let count = self.range.high[link] - self.range.low[link];
        sum.terms.extend((self.reach[link]..self.reach[link] + count).map(|column| (column, 1.0)));
        sum
    }

    /// Sum that is 1 if the link has at least this number of circuits, otherwise 0.
    pub fn reaches(&self, link: usize, circuits: u32) -> Sum {
        // Counts outside the range are constants instead of columns.
        if circuits <= self.range.low[link] {
            Sum::of(1.0)
        } else if circuits > self.range.high[link] {
            Sum::of(0.0)
        } else {
            Sum::column(Column(self.reach[link] + circuits - self.range.low[link] - 1))
        }
    }

    /// Duration of a task that shares its link with no other; tasks of one type share a column.
    pub fn duration(&mut self, task: u32) -> Sum {
        let network = &self.ask.evaluator.network;
        let (index, link) = (task as usize, network.link_of(task));
        // Transfers of equal link, flows and volume have equal durations at every count, so one column serves them all.
        let (flows, volume) = (network.flows[index], network.volume[index]);
        let key = (link, flows.to_bits(), volume.to_bits());
        if let Some(known) = self.durations.get(&key) {
            return known.clone();
        }
        let (low, high) = (self.range.low[link], self.range.high[link]);
        let at = |circuits: u32| 1e3 * network.duration_alone(task, circuits);
        // With a single count, or with no more flows than the minimum count, the duration is constant.
        let value = if at(low) == at(high) {
            Sum::of(at(high))
        } else {
            let sort = format!("{flows} flows with {volume} bytes on {}", self.link_name(link));
            let name = self.named(format!("duration of {sort}"), "excess");
            let (_, value) = self.shifted(name, at(high), at(low));
            let work = 1e3 * network.tau[index];
            let link_id = link as u32;
            self.recipes.push(Recipe::Duration { link: link_id, flows, work, base: value.constant });
            // Telescoping sum over the counts (docs/methods/training-exact.md, section 8).
            let mut row = value.clone();
            row.constant -= at(low);
            for circuits in low + 1..=high {
                row.add(&self.reaches(link, circuits), at(circuits - 1) - at(circuits));
            }
            row.equal_zero(&mut self.model, || format!("duration by circuits of {sort}"));
            value
        };
        self.durations.insert(key, value.clone());
        value
    }

    /// Adds the column of the makespan, and the columns and rows of all ends that can determine the makespan.
    fn ends(&mut self) {
        let evaluator = self.ask.evaluator;
        let network = &evaluator.network;
        let mut scratch = Scratch::default();
        let least = 1e3 * evaluator.bound(&self.range.high, &mut scratch);
        // Links whose sinks can end after the minimum makespan. Links whose sinks end by the minimum makespan even with
        // the fewest circuits never determine it.
        evaluator.model.start(&self.range.low, &mut scratch.model);
        let late: Vec<bool> = (0..network.links())
            .map(|link| {
                let circuits = self.range.low[link];
                let end = evaluator.model.link_end(link as u32, circuits, Rates::Level, &mut scratch.model);
                self.sums() == 0 || 1e3 * end > least
            })
            .collect();
        let mut needed = vec![false; network.tasks()];
        let mut alone = Vec::new();
        let mut sharing = Vec::new();
        for (via, tasks) in network.carried.iter().enumerate() {
            let sinks: Vec<u32> = tasks.iter().copied().filter(|task| network.is_sink(*task)).collect();
            if !late[via / 2] {
                continue;
            }
            for &sink in &sinks {
                needed[sink as usize] = true;
            }
            if sinks.len() > 1 {
                // Sinks of one directed link compete; the rows of section 8 share its circuits among them.
                sharing.push((via, sinks));
            } else {
                alone.extend(sinks);
            }
        }
        for task in 0..network.tasks() as u32 {
            let tail = 1e3 * network.tail[task as usize];
            if !network.is_sink(task)
                && tail > 0.0
                && (self.sums() == 0 || self.slow.finish(task) + tail > least)
            {
                needed[task as usize] = true;
                alone.push(task);
            }
        }
        let shares: Vec<Share> =
            sharing.into_iter().map(|(via, sinks)| Share::new(self, via, &sinks)).collect();
        for share in &shares {
            share.need(self, &mut needed);
        }
        self.need_predecessors(&mut needed);
        // Starts, then ends, then the makespan, then pieces: recipes need this order.
        let mut paths = Paths::write(self, &needed);
        let name = self.named("makespan".to_owned(), "excess");
        let most = self.limit_ms();
        let mut ends = Vec::new();
        for task in alone {
            let mut after = self.duration(task);
            after.constant += 1e3 * network.tail[task as usize];
            for start in &paths.starts[task as usize] {
                keep_largest(&mut ends, start.plus(&after, 1.0), self);
            }
        }
        let mut shares = shares;
        for share in &mut shares {
            share.releases(self, &mut paths);
            ends.extend(share.ends_alone(self, &paths));
        }
        let (column, value) = self.shifted(name, least, most.max(least));
        self.recipes.push(Recipe::Makespan);
        if self.ask.goal == Goal::Makespan {
            self.model.costs[column.index()] = 1.0;
            self.model.offset = value.constant;
        }
        // Rows that always hold at the minimum makespan are left out.
        for (number, end) in ends.iter().enumerate() {
            if end.greatest(&self.model) > least {
                let row = value.plus(end, -1.0);
                row.at_least_zero(&mut self.model, || format!("makespan not before end {number}"));
            }
        }
        (self.makespan, self.least) = (value, least);
        self.ends = ends;
        for (number, share) in shares.iter_mut().enumerate() {
            share.write(self, number);
        }
        self.shares = shares;
    }

    fn need_predecessors(&self, needed: &mut [bool]) {
        let network = &self.ask.evaluator.network;
        // Backward in topological order: a task is decided before its predecessors.
        for &task in network.order.iter().rev() {
            if !needed[task as usize] {
                continue;
            }
            for arc in network.preds.of(task) {
                let ready = self.slow.finish(arc.task) + 1e3 * arc.delay;
                if self.sums() == 0 || ready > self.fast.start[task as usize] {
                    // A predecessor matters only if it can be ready after the earliest start of the task.
                    needed[arc.task as usize] = true;
                }
            }
        }
    }
}
