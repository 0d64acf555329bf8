//! Creates scenarios from plans that set circuits, and lists the parameters for this.

use super::{SwitchHall, install, placed, return_to, scenario};
use crate::Crossconnect;
use crate::plan::{Changes, CrossconnectResult};
use crate::scenario::{MAX_OCS, Wiring};
use lightbay_core::checked::{SharedPlan, downcast};
use lightbay_core::exchange::{CircuitMatrix, CircuitPlaces, DerivedFrom, Switching};
use lightbay_core::format::enumerated;
use lightbay_core::json;
use lightbay_core::kind::Kind as _;
use lightbay_core::listed::{Conversion, ConvertedScenario, Sources};
use lightbay_core::param::{ParamInfo, ParamValue};
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::scenario::Scenario;

/// Name of the parameter for the plan whose circuits are the target.
const FROM: &str = "from";
/// Name of the parameter for the plan whose circuits are installed.
const INSTALLED_FROM: &str = "installed_from";
/// Parameter that names the plan whose ports the target circuits get.
const RETURNS_TO: &str = "returns_to";
/// Parameter that keeps the target circuits at the switch and ports that they have in the plan.
const KEEP_PORTS: &str = "keep_ports";
/// Name of the parameter for the layer whose circuits become the target.
const LAYER: &str = "from_layer";
/// Name of the parameter for the change within an iteration whose circuits become the target.
const PHASE: &str = "phase";
/// Name of the parameter for the number of switches.
const OCS_COUNT: &str = "ocs_count";
/// Name of the scenario parameter for the pairs of ports that a switch may connect.
const WIRING: &str = "wiring";

/// Largest layer number.
const MOST_LAYERS: i64 = 1 << 20;

/// Returns the parameters of this conversion.
pub(crate) fn conversion() -> Conversion {
    Conversion {
        plans: vec![
            ParamInfo::text(
                FROM,
                "Plan whose circuits become the target: for a training job, the circuits of all replicas.",
            ),
            ParamInfo::text(
                INSTALLED_FROM,
                "Plan of kind crossconnect that has been implemented; its kept and added circuits count as \
                 installed.",
            ),
            ParamInfo::text(
                RETURNS_TO,
                "Plan of kind crossconnect with the same target; every circuit gets the switch and ports that it has \
                 there. For the last change of an iteration, give the plan of the initial circuits, so that every \
                 initial circuit returns to its ports and the next iteration can start.",
            ),
        ],
        own: vec![
            ParamInfo::int(
                OCS_COUNT,
                1,
                MAX_OCS as i64,
                1,
                "Number of switches; the ports of every pod are spread evenly over them. Default: the number \
                 in 'installed_from', or the largest number up to 16 with equal numbers of A and B ports on \
                 every switch (twice the number divides the ports of every pod), or else half of the fewest \
                 ports of a pod.",
            )
            .derived(),
            ParamInfo::int(
                LAYER,
                0,
                MOST_LAYERS,
                0,
                "For a plan with new circuits per layer, such as the plan of a region: the layer whose \
                 circuits become the target. Default: the layer whose all-to-all takes longest.",
            )
            .derived(),
            ParamInfo::int(
                PHASE,
                1,
                MOST_LAYERS,
                1,
                "For a plan whose circuits change within an iteration (required for such a plan): number of \
                 the reconfiguration, from 1, whose circuits become the target.",
            )
            .derived(),
            ParamInfo::bool(
                KEEP_PORTS,
                false,
                "If true, every circuit keeps the switch and ports of the plan; if false, switches and \
                 ports are chosen again. Default: true where every port is wired to one switch, as in a TPU \
                 pod.",
            )
            .derived(),
        ],
        early: Crossconnect::knobs(None).into_iter().filter(|knob| knob.name == WIRING).collect(),
    }
}

