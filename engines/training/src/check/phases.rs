//! Check of circuits that change within an iteration: states, ports, and the circuits that carry at each moment.
//!
//! A new circuit is dark for a time; a circuit that stays keeps carrying. So a circuit carries at time t exactly if it
//! was set at every moment from t minus the dark time to t. The iteration repeats, so a moment before its start lies
//! before the end of the previous iteration.

use super::case::Case;
use super::sanity::port_use;
use super::{Claims, Findings, Slack, code};
use crate::plan::{Phases, TrainingResult};
use lightbay_core::checked::Figure;

/// The circuits over one period.
pub(super) struct Course<'a> {
    phases: &'a Phases,
    delay_s: f64,
    period_s: f64,
    /// Moments at which the carrying circuits can change, seconds.
    pub changes_s: Vec<f64>,
}

impl<'a> Course<'a> {
    /// Reads the circuits of a plan; `None`, with violations, if they are not well-formed.
    pub fn of(
        case: &Case<'_>,
        phases: &'a Phases,
        result: &TrainingResult,
        claims: &Claims<'_>,
        found: &mut Findings,
    ) -> Option<Self> {
        let before = found.count();
        let Some(group) = case.net.reconfiguration else {
            found.add(
                code::PHASES,
                "circuits change within the iteration, but the scenario allows no reconfigurations",
            );
            return None;
        };
        let delay_s = group.delay_s;
        if !(delay_s >= 0.0 && delay_s.is_finite()) {
            found.add(
                code::SCENARIO,
                format!("'delay_s' is {delay_s}, but must be a finite number, 0 or more"),
            );
        }
        if !result.topology.is_empty() {
            found.add(code::TOPOLOGY, "'topology' must be empty if 'phases' is given");
        }
        let period_s = claims.makespan_s;
        // A makespan of 0 is reported elsewhere.
        form(case, phases, period_s, found);
        if found.count() == before {
            switchings(phases, group.most_switchings, found);
        }
        if found.count() > before {
            return None;
        }
        let times = phases.events.iter().map(|event| event.time_s);
        let changes_s = times.flat_map(|time_s| [time_s, (time_s + delay_s) % period_s]).collect();
        Some(Self { phases, delay_s, period_s, changes_s })
    }

    /// Circuits of a link that carry at a moment of the iteration: the minimum count during the dark time before this
    /// moment.
    pub fn carried(&self, link: usize, time_s: f64) -> u32 {
        let events = &self.phases.events;
        let count = events.len();
        // Go back from the current state to the first state that began at or before the start of the dark time.
        let mut index = events.partition_point(|event| event.time_s <= time_s);
        let mut periods = 0.0;
        let mut fewest = u32::MAX;
        loop {
            if index == 0 {
                index = count;
                periods += 1.0;
            }
            let event = &events[index - 1];
            fewest = fewest.min(event.circuits[link]);
            let began_s = event.time_s - periods * self.period_s;
            // After one whole period every state has been seen.
            if began_s <= time_s - self.delay_s || periods > 1.0 {
                return fewest;
            }
            index -= 1;
        }
    }
}

/// Checks the times of the events, and the circuits that each event lists.
fn form(case: &Case<'_>, phases: &Phases, period_s: f64, found: &mut Findings) {
    if phases.events.is_empty() {
        found.add(code::PHASES, "'events' is empty, but must list the circuits at least once");
    }
    for (index, event) in phases.events.iter().enumerate() {
        if !(event.time_s >= 0.0 && event.time_s < period_s) {
            let text = format!(
                "events[{index}] is at {} s, but must be at 0 s or later and before {period_s} s",
                event.time_s
            );
            found.add(code::PHASES, text);
        }
        let (has, links) = (event.circuits.len(), case.net.links.len());
        if has != links {
            found.add(
                code::TOPOLOGY,
                format!("events[{index}] lists {has} links, but the scenario has {links}"),
            );
        }
    }
    for (index, pair) in phases.events.windows(2).enumerate() {
        if pair[1].time_s <= pair[0].time_s {
            let text =
                format!("events[{}] is at {} s, not after the previous event", index + 1, pair[1].time_s);
            found.add(code::PHASES, text);
        }
    }
}

/// Checks the number of instants at which circuits are set up, not counting the return to the initial circuits.
fn switchings(phases: &Phases, most: u32, found: &mut Findings) {
    let count = phases.events.len();
    let rises = |index: &usize| {
        let (old, new) = (&phases.events[(index + count - 1) % count], &phases.events[*index]);
        old.circuits.iter().zip(&new.circuits).any(|(old, new)| new > old)
    };
    let set_up = (0..count).filter(rises).count().saturating_sub(1);
    if set_up != phases.switchings as usize {
        let text = format!(
            "'switchings' is {}, but the events contain {set_up} reconfigurations, not counting the return to the first circuits",
            phases.switchings
        );
        found.add(code::PHASES, text);
    }
    if set_up > most as usize {
        found.add(
            code::PHASES,
            format!("{set_up} reconfigurations are more than the {most} that the scenario allows"),
        );
    }
}

/// Checks the port budgets at every moment, and the claimed number of ports.
pub(super) fn ports(
    case: &Case<'_>,
    phases: &Phases,
    result: &TrainingResult,
    figures: &mut Vec<Figure>,
    found: &mut Findings,
) {
    let uses: Vec<Vec<u64>> =
        phases.events.iter().map(|event| port_use(&case.net, &event.circuits)).collect();
    let (mut total, mut available) = (0_u64, 0_u64);
    for (index, pod) in case.net.pods.iter().enumerate().filter(|(_, pod)| !pod.mirror) {
        let peak = uses.iter().map(|used| used[index]).max().unwrap_or(0);
        total = total.saturating_add(peak);
        available += u64::from(pod.ports);
        for (event, used) in phases.events.iter().zip(&uses) {
            if used[index] > u64::from(pod.ports) {
                let label = case.pod_label(index);
                let (used, ports, from_s) = (used[index], pod.ports, event.time_s);
                found.add(
                    code::PORTS,
                    format!("{label} uses {used} ports from {from_s:.9} s on, but has {ports}"),
                );
            }
        }
    }
    if result.ports_used != total {
        found.add(
            code::PORTS_CLAIM,
            format!(
                "'ports_used' is {}, but the largest numbers of ports that the pods use add up to {total}",
                result.ports_used
            ),
        );
    }
    figures.push(Figure::exactly("total_ports", code::PORTS_CLAIM, total as f64));
    if available > 0 {
        figures.push(Figure::exactly("port_ratio", code::PORTS_CLAIM, total as f64 / available as f64));
    }
}

/// Checks that every finish, with the work after it, lies within the period, after which the circuits repeat.
pub(super) fn within_period(end_s: f64, claims: &Claims<'_>, slack: Slack, found: &mut Findings) {
    if end_s > claims.makespan_s + slack.time_s {
        let text =
            format!("the schedule ends at {end_s:.9} s, but the period ends at {:.9} s", claims.makespan_s);
        found.add(code::MAKESPAN, text);
    }
}
