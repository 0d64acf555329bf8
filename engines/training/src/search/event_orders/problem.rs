//! The scheduling problem on fixed circuits, in which only time points are unknown: the starts and ends of the windows
//! of contended tasks.
//!
//! A contended task has a window: it is served between two time points, at any rates. Tasks without competition only
//! add to the distances between the windows of others. Times whose best values differ by a constant share one variable.
//! The window of a task with a single predecessor begins as soon as the predecessor allows, and the window of a task
//! with a single successor ends as late as the successor allows. The window of a task without successors ends with the
//! iteration. Times are counted in [`Problem::unit`] seconds, so that all numbers are near one.

use super::distances::Distances;
use crate::model::network::Network;
use crate::search::circuits::Proposal;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// The time point at which the iteration begins; it is the origin of all time points.
pub const ORIGIN: u32 = 0;

/// The time point at which the iteration ends.
pub const END: u32 = 1;

/// A point in time: a variable time point and a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Number of the time point.
    pub moment: u32,
    /// Constant that is added to the time of the time point, in units.
    pub plus: f64,
}

/// A contended task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContendedTask {
    /// Task id.
    pub task: u32,
    /// Time point before which the task is not served.
    pub start: Point,
    /// Time point by which the task is served completely.
    pub end: Point,
    /// Duration of the task at its highest speed, units.
    pub work: f64,
}

/// A directed link or NIC direction that its tasks can fill.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Number of circuits, or 1 for a NIC.
    pub capacity: f64,
    /// Contended tasks, each with the capacity that it uses at its highest speed.
    pub shares: Vec<(u32, f64)>,
}

/// The scheduling problem of an instance on fixed circuits.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Seconds in a unit of time.
    pub unit: f64,
    /// Duration of every task that is served at its highest speed, seconds.
    pub seconds: Vec<f64>,
    /// Contended tasks, also called jobs.
    pub jobs: Vec<ContendedTask>,
    /// Resources for which the tasks compete.
    pub resources: Vec<Resource>,
    /// Minimum distances between time points because of precedence, releases, tails and durations; the end of the
    /// iteration has no upper limit.
    pub distances: Distances,
    /// Components of resources: a job that uses several resources puts them in one component. Windows that are feasible
    /// for each resource of a component may be infeasible for all resources of the component together.
    pub components: Vec<Vec<u32>>,
}

impl Problem {
    /// Creates the problem on circuits `x`.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn new<W: Watch<Proposal>>(network: &Network, x: &[u32], watch: &mut W) -> Result<Self, MethodError> {
        let n = network.tasks();
        // Full speed of the task alone, as its flows, circuits and NICs allow.
        let top: Vec<f64> = (0..n)
            .map(|task| {
                let circuits = f64::from(x[network.link_of(task as u32)]);
                let link = (circuits / network.flows[task]).min(1.0);
                network.nics_of[task].iter().fold(link, |top, (_, weight)| top.min(1.0 / weight))
            })
            .collect();
        let seconds: Vec<f64> = (0..n).map(|task| network.tau[task] / top[task]).collect();
        let resources = resources(network, x, &top);
        // Only tasks that can fill a resource together with others need a window.
        let mut place = vec![None; n];
        for &(task, _) in resources.iter().flat_map(|(_, shares)| shares) {
            place[task as usize] = Some(0);
        }
        let mut held = Vec::new();
        for &task in network.order.iter().filter(|task| place[**task as usize].is_some()) {
            held.push(task);
        }
        for (at, &task) in held.iter().enumerate() {
            // Topological order, so that arcs below lead from lower to higher positions.
            place[task as usize] = Some(at as u32);
        }
        let contracted = Contracted::new(network, &seconds, &held, &place, watch)?;
        // Scaling: the longest path becomes 1, so tolerances are relative to the iteration.
        let unit = contracted.length;
        let points = contracted.points(unit);
        let mut distances = Distances::new(points.moments as usize);
        contracted.demand(unit, &points, &mut distances, watch)?;
        let job = |(at, &task): (usize, &u32)| {
            let (start, end) = points.windows[at];
            ContendedTask { task, start, end, work: seconds[task as usize] / unit }
        };
        let jobs: Vec<ContendedTask> = held.iter().enumerate().map(job).collect();
        let resources: Vec<Resource> = resources
            .into_iter()
            .map(|(capacity, shares)| {
                let shares =
                    shares.into_iter().filter_map(|(task, weight)| Some((place[task as usize]?, weight)));
                Resource { capacity, shares: shares.collect() }
            })
            .collect();
        let components = components(&resources, jobs.len());
        Ok(Self { unit, seconds, jobs, resources, distances, components })
    }

    /// Number of time points.
    pub const fn moments(&self) -> usize {
        self.distances.moments()
    }
}

