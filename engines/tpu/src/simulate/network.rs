//! A pod with routes, prepared for simulation.

use super::crossbar::{MAX_CHIP_PORTS, MAX_ENDS};
use super::engine::{MAX_LABELS, MAX_LANES};
use crate::model::pod::{self, CHIPS, PORTS};
use crate::model::topology::Topology;
use crate::plan::{Expansion, Routing};
use crate::scenario::SimulationSettings;
use lightbay_core::problem::Problem;

/// The delay of a flit on one hop, and the injection latency, must be below this number of cycles.
const MAX_DELAY: u64 = 1 << 16;
/// A run must have fewer cycles than this, because the birth cycle of a flit shares a word with the mark of the last
/// flit.
const MAX_CYCLES: u64 = 1 << 30;
/// Maximum memory for buffers; larger simulations are refused.
const MAX_BYTES: u64 = 8 << 30;
/// Marks a missing route in place of its first word.
const NO_ROUTE: u64 = u64::MAX;
/// Number of bits of a hop, which is encoded as `port + 8 * label`.
const CODE_BITS: u32 = 5;
/// Code in place of a port: the route ends here.
pub(super) const EJECT: u8 = 7;
/// Code in place of a port: the route continues in word number `code >> 5` of the network.
const MORE: u64 = 6;
/// Number of hops in a word that ends with the number of the next word.
const HOPS_BEFORE_MORE: usize = 5;
/// Maximum number of hops in the last word of a route.
const HOPS_OF_LAST: usize = 12;

/// A pod, its routes and the settings of a simulation. These data are immutable, so that runs at different rates can
/// share them.
#[derive(Clone, Debug)]
pub struct SimulatedPod {
    pub(super) nodes: usize,
    /// Number of sources whose routes are stored: 64 under translation, otherwise all.
    pub(super) sources: usize,
    /// The first word of the route from a source to a target; the lowest bits contain the first hop.
    pub(super) starts: Vec<u64>,
    /// The other words of routes that are too long for one word.
    words: Vec<u64>,
    /// For each output `6 * node + port`, the number of the output at the other end of its link.
    pub(super) pairs: Vec<u32>,
    /// Cycles from a send to the arrival, by output.
    pub(super) delays: Vec<u16>,
    /// Lanes are numbered `6 * node + input port << shift | lane`.
    pub(super) shift: u32,
    pub(super) lane_mask: usize,
    /// Bit mask with the request bits of all lanes of one input port.
    pub(super) port_bits: u64,
    pub(super) lanes: usize,
    pub(super) escapes: usize,
    pub(super) buffer: u16,
    pub(super) packet: u32,
    pub(super) injection: u32,
    /// Number of cycles that a link needs for one flit.
    pub(super) cycles_per_flit: f64,
    pub(super) longest_delay: u32,
    /// Number of routes over the most loaded link.
    max_load: u64,
    settings: SimulationSettings,
}

impl SimulatedPod {
    /// Prepares a pod and its routes.
    ///
    /// # Errors
    /// Settings that cannot be simulated, or routes that do not lead from every node to every other or can deadlock.
    pub fn new(
        topology: &Topology,
        routing: &Routing,
        settings: &SimulationSettings,
    ) -> Result<Self, Problem> {
        check(settings, topology.nodes())?;
        let nodes = topology.nodes();
        let sources = match routing.expand {
            Expansion::Translation if topology.symmetry().is_some() => CHIPS,
            Expansion::Translation => {
                return Err(Problem::new(
                    "routing.expand",
                    "is 'translation', but the pod has no symmetry",
                    "list the routes of all sources",
                ));
            }
            Expansion::None => nodes,
        };
        let neighbours = topology.neighbours();
        let lanes = usize::from(settings.vc_count);
        // Four lanes of 16 bytes fill a cache line. With six input ports and the source queue, the requests of an
        // output fit into 64 bits for four and for eight lanes.
        let shift = if lanes <= 4 { 2 } else { 3 };
        let cycles_per_flit = settings.cycles_per_flit();
        let (mut pairs, mut delays) = (Vec::with_capacity(nodes * PORTS), Vec::with_capacity(nodes * PORTS));
        for (node, far) in neighbours.iter().enumerate() {
            let (_, chip) = pod::parts(node as u32);
            for port in 0..PORTS as u8 {
                let at = far[usize::from(port)] as usize * PORTS + usize::from(pod::opposite(port));
                pairs.push(at as u32);
                let link = if pod::electrical(chip, port).is_some() {
                    settings.link_latency_electrical_cycles
                } else {
                    settings.link_latency_optical_cycles
                };
                // A flit is never visible downstream in the cycle in which it is sent.
                let flit = cycles_per_flit.ceil() as u32;
                delays.push((settings.router_latency_cycles + link + flit - 1).max(1) as u16);
            }
        }
        let longest_delay = delays.iter().copied().map(u32::from).max().unwrap_or(0);
        let mut network = Self {
            nodes,
            sources,
            starts: vec![NO_ROUTE; sources * nodes],
            words: Vec::new(),
            pairs,
            delays,
            shift,
            lane_mask: (1 << shift) - 1,
            port_bits: (1 << (1 << shift)) - 1,
            lanes,
            escapes: usize::from(settings.escape_vc_count),
            buffer: settings.buffer_flits_per_vc as u16,
            packet: settings.packet_flits,
            injection: settings.injection_latency_cycles,
            cycles_per_flit,
            longest_delay: longest_delay.max(settings.injection_latency_cycles).max(1),
            max_load: 0,
            settings: settings.clone(),
        };
        network.read_routes(routing, &neighbours)?;
        Ok(network)
    }

