//! Sections that explain scenarios and plans of regions. Every section with times states that the times come from an
//! analytic model.
//!
//! | module | content |
//! |---|---|
//! | [`region`] | model, region and demand |
//! | [`regions`] | comparison of the regions of a cluster |
//! | [`loads`] | loads of experts over iterations, predicted and actual, and the accuracy of predictions |
//! | [`circuits`] | demand of a layer with its circuits, and NICs by NUMA node |
//! | [`delay`] | the slider of the reconfiguration delay |
//! | [`timeline`] | phases of a layer and of a micro-batch with stalls and hidden changes, parts of an iteration |
//! | [`placement`] | comparison of placements of the experts |
//! | [`fabrics`] | comparison of networks in time and cost |
//! | [`picture`] | the timeline as a picture for a review |
//! | [`sweeps`] | time as a function of delay, degree and rate, and the delay up to which circuit changes shorten the iteration |

mod circuits;
mod delay;
mod fabrics;
mod failures;
mod loads;
pub(crate) mod picture;
mod placement;
mod region;
mod regions;
mod sweeps;
#[cfg(test)]
mod tests;
mod timeline;

use crate::Moe;
use crate::methods;
use crate::plan::{FabricKind, MoeResult};
use crate::predict::passage::FitSettings;
use crate::scenario::MoeScenario;
use lightbay_core::clock::Deadline;
use lightbay_core::plan::Plan;
use lightbay_core::report::{Report, Section, SectionInfo, Unavailable, Unit};
use lightbay_core::scenario::Scenario;

/// Unit of iteration times, which are stored in ms and shown in seconds, because iterations take tens of seconds.
pub(crate) const ITERATION: Unit = Unit::new("s", 1e-3, Some(6));
/// Remark for all sections with times.
const ANALYTIC: &str = "Analytic model: times follow from bytes and rates, not from a simulation of packets.";

/// Shorter remark for all sections with times, for screens.
const ANALYTIC_SHORT: &str = "analytic model";

/// Powers of ten in ms that bound the delays of all switches, from microseconds to several seconds.
const DELAYS: (i8, i8) = (-3, 4);

/// Every section.
pub(crate) const SECTIONS: &[SectionInfo] = &[
    SectionInfo::of_scenario(
        "region",
        "Region",
        "Which model runs on which servers, and how long does each part of a layer take?",
    )
    .place(9),
    SectionInfo::of_scenario(
        "loads",
        "Expert loads",
        "How busy is each expert over the iterations, and how well were these loads predicted?",
    )
    .place(1)
    .forms(&["actual", "predicted", "error", "by_layer"])
    .items("layer")
    .details_first(),
    SectionInfo::of_scenario(
        "predictor",
        "Predictor",
        "How accurate is the predictor, compared with trivial baselines?",
    )
    .place(7),
    SectionInfo::of_plan("iteration", "Iteration", "How much time does each part of an iteration take?")
        .place(8),
    SectionInfo::of_plan(
        "timeline",
        "Timeline",
        "When does a layer or a micro-batch compute, exchange data and wait for circuits?",
    )
    .place(2)
    .slides("reconfiguration_delay_ms", DELAYS)
    .forms(&["layer", "micro_batch", "iteration"])
    .items("layer")
    .details_first(),
    SectionInfo::of_plan(
        "demand",
        "Demand and circuits",
        "How many bytes do the servers send each other, and over how many circuits?",
    )
    .place(4)
    .forms(&["demand", "circuits", "changes", "drawn"]),
    SectionInfo::of_plan(
        "nics",
        "NICs",
        "Which server is each NIC connected to, and on which NUMA node is the NIC?",
    ),
    SectionInfo::of_plan(
        "layers",
        "Layers",
        "How long does the all-to-all of each layer take, and which circuits change for it?",
    )
    .place(6)
    .items("layer"),
    SectionInfo::of_scenario(
        "placement",
        "Placement of experts",
        "How evenly does each placement of the experts load the ranks, and how long is the exchange between servers?",
    ),
    SectionInfo::of_scenario(
        "fabrics",
        "Networks",
        "How long does an iteration take on other networks, and what do these networks cost?",
    )
    .place(3),
    SectionInfo::of_scenario(
        "regions",
        "Regions",
        "How much do the regions of the cluster differ, and how long do they wait for the slowest region?",
    ),
    SectionInfo::of_scenario(
        "delays",
        "Delays",
        "Up to which delay of the switch does changing circuits shorten the iteration?",
    )
    .place(5)
    .slides("reconfiguration_delay_ms", DELAYS),
    SectionInfo::of_scenario("degrees", "Degrees", "How much do more optical NICs shorten the iteration?"),
    SectionInfo::of_scenario(
        "rates",
        "Rates",
        "How much do faster NICs shorten the iteration, and how fast must the switch be at each rate?",
    ),
];

