//! Parsers for the parts of a line: quoted fields, kinds of call, rank lists.

use super::{CallKind, Peer};
use crate::aicb::collective::CollectiveKind;

/// Maximum number of ranks over all sections.
pub(super) const MAX_RANKS: usize = 1 << 20;

/// Names of kinds of call, as they follow `CommType.` in a file.
pub(super) const KINDS: [&str; 14] = [
    "all_reduce",
    "all_gather",
    "all_gather_into_tensor",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "all_to_all",
    "broadcast",
    "reduce",
    "barrier",
    "isend",
    "irecv",
    "computation",
    "epoch_end",
    "all_to_all_single",
];

/// A problem of a row: column, message and remedy.
pub(super) type Wrong = (&'static str, String, String);

pub(super) fn call_kind(name: &str, additional: Option<&str>) -> Result<CallKind, Wrong> {
    use CollectiveKind::{AllGather, AllReduce, AllToAll, Broadcast, Reduce, ReduceScatter};
    let directed = |wanted: [(&str, Peer); 2]| {
        let names = wanted.map(|(name, _)| name);
        let given = additional.unwrap_or("None");
        wanted.iter().find(|(name, _)| *name == given).map(|(_, peer)| *peer).ok_or_else(|| {
            let remedy = format!("a row '{name}' needs {} or {}", names[0], names[1]);
            ("additional", format!("'{given}' has no direction"), remedy)
        })
    };
    Ok(match name {
        "isend" => CallKind::Send(directed([("send_next", Peer::Next), ("send_prev", Peer::Previous)])?),
        "irecv" => CallKind::Receive(directed([("recv_next", Peer::Next), ("recv_prev", Peer::Previous)])?),
        "barrier" => CallKind::Barrier,
        "computation" => CallKind::Computation,
        "all_gather" | "all_gather_into_tensor" => CallKind::Collective(AllGather),
        "reduce_scatter" | "reduce_scatter_tensor" => CallKind::Collective(ReduceScatter),
        "all_to_all" | "all_to_all_single" => CallKind::Collective(AllToAll),
        "broadcast" => CallKind::Collective(Broadcast),
        "reduce" => CallKind::Collective(Reduce),
        _ => CallKind::Collective(AllReduce),
    })
}

/// Returns the field, unless it is empty or the literal `None`.
pub(super) fn present(field: &str) -> Option<&str> {
    let field = field.trim();
    (!field.is_empty() && field != "None").then_some(field)
}

/// Reads `rank3, rank4` or `rank0 ~ rank127` anywhere in the line; at most `room` ranks.
pub(super) fn parse_ranks(text: &str, room: usize) -> Result<Vec<u32>, String> {
    let mut ranks: Vec<u32> = Vec::new();
    let mut rest = text;
    let mut range_from = None;
    while let Some(at) = rest.find("rank") {
        if range_from.is_none() && rest[..at].contains('~') {
            range_from = ranks.last().copied();
        }
        rest = &rest[at + 4..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let rank: u32 = rest[..digits]
            .parse()
            .map_err(|_| format!("'rank{}' is not a rank", rest.chars().take(12).collect::<String>()))?;
        rest = &rest[digits..];
        // The start of the range is already in the list.
        let (first, listed) = match range_from.take() {
            None => (rank, 0),
            Some(from) if from <= rank => (from, 1),
            Some(_) => return Err(format!("the range up to 'rank{rank}' is descending")),
        };
        if ranks.len() + (rank - first) as usize + 1 - listed > room {
            return Err(format!("lists more than {MAX_RANKS} ranks"));
        }
        ranks.extend((first..=rank).skip(listed));
    }
    if ranks.is_empty() { Err("the stage line contains no rank".to_owned()) } else { Ok(ranks) }
}
