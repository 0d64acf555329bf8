//! Rows that windows must satisfy so that a resource can serve its jobs, and the branching candidates
//! (docs/methods/training-exact.md, section 10, steps 2 and 3).
//!
//! The windows of some jobs are feasible for a resource only if, for any stretches of time, their work is at most what
//! the resource can do in the stretches plus what the jobs can do outside the stretches. The length of the part of a
//! window before or after a stretch is max(0, difference of two time points). If the order of the two points is known,
//! the length is the difference or 0; if the order is open, a linear upper bound of both values is valid. The exact
//! length replaces this bound as soon as the search has decided which of the two time points comes first.

use super::distances::Distances;
use super::problem::{ContendedTask, ORIGIN, Point, Problem, Resource};
use super::simplex::Row;

/// A stretch of time between two points.
pub type PointRange = (Point, Point);

/// An order of two points that is not decided yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BranchCandidate {
    /// One of the two time points.
    pub first: Point,
    /// The other time point.
    pub second: Point,
    /// Part of a capacity violation that the linear bound of the open order hides, in units of time of the resource.
    pub hides: f64,
}

/// A resource that cannot serve its jobs in some stretches.
#[derive(Clone, Debug)]
pub struct Shortage {
    /// True capacity violation, in units of time of the resource.
    pub short: f64,
    /// Capacity violation according to the linear bounds, in the same units.
    pub seen: f64,
    /// The row that the windows violate by `seen`.
    pub row: Row,
    /// The undecided orders because of which `seen` is smaller than `short`.
    pub questions: Vec<BranchCandidate>,
}

/// Windows to check: time points with their times, and the known distances between them.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The problem whose windows are checked.
    pub problem: &'a Problem,
    /// Known distances between time points.
    pub distances: &'a Distances,
    /// Time of every time point.
    pub times: &'a [f64],
}

/// Linear upper bound of `max(0, second - first)` in the two points.
#[derive(Clone, Copy, Debug)]
struct Line {
    first: Point,
    second: Point,
    slope: f64,
    constant: f64,
    value: f64,
}

impl Line {
    /// Adds the bound to a row, multiplied by `factor`.
    fn add_to(&self, row: &mut Row, factor: f64) {
        // A line is slope * (second - first) + constant; the origin is time 0 and needs no column.
        row.constant += factor * self.constant;
        let slope = factor * self.slope;
        if slope == 0.0 {
            return;
        }
        for (point, slope) in [(self.second, slope), (self.first, -slope)] {
            row.constant += slope * point.plus;
            if point.moment == ORIGIN {
                continue;
            }
            match row.terms.iter_mut().find(|(moment, _)| *moment == point.moment) {
                Some((_, coefficient)) => *coefficient += slope,
                None => row.terms.push((point.moment, slope)),
            }
        }
    }
}

/// A stretch with prices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Priced {
    /// Cost per unit of time in the stretch.
    pub cost: f64,
    /// Yield of each job per unit of its window in the stretch: its worth minus the prices of the resources that it
    /// uses, or 0 if this is negative.
    pub yields: Vec<f64>,
}

