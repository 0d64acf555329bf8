//! A random walk over all assignments (docs/methods/crossconnect.md, section 6): steps change eight cells and may pass
//! through states in which one cell is -1.
//!
//! The circuits of all switches are a table x\[k\]\[i\]\[j\] of whole numbers whose sums are given along three kinds of
//! lines: the A ports of a pod on a switch, the B ports of a pod on a switch, and the circuits of a pair of pods over
//! all switches. For Latin squares, the case of one circuit per pair, Jacobson and Matthews (Journal of Combinatorial
//! Designs 4, 1996) walk between such tables: put a circuit where there is none, take one away on each of the three
//! lines through it, and restore the sums with four more changes at the other corners of the box that these cells span.
//! The corner opposite to the new circuit may become -1: the state is then *improper*, and the next step starts by
//! repairing that cell. This walk differs in two points:
//!
//! - a pair has any number of circuits and either orientation: if the circuit on the third line is reversed, the far
//!   side of the box is reversed too, with A and B exchanged, and all sums still hold;
//! - unused ports are circuits to a dummy pod, so every line has a fixed sum, which is the only constraint.
//!
//! Merging and splitting whole switches moves dozens of circuits at once. A step of this walk moves only four circuits,
//! so this walk, which prefers installed circuits, reaches far fewer removals than a search that merges switches.

mod lines;

#[cfg(test)]
mod tests;

use crate::model::assignment::{Assignment, Cell};
use crate::model::task::Task;
use lightbay_core::random::SplitMix;
use lines::Lines;

/// A cell of the table: switch, pod at the A port, pod at the B port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    ocs: u16,
    a: u16,
    b: u16,
}

/// A fast random number generator, seeded from a stream of the run.
#[derive(Clone, Debug)]
pub(crate) struct Dice(SplitMix);

impl Dice {
    /// Creates a generator from a seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(SplitMix::new(seed))
    }

    /// Returns the next number of Splitmix64: a step needs several numbers, and the streams of the run are too slow for
    /// that.
    fn next(&mut self) -> u64 {
        self.0.draw()
    }

    /// Returns a number below `end`. Multiply-shift instead of a division; the bias is below 2^-32 times the range.
    fn below(&mut self, end: usize) -> usize {
        (((self.next() >> 32) * end as u64) >> 32) as usize
    }

    /// Returns a random entry, if there is any.
    fn pick(&mut self, from: &[u32]) -> Option<u32> {
        if from.len() < 2 { from.first().copied() } else { from.get(self.below(from.len())).copied() }
    }
}

/// Maximum change of the number of kept circuits in one step: each of the eight cells changes this number by at most
/// one.
const SPAN: i32 = 8;

/// Probabilities of accepting a step that keeps fewer circuits.
#[derive(Clone, Debug)]
pub(crate) struct Heat {
    /// Probabilities times 2^32, by change of properness (-1, 0, 1) and of kept circuits.
    chances: [[u64; 2 * SPAN as usize + 1]; 3],
}

impl Heat {
    /// Tabulates the Metropolis rule, exp(gain / temperature), by the change of properness and of kept circuits:
    /// leaving the proper states costs `detour`, returning to them gains it.
    pub(crate) fn new(temperature: f64, detour: f64) -> Self {
        let chance = |proper: i32, kept: i32| {
            let gain = f64::from(kept) + detour * f64::from(proper);
            ((gain / temperature).exp().min(1.0) * (1u64 << 32) as f64) as u64
        };
        let row = |proper: i32| std::array::from_fn(|at| chance(proper, at as i32 - SPAN));
        Self { chances: [row(-1), row(0), row(1)] }
    }

    fn allows(&self, proper: i32, kept: i32, dice: &mut Dice) -> bool {
        let chance = self.chances[(proper + 1) as usize][(kept + SPAN) as usize];
        chance >> 32 > 0 || (dice.next() >> 32) < chance
    }
}

