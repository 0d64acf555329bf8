//! The result: which link starts which piece in which epoch, and what is claimed of it.

pub mod compact;
mod read;

use crate::scenario::SwitchHop;
use compact::CompactPlan;
use schemars::JsonSchema;
use serde::Serialize;

/// Fields of `result` in a plan of kind `collective`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CollectiveResult {
    /// Epochs and abilities of switches that the sends are made for.
    pub time: PlanTime,
    /// Parts of chunks, in order of id.
    pub pieces: Vec<ChunkPiece>,
    /// Starts of pieces on links, by epoch, from, to and piece. A piece that starts several times on a link in one epoch,
    /// because a switch at its end cannot copy or reduce it, is listed as often.
    pub sends: Vec<PieceSend>,
    /// Trees in short form in place of pieces and sends, for each part of the collective; none of other plans. Data that
    /// is added up takes the hops of a tree the other way, from the end of its part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trees: Vec<CompactPlan>,
    /// Schedules for other sizes of the buffer, where the scenario lists sizes: ranges that follow each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<SizeRange>,
    /// Figures of the plan, and the bound that it was made with.
    pub claims: ScheduleClaims,
}

/// Amounts that links carry: whole chunks, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// Equal pieces of chunks, or one for every chunk; a slow link is occupied for several epochs.
    WholeChunk,
    /// Any pieces; a link carries what it can in every epoch.
    Fluid,
}

/// Sizes of the buffer that one schedule serves.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SizeRange {
    /// Smallest size, bytes.
    pub min_bytes: u64,
    /// Largest size, bytes.
    pub max_bytes: u64,
    /// Size that the epochs of the schedule are for, bytes. Other sizes are sent in the same order, each send as soon as
    /// its data is there and its link is free.
    pub planned_for_bytes: u64,
    /// The schedule, without ranges of its own.
    pub schedule: CollectiveResult,
    /// Sizes of the scenario inside the range, ascending.
    pub points: Vec<SizePoint>,
}

/// A size of the buffer with its finish.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SizePoint {
    /// Size, bytes.
    pub output_buffer_bytes: u64,
    /// Time until the last delivery, µs: the replay of the schedule with this size, the finish of trees in short form.
    pub finish_us: f64,
    /// Time with latencies that no schedule can beat; missing if none was worked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorProof>,
}

/// Epochs and abilities of switches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanTime {
    /// Length of an epoch, µs.
    pub epoch_us: f64,
    /// Share of an epoch up to which latencies are left out.
    pub alpha_threshold: f64,
    /// Whole chunks or any amounts.
    pub discipline: Discipline,
    /// Equal pieces that every chunk is sent in with `whole_chunk`.
    #[serde(skip_serializing_if = "is_one")]
    pub pieces_per_chunk: u32,
    /// `true` if one arrival leaves switches over several links.
    pub switch_copy: bool,
    /// Way in which switches pass data on.
    pub switch_hop: SwitchHop,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(number: &u32) -> bool {
    *number == 1
}

impl PlanTime {
    /// Size of what links carry as a whole, for chunks of a size, bytes.
    pub fn piece_bytes(&self, chunk_bytes: f64) -> f64 {
        chunk_bytes / f64::from(self.pieces_per_chunk.max(1))
    }
}

/// A part of a chunk.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChunkPiece {
    /// Its place in the list, from 0.
    pub id: u32,
    /// The chunk.
    pub chunk: u32,
    /// Bytes of the chunk in front of it.
    pub offset_bytes: f64,
    /// Size.
    pub size_bytes: f64,
    /// `true` if it is added up on its way to the rank that the chunk belongs to, instead of spread from there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub adds_up: bool,
    /// The destinations that it is for, if not all of the chunk: chunks that are sent to each one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dests: Option<Vec<u32>>,
}

/// Start of a piece on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct PieceSend {
    /// The piece.
    pub piece: u32,
    /// Node that sends.
    pub from: u32,
    /// Node that receives.
    pub to: u32,
    /// Epoch at whose beginning it starts.
    pub epoch: u32,
}

