//! Best makespan of fixed circuits at joint rates, from first principles and the instance alone.
//!
//! The search computes ends of shared links by serving the longest first. Here they follow from the cut condition of
//! the flow that serves all: what a set of transfers has to send must fit between its releases and the end, for
//! every set. Start times are a longest path by repeated relaxation.

use lightbay_training::scenario::instance::Instance;

/// An instance with what every evaluation needs.
pub struct Reference<'a> {
    instance: &'a Instance,
    rate: f64,
    link_of: Vec<usize>,
    sink: Vec<bool>,
}

impl<'a> Reference<'a> {
    pub fn new(instance: &'a Instance) -> Self {
        let link_of = instance.tasks.iter().map(|task| {
            let ends = (task.src_pod, task.dst_pod);
            let joins = |link: &lightbay_training::scenario::instance::Link| {
                [(link.pod_a, link.pod_b), (link.pod_b, link.pod_a)]
            };
            instance.links.iter().position(|link| joins(link).contains(&ends)).unwrap()
        });
        let mut sink = vec![true; instance.tasks.len()];
        for edge in &instance.edges {
            sink[edge.pred.index()] = false;
        }
        Self { instance, rate: instance.nic_bandwidth_gbps * 1.25e8, link_of: link_of.collect(), sink }
    }

    /// Maximum number of flows of one transfer over each link.
    pub fn widest(&self) -> Vec<u32> {
        let mut widest = vec![1; self.instance.links.len()];
        for (task, &link) in self.instance.tasks.iter().zip(&self.link_of) {
            widest[link] = widest[link].max(task.flows);
        }
        widest
    }

    /// Links with transfers that others wait for.
    pub fn through(&self) -> Vec<usize> {
        let tasks = 0..self.instance.tasks.len();
        let mut links: Vec<usize> = tasks.filter(|&t| !self.sink[t]).map(|t| self.link_of[t]).collect();
        links.sort_unstable();
        links.dedup();
        links
    }

    fn alone(&self, t: usize, x: &[u32]) -> f64 {
        let task = &self.instance.tasks[t];
        task.volume_bytes / (f64::from(task.flows.min(x[self.link_of[t]])) * self.rate)
    }

    /// Start times if transfers that others wait for never share anything.
    fn starts(&self, x: &[u32]) -> Vec<f64> {
        let mut start: Vec<f64> = self.instance.tasks.iter().map(|task| task.release_s).collect();
        loop {
            let mut changed = false;
            for edge in &self.instance.edges {
                let (u, v) = (edge.pred.index(), edge.succ.index());
                let ready = start[u] + self.alone(u, x) + edge.delay_s;
                if ready > start[v] {
                    start[v] = ready;
                    changed = true;
                }
            }
            if !changed {
                return start;
            }
        }
    }

    /// End of the iteration at the best joint rates, where only sinks with equal tails share links; a lower bound of
    /// it elsewhere.
    pub fn makespan(&self, x: &[u32]) -> f64 {
        self.end(x, |sinks, start, circuits| {
            let sets = 1u32..1 << sinks.len();
            sets.map(|set| {
                let members = (0..sinks.len()).filter(|i| set >> i & 1 == 1).map(|i| sinks[i]).collect();
                self.earliest_end(members, start, circuits)
            })
            .fold(0.0, f64::max)
        })
    }

    /// The same where tails of one link may differ: every transfer has a deadline of its own, and the end is searched
    /// by halving. Exact where only sinks share links, a lower bound elsewhere.
    pub fn makespan_with_any_tails(&self, x: &[u32]) -> f64 {
        let start = self.starts(x);
        let lower = self.end(x, |_, _, _| 0.0);
        let tasks = &self.instance.tasks;
        let mut end = lower;
        for (link, circuits) in x.iter().enumerate() {
            for source in [self.instance.links[link].pod_a, self.instance.links[link].pod_b] {
                let on = |t: &usize| self.link_of[*t] == link && tasks[*t].src_pod == source && self.sink[*t];
                let sinks: Vec<usize> = (0..tasks.len()).filter(on).collect();
                let fits = |end: f64| {
                    (1u32..1 << sinks.len()).all(|set| {
                        let members = (0..sinks.len()).filter(|i| set >> i & 1 == 1).map(|i| sinks[i]);
                        self.passes(&members.collect::<Vec<_>>(), &start, f64::from(*circuits), end)
                    })
                };
                if fits(end) {
                    continue;
                }
                let (mut low, mut high) = (end, 2.0 * end);
                while !fits(high) {
                    high *= 2.0;
                }
                for _ in 0..60 {
                    let middle = f64::midpoint(low, high);
                    if fits(middle) { high = middle } else { low = middle }
                }
                end = high;
            }
        }
        end
    }

    /// Returns `true` if what a set of transfers has to send passes the link between their releases and deadlines.
    fn passes(&self, members: &[usize], start: &[f64], circuits: f64, end: f64) -> bool {
        let tasks = &self.instance.tasks;
        let span = |t: usize| (start[t], end - tasks[t].tail_s);
        let mut moments: Vec<f64> = members.iter().flat_map(|&t| [span(t).0, span(t).1]).collect();
        moments.sort_by(f64::total_cmp);
        let room: f64 = moments
            .windows(2)
            .map(|piece| {
                let open = members.iter().filter(|&&t| span(t).0 <= piece[0] && span(t).1 >= piece[1]);
                let flows: f64 = open.map(|&t| f64::from(tasks[t].flows)).sum();
                flows.min(circuits) * (piece[1] - piece[0])
            })
            .sum();
        let volume: f64 = members.iter().map(|&t| tasks[t].volume_bytes / self.rate).sum();
        volume <= room * (1.0 + 1e-13)
    }