/// The table, and the state of the walk.
#[derive(Clone, Debug)]
pub(crate) struct AssignmentWalk {
    /// Number of pods, including the dummy pod if some port is unused.
    pods: usize,
    /// Number of pods of the task.
    real: usize,
    ocs_count: usize,
    /// `true` if pairs may change their orientation.
    joint: bool,
    /// Cell of every circuit. While a cell is -1, there is one circuit more than in a proper state.
    spots: Vec<Spot>,
    /// Places of every circuit in its three lists.
    places: Vec<[u32; 3]>,
    /// Lists of circuits: by A ports of (switch, pod), by B ports of (switch, pod), and by pair of pods.
    lines: [Lines; 3],
    /// Position in `old` of the first installed cell of each switch and pod at the A port.
    old_starts: Vec<u32>,
    /// For each installed cell, the pod at the B port and the number of installed circuits.
    old: Vec<(u16, u16)>,
    /// Installed cells whose pair of pods has target circuits.
    hopes: Vec<Spot>,
    /// Number of installed circuits that are kept, Σ min(u, x).
    kept: i64,
    /// The cell that is -1, if there is one.
    short: Option<Spot>,
}

/// Outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The state is unchanged, because no step was found, or because the step was rejected.
    Stood,
    /// The step led to a state with a cell of -1.
    Astray,
    /// The step led to a proper state.
    Arrived,
}

impl AssignmentWalk {
    /// Creates a walk from a solution of the task, which must not be single-sided. With `joint`, pairs may change their
    /// orientation.
    pub(crate) fn new(task: &Task, start: &Assignment, joint: bool) -> Self {
        // Slack circuits give every line (the ports of a pod on a switch) a fixed sum, and every step of the walk keeps
        // these sums.
        let real = task.pods;
        let mut circuits: Vec<(usize, Cell)> = Vec::new();
        let mut any_unused = false;
        for (ocs, cells) in start.ocs.iter().enumerate() {
            circuits.extend(cells.iter().map(|&cell| (ocs, cell)));
            let (mut a, mut b) = (task.ports_a[ocs].clone(), task.ports_b[ocs].clone());
            let mut used = 0;
            for cell in cells {
                a[cell.a as usize] -= cell.count;
                b[cell.b as usize] -= cell.count;
                used += cell.count;
            }
            // The dummy pod has an A port for every unused B port, and one circuit to itself for every real circuit, so
            // that the number of real circuits of a switch is free.
            let nobody = real as u32;
            for pod in 0..nobody {
                circuits.push((ocs, Cell { a: pod, b: nobody, count: a[pod as usize] }));
                circuits.push((ocs, Cell { a: nobody, b: pod, count: b[pod as usize] }));
                any_unused |= a[pod as usize] + b[pod as usize] > 0;
            }
            circuits.push((ocs, Cell { a: nobody, b: nobody, count: used }));
        }
        let pods = real + usize::from(any_unused);
        circuits.retain(|(_, cell)| cell.count > 0 && (cell.a.max(cell.b) as usize) < pods);
        Self::build(task, pods, &circuits, joint)
    }

    fn build(task: &Task, pods: usize, circuits: &[(usize, Cell)], joint: bool) -> Self {
        let ocs_count = task.ocs_count;
        // Room for one more circuit than the sum of a line, because an improper state has one more.
        let mut rooms = [vec![1u32; ocs_count * pods], vec![1; ocs_count * pods], vec![1; pods * pods]];
        for (ocs, cell) in circuits {
            let (low, high) = (cell.a.min(cell.b) as usize, cell.a.max(cell.b) as usize);
            rooms[0][ocs * pods + cell.a as usize] += cell.count;
            rooms[1][ocs * pods + cell.b as usize] += cell.count;
            rooms[2][low * pods + high] += cell.count;
        }
        let mut wanted = vec![false; pods * pods];
        for cell in &task.wanted {
            wanted[cell.a as usize * pods + cell.b as usize] = true;
            wanted[cell.b as usize * pods + cell.a as usize] = true;
        }
        // Installed cells by row, and the cells where a step can gain.
        let (mut old_starts, mut old, mut hopes) = (vec![0], Vec::new(), Vec::new());
        for (ocs, cells) in task.installed.ocs.iter().enumerate() {
            for pod in 0..pods as u32 {
                for cell in cells.iter().filter(|cell| cell.a == pod) {
                    old.push((cell.b as u16, cell.count.min(u32::from(u16::MAX)) as u16));
                    if wanted[cell.a as usize * pods + cell.b as usize] {
                        hopes.push(Spot { ocs: ocs as u16, a: cell.a as u16, b: cell.b as u16 });
                    }
                }
                old_starts.push(old.len() as u32);
            }
        }
        let mut walk = Self {
            pods,
            real: task.pods,
            ocs_count,
            joint,
            spots: Vec::new(),
            places: Vec::new(),
            lines: rooms.map(|rooms| Lines::new(rooms.into_iter())),
            old_starts,
            old,
            hopes,
            kept: 0,
            short: None,
        };
        for &(ocs, cell) in circuits {
            for _ in 0..cell.count {
                walk.add(Spot { ocs: ocs as u16, a: cell.a as u16, b: cell.b as u16 });
            }
        }
        walk
    }