    fn read_routes(&mut self, routing: &Routing, neighbours: &[[u32; PORTS]]) -> Result<(), Problem> {
        let classes = self.sources == CHIPS && self.nodes > CHIPS;
        let mut loads = vec![0u64; if classes { pod::ARC_CLASSES } else { self.nodes * PORTS }];
        let mut turns = ChannelTurns::new(loads.len());
        let mut codes = Vec::new();
        for (index, route) in routing.routes.iter().enumerate() {
            let refuse =
                |what: String| Problem::new(format!("routing.routes[{index}]"), what, "route the pod again");
            let (source, target) = (route.source as usize, route.target as usize);
            if source >= self.sources || target >= self.nodes || source == target {
                return Err(refuse(format!(
                    "leads from chip {source} to chip {target}; the source must be one of chips 0 to {}, and the target another chip of the pod",
                    self.sources - 1
                )));
            }
            if route.ports.is_empty() || route.ports.len() != route.vcs.len() {
                return Err(refuse("does not name one virtual channel for each of its hops".to_owned()));
            }
            let pair = source * self.nodes + target;
            if self.starts[pair] != NO_ROUTE {
                return Err(refuse(format!("is a second route from chip {source} to chip {target}")));
            }
            codes.clear();
            let (mut at, mut last) = (route.source, 0);
            for (&port, &label) in route.ports.iter().zip(&route.vcs) {
                if usize::from(port) >= PORTS {
                    return Err(refuse(format!("uses port {port}, which does not exist")));
                }
                if usize::from(label) >= MAX_LABELS {
                    return Err(Problem::new(
                        "vc_count",
                        format!("lets routes use virtual channel {label}"),
                        format!("simulate a plan that is routed with at most {MAX_LABELS} virtual channels"),
                    ));
                }
                if usize::from(label) >= self.escapes {
                    return Err(Problem::new(
                        "simulate.escape_vc_count",
                        format!("is {}, but routes use virtual channel {label}", self.escapes),
                        format!("give at least {}", label + 1),
                    ));
                }
                let arc = at as usize * PORTS + usize::from(port);
                let class = if classes { arc % pod::ARC_CLASSES } else { arc };
                loads[class] += 1;
                if let Some(&before) = codes.last() {
                    turns.add(last, (before >> 3) as usize, usize::from(port), usize::from(label));
                }
                last = class;
                codes.push(u64::from(port + 8 * label));
                at = neighbours[at as usize][usize::from(port)];
            }
            self.starts[pair] = self.word(&codes);
            if at != route.target {
                return Err(refuse(format!("ends at chip {at} instead of chip {target}")));
            }
        }
        for source in 0..self.sources {
            let row = &self.starts[source * self.nodes..(source + 1) * self.nodes];
            if let Some(target) = (0..self.nodes).find(|&target| target != source && row[target] == NO_ROUTE)
            {
                return Err(Problem::new(
                    "routing.routes",
                    format!("has no route from chip {source} to chip {target}"),
                    "simulate a plan that routes every pair",
                ));
            }
        }
        self.max_load = loads.iter().copied().max().unwrap_or(0);
        turns.check(|arc| self.pairs[arc] as usize / PORTS * PORTS)
    }

