//! Flit-hops per second that the simulator does on one core.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)] // a table is the point

use lightbay_core::watch::Unwatched;
use lightbay_tpu::model::baselines;
use lightbay_tpu::routing::dor;
use lightbay_tpu::scenario::SimulationSettings;
use lightbay_tpu::simulate::{SimulatedPod, Simulator};
use std::time::Instant;

/// Seconds that this thread has computed, so that other work on the machine does not count; else of the clock.
fn cpu_s(began: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.map_or(began.elapsed().as_secs_f64(), |spent| spent / 1e9)
}

fn main() {
    let began = Instant::now();
    println!("torus        lanes  flits  load  M flit-hops/s");
    for shape in [[4, 4, 8], [4, 8, 8], [8, 8, 8]] {
        let pod = baselines::pt(shape).unwrap();
        let routing =
            dor::route(&pod, shape, false, &dor::DorSettings::default(), &mut Unwatched::default()).unwrap();
        let mut slowest = f64::INFINITY;
        for (lanes, packet, load) in
            [(4, 1, 0.3), (4, 1, 0.5), (4, 1, 0.7), (4, 1, 0.9), (2, 1, 0.7), (4, 4, 0.7), (4, 1, 1.2)]
        {
            let settings =
                SimulationSettings { vc_count: lanes, packet_flits: packet, ..SimulationSettings::default() };
            let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
            let mut simulator = Simulator::new(&net, load * net.ideal_rate(), 1, 0);
            simulator.run(2000);
            simulator.reset_counts();
            let before = cpu_s(began);
            simulator.run(4000);
            let rate = simulator.counts().hops as f64 / (cpu_s(began) - before) / 1e6;
            println!("{:<12} {lanes:>5} {packet:>6} {load:>5}  {rate:.1}", format!("{shape:?}"));
            if (lanes, packet) == (4, 1) && load < 1.0 {
                slowest = slowest.min(rate);
            }
        }
        println!(
            "figure: simulator, PT {}x{}x{}, one core, up to 0.9 of the ideal rate: {slowest:.0} million flit-hops/s",
            shape[0], shape[1], shape[2]
        );
    }
}
