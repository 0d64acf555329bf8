//! Names of ports, switches and circuits, the same in all reports and screens.

use crate::files::exports::port_list::{Called, called as called_on};
use crate::plan::Entry;
use crate::scenario::{CrossconnectScenario, Wiring};

/// Number of ranges of switches that are named before the rest is only counted.
const NAMED: usize = 24;

/// Formats side, pod and index of a port, such as `A 3.1`.
pub fn port(side: char, pod: u32, index: u32) -> String {
    format!("{side} {pod}.{index}")
}

/// Returns the names of the ports of a switch in the commands of a vendor, such as `Polatis A in 1-48 out 97-144, B in
/// 49-96 out 145-192`.
pub fn called(called: &Called) -> String {
    if called.a == called.b && called.a[0].is_some() {
        let one_side = Called { b: [None, None], ..called.clone() };
        return self::called(&one_side).replacen(" A in ", " in ", 1);
    }
    let mut sides = Vec::new();
    for (side, names) in [('A', &called.a), ('B', &called.b)] {
        let mut words = Vec::new();
        for (way, series) in ["in", "out"].into_iter().zip(names) {
            if let Some((first, last)) = series {
                words.push(if first == last {
                    format!("{way} {first}")
                } else {
                    format!("{way} {first}-{last}")
                });
            }
        }
        if !words.is_empty() {
            sides.push(format!("{side} {}", words.join(" ")));
        }
    }
    format!("{} {}", called.vendor, sides.join(", "))
}

/// Returns the meaning of port numbers, and the names of ports in the commands of every vendor, one line each.
pub fn port_legend(scenario: &CrossconnectScenario, ocs: u32) -> Vec<String> {
    let (a, b) = sides(scenario.wiring);
    let ports = if a == b { "the ports of the switch" } else { "the ports on that side of the switch" };
    let mut lines = vec![if let Some(panel) = scenario.panel(ocs) {
        format!(
            "{a} 3.0 is index 0 of pod 3 on side {a}; in brackets its number on the panel of {}.",
            panel.name
        )
    } else {
        format!(
            "{a} 3.0 is index 0 of pod 3 on side {a}; in brackets its number, counted from 1 over {ports}."
        )
    }];
    lines.push(
        "Names of ports in exported commands (the exported .ports.csv file lists every port):".to_owned(),
    );
    let of = called_on(scenario, ocs);
    lines.extend(of.iter().map(|one| format!("  {}", called(one))));
    lines
}

/// Returns the letters of the two ends of a circuit.
pub const fn sides(wiring: Wiring) -> (char, char) {
    match wiring {
        Wiring::SingleSided => ('A', 'A'),
        Wiring::TwoSided | Wiring::CrossWired => ('A', 'B'),
    }
}

/// Formats an entry with the numbers on the switch and the names of the pods, such as `remove  A 3.0 (4) r0p3 to B 11.0
/// (12) r0p11`.
pub fn entry(scenario: &CrossconnectScenario, entry: &Entry) -> String {
    let (a, b) = sides(scenario.wiring);
    format!(
        "{:<6}  {} ({}) {} to {} ({}) {}",
        entry.action.word(),
        port(a, entry.pod_a, entry.port_a_index),
        entry.switch_port_a,
        scenario.pod_name(entry.pod_a as usize),
        port(b, entry.pod_b, entry.port_b_index),
        entry.switch_port_b,
        scenario.pod_name(entry.pod_b as usize),
    )
}

/// Lists switches by number in ascending order, such as `1-4 6 12`; a long list ends with a count, such as `and 20
/// more`.
pub fn switches(ids: &[u32]) -> String {
    let runs: Vec<&[u32]> = ids.chunk_by(|one, next| one + 1 == *next).collect();
    let name = |run: &&[u32]| match run {
        [first, _, .., last] => format!("{first}-{last}"),
        run => run.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
    };
    let named: Vec<String> = runs.iter().take(NAMED).map(name).collect();
    let rest: usize = runs.iter().skip(NAMED).map(|run| run.len()).sum();
    if rest > 0 { format!("{} and {rest} more", named.join(" ")) } else { named.join(" ") }
}

/// Formats a number of circuits: `1 circuit`, `4 circuits`.
pub fn circuits(count: u64) -> String {
    if count == 1 { "1 circuit".to_owned() } else { format!("{count} circuits") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Action;

    #[test]
    fn ports_carry_side_pod_index_and_their_number_on_the_switch() {
        let listed = Entry {
            action: Action::Remove,
            pod_a: 3,
            port_a_index: 1,
            switch_port_a: 8,
            pod_b: 11,
            port_b_index: 0,
            switch_port_b: 23,
        };
        let mut body = crate::scenario::presets::scenario("crossconnect-example").unwrap();
        assert_eq!(entry(&body, &listed), "remove  A 3.1 (8) pod 3 to B 11.0 (23) pod 11");
        let legend = port_legend(&body, 0).join("\n");
        assert!(legend.contains("Polatis A in 1-4 out 9-12, B in 5-8 out 13-16"), "{legend}");
        body.wiring = Wiring::SingleSided;
        assert_eq!(entry(&body, &listed), "remove  A 3.1 (8) pod 3 to A 11.0 (23) pod 11");
    }

    #[test]
    fn many_switches_are_counted() {
        assert_eq!(switches(&[4, 6, 12]), "4 6 12");
        assert_eq!(switches(&[1, 2, 3, 4, 6, 8, 12, 13]), "1-4 6 8 12 13");
        let even: Vec<u32> = (0..30).map(|half| 2 * half).collect();
        assert!(switches(&even).ends_with("46 and 6 more"));
        assert_eq!((circuits(1), circuits(0)), ("1 circuit".to_owned(), "0 circuits".to_owned()));
    }
}
