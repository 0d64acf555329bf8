//! Checks routes: every pair has exactly one route to its target, the loads are as claimed, and the channel
//! dependencies have no cycle.
//!
//! If a plan lists only the routes from cube 0, the group translates them to the other cubes; the checker has confirmed
//! that translations preserve the wiring. All arcs of a class then have the same load. Every dependency between
//! channels of a listed route also exists in its translation to every cube; the dependency graph of all cubes must be
//! free of cycles.

use super::group::Symmetric;
use super::wiring::{CHIPS, PORTS, Wiring};
use super::{EXACT, Findings, code};
use crate::plan::{Expansion, Route, Routing};

/// Pod that the routes belong to.
#[derive(Debug)]
pub(super) struct Pod<'a> {
    pub wiring: &'a Wiring,
    pub group: Option<Symmetric>,
    /// Number of virtual channels that the scenario allows.
    pub vc_count: u8,
    /// Sum of the hops of shortest paths; 0 if some chips cannot be reached.
    pub hop_sum: u64,
}

/// Sums over the routes.
#[derive(Debug)]
pub(super) struct Sums {
    /// Number of routes over the most loaded arc.
    pub max_load: u64,
    /// Number of hops of all routes.
    pub hops: u64,
}

/// Checks a set of routes; `None` if the routes are not listed, or if some route breaks a rule. `place` is the JSON
/// path of this set in the plan, for messages.
pub(super) fn check(
    pod: &Pod<'_>,
    routing: &Routing,
    avoided: &[u8],
    mcf_upper: f64,
    place: &str,
    found: &mut Findings,
) -> Option<Sums> {
    let wiring = pod.wiring;
    let vcs = usize::from(routing.vc_count);
    if routing.vc_count == 0 || routing.vc_count > pod.vc_count {
        found.add(
            code::ROUTE,
            format!(
                "{place} uses {} virtual channels; the scenario allows 1 to {}",
                routing.vc_count, pod.vc_count
            ),
        );
        return None;
    }
    let (sources, copies) = match routing.expand {
        Expansion::None => (wiring.nodes(), 1),
        Expansion::Translation if pod.group.is_some() => (CHIPS, wiring.cubes as u64),
        Expansion::Translation => {
            found.add(code::SYMMETRY, format!("{place} has expand=translation, but the pod has no symmetry"));
            return None;
        }
    };
    if routing.routes.is_empty() {
        unlisted(pod, routing, copies, mcf_upper, place, found);
        return None;
    }
    let before = found.count();
    pairs(wiring, routing, sources, place, found);
    let mut tally = Tally::new(wiring, sources, vcs);
    for route in &routing.routes {
        tally.follow(wiring, route, avoided, place, found);
    }
    if found.count() > before {
        return None;
    }
    let max_load = tally.loads.iter().copied().max().unwrap_or(0);
    let vc_hops: Vec<u64> = tally.vc_hops.iter().map(|hops| hops * copies).collect();
    let hops: u64 = vc_hops.iter().sum();
    let claims = &routing.claims;
    if claims.max_channel_load != max_load {
        found.add(
            code::LOAD,
            format!(
                "{place}: 'max_channel_load' is {}, but the routes give {max_load}",
                claims.max_channel_load
            ),
        );
    }
    if claims.vc_hops != vc_hops {
        found.add(
            code::LOAD,
            format!("{place}: 'vc_hops' is {:?}, but the routes give {vc_hops:?}", claims.vc_hops),
        );
    }
    if claims.route_hop_sum != hops {
        found.add(
            code::LOAD,
            format!("{place}: 'route_hop_sum' is {}, but the routes give {hops}", claims.route_hop_sum),
        );
    }
    if max_load > 0 && 1.0 / max_load as f64 > mcf_upper * (1.0 + EXACT) {
        found.add(
            code::MCF,
            format!(
                "{place}: routes with max channel load {max_load} carry more than 'mcf_upper' {mcf_upper} \
                 allows"
            ),
        );
    }
    before_balancing(routing, &tally, copies, place, found);
    if let Some(circle) = tally.turns.circle(wiring) {
        found.add(code::DEADLOCK, format!("{place}: {circle}"));
    }
    Some(Sums { max_load, hops })
}

