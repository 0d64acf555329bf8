//! Figures that only routing the pod again can confirm.

use super::support::Case;
use crate::check::code;
use crate::model::group::Group;
use crate::model::topology::Topology;
use crate::plan::Routing;
use crate::scenario::TpuScenario;
use lightbay_core::kind::Depth;

fn sound() -> Case {
    let voltage = std::array::from_fn(|o| ((o * o + 3 * o + 1) % 2) as u16);
    Case::of(TpuScenario::design(2), &Topology::symmetric(Group::abelian(&[2]).unwrap(), voltage))
}

fn routing(case: &mut Case) -> &mut Routing {
    case.result.routing.as_mut().unwrap()
}

fn remarks(case: &Case, depth: Depth) -> Vec<String> {
    let verdict = case.verdict(depth);
    assert!(verdict.violations.is_empty(), "{:#?}", verdict.violations);
    verdict.remarks
}

#[test]
fn routing_again_confirms_what_is_not_listed_and_what_was_before_balancing() {
    let listed = sound();
    let unlisted = listed.with(|case| {
        routing(case).routes.clear();
        case.with_routes = Some(false);
    });
    for case in [&listed, &unlisted] {
        let told = |depth: Depth, text: &str| {
            let remarks = remarks(case, depth);
            assert!(remarks.iter().any(|remark| remark.contains(text)), "{remarks:?}");
        };
        told(Depth::Usual, "before balancing are claimed");
        told(Depth::Usual, "--exact routes the pod again");
        told(Depth::EXACT, "all figures of the routes are confirmed");
        let exact = remarks(case, Depth::EXACT);
        assert!(exact.iter().all(|remark| !remark.contains("before balancing are claimed")), "{exact:?}");
    }
}

#[test]
fn figures_that_routing_again_does_not_give_stay_claimed_or_are_refused() {
    let mut listed = sound();
    // As many hops on each virtual channel and as large a load, but other labels on one arc.
    let unbalanced = routing(&mut listed).unbalanced.as_mut().unwrap();
    let [first, second] = &mut unbalanced.loads[..] else { panic!("two virtual channels") };
    let movable = |from: &[u32], to: &[u32]| (0..from.len()).find(|&arc| from[arc] > 0 && to[arc] == 0);
    let back = (0..first.len()).find(|&arc| second[arc] > 0 && first[arc] > 0);
    let (forth, back) = (movable(first, second), back);
    let (Some(forth), Some(back)) = (forth, back) else { panic!("no labels to exchange") };
    first[forth] -= 1;
    second[forth] += 1;
    second[back] -= 1;
    first[back] += 1;
    // In the usual depth this cannot be seen.
    assert!(
        remarks(&listed, Depth::Usual).iter().any(|remark| remark.contains("before balancing are claimed"))
    );
    let verdict = listed.verdict(Depth::EXACT);
    assert!(verdict.violations.iter().any(|violation| violation.code == code::LOAD), "{verdict:?}");
    let unlisted = listed.with(|case| {
        routing(case).routes.clear();
        case.with_routes = Some(false);
    });
    let exact = remarks(&unlisted, Depth::EXACT);
    assert!(exact.iter().any(|remark| remark.contains("claimed")
        && remark.contains("routing the pod again gave a different result")));
}