/// Names the assumed switches: the values of the hall that are not set.
fn assumed(hall: SwitchHall, sources: &Sources<'_>) -> Option<String> {
    let wiring =
        Wiring::ALL.iter().find(|(_, wiring)| *wiring == hall.wiring).map(|(word, _)| (*word).to_owned());
    let values = [(OCS_COUNT, Some(hall.ocs_count.to_string())), (WIRING, wiring)];
    let values = values.into_iter().filter(|(name, _)| sources.value(name).is_none());
    let words: Vec<String> = values.filter_map(|(name, value)| Some(format!("{name}={}", value?))).collect();
    (!words.is_empty()).then(|| format!("assumed: {}", words.join(" ")))
}

/// Creates a scenario whose target is the circuits of one plan; the circuits of another plan can be the installed ones.
///
/// # Errors
/// Everything that does not fit.
pub(crate) fn convert(sources: Sources<'_>) -> Result<ConvertedScenario<Crossconnect>, Problems> {
    let Some(from) = sources.plan(FROM) else {
        let problem = Problem::new(
            FROM,
            "is missing",
            "give the plan whose circuits become the target, such as the plan of a training job: --set \
             from=PLAN",
        );
        return Err(problem.into());
    };
    let header = from.header();
    let (laid, switching) = match (sources.value(LAYER), sources.value(PHASE)) {
        (Some(_), Some(_)) => {
            return Err(
                Problem::new(PHASE, format!("has no effect with {LAYER}"), "leave one of them out").into()
            );
        }
        (Some(ParamValue::Int(layer)), _) => (Some(of_layer(from, *layer as u32)?), None),
        (_, Some(ParamValue::Int(phase))) => {
            let (matrix, switching) = of_phase(from, *phase as u32)?;
            (Some(matrix), Some(switching))
        }
        _ if from.circuits_of_phase(1).is_some() => {
            let problem = Problem::new(
                PHASE,
                "is missing: the circuits of the plan change within the iteration",
                "give the number of a reconfiguration, from 1; `lightbay show PLAN --section switchings` \
                 lists the reconfigurations",
            );
            return Err(problem.into());
        }
        _ => (from.circuits(), None),
    };
    let matrix = laid.ok_or_else(|| {
        Problem::new(
            FROM,
            format!(
                "is a plan of kind {}, which does not state the circuits between all pods of the job",
                header.kind
            ),
            "give a plan that sets circuits, such as the plan of a training job (not for an instance with \
             mirrors)",
        )
    })?;
    let on_switches = |name: &'static str| match sources.plan(name) {
        None => Ok(None),
        Some(plan) => downcast::<Crossconnect>(plan).map(Some).ok_or_else(|| {
            Problem::new(
                name,
                format!("is a plan of kind {}", plan.header().kind),
                format!(
                    "give a plan of kind {}, which lists the circuits on the switches",
                    Crossconnect::NAME
                ),
            )
        }),
    };
    let (installed, first) = (on_switches(INSTALLED_FROM)?, on_switches(RETURNS_TO)?);
    let (installed, first) =
        (installed.as_ref().map(|plan| plan.plan()), first.as_ref().map(|plan| plan.plan()));
    let asked = match sources.value(KEEP_PORTS) {
        Some(ParamValue::Bool(keep)) => Some(*keep),
        _ => None,
    };
    let kept = places(&matrix, asked)?;
    let mut hall = installed
        .or(first)
        .map_or_else(|| SwitchHall::suited(&matrix), |plan| SwitchHall::of(&plan.scenario.body));
    if let (Some(kept), None) = (kept, installed) {
        hall.ocs_count = kept.ports_a.first().map_or(0, Vec::len) as u32;
        if kept.single_sided {
            hall.wiring = Wiring::SingleSided;
        }
    }
    if let Some(ParamValue::Int(count)) = sources.value(OCS_COUNT) {
        hall.ocs_count = *count as u32;
    }
    if let Some(word) = sources.value(WIRING).map(ToString::to_string) {
        let known = Wiring::ALL.iter().find(|(known, _)| *known == word);
        hall.wiring = known.map_or(hall.wiring, |(_, wiring)| *wiring);
    }
    let mut handed = match kept {
        Some(kept) => placed(&matrix, kept, hall)?,
        None => scenario(&matrix, hall)?,
    };
    if kept.is_none() && installed.is_none() && first.is_none() {
        handed.notes.extend(assumed(hall, &sources));
    }
    handed.notes.extend(left_out(&matrix, kept.is_some()));
    if let Some(plan) = installed {
        handed = install(handed, &plan.scenario.body, changes_of(INSTALLED_FROM, &plan.result)?)?;
    }
    if let Some(plan) = first {
        handed = return_to(handed, &plan.scenario.body, changes_of(RETURNS_TO, &plan.result)?)?;
    }
    let mut body = handed.scenario;
    body.predicted_makespan_s = (header.objective.name == "makespan_s").then_some(header.objective.value);
    body.switching = switching;
    body.derived_from = Some(DerivedFrom {
        kind: header.kind,
        scenario_sha256: from.scenario_sha256().to_owned(),
        plan_sha256: json::sha256_hex(&from.to_json().map_err(|error| Problem::from(error).under(FROM))?),
    });
    Ok(ConvertedScenario { scenario: Scenario::new(header.name, body), notes: handed.notes })
}

