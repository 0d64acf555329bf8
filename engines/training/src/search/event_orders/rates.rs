//! Rates within windows on one resource: a maximum flow from jobs to the stretches between time points, or the
//! stretches without enough capacity.

use super::cuts::{PointRange, View};
use super::problem::{Point, Resource};

/// Flows below this count as rounding.
const TINY: f64 = 1e-15;

/// Work of every job of some resources in every stretch between time points.
#[derive(Clone, Debug, Default)]
pub struct Service {
    /// The jobs, as indices of `Problem::jobs`.
    pub jobs: Vec<u32>,
    /// Boundaries of the stretches, ascending.
    pub times: Vec<f64>,
    /// `amount[job * stretches + stretch]`: work of the job in the stretch, in any unit.
    pub amount: Vec<f64>,
    /// Factor by which all times must be multiplied so that all work fits; 1 if it already fits.
    pub stretch: f64,
}

/// Serves as much as possible of the jobs of a resource within their windows. If some work is left, also returns the
/// stretches that lack capacity, in order of time. This is a transportation problem between jobs and stretches.
pub fn serve(view: View<'_>, resource: &Resource) -> (Service, Vec<PointRange>) {
    let jobs: Vec<_> = resource
        .shares
        .iter()
        .map(|&(index, weight)| {
            let job = &view.problem.jobs[index as usize];
            (view.at(job.start), view.at(job.end), weight * job.work, weight)
        })
        .collect();
    let mut times: Vec<f64> = jobs.iter().flat_map(|job| [job.0, job.1]).collect();
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    let stretches = times.len().saturating_sub(1);
    let mut flow = RateFlow {
        stretches,
        amount: vec![0.0; jobs.len() * stretches],
        most: vec![0.0; jobs.len() * stretches],
        lacking: jobs.iter().map(|job| job.2).collect(),
        spare: times.windows(2).map(|pair| resource.capacity * (pair[1] - pair[0])).collect(),
        reached_job: Vec::new(),
        reached_stretch: Vec::new(),
    };
    // A job can send at most its full speed times the length, and only inside its window.
    for (at, &(start, end, _, weight)) in jobs.iter().enumerate() {
        for stretch in 0..stretches {
            if times[stretch] >= start && times[stretch + 1] <= end {
                flow.most[at * stretches + stretch] = weight * (times[stretch + 1] - times[stretch]);
            }
        }
    }
    // The flow is maximum when no augmenting path is left (Ford and Fulkerson).
    while flow.augment() {}
    let mut factor = 1.0f64;
    // The job with the largest missing share determines the factor for all times.
    for (job, lacking) in jobs.iter().zip(&flow.lacking) {
        if *lacking > 0.0 {
            factor = factor.max(job.2 / (job.2 - lacking).max(1e-300));
        }
    }
    // Stretches on the source side of the minimum cut are those that lack capacity (max-flow min-cut).
    let full = if factor > 1.0 { flow.spans(view, resource, &times) } else { Vec::new() };
    let jobs = resource.shares.iter().map(|(job, _)| *job).collect();
    (Service { jobs, times, amount: flow.amount, stretch: factor }, full)
}

struct RateFlow {
    stretches: usize,
    amount: Vec<f64>,
    most: Vec<f64>,
    lacking: Vec<f64>,
    spare: Vec<f64>,
    /// Stretch through which a job was reached, [`SOURCE`] if the job itself has work left, or [`UNSEEN`].
    reached_job: Vec<usize>,
    reached_stretch: Vec<usize>,
}

/// Mark of a job or stretch that the search has not reached.
const UNSEEN: usize = usize::MAX;
/// Mark of a job that itself has work left.
const SOURCE: usize = usize::MAX - 1;

