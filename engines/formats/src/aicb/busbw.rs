//! Bus-bandwidth tables: groups TP, DP, EP and PP with a value in GB/s per collective; `null` means not measured.
//!
//! These tables look like YAML but are not: the first line is only a title, and keys end in `,:`.

use std::io::BufRead;

use lightbay_core::problem::{Problems, suggestion};

use super::collective::{AicbCollective, CollectiveKind, Group};
use crate::gz::Limits;
use crate::lines::Lines;
use crate::number;

/// Bus bandwidths in bytes/s, if given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BusBandwidth {
    /// The line before the first group; may be empty.
    pub title: String,
    tp: BusBandwidthRow,
    dp: BusBandwidthRow,
    ep: BusBandwidthRow,
    /// Bus bandwidth of point-to-point transfers between pipeline stages, bytes/s.
    pub pp_bytes_per_s: Option<f64>,
}

/// Bus bandwidths of all-reduce, all-gather, reduce-scatter and all-to-all in one group, bytes/s, if measured.
type BusBandwidthRow = [Option<f64>; 4];

const KEYS: [&str; 4] = ["allreduce", "allgather", "reducescatter", "alltoall"];
const GROUPS: [&str; 4] = ["TP", "DP", "EP", "PP"];
/// Maximum bandwidth, GB/s: no link is faster than 1000 TB/s.
const MAX_GBYTES: f64 = 1e6;

impl BusBandwidth {
    /// Returns the bus bandwidth of a collective in a group, bytes/s. `DpEp` uses the DP row.
    pub fn bytes_per_s(&self, group: Group, kind: CollectiveKind) -> Option<f64> {
        let row = match group {
            Group::Tp => &self.tp,
            Group::Ep => &self.ep,
            Group::Dp | Group::DpEp => &self.dp,
        };
        match kind {
            CollectiveKind::AllReduce => row[0],
            // A broadcast or a reduce moves as much data as one all-gather or reduce-scatter.
            CollectiveKind::AllGather | CollectiveKind::Broadcast => row[1],
            CollectiveKind::ReduceScatter | CollectiveKind::Reduce => row[2],
            CollectiveKind::AllToAll => row[3],
            CollectiveKind::AllReduceAllToAll => Some(row[0]?.min(row[3]?)),
        }
    }

    /// Returns the number of values in the table.
    pub fn len(&self) -> usize {
        let rows = [&self.tp, &self.dp, &self.ep];
        rows.into_iter().flatten().chain([&self.pp_bytes_per_s]).filter(|value| value.is_some()).count()
    }

    /// Returns `true` if the table has no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the time of all calls of `collective`, seconds; `None` if the table has no value for it.
    pub fn seconds(&self, collective: &AicbCollective) -> Option<f64> {
        let bandwidth = self.bytes_per_s(collective.group, collective.kind)?;
        Some(collective.seconds_on_bus(bandwidth))
    }
}

/// Reads a plain (unpacked) table.
///
/// # Errors
/// Every problem with line, key, value and remedy.
pub fn read(reader: impl BufRead, limits: &Limits) -> Result<BusBandwidth, Problems> {
    let mut problems = Problems::new();
    let mut reading = BusBandwidthReading::default();
    let mut lines = Lines::new(reader, limits);
    loop {
        match lines.next_line() {
            Ok(Some((number, text))) => reading.line(number, text.trim(), &mut problems),
            Ok(None) => break,
            Err(problem) => {
                problems.push(problem);
                break;
            }
        }
    }
    if problems.is_empty() && reading.values == 0 {
        problems.add("", "the table has no bandwidth", "write lines such as 'allreduce,: 300' under 'TP:'");
    }
    problems.into_result(reading.table)
}

#[derive(Default)]
struct BusBandwidthReading {
    table: BusBandwidth,
    group: Option<String>,
    seen: Vec<(String, String)>,
    values: usize,
}

