//! Figures of pods in the shell: bound, certificate, hops, loads, evenness of virtual channels.

use super::throughput::mcf;
use crate::view::figures::open_percent;
use crate::view::present::figures::{AgainstFigure, ColumnFigure, HeaderFigure, KindFigures};
use lightbay_core::kind::Sense;
use lightbay_engines::tpu::kind::LOSSY;

pub const FIGURES: KindFigures = KindFigures {
    header: &[
        HeaderFigure {
            label: "bound",
            of: |headline| headline.bound.map(|bound| mcf(bound).into()),
            priority: 2,
            early: true,
        },
        // What the routes lose belongs beside the throughput that they lose.
        HeaderFigure {
            label: "routes",
            of: |headline| {
                let times = headline.metrics.get("max_channel_load")? * headline.value;
                (times > LOSSY).then(|| format!("! {times:.2}x ideal load"))
            },
            priority: 1,
            early: false,
        },
        HeaderFigure {
            label: "certified to",
            of: |headline| {
                let upper = headline.metrics.get("mcf_upper")?;
                let gap = upper / headline.value - 1.0;
                gap.is_finite().then(|| format!("{} %", open_percent(gap.max(0.0), 2)))
            },
            priority: 3,
            early: false,
        },
    ],
    columns: &[
        ColumnFigure { metric: "avg_hops", title: "hops", width: 5, decimals: 3, priority: 2, ideal: None },
        ColumnFigure {
            metric: "max_channel_load",
            title: "load",
            width: 5,
            decimals: 0,
            priority: 1,
            ideal: None,
        },
    ],
    against: &[
        AgainstFigure {
            name: "avg hops",
            of: |_, metrics| metrics.get("avg_hops").copied(),
            sense: Sense::Min,
            decimals: [4, 3],
        },
        AgainstFigure {
            name: "max load",
            of: |_, metrics| metrics.get("max_channel_load").copied(),
            sense: Sense::Min,
            decimals: [0, 0],
        },
        AgainstFigure {
            name: "VC ratio",
            of: |_, metrics| metrics.get("vc_ratio").copied(),
            sense: Sense::Max,
            decimals: [4, 2],
        },
        AgainstFigure {
            name: "diameter",
            of: |_, metrics| metrics.get("diameter").copied(),
            sense: Sense::Min,
            decimals: [0, 0],
        },
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::figures::Headline;

    #[test]
    fn routes_that_lose_much_stand_in_the_header() {
        let said = |load: f64| {
            let metrics = [("max_channel_load".to_owned(), load)].into_iter().collect();
            let value = 0.006332;
            let headline = Headline { name: String::new(), value, metrics, bound: None, preview: false };
            FIGURES
                .header
                .iter()
                .find(|figure| figure.label == "routes")
                .and_then(|figure| (figure.of)(&headline))
        };
        assert_eq!((said(161.0), said(197.0)), (None, None));
        assert_eq!(said(338.0).as_deref(), Some("! 2.14x ideal load"));
    }
}
