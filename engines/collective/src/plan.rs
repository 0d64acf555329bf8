//! The result: the sends of pieces over links, each with its epoch, and the claims about the plan.

pub mod compact;

use crate::scenario::SwitchHop;
use compact::CompactPlan;
use lightbay_core::problem::Problems;
use lightbay_core::quantity::number;
use lightbay_core::record::{FieldType, NumberRange, Place, any, index, list, within};
use lightbay_core::{record, words};
use schemars::SchemaGenerator;
use serde_json::Value;

/// Largest number that a plan may contain.
const HUGE: f64 = 1e18;
/// Largest id or epoch.
const MOST: i64 = u32::MAX as i64 / 8;
/// Largest buffer size of a range, bytes.
const MOST_BYTES: i64 = 1 << 60;

record! {
    /// Fields of `result` in a plan of kind `collective`.
    pub struct CollectiveResult {
        /// Epochs and capabilities of switches that the sends assume.
        pub time: PlanTime = any(),
        /// Parts of chunks, in order of id.
        pub pieces: Vec<ChunkPiece> = any(),
        /// Sends of pieces over links, in order of epoch, from, to and piece. A piece that is sent several times over a
        /// link in one epoch, because a switch at an end of the link cannot copy or reduce the piece, is listed once
        /// for each send.
        pub sends: Vec<PieceSend> = any(),
        /// Trees in compact form instead of pieces and sends, for each part of the collective; empty in other plans. In
        /// a part that reduces data, the data follows the hops of each tree in reverse, and the epochs count back from
        /// the end of the part.
        pub trees: Vec<CompactPlan> = list(),
        /// Schedules for other buffer sizes, if the scenario lists sizes: consecutive ranges of sizes, each with its
        /// schedule.
        pub ranges: Vec<SizeRange> = list(),
        /// Figures of the plan, and the lower bounds that the method claims.
        pub claims: ScheduleClaims = any(),
    }
}

/// Reads the schedule of a range of sizes; the schedule itself must not contain ranges.
fn of_one_size(value: &Value, place: &Place<'_>, problems: &mut Problems) -> Option<CollectiveResult> {
    let schedule: CollectiveResult = FieldType::read(value, place, NumberRange::Any, problems)?;
    if !schedule.ranges.is_empty() {
        problems.add(
            format!("{place}.ranges"),
            "is not a known key of the schedule of a range",
            "leave it out",
        );
    }
    Some(schedule)
}

words! {
    /// Amounts that links carry: whole chunks, or any amounts.
    pub enum Discipline {
        /// Equal pieces of chunks, one or several for each chunk; a piece may occupy a slow link for several epochs.
        WholeChunk = "whole_chunk",
        /// Pieces of any size; in every epoch, a link carries as much data as its rate allows.
        Fluid = "fluid",
    }
}

record! {
    /// Buffer sizes that one schedule serves.
    pub struct SizeRange {
        /// Smallest size, bytes.
        pub min_bytes: u64 = within(0..=MOST_BYTES),
        /// Largest size, bytes.
        pub max_bytes: u64 = within(0..=MOST_BYTES),
        /// Buffer size for which the epochs of the schedule are made, bytes. Other sizes use the same order; each send
        /// starts as soon as its data has arrived and its link is free.
        pub planned_for_bytes: u64 = within(0..=MOST_BYTES),
        /// The schedule, which contains no ranges.
        pub schedule: CollectiveResult = any().by(of_one_size, SchemaGenerator::subschema_for::<CollectiveResult>),
        /// Sizes of the scenario inside the range, ascending.
        pub points: Vec<SizePoint> = any(),
    }
}

record! {
    /// A buffer size with its completion time.
    pub struct SizePoint {
        /// Size, bytes.
        pub output_buffer_bytes: u64 = within(1..=MOST_BYTES),
        /// Time until the last delivery, µs: the replay of the schedule with this size; for trees in compact form,
        /// their finish.
        pub finish_us: f64 = within(0.0..=HUGE),
        /// Lower bound on the finish, with latencies; missing if none was computed.
        pub floor: Option<FloorProof> = any(),
    }
}

record! {
    /// Epochs and capabilities of switches.
    #[derive(Copy)]
    pub struct PlanTime {
        /// Length of an epoch, µs.
        pub epoch_us: f64 = within(1e-12..=HUGE),
        /// Fraction of an epoch up to which a latency is ignored.
        pub alpha_threshold: f64 = within(0.0..=HUGE),
        /// Whole chunks or any amounts.
        pub discipline: Discipline = any(),
        /// Number of equal pieces of every chunk with `whole_chunk`.
        pub pieces_per_chunk: u32 = within(1..=MOST).or(1).omitted(),
        /// `true` if switches send one arrival over several links.
        pub switch_copy: bool = any().or(true),
        /// How switches pass data on.
        pub switch_hop: SwitchHop = any(),
    }
}