impl BusBandwidthReading {
    fn line(&mut self, number: usize, text: &str, problems: &mut Problems) {
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        let place = format!("line {number}");
        let Some((key, value)) = text.split_once(':') else {
            if self.group.is_none() && self.table.title.is_empty() {
                self.table.title = text.chars().take(200).collect();
            } else {
                let shown: String = text.chars().take(40).collect();
                problems.add(place, format!("'{shown}' has no colon"), "write 'allreduce,: 300'");
            }
            return;
        };
        let key = key.trim().trim_end_matches(',').trim();
        let value = value.trim();
        if value.is_empty() && !KEYS.contains(&key) && key != "busbw" {
            if GROUPS.contains(&key) {
                self.group = Some(key.to_owned());
            } else {
                problems.add(place, format!("'{key}' is not a group"), suggestion(key, &GROUPS));
            }
            return;
        }
        let Some(group) = self.group.clone() else {
            problems.add(place, format!("'{key}' is before the first group"), "write 'TP:' above this line");
            return;
        };
        let slot = if group == "PP" {
            (key == "busbw").then_some(&mut self.table.pp_bytes_per_s)
        } else {
            let row = match group.as_str() {
                "TP" => &mut self.table.tp,
                "DP" => &mut self.table.dp,
                _ => &mut self.table.ep,
            };
            KEYS.iter().position(|known| *known == key).map(|index| &mut row[index])
        };
        let Some(slot) = slot else {
            let known: &[&str] = if group == "PP" { &["busbw"] } else { &KEYS };
            problems.add(place, format!("'{key}' is not a key of {group}"), suggestion(key, known));
            return;
        };
        let id = (group.clone(), key.to_owned());
        if self.seen.contains(&id) {
            problems.add(place, format!("'{key}' of {group} is given twice"), "keep only one of the entries");
            return;
        }
        self.seen.push(id);
        if matches!(value, "null" | "~" | "None") {
            return;
        }
        match number::duration(value, MAX_GBYTES) {
            Ok(gbytes) if gbytes > 0.0 => {
                *slot = Some(gbytes * 1e9);
                self.values += 1;
            }
            Ok(_) => {
                problems.add(
                    format!("{place}, {group} {key}"),
                    "'0' is not a bandwidth, because a collective would never end",
                    "write GB/s, or null if the bandwidth was not measured",
                );
            }
            Err(wrong) => problems.add(
                format!("{place}, {group} {key}"),
                format!("'{value}' {wrong}"),
                "write GB/s, or null if the bandwidth was not measured",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slip_is_named() {
        let text = "title\nallreduce,: 3\nTP:\nallreduce,: 0\nallgater,: 3\nalltoall: -1\nalltoall: 5\nXP:\nword\n\
                    PP:\nallreduce: 3\nbusbw: inf\n";
        let all = read(text.as_bytes(), &Limits::default()).unwrap_err().to_string();
        for part in [
            "line 2: 'allreduce' is before the first group",
            "line 4, TP allreduce: '0' is not a bandwidth, because a collective would never end",
            "line 5: 'allgater' is not a key of TP; did you mean 'allgather'?",
            "line 6, TP alltoall: '-1' is negative",
            "line 7: 'alltoall' of TP is given twice",
            "line 8: 'XP' is not a group",
            "line 9: 'word' has no colon",
            "line 11: 'allreduce' is not a key of PP",
            "line 12, PP busbw: 'inf' is not a finite number",
        ] {
            assert!(all.contains(part), "{part} is not in\n{all}");
        }
        let empty = read(&b"TP:\nallreduce,: null\n"[..], &Limits::default()).unwrap_err();
        assert!(empty.to_string().contains("the table has no bandwidth"));
    }

    #[test]
    fn seconds_follow_the_table() {
        let text = "TP:\nallreduce,: 300\nalltoall: null\nEP:\nalltoall,: 80\n";
        let table = read(text.as_bytes(), &Limits::default()).unwrap();
        let call = AicbCollective {
            kind: CollectiveKind::AllReduce,
            group: Group::Tp,
            ranks: 8,
            bytes: 3_000_000_000,
            calls: 2,
        };
        // 2 x 7/8 x 3 GB at 300 GB/s, twice.
        assert!((table.seconds(&call).unwrap() - 0.035).abs() < 1e-12);
        assert_eq!(table.seconds(&AicbCollective { kind: CollectiveKind::AllToAll, ..call }), None);
        let expert = AicbCollective { kind: CollectiveKind::AllToAll, group: Group::Ep, ..call };
        assert!((table.seconds(&expert).unwrap() - 2.0 * 0.875 * 3.0 / 80.0).abs() < 1e-12);
    }
}