/// Checks that the figures of unlisted routes are possible. The number of hops must be the sum over all virtual
/// channels and at least the hops of shortest paths. The maximum load must be at least the mean load and must not
/// contradict the MCF. The total hops and the maximum load before balancing must equal those after balancing.
fn unlisted(
    pod: &Pod<'_>,
    routing: &Routing,
    copies: u64,
    mcf_upper: f64,
    place: &str,
    found: &mut Findings,
) {
    let claims = &routing.claims;
    let mut fault = |what: String| found.add(code::LOAD, format!("{place}: {what}"));
    let hops: u64 = claims.vc_hops.iter().fold(0, |sum, &hops| sum.saturating_add(hops));
    if claims.vc_hops.len() != usize::from(routing.vc_count) || hops != claims.route_hop_sum {
        fault(format!(
            "'vc_hops' {:?} must add up to 'route_hop_sum' {}, with one number for each of {} virtual \
             channels",
            claims.vc_hops, claims.route_hop_sum, routing.vc_count
        ));
    }
    if claims.route_hop_sum < pod.hop_sum {
        fault(format!(
            "'route_hop_sum' {} is below {}, the hops of shortest paths",
            claims.route_hop_sum, pod.hop_sum
        ));
    }
    let arcs = (PORTS * pod.wiring.nodes()) as u64;
    if claims.max_channel_load.saturating_mul(arcs) < claims.route_hop_sum {
        fault(format!(
            "'max_channel_load' {} is below the mean of {} hops over {arcs} arcs",
            claims.max_channel_load, claims.route_hop_sum
        ));
    }
    if claims.max_channel_load > 0 && 1.0 / claims.max_channel_load as f64 > mcf_upper * (1.0 + EXACT) {
        fault(format!(
            "routes with max channel load {} carry more than 'mcf_upper' {mcf_upper} allows",
            claims.max_channel_load
        ));
    }
    let Some(unbalanced) = &routing.unbalanced else { return };
    let listed = (arcs / copies) as usize;
    if unbalanced.vc_hops.len() != usize::from(routing.vc_count)
        || unbalanced.loads.len() != usize::from(routing.vc_count)
        || unbalanced.loads.iter().any(|loads| loads.len() != listed)
    {
        return fault(format!(
            "'unbalanced' must have one entry for each virtual channel ({}) and each arc ({listed})",
            routing.vc_count
        ));
    }
    for (vc, (loads, hops)) in unbalanced.loads.iter().zip(&unbalanced.vc_hops).enumerate() {
        let sum = copies * loads.iter().map(|&load| u64::from(load)).sum::<u64>();
        if sum != *hops {
            fault(format!(
                "'unbalanced' has {hops} hops on virtual channel {vc}, but its loads add up to {sum}"
            ));
        }
    }
    let load = |arc: usize| unbalanced.loads.iter().map(|loads| u64::from(loads[arc])).sum::<u64>();
    let (fullest, sum) = (0..listed).map(load).fold((0, 0), |(most, sum), load| (most.max(load), sum + load));
    if fullest != claims.max_channel_load || copies * sum != claims.route_hop_sum {
        fault(format!(
            "'unbalanced' has max channel load {fullest} and {} hops, unlike the routes, but balancing \
             changes only virtual channels",
            copies * sum
        ));
    }
}

/// Checks that every pair of a listed source and another chip has exactly one route, and that routes are in order of
/// source and target.
fn pairs(wiring: &Wiring, routing: &Routing, sources: usize, place: &str, found: &mut Findings) {
    let nodes = wiring.nodes();
    let mut seen = vec![false; sources * nodes];
    for route in &routing.routes {
        let (source, target) = (route.source as usize, route.target as usize);
        if source >= sources || target >= nodes || source == target {
            found.add(code::PAIR, format!("{place}: the route from chip {source} to chip {target} does not lead from a listed chip to another chip"));
        } else if std::mem::replace(&mut seen[source * nodes + target], true) {
            found
                .add(code::PAIR, format!("{place}: several routes lead from chip {source} to chip {target}"));
        }
    }
    let order = |route: &Route| (route.source, route.target);
    let late = routing.routes.windows(2).find(|two| order(&two[0]) > order(&two[1]));
    if let Some([_, late]) = late {
        let (source, target) = order(late);
        found.add(
            code::PAIR,
            format!("{place}: the route from {source} to {target} is listed after a later route"),
        );
    }
    for source in 0..sources {
        for target in (0..nodes).filter(|&target| target != source) {
            if !seen[source * nodes + target] {
                found.add(code::PAIR, format!("{place}: no route leads from chip {source} to chip {target}"));
            }
        }
    }
}

