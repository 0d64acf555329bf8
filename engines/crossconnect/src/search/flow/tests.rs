use super::*;
use lightbay_core::random::Streams;
use proptest::prelude::*;
use rand::RngExt;

fn network(nodes: usize, supply: &[(u32, i64)], arcs: &[(u32, u32, i64, i64, i64)]) -> FlowNetwork {
    let mut network = FlowNetwork::new(nodes);
    for &(node, amount) in supply {
        network.add_supply(node, amount);
    }
    for &(from, to, lower, upper, cost) in arcs {
        network.add_arc(Arc { from, to, lower, upper, cost });
    }
    network
}

fn solve(network: &FlowNetwork) -> Result<CheapestFlow, Vec<u32>> {
    network.minimize(&mut || Ok(())).map_err(|error| match error {
        FlowError::Infeasible(cut) => cut,
        FlowError::Ended(error) => panic!("{error}"),
    })
}

/// Returns `true` if a flow keeps bounds and supplies.
fn keeps(network: &FlowNetwork, flow: &[i64]) -> bool {
    let mut left = network.supply.clone();
    for (arc, &flow) in network.arcs.iter().zip(flow) {
        if flow < arc.lower || flow > arc.upper {
            return false;
        }
        left[arc.from as usize] -= flow;
        left[arc.to as usize] += flow;
    }
    left.iter().all(|&left| left == 0)
}

/// Returns `true` if no cycle of the residual network has a negative cost: what makes a flow one of least cost.
fn cannot_be_cheaper(network: &FlowNetwork, flow: &[i64]) -> bool {
    let mut residual = Vec::new();
    for (arc, &flow) in network.arcs.iter().zip(flow) {
        if flow < arc.upper {
            residual.push((arc.from as usize, arc.to as usize, arc.cost));
        }
        if flow > arc.lower {
            residual.push((arc.to as usize, arc.from as usize, -arc.cost));
        }
    }
    let mut distance = vec![0; network.nodes()];
    for _ in 0..=network.nodes() {
        let mut changed = false;
        for &(from, to, cost) in &residual {
            if distance[from] + cost < distance[to] {
                distance[to] = distance[from] + cost;
                changed = true;
            }
        }
        if !changed {
            return true;
        }
    }
    false
}

/// Returns `true` if a set of nodes proves that there is no flow: more has to enter it than may.
fn proves_infeasible(network: &FlowNetwork, cut: &[u32]) -> bool {
    let inside = |node: u32| cut.contains(&node);
    let supply: i64 = cut.iter().map(|&node| network.supply[node as usize]).sum();
    let entering = network.arcs.iter().filter(|arc| !inside(arc.from) && inside(arc.to));
    let leaving = network.arcs.iter().filter(|arc| inside(arc.from) && !inside(arc.to));
    let may_enter: i64 = entering.map(|arc| arc.upper).sum();
    let must_leave: i64 = leaving.map(|arc| arc.lower).sum();
    may_enter + supply < must_leave
}

/// The least cost of all flows, one after the other.
fn by_enumeration(network: &FlowNetwork) -> Option<i64> {
    let mut flow: Vec<i64> = network.arcs.iter().map(|arc| arc.lower).collect();
    let mut best = None;
    loop {
        if keeps(network, &flow) {
            let cost: i64 = network.arcs.iter().zip(&flow).map(|(arc, flow)| arc.cost * flow).sum();
            best = Some(best.map_or(cost, |best: i64| best.min(cost)));
        }
        let Some(place) = (0..flow.len()).find(|&place| flow[place] < network.arcs[place].upper) else {
            return best;
        };
        flow[place] += 1;
        for (flow, arc) in flow.iter_mut().zip(&network.arcs).take(place) {
            *flow = arc.lower;
        }
    }
}

#[test]
fn a_transport_takes_the_cheap_way_first() {
    let network = network(
        4,
        &[(0, 3), (3, -3)],
        &[(0, 1, 0, 2, 1), (0, 2, 0, 2, 2), (1, 3, 0, 2, 0), (2, 3, 0, 2, 0), (1, 2, 0, 5, 0)],
    );
    let flow = solve(&network).unwrap();
    assert_eq!(flow.cost, 4);
    assert_eq!(&flow.flow[..2], [2, 1]);
}

