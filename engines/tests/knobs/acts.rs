//! Every knob of every form of pods and cross-connects: where it is not refused, a value of it changes the plan, the bound
//! or the work of a run.

use super::idle::{set, values};
use super::runs::{Ran, run, settings};
use lightbay_core::event::EndStatus;
use lightbay_engines::{AnyScenario, Ask, apply, preset};

/// A form of scenario with a method that is over in a moment.
struct Form {
    name: &'static str,
    preset: &'static str,
    method: &'static str,
    given: &'static str,
}

const fn form(name: &'static str, preset: &'static str, method: &'static str, given: &'static str) -> Form {
    Form { name, preset, method, given }
}

const FORMS: &[Form] = &[
    form("pod to design", "tpu-128", "random", "cubes=1"),
    form(
        "simulated pod",
        "tpu-128",
        "random",
        "cubes=1 simulate=true warmup_cycles=200 measure_cycles=200 rate_step=0.1",
    ),
    form("torus", "pt-4x4x8", "pt", ""),
    form("random hall", "crossconnect-8-8-25", "lumos-halving", ""),
    form("hall with a failed switch", "crossconnect-8-8-25", "lumos-halving", "failed_ocs=3"),
    form("hall", "crossconnect-example", "lumos-halving", ""),
    form("hall without sides", "crossconnect-example", "lumos-exact", "wiring=single_sided"),
    form("cross-wired hall", "crossconnect-example", "lumos-halving", "wiring=cross_wired"),
];

/// Values that are tried before others, because they are quick or because few values fit a form.
const FIRST: &[(&str, &[&str])] = &[
    ("cubes", &["2"]),
    ("job_shape", &["4,4,16"]),
    ("failed_ocs", &["1", "3"]),
    ("failed_ports", &["0:0:a0", "1:1:a0"]),
    ("circuits", &["0-1:0", "0-1:1"]),
    ("max_dark_per_pod", &["1", "2"]),
    ("min_pair_share", &["0.5", "0.9"]),
    ("turn_priority", &["random"]),
    ("vc_count", &["1", "3"]),
];

/// What an effect has to show in; none if the method refuses the scenario, which is said.
fn outcome(scenario: &AnyScenario, method: &str) -> Result<String, String> {
    let Ran { done, events } = run(scenario, &Ask::of(method));
    match done.status {
        EndStatus::Invalid => return Err(done.message),
        EndStatus::Failed | EndStatus::Panicked => panic!("{method}: {} {:?}", done.message, done.violations),
        _ => {}
    }
    let (bound, work, message) = (done.bound, done.work, done.message.clone());
    let plan = done.plan.is_some().then(|| Ran { done, events }.plan());
    Ok(format!("{plan:?} {bound:?} {work} {message}"))
}

#[test]
fn every_knob_of_pods_and_halls_changes_what_comes_out_or_is_refused() {
    let mut wrong = Vec::new();
    for Form { name: form, preset: of, method, given } in FORMS {
        let (scenario, _) = apply(&preset(of).unwrap(), method, &settings(given))
            .unwrap_or_else(|problems| panic!("{form}: {problems}"));
        let before = outcome(&scenario, method).unwrap();
        let idle = scenario.idle();
        for info in scenario.every_knob() {
            let name = info.name.as_ref();
            if idle.iter().any(|problem| problem.path == name) {
                continue;
            }
            let first = FIRST.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, texts)| texts);
            let tried = first.iter().map(|text| (*text).to_owned()).chain(values(&scenario, &info));
            let mut said = Vec::new();
            let mut taken = Vec::new();
            let acts = tried.into_iter().any(|text| {
                let after = set(&scenario, method, name, &text).and_then(|changed| outcome(&changed, method));
                match after {
                    Ok(after) if after != before => return true,
                    Ok(_) => taken.push(text),
                    Err(why) => said.push(why),
                }
                false
            });
            // Where every value is refused, each refusal says what to do.
            if !acts && (!taken.is_empty() || said.is_empty() || said.iter().any(|why| !why.contains("; "))) {
                wrong.push(format!("{form}: {name} changes nothing at {taken:?}; refused: {said:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
