//! The routes of a case with a failed switch: those over its fullest channel, for the pop-up of the fault pane.

use super::channels::{arc_name, flow_pieces};
use super::words;
use crate::view::present::plain;
use lightbay_engines::tpu::analysis::loads::{Loads, RoutedFlow, flows};
use lightbay_engines::tpu::model::pod::ARC_CLASSES;
use lightbay_engines::tpu::model::topology::Topology;
use lightbay_engines::tpu::plan::Routing;

/// Most routes that are listed.
const LISTED: usize = 500;

/// The fullest channel of a case and the routes over it.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseRoutes {
    /// Arc class of a cube (symmetric routes), or arc of the pod.
    arc: u32,
    /// Whether every cube has an image of the routes.
    symmetric: bool,
    /// Routes over the arc by virtual channel.
    by_vc: Vec<u32>,
    /// The routes over it.
    flows: Vec<RoutedFlow>,
    /// Routes by their number of hops, over all routes that are listed in the plan.
    by_hops: Vec<usize>,
}

impl CaseRoutes {
    /// Counts the routes of a case; `None` if there are none.
    pub fn of(pod: &Topology, routing: &Routing) -> Option<Self> {
        let loads = Loads::of(pod, routing);
        let totals = loads.totals();
        let arc = (0..totals.len()).rev().max_by_key(|arc| totals[*arc])?;
        let mut by_hops = Vec::new();
        for route in &routing.routes {
            let hops = route.ports.len();
            by_hops.resize(by_hops.len().max(hops + 1), 0);
            by_hops[hops] += 1;
        }
        Some(Self {
            arc: arc as u32,
            symmetric: loads.each > 1,
            by_vc: loads.vc.iter().map(|loads| loads[arc]).collect(),
            flows: flows(pod, routing, arc),
            by_hops,
        })
    }

    /// As a person reads them.
    pub fn lines(&self) -> Vec<String> {
        let name = arc_name(self.arc, self.symmetric);
        let carrier = words::carrier(self.arc as usize % ARC_CLASSES);
        let load: u32 = self.by_vc.iter().sum();
        let by_vc: Vec<String> =
            self.by_vc.iter().enumerate().map(|(vc, load)| format!("vc{vc} {load}")).collect();
        let image = if self.symmetric { ", and as many from every other cube" } else { "" };
        let mut lines = vec![
            format!("fullest channel: {name} over {carrier}, load {load} ({})", by_vc.join(", ")),
            format!("{} routes over it{image}:", self.flows.len()),
        ];
        lines.extend(
            self.flows.iter().take(LISTED).map(|flow| format!("  {}", plain(&flow_pieces(flow, "→")))),
        );
        if self.flows.len() > LISTED {
            lines.push(format!("  and {} more", self.flows.len() - LISTED));
        }
        lines.push(String::new());
        lines.push(format!("all routes by hops{}:", if self.symmetric { ", from one cube" } else { "" }));
        let counts = self.by_hops.iter().enumerate().filter(|(_, count)| **count > 0);
        lines.extend(counts.map(|(hops, count)| format!("  {hops:>2} hops  {count}")));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::watch::Unwatched;
    use lightbay_engines::tpu::model::baselines;
    use lightbay_engines::tpu::routing::{RoutingSettings, route};

    #[test]
    fn the_fullest_channel_is_that_of_the_claims_and_its_routes_are_all_there() {
        let pod = baselines::pdtt([4, 4, 8]).unwrap();
        let settings = RoutingSettings { failed: vec![7], passes: 1, ..RoutingSettings::default() };
        let routing = route(&pod, &settings, &mut Unwatched::default()).unwrap().routing;
        let case = CaseRoutes::of(&pod, &routing).unwrap();
        let load = u64::from(case.by_vc.iter().sum::<u32>());
        assert_eq!(load, routing.claims.max_channel_load);
        assert_eq!((case.flows.len() as u64, case.by_hops.iter().sum()), (load, routing.routes.len()));
        let lines = case.lines();
        assert!(lines[0].contains(&format!("load {load} (vc0 ")), "{}", lines[0]);
        assert!(lines[2].contains("→") && lines[2].contains("hop "), "{}", lines[2]);
    }
}
