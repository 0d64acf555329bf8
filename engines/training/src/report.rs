//! Training jobs and their plans explained as sections.
//!
//! | module | what |
//! |---|---|
//! | [`limited`] | searches that end at a deadline |
//! | [`alternatives`] | the plan compared with circuits that follow from the traffic matrix alone |
//! | [`job`] | sizes, placement, contention and the ideal network |
//! | [`network`] | pods with their ports, links with their circuits |
//! | [`load`] | load of the circuits of every link |
//! | [`task`] | sentences on a task |
//! | [`schedule`] | start, end and mean rate of every task |
//! | [`delays`] | gain of one reconfiguration for switches of each kind |
//! | [`switchings`] | circuits that change within the iteration |
//! | [`frontier`] | minimum number of ports for several iteration times |
//! | [`path`] | causes of the loss of the plan |
//! | [`slack`] | time by which tasks could end later, and links with spare circuits |
//! | [`contention`] | flows on directed links, compared with their circuits |
//! | [`sensitivity`] | gain of one more port, and cost of one circuit fewer |
//! | [`surplus`] | ports that one job could give up without a longer iteration |
//! | [`trials`] | makespans if compute varies, a stage is slow, or circuits and ports fail |
//! | [`differences`] | differences of two plans other than their figures |
//! | [`several`] | several jobs on the same pods |
//! | [`search`] | progress of a run that proves |
//! | [`generations`] | progress of a genetic search |
//! | [`beside`] | other plans and runs of the scenario, for sections on runs |
//! | [`runs`] | a report with the sections on runs |

pub(crate) mod alternatives;
mod beside;
pub mod contention;
mod delays;
pub(crate) mod differences;
mod frontier;
mod generations;
mod job;
mod limited;
mod load;
mod network;
pub mod path;
mod runs;
mod schedule;
mod search;
mod sensitivity;
mod several;
pub mod slack;
mod surplus;
mod switchings;
pub mod task;
#[cfg(test)]
mod tests;
mod trials;

use crate::Training;
use crate::analysis::prices;
use crate::analysis::{Analysis, AnalysisError, Setting};
use crate::model::build::Built;
use crate::plan::{RateControl, TrainingResult};
use crate::scenario::TrainingScenario;
use crate::scenario::instance::Instance;
use crate::scenario::reconfiguration::{DELAY, Reconfiguration};
use crate::simulate::evaluate::Rates;
use lightbay_core::clock::Deadline;
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::report::{Report, RunSort, Section, SectionInfo, Unavailable};
use lightbay_core::scenario::Scenario;
use limited::Limited;
use runs::WithRuns;
use several::SeveralReport;
use std::cell::OnceCell;

/// Range of the sliders for the dark time, as powers of ten of seconds: from 10 ns to 1 s.
const DARK_TIMES: (i8, i8) = (-8, 0);

/// Further dark times at which the sliders stop, seconds: the dark times of named switches (silicon photonics, mirrors,
/// and mirrors with transceivers), and the steps above 1 s, up to 6 s.
const NAMED_DARK_TIMES: [(u16, i8); 6] = [(7, -6), (25, -3), (2, 0), (5, 0), (57, -1), (6, 0)];

/// All sections of reports on training jobs.
pub(crate) const SECTIONS: &[SectionInfo] = &[
    SectionInfo::of_scenario(
        "job",
        "Job",
        "How large is the job, how is it placed, and how long is an iteration on an ideal network?",
    ),
    SectionInfo::of_scenario("pods", "Pods", "How many ports does each pod have, use and leave free?")
        .items("pod"),
    SectionInfo::of_scenario(
        "links",
        "Links",
        "How much does each pair of pods exchange, and how many circuits are useful, possible and set?",
    )
    .items("link"),
    SectionInfo::of_plan(
        "schedule",
        "Schedule",
        "When does each task start and end, and at which mean rate?",
    ),
    SectionInfo::of_plan(
        "switchings",
        "Reconfigurations",
        "When do circuits change within the iteration, which ones, and why at these times?",
    )
    .forms(&["tail", "circuits", "ports", "events"])
    .slides(DELAY, DARK_TIMES)
    .stops(&NAMED_DARK_TIMES),
    SectionInfo::of_scenario(
        "delays",
        "Reconfiguration delays",
        "How much does one reconfiguration shorten the iteration with each kind of switch, and up to which dark time?",
    )
    .slides(DELAY, DARK_TIMES)
    .stops(&NAMED_DARK_TIMES),
    SectionInfo::of_scenario(
        "frontier",
        "Ports over time",
        "How many ports does an iteration of a given length need, with and without one reconfiguration?",
    )
    .slides(DELAY, DARK_TIMES)
    .stops(&NAMED_DARK_TIMES),
    SectionInfo::of_plan(
        "load",
        "Load of links",
        "How busy are the circuits of each link, and how long can its transfers wait?",
    ),
    SectionInfo::of_plan("path", "Critical path", "Why is the plan not ideal, and which tasks cost most?")
        .forms(path::ORDERS),
    SectionInfo::of_plan("slack", "Slack", "Which tasks have slack, and which links have spare circuits?")
        .forms(slack::ORDERS),
    SectionInfo::of_plan("contention", "Contention", "Where and when are circuits oversubscribed?")
        .forms(contention::WINDOWS),
    SectionInfo::of_plan(
        "alternatives",
        "Other circuits",
        "How long is an iteration on an ideal network, and with circuits that follow from the traffic matrix alone?",
    ),
    SectionInfo::of_plan(
        "sensitivity",
        "Sensitivity",
        "What would one more port gain, and what would one fewer circuit cost?",
    ),
    SectionInfo::of_plan(
        "robustness",
        "Robustness",
        "How much longer is an iteration if compute times grow, or circuits or ports fail?",
    ),
    SectionInfo::of_scenario(
        "reallocation",
        "Reallocation",
        "Which job has ports to spare, and which one gains from them?",
    ),
    SectionInfo::of_plan("search", "Search", "How close is the best plan to its bound?")
        .forms(search::FORMS)
        .of_run(RunSort::Search),
    SectionInfo::of_plan("generations", "Generations", "Is the search still improving, or stuck?")
        .forms(generations::FORMS)
        .of_run(RunSort::Generations),
];

