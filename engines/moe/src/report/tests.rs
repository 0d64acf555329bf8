use super::*;
use crate::methods::all;
use crate::scenario::presets;
use lightbay_core::checked::downcast;
use lightbay_core::kind::Kind as _;
use lightbay_core::report::{Body, Spans, Table};
use lightbay_core::testing::Ask;

/// A plan of two layers with a delay that stands out: 25 ms behind phases of 1 ms.
fn solved(delay_ms: f64) -> Plan<Moe> {
    let mut body = presets::scenario("moe-small").unwrap();
    body.cluster.reconfiguration_delay_ms = delay_ms;
    let done = Ask::of(&all(), "mfabric-swap", body).typed(&[("policy", "paper")]).run().done;
    downcast::<Moe>(&done.plan.unwrap()).unwrap().plan().clone()
}

fn section(plan: &Plan<Moe>, name: &str) -> Section {
    Moe::report(&plan.scenario, Some(plan)).unwrap().section(name, Deadline::NEVER).unwrap()
}

fn spans(section: &Section) -> &Spans {
    let of = |block: &lightbay_core::report::Block| matches!(block.body, Body::Spans(_));
    let Some(Body::Spans(spans)) = section.blocks.iter().find(|block| of(block)).map(|block| &block.body)
    else {
        panic!("no spans")
    };
    spans
}

fn table<'a>(section: &'a Section, name: &str) -> &'a Table {
    let Some(Body::Table(table)) =
        section.blocks.iter().find(|block| block.name == name).map(|block| &block.body)
    else {
        panic!("no table {name}")
    };
    table
}

/// The phases of the layers, one after the other, are the micro-batch; every interval is an item of its own.
#[test]
fn phases_of_a_layer_add_up_and_hidden_changes_take_no_time() {
    for delay_ms in [0.2, 25.0] {
        let plan = solved(delay_ms);
        let timeline = section(&plan, "timeline");
        let rows = table(&timeline, "layer");
        let micro_batch = spans(&timeline);
        let lengths: Vec<f64> = rows.rows.iter().filter_map(|row| row.cells[1].value.as_f64()).collect();
        assert!(lengths.windows(2).all(|pair| pair[0] >= pair[1]), "slowest first: {lengths:?}");
        assert!((lengths.iter().sum::<f64>() - 1e3 * micro_batch.end_s).abs() < 1e-9);
        let mut items: Vec<u32> =
            micro_batch.lanes.iter().flat_map(|lane| &lane.spans).filter_map(|span| span.item).collect();
        let count = items.len();
        items.sort_unstable();
        items.dedup();
        assert_eq!(items.len(), count);
        let report = Moe::report(&plan.scenario, Some(&plan)).unwrap();
        for (row, length) in rows.rows.iter().zip(&lengths) {
            let detail = report.detail("timeline", row.item.unwrap(), Deadline::NEVER).unwrap();
            let shown = spans(&detail).lanes.iter().flat_map(|lane| &lane.spans);
            let sum: f64 = shown.filter(|span| !span.hidden).map(|span| span.end_s - span.start_s).sum();
            assert!((1e3 * sum - length).abs() < 1e-9, "{sum} {length}");
        }
        assert!(report.detail("timeline", u32::MAX, Deadline::NEVER).is_err());
    }
}

/// The parts of every bar are those of its iteration, and the bound is that of pooled NICs.
#[test]
fn bars_of_networks_add_up_to_their_iterations() {
    let plan = solved(0.025);
    let networks = section(&plan, "fabrics");
    let bars = table(&networks, "networks");
    assert_eq!(bars.rows.len(), 5);
    for row in &bars.rows {
        let iteration = row.cells[1].value.as_f64().unwrap();
        assert!((row.parts.iter().sum::<f64>() / iteration - 1.0).abs() < 1e-9, "{:?}", row.cells[0]);
    }
    let pooled = bars.rows.last().unwrap().cells[1].value.as_f64().unwrap();
    assert_eq!(bars.limit.as_ref().map(|line| line.value), Some(pooled));
    let iteration = section(&plan, "iteration");
    let Body::Facts(facts) = &iteration.blocks[0].body else { panic!("no facts") };
    let number = |fact: &lightbay_core::report::Fact| fact.cell.value.as_f64().unwrap();
    let sum: f64 = facts.facts.iter().filter(|fact| fact.adds).map(number).sum();
    assert!((sum / plan.result.iteration.iteration_ms - 1.0).abs() < 1e-9);
}

