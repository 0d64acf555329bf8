//! Formats by name: formats of scenarios, and formats for controllers of switches and for people.

use super::{File, Subject, changed, formats, picture, port_map, run_sheet, runtime, write};
use crate::Crossconnect;
use crate::files::devices::naming::{naming, ports_of};
use crate::files::devices::{Device, devices};
use crate::scenario::CrossconnectScenario;
use lightbay_core::checked::{AnyChecked as _, Checked};
use lightbay_core::format::{
    Artifact, FormatInfo, INSTANCE, SubjectOf, SubjectSort, enumerated, file_stem, needs_plan,
};
use lightbay_core::param::Params;
use lightbay_core::problem::{Problem, Problems, few};
use lightbay_core::scenario::Scenario;

/// Maximum number of switches that a remark names.
const NAMED: usize = 3;

/// Returns all formats.
pub(crate) fn exporters() -> Vec<FormatInfo> {
    let instance = FormatInfo::new(
        INSTANCE,
        "The scenario with every circuit listed, instead of a random family and its seed.",
        SubjectSort::Either,
        "json",
    );
    let mut all =
        vec![instance.leaving_out(&["the plan", "the random family that the scenario was sampled from"])];
    all.push(
        FormatInfo::new(picture::NAME, picture::HELP, SubjectSort::Plan, "svg")
            .leaving_out(picture::LEAVES_OUT),
    );
    all.push(
        FormatInfo::new(runtime::NAME, runtime::HELP, SubjectSort::Plan, "json")
            .leaving_out(runtime::LEAVES_OUT),
    );
    all.push(
        FormatInfo::new(port_map::NAME, port_map::HELP, SubjectSort::Either, "csv")
            .leaving_out(port_map::LEAVES_OUT)
            .with(port_map::params()),
    );
    all.push(
        FormatInfo::new(run_sheet::NAME, run_sheet::HELP, SubjectSort::Plan, "md")
            .leaving_out(run_sheet::LEAVES_OUT)
            .with(run_sheet::params()),
    );
    all.extend(formats());
    all
}

/// Returns the files that a format writes for a scenario or plan.
pub(crate) fn export(
    subject: SubjectOf<'_, Crossconnect>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    if format == INSTANCE {
        let mut explicit = Scenario::clone(subject.scenario());
        explicit.body.family = None;
        return Ok(vec![Artifact::of_scenario(&explicit, format)?]);
    }
    if format == port_map::NAME {
        let result = match subject {
            SubjectOf::Plan(plan) => Some(&plan.plan().result),
            SubjectOf::Scenario(_) => None,
        };
        let text = port_map::text(&subject.scenario().body, result, params)?;
        return Ok(vec![Artifact::new(format!("{}.port_map.csv", file_stem(subject.name())), text)]);
    }
    let SubjectOf::Plan(plan) = subject else { return Err(needs_plan(format).into()) };
    if format == picture::NAME {
        let plan = plan.plan();
        let text = picture::svg(&plan.name, &plan.scenario.body, changed(&plan.result)?);
        return Ok(vec![Artifact::new(format!("{}.svg", file_stem(&plan.name)), text)]);
    }
    if format == run_sheet::NAME {
        let plan = plan.plan();
        let subject =
            Subject { name: &plan.name, scenario: &plan.scenario.body, result: &plan.result, sha256: None };
        let (text, ending) = run_sheet::text(&subject, params)?;
        return Ok(vec![Artifact::new(format!("{}.run_sheet.{ending}", file_stem(&plan.name)), text)]);
    }
    if format == runtime::NAME {
        let plan = plan.plan();
        let [change, back] = runtime::texts(&plan.name, &plan.scenario.body, changed(&plan.result)?)?;
        let stem = file_stem(&plan.name);
        let back = Artifact::beside(format!("{stem}.runtime{}", runtime::ROLLBACK), back, runtime::ROLLBACK);
        return Ok(vec![
            Artifact::new(format!("{stem}.runtime.json"), change),
            Artifact { undoes: true, ..back },
        ]);
    }
    let artifact = |file: File| Artifact {
        beside: file.beside,
        undoes: file.rollback,
        ..Artifact::new(file.name, file.script.into_text())
    };
    Ok(named(plan, format, params)?.into_iter().map(artifact).collect())
}

/// Returns the remarks that egress numbers depend on the number of listed ports, if they do by default, that ports have
/// labels with other numbers than commands name, and that a port map does not state where a circuit begins.
pub(crate) fn remarks(subject: SubjectOf<'_, Crossconnect>, format: &str) -> Vec<String> {
    let scenario = &subject.scenario().body;
    if format == port_map::NAME {
        let result = match subject {
            SubjectOf::Plan(plan) => Some(&plan.plan().result),
            SubjectOf::Scenario(_) => None,
        };
        return port_map::reversed(scenario, result).into_iter().collect();
    }
    let Some(naming) = ports_of(format).and_then(|ports| naming(&ports, &Params::default()).ok()) else {
        return Vec::new();
    };
    let devices = devices(scenario, &naming.numbers).unwrap_or_default();
    let mut remarks = egress_after_panels(scenario, &devices);
    let mut labelled: Vec<String> = Vec::new();
    for (panel, port) in
        scenario.panels.iter().flat_map(|panel| panel.ports.iter().map(move |port| (panel, port)))
    {
        let label = port.label.as_ref().filter(|_| naming.template.is_bare() && port.pod.is_some());
        if let Some(number) =
            label.and_then(|label| label.parse::<u32>().ok()).filter(|label| *label != port.number)
        {
            labelled.push(format!("{} of {} has the label {number}", port.number, panel.name));
        }
    }
    if !labelled.is_empty() {
        remarks.push(format!(
            "unless ingress_base is set, commands name the ports by their panel numbers, not by their labels: port {}",
            few(&labelled)
        ));
    }
    remarks
}

fn egress_after_panels(scenario: &CrossconnectScenario, devices: &[Device]) -> Vec<String> {
    let starts = devices.iter().filter_map(|device| Some((device, device.egress_after_panel()?)));
    let mut starts: Vec<String> =
        starts.map(|(device, first)| format!("{first} on {}", scenario.ocs_name(device.ocs))).collect();
    if starts.len() > NAMED {
        starts.truncate(NAMED);
        starts.push("so on".to_owned());
    }
    let assumed = "unless egress_base is set, the egress ports follow the highest port that the list of ports names; \
                   set it if a switch has more ports. Egress ports start at";
    enumerated(assumed, &starts).map(|text| text.replacen(": ", " ", 1)).into_iter().collect()
}

/// Returns the files that an export of a plan writes with default parameters.
///
/// # Errors
/// As [`write`].
pub fn preview(plan: &Checked<Crossconnect>, format: &str) -> Result<Vec<File>, Problems> {
    let infos = formats();
    let knobs = infos.iter().find(|info| info.name == format).map_or(&[][..], |info| &info.params);
    named(plan, format, &Params::resolve(knobs, std::iter::empty())?)
}

/// Returns the files of a plan with their full names.
fn named(plan: &Checked<Crossconnect>, format: &str, params: &Params) -> Result<Vec<File>, Problems> {
    let sha256 = plan.content_sha256().map_err(Problem::from)?;
    let plan = plan.plan();
    let subject = Subject {
        name: &plan.name,
        scenario: &plan.scenario.body,
        result: &plan.result,
        sha256: Some(&sha256),
    };
    let stem = file_stem(&plan.name);
    let named = |file: File| File { name: format!("{stem}.{}", file.name), ..file };
    Ok(write(format, &subject, params)?.into_iter().map(named).collect())
}
