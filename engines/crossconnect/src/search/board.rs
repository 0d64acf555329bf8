//! Single circuits on the ports of switches, and the moves that keep every port used at most once
//! (docs/methods/crossconnect.md, section 5).
//!
//! If a circuit moves to another switch where its A or B port is in use, a circuit at that port moves in the opposite
//! direction, which may overfill the port at its far end in turn. These moves form a Kempe chain. Between two switches
//! with equal ports every chain ends, as in the proof that a bipartite graph of degree d has an edge colouring with d
//! colours.

use crate::model::assignment::Assignment;
use crate::model::task::Task;
use lightbay_core::random::Stream;
use rand::RngExt;

#[cfg(test)]
mod tests;

/// No switch: the circuit is not placed yet.
const NOWHERE: u32 = u32::MAX;

/// Index of the A side of a switch.
const A: usize = 0;
/// Index of the B side of a switch.
const B: usize = 1;

/// The circuits of a task, with the switch of each circuit.
#[derive(Clone, Debug)]
pub struct Board<'t> {
    task: &'t Task,
    /// Pods of each circuit, by side.
    ends: Vec<[u32; 2]>,
    /// Switch of each circuit.
    at: Vec<u32>,
    /// Position of each circuit in the lists of its A end and of its B end in `slots`.
    places: Vec<[u32; 2]>,
    /// Lists of circuits: one for each side, switch and pod.
    slots: [Vec<Vec<u32>>; 2],
    /// Position in `old` of the first installed cell, for each switch and pod at the A port.
    old_from: Vec<u32>,
    /// For each installed cell, the pod at the B port and the number of installed circuits.
    old: Vec<(u32, u32)>,
    /// Number of circuits that are removed if the board becomes the plan.
    removed: i64,
    /// Moves that can still be undone: circuit and previous switch.
    log: Vec<(u32, u32)>,
    /// Number of the chain in which each circuit moved last.
    moved: Vec<u32>,
    chain: u32,
    tokens: Vec<(usize, u32, u32, u32)>,
}

impl<'t> Board<'t> {
    /// Builds a board with the oriented circuits of an assignment, all placed.
    pub fn of(task: &'t Task, assignment: &Assignment) -> Self {
        let mut board = Self::empty(task);
        for (ocs, cells) in (0u32..).zip(&assignment.ocs) {
            // Cells become single circuits, which can move alone.
            for cell in cells {
                for _ in 0..cell.count {
                    let circuit = board.add(cell.a, cell.b);
                    board.put(circuit, ocs);
                }
            }
        }
        board.log.clear();
        board
    }

    /// Creates a board without circuits.
    pub fn empty(task: &'t Task) -> Self {
        // Installed circuits as compressed rows by switch and A pod.
        let slots = task.ocs_count * task.pods;
        let mut old_from = Vec::with_capacity(slots + 1);
        let mut old = Vec::new();
        for cells in &task.installed.ocs {
            let mut rest = cells.iter().peekable();
            for pod in 0..task.pods as u32 {
                old_from.push(old.len() as u32);
                while let Some(cell) = rest.next_if(|cell| cell.a == pod) {
                    old.push((cell.b, cell.count));
                }
            }
        }
        old_from.push(old.len() as u32);
        Self {
            task,
            ends: Vec::new(),
            at: Vec::new(),
            places: Vec::new(),
            slots: [vec![Vec::new(); slots], vec![Vec::new(); slots]],
            old_from,
            old,
            // Without circuits all installed ones count as removed.
            removed: task.installed.circuits() as i64,
            log: Vec::new(),
            moved: Vec::new(),
            chain: 0,
            tokens: Vec::new(),
        }
    }

    /// Adds a circuit that is not placed yet, and returns its number.
    pub fn add(&mut self, a: u32, b: u32) -> u32 {
        self.ends.push([a, b]);
        self.at.push(NOWHERE);
        self.places.push([0; 2]);
        self.moved.push(0);
        self.ends.len() as u32 - 1
    }

    /// Adds a circuit on a switch that has room for it.
    pub fn set(&mut self, a: u32, b: u32, ocs: u32) {
        let circuit = self.add(a, b);
        self.place(circuit, ocs);
    }

    /// Returns the placed circuits of an oriented pair, in order.
    pub fn circuits_of(&self, a: u32, b: u32) -> Vec<u32> {
        let on = |ocs| self.slots[A][self.slot(ocs, a)].iter().copied();
        let mut all: Vec<u32> = (0..self.task.ocs_count as u32)
            .flat_map(on)
            .filter(|&circuit| self.ends[circuit as usize][B] == b)
            .collect();
        all.sort_unstable();
        all
    }

    /// Returns the number of circuits, including those that are not placed.
    pub const fn circuits(&self) -> usize {
        self.ends.len()
    }

