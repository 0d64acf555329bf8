//! Placements of the experts compared: in blocks, by EPLB, and by the plan.

use super::{ANALYTIC, ANALYTIC_SHORT};
use crate::model::demand::{LayerDemand, copies};
use crate::model::rates::RegionRates;
use crate::placement::balance::least_imbalance;
use crate::placement::eplb::eplb;
use crate::placement::{PlacementShape, imbalance};
use crate::plan::MoeResult;
use crate::scenario::MoeScenario;
use crate::search::exchange::{Exchange, RoutingRule};
use crate::search::swap::swapped;
use lightbay_core::clock::Deadline;
use lightbay_core::report::{Cell, Column, Phrase, Section, Table, Tone, Unavailable, Unit};

const MS: Unit = Unit::new("ms", 1.0, Some(3));

/// Returns the section on the balance of the ranks and the time between the servers, by layer and placement.
pub(super) fn section(
    scenario: &MoeScenario,
    plan: Option<&MoeResult>,
    deadline: Deadline,
) -> Result<Section, Unavailable> {
    let columns = vec![
        Column::counts("layer", "layer"),
        Column::words("placement", "placement"),
        Column::numbers("busiest_rank", "busiest rank / mean", Unit::RATIO.with_decimals(3)),
        Column::counts("most_copies", "most copies"),
        Column::numbers("exchange_ms", "between servers", MS),
    ];
    let mut table = Table::new(["placement", "placements"], columns).overview(12).bar(4);
    let (shape, rates, history) =
        (PlacementShape::of(scenario), RegionRates::of(scenario), scenario.history(0));
    let blocks = PlacementShape { slots: shape.experts, ..shape };
    let mut least: Vec<f64> = Vec::new();
    // Sums over the layers by placement.
    let mut sums: Vec<(String, f64)> = Vec::new();
    for layer in 0..history.layers {
        if deadline.is_over() {
            return Err(Unavailable::late(deadline));
        }
        let load = history.expert_loads(layer);
        let mut row = |name: &str, shape: &PlacementShape, slots: &[u32], tone: Tone| {
            let demand = LayerDemand::placed(scenario, &history, layer, slots);
            let exchange = Exchange::of(&demand, &rates, RoutingRule::Spill);
            let (circuits, _) = swapped(&exchange, &rates.optical, &demand.both_ways());
            let time_ms = exchange.time(&circuits);
            match sums.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum_ms)) => *sum_ms += time_ms,
                None => sums.push((name.to_owned(), time_ms)),
            }
            let most = copies(shape.experts, slots).into_iter().max().unwrap_or(0);
            table.row(vec![
                Cell::new(layer),
                Cell::new(name).tone(tone),
                Cell::new(imbalance(shape, &load, slots)),
                Cell::new(most),
                Cell::new(time_ms).tone(tone),
            ]);
        };
        // Blocks of different sizes leave slots empty, which this table cannot compare.
        if shape.experts.is_multiple_of(shape.ranks.max(1)) {
            row("blocks", &blocks, &(0..shape.experts as u32).collect::<Vec<_>>(), Tone::Text);
        }
        least.push(least_imbalance(&shape, &load));
        row("EPLB", &shape, &eplb(&load, &shape), Tone::Text);
        let placed = plan.and_then(|plan| plan.layers.get(layer)?.placement.as_ref());
        if let Some(placed) = placed {
            row("this plan", &shape, &placed.physical_to_logical, Tone::Answer);
        }
    }
    let answer = sums.iter().fold(Phrase::new().muted("all layers, ms: "), |phrase, (name, sum_ms)| {
        phrase.muted(format!(" {name} ")).answer(format!("{sum_ms:.3}"))
    });
    let is_tie = sums.len() > 1 && sums.windows(2).all(|two| (two[0].1 - two[1].1).abs() <= 1e-9 * two[0].1);
    let answer = if is_tie { answer.muted(", a tie") } else { answer };
    let kept = if scenario.placement.is_none() { "; plans keep the blocks" } else { "" };
    let section = Section::new("Placement of experts", table)
        .subject(ANALYTIC_SHORT)
        .answer(answer)
        .legend(format!(
            "between servers: with the best circuits that local search finds for the layer alone{kept}"
        ))
        .remark("Circuits come from local search for each placement and layer; bytes beyond them go over packet switches.")
        .remark("Compute times assume equal load on all ranks; gradient synchronisation between expert replicas is ignored.")
        .remark(ANALYTIC);
    let least = least.into_iter().fold(f64::INFINITY, f64::min);
    let section = if scenario.placement.is_some() && least.is_finite() {
        section.remark(format!(
            "No placement with these slots has a busiest rank below {least:.3} times the mean in any layer."
        ))
    } else {
        section
    };
    Ok(if scenario.placement.is_none() {
        section.remark("Plans keep the experts in blocks; expert_placement=free lets methods place them.")
    } else {
        section
    })
}