impl PlanTime {
    /// Returns the size of the unit that links carry undivided, for chunks of a given size, bytes.
    pub fn piece_bytes(&self, chunk_bytes: f64) -> f64 {
        chunk_bytes / f64::from(self.pieces_per_chunk.max(1))
    }
}

record! {
    /// A part of a chunk.
    pub struct ChunkPiece {
        /// Position of the piece in the list, from 0.
        pub id: u32 = within(0..=MOST),
        /// The chunk.
        pub chunk: u32 = within(0..=MOST),
        /// Offset of the piece in the chunk, bytes.
        pub offset_bytes: f64 = within(0.0..=HUGE),
        /// Size.
        pub size_bytes: f64 = within(0.0..=HUGE),
        /// `true` if the piece is reduced on its way to the rank that the chunk belongs to; `false` if it is sent from
        /// this rank to the destinations.
        pub adds_up: bool = any().or(false).omitted(),
        /// The destinations of the piece, if they are only some destinations of the chunk: the data of each destination
        /// is then sent separately.
        pub dests: Option<Vec<u32>> = index(),
    }
}

record! {
    /// A send: one piece over one link.
    #[derive(Copy, Eq, Hash)]
    pub struct PieceSend {
        /// The piece.
        pub piece: u32 = within(0..=MOST),
        /// Node that sends.
        pub from: u32 = within(0..=MOST),
        /// Node that receives.
        pub to: u32 = within(0..=MOST),
        /// Epoch at the beginning of which the piece starts.
        pub epoch: u32 = within(0..=MOST),
    }
}

record! {
    /// Figures of a plan.
    pub struct ScheduleClaims {
        /// Epochs until the last delivery.
        pub finish_epochs: u32 = within(0..=MOST),
        /// Time until the last delivery, µs.
        pub finish_us: f64 = within(0.0..=HUGE),
        /// Bytes of the buffer divided by the time until the last delivery, GB/s.
        pub algbw_gbyte_per_s: f64 = within(0.0..=HUGE),
        /// Time of the last delivery if every send starts as soon as its data has arrived and its link is free, µs;
        /// missing if trees represent sends.
        pub replay_us: Option<f64> = within(0.0..=HUGE),
        /// Proven lower bound on the number of epochs of schedules of this discipline with this epoch length; missing
        /// if nothing is proven.
        pub lower_bound_epochs: Option<u32> = within(0..=MOST),
        /// Path, cut or metric that gives `lower_bound_epochs`, one entry for each part of the collective.
        pub bounds: Vec<BoundClaim> = list(),
        /// `true` if the finish equals `lower_bound_epochs`.
        pub optimal: bool = any().or(false),
        /// Lower bounds on times, for any chunking and any epoch length; missing if none were computed.
        pub floor: Option<FloorClaim> = any(),
    }
}

record! {
    /// Lower bounds on times, for any chunking and any epoch length.
    pub struct FloorClaim, ignoring "cut_through_credit" {
        /// Lower bound on the finish of every schedule, including schedules in epochs that omit latencies.
        pub without_latency: FloorProof = any(),
        /// Lower bound on the replay of every schedule, and on its finish if no latency is omitted.
        pub with_latency: FloorProof = any(),
        /// Finish divided by its floor, minus 1.
        pub gap_to_floor: f64 = within(0.0..=HUGE),
    }
}

record! {
    /// A floor with its proof.
    #[derive(Default)]
    pub struct FloorProof {
        /// The floor, µs.
        pub floor_us: f64 = within(0.0..=HUGE),
        /// Reason, in words: `cut into group 1`.
        pub because: String = any(),
        /// Nodes inside the cut, ascending; none for paths and sums over all links.
        pub inside: Vec<u32> = index().or(Vec::new()).omitted(),
        /// GPU inside the cut to which the floor applies; missing if the floor applies to all GPUs inside.
        pub target: Option<u32> = within(0..=MOST),
        /// Growing cuts that together prove the floor; missing if a single path, cut or sum proves the floor.
        pub growing: Option<GrowingCuts> = any(),
    }
}

record! {
    /// A weighted sum of growing cuts. A growing cut is a set of nodes that each node joins at some time. The data of
    /// the source must leave the set before the target joins it, over links whose tail has joined and whose head has
    /// not. The sum of these windows of all cuts needs more capacity than the links have.
    pub struct GrowingCuts {
        /// Length of a slot, the unit of time in the cuts, µs.
        pub slot_us: f64 = within(1e-12..=HUGE),
        /// Symmetries of network and data, as images of all nodes; each cut stands for the mean of its images.
        pub symmetries: Vec<Vec<u32>> = index().or(Vec::new()).omitted(),
        /// The cuts.
        pub cuts: Vec<GrowingCut> = any(),
    }
}

