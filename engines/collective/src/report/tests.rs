use super::*;
use crate::methods;
use crate::testing::preset;
use lightbay_core::checked::downcast;
use lightbay_core::kind::Kind;
use lightbay_core::report::Body;
use lightbay_core::testing::Ask;

#[test]
fn every_section_of_a_plan_can_be_worked_out() {
    for name in ["ndv2x2-allgather-1mb", "dgx1-allreduce-200kb", "dgx1-gather-1mb"] {
        let ended = Ask::of(&methods::all(), "construct", preset(name)).run();
        let plan = downcast::<Collective>(&ended.done.plan.unwrap()).unwrap();
        let report = Collective::report(&plan.plan().scenario, Some(plan.plan())).unwrap();
        for info in SECTIONS {
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

#[test]
fn the_grid_marks_the_binding_cut() {
    let ended = Ask::of(&methods::all(), "construct", preset("ndv2x2-allgather-1gb")).run();
    let plan = downcast::<Collective>(&ended.done.plan.unwrap()).unwrap();
    let report = Collective::report(&plan.plan().scenario, Some(plan.plan())).unwrap();
    let section = report.section("occupancy", Deadline::NEVER).unwrap();
    let Body::Matrix(matrix) = &section.blocks[0].body else { panic!("no matrix") };
    let marked: Vec<&String> = matrix.rows.iter().filter(|row| row.starts_with('▌')).collect();
    assert_eq!(marked.len(), 1, "{marked:?}");
    assert_eq!(matrix.columns.len(), 35);
}
