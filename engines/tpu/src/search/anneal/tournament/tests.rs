use super::*;
use crate::search::anneal::families::{CubeSymmetries, families};
use crate::throughput::metrics::cover::tight_cover_bound;
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;

#[test]
fn the_best_family_wins_and_every_round_is_heard() {
    let streams = Streams::new(4);
    let tried =
        families(4, None, CubeSymmetries::Any, &mut streams.stream(u64::MAX), &mut Unwatched::default())
            .unwrap();
    let settings = AnnealSettings { chains: 4, steps: 1000, ..AnnealSettings::default() };
    let mut heard = Vec::new();
    let entries = tournament(
        tried.clone(),
        &settings,
        0.1,
        |n| streams.stream(n),
        &mut Unwatched::default(),
        |_, _, _| (),
        |_, entry| {
            heard.push(entry.design.score);
            Ok(())
        },
    )
    .unwrap();
    assert_eq!((entries.len(), heard.len()), (tried.len(), 3));
    assert!(entries.is_sorted_by(|a, b| a.design.score <= b.design.score));
    assert!(heard.is_sorted_by(|a, b| a >= b) && heard[2] == entries[0].design.score);
    let best = entries[0].design.bound;
    assert!((0.0061..tight_cover_bound(256)).contains(&best), "{best}");
}
