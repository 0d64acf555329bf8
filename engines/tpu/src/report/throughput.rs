//! Concurrent flow of a pod beside what tori of its size reach, and what no pod of the size can exceed.

use crate::analysis::{TorusFigures, Yardsticks};
use crate::model::baselines;
use crate::plan::TpuResult;
use crate::scenario::TpuScenario;
use crate::throughput::metrics::hop_bound;
use lightbay_core::report::{Cell, Column, Section, Table, Tone, Unit};

/// A row of the table: diameter, mean hops, flow per pair.
struct Line {
    name: String,
    diameter: Option<u32>,
    avg_hops: Option<f64>,
    mcf: f64,
    tone: Tone,
    note: &'static str,
}

pub(super) fn section(
    scenario: &TpuScenario,
    result: Option<&TpuResult>,
    yardsticks: &Yardsticks,
) -> Section {
    let nodes = scenario.nodes();
    let cover = yardsticks.cover;
    let columns = vec![
        Column::words("network", "network"),
        Column::counts("diameter", "diameter"),
        Column::numbers("avg_hops", "hops", Unit::RATIO),
        Column::numbers("mcf", "per pair", Unit { decimals: None, ..Unit::NUMBER }),
        Column::numbers("n_mcf", "n x", Unit::RATIO),
        Column::numbers("of_cover", "of cover", Unit::PERCENT),
    ];
    let mut table = Table::new(["network", "networks"], columns);
    let mut line = |line: Line| {
        table.row(vec![
            Cell::new(line.name),
            line.diameter.map_or_else(Cell::none, Cell::new),
            line.avg_hops.map_or_else(Cell::none, Cell::new),
            // Eight decimals are what certificates are good for.
            Cell::new((line.mcf * 1e8).round() / 1e8).tone(line.tone).note(line.note),
            Cell::new(nodes as f64 * line.mcf),
            Cell::new(line.mcf / cover.mcf),
        ]);
    };
    if let Some(result) = result {
        let claims = &result.claims;
        let (diameter, avg_hops) = (Some(claims.diameter), Some(claims.avg_hops));
        line(Line {
            name: "this pod, at least".to_owned(),
            diameter,
            avg_hops,
            mcf: claims.mcf_lower,
            tone: Tone::Answer,
            note: "claimed",
        });
        let name = "this pod, at most".to_owned();
        line(Line { name, diameter, avg_hops, mcf: claims.mcf_upper, tone: Tone::Text, note: "" });
        let name = "this pod, at most by its hops".to_owned();
        let mcf = hop_bound(nodes, claims.hop_sum);
        line(Line { name, diameter, avg_hops, mcf, tone: Tone::Muted, note: "" });
    }
    let torus = |name: &str, torus: &TorusFigures| Line {
        name: format!("{name} {}", baselines::named(torus.shape)),
        diameter: Some(torus.hops.diameter),
        avg_hops: Some(torus.hops.average(nodes)),
        mcf: torus.mcf,
        tone: Tone::Text,
        note: "",
    };
    for (name, figures) in [("PT", &yardsticks.pt), ("PDTT", &yardsticks.pdtt)] {
        if let Some(figures) = figures {
            line(torus(name, figures));
        }
    }
    let bound = |name: &str, avg_hops, mcf| Line {
        name: name.to_owned(),
        diameter: None,
        avg_hops,
        mcf,
        tone: Tone::Muted,
        note: "",
    };
    line(bound("any pod (cover bound)", Some(cover.avg_hops), cover.mcf));
    line(bound("any network (Moore bound)", None, yardsticks.moore));
    Section::new("Throughput, flits per cycle", table)
}
