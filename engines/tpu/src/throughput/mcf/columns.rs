//! Column generation: a linear program combines flows along shortest paths, and its dual prices give the next lengths.

use super::interior::Interior;
use super::master::{Master, Piece, Prices, Trouble};
use super::network::Network;
use super::sweep::{Sweep, sweep, upper};
use super::weights::{Weights, mean_flow};
use super::{Flow, FlowSettings, Tree, tell};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Interval that contains the maximum flow.
#[derive(Clone, Debug)]
pub struct Interval {
    /// Lower end of the interval: a flow of this size exists.
    pub lower: f64,
    /// Upper end of the interval: no flow is larger.
    pub upper: f64,
    /// The lengths that certify `upper`.
    pub lengths: Vec<u32>,
    /// Number of sweeps made.
    pub rounds: u32,
    /// The flow of size `lower`.
    pub flow: Flow,
}

/// Best interval so far, and the reason that the computation ended before the gap was reached.
#[derive(Debug)]
pub struct GeneratedInterval {
    /// Best interval, if there is one.
    pub known: Option<Interval>,
    /// Reason that the computation ended early; `None` if the computation reached its gap or its limit of rounds.
    pub trouble: Option<Trouble>,
}

/// The interior point method drops a column that more than this number of consecutive solutions did not use. The
/// fractions of the interior point method show early which columns are not needed.
const PATIENCE: u32 = 1;
/// The simplex method drops a column that more than this number of consecutive solutions did not use. Vertices are
/// sparse: a useful column may be unused in some vertices.
const SIMPLEX_PATIENCE: u32 = 6;

/// Sweeps by multiplicative weights before the first program, because the columns of these sweeps are much more diverse
/// than columns from the prices of an empty program.
const SEEDS: u32 = 15;

/// Maximum number of classes for the interior point method: the time of a dense Newton step grows with the third power
/// of this number.
const DENSE: usize = 400;

/// Relative accuracy of a program divided by the gap of the interval: prices need not be exact, because the next
/// columns change them.
const PROGRAM_GAP: f64 = 0.3;

/// Fractions of a flow below this value are rounding errors; their columns are omitted.
const NEGLIGIBLE: f64 = 1e-7;

/// Weight of the best known metric in the lengths of a round (Wentges' smoothing); the remaining weight is on the
/// prices of the program, because prices alone change too much from round to round.
const SHARE: f64 = 0.7;

/// Narrows the interval that contains the throughput until its relative width is at most the gap of the settings, or
/// the maximum number of rounds has run.
pub fn generate<W: Watch>(
    network: &Network,
    settings: &FlowSettings,
    start: &[f64],
    watch: &mut W,
) -> GeneratedInterval {
    let mut work = Generation {
        network,
        settings,
        watch,
        trees: Vec::new(),
        program: None,
        prices: None,
        known: None,
        apart: false,
    };
    let trouble = work.run(start).err();
    GeneratedInterval { known: work.known, trouble }
}

/// The linear program over the columns, with the method for its size.
enum ColumnProgram {
    /// Few classes, as for symmetric pods: interior point method with dense Newton steps.
    Interior(Interior),
    /// Many classes, of which each column uses few: the sparse simplex method of the solver.
    Simplex(Box<Master>),
}

impl ColumnProgram {
    fn new(network: &Network, unit: f64) -> Result<Self, Trouble> {
        // The normal equations are dense with one row per class, so a step takes cubic time in the number of classes.
        if network.class_count() <= DENSE {
            return Ok(Self::Interior(Interior::new(network, unit)));
        }
        Ok(Self::Simplex(Box::new(Master::new(network, unit)?)))
    }

    fn add(&mut self, round: u32, columns: &[(usize, &[f64])]) -> Result<(), Trouble> {
        match self {
            Self::Interior(program) => {
                program.add(round, columns);
                Ok(())
            }
            Self::Simplex(program) => program.add(round, columns),
        }
    }

    /// Solves the program; `gap` is the current gap of the interval, which determines the accuracy of the prices.
    fn solve<W: Watch>(&mut self, gap: f64, watch: &mut W) -> Result<Prices, Trouble> {
        match self {
            // Exact prices are not useful while the program changes, so the gap of the program follows the gap of the
            // interval.
            Self::Interior(program) => program.solve((gap * PROGRAM_GAP).min(0.05), watch),
            Self::Simplex(program) => program.solve(watch),
        }
    }