    /// Returns the switch of a circuit; `None` if the circuit is not placed.
    pub fn ocs_of(&self, circuit: u32) -> Option<u32> {
        let at = self.at[circuit as usize];
        (at != NOWHERE).then_some(at)
    }

    /// Returns the pods at the A and the B port of a circuit.
    pub fn ends_of(&self, circuit: u32) -> [u32; 2] {
        self.ends[circuit as usize]
    }

    /// Returns the number of circuits that are removed if the board becomes the plan; an installed circuit that is not
    /// placed counts as removed.
    pub const fn removed(&self) -> i64 {
        self.removed
    }

    /// Returns the placed circuits as an assignment of the task.
    pub fn assignment(&self) -> Assignment {
        // Circuits that are not placed are not part of the plan.
        let placed = self.ends.iter().zip(&self.at).filter(|&(_, &at)| at != NOWHERE);
        Assignment::of(self.task.ocs_count, placed.map(|(&[a, b], &at)| (at as usize, a, b)))
    }

    /// Returns the number of free ports of a pod on a switch; negative while a chain is in progress.
    pub fn free(&self, side_b: bool, ocs: u32, pod: u32) -> i64 {
        self.room(usize::from(side_b), ocs, pod)
    }

    /// Returns the number of installed circuits of an oriented pair on a switch.
    fn installed(&self, ocs: u32, a: u32, b: u32) -> u32 {
        let slot = self.slot(ocs, a);
        let (from, to) = (self.old_from[slot] as usize, self.old_from[slot + 1] as usize);
        self.old[from..to].iter().find(|entry| entry.0 == b).map_or(0, |entry| entry.1)
    }

    /// Returns the number of circuits of an oriented pair that are on a switch.
    fn present(&self, ocs: u32, a: u32, b: u32) -> u32 {
        // Slots are short: the ports of one pod on one switch.
        let slot = &self.slots[A][self.slot(ocs, a)];
        slot.iter().filter(|&&circuit| self.ends[circuit as usize][B] == b).count() as u32
    }

    /// Returns `true` if the circuit is not placed, or if its pair has more circuits on its switch than are installed;
    /// moving the circuit away then costs nothing.
    pub fn is_extra(&self, circuit: u32) -> bool {
        let ([a, b], at) = (self.ends[circuit as usize], self.at[circuit as usize]);
        at == NOWHERE || self.present(at, a, b) > self.installed(at, a, b)
    }

    /// Returns `true` if a pair has fewer circuits on a switch than are installed; moving a circuit there is then a
    /// gain.
    pub fn is_lacking(&self, ocs: u32, a: u32, b: u32) -> bool {
        self.present(ocs, a, b) < self.installed(ocs, a, b)
    }

    fn slot(&self, ocs: u32, pod: u32) -> usize {
        ocs as usize * self.task.pods + pod as usize
    }

    fn room(&self, side: usize, ocs: u32, pod: u32) -> i64 {
        let ports = if side == A { &self.task.ports_a } else { &self.task.ports_b };
        i64::from(ports[ocs as usize][pod as usize]) - self.slots[side][self.slot(ocs, pod)].len() as i64
    }

    /// Takes a circuit from its switch.
    fn take(&mut self, circuit: u32) {
        let ([a, b], at) = (self.ends[circuit as usize], self.at[circuit as usize]);
        // Removed circuits are counted by difference: taking a circuit is a removal unless its pair has more circuits
        // on the switch than are installed.
        if self.present(at, a, b) <= self.installed(at, a, b) {
            self.removed += 1;
        }
        for (side, pod) in [(A, a), (B, b)] {
            let slot = self.slot(at, pod);
            let place = self.places[circuit as usize][side];
            // Constant-time removal: the last circuit of the slot takes the free position.
            self.slots[side][slot].swap_remove(place as usize);
            if let Some(&other) = self.slots[side][slot].get(place as usize) {
                self.places[other as usize][side] = place;
            }
        }
        self.at[circuit as usize] = NOWHERE;
    }

    fn place(&mut self, circuit: u32, ocs: u32) {
        let [a, b] = self.ends[circuit as usize];
        // Inverse of `take`: a circuit counts as kept again if its pair has fewer circuits on the switch than are
        // installed.
        if self.present(ocs, a, b) < self.installed(ocs, a, b) {
            self.removed -= 1;
        }
        for (side, pod) in [(A, a), (B, b)] {
            let slot = self.slot(ocs, pod);
            self.places[circuit as usize][side] = self.slots[side][slot].len() as u32;
            self.slots[side][slot].push(circuit);
        }
        self.at[circuit as usize] = ocs;
    }

