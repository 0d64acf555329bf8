//! Load of the circuits of every link.

use super::link_name;
use crate::analysis::Analysis;
use lightbay_core::report::{Cell, Column, Section, Table, Tone, Unit};

pub(super) fn section(analysis: &Analysis) -> Section {
    let (setting, instance) = (&analysis.setting, &analysis.setting.instance);
    let network = &setting.evaluator.network;
    let columns = vec![
        Column::counts("link", "link"),
        Column::words("pods", "pods"),
        Column::counts("circuits", "circuits"),
        Column::numbers("there_bytes", "there", Unit::GIGABYTES),
        Column::numbers("back_bytes", "back", Unit::GIGABYTES),
        Column::counts("peak_flows", "flows at once"),
        Column::numbers("busy_share", "busy", Unit::PERCENT),
        Column::numbers("slack_s", "slack", Unit::MILLISECONDS),
        Column::words("holds_up", "holds up"),
    ];
    let mut table = Table::new(["link", "links"], columns);
    for (link, known) in analysis.links.iter().enumerate() {
        let bytes = |way: usize| -> f64 {
            network.carried[2 * link + way].iter().map(|task| network.volume[*task as usize]).sum()
        };
        let slack = if known.slack_s.is_finite() { Cell::new(known.slack_s) } else { Cell::none() };
        let holds_up = if known.holds_up { Cell::new("yes").tone(Tone::Warn) } else { Cell::new("no") };
        let row = table.row(vec![
            Cell::new(link),
            Cell::new(link_name(instance, link)),
            Cell::new(known.circuits),
            Cell::new(bytes(0)),
            Cell::new(bytes(1)),
            Cell::new(known.peak_flows),
            Cell::new(known.busy),
            slack,
            holds_up,
        ]);
        row.item = Some(link as u32);
    }
    Section::new("Load of links", table).remark(
        "Busy: bytes in the busier direction divided by what the circuits could carry in the iteration. Slack: how much \
         later the most urgent transfer could end without delaying the iteration, if all later transfers ran at the full \
         rate of their NICs. Holds up: transfers of the critical path wait for circuits here.",
    )
}
