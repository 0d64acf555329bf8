//! Maximum concurrent flow, bounded from both sides by certificates: the largest demand that every chip can send to
//! every other chip at once (docs/methods/tpu.md, section 4).
//!
//! Demand is 1 for each ordered pair of chips, capacity 1 for each arc (one direction of a link); the flow is in flits
//! per cycle and ordered pair. `lower` is the size of a constructed fractional flow. `upper` is the bound that a metric
//! proves: with one length for each class of links, the total length that a flow uses is at most the total length of
//! all links.
//!
//! The interval is narrowed by column generation ([`columns`]): shortest paths from all sources under some lengths give
//! one flow for each source, a linear program combines the flows, and its dual prices give the next lengths. Without a
//! solver, multiplicative weights ([`weights`]) give a wider interval.

use crate::model::pod::LINK_CLASSES;
use crate::model::topology::Topology;
use crate::series;
use columns::{Interval, generate, stop_of};
use lightbay_core::event::{EventBody, Note, SeriesPoint, Severity};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use network::Network;
#[cfg(test)]
use sweep::Scratch;

pub mod columns;
mod interior;
#[cfg(test)]
pub mod leighton_rao;
pub(crate) mod master;
pub mod network;
pub mod sweep;
pub mod weights;

/// Relative safety margin by which the reported size of a flow is reduced, for rounding in the sums of its loads. This
/// margin covers several hundred roundings of the longest sum of loads.
pub const SAFETY: f64 = 1e-11;

/// Minimum number of chips of a pod without symmetry for which the sources of a cube share their columns of the linear
/// program. With separate columns for each of 257 or more sources, the program would be too wide.
const GROUPED: usize = 257;

/// Minimum number of chips of a pod without symmetry for which the linear program of column generation is too large.
/// The program would have a row for each of more than 3072 links.
pub(crate) const UNSOLVED: usize = 1025;

/// A flow and a metric: lower and upper bound on the throughput of a topology.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Lower end of the interval: a flow of this rate exists, in flits per cycle and ordered pair.
    pub lower: f64,
    /// Upper end of the interval: no flow is larger.
    pub upper: f64,
    /// Lengths of the 192 link classes whose metric proves `upper`; `None` for equal lengths (the hop bound).
    pub class_lengths: Option<Vec<f64>>,
    /// Lengths of the single links of a pod without symmetry, if they prove a tighter bound than class lengths:
    /// `link_lengths[3·node + axis]` is the length of the link at the node's plus port. In this case, `upper` is the
    /// bound that these lengths prove.
    pub link_lengths: Option<Vec<f64>>,
    /// Number of sweeps: shortest path computations from all sources.
    pub rounds: u32,
}

impl Certificate {
    /// Relative width of the interval: upper end divided by lower end, minus 1.
    pub fn gap(&self) -> f64 {
        if self.upper <= self.lower { 0.0 } else { self.upper / self.lower - 1.0 }
    }
}

/// Limits of the computation.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSettings {
    /// Relative width of the interval at which the computation stops.
    pub gap: f64,
    /// Maximum number of rounds, regardless of the width.
    pub max_rounds: u32,
    /// `true` to use the linear program; otherwise multiplicative weights.
    pub solver: bool,
}

impl Default for FlowSettings {
    fn default() -> Self {
        Self { gap: 1e-3, max_rounds: 400, solver: true }
    }
}

impl FlowSettings {
    /// The default settings of a pod: a width of 0.1 % up to 512 chips, 0.5 % above.
    pub fn of(nodes: usize) -> Self {
        Self { gap: if nodes <= 512 { 1e-3 } else { 5e-3 }, ..Self::default() }
    }
}

/// A fractional flow as a combination of shortest path flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// Size of the flow: units for each ordered pair of nodes.
    pub value: f64,
    /// Shortest path flows whose combination is the flow.
    pub trees: Vec<Tree>,
}

/// Shortest path flows under some lengths: each source sends one unit to every other node, split equally at each node.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Length of each class of links.
    pub lengths: Vec<u32>,
    /// Fraction of the flow for each group of sources (symmetric pods: each chip of cube 0).
    pub shares: Vec<f64>,
}

/// State of the computation at its end, even if it was stopped.
#[derive(Debug)]
pub struct Attempt {
    /// The interval, if at least one round was done.
    pub certificate: Option<Certificate>,
    /// The flow that proves the lower end.
    pub flow: Option<Flow>,
    /// The reason that the computation was stopped early; `None` if the computation was not stopped.
    pub stopped: Option<MethodError>,
}

/// Computes a lower and an upper bound on the throughput of a pod. `start` are initial lengths of the 192 classes, such
/// as the lengths of a certificate of a similar pod.
///
/// # Errors
/// The reason to stop.
pub fn certify(
    pod: &Topology,
    settings: &FlowSettings,
    start: Option<&[f64]>,
    watch: &mut impl Watch,
) -> Result<Certificate, MethodError> {
    let attempt = attempt(pod, settings, start, watch);
    match (attempt.stopped, attempt.certificate) {
        (None, Some(certificate)) => Ok(certificate),
        (Some(stopped), _) => Err(stopped),
        (None, None) => Err(MethodError::Failed("no round of the flow computation was done".to_owned())),
    }
}

