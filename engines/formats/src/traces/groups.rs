//! The file of groups that accompanies a Chakra trace: `{"5": [0, 2], "6": [1, 3]}`.

use crate::gz::{self, Limits};
use lightbay_core::problem::{Problem, Problems, printable};
use std::collections::BTreeMap;
use std::io::BufRead;

/// Maximum size of the file, bytes.
const MOST_BYTES: u64 = 64 << 20;
/// Largest rank.
const MOST_RANK: u64 = (1 << 24) - 1;

/// Ranks of each group in the order of the file; split sizes and roots of collectives follow this order.
pub type Groups = BTreeMap<String, Vec<u32>>;

/// Reads the file.
///
/// # Errors
/// Every group that is not a list of different ranks.
pub fn read(reader: impl BufRead, limits: &Limits) -> Result<Groups, Problems> {
    const REMEDY: &str = "give an object that has a list of ranks for every group";
    let value = gz::json(reader, limits, MOST_BYTES)?;
    let Some(object) = value.as_object() else {
        return Err(Problem::new("", "is not an object", REMEDY).into());
    };
    let mut problems = Problems::new();
    let mut groups = Groups::new();
    for (name, ranks) in object {
        let rank = |rank: &serde_json::Value| {
            rank.as_u64().filter(|rank| *rank <= MOST_RANK).map(|rank| rank as u32)
        };
        let read: Option<Vec<u32>> = ranks.as_array().and_then(|ranks| ranks.iter().map(rank).collect());
        match read {
            Some(ranks) if are_distinct(&ranks) && !ranks.is_empty() => {
                groups.insert(name.clone(), ranks);
            }
            _ => problems.add(
                format!("group '{}'", printable(name)),
                "is not a list of different ranks",
                REMEDY,
            ),
        }
    }
    problems.into_result(groups)
}

/// Returns `true` if no rank is listed twice.
pub(super) fn are_distinct(ranks: &[u32]) -> bool {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] < pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_keep_their_order() {
        let read = |text: &str| read(text.as_bytes(), &Limits::default());
        let found = read("{\"7\": [2, 3, 0, 1], \"8\": [4]}").unwrap();
        assert_eq!((&*found["7"], &*found["8"]), (&[2, 3, 0, 1][..], &[4][..]));
        assert!(read("{}").unwrap().is_empty());
        for wrong in ["{\"7\": [1, 0, 1]}", "{\"7\": []}", "{\"7\": [-1]}"] {
            let said = read(wrong).unwrap_err().to_string();
            assert!(said.contains("group '7': is not a list of different ranks"), "{said}");
        }
    }
}
