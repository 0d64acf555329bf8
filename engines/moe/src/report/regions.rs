//! Compares the regions of a cluster; the iteration waits for the slowest one.

use super::timeline::bold;
use super::{ANALYTIC, ANALYTIC_SHORT, ITERATION, failures};
use crate::plan::FabricKind;
use crate::scenario::{GateTrace, MoeScenario, NoPackets};
use crate::schedule::break_even::DelayStudy;
use crate::schedule::policies::SwitchPolicy;
use lightbay_core::clock::Deadline;
use lightbay_core::quantity::percent;
use lightbay_core::report::{Cell, Column, Facts, Phrase, Section, Table, Tone, Unavailable, Unit};

const MS: Unit = Unit::new("ms", 1.0, Some(3));

/// Maximum number of regions that are planned; further regions are assumed to be similar.
const MOST_PLANNED: u32 = 64;
/// Number of regions that an overview shows.
const OVERVIEW: usize = 12;

/// Returns the scenario of a region: with a synthetic trace each region has its own loads, with a counted trace all
/// regions have the same loads; NICs have failed only in the first region.
fn of_region(scenario: &MoeScenario, number: u32) -> MoeScenario {
    let mut other = scenario.clone();
    if let GateTrace::Synthetic(trace) = &mut other.trace {
        trace.seed = trace.seed.wrapping_add(u64::from(number)) & (u64::MAX >> 1);
    }
    if number > 0 {
        other.region = scenario.region.without_failures();
    }
    other
}

/// Returns the reason that no iteration time is known: the gradients need packet switches.
pub(super) fn without_path(scenario: &MoeScenario) -> Unavailable {
    let remedy = scenario.region.first_without_packets().map_or("lower optical_degree", NoPackets::remedy);
    Unavailable::absent("the gradients of the replicas have no path", remedy)
}