/// Sums over the routes followed so far.
struct Tally {
    /// Number of routes over each arc: by arc class of cube 0 if only the routes of cube 0 are listed, otherwise by arc
    /// of the pod.
    loads: Vec<u64>,
    vc_hops: Vec<u64>,
    turns: TakenTurns,
    per_cube: bool,
}

impl Tally {
    fn new(wiring: &Wiring, sources: usize, vcs: usize) -> Self {
        let per_cube = sources < wiring.nodes();
        let chips = if per_cube { CHIPS } else { wiring.nodes() };
        Self {
            loads: vec![0; PORTS * chips],
            vc_hops: vec![0; vcs],
            turns: TakenTurns::new(chips, vcs),
            per_cube,
        }
    }

    fn place_of(&self, node: usize) -> usize {
        if self.per_cube { node % CHIPS } else { node }
    }

    fn follow(&mut self, wiring: &Wiring, route: &Route, avoided: &[u8], place: &str, found: &mut Findings) {
        let (source, target) = (route.source as usize, route.target as usize);
        if source >= wiring.nodes() || target >= wiring.nodes() {
            return; // Said as a pair that does not exist.
        }
        let mut fault = |code, what: String| {
            found.add(code, format!("{place}: the route from {source} to {target} {what}"));
        };
        if route.ports.len() != route.vcs.len() {
            fault(
                code::ROUTE,
                format!("has {} ports but {} virtual channels", route.ports.len(), route.vcs.len()),
            );
            return;
        }
        if let Some(port) = route.ports.iter().find(|&&port| usize::from(port) >= PORTS) {
            fault(code::ROUTE, format!("uses port {port}, but ports are 0 to 5"));
            return;
        }
        if let Some(vc) = route.vcs.iter().find(|&&vc| usize::from(vc) >= self.vc_hops.len()) {
            fault(
                code::ROUTE,
                format!("uses virtual channel {vc}, but there are only {}", self.vc_hops.len()),
            );
            return;
        }
        let mut visited = vec![source];
        let mut last: Option<(usize, usize)> = None;
        let mut node = source;
        for (&port, &vc) in route.ports.iter().zip(&route.vcs) {
            let (port, vc) = (usize::from(port), usize::from(vc));
            if let Some(switch) = wiring.switch_at(node, port)
                && avoided.contains(&switch)
            {
                fault(code::FAILED, format!("crosses switch {switch}, which has failed"));
            }
            let arc = PORTS * self.place_of(node) + port;
            self.loads[arc] += 1;
            self.vc_hops[vc] += 1;
            if let Some((arc, from_vc)) = last {
                self.turns.note(arc, from_vc, port, vc);
            }
            last = Some((arc, vc));
            node = wiring.next[node][port] as usize;
            if visited.contains(&node) {
                fault(code::ROUTE, format!("visits chip {node} twice"));
                return;
            }
            visited.push(node);
        }
        if node != target {
            fault(code::ROUTE, format!("ends at chip {node}"));
        }
    }
}

/// Turns that routes use: for each channel (arc, virtual channel), the next ports and virtual channels.
struct TakenTurns {
    vcs: usize,
    /// Number of chips whose arcs are numbered: 64 if translations give the arcs of the other chips.
    chips: usize,
    /// For each arc and virtual channel, a bit mask of the (next port, next virtual channel) pairs that routes use
    /// after it.
    next: Vec<u64>,
}

impl TakenTurns {
    fn new(chips: usize, vcs: usize) -> Self {
        Self { vcs, chips, next: vec![0; chips * PORTS * vcs] }
    }

    fn note(&mut self, arc: usize, vc: usize, port: usize, next_vc: usize) {
        // At most ten virtual channels (one digit each) and six ports fit into a word.
        self.next[arc * self.vcs + vc] |= 1 << (port * self.vcs + next_vc);
    }

