//! Routes over one link as rows.

use super::words;
use crate::analysis::loads::RoutedFlow;
use lightbay_core::report::{Cell, Column, Table, Tone};

/// Table of routes: first chip, last chip, and the hop at which each route uses the link.
pub(super) fn table(flows: &[RoutedFlow]) -> Table {
    let columns = vec![
        Column::words("source", "from"),
        Column::words("target", "to"),
        Column::counts("hop", "hop"),
        Column::counts("hops", "of"),
        Column::counts("vc", "vc"),
    ];
    let mut table = Table::new(["route", "routes"], columns);
    for flow in flows {
        table.row(vec![
            Cell::new(words::node(flow.source)),
            Cell::new(words::node(flow.target)),
            Cell::new(flow.before + 1).tone(Tone::Muted),
            Cell::new(flow.hops).tone(Tone::Muted),
            Cell::new(flow.vc).tone(Tone::Muted),
        ]);
    }
    table
}