    /// Returns the number of installed circuits that are kept.
    pub(crate) const fn kept(&self) -> i64 {
        self.kept
    }

    /// Returns the circuits of a proper state.
    pub(crate) fn assignment(&self) -> Assignment {
        let real = |pod: u16| usize::from(pod) < self.real;
        let circuits = self.spots.iter().filter(|spot| real(spot.a) && real(spot.b));
        Assignment::of(
            self.ocs_count,
            circuits.map(|spot| (usize::from(spot.ocs), u32::from(spot.a), u32::from(spot.b))),
        )
    }

    fn lines_of(&self, spot: Spot) -> [usize; 3] {
        let (ocs, a, b) = (usize::from(spot.ocs), usize::from(spot.a), usize::from(spot.b));
        [ocs * self.pods + a, ocs * self.pods + b, a.min(b) * self.pods + a.max(b)]
    }

    /// Returns the number of installed circuits in a cell.
    fn installed(&self, spot: Spot) -> u16 {
        let line = usize::from(spot.ocs) * self.pods + usize::from(spot.a);
        let range = self.old_starts[line] as usize..self.old_starts[line + 1] as usize;
        self.old[range].iter().find(|(b, _)| *b == spot.b).map_or(0, |(_, count)| *count)
    }

    /// Returns the number of circuits in a cell; a cell of -1 counts as 0.
    fn circuits(&self, spot: Spot) -> u16 {
        let [line, _, _] = self.lines_of(spot);
        let here = self.lines[0].of(line).iter().filter(|&&number| self.spots[number as usize].b == spot.b);
        here.count() as u16
    }

    /// Returns a circuit in a cell, if there is one.
    fn find(&self, spot: Spot) -> Option<u32> {
        let lines = self.lines_of(spot);
        let lists = std::array::from_fn::<_, 3, _>(|kind| self.lines[kind].of(lines[kind]));
        let shortest = lists.into_iter().min_by_key(|list| list.len())?;
        shortest.iter().copied().find(|&number| self.spots[number as usize] == spot)
    }

    /// Returns the gain of kept circuits from one more circuit in a cell: 0 or 1. One more circuit counts as kept only
    /// while the cell has fewer than are installed.
    fn gain(&self, spot: Spot) -> i32 {
        let installed = self.installed(spot);
        i32::from(installed > 0 && (self.short == Some(spot) || self.circuits(spot) < installed))
    }

    /// Returns the loss of kept circuits from one fewer circuit in a cell: 0 or 1.
    fn loss(&self, spot: Spot) -> i32 {
        let installed = self.installed(spot);
        i32::from(installed > 0 && self.circuits(spot) <= installed)
    }

    fn add(&mut self, spot: Spot) {
        self.kept += i64::from(self.gain(spot));
        let number = self.spots.len() as u32;
        let lines = self.lines_of(spot);
        let places = std::array::from_fn(|kind| self.lines[kind].push(lines[kind], number));
        self.spots.push(spot);
        self.places.push(places);
    }

    fn remove(&mut self, number: u32) {
        let spot = self.spots[number as usize];
        self.kept -= i64::from(self.loss(spot));
        let lines = self.lines_of(spot);
        let places = self.places[number as usize];
        for kind in 0..3 {
            // Constant-time removal from three lists.
            if let Some(moved) = self.lines[kind].remove(lines[kind], places[kind]) {
                self.places[moved as usize][kind] = places[kind];
            }
        }
        // The last circuit takes over the free number.
        let last = self.spots.len() as u32 - 1;
        if number != last {
            let lines = self.lines_of(self.spots[last as usize]);
            let places = self.places[last as usize];
            for kind in 0..3 {
                self.lines[kind].rename(lines[kind], places[kind], number);
            }
        }
        self.spots.swap_remove(number as usize);
        self.places.swap_remove(number as usize);
    }

