//! What a pod amounts to: its size, the yardsticks of its size, and of a plan its throughput, virtual channels,
//! hottest links and what failed switches cost.

use crate::cli::quantity;
use crate::cli::table::Table;
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problems, counted};
use lightbay_core::scenario::Scenario;
use lightbay_engines::tpu::analysis::{TorusFigures, Yardsticks, arc_loads};
use lightbay_engines::tpu::baselines;
use lightbay_engines::tpu::metrics::hop_bound;
use lightbay_engines::tpu::plan::{Expansion, FaultCase, Routing};
use lightbay_engines::tpu::pod;
use lightbay_engines::tpu::scenario::TopologyChoice;
use lightbay_engines::tpu::{Tpu, TpuScenario};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Arcs and failed switches that are listed, fullest first.
const LISTED: usize = 6;
/// Said of figures of routes that the plan does not list.
const STATED: &str = " (claimed, not checked: the routes are not in the plan)";
/// Said of figures of the simulator, which is not run again to show them.
const MEASURED: &str = " (claimed; `lightbay check --exact` measures again)";
/// Names of the ports of a chip.
const PORTS: [&str; 6] = ["+X", "-X", "+Y", "-Y", "+Z", "-Z"];

/// Everything that is shown, computed once for both forms.
pub struct Figures<'a> {
    scenario: &'a TpuScenario,
    plan: Option<&'a Plan<Tpu>>,
    yardsticks: Yardsticks,
    /// Name of the group of a symmetric pod.
    group: Option<String>,
    /// Routes over each arc class or arc, fullest first.
    loads: Vec<(usize, u32)>,
}

impl<'a> Figures<'a> {
    /// Computes the figures.
    pub fn of(scenario: &'a Scenario<Tpu>, plan: Option<&'a Plan<Tpu>>) -> Result<Self, Problems> {
        let body = &scenario.body;
        let wired = match plan {
            Some(plan) => Some(plan.result.topology.topology()?),
            None => body.named_topology()?,
        };
        let group = match &wired {
            Some(wired) => wired.symmetry().map(|symmetry| symmetry.group.name().to_owned()),
            None if body.group.is_some() => Some(body.group()?.name().to_owned()),
            None => None,
        };
        let routing = plan.and_then(|plan| plan.result.routing.as_ref());
        let loads = wired.zip(routing).and_then(|(pod, routing)| arc_loads(&pod, routing));
        let mut loads: Vec<(usize, u32)> = loads.unwrap_or_default().into_iter().enumerate().collect();
        loads.sort_by_key(|&(arc, load)| (std::cmp::Reverse(load), arc));
        let yardsticks = Yardsticks::of(usize::from(body.cubes), body.job_shape);
        Ok(Self { scenario: body, plan, yardsticks, group, loads })
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = write!(out, "{}\nThroughput, flits per cycle\n{}", self.pod(), self.throughput());
        if let Some(routing) = self.routing() {
            let stated = if routing.routes.is_empty() { STATED } else { "" };
            let _ = write!(out, "\nHops on virtual channels, all routes{stated}\n{}", channels(routing));
            if !self.loads.is_empty() {
                let _ = write!(out, "\nHottest of {}\n{}", self.arcs(), self.hottest(routing));
            }
        }
        if let Some(plan) = self.plan.filter(|plan| !plan.result.faults.is_empty()) {
            let cases = &plan.result.faults;
            let _ = write!(
                out,
                "\nFailed switches, {} of {}{}\n{}",
                LISTED.min(cases.len()),
                cases.len(),
                if cases.iter().all(|case| listed(case.routing.as_ref())) { "" } else { STATED },
                worst(cases)
            );
        }
        if let Some(simulation) = self.plan.and_then(|plan| plan.result.simulation.as_ref()) {
            let mut table = Table::new(&[">  offered", ">delivered", ">latency"]);
            for (offered, delivered, latency) in &simulation.curve {
                table.row([format!("{offered:.2}"), format!("{delivered:.3}"), format!("{latency:.0}")]);
            }
            let _ = write!(out, "\nSimulated, flits per cycle and chip, cycles{MEASURED}\n{table}");
        }
        out
    }

