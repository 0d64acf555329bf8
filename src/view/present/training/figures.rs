//! Figures of training plans in the shell: normalised completion time, ports, loss over the ideal network.

use crate::view::figures::ports;
use crate::view::present::figures::{AgainstFigure, ColumnFigure, HeaderFigure, KindFigures};
use lightbay_core::kind::Sense;
use lightbay_widgets::number;

pub const FIGURES: KindFigures = KindFigures {
    header: &[
        HeaderFigure {
            label: "NCT",
            of: |headline| headline.metrics.get("nct").map(|nct| number::nct(*nct).into()),
            priority: 0,
            early: true,
        },
        HeaderFigure { label: "ports", of: |headline| ports(&headline.metrics), priority: 2, early: false },
    ],
    columns: &[
        ColumnFigure { metric: "nct", title: "NCT", width: 6, decimals: 4, priority: 0, ideal: Some(1.0) },
        ColumnFigure { metric: "total_ports", title: "P", width: 0, decimals: 0, priority: 1, ideal: None },
    ],
    against: &[
        AgainstFigure {
            name: "NCT",
            of: |_, metrics| metrics.get("nct").copied(),
            sense: Sense::Min,
            decimals: [4, 4],
        },
        AgainstFigure {
            name: "loss ms",
            of: |value, metrics| Some((value - metrics.get("ideal_makespan_s")?) * 1e3),
            sense: Sense::Min,
            decimals: [3, 2],
        },
        AgainstFigure {
            name: "ports",
            of: |_, metrics| metrics.get("total_ports").copied(),
            sense: Sense::Min,
            decimals: [0, 0],
        },
    ],
};
