//! Figures of rewirings in the shell: how many circuits stay, what is proven, in how many steps.

use crate::view::present::figures::{AgainstFigure, ColumnFigure, HeaderFigure, KindFigures};
use lightbay_core::kind::Sense;
use lightbay_widgets::number;

pub const FIGURES: KindFigures = KindFigures {
    header: &[
        HeaderFigure {
            label: "of",
            of: |headline| {
                let kept = headline.metrics.get("kept_circuits")?;
                Some(number::count((kept + headline.value) as u64).into())
            },
            priority: 2,
            early: true,
        },
        HeaderFigure {
            label: "bound",
            of: |headline| headline.bound.map(|bound| number::fixed(bound, 0).into()),
            priority: 1,
            early: true,
        },
        HeaderFigure {
            label: "batches",
            of: |headline| headline.metrics.get("batches").map(|count| number::fixed(*count, 0).into()),
            priority: 3,
            early: false,
        },
        HeaderFigure {
            label: "phases",
            of: |headline| headline.metrics.get("phases").map(|count| number::fixed(*count, 0).into()),
            priority: 3,
            early: false,
        },
    ],
    columns: &[
        ColumnFigure { metric: "batches", title: "bat", width: 3, decimals: 0, priority: 2, ideal: None },
        ColumnFigure {
            metric: "max_dark_per_pod",
            title: "dark",
            width: 4,
            decimals: 0,
            priority: 1,
            ideal: None,
        },
    ],
    against: &[
        AgainstFigure {
            name: "kept",
            of: |_, metrics| metrics.get("kept_circuits").copied(),
            sense: Sense::Max,
            decimals: [0, 0],
        },
        AgainstFigure {
            name: "added",
            of: |_, metrics| metrics.get("added_circuits").copied(),
            sense: Sense::Min,
            decimals: [0, 0],
        },
        AgainstFigure {
            name: "batches",
            of: |_, metrics| metrics.get("batches").copied(),
            sense: Sense::Min,
            decimals: [0, 0],
        },
        AgainstFigure {
            name: "dark a pod",
            of: |_, metrics| metrics.get("max_dark_per_pod").copied(),
            sense: Sense::Min,
            decimals: [0, 0],
        },
    ],
};