    /// Returns a text that describes a cycle of the channel dependencies of the whole pod, if there is one, found by
    /// topological sorting.
    fn circle(&self, wiring: &Wiring) -> Option<String> {
        let (vcs, nodes) = (self.vcs, wiring.nodes());
        let channels = nodes * PORTS * vcs;
        let successors = |channel: usize| {
            let (arc, vc) = (channel / vcs, channel % vcs);
            let (node, port) = (arc / PORTS, arc % PORTS);
            let mut bits = self.next[(PORTS * (node % self.chips) + port) * vcs + vc];
            let head = wiring.next[node][port] as usize;
            std::iter::from_fn(move || {
                (bits != 0).then(|| {
                    let bit = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    (PORTS * head + bit / vcs) * vcs + bit % vcs
                })
            })
        };
        let mut waiting = vec![0_u32; channels];
        for channel in 0..channels {
            for next in successors(channel) {
                waiting[next] += 1;
            }
        }
        let mut free: Vec<usize> = (0..channels).filter(|&channel| waiting[channel] == 0).collect();
        let mut sorted = 0;
        while let Some(channel) = free.pop() {
            sorted += 1;
            for next in successors(channel) {
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    free.push(next);
                }
            }
        }
        if sorted == channels {
            return None;
        }
        // Every remaining channel depends on another remaining one: follow the dependencies until a channel repeats.
        let mut before = vec![usize::MAX; channels];
        for channel in (0..channels).filter(|&channel| waiting[channel] > 0) {
            for next in successors(channel).filter(|&next| waiting[next] > 0) {
                before[next] = channel;
            }
        }
        let mut at = (0..channels).find(|&channel| waiting[channel] > 0 && before[channel] != usize::MAX)?;
        let mut step = vec![usize::MAX; channels];
        let mut path = Vec::new();
        while step[at] == usize::MAX {
            step[at] = path.len();
            path.push(at);
            at = before[at];
        }
        let circle: Vec<String> = path[step[at]..]
            .iter()
            .rev()
            .take(8)
            .map(|channel| {
                let (arc, vc) = (channel / vcs, channel % vcs);
                format!("chip {} port {} channel {vc}", arc / PORTS, arc % PORTS)
            })
            .collect();
        let length = path.len() - step[at];
        let more = if length > circle.len() { ", …" } else { "" };
        Some(format!("{length} channels wait for each other in a cycle: {}{more}", circle.join(", ")))
    }
}

/// Checks that the figures before balancing belong to the same paths: equal total hops, equal load on every arc, and at
/// least as many hops on the first virtual channel as after balancing.
fn before_balancing(routing: &Routing, tally: &Tally, copies: u64, place: &str, found: &mut Findings) {
    let Some(unbalanced) = &routing.unbalanced else { return };
    let mut fault = |what: String| found.add(code::LOAD, format!("{place}: 'unbalanced' {what}"));
    let vcs = tally.vc_hops.len();
    if unbalanced.vc_hops.len() != vcs || unbalanced.loads.len() != vcs {
        return fault(format!("must have one entry for each virtual channel ({vcs})"));
    }
    if unbalanced.loads.iter().any(|loads| loads.len() != tally.loads.len()) {
        return fault(format!(
            "must have one load for each arc ({}) on every virtual channel",
            tally.loads.len()
        ));
    }
    for (vc, (loads, hops)) in unbalanced.loads.iter().zip(&unbalanced.vc_hops).enumerate() {
        let sum: u64 = copies * loads.iter().map(|&load| u64::from(load)).sum::<u64>();
        if sum != *hops {
            fault(format!("has {hops} hops on virtual channel {vc}, but its loads add up to {sum}"));
        }
    }
    // Before balancing, the first virtual channel had as many hops as possible.
    if let (Some(before), Some(after)) = (unbalanced.vc_hops.first(), tally.vc_hops.first())
        && *before < copies * after
    {
        fault(format!(
            "has {before} hops on virtual channel 0, fewer than the {} after balancing",
            copies * after
        ));
    }
    let differs = (0..tally.loads.len()).find(|&arc| {
        unbalanced.loads.iter().map(|loads| u64::from(loads[arc])).sum::<u64>() != tally.loads[arc]
    });
    if let Some(arc) = differs {
        fault(format!(
            "has another load on port {} of chip {} than the routes, but balancing changes only virtual \
             channels",
            arc % PORTS,
            arc / PORTS
        ));
    }
}
