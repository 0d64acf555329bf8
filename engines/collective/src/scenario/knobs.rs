//! The knobs of a scenario, from which forms, flags and help are made.

use super::families::{FamilySort, NetworkFamily};
use super::{
    CollectiveScenario, CollectiveSort, Demand, EpochRule, HUGE, LinkRecord, NodeSort, RATES, SCALES,
    TimeRule, Topology, sizes,
};
use crate::scenario::network::LinkNetwork;
use lightbay_core::param::{Effect, ParamInfo, ParamValue};
use lightbay_core::problem::Problem;
use lightbay_core::record::{Idle, Knob, Knobs, Record as _};
use std::sync::LazyLock;

/// Name of the knob for the rates of single links.
const CAPACITIES: &str = "capacities";
/// Minimum size of a buffer or a chunk that a knob can set, bytes.
const LEAST_BYTES: f64 = 1e-6;
/// Value for an empty list.
const NONE: &str = "none";
/// Maximum number of entries that a knob lists.
const MOST_LISTED: usize = 64;

/// The knobs of a scenario.
pub static KNOBS: LazyLock<Knobs<CollectiveScenario>> = LazyLock::new(|| {
    Knobs::new(vec![
        network(),
        network_size(),
        collective(),
        demand("chunks_per_rank").hidden_if(where_listed),
        Knob::own(
            ParamInfo::float(
                "output_buffer_bytes",
                LEAST_BYTES,
                HUGE,
                1e9,
                "Output buffer size, to which the algorithm bandwidth refers.",
            )
            .unit("bytes"),
            |scenario: &CollectiveScenario| scenario.demand.field("output_buffer_bytes"),
            |scenario, bytes| {
                (scenario.demand.output_buffer_bytes, scenario.demand.chunk_bytes) = (bytes.as_f64(), None);
                Ok(())
            },
        )
        .hidden_if(where_listed),
        sizes_of_buffer(),
        demand("root").hidden_if(where_listed).refused_if(without_root),
        Knob::own(
            ParamInfo::float("chunk_bytes", LEAST_BYTES, HUGE, 1e6, "Size of a chunk.").unit("bytes"),
            |scenario: &CollectiveScenario| scenario.demand.field("chunk_bytes"),
            |scenario, bytes| {
                scenario.demand.chunk_bytes = bytes.as_f64();
                Ok(())
            },
        )
        .hidden_if(|scenario| {
            let named = scenario.demand.collective.is_named();
            named.then_some(("together with the size of the buffer".into(), "set output_buffer_bytes"))
        }),
        demand("copy").refused_if(|scenario| {
            let why = "if every chunk has one destination";
            let remedy = "omit it, or use all_gather or broadcast";
            scenario.sends_one_by_one().then_some((why.into(), remedy))
        }),
        time("epoch").set_by(|scenario, word| {
            set_epoch(&mut scenario.time, word);
            Ok(())
        }),
        time("epoch_us").described(|info| ParamInfo { default: Some(1.0.into()), ..info }).refused_if(
            |scenario| {
                let epoch = scenario.time.epoch;
                let why = format!("with epoch={}", epoch.word());
                (epoch != EpochRule::Fixed).then_some((why.into(), "set epoch=fixed before it"))
            },
        ),
        time("epoch_multiplier").refused_if(|scenario| {
            let fixed = scenario.time.epoch == EpochRule::Fixed;
            fixed.then_some(("with a fixed epoch".into(), "change epoch_us"))
        }),
        time("alpha_threshold"),
        switches("copy").described(|info| ParamInfo { name: "switch_copy".into(), ..info }),
        switches("hop").described(|info| ParamInfo { name: "switch_hop".into(), ..info }),
        switches("reduce").described(|info| ParamInfo { name: "switch_reduce".into(), ..info }).idle_if(
            |scenario| {
                let why = "if the collective does not reduce";
                let remedy = "omit it, or use reduce_scatter or all_reduce";
                let sums = scenario.demand.collective.reduces();
                without_switches(scenario).or_else(|| (!sums).then_some((why.into(), remedy)))
            },
        ),
        capacities(),
        failed_links(),
        stragglers(),
        Knob::own(
            ParamInfo::int(
                "buffer_limit_chunks",
                0,
                1 << 30,
                0,
                "Maximum number of chunks that a GPU may hold for other GPUs at a time; 0: no limit.",
            ),
            |scenario: &CollectiveScenario| {
                Some(ParamValue::Int(scenario.buffer_limit_chunks.unwrap_or(0).into()))
            },
            |scenario, limit| {
                let limit = limit.as_i64().unwrap_or_default() as u32;
                scenario.buffer_limit_chunks = Some(limit).filter(|limit| *limit > 0);
                Ok(())
            },
        ),
    ])
});

