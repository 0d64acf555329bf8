use super::*;
use crate::preset;
use lightbay_core::checked::SharedPlan;
use lightbay_core::clock::SystemClock;
use lightbay_core::context::Stop;
use lightbay_core::event::{EndStatus, HotStartFate};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

fn settings(texts: &[&str]) -> Vec<Setting> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn sweep(presets: &[&str], over: &[&str], methods: &[&str]) -> Sweep {
    let scenarios = presets.iter().map(|name| preset(name).unwrap()).collect();
    Sweep::of(scenarios).unwrap().methods(&names(methods)).unwrap().over(&settings(over)).unwrap()
}

fn refusal(over: &[&str], methods: &[&str]) -> String {
    let scenario = preset("tiny4").unwrap();
    let sweep = Sweep::of(vec![scenario]).unwrap().methods(&names(methods)).unwrap();
    sweep.over(&settings(over)).unwrap_err().to_string()
}

fn values(over: &str) -> Vec<String> {
    sweep(&["tiny4"], &[over], &[]).axes()[0].values.iter().map(ToString::to_string).collect()
}

fn solve(sweep: &Sweep, numbers: &[usize], starts: Starts) -> Vec<(SweepRow, Option<SharedPlan>)> {
    let walker = Walker::new(1, None, Arc::new(SystemClock::start()), None).unwrap();
    let mut rows = Vec::new();
    let walked = walker.walk(sweep, numbers, starts, |row, plan| {
        rows.push((row, plan));
        ControlFlow::Continue(())
    });
    assert_eq!(walked, Walked::Through);
    rows
}

#[test]
fn values_are_lists_or_ranges() {
    assert_eq!(values("bandwidth_gbps=200, 1_600"), ["200", "1600"]);
    assert_eq!(values("seq=2048..8192..2048"), ["2048", "4096", "6144", "8192"]);
    assert_eq!(values("micro_batches=4..6"), ["4", "5", "6"]);
    assert_eq!(values("mfu=0.1..0.5..0.1"), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
    assert_eq!(values("mfu=30%..45%..10%,0.9"), ["0.3", "0.4", "0.9"]);
    assert_eq!(values("reverse=no,yes"), ["false", "true"]);
    assert_eq!(values("ports_per_pod=[4,4,8,8],8"), ["4,4,8,8", "8"]);
    assert_eq!(values("ports_per_pod[1]=4..6"), ["4", "5", "6"]);
    assert_eq!(sweep(&["tiny4"], &["ports_per_pod[1]=4"], &[]).axes()[0].label(), "ports_per_pod[1]");
    let links = sweep(&["ndv2x1-allreduce-64mb"], &["failed_links=[0-1,1-0],none"], &[]);
    let texts: Vec<String> = links.axes()[0].values.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["0-1,1-0", "none"]);
}

#[test]
fn a_figure_with_the_name_of_an_axis_gets_a_column_of_its_own() {
    let columns = sweep(&["crossconnect-example"], &["max_dark_per_pod=0,1"], &["lumos-repair"]).columns();
    let count = |name: &str| columns.iter().filter(|column| *column == name).count();
    assert_eq!((count("max_dark_per_pod"), count("plan.max_dark_per_pod")), (1, 1), "{columns:?}");
}

#[test]
fn what_no_axis_can_be_is_refused_with_the_remedy() {
    for (over, methods, expected) in [
        (&["bandwith_gbps=1"][..], &[][..], "did you mean 'bandwidth_gbps'?"),
        (&["seq=many"], &[], "'many' is not valid"),
        (&["seq=1024,1024"], &[], "has 1024 twice"),
        (&["seq=8..4"], &[], "'8..4' is not a range"),
        (&["mfu=0.1..0.5"], &[], "add the step: first..last..step"),
        (&["mfu=0.1..0.5..0"], &[], "a step above 0"),
        (&["seq=1..1000000"], &[], "give a larger step"),
        (&["seq=1..1000", "micro_batches=1..1000"], &[], "cells, but the maximum is"),
        (&["seq=1", "seq=2"], &[], "give all its values at once"),
        (&["gap=0.1,0.2"], &[], "is a column of every table"),
        (&["generations=1,2"], &["delta-fast", "prop-alloc"], "is not a parameter of prop-alloc"),
        (&["generations=1,2"], &["prop-alloc"], "it belongs to"),
    ] {
        let said = refusal(over, methods);
        assert!(said.contains(expected), "{over:?}: {said}");
    }
    let two = Sweep::of(vec![preset("tiny4").unwrap(), preset("tpu-128").unwrap()]);
    assert!(two.unwrap_err().to_string().contains("is of kind tpu"));
    let scenario = || Sweep::of(vec![preset("tiny4").unwrap()]).unwrap();
    assert!(scenario().methods(&names(&["auto", "auto"])).is_err());
    let set = scenario().methods(&[]).unwrap().set(&settings(&["seq=1024"])).unwrap();
    assert!(set.over(&settings(&["seq=1,2"])).unwrap_err().to_string().contains("is also set for all cells"));
}