/// Maximum number of transfers for which dark times are compared in about a second.
const QUICK_TASKS: usize = 30;

fn missing(name: &str) -> Unavailable {
    Unavailable::absent(format!("there is no section '{name}'"), "leave it out")
}

fn no_plan() -> Unavailable {
    Unavailable::absent("this section needs a plan", "solve the scenario and show the plan")
}

/// The report of a scenario or of one of its plans.
pub(crate) fn report<'a>(
    scenario: &'a Scenario<Training>,
    plan: Option<&'a Plan<Training>>,
) -> Box<dyn Report + 'a> {
    Box::new(WithRuns::new(scenario, plan))
}

/// The report without the sections on runs.
///
/// # Errors
/// A scenario that cannot be built.
fn of_scenario<'a>(
    scenario: &'a TrainingScenario,
    result: Option<&'a TrainingResult>,
) -> Result<Box<dyn Report + 'a>, Problems> {
    Ok(match scenario {
        TrainingScenario::Shared(shared) => Box::new(SeveralReport::new(shared, result)?),
        TrainingScenario::Job(_) | TrainingScenario::Instance(_) => {
            Box::new(TrainingReport::new(scenario, result)?)
        }
    })
}

/// A section that is computed from the analysis of one job, either a single job or one of several.
///
/// # Errors
/// A name of another section, or a section that does not finish in time.
pub fn of_job(
    scenario: &TrainingScenario,
    analysis: &Analysis,
    name: &str,
    deadline: Deadline,
) -> Result<Section, Unavailable> {
    let (setting, circuits) = (&analysis.setting, &analysis.circuits);
    let instance = &setting.instance;
    match name {
        "path" => Ok(path::section(analysis)),
        "slack" => Ok(slack::section(analysis)),
        "contention" => Ok(contention::section(analysis)),
        "sensitivity" => {
            let rates = rates_of(analysis.rate_control);
            sensitivity::section(instance, setting, circuits, rates, Limited(deadline))
        }
        "robustness" => trials::section(scenario, instance, setting, circuits, Limited(deadline)),
        "reallocation" => {
            let rates = rates_of(analysis.rate_control);
            surplus::section(setting, circuits, rates, analysis.makespan_s, Limited(deadline))
        }
        _ => Err(missing(name)),
    }
}

/// The rate rule at which the circuits of a plan are evaluated.
const fn rates_of(control: RateControl) -> Rates {
    match control {
        RateControl::Fair => Rates::Fair,
        RateControl::Joint => Rates::Best,
    }
}

/// The report of one job.
struct TrainingReport<'a> {
    scenario: &'a TrainingScenario,
    built: Built,
    result: Option<&'a TrainingResult>,
    /// Setting of the scenario; `None` if no task crosses pods.
    setting: Option<Setting>,
    analysis: OnceCell<Result<Analysis, String>>,
}

impl<'a> TrainingReport<'a> {
    fn new(scenario: &'a TrainingScenario, result: Option<&'a TrainingResult>) -> Result<Self, Problems> {
        let built = scenario.build()?;
        let setting = if built.instance.tasks.is_empty() {
            None
        } else {
            Some(Setting::new(scenario).map_err(|error| match error {
                AnalysisError::Scenario(problems) => problems,
                other => Problem::new("", other.to_string(), "correct the scenario").into(),
            })?)
        };
        Ok(Self { scenario, built, result, setting, analysis: OnceCell::new() })
    }

    fn setting(&self) -> Result<&Setting, Unavailable> {
        self.setting.as_ref().ok_or_else(|| {
            Unavailable::absent(
                "no task crosses pods, so circuits do not matter",
                "place the job on more pods",
            )
        })
    }