    /// A lower bound in one pass: what is released from some moment on has to pass the link after it.
    pub fn quick_bound(&self, x: &[u32]) -> f64 {
        self.end(x, |sinks, start, circuits| {
            sinks
                .iter()
                .map(|&first| {
                    let later = sinks.iter().filter(|&&t| start[t] >= start[first]);
                    let volume: f64 = later.map(|&t| self.instance.tasks[t].volume_bytes).sum();
                    start[first] + volume / (circuits * self.rate)
                })
                .fold(0.0, f64::max)
        })
    }

    fn end(&self, x: &[u32], shared: impl Fn(&[usize], &[f64], f64) -> f64) -> f64 {
        let start = self.starts(x);
        let tasks = &self.instance.tasks;
        let mut end =
            (0..tasks.len()).map(|t| start[t] + self.alone(t, x) + tasks[t].tail_s).fold(0.0, f64::max);
        for (link, circuits) in x.iter().enumerate() {
            for source in [self.instance.links[link].pod_a, self.instance.links[link].pod_b] {
                let on = |t: &usize| self.link_of[*t] == link && tasks[*t].src_pod == source && self.sink[*t];
                let sinks: Vec<usize> = (0..tasks.len()).filter(on).collect();
                if !sinks.is_empty() {
                    let tail_s = sinks.iter().map(|&t| tasks[t].tail_s).fold(f64::INFINITY, f64::min);
                    end = end.max(tail_s + shared(&sinks, &start, f64::from(*circuits)));
                }
            }
        }
        end
    }

    /// Returns the earliest end of a set of transfers if nobody else is there and rates within the set are free.
    fn earliest_end(&self, mut members: Vec<usize>, start: &[f64], circuits: f64) -> f64 {
        members.sort_by(|&a, &b| start[a].total_cmp(&start[b]));
        let volume = |&t: &usize| self.instance.tasks[t].volume_bytes / self.rate;
        let mut left: f64 = members.iter().map(volume).sum();
        let mut flows = 0.0;
        for (index, &t) in members.iter().enumerate() {
            flows += f64::from(self.instance.tasks[t].flows);
            let speed = f64::min(flows, circuits);
            let span = members.get(index + 1).map_or(f64::INFINITY, |&next| start[next]) - start[t];
            if left <= speed * span {
                return start[t] + left / speed;
            }
            left -= speed * span;
        }
        unreachable!("the last span has no end")
    }

    /// Ports over real pods.
    pub fn ports(&self, x: &[u32]) -> u32 {
        self.used(x).into_iter().sum()
    }

    fn used(&self, x: &[u32]) -> Vec<u32> {
        let mut used = vec![0; self.instance.pods.len()];
        for (link, circuits) in self.instance.links.iter().zip(x) {
            for (pod, cost) in [(link.pod_a, link.ports_a), (link.pod_b, link.ports_b)] {
                if !self.instance.pods[pod.index()].mirror {
                    used[pod.index()] += cost * circuits;
                }
            }
        }
        used
    }

    pub fn fits(&self, x: &[u32]) -> bool {
        let pods = self.instance.pods.iter().zip(self.used(x));
        pods.into_iter().all(|(pod, used)| pod.mirror || used <= pod.ports)
    }

    /// All vectors that fit, every link with at least one circuit and at most `caps`.
    pub fn vectors(&self, caps: &[u32]) -> Vec<Vec<u32>> {
        let mut vectors = vec![vec![1; caps.len()]];
        vectors.retain(|x| self.fits(x));
        for (link, &cap) in caps.iter().enumerate() {
            let grown = vectors.into_iter().flat_map(|x: Vec<u32>| {
                (1..=cap).map_while(move |circuits| {
                    let mut x = x.clone();
                    x[link] = circuits;
                    self.fits(&x).then_some(x)
                })
            });
            vectors = grown.collect();
        }
        vectors
    }

    /// More circuits than any pod could give to a link.
    pub fn no_caps(&self) -> Vec<u32> {
        let most = self.instance.pods.iter().filter(|pod| !pod.mirror).map(|pod| pod.ports).max().unwrap();
        vec![most; self.instance.links.len()]
    }
}

/// Transfers with two ways to share a link whose ends are known by hand.
#[test]
fn shared_links_by_hand() {
    use crate::parts::{instance, link, pod, transfer};
    let task = |id, release_s| transfer(id, (0, 1), 2, 2e9, release_s);
    let pods = vec![pod(0, 3), pod(1, 3)];
    let links = vec![link(0, lightbay_training::scenario::instance::LinkKind::Dp)];
    let instance = instance(pods, links, vec![task(0, 0.0), task(1, 0.01)], vec![]);
    let reference = Reference::new(&instance);
    for (circuits, end_s) in [(3, 0.03), (2, 0.04), (1, 0.08)] {
        assert!((reference.makespan(&[circuits]) - end_s).abs() < 1e-12, "{circuits}");
        assert!(reference.quick_bound(&[circuits]) <= end_s + 1e-12, "{circuits}");
    }
    assert_eq!(reference.vectors(&reference.no_caps()), [[1], [2], [3]]);
    assert_eq!((reference.ports(&[3]), reference.fits(&[4])), (6, false));
}
