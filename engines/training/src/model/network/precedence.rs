//! Edges as compressed rows, a topological order, and the transitive closure as a bit matrix.

/// One end of an edge, as seen from the other end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arc {
    /// The task at the far end.
    pub task: u32,
    /// Fixed delay of the edge, seconds.
    pub delay: f64,
}

/// Adjacent tasks of every task, as compressed rows in the order of the edges.
#[derive(Clone, Debug, Default)]
pub struct Arcs {
    starts: Vec<u32>,
    arcs: Vec<Arc>,
}

impl Arcs {
    /// Builds rows from `(row, far end, delay)`; every row keeps the order of the iterator.
    pub fn new(rows: usize, edges: impl Iterator<Item = (u32, u32, f64)> + Clone) -> Self {
        let mut starts = vec![0u32; rows + 1];
        for (row, _, _) in edges.clone() {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut arcs = vec![Arc { task: 0, delay: 0.0 }; starts[rows] as usize];
        for (row, task, delay) in edges {
            arcs[next[row as usize] as usize] = Arc { task, delay };
            next[row as usize] += 1;
        }
        Self { starts, arcs }
    }

    /// Adjacent tasks of one task.
    pub fn of(&self, task: u32) -> &[Arc] {
        let task = task as usize;
        &self.arcs[self.starts[task] as usize..self.starts[task + 1] as usize]
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.arcs.len()
    }

    /// Returns `true` if there is no edge.
    pub fn is_empty(&self) -> bool {
        self.arcs.is_empty()
    }
}

/// Sorts the tasks topologically by Kahn's algorithm, smallest id first; the error is a task on a cycle.
pub(super) fn topological_order(preds: &Arcs, succs: &Arcs) -> Result<Vec<u32>, u32> {
    let n = preds.starts.len() - 1;
    let mut pending: Vec<u32> = (0..n).map(|task| preds.of(task as u32).len() as u32).collect();
    let mut free: std::collections::BinaryHeap<std::cmp::Reverse<u32>> =
        (0..n as u32).filter(|task| pending[*task as usize] == 0).map(std::cmp::Reverse).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(std::cmp::Reverse(task)) = free.pop() {
        order.push(task);
        for arc in succs.of(task) {
            pending[arc.task as usize] -= 1;
            if pending[arc.task as usize] == 0 {
                free.push(std::cmp::Reverse(arc.task));
            }
        }
    }
    if order.len() == n {
        return Ok(order);
    }
    // Walking back from any unfinished task over unfinished predecessors must reach a cycle.
    let mut task = (0..n).find(|task| pending[*task] > 0).unwrap_or(0) as u32;
    for _ in 0..n {
        match preds.of(task).iter().find(|arc| pending[arc.task as usize] > 0) {
            Some(arc) => task = arc.task,
            None => break,
        }
    }
    Err(task)
}

/// Order of the tasks by the DAG: one bit per pair of positions in the topological order.
#[derive(Clone, Debug, Default)]
pub struct Precedence {
    position: Vec<u32>,
    words: usize,
    later: Vec<u64>,
}

impl Precedence {
    /// Computes the transitive closure of the edges.
    pub(super) fn new(order: &[u32], succs: &Arcs) -> Self {
        let n = order.len();
        let words = n.div_ceil(64);
        let mut position = vec![0u32; n];
        for (at, &task) in order.iter().enumerate() {
            position[task as usize] = at as u32;
        }
        let mut later = vec![0u64; n * words];
        for at in (0..n).rev() {
            let (head, tail) = later.split_at_mut((at + 1) * words);
            let row = &mut head[at * words..];
            for arc in succs.of(order[at]) {
                let to = position[arc.task as usize] as usize;
                row[to / 64] |= 1 << (to % 64);
                let below = &tail[(to - at - 1) * words..(to - at) * words];
                for (word, more) in row.iter_mut().zip(below) {
                    *word |= more;
                }
            }
        }
        Self { position, words, later }
    }

    /// Position of a task in the topological order.
    pub fn position(&self, task: u32) -> u32 {
        self.position[task as usize]
    }

    /// Returns `true` if a path leads from `u` to `v`.
    pub fn before(&self, u: u32, v: u32) -> bool {
        let (at, to) = (self.position[u as usize] as usize, self.position[v as usize] as usize);
        at < to && self.later[at * self.words + to / 64] >> (to % 64) & 1 == 1
    }

    /// Returns `true` if a path joins the two tasks in either direction, or if they are the same.
    pub fn ordered(&self, u: u32, v: u32) -> bool {
        u == v || self.before(u, v) || self.before(v, u)
    }

    /// Returns `true` if tasks given in topological order are pairwise ordered.
    pub fn is_chain(&self, tasks: &[u32]) -> bool {
        tasks.windows(2).all(|pair| self.before(pair[0], pair[1]))
    }
}
