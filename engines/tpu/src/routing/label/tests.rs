use super::*;
use crate::model::group::Group;
use crate::routing::testing::random_pod;
use crate::routing::turns::all;
use lightbay_core::random::Streams;
use proptest::prelude::*;
use rand::RngExt;

/// Hops not on the preferred channel for every labelling that is allowed, the least of them.
fn by_force(frame: &Frame, turns: &Turns, source: u32, ports: &[u8], price: &[u32]) -> Option<u32> {
    let vcs = turns.vcs();
    let mut best = None;
    for code in 0..vcs.pow(ports.len() as u32) {
        let labels: Vec<usize> = (0..ports.len()).map(|hop| code / vcs.pow(hop as u32) % vcs).collect();
        let mut arc = Frame::arc(source, ports[0]);
        let mut fits = true;
        for hop in 1..ports.len() {
            fits &= turns.allows(frame.class(arc), ports[hop], labels[hop - 1], labels[hop]);
            arc = Frame::arc(frame.head(arc), ports[hop]);
        }
        if fits {
            let cost: u32 = labels.iter().map(|vc| price[*vc]).sum();
            best = Some(best.map_or(cost, |best: u32| best.min(cost)));
        }
    }
    best
}

proptest! {
    #[test]
    fn labels_cost_what_the_best_of_all_costs(
        seed in 0u64..1000,
        vcs in 1u8..4,
        density in 0.3f64..0.9,
        source in 0u32..64,
        length in 1usize..7,
        used in prop::collection::vec(0u64..3, 3),
    ) {
        let frame = Frame::new(&random_pod(Group::abelian(&[2]).unwrap(), seed), &[], false);
        let mut stream = Streams::new(seed).stream(4);
        let width = usize::from(vcs);
        let mut turns = Turns::none(frame.classes(), vcs);
        for (class, port) in all(&frame) {
            for (first, second) in (0..width).flat_map(|first| (0..width).map(move |second| (first, second))) {
                if stream.random_bool(density) {
                    turns.allow(class, port, first, second);
                }
            }
        }
        let mut ports = vec![stream.random_range(0..6u8)];
        while ports.len() < length {
            let port = stream.random_range(0..6u8);
            if port != ports[ports.len() - 1] ^ 1 {
                ports.push(port);
            }
        }
        for balance in [false, true] {
            let mut labeller = Labeller::new(&turns, balance);
            labeller.hops = used[..width].to_vec();
            let mut preference: Vec<usize> = (0..width).collect();
            if balance {
                preference.sort_by_key(|vc| used[*vc]);
            }
            let mut price = vec![0; width];
            for (place, vc) in preference.iter().enumerate() {
                price[*vc] = place as u32;
            }
            let labels = labeller.label(&frame, source, &ports).map(<[u8]>::to_vec);
            let cost = labels.as_ref().map(|labels| labels.iter().map(|vc| price[usize::from(*vc)]).sum::<u32>());
            prop_assert_eq!(cost, by_force(&frame, &turns, source, &ports, &price));
            if let Some(labels) = labels {
                let mut arc = Frame::arc(source, ports[0]);
                for hop in 1..ports.len() {
                    prop_assert!(turns.allows(
                        frame.class(arc), ports[hop], usize::from(labels[hop - 1]), usize::from(labels[hop])
                    ));
                    arc = Frame::arc(frame.head(arc), ports[hop]);
                }
                let added = labeller.hops.iter().sum::<u64>() - used[..width].iter().sum::<u64>();
                prop_assert_eq!(added, ports.len() as u64);
            }
        }
    }
}
