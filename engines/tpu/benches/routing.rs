//! Quality and running time of the routing of designed pods, with and without failed switches. Prints figures; give
//! sizes in chips as arguments to route only those.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)] // figures are the point

#[path = "routing/designs.rs"]
mod designs;

use designs::{DESIGNS, Design};
use lightbay_core::event::EventBody;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_tpu::model::group::Group;
use lightbay_tpu::model::topology::Topology;
use lightbay_tpu::routing::faults;
use lightbay_tpu::routing::{RoutingSettings, route};
use std::time::Instant;

/// Works on as many threads as there are.
struct Pooled;

impl Watch for Pooled {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Ok(())
    }

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, _units: u64) {}

    fn elapsed_s(&self) -> f64 {
        0.0
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        Box::new(|| false)
    }

    fn threads(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}

fn figures(design: &Design) {
    let pod = Topology::symmetric(Group::abelian(design.factors).unwrap(), design.voltage);
    let nodes = pod.nodes();
    let settings =
        RoutingSettings { slack_hops: RoutingSettings::usual_slack(nodes), ..RoutingSettings::default() };
    let began = Instant::now();
    let routed = route(&pod, &settings, &mut Pooled).unwrap();
    let seconds = began.elapsed().as_secs_f64();
    let claims = &routed.routing.claims;
    let name = format!("routing of {nodes} chips, slack {}", settings.slack_hops);
    println!("figure: {name}, seconds: {seconds:.2}");
    println!("figure: {name}, largest load: {}", claims.max_channel_load);
    println!("figure: {name}, times 1/mcf_upper: {:.4}", claims.max_channel_load as f64 * design.mcf_upper);
    println!("figure: {name}, mean hops: {:.4}", routed.avg_hops());
    println!("figure: {name}, hops by virtual channel: {:?}", claims.vc_hops);
    if let Some(unbalanced) = &routed.routing.unbalanced {
        println!("figure: {name}, hops before balancing: {:?}", unbalanced.vc_hops);
    }
    if nodes == 256 {
        let settings = faults::FaultSettings { routing: settings, ..faults::FaultSettings::default() };
        let began = Instant::now();
        let cases = faults::sweep_from(&pod, &routed.found, &settings, None, &mut Pooled, |_| {}).unwrap();
        let mut loads: Vec<u64> = cases.iter().filter_map(|case| case.max_channel_load).collect();
        loads.sort_unstable();
        println!("figure: 48 faults of {nodes} chips, seconds: {:.2}", began.elapsed().as_secs_f64());
        println!("figure: 48 faults of {nodes} chips, cases routed: {}", loads.len());
        println!(
            "figure: 48 faults of {nodes} chips, smallest, median, largest load: {} {} {}",
            loads[0],
            loads[loads.len() / 2],
            loads[loads.len() - 1]
        );
    }
}

fn main() {
    let wanted: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    for design in DESIGNS {
        let nodes = 64 * design.factors.iter().product::<usize>();
        if wanted.is_empty() || wanted.contains(&nodes) {
            figures(design);
        }
    }
}