/// Groups resources that are connected by common tasks.
fn components(resources: &[Resource], jobs: usize) -> Vec<Vec<u32>> {
    let mut components: Vec<Vec<u32>> = Vec::new();
    let mut reached = vec![false; resources.len()];
    let mut met = vec![false; jobs];
    for first in 0..resources.len() {
        if reached[first] {
            continue;
        }
        // Breadth-first over resources that share a job.
        reached[first] = true;
        let mut component = vec![first as u32];
        let mut next = 0;
        while next < component.len() {
            for &(job, _) in &resources[component[next] as usize].shares {
                if std::mem::replace(&mut met[job as usize], true) {
                    continue;
                }
                for (other, resource) in resources.iter().enumerate() {
                    if !reached[other] && resource.shares.iter().any(|(member, _)| *member == job) {
                        reached[other] = true;
                        component.push(other as u32);
                    }
                }
            }
            next += 1;
        }
        component.sort_unstable();
        components.push(component);
    }
    components
}

/// Links and NICs with the tasks that can fill them.
fn resources(network: &Network, x: &[u32], top: &[f64]) -> Vec<(f64, Vec<(u32, f64)>)> {
    let mut resources: Vec<(f64, Vec<(u32, f64)>)> = Vec::new();
    for (via, tasks) in network.carried.iter().enumerate() {
        let capacity = f64::from(x[via / 2]);
        let shares = tasks.iter().map(|&task| (task, network.flows[task as usize]));
        resources.push((capacity, shares.collect()));
    }
    for group in &network.nic_groups {
        resources.push((1.0, group.members.clone()));
    }
    for (capacity, shares) in &mut resources {
        for (task, weight) in shares.iter_mut() {
            // Amount of the resource that the task uses at full speed.
            *weight *= top[*task as usize];
        }
        *shares = crowded(network, *capacity, shares);
    }
    resources.retain(|(_, shares)| !shares.is_empty());
    resources
}

/// Returns the tasks that can fill the resource: together with tasks that may run at the same time, they need more than
/// the capacity of the resource.
fn crowded(network: &Network, capacity: f64, shares: &[(u32, f64)]) -> Vec<(u32, f64)> {
    // Tasks that the DAG orders never run at the same time, so they are left out of the sum.
    let beside = |task: u32| {
        let others = shares.iter().filter(|(other, _)| !network.precedence.ordered(task, *other));
        others.map(|(_, weight)| weight).sum::<f64>()
    };
    // If all unordered tasks fit together with this one, the resource never limits it.
    let full = capacity * (1.0 + 1e-12);
    shares.iter().copied().filter(|&(task, weight)| weight + beside(task) > full).collect()
}

/// Contended tasks only, with the longest paths between them through uncontended tasks, seconds.
struct Contracted {
    /// Duration of each task.
    work: Vec<f64>,
    /// Earliest start of each task because of releases and uncontended tasks.
    ready: Vec<f64>,
    /// Minimum time between the end of each task and the end of the iteration.
    tail: Vec<f64>,
    /// Minimum delays between tasks, each as `(before, after, delay)`.
    arcs: Vec<(u32, u32, f64)>,
    /// Length of the longest path from the start to the end of the iteration.
    length: f64,
}