impl RateFlow {
    /// Finds a shortest path from a job with work left to a stretch with free capacity, and augments along it; returns
    /// `false` if no such path exists.
    fn augment(&mut self) -> bool {
        // Breadth-first search (Edmonds and Karp): with shortest augmenting paths, the number of augmentations is
        // bounded.
        let jobs = self.lacking.len();
        self.reached_job.clear();
        self.reached_job.resize(jobs, UNSEEN);
        self.reached_stretch.clear();
        self.reached_stretch.resize(self.stretches, UNSEEN);
        let mut queue: Vec<usize> = (0..jobs).filter(|job| self.lacking[*job] > TINY).collect();
        for &job in &queue {
            self.reached_job[job] = SOURCE;
        }
        let mut next = 0;
        let mut target = None;
        'search: while next < queue.len() {
            let job = queue[next];
            next += 1;
            for stretch in 0..self.stretches {
                let at = job * self.stretches + stretch;
                if self.reached_stretch[stretch] != UNSEEN || self.most[at] - self.amount[at] <= TINY {
                    continue;
                }
                self.reached_stretch[stretch] = job;
                if self.spare[stretch] > TINY {
                    target = Some(stretch);
                    break 'search;
                }
                // A full stretch can be relieved by a job that sends in it and can use another stretch.
                for other in 0..jobs {
                    if self.reached_job[other] == UNSEEN
                        && self.amount[other * self.stretches + stretch] > TINY
                    {
                        self.reached_job[other] = stretch;
                        queue.push(other);
                    }
                }
            }
        }
        let Some(target) = target else { return false };
        // First finds the bottleneck of the path, then changes the flow along the path.
        let mut room = self.spare[target];
        let mut stretch = target;
        loop {
            let job = self.reached_stretch[stretch];
            let at = job * self.stretches + stretch;
            room = room.min(self.most[at] - self.amount[at]);
            match self.reached_job[job] {
                SOURCE => {
                    room = room.min(self.lacking[job]);
                    break;
                }
                before => {
                    room = room.min(self.amount[job * self.stretches + before]);
                    stretch = before;
                }
            }
        }
        self.spare[target] -= room;
        stretch = target;
        loop {
            let job = self.reached_stretch[stretch];
            self.amount[job * self.stretches + stretch] += room;
            match self.reached_job[job] {
                SOURCE => {
                    self.lacking[job] -= room;
                    return true;
                }
                before => {
                    self.amount[job * self.stretches + before] -= room;
                    stretch = before;
                }
            }
        }
    }

    /// Returns the stretches that the last search reached; adjacent ones are merged. Each begins and ends at a time
    /// point of a job, if possible of a reached job.
    fn spans(&self, view: View<'_>, resource: &Resource, times: &[f64]) -> Vec<PointRange> {
        let mut spans = Vec::new();
        let mut stretch = 0;
        // Neighbouring reached stretches are one span.
        while stretch < self.stretches {
            if self.reached_stretch[stretch] == UNSEEN {
                stretch += 1;
                continue;
            }
            let from = times[stretch];
            while stretch < self.stretches && self.reached_stretch[stretch] != UNSEEN {
                stretch += 1;
            }
            let to = times[stretch];
            // Among the time points at `time`, prefer a start (end) of a reached job, so that its order is branched on
            // first.
            let point = |time: f64, prefer_start: bool| -> Option<Point> {
                let mut best: Option<(bool, bool, Point)> = None;
                for (at, &(index, _)) in resource.shares.iter().enumerate() {
                    let job = &view.problem.jobs[index as usize];
                    for (is_start, point) in [(true, job.start), (false, job.end)] {
                        let rank = (is_start == prefer_start, self.reached_job[at] != UNSEEN);
                        if view.at(point) == time && best.is_none_or(|best| rank > (best.0, best.1)) {
                            best = Some((rank.0, rank.1, point));
                        }
                    }
                }
                best.map(|best| best.2)
            };
            if let (Some(from), Some(to)) = (point(from, true), point(to, false)) {
                spans.push((from, to));
            }
        }
        spans
    }
}
