//! Names of the series that running methods report.

/// Lower bounds that certificates prove for the throughput.
pub const MCF_LOWER: &str = "mcf_lower";
/// Upper bounds that certificates prove for the throughput.
pub const MCF_UPPER: &str = "mcf_upper";
/// Upper bounds from the metrics of designs during the search.
pub const METRIC_UPPER: &str = "metric_upper";
/// Hop bounds of designs.
pub const HOP_BOUND: &str = "hop_bound";
/// Throughput of the prismatic torus of the size.
pub const BASELINE_PT: &str = "baseline_pt";
/// Throughput of the doubly twisted torus of the size.
pub const BASELINE_PDTT: &str = "baseline_pdtt";
/// Lower bounds of a relaxation.
pub const RELAXATION_LOWER: &str = "relaxation_lower";
/// Upper bounds of a relaxation.
pub const RELAXATION_UPPER: &str = "relaxation_upper";
/// Highest load of a link after each pass of the routing.
pub const ROUTE_MAX_LOAD: &str = "route_max_load";
/// Highest load of a link for each failed switch, by the number of the switch.
pub const FAULT_LOAD: &str = "fault_load";
/// Delivered rate against the offered rate.
pub const DELIVERED: &str = "delivered";
/// Mean latency against the offered rate.
pub const LATENCY_CYCLES: &str = "latency_cycles";

/// Prefix of the names of the series of two-length bounds: bounds from one length for all electrical links and one for
/// all optical links.
const TWO_LENGTH: &str = "two_length_";

/// Name of the series of bounds from these lengths of electrical and optical links.
pub fn two_length(electrical: u32, optical: u32) -> String {
    format!("{TWO_LENGTH}{electrical}_{optical}")
}

/// Parses the lengths of an electrical and of an optical link from the name of a series of two-length bounds.
pub fn lengths_of(name: &str) -> Option<(u32, u32)> {
    let (electrical, optical) = name.strip_prefix(TWO_LENGTH)?.split_once('_')?;
    Some((electrical.parse().ok()?, optical.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_from_names() {
        assert_eq!(lengths_of(&two_length(1, 3)), Some((1, 3)));
        assert_eq!(lengths_of(HOP_BOUND), None);
        assert_eq!(lengths_of("two_length_1"), None);
    }
}
