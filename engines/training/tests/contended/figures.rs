//! Gaps on the seeded family of contended DAGs.

use super::family::{Family, TWO_LINKS, gaps};

#[test]
fn all_contended_dags_of_the_family_are_closed() {
    for both_ways in [false, true] {
        for delay_s in [0.0, 0.01] {
            let gaps = gaps(Family { delay_s, both_ways, ..TWO_LINKS }, 50, 5_000);
            assert!(gaps.ours <= gaps.plain / 2.0, "{} of {}", gaps.ours, gaps.plain);
            assert_eq!((gaps.looser, gaps.closed), (0, 50));
        }
    }
}

#[test]
fn shared_cards_and_more_links_are_closed_too() {
    let more = Family { links: 3, tasks: (30, 30), edges: 0.08, delay_s: 0.002, ..TWO_LINKS };
    for family in [Family { cards: 0.4, ..TWO_LINKS }, more, Family { both_ways: true, ..more }] {
        let gaps = gaps(family, 20, 5_000);
        assert_eq!((gaps.looser, gaps.closed), (0, 20), "{family:?}");
    }
}