impl Contracted {
    fn new<W: Watch<Proposal>>(
        network: &Network,
        seconds: &[f64],
        held: &[u32],
        place: &[Option<u32>],
        watch: &mut W,
    ) -> Result<Self, MethodError> {
        let n = network.tasks();
        let count = held.len();
        let work: Vec<f64> = held.iter().map(|task| seconds[*task as usize]).collect();
        let mut ready = vec![0.0; count];
        let mut tail = vec![0.0; count];
        let mut arcs = Vec::new();
        let mut length = 0.0f64;
        let mut finish = vec![f64::NEG_INFINITY; n];
        // Longest paths from the start, and from the end of each contended task, over uncontended tasks only.
        for from in 0..=count {
            watch.checkpoint()?;
            let source = from.checked_sub(1).map(|at| held[at]);
            finish.fill(f64::NEG_INFINITY);
            let mut last = f64::NEG_INFINITY;
            let mut begun = source.is_none();
            // Dynamic program over the topological order; contended tasks end a path.
            for &task in &network.order {
                let at = task as usize;
                if source == Some(task) {
                    begun = true;
                    finish[at] = 0.0;
                    last = network.tail[at];
                    continue;
                }
                if !begun {
                    continue;
                }
                // Release times apply only to paths from the start of the iteration, not to paths from another
                // transfer.
                let least = if source.is_none() { network.release[at] } else { f64::NEG_INFINITY };
                let preds = network.preds.of(task).iter();
                let start = preds.map(|arc| finish[arc.task as usize] + arc.delay).fold(least, f64::max);
                if start == f64::NEG_INFINITY {
                    continue;
                }
                match (place[at], source) {
                    (Some(to), None) => ready[to as usize] = start,
                    (Some(to), Some(_)) => arcs.push((from as u32 - 1, to, start)),
                    (None, _) => {
                        finish[at] = start + seconds[at];
                        last = last.max(finish[at] + network.tail[at]);
                    }
                }
            }
            match from.checked_sub(1) {
                Some(at) => tail[at] = last,
                None => length = last.max(0.0),
            }
        }
        let mut this = Self { work, ready, tail, arcs, length };
        // Fewer arcs mean fewer time points and distances.
        this.drop_dominated(watch)?;
        for (at, start) in this.earliest().into_iter().enumerate() {
            this.length = this.length.max(start + this.work[at] + this.tail[at]);
        }
        Ok(this)
    }

    fn earliest(&self) -> Vec<f64> {
        let mut earliest = self.ready.clone();
        // Arcs are sorted by their first end, in topological order.
        for &(u, v, delay) in &self.arcs {
            let through = earliest[u as usize] + self.work[u as usize] + delay;
            earliest[v as usize] = earliest[v as usize].max(through);
        }
        earliest
    }

    /// Removes arcs that a path through a third task implies.
    fn drop_dominated<W: Watch<Proposal>>(&mut self, watch: &mut W) -> Result<(), MethodError> {
        let count = self.work.len();
        let mut longest = vec![f64::NEG_INFINITY; count * count];
        let mut from: Vec<Vec<(u32, f64)>> = vec![Vec::new(); count];
        for &(u, v, delay) in &self.arcs {
            from[u as usize].push((v, delay));
        }
        // Longest path from the end of u to the start of v; later tasks first.
        for u in (0..count).rev() {
            watch.checkpoint()?;
            for &(v, delay) in &from[u] {
                let v = v as usize;
                longest[u * count + v] = longest[u * count + v].max(delay);
                for w in v + 1..count {
                    let onward = delay + self.work[v] + longest[v * count + w];
                    if onward > longest[u * count + w] {
                        longest[u * count + w] = onward;
                    }
                }
            }
        }
        // Transitive reduction with lengths: an arc is removed if a path through another task is at least as long.
        let through = |u: u32, v: u32| {
            from[u as usize].iter().filter(|(w, _)| *w != v).fold(f64::NEG_INFINITY, |best, &(w, delay)| {
                best.max(delay + self.work[w as usize] + longest[w as usize * count + v as usize])
            })
        };
        let kept = self.arcs.iter().copied().filter(|&(u, v, delay)| through(u, v) < delay).collect();
        self.arcs = kept;
        Ok(())
    }

