//! Commands for switches from a plan of another kind, if that plan assigns ports to its circuits. The files are the
//! same as if a `crossconnect` scenario were created from that plan, solved and exported.

use super::{entry, formats, port_map, run_sheet};
use crate::Crossconnect;
use crate::files::handover::{SwitchHall, placed};
use crate::model::assignment::Assignment;
use crate::rollout::assemble;
use crate::scenario::{Circuit, CrossconnectScenario, Installed, InstalledOcs, MAX_PORTS, Wiring};
use lightbay_core::checked::Checked;
use lightbay_core::exchange::{CircuitMatrix, DerivedFrom, PlacedCircuit};
use lightbay_core::format::{Artifact, FormatInfo, SubjectOf};
use lightbay_core::kind::{Depth, Kind as _};
use lightbay_core::param::Params;
use lightbay_core::plan::{Objective, Plan, Provenance, Status};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// Returns the formats: all formats for switches, the port map and the run sheet.
pub fn exporters() -> Vec<FormatInfo> {
    let of_switches: Vec<&str> =
        formats().iter().map(|format| format.name).filter(|name| *name != super::csv::NAME).collect();
    let is_one = |format: &FormatInfo| {
        of_switches.contains(&format.name) || [port_map::NAME, run_sheet::NAME].contains(&format.name)
    };
    entry::exporters().into_iter().filter(is_one).collect()
}

/// Returns the files, in one of the formats of [`exporters`], for the change from the installed circuits to the
/// circuits of a plan.
///
/// # Errors
/// Circuits without ports, installed circuits that the switches of the plan cannot hold, and every problem of the
/// format.
pub fn export(
    name: &str,
    matrix: &CircuitMatrix,
    installed: Option<&[PlacedCircuit]>,
    from: DerivedFrom,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    let Some(places) = &matrix.places else {
        let remedy = "create a scenario of kind crossconnect from the plan";
        return Err(Problem::new("to", "the plan does not give the ports of its circuits", remedy).into());
    };
    let hall = SwitchHall {
        ocs_count: places.ports_a.first().map_or(0, Vec::len) as u32,
        wiring: if places.single_sided { Wiring::SingleSided } else { Wiring::TwoSided },
    };
    let mut body = placed(matrix, places, hall)?.scenario;
    body.installed = on_switches(&body, installed.unwrap_or_default());
    if places.before.is_some() {
        // The circuits of a layer replace those of the previous layer within an iteration, in one batch.
        body.rollout.max_dark_per_pod = MAX_PORTS;
    }
    body.derived_from = Some(from);
    body.validate()?;
    let plan = checked(Scenario::new(name.to_owned(), body))?;
    entry::export(SubjectOf::Plan(&Arc::new(plan)), format, params)
}

fn on_switches(body: &CrossconnectScenario, circuits: &[PlacedCircuit]) -> Installed {
    let of = |ocs_id: u32| {
        let here = circuits.iter().filter(|circuit| circuit.switch == ocs_id);
        let mut cross_connects: Vec<Circuit> = here
            .map(|circuit| Circuit {
                pod_a: circuit.pod_a,
                port_a_index: circuit.port_a,
                pod_b: circuit.pod_b,
                port_b_index: circuit.port_b,
            })
            .collect();
        cross_connects.sort_unstable();
        InstalledOcs { ocs_id, cross_connects }
    };
    Installed { ocs: (0..body.ocs_count).map(of).collect() }
}

/// Returns the only plan of a scenario whose circuits are given port by port, checked like any other plan.
fn checked(scenario: Scenario<Crossconnect>) -> Result<Checked<Crossconnect>, Problems> {
    let made = assemble::candidate(&scenario.body, &Assignment::default());
    let sha = scenario.sha256().map_err(|error| Problem::new("", error.to_string(), "correct the plan"))?;
    let plan = Plan {
        name: scenario.name.clone(),
        scenario: Arc::new(scenario),
        method: Crossconnect::DEFAULT_METHOD.to_owned(),
        parameters: Params::default(),
        seed: 1,
        threads: 1,
        status: Status::Heuristic,
        limit: None,
        objective: Objective::of::<Crossconnect>(made.value, None),
        metrics: made.metrics,
        provenance: Provenance { scenario_sha256: sha, reproducible: true, ..Provenance::default() },
        derived_from: None,
        notes: None,
        result: made.result,
    };
    Checked::verify(plan, Depth::Usual).map_err(|rejected| {
        let mut problems = Problems::new();
        for violation in rejected.violations {
            problems.add(
                "",
                format!("the change is invalid: {violation}"),
                "create a scenario of kind crossconnect from the plan",
            );
        }
        problems
    })
}
