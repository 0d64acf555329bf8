//! Names of pods, ports and circuits as panes write them: one set of words everywhere.

use lightbay_engines::crossconnect::plan::Entry;
use lightbay_engines::crossconnect::scenario::{CrossconnectScenario, Wiring};

/// Switches named one by one before the rest is only counted.
const NAMED: usize = 24;

/// `A 3` or, where a pod has several ports there, `A 3.1`.
pub fn port(side: char, pod: u32, index: u32, several: bool) -> String {
    if several { format!("{side} {pod}.{index}") } else { format!("{side} {pod}") }
}

/// Letters of the two ends of a circuit.
pub const fn sides(wiring: Wiring) -> (char, char) {
    match wiring {
        Wiring::SingleSided => ('A', 'A'),
        Wiring::TwoSided | Wiring::CrossWired => ('A', 'B'),
    }
}

/// Whether some pod has more than one port on a side of a switch, so that a pod alone does not name a port.
pub fn several_ports(scenario: &CrossconnectScenario) -> bool {
    scenario.ports_a.iter().chain(&scenario.ports_b).flatten().any(|&ports| ports > 1)
}

/// `remove  A 3 (4) -> B 11 (12)`: an entry with the numbers on the panel.
pub fn entry(entry: &Entry, wiring: Wiring, several: bool) -> String {
    let (a, b) = sides(wiring);
    format!(
        "{:<6}  {} panel {} to {} panel {}",
        entry.action.word(),
        port(a, entry.pod_a, entry.port_a_index, several),
        entry.switch_port_a,
        port(b, entry.pod_b, entry.port_b_index, several),
        entry.switch_port_b,
    )
}

/// `4 6 12`, or `4 6 12 … and 20 more`: switches by number.
pub fn switches(ids: &[u32]) -> String {
    let named: Vec<String> = ids.iter().take(NAMED).map(u32::to_string).collect();
    let rest = ids.len().saturating_sub(NAMED);
    if rest > 0 { format!("{} and {rest} more", named.join(" ")) } else { named.join(" ") }
}

/// `1 circuit`, `4 circuits`.
pub fn circuits(count: u64) -> String {
    if count == 1 { "1 circuit".to_owned() } else { format!("{count} circuits") }
}

/// Seconds of a run's clock as bars carry them: `0.06 s`, `1.4 s`, `95 s`.
pub fn seconds(value_s: f64) -> String {
    let decimals = match value_s {
        value_s if value_s < 0.1 => 2,
        value_s if value_s < 10.0 => 1,
        _ => 0,
    };
    format!("{value_s:.decimals$} s")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_engines::crossconnect::plan::Action;

    #[test]
    fn ports_carry_their_number_only_where_a_pod_has_several() {
        let listed = Entry {
            action: Action::Remove,
            pod_a: 3,
            port_a_index: 1,
            switch_port_a: 8,
            pod_b: 11,
            port_b_index: 0,
            switch_port_b: 23,
        };
        assert_eq!(entry(&listed, Wiring::TwoSided, true), "remove  A 3.1 panel 8 to B 11.0 panel 23");
        assert_eq!(entry(&listed, Wiring::SingleSided, false), "remove  A 3 panel 8 to A 11 panel 23");
    }

    #[test]
    fn many_switches_are_counted() {
        assert_eq!(switches(&[4, 6, 12]), "4 6 12");
        let all: Vec<u32> = (0..30).collect();
        assert!(switches(&all).ends_with("23 and 6 more"));
        assert_eq!((circuits(1), circuits(0)), ("1 circuit".to_owned(), "0 circuits".to_owned()));
        assert_eq!([0.06, 1.44, 95.2].map(seconds), ["0.06 s", "1.4 s", "95 s"]);
    }
}