/// The report of a scenario or of a plan of it.
pub(crate) struct MoeReport<'a> {
    scenario: &'a MoeScenario,
    result: Option<&'a MoeResult>,
    /// Settings of predictions: the settings of the plan, or the default settings without a plan.
    fit: FitSettings,
}

impl<'a> MoeReport<'a> {
    pub(crate) fn new(scenario: &'a Scenario<Moe>, plan: Option<&'a Plan<Moe>>) -> Self {
        let fit = plan
            .map_or_else(FitSettings::default, |plan| methods::prediction(&plan.method, &plan.parameters));
        Self { scenario: &scenario.body, result: plan.map(|plan| &plan.result), fit }
    }

    fn result(&self) -> Result<&'a MoeResult, Unavailable> {
        self.result.ok_or_else(|| {
            Unavailable::absent("only plans have this section", "solve the scenario and show the plan")
        })
    }

    /// Returns the result, if it has circuits of a region.
    fn with_circuits(&self) -> Result<&'a MoeResult, Unavailable> {
        let result = self.result()?;
        if result.iteration.fabric == FabricKind::Mfabric {
            Ok(result)
        } else {
            Err(Unavailable::absent(
                "the network of this plan has no regional circuits",
                "solve with a method such as auto",
            ))
        }
    }
}

impl Report for MoeReport<'_> {
    fn section(&self, name: &str, deadline: Deadline) -> Result<Section, Unavailable> {
        match name {
            "region" => Ok(region::section(self.scenario)),
            "loads" => loads::loads(self.scenario, self.result, &self.fit, deadline),
            "predictor" => loads::predictor(self.scenario, &self.fit, deadline),
            "iteration" => timeline::iteration(self.scenario, self.result()?, deadline),
            "timeline" => {
                let slider = delay::with_break_even(self.scenario, deadline);
                self.result().map(|result| timeline::section(result).slider(slider))
            }
            "demand" => self.with_circuits().map(circuits::demand),
            "nics" => self.with_circuits().map(|result| circuits::nics(self.scenario, result)),
            "layers" => self.result().map(circuits::layers),
            "placement" => placement::section(self.scenario, self.result, deadline),
            "fabrics" => Ok(fabrics::section(self.scenario, self.result)),
            "regions" => regions::section(self.scenario, deadline),
            "delays" => sweeps::delays(self.scenario, deadline),
            "degrees" => sweeps::degrees(self.scenario, deadline),
            "rates" => sweeps::rates(self.scenario, deadline),
            _ => Err(Unavailable::absent(format!("there is no section '{name}'"), "leave it out")),
        }
    }

    fn detail(&self, name: &str, item: u32, deadline: Deadline) -> Result<Section, Unavailable> {
        match name {
            "loads" => loads::of_layer(self.scenario, self.result, &self.fit, item as usize, deadline),
            "timeline" => timeline::of_layer(self.scenario, self.result()?, item),
            "layers" => circuits::of_layer(self.result()?, item),
            _ => {
                Err(Unavailable::absent(format!("section '{name}' has no item {item}"), "leave the item out"))
            }
        }
    }

    fn is_slow(&self, name: &str) -> bool {
        // The time of fits and searches grows with the cube of the numbers of experts and servers.
        let shape = self.scenario.shape();
        match name {
            "loads" | "predictor" => shape.experts > 32,
            "iteration" => !self.scenario.region.failed_nics.is_empty() && self.scenario.region.servers > 8,
            "delays" | "degrees" | "rates" | "placement" => self.scenario.region.servers > 8,
            "regions" => self.scenario.regions() > 16,
            _ => false,
        }
    }
}