#[test]
fn settings_go_to_those_methods_that_have_them() {
    let scenario = preset("tiny4").unwrap();
    let sweep = Sweep::of(vec![scenario]).unwrap().methods(&names(&["prop-alloc", "delta-fast"])).unwrap();
    let set = sweep.clone().set(&settings(&["generations=3", "seq=1024"])).unwrap();
    assert_eq!(set.requests.iter().map(|request| request.settings.len()).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(set.scenario(&set.cell(1)).unwrap().knob("seq"), Some(ParamValue::Int(1024)));
    assert!(sweep.clone().set(&settings(&["generatoins=3"])).is_err());
    assert!(sweep.set(&settings(&["generations=none"])).is_err());
}

#[test]
fn the_product_has_scenarios_slowest_and_methods_side_by_side() {
    let sweep =
        sweep(&["tiny4", "tiny8"], &["seq=1,2,3", "bandwidth_gbps=400,800"], &["prop-alloc", "delta-joint"]);
    assert_eq!(sweep.len(), 24);
    let all: Vec<Cell> = (1..=24).map(|number| sweep.cell(number)).collect();
    assert_eq!(all[0], Cell { number: 1, scenario: 0, at: vec![0, 0], method: 0 });
    assert_eq!(all[1], Cell { number: 2, scenario: 0, at: vec![0, 0], method: 1 });
    assert_eq!(all[2], Cell { number: 3, scenario: 0, at: vec![0, 1], method: 0 });
    assert_eq!(all[4], Cell { number: 5, scenario: 0, at: vec![1, 0], method: 0 });
    assert_eq!(all[12], Cell { number: 13, scenario: 1, at: vec![0, 0], method: 0 });
    let distinct: BTreeSet<_> =
        all.iter().map(|cell| (cell.scenario, cell.at.clone(), cell.method)).collect();
    assert_eq!(distinct.len(), 24);
}

#[test]
fn plans_go_along_the_last_axis_that_keeps_what_is_known() {
    // `tp` starts from nothing, so plans go along `seq`.
    let sweep = sweep(&["tiny4"], &["seq=1,2,3", "tp=1,2"], &["prop-alloc", "delta-joint"]);
    let line = |number| sweep.line(&sweep.cell(number));
    assert_eq!((1..=12).map(line).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 2, 7, 4, 9, 2, 11, 4]);
    let ends: Vec<usize> = (1..=12).filter(|number| sweep.ends_line(&sweep.cell(*number))).collect();
    assert_eq!(ends, [1, 3, 5, 7, 9, 10, 11, 12]);
    let cold = sweep.cold(true);
    assert!((1..=12).all(|number| cold.line(&cold.cell(number)) == number));
}

proptest! {
    #[test]
    fn parts_are_disjoint_complete_and_keep_lines_together(
        of in 1_usize..7,
        first in 1_usize..5,
        second in 1_usize..5,
        cold in any::<bool>(),
    ) {
        let over = [format!("seq=1..{first}"), format!("micro_batches=1..{second}")];
        let over: Vec<&str> = over.iter().map(String::as_str).collect();
        let sweep = sweep(&["tiny4", "tiny8"], &over, &["sqrt-alloc", "delta-fast", "delta-joint"]).cold(cold);
        let mut seen = BTreeSet::new();
        let mut lines = BTreeSet::new();
        for part in 1..=of {
            let numbers = sweep.shard(Shard { part, of });
            prop_assert!(numbers.is_sorted());
            let own: BTreeSet<usize> = numbers.iter().map(|number| sweep.line(&sweep.cell(*number))).collect();
            prop_assert!(own.is_disjoint(&lines));
            lines.extend(own);
            for number in numbers {
                prop_assert!(seen.insert(number));
            }
        }
        prop_assert_eq!(seen, (1..=sweep.len()).collect::<BTreeSet<_>>());
    }
}