/// Returns the section on the iteration time of every region with its own cheapest schedule.
pub(super) fn section(scenario: &MoeScenario, deadline: Deadline) -> Result<Section, Unavailable> {
    let all = scenario.regions().max(1);
    let is_drawn = matches!(scenario.trace, GateTrace::Synthetic(_));
    let planned = if is_drawn { all.min(MOST_PLANNED) } else { 1 };
    let delay = scenario.cluster.reconfiguration_delay_ms;
    let waiting = failures::gradients_ms(scenario, FabricKind::Mfabric);
    let mut times = Vec::new();
    for number in 0..planned {
        let study = DelayStudy::of(&of_region(scenario, number), || deadline.is_over());
        let study = study.map_err(|pair| {
            let message = format!("server {} cannot reach server {}", pair.from, pair.to);
            Unavailable::absent(message, pair.because.remedy())
        })?;
        let Some(study) = study else { return Err(Unavailable::late(deadline)) };
        let time = study.time(SwitchPolicy::Exact, delay).ok_or_else(|| without_path(scenario))?;
        // Gradients of all regions wait for the server with the fewest working NICs.
        times.push((number, if number > 0 { time + waiting } else { time }));
    }
    let slowest = times.iter().map(|(_, time)| *time).fold(0.0, f64::max);
    let fastest = times.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
    let own = times.first().map_or(slowest, |(_, time)| *time);
    let mean = times.iter().map(|(_, time)| time).sum::<f64>() / times.len().max(1) as f64;
    let mut facts = Facts::new();
    facts.add("regions", "regions", all);
    facts.add("planned", "regions planned separately", planned);
    if is_drawn && planned < all {
        facts.sentence(format!("the first {planned} of {all}"));
    } else if !is_drawn {
        facts.sentence(
            "token counts are given for one region; all regions are assumed identical and share its plan",
        );
    }
    facts.number("slowest_ms", "slowest", ITERATION, Cell::new(slowest).tone(Tone::Answer));
    facts.sentence("every iteration waits for it");
    facts.number("own_ms", "region 0, which is planned", ITERATION, own);
    facts.sentence("other sections have the time of this region");
    facts.number("mean_ms", "mean", ITERATION, mean);
    facts.number("waiting", "mean waiting time of a region", Unit::PERCENT, 1.0 - mean / slowest);
    let columns = vec![
        Column::counts("region", "region"),
        Column::numbers("iteration_ms", "iteration", ITERATION),
        Column::numbers("above_ms", "above the fastest", MS),
        Column::numbers("to_mean", "to mean", Unit::RATIO.with_decimals(4)),
        Column::words("plan", ""),
    ];
    let mut table = Table::new(["region", "regions"], columns).overview(OVERVIEW).bar(2);
    times.sort_by(|a, b| (a.0 > 0).cmp(&(b.0 > 0)).then(b.1.total_cmp(&a.1)));
    for (number, time) in times {
        let tone = bold(time >= slowest);
        let row = table.row(vec![
            Cell::new(number),
            Cell::new(time).tone(tone),
            Cell::new(time - fastest),
            Cell::new(time / mean),
            Cell::new(if number == 0 { "planned" } else { "" }).tone(Tone::Answer),
        ]);
        row.item = Some(number);
        let sentence = Phrase::new().answer(format!("> region {number}  {:.3} s", time / 1e3));
        let words = if number == 0 { ", the region of the plan;" } else { ";" };
        row.sentence =
            sentence.muted(format!("{words} every iteration waits for the slowest, {:.3} s", slowest / 1e3));
    }
    let answer = Phrase::new()
        .muted("slowest ")
        .answer(format!("{:.3} s", slowest / 1e3))
        .muted(format!(", {} above region 0", percent(slowest / own - 1.0)));
    let section = Section::empty("Regions")
        .answer(answer)
        .usual(Some(0))
        .subject(ANALYTIC_SHORT)
        .block("summary", "Regions of the cluster", facts)
        .block("regions", "Time of an iteration, region 0 and then the slowest first", table)
        .context("times of the longest stage; the plan is for region 0")
        .remark("Replicas exchange gradients, so every iteration waits for the slowest region.")
        .remark(ANALYTIC);
    Ok(if scenario.region.failed_nics.is_empty() {
        section
    } else {
        section.remark(
            "Failed NICs are in region 0; the gradient reduction of all regions waits for the servers with these NICs.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{CountedMatrix, CountedTrace, presets};
    use lightbay_core::report::Report as _;

    fn numbers(scenario: &MoeScenario) -> Vec<f64> {
        let found = section(scenario, Deadline::NEVER).unwrap();
        let text = format!("{found:?}");
        assert!(text.contains("slowest"), "{text}");
        (0..scenario.regions().min(MOST_PLANNED))
            .map(|number| {
                let study = DelayStudy::of(&of_region(scenario, number), || false).unwrap().unwrap();
                study.time(SwitchPolicy::Exact, scenario.cluster.reconfiguration_delay_ms).unwrap()
            })
            .collect()
    }

    #[test]
    fn regions_have_loads_of_their_own_where_these_are_drawn() {
        let mut scenario = presets::scenario("moe-small").unwrap();
        scenario.cluster.reconfiguration_delay_ms = 0.025;
        assert_eq!(scenario.regions(), 4);
        let drawn = numbers(&scenario);
        assert!(drawn.windows(2).all(|pair| pair[0] != pair[1]), "{drawn:?}");
        let counts = |layer| CountedMatrix {
            iteration: 0,
            layer,
            tokens: vec![vec![4.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]],
        };
        scenario.trace = GateTrace::Counts(CountedTrace { iteration: 0, counts: vec![counts(0), counts(1)] });
        let counted = numbers(&scenario);
        assert!(counted.windows(2).all(|pair| pair[0] == pair[1]), "{counted:?}");
    }

    #[test]
    fn a_cluster_of_thousands_of_servers_plans_some_of_its_regions() {
        let mut scenario = presets::scenario("moe-mixtral_8x7b").unwrap();
        scenario.cluster.servers = 4096;
        scenario.validate().unwrap();
        let body = lightbay_core::scenario::Scenario::<crate::Moe>::new("big".to_owned(), scenario);
        let report = super::super::MoeReport::new(&body, None);
        let found = format!("{:?}", report.section("regions", Deadline::NEVER).unwrap());
        assert!(found.contains("the first 64 of 1024"), "{found}");
    }
}
