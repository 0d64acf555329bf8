//! Loads and hops after each failed switch.

use super::{OVERVIEW, STATED};
use crate::model::pod;
use crate::plan::{FaultCase, Routing};
use lightbay_core::report::{Cell, Column, Section, Table, Tone, Unit};
use std::cmp::Reverse;

/// Every case: those with unreachable pairs first, then those that cost most.
pub(super) fn section(cases: &[FaultCase]) -> Section {
    let mut order: Vec<&FaultCase> = cases.iter().collect();
    order.sort_by_key(|case| {
        (case.max_channel_load.is_some(), Reverse(case.max_channel_load), case.failed_ocs)
    });
    let columns = vec![
        Column::counts("failed_ocs", "switch"),
        Column::words("place", "place"),
        Column::counts("max_channel_load", "max channel load"),
        Column::numbers("avg_hops", "hops", Unit::RATIO),
        Column::numbers("saturation_flits_per_cycle_per_node", "saturation", Unit::FLITS.with_decimals(2)),
        Column::counts("unreachable", "unreachable pairs"),
        Column::words("checked", "checked"),
    ];
    let mut table = Table::new(["switch", "switches"], columns).overview(OVERVIEW);
    for case in order {
        let switch = usize::from(case.failed_ocs);
        let [u, v] = pod::switch_position(switch);
        let axis = ["X", "Y", "Z"].get(pod::switch_dimension(switch)).copied().unwrap_or("?");
        let unreachable = case.unreachable.len();
        let row = table.row(vec![
            Cell::new(case.failed_ocs),
            Cell::new(format!("{axis} face {u},{v}")),
            case.max_channel_load.map_or_else(Cell::none, Cell::new),
            Cell::new(case.avg_hops),
            case.saturation_flits_per_cycle_per_node.map_or_else(Cell::none, Cell::new),
            Cell::new(unreachable).tone(if unreachable > 0 { Tone::Bad } else { Tone::Text }),
            Cell::new(is_listed(case.routing.as_ref())),
        ]);
        row.item = Some(u32::from(case.failed_ocs));
    }
    let section = Section::new("Failed switches", table);
    if cases.iter().all(|case| is_listed(case.routing.as_ref())) { section } else { section.remark(STATED) }
}

/// Tells that a plan lists the routes, so that the checker counted them.
fn is_listed(routing: Option<&Routing>) -> bool {
    routing.is_some_and(|routing| !routing.routes.is_empty())
}
