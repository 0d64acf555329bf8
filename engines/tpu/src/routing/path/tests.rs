use super::*;
use crate::model::group::Group;
use crate::routing::exact::list;
use crate::routing::select::{Ways, reaches};
use crate::routing::testing::random_pod;
use crate::routing::turns::{Builder, Turns, all};
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;
use rand::RngExt;
use rand::seq::SliceRandom;

/// Turns in random order, on a random pod.
fn ways(seed: u64, vcs: u8) -> (Frame, Steps, Vec<Reach>) {
    let frame = Frame::new(&random_pod(Group::abelian(&[2]).unwrap(), seed), &[], false);
    let mut order: Vec<(usize, u8)> = all(&frame).collect();
    order.shuffle(&mut Streams::new(seed).stream(0));
    let steps = Steps::new(&frame, &Builder::new(&frame, vcs).fill(&order));
    let reaches = reaches(&frame, &steps, &mut Unwatched::default()).unwrap();
    (frame, steps, reaches)
}

#[test]
fn the_route_found_is_the_cheapest_of_all_that_are_listed() {
    let mut longer = 0;
    for seed in 0..4 {
        let (frame, steps, reaches) = ways(seed, 2);
        let ways = Ways { frame: &frame, steps: &steps, reaches: &reaches };
        let mut finder = Finder::new(steps.states(&frame));
        let mut stream = Streams::new(seed).stream(1);
        for _ in 0..300 {
            let (source, target) = (stream.random_range(0..64u32), stream.random_range(0..128u32));
            let slack = 2 * stream.random_range(0..2u16);
            if source == target {
                continue;
            }
            let prices: Vec<f64> = (0..frame.classes()).map(|_| stream.random_range(0.01..1.0)).collect();
            let cost = |ports: &[u8]| {
                let mut sum = 0.0;
                frame.follow(source, ports, |arc| sum += prices[frame.class(arc)]);
                sum
            };
            let reach = &reaches[source as usize];
            let shortest = reach.to(&frame, &steps, target);
            let mut routes = Vec::new();
            list(ways, reach, (source, target), usize::from(shortest + slack), &mut routes);
            if routes.is_empty() {
                continue;
            }
            let best = routes.iter().map(|ports| cost(ports)).fold(f64::INFINITY, f64::min);
            let found = finder.cheapest(&frame, &steps, reach, source, target, slack, &prices).unwrap();
            assert!((cost(found) - best).abs() < 1e-12, "{source} to {target}: {} or {best}", cost(found));
            longer += usize::from(found.len() > usize::from(shortest));
        }
    }
    assert!(longer > 50, "a detour pays sometimes: {longer}");
}

#[test]
fn free_turns_list_every_shortest_path() {
    let frame = Frame::new(&random_pod(Group::abelian(&[2]).unwrap(), 9), &[], false);
    let steps = Steps::new(&frame, &Turns::free(&frame));
    let reaches = reaches(&frame, &steps, &mut Unwatched::default()).unwrap();
    let ways = Ways { frame: &frame, steps: &steps, reaches: &reaches };
    // Numbers of shortest paths by breadth-first search.
    let (mut hops, mut paths, mut queue) = (vec![u16::MAX; 128], vec![0usize; 128], vec![5u32]);
    (hops[5], paths[5]) = (0, 1);
    let mut at = 0;
    while at < queue.len() {
        let node = queue[at];
        at += 1;
        for port in 0..6 {
            let next = frame.head(Frame::arc(node, port)) as usize;
            if hops[next] == u16::MAX {
                hops[next] = hops[node as usize] + 1;
                queue.push(next as u32);
            }
            if hops[next] == hops[node as usize] + 1 {
                paths[next] += paths[node as usize];
            }
        }
    }
    for target in (0..128u32).filter(|target| *target != 5) {
        let shortest = reaches[5].to(&frame, &steps, target);
        assert_eq!(shortest, hops[target as usize]);
        let mut routes = Vec::new();
        list(ways, &reaches[5], (5, target), usize::from(shortest), &mut routes);
        assert_eq!(routes.len(), paths[target as usize]);
    }
}