    fn prune(&mut self) -> Result<(), Trouble> {
        match self {
            Self::Interior(program) => {
                program.prune(PATIENCE);
                Ok(())
            }
            Self::Simplex(program) => program.prune(SIMPLEX_PATIENCE),
        }
    }

    fn pieces(&self) -> &[Piece] {
        match self {
            Self::Interior(program) => program.pieces(),
            Self::Simplex(program) => program.pieces(),
        }
    }
}

struct Generation<'w, W> {
    network: &'w Network,
    settings: &'w FlowSettings,
    watch: &'w mut W,
    /// Lengths of each sweep so far.
    trees: Vec<Vec<u32>>,
    program: Option<ColumnProgram>,
    /// Prices of the last solution.
    prices: Option<Prices>,
    known: Option<Interval>,
    /// `true` if some pairs of nodes cannot reach each other.
    apart: bool,
}

impl<W: Watch> Generation<'_, W> {
    fn run(&mut self, start: &[f64]) -> Result<(), Trouble> {
        // The first columns come from multiplicative weights: they are cheap and replace the least effective rounds of
        // the program.
        let mut weights = Weights::new(self.network.class_count());
        let mut lengths = Network::whole(start);
        // A sweep gives a metric (upper end) and columns for the program.
        for _ in 0..SEEDS.min(self.settings.max_rounds.max(1)) {
            let swept = self.sweep(lengths)?;
            if self.apart {
                return Ok(());
            }
            // Multiplicative weights: the mean of all flows so far is also a flow, which gives a first lower end.
            lengths = weights.next(&swept);
            let value = weights.value(self.network);
            if let Some(known) = self.known.as_mut().filter(|known| value > known.lower) {
                known.lower = value;
                known.flow = mean_flow(value, &self.trees, self.network.groups());
                tell(self.watch, known.lower, known.upper);
                if known.gap() <= self.settings.gap {
                    return Ok(());
                }
            }
        }
        // Column generation: solve the master, price at the next lengths, until the ends meet.
        loop {
            let narrow = self.solve()?;
            let Some(known) =
                self.known.as_ref().filter(|known| !narrow && known.rounds < self.settings.max_rounds)
            else {
                return Ok(());
            };
            // The next lengths lie between the best metric and the prices (Wentges' smoothing), because prices alone
            // jump from vertex to vertex.
            let next = mixed(&known.lengths, self.prices.as_ref(), self.network.capacity());
            self.sweep(next)?;
        }
    }

    /// Computes shortest paths under the given lengths. Their distances give a bound on the flow, and their loads give
    /// new columns.
    fn sweep(&mut self, lengths: Vec<u32>) -> Result<Sweep, Trouble> {
        let swept = sweep(self.network, &lengths, self.watch).map_err(Trouble::Run)?;
        let known = self.known.get_or_insert_with(Interval::unknown);
        // Upper end: every metric bounds the flow by its total length divided by the sum of distances (dual of the flow
        // program).
        if !known.metric(self.network, &lengths, swept.distance) {
            self.apart = true;
            return Ok(swept);
        }
        let program = match &mut self.program {
            Some(program) => program,
            None => self.program.insert(ColumnProgram::new(self.network, fullest(self.network, &swept))?),
        };
        let columns = swept.loads.chunks(self.network.class_count()).enumerate();
        let useful: Vec<(usize, &[f64])> =
            // Reduced cost test: a column that costs at least the value of its group cannot improve the flow.
            columns.filter(|(group, loads)| useful(self.prices.as_ref(), *group, loads)).collect();
        program.add(self.trees.len() as u32, &useful)?;
        self.trees.push(lengths);
        Ok(swept)
    }

    /// Solves the program over the columns; returns whether the gap is reached.
    fn solve(&mut self) -> Result<bool, Trouble> {
        let (Some(program), Some(known)) = (&mut self.program, &mut self.known) else { return Ok(true) };
        if known.gap() <= self.settings.gap {
            return Ok(true);
        }
        self.prices = Some(program.solve(known.gap(), self.watch)?);
        // Lower end: the combination is an achievable flow, regardless of the tolerance of the solver, because its size
        // is recomputed.
        let flow = flow_of(self.network, program.pieces(), &self.trees);
        if flow.value > known.lower {
            // The best flow is stored, because the program may lose it when columns are dropped.
            known.lower = flow.value;
            known.flow = flow;
        }
        tell(self.watch, known.lower, known.upper);
        program.prune()?;
        Ok(known.gap() <= self.settings.gap)
    }
}