/// Like [`certify`], but also returns the flow, and returns the state so far if the run was stopped.
pub fn attempt(
    pod: &Topology,
    settings: &FlowSettings,
    start: Option<&[f64]>,
    watch: &mut impl Watch,
) -> Attempt {
    let symmetric = pod.symmetry().is_some();
    // Aggregation of sources reduces the number of columns and convexity rows; the flow still serves every pair.
    let grouped = if pod.nodes() >= GROUPED { crate::model::pod::CHIPS } else { 1 };
    let network = Network::pod(pod, grouped);
    let start = start.filter(|lengths| lengths.len() == LINK_CLASSES);
    // The lengths of a similar pod make the first metric a good bound.
    let start = match start {
        Some(lengths) if symmetric => of_working(pod, lengths),
        Some(lengths) => of_working(pod, &spread(pod, lengths)),
        None => vec![1.0; network.class_count()],
    };
    let solver = settings.solver && (symmetric || pod.nodes() < UNSOLVED);
    let (known, stopped) = interval(&network, &FlowSettings { solver, ..settings.clone() }, &start, watch);
    let certificate = known.as_ref().map(|known| certificate(pod, known));
    Attempt { certificate, flow: known.map(|known| known.flow), stopped }
}

/// Returns an interval of the throughput of any network, and the reason if the run was stopped. Uses the linear program
/// if the settings select it and the solver succeeds, otherwise multiplicative weights.
pub fn interval<W: Watch>(
    network: &Network,
    settings: &FlowSettings,
    start: &[f64],
    watch: &mut W,
) -> (Option<Interval>, Option<MethodError>) {
    let mut known = None;
    // Column generation first; weights take over only if the solver fails or is switched off.
    if settings.solver {
        let ending = generate(network, settings, start, watch);
        known = ending.known;
        match ending.trouble.map(stop_of) {
            None => return (known, None),
            Some(Err(stopped)) => return (known, Some(stopped)),
            Some(Ok(words)) => watch.report(EventBody::Note(Note {
                severity: Severity::Warning,
                text: format!(
                    "{words}; the flow is computed without a solver, so the certificate has a larger gap"
                ),
            })),
        }
    }
    let stopped = weights::narrow(network, settings, start, watch, &mut known).err();
    (known, stopped)
}

fn certificate(pod: &Topology, known: &Interval) -> Certificate {
    // Links across failed switches have length 0 in the list; readers of the list skip them.
    let symmetric = pod.symmetry().is_some();
    let mut lengths = vec![0.0; if symmetric { LINK_CLASSES } else { 3 * pod.nodes() }];
    for (class, length) in Network::working(pod).into_iter().zip(&known.lengths) {
        lengths[class] = f64::from(*length);
    }
    // Equal lengths give the hop bound, which needs no list.
    let equal = known.lengths.windows(2).all(|pair| pair[0] == pair[1]);
    let (class_lengths, link_lengths) = match (equal, symmetric) {
        (true, _) => (None, None),
        (false, true) => (Some(lengths), None),
        (false, false) => (None, Some(lengths)),
    };
    Certificate { lower: known.lower, upper: known.upper, class_lengths, link_lengths, rounds: known.rounds }
}

/// Returns the entries of `lengths`, which has the lengths of all classes, for the classes that carry traffic.
fn of_working(pod: &Topology, lengths: &[f64]) -> Vec<f64> {
    Network::working(pod).into_iter().map(|class| lengths[class]).collect()
}

/// Expands class lengths to lengths of the single links of a pod without symmetry.
pub(crate) fn spread(pod: &Topology, class_lengths: &[f64]) -> Vec<f64> {
    let class = |at: usize| {
        let (chip, axis) = (at / 3 % crate::model::pod::CHIPS, at % 3);
        usize::from(crate::model::pod::LINK_OF_ARC[crate::model::pod::PORTS * chip + 2 * axis])
    };
    (0..3 * pod.nodes()).map(|at| class_lengths[class(at)]).collect()
}

/// Returns the upper bound that the metric of given class lengths proves for all flows. The bound is infinite if the
/// pod is not connected, or if there are not exactly 192 lengths.
#[cfg(test)]
pub fn upper_of_lengths(pod: &Topology, class_lengths: &[f64]) -> f64 {
    if class_lengths.len() != LINK_CLASSES {
        return f64::INFINITY;
    }
    let lengths = if pod.symmetry().is_some() { class_lengths.to_vec() } else { spread(pod, class_lengths) };
    upper_of(&Network::pod(pod, 1), &of_working(pod, &lengths))
}

#[cfg(test)]
fn upper_of(network: &Network, lengths: &[f64]) -> f64 {
    let lengths = Network::whole(lengths);
    // A metric bound needs one sweep for the distances from all sources.
    let mut scratch = Scratch::default();
    let mut sum = 0;
    for source in network.sources() {
        sweep::distances(network, &lengths, *source as usize, &mut scratch);
        if scratch.order.len() < network.nodes() {
            return f64::INFINITY;
        }
        sum += scratch.distance.iter().sum::<u64>();
    }
    sweep::upper(network, &lengths, sum)
}

/// Reports the current interval.
fn tell(watch: &mut impl Watch, lower: f64, upper: f64) {
    let x = watch.elapsed_s();
    for (name, y) in [(series::MCF_LOWER, lower), (series::MCF_UPPER, upper)] {
        if y.is_finite() {
            watch.report(EventBody::Series(SeriesPoint { name: name.to_owned(), x, y }));
        }
    }
}

#[cfg(test)]
mod tests;