#[test]
fn parts_are_written_as_fractions() {
    assert_eq!("2/3".parse(), Ok(Shard { part: 2, of: 3 }));
    for wrong in ["", "2", "0/3", "4/3", "1/0", "a/b", "-1/2"] {
        assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
    }
}

#[test]
fn the_id_is_of_the_question_not_of_the_machine() {
    let base = || sweep(&["tiny4"], &["seq=1024,2048"], &["delta-fast"]);
    assert_eq!(base().id(), base().id());
    assert_eq!(base().id().len(), 16);
    let others = [
        sweep(&["tiny8"], &["seq=1024,2048"], &["delta-fast"]),
        sweep(&["tiny4"], &["seq=1024"], &["delta-fast"]),
        sweep(&["tiny4"], &["seq=1024,2048"], &["delta-joint"]),
        base().limited(Some(1.0), None, None),
        base().limited(None, None, Some(2)),
        base().cold(true),
        base().set(&settings(&["generations=5"])).unwrap(),
        base().set(&settings(&["bandwidth_gbps=100"])).unwrap(),
    ];
    let ids: BTreeSet<String> = others.iter().chain([&base()]).map(Sweep::id).collect();
    assert_eq!(ids.len(), others.len() + 1);
}

#[test]
fn rows_say_what_was_asked_found_and_handed_on() {
    let sweep = sweep(&["tiny8"], &["bandwidth_gbps=400,800"], &["prop-alloc", "delta-joint"]);
    let rows = solve(&sweep, &sweep.shard(Shard::WHOLE), Starts::new());
    let rows: Vec<&SweepRow> = rows.iter().map(|(row, _)| row).collect();
    assert_eq!(rows.iter().map(|row| row.cell).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(rows[1].values, [ParamValue::Float(400.0)]);
    assert_eq!((rows[0].status, rows[1].status), (EndStatus::Heuristic, EndStatus::Optimal));
    // Joint NCT of tiny8 at 400 Gb/s, as an independent implementation found it.
    assert!((rows[1].metrics["nct"] - 1.0469).abs() < 1e-4);
    assert_eq!(rows[1].gap, Some(0.0));
    let origin = |row: &SweepRow| (row.started_from, row.hot_start);
    assert_eq!(origin(rows[1]), (None, None));
    assert_eq!(origin(rows[2]), (None, None), "a baseline takes no plan");
    assert_eq!(origin(rows[3]), (Some(2), Some(HotStartFate::Accepted)));
    assert_eq!(rows[3].reproducible, Some(true));
    assert!(rows.iter().all(|row| !row.failed() && row.scenario_sha256.len() == 64));
}

#[test]
fn a_cell_that_cannot_be_is_a_row_with_a_reason_and_the_line_goes_on() {
    // With one port a pod cannot reach both neighbour and peer.
    let sweep = sweep(&["tiny4"], &["ports_per_pod=8,1,4"], &["delta-joint"]);
    let rows = solve(&sweep, &sweep.shard(Shard::WHOLE), Starts::new());
    assert_eq!(rows[1].0.status, EndStatus::Invalid);
    assert!(rows[1].0.failed() && rows[1].0.reason.contains("port"), "{}", rows[1].0.reason);
    assert!(rows[1].1.is_none());
    assert_eq!(rows[2].0.started_from, Some(1), "the last plan of the line is handed on");
    let line = TableForm::Csv.line(&sweep, &rows[1].0);
    assert!(line.contains(",invalid,") && line.matches('\n').count() == 1, "{line}");
}

/// A knob that replaces the value of a knob that was set before is refused, so that no row states a value that its
/// scenario does not have. A knob that refines an earlier one is not.
#[test]
fn settings_that_a_later_setting_would_replace_are_refused() {
    let set = |name: &str, texts: &[&str]| {
        let (changed, _) =
            crate::change(&preset(name).unwrap(), &settings(texts)).map_err(|all| all.to_string())?;
        Ok::<_, String>(changed)
    };
    for (name, texts, expected) in [
        (
            "moe-small",
            &["hidden=512", "model=mixtral_8x7b"][..],
            "model=mixtral_8x7b changes hidden, which was set to '512', to '4096'; set model before hidden",
        ),
        ("moe-small", &["delay_profile=fast", "reconfiguration_delay_ms=1"], "cannot be combined"),
        ("moe-small", &["reconfiguration_delay_ms=1", "delay_profile=fast"], "cannot be combined"),
        (
            "moe-small",
            &["cluster_servers=16", "pp=3"],
            "pp=3 changes cluster_servers, which was set to '16', to '24'",
        ),
        ("moe-small", &["eps_total_gbps=800", "link_gbps=200"], "changes eps_total_gbps"),
        ("tpu-256", &["group=2,2", "cubes=2"], "cubes=2 changes group, which was set to '2,2', to 'auto'"),
        ("crossconnect-example", &["circuits=0-1:1,1-0:0"], "names this pair of pods twice"),
    ] {
        let refused = set(name, texts).unwrap_err();
        assert!(refused.contains(expected), "{texts:?}: {refused}");
    }
    for (name, texts) in [
        ("moe-small", &["model=mixtral_8x7b", "hidden=512"][..]),
        ("moe-small", &["hidden=4096", "model=mixtral_8x7b"]),
        ("moe-small", &["pp=3", "cluster_servers=24"]),
        ("tpu-256", &["cubes=2", "group=2"]),
        ("crossconnect-example", &["ports_a=4", "ports_a[1]=5"]),
    ] {
        set(name, texts).unwrap_or_else(|refused| panic!("{texts:?}: {refused}"));
    }
    let sweep = sweep(&["moe-small"], &["hidden=512,4096", "model=mixtral_8x7b"], &["pooled"]);
    let rows = solve(&sweep, &sweep.shard(Shard::WHOLE), Starts::new());
    assert!(
        rows[0].0.failed() && rows[0].0.reason.contains("set model before hidden"),
        "{}",
        rows[0].0.reason
    );
    assert!(!rows[1].0.failed(), "{}", rows[1].0.reason);
}

#[test]
fn what_was_solved_earlier_is_started_from() {
    let sweep = sweep(&["tiny8"], &["seq=2048,4096,8192"], &["delta-fast"]);
    let whole = solve(&sweep, &[1, 2, 3], Starts::new());
    let plan = whole[1].1.clone().unwrap();
    let rest = solve(&sweep, &[3], Starts::from([(1, (2, plan))]));
    let timeless = |row: &SweepRow| SweepRow { elapsed_s: 0.0, ..row.clone() };
    assert_eq!(timeless(&rest[0].0), timeless(&whole[2].0));
}

#[test]
fn a_stop_gives_up_the_present_cell() {
    let sweep = sweep(&["tiny4"], &["seq=2048,4096"], &["delta-fast"]);
    let walker = Walker::new(1, None, Arc::new(SystemClock::start()), None).unwrap();
    let mut rows = Vec::new();
    let walked = walker.walk(&sweep, &[1, 2], Starts::new(), |row, _| {
        rows.push(row.cell);
        walker.stop(Stop::Signal);
        ControlFlow::Continue(())
    });
    assert_eq!((walked, rows), (Walked::Stopped, vec![1]));
    let walked = walker.walk(&sweep, &[2], Starts::new(), |_, _| panic!("it was stopped"));
    assert_eq!(walked, Walked::Stopped);
}

#[test]
fn tables_read_back_and_refuse_those_of_others() {
    let own = sweep(&["tiny4"], &["ports_per_pod=[4,4],1"], &["sqrt-alloc"]);
    let other = sweep(&["tiny4"], &["ports_per_pod=8,9"], &["sqrt-alloc"]);
    let rows = solve(&own, &[1, 2], Starts::new());
    for form in [TableForm::Csv, TableForm::JsonLines] {
        let mut text = form.head(&own);
        for (row, _) in &rows {
            text.push_str(&form.line(&own, row));
        }
        // Tables of several parts may be put one after the other.
        text.push_str(&form.head(&own));
        text.push_str("torn");
        let found = form.read(&own, &text).unwrap();
        let found: Vec<_> = found.iter().map(|row| (row.cell, row.status, row.has_plan)).collect();
        assert_eq!(found, [(1, EndStatus::Heuristic, true), (2, EndStatus::Invalid, false)]);
        let said = form.read(&other, &text).unwrap_err().to_string();
        assert!(said.contains(&own.id()) && said.contains(&other.id()), "{said}");
        assert!(form.read(&own, "a,b\n").is_err());
    }
    let head = TableForm::Csv.head(&own);
    assert!(head.starts_with(
        "sweep,cell,cells,scenario,scenario_sha256,ports_per_pod,method,status,limit,objective,"
    ));
    assert!(head.ends_with(",elapsed_s,reason\n"));
    let third = sweep(&["tiny4"], &["seq=1,2"], &["sqrt-alloc"]);
    assert!(TableForm::Csv.read(&third, &head).unwrap_err().to_string().contains("columns of another sweep"));
}

#[test]
fn every_figure_of_every_method_has_a_column() {
    for (preset, left_out, only) in [
        // Circuits of this one stay.
        ("tiny4", &["simulate", "reallocate", "delta-phases"][..], None),
        ("tiny4_pair", &[], Some("reallocate")),
        ("crossconnect-4-4-25", &["all-to-all-order"], None),
        ("crossconnect-example", &["all-to-all-order"], None),
    ] {
        let scenario = crate::preset(preset).unwrap();
        let all: Vec<String> = methods(scenario.kind())
            .iter()
            .map(|info| info.name.to_owned())
            .filter(|name| !left_out.contains(&name.as_str()))
            .filter(|name| only.is_none_or(|only| name == only))
            .collect();
        let sweep = Sweep::of(vec![scenario]).unwrap().methods(&all).unwrap().limited(Some(2.0), None, None);
        let columns: BTreeSet<String> = sweep.columns().into_iter().collect();
        assert_eq!(columns.len(), sweep.columns().len(), "no two columns of one name");
        for (row, _) in solve(&sweep, &sweep.shard(Shard::WHOLE), Starts::new()) {
            assert!(!row.failed(), "{} {}: {}", preset, row.method, row.reason);
            for name in row.metrics.keys() {
                assert!(columns.contains(name), "{preset} {}: {name}", row.method);
            }
        }
    }
}

/// The expected NCTs (best baseline, fair, joint) were computed by an independent implementation, to four digits.
#[test]
fn sweeps_of_the_paper_s_jobs_come_out_as_an_independent_implementation_found() {
    let methods = ["prop-alloc", "sqrt-alloc", "iter-halve", "delta-topo", "delta-joint"];
    for (preset, over, expected) in [
        (
            "megatron_177b",
            "bandwidth_gbps=200,800,1600",
            [[1.1955, 1.1907, 1.0883], [1.1150, 1.0845, 1.0182], [1.0911, 1.0101, 1.0101]],
        ),
        (
            "mixtral_8x22b",
            "seq=2048,8192,16384",
            [[1.2920, 1.2866, 1.1701], [1.3278, 1.1047, 1.1047], [1.3044, 1.0682, 1.0682]],
        ),
    ] {
        let sweep = sweep(&[preset], &[over], &methods);
        let rows = solve(&sweep, &sweep.shard(Shard::WHOLE), Starts::new());
        let nct: Vec<f64> = rows.iter().map(|(row, _)| row.metrics["nct"]).collect();
        for (found, expected) in nct.chunks(5).zip(expected) {
            let baseline = found[..3].iter().copied().fold(f64::INFINITY, f64::min);
            for (value, expected) in [baseline, found[3], found[4]].into_iter().zip(expected) {
                assert!(
                    (value - expected).abs() <= 1.0001e-4,
                    "{preset} {over}: {found:?}, expected {expected}"
                );
            }
        }
        assert!(
            rows.iter()
                .all(|(row, _)| row.status == EndStatus::Heuristic || row.status == EndStatus::Optimal)
        );
    }
}