fn demand(key: &'static str) -> Knob<CollectiveScenario> {
    Knob::of(key, |scenario: &CollectiveScenario| Some(&scenario.demand), |scenario| &mut scenario.demand)
}

fn time(key: &'static str) -> Knob<CollectiveScenario> {
    Knob::of(key, |scenario: &CollectiveScenario| Some(&scenario.time), |scenario| &mut scenario.time)
}

fn switches(key: &'static str) -> Knob<CollectiveScenario> {
    Knob::of(
        key,
        |scenario: &CollectiveScenario| Some(&scenario.topology.switch_model),
        |scenario| &mut scenario.topology.switch_model,
    )
    .idle_if(without_switches)
}

fn without_switches(scenario: &CollectiveScenario) -> Option<Idle> {
    let any = scenario.topology.nodes.iter().any(|node| node.kind == NodeSort::Switch);
    (!any).then_some(("without switches".into(), "leave it out"))
}

fn where_listed(scenario: &CollectiveScenario) -> Option<Idle> {
    let listed = !scenario.demand.collective.is_named();
    listed.then_some(("if chunks or tenants are listed".into(), "edit 'demand' in the file"))
}

fn without_root(scenario: &CollectiveScenario) -> Option<Idle> {
    let collective = scenario.demand.collective;
    let why = format!("with {}, which has no root", collective.label());
    (!collective.has_root()).then_some((why.into(), "omit it, or use broadcast, scatter or gather"))
}

fn node_by_node(scenario: &CollectiveScenario) -> Option<Idle> {
    let why = "for a network that is given node by node";
    let remedy = "use a preset such as preset:ndv2x2-allgather-1gb, or edit 'topology' in the file";
    scenario.family.is_none().then_some((why.into(), remedy))
}

fn network() -> Knob<CollectiveScenario> {
    let names = FamilySort::ALL.map(|(name, _)| name);
    Knob::own(
        ParamInfo::choice("network", &names, "ndv2", "Family of networks.").effect(Effect::Cold),
        |scenario: &CollectiveScenario| scenario.family.as_ref()?.field("network"),
        |scenario, word| match FamilySort::of_word(&word.to_string()) {
            Some(network) => {
                scenario.rebuild("network", NetworkFamily { network, size: network.usual_size() })
            }
            None => Ok(()),
        },
    )
    .hidden_if(node_by_node)
}

fn network_size() -> Knob<CollectiveScenario> {
    let help = "Number of chassis, boxes or nodes along each dimension: '2' or '4x4x4'.";
    Knob::own(
        ParamInfo::text("network_size", help).effect(Effect::Cold),
        |scenario: &CollectiveScenario| {
            let size: Vec<String> = scenario.family.as_ref()?.size.iter().map(u32::to_string).collect();
            Some(ParamValue::Text(size.join("x")))
        },
        |scenario, text| {
            let Some(family) = scenario.family.clone() else { return Ok(()) };
            let text = text.to_string();
            let size = size(&text).ok_or_else(|| wrong("network_size", &text, "set '2' or '4x4x4'"))?;
            scenario.rebuild("network_size", NetworkFamily { size, ..family })
        },
    )
    .refused_if(|scenario| {
        let one = scenario.family.as_ref().is_some_and(|family| family.network == FamilySort::Dgx1);
        let remedy = "first set network to a family that has sizes";
        one.then_some(("for dgx1, which is one machine".into(), remedy))
    })
    .hidden_if(node_by_node)
}