/// Returns `true` if a column can make the flow larger at the prices of the last solution.
fn useful(prices: Option<&Prices>, group: usize, loads: &[f64]) -> bool {
    let Some(prices) = prices else { return true };
    let cost: f64 = loads.iter().zip(&prices.classes).map(|(load, price)| load * price).sum();
    // The margin of 1e-9 rejects columns with a reduced cost near 0, which would return in every round without benefit.
    cost < prices.groups[group] * (1.0 - 1e-9)
}

fn fullest(network: &Network, swept: &Sweep) -> f64 {
    let mut sums = vec![0.0; network.class_count()];
    for loads in swept.loads.chunks(sums.len()) {
        for (sum, load) in sums.iter_mut().zip(loads) {
            *sum += load;
        }
    }
    // Unit of the loads, chosen so that the value of the program is near 1.
    sums.into_iter().fold(0.0, f64::max).max(1.0) / network.capacity()
}

/// The flow of the last solution, with its size recomputed from the loads of its columns.
fn flow_of(network: &Network, pieces: &[Piece], rounds: &[Vec<u32>]) -> Flow {
    // Columns with negligible fractions are omitted, and the others are scaled.
    let mut sums = vec![0.0; network.groups()];
    let used = || pieces.iter().filter(|piece| piece.weight > NEGLIGIBLE);
    for piece in used() {
        sums[piece.group as usize] += piece.weight;
    }
    let mut loads = vec![0.0; network.class_count()];
    let mut trees: Vec<Option<Vec<f64>>> = vec![None; rounds.len()];
    for piece in used() {
        // Fractions that sum to exactly 1 serve all demands exactly.
        let share = piece.weight / sums[piece.group as usize];
        for (load, more) in loads.iter_mut().zip(&piece.loads) {
            *load += share * more;
        }
        let shares = trees[piece.round as usize].get_or_insert_with(|| vec![0.0; network.groups()]);
        shares[piece.group as usize] = share;
    }
    // The most loaded class determines the size of the flow.
    let fullest = loads.iter().copied().fold(0.0, f64::max);
    let trees = trees
        .into_iter()
        .zip(rounds)
        .filter_map(|(shares, lengths)| shares.map(|shares| Tree { lengths: lengths.clone(), shares }))
        .collect();
    let whole = sums.iter().all(|sum| *sum > 0.0);
    let value =
        if whole && fullest > 0.0 { network.capacity() / fullest * (1.0 - super::SAFETY) } else { 0.0 };
    Flow { value, trees }
}

/// Returns the next lengths, which lie between the best known metric and the prices of the program.
fn mixed(best: &[u32], prices: Option<&Prices>, capacity: f64) -> Vec<u32> {
    let Some(prices) = prices else { return best.to_vec() };
    // The best lengths and the prices are normalised to the same total length before they are mixed.
    let sum: f64 = best.iter().map(|length| capacity * f64::from(*length)).sum();
    let priced: f64 = prices.classes.iter().map(|price| capacity * price).sum::<f64>().max(f64::MIN_POSITIVE);
    let mix: Vec<f64> = best
        .iter()
        .zip(&prices.classes)
        .map(|(length, price)| SHARE * f64::from(*length) / sum + (1.0 - SHARE) * price / priced)
        .collect();
    Network::whole(&mix)
}

impl Interval {
    /// Creates an interval without any information.
    pub fn unknown() -> Self {
        let flow = Flow::default();
        Self { lower: 0.0, upper: f64::INFINITY, lengths: Vec::new(), rounds: 0, flow }
    }

    /// Applies the bound of a metric, from the sum of its distances; returns `false` if some pairs cannot reach each
    /// other, so that no flow is possible.
    pub fn metric(&mut self, network: &Network, lengths: &[u32], distance: Option<u64>) -> bool {
        self.rounds += 1;
        let bound = distance.map_or(0.0, |distance| upper(network, lengths, distance));
        // Integer lengths make the bound exact up to one division.
        if bound < self.upper {
            self.upper = bound;
            self.lengths = lengths.to_vec();
        }
        distance.is_some()
    }

    /// Relative width of the interval: upper end divided by lower end, minus 1.
    pub fn gap(&self) -> f64 {
        if self.upper <= self.lower { 0.0 } else { self.upper / self.lower - 1.0 }
    }
}

/// Returns the message of the solver if the solver failed; otherwise, as an error, the reason to stop.
pub fn stop_of(trouble: Trouble) -> Result<String, MethodError> {
    match trouble {
        Trouble::Run(error) => Err(error),
        Trouble::Solver(words) => Ok(words),
    }
}
