//! Plans for several configurations.

use crate::support::{Asked, recheck};
use lightbay_core::checked::downcast;
use lightbay_training::Training;

const CONFIGURATIONS: &str = "robust=seq=512,16384";

#[test]
fn a_plan_for_the_worst_is_never_worse_there_than_one_for_itself() {
    for method in ["delta-joint", "auto"] {
        let plain = Asked::new("small", method).solve().done().plan.clone().unwrap();
        let robust = Asked::new("small", method).set(CONFIGURATIONS).solve().done().plan.clone().unwrap();
        let checked = recheck(&robust);
        let worst = checked.plan().metrics["worst_nct"];
        // The same circuits under the same question: what `simulate` cannot say a hot start does.
        let mut asked = Asked::new("small", method).set(CONFIGURATIONS);
        asked.hot_start = Some(plain.clone());
        let first = asked.solve();
        let of_plain = first.incumbents().find_map(|incumbent| incumbent.metrics.get("worst_nct")).copied();
        assert!(worst <= of_plain.unwrap() + 1e-12, "{method}: {worst} and {of_plain:?}");
        assert!(worst > 1.0);
        let [plain_s, robust_s] = [&plain, &robust].map(|plan| plan.header().objective.value);
        assert!(robust_s >= plain_s - 1e-12, "{method}: the scenario itself has a shorter plan");
        assert_eq!(robust.header().objective.bound.map(|bound| bound <= plain_s), Some(true));
    }
}

#[test]
fn fewer_ports_keep_the_worst() {
    let solved = |settings: &str| {
        let log = Asked::new("small", "delta-joint").set(CONFIGURATIONS).set(settings).solve();
        let plan = downcast::<Training>(log.done().plan.as_ref().unwrap()).unwrap();
        let metrics = &plan.plan().metrics;
        (metrics["worst_nct"], metrics["total_ports"])
    };
    let (usual, fewer) = (solved(""), solved("min_ports=true"));
    assert!(fewer.0 <= usual.0 * (1.0 + 1.1e-7) && fewer.1 <= usual.1, "{usual:?} {fewer:?}");
}

#[test]
fn a_wrong_worst_is_found() {
    let plan = Asked::new("tiny8", "delta-joint").set(CONFIGURATIONS).solve().done().plan.clone().unwrap();
    let mut value = plan.to_value().unwrap();
    value["metrics"]["worst_nct"] = 1.001.into();
    let draft = lightbay_core::plan::read_draft::<Training>(&value).unwrap();
    let refused =
        lightbay_core::checked::Checked::verify(draft.plan.unwrap(), lightbay_core::kind::Depth::Usual)
            .unwrap_err();
    assert_eq!(refused.violations.len(), 1, "{:?}", refused.violations);
    assert!(refused.violations[0].message.contains("worst_nct"), "{:?}", refused.violations);
}

#[test]
fn configurations_that_mean_nothing_are_refused() {
    use lightbay_core::event::{EndStatus, EventBody};
    for (text, says) in
        [("robust=seq", "without '='"), ("robust=pp=2", "other pods"), ("robust=ports_per_pod=9", "ports")]
    {
        let log = Asked::new("tiny8", "delta-joint").set(text).solve();
        let EventBody::Done(done) = &log.0.last().unwrap().body else { panic!("not done") };
        assert_eq!(done.status, EndStatus::Invalid, "{text}: {}", done.message);
        assert!(done.message.contains(says), "{text}: {}", done.message);
    }
}