/// Figures of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ScheduleClaims {
    /// Epochs until the last delivery.
    pub finish_epochs: u32,
    /// Time until the last delivery, µs.
    pub finish_us: f64,
    /// Bytes of the buffer by time until the last delivery, GB/s.
    pub algbw_gbyte_per_s: f64,
    /// Time of the last delivery if every send starts as soon as its data is there and its link is free, µs; missing
    /// where trees stand for sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_us: Option<f64>,
    /// Epochs that every schedule of this discipline in epochs of this length takes; missing if nothing is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound_epochs: Option<u32>,
    /// Path, cut or metric that binds that bound, one entry for each part of the collective.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<BoundClaim>,
    /// `true` if the finish meets that bound.
    pub optimal: bool,
    /// Times that no schedule can beat, whatever its chunks and epochs; missing if none were worked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorClaim>,
}

/// Times that no schedule can beat, whatever its chunks and epochs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FloorClaim {
    /// Floor under the finish of every schedule, also of those in epochs that leave latencies out.
    pub without_latency: FloorProof,
    /// Floor under the replay of every schedule, and under its finish if no latency is left out.
    pub with_latency: FloorProof,
    /// Finish divided by the floor under it, minus one.
    pub gap_to_floor: f64,
}

/// A floor with what proves it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct FloorProof {
    /// The floor, µs.
    pub floor_us: f64,
    /// Reason, in words: `cut into group 1`.
    pub because: String,
    /// Nodes inside the cut, ascending; none for paths and sums over all links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<u32>,
    /// GPU inside the cut whose data is looked at, if not that of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
}

/// Usual size of the smallest piece of a chunk that is sent, bytes; pieces below it cost more than replays count.
pub const MIN_PIECE_BYTES: f64 = 1024.0;

/// Words of proofs of floors that name no nodes.
pub mod floor_words {
    /// Nothing has to move.
    pub const NOTHING: &str = "nothing has to move";
    /// Every delivery takes as many links as its shortest way has.
    pub const HOPS: &str = "hops of all data against all links";
    /// Every delivery takes as much time of links as its cheapest way does.
    pub const TIMES: &str = "time of all data on all links";
    /// Sums need two transfers of every byte for each GPU but one.
    pub const GPUS: &str = "two transfers of all data for each GPU but one";
    /// Sums need two transfers of every byte for each group but one.
    pub const GROUPS: &str = "two transfers of all data for each group but one";
}

/// Finish and floor up to which both count as one.
pub const AT_FLOOR: f64 = 1e-9;

impl FloorClaim {
    /// The floor under the finish of schedules whose epochs leave out latencies up to a share of an epoch.
    pub fn under_finish(&self, alpha_threshold: f64) -> &FloorProof {
        if alpha_threshold == 0.0 { &self.with_latency } else { &self.without_latency }
    }

    /// Both floors, with the gap of a finish.
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

/// The schedules that a floor covers, in words.
pub fn floor_covers(alpha_threshold: f64) -> &'static str {
    if alpha_threshold == 0.0 {
        "schedules of any number of chunks in any epochs that leave no latency out"
    } else {
        "schedules of any number of chunks in any epochs"
    }
}

/// Path, cut or metric that binds the bound of a part of a collective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BoundClaim {
    /// Epochs.
    pub epochs: u32,
    /// Reason, in words: `cut into group 1, 8 chunks, head 10, tail 42`.
    pub because: String,
    /// Nodes inside the cut, ascending; none for paths and sums over all links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<u32>,
}

/// Floors under every schedule of a scenario: without latencies, and with them.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioFloors {
    /// Floor without latencies.
    pub without_latency: FloorProof,
    /// Floor with latencies, at least the other one.
    pub with_latency: FloorProof,
}

/// The schedules that a bound in epochs covers, in words.
pub fn covers(epoch_us: f64, discipline: Discipline, pieces_per_chunk: u32, in_parts: bool) -> String {
    let what = match (discipline, pieces_per_chunk) {
        (Discipline::WholeChunk, 1) => "whole chunks of this size".to_owned(),
        (Discipline::WholeChunk, pieces) => format!("chunks in {pieces} equal pieces"),
        (Discipline::Fluid, _) => "parts of chunks".to_owned(),
    };
    let parts = if in_parts { ", one half after the other" } else { "" };
    format!("schedules of {what} in epochs of {epoch_us} us{parts}")
}

impl Discipline {
    /// Both, with their names in files.
    pub const ALL: [(&'static str, Self); 2] = [("whole_chunk", Self::WholeChunk), ("fluid", Self::Fluid)];
}
