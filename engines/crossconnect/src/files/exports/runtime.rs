//! `runtime`: one change within an iteration for a controller that repeats it in every iteration.

use crate::plan::{Action, Changes, Entry};
use crate::scenario::{CrossconnectScenario, Side, Wiring};
use lightbay_core::exchange::Switching;
use lightbay_core::json;
use lightbay_core::problem::{Problem, Problems, counted};
use serde::Serialize;

/// Name of the format.
pub const NAME: &str = "runtime";
/// Description of the format.
pub const HELP: &str = "One reconfiguration within an iteration, for a controller: its time, the dark time, \
                        and for each switch the cross-connects to delete and then to add; a second file \
                        reverses it.";
/// Parts of a plan that the file omits.
pub const LEAVES_OUT: &[&str] = &["circuits that stay", "the bound of the removals"];
/// Suffix of the file that restores the previous circuits.
pub const ROLLBACK: &str = ".rollback.json";

/// A change within an iteration.
#[derive(Debug, Serialize)]
struct Change<'a> {
    schema: &'static str,
    plan: &'a str,
    phase: u32,
    /// Time of the change within the iteration, s.
    time_s: f64,
    /// Time at which the new circuits start to carry traffic, s; this time may fall into the next iteration.
    carries_at_s: f64,
    delay_s: f64,
    period_s: f64,
    switches: Vec<SwitchChange>,
}

#[derive(Debug, Serialize)]
struct SwitchChange {
    ocs_id: u32,
    delete: Vec<Connect>,
    add: Vec<Connect>,
}

/// A cross-connect; port indices of a pod count from 0, panel numbers from 1 on each side, or as in the port map of the
/// fabric.
#[derive(Debug, Serialize)]
struct Connect {
    pod_a: u32,
    side_a: &'static str,
    port_a: u32,
    panel_a: u32,
    pod_b: u32,
    side_b: &'static str,
    port_b: u32,
    panel_b: u32,
}

impl Connect {
    fn of(entry: &Entry, wiring: Wiring) -> Self {
        let far = if wiring == Wiring::SingleSided { Side::A } else { Side::B };
        Self {
            pod_a: entry.pod_a,
            side_a: Side::A.word(),
            port_a: entry.port_a_index,
            panel_a: entry.switch_port_a,
            pod_b: entry.pod_b,
            side_b: far.word(),
            port_b: entry.port_b_index,
            panel_b: entry.switch_port_b,
        }
    }
}

/// Returns the files of a plan: the change, and its reversal.
///
/// # Errors
/// Circuits that do not change within an iteration, a scenario without the circuits before the change, changes that are
/// not made in one batch, or stray connections.
pub fn texts(
    name: &str,
    scenario: &CrossconnectScenario,
    changes: &Changes,
) -> Result<[Vec<u8>; 2], Problems> {
    let Some(switching) = scenario.switching else {
        let problem = Problem::new(
            "switching",
            "is missing: the circuits of the plan do not change within an iteration",
            "create the scenario from a plan whose circuits change within an iteration: `lightbay new crossconnect --set from=PLAN --set phase=1`",
        );
        return Err(problem.into());
    };
    if scenario.installed.ocs.is_empty() {
        let before = match switching.phase {
            0 | 1 => "the last reconfiguration".to_owned(),
            phase => format!("reconfiguration {}", phase - 1),
        };
        let problem = Problem::new(
            "installed",
            format!(
                "is empty, so the circuits before reconfiguration {} are unknown and none would be deleted",
                switching.phase
            ),
            format!(
                "make the scenario with --set installed_from=PLAN, where PLAN is the plan of {before}, and solve it"
            ),
        );
        return Err(problem.into());
    }
    if changes.batches.len() > 1 {
        let batches = counted(changes.batches.len() as u64, "batch", "batches");
        let problem = Problem::new(
            "batches",
            format!("the changes need {batches}, but a reconfiguration makes all changes at the same time"),
            "solve the scenario without limits on the rollout",
        );
        return Err(problem.into());
    }
    if !scenario.strays.is_empty() {
        let problem = Problem::new(
            "strays",
            "are connections that make no circuit; a reconfiguration repeats in every iteration and cannot \
             delete them",
            "delete them first, and create the scenario again",
        );
        return Err(problem.into());
    }
    let totals = changes.totals;
    let more = totals.removed_circuits.saturating_sub(totals.lower_bound_removed_circuits);
    if more > 0 {
        let circuits = counted(more, "circuit is", "circuits are");
        let remedy = if scenario.is_placed() {
            "solve the scenarios of the changes before it with the method `lumos-exact`, or leave `returns_to` out"
        } else {
            "use the method `lumos-exact`, or another ocs_count"
        };
        let problem = Problem::new(
            "removed_circuits",
            format!(
                "{circuits} moved to other ports and dark during the change, but the iteration uses these \
                 circuits at that time"
            ),
            remedy,
        );
        return Err(problem.into());
    }
    let text = |delete, add| -> Result<Vec<u8>, Problems> {
        json::to_pretty(&change(name, switching, scenario.wiring, changes, [delete, add]))
            .map_err(|error| Problem::from(error).into())
    };
    Ok([text(Action::Remove, Action::Add)?, text(Action::Add, Action::Remove)?])
}

fn change<'a>(
    name: &'a str,
    switching: Switching,
    wiring: Wiring,
    changes: &Changes,
    [delete, add]: [Action; 2],
) -> Change<'a> {
    let switches = changes.ocs.iter().filter_map(|ocs| {
        let of = |action: Action| -> Vec<Connect> {
            let entries = ocs.cross_connects.iter().filter(|entry| entry.action == action);
            entries.map(|entry| Connect::of(entry, wiring)).collect()
        };
        let change = SwitchChange { ocs_id: ocs.ocs_id, delete: of(delete), add: of(add) };
        (!change.delete.is_empty() || !change.add.is_empty()).then_some(change)
    });
    let carries_s = switching.time_s + switching.delay_s;
    Change {
        schema: "lightbay.runtime/1",
        plan: name,
        phase: switching.phase,
        time_s: switching.time_s,
        carries_at_s: if switching.period_s > 0.0 { carries_s % switching.period_s } else { carries_s },
        delay_s: switching.delay_s,
        period_s: switching.period_s,
        switches: switches.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Installed;
    use crate::testing;

    /// Without the circuits before the change, the file would delete nothing.
    #[test]
    fn a_change_from_unknown_circuits_is_refused() {
        let (mut scenario, changes) = testing::example();
        scenario.switching = Some(Switching { phase: 3, time_s: 0.1, period_s: 1.0, delay_s: 0.025 });
        let [change, _] = texts("plan", &scenario, &changes).unwrap();
        let change = String::from_utf8(change).unwrap();
        assert!(change.contains("\"side_a\": \"a\"") && change.contains("\"side_b\": \"b\""), "{change}");
        scenario.installed = Installed::default();
        let error = texts("plan", &scenario, &changes).unwrap_err().to_string();
        assert!(error.contains("installed: is empty, so the circuits before reconfiguration 3"), "{error}");
        assert!(
            error.contains("installed_from=PLAN, where PLAN is the plan of reconfiguration 2"),
            "{error}"
        );
    }
}
