use super::*;
use crate::methods;
use crate::scenario::{CollectiveSort, Demand};
use crate::testing::preset;
use lightbay_core::checked::downcast;
use lightbay_core::event::EventBody;
use lightbay_core::kind::Kind;
use lightbay_core::param::ParamValue;
use lightbay_core::report::session::RunPoint;
use lightbay_core::report::{Body, Cell, Column, RunBeside, Table, Unit, text};
use lightbay_core::testing::Ask;

#[test]
fn every_section_of_a_plan_can_be_worked_out() {
    for name in ["ndv2x2-allgather-1mb", "dgx1-allreduce-200kb", "dgx1-gather-1mb"] {
        let ended = Ask::of(&methods::all(), "construct", preset(name)).run();
        let plan = downcast::<Collective>(&ended.done.plan.unwrap()).unwrap();
        let report = Collective::report(&plan.plan().scenario, Some(plan.plan())).unwrap();
        for info in SECTIONS.iter().filter(|info| !info.in_session) {
            let section = report.section(info.name, Deadline::NEVER);
            assert!(section.is_ok_and(|section| !section.blocks.is_empty()), "{} of {name}", info.name);
        }
        let deliveries = report.section("deliveries", Deadline::NEVER).unwrap();
        let Body::Curves(curves) = &deliveries.blocks[0].body else { panic!("no curve") };
        let last = curves.curves[0].points.last().unwrap();
        assert!(
            (last.at - plan.plan().objective.value).abs() < 1e-9,
            "{name}: the last delivery is the finish"
        );
    }
}

/// 1 MB takes 1000 us, and 50 us of latency are up to a tenth of an epoch.
#[test]
fn a_finish_that_leaves_latencies_out_stands_beside_its_floor() {
    let mut scenario = crate::testing::own(2, &[], &[(0, 1, 1.0, 50.0)], &[]);
    scenario.demand = Demand::named(CollectiveSort::Broadcast, 1e6);
    let caveat = |scenario: &CollectiveScenario| {
        let plan = Ask::of(&methods::all(), "construct", scenario.clone()).run().done.plan.unwrap();
        let plan = downcast::<Collective>(&plan).unwrap();
        (plan.plan().objective.value, Collective::caveat(plan.plan()))
    };
    let said = "the finish of 1000.000 µs omits latencies of up to 0.1 epochs (alpha_threshold): with all \
                latencies, no schedule ends before 1050 µs, and this schedule ends after 1050.000 µs";
    assert_eq!(caveat(&scenario), (1000.0, Some(said.to_owned())));
    scenario.time.alpha_threshold = 0.0;
    assert_eq!(caveat(&scenario), (2000.0, None));
    scenario.time.alpha_threshold = 0.1;
    scenario.topology.links[0].alpha_us = 0.0;
    assert_eq!(caveat(&scenario), (1000.0, None));
}

/// Nothing is above the floor's curve, and trees are above every baseline at large sizes.
#[test]
fn no_curve_is_above_the_floor() {
    let ended = Ask::of(&methods::all(), "construct", preset("ndv2x2-allgather-1mb")).run();
    let plan = downcast::<Collective>(&ended.done.plan.unwrap()).unwrap();
    let report = Collective::report(&plan.plan().scenario, Some(plan.plan())).unwrap();
    let section = report.section("sizes", Deadline::NEVER).unwrap();
    let Body::Curves(curves) = &section.blocks[0].body else { panic!("no curves") };
    let names: Vec<&str> = curves.curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!(names, ["plan", "floor", "trees", "ring", "shortest path", "single tree"]);
    let floor = &curves.curves[1].points;
    // 21 sizes and that of the scenario.
    assert_eq!(floor.len(), 22);
    for curve in &curves.curves {
        for point in &curve.points {
            let above = floor.iter().find(|floor| floor.at >= point.at).unwrap();
            assert!(point.value <= above.value * (1.0 + 1e-9), "{} at {}", curve.name, point.at);
        }
    }
    let last = |name: &str| {
        let curve = curves.curves.iter().find(|curve| curve.name == name).unwrap();
        curve.points.last().unwrap().value
    };
    assert!(last("trees") > last("ring") && last("trees") > last("single tree"));
    assert!(last("trees") > 0.99 * floor.last().unwrap().value);
}

/// Baselines behind a switch that cuts through wait for a slow port too: 8 MB into it at 25 GB/s, 7 of them at most of
/// what others have.
#[test]
fn no_baseline_is_above_the_floor_of_a_slow_port() {
    for (sort, most) in [
        (CollectiveSort::Broadcast, 25.0),
        (CollectiveSort::AllGather, 8.0 / 7.0 * 25.0),
        (CollectiveSort::AllReduce, 25.0),
    ] {
        let mut scenario = preset("h100x1-allgather-8mb");
        scenario.demand = Demand::named(sort, 8e6);
        for (name, text) in [("switch_hop", "cut_through"), ("stragglers", "8-1:1:18")] {
            scenario.set(name, None, &ParamValue::Text(text.to_owned())).unwrap();
        }
        let scenario = lightbay_core::scenario::Scenario::new("slow port".to_owned(), scenario);
        let report = Collective::report(&scenario, None).unwrap();
        let section = report.section("sizes", Deadline::NEVER).unwrap();
        let Body::Curves(curves) = &section.blocks[0].body else { panic!("no curves") };
        let floor = curves.curves[0].points.last().unwrap().value;
        assert!((floor / most - 1.0).abs() < 1e-3, "{sort:?}: {floor}");
        for curve in &curves.curves[1..] {
            for (point, floor) in curve.points.iter().zip(&curves.curves[0].points) {
                assert_eq!(point.at, floor.at);
                assert!(
                    point.value <= floor.value * (1.0 + 1e-9),
                    "{sort:?}: {} at {}",
                    curve.name,
                    point.at
                );
            }
        }
    }
}