    /// Encodes a route, or the rest of a route; returns its first word and stores the other words.
    fn word(&mut self, codes: &[u64]) -> u64 {
        let pack =
            |codes: &[u64], end: u64| codes.iter().rev().fold(end, |word, code| word << CODE_BITS | code);
        if codes.len() <= HOPS_OF_LAST {
            return pack(codes, u64::from(EJECT));
        }
        let (now, later) = codes.split_at(HOPS_BEFORE_MORE);
        let rest = self.word(later);
        self.words.push(rest);
        pack(now, MORE | (self.words.len() as u64 - 1) << CODE_BITS)
    }

    /// Returns the rest of a route after its next hop.
    pub(super) fn after_hop(&self, codes: u64) -> u64 {
        let rest = codes >> CODE_BITS;
        if rest & 7 == MORE { self.words[(rest >> CODE_BITS) as usize] } else { rest }
    }

    /// Number of chips of the pod.
    pub const fn nodes(&self) -> usize {
        self.nodes
    }

    /// The settings that the pod was prepared with.
    pub const fn settings(&self) -> &SimulationSettings {
        &self.settings
    }

    /// The rate at which the most loaded link is always busy, in flits per cycle and node:
    /// `(n - 1) / max channel load`, lower if a flit takes several cycles on a link or if the ports of a chip carry
    /// less.
    pub fn ideal_rate(&self) -> f64 {
        let of_links = (self.nodes - 1) as f64 / (self.max_load.max(1) as f64 * self.cycles_per_flit);
        self.settings.chip_limit().map_or(of_links, |of_ports| of_links.min(of_ports))
    }
}

/// The turns that routes take from channel to channel, a channel being an arc (or class of arcs) with a label.
struct ChannelTurns {
    /// `true` for turns that occur in routes, at index `(arc * labels + label) * 6 * labels + port * labels + label of
    /// the next hop`.
    taken: Vec<bool>,
    channels: usize,
}

impl ChannelTurns {
    fn new(arcs: usize) -> Self {
        let channels = arcs * MAX_LABELS;
        Self { taken: vec![false; channels * PORTS * MAX_LABELS], channels }
    }

    fn add(&mut self, arc: usize, label: usize, port: usize, next: usize) {
        self.taken[(arc * MAX_LABELS + label) * PORTS * MAX_LABELS + port * MAX_LABELS + next] = true;
    }

    /// Checks that the channel dependencies have no cycle, because otherwise the network can deadlock. The dependencies
    /// between arc classes have no cycle if and only if the dependencies between the arcs of the pod have no cycle
    /// (TONS, section 5.1 "Allowed Turns and All Paths"). `arrives` returns, for an arc, the first outgoing arc of the
    /// node at its end.
    fn check(&self, arrives: impl Fn(usize) -> usize) -> Result<(), Problem> {
        let arcs = self.channels / MAX_LABELS;
        let next = |channel: usize| {
            let from = arrives(channel / MAX_LABELS) % arcs * MAX_LABELS;
            let row = &self.taken[channel * PORTS * MAX_LABELS..(channel + 1) * PORTS * MAX_LABELS];
            row.iter().enumerate().filter(|(_, taken)| **taken).map(move |(turn, _)| from + turn)
        };
        let mut before = vec![0u32; self.channels];
        (0..self.channels).flat_map(next).for_each(|channel| before[channel] += 1);
        let mut ready: Vec<usize> = (0..self.channels).filter(|&channel| before[channel] == 0).collect();
        let mut ordered = 0;
        while let Some(channel) = ready.pop() {
            ordered += 1;
            for after in next(channel) {
                before[after] -= 1;
                if before[after] == 0 {
                    ready.push(after);
                }
            }
        }
        if ordered == self.channels {
            return Ok(());
        }
        let channel = before.iter().position(|&count| count > 0).unwrap_or(0);
        let (node, port) = (channel / MAX_LABELS / PORTS, channel / MAX_LABELS % PORTS);
        Err(Problem::new(
            "routing.routes",
            format!(
                "can deadlock: channels wait for each other in a cycle, for example port {port} of \
                 chip {node} on virtual channel {}",
                channel % MAX_LABELS
            ),
            "route the pod again",
        ))
    }
}