    fn routing(&self) -> Option<&'a Routing> {
        self.plan.and_then(|plan| plan.result.routing.as_ref())
    }

    fn pod(&self) -> Table {
        let scenario = self.scenario;
        let mut table = Table::new(&["", ""]);
        let mut row = |name: &str, value: String| table.row([format!("  {name:<14}"), value]);
        let open = self.plan.is_none() && scenario.topology == TopologyChoice::Design;
        let numbered = match &self.group {
            Some(name) => format!(", numbered by {name}"),
            None if open => String::new(),
            None => ", without symmetry".to_owned(),
        };
        let cubes = counted(scenario.cubes.into(), "cube", "cubes");
        row("pod", format!("{} chips in {cubes}{numbered}", scenario.nodes()));
        let wired = match &scenario.topology {
            TopologyChoice::Design => "to be designed".to_owned(),
            TopologyChoice::Pt => format!("prismatic torus {}", baselines::named(scenario.pt_shape())),
            TopologyChoice::Pdtt => match scenario.pdtt_shape() {
                Ok(shape) => format!("doubly twisted torus {}", baselines::named(shape)),
                Err(problem) => problem.message,
            },
            TopologyChoice::Given(_) => "as given".to_owned(),
        };
        row("topology", wired);
        row(
            "routes",
            format!(
                "{}, turns by {}, {} of slack",
                counted(scenario.vc_count.into(), "virtual channel", "virtual channels"),
                scenario.turn_priority.word().to_uppercase(),
                counted(scenario.slack().into(), "hop", "hops")
            ),
        );
        if !scenario.failed_ocs.is_empty() {
            let ids: Vec<String> = scenario.failed_ocs.iter().map(ToString::to_string).collect();
            row("out of order", format!("switch {}", ids.join(", ")));
        }
        if scenario.tolerated_ocs_faults > 0 {
            row("to survive", "any one failed switch".to_owned());
        }
        table
    }

    fn throughput(&self) -> Table {
        let nodes = self.scenario.nodes();
        let cover = self.yardsticks.cover;
        let mut table = Table::new(&["", ">diameter", ">hops", ">per pair", ">n x", ">of cover"]);
        let mut row = |name: String, diameter: Option<u32>, hops: Option<f64>, mcf: f64| {
            table.row([
                format!("  {name}"),
                diameter.map_or_else(|| "-".to_owned(), |diameter| diameter.to_string()),
                hops.map_or_else(|| "-".to_owned(), |hops| format!("{hops:.4}")),
                quantity::number((mcf * 1e8).round() / 1e8),
                format!("{:.4}", nodes as f64 * mcf),
                quantity::percent(mcf / cover.mcf),
            ]);
        };
        if let Some(plan) = self.plan {
            let claims = &plan.result.claims;
            let (diameter, hops) = (Some(claims.diameter), Some(claims.avg_hops));
            row("this pod, at least (claimed)".to_owned(), diameter, hops, claims.mcf_lower);
            row("this pod, at most".to_owned(), diameter, hops, claims.mcf_upper);
        }
        let of =
            |torus: &TorusFigures| (Some(torus.hops.diameter), Some(torus.hops.average(nodes)), torus.mcf);
        for (name, torus) in [("PT", &self.yardsticks.pt), ("PDTT", &self.yardsticks.pdtt)] {
            if let Some(torus) = torus {
                let (diameter, hops, mcf) = of(torus);
                row(format!("{name} {}", baselines::named(torus.shape)), diameter, hops, mcf);
            }
        }
        row("any pod (cover)".to_owned(), None, Some(cover.avg_hops), cover.mcf);
        row("any network (Moore)".to_owned(), None, None, self.yardsticks.moore);
        table
    }

    fn arcs(&self) -> &'static str {
        match self.routing().map(|routing| routing.expand) {
            Some(Expansion::None) => "all arcs",
            _ => "384 arc classes",
        }
    }

    fn hottest(&self, routing: &Routing) -> Table {
        let mut table = Table::new(&["  chip", "port", "link", ">routes"]);
        for &(arc, load) in self.loads.iter().take(LISTED) {
            let (chip, port) = ((arc / 6 % 64) as u8, (arc % 6) as u8);
            let [x, y, z] = pod::position(chip);
            let cube = match routing.expand {
                Expansion::Translation => String::new(),
                Expansion::None => format!(" of cube {}", arc / 6 / 64),
            };
            let link = match pod::switch(chip, port) {
                Some(switch) => format!("optical, switch {switch}"),
                None => "electrical".to_owned(),
            };
            let port = PORTS.get(usize::from(port)).copied().unwrap_or_default().to_owned();
            table.row([format!("  ({x},{y},{z}){cube}"), port, link, load.to_string()]);
        }
        table
    }

    /// As one JSON value.
    pub fn json(&self) -> Value {
        let nodes = self.scenario.nodes();
        let torus = |torus: &Option<TorusFigures>| {
            torus.map(|torus| {
                json!({
                    "job_shape": torus.shape,
                    "diameter": torus.hops.diameter,
                    "avg_hops": torus.hops.average(nodes),
                    "mcf": torus.mcf,
                })
            })
        };
        let hottest: Vec<Value> = self
            .loads
            .iter()
            .take(LISTED)
            .map(|&(arc, load)| {
                let (chip, port) = ((arc / 6 % 64) as u8, (arc % 6) as u8);
                json!({
                    "arc": arc,
                    "chip": pod::position(chip),
                    "port": port,
                    "ocs": pod::switch(chip, port),
                    "routes": load,
                })
            })
            .collect();
        let result = self.plan.map(|plan| &plan.result);
        json!({
            "cubes": self.scenario.cubes,
            "chips": nodes,
            "topology": self.scenario.topology.word(),
            "group": self.group,
            "slack_hops": self.scenario.slack(),
            "cover_bound": { "avg_hops": self.yardsticks.cover.avg_hops, "mcf": self.yardsticks.cover.mcf },
            "moore_mcf": self.yardsticks.moore,
            "pt": torus(&self.yardsticks.pt),
            "pdtt": torus(&self.yardsticks.pdtt),
            "claims": result.map(|result| result.claims),
            "hop_bound": result.map(|result| hop_bound(nodes, result.claims.hop_sum)),
            "routing": result.and_then(|result| result.routing.as_ref()).map(|routing| json!({
                "vc_count": routing.vc_count,
                "claims": routing.claims,
                "listed_routes": routing.routes.len(),
                "checked": !routing.routes.is_empty(),
                "vc_hops_before_balancing": routing.unbalanced.as_ref().map(|unbalanced| &unbalanced.vc_hops),
                "hottest": hottest,
            })),
            "faults": result.map(|result| result.faults.iter().map(|case| json!({
                "failed_ocs": case.failed_ocs,
                "max_channel_load": case.max_channel_load,
                "avg_hops": case.avg_hops,
                "saturation_flits_per_cycle_per_node": case.saturation_flits_per_cycle_per_node,
                "unreachable": case.unreachable.len(),
                "checked": listed(case.routing.as_ref()),
            })).collect::<Vec<_>>()),
            "simulation": result.and_then(|result| result.simulation.as_ref()).map(|simulation| json!({
                "saturation_flits_per_cycle_per_node": simulation.saturation_flits_per_cycle_per_node,
                "curve": simulation.curve,
                "checked": false,
            })),
        })
    }
}

