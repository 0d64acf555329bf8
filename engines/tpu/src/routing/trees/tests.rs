use super::*;
use crate::model::group::Group;
use crate::routing::testing::{random_pod, vector_pod};
use crate::routing::turns::all;

/// Returns `true` if every node comes to the root by its ports.
fn spans(frame: &Frame, tree: &Tree) -> bool {
    (0..frame.nodes() as u32).all(|node| {
        let mut at = node;
        for _ in 0..frame.nodes() {
            match tree.parent[at as usize] {
                Some(port) => at = frame.head(Frame::arc(at, port)),
                None => return at == tree.root,
            }
        }
        false
    })
}

#[test]
fn trees_span_and_two_of_them_share_no_switch() {
    for (cubes, seed) in [(2, 0), (3, 1), (4, 2), (8, 3)] {
        let pod = random_pod(Group::abelian(&[cubes]).unwrap(), seed);
        let frame = Frame::new(&pod, &[3], true);
        assert!(spans(&frame, &breadth_first(&frame, 5).unwrap()));
        let [one, other] = disjoint(&frame).unwrap();
        assert!(spans(&frame, &one) && spans(&frame, &other));
        let (one, other) = (one.switches(), other.switches());
        assert!((0..SWITCHES).all(|switch| !(one[switch] && other[switch])));
        assert!(!one[3] && !other[3], "the failed switch is left out");
    }
}

#[test]
fn seeds_of_a_tree_fit_and_connect_every_pair() {
    let pod = vector_pod(2);
    let frame = Frame::new(&pod, &[], true);
    let tree = breadth_first(&frame, 0).unwrap();
    let mut builder = Builder::new(&frame, 2);
    assert!(seed(&mut builder, &frame, &tree, 0));
    let turns = builder.fill(&[]);
    assert!(turns.is_safe(&frame));
    let steps = crate::routing::steps::Steps::new(&frame, &turns);
    let mut reach = crate::routing::steps::Reach::default();
    for source in [0, 77, 127] {
        steps.distances(&frame, source, &mut reach);
        assert!(
            (0..128)
                .filter(|node| *node != source)
                .all(|node| { reach.to(&frame, &steps, node) != crate::routing::steps::FAR })
        );
    }
    assert!(all(&frame).count() > turns.count());
}