fn collective() -> Knob<CollectiveScenario> {
    let names: Vec<&str> =
        CollectiveSort::ALL.iter().filter(|(_, sort)| sort.is_named()).map(|(name, _)| *name).collect();
    let help = "Collective that the ranks perform.";
    Knob::own(
        ParamInfo::choice("collective", &names, "all_gather", help).effect(Effect::Cold),
        |scenario: &CollectiveScenario| scenario.demand.field("collective"),
        |scenario, word| {
            let demand = &mut scenario.demand;
            demand.set_field("collective", word);
            demand.root = demand.collective.has_root().then(|| demand.root.unwrap_or(0));
            Ok(())
        },
    )
    .hidden_if(where_listed)
}

fn sizes_of_buffer() -> Knob<CollectiveScenario> {
    let help = "Further buffer sizes to plan schedules for: '1e3..1e9' doubles from the first size, \
         '1000,64000' lists sizes, 'none' plans output_buffer_bytes only. Only method auto supports several sizes.";
    Knob::own(
        ParamInfo::text("sizes", help).effect(Effect::Cold),
        |scenario: &CollectiveScenario| listed(scenario.demand.sizes_bytes.iter().map(u64::to_string)),
        |scenario, text| {
            let (text, remedy) = (text.to_string(), "set '1e3..1e9', '1000,64000' in whole bytes, or 'none'");
            scenario.demand.sizes_bytes = sizes::parse(&text).ok_or_else(|| wrong("sizes", &text, remedy))?;
            Ok(())
        },
    )
    .hidden_if(where_listed)
}

fn set_epoch(time: &mut TimeRule, word: &ParamValue) {
    time.set_field("epoch", word);
    // A fixed epoch has a length and no factor; the other rules have a factor and no length.
    if time.epoch == EpochRule::Fixed {
        time.epoch_us = Some(time.epoch_us.unwrap_or(1.0));
        time.epoch_multiplier = 1.0;
    } else {
        time.epoch_us = None;
    }
}

fn capacities() -> Knob<CollectiveScenario> {
    Knob::own(
        ParamInfo::text(
            CAPACITIES,
            "Rates of single links in GB/s, '0-9:25, 3-4:12.5'; other links keep their rates.",
        ),
        |scenario: &CollectiveScenario| {
            let rate = |link: &LinkRecord| format!("{}-{}:{}", link.from, link.to, link.capacity_gbyte_per_s);
            listed(scenario.topology.links.iter().map(rate))
        },
        |scenario, text| {
            scenario.set_links(CAPACITIES, &text.to_string(), |link, numbers| match numbers {
                [rate] if (RATES[0]..=RATES[1]).contains(rate) => {
                    link.capacity_gbyte_per_s = *rate;
                    true
                }
                _ => false,
            })
        },
    )
}

fn failed_links() -> Knob<CollectiveScenario> {
    Knob::own(
        ParamInfo::text("failed_links", "Failed links, such as '0-9, 3-4', or 'none'."),
        |scenario: &CollectiveScenario| {
            listed(scenario.failed_links.iter().map(|[from, to]| format!("{from}-{to}")))
        },
        |scenario, text| {
            let (text, remedy) =
                (text.to_string(), "use from-to with numbers or names of nodes, such as '0-9', or 'none'");
            let topology = &scenario.topology;
            let links = entries(&text)
                .map(|entry| ends(topology, entry).ok_or_else(|| wrong("failed_links", entry, remedy)));
            let links: Vec<[u32; 2]> = links.collect::<Result<_, _>>()?;
            // A slow link that has failed is refused in either order of the two parameters.
            let is_slow = |[from, to]: &&[u32; 2]| {
                let mut slow = scenario
                    .topology
                    .links
                    .iter()
                    .filter(|link| link.alpha_scale != 1.0 || link.beta_scale != 1.0);
                slow.any(|link| (link.from, link.to) == (*from, *to))
            };
            if let Some([from, to]) = links.iter().find(is_slow) {
                let message = format!(
                    "has {from}-{to}, but 'stragglers' lists this link too, which then has no effect"
                );
                let remedy = "leave it out, or remove the link from 'stragglers'";
                return Err(Problem::new("failed_links", message, remedy));
            }
            scenario.failed_links = links;
            Ok(())
        },
    )
}

