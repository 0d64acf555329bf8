//! How many flit-hops per second the simulator does on one core.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)] // a table is the point

use lightbay_tpu::group::Group;
use lightbay_tpu::plan::{Expansion, Route, Routing, RoutingClaims};
use lightbay_tpu::pod;
use lightbay_tpu::scenario::SimulationSettings;
use lightbay_tpu::simulator::{Network, Simulator};
use lightbay_tpu::topology::Topology;
use std::time::Instant;

/// Seconds that this thread has computed, so that other work on the machine does not count; else of the clock.
fn cpu_s(began: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.map_or(began.elapsed().as_secs_f64(), |spent| spent / 1e9)
}

/// A prismatic torus, wired here by hand.
fn torus(shape: [usize; 3]) -> Topology {
    let grid = shape.map(|side| side / 4);
    let group = Group::abelian(&grid).unwrap();
    let next = [
        usize::from(grid[0] > 1),
        grid[0] * usize::from(grid[1] > 1),
        grid[0] * grid[1] * usize::from(grid[2] > 1),
    ];
    Topology::symmetric(group, std::array::from_fn(|switch| next[pod::switch_dimension(switch)] as u16))
}

fn coordinates(node: u32, shape: [usize; 3]) -> [usize; 3] {
    let (cube, chip) = pod::parts(node);
    let grid = shape.map(|side| side / 4);
    let cubes = [cube % grid[0], cube / grid[0] % grid[1], cube / (grid[0] * grid[1])];
    let at = pod::position(chip);
    std::array::from_fn(|axis| 4 * cubes[axis] + usize::from(at[axis]))
}

/// Routes in dimension order; the second label from the wrap-around of a dimension on. Halves of a ring alternate.
fn dimension_order(pod: &Topology, shape: [usize; 3]) -> Routing {
    let nodes = pod.nodes() as u32;
    let mut routes = Vec::new();
    for source in 0..nodes {
        for target in (0..nodes).filter(|&target| target != source) {
            let (from, to) = (coordinates(source, shape), coordinates(target, shape));
            let (mut ports, mut vcs) = (Vec::new(), Vec::new());
            for axis in 0..3 {
                let side = shape[axis];
                let up = (to[axis] + side - from[axis]) % side;
                let half = (from.iter().sum::<usize>() + to[(axis + 1) % 3]) % 2 == 0;
                let plus = 2 * up < side || (2 * up == side && half);
                let (mut at, mut label) = (from[axis], 0);
                for _ in 0..if plus { up } else { side - up } {
                    let next = if plus { (at + 1) % side } else { (at + side - 1) % side };
                    if at.abs_diff(next) > 1 {
                        label = 1;
                    }
                    ports.push(2 * axis as u8 + u8::from(!plus));
                    vcs.push(label);
                    at = next;
                }
            }
            routes.push(Route { source, target, ports, vcs });
        }
    }
    let claims = RoutingClaims { max_channel_load: 0, vc_hops: vec![], route_hop_sum: 0 };
    Routing { vc_count: 2, expand: Expansion::None, claims, routes, unbalanced: None }
}

fn main() {
    let began = Instant::now();
    for shape in [[4, 4, 8], [4, 8, 8], [8, 8, 8]] {
        let pod = torus(shape);
        let routing = dimension_order(&pod, shape);
        for (lanes, packet, share) in [(4, 1, 0.5), (4, 1, 0.9), (4, 1, 1.2), (2, 1, 0.9), (4, 4, 0.7)] {
            let settings =
                SimulationSettings { vc_count: lanes, packet_flits: packet, ..SimulationSettings::default() };
            let net = Network::new(&pod, &routing, &settings).unwrap();
            let mut simulator = Simulator::new(&net, share * net.ideal_rate(), 1, 0);
            simulator.run(2000);
            simulator.reset_counts();
            let before = cpu_s(began);
            simulator.run(4000);
            let seconds = cpu_s(began) - before;
            let hops = simulator.counts().hops as f64;
            println!(
                "{shape:?} lanes {lanes} packet {packet} load {share}: {:.1} M flit-hops/s",
                hops / seconds / 1e6
            );
        }
    }
}