impl View<'_> {
    /// Time of a point.
    pub fn at(&self, point: Point) -> f64 {
        self.times[point.moment as usize] + point.plus
    }

    fn length(&self, (first, second): PointRange) -> f64 {
        (self.at(second) - self.at(first)).max(0.0)
    }

    fn line(&self, (first, second): PointRange) -> Line {
        // Known range of second - first: at least `least`, at most `most`.
        let least = self.distances.between(first, second);
        let most = -self.distances.between(second, first);
        let apart = self.at(second) - self.at(first);
        // The order is known: max(0, d) is exactly d or 0.
        let (slope, constant) = if least >= 0.0 {
            (1.0, 0.0)
        } else if most <= 0.0 {
            (0.0, 0.0)
        } else {
            // The chord of the convex function max(0, d) between (least, 0) and (most, most) is its smallest concave
            // upper bound.
            let slope = most / (most - least);
            (slope, -slope * least)
        };
        Line { first, second, slope, constant, value: slope * apart + constant }
    }

    /// Bounds the time of a window outside the stretches, gap by gap: appends a linear bound for each gap to `lines`,
    /// and returns the sum of these bounds and the true time, both at the current times.
    fn outside(
        &self,
        job: &ContendedTask,
        weight: f64,
        spans: &[PointRange],
        lines: &mut Vec<Line>,
        questions: &mut Vec<BranchCandidate>,
    ) -> (f64, f64) {
        let (mut seen, mut truth) = (0.0, 0.0);
        // The window outside the stretches falls into the gaps before, between and after them.
        for gap in 0..=spans.len() {
            let before = gap.checked_sub(1).map(|before| spans[before].1);
            let (line, length, tight) = self.inside(job, before, spans.get(gap).map(|span| span.0));
            seen += line.value;
            truth += length;
            lines.push(line);
            let hides = weight * (line.value - length);
            if hides > 0.0 {
                questions.push(BranchCandidate { first: tight.0, second: tight.1, hides });
            }
        }
        (seen, truth)
    }

    /// Returns the capacity violation in the stretches `spans`, which are in order of time.
    pub fn shortage(&self, resource: &Resource, spans: &[PointRange]) -> Shortage {
        // Units of time of the resource: its work divided by its capacity.
        let scale = 1.0 / resource.capacity;
        let mut short = 0.0;
        let mut seen = 0.0;
        let mut all = Vec::new();
        let mut questions = Vec::new();
        let mut lines = Vec::new();
        let mut asked = Vec::new();
        let mut needed = 0.0;
        for &(index, weight) in &resource.shares {
            let job = &self.problem.jobs[index as usize];
            lines.clear();
            asked.clear();
            // Work that cannot be done outside the stretches: work minus the length of the window outside the
            // stretches, if positive.
            let weight = weight * scale;
            let (outside, truth) = self.outside(job, weight, spans, &mut lines, &mut asked);
            short += weight * (job.work - truth).max(0.0);
            if job.work > truth {
                questions.append(&mut asked);
            }
            // Only jobs with a positive linear part are added: max(0, work - outside) is at least work - outside and at
            // least 0, so the row is valid for any subset of jobs.
            if job.work > outside {
                seen += weight * (job.work - outside);
                needed += weight * job.work;
                all.extend(lines.iter().map(|line| (weight, *line)));
            }
        }
        // The stretches give the capacity; an undecided length counts with its linear bound.
        for &span in spans {
            let line = self.line(span);
            let length = self.length(span);
            short -= length;
            seen -= line.value;
            all.push((1.0, line));
            if line.value > length {
                questions.push(BranchCandidate { first: span.0, second: span.1, hides: line.value - length });
            }
        }
        let mut row = Row { terms: Vec::new(), constant: -needed };
        for (weight, line) in all {
            line.add_to(&mut row, weight);
        }
        // Coefficients that cancel up to rounding would only disturb the simplex; 1e-12 is below any coefficient of a
        // real row.
        row.terms.retain(|(_, coefficient)| coefficient.abs() > 1e-12);
        Shortage { short, seen, row, questions }
    }

    /// Returns the capacity violation for given prices: `worth` has the worth of a unit of work of each job, and
    /// `stretches` has the cost of each stretch (before, between and after `points`) per unit of time. In feasible
    /// windows, the total worth of all jobs is at most the total of all costs and yields. The row of the result states
    /// this, with the lengths of stretches as variables; it is a Farkas row of the linear program over amounts.
    pub fn priced(&self, worth: &[(u32, f64)], points: &[Point], stretches: &[Priced]) -> Shortage {
        let mut row = Row::default();
        let (mut short, mut seen) = (0.0, 0.0);
        let mut questions = Vec::new();
        let mut lines: Vec<(f64, Line)> = Vec::new();
        // The row: the worth of all work is at most the costs of capacity plus the yields of windows.
        for (position, &(index, value)) in worth.iter().enumerate() {
            let job = &self.problem.jobs[index as usize];
            row.constant -= value * job.work;
            short += value * job.work;
            seen += value * job.work;
            // Yields are not negative, so replacing the length of the job's window in the stretch by a linear upper
            // bound of this length only weakens the row.
            for (at, stretch) in stretches.iter().enumerate() {
                let yields = stretch.yields[position];
                if yields == 0.0 {
                    continue;
                }
                let before = at.checked_sub(1).map(|before| points[before]);
                let (line, length, tight) = self.inside(job, before, points.get(at).copied());
                seen -= yields * line.value;
                short -= yields * length;
                lines.push((yields, line));
                let hides = yields * (line.value - length);
                if hides > 0.0 {
                    questions.push(BranchCandidate { first: tight.0, second: tight.1, hides });
                }
            }
        }
        // Subtracts the cost of the capacity: the length of each stretch between two points times its price.
        for (at, pair) in points.windows(2).enumerate() {
            let cost = stretches[at + 1].cost;
            if cost == 0.0 {
                continue;
            }
            let span = (pair[0], pair[1]);
            let (line, length) = (self.line(span), self.length(span));
            seen -= cost * line.value;
            short -= cost * length;
            lines.push((cost, line));
            let hides = cost * (line.value - length);
            if hides > 0.0 {
                questions.push(BranchCandidate { first: span.0, second: span.1, hides });
            }
        }
        for (factor, line) in lines {
            line.add_to(&mut row, factor);
        }
        row.terms.retain(|(_, coefficient)| coefficient.abs() > 1e-12);
        Shortage { short, seen, row, questions }
    }

    /// Returns, for the part of the window of `job` between the points `from` and `to`: a linear upper bound on its
    /// length, its true length, and the two points that determine the true length.
    fn inside(&self, job: &ContendedTask, from: Option<Point>, to: Option<Point>) -> (Line, f64, PointRange) {
        // The part of a window between two points is at most as long as the window, and at most as long as the distance
        // from either start to either end. All of these bounds are valid; the one with the smallest value at the
        // current times is the strongest.
        let mut best = self.line((job.start, job.end));
        let mut tight = (self.length((job.start, job.end)), (job.start, job.end));
        for first in [Some(job.start), from].into_iter().flatten() {
            for second in [Some(job.end), to].into_iter().flatten() {
                let line = self.line((first, second));
                if line.value < best.value {
                    best = line;
                }
                let length = self.length((first, second));
                if length < tight.0 {
                    tight = (length, (first, second));
                }
            }
        }
        (best, tight.0, tight.1)
    }

    /// Capacity violations of more than `tolerance` in single stretches, each from the start of a job to the end of a
    /// job.
    // Single stretches are cheap to enumerate; sets of them come from the flow in `rates`.
    pub fn shortages(&self, resource: &Resource, tolerance: f64, found: &mut Vec<Shortage>) {
        // Energetic reasoning: only stretches from a start to an end can be critical.
        for &(first, _) in &resource.shares {
            let from = self.problem.jobs[first as usize].start;
            for &(last, _) in &resource.shares {
                let to = self.problem.jobs[last as usize].end;
                if self.missing(resource, (from, to)) <= tolerance {
                    continue;
                }
                found.push(self.shortage(resource, &[(from, to)]));
            }
        }
    }

    /// Returns the true capacity violation in one stretch.
    fn missing(&self, resource: &Resource, (from, to): PointRange) -> f64 {
        let (from, to) = (self.at(from), self.at(to));
        if from >= to {
            return 0.0;
        }
        // Same sum as in `shortage`, at the true lengths and without building a row.
        let mut inside = 0.0;
        for &(job, weight) in &resource.shares {
            let job = &self.problem.jobs[job as usize];
            let (start, end) = (self.at(job.start), self.at(job.end));
            let outside = (end.min(from) - start).max(0.0) + (end - start.max(to)).max(0.0);
            inside += weight * (job.work - outside).max(0.0);
        }
        inside / resource.capacity - (to - from)
    }
}