/// A plan of several sizes has its own curve, and a table of its ranges.
#[test]
fn plans_of_several_sizes_are_drawn_for_all_of_them() {
    let mut scenario = preset("dgx1-allgather-200kb");
    scenario.demand.sizes_bytes = vec![1_000, 30_000, 1_000_000, 30_000_000];
    let ended = Ask::of(&methods::all(), "auto", scenario).run();
    let plan = downcast::<Collective>(&ended.done.plan.unwrap()).unwrap();
    let report = Collective::report(&plan.plan().scenario, Some(plan.plan())).unwrap();
    let section = report.section("sizes", Deadline::NEVER).unwrap();
    let Body::Curves(curves) = &section.blocks[0].body else { panic!("no curves") };
    let [own, floor] = &curves.curves[..2] else { panic!("two curves") };
    assert_eq!((floor.name.as_str(), own.name.as_str()), ("floor", "plan"));
    let sizes: Vec<f64> = own.points.iter().map(|point| point.at).collect();
    assert_eq!(sizes, [1e3, 3e4, 1e6, 3e7]);
    for (floor, own) in floor.points.iter().zip(&own.points) {
        assert!(own.value <= floor.value * (1.0 + 1e-9), "{own:?} above {floor:?}");
    }
    let Body::Table(ranges) = &section.blocks[2].body else { panic!("no table of ranges") };
    assert_eq!(ranges.rows.len(), plan.plan().result.ranges.len());
    let told = |section: &Section| format!("{:?}", section.remarks).contains("sizes were planned");
    assert!(!told(&section));
    // A run that was stopped before.
    let mut stopped = plan.plan().clone();
    stopped.result.ranges.clear();
    let report = Collective::report(&stopped.scenario, Some(&stopped)).unwrap();
    assert!(told(&report.section("sizes", Deadline::NEVER).unwrap()));
}

#[test]
fn the_grid_marks_the_binding_cut() {
    let ended = Ask::of(&methods::all(), "construct", preset("ndv2x2-allgather-1gb")).run();
    let plan = downcast::<Collective>(&ended.done.plan.unwrap()).unwrap();
    let report = Collective::report(&plan.plan().scenario, Some(plan.plan())).unwrap();
    let section = report.section("occupancy", Deadline::NEVER).unwrap();
    let Body::Matrix(matrix) = &section.blocks[0].body else { panic!("no matrix") };
    let marked: Vec<&String> = matrix.rows.iter().filter(|row| row.starts_with('▌')).collect();
    assert!(!marked.is_empty(), "{marked:?}");
    assert_eq!(matrix.columns.len(), 35);
}

/// Occupancy of a plan of a method as lanes, with the sentence that the screen begins with.
fn lanes_of(name: &str, method: &str) -> (usize, lightbay_core::report::Spans, String) {
    let ended = Ask::of(&methods::all(), method, preset(name)).run();
    let plan = downcast::<Collective>(&ended.done.plan.unwrap()).unwrap();
    let report = Collective::report(&plan.plan().scenario, Some(plan.plan())).unwrap();
    let section = report.section("occupancy", Deadline::NEVER).unwrap();
    let spans = section.blocks.iter().find_map(|block| match &block.body {
        Body::Spans(spans) => Some(spans.clone()),
        _ => None,
    });
    let spans = spans.unwrap();
    let all = || spans.lanes.iter().flat_map(|lane| &lane.spans);
    let first = all().find(|span| span.item == section.usual && span.item.is_some()).unwrap();
    (plan.plan().result.sends.len(), spans.clone(), first.sentence.to_string())
}

/// 8 GPUs send 200 KB to 7 others; no link carries two transmissions at a time.
#[test]
fn lanes_have_every_transmission_and_begin_with_the_busiest_link() {
    let (sends, spans, sentence) = lanes_of("dgx1-allgather-200kb", "construct");
    assert_eq!(spans.lanes.iter().map(|lane| lane.spans.len()).sum::<usize>(), sends);
    let first = &spans.lanes[0];
    assert!(sentence.contains(first.name.trim_start_matches(['▌', ' '])), "{sentence}, not {}", first.name);
    for lane in &spans.lanes {
        assert!(lane.spans.windows(2).all(|pair| pair[0].end_s <= pair[1].start_s + 1e-12), "{}", lane.name);
        assert!(lane.spans.iter().all(|span| span.end_s <= spans.end_s + 1e-12 && span.series.is_some()));
    }
}