    /// Returns the cell at which the next step starts: the cell of -1, or a cell that will get a circuit. Also returns
    /// the circuit of the pair that will move to this cell, if it is already known.
    fn aim(&self, dice: &mut Dice) -> Option<(Spot, Option<u32>)> {
        if let Some(short) = self.short {
            return Some((short, None));
        }
        // Mostly cells with missing installed circuits; occasionally any cell of a target pair.
        if dice.below(4) > 0 && !self.hopes.is_empty() {
            let spot = self.hopes[dice.below(self.hopes.len())];
            return (self.circuits(spot) < self.installed(spot)).then_some((spot, None));
        }
        if self.spots.is_empty() {
            return None;
        }
        let number = dice.below(self.spots.len());
        let Spot { a, b, .. } = self.spots[number];
        let ocs = dice.below(self.ocs_count) as u16;
        let (a, b) = if self.joint && dice.below(2) == 0 { (b, a) } else { (a, b) };
        Some((Spot { ocs, a, b }, Some(number as u32)))
    }

    /// Samples one step, accepts or rejects it by the Metropolis rule, and returns the outcome.
    pub(crate) fn step(&mut self, heat: &Heat, dice: &mut Dice) -> Step {
        // Jacobson and Matthews: (here, moving) fixes two corners of the box, at_a and at_b two more.
        let Some((here, known)) = self.aim(dice) else { return Step::Stood };
        let [line_a, line_b, pair] = self.lines_of(here);
        let Some(moving) = known.or_else(|| dice.pick(self.lines[2].of(pair))) else { return Step::Stood };
        let from = self.spots[moving as usize];
        let reversed = from.a != here.a;
        if from.ocs == here.ocs || (reversed && !self.joint) {
            return Step::Stood;
        }
        // The three circuits that leave lie on the three lines through `here`.
        // A pod may have no ports on that switch.
        let Some(at_a) = dice.pick(self.lines[0].of(line_a)) else { return Step::Stood };
        let Some(at_b) = dice.pick(self.lines[1].of(line_b)) else { return Step::Stood };
        let (b, a) = (self.spots[at_a as usize].b, self.spots[at_b as usize].a);
        // A degenerate box: nothing would change.
        if b == here.b || a == here.a {
            return Step::Stood;
        }
        let near = |a: u16, b: u16| Spot { ocs: here.ocs, a, b };
        // On a reversed third line the far side of the box has A and B exchanged.
        let far = |a: u16, b: u16| {
            if reversed { Spot { ocs: from.ocs, a: b, b: a } } else { Spot { ocs: from.ocs, a, b } }
        };
        // The step of Jacobson and Matthews (1996) for Latin squares, on switches x A ends x B ends: eight cells of a
        // cube change by one, so that all sums of ports and of target circuits stay.
        let corner = far(a, b);
        let added = [near(a, b), far(a, here.b), far(here.a, b)];
        // Change of kept circuits, from the gains and losses of the eight cells.
        let kept = self.gain(here) + added.iter().map(|&spot| self.gain(spot)).sum::<i32>()
            - self.loss(from)
            - self.loss(near(a, here.b))
            - self.loss(near(here.a, b));
        // The last corner has no circuit, so that cell becomes -1, and the next steps start there until one repairs it.
        let closing = self.find(corner);
        let kept =
            kept - if closing.is_some() { self.loss(corner) } else { i32::from(self.installed(corner) > 0) };
        // Change of properness: 1 if the state becomes proper, -1 if it becomes improper, else 0.
        let proper = i32::from(self.short.is_some()) - i32::from(closing.is_none());
        if !heat.allows(proper, kept, dice) {
            return Step::Stood;
        }
        // Removing a circuit renumbers others, so the highest number is removed first.
        let mut removed = [moving, at_a, at_b, closing.unwrap_or(u32::MAX)];
        removed.sort_unstable_by(|one, other| other.cmp(one));
        for number in removed {
            if number != u32::MAX {
                self.remove(number);
            }
        }
        // The cell that was -1 becomes 0, so no circuit is added there.
        if self.short.take().is_some() {
            self.kept += i64::from(self.installed(here) > 0);
        } else {
            self.add(here);
        }
        for spot in added {
            self.add(spot);
        }
        if closing.is_some() {
            return Step::Arrived;
        }
        // The corner cell is -1, so its installed circuit is not kept.
        self.kept -= i64::from(self.installed(corner) > 0);
        self.short = Some(corner);
        Step::Astray
    }
}