record! {
    /// A set of nodes that grows with time.
    pub struct GrowingCut {
        /// Node whose data must leave the set; it is in the set from the start.
        pub source: u32 = within(0..=MOST),
        /// Node that needs the data; it joins the set only at the end.
        pub target: u32 = within(0..=MOST),
        /// Weight of the cut in the sum.
        pub weight: f64 = within(0.0..=HUGE),
        /// For every node, the time at which it joins the set, in slots before the end. A node never joins before data
        /// of the source can reach it. It joins when data that leaves it could only just reach the target, if not before.
        pub slots: Vec<u32> = index(),
    }
}

/// Default minimum size of a piece of a chunk, bytes; smaller pieces have costs that replays do not include.
pub const MIN_PIECE_BYTES: f64 = 1024.0;

/// Texts that state the proof of a floor, for proofs that name no nodes.
pub mod floor_words {
    /// No data has to move.
    pub const NOTHING: &str = "nothing has to move";
    /// Every delivery uses at least as many links as its shortest path.
    pub const HOPS: &str = "hops of all data against all links";
    /// Every delivery uses at least as much link time as its cheapest path.
    pub const TIMES: &str = "time of all data on all links";
    /// For a partition into GPUs: a reduction needs two transfers of every byte for each GPU but one.
    pub const GPUS: &str = "two transfers of all data for each GPU but one";
    /// For a partition into groups: a reduction needs two transfers of every byte for each group but one.
    pub const GROUPS: &str = "two transfers of all data for each group but one";
    /// Cuts whose sets of nodes grow with time, together.
    pub const GROWING: &str = "weighted sum of growing cuts";
}

/// Tolerance within which finish and floor count as equal.
pub const AT_FLOOR: f64 = 1e-9;

impl FloorClaim {
    /// Returns the floor on the finish of schedules whose epochs omit latencies up to a fraction of an epoch.
    pub fn under_finish(&self, alpha_threshold: f64) -> &FloorProof {
        if alpha_threshold == 0.0 { &self.with_latency } else { &self.without_latency }
    }

    /// Creates the claim from the floors without and with latencies, and computes the gap between a finish and its
    /// floor.
    pub fn of(
        without_latency: FloorProof,
        with_latency: FloorProof,
        finish_us: f64,
        alpha_threshold: f64,
    ) -> Self {
        let mut claim = Self { without_latency, with_latency, gap_to_floor: 0.0 };
        let floor_us = claim.under_finish(alpha_threshold).floor_us;
        claim.gap_to_floor = if floor_us > 0.0 { (finish_us / floor_us - 1.0).max(0.0) } else { 0.0 };
        claim
    }
}

/// Returns a text that names the schedules that a floor covers.
pub fn floor_covers(alpha_threshold: f64) -> &'static str {
    if alpha_threshold == 0.0 {
        "schedules of any number of chunks in any epochs that leave no latency out"
    } else {
        "schedules of any number of chunks in any epochs"
    }
}

record! {
    /// Path, cut or metric that gives the bound of a part of a collective.
    #[derive(Eq)]
    pub struct BoundClaim {
        /// Lower bound on the number of epochs of the part.
        pub epochs: u32 = within(0..=MOST),
        /// Reason, in words: `cut into group 1, 8 chunks, head 10, tail 42`.
        pub because: String = any(),
        /// Nodes inside the cut, ascending; none for paths and sums over all links.
        pub inside: Vec<u32> = index().or(Vec::new()).omitted(),
    }
}

/// Lower bounds on every schedule of a scenario: one without and one with latencies.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioFloors {
    /// Floor without latencies.
    pub without_latency: FloorProof,
    /// Floor with latencies; at least as large as the floor without latencies.
    pub with_latency: FloorProof,
}

/// Returns a text that names the schedules that a bound in epochs covers.
pub fn covers(epoch_us: f64, discipline: Discipline, pieces_per_chunk: u32, in_parts: bool) -> String {
    let what = match (discipline, pieces_per_chunk) {
        (Discipline::WholeChunk, 1) => "whole chunks of this size".to_owned(),
        (Discipline::WholeChunk, pieces) => format!("chunks in {pieces} equal pieces"),
        (Discipline::Fluid, _) => "parts of chunks".to_owned(),
    };
    let parts = if in_parts { ", one half after the other" } else { "" };
    format!("schedules of {what} in epochs of {} us{parts}", number(epoch_us))
}