/// Returns the changes of the plan that the parameter `name` gives.
fn changes_of<'a>(name: &str, result: &'a CrossconnectResult) -> Result<&'a Changes, Problem> {
    result.changes().ok_or_else(|| {
        Problem::new(name, "is an order of phases and sets no switch", "give a plan of another method")
    })
}

/// Returns the circuits of one layer of a plan.
fn of_layer(from: &SharedPlan, layer: u32) -> Result<CircuitMatrix, Problem> {
    from.circuits_of_layer(layer).ok_or_else(|| {
        let message = match from.circuits_of_layer(0) {
            Some(_) => format!("is {layer}, but the plan has no such layer"),
            None => format!("is given, but plans of kind {} have no circuits by layer", from.header().kind),
        };
        Problem::new(
            LAYER,
            message,
            "leave it out, or give a plan of a region and the number of one of its layers, from 0",
        )
    })
}

/// Returns the circuits that a plan sets at a change within an iteration, and the time of the change.
fn of_phase(from: &SharedPlan, phase: u32) -> Result<(CircuitMatrix, Switching), Problem> {
    from.circuits_of_phase(phase).ok_or_else(|| {
        let last = (1..=1_u32 << 20).take_while(|phase| from.circuits_of_phase(*phase).is_some()).count();
        match last {
            0 => Problem::new(
                PHASE,
                "is given, but the circuits of the plan stay for whole iterations",
                "leave it out, or give a plan of the method `delta-phases`",
            ),
            _ => Problem::new(
                PHASE,
                format!("is {phase}, but the plan has no reconfiguration with this number"),
                format!("give a number from 1 to {last}"),
            ),
        }
    })
}

/// Returns the switches and ports that the circuits keep; `None` if methods choose switches and ports again.
fn places(matrix: &CircuitMatrix, asked: Option<bool>) -> Result<Option<&CircuitPlaces>, Problem> {
    match (&matrix.places, asked) {
        (None, Some(true)) => Err(Problem::new(
            KEEP_PORTS,
            "is true, but the plan names only the pods of each circuit, not its switch and ports",
            "leave it out, or give a plan of a TPU pod or of two-sided switches",
        )),
        (Some(places), asked) if asked.unwrap_or(places.fixed) => Ok(Some(places)),
        _ => Ok(None),
    }
}

/// Returns the parts of the plan that the scenario omits, one sentence each.
fn left_out(matrix: &CircuitMatrix, kept: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Some(places), false) = (&matrix.places, kept) {
        let inside = places.circuits.iter().filter(|circuit| circuit.pod_a == circuit.pod_b).count() as u64;
        let loops = if inside == 0 {
            String::new()
        } else {
            format!(" (left out: {} from a pod to itself)", counted(inside, "circuit", "circuits"))
        };
        notes.push(format!(
            "the switches and ports of the {} in the plan are not kept{loops}: methods choose new ones; \
             {KEEP_PORTS}=true keeps the switches and ports of the plan",
            counted(places.circuits.len() as u64, "circuit", "circuits")
        ));
    }
    notes.extend(enumerated("dropped from the plan", &matrix.left_out));
    notes
}