fn check(settings: &SimulationSettings, nodes: usize) -> Result<(), Problem> {
    let refuse = |field: &str, what: String, remedy: String| {
        Err(Problem::new(format!("simulate.{field}"), what, remedy))
    };
    if settings.vc_count == 0 || usize::from(settings.vc_count) > MAX_LANES {
        let remedy = format!("give 1 to {MAX_LANES}");
        return refuse("vc_count", format!("is {}", settings.vc_count), remedy);
    }
    let labels = settings.vc_count.min(MAX_LABELS as u8);
    if !(1..=labels).contains(&settings.escape_vc_count) {
        return refuse(
            "escape_vc_count",
            format!("is {}, but there are {} virtual channels", settings.escape_vc_count, settings.vc_count),
            format!("give 1 to {labels}"),
        );
    }
    for (field, value) in [
        ("buffer_flits_per_vc", settings.buffer_flits_per_vc),
        ("packet_flits", settings.packet_flits),
        ("measure_cycles", settings.measure_cycles),
        ("flit_bytes", settings.flit_bytes),
    ] {
        if value == 0 {
            return refuse(field, "is 0".to_owned(), "give at least 1".to_owned());
        }
    }
    if settings.buffer_flits_per_vc > u32::from(u16::MAX) {
        let remedy = format!("give at most {}", u16::MAX);
        return refuse("buffer_flits_per_vc", format!("is {}", settings.buffer_flits_per_vc), remedy);
    }
    if let Some((field, given, usual, why)) = settings.idle().first() {
        let remedy = format!("give {usual}, or leave it out");
        return refuse(field, format!("is {given}, but has no effect {why}"), remedy);
    }
    for (field, value, most) in [
        ("speedup", settings.speedup, 2),
        ("islip_iterations", settings.islip_iterations, MAX_ENDS as u8),
        ("chip_ports", settings.chip_ports, MAX_CHIP_PORTS as u8),
    ] {
        if !(1..=most).contains(&value) {
            return refuse(field, format!("is {value}"), format!("give 1 to {most}"));
        }
    }
    for (field, value) in [
        ("rate_step", settings.rate_step),
        ("clock_ghz", settings.clock_ghz),
        ("link_gbyte_per_s", settings.link_gbyte_per_s),
    ] {
        if !(value.is_finite() && value > 0.0) {
            return refuse(field, format!("is {value}"), "give a number above 0".to_owned());
        }
    }
    let link = settings.link_latency_electrical_cycles.max(settings.link_latency_optical_cycles);
    let delay = u64::from(settings.router_latency_cycles)
        + u64::from(link)
        + settings.cycles_per_flit().ceil() as u64;
    if delay >= MAX_DELAY {
        return refuse(
            "router_latency_cycles",
            format!("and the latency and rate of the links make a hop last {delay} cycles"),
            format!("keep every hop below {MAX_DELAY} cycles"),
        );
    }
    let injection = settings.injection_latency_cycles;
    if u64::from(injection) >= MAX_DELAY {
        let remedy = format!("give at most {}", MAX_DELAY - 1);
        return refuse("injection_latency_cycles", format!("is {injection}"), remedy);
    }
    let cycles = u64::from(settings.warmup_cycles) + u64::from(settings.measure_cycles);
    if cycles >= MAX_CYCLES {
        return refuse(
            "measure_cycles",
            format!("makes the run {cycles} cycles long"),
            format!("keep warm-up and measurement below {MAX_CYCLES} cycles in total"),
        );
    }
    let flits =
        (nodes * PORTS) as u64 * u64::from(settings.vc_count) * u64::from(settings.buffer_flits_per_vc);
    let bytes = 12 * u128::from(flits);
    if bytes > u128::from(MAX_BYTES) || u128::from(flits) >= u128::from(u32::MAX) {
        return refuse(
            "buffer_flits_per_vc",
            format!("makes {:.1} GB of buffers", bytes as f64 / 1e9),
            "use smaller buffers, fewer virtual channels or a smaller pod".to_owned(),
        );
    }
    Ok(())
}