    /// Returns the time points that represent the windows.
    fn points(&self, unit: f64) -> Points {
        let count = self.work.len() as u32;
        // Union-find with offsets; each union saves a time point and a row and column of the distance matrix.
        let mut joined =
            Joined { parent: (0..2 + 2 * count).map(|moment| Point { moment, plus: 0.0 }).collect() };
        let start = |job: u32| Point { moment: 2 + 2 * job, plus: 0.0 };
        let end = |job: u32| Point { moment: 3 + 2 * job, plus: 0.0 };
        let mut into: Vec<Vec<(u32, f64)>> = vec![Vec::new(); count as usize];
        let mut out = into.clone();
        for &(u, v, delay) in &self.arcs {
            into[v as usize].push((u, delay));
            out[u as usize].push((v, delay));
        }
        let earliest = self.earliest();
        // The window of a job with a single predecessor begins as soon as the predecessor allows, because an earlier
        // begin is never worse.
        for job in 0..count {
            let at = job as usize;
            match *into[at] {
                [] => joined.join(start(job), Point { moment: ORIGIN, plus: self.ready[at] / unit }),
                [(u, delay)] if self.ready[at] <= earliest[u as usize] + self.work[u as usize] + delay => {
                    joined.join(start(job), Point { plus: delay / unit, ..end(u) });
                }
                _ => {}
            }
        }
        // Likewise, the window of a job with a single successor ends as late as the successor allows.
        for job in 0..count {
            let at = job as usize;
            match *out[at] {
                [] => joined.join(end(job), Point { moment: END, plus: -self.tail[at] / unit }),
                [(v, delay)] if self.tail[at] <= delay + self.work[v as usize] + self.tail[v as usize] => {
                    joined.join(end(job), Point { plus: -delay / unit, ..start(v) });
                }
                _ => {}
            }
        }
        // Consecutive numbers: origin, end, then the other time points in the order of jobs.
        let mut names = vec![u32::MAX; joined.parent.len()];
        (names[0], names[1]) = (ORIGIN, END);
        let mut moments = 2;
        let mut named = |point: Point| {
            let root = joined.find(point);
            let name = &mut names[root.moment as usize];
            if *name == u32::MAX {
                *name = moments;
                moments += 1;
            }
            Point { moment: *name, plus: root.plus }
        };
        let windows = (0..count).map(|job| (named(start(job)), named(end(job)))).collect();
        Points { windows, moments }
    }

    fn demand<W: Watch<Proposal>>(
        &self,
        unit: f64,
        points: &Points,
        distances: &mut Distances,
        watch: &mut W,
    ) -> Result<(), MethodError> {
        // The closed matrix contains all bounds from precedence, work, releases and tails; the search only adds to it.
        let mut apart = |from: Point, to: Point, seconds: f64| {
            // A DAG with durations above 0 cannot contradict itself.
            let _ = distances.demand(from.moment, to.moment, seconds / unit + from.plus - to.plus);
        };
        let origin = Point { moment: ORIGIN, plus: 0.0 };
        let last = Point { moment: END, plus: 0.0 };
        // The longest path is a lower bound on the end.
        apart(origin, last, self.length);
        let mut arcs = self.arcs.iter().peekable();
        for (at, &(start, end)) in points.windows.iter().enumerate() {
            watch.checkpoint()?;
            apart(origin, start, self.ready[at]);
            apart(start, end, self.work[at]);
            apart(end, last, self.tail[at]);
            while let Some(&(_, v, delay)) = arcs.next_if(|arc| arc.0 as usize == at) {
                apart(end, points.windows[v as usize].0, delay);
            }
        }
        Ok(())
    }
}

/// Windows as pairs of points, and the number of time points.
struct Points {
    windows: Vec<(Point, Point)>,
    moments: u32,
}

/// Union-find over times with fixed distances.
struct Joined {
    /// Parent of each time, with its fixed distance: `t[of] = t[parent] + plus`.
    parent: Vec<Point>,
}

impl Joined {
    fn find(&self, mut point: Point) -> Point {
        loop {
            let up = self.parent[point.moment as usize];
            if up.moment == point.moment {
                return point;
            }
            point = Point { moment: up.moment, plus: point.plus + up.plus };
        }
    }

    /// Requires that two points are at the same time; does nothing if their distance is already fixed.
    fn join(&mut self, a: Point, b: Point) {
        let (a, b) = (self.find(a), self.find(b));
        // The lower number stays, so that origin and end keep their numbers.
        let (low, high) = if a.moment < b.moment { (a, b) } else { (b, a) };
        if low.moment != high.moment {
            self.parent[high.moment as usize] = Point { moment: low.moment, plus: low.plus - high.plus };
        }
    }
}