    /// Puts a circuit on a switch, or moves it there, without checking ports.
    fn put(&mut self, circuit: u32, ocs: u32) {
        let before = self.at[circuit as usize];
        if before != NOWHERE {
            self.take(circuit);
        }
        self.place(circuit, ocs);
        // The log allows a trial to be undone.
        self.log.push((circuit, before));
    }

    /// Undoes all moves since the last [`Board::settle`].
    pub fn undo(&mut self) {
        // Undo log: moves are undone in reverse order.
        while let Some((circuit, before)) = self.log.pop() {
            self.take(circuit);
            if before != NOWHERE {
                self.place(circuit, before);
            }
        }
    }

    /// Makes all moves so far final.
    pub fn settle(&mut self) {
        self.log.clear();
    }

    /// Returns the number of moves since the last [`Board::settle`].
    pub const fn moves(&self) -> usize {
        self.log.len()
    }

    /// Moves a circuit to another switch with the Kempe chain that follows. If a chain can continue with several
    /// circuits, `stream` chooses one at random; without `stream`, the circuit whose move costs least is chosen.
    ///
    /// Returns `true` if all ports are used at most once afterwards; otherwise call [`Board::undo`].
    pub fn shift(&mut self, circuit: u32, ocs: u32, limit: i64, stream: Option<&mut Stream>) -> bool {
        let from = self.at[circuit as usize];
        // With a new chain number, every circuit may move once.
        self.chain += 1;
        self.moved[circuit as usize] = self.chain;
        self.put(circuit, ocs);
        let [a, b] = self.ends[circuit as usize];
        // Both ends may be overfull now; a chain starts at each of them.
        self.tokens.clear();
        self.tokens.push((A, ocs, from, a));
        self.tokens.push((B, ocs, from, b));
        self.follow(limit, stream)
    }

    /// Places an unplaced circuit on switch `one`, where its A port must be free. If its B port on `one` is in use,
    /// circuits are exchanged between the two switches so that the free B port on switch `other` is used.
    ///
    /// Returns `true` if all ports are used at most once afterwards; otherwise call [`Board::undo`].
    pub fn insert(
        &mut self,
        circuit: u32,
        one: u32,
        other: u32,
        limit: i64,
        stream: Option<&mut Stream>,
    ) -> bool {
        self.chain += 1;
        self.moved[circuit as usize] = self.chain;
        self.put(circuit, one);
        let [a, b] = self.ends[circuit as usize];
        // Either port may be overfull now; a chain starts at each of them.
        self.tokens.clear();
        self.tokens.push((A, one, other, a));
        self.tokens.push((B, one, other, b));
        self.follow(limit, stream)
    }

    /// Follows chains until no port is used twice and returns `true`; returns `false` if a chain cannot continue or
    /// more than `limit` circuits are removed.
    fn follow(&mut self, limit: i64, mut stream: Option<&mut Stream>) -> bool {
        // Kempe chain: an overfull port pushes a circuit to the other switch, which may overfill its far port there.
        while let Some((side, ocs, other, pod)) = self.tokens.pop() {
            // All circuits have ports, so this chain has ended.
            if self.room(side, ocs, pod) >= 0 {
                continue;
            }
            // The chain fails if a circuit has no other switch to move to, or if too many circuits are removed.
            if other == NOWHERE || self.removed > limit {
                return false;
            }
            let Some(next) = self.next(side, ocs, other, pod, stream.as_deref_mut()) else { return false };
            self.moved[next as usize] = self.chain;
            self.put(next, other);
            let far = 1 - side;
            // The same port is checked again, because it may still be overfull.
            self.tokens.push((far, other, ocs, self.ends[next as usize][far]));
            self.tokens.push((side, other, ocs, pod));
        }
        self.removed <= limit
    }

    /// Returns the circuit that leaves an overfull slot; `None` if no circuit can move. Circuits that moved in this
    /// chain do not move again, so every chain ends.
    fn next(&self, side: usize, ocs: u32, other: u32, pod: u32, stream: Option<&mut Stream>) -> Option<u32> {
        let slot = &self.slots[side][self.slot(ocs, pod)];
        let unmoved = |&&circuit: &&u32| self.moved[circuit as usize] != self.chain;
        if let Some(stream) = stream {
            // Tries all circuits of the slot, from a random position with wrap-around.
            let start = stream.random_range(0..slot.len());
            return slot[start..].iter().chain(&slot[..start]).find(unmoved).copied();
        }
        let cost = |circuit: u32| {
            let [a, b] = self.ends[circuit as usize];
            // The circuit with the fewest new removals: preferably a circuit beyond the installed number that fills a
            // gap on the other switch.
            i32::from(!self.is_extra(circuit)) - i32::from(self.is_lacking(other, a, b))
        };
        slot.iter().filter(unmoved).copied().min_by_key(|&circuit| (cost(circuit), circuit))
    }
}
