//! The result: which link starts which piece in which epoch, and what is claimed of it.

mod read;

use crate::scenario::SwitchHop;
use schemars::JsonSchema;
use serde::Serialize;

/// Fields of `result` in a plan of kind `collective`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CollectiveResult {
    /// Epochs and abilities of switches that the sends are made for.
    pub time: PlanTime,
    /// Parts of chunks, in order of id.
    pub pieces: Vec<ChunkPiece>,
    /// Starts of pieces on links, by epoch, from, to and piece.
    pub sends: Vec<PieceSend>,
    /// Figures of the plan, and the bound that it was made with.
    pub claims: ScheduleClaims,
}

/// Amounts that links carry: whole chunks, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// One piece for every chunk; a slow link is occupied for several epochs.
    WholeChunk,
    /// Any pieces; a link carries what it can in every epoch.
    Fluid,
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
    /// `true` if one arrival leaves switches over several links.
    pub switch_copy: bool,
    /// Way in which switches pass data on.
    pub switch_hop: SwitchHop,
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
    /// Time of the last delivery if every send starts as soon as its data is there and its link is free, µs.
    pub replay_us: f64,
    /// Epochs that every schedule of this discipline in epochs of this length takes; missing if nothing is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound_epochs: Option<u32>,
    /// Path, cut or metric that binds that bound, one entry for each part of the collective.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<BoundClaim>,
    /// `true` if the finish meets that bound.
    pub optimal: bool,
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

/// The schedules that a bound in epochs covers, in words.
pub fn covers(epoch_us: f64, discipline: Discipline, in_parts: bool) -> String {
    let what = match discipline {
        Discipline::WholeChunk => "whole chunks of this size",
        Discipline::Fluid => "parts of chunks",
    };
    let parts = if in_parts { ", one half after the other" } else { "" };
    format!("schedules of {what} in epochs of {epoch_us} us{parts}")
}

impl Discipline {
    /// Both, with their names in files.
    pub const ALL: [(&'static str, Self); 2] = [("whole_chunk", Self::WholeChunk), ("fluid", Self::Fluid)];
}