/// A cell of the demand names the circuits that join its servers; both directions of a pair share them.
#[test]
fn one_matrix_has_demand_and_circuits() {
    let plan = solved(0.025);
    let demand = section(&plan, "demand");
    let Body::Matrix(matrix) = &demand.blocks[0].body else { panic!("no matrix") };
    let n = matrix.rows.len();
    for from in 0..n {
        for to in (0..n).filter(|to| *to != from) {
            let (cell, back) = (&matrix.cells[from * n + to], &matrix.cells[to * n + from]);
            assert_eq!(cell.note, back.note);
            let said = matrix.about[from * n + to].sentence.to_string();
            let over = circuits::over(cell.note.parse().unwrap());
            assert!(said.contains(&format!("over {over}")), "{said}");
        }
    }
}

/// The short lanes of a layer have its intervals in at most four lanes.
#[test]
fn a_small_timeline_has_every_interval_in_few_lanes() {
    for delay_ms in [0.2, 25.0] {
        let plan = solved(delay_ms);
        let report = Moe::report(&plan.scenario, Some(&plan)).unwrap();
        let item = table(&section(&plan, "timeline"), "layer").rows[0].item.unwrap();
        let detail = report.detail("timeline", item, Deadline::NEVER).unwrap();
        let of = spans(&detail);
        let count =
            |lanes: &[lightbay_core::report::Lane]| lanes.iter().map(|lane| lane.spans.len()).sum::<usize>();
        assert_eq!(count(&of.short), count(&of.lanes));
        assert!(of.short.len() <= 4 && of.short.len() < of.lanes.len());
        for lane in &of.short {
            assert!(
                lane.spans.windows(2).all(|pair| pair[0].end_s <= pair[1].start_s + 1e-12),
                "{}",
                lane.name
            );
        }
    }
}

#[test]
fn the_slider_has_the_delay_and_its_break_even() {
    let plan = solved(25.0);
    for name in ["timeline", "delays"] {
        let slider = section(&plan, name).slider.unwrap();
        assert_eq!((slider.now.at, slider.now.name.as_str()), (25.0, "25 ms"));
        let break_even = slider.turn.map(|(mark, _)| mark.at);
        let Some(Body::Facts(facts)) =
            section(&plan, "delays").blocks.first().map(|block| block.body.clone())
        else {
            panic!("no facts")
        };
        let fact = facts.facts.iter().find(|fact| fact.name == "break_even_ms").unwrap();
        assert_eq!(break_even, fact.cell.value.as_f64(), "{name}");
    }
}

#[test]
fn every_layer_has_the_demand_and_the_circuits_of_its_servers() {
    let plan = solved(25.0);
    let report = Moe::report(&plan.scenario, Some(&plan)).unwrap();
    let layers = section(&plan, "layers");
    let Some(Body::Table(list)) = layers.blocks.first().map(|block| &block.body) else { panic!("no list") };
    for row in &list.rows {
        let detail = report.detail("layers", row.item.unwrap(), Deadline::NEVER).unwrap();
        let Body::Matrix(matrix) = &detail.blocks[0].body else { panic!("no matrix") };
        assert_eq!(matrix.rows.len(), plan.scenario.body.region.servers as usize);
    }
    assert!(report.detail("layers", 999, Deadline::NEVER).is_err());
}