fn stragglers() -> Knob<CollectiveScenario> {
    let help = "Slow links as from-to:alpha:beta; alpha multiplies the latency of the link, beta its time per \
         byte: '0-9:1:2' halves the rate of link 0-9. 'none': no link.";
    Knob::own(
        ParamInfo::text("stragglers", help),
        |scenario: &CollectiveScenario| {
            let links = scenario.topology.links.iter();
            let slow = links.filter(|link| link.alpha_scale != 1.0 || link.beta_scale != 1.0);
            listed(
                slow.map(|link| {
                    format!("{}-{}:{}:{}", link.from, link.to, link.alpha_scale, link.beta_scale)
                }),
            )
        },
        |scenario, text| {
            for link in &mut scenario.topology.links {
                (link.alpha_scale, link.beta_scale) = (1.0, 1.0);
            }
            scenario.set_links("stragglers", &text.to_string(), |link, numbers| match numbers {
                [alpha, beta]
                    if (0.0..=SCALES[1]).contains(alpha) && (SCALES[0]..=SCALES[1]).contains(beta) =>
                {
                    (link.alpha_scale, link.beta_scale) = (*alpha, *beta);
                    true
                }
                _ => false,
            })
        },
    )
}

/// Maximum number of nodes that a message lists as ends of links.
const NAMED_ENDS: usize = 8;

fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|entry| !entry.is_empty() && *entry != NONE)
}

fn wrong(knob: &str, entry: &str, remedy: impl Into<String>) -> Problem {
    Problem::new(knob.to_owned(), format!("has '{entry}'"), remedy)
}

fn listed(entries: impl Iterator<Item = String>) -> Option<ParamValue> {
    let all: Vec<String> = entries.take(MOST_LISTED + 1).collect();
    (all.len() <= MOST_LISTED)
        .then(|| ParamValue::Text(if all.is_empty() { NONE.to_owned() } else { all.join(",") }))
}

/// Parses a size such as `4x4x4` into numbers; `None` for any other text.
fn size(text: &str) -> Option<Vec<u32>> {
    text.split('x').map(|number| number.trim().parse().ok()).collect()
}

impl CollectiveScenario {
    /// Changes a knob.
    ///
    /// # Errors
    /// An unknown name or a value that is not valid.
    pub fn set(&mut self, name: &str, index: Option<usize>, value: &ParamValue) -> Result<(), Problem> {
        KNOBS.set(self, name, index, value)
    }

    /// Returns `true` if every chunk has at most one destination, regardless of whether data may be copied.
    fn sends_one_by_one(&self) -> bool {
        let Demand { collective, chunks, ranks, .. } = &self.demand;
        match collective {
            CollectiveSort::AllToAll | CollectiveSort::Scatter | CollectiveSort::Gather => true,
            CollectiveSort::Custom => chunks.iter().all(|chunk| chunk.dests.len() < 2),
            CollectiveSort::MultiTenant => false,
            _ => match ranks {
                Some(ranks) => ranks.len() < 3,
                None => self.topology.gpus().take(3).count() < 3,
            },
        }
    }