#[test]
fn parallel_arcs_of_rising_cost_fill_in_order() {
    let network = network(2, &[], &[(0, 1, 0, 2, -1), (0, 1, 0, 1, 0), (0, 1, 0, 1, 1), (1, 0, 3, 3, 0)]);
    assert_eq!(solve(&network).unwrap().flow, [2, 1, 0, 3]);
}

#[test]
fn what_cannot_be_supplied_is_named() {
    let network = network(3, &[(0, 2), (2, -2)], &[(0, 1, 0, 5, 0), (1, 2, 0, 1, 0)]);
    let cut = solve(&network).unwrap_err();
    assert_eq!(cut, [2]);
    assert!(proves_infeasible(&network, &cut));
}

#[test]
fn nothing_is_a_flow_of_nothing() {
    assert_eq!(solve(&FlowNetwork::new(0)).unwrap(), CheapestFlow { flow: vec![], cost: 0 });
    assert_eq!(solve(&FlowNetwork::new(3)).unwrap().cost, 0);
}

#[test]
fn it_stops_when_told() {
    let mut stream = Streams::new(1).stream(0);
    let mut network = FlowNetwork::new(400);
    for from in 0..200 {
        for to in 200..400 {
            network.add_arc(Arc { from, to, lower: 0, upper: 1, cost: stream.random_range(0..1000) });
        }
        network.add_supply(from, 20);
        network.add_supply(200 + from, -20);
    }
    let mut questions = 0;
    let stopped = network.minimize(&mut || {
        questions += 1;
        Err(MethodError::Failed("enough".to_owned()))
    });
    assert!(matches!(stopped, Err(FlowError::Ended(_))));
    assert_eq!(questions, 1);
    let flow = solve(&network).unwrap();
    assert!(keeps(&network, &flow.flow) && cannot_be_cheaper(&network, &flow.flow));
}

fn small() -> impl Strategy<Value = FlowNetwork> {
    let arc = (0u32..4, 0u32..4, 0i64..2, 0i64..3, -2i64..4);
    (proptest::collection::vec(arc, 1..7), proptest::collection::vec(-2i64..3, 3)).prop_map(
        |(arcs, supply)| {
            let arcs: Vec<_> = arcs
                .into_iter()
                .filter(|&(from, to, ..)| from != to)
                .map(|(from, to, lower, more, cost)| (from, to, lower, lower + more, cost))
                .collect();
            let last = -supply.iter().sum::<i64>();
            let supply: Vec<_> = (0u32..).zip(supply.into_iter().chain([last])).collect();
            network(4, &supply, &arcs)
        },
    )
}

/// A random circulation that exists by construction, with many ties.
fn large() -> impl Strategy<Value = FlowNetwork> {
    (2usize..30, 1usize..200, any::<u64>()).prop_map(|(nodes, arcs, seed)| {
        let mut stream = Streams::new(seed).stream(0);
        let mut network = FlowNetwork::new(nodes);
        for _ in 0..arcs {
            let from = stream.random_range(0..nodes as u32);
            let to = (from + stream.random_range(1..nodes as u32)) % nodes as u32;
            let inside: i64 = stream.random_range(0..4);
            let lower = inside - stream.random_range(0..3);
            let upper = inside + stream.random_range(0..3);
            network.add_arc(Arc { from, to, lower, upper, cost: stream.random_range(-1..=1) });
            network.add_supply(from, inside);
            network.add_supply(to, -inside);
        }
        network
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn small_networks_agree_with_enumeration(network in small()) {
        match (solve(&network), by_enumeration(&network)) {
            (Ok(flow), Some(best)) => {
                prop_assert!(keeps(&network, &flow.flow));
                prop_assert_eq!(flow.cost, best);
            }
            (Err(cut), None) => prop_assert!(proves_infeasible(&network, &cut), "{:?}", cut),
            (found, best) => prop_assert!(false, "{:?} against {:?}", found, best),
        }
    }

    #[test]
    fn large_networks_have_no_cheaper_cycle(network in large()) {
        let flow = solve(&network);
        prop_assert!(flow.is_ok());
        let flow = flow.unwrap();
        prop_assert!(keeps(&network, &flow.flow));
        prop_assert!(cannot_be_cheaper(&network, &flow.flow));
    }
}