/// Trees state no bound in epochs: the cut between the chassis, one link in each direction, binds the floor.
#[test]
fn the_cut_of_a_floor_is_marked_too() {
    let (_, spans, _) = lanes_of("ndv2x2-allgather-1gb", "trees");
    let marked: Vec<&str> =
        spans.lanes.iter().map(|lane| lane.name.as_str()).filter(|name| name.starts_with('▌')).collect();
    assert!(!marked.is_empty());
    assert!(marked.iter().all(|name| name.contains("c0") && name.contains("c1")), "{marked:?}");
}

#[test]
fn busy_parts_are_rounded_but_never_up_to_all() {
    let shown = |busy_us, finish_us| text::number(occupancy::busy_share(busy_us, finish_us), Unit::PERCENT);
    assert_eq!([shown(10.0, 11.25), shown(58.0, 84.0)], ["88.89", "69.05"]);
    assert_eq!([shown(0.999_99, 1.0), shown(1.0 - 1e-12, 1.0), shown(1.0, 0.0)], ["99.99", "100.00", "0.00"]);
}

#[test]
fn a_column_of_equal_cells_moves_to_the_heading() {
    let columns =
        [Column::words("root", "root"), Column::counts("hops", "hops"), Column::counts("depth", "depth")];
    let mut table = Table::new(["tree", "trees"], columns.to_vec());
    for (root, depth) in [("a", 3), ("b", 4)] {
        table.row(vec![Cell::new(root), Cell::new(15), Cell::new(depth)]);
    }
    assert_eq!(finish::without_constants(&mut table, &["hops", "depth"]), ", hops 15");
    assert!(table.columns.len() == 2 && table.rows.iter().all(|row| row.cells.len() == 2));
}

#[test]
fn cells_of_the_grid_tell_the_send_and_when_its_piece_is_needed() {
    let ended = Ask::of(&methods::all(), "construct", preset("ndv2x2-allgather-1gb")).run();
    let plan = downcast::<Collective>(&ended.done.plan.unwrap()).unwrap();
    let report = Collective::report(&plan.plan().scenario, Some(plan.plan())).unwrap();
    let section = report.section("occupancy", Deadline::NEVER).unwrap();
    let Body::Matrix(matrix) = &section.blocks[0].body else { panic!("no matrix") };
    assert_eq!(matrix.about.len(), matrix.cells.len());
    for (cell, about) in matrix.cells.iter().zip(&matrix.about) {
        assert_eq!(cell.value.as_f64().is_some(), about.item.is_some());
    }
    let first = matrix.about[0].sentence.to_string();
    assert!(first.contains("epochs 0 to 4") && first.contains("forwarded in epoch"), "{first}");
}

#[test]
fn a_chunk_is_made_of_its_ways() {
    let ended = Ask::of(&methods::all(), "construct", preset("ndv2x2-allgather-1mb")).run();
    let plan = downcast::<Collective>(&ended.done.plan.unwrap()).unwrap();
    let report = Collective::report(&plan.plan().scenario, Some(plan.plan())).unwrap();
    let section = report.detail("chunks", 0, Deadline::NEVER).unwrap();
    let Body::Table(table) = &section.blocks[0].body else { panic!("no table") };
    // Every GPU but the source gets the chunk once.
    assert_eq!(table.rows.len(), 15);
    assert!(report.detail("chunks", 99, Deadline::NEVER).is_err());
}

#[test]
fn questions_are_listed_as_they_are_asked() {
    let mut two = preset("dgx1-allgather-200kb");
    two.demand.chunks_per_rank = 2;
    two.demand.output_buffer_bytes = Some(400e3);
    two.time.epoch = crate::scenario::EpochRule::SlowestLink;
    let (done, told) = Ask::of(&methods::all(), "teccl-milp", two).run().told();
    let mut run = RunBeside { method: "teccl-milp".to_owned(), ..RunBeside::default() };
    for said in told {
        if let EventBody::Series(point) = said {
            let point_of_run = RunPoint { at_s: 0.0, count: point.x, value: point.y };
            run.series.entry(point.name).or_default().push(point_of_run);
        }
    }
    let plan = downcast::<Collective>(&done.plan.unwrap()).unwrap();
    let report = Collective::report(&plan.plan().scenario, None).unwrap();
    let beside = Surroundings { run: Some(run), ..Surroundings::default() };
    let section = report.in_session("questions", &beside, Deadline::NEVER).unwrap();
    let Body::Table(table) = &section.blocks[0].body else { panic!("no table") };
    // The construction ends after 5 epochs; 4 are requested with symmetries, then whole. The newest stands first.
    let words: Vec<String> = table.rows.iter().map(|row| row.sentence.to_string()).collect();
    assert_eq!(words.len(), 2, "{words:?}");
    assert!(words[0].contains("proven: no schedule exists"), "{words:?}");
    assert!(words[1].contains("asymmetric ones may exist"), "{words:?}");
    assert!(report.in_session("questions", &Surroundings::default(), Deadline::NEVER).is_err());
}
