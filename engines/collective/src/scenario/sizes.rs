//! Buffer sizes: the same scenario with another size, and lists of sizes.

use super::{CollectiveScenario, EpochRule};
use lightbay_core::param::ParamInfo;
use lightbay_core::problem::Problems;

/// Maximum number of sizes of a scenario.
pub const MAX_SIZES: usize = 64;
/// Largest size, bytes.
const LARGEST: f64 = 1e15;

impl CollectiveScenario {
    /// Returns the scenario with another buffer size, and without a list of sizes.
    #[must_use]
    pub fn sized(&self, bytes: f64) -> Self {
        let mut scenario = self.clone();
        (scenario.demand.output_buffer_bytes, scenario.demand.chunk_bytes) = (Some(bytes), None);
        scenario.demand.sizes_bytes = Vec::new();
        scenario
    }

    /// Adds the problems of the list of sizes to `problems`.
    pub(super) fn validate_sizes(&self, problems: &mut Problems) {
        let sizes = &self.demand.sizes_bytes;
        if sizes.is_empty() {
            return;
        }
        let path = "demand.sizes_bytes";
        if sizes.len() > MAX_SIZES {
            problems.add(path, format!("has {} entries", sizes.len()), format!("list at most {MAX_SIZES}"));
        }
        let mut before = 0;
        for (index, &bytes) in sizes.iter().enumerate() {
            let path = format!("{path}[{index}]");
            if bytes == 0 || bytes as f64 > LARGEST {
                problems.add(path, format!("is {bytes}"), format!("use 1 to {LARGEST:e} bytes"));
            } else if bytes <= before {
                let remedy = "list every size once, the smallest first";
                problems.add(path, format!("is {bytes}, but comes after {before}"), remedy);
            }
            before = bytes;
        }
        let leave = "omit one of the two: schedules of sizes are replayed without a buffer limit";
        if self.buffer_limit_chunks.is_some() {
            problems.add(path, "cannot be combined with 'buffer_limit_chunks'", leave);
        }
        if self.topology.links.iter().any(|link| !link.up_us.is_empty()) {
            problems.add(path, "cannot be combined with links that have 'up_us'", leave);
        }
        if self.time.epoch == EpochRule::Fixed {
            let remedy = "set epoch to fastest_link or slowest_link, whose epochs depend on the size";
            problems.add(path, "cannot be combined with epochs of fixed length", remedy);
        }
    }
}

/// Parses sizes: `none`, a list such as `1000,64000,1MB`, or a range such as `1e3..1e9`, in which each size is twice
/// the one before and at most the end of the range. `None` for any other text.
pub(super) fn parse(text: &str) -> Option<Vec<u64>> {
    // Reads units as the parameters of sizes do.
    let one = ParamInfo::float("size", 1.0, LARGEST, 1.0, "Size.").unit("bytes");
    let number = |text: &str| {
        let bytes = one.parse(text).ok()?.as_f64()?;
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
        assert_eq!(parse("1KB, 64KiB,1e6"), Some(vec![1000, 65_536, 1_000_000]));
        assert_eq!(parse("1KB..8KB"), parse("1e3..8e3"));
        assert_eq!(parse("1e3..8e3"), Some(vec![1000, 2000, 4000, 8000]));
        assert_eq!(parse("1e3..9e3"), Some(vec![1000, 2000, 4000, 8000]));
        for wrong in ["", "1.5", "0", "-1", "8e3..1e3", "1e3..", "a,b", "1e30"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
