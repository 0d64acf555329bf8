//! Effort of `tons-fast` for a pod: random streams, rounds, gaps and cuts, each with its reason.

/// Number of the random stream that draws families; the stream with the next number gives the seed of the tournament.
pub(super) const FAMILY_STREAM: u64 = 1 << 41;
/// Number of the first random stream of the rounds of cuts.
pub(super) const ROUND_STREAM: u64 = 1 << 42;
/// Number of random streams that are reserved for one round of cuts.
pub(super) const STREAMS: u64 = 1 << 16;

/// Number of families whose throughput is certified after the tournament. Metrics only bound the throughput, so the
/// second family may carry more than the first; each certified family costs one certificate.
pub(super) const CERTIFIED: usize = 2;
/// Number of designs that are certified after a round of cuts; several, because metrics only bound the throughput.
pub(super) const PER_ROUND: usize = 2;
/// Initial temperature of a round of cuts divided by the initial temperature of the tournament: lower, because the
/// search is near a good design.
pub(super) const REHEAT: f64 = 0.3;
/// Number of steps of a round of cuts divided by the number of steps of the tournament: fewer, because a round starts
/// at a lower temperature.
pub(super) const ROUND_STEPS: f64 = 0.5;
/// Maximum number of cuts including their images: enough for 20 cuts with 48 images each. Every move evaluates all
/// cuts; if more cuts are added, the oldest cuts are dropped.
pub(super) const MOST_CUTS: usize = 960;
/// Number of consecutive rounds without improvement after which the rounds end: annealing is random, so a single round
/// without improvement proves little.
pub(super) const PATIENCE: u32 = 3;
/// Relative gap of the first certificate, which only ensures that there is a plan.
pub(super) const FIRST_GAP: f64 = 0.03;
/// Relative gap of the certificates that compare designs, unless a wider gap is set. Designs of different groups differ
/// by up to 1 %.
pub(super) const COMPARED: f64 = 2e-3;
/// Relative gap of the final certificate of the best design, unless another gap is set. This gap is narrower, because
/// the lower bound of the final certificate is the objective of the plan, and only one design has this certificate.
pub(super) const FINAL: f64 = 4e-4;
/// A cut is added only if its bound is smaller than the bound of the metrics and of all earlier cuts by more than this
/// fraction: a tenth of the gap with which designs are compared.
pub(super) const WORTH: f64 = 2e-4;

/// Minimum number of cubes for which the winner of every round is certified at once, because a round for such pods
/// takes so long that a run may be stopped before the next round.
pub(super) const LONG_ROUNDS: usize = 64;

/// The only number of cubes for which a second search covers designs without symmetry of the cube. It gains 0.1 % of
/// throughput for 4 cubes (256 chips), and nothing for 2 and 3 cubes.
pub(super) const UNTIED: usize = 4;

/// Returns the default numbers of evaluations, chains and rounds of cuts for a number of cubes; a search takes seconds
/// for the smallest pods, a minute or two for the largest.
pub(super) const fn usual(cubes: usize) -> (u64, u32, u32) {
    match cubes {
        0..=1 => (1, 1, 0),
        2 => (20_000, 16, 10),
        3..=4 => (20_000, 8, 6),
        5..=8 => (20_000, 8, 4),
        9..=16 => (50_000, 4, 4),
        17..=23 => (50_000, 4, 4),
        24..=32 => (200_000, 4, 4),
        33..=64 => (150_000, 4, 3),
        _ => (120_000, 4, 2),
    }
}