    fn reconfiguration(&self) -> Result<Reconfiguration, Unavailable> {
        self.scenario.reconfiguration().copied().ok_or_else(|| {
            Unavailable::absent(
                "circuits do not change within an iteration",
                "set switch=mems or another kind of switch, and solve again",
            )
        })
    }

    fn result(&self) -> Result<&'a TrainingResult, Unavailable> {
        self.result.ok_or_else(no_plan)
    }

    fn analysis(&self) -> Result<&Analysis, Unavailable> {
        let (setting, result) = (self.setting()?, self.result()?);
        let made = self
            .analysis
            .get_or_init(|| Analysis::of(setting.clone(), result).map_err(|error| error.to_string()));
        if result.phases.is_some() {
            return Err(Unavailable::absent(
                AnalysisError::Moves.to_string(),
                "set switch=none and plan again",
            ));
        }
        made.as_ref().map_err(Unavailable::failed)
    }

    /// The circuits of the plan with its rate rule; unavailable if the circuits change within the iteration or do not
    /// fit the ports.
    fn circuits(&self) -> Result<(Vec<u32>, Rates), Unavailable> {
        let (setting, result) = (self.setting()?, self.result()?);
        if result.phases.is_some() {
            return Err(Unavailable::absent(
                AnalysisError::Moves.to_string(),
                "set switch=none and plan again",
            ));
        }
        let circuits = result.circuits();
        if !setting.evaluator.network.budget.fits(&circuits) {
            return Err(Unavailable::absent(
                "the circuits do not fit the ports",
                "run `lightbay check` on the plan",
            ));
        }
        Ok((circuits, rates_of(result.rate_control)))
    }
}

impl Report for TrainingReport<'_> {
    fn section(&self, name: &str, deadline: Deadline) -> Result<Section, Unavailable> {
        let instance = &self.built.instance;
        match name {
            "job" => Ok(job::section(self.scenario, &self.built, self.setting.as_ref(), self.result)),
            "pods" => Ok(network::pods(instance, self.setting()?, self.result)),
            "links" => Ok(network::links(instance, self.setting()?, self.result)),
            "schedule" => Ok(schedule::section(instance, self.setting()?, self.result()?)),
            "delays" => {
                let group = self.reconfiguration()?;
                delays::section(&self.setting()?.within_ports(), group, Limited(deadline))
            }
            "frontier" => {
                let group = self.reconfiguration()?;
                frontier::section(&self.setting()?.within_ports(), group, Limited(deadline))
            }
            "switchings" => switchings::section(instance, self.setting()?, self.result()?, Limited(deadline)),
            "load" => Ok(load::section(self.analysis()?)),
            "path" => Ok(path::section(self.analysis()?)),
            "slack" => Ok(slack::section(self.analysis()?)),
            "contention" => Ok(contention::section(self.analysis()?)),
            "alternatives" => Ok(alternatives::section(self.analysis()?)),
            "sensitivity" => {
                let (circuits, rates) = self.circuits()?;
                sensitivity::section(instance, self.setting()?, &circuits, rates, Limited(deadline))
            }
            "robustness" => {
                let (circuits, _) = self.circuits()?;
                trials::section(self.scenario, instance, self.setting()?, &circuits, Limited(deadline))
            }
            "reallocation" => {
                let makespan_s = self.analysis()?.makespan_s;
                let (circuits, rates) = self.circuits()?;
                surplus::section(self.setting()?, &circuits, rates, makespan_s, Limited(deadline))
            }
            _ => Err(missing(name)),
        }
    }

    fn detail(&self, name: &str, item: u32, _deadline: Deadline) -> Result<Section, Unavailable> {
        let (instance, item) = (&self.built.instance, item as usize);
        let unknown =
            || Unavailable::absent(format!("section '{name}' has no item {item}"), "leave the item out");
        match name {
            "pods" if item < instance.pods.len() => {
                Ok(network::links_of(instance, self.setting()?, self.result, item))
            }
            "links" if item < instance.links.len() => {
                Ok(schedule::of_link(instance, self.setting()?, self.result, item))
            }
            _ => Err(unknown()),
        }
    }

    fn is_slow(&self, name: &str) -> bool {
        let long = self.setting.as_ref().is_some_and(|setting| !prices::quick(setting));
        if name == "delays" || name == "frontier" {
            return self.scenario.reconfiguration().is_some()
                && self.built.instance.tasks.len() > QUICK_TASKS;
        }
        matches!(name, "sensitivity" | "robustness" | "reallocation") && self.result.is_some() && long
    }
}

/// Names of the pods of a link; a mirror is named as the ring neighbour of the pod at the other end.
fn link_name(instance: &Instance, link: usize) -> String {
    let Some(found) = instance.links.get(link) else { return link.to_string() };
    let [a, b] = [found.pod_a, found.pod_b].map(|pod| task::end_name(instance, pod.index()));
    format!("{a}–{b}")
}

pub(crate) fn pod_name(instance: &Instance, pod: usize) -> String {
    instance.pods.get(pod).map_or_else(|| pod.to_string(), |pod| pod.name.clone())
}