fn channels(routing: &Routing) -> Table {
    let total = routing.claims.route_hop_sum.max(1) as f64;
    let before = routing.unbalanced.as_ref().map(|unbalanced| &unbalanced.vc_hops);
    let mut table = match before {
        None => Table::new(&["  channel", ">hops", ">share"]),
        Some(_) => Table::new(&["  channel", ">hops", ">share", ">before balancing (claimed)"]),
    };
    for (vc, &hops) in routing.claims.vc_hops.iter().enumerate() {
        let mut cells = vec![format!("  {vc}"), hops.to_string(), quantity::percent(hops as f64 / total)];
        if let Some(before) = before.and_then(|before| before.get(vc)) {
            cells.push(before.to_string());
        }
        table.row(cells);
    }
    table
}

fn listed(routing: Option<&Routing>) -> bool {
    routing.is_some_and(|routing| !routing.routes.is_empty())
}

/// The cases that cost most, those with unreachable pairs first.
fn worst(cases: &[FaultCase]) -> Table {
    let mut order: Vec<&FaultCase> = cases.iter().collect();
    order.sort_by_key(|case| {
        (case.max_channel_load.is_some(), std::cmp::Reverse(case.max_channel_load), case.failed_ocs)
    });
    let mut table = Table::new(&["  switch", "place", ">routes at most", ">hops", ">saturation"]);
    for case in order.into_iter().take(LISTED) {
        let switch = usize::from(case.failed_ocs);
        let [u, v] = pod::switch_position(switch);
        let axis = ["X", "Y", "Z"].get(pod::switch_dimension(switch)).copied().unwrap_or("?");
        table.row([
            format!("  {switch}"),
            format!("{axis} face {u},{v}"),
            case.max_channel_load.map_or_else(|| "not all pairs".to_owned(), |load| load.to_string()),
            format!("{:.4}", case.avg_hops),
            case.saturation_flits_per_cycle_per_node
                .map_or_else(|| "-".to_owned(), |rate| format!("{rate:.2}")),
        ]);
    }
    table
}