    /// Replaces the network by another member of a family. Refuses if single links were changed or have failed, because
    /// the rebuilt network would lose these changes.
    fn rebuild(&mut self, knob: &str, family: NetworkFamily) -> Result<(), Problem> {
        let model = self.topology.switch_model;
        if let Some(before) = &self.family {
            let usual = before.topology()?;
            if usual.links != self.topology.links || !self.failed_links.is_empty() {
                return Err(Problem::new(
                    knob,
                    "would rebuild the network and discard your changes to single links",
                    "set it before you change links, or start from the preset again",
                ));
            }
            self.topology = family.topology()?;
            if usual.switch_model != model {
                self.topology.switch_model = model;
            }
        }
        self.family = Some(family);
        Ok(())
    }

    /// Applies `change` to the links and numbers that a text such as `FROM-TO:NUMBER:…` lists, and removes the
    /// symmetries that the changed links break.
    fn set_links(
        &mut self,
        knob: &str,
        text: &str,
        change: impl Fn(&mut super::LinkRecord, &[f64]) -> bool,
    ) -> Result<(), Problem> {
        let remedy = match knob {
            CAPACITIES => {
                "use from-to:rate of a link, such as '0-9:25', with numbers or names of nodes and a rate above 0"
            }
            _ => {
                "use from-to:alpha:beta of a link, such as '0-9:1:2', with numbers or names of nodes, or 'none'"
            }
        };
        let mut changed = Vec::new();
        for entry in entries(text) {
            let form = || wrong(knob, entry, remedy);
            let (pair, numbers) = entry.split_once(':').ok_or_else(form)?;
            let [from, to] = ends(&self.topology, pair).ok_or_else(form)?;
            let numbers: Option<Vec<f64>> =
                numbers.split(':').map(|number| number.trim().parse().ok()).collect();
            let refuse = |what: String, remedy: String| Problem::new(knob.to_owned(), what, remedy);
            if self.failed_links.contains(&[from, to]) {
                return Err(refuse(
                    format!("has '{entry}', but the link {from}-{to} has failed, so the value has no effect"),
                    "leave it out, or remove the link from 'failed_links'".to_owned(),
                ));
            }
            if changed.contains(&[from, to]) {
                return Err(refuse(format!("names the link {from}-{to} twice"), "name it once".to_owned()));
            }
            let links = &mut self.topology.links;
            let Some(at) = links.iter().position(|link| (link.from, link.to) == (from, to)) else {
                let ends = links.iter().filter(|link| link.from == from).take(NAMED_ENDS);
                let ends: Vec<String> = ends.map(|link| link.to.to_string()).collect();
                let remedy = if ends.is_empty() {
                    format!("use the numbers of two connected nodes; no link begins at node {from}")
                } else {
                    format!("use a link of the network; links from node {from} lead to {}", ends.join(", "))
                };
                return Err(refuse(
                    format!("has '{entry}', but the link {from}-{to} does not exist"),
                    remedy,
                ));
            };
            if !numbers.is_some_and(|numbers| change(&mut links[at], &numbers)) {
                return Err(form());
            }
            changed.push([from, to]);
        }
        let bare = Topology { symmetry_generators: Vec::new(), ..self.topology.clone() };
        if let Ok(network) = LinkNetwork::of(&bare) {
            self.topology.symmetry_generators.retain(|generator| network.symmetry(generator).is_ok());
        }
        Ok(())
    }
}

/// Parses the ends of a link, each a number or a name of a node: `0-9` or `c0.g0-c1.g1`, also with an arrow as on screens.
fn ends(topology: &Topology, pair: &str) -> Option<[u32; 2]> {
    let named = |text: &str| topology.nodes.iter().position(|node| node.name == text).map(|at| at as u32);
    let node = |text: &str| text.parse().ok().or_else(|| named(text));
    // A name may have hyphens itself.
    let mut signs = pair.match_indices(['-', '→']);
    signs.find_map(|(at, sign)| {
        let (from, to) = (pair[..at].trim(), pair[at + sign.len()..].trim());
        Some([node(from)?, node(to)?])
    })
}
