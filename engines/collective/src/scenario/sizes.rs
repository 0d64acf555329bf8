//! Sizes of the buffer: the same scenario with another one, and lists of them.

use super::{CollectiveScenario, EpochRule};
use lightbay_core::problem::Problems;

/// Maximum number of sizes of a scenario.
pub const MAX_SIZES: usize = 64;
/// Largest size, bytes.
const LARGEST: f64 = 1e15;

impl CollectiveScenario {
    /// The scenario with another size of the buffer, and without a list of sizes.
    #[must_use]
    pub fn sized(&self, bytes: f64) -> Self {
        let mut scenario = self.clone();
        (scenario.demand.output_buffer_bytes, scenario.demand.chunk_bytes) = (Some(bytes), None);
        scenario.demand.sizes_bytes = Vec::new();
        scenario
    }

    /// Adds what is wrong with the list of sizes.
    pub(super) fn validate_sizes(&self, problems: &mut Problems) {
        let sizes = &self.demand.sizes_bytes;
        if sizes.is_empty() {
            return;
        }
        let path = "demand.sizes_bytes";
        if sizes.len() > MAX_SIZES {
            problems.add(path, format!("has {} entries", sizes.len()), format!("give at most {MAX_SIZES}"));
        }
        let mut before = 0;
        for (index, &bytes) in sizes.iter().enumerate() {
            let path = format!("{path}[{index}]");
            if bytes == 0 || bytes as f64 > LARGEST {
                problems.add(path, format!("is {bytes}"), format!("give 1 to {LARGEST:e} bytes"));
            } else if bytes <= before {
                let remedy = "list every size once, the smallest first";
                problems.add(path, format!("is {bytes}, after {before}"), remedy);
            }
            before = bytes;
        }
        let leave = "leave one of the two out: schedules of sizes are replayed without it";
        if self.buffer_limit_chunks.is_some() {
            problems.add(path, "cannot be combined with 'buffer_limit_chunks'", leave);
        }
        if self.topology.links.iter().any(|link| !link.up_us.is_empty()) {
            problems.add(path, "cannot be combined with links that have 'up_us'", leave);
        }
        if self.time.epoch == EpochRule::Fixed {
            let remedy = "set epoch to fastest_link or slowest_link, which follow the size";
            problems.add(path, "cannot be combined with an epoch of fixed length", remedy);
        }
    }
}

/// Sizes from text: `none`, a list such as `1000,64000,1e6`, or a range such as `1e3..1e9`, each twice the one before.
pub(super) fn parse(text: &str) -> Option<Vec<u64>> {
    let number = |text: &str| {
        let bytes: f64 = text.trim().parse().ok()?;
        ((1.0..=LARGEST).contains(&bytes) && bytes.fract() == 0.0).then_some(bytes as u64)
    };
    if text.trim() == "none" {
        return Some(Vec::new());
    }
    let Some((first, last)) = text.split_once("..") else {
        return text.split(',').map(number).collect();
    };
    let (first, last) = (number(first)?, number(last)?);
    let sizes: Vec<u64> = std::iter::successors(Some(first), |bytes| bytes.checked_mul(2))
        .take_while(|bytes| *bytes <= last)
        .collect();
    (!sizes.is_empty()).then_some(sizes)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_are_listed_or_doubled() {
        assert_eq!(parse("none"), Some(vec![]));
        assert_eq!(parse("1000, 64000,1e6"), Some(vec![1000, 64_000, 1_000_000]));
        assert_eq!(parse("1e3..8e3"), Some(vec![1000, 2000, 4000, 8000]));
        assert_eq!(parse("1e3..9e3"), Some(vec![1000, 2000, 4000, 8000]));
        for wrong in ["", "1.5", "0", "-1", "8e3..1e3", "1e3..", "a,b", "1e30"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
