//! Hops on virtual channels, and the links that carry most routes.

use super::{OVERVIEW, STATED};
use crate::analysis::arc_loads;
use crate::model::pod;
use crate::plan::{Expansion, Routing, TpuResult};
use lightbay_core::report::{Cell, Column, Section, Table, Unavailable, Unit};
use std::cmp::Reverse;

/// Names of the ports of a chip.
const PORTS: [&str; 6] = ["+X", "-X", "+Y", "-Y", "+Z", "-Z"];

pub(super) fn channels(routing: &Routing) -> Section {
    let total = routing.claims.route_hop_sum.max(1) as f64;
    let before = routing.unbalanced.as_ref().map(|unbalanced| &unbalanced.vc_hops);
    let mut columns = vec![
        Column::counts("vc", "channel"),
        Column::counts("hops", "hops"),
        Column::numbers("share", "share", Unit::PERCENT),
    ];
    if before.is_some() {
        columns.push(Column::counts("hops_before_balancing", "before balancing (claimed)"));
    }
    let mut table = Table::new(["channel", "channels"], columns);
    for (vc, &hops) in routing.claims.vc_hops.iter().enumerate() {
        let mut cells = vec![Cell::new(vc), Cell::new(hops), Cell::new(hops as f64 / total)];
        if let Some(before) = before {
            cells.push(before.get(vc).map_or_else(Cell::none, |hops| Cell::new(*hops)));
        }
        table.row(cells);
    }
    let section = Section::new("Hops on virtual channels, all routes", table);
    if routing.routes.is_empty() { section.remark(STATED) } else { section }
}

pub(super) fn hottest(result: &TpuResult, routing: &Routing) -> Result<Section, Unavailable> {
    let topology = result.topology.topology().map_err(Unavailable::failed)?;
    let Some(loads) = arc_loads(&topology, routing) else {
        return Err(Unavailable::absent("the plan does not list its routes", "solve with with_routes=true"));
    };
    let mut loads: Vec<(usize, u32)> = loads.into_iter().enumerate().collect();
    loads.sort_by_key(|&(arc, load)| (Reverse(load), arc));
    let columns = vec![
        Column::counts("arc", "arc"),
        Column::words("chip", "chip"),
        Column::words("port", "port"),
        Column::words("link", "link"),
        Column::counts("ocs", "switch"),
        Column::counts("routes", "routes"),
    ];
    let mut table = Table::new(["link", "links"], columns).overview(OVERVIEW);
    for (arc, load) in loads {
        let (chip, port) = ((arc / 6 % 64) as u8, (arc % 6) as u8);
        let [x, y, z] = pod::position(chip);
        let cube = match routing.expand {
            Expansion::Translation => String::new(),
            Expansion::None => format!(" of cube {}", arc / 6 / 64),
        };
        let switch = pod::switch(chip, port);
        table.row(vec![
            Cell::new(arc),
            Cell::new(format!("({x},{y},{z}){cube}")),
            Cell::new(PORTS.get(usize::from(port)).copied().unwrap_or_default()),
            Cell::new(if switch.is_some() { "optical" } else { "electrical" }),
            switch.map_or_else(Cell::none, Cell::new),
            Cell::new(load),
        ]);
    }
    let of = match routing.expand {
        Expansion::None => "all directed links",
        Expansion::Translation => "384 classes of directed links",
    };
    Ok(Section::new(format!("Fullest of {of}"), table))
}
